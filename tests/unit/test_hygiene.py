"""What happens before any verdict: roles of executions, order, overlaps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from refetch.hygiene import RoleKeeper, prepare
from refetch.model.trace import (
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Request,
    Trace,
    UserMessage,
    Write,
)

ARGS = Raw(b'{"a":1}')


def call(seq: int, **fields: Any) -> Call:
    fields.setdefault("turn", 1)
    fields.setdefault("args", ARGS)
    return Call(seq, name=fields.pop("name", "get"), **fields)


def ok(seq: int, **fields: Any) -> Call:
    return call(seq, outcome="ok", result=Raw(b'"r"'), **fields)


def failed(seq: int, **fields: Any) -> Call:
    return call(seq, outcome="error", error="no", **fields)


def roles(*calls: Call) -> list[tuple[int, str, int | None, bool]]:
    return [
        (step.event.seq, step.role, step.of.seq if step.of else None, step.final)  # type: ignore[union-attr]
        for step in prepare(Trace("r", list(calls)))
    ]


CALL = "call"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        # The model's own repeats are calls of their own, whatever came of the first.
        ([ok(0), ok(1)], [(0, CALL, 0, True), (1, CALL, 1, True)]),
        ([failed(0), ok(1)], [(0, CALL, 0, True), (1, CALL, 1, True)]),
        ([ok(0, call_id="a"), ok(1, call_id="b")], [(0, CALL, 0, True), (1, CALL, 1, True)]),
        # A retry of the harness belongs to the call that failed.
        (
            [failed(0), ok(1, origin="harness-retry")],
            [(0, CALL, 0, False), (1, "attempt", 0, True)],
        ),
        (
            [failed(0), failed(1, origin="harness-retry"), ok(2, origin="harness-retry")],
            [(0, CALL, 0, False), (1, "attempt", 0, False), (2, "attempt", 0, True)],
        ),
        (
            [ok(0), ok(1, origin="harness-retry")],
            [(0, CALL, 0, True), (1, CALL, 1, True)],
        ),
        (
            [failed(0), ok(1, origin="harness-retry", context="child")],
            [(0, CALL, 0, True), (1, CALL, 1, True)],
        ),
        ([failed(0), ok(5, attempt_of=0)], [(0, CALL, 0, False), (5, "attempt", 0, True)]),
        ([ok(0), ok(1, attempt_of=99)], [(0, CALL, 0, True), (1, CALL, 1, True)]),
        # One request: equal context, turn, id and arguments.
        (
            [failed(0, call_id="x"), ok(1, call_id="x")],
            [(0, CALL, 0, False), (1, "attempt", 0, True)],
        ),
        (
            [ok(0, call_id="x"), call(1, call_id="x")],
            [(0, CALL, 0, True), (1, "artefact", 0, True)],
        ),
        (
            [ok(0, call_id="x"), call(1, call_id="x", outcome="not-executed")],
            [(0, CALL, 0, True), (1, "artefact", 0, True)],
        ),
        (
            [call(0, call_id="x", outcome="not-executed"), ok(1, call_id="x")],
            [(0, CALL, 0, False), (1, "attempt", 0, True)],
        ),
        (
            [call(0, call_id="x"), ok(1, call_id="x")],
            [(0, "artefact", 1, True), (1, CALL, 1, True)],
        ),
        (
            [ok(0, call_id="x"), ok(1, call_id="x")],
            [(0, CALL, 0, True), (1, "double", 0, True)],
        ),
        (
            [ok(s, call_id="x", started=1.0, ended=2.0) for s in (0, 1)],
            [(0, CALL, 0, True), (1, "artefact", 0, True)],
        ),
        (
            [ok(0, call_id="x"), ok(1, call_id="x", turn=2)],
            [(0, CALL, 0, True), (1, CALL, 1, True)],
        ),
        (
            [ok(0, call_id="x"), ok(1, call_id="x", args=Raw(b'{"a":2}'))],
            [(0, CALL, 0, True), (1, CALL, 1, True)],
        ),
        (
            [
                ok(0, call_id="x", args=Raw(b'{"a":1}')),
                ok(1, call_id="x", args=Raw(b'{"a":2}')),
                ok(2, call_id="x", args=Raw(b'{"a":2.0}')),
            ],
            [(0, CALL, 0, True), (1, CALL, 1, True), (2, "double", 1, True)],
        ),
        # A record that has the number of another one.
        ([ok(0), ok(0)], [(0, CALL, 0, True), (0, "artefact", 0, True)]),
        ([ok(0), ok(0, name="set")], [(0, CALL, 0, True), (0, CALL, 0, True)]),
    ],
)  # fmt: skip
def test_roles(calls: list[Call], expected: list[tuple[int, str, int | None, bool]]) -> None:
    assert roles(*calls) == expected


@pytest.mark.parametrize(
    ("first", "second", "role"),
    [
        # The same arguments, written anew by another encoder.
        ({"args": Raw(b'{"a":1}')}, {"args": Raw(b'{"a": 1.0}')}, "double"),
        ({"args": Raw(b'{"a":1,"b":2}')}, {"args": Raw(b'{"b":2,"a":1}')}, "double"),
        # Other arguments, or other words of the model.
        ({"args": Raw(b'{"a":1}')}, {"args": Raw(b'{"a":"1"}')}, CALL),
        ({"args": Raw(b'{"a":1}')}, {"args": Raw(b'{"a":true}')}, CALL),
        ({"args": Raw(b'{"a":"x"}')}, {"args": Raw(b'{"a":"x "}')}, CALL),
        ({"args": Raw(b'{"a":1}')}, {"args": Raw(b"[broken")}, CALL),
        ({"raw_args": '{"a":1}'}, {"raw_args": '{"a": 1}'}, CALL),
        ({"name": "get"}, {"name": "set"}, CALL),
    ],
)
def test_one_id_is_one_request_however_its_arguments_are_spelled(
    first: dict[str, Any], second: dict[str, Any], role: str
) -> None:
    found = roles(ok(0, call_id="x", **first), ok(1, call_id="x", **second))
    assert [row[1] for row in found] == [CALL, role]


def test_calls_stand_in_the_order_of_their_numbers() -> None:
    assert [row[0] for row in roles(ok(2), ok(0), ok(1))] == [0, 1, 2]


def test_other_events_follow_the_call_they_name() -> None:
    events: list[Event] = [
        UserMessage(1), ok(0), ok(1), ok(2), Write("file:a", 0), ContextLoss(1), UserMessage(-1),
        ContextStart("child", 1), Request(1), Write("file:b", 7),
    ]  # fmt: skip
    steps = prepare(Trace("r", events))
    assert [type(step.event).__name__ for step in steps] == [
        "UserMessage", "Request", "Call", "Write", "Call", "UserMessage", "ContextLoss",
        "ContextStart", "Call", "Write",
    ]  # fmt: skip


CALLS = st.lists(
    st.builds(
        call,
        seq=st.integers(0, 9),
        turn=st.integers(1, 2),
        call_id=st.sampled_from([None, "a", "b"]),
        origin=st.sampled_from(["model", "harness-retry"]),
        outcome=st.sampled_from([None, "ok", "error", "not-executed", "timeout"]),
        result=st.sampled_from([Raw(), Raw(b'"r"')]),
        attempt_of=st.sampled_from([None, None, 0, 5]),
    ),
    max_size=8,
)


@given(CALLS)
def test_every_record_gets_one_step_and_points_at_an_earlier_or_equal_call(
    calls: list[Call],
) -> None:
    steps = prepare(Trace("r", list(calls)))
    assert sorted(map(id, calls)) == sorted(id(step.event) for step in steps)
    for step in steps:
        assert step.of is not None
        assert step.role in ("call", "attempt", "artefact", "double")
        if step.role == "call":
            assert step.of is step.event


@given(CALLS)
def test_one_record_at_a_time_gives_the_same_roles(calls: list[Call]) -> None:
    keeper = RoleKeeper()
    ordered = sorted(calls, key=lambda c: c.seq)
    live = [keeper.role(c)[0] for c in ordered]
    whole = {id(step.event): step.role for step in prepare(Trace("r", list(calls)))}
    for one, role in zip(ordered, live, strict=True):
        # What completes an earlier record makes that one the artefact, which nobody knew then.
        if role == "completes":
            assert whole[id(one)] in ("call", "artefact")
        elif whole[id(one)] != role:
            assert whole[id(one)] == "artefact"
