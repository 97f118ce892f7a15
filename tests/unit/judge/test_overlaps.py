"""What ran beside a call may have acted before or after it; its neighbours are another matter."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.api import check
from refetch.effects.resolve import Resolved, Resolver
from refetch.judge.knowledge import Entry
from refetch.judge.overlaps import ALWAYS, Overlaps, ran
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
    if call.has_args:
        return call
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


TIMES = st.one_of(
    st.none(), st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda t: (t[0], t[0] + t[1]))
)


@given(st.lists(st.tuples(TIMES, st.booleans(), st.integers(0, 2)), max_size=12))
def test_beside_a_call_is_what_a_walk_over_all_pairs_finds(
    rows: list[tuple[tuple[int, int] | None, bool, int]],
) -> None:
    calls = [
        Call(
            seq=seq, turn=1, name="edit" if writes else "read",
            args=msgspec.Raw(b'{"n":%d}' % which), resource=f"file:{which}", mutates=writes,
            outcome="ok", started=times and float(times[0]), ended=times and float(times[1]),
        )
        for seq, (times, writes, which) in enumerate(rows)
    ]  # fmt: skip
    resolver = Resolver(Trace("r", list(calls)))

    def act(call: Call) -> Resolved | None:
        found = resolver.resolve(call)
        return found if found.may_write else None

    overlaps = Overlaps(calls, act)
    for call in calls:
        entry = Entry(call, call, resolver.resolve(call), 0, 0)
        walked = {
            other.resource
            for other in calls
            if other.mutates
            and (mine := ran(call))
            and (its := ran(other))
            and its[0] < mine[1]
            and its[1] > mine[0]
            and resolver.resolve(other).identity.key != entry.same
        }
        found = overlaps.beside(entry)
        assert (found is not None) == bool(walked)
        for resource in ("file:0", "file:1", "file:2"):
            probe = resolver.resolve(
                Call(seq=99, turn=1, name="read", resource=resource, mutates=False)
            )
            stood = found is not None and found.written(probe).pos == ALWAYS
            assert stood == (resource in walked)


def test_beside_a_crowd_anything_may_have_happened() -> None:
    crowd = [edit(seq, 0, 100, f"file:{seq}.py") for seq in range(1, 200)]
    calls = [read(0, 10, 20), *(with_path(one) for one in crowd), read(200, 30, 40)]
    assert flagged(*calls) == []
    alone = [read(0, 10, 20), *(with_path(one) for one in crowd[:20]), read(200, 30, 40)]
    assert flagged(*alone) == [(0, 200)]


def with_path(call: Call) -> Call:
    return msgspec.structs.replace(call, args=msgspec.Raw(b'{"path":"%d"}' % call.seq))
