"""Rules of the Vercel AI SDK reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import encoded, events

from refetch.api import check
from refetch.model.errors import InputError
from refetch.model.trace import Request, Trace, UserMessage
from refetch.readers import UnknownFormatError, read_bytes

USER = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Weather?"}]}
STEP = {"type": "step-start"}


def read(document: Any) -> Trace:
    (trace,) = read_bytes(json.dumps(document).encode(), "c.json")
    assert trace.format == "vercel-ai"
    return trace


def ui(*parts: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return [USER, {"id": "a", "role": "assistant", "parts": list(parts), **fields}]


def part(key: str, state: str = "output-available", **fields: Any) -> dict[str, Any]:
    given = {"input": {"city": key}, **({"output": "x"} if state == "output-available" else {})}
    return {"type": "tool-weather", "toolCallId": key, "state": state, **given, **fields}


def asked(key: str, name: str = "weather", **fields: Any) -> dict[str, Any]:
    return {"type": "tool-call", "toolCallId": key, "toolName": name, "input": {}, **fields}


def answer(key: str, output: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": "tool-result",
        "toolCallId": key,
        "toolName": "weather",
        "output": output,
        **fields,
    }


def chat(output: Any, **fields: Any) -> Trace:
    return read(
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [asked("a")]},
            {"role": "tool", "content": [answer("a", output, **fields)]},
        ]
    )


def test_a_step_is_a_turn_and_its_calls_are_a_batch() -> None:
    trace = read({"id": "chat-1", "messages": ui(STEP, part("a"), part("b"), STEP, part("a"))})
    assert [(c.call_id, c.turn, c.status) for c in trace.calls] == [
        ("a", 1, "ok"),
        ("b", 1, "ok"),
        ("a", 2, "ok"),
    ]
    assert (trace.run, trace.task) == ("chat-1", "Weather?")
    assert trace.paths[1] == "$.messages[1].parts[2]"
    assert events(trace, UserMessage) == [UserMessage(-1)]
    assert bytes(trace.calls[0].result) == b'"x"'


@pytest.mark.parametrize(
    ("state", "fields", "outcome", "error"),
    [
        ("output-available", {}, "ok", None),
        ("output-available", {"preliminary": True}, "unknown", "unknown"),
        ("output-available", {"output": {"isError": True, "content": []}}, "error", "error"),
        ("input-available", {}, "missing", None),
        ("output-error", {"errorText": "no such city"}, "error", "no such city"),
        (
            "output-error",
            {"input": None, "rawInput": {"q": 1}, "errorText": "?"},
            "not-executed",
            "?",
        ),
        ("output-denied", {"approval": {"approved": False}}, "rejected", "output-denied"),
        ("approval-requested", {"approval": {"id": "p"}}, "not-executed", "approval-requested"),
        ("approval-responded", {"approval": {"approved": True}}, "missing", None),
        ("approval-responded", {"approval": {"approved": False}}, "rejected", "approval-responded"),
        ("a state of tomorrow", {}, "missing", None),
    ],
)
def test_states_of_ui_parts(
    state: str, fields: dict[str, Any], outcome: str, error: str | None
) -> None:
    (call,) = read(ui(STEP, part("a", state, **fields))).calls
    assert (call.status, call.error) == (outcome, error)


def test_input_that_still_streams_is_no_call() -> None:
    assert read(ui(STEP, part("a", "input-streaming"))).calls == []


def test_a_dynamic_tool_is_named_by_its_part() -> None:
    dynamic = {**part("a"), "type": "dynamic-tool", "toolName": "lookup"}
    odd = {**part("b"), "type": "tool-call"}
    assert [c.name for c in read(ui(STEP, dynamic, odd)).calls] == ["lookup", "call"]


@pytest.mark.parametrize(
    ("output", "fields", "outcome", "value"),
    [
        ({"type": "text", "value": "x"}, {}, "ok", "x"),
        ({"type": "json", "value": {"temp": 1}}, {}, "ok", {"temp": 1}),
        ({"type": "error-text", "value": "off"}, {}, "error", "off"),
        ({"type": "error-json", "value": {"code": 5}}, {}, "error", {"code": 5}),
        (
            {"type": "error-text", "value": "Invalid input for tool weather: …"},
            {},
            "not-executed",
            None,
        ),
        ({"type": "execution-denied", "reason": "no"}, {}, "rejected", "no"),
        ("plain", {}, "ok", "plain"),
        ("plain", {"isError": True}, "error", "plain"),
        ({"type": "text", "text": "of MCP"}, {}, "ok", {"type": "text", "text": "of MCP"}),
        ({"type": "event", "value": 1, "id": 2}, {}, "ok", {"type": "event", "value": 1, "id": 2}),
    ],
)
def test_outputs_of_model_messages(
    output: Any, fields: dict[str, Any], outcome: str, value: Any
) -> None:
    (call,) = chat(output, **fields).calls
    assert call.status == outcome
    if value is not None:
        assert json.loads(bytes(call.result)) == value


def test_a_refused_approval_is_a_rejection() -> None:
    request = {"type": "tool-approval-request", "approvalId": "p", "toolCallId": "a"}
    response = {"type": "tool-approval-response", "approvalId": "p", "approved": False}
    trace = read(
        [
            {"role": "assistant", "content": [asked("a"), request]},
            {"role": "tool", "content": [response]},
        ]
    )
    assert trace.calls[0].status == "rejected"


def test_results_that_differ_are_not_taken_for_equal() -> None:
    """What a tool returned may have a `type`: it is no wrapping of the SDK."""
    steps = [
        {"content": [asked(key, "read_x"), answer(key, {"type": "text", "text": key})]}
        for key in ("one", "two")
    ]
    trace = read({"steps": steps})
    assert trace.calls[0].result_hash != trace.calls[1].result_hash
    assert check(trace).findings == []


def test_calls_that_a_message_tells_twice_are_told_once() -> None:
    call = {"state": "result", "toolCallId": "a", "toolName": "f", "args": {}, "result": 1}
    both = ui(STEP, {"type": "tool-invocation", "toolInvocation": call}, toolInvocations=[call])
    assert [(c.call_id, c.turn) for c in read(both).calls] == [("a", 1)]


def test_steps_of_older_invocations_are_turns() -> None:
    calls = [
        {"state": "result", "step": s, "toolCallId": k, "toolName": "f", "args": {}, "result": 1}
        for s, k in ((0, "a"), (0, "b"), (1, "c"))
    ]
    trace = read([{"role": "assistant", "content": "", "toolInvocations": calls}])
    assert [c.turn for c in trace.calls] == [1, 1, 2]


def test_usage_and_model_are_of_a_step() -> None:
    step = {
        "content": [asked("a"), answer("a", 1)],
        "usage": {"inputTokens": 5},
        "response": {"modelId": "m"},
    }
    trace = read({"steps": [step]})
    assert Request(1, "main", "m", {"inputTokens": 5}) in trace.events
    usage = {"usage": {"inputTokens": 9}}
    many = read(ui(STEP, part("a"), STEP, part("b"), metadata=usage))
    assert [r.usage for r in events(many, Request)] == [None, None]
    assert events(read(ui(STEP, part("a"), metadata=usage)), Request)[0].usage == usage["usage"]


def test_steps_beside_the_messages_they_began_with() -> None:
    steps = [{"content": [asked("a"), answer("a", 1)]}]
    start = [{"role": "user", "content": "go"}]
    (trace,) = read_bytes(json.dumps({"messages": start, "steps": steps}).encode(), "c.json")
    assert trace.paths == {0: "$.steps[0].content[0]"}
    whole = [*start, {"role": "assistant", "content": [asked("a")]}]
    (trace,) = read_bytes(json.dumps({"messages": whole, "steps": steps}).encode(), "c.json")
    assert len(trace.calls) == 1


def test_snapshots_of_a_conversation_are_one() -> None:
    first, second = ui(STEP, part("a", "input-available")), ui(STEP, part("a"))
    other = [{**USER, "id": "v"}, *ui(STEP, part("b"))[1:]]
    traces = read_bytes(
        encoded({"messages": first}, {"messages": other}, {"messages": second}), "log"
    )
    assert [[c.status for c in trace.calls] for trace in traces] == [["ok"], ["ok"]]


def test_a_missing_result_stays_missing() -> None:
    trace = read([{"role": "assistant", "content": [asked("a"), asked("b")]}])
    assert [c.status for c in trace.calls] == ["missing", "missing"]


def test_a_conversation_without_calls_is_recognised() -> None:
    assert read(ui({"type": "text", "text": "Hello."})).calls == []


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "assistant", "content": [None, 5, asked("a")]},
        {"role": "assistant", "content": [{**asked("a"), "toolCallId": 7, "toolName": []}]},
        {"role": "assistant", "content": [asked("a"), answer("b", None)]},
        {"role": "assistant", "parts": [{**part("a"), "state": 5, "approval": "x"}]},
        {"role": "assistant", "metadata": 5, "usage": [], "content": [asked("a")]},
        {"role": "assistant", "content": "", "toolInvocations": [5, {"step": "x"}]},
        {"content": [asked("a", invalid="maybe")], "response": 5, "model": []},
    ],
)
def test_odd_shapes_are_no_crash(odd: dict[str, Any]) -> None:
    read_bytes(json.dumps([odd]).encode(), "c.json", "vercel-ai")


def test_a_line_that_cannot_be_read_is_named() -> None:
    data = encoded({"role": "assistant", "content": [asked("a")]}) + b'{"role": "assi\n'
    (trace,) = read_bytes(data, "log")
    assert [p.line for p in trace.problems] == [2]
    assert len(trace.calls) == 1


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError, match="no messages"):
        read_bytes(b"[]", "c.json", "vercel-ai")


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "user", "parts": [{"text": "of Gemini"}]}],
        [{"role": "user", "parts": []}],
        [{"type": "tool-x", "text": "of something else"}],
    ],
)
def test_what_is_of_other_formats(document: Any) -> None:
    with pytest.raises(UnknownFormatError):
        read_bytes(json.dumps(document).encode(), "c.json")
