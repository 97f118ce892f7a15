"""Finding stretches of calls that repeat with a period of one to five (RF108)."""

from __future__ import annotations

from refetch.judge.knowledge import Entry
from refetch.judge.results import equal

LONGEST = 5
ONE_CALL = 5
ROUNDS = 3
KEPT = LONGEST * ROUNDS + LONGEST


class LoopFinder:
    """Finds periodic stretches in the calls of one context, in constant time a call."""

    def __init__(self) -> None:
        self._recent: list[Entry] = []
        # How many calls in a row matched the one a period before, for the periods that match.
        self._matched: dict[int, int] = {}
        self._open: dict[int, list[int]] = {}
        self.found: list[tuple[int, list[int]]] = []

    def add(self, entry: Entry) -> None:
        """Take the next call; stretches that it continues grow."""
        recent = self._recent
        same = entry.same
        back = [
            period
            for period, before in enumerate(recent[: -LONGEST - 1 : -1], 1)
            if before.same == same
        ]
        if back or self._matched:
            self._extend(entry, [p for p in back if self._repeats(recent[-p], entry, p)])
        recent.append(entry)
        if len(recent) > 2 * KEPT:
            del recent[:-KEPT]

    def _extend(self, entry: Entry, periods: list[int]) -> None:
        for period in [p for p in self._matched if p not in periods]:
            self._close(period)
        for period in periods:
            matched = self._matched[period] = self._matched.get(period, 0) + 1
            needed = ONE_CALL - 1 if period == 1 else (ROUNDS - 1) * period
            if matched == needed:
                stretch = [*self._recent[1 - needed - period :], entry]
                if len({e.same for e in stretch[-period:]}) == period:
                    self._open[period] = [e.first.seq for e in stretch]
            elif period in self._open:
                self._open[period].append(entry.first.seq)

    def finish(self) -> list[tuple[int, list[int]]]:
        """All loops as (period, seqs); a loop inside a shorter one is not told twice."""
        for period in sorted(self._matched):
            self._close(period)
        return self.found

    @staticmethod
    def _repeats(before: Entry, now: Entry, period: int) -> bool:
        if not now.resolved.identity.known or now.resolved.repeatable:
            return False
        return period > 1 or equal(before.result, now.result) is True or now.last.unchanged

    def _close(self, period: int) -> None:
        del self._matched[period]
        seqs = self._open.pop(period, None)
        if seqs is not None:
            self.found.append((period, seqs))
