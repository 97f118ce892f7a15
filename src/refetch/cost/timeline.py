"""Which model requests carried a result: those after it, until its context lost it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise
from typing import NamedTuple

from refetch.cost.usage import Usage, usage_of
from refetch.model.trace import Call, ContextLoss, Request, Trace, UserMessage


class Asked:
    """One model request of a context. `at` is its place in the trace, `clean` is False where a
    person spoke or something was lost before the next one.
    """

    __slots__ = ("at", "clean", "turn", "usage")

    def __init__(self, at: int, turn: int, usage: Usage | None) -> None:
        self.at = at
        self.turn = turn
        self.usage = usage
        self.clean = True


class Carried(NamedTuple):
    """Requests that carried a result: how many, their cached shares together, and whether each of
    them is known.
    """

    requests: int
    cached: float
    known: bool


class Timeline:
    """The requests and losses of every context, in the order of the trace.

    A trace without requests has one at the first call of each turn.
    """

    def __init__(self, trace: Trace) -> None:
        self.requests: dict[str, list[Asked]] = {}
        self.losses: dict[str, list[tuple[int, frozenset[int] | None]]] = {}
        self.place: dict[int, int] = {}
        self.calls: dict[tuple[str, int], list[Call]] = {}
        self._counts: dict[str, _Counts] = {}
        self._lost_at: dict[str, dict[int | None, list[int]]] = {}
        self._first: dict[str, dict[int, int]] = {}
        recorded = {e.context for e in trace.events if type(e) is Request}
        for at, event in enumerate(trace.events):
            if isinstance(event, Request):
                asked = Asked(at, event.turn, usage_of(event.usage))
                self.requests.setdefault(event.context, []).append(asked)
            elif isinstance(event, Call):
                self._call(event, at, implied=event.context not in recorded)
            elif isinstance(event, ContextLoss):
                lost = None if event.lost is None else frozenset(event.lost)
                self.losses.setdefault(event.context, []).append((at, lost))
                self._unclean(event.context)
            elif isinstance(event, UserMessage):
                self._unclean(event.context)

    def _call(self, call: Call, at: int, *, implied: bool) -> None:
        self.place.setdefault(call.seq, at)
        same_turn = self.calls.setdefault((call.context, call.turn), [])
        if implied and not same_turn:
            self.requests.setdefault(call.context, []).append(Asked(at, call.turn, None))
        same_turn.append(call)

    def _unclean(self, context: str) -> None:
        if self.requests.get(context):
            self.requests[context][-1].clean = False

    def carriers(self, call: Call) -> Carried:
        """The later requests whose prompts held the result of a call."""
        at = self.place[call.seq]
        if call.context not in self._counts:
            self._counts[call.context] = _Counts(self.requests.get(call.context, []))
        return self._counts[call.context].between(at, self._lost(call, at), call.turn)

    def _lost(self, call: Call, at: int) -> int | None:
        """Where the context lost the result of a call."""
        if call.context not in self._lost_at:
            lost_at: dict[int | None, list[int]] = {}
            for place, lost in self.losses.get(call.context, ()):
                for seq in (None,) if lost is None else lost:
                    lost_at.setdefault(seq, []).append(place)
            self._lost_at[call.context] = lost_at
        lists = self._lost_at[call.context]
        later = (
            places[bisect_right(places, at) :][:1]
            for places in (lists.get(None, []), lists.get(call.seq, []))
        )
        return min((place for places in later for place in places), default=None)

    def asking(self, call: Call) -> tuple[Asked | None, Asked | None]:
        """The request that asked for a call, and the one after it."""
        requests = self.requests.get(call.context, [])
        if call.context not in self._first:
            first: dict[int, int] = {}
            for index, asked in enumerate(requests):
                first.setdefault(asked.turn, index)
            self._first[call.context] = first
        found = self._first[call.context].get(call.turn)
        if found is None:
            return None, None
        return requests[found], requests[found + 1] if found + 1 < len(requests) else None


class _Counts:
    """The requests of one context, counted so that a stretch of them costs no walk."""

    def __init__(self, requests: list[Asked]) -> None:
        self.requests = requests
        self.places = [asked.at for asked in requests]
        self.turns = [asked.turn for asked in requests]
        # In traces put together from spans a later request may be of an earlier turn.
        self.ordered = all(one <= two for one, two in pairwise(self.turns))
        shares = [cached_share(asked.usage) for asked in requests]
        self.cached = list(accumulate((share or 0.0 for share in shares), initial=0.0))
        self.unknown = list(accumulate((share is None for share in shares), initial=0))

    def between(self, at: int, end: int | None, turn: int) -> Carried:
        """What carried a result that came at place `at` in `turn` and was lost at `end`."""
        # The request that asked for the call may stand behind it as well.
        first = bisect_right(self.places, at)
        last = len(self.places) if end is None else bisect_left(self.places, end)
        if self.ordered:
            first = max(first, bisect_right(self.turns, turn))
            if first >= last:
                return Carried(0, 0.0, True)
            unknown = self.unknown[last] - self.unknown[first]
            return Carried(last - first, self.cached[last] - self.cached[first], not unknown)
        shares = [
            cached_share(asked.usage) for asked in self.requests[first:last] if asked.turn > turn
        ]
        return Carried(len(shares), sum(share or 0.0 for share in shares), None not in shares)


def cached_share(usage: Usage | None) -> float | None:
    """The part of a prompt that came from the cache, where it is recorded."""
    if usage is None or usage.cached is None:
        return None
    return usage.cached / usage.prompt if usage.prompt else 0.0
