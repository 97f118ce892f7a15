"""The text report: the answer first, then the evidence, then how to act."""

from __future__ import annotations

from collections.abc import Iterator

from refetch.model.finding import RunReport
from refetch.reports.batch import Batch, Checked, Summary, redundant_calls, summarize
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.paint import Paint, plain_marks, shortened
from refetch.reports.text_findings import finding_lines
from refetch.reports.text_ledger import acquittal_lines, ledger_lines, recognised_line
from refetch.reports.text_path import path_lines
from refetch.reports.text_table import table_lines

SMALL = 60
"""A run of at most this many calls is shown whole beside its findings."""

_WELL_KNOWN = 0.8


def render(batch: Batch, look: Look) -> str:
    """The report on one trace, or the table of many."""
    lines = _lines(batch, look)
    text = "\n".join(line.rstrip() for line in lines)
    return plain_marks(text + "\n", look) if text else ""


def _lines(batch: Batch, look: Look) -> Iterator[str]:
    count = len(batch.checked)
    if count == 1:
        yield from _single(batch, batch.checked[0], look)
    elif count:
        yield from _many(batch, look)
    elif not batch.errors:
        yield "no traces found"
    if batch.skipped:
        noun = "file that is no trace" if batch.skipped == 1 else "files that are no traces"
        yield Paint(look)(f"skipped {batch.skipped} {noun}", "dim")


def _single(batch: Batch, one: Checked, look: Look) -> Iterator[str]:
    report = one.report
    paint = Paint(look)
    summary = summarize([one])
    if report.findings or look.calls:
        yield _header(batch, report, look, paint)
    else:
        yield _clean(batch, summary, paint)
    small = report.findings and len(one.trace.calls) <= SMALL if one.trace is not None else False
    if one.trace is not None and (look.calls or small):
        yield ""
        yield from path_lines(one.trace, report, look, batch.user)
    yield from finding_lines(report.findings, look)
    yield from _rest(summary, look, bool(report.findings))
    if look.why and report.acquitted:
        yield ""
        yield from acquittal_lines(report.acquitted, one.trace, look)
    yield from _pointers(report, look, paint)


def _header(batch: Batch, report: RunReport, look: Look, paint: Paint) -> str:
    redundant = redundant_calls(report)
    share = f" ({_percent(redundant, report.calls)})" if redundant else ""
    contexts = f", {report.contexts} contexts" if report.contexts > 1 else ""
    turns = f"{report.turn_count} turn{'s' * (report.turn_count != 1)}"
    advice = sum(f.level != "flag" for f in report.findings)
    product = report.harness or (report.format if report.format != "native" else "")
    parts = [
        paint(shortened(escaped(report.run), 40), "bold"),
        escaped(product),
        f"{_calls(report.calls)} in {turns}{contexts}",
        paint(f"{redundant} redundant{share}", *(["bold", "red"] if redundant else [])),
        f"{advice} advice" if advice else "",
        _budget(batch, report),
    ]
    return " · ".join(part for part in parts if part)


def _budget(batch: Batch, report: RunReport) -> str:
    total = next((f for f in report.findings if f.code == "RF004" and f.kind is None), None)
    if total is not None and total.limit is not None and total.actual is not None:
        return f"budget {total.limit:g}: over by {total.actual - total.limit:g}"
    if batch.budget is None or report.calls > batch.budget:
        return ""
    return f"budget {batch.budget}: {batch.budget - report.calls} left"


def _clean(batch: Batch, summary: Summary, paint: Paint) -> str:
    repeats = sum(summary.acquitted.values())
    fine = ""
    if repeats:
        fine = f" ({repeats} repeat{'s' * (repeats != 1)}, all legitimate)"
    traces = f" in {summary.traces} traces" if summary.traces > 1 else ""
    budget = _budget(batch, batch.checked[0].report) if summary.traces == 1 else ""
    text = f"{paint('clean', 'green')}: 0 redundant of {_calls(summary.calls)}{traces}{fine}"
    return text + (f" · {budget}" if budget else "")


def _many(batch: Batch, look: Look) -> Iterator[str]:
    paint = Paint(look)
    summary = summarize(batch.checked)
    found = bool(summary.flags or summary.advice)
    if not found:
        yield _clean(batch, summary, paint)
    else:
        share = f" ({_percent(summary.redundant, summary.calls)})" if summary.redundant else ""
        total = f"{summary.redundant} redundant of {_calls(summary.calls)}{share}"
        yield f"{paint(total, 'bold')} in {summary.traces} traces · {summary.advice} advice"
        yield ""
        yield from table_lines(batch, look)
        yield ""
        yield "by rule: " + " · ".join(f"{code} {n}" for code, n in summary.by_rule.items())
    yield from _rest(summary, look, found)
    if look.why:
        for one in batch.checked:
            if one.report.findings or one.report.acquitted:
                yield ""
                yield paint(escaped(one.report.source), "bold")
                yield from finding_lines(one.report.findings, look)
                yield from acquittal_lines(one.report.acquitted, one.trace, look)
    elif found:
        yield ""
        yield paint("the findings of one trace: refetch check TRACE · all of them: --why", "dim")


def _rest(summary: Summary, look: Look, found: bool) -> Iterator[str]:
    known = summary.recognised >= _WELL_KNOWN * summary.calls
    if found or look.why or look.calls:
        yield ""
        yield from ledger_lines(summary, look)
        yield recognised_line(summary)
    elif not known:
        yield recognised_line(summary)
    if not known and summary.calls:
        yield "repeats of unknown tools cannot be judged; to declare them: refetch tools TRACE"


def _pointers(report: RunReport, look: Look, paint: Paint) -> Iterator[str]:
    if not report.findings:
        return
    code = min(report.findings, key=lambda f: (f.level != "flag", f.code)).code
    why = "" if look.why else "why a call is (not) flagged: refetch check --why · "
    yield ""
    yield paint(f"{why}what a rule means: refetch explain {code}", "dim")


def _calls(count: int) -> str:
    return f"{count} call{'s' * (count != 1)}"


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0.0
    return f"{share:.0f} %" if share >= 10 else f"{share:.1f} %"
