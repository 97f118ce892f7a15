"""A later turn asks again for what is still in context and still true.

An earlier call with the same arguments delivered the whole answer into this context, nothing that
may have changed it happened since, the answer is still visible, and the result, where known, is the
same.

## Why it matters
The second copy is carried in every later request of the context. On long runs one re-read of a
large file costs more than all the small calls together.

## Flagged
- `read_file(config.json)` in turn 2 and again in turn 3.
- A file read in turn 1 and read whole again just before it is rewritten in turn 9, with only reads
  between.
- The same empty search in the next turn: an empty result is an answer.
- A test run again although no file changed and the result is the same.

## Not flagged
- A re-read after any write that may have touched the resource, by anyone, even if the text is
  equal again.
- Another line range, page or cursor of the same resource.
- The first read after a compaction, clearing or eviction (RF110), or in another context (RF103).
- A repeat of a call that failed, was refused, timed out or was cut short.
- A repeat behind a command of unknown effect, a sleep, or a running background job.
- Polls, clocks, screenshots, logs; anything whose result is known to differ.
- A repeat behind a user message (RF107) or a failed write to the same resource (RF106): advice
  only.

## If it is wrong for a tool
Say what it depends on: `depends_on = ["file:**"]`, `volatile = true`, `ttl = 60`, or `repeatable =
true`.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import FLAG, Charge, Rule, evidence_level


def decide(question: Question) -> Charge | None:
    """(a) to (f) hold, in a different turn, for a read or pure call with the same request."""
    first = question.refetched
    if first is None:
        return None
    level, confidence = evidence_level(question, first)
    equal_by = question.equal_by(first)
    what = ", ".join(a.resource for a in question.resolved.reads) or "it"
    equal = "; results equal" if question.equal(first) else ""
    turn = first.first.turn
    return Charge(
        first,
        f"already answered in turn {turn}; nothing wrote {what} in between{equal}",
        level=level,
        confidence=confidence,
        kind="equivalent-arguments" if equal_by else "same-arguments",
        blame="tool" if question.entry.last.truncated else None,
    )


RULE = Rule("RF003", "stale-refetch", FLAG, __doc__ or "", decide)
