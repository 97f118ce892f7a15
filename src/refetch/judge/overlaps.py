"""Executions that ran at the same time: each may have acted before or after the other.

SPEC 3.3: where calls overlapped in time, a write lies between if it may.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from refetch.effects.resolve import Resolved
from refetch.effects.resources import Mark
from refetch.judge.barriers import Barriers
from refetch.judge.knowledge import Entry
from refetch.model.trace import Call, seconds

ALWAYS = 1 << 62
"""The position of an act that may lie between a call and any other."""

_MANY = 64
"""Beside more acts than this, anything may have happened: no need to look at each."""


class _Act(NamedTuple):
    start: float
    end: float
    seq: int
    resolved: Resolved


class Overlaps:
    """What the executions of a trace may have changed, found by time.

    The acts stand in the order of their start, below a tree of the latest end in each half, so that
    those beside a call are found without a walk over the others.

    Args:
        calls: the executions of the trace.
        act: what an execution may have changed; None for those that change nothing.
    """

    def __init__(self, calls: Iterable[Call], act: Callable[[Call], Resolved | None]) -> None:
        acts: list[_Act] = []
        for call in calls:
            times = ran(call)
            resolved = act(call) if times is not None else None
            if times is not None and resolved is not None:
                acts.append(_Act(*times, call.seq, resolved))
        acts.sort(key=lambda one: one.start)
        self._acts = acts
        self._starts = [one.start for one in acts]
        size = self._size = 1 << max(0, len(acts) - 1).bit_length()
        never = float("-inf")
        ends = [never] * size + [one.end for one in acts] + [never] * (size - len(acts))
        for at in range(size - 1, 0, -1):
            ends[at] = max(ends[2 * at], ends[2 * at + 1])
        self._ends = ends

    def beside(self, entry: Entry) -> Barriers | None:
        """What other calls may have done while this one ran; None where nothing.

        Equal calls never stand between each other.
        """
        times = ran(entry.last)
        if times is None or not self._acts:
            return None
        found, count = None, 0
        for act in self._running(*times):
            if act.seq == entry.last.seq or act.resolved.identity.key == entry.same:
                continue
            found = found or Barriers()
            count += 1
            if count > _MANY:
                found.write("*", "any", Mark(ALWAYS, act.seq))
                break
            found.apply(act.resolved, Mark(ALWAYS, act.seq))
        return found

    def _running(self, began: float, ended: float) -> Iterator[_Act]:
        """The acts that started before `ended` and ended after `began`."""
        known = bisect_left(self._starts, ended)
        nodes = [(1, 0, self._size)]
        while nodes:
            node, first, size = nodes.pop()
            if first >= known or self._ends[node] <= began:
                continue
            if size == 1:
                yield self._acts[first]
                continue
            half = size // 2
            nodes += [(2 * node + 1, first + half, half), (2 * node, first, half)]


def ran(call: Call) -> tuple[float, float] | None:
    """When an execution began and ended, in seconds; None where it is not known, or took no
    time.
    """
    start, end = seconds(call.started), seconds(call.ended)
    return (start, end) if start is not None and end is not None and end > start else None
