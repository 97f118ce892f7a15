"""A slow and obvious judge, written from the definition alone: every pair, every condition.

Nothing here is shared with the judge under test but the trace model. Positions on the time line are
the seq of a call; what happened after call k stands at k + 0.5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.oracle import plain
from tests.oracle.facts import Logical, hygiene, known, raw_key, results_equal, when

from refetch.model import Call, ContextLoss, ContextStart, Trace, UserMessage, Write

POLL_LIMIT = 4
FAILURE_LIMIT = 3
NEVER_RAN = ("rejected", "not-executed", "cancelled")


class Verdict(NamedTuple):
    """A finding (code RF…, with a level) or an acquittal (code is the reason, no level)."""

    code: str
    level: str
    first: int
    repeat: int


@dataclass(eq=False)
class Act:
    """Something that changed, or may have changed, resources at one point in time."""

    at: float
    kind: str
    scopes: tuple[str, ...]
    cwd: str | None = None
    domain: str = "*"
    key: Any = None
    call: Call | None = None
    by: Logical | None = None
    independent: frozenset[str] = frozenset()
    proven_by: Logical | None = None
    by_read: bool = False


class Oracle:
    """Judges one trace; `verdicts()` is the whole answer."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.calls, self.aside = hygiene(trace)
        self.losses = [e for e in trace.events if isinstance(e, ContextLoss)]
        self.people = [e for e in trace.events if isinstance(e, UserMessage)]
        starters = {e.parent_call for e in trace.events if isinstance(e, ContextStart)}
        for one in self.calls:
            # What a started agent does is recorded as calls of its own.
            if one.effect == "opaque" and one.repeatable and one.seq in starters:
                one.effect_elsewhere = True
        self.acts = [act for one in self.calls for act in _acts_of(one)]
        self.acts += [
            Act(e.after + 0.5, "write", (e.scope,)) for e in trace.events if isinstance(e, Write)
        ]
        self._background()
        self._proofs()

    def _background(self) -> None:
        """Reads of what a job in the background may touch are polls from its start on."""
        for job in self.calls:
            if not any(a.background for a in job.attempts):
                continue
            for one in self.calls:
                for act in _acts_of(job):
                    if one.seq > act.at and one is not job and _hits(act, one):
                        one.volatile = True

    def _proofs(self) -> None:
        """(f) a result that differs from the last known one proves a write nobody declared."""
        for one in self.calls:
            earlier = self.last_known(one)
            if one.effect not in ("read", "pure") or earlier is None or not known(one):
                continue
            explained = [act for act in self.barriers(earlier, one) if act.kind != "proof"]
            if results_equal(earlier, one) is False and not explained:
                scopes = tuple(sorted(one.resources)) if one.effect == "read" else ()
                proof = Act(one.end - 0.25, "proof", scopes, one.cwd, key=one.key)
                proof.proven_by, proof.by_read = one, one.effect == "read"
                self.acts.append(proof)

    # -- the conditions, one function each ----------------------------------------------------

    def delivered(self, i: Logical, j: Logical) -> bool:
        """(a) The earlier call ended ok and what it brought arrived whole.

        A cut answer still counts for an equal call cut alike, if both are known and equal.
        """
        if i.status != "ok" or i.last.unchanged or i.end > j.seq:
            return False
        if i.last.truncated:
            alike = _cut_alike(i, j)
            return i.coverage() is not None or (alike and results_equal(i, j) is True)
        return True

    def coverage(self, i: Logical, j: Logical) -> list[plain.Region]:
        """(b) The regions that one earlier call adds to the union for a given later call."""
        if not self.delivered(i, j):
            return []
        found = [region for region in (i.coverage(), i.also_delivered()) if region is not None]
        if i.last.truncated and _cut_alike(i, j) and results_equal(i, j) is True:
            found.append(i.region)
        return found

    def covered(self, parts: list[Logical], j: Logical) -> bool:
        """(b) What is asked lies inside the union of what earlier calls delivered."""
        return plain.covered_by(j.region, [r for i in parts for r in self.coverage(i, j)])

    def barriers(self, i: Logical, j: Logical) -> list[Act]:
        """(c) Everything between the two that changed, or may have changed, what is asked.

        By whomever; but equal calls never stand between each other, and pure answers never change,
        unless their own results prove that they did.
        """
        return [
            act
            for act in self.acts
            if not _equal_call(act, j)
            and _between(i, act, j)
            and _hits(act, j)
            and act.proven_by is not j
        ]

    def expired(self, i: Logical, j: Logical) -> bool:
        """(c) The time to live has run out; without times any later turn is too late.

        A wait in between counts the same: the model gave the world time to change.
        """
        lives = [one.ttl for one in (i, j) if one.ttl is not None]
        if lives:
            a, b = when(i.last), when(j.head)
            if a is None or b is None:
                if (i.head.context, i.head.turn) != (j.head.context, j.head.turn):
                    return True
            elif b[0] - a[1] > min(lives):
                return True
        return any(w.waits and i.end < w.seq < j.seq for w in self.calls) and j.effect != "pure"

    def fresh(self, i: Logical, j: Logical) -> bool:
        """(c) Nothing in between, nothing expired, and the later call is no poll."""
        return not self.barriers(i, j) and not self.expired(i, j) and not j.volatile

    def place(self, i: Logical, j: Logical) -> str:
        """(d) "here" when the model still sees the earlier answer, else "lost" or "other"."""
        if i.head.context != j.head.context:
            return "other"
        return "lost" if any(_removes(loss, i, j) for loss in self.losses) else "here"

    def own(self, j: Logical) -> bool:
        """(e) The model asked for the later call, not the harness, a hook or a person."""
        return j.head.origin == "model"

    def last_known(self, j: Logical) -> Logical | None:
        """The last earlier call of the same view, region and target whose result is known."""
        for k in sorted(self.calls, key=lambda one: one.end, reverse=True):
            before = k.end < j.end and k is not j and known(k) and not k.last.unchanged
            if before and k.region == j.region and same_target(k, j) and k.view == j.view:
                return k
        return None

    def contradicted(self, j: Logical) -> bool:
        """(f) The later result is known to differ from the last known one."""
        k = self.last_known(j)
        return k is not None and j.status == "ok" and results_equal(k, j) is False

    # -- confidence --------------------------------------------------------------------------

    def guessed(self, i: Logical, j: Logical) -> bool:
        """Some effect that the verdict rests on was only read off a name."""
        if i.inferred or j.inferred:
            return True
        return j.effect != "pure" and any(
            one.inferred and one.key != j.key and i.end < a.seq < j.end
            for one in self.calls
            for a in one.attempts
            if a.status not in NEVER_RAN
        )

    def level(self, i: Logical, j: Logical) -> str:
        """A flag; advice where an effect was guessed and the results are not known to be equal."""
        return "advice" if self.guessed(i, j) and results_equal(i, j) is not True else "flag"

    # -- the rules, in their order -------------------------------------------------------------

    def verdicts(self) -> dict[int, Verdict]:
        """Repeat seq to its one verdict; calls with nothing earlier to compare are not in it."""
        found = {repeat: Verdict(why, "", first, repeat) for why, first, repeat in self.aside}
        for j in self.calls:
            verdict = self.finding(j) or self.acquittal(j)
            if verdict is not None:
                found[j.seq] = verdict
        return found

    def finding(self, j: Logical) -> Verdict | None:
        """The first rule that convicts."""
        for rule in (
            self.rf109,
            self.rf001,
            self.rf002,
            self.reread,
            self.rf102,
            self.rf103,
            self.rf110,
            self.rf104,
            self.rf105,
            self.rf005,
        ):
            verdict = rule(j)
            if verdict is not None:
                return verdict
        return None

    def earlier(self, j: Logical) -> list[Logical]:
        return [i for i in self.calls if i.seq < j.seq]

    def rf109(self, j: Logical) -> Verdict | None:
        """One call executed twice; or the harness itself fetched the same thing twice."""
        if j.double_of is not None:
            return Verdict("RF109", "advice", j.double_of.seq, j.seq)
        if self.own(j) or not _went_through(j) or j.key is None or j.volatile or j.repeatable:
            return None
        if self.contradicted(j):
            return None
        for i in reversed(self.earlier(j)):
            theirs = i.head.origin != "model" and i.key == j.key
            same = (
                theirs
                and results_equal(i, j) is not False
                and self.delivered(i, j)
                and self.covered([i], j)
                and self.fresh(i, j)
            )
            if same and self.place(i, j) == "here":
                return Verdict("RF109", "advice", i.seq, j.seq)
        return None

    def in_turn(self, j: Logical, code: str) -> Verdict | None:
        """A later equal call of one turn, against the first that makes it a duplicate.

        Flag level where any call of the turn proves it at that level.
        """
        mutates_unordered = j.effect == "write" and "inferred" in (
            self.trace.turns,
            self.trace.order,
        )
        if j.raw is None or j.volatile or j.repeatable or mutates_unordered:
            return None
        if not self.own(j) or not _went_through(j):
            return None
        twins = [i for i in self.earlier(j) if self.duplicates(i, j, raw=code == "RF001")]
        if not twins:
            return None
        level = "flag" if "flag" in [self.level(i, j) for i in twins] else "advice"
        return Verdict(code, level, twins[0].seq, j.seq)

    def duplicates(self, i: Logical, j: Logical, *, raw: bool) -> bool:
        """The conditions of RF001 and RF002 on one pair. (d) is none of them."""
        here = (i.head.context, i.head.turn) == (j.head.context, j.head.turn)
        if not here or _cwd_differs(i, j):
            return False
        equal = i.raw == j.raw if raw else i.raw != j.raw and i.key == j.key
        if i.key is None or not equal or not self.delivered(i, j) or not self.covered([i], j):
            return False
        both_mutate = all(one.effect == "write" and one.declared for one in (i, j))
        differs = self.contradicted_by_key(j) or results_equal(i, j) is False
        if not self.fresh(i, j) or (differs and not both_mutate):
            return False
        return "opaque" not in (i.effect, j.effect) or results_equal(i, j) is True

    def contradicted_by_key(self, j: Logical) -> bool:
        """(f) for calls that need not be reads: the last known result of the very same call."""
        for k in sorted(self.earlier(j), key=lambda one: one.end, reverse=True):
            if k.key == j.key and known(k) and not k.last.unchanged:
                return results_equal(k, j) is False
        return self.contradicted(j)

    def rf001(self, j: Logical) -> Verdict | None:
        """The same call to the byte, twice in one turn."""
        return self.in_turn(j, "RF001")

    def rf002(self, j: Logical) -> Verdict | None:
        """The same call in another spelling, twice in one turn."""
        return self.in_turn(j, "RF002")

    def convictable(self, j: Logical) -> bool:
        """What holds for the later call by itself: it read, it worked, it is no poll."""
        reads = j.effect in ("read", "pure") and _went_through(j) and j.raw is not None
        return reads and not j.volatile and not j.repeatable and not self.contradicted(j)

    def pool(self, j: Logical) -> list[Logical]:
        """Earlier calls that delivered fresh content of the same target in the same view."""
        return [
            i
            for i in self.earlier(j)
            if i.effect in ("read", "pure")
            and i.raw is not None
            and i.view == j.view
            and same_target(i, j)
            and not (i.region == j.region and results_equal(i, j) is False)
            and self.delivered(i, j)
            and self.fresh(i, j)
        ]

    def covering(self, pool: list[Logical], j: Logical) -> list[Logical]:
        """The latest single call that covers, else the latest parts of a union, latest first."""
        for i in reversed(pool):
            if self.covered([i], j):
                return [i]
        parts: list[Logical] = []
        for i in reversed(pool):
            parts.append(i)
            if self.covered(parts, j):
                return [p for p in parts if self.adds(p, j)]
        return []

    def adds(self, i: Logical, j: Logical) -> bool:
        """Whether a part touches what is asked at all."""
        return any(
            r == plain.ALL or j.region == plain.ALL or (r[0] == j.region[0] and r[1] & j.region[1])
            for r in self.coverage(i, j)
        )

    def reread(self, j: Logical) -> Verdict | None:
        """RF003 and RF101, and what takes a call out of them: a failed write, a person speaking."""
        if not self.own(j) or not self.convictable(j):
            return None
        pool = [i for i in self.pool(j) if self.place(i, j) == "here"]
        pool = [i for i in pool if i.head.name == j.head.name]
        whole = [
            i
            for i in pool
            if i.region == j.region
            and self.covered([i], j)
            and (i.head.context, i.head.turn) != (j.head.context, j.head.turn)
        ]
        equal = [i for i in whole if i.key == j.key]
        code, level, parts = "RF003", "flag", (equal or whole)[-1:]
        if parts:
            i = parts[0]
            lowered = self.other_scheme(i, j) and results_equal(i, j) is not True
            level = "advice" if lowered else self.level(i, j)
        else:
            pool = [i for i in pool if i.region != j.region or i.coverage() != j.region]
            code, level, parts = "RF101", "advice", self.covering(pool, j)
        if not parts:
            return None
        first = parts[0]
        if self.failed_write(first, j):
            code, level = "RF106", "advice"
        elif j.effect != "pure" and self.spoken(first, j):
            code, level = "RF107", "advice"
        return Verdict(code, level, first.seq, j.seq)

    def other_scheme(self, i: Logical, j: Logical) -> bool:
        """A write to something of another scheme lies between, not declared independent."""
        return j.effect != "pure" and any(
            act.kind == "write"
            and not _equal_call(act, j)
            and _between(i, act, j)
            and any(plain.scheme_of(s) not in j.schemes for s in act.scopes)
            and not j.schemes <= act.independent
            for act in self.acts
        )

    def failed_write(self, i: Logical, j: Logical) -> bool:
        """A write to that very resource failed in between, without effect."""
        return any(
            one.effect == "write"
            and any(
                plain.may_overlap(w, one.cwd, r, j.cwd) for w in one.resources for r in j.resources
            )
            and a.status in ("error", "rejected", "not-executed", "cancelled")
            and i.end < a.seq < j.seq
            for one in self.calls
            for a in one.attempts
        )

    def spoken(self, i: Logical, j: Logical) -> bool:
        """A person said something between the two."""
        return any(i.end < e.after + 0.5 < j.seq for e in self.people)

    def rf102(self, j: Logical) -> Verdict | None:
        """Another tool showed the same content."""
        if not self.own(j) or not self.convictable(j):
            return None
        pool = [i for i in self.pool(j) if self.place(i, j) == "here"]
        parts = self.covering([i for i in pool if i.head.name != j.head.name], j)
        parts = parts or [p for p in self.covering(pool, j) if p.head.name != j.head.name]
        return Verdict("RF102", "advice", parts[0].seq, j.seq) if parts else None

    def rf103(self, j: Logical) -> Verdict | None:
        """Another context of the run had it, by one call that holds all that is asked."""
        if not self.own(j) or not self.convictable(j):
            return None
        had = [i for i in self.pool(j) if self.place(i, j) == "other" and self.covered([i], j)]
        first = min(had, key=lambda i: i.end, default=None)
        return Verdict("RF103", "advice", first.seq, j.seq) if first else None

    def rf110(self, j: Logical) -> Verdict | None:
        """The answer was there and was taken out of the context."""
        if not self.own(j) or not self.convictable(j):
            return None
        parts = self.covering([i for i in self.pool(j) if self.place(i, j) != "other"], j)
        if not any(self.place(i, j) == "lost" for i in parts):
            return None
        return Verdict("RF110", "advice", parts[0].seq, j.seq)

    def rf104(self, j: Logical) -> Verdict | None:
        """The same poll again and again, always with the same known answer."""
        if not j.volatile or not self.own(j) or j.status != "ok" or j.key is None:
            return None
        if j.effect not in ("read", "pure", "opaque") or j.repeatable:
            return None
        run, later = 1, j
        before: list[Logical] = []
        for i in reversed(self.earlier(j)):
            if i.head.context != j.head.context or i.key != j.key:
                continue
            equal = i.last.unchanged or results_equal(i, later) is True
            broken = i.status != "ok" or not equal
            if broken or self.barriers(i, later):
                break
            before.append(i)
            run, later = run + 1, i
        return Verdict("RF104", "advice", before[0].seq, j.seq) if run >= POLL_LIMIT else None

    def rf105(self, j: Logical) -> Verdict | None:
        """The same call failing in the same way, with nothing written in between."""
        error = error_of(j)
        if error is None or not self.own(j) or j.key is None:
            return None
        run, before = 1, j
        for i in reversed(self.earlier(j)):
            if i.head.context != j.head.context or i.key != j.key:
                continue
            written = any(not _equal_call(act, j) and i.end < act.at < j.seq for act in self.acts)
            if error_of(i) != error or written:
                break
            before = i if before is j else before
            run += 1
        return Verdict("RF105", "advice", before.seq, j.seq) if run >= FAILURE_LIMIT else None

    def rf005(self, j: Logical) -> Verdict | None:
        """The same change made again in a later turn, with nobody and nothing in between."""
        if j.effect != "write" or not self.own(j) or j.status != "ok" or j.repeatable:
            return None
        if j.head.name.lower().startswith("toggle"):  # its repeat undoes it
            return None
        for i in reversed(self.earlier(j)):
            same = i.head.context == j.head.context and i.key is not None and i.key == j.key
            if not same or i.head.turn == j.head.turn or i.status != "ok" or _cwd_differs(i, j):
                continue
            if not self.barriers(i, j) and not self.spoken(i, j):
                return Verdict("RF005", "advice", i.seq, j.seq)
        return None

    # -- acquittals ----------------------------------------------------------------------------

    def acquittal(self, j: Logical) -> Verdict | None:
        """The first reason that holds against the latest call that looks like an earlier one."""
        alike = [
            i
            for i in self.earlier(j)
            if (i.key is not None and i.key == j.key)
            or (i.effect in ("read", "pure") and i.resources & j.resources)
        ]
        if not alike:
            return None
        i = alike[-1]
        reasons = self.reasons(i, j)
        return Verdict(reasons[0], "", i.seq, j.seq)

    def reasons(self, i: Logical, j: Logical) -> list[str]:
        """Every reason that holds, in the closed order; the last one always does."""
        between = [act.kind for act in self.barriers(i, j)]
        wait = self.place(i, j)
        table = [
            ("arguments-unknown", i.raw is None or j.raw is None),
            ("not-executed", i.status in NEVER_RAN or j.status in NEVER_RAN),
            ("earlier-failed", i.status != "ok"),
            ("not-delivered-whole", not self.delivered(i, j)),
            ("other-region", not self.covered([i, *self.pool(j)], j)),
            ("written-since", "write" in between or "proof" in between),
            ("opaque-since", "opaque" in between),
            ("expired", self.expired(i, j)),
            ("volatile", j.volatile),
            ("context-lost", wait == "lost"),
            ("other-context", wait == "other"),
            ("not-the-models-own", not self.own(j)),
            ("result-changed", self.contradicted(j)),
            ("other-view", i.view != j.view),
            ("repeat-failed", not _went_through(j)),
            ("declared-repeatable", j.repeatable),
            ("effect-unknown", j.effect == "opaque"),
            ("effect-none", j.effect == "none"),
            ("user-message", self.spoken(i, j)),
            ("not-comparable", True),
        ]
        return [reason for reason, holds in table if holds]


def judge(trace: Trace) -> dict[int, Verdict]:
    """The oracle's verdict on every call that has something earlier to be compared with."""
    return Oracle(trace).verdicts()


def same_target(i: Logical, j: Logical) -> bool:
    """Certainly the same thing: all that the later call names, or the same call naming nothing."""
    if not i.resources and not j.resources:
        return i.key is not None and (i.key == j.key or i.view == j.view) and not _cwd_differs(i, j)
    return bool(j.resources) and j.resources <= i.resources


def _went_through(j: Logical) -> bool:
    """A repeat is judged when it worked, or when no more than its request was recorded."""
    return j.status in ("ok", "missing")


def _cut_alike(i: Logical, j: Logical) -> bool:
    """An equal call cut in the same way; a stub that says "unchanged" repeats the cut."""
    return i.key is not None and i.key == j.key and (j.last.truncated or j.last.unchanged)


def error_of(one: Logical) -> str | None:
    """The text of a failure without what varies in it; None where it may pass by itself."""
    if one.status not in ("error", "rejected", "not-executed"):
        return None
    text = one.last.error or bytes(one.last.result).decode()
    if not text or re.search(r"\b(429|5\d\d)\b|timed? ?out|timeout", text, re.IGNORECASE):
        return None
    return re.sub(r"\b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]+\b", "#", text).strip()


def _acts_of(one: Logical) -> list[Act]:
    return [act for a in one.attempts if (act := _moment(a, one)).kind != "none"]


def _moment(a: Call, one: Logical) -> Act:
    """One execution as an act: never ran, failed cleanly, or did (or may have done) something."""
    kind = one.effect if one.effect in ("write", "opaque") else "none"
    if a.status in NEVER_RAN or one.effect_elsewhere:
        kind = "none"
    if a.status == "error" and kind == "write" and not one.partial:
        kind = "none"
    scopes = tuple(sorted(one.resources))
    return Act(a.seq, kind, scopes, one.cwd, one.domain, one.key, a, one, one.independent)


def _equal_call(act: Act, j: Logical) -> bool:
    return act.by is j or (act.by is not None and act.key is not None and act.key == j.key)


def _between(i: Logical, act: Act, j: Logical) -> bool:
    """Between by order, or possibly so because executions overlapped in time."""
    if i.end < act.at < j.end:
        return True
    if act.call is None or act.by in (i, j):
        return False
    mine, theirs = when(act.call), (when(i.last), when(j.last))
    return mine is not None and any(
        t is not None and mine[0] < t[1] and mine[1] > t[0] for t in theirs
    )


def _hits(act: Act, j: Logical) -> bool:
    """Whether an act may have changed what the call asks for."""
    if j.effect == "pure":
        return act.kind == "proof" and bool(act.key == j.key)
    if act.kind == "opaque":
        return act.domain == "*" or not j.resources or _in_domain(act.domain, j)
    if act.kind == "proof" and not act.scopes:
        return bool(act.key == j.key) or (act.by_read and "*" in j.depends_on)
    if not act.scopes:
        return act.domain == "*" or not j.resources or _in_domain(act.domain, j)
    asked = [*j.resources, *j.depends_on]
    if not j.resources:
        return True
    return any(plain.may_overlap(s, act.cwd, r, j.cwd) for s in act.scopes for r in asked)


def _in_domain(domain: str, j: Logical) -> bool:
    """Whether a domain such as `mcp:github` may hold what the call asks for."""
    return any(
        plain.scheme_of(r) == domain or plain.may_overlap(domain, None, r, j.cwd)
        for r in (*j.resources, *j.depends_on)
    )


def _removes(loss: ContextLoss, i: Logical, j: Logical) -> bool:
    return (
        loss.context == j.head.context
        and i.end <= loss.after < j.seq
        and (loss.lost is None or any(a.seq in loss.lost for a in i.attempts))
    )


def _cwd_differs(i: Logical, j: Logical) -> bool:
    return i.cwd != j.cwd


__all__ = ["Oracle", "Verdict", "judge", "raw_key"]
