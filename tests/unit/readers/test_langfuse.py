"""Rules of the Langfuse reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import events

from refetch.model.errors import InputError
from refetch.model.trace import Request, Trace, UserMessage
from refetch.readers import read_bytes


def observation(key: str, kind: str, second: int, **more: Any) -> dict[str, Any]:
    return {
        "id": key,
        "type": kind,
        "name": key,
        "startTime": f"2025-12-22T10:46:{second:02}.000Z",
        "endTime": f"2025-12-22T10:46:{second:02}.500Z",
        "level": "DEFAULT",
        "parentObservationId": "root",
    } | more


ROOT = observation("root", "AGENT", 0, parentObservationId=None)
ASKS = json.dumps({"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": '{"n":1}'}}]})
PROMPT = json.dumps([{"role": "user", "content": "hi"}])


def read(*observations: dict[str, Any]) -> Trace:
    data = {"trace": {"id": "t1", "name": "demo"}, "observations": [ROOT, *observations]}
    (trace,) = read_bytes(json.dumps(data).encode(), "l.json")
    return trace


def chat(key: str, second: int, **more: Any) -> dict[str, Any]:
    usage = {"input": 4, "output": 1}
    fields = {"model": "m-1", "usageDetails": usage, "input": PROMPT}
    return observation(key, "GENERATION", second, **(fields | more))


def test_a_generation_and_its_tool() -> None:
    trace = read(
        observation("f", "TOOL", 2, input='{"n":1}', output="x"),
        chat("g", 1, output=ASKS),
    )
    (call,) = trace.calls
    assert (call.name, call.call_id, call.turn, call.status) == ("f", "c1", 1, "ok")
    assert (call.raw_args, bytes(call.result)) == ('{"n":1}', b'"x"')
    assert call.started == "2025-12-22T10:46:02.000Z"
    assert events(trace, Request) == [Request(1, "main", "m-1", {"input": 4, "output": 1})]
    assert events(trace, UserMessage) == [UserMessage(-1)]
    assert (trace.run, trace.harness, trace.format) == ("t1", None, "langfuse")


def test_a_span_that_its_attributes_call_a_tool() -> None:
    attributes = {"openinference.span.kind": "TOOL", "tool.parameters": '{"q":1}'}
    trace = read(
        observation("look", "SPAN", 1, metadata=json.dumps({"attributes": attributes}), output="x")
    )
    assert [(c.name, c.raw_args) for c in trace.calls] == [("look", '{"q":1}')]


def test_a_span_whose_output_is_a_tool_message() -> None:
    message = {"type": "tool", "content": "x", "tool_call_id": "c1", "status": "success"}
    trace = read(
        chat("g", 1, output=ASKS),
        observation("f", "SPAN", 2, input="{'n': 1}", output=json.dumps(message)),
    )
    assert [(c.call_id, c.raw_args, bytes(c.result)) for c in trace.calls] == [
        ("c1", '{"n":1}', b'"x"')
    ]


def test_other_spans_are_no_calls() -> None:
    assert read(observation("work", "SPAN", 1, input="{}", output="{}")).calls == []


def test_an_error() -> None:
    trace = read(observation("f", "TOOL", 1, input="{}", level="ERROR", statusMessage="boom"))
    assert [(c.status, c.error) for c in trace.calls] == [("error", "boom")]


def test_agents_are_contexts_of_their_own() -> None:
    trace = read(
        observation("one", "AGENT", 1),
        chat("g1", 2, output=ASKS, parentObservationId="one"),
        observation("two", "AGENT", 3),
        chat("g2", 4, output=ASKS.replace("c1", "c2"), parentObservationId="two"),
    )
    assert [c.context for c in trace.calls] == ["main", "two"]


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b'{"trace": {}, "observations": []}')
