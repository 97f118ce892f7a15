"""Executions that ran at the same time: each may have acted before or after the other.

SPEC 3.3: where calls overlapped in time, a write lies between if it may have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from refetch.effects.resolve import Resolved
from refetch.effects.resources import Mark
from refetch.judge.barriers import Barriers
from refetch.judge.knowledge import Entry
from refetch.model.trace import Call, seconds

ALWAYS = 1 << 62
"""The position of an act that may lie between a call and any other."""


class Overlaps:
    """What ran beside each call of a trace, asked in order of the calls.

    `windows` maps an execution to the first and the last seq that it overlapped in time.
    """

    def __init__(self, windows: dict[int, tuple[int, int]], calls: Iterable[Call]) -> None:
        self._windows = windows
        self._coming = [call for call in calls if call.seq in windows]
        self._coming.sort(key=lambda call: windows[call.seq][0], reverse=True)
        self._running: list[tuple[int, Call, Resolved]] = []

    def beside(self, entry: Entry, act: Callable[[Call], Resolved | None]) -> Barriers | None:
        """What other calls may have done while this one ran; None where nothing.

        `act` says what an execution may have changed. Equal calls never stand between each other.
        """
        seq = entry.last.seq
        while self._coming and self._windows[self._coming[-1].seq][0] <= seq:
            call = self._coming.pop()
            resolved = act(call)
            if resolved is not None:
                self._running.append((self._windows[call.seq][1], call, resolved))
        self._running = [row for row in self._running if row[0] >= seq]
        found = None
        for _, call, resolved in self._running:
            equal = call.seq == seq or resolved.identity.key == entry.same
            if not equal and may_overlap(call, entry.last):
                found = found or Barriers()
                found.apply(resolved, Mark(ALWAYS, call.seq))
        return found


def may_overlap(one: Call, other: Call) -> bool:
    """Whether two executions overlapped in time, as far as their times are known."""
    start, end = seconds(one.started), seconds(one.ended)
    began, ended = seconds(other.started), seconds(other.ended)
    if start is None or end is None or began is None or ended is None:
        return True
    return start < ended and end > began
