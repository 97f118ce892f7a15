"""More calls than the ceiling that was set.

The budget counts the model's own logical calls, in total, per tool and per turn; also tokens and
cost where a ceiling is given. It is the only rule that catches a fetch that was never needed.

## Why it matters
A read of README.md that served nothing is no repeat of anything; only a budget notices it.

## Flagged
- Nine calls for a budget of five.
- Four `read_file` for `read_file=2`.
- Forty calls in one turn for `per_turn=20`.

## Not flagged
- Retries by the harness, and requests that the harness executed twice.
- Calls that the harness or the user made.
- No budget set.
- Exactly as many calls as the budget.
- Calls of another tool than the one with a ceiling.
- Records that say the same call twice.

## If it is wrong for a tool
Set `per_tool` ceilings instead of one total.
"""

from __future__ import annotations

from refetch.judge.rule import FLAG, Rule

RULE = Rule("RF004", "call-budget", FLAG, __doc__ or "")
