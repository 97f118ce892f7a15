"""A re-read that would be redundant, had not the user said something in between.

People ask for fresh looks and change things themselves, so this is advice by default, counted as a
line of its own. With `user_message_is_barrier = false` it becomes RF003.

## Why it matters
In support agents a user message lies between almost all turns; most re-reads across one are plain
waste.

## Flagged
- `get_reservation(7)` before and after the user's next message, equal answer (advice).
- A file read whole in the last task and again for the next question (advice).
- The same search, made again because the user asked a follow-up (advice).

## Not flagged
- A call declared pure: a user message does not touch it (that is RF003).
- Something was written in between.
- The answer is known to differ.
- The message stands before both calls.
- Another agent's context.
- A mutating call.

## If it is wrong for a tool
Declare `volatile = true` or a `ttl` for tools on live data.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule


def decide(question: Question) -> Charge | None:
    """Would be RF003 or RF101 (not of a pure call), but a user message lies between."""
    if not question.state.options.user_message_is_barrier:
        return None
    if question.resolved.effect == "pure" and not question.resolved.inferred:
        return None  # a guess from the name is no certainty that it is pure
    base = question.would_be
    if base is None:
        return None
    if question.state.barriers.user_between(base.first.pos, question.entry.asked).pos < 0:
        return None
    return Charge(
        base.first,
        f"already answered in turn {base.first.first.turn}, but the user spoke in between",
        level=ADVICE,
        calls=base.calls,
    )


RULE = Rule("RF107", "reread-after-user-message", ADVICE, __doc__ or "", decide)
