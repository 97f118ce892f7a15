"""Another agent of the same run already had this answer.

The contexts are separate, so the model is not to blame: the orchestration could have passed the
result on.

## Why it matters
Seventeen children that list the same pull requests pay for it seventeen times.

## Flagged
- Three sub-agents each list the open pull requests (advice; the first is the earliest).
- A parent reads the file that its explorer read (advice).
- Parent and child read one file at the same time (advice).

## Not flagged
- Anything written between, by anyone.
- The other agent's call failed or was cut short.
- Another region or another tool.
- A result known to differ.
- A call of the same context (that is RF003).
- Volatile tools and polls.

## If it is wrong for a tool
Declare `repeatable = true`.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule


def decide(question: Question) -> Charge | None:
    """All but (d): another context of the same run had it; the earliest such call is named."""
    if not question.resolved.is_read or not question.resolved.identity.known:
        return None
    earliest_first = sorted(question.elsewhere(), key=lambda entry: entry.pos)
    first = next(
        (
            entry
            for entry in earliest_first
            if {b.reason for b in question.blocks(entry)} == {"other-context"}
        ),
        None,
    )
    if first is None:
        return None
    return Charge(
        first,
        f"context {first.first.context} had this answer (its turn {first.first.turn})",
        level=ADVICE,
        blame="orchestrator",
    )


RULE = Rule("RF103", "cross-agent-refetch", ADVICE, __doc__ or "", decide)
