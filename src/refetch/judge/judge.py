"""One pass over a trace: each call is judged before its own effect is applied (SPEC 6 and 7).

`Judge.feed` takes steps one at a time and returns what each decides, so that checking a file,
guarding a live agent and scanning many traces are the same code. `judge_trace` is the whole of it
for one trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

from refetch.effects.resolve import Resolved, Resolver, ToolTable
from refetch.effects.resources import Mark
from refetch.hygiene import RoleKeeper, Step, prepare
from refetch.judge.acquittal import acquit, artefact, candidates, retry
from refetch.judge.budget import budget_findings
from refetch.judge.knowledge import Entry, TurnKey
from refetch.judge.loops import LoopFinder
from refetch.judge.overlaps import Overlaps
from refetch.judge.question import NORMALIZATION, Question
from refetch.judge.results import equal, result_text
from refetch.judge.rule import ADVICE, Charge, Rule
from refetch.judge.rules.exact_duplicate import SPARED
from refetch.judge.rules.harness_duplicate import READ_FIRST
from refetch.judge.rules.loop import RULE as LOOP
from refetch.judge.rules.registry import CALL_RULES
from refetch.judge.state import Options, RunState, Streak, failed_for_good, failure_text
from refetch.model.finding import Acquittal, Finding, RunReport
from refetch.model.trace import (
    MAY_HAVE_RUN,
    NEVER_RAN,
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Trace,
    UserMessage,
    Write,
)

Decision = Finding | Acquittal
K = TypeVar("K")


class Judge:
    """The judge of one run.

    Args:
        trace: header, harness and source places of the run; its events are not read here. options:
        limits and switches. user: the user's tool tables.
    """

    def __init__(
        self, trace: Trace, options: Options | None = None, user: ToolTable | None = None
    ) -> None:
        self._trace = trace
        self._resolver = Resolver(trace, user)
        self._state = RunState(options or Options(), turns_inferred=trace.turns == "inferred")
        self._keeper = RoleKeeper()
        self._decisions: dict[int, Decision] = {}
        self._parents: set[int] = set()
        self._asked: dict[int, tuple[int, Entry | None]] = {}
        self._overlaps: Overlaps | None = None
        self._calls: list[Call] = []
        self._attempts = 0
        self._turns: set[tuple[str, int]] = set()
        self._origin: Counter[str] = Counter()
        self._recognised = 0

    # -- feeding
    # -------------------------------------------------------------------------------------

    def feed(self, event: Event) -> list[Decision]:
        """Take the next event of a live run; returns the decisions it brings (usually none or one).

        A retry that succeeds replaces the decision on its call.
        """
        if type(event) is not Call:
            return self.take(Step(event))
        role, first, _ = self._keeper.role(event)
        return self.take(Step(event, "call" if role == "completes" else role, first))

    def expect(self, steps: Sequence[Step]) -> None:
        """Tell all steps before they are taken: of executions that overlapped in time, a later one
        may have acted first.
        """
        for step in steps:
            event = step.event
            if type(event) is ContextStart and event.parent_call is not None:
                self._parents.add(event.parent_call)
        executed = (step.event for step in steps if step.role != "artefact")
        self._overlaps = Overlaps((e for e in executed if type(e) is Call), self._act)

    def take(self, step: Step) -> list[Decision]:
        """Take one step that hygiene prepared."""
        event = step.event
        state = self._state
        state.pos += 2  # odd positions lie between two events
        if type(event) is Call:
            return self._take_call(event, step)
        if type(event) is ContextLoss:
            state.context(event.context).lose(event.lost, event.kind, state.pos)
        elif type(event) is Write:
            state.barriers.write(event.scope, "any", Mark(state.pos, event.after))
        elif type(event) is UserMessage:
            state.barriers.user_spoke(Mark(state.pos, event.after))
        elif type(event) is ContextStart and event.parent_call is not None:
            self._parents.add(event.parent_call)
        return []

    def _take_call(self, call: Call, step: Step) -> list[Decision]:
        first = step.of or call
        resolved = self._resolver.resolve(call)
        if step.role == "artefact":
            return self._keep(artefact(call, first))
        self._count(call, step, resolved)
        pos = self._state.pos
        asked, before = self._asked.pop(first.seq, (pos, None))
        entry = Entry(first if step.role == "attempt" else call, call, resolved, pos, asked)
        if self._overlaps is not None:
            entry.beside = self._overlaps.beside(entry)
        decisions: list[Decision] = []
        if step.role == "attempt":
            decisions = self._keep(retry(call, first))
        if step.final:
            decisions += self._decide(entry, step, before)
        elif step.role == "call":
            self._asked[first.seq] = (asked, candidates(Question(self._state, entry)))
        else:
            self._asked[first.seq] = (asked, before)
        self._apply(entry, final=step.final)
        return decisions

    def _count(self, call: Call, step: Step, resolved: Resolved) -> None:
        if call.origin == "model" or step.role == "attempt":
            self._attempts += 1
        if step.role == "call" and call.origin == "model":
            self._calls.append(call)
            self._turns.add((call.context, call.turn))
            label = resolved.sources.get("effect", "unknown")
            self._origin[label] += 1
            self._recognised += label not in ("name", "unknown")

    # -- deciding
    # ------------------------------------------------------------------------------------

    def _decide(self, entry: Entry, step: Step, before: Entry | None) -> list[Decision]:
        context = self._state.context(entry.first.context)
        context.begin_turn(entry.first.turn)
        double_of = None
        if step.role == "double" and step.of is not None:
            double_of = context.executed.get(step.of.seq)
        question = Question(self._state, entry, double_of)
        earlier = candidates(question)
        charged = None
        # What nobody asked before, about what nobody read before, repeats nothing.
        if earlier is not None or double_of is not None:
            charged = self._charge(question)
        self._remember_turn(question, charged[0] if charged else None)
        self._remember_streaks(question)
        if charged is not None:
            return self._keep(self._finding(*charged, question))
        if not self._state.options.ledger:
            return []
        acquitted = acquit(question, self._trace, before if step.role == "attempt" else earlier)
        return self._keep(acquitted) if acquitted is not None else []

    @staticmethod
    def _charge(question: Question) -> tuple[Rule, Charge] | None:
        for rule in CALL_RULES:
            charge = rule.decide(question) if rule.decide else None
            if charge is not None:
                return rule, charge
        return None

    def _keep(self, decision: Decision) -> list[Decision]:
        seq = decision.repeat.seq if decision.repeat is not None else -1
        if isinstance(decision, Finding) or self._state.options.ledger:
            self._decisions[seq] = decision
        return [decision]

    def _finding(self, rule: Rule, charge: Charge, question: Question) -> Finding:
        lines, paths = self._trace.lines, self._trace.paths
        first, entry = charge.first, question.entry
        equal_by = [n for n in question.equal_by(first) if n != NORMALIZATION]
        if first.same != entry.same:
            equal_by = []
        resources = [a.resource for a in entry.resolved.reads]
        resources = resources or [w.resource for w in entry.resolved.writes]
        return Finding(
            code=rule.code,
            rule=rule.name,
            level=charge.level,
            confidence=charge.confidence or self._confidence(question, first),
            kind=charge.kind,
            context=entry.first.context,
            resource=resources[0] if resources else None,
            equal_by=equal_by or None,
            metadata_from=dict(entry.resolved.sources) or None,
            blame=charge.blame,
            side_effect=charge.side_effect,
            first=first.keyed_ref(lines, paths),
            repeat=entry.keyed_ref(lines, paths),
            calls=charge.calls,
            message=charge.message,
            evidence=charge.evidence,
        )

    def _confidence(self, question: Question, first: Entry) -> str:
        if question.resolved.inferred or self._state.barriers.guess.pos > first.pos:
            return "inferred"
        return "proven" if question.equal(first) is True else "declared"

    # -- applying
    # ------------------------------------------------------------------------------------

    def _remember_turn(self, question: Question, rule: Rule | None) -> None:
        entry, context = question.entry, question.context
        if not entry.resolved.identity.known:
            return
        mate = context.turn_keys.get(entry.same)
        charged = rule is not None and rule.code in ("RF001", "RF002")
        if mate is not None and (charged or self._together(question, mate)):
            mate.add(entry)
        elif mate is None or entry.status == "ok":
            context.turn_keys[entry.same] = TurnKey(entry)

    @staticmethod
    def _together(question: Question, mate: TurnKey) -> bool:
        """Whether nothing separates this call from its turn mates, though the harness made it or
        its result is not known.
        """
        reasons = {b.reason for b in question.blocks(mate.latest, since=mate.pos)}
        return reasons - SPARED <= {"not-the-models-own"}

    def _remember_streaks(self, question: Question) -> None:
        entry, state = question.entry, self._state
        if not entry.resolved.identity.known:
            return
        if entry.resolved.poll or entry.resolved.volatile:
            self._extend(
                state.polls, (entry.first.context, entry.same), question.poll_streak, entry
            )
        if failed_for_good(entry):
            self._extend(
                state.failures, entry.same, question.failure_streak, entry, failure_text(entry)
            )
        elif entry.status == "ok":
            state.failures.pop(entry.same, None)
        if entry.first.origin == "model":
            state.loops.setdefault(entry.first.context, LoopFinder()).add(entry)

    @staticmethod
    def _extend(
        streaks: dict[K, Streak], key: K, streak: Streak | None, entry: Entry, text: str = ""
    ) -> None:
        if streak is None:
            streaks[key] = Streak(entry, text)
        else:
            streak.count += 1
            streak.entry = entry

    def _apply(self, entry: Entry, *, final: bool) -> None:
        state, call, resolved = self._state, entry.last, entry.resolved
        mark = Mark(state.pos, call.seq)
        status = entry.status
        executed = state.context(entry.first.context).executed
        executed[entry.first.seq] = executed[call.seq] = entry
        ran = status not in NEVER_RAN
        if ran:
            self._apply_effect(entry, mark)
        if resolved.effect == "write" and status in ("error", *NEVER_RAN):
            state.barriers.fail(resolved, mark)
            if READ_FIRST.search((call.error or result_text(call))[:500]):
                state.refusals.add(entry)
        if final:
            self._learn(entry, mark)

    def _apply_effect(self, entry: Entry, mark: Mark) -> None:
        state, call, resolved = self._state, entry.last, entry.resolved
        if self._writes(call, resolved):
            self._extend_equals(resolved)
            state.barriers.apply(resolved, mark)
        if resolved.soft:
            state.barriers.tests = mark
        if resolved.waits:
            state.barriers.wait = mark
        if resolved.inferred:
            state.barriers.guess = mark

    def _act(self, call: Call) -> Resolved | None:
        resolved = self._resolver.resolve(call)
        return resolved if self._writes(call, resolved) else None

    def _writes(self, call: Call, resolved: Resolved) -> bool:
        """Whether this execution may have changed something (SPEC 3.4)."""
        if not resolved.may_write:
            return False
        known = resolved.repeatable or resolved.sources["effect"].startswith("catalogue")
        if call.seq in self._parents and resolved.effect == "opaque" and known:
            return False  # what a sub-agent does is recorded as its own calls
        status = call.status
        if status == "error":
            return resolved.effect == "opaque" or resolved.command or resolved.partial
        return status == "ok" or status in MAY_HAVE_RUN

    def _learn(self, entry: Entry, mark: Mark) -> None:
        state, resolved = self._state, entry.resolved
        if resolved.effect == "read":
            for access in resolved.reads:
                state.latest_read[access.resource] = entry
        if not resolved.identity.known:
            state.latest_unknown[entry.first.name] = entry
            return
        if entry.result.known and entry.delivered:
            if resolved.is_read:
                self._undeclared_write(state.last_known(entry), entry, mark)
            state.know(entry)
        state.latest_same[entry.same] = state.latest_key[entry.normalized_key] = entry
        if resolved.effect == "write" and entry.status == "ok":
            state.changed(entry)
        if not entry.delivered:
            return
        name = entry.first.context
        state.context(name).deliver(entry)
        if resolved.is_read:
            for key in (entry.same, *((a.resource, a.view) for a in resolved.reads)):
                state.holders.setdefault(key, {})[name] = None

    def _undeclared_write(self, known: Entry | None, entry: Entry, mark: Mark) -> None:
        """A differing result proves that something wrote it before this call (SPEC 6f).

        Where a write or an opaque call lies between, that explains the difference. Of a pure call
        it proves only that its own answers change.
        """
        resolved, barriers = entry.resolved, self._state.barriers
        if known is None or equal(known.result, entry.result) is not False:
            return
        proof = Mark(mark.pos - 1, mark.seq)
        if resolved.effect == "read":
            explained = max(self._state.acted(resolved, known, entry)).pos
            if explained > known.pos and explained % 2 == 0:
                return
            barriers.undeclared(resolved, proof)
        self._state.proven[entry.same] = proof

    def _extend_equals(self, resolved: Resolved) -> None:
        """Equal calls never stand between each other, wherever they were made."""
        state, key = self._state, resolved.identity.key
        floor = max(state.barriers.written(resolved), state.barriers.opaque(resolved)).pos
        for name, context in state.contexts.items():
            mate = context.turn_keys.get(key)
            if mate is not None and mate.pos >= floor:
                mate.pos = state.pos
            for entry in state.mutations.get((name, key), ()):
                if entry is not None and entry.settled >= floor:
                    entry.settled = state.pos

    # -- the report
    # ----------------------------------------------------------------------------------

    def finish(self) -> RunReport:
        """The verdict on everything fed so far."""
        trace, options = self._trace, self._state.options
        by_tool = Counter(call.name for call in self._calls)
        findings = [d for d in self._decisions.values() if isinstance(d, Finding)]
        findings.sort(key=lambda f: f.repeat.seq if f.repeat else -1)
        findings += self._loops()
        findings += budget_findings(options, self._calls)
        acquitted = [d for d in self._decisions.values() if isinstance(d, Acquittal)]
        acquitted.sort(key=lambda a: a.repeat.seq)
        contexts = {call.context for call in self._calls}
        return RunReport(
            run=trace.run,
            source=trace.source,
            format=trace.format,
            turns=trace.turns,
            order=trace.order,
            calls=len(self._calls),
            attempts=self._attempts,
            by_tool=dict(by_tool.most_common()),
            findings=findings,
            acquitted=acquitted,
            problems=trace.problems,
            contexts=len(contexts),
            turn_count=len(self._turns),
            recognised=self._recognised,
            recognised_by=dict(self._origin),
            harness=trace.harness,
            model=trace.model,
        )

    def _loops(self) -> Iterable[Finding]:
        for context, finder in self._state.loops.items():
            for period, seqs in finder.finish():
                what = "one call" if period == 1 else f"a round of {period} calls"
                yield Finding(
                    code=LOOP.code,
                    rule=LOOP.name,
                    level=ADVICE,
                    context=context,
                    calls=seqs,
                    actual=len(seqs) // period,
                    message=f"{what}, {len(seqs) // period} times over",
                )


def judge_trace(
    trace: Trace, options: Options | None = None, user: ToolTable | None = None
) -> RunReport:
    """Judge one whole trace."""
    steps = prepare(trace)
    judge = Judge(trace, options, user)
    judge.expect(steps)
    for step in steps:
        judge.take(step)
    return judge.finish()
