"""How spans become contexts, turns and calls."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw
from tests.unit.readers.jsonl_records import events

from refetch.model.trace import Call, ContextStart, Trace, UserMessage
from refetch.readers.blocks import raw_of
from refetch.readers.span_tree import Asked, Span, SpanTree, Told
from refetch.readers.trace_builder import TraceBuilder


def span(key: str, kind: str, at: float, parent: str | None = None, **more: Any) -> Span:
    fields: dict[str, Any] = {"name": key, "started": at, "ended": at + 0.5} | more
    return Span(id=key, parent=parent, kind=kind, **fields)


def wants(key: str | None, name: str = "f", **args: Any) -> Asked:
    return Asked(key, name, raw_of(args), json.dumps(args))


def tool(key: str, at: float, parent: str | None = None, **more: Any) -> Span:
    return span(key, "tool", at, parent, **({"name": "f", "result": Raw(b'"x"')} | more))


def told(*spans: Span) -> Trace:
    build = TraceBuilder("s", "test")
    inferred = SpanTree(list(spans), build).tell()
    return build.trace(turns="inferred" if inferred else "recorded")


def shape(trace: Trace) -> list[tuple[str, int, str, str | None]]:
    return [(c.context, c.turn, c.status, c.call_id) for c in trace.calls]


AGENT = span("agent", "agent", 0.0)


def test_a_call_in_a_model_span_and_a_tool_span_is_one() -> None:
    trace = told(
        AGENT,
        span("m1", "model", 1.0, "agent", asked=[wants("a", n=1)]),
        tool("t1", 2.0, "agent", call_id="a", args=raw_of({"n": 1})),
        span("m2", "model", 3.0, "agent", told=[Told("a", Raw(b'"other"'))]),
    )
    assert shape(trace) == [("main", 1, "ok", "a")]
    (call,) = trace.calls
    assert (bytes(call.result), call.started, call.ended) == (b'"x"', 2.0, 2.5)
    assert call.raw_args == '{"n": 1}'


def test_without_ids_equal_arguments_pair() -> None:
    trace = told(
        AGENT,
        span("m1", "model", 1.0, "agent", asked=[wants(None, n=1), wants(None, n=2)]),
        tool("t2", 2.0, "agent", args=raw_of({"n": 2}), result=Raw(b'"two"')),
        tool("t1", 2.5, "agent", args=raw_of({"n": 1}), result=Raw(b'"one"')),
    )
    assert [bytes(c.result) for c in trace.calls] == [b'"one"', b'"two"']


def test_other_arguments_are_another_call() -> None:
    trace = told(
        AGENT,
        span("m1", "model", 1.0, "agent", asked=[wants(None, n=1)]),
        tool("t2", 2.0, "agent", args=raw_of({"n": 2})),
    )
    assert [c.status for c in trace.calls] == ["missing", "ok"]


def test_a_result_from_a_later_prompt() -> None:
    trace = told(
        AGENT,
        span("m1", "model", 1.0, "agent", asked=[wants("a")]),
        span("m2", "model", 2.0, "agent", told=[Told("a", Raw(b'"late"'))]),
    )
    assert [bytes(c.result) for c in trace.calls] == [b'"late"']


def test_a_second_run_of_a_call_is_an_attempt() -> None:
    trace = told(
        AGENT,
        span("m1", "model", 1.0, "agent", asked=[wants("a", n=1)]),
        tool("t1", 2.0, "agent", call_id="a", args=raw_of({"n": 1}), failed=True, error="503"),
        tool("t2", 3.0, "agent", call_id="a", args=raw_of({"n": 1})),
        span("m2", "model", 4.0, "agent"),
    )
    assert shape(trace) == [("main", 1, "error", "a"), ("main", 1, "ok", "a")]
    assert trace.calls[0].raw_args == trace.calls[1].raw_args


def test_a_wrapper_of_the_same_call_is_no_second_call() -> None:
    trace = told(
        AGENT,
        tool("outer", 1.0, "agent", args=raw_of({"n": 1}), result=Raw()),
        tool("inner", 1.1, "outer", args=raw_of({"n": 1})),
    )
    assert [bytes(c.result) for c in trace.calls] == [b'"x"']


def test_a_tool_inside_a_tool_with_other_arguments_is_a_call() -> None:
    trace = told(
        AGENT,
        tool("outer", 1.0, "agent", args=raw_of({"n": 1})),
        tool("inner", 1.1, "outer", args=raw_of({"n": 2})),
    )
    assert len(trace.calls) == 2


def test_a_wrapper_of_the_same_request_is_no_second_turn() -> None:
    trace = told(
        AGENT,
        span("outer", "model", 1.0, "agent"),
        span("inner", "model", 1.1, "outer", asked=[wants("a")]),
    )
    assert shape(trace) == [("main", 1, "missing", "a")]


def test_agents_are_contexts() -> None:
    trace = told(
        AGENT,
        span("m1", "model", 1.0, "agent", asked=[wants("a", "ask")]),
        tool("t1", 2.0, "agent", name="ask", call_id="a"),
        span("child", "agent", 2.1, "t1"),
        span("m2", "model", 2.2, "child", model="m-2", asked=[wants("b")]),
        tool("t2", 2.3, "child", call_id="b"),
    )
    assert [(c.name, c.context, c.turn) for c in trace.calls] == [
        ("ask", "main", 1),
        ("f", "child", 1),
    ]
    assert events(trace, ContextStart) == [ContextStart("child", 0, model="m-2")]


def test_steps_of_a_graph_share_one_history() -> None:
    trace = told(
        span("graph", "other", 0.0),
        span("node1", "other", 1.0, "graph", node=True),
        span("m1", "model", 1.1, "node1", asked=[wants("a")]),
        span("node2", "other", 2.0, "graph", node=True),
        span("m2", "model", 2.1, "node2", asked=[wants("b")]),
    )
    assert [(c.context, c.turn) for c in trace.calls] == [("main", 1), ("main", 2)]


def test_without_model_spans_turns_are_guessed_from_overlap() -> None:
    trace = told(
        AGENT,
        tool("t1", 1.0, "agent"),
        tool("t2", 1.2, "agent", args=raw_of({"n": 2})),
        tool("t3", 3.0, "agent", args=raw_of({"n": 3})),
    )
    assert [c.turn for c in trace.calls] == [1, 1, 2]
    assert trace.turns == "inferred"


def test_people_are_the_user_messages_that_came_new() -> None:
    trace = told(
        AGENT,
        span("m1", "model", 1.0, "agent", people=1, asked=[wants("a")]),
        tool("t1", 2.0, "agent", call_id="a"),
        span("m2", "model", 3.0, "agent", people=1, asked=[wants("b", n=2)]),
        span("m3", "model", 4.0, "agent", people=2),
    )
    assert events(trace, UserMessage) == [UserMessage(-1), UserMessage(1)]


def test_phases_of_one_tool_are_one_call() -> None:
    trace = told(
        AGENT,
        span("s1", "tool", 1.0, "agent", name="tool.search.start-1", args=raw_of({"q": 1})),
        span("s2", "tool", 2.0, "agent", name="tool.search.finish-1"),
        span("s3", "tool", 2.1, "agent", name="tool.search.success-1", result=Raw(b'"found"')),
    )
    assert [(c.name, bytes(c.result)) for c in trace.calls] == [("search", b'"found"')]


def test_an_error_and_a_timeout() -> None:
    trace = told(
        AGENT,
        tool("t1", 1.0, "agent", failed=True, error="boom", result=Raw()),
        tool("t2", 3.0, "agent", failed=True, error="TimeoutError", result=Raw()),
        tool("t3", 5.0, "agent", result=Raw()),
    )
    assert [c.status for c in trace.calls] == ["error", "timeout", "ok"]


def test_parents_in_a_circle_end() -> None:
    trace = told(tool("a", 1.0, "b"), tool("b", 2.0, "a", args=raw_of({"n": 1})))
    assert all(type(call) is Call for call in trace.calls)
