"""What a report is made from: the verdicts on some traces, what was skipped, what went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from refetch.effects.resolve import ToolTable
from refetch.judge.knowledge import raw_key_of
from refetch.model.finding import Acquittal, CallRef, RunReport
from refetch.model.trace import Call, Problem, Trace

REDUNDANCY = ("RF001", "RF002", "RF003")
"""The rules whose flags are redundant calls: a budget names no single call, a hazard no waste."""


class Checked(msgspec.Struct, frozen=True):
    """The verdict on one trace; `trace` is kept where a report shows the calls themselves."""

    report: RunReport
    trace: Trace | None = None


class Batch(msgspec.Struct):
    """Everything one run of a command found.

    `skipped` counts files in folders that are no traces. `errors` holds what could not be read,
    broken parts of traces that could be read included. `budget` and `user` are the ceiling and the
    tool tables that were used.
    """

    checked: list[Checked] = []
    skipped: int = 0
    errors: list[Problem] = []
    budget: int | None = None
    user: ToolTable | None = None


class Summary(msgspec.Struct, frozen=True):
    """Sums over traces, in the shape of `summary` in the JSON report.

    `redundant` counts calls flagged as a duplicate or re-fetch, `flags` every finding that can fail
    a test (budgets too), `by_rule` findings of both levels by code, `acquitted` by reason.
    """

    traces: int
    calls: int
    attempts: int
    redundant: int
    flags: int
    advice: int
    by_rule: dict[str, int]
    acquitted: dict[str, int]
    recognised: int
    recognised_by: dict[str, int]


def spelled(report: RunReport, trace: Trace) -> RunReport:
    """The report with the raw keys of acquitted calls, which the judge leaves out as too many."""
    calls: dict[int, Call] = {}
    for call in trace.calls:
        calls.setdefault(call.seq, call)

    def with_key(ref: CallRef) -> CallRef:
        if ref.raw_key or ref.seq not in calls:
            return ref
        return msgspec.structs.replace(ref, raw_key=raw_key_of(calls[ref.seq]))

    acquitted = [
        msgspec.structs.replace(a, first=with_key(a.first), repeat=with_key(a.repeat))
        for a in report.acquitted
    ]
    return msgspec.structs.replace(report, acquitted=acquitted)


def redundant_calls(report: RunReport) -> int:
    """How many calls of a trace are flagged as redundant."""
    return sum(f.code in REDUNDANCY and f.level == "flag" for f in report.findings)


def is_repeat(acquittal: Acquittal) -> bool:
    """False for a write after a read of what it writes: accounted for, but it repeats nothing."""
    return acquittal.reasons != ["not-comparable"]


def repeats_by_reason(summary: Summary) -> dict[str, int]:
    """The acquitted repeats by reason, for people; see `is_repeat` for what is left out."""
    return {r: n for r, n in summary.acquitted.items() if r != "not-comparable"}


def summarize(checked: Iterable[Checked]) -> Summary:
    """Add up the verdicts."""
    reports = [one.report for one in checked]
    findings = [finding for report in reports for finding in report.findings]
    flags = sum(finding.level == "flag" for finding in findings)
    reasons = Counter(a.reason for report in reports for a in report.acquitted)
    sources: Counter[str] = Counter()
    for report in reports:
        sources.update(report.recognised_by)
    return Summary(
        traces=len(reports),
        calls=sum(report.calls for report in reports),
        attempts=sum(report.attempts for report in reports),
        redundant=sum(map(redundant_calls, reports)),
        flags=flags,
        advice=len(findings) - flags,
        by_rule=dict(sorted(Counter(finding.code for finding in findings).items())),
        acquitted=dict(reasons.most_common()),
        recognised=sum(report.recognised for report in reports),
        recognised_by=dict(sources.most_common()),
    )
