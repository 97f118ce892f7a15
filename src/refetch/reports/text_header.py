"""The first line of a report: the answer."""

from __future__ import annotations

import re

from refetch.model.finding import RunReport
from refetch.reports.batch import Batch, Summary, redundant_calls, repeats_by_reason
from refetch.reports.escape import escaped
from refetch.reports.paint import Paint, shortened

_RUN_CHARS = 40
_UUID = re.compile(r"([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def header(batch: Batch, report: RunReport, paint: Paint) -> str:
    """The run, its size, and how much of it was redundant."""
    redundant = redundant_calls(report)
    share = f" ({percent(redundant, report.calls)})" if redundant else ""
    contexts = f", {report.contexts} contexts" if report.contexts > 1 else ""
    turns = f"{report.turn_count} turn{'s' * (report.turn_count != 1)}"
    advice = sum(finding.level != "flag" for finding in report.findings)
    product = report.harness or (report.format if report.format != "native" else "")
    parts = [
        paint(shortened(escaped(_UUID.sub(r"\1", report.run)), _RUN_CHARS), "bold"),
        escaped(product),
        f"{calls_text(report.calls)} in {turns}{contexts}",
        paint(f"{redundant} redundant{share}", *(["bold", "red"] if redundant else [])),
        f"{advice} advice" if advice else "",
        _budget(batch, report),
    ]
    return " · ".join(part for part in parts if part)


def clean_line(batch: Batch, summary: Summary, paint: Paint) -> str:
    """The whole report where nothing is to be said; not "clean" where something was not read."""
    repeats = sum(repeats_by_reason(summary).values())
    fine = f" ({repeats} repeat{'s' * (repeats != 1)}, all legitimate)" if repeats else ""
    traces = f" in {summary.traces} traces" if summary.traces > 1 else ""
    budget = _budget(batch, batch.checked[0].report) if summary.traces == 1 else ""
    if not summary.attempts:
        where = "these traces" if summary.traces > 1 else "this trace"
        return paint("nothing to judge", "yellow") + f": no tool calls in {where}"
    word = paint("incomplete", "yellow") if batch.errors else paint("clean", "green")
    text = f"{word}: 0 redundant of {calls_text(summary.calls)}{traces}{fine}"
    return text + (f" · {budget}" if budget else "")


def _budget(batch: Batch, report: RunReport) -> str:
    over = next((f for f in report.findings if f.code == "RF004" and f.kind is None), None)
    if over is not None and over.limit is not None and over.actual is not None:
        return f"budget {over.limit:g}: over by {over.actual - over.limit:g}"
    if batch.budget is None or report.calls > batch.budget:
        return ""
    return f"budget {batch.budget}: {batch.budget - report.calls} left"


def calls_text(count: int) -> str:
    """ "1 call", "2 calls"."""
    return f"{count} call{'s' * (count != 1)}"


def percent(part: int, whole: int) -> str:
    """A share as people write it: 33 %, 1.1 %."""
    share = 100 * part / whole if whole else 0.0
    return f"{share:.0f} %" if share >= 10 else f"{share:.1f} %"
