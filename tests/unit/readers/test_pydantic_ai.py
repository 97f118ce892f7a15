"""Rules of the Pydantic AI reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import events

from refetch.api import check
from refetch.model.errors import InputError
from refetch.model.trace import Request, Trace, UserMessage
from refetch.readers import read_bytes


def response(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "response", "parts": list(parts)} | more


def request(*parts: Any) -> dict[str, Any]:
    return {"kind": "request", "parts": list(parts)}


def call(call_id: str | None, name: str, args: Any) -> dict[str, Any]:
    return {"part_kind": "tool-call", "tool_name": name, "args": args, "tool_call_id": call_id}


def back(call_id: str | None, content: Any, **more: Any) -> dict[str, Any]:
    part = {"part_kind": "tool-return", "tool_name": "get", "content": content}
    return part | {"tool_call_id": call_id} | more


def retry(call_id: str | None, content: Any, name: str | None = "get") -> dict[str, Any]:
    part = {"part_kind": "retry-prompt", "tool_name": name, "content": content}
    return part | {"tool_call_id": call_id}


def says(text: str) -> dict[str, Any]:
    return {"part_kind": "user-prompt", "content": text}


def read(*messages: Any) -> Trace:
    (trace,) = read_bytes(json.dumps(messages).encode(), "h.json")
    return trace


def test_a_call_and_its_return() -> None:
    usage = {"input_tokens": 5, "output_tokens": 2}
    trace = read(
        request({"part_kind": "system-prompt", "content": "s"}, says("go")),
        response(call("c1", "get", {"k": 1}), model_name="m-1", usage=usage),
        request(back("c1", "one", timestamp="2025-06-01T00:00:00Z")),
    )
    (found,) = trace.calls
    assert (trace.format, trace.task, trace.model) == ("pydantic-ai", "go", "m-1")
    assert (found.turn, found.name, found.status, found.ended) == (
        (1, "get", "ok", "2025-06-01T00:00:00Z")
    )
    assert (bytes(found.args), found.raw_args, bytes(found.result)) == (
        (b'{"k": 1}', None, b'"one"')
    )
    assert events(trace, Request) == [Request(1, "main", "m-1", usage)]
    assert events(trace, UserMessage) == [UserMessage(-1)]
    assert trace.paths == {0: "$[1].parts[0]"}


def test_arguments_as_a_text() -> None:
    trace = read(response(call("c1", "get", '{"k":  1}'), call("c2", "get", "{oops")))
    assert [(bytes(c.args), c.raw_args) for c in trace.calls] == [
        (b'{"k":  1}', '{"k":  1}'),
        (b"", "{oops"),
    ]


def test_a_batch_is_one_turn() -> None:
    trace = read(
        response(call("c1", "get", {"k": 1}), call("c2", "get", {"k": 2})),
        request(back("c2", "two"), back("c1", "one")),
        response(call("c1", "get", {"k": 3})),
    )
    assert [(c.turn, bytes(c.result), c.status) for c in trace.calls] == [
        (1, b'"one"', "ok"),
        (1, b'"two"', "ok"),
        (2, b"", "missing"),
    ]


@pytest.mark.parametrize(
    ("part", "outcome", "error"),
    [
        (retry("c1", "no such key"), "error", "no such key"),
        (retry("c1", [{"type": "missing", "loc": ["k"]}]), "error", '[{"type": "missing"'),
        # What ran out of time may have had its effect.
        (retry("c1", "Timed out after 2 seconds."), "timeout", "Timed out"),
        (back("c1", "boom", outcome="failed"), "error", "boom"),
        (back("c1", "denied", outcome="denied"), "rejected", "denied"),
        (back("c1", "x", outcome="something new"), "unknown", "x"),
        (back("c1", "x", outcome=None), "ok", None),
    ],
)
def test_outcomes(part: Any, outcome: str, error: str | None) -> None:
    (found,) = read(response(call("c1", "get", {})), request(part)).calls
    assert found.status == outcome
    assert (found.error or "").startswith(error or "")


def test_the_model_tries_again_in_a_turn_of_its_own() -> None:
    trace = read(
        response(call("c1", "get", {"k": 1})),
        request(retry("c1", "try again")),
        response(call("c2", "get", {"k": 1})),
        request(back("c2", "one")),
    )
    assert [(c.turn, c.status) for c in trace.calls] == [(1, "error"), (2, "ok")]
    assert check(trace).findings == []


def test_a_retry_of_the_answer_is_no_result() -> None:
    trace = read(
        response(call("c1", "get", {})), request(retry(None, "plain text is not allowed", None))
    )
    assert [c.status for c in trace.calls] == ["missing"]


def test_built_in_tools_answer_in_the_response() -> None:
    asked = call("c1", "web_search", {"q": "x"}) | {"part_kind": "builtin-tool-call"}
    answer = back("c1", {"hits": 2}) | {"part_kind": "builtin-tool-return"}
    (found,) = read(response(asked, answer)).calls
    assert (found.turn, found.status, bytes(found.result)) == (1, "ok", b'{"hits": 2}')


def test_people_between_calls() -> None:
    trace = read(
        response(call("c1", "get", {})), request(back("c1", "x"), says("and now?")), response()
    )
    assert events(trace, UserMessage) == [UserMessage(0)]


def test_a_history_beside_other_fields() -> None:
    data = {"all_messages": [response(call("c1", "get", {}))], "cost": 1}
    (trace,) = read_bytes(json.dumps(data).encode())
    assert (trace.format, trace.paths) == ("pydantic-ai", {0: "$.all_messages[0].parts[0]"})


ODD = {
    "parts that are no objects": response(None, 3, "x", []),
    "parts that are no list": {"kind": "response", "parts": {"a": 1}},
    "a name of another type": response(call("c1", 5, []) | {"tool_call_id": 8}),  # type: ignore[arg-type]
    "usage of another type": response(usage=[1], model_name={}),
    "a result that nobody asked for": request(back("gone", "x")),
    "no content": request({"part_kind": "tool-return"}, {"part_kind": "user-prompt"}),
    "no kind": {"parts": [call("c7", "get", {})]},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_messages_end_nothing(name: str) -> None:
    trace = read(ODD[name], response(call("c9", "get", {"k": 9})))
    assert trace.calls[-1].call_id == "c9"


@pytest.mark.parametrize("data", [b"[]", b'{"messages": []}', b"[1]", b"\x00", b'[{"parts"'])
def test_nothing_readable_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError):
        read_bytes(data, "f", "pydantic-ai")


@pytest.mark.parametrize(
    "other",
    [
        [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "hi"}]}],
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    ],
)
def test_parts_of_other_formats_are_left_alone(other: Any) -> None:
    try:
        found = [t.format for t in read_bytes(json.dumps(other).encode())]
    except InputError:
        found = []
    assert "pydantic-ai" not in found
