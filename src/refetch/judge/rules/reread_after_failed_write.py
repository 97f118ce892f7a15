"""A re-read that would be redundant, had not a write to that very resource failed in between.

The failed edit is evidence that the model's copy may be wrong or misremembered, so a fresh look is
fair; the tool could have returned the current text with its error and saved the read.

## Why it matters
It shows which editing tool causes extra reads.

## Flagged
- Read `a.ts`, an edit of `a.ts` fails with "old text not found", read `a.ts` again (advice).
- The same with a slice of what was read before.
- A write of the file was refused, then it is read again.

## Not flagged
- The write succeeded: the re-read is verification.
- The write timed out or its outcome is unknown: it counts as a write.
- A failed write to another file.
- A failed test run between two reads.
- The read before the failed write was itself lost to a compaction.
- A different region than the one that was read.

## If it is wrong for a tool
Declare `partial = true` if a failing call may still have written something.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule


def decide(question: Question) -> Charge | None:
    """Would be RF003 or RF101, but a write to that very resource failed in between."""
    base = question.would_be
    if base is None:
        return None
    failed = question.state.barriers.failed_on(question.resolved)
    if failed.pos <= base.first.pos:
        return None
    return Charge(
        base.first,
        f"a write to it failed in between (call {failed.seq}); its error could show the text",
        level=ADVICE,
        evidence=[failed.seq],
        calls=base.calls,
        blame="tool",
    )


RULE = Rule("RF106", "reread-after-failed-write", ADVICE, __doc__ or "", decide)
