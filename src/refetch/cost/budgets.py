"""Ceilings on what a whole run used: tokens and dollars (RF004)."""

from __future__ import annotations

from refetch.cost.spending import spending_of
from refetch.judge import Options
from refetch.model.finding import Finding
from refetch.model.trace import Trace


def usage_budget_findings(trace: Trace, options: Options) -> list[Finding]:
    """One finding for each ceiling that is exceeded; none where the trace records no usage."""
    found: list[Finding] = []
    if options.token_budget is None and options.cost_budget_usd is None:
        return found
    spent = spending_of(trace)
    if spent is None:
        return found
    if options.token_budget is not None and spent.tokens > options.token_budget:
        text = f"{spent.tokens:,} tokens"
        found.append(_over("tokens", options.token_budget, spent.tokens, text))
    limit, dollars = options.cost_budget_usd, spent.dollars
    if limit is not None and dollars is not None and dollars > limit:
        found.append(_over("dollars", limit, round(dollars, 6), f"${dollars:.2f}"))
    return found


def _over(kind: str, limit: float, actual: float, text: str) -> Finding:
    return Finding(
        code="RF004",
        rule="call-budget",
        level="flag",
        kind=kind,
        limit=limit,
        actual=actual,
        message=f"{text}, budget {limit:,g}",
    )
