"""Markdown for a comment on a pull request or a step summary; long lists are cut, with a count.

Text from traces stands in `<code>`, with everything that Markdown or HTML could act on written as
a character reference: no link, image, mention or tag comes out of a trace.
"""

from __future__ import annotations

import re

from refetch.model.finding import Finding
from refetch.reports.batch import Batch, repeats_by_reason, summarize
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.text_cost import cost_line, finding_cost
from refetch.reports.text_header import percent
from refetch.reports.wording import call_text

LIMIT = 60_000
"""Characters; GitHub takes 65,536 in a comment."""
_PLAIN = re.compile(r"[^A-Za-z0-9 .,;=/\"'(){}+-]")


def render(batch: Batch, look: Look) -> str:
    """The whole comment."""
    summary = summarize(batch.checked)
    findings = [(one.report.run, f) for one in batch.checked for f in one.report.findings]
    share = f" ({percent(summary.redundant, summary.calls)})" if summary.redundant else ""
    lines = [
        f"### refetch: {summary.redundant} redundant of {summary.calls} calls{share}",
        "",
        f"{summary.traces} trace{'s' * (summary.traces != 1)}, {summary.advice} advice",
    ]
    if cost := cost_line(finding for _, finding in findings):
        lines.append(f"<br>{cost}")
    for problem in batch.errors:
        place = f"{problem.source}:{problem.line}" if problem.line else problem.source
        lines += ["", f"**not readable:** {code(place)} {code(problem.message)}"]
    lines += _table(findings, look)
    reasons = repeats_by_reason(summary)
    if reasons:
        fine = ", ".join(f"{reason} {count}" for reason, count in reasons.items())
        lines += ["", f"Repeats that were fine: {fine}"]
    return "\n".join(lines) + "\n"


def _table(findings: list[tuple[str, Finding]], look: Look) -> list[str]:
    if not findings:
        return []
    findings = sorted(findings, key=lambda row: row[1].level != "flag")
    head = ["", "| rule | run | call | repeats | why | cost |", "|---|---|---|---|---|---|"]
    rows: list[str] = []
    size = 0
    most = look.top or len(findings)
    for run, finding in findings[:most]:
        row = _row(run, finding)
        size += len(row)
        if size > LIMIT:
            break
        rows.append(row)
    left = len(findings) - len(rows)
    return [*head, *rows, *(["", f"… and {left} more"] if left else [])]


def _row(run: str, finding: Finding) -> str:
    mark = "" if finding.level == "flag" else " (advice)"
    cells = [f"{finding.code} {finding.rule}{mark}", code(run[:40])]
    if finding.repeat is not None and finding.first is not None:
        repeat, first = finding.repeat, finding.first
        cells += [
            f"#{repeat.seq}, turn {repeat.turn} {code(call_text(repeat, 120))}",
            f"#{first.seq}, turn {first.turn}",
        ]
    else:
        cells += ["", ""]
    cells += [code(finding.message), finding_cost(finding)]
    return f"| {' | '.join(cells)} |"


def code(text: str) -> str:
    """Text from a trace, harmless."""
    if not text:
        return ""
    return f"<code>{_PLAIN.sub(lambda found: f'&#{ord(found[0])};', escaped(text))}</code>"
