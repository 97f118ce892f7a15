"""The run goes round in circles.

One call with an unchanged result five times or more, or a sequence of two to five distinct calls
three times or more, whatever the verdict on each single call is. It names the calls and adds no
cost.

## Why it matters
Loops are where the large waste is: one run repeated a read 95 times.

## Flagged
- One search with an equal empty answer five times in a row (advice).
- search, schema, execute, three times over (advice).
- edit, test, edit, test, edit, test with equal arguments (advice).

## Not flagged
- Four times the same call.
- Two rounds of a sequence.
- The same tools with other arguments each time.
- One call repeated with changing results.
- Equal calls spread over different contexts.
- Calls whose arguments were not recorded.

## If it is wrong for a tool
Declare it `repeatable = true`.
"""

from __future__ import annotations

from refetch.judge.rule import ADVICE, Rule

RULE = Rule("RF108", "loop", ADVICE, __doc__ or "")
