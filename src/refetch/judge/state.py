"""The state of a run as far as it has been read: barriers, contexts, last results, streaks."""

from __future__ import annotations

import re

import msgspec

from refetch.effects.regions import Region
from refetch.effects.resolve import Resolved
from refetch.effects.resources import Mark
from refetch.judge.barriers import Barriers
from refetch.judge.knowledge import ContextKnowledge, Entry
from refetch.judge.loops import LoopFinder
from refetch.judge.results import result_text


class Options(msgspec.Struct, frozen=True):
    """What a user can set about the judgement (SPEC 7).

    `poll_limit`: the k-th unchanged poll is reported. `failure_limit`: the N-th equal failure is
    reported. `ledger`: whether acquittals are kept.
    """

    poll_limit: int = 4
    failure_limit: int = 3
    user_message_is_barrier: bool = True
    ledger: bool = True
    budget: int | None = None
    per_tool: dict[str, int] = {}
    per_turn: int | None = None
    token_budget: int | None = None
    cost_budget_usd: float | None = None


class Streak:
    """How often in a row the same request gave the same answer (or the same failure)."""

    __slots__ = ("count", "entry", "text")

    def __init__(self, entry: Entry, text: str = "") -> None:
        self.entry = entry
        self.count = 1
        self.text = text


TRANSIENT = re.compile(
    r"\b(?:429|5\d\d)\b|too many requests|rate.?limit|time[d ]*.?out|temporar|unavailable"
    r"|overloaded|try again",
    re.I,
)
"""Failures that can pass by themselves (SPEC 7, RF105)."""

_CHANGING = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]*\d[0-9a-f-]*\b", re.I)


def failure_text(entry: Entry) -> str:
    """The error with what changes from one attempt to the next (ids, counters) taken out."""
    call = entry.last
    text = call.error or result_text(call)[:2000]
    return f"{call.status} {_CHANGING.sub('#', text)}"


def failed_for_good(entry: Entry) -> bool:
    """A failure that the same call would meet again."""
    call = entry.last
    if call.status not in ("error", "rejected", "not-executed"):
        return False
    return not TRANSIENT.search((call.error or result_text(call))[:2000])


class Refusals:
    """Writes that the harness refused because the file had not been read by its own tool."""

    def __init__(self) -> None:
        self._last: dict[str, Entry] = {}

    def add(self, entry: Entry) -> None:
        """A refused write."""
        for target in entry.resolved.writes:
            self._last[target.resource] = entry

    def last_on(self, resolved: Resolved) -> Entry | None:
        """The latest refusal about what this call reads."""
        found = [self._last[a.resource] for a in resolved.reads if a.resource in self._last]
        return max(found, key=lambda entry: entry.pos, default=None)


class RunState:
    """Everything remembered between two events. Memory grows with distinct requests and
    resources.
    """

    def __init__(self, options: Options, *, turns_inferred: bool) -> None:
        self.options = options
        self.turns_inferred = turns_inferred
        self.pos = 0
        self.barriers = Barriers()
        self.contexts: dict[str, ContextKnowledge] = {}
        self.last_result: dict[tuple[str, str], Entry] = {}
        self.last_view: dict[tuple[str, str, Region], Entry] = {}
        self.latest_same: dict[tuple[str, str], Entry] = {}
        self.latest_key: dict[tuple[str, str], Entry] = {}
        self.latest_unknown: dict[str, Entry] = {}
        self.latest_read: dict[str, Entry] = {}
        self.holders: dict[tuple[str, str], dict[str, None]] = {}
        self.polls: dict[tuple[str, tuple[str, str]], Streak] = {}
        self.failures: dict[tuple[str, str], Streak] = {}
        self.mutations: dict[tuple[str, tuple[str, str]], tuple[Entry | None, Entry | None]] = {}
        self.proven: dict[tuple[str, str], Mark] = {}
        self.refusals = Refusals()
        self.loops: dict[str, LoopFinder] = {}

    def acted(self, resolved: Resolved, *around: Entry) -> tuple[Mark, Mark]:
        """The latest overlapping write and opaque call, also of those that ran beside one of
        `around`.
        """
        written, opaque = self.barriers.written(resolved), self.barriers.opaque(resolved)
        for entry in around:
            if entry.beside is not None:
                written = max(written, entry.beside.written(resolved))
                opaque = max(opaque, entry.beside.opaque(resolved))
        return written, opaque

    def last_known(self, entry: Entry) -> Entry | None:
        """The latest call with a known result that asked for the same view and region (SPEC
        6f).
        """
        same = self.last_result.get(entry.same)
        key = entry.looks_at
        viewed = self.last_view.get(key) if key is not None else None
        if same is None or viewed is None:
            return same or viewed
        return max(same, viewed, key=lambda known: known.pos)

    def know(self, entry: Entry) -> None:
        """A delivered result that later ones compare with."""
        self.last_result[entry.same] = entry
        key = entry.looks_at
        if key is not None:
            self.last_view[key] = entry

    def changed(self, entry: Entry) -> None:
        """A successful mutation; the latest one of another turn is kept beside it."""
        key = (entry.first.context, entry.same)
        latest, before = self.mutations.get(key, (None, None))
        if latest is not None and latest.first.turn != entry.first.turn:
            before = latest
        self.mutations[key] = (entry, before)

    def last_change(self, entry: Entry) -> Entry | None:
        """The latest successful equal mutation of this context in another turn."""
        latest, before = self.mutations.get((entry.first.context, entry.same), (None, None))
        if latest is not None and latest.first.turn == entry.first.turn:
            return before
        return latest

    def context(self, name: str) -> ContextKnowledge:
        """The memory of a context; it begins empty."""
        found = self.contexts.get(name)
        if found is None:
            found = self.contexts[name] = ContextKnowledge()
        return found
