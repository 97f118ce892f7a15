"""What a whole run used: tokens and dollars."""

from __future__ import annotations

from typing import NamedTuple

from refetch.cost.prices import prices_of
from refetch.cost.usage import usage_of
from refetch.model.trace import Request, Trace


class Spending(NamedTuple):
    """Of all requests together: prompt and output tokens, and USD (None: no price is known)."""

    tokens: int
    dollars: float | None


def spending_of(trace: Trace) -> Spending | None:
    """What the requests of a trace record, or None where none records its usage."""
    usages = [
        usage
        for event in trace.events
        if isinstance(event, Request) and (usage := usage_of(event.usage)) is not None
    ]
    if not usages:
        return None
    prices = prices_of(trace.model)
    dollars = prices and sum(
        (usage.prompt - (usage.cached or 0)) * prices.fresh
        + (usage.cached or 0) * prices.cached
        + usage.output * prices.output
        for usage in usages
    )
    return Spending(sum(usage.prompt + usage.output for usage in usages), dollars)
