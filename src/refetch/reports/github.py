"""Annotations of GitHub Actions: workflow commands on standard output.

GitHub shows ten annotations of a kind for a step; the eleventh line says how many are left out.
"""

from __future__ import annotations

from refetch.model.finding import Finding
from refetch.model.trace import Problem
from refetch.reports.batch import Batch, summarize
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.wording import sentence

MOST = 10
"""Annotations of a kind that a step shows."""
_KINDS = {"flag": "error", "advice": "notice"}


def render(batch: Batch, look: Look) -> str:
    """One command a line."""
    summary = summarize(batch.checked)
    answer = f"{summary.redundant} redundant of {summary.calls} calls, {summary.advice} advice"
    rows: dict[str, list[str]] = {"error": [], "notice": []}
    for problem in batch.errors:
        rows["error"].append(_problem(problem))
    for one in batch.checked:
        for finding in one.report.findings:
            kind = _KINDS[finding.level]
            rows[kind].append(_finding(kind, finding, one.report.source))
    lines = [f"::notice title=refetch::{answer}"]
    for kind, found in rows.items():
        room = MOST - (kind == "notice")
        shown = found if len(found) <= room else found[: room - 1]
        lines += shown
        if len(found) > len(shown):
            left = len(found) - len(shown)
            lines.append(f"::{kind} title=refetch::{left} more; the whole list: refetch check")
    return "".join(f"{line}\n" for line in lines)


def _finding(kind: str, finding: Finding, source: str) -> str:
    ref = finding.repeat
    line = ref.location.line if ref is not None and ref.location is not None else None
    place = f"file={_property(source)}" + (f",line={line}" if line else "")
    title = _property(f"{finding.code} {finding.rule}")
    return f"::{kind} {place},title={title}::{_data(sentence(finding))}"


def _problem(problem: Problem) -> str:
    place = f"file={_property(problem.source)}" + (f",line={problem.line}" if problem.line else "")
    return f"::error {place},title=not readable::{_data(problem.message)}"


def _data(text: str) -> str:
    """The escapes of a command's message, so that no text ends the command or begins another."""
    return escaped(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
