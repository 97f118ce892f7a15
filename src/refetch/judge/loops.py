"""Finding stretches of calls that repeat with a period of one to five (RF108)."""

from __future__ import annotations

from refetch.judge.knowledge import Entry
from refetch.judge.results import equal

LONGEST = 5
ONE_CALL = 5
ROUNDS = 3


class LoopFinder:
    """Finds periodic stretches in the calls of one context, in constant time a call."""

    def __init__(self) -> None:
        self._recent: list[Entry] = []
        self._matched = [0] * (LONGEST + 1)
        self._open: dict[int, list[int]] = {}
        self.found: list[tuple[int, list[int]]] = []

    def add(self, entry: Entry) -> None:
        """Take the next call; stretches that it continues grow."""
        recent = self._recent
        recent.append(entry)
        for period in range(1, LONGEST + 1):
            if len(recent) <= period or not self._repeats(recent[-1 - period], entry, period):
                self._close(period)
                continue
            self._matched[period] += 1
            needed = ONE_CALL - 1 if period == 1 else (ROUNDS - 1) * period
            if self._matched[period] == needed and self._distinct(period):
                self._open[period] = [e.first.seq for e in recent[-needed - period :]]
            elif period in self._open:
                self._open[period].append(entry.first.seq)
        keep = LONGEST * ROUNDS + LONGEST
        if len(recent) > 2 * keep:
            del recent[:-keep]

    def finish(self) -> list[tuple[int, list[int]]]:
        """All loops as (period, seqs); a loop inside a shorter one is not told twice."""
        for period in range(1, LONGEST + 1):
            self._close(period)
        return self.found

    def _repeats(self, before: Entry, now: Entry, period: int) -> bool:
        if before.same != now.same or not now.resolved.identity.known or now.resolved.repeatable:
            return False
        return period > 1 or equal(before.result, now.result) is True or now.last.unchanged

    def _distinct(self, period: int) -> bool:
        return len({entry.same for entry in self._recent[-period:]}) == period

    def _close(self, period: int) -> None:
        self._matched[period] = 0
        seqs = self._open.pop(period, None)
        if seqs is not None:
            self.found.append((period, seqs))
