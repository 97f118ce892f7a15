"""A read of a part that earlier reads already delivered.

Each delivered region is kept as a range; a request inside the union of what was delivered since the
last write brings nothing new.

## Why it matters
Focusing on forty lines of a file that stands in context is cheap and sometimes helps, so it is
advice; it is still carried from then on.

## Flagged
- Lines 1-800 in turn 1, lines 300-340 in turn 4 (advice).
- Lines 480-520 and 521-560, then 500-550 (advice; all parts are named).
- `head -n 50 a.py`, then `sed -n 1,40p a.py` (advice).

## Not flagged
- Disjoint or only partly overlapping ranges; the next page; another cursor.
- A part of the union was delivered before the last write.
- The last lines of a file of unknown length (`tail`).
- A read that was cut short where it is not known what arrived.
- Matches of a pattern after the whole file (another view).
- The same region in another context.

## If it is wrong for a tool
Declare its `region` (which arguments are the bounds) and default `limit`.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule


def decide(question: Question) -> Charge | None:
    """(a) to (f) hold for a strict part, or for exactly the union of several reads; same tool
    or program.
    """
    found = question.covered
    if found is None or question.another_tool(found.first):
        return None
    several = len(found.parts) > 1
    what = "the union of earlier reads" if several else f"the read in turn {found.first.first.turn}"
    return Charge(
        found.first,
        f"lies inside {what}; nothing wrote it in between",
        level=ADVICE,
        calls=[entry.first.seq for entry in found.parts] if several else None,
    )


RULE = Rule("RF101", "covered-read", ADVICE, __doc__ or "", decide)
