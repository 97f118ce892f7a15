"""The same change made again in a later turn.

A second side effect, or a write of what is already there. It is a hazard, not a fetch, and stays
outside the redundancy totals.

## Why it matters
Two certificates, two refunds, seven empty documents.

## Flagged
- `create_doc("Summary")` in turns 1 and 2 (advice).
- `cancel_reservation(7)` twice in a row, both successful (advice).
- The same edit sent again although it had succeeded (advice).

## Not flagged
- Another write to the same thing in between: the repeat restores or redoes it.
- A user message in between.
- The first or the second call failed.
- A command of unknown effect in between.
- Tools declared `repeatable` (a counter).
- Other arguments.
- A tool that toggles: its repeat undoes the first.

## If it is wrong for a tool
Declare `repeatable = true`, or `idempotent = true` to have it reported as a no-op.
"""

from __future__ import annotations

from refetch.effects.names import is_toggling_name
from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule


def decide(question: Question) -> Charge | None:
    """Same key in a later turn, both ok, no user message and no other overlapping write or
    opaque call between.
    """
    resolved = question.resolved
    if resolved.effect != "write" or resolved.repeatable or not resolved.identity.known:
        return None
    if question.call.origin != "model" or question.entry.status != "ok":
        return None
    first = question.state.last_change(question.entry)
    if first is None or is_toggling_name(question.call.name):
        return None
    barriers = question.state.barriers
    since = first.settled
    if (
        barriers.user_between(first.pos, question.entry.asked).pos >= 0
        or barriers.opaque(resolved).pos > since
    ):
        return None
    if question.rewritten_since(first).pos > since:
        return None
    return Charge(
        first,
        "the same change was made again"
        + ("; the tool is idempotent, so it did nothing" if resolved.idempotent else ""),
        level=ADVICE,
        kind="no-op" if resolved.idempotent else None,
        side_effect=True,
    )


RULE = Rule("RF005", "duplicate-mutation", ADVICE, __doc__ or "", decide)
