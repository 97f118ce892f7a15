"""What ran beside a call may have acted before or after it; its neighbours are another matter."""

from __future__ import annotations

import msgspec
import pytest

from refetch.api import check
from refetch.model.trace import Call, Trace


def read(seq: int, start: float, end: float, **more: object) -> Call:
    return Call(
        seq=seq,
        turn=seq + 1,
        name="read_file",
        resource="file:a.py",
        mutates=False,
        outcome="ok",
        started=start,
        ended=end,
        **more,  # type: ignore[arg-type]
    )


def edit(seq: int, start: float, end: float, resource: str = "file:a.py") -> Call:
    return Call(
        seq=seq,
        turn=seq + 1,
        name="edit_file",
        resource=resource,
        mutates=True,
        outcome="ok",
        started=start,
        ended=end,
    )


def other(seq: int, start: float, end: float) -> Call:
    return Call(
        seq=seq, turn=seq + 1, name="think", effect="none", outcome="ok", started=start, ended=end
    )


def flagged(*calls: Call) -> list[tuple[int, int]]:
    report = check(Trace("r", [with_args(call) for call in calls]))
    return [(f.first.seq, f.repeat.seq) for f in report.flags if f.first and f.repeat]


def with_args(call: Call) -> Call:
    return msgspec.structs.replace(call, args=msgspec.Raw(b'{"path":"a.py"}'))


@pytest.mark.parametrize(
    "calls",
    [
        # The write is recorded after the repeat, but began before it ended.
        [read(0, 0, 1), read(1, 10, 20), edit(2, 15, 16)],
        # The write is recorded before the first read, but may have ended after it.
        [edit(0, 0, 10), read(1, 5, 6), read(2, 20, 21)],
        # The write is recorded after the repeat, but ran beside the first read.
        [read(0, 0, 10), read(1, 20, 21), edit(2, 5, 12)],
        # A write in the middle, beside nothing.
        [read(0, 0, 1), edit(1, 2, 3), read(2, 4, 5)],
        # Another spelling of the resource.
        [read(0, 0, 1), read(1, 10, 20), edit(2, 15, 16, "file:A.py")],
    ],
)
def test_a_write_that_may_lie_between_acquits(calls: list[Call]) -> None:
    assert flagged(*calls) == []


@pytest.mark.parametrize(
    ("calls", "pair"),
    [
        # The late write overlapped a neighbour of the repeat, not the repeat.
        ([read(0, 0, 1), other(1, 5, 30), read(2, 10, 11), edit(3, 20, 21)], (0, 2)),
        # The early write overlapped a neighbour of the first read, not the first read.
        ([edit(0, 0, 10), other(1, 5, 30), read(2, 20, 21), read(3, 40, 41)], (2, 3)),
        # The write beside the repeat is to something else.
        ([read(0, 0, 1), read(1, 10, 20), edit(2, 15, 16, "file:b.py")], (0, 1)),
    ],
)
def test_a_write_beside_a_neighbour_does_not(calls: list[Call], pair: tuple[int, int]) -> None:
    assert flagged(*calls) == [pair]


def test_without_times_the_order_decides() -> None:
    reads = [read(0, 0, 1), read(1, 10, 20)]
    untimed = Call(
        seq=2, turn=3, name="edit_file", resource="file:a.py", mutates=True, outcome="ok"
    )
    assert flagged(*reads, untimed) == [(0, 1)]
