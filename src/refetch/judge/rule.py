"""What a rule is: a code, a name, a level, its documentation, and a decision about one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from refetch.judge.knowledge import Entry
from refetch.judge.question import Question

FLAG, ADVICE = "flag", "advice"


class Charge(msgspec.Struct, frozen=True):
    """A rule's decision: the repeat under judgement is redundant given `first` (or a run-level
    fact).
    """

    first: Entry
    message: str
    level: str = ADVICE
    kind: str | None = None
    blame: str | None = None
    side_effect: bool = False
    calls: list[int] | None = None
    evidence: list[int] | None = None
    confidence: str | None = None


class Rule(msgspec.Struct, frozen=True):
    """`doc` is the rule file's own documentation in Markdown; `decide` is None for run-level
    rules.
    """

    code: str
    name: str
    level: str
    doc: str
    decide: Callable[[Question], Charge | None] | None = None

    @property
    def summary(self) -> str:
        """The first sentence of the documentation."""
        return self.doc.strip().split("\n\n", 1)[0].replace("\n", " ")


def evidence_level(question: Question, first: Entry, *, schemes: bool = True) -> tuple[str, str]:
    """(level, confidence) that the evidence allows for a flag (SPEC 6, confidence; SPEC 4,
    other schemes).
    """
    start = first.pos
    barriers = question.state.barriers
    known_equal = question.equal(first) is True
    pure = question.resolved.effect == "pure"
    guessed = question.resolved.inferred or first.resolved.inferred
    guessed = guessed or (not pure and barriers.guess.pos > start)
    confidence = "inferred" if guessed else "proven" if known_equal else "declared"
    if known_equal:
        return FLAG, confidence
    if guessed:
        return ADVICE, confidence
    if schemes and not pure and question.other_scheme(first).pos > start:
        return ADVICE, confidence
    return FLAG, confidence


def details(charge: Charge) -> dict[str, Any]:
    """The optional fields of a finding that a charge carries."""
    return {
        "kind": charge.kind,
        "blame": charge.blame,
        "side_effect": charge.side_effect,
        "calls": charge.calls,
        "evidence": charge.evidence,
    }
