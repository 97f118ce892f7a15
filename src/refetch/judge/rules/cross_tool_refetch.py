"""The same content fetched again through another tool.

Both tools show the content of one resource (`cat a.py` after `Read a.py`), nothing was written in
between, and the first result is still in context.

## Why it matters
Two tools for one thing often mean that a prompt or a harness pushes the model to use both.

## Flagged
- `Read a.py`, then `cat a.py` (advice).
- `nl -ba a.py | sed -n 1,40p`, then `sed -n 1,40p a.py` (advice).
- A skill loaded by name, then its file read by path, where both name the same resource (advice).

## Not flagged
- `grep` of a file that was read: matches are another view.
- `ls -l` after a read; a listing is another view.
- Any write to the resource in between.
- Two tools that share arguments but not content.
- Another region than the one delivered.
- Tools whose view nobody declared.

## If it is wrong for a tool
Declare another `view` for one of the two tools.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule


def decide(question: Question) -> Charge | None:
    """(a) to (f) hold, through another tool or program that shows the same content."""
    found = question.covered
    if found is None or not question.another_tool(found.first):
        return None
    whole = found.first.resolved.delivers == question.resolved.region
    if whole and question.tells_otherwise(found.first):
        return None
    return Charge(
        found.first,
        f"{found.first.resolved.program} showed the same content in turn {found.first.first.turn}",
        level=ADVICE,
        calls=[entry.first.seq for entry in found.parts] if len(found.parts) > 1 else None,
    )


RULE = Rule("RF102", "cross-tool-refetch", ADVICE, __doc__ or "", decide)
