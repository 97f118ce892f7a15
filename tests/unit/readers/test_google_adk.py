"""Rules of the Google ADK reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import encoded, events, only_trace

from refetch.api import check
from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, ContextStart, Request, Trace, UserMessage
from refetch.readers import read_bytes


def event(author: str, *parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"author": author, "invocationId": "i", "content": {"parts": list(parts)}, **fields}


def call(key: str | None, name: str = "get_x", **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": key, "name": name, "args": args}}


def answer(key: str | None, response: Any = "x", name: str = "get_x") -> dict[str, Any]:
    given = response if isinstance(response, dict) else {"result": response}
    return {"functionResponse": {"id": key, "name": name, "response": given}}


ASK = event("user", {"text": "go"})


def test_a_session_document() -> None:
    first = event("root", call("a"), call("b", n=1), usageMetadata={"promptTokenCount": 9})
    first |= {"modelVersion": "m", "timestamp": 5.5}
    document = {"id": "s1", "events": [ASK, first, event("root", answer("b"), answer("a", "y"))]}
    (trace,) = read_bytes(json.dumps(document).encode(), "s.json")
    assert (trace.format, trace.run, trace.task, trace.model) == ("google-adk", "s1", "go", "m")
    assert [(c.call_id, c.turn, bytes(c.result), c.started) for c in trace.calls] == [
        ("a", 1, b'"y"', 5.5),
        ("b", 1, b'"x"', 5.5),
    ]
    assert trace.paths[1] == "$.events[1].content.parts[1]"
    assert Request(1, "main", "m", {"promptTokenCount": 9}) in trace.events
    assert events(trace, UserMessage) == [UserMessage(-1)]


def test_snake_case_is_the_same() -> None:
    asked = {"function_call": {"id": "a", "name": "get_x", "args": {}}}
    told = {"function_response": {"id": "a", "name": "get_x", "response": {"result": 1}}}
    rows = [{"author": "r", "invocation_id": "i", "content": {"parts": [p]}} for p in (asked, told)]
    (trace,) = read_bytes(encoded(*rows), "e.jsonl")
    assert [(c.name, c.status, bytes(c.result)) for c in trace.calls] == [("get_x", "ok", b"1")]


@pytest.mark.parametrize(
    ("response", "outcome", "error"),
    [
        ({"result": "x"}, "ok", None),
        ({"error": None, "rows": []}, "ok", None),
        ({"error": "", "rows": []}, "ok", None),
        ({"status": "success"}, "ok", None),
        ({"error": "no such city"}, "error", "no such city"),
        ({"error": {"code": 5}}, "error", '{"code": 5}'),
        ({"status": "error", "error_message": "closed"}, "error", "closed"),
        ({"isError": True, "content": [{"type": "text", "text": "bad"}]}, "error", "bad"),
        ({"error": "This tool call is rejected."}, "rejected", "This tool call is rejected."),
    ],
)
def test_outcomes(response: dict[str, Any], outcome: str, error: str | None) -> None:
    trace = only_trace(ASK, event("root", call("a")), event("root", answer("a", response)))
    assert (trace.calls[0].status, trace.calls[0].error) == (outcome, error)


def test_a_missing_result_stays_missing() -> None:
    trace = only_trace(ASK, event("root", call("a"), call("b")), event("root", answer("b")))
    assert [c.status for c in trace.calls] == ["missing", "ok"]


def test_without_ids_a_result_goes_by_its_name() -> None:
    asked = event("root", call(None, "f"), call(None, "g"))
    told = event("root", answer(None, "of g", "g"), answer(None, "of f", "f"))
    trace = only_trace(asked, told)
    assert [bytes(c.result) for c in trace.calls] == [b'"of f"', b'"of g"']


def _approved(response: Any) -> Trace:
    waits = {"requestedToolConfirmations": {"w": {"confirmed": False}}}
    return only_trace(
        ASK,
        event("root", call("a")),
        event("root", answer("a")),
        event("root", call("w", "update_x")),
        event("root", call("q", "adk_request_confirmation", hint="?")),
        event("root", answer("w", {"error": "approve or reject"}, "update_x"), actions=waits),
        event("user", answer("q", {"confirmed": True}, "adk_request_confirmation")),
        event("root", answer("w", response, "update_x")),
        event("root", call("b")),
        event("root", answer("b")),
    )


def test_an_approved_call_is_a_further_attempt_and_writes() -> None:
    trace = _approved("done")
    assert [(c.name, c.turn, c.status, c.origin, c.attempt_of) for c in trace.calls] == [
        ("get_x", 1, "ok", "model", None),
        ("update_x", 2, "not-executed", "model", None),
        ("update_x", 2, "ok", "harness-retry", 1),
        ("get_x", 3, "ok", "model", None),
    ]
    assert UserMessage(1) in trace.events
    assert check(trace).findings == []


def test_a_rejected_call_wrote_nothing() -> None:
    trace = _approved({"error": "This tool call is rejected."})
    assert trace.calls[2].status == "rejected"


def test_a_call_that_waits_for_credentials_may_have_run() -> None:
    actions: dict[str, Any] = {"requestedAuthConfigs": {"a": {}}}
    trace = only_trace(event("root", call("a")), event("root", answer("a"), actions=actions))
    assert trace.calls[0].status == "unknown"


def test_a_long_running_tool_is_in_the_background_until_its_last_response() -> None:
    trace = only_trace(
        ASK,
        event("root", call("a"), longRunningToolIds=["a"]),
        event("root", answer("a", "pending")),
        event("user", answer("a", "done")),
    )
    assert [(bytes(c.result), c.background) for c in trace.calls] == [(b'"done"', True)]


def test_an_agent_that_takes_over_is_a_context_of_its_own() -> None:
    trace = only_trace(
        ASK,
        event("root", call("a")),
        event("root", answer("a")),
        event("root", call("t", "transfer_to_agent", agent_name="sub")),
        event("root", answer("t", None, "transfer_to_agent")),
        event("sub", call("b")),
        event("sub", answer("b")),
        event("user", {"text": "and now?"}),
        event("sub", call("c")),
    )
    assert [(c.context, c.turn) for c in trace.calls] == [
        ("main", 1),
        ("main", 2),
        ("sub", 1),
        ("sub", 2),
    ]
    assert events(trace, ContextStart) == [ContextStart("sub", 1)]
    assert UserMessage(2, "sub") in trace.events
    assert [f.code for f in check(trace).findings if f.level == "flag"] == []


def test_branches_are_contexts() -> None:
    trace = only_trace(
        ASK,
        event("left", call("a"), branch="both.left"),
        event("right", call("a"), branch="both.right"),
        event("right", answer("a", 2), branch="both.right"),
        event("left", answer("a", 1), branch="both.left"),
        event("inner", call("c"), branch="both.left"),
    )
    assert [(c.context, bytes(c.result)) for c in trace.calls] == [
        ("both.left", b"1"),
        ("both.right", b"2"),
        ("both.left/inner", b""),
    ]


def test_a_scope_is_a_context_of_the_call_that_opened_it() -> None:
    trace = only_trace(
        event("root", call("t", "research")),
        event("root", call("a"), isolationScope="t"),
    )
    assert events(trace, ContextStart) == [ContextStart("root#t", 0)]


def test_partial_events_and_events_told_twice_count_once() -> None:
    whole = event("root", call("a"), id="e1")
    trace = only_trace(ASK, event("root", call("a"), partial=True), whole, whole)
    assert len(trace.calls) == 1
    other = event("root", call("b"), id="e1")
    assert len(only_trace(whole, other).calls) == 2


def test_words_after_a_result_are_a_turn() -> None:
    trace = only_trace(
        ASK, event("root", call("a")), event("root", answer("a")), event("root", {"text": "ok"})
    )
    assert [r.turn for r in events(trace, Request)] == [1, 2]


def test_compaction_loses_what_its_times_cover() -> None:
    gone = {"compaction": {"startTimestamp": 1.0, "endTimestamp": 2.5, "compactedContent": {}}}
    trace = only_trace(
        event("root", call("a"), timestamp=1.0),
        event("root", answer("a"), timestamp=2.0),
        event("root", call("b"), timestamp=3.0),
        event("root", answer("b"), timestamp=4.0),
        event("user", actions=gone, timestamp=5.0),
    )
    assert events(trace, ContextLoss) == [ContextLoss(1, "compaction", lost=[0])]


def test_a_rewind_loses_what_it_takes_back() -> None:
    back = {"rewindBeforeInvocationId": "second"}
    trace = only_trace(
        event("root", call("a")),
        event("root", answer("a")),
        event("root", call("b"), invocationId="second"),
        event("root", answer("b"), invocationId="second"),
        event("user", actions=back, invocationId="third"),
    )
    assert events(trace, ContextLoss) == [ContextLoss(1, "trim", lost=[1])]


def test_code_that_the_model_ran_is_a_call() -> None:
    code = {"executableCode": {"code": "open('a', 'w')", "language": "PYTHON"}}
    printed = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}}
    trace = only_trace(ASK, event("root", code), event("root", printed))
    assert [(c.name, c.turn, c.status, c.error) for c in trace.calls] == [
        ("code_execution", 1, "error", "no")
    ]


@pytest.mark.parametrize(
    "odd",
    [
        {"content": None},
        {"content": {"parts": 5}},
        {"content": {"parts": [None, 5, {"functionCall": "x"}, {"functionResponse": []}]}},
        {"content": {"parts": [call("a"), answer("zz"), {"codeExecutionResult": {}}]}},
        {"author": 5, "actions": [], "timestamp": True, "branch": {}, "longRunningToolIds": {}},
        {"actions": {"compaction": {"startTimestamp": "x"}, "rewindBeforeInvocationId": 5}},
        {"usageMetadata": [1], "partial": "yes", "id": 7},
    ],
)
def test_odd_shapes_are_no_crash(odd: dict[str, Any]) -> None:
    rows = [ASK, event("root", call("a")), {**event("root", call("b")), **odd}]
    assert only_trace(*rows).calls[0].call_id == "a"


def test_a_line_that_cannot_be_read_is_named() -> None:
    (trace,) = read_bytes(encoded(ASK, event("root", call("a"))) + b'{"author": "ro\n', "e.jsonl")
    assert [p.line for p in trace.problems] == [3]


def test_no_events_is_an_error() -> None:
    with pytest.raises(InputError, match="no events"):
        read_bytes(b'{"events": []}', "s.json", "google-adk")
