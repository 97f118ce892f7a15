"""The same call fails in the same way, again and again.

Nothing was written in between, so the third identical attempt could not have gone otherwise.

## Why it matters
A rejected path was tried 175 times in one task.

## Flagged
- The third `file_show(./h.csv)` answered with 422 (advice).
- The third identical booking that fails with the same amount error (advice).
- A denied command tried a third time (advice).

## Not flagged
- The first two failures.
- Timeouts, 429 and 5xx: they can pass by themselves.
- Something was written in between.
- Another error than before.
- Other arguments.
- A success in between.

## If it is wrong for a tool
Raise `failure_limit`.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule


def decide(question: Question) -> Charge | None:
    """The same normalized key failing with the same normalized error for the N-th time
    (`failure_limit`).
    """
    streak = question.failure_streak
    if streak is None or streak.count + 1 < question.state.options.failure_limit:
        return None
    return Charge(
        streak.entry,
        f"failed {streak.count + 1} times in the same way; nothing was changed in between",
        level=ADVICE,
    )


RULE = Rule("RF105", "repeated-failure", ADVICE, __doc__ or "", decide)
