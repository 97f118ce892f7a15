"""The core for frameworks: responses, calls before and after, one context manager."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from refetch.model import Call, ContextLoss, Request, UserMessage, Write
from refetch.record import ToolTracer


def rows(tracer: ToolTracer) -> list[tuple[Any, ...]]:
    return [(c.name, c.context, c.turn, c.origin, c.attempt_of) for c in tracer.trace().calls]


def test_a_turn_is_looked_up_by_run_and_call_id() -> None:
    tracer = ToolTracer()
    assert tracer.step("main", "r1", [("a", "read", {"p": 1}), ("b", "read", {"p": 2})]) == 1
    first = tracer.open("read", {"p": 1}, run="main", call_id="a")
    assert tracer.step("main", "r1", [("c", "read", {"p": 3})]) == 2
    late = tracer.open("read", {"p": 2}, run="main", call_id="b")
    last = tracer.open("read", {"p": 3}, run="main", call_id="c")
    for call in (last, late, first):
        assert tracer.close(call, "x") == "x"
    calls = tracer.trace().calls
    assert [(c.seq, c.turn, c.call_id) for c in calls] == [(0, 1, "a"), (1, 1, "b"), (2, 2, "c")]


def test_the_same_id_again_is_the_harness() -> None:
    tracer = ToolTracer()
    tracer.step("main", None, [("a", "read", {"p": 1})])
    for outcome in ("error", "error", "ok"):
        call = tracer.open("read", {"p": 1}, run="main", call_id="a")
        tracer.close(call, "x" if outcome == "ok" else msgspec.UNSET, outcome=outcome)
    tracer.step("main", None, [("a", "read", {"p": 1})])
    tracer.close(tracer.open("read", {"p": 1}, run="main", call_id="a"), "x")
    assert rows(tracer) == [
        ("read", "main", 1, "model", None),
        ("read", "main", 1, "harness-retry", 0),
        ("read", "main", 1, "harness-retry", 0),
        ("read", "main", 2, "model", None),
    ]


def test_an_id_that_a_provider_gives_to_every_call_is_no_retry() -> None:
    tracer = ToolTracer()
    tracer.step("main", None, [("call_0", "read", {"p": 1}), ("call_0", "read", {"p": 1})])
    for _ in range(2):
        tracer.close(tracer.open("read", {"p": 1}, run="main", call_id="call_0"), "x")
    tracer.close(tracer.open("read", {"p": 2}, run="main", call_id="call_0"), "x")
    assert [row[3] for row in rows(tracer)] == ["model", "model", "model"]


def test_what_the_model_sent_counts_not_what_the_framework_made_of_it() -> None:
    tracer = ToolTracer()
    tracer.step(
        "main", None, [("a", "get", {"id": "5"}), ("b", "get", '{"id": "5"}'), ("c", "get", None)]
    )
    for call_id in "abc":
        tracer.close(tracer.open("get", {"id": 5}, run="main", call_id=call_id), "x")
    data, text, unknown = tracer.trace().calls
    assert bytes(data.args) == b'{"id":"5"}'
    assert text.raw_args == '{"id": "5"}'
    assert (unknown.raw_args, bytes(unknown.args)) == (None, b'{"id":5}')


def test_one_context_manager_for_sync_and_async_code() -> None:
    tracer = ToolTracer()

    async def work() -> None:
        with tracer.call("outer", {"q": 1}, run="main") as outer:
            await asyncio.sleep(0)
            with tracer.call("inner", {"q": 2}) as inner:
                inner.result = {"n": 1}
            outer.result = "done"
            outer.note(exit_code=1)

    asyncio.run(work())
    outer, inner = tracer.trace().calls
    assert (outer.status, outer.exit_code, outer.result_chars) == ("ok", 1, 4)
    assert (inner.context, inner.parent, inner.result_chars) == ("call:0", 0, 7)


def test_errors_in_the_context_manager() -> None:
    tracer = ToolTracer()
    error = RuntimeError("x")
    with pytest.raises(RuntimeError) as caught, tracer.call("a", {}):
        raise error
    assert caught.value is error
    with tracer.call("b", {}) as call:
        call.error = "An error occurred"
    with tracer.call("c", {}) as call:
        call.outcome = "rejected"
    with tracer.call("d") as call:
        pass
    a, b, c, d = tracer.trace().calls
    assert (a.status, a.error) == ("error", "RuntimeError: x")
    assert (b.status, b.error) == ("error", "An error occurred")
    assert (c.status, c.ok) == ("rejected", False)
    assert (d.status, d.has_args) == ("ok", False)


def test_open_and_close_take_fields_of_the_record_and_nothing_else() -> None:
    tracer = ToolTracer()
    call = tracer.open("read", {}, resource="file:a", cwd="/x", result_hash="no")
    tracer.close(call, "x", truncated=True, delivered={"unit": "line", "from": 1, "to": 3})
    tracer.close(call, "y", outcome="error")
    (record,) = tracer.trace().calls
    assert (record.seq, record.resource, record.cwd, record.truncated) == (0, "file:a", "/x", True)
    assert record.delivered == {"unit": "line", "from": 1, "to": 3}
    assert record.status == "ok"
    assert len(tracer.problems) == 1
    assert "'result_hash' is no field" in tracer.problems[0].message


def test_runs_are_contexts_and_a_run_inside_a_call_is_its_child() -> None:
    tracer = ToolTracer()
    tracer.step("root", None, [("a", "delegate", {})])
    with tracer.call("delegate", {}, run="root", call_id="a"):
        tracer.step("child", None, [("a", "read", {})])
        with tracer.call("read", {}, run="child", call_id="a"):
            pass
        tracer.step(None, None, [("z", "read", {})])
        with tracer.call("read", {}, call_id="z"):
            pass
    assert rows(tracer) == [
        ("delegate", "root", 1, "model", None),
        ("read", "child", 1, "model", None),
        ("read", "call:0", 1, "model", None),
    ]
    starts = [e for e in tracer.events if type(e).__name__ == "ContextStart"]
    assert [(s.context, s.parent_call) for s in starts] == [  # type: ignore[union-attr]
        ("root", None),
        ("child", 0),
        ("call:0", 0),
    ]


def test_events_stand_where_they_happened() -> None:
    tracer = ToolTracer()
    tracer.user_message()
    tracer.next_turn()
    first = tracer.open("read", {"p": 1})
    tracer.write("file:a", by="user")
    tracer.close(first, "x")
    tracer.context_loss("trim", [first, 0])
    with tracer.context("sub"):
        tracer.context_loss("clear")
        tracer.request({"input_tokens": 5}, model="m")
    tracer.user_message(context="other")
    events = [e for e in tracer.events if not isinstance(e, Call)]
    events = [e for e in events if type(e).__name__ != "ContextStart"]
    assert events == [
        UserMessage(-1),
        Write("file:a", 0, "user"),
        ContextLoss(0, "trim", "main", [0, 0]),
        ContextLoss(0, "clear", "sub"),
        Request(0, "sub", "m", {"input_tokens": 5}),
        UserMessage(0, "other"),
    ]


def test_responses_are_requests_with_their_usage() -> None:
    tracer = ToolTracer()
    tracer.step("main", "r", usage={"output_tokens": 3}, agent="a", model="m")
    assert tracer.events == [Request(1, "main", "m", {"output_tokens": 3})]


def test_an_open_call_has_no_outcome_yet() -> None:
    tracer = ToolTracer()
    tracer.open("read", {"p": 1})
    (call,) = tracer.trace().calls
    assert (call.status, call.ended) == ("missing", None)
