"""Which model requests carried a result: those after it, until its context lost it."""

from __future__ import annotations

from bisect import bisect_right

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


class Timeline:
    """The requests and losses of every context, in the order of the trace.

    A trace without requests has one at the first call of each turn.
    """

    def __init__(self, trace: Trace) -> None:
        self.requests: dict[str, list[Asked]] = {}
        self.losses: dict[str, list[tuple[int, frozenset[int] | None]]] = {}
        self.place: dict[int, int] = {}
        self.calls: dict[tuple[str, int], list[Call]] = {}
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

    def carriers(self, call: Call) -> list[Asked]:
        """The later requests whose prompts held the result of a call."""
        at = self.place[call.seq]
        requests = self.requests.get(call.context, [])
        end = min(
            (
                place
                for place, lost in self.losses.get(call.context, ())
                if place > at and (lost is None or call.seq in lost)
            ),
            default=None,
        )
        first = bisect_right([asked.at for asked in requests], at)
        # The request that asked for the call may stand behind it in traces put together from spans.
        return [
            asked
            for asked in requests[first:]
            if asked.turn > call.turn and (end is None or asked.at < end)
        ]

    def asking(self, call: Call) -> tuple[Asked | None, Asked | None]:
        """The request that asked for a call, and the one after it."""
        requests = self.requests.get(call.context, [])
        for index, asked in enumerate(requests):
            if asked.turn == call.turn:
                following = requests[index + 1] if index + 1 < len(requests) else None
                return asked, following
        return None, None
