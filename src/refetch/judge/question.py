"""One call under judgement, and the conditions of SPEC 6 between it and an earlier one.

`blocks` lists every reason why the earlier call does not make this one redundant, in the order of
(a) to (f) and what follows. No reason at all convicts; exactly one of them lowers the verdict (a
lost context, another context); everything else acquits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from refetch.effects.answers import says_failed, says_pending
from refetch.effects.regions import Region, inside, union_parts
from refetch.effects.resources import NEVER, Mark
from refetch.judge.barriers import Barriers
from refetch.judge.knowledge import WINDOW, ContextKnowledge, Entry, TurnKey
from refetch.judge.once import once
from refetch.judge.results import equal
from refetch.judge.state import RunState, Streak, failed_for_good, failure_text
from refetch.model.trace import NEVER_RAN, seconds

NORMALIZATION = "normalization"
"""The equality that every normalized key has: key order, number form, blanks."""


class Block(NamedTuple):
    """A reason of the closed list, and the seqs of the calls that prove it."""

    reason: str
    evidence: tuple[int, ...] = ()


class Covering(NamedTuple):
    """Deliveries that together hold what was asked; the latest of them is `first`."""

    first: Entry
    parts: tuple[Entry, ...]


class WouldBe(NamedTuple):
    """What RF003 or RF101 would name, were it not for a failed write or a user message."""

    first: Entry
    calls: list[int] | None


class Question:
    """The call `entry` (its own effects not yet applied) before the state of the run.

    `double_of` is the earlier execution of the same request, where the harness executed it twice.
    """

    def __init__(self, state: RunState, entry: Entry, double_of: Entry | None = None) -> None:
        self.state = state
        self.entry = entry
        self.double_of = double_of
        self.resolved = entry.resolved
        self.call = entry.first
        self.context: ContextKnowledge = state.context(entry.first.context)
        self._marks: tuple[Mark, Mark, Mark] | None = None

    # -- what stands between
    # -------------------------------------------------------------------------

    def barriers(self) -> tuple[Mark, Mark, Mark]:
        """The latest overlapping write, opaque call and running background job."""
        if self._marks is None:
            barriers = self.state.barriers
            if self.resolved.effect == "pure":
                self._marks = (NEVER, NEVER, NEVER)
            else:
                self._marks = (
                    *self.state.acted(self.resolved, self.entry),
                    barriers.running(self.resolved) if self.resolved.effect == "read" else NEVER,
                )
        return self._marks

    @once
    def floor(self) -> int:
        """Deliveries before this position are certainly stale."""
        written, opaque, _ = self.barriers()
        return max(written.pos, opaque.pos)

    def acted(self, earlier: Entry) -> tuple[Mark, Mark]:
        """The latest overlapping write and opaque call that may lie after `earlier`."""
        written, opaque, _ = self.barriers()
        beside, resolved = earlier.beside, self.resolved
        if beside is not None and resolved.effect != "pure":
            written = max(written, beside.written(resolved))
            opaque = max(opaque, beside.opaque(resolved))
        return written, opaque

    def equal(self, other: Entry) -> bool | None:
        """Whether the results are known and equal; an `unchanged` answer counts as equal."""
        if self.entry.last.unchanged:
            return True
        if other.last.unchanged:
            known = self.state.last_result.get(self.entry.same)
            return None if known is None else equal(known.result, self.entry.result)
        return equal(other.result, self.entry.result)

    @once
    def contradicted(self) -> bool:
        """Whether the result differs from the last known one of the same view and region (SPEC
        6f).
        """
        if self.entry.last.unchanged:
            return False
        known = self.state.last_known(self.entry)
        return known is not None and equal(known.result, self.entry.result) is False

    def blocks(self, earlier: Entry, *, since: int | None = None) -> list[Block]:
        """Every reason why `earlier` does not make this call redundant; `since` moves the start
        of (c).
        """
        return list(self._blocks(earlier, earlier.pos if since is None else since))

    def _blocks(self, earlier: Entry, since: int) -> Iterator[Block]:
        yield from self._not_delivered(earlier)
        if not self._same_region(earlier):
            yield Block("other-region")
        yield from self._stale(earlier, since)
        if earlier.first.context != self.call.context:
            yield Block("other-context")
        elif not self.context.holds(earlier):
            yield Block("context-lost")
        if self.call.origin != "model":
            yield Block("not-the-models-own")
        if self._differs(earlier):
            yield Block("result-changed")
        yield from self._not_a_repeat(earlier)

    def _not_delivered(self, earlier: Entry) -> Iterator[Block]:
        if not (earlier.resolved.identity.known and self.resolved.identity.known):
            yield Block("arguments-unknown")
        status = earlier.status
        if status in NEVER_RAN:
            yield Block("not-executed")
        elif status in ("error", "timeout") or says_failed(earlier.last.result, json_only=True):
            yield Block("earlier-failed")
        elif (
            earlier.pos > self.entry.asked
            or not earlier.delivered
            or (earlier.last.truncated and not self._truncated_alike(earlier))
        ):
            yield Block("not-delivered-whole")

    def _truncated_alike(self, earlier: Entry) -> bool:
        if earlier.same == self.entry.same:
            return self.equal(earlier) is True
        return earlier.last.delivered is not None and self.resolved.region.kind != "all"

    def _same_region(self, earlier: Entry) -> bool:
        if earlier.same == self.entry.same or not self.same_view(earlier):
            return True
        return inside(self.resolved.region, earlier.resolved.delivers)

    def _stale(self, earlier: Entry, since: int) -> Iterator[Block]:
        written, opaque = self.acted(earlier)
        job = self.barriers()[2]
        proven = self.state.proven.get(self.entry.same)
        if written.pos > since:
            yield Block("written-since", (written.seq,))
        elif proven is not None and proven.pos > since:
            yield Block("written-since", (proven.seq,))
        barriers = self.state.barriers
        if opaque.pos > since:
            yield Block("opaque-since", (opaque.seq,))
        elif (
            barriers.tests.pos > since
            and self.resolved.effect != "pure"
            and self.equal(earlier) is not True
        ):
            yield Block("opaque-since", (barriers.tests.seq,))
        if self._expired(earlier):
            yield Block("expired")
        pending = says_pending(earlier.last.result)
        if self.resolved.volatile or self.resolved.poll or job.pos >= 0 or pending:
            yield Block("volatile", (job.seq,) if job.pos >= 0 else ())
        elif barriers.wait.pos > since and self.resolved.effect == "read":
            yield Block("volatile", (barriers.wait.seq,))

    def _expired(self, earlier: Entry) -> bool:
        declared = [t for t in (self.resolved.ttl, earlier.resolved.ttl) if t is not None]
        if not declared:
            return False
        ttl = min(declared)
        began = seconds(self.entry.last.started) or seconds(self.entry.last.ended)
        ended = seconds(earlier.last.ended) or seconds(earlier.last.started)
        if began is None or ended is None:
            return (
                earlier.first.context != self.call.context or earlier.first.turn != self.call.turn
            )
        return began - ended > ttl

    def _differs(self, earlier: Entry) -> bool:
        if self.resolved.mutates_declared and earlier.resolved.mutates_declared:
            return False
        if self.contradicted:
            return True
        same_request = earlier.same == self.entry.same
        return same_request and self.equal(earlier) is False

    def _not_a_repeat(self, earlier: Entry) -> Iterator[Block]:
        if earlier.same != self.entry.same and not self.same_view(earlier):
            yield Block("other-view")
        if self.entry.status not in ("ok", "missing"):
            yield Block("repeat-failed")
        if self.resolved.repeatable:
            yield Block("declared-repeatable")

    def same_view(self, earlier: Entry) -> bool:
        """Whether both look at the same resources in the same form."""
        mine = {(a.resource, a.view) for a in self.resolved.reads}
        return bool(mine) and mine <= {(a.resource, a.view) for a in earlier.resolved.reads}

    # -- candidates
    # ----------------------------------------------------------------------------------

    @once
    def turn_mate(self) -> TurnKey | None:
        """The equal calls of this turn, if there were any."""
        if not self.resolved.identity.known or self.context.turn != self.call.turn:
            return None
        return self.context.turn_keys.get(self.entry.same)

    def chain(self) -> Iterator[Entry]:
        """Deliveries of the same request into this context that may be fresh, the latest first."""
        return self._chain_in(self.context)

    def _chain_in(self, context: ContextKnowledge) -> Iterator[Entry]:
        entry = context.delivered.get(self.entry.same)
        floor = self.floor if entry is not None else -1
        while entry is not None and entry.pos >= floor:
            yield entry
            entry = entry.previous

    @once
    def refetched(self) -> Entry | None:
        """The latest delivery of the same request, in another turn, that nothing speaks against
        (RF003).
        """
        if not self.resolved.is_read or self.resolved.poll or self.resolved.volatile:
            return None
        for entry in self.chain():
            other_turn = (
                entry.first.turn != self.call.turn or entry.first.context != self.call.context
            )
            if other_turn and not self.blocks(entry):
                return entry
        return None

    @once
    def covered(self) -> Covering | None:
        """Earlier deliveries that nothing speaks against and that hold all that is asked
        (RF101).
        """
        return self.covering()

    def elsewhere(self) -> Iterator[Entry]:
        """Calls of other contexts that delivered the same request, or a view that holds it."""
        state, mine = self.state, self.call.context
        for name in state.holders.get(self.entry.same, ()):
            if name != mine:
                yield from self._chain_in(state.context(name))
        if len(self.resolved.reads) != 1:
            return
        access = self.resolved.reads[0]
        asked = self._asked(access.region)
        for name in state.holders.get((access.resource, access.view), ()):
            if name == mine:
                continue
            for region, entry in state.context(name).coverage.get(
                (access.resource, access.view), ()
            ):
                if region == asked and self.tells_otherwise(entry):
                    continue
                if entry.pos >= self.floor and inside(asked, region):
                    yield entry

    @property
    def would_be(self) -> WouldBe | None:
        """The redundancy as RF003 or RF101 see it."""
        if self.refetched is not None:
            return WouldBe(self.refetched, None)
        if self.covered is None or self.another_tool(self.covered.first):
            return None
        parts = self.covered.parts
        return WouldBe(self.covered.first, [e.first.seq for e in parts] if len(parts) > 1 else None)

    def covering(self, allowed: Iterable[str] = ()) -> Covering | None:
        """Earlier deliveries of the same view that hold all that is asked.

        Each must be free of reasons other than `allowed`.
        """
        reads = self.resolved.reads
        if not reads or self.resolved.effect != "read":
            return None
        allowed = frozenset(allowed)
        if self.resolved.poll or self.resolved.volatile or not self.context.covers(reads):
            return None
        parts: dict[int, Entry] = {}
        for access in reads:
            asked = self._asked(access.region)
            found = self._cover(access.resource, access.view, asked, allowed)
            if found is None:
                return None
            parts.update((entry.pos, entry) for entry in found)
        ordered = tuple(parts[pos] for pos in sorted(parts))
        return Covering(ordered[-1], ordered)

    def _asked(self, region: Region) -> Region:
        single = len(self.resolved.reads) == 1 and not self.resolved.command
        return self.resolved.region if single and region.kind == "all" else region

    def _cover(
        self, resource: str, view: str, asked: Region, allowed: frozenset[str]
    ) -> list[Entry] | None:
        rows = self.context.coverage.get((resource, view))
        if not rows:
            return None
        open_ended = asked.kind == "range" and asked.high is None
        asked = self.resolved.delivers if open_ended and len(self.resolved.reads) == 1 else asked
        good: list[tuple[Region, Entry]] = []
        floor = self.floor
        for region, entry in rows[-WINDOW:]:
            if entry.pos < floor:
                continue
            reasons = {b.reason for b in self.blocks(entry)} - {"other-region", "other-view"}
            if reasons <= allowed:
                good.append((region, entry))
        found = union_parts(asked, [region for region, _ in good])
        return None if found is None else [good[index][1] for index in found]

    def tells_otherwise(self, earlier: Entry) -> bool:
        """Whether another tool gave a result for the same view that is known to differ.

        Programs print one content in different ways (line numbers), so commands are not compared.
        """
        if self.resolved.command or earlier.resolved.command:
            return False
        return self.equal(earlier) is False

    def another_tool(self, earlier: Entry) -> bool:
        """Whether the earlier call showed the same content through another tool or program."""
        if earlier.first.name != self.call.name:
            return True
        return earlier.resolved.program != self.resolved.program

    # -- streaks
    # -------------------------------------------------------------------------------------

    @once
    def poll_streak(self) -> Streak | None:
        """The unchanged polls that this one continues."""
        if not (self.resolved.poll or self.resolved.volatile) or not self.resolved.identity.known:
            return None
        streak = self.state.polls.get((self.call.context, self.entry.same))
        if streak is None or self.equal(streak.entry) is not True:
            return None
        return None if max(self.acted(streak.entry)).pos > streak.entry.pos else streak

    @once
    def failure_streak(self) -> Streak | None:
        """The equal failures that this one continues."""
        if not self.resolved.identity.known or not failed_for_good(self.entry):
            return None
        streak = self.state.failures.get(self.entry.same)
        if streak is None or streak.text != failure_text(self.entry):
            return None
        return None if self.state.barriers.any_write.pos > streak.entry.pos else streak

    def other_scheme(self, earlier: Entry) -> Mark:
        """The latest write in another scheme that may lie after `earlier` (SPEC 4)."""
        return max(acts.other_scheme(self.resolved) for acts in self._acts_after(earlier))

    def _acts_after(self, earlier: Entry) -> list[Barriers]:
        """What was done in order, and beside either call."""
        beside = (earlier.beside, self.entry.beside)
        return [self.state.barriers, *(acts for acts in beside if acts is not None)]

    def rewritten_since(self, first: Entry) -> Mark:
        """The latest overlapping write after an equal mutation, other than its equals.

        Between two calls of a creating tool without a named resource, another creation by the same
        tool is no barrier (SPEC 7, RF005).
        """
        if self.resolved.writes or not self.resolved.creating:
            return max(self.acted(first))
        name = self.call.name
        return max(a.written_by_others(self.resolved, name) for a in self._acts_after(first))

    def equal_by(self, first: Entry) -> list[str]:
        """The names of the equalities that make both requests the same; empty where the bytes
        are.
        """
        mine, other = self.resolved.identity, first.resolved.identity
        if mine.normalized == other.normalized:
            return [] if self.entry.spelling == first.spelling else [NORMALIZATION]
        return sorted(mine.changed | other.changed) or [NORMALIZATION]
