"""JUnit XML: a test case for each trace; flags fail it, what could not be read is an error."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from refetch.model.trace import Problem
from refetch.reports.batch import Batch, Checked
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.wording import sentence


def render(batch: Batch, look: Look) -> str:
    """The whole document."""
    failures = sum(bool(one.report.flags) for one in batch.checked)
    count = len(batch.checked) + len(batch.errors)
    head = f'tests="{count}" failures="{failures}" errors="{len(batch.errors)}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="refetch" {head}>',
        f'  <testsuite name="refetch" {head} skipped="0">',
        *(line for one in batch.checked for line in _case(one)),
        *(line for problem in batch.errors for line in _error(problem)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(one: Checked) -> Iterable[str]:
    report = one.report
    yield f"    <testcase classname={_attribute(report.source)} name={_attribute(report.run)}>"
    if report.flags:
        told = [sentence(finding) for finding in report.flags]
        codes = ",".join(sorted({finding.code for finding in report.flags}))
        yield f"      <failure type={_attribute(codes)} message={_attribute(told[0])}>"
        yield _text("\n".join(told))
        yield "      </failure>"
    advice = [sentence(f) for f in report.findings if f.level != "flag"]
    if advice:
        yield "      <system-out>"
        yield _text("\n".join(advice))
        yield "      </system-out>"
    yield "    </testcase>"


def _error(problem: Problem) -> Iterable[str]:
    place = problem.source if problem.line is None else f"{problem.source}:{problem.line}"
    yield f'    <testcase classname={_attribute(problem.source)} name="can be read">'
    yield f'      <error type="unreadable" message={_attribute(f"{place}: {problem.message}")}/>'
    yield "    </testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_allowed(escaped(text)))


def _text(text: str) -> str:
    return escape(_allowed(escaped(text, keep_newlines=True)))


def _allowed(text: str) -> str:
    """XML 1.0 has no place for these, escaped or not."""
    return text.replace("\ufffe", "?").replace("\uffff", "?")
