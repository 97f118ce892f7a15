"""What happens before any verdict (SPEC 3): recorder artefacts dropped, attempts folded, order
settled.

`prepare` turns a trace into `Step`s in the order of time. Each execution of a tool is one step
with its role:
the first (or only) execution of a logical call, a further attempt of one, a record that says the
same thing again, or a second execution of one request by the harness.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from refetch.keys import UnreadableArguments, decode_json, encode_json
from refetch.keys.json_text import encodable
from refetch.model.trace import (
    NEVER_RAN,
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Request,
    Result,
    Trace,
    UserMessage,
    Write,
)

FAILED = frozenset(("error", "timeout", "unknown", *NEVER_RAN))
"""Outcomes after which the same call again is another attempt (SPEC 3.3)."""


class Step(NamedTuple):
    """One event in its place.

    For calls: `of` is the first execution of the logical call (the call itself when it is the
    first), `role` one of call, attempt, artefact, double; `final` is False where another attempt
    follows.
    """

    event: Event
    role: str = "event"
    of: Call | None = None
    final: bool = True


def prepare(trace: Trace) -> list[Step]:
    """The steps of a trace in order of time, each execution with its role."""
    calls = _in_order(trace.events)
    return _merged(trace.events, calls, _roles(calls))


def _in_order(events: Iterable[Event]) -> list[Call]:
    calls = [event for event in events if type(event) is Call]
    if any(a.seq > b.seq for a, b in pairwise(calls)):
        calls.sort(key=lambda call: call.seq)
    return calls


def _request(call: Call) -> tuple[object, ...] | None:
    """The key of SPEC 3.2 but for the arguments: (context, turn, id, tool); None without an id."""
    if call.call_id is None or not call.has_args:
        return None
    return (call.context, call.turn, call.call_id, call.name)


def _as_written(call: Call) -> str | bytes:
    return call.raw_args if call.raw_args is not None else bytes(call.args)


def _as_meant(call: Call) -> str | None:
    """One text for all spellings of the same JSON; None for a text that the model itself wrote."""
    if call.raw_args is not None:
        return None
    try:
        return encode_json(encodable(decode_json(call.args), sort_keys=True))
    except UnreadableArguments:
        return None


def _same_arguments(call: Call) -> tuple[object, ...]:
    return (call.context, call.name, _as_written(call))


class RoleKeeper:
    """Gives each execution its role, one at a time, from what came before."""

    def __init__(self) -> None:
        self._by_id: dict[tuple[object, ...], Call] = {}
        self._requests: dict[tuple[object, ...], Call] = {}
        self._failed: dict[tuple[object, ...], Call] = {}
        self._first: dict[int, Call] = {}
        self._seen: dict[int, Call] = {}

    def role(self, call: Call) -> tuple[str, Call, Call | None]:
        """(role, first execution of the logical call, the execution that came before it)."""
        before, role = self._before(call)
        first = call if before is None or role == "double" else self._first.get(before.seq, before)
        if role != "artefact":
            self._first[call.seq] = first
            self._seen[call.seq] = call
            self._keep(call)
            if call.status in FAILED:
                self._failed[_same_arguments(call)] = call
            elif self._failed:
                self._failed.pop(_same_arguments(call), None)
        return role, first, before

    def _before(self, call: Call) -> tuple[Call | None, str]:
        numbered = self._seen.get(call.seq)
        # Another call under a used number is a call all the same: its effect must not get lost.
        if numbered is not None and _same_arguments(numbered) == _same_arguments(call):
            return numbered, "artefact"
        if call.attempt_of is not None and (of := self._seen.get(call.attempt_of)) is not None:
            return of, "attempt"
        before = self._recorded(call)
        if before is None:
            if call.origin == "harness-retry":
                before = self._failed.get(_same_arguments(call))
            return before, "attempt" if before is not None else "call"
        if before.status in FAILED:
            return before, "attempt" if not _says_nothing(call) else "artefact"
        if _says_nothing(call) or _is_copy(before, call):
            return before, "artefact"
        if _says_nothing(before):
            return before, "completes"
        return before, "double"

    def _keep(self, call: Call) -> None:
        request = _request(call)
        if request is None:
            return
        self._requests[*request, _as_written(call)] = call
        if self._by_id.setdefault(request, call) is not call:
            self._requests[*request, _as_meant(call), None] = call

    def _recorded(self, call: Call) -> Call | None:
        """The latest record of the same request (SPEC 3.2).

        Programs that decode arguments write them anew when they record them once more, so `1` and
        `1.0` under one id are one request, as two executions of one request are no repeat.
        """
        request = _request(call)
        other = self._by_id.get(request) if request is not None else None
        if request is None or other is None:
            return None
        found = self._requests.get((*request, _as_written(call)))
        if found is None and (meant := _as_meant(call)) is not None:
            self._requests.setdefault((*request, _as_meant(other), None), other)
            found = self._requests.get((*request, meant, None))
        return found


def _says_nothing(call: Call) -> bool:
    """A record of a request without any trace of an execution."""
    if call.status == "not-executed":
        return True
    bare = not bytes(call.result) and call.result_hash is None and call.error is None
    return bare and call.status == "missing"


def _is_copy(a: Call, b: Call) -> bool:
    """The same execution written twice: equal times, recorded ones, and an equal result."""
    return (
        a.started is not None
        and a.started == b.started
        and a.ended == b.ended
        and bytes(a.result) == bytes(b.result)
        and a.result_hash == b.result_hash
    )


def _roles(calls: list[Call]) -> list[Step]:
    keeper = RoleKeeper()
    steps: list[Step] = []
    place: dict[int, int] = {}  # by identity: numbers may be used twice
    for call in calls:
        role, first, before = keeper.role(call)
        if role == "completes":
            # The earlier record was a partial one of this same call: it is the artefact.
            assert before is not None
            at = place[id(before)]
            steps[at] = Step(before, "artefact", call)
            role, first = "call", call
        elif role == "artefact":
            steps.append(Step(call, "artefact", first))
            continue
        elif role == "attempt" and before is not None:
            at = place[id(before)]
            steps[at] = steps[at]._replace(final=False)
        elif role == "double":
            assert before is not None
            first = before
        place[id(call)] = len(steps)
        steps.append(Step(call, role, first))
    return steps


def _merged(events: Iterable[Event], calls: list[Call], steps: list[Step]) -> list[Step]:
    """Put the other events behind the call they follow; several after one call keep their order."""
    after: dict[int, list[Step]] = {}
    start: list[Step] = []
    known = [call.seq for call in calls]
    for event in events:
        if type(event) in (Call, Result):
            continue
        if isinstance(event, (ContextLoss, Write, UserMessage)):
            at = _last_at_or_before(known, event.after)
            (start if at is None else after.setdefault(at, [])).append(Step(event))
        elif isinstance(event, ContextStart) and event.parent_call is not None:
            at = _last_at_or_before(known, event.parent_call)
            (start if at is None else after.setdefault(at, [])).append(Step(event))
        elif isinstance(event, (ContextStart, Request)):
            start.append(Step(event))
    if not after:
        return [*start, *steps]
    merged = start
    for index, step in enumerate(steps):
        merged.append(step)
        seq = step.event.seq  # type: ignore[union-attr]
        last_of_seq = index + 1 == len(steps) or steps[index + 1].event.seq != seq  # type: ignore[union-attr]
        if last_of_seq:
            merged.extend(after.get(seq, ()))
    return merged


def _last_at_or_before(known: list[int], seq: int) -> int | None:
    low, high = 0, len(known)
    while low < high:
        middle = (low + high) // 2
        if known[middle] <= seq:
            low = middle + 1
        else:
            high = middle
    return known[low - 1] if low else None
