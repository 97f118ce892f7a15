"""Costs as people read them: tokens rounded, money as a range, and where the figures come from."""

from __future__ import annotations

from collections.abc import Iterable

from refetch.cost.totals import Total, total_of
from refetch.model.finding import Finding

SOURCES = {
    "measured": "measured from usage",
    "counted": "counted",
    "estimated": "estimated at 4 characters a token",
}
"""Where a figure comes from, in words."""


def tokens_text(tokens: int) -> str:
    """850, 21k, 1.2M."""
    if tokens < 1000:
        return str(tokens)
    if tokens < 999_500:
        return f"{tokens / 1000:.0f}k" if tokens >= 9950 else f"{tokens / 1000:.1f}k"
    return f"{tokens / 1e6:.1f}M"


def money_text(total: Total) -> str:
    """$0.01-0.07, $0.44, or nothing where prices are not known."""
    if not total.priced or not total.findings:
        return ""
    low, high = _dollars(total.usd_low), _dollars(total.usd_high)
    return f"${low}" if low == high else f"${low}-{high}"


def _dollars(amount: float) -> str:
    return f"{amount:.2f}" if amount >= 0.01 or amount == 0 else f"{amount:.4f}"


def cost_line(findings: Iterable[Finding]) -> str:
    """The cost of the flags in a line, or nothing where they cost nothing."""
    total = total_of(findings, level="flag")
    if not total.findings or total.source is None:
        return ""
    money = money_text(total)
    tokens = f"about {tokens_text(total.carried_tokens)} carried tokens"
    return f"{tokens}{', ' if money else ''}{money} ({SOURCES[total.source]})"


def finding_cost(finding: Finding) -> str:
    """What one finding carried."""
    if finding.cost is None:
        return ""
    return f"{tokens_text(finding.cost['carried_tokens'])} carried tokens"
