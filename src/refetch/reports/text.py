"""The text report: the answer first, then the evidence, then how to act."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from refetch.model.finding import RunReport
from refetch.reports.batch import Batch, Checked, Summary, summarize
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.paint import Paint, plain_marks
from refetch.reports.text_cost import cost_line
from refetch.reports.text_findings import finding_lines
from refetch.reports.text_header import calls_text, clean_line, header, percent
from refetch.reports.text_ledger import acquittal_lines, ledger_lines, recognised_line
from refetch.reports.text_path import path_lines
from refetch.reports.text_table import table_lines

SMALL = 60
"""A run of at most this many executions is shown whole beside its findings."""

_WELL_KNOWN = 0.8


def render(batch: Batch, look: Look) -> str:
    """The report on one trace, or the table of many."""
    return joined(_lines(batch, look), look)


def joined(lines: Iterable[str], look: Look) -> str:
    """Lines as one text, ended by a line feed, in signs that the look allows."""
    text = "\n".join(line.rstrip() for line in lines)
    return plain_marks(text + "\n", look) if text else ""


def render_paths(batch: Batch, look: Look) -> str:
    """Every call of every trace, in order; what `refetch show` prints."""
    return joined(_paths(batch, look), look)


def _paths(batch: Batch, look: Look) -> Iterator[str]:
    paint = Paint(look)
    for index, one in enumerate(batch.checked):
        if index:
            yield ""
        yield header(batch, one.report, paint)
        yield ""
        if one.trace is not None:
            yield from path_lines(one.trace, one.report, look, batch.user)
        if look.why and one.report.acquitted:
            yield ""
            yield from acquittal_lines(one.report.acquitted, one.trace, look)


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
    if report.findings:
        yield header(batch, report, paint)
        if cost := cost_line(report.findings):
            yield cost
        if one.trace is not None and len(one.trace.calls) <= SMALL:
            yield ""
            yield from path_lines(one.trace, report, look, batch.user)
        yield from finding_lines(report.findings, look)
    else:
        yield clean_line(batch, summary, paint)
    yield from _rest(summary, look, found=bool(report.findings))
    if look.why and report.acquitted:
        yield ""
        yield from acquittal_lines(report.acquitted, one.trace, look)
    yield from _pointers(report, look, paint)


def _many(batch: Batch, look: Look) -> Iterator[str]:
    paint = Paint(look)
    summary = summarize(batch.checked)
    found = bool(summary.flags or summary.advice)
    if found:
        share = f" ({percent(summary.redundant, summary.calls)})" if summary.redundant else ""
        total = f"{summary.redundant} redundant of {calls_text(summary.calls)}{share}"
        advice = f" · {summary.advice} advice" if summary.advice else ""
        yield f"{paint(total, 'bold')} in {summary.traces} traces{advice}"
        if cost := cost_line(f for one in batch.checked for f in one.report.findings):
            yield cost
        yield ""
        yield from table_lines(batch, look)
        yield ""
        yield "by rule: " + " · ".join(f"{code} {n}" for code, n in summary.by_rule.items())
    else:
        yield clean_line(batch, summary, paint)
    yield from _rest(summary, look, found=found)
    if look.why:
        yield from _each(batch, look, paint)
    elif found:
        yield ""
        yield paint("the findings of one trace: refetch check TRACE · all of them: --why", "dim")


def _each(batch: Batch, look: Look, paint: Paint) -> Iterator[str]:
    for one in batch.checked:
        if not (one.report.findings or one.report.acquitted):
            continue
        yield ""
        yield paint(escaped(one.report.source), "bold")
        yield from finding_lines(one.report.findings, look)
        if one.report.acquitted:
            yield ""
            yield from acquittal_lines(one.report.acquitted, one.trace, look)


def _rest(summary: Summary, look: Look, *, found: bool) -> Iterator[str]:
    known = summary.recognised >= _WELL_KNOWN * summary.calls
    if found or look.why:
        yield ""
        yield from ledger_lines(summary, look)
        yield recognised_line(summary)
    elif not known:
        yield recognised_line(summary)
    if not known:
        yield "repeats of unknown tools are hard to judge; to declare them: refetch tools TRACE"


def _pointers(report: RunReport, look: Look, paint: Paint) -> Iterator[str]:
    if not report.findings:
        return
    code = min(report.findings, key=lambda f: (f.level != "flag", f.code)).code
    why = "" if look.why else "why a call is (not) flagged: refetch check --why · "
    yield ""
    yield paint(f"{why}what a rule means: refetch explain {code}", "dim")
