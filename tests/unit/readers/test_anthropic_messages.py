"""Rules of the Anthropic Messages reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import encoded, events, only_trace

from refetch.api import check
from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, ContextStart, Request, Trace, UserMessage
from refetch.readers import UnknownFormatError, read_bytes

GO: dict[str, Any] = {"role": "user", "content": "go"}


def use(key: str, name: str = "get_x", kind: str = "tool_use", **args: Any) -> dict[str, Any]:
    return {"type": kind, "id": key, "name": name, "input": args}


def result(key: str, content: Any = "x", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": content, **fields}


def model(*blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), **fields}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def read(*messages: dict[str, Any], **fields: Any) -> Trace:
    (trace,) = read_bytes(json.dumps({"messages": messages, **fields}).encode(), "m.json")
    assert trace.format == "anthropic-messages"
    return trace


def logged(sent: list[dict[str, Any]], *blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    response = {"type": "message", "role": "assistant", "content": list(blocks), **fields}
    return {"request": {"messages": sent}, "response": {"stop_reason": "end_turn", **response}}


def told(trace: Trace) -> list[tuple[str | None, int, str]]:
    return [(call.call_id, call.turn, call.status) for call in trace.calls]


def test_a_message_is_a_turn_and_its_calls_are_a_batch() -> None:
    trace = read(
        GO,
        model(text("I look."), use("a"), use("b", n=1)),
        user(result("b", "y"), result("a")),
        model(use("c")),
        model="m",
    )
    assert told(trace) == [("a", 1, "ok"), ("b", 1, "ok"), ("c", 2, "missing")]
    assert [bytes(c.result) for c in trace.calls] == [b'"x"', b'"y"', b""]
    assert (trace.task, trace.model) == ("go", "m")
    assert trace.paths[1] == "$.messages[1].content[2]"
    assert events(trace, UserMessage) == [UserMessage(-1)]


def test_records_of_one_message_id_are_one_turn() -> None:
    parts = [model(use(key), id="msg_1") for key in "ab"]
    assert [c.turn for c in read(GO, *parts, user(result("a"), result("b"))).calls] == [1, 1]


@pytest.mark.parametrize(
    ("content", "fields", "outcome", "error"),
    [
        ("x", {}, "ok", None),
        ("x", {"is_error": False}, "ok", None),
        ([text("no such user")], {"is_error": True}, "error", "no such user"),
        ("", {"is_error": True}, "error", "error"),
        ("Error: no such user", {}, "unknown", "Error: no such user"),
        ("Error: no such user", {"is_error": False}, "ok", None),
        ("The word Error: is fine here", {}, "ok", None),
    ],
)
def test_outcomes(content: Any, fields: dict[str, Any], outcome: str, error: str | None) -> None:
    (call,) = read(GO, model(use("a")), user(result("a", content, **fields))).calls
    assert (call.status, call.error) == (outcome, error)


def test_server_tools_answer_in_the_same_message() -> None:
    bad = {"type": "web_fetch_tool_result_error", "error_code": "url_too_long"}
    ran = {"type": "bash_code_execution_result", "return_code": 1, "stdout": ""}
    trace = read(
        GO,
        model(
            use("a", "web_fetch", "server_tool_use"),
            {"type": "web_fetch_tool_result", "tool_use_id": "a", "content": bad},
            use("b", "bash_code_execution", "server_tool_use"),
            {"type": "bash_code_execution_tool_result", "tool_use_id": "b", "content": ran},
            {**use("c", "whoami", "mcp_tool_use"), "server_name": "crm"},
            {"type": "mcp_tool_result", "tool_use_id": "c", "content": [text("ops")]},
        ),
    )
    assert [(c.name, c.turn, c.status, c.exit_code) for c in trace.calls] == [
        ("web_fetch", 1, "error", None),
        ("bash_code_execution", 1, "ok", 1),
        ("mcp__crm__whoami", 1, "ok", None),
    ]
    assert trace.calls[0].error == "url_too_long"


def test_calls_of_a_program_are_not_the_models_own() -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "p"}
    inner = [{**use(key), "caller": caller} for key in "ab"]
    direct = {**use("c"), "caller": {"type": "direct"}}
    trace = read(
        GO,
        model(use("p", "code_execution", "server_tool_use"), *inner),
        user(result("a"), result("b")),
        model(direct),
        user(result("c")),
    )
    assert [(c.context, c.origin, c.status) for c in trace.calls] == [
        ("main", "model", "missing"),
        ("program p", "harness", "ok"),
        ("program p", "harness", "ok"),
        ("main", "model", "ok"),
    ]
    assert events(trace, ContextStart) == [ContextStart("program p", 0)]
    assert [f.code for f in check(trace).findings if f.level == "flag"] == []


def test_a_log_that_repeats_the_history_tells_each_call_once() -> None:
    """Cache marks move from request to request, and responses have fields that requests lack."""
    mark = {"cache_control": {"type": "ephemeral"}}
    block = [{**text("x"), **mark}]
    first = [user({**text("go"), **mark})]
    second = [user(text("go")), model(use("a")), user({**result("a", block), **mark})]
    third = [*second[:2], user(result("a", [text("x")])), model(use("b")), user(result("b"))]
    trace = only_trace(
        logged(
            first, {**use("a"), "caller": {"type": "direct"}}, id="m1", usage={"input_tokens": 3}
        ),
        logged(second, use("b"), id="m2"),
        logged(third, text("done"), id="m3"),
    )
    assert told(trace) == [("a", 1, "ok"), ("b", 2, "ok")]
    assert [r.usage for r in events(trace, Request)] == [{"input_tokens": 3}, None, None]
    assert events(trace, ContextLoss) == []
    assert len(events(trace, UserMessage)) == 1


def test_the_same_log_without_responses() -> None:
    bodies = [[GO], [GO, model(use("a")), user(result("a"))]]
    bodies.append([*bodies[1], model(use("b")), user(result("b"))])
    trace = only_trace(*({"messages": body} for body in bodies))
    assert told(trace) == [("a", 1, "ok"), ("b", 2, "ok")]


def test_a_result_that_is_not_sent_any_more_is_lost() -> None:
    history = [GO, model(use("a")), user(result("a"))]
    cleared = [
        GO,
        model(use("a")),
        user(result("a", "[cleared]")),
        model(use("b")),
        user(result("b")),
    ]
    trace = only_trace(
        logged([GO], use("a")), logged(history, use("b")), logged(cleared, use("c", n=1))
    )
    assert events(trace, ContextLoss) == [ContextLoss(1, "clear", lost=[0])]
    trimmed = [GO, model(use("b")), user(result("b"))]
    trace = only_trace(
        logged([GO], use("a")), logged(history, use("b")), logged(trimmed, use("c", n=1))
    )
    assert events(trace, ContextLoss) == [ContextLoss(1, "trim", lost=[0])]
    assert told(trace)[1] == ("b", 2, "ok")


def test_edits_of_the_provider_come_before_the_response() -> None:
    edits = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1}]}
    history = [GO, model(use("a")), user(result("a"))]
    trace = only_trace(logged([GO], use("a")), logged(history, use("b"), context_management=edits))
    assert events(trace, ContextLoss) == [ContextLoss(0, "clear")]
    edits["applied_edits"][0]["type"] = "clear_thinking_20251015"
    trace = only_trace(logged([GO], use("a")), logged(history, use("b"), context_management=edits))
    assert events(trace, ContextLoss) == []


@pytest.mark.parametrize("mark", ["isSummary", "isTruncationMarker"])
@pytest.mark.parametrize("content", ["what was before", [text("what was before")]])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_in_place_of_others_is_a_loss(mark: str, content: Any, role: str) -> None:
    stands = {"role": role, "content": content, mark: True}
    trace = read(GO, model(use("a")), user(result("a")), stands, model(use("b")))
    assert [e for e in trace.events if isinstance(e, ContextLoss)] == [ContextLoss(0, "compaction")]
    assert [e.after for e in trace.events if isinstance(e, UserMessage)] == [-1]


@pytest.mark.parametrize(
    "words", ["The user denied this operation.", '{"status":"denied","feedback":"no"}']
)
def test_a_refusal_without_a_flag_is_no_answer(words: str) -> None:
    trace = read(GO, model(use("a")), user(result("a", words)))
    assert told(trace) == [("a", 1, "unknown")]


def test_a_compaction_block_is_a_loss_unless_it_failed() -> None:
    for summary, losses in (("so far …", 1), (None, 0)):
        block = {"type": "compaction", "content": summary}
        trace = read(GO, model(use("a")), user(result("a")), model(block, use("b")))
        assert len(events(trace, ContextLoss)) == losses


def _interleaved(first: str, second: str, **runs: dict[str, str]) -> list[dict[str, Any]]:
    one, two = {"role": "user", "content": first}, {"role": "user", "content": second}
    rows = [
        logged([one], use("a")),
        logged([two], use("b")),
        logged([one, model(use("a")), user(result("a"))], text("done")),
        logged([two, model(use("b")), user(result("b"))], text("done")),
    ]
    ids = runs.get("ids")
    return (
        rows
        if ids is None
        else [{**row, "session_id": ids[key]} for row, key in zip(rows, "1212", strict=True)]
    )


def test_conversations_that_overlap_are_contexts() -> None:
    trace = only_trace(*_interleaved("one", "two"))
    assert [(c.context, c.status) for c in trace.calls] == [
        ("main", "ok"),
        ("conversation 2", "ok"),
    ]
    assert [f.code for f in check(trace).findings if f.level == "flag"] == []


def test_conversations_of_different_runs_are_traces() -> None:
    rows = _interleaved("one", "two", ids={"1": "s1", "2": "s2"})
    traces = read_bytes(encoded(*rows), "log")
    assert [(t.run, told(t)) for t in traces] == [
        ("s1", [("a", 1, "ok")]),
        ("s2", [("b", 1, "ok")]),
    ]


def test_conversations_that_follow_one_another_are_traces() -> None:
    one, _, again, _ = _interleaved("one", "two")
    _, two, _, twice = _interleaved("one", "two")
    traces = read_bytes(encoded(one, again, two, twice), "log")
    assert [told(t) for t in traces] == [[("a", 1, "ok")], [("b", 1, "ok")]]


def test_a_request_that_was_sent_again_is_one() -> None:
    failed = {"request": {"messages": [GO]}, "response": {"type": "error", "error": {}}}
    trace = only_trace(failed, logged([GO], use("a"), id="m1"), logged([GO], use("a"), id="m1"))
    assert told(trace) == [("a", 1, "missing")]


def test_batches_and_bodies_kept_as_text() -> None:
    row = {"custom_id": "r1", "params": {"messages": [GO, model(use("a")), user(result("a"))]}}
    assert (only_trace(row).run, told(only_trace(row))) == ("r1", [("a", 1, "ok")])
    answer = json.dumps(logged([], use("b"))["response"])
    row = {"request": {"body": json.dumps({"messages": [GO]})}, "response": {"body": answer}}
    assert told(only_trace(row)) == [("b", 1, "missing")]


def test_results_of_a_batch() -> None:
    answer = logged([], use("a"), id="m1")["response"]
    row = {"custom_id": "r1", "result": {"type": "succeeded", "message": answer}}
    assert told(only_trace(row)) == [("a", 1, "missing")]


def test_lines_that_wrap_messages_of_several_agents_are_left_alone() -> None:
    """Whose history it is stands beside the message, so that reading it as one would be wrong."""
    row = {"type": "assistant", "message": model(use("a")), "parent_tool_use_id": "t"}
    with pytest.raises(UnknownFormatError):
        read_bytes(encoded(row, row), "log")


def test_responses_alone_have_no_results() -> None:
    rows = [logged([], use(key), id=f"m{key}")["response"] for key in "ab"]
    assert told(only_trace(*rows)) == [("a", 1, "missing"), ("b", 2, "missing")]


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "assistant", "content": 5},
        {"role": "assistant", "content": [None, 5, {}, {"type": 5}]},
        {"role": "assistant", "content": [{"type": "tool_use"}], "usage": [], "id": 5},
        {"role": "assistant", "content": [{"type": "tool_use", "id": 5, "name": [], "input": "x"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "nobody"}]},
        {"role": "user", "content": [{"type": "tool_result"}, {"type": "text", "text": 5}]},
        {"role": 5, "content": []},
        {"role": "assistant", "content": [{"type": "compaction"}], "context_management": 5},
    ],
)
def test_odd_shapes_are_no_crash(odd: dict[str, Any]) -> None:
    assert told(read(GO, model(use("a")), odd))[0][0] == "a"


def test_a_line_that_cannot_be_read_is_named() -> None:
    (trace,) = read_bytes(encoded(logged([GO], use("a"))) + b'{"request": {"mess\n', "log")
    assert [p.line for p in trace.problems] == [2]


@pytest.mark.parametrize("data", [b'{"alpha": 1}', b"[]", b"[5]"])
def test_no_messages_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError, match="no messages"):
        read_bytes(data, "m.json", "anthropic-messages")


def test_chats_of_other_apis_are_left_to_them() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    thinks = {"role": "assistant", "content": [{"type": "thinking", "thinking": "…"}]}
    chat = [
        GO,
        {**thinks, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": ""},
    ]
    (trace,) = read_bytes(json.dumps({"messages": chat}).encode(), "c.json")
    assert trace.format == "openai-chat"
    with pytest.raises(UnknownFormatError):
        read_bytes(json.dumps([{"type": "tool_use", "id": "a"}]).encode(), "c.json")
