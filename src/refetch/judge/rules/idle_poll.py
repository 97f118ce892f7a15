"""Polling that keeps getting the same answer.

Waiting is legitimate, so a poll is never a stale re-fetch; but the fourth unchanged answer in a row
says that the agent should wait longer, or be told.

## Why it matters
The most expensive run on record asked for one process log 1,535 times.

## Flagged
- The fourth `process(action="log")` in a row with "no new output" (advice).
- The fourth equal screenshot without an action between (advice).
- `gh run view` asked over and over with the same status (advice).

## Not flagged
- The first three polls.
- A poll whose answer changed; the count starts again.
- A poll with unknown results.
- A clock: its answers differ.
- Polls of different things.
- A poll after an action that could have changed the answer.

## If it is wrong for a tool
Raise `poll_limit`, or declare the tool `repeatable = true`.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule


def decide(question: Question) -> Charge | None:
    """The k-th consecutive poll with an unchanged result (k is the option `poll_limit`)."""
    streak = question.poll_streak
    limit = question.state.options.poll_limit
    if streak is None or streak.count + 1 < limit or question.resolved.repeatable:
        return None
    if question.call.origin != "model":
        return None
    return Charge(
        streak.entry,
        f"poll {streak.count + 1} in a row with an unchanged answer; wait longer, or be notified",
        level=ADVICE,
    )


RULE = Rule("RF104", "idle-poll", ADVICE, __doc__ or "", decide)
