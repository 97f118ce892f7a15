"""Budgets: the ceilings that a user set for one trace (RF004)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from refetch.judge.rule import FLAG
from refetch.judge.rules.call_budget import RULE
from refetch.judge.state import Options
from refetch.model.finding import Finding
from refetch.model.trace import Call


def budget_findings(options: Options, calls: list[Call]) -> list[Finding]:
    """A finding for each ceiling that the model's logical calls exceed."""
    return list(_exceeded(options, calls))


def _exceeded(options: Options, calls: list[Call]) -> Iterator[Finding]:
    if options.budget is not None and len(calls) > options.budget:
        yield _finding(len(calls), options.budget, "calls", None)
    by_tool = Counter(call.name for call in calls)
    for name, limit in options.per_tool.items():
        if by_tool[name] > limit:
            yield _finding(by_tool[name], limit, f"calls of {name}", name)
    if options.per_turn is not None:
        by_turn = Counter((call.context, call.turn) for call in calls)
        for (context, turn), count in by_turn.items():
            if count > options.per_turn:
                yield _finding(
                    count, options.per_turn, f"calls in turn {turn} of {context}", "turn"
                )


def _finding(actual: int, limit: int, what: str, kind: str | None) -> Finding:
    return Finding(
        code=RULE.code,
        rule=RULE.name,
        level=FLAG,
        confidence="proven",
        kind=kind,
        limit=limit,
        actual=actual,
        message=f"{actual} {what}, budget {limit}: over by {actual - limit}",
    )
