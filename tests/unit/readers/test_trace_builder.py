"""How the builder numbers calls and turns and pairs results."""

from __future__ import annotations

from msgspec import Raw

from refetch.model.trace import Call, ContextLoss, Request, UserMessage
from refetch.readers.trace_builder import TraceBuilder


def test_calls_and_turns_are_numbered() -> None:
    build = TraceBuilder("f", "test")
    early = build.call("a")
    build.begin_turn(model="m")
    build.call("b")
    build.begin_turn("other")
    build.call("c", context="other")
    trace = build.trace()
    assert early.turn == 0
    assert [(c.seq, c.turn, c.context) for c in trace.calls] == [
        (0, 0, "main"),
        (1, 1, "main"),
        (2, 1, "other"),
    ]
    assert (trace.model, trace.run) == ("m", "f")


def test_usage_may_come_later() -> None:
    build = TraceBuilder("f", "test")
    request = build.begin_turn()
    request.usage = {"input": 1}
    assert build.trace().events == [Request(1, usage={"input": 1})]


def test_a_reused_id_goes_to_the_latest_turn_and_there_in_order() -> None:
    build = TraceBuilder("f", "test")
    build.begin_turn()
    old = build.call("a", call_id="x")
    build.begin_turn()
    first, second = build.call("a", call_id="x"), build.call("a", call_id="x")
    for expected in (first, second, old):
        call = build.waiting("x")
        assert call is expected
        call.answer(Raw(b"1"))
    assert build.waiting("x") is None


def test_without_an_id_the_order_decides() -> None:
    build = TraceBuilder("f", "test")
    build.begin_turn()
    first, second = build.call("a"), build.call("b")
    assert build.waiting(None) is first
    assert build.still_open() == [first, second]
    second.answer(Raw(b"1"))
    assert build.still_open() == [first]


def test_an_id_is_looked_for_in_its_context_only() -> None:
    build = TraceBuilder("f", "test")
    build.call("a", call_id="x", context="other")
    assert build.waiting("x") is None
    assert build.waiting("x", "other") is not None


def test_an_empty_result_is_a_known_one() -> None:
    build = TraceBuilder("f", "test")
    build.call("a").answer(Raw())
    build.call("a").answer(Raw(b'""'))
    build.call("a").end("unknown")
    first, second, third = build.trace().calls
    assert first.result_hash == second.result_hash is not None
    assert (bytes(first.result), first.result_chars) == (b'""', 0)
    assert (third.result_hash, third.status) == (None, "unknown")


def test_messages_and_losses_told_twice_count_once() -> None:
    build = TraceBuilder("f", "test")
    for _ in range(2):
        build.user_message("  do it  ")
        build.lose("compaction")
        build.lose("trim", lost=[0])
    assert build.trace().events == [
        UserMessage(-1),
        ContextLoss(-1),
        ContextLoss(-1, "trim", lost=[0]),
        ContextLoss(-1, "trim", lost=[0]),
    ]
    assert build.trace().task == "do it"


def test_fields_of_a_call_pass_through() -> None:
    build = TraceBuilder("f", "test", "harness")
    build.call("a", Raw(b"{}"), line=3, path="$.x", cwd="/w", origin="user")
    trace = build.trace(turns="inferred")
    assert trace.events == [Call(0, 0, "a", Raw(b"{}"), cwd="/w", origin="user")]
    assert (trace.lines, trace.paths, trace.turns) == ({0: 3}, {0: "$.x"}, "inferred")
    assert (trace.format, trace.harness) == ("test", "harness")
