"""What one run measures: counts and shares, lower is better for all but `success`."""

from __future__ import annotations

from collections import Counter

from refetch.api import check
from refetch.cost import costed, spending_of, total_of
from refetch.effects.resolve import ToolTable
from refetch.hygiene import FAILED, prepare
from refetch.model.trace import Call, Trace, seconds
from refetch.reports.batch import redundant_calls

SHARES = frozenset(("stale_refetch", "exact_duplicate", "success"))
"""Metrics that a run has or has not; all others are counts or sums."""
GATED = ("model_calls", "stale_refetch")
"""What fails a comparison unless other metrics are named."""


def metrics_of(
    trace: Trace, user: ToolTable | None = None, *, success: bool | None = None
) -> dict[str, float]:
    """The metrics of one run, by name; those that the trace cannot tell are left out."""
    report = costed(check(trace, user=user), trace)
    flags = Counter(finding.code for finding in report.flags)
    steps = [step for step in prepare(trace) if type(step.event) is Call]
    found: dict[str, float] = {
        "model_calls": report.calls,
        "redundant_calls": redundant_calls(report),
        "redundancy_rate": redundant_calls(report) / report.calls if report.calls else 0.0,
        "stale_refetch": float(flags["RF003"] > 0),
        "exact_duplicate": float(flags["RF001"] > 0),
        "carried_tokens": total_of(report.flags).carried_tokens,
        "turns": report.turn_count,
        "failed_calls": sum(call.status in FAILED for call in trace.calls),
        "retries": sum(step.role == "attempt" for step in steps),
    }
    found |= {f"rule.{code}": count for code, count in sorted(flags.items())}
    found |= {f"tool.{name}": count for name, count in sorted(report.by_tool.items())}
    spent = spending_of(trace)
    if spent is not None:
        found["tokens"] = spent.tokens
        if spent.dollars is not None:
            found["cost"] = spent.dollars
    times = [t for call in trace.calls for t in (seconds(call.started), seconds(call.ended))]
    known = [time for time in times if time is not None]
    if known:
        found["duration"] = max(known) - min(known)
    if success is not None:
        found["success"] = float(success)
    return found


def is_share(metric: str) -> bool:
    """Whether a metric is compared as a share of runs."""
    return metric in SHARES
