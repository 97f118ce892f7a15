"""Ceilings on what a whole run used: tokens and dollars (RF004)."""

from __future__ import annotations

from refetch.cost.prices import prices_of
from refetch.cost.usage import usage_of
from refetch.judge import Options
from refetch.model.finding import Finding
from refetch.model.trace import Request, Trace


def usage_budget_findings(trace: Trace, options: Options) -> list[Finding]:
    """One finding for each ceiling that is exceeded; none where the trace records no usage."""
    found = []
    usages = [
        usage
        for event in trace.events
        if isinstance(event, Request) and (usage := usage_of(event.usage)) is not None
    ]
    if options.token_budget is not None:
        used = sum(usage.prompt + usage.output for usage in usages)
        if used > options.token_budget:
            found.append(_over("tokens", options.token_budget, used, f"{used:,} tokens"))
    prices = prices_of(trace.model)
    if options.cost_budget_usd is not None and prices is not None:
        spent = sum(
            (usage.prompt - (usage.cached or 0)) * prices.fresh
            + (usage.cached or 0) * prices.cached
            + usage.output * prices.output
            for usage in usages
        )
        if spent > options.cost_budget_usd:
            found.append(
                _over("dollars", options.cost_budget_usd, round(spent, 6), f"${spent:.2f}")
            )
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
