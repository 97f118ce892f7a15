"""A re-read of something that the context manager threw away.

The answer was delivered, is still true, but left the context by compaction, clearing, trimming or
eviction. The model had to ask again; the cost belongs to the context manager.

## Why it matters
Re-reads after compaction are the price of compaction; the number belongs beside its savings.

## Flagged
- Read, compaction, read of the same file (advice, charged to the context manager).
- A result evicted by name, then fetched again (advice).
- A cleared tool result, then the same search (advice).

## Not flagged
- The second read after the compaction: that one is RF003.
- Something was written since as well.
- The loss happened in another context.
- The result was lost before it was whole.
- A later copy of the result is still in context.
- The repeat is known to differ.

## If it is wrong for a tool
Nothing to declare: it is advice about the context manager, not about the tool.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule

LOST = frozenset(("context-lost",))


def decide(question: Question) -> Charge | None:
    """Only (d) fails, because the result left this context."""
    if not question.resolved.is_read:
        return None
    found = question.covering(LOST)
    if found is not None and all(question.context.holds(part) for part in found.parts):
        found = None  # nothing was lost: another rule spared it
    first = None if found is None else found.first
    for entry in question.chain():
        if {b.reason for b in question.blocks(entry)} == LOST:
            if first is None or entry.pos > first.pos:
                first = entry
            break
    return None if first is None else _charge(question, first.first.turn, first)


def _charge(question: Question, turn: int, entry: object) -> Charge:
    kind = question.context.lost_to
    return Charge(
        entry,  # type: ignore[arg-type]
        f"answered in turn {turn}, then lost by {kind}",
        level=ADVICE,
        blame="context-manager",
        kind=kind,
    )


RULE = Rule("RF110", "refetch-after-context-loss", ADVICE, __doc__ or "", decide)
