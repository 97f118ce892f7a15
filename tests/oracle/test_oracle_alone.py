"""The oracle itself, against the labelled cases and the founding fixtures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.oracle.facts import raw_key
from tests.oracle.oracle import judge

from refetch.model import Call, CallRef, Finding, Trace
from refetch.testing.cases import read_cases, score


def detect(trace: Trace) -> list[Finding]:
    """The oracle in the shape of a detector."""
    calls = {call.seq: call for call in trace.calls}

    def ref(seq: int) -> CallRef:
        call = calls[seq]
        return CallRef(seq, call.turn, call.name, raw_key=raw_key(call) or "", context=call.context)

    return [
        Finding(v.code, v.code, v.level, first=ref(v.first), repeat=ref(v.repeat))
        for v in judge(trace).values()
        if v.level
    ]


def test_every_labelled_case_is_right_at_flag_level(shared_dir: Path) -> None:
    result = score(read_cases(shared_dir / "cases" / "cases.jsonl"), detect)
    assert result.cases == 81
    assert not result.misses, result.to_text()


def calls(*rows: dict[str, Any], **header: Any) -> Trace:
    """A trace of declared calls: turn, name, args and whatever else a row says; ok by default."""
    made = []
    for seq, row in enumerate(rows):
        fields = {"seq": seq, "ok": True, **row}
        fields["args"] = msgspec.Raw(json.dumps(row.get("args", {})).encode())
        made.append(Call(**fields))
    return Trace("test", list(made), **header)


def user(turn: int, number: int | str = 5, **more: Any) -> dict[str, Any]:
    row = {"turn": turn, "name": "get_user", "args": {"id": number}, "mutates": False}
    return {**row, "resource": f"user:{number}", **more}


def lines(turn: int, first: int, last: int, **more: Any) -> dict[str, Any]:
    region = {"unit": "line", "from": first, "to": last}
    row = {
        "turn": turn,
        "name": "read",
        "args": {"path": "a", "start_line": first},
        "view": "content",
    }
    return {**row, "mutates": False, "resource": "file:a", "region": region, **more}


def write(turn: int, resource: str, **more: Any) -> dict[str, Any]:
    row = {"turn": turn, "name": "put", "args": {"to": resource}, "mutates": True}
    return {**row, "resource": resource, **more}


def flags(trace: Trace) -> set[tuple[str, int, int]]:
    return {(v.code, v.first, v.repeat) for v in judge(trace).values() if v.level == "flag"}


def verdict(trace: Trace, repeat: int) -> tuple[str, str, int]:
    found = judge(trace)[repeat]
    return found.code, found.level, found.first


def test_founding_sloppy_fixture_gives_one_of_each() -> None:
    order = {"mutates": False, "resource": "order:9", "args": {"id": 9}}
    trace = calls(
        user(1),
        user(1),
        {"turn": 2, "name": "get_order", **order},
        {"turn": 2, "name": "get_order", **order, "args": {"id": "9"}},
        {"turn": 3, "name": "get_order", **order},
    )
    assert flags(trace) == {("RF001", 0, 1), ("RF002", 2, 3), ("RF003", 3, 4)}


def test_founding_retry_is_one_call_and_no_finding() -> None:
    trace = calls(user(1, ok=False), user(1, origin="harness-retry"))
    assert flags(trace) == set()
    assert verdict(trace, 1) == ("harness-retry", "", 0)


def test_three_equal_reads_give_two_pairs() -> None:
    assert flags(calls(user(2), user(3), user(4))) == {("RF003", 0, 1), ("RF003", 1, 2)}


def test_equal_to_the_byte_beats_equal_in_meaning() -> None:
    assert flags(calls(user(1, "5"), user(1, 5), user(1, 5))) == {
        ("RF002", 0, 1),
        ("RF001", 1, 2),
    }


@pytest.mark.parametrize(
    ("between", "reason"),
    [
        (write(2, "user:5"), "written-since"),
        (write(2, "user:5", outcome="timeout", ok=None), "written-since"),
        (write(2, "user:5/name"), "written-since"),
        (write(2, "USER:5"), "written-since"),
        ({"turn": 2, "name": "frobnicate"}, "opaque-since"),
        ({"turn": 2, "name": "frobnicate", "ok": False}, "opaque-since"),
    ],
)
def test_what_may_have_changed_it_acquits(between: dict[str, Any], reason: str) -> None:
    assert verdict(calls(user(1), between, user(3)), 2) == (reason, "", 0)


@pytest.mark.parametrize(
    ("between", "code", "level"),
    [
        (write(2, "user:7"), "RF003", "flag"),
        (write(2, "user:55"), "RF003", "flag"),
        (write(2, "user:5", ok=False), "RF106", "advice"),
        (write(2, "user:7", outcome="rejected"), "RF003", "flag"),
        (write(2, "file:a"), "RF003", "advice"),
        ({"turn": 2, "name": "get_thing"}, "RF003", "advice"),
    ],
)
def test_what_cannot_have_changed_it_does_not(
    between: dict[str, Any], code: str, level: str
) -> None:
    assert verdict(calls(user(1), between, user(3)), 2) == (code, level, 0)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([lines(1, 1, 20), lines(2, 5, 8)], ("RF101", "advice", 0)),
        ([lines(1, 1, 10), lines(2, 11, 20), lines(3, 1, 20)], ("RF101", "advice", 1)),
        ([lines(1, 1, 10), lines(2, 11, 20), lines(3, 1, 21)], ("other-region", "", 1)),
        ([lines(1, 1, 10), write(2, "file:a"), lines(3, 11, 20), lines(4, 1, 20)], None),
        ([lines(1, 1, 20, name="cat"), lines(2, 1, 20)], ("RF102", "advice", 0)),
        ([lines(1, 1, 20, context="sub"), lines(1, 1, 20)], ("RF103", "advice", 0)),
        ([lines(1, 1, 20, truncated=True), lines(2, 1, 20)], ("not-delivered-whole", "", 0)),
        ([lines(1, 1, 20, unchanged=True), lines(2, 1, 20)], ("not-delivered-whole", "", 0)),
    ],
)
def test_regions_views_and_contexts(
    rows: list[dict[str, Any]], expected: tuple[str, str, int] | None
) -> None:
    expected = expected or ("other-region", "", 2)
    assert verdict(calls(*rows), len(rows) - 1) == expected
