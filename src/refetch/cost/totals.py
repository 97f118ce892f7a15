"""Sums of costs: by rule, by tool, for a trace, for many; the parts add up to the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from refetch.cost.tokens import worst
from refetch.model.finding import Finding


class Total(msgspec.Struct, omit_defaults=True):
    """What some findings cost together. `priced` is False where a model's prices are not known."""

    carried_tokens: int = 0
    request_tokens: int = 0
    usd_low: float = 0.0
    usd_high: float = 0.0
    priced: bool = True
    source: str | None = None
    findings: int = 0

    def add(self, finding: Finding) -> None:
        """Take one more finding; one without a cost adds nothing."""
        cost = finding.cost
        if cost is None:
            return
        self.findings += 1
        self.carried_tokens += cost["carried_tokens"]
        self.request_tokens += cost.get("request_tokens", 0)
        self.source = worst(self.source or cost["source"], cost["source"])
        if "usd_low" in cost:
            self.usd_low += cost["usd_low"]
            self.usd_high += cost["usd_high"]
        else:
            self.priced = False


def total_of(findings: Iterable[Finding], *, level: str | None = None) -> Total:
    """The sum over findings, of one level or of all."""
    total = Total()
    for finding in findings:
        if level is None or finding.level == level:
            total.add(finding)
    return total


def totals_by_rule(findings: Iterable[Finding]) -> dict[str, Total]:
    """The sums by code."""
    return _grouped(findings, lambda finding: finding.code)


def totals_by_tool(findings: Iterable[Finding]) -> dict[str, Total]:
    """The sums by the repeat's tool."""
    return _grouped(findings, lambda finding: finding.repeat.name if finding.repeat else "")


def _grouped(findings: Iterable[Finding], key: Callable[[Finding], str]) -> dict[str, Total]:
    found: dict[str, Total] = {}
    for finding in findings:
        if finding.cost is not None:
            found.setdefault(key(finding), Total()).add(finding)
    return found
