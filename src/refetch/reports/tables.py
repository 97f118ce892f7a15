"""CSV: one line for each finding, or for each call; no cell is a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from refetch.model.finding import CallRef, Finding
from refetch.reports.batch import Batch, Checked
from refetch.reports.escape import escaped
from refetch.reports.look import Look

FINDINGS = (
    "source run code rule level confidence context first_seq first_turn repeat_seq repeat_turn "
    "tool arguments resource message carried_tokens tokens_source usd_low usd_high"
).split()
CALLS = (
    "source run seq turn context tool call_id origin outcome arguments result_chars verdict "
    "because_of"
).split()
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "|", "%")
"""What spreadsheets take for the beginning of a formula, or of a command."""


def render_findings(batch: Batch, look: Look) -> str:
    """The findings."""
    rows = (_finding(one, finding) for one in batch.checked for finding in one.report.findings)
    return _csv(FINDINGS, rows)


def render_calls(batch: Batch, look: Look) -> str:
    """The calls, each with its verdict."""
    return _csv(CALLS, (row for one in batch.checked for row in _calls(one)))


def _finding(one: Checked, finding: Finding) -> list[object]:
    first, repeat, cost = finding.first, finding.repeat, finding.cost or {}
    return [
        one.report.source, one.report.run, finding.code, finding.rule, finding.level,
        finding.confidence, finding.context,
        first.seq if first else None, first.turn if first else None,
        repeat.seq if repeat else None, repeat.turn if repeat else None,
        repeat.name if repeat else None, _arguments(repeat), finding.resource, finding.message,
        cost.get("carried_tokens"), cost.get("source"), cost.get("usd_low"), cost.get("usd_high"),
    ]  # fmt: skip


def _arguments(ref: CallRef | None) -> str | None:
    if ref is None or not ref.raw_key.startswith(f"{ref.name}("):
        return None
    return ref.raw_key[len(ref.name) + 1 : -1]


def _calls(one: Checked) -> Iterator[list[object]]:
    if one.trace is None:
        return
    verdicts: dict[int, tuple[str, int | None]] = {}
    for acquittal in one.report.acquitted:
        verdicts[acquittal.repeat.seq] = (acquittal.reason, acquittal.first.seq)
    for finding in one.report.findings:
        if finding.repeat is not None:
            first = finding.first.seq if finding.first is not None else None
            verdicts[finding.repeat.seq] = (finding.code, first)
    for call in one.trace.calls:
        verdict, because = verdicts.get(call.seq, ("", None))
        sent = bytes(call.args).decode("utf-8", "replace") or call.raw_args
        yield [
            one.report.source, one.report.run, call.seq, call.turn, call.context, call.name,
            call.call_id, call.origin, call.status, sent, call.result_chars, verdict, because,
        ]  # fmt: skip


def _csv(names: list[str], rows: Iterable[list[object]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return stream.getvalue()


def _cell(value: object) -> object:
    """Numbers as they are; text that a spreadsheet would run stands behind an apostrophe."""
    if not isinstance(value, str):
        return value
    text = escaped(value)
    return f"'{text}" if text.startswith(_ACTIVE) or value.startswith(_ACTIVE) else text
