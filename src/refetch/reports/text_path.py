"""The path of a run as text: its calls in order, with turns, contexts, attempts and marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from refetch.effects.resolve import ToolTable
from refetch.model.finding import Acquittal, Finding, RunReport
from refetch.model.trace import MAIN, Call, Trace
from refetch.reports.batch import is_repeat
from refetch.reports.call_text import call_text
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.paint import Paint, cells, padded, shortened
from refetch.reports.path import Happening, Stop, path

_CALL_COLUMN = 40
_MARK_ROOM = 34
_CONTEXT_COLUMN = 14
_HAPPENING_STYLE = {"write": "yellow"}


class _Row(NamedTuple):
    turn: str
    seq: str
    context: str
    text: str
    mark: str
    style: str


class _Columns(NamedTuple):
    """Widths: numbers, context (0: there is only one), a call with a mark behind it."""

    seq: int
    context: int
    call: int
    front: int


def path_lines(
    trace: Trace, report: RunReport, look: Look, user: ToolTable | None = None
) -> Iterator[str]:
    """One line for each execution and for what else happened, in order of time."""
    calls = {call.seq: call for call in trace.calls}
    rows = [_row(item, calls, look) for item in path(trace, report, user)]
    columns = _columns(rows, look)
    paint = Paint(look)
    context = padded("context", columns.context + 2) if columns.context else ""
    yield paint(f" turn  {padded('#', columns.seq)}  {context}call", "dim")
    for row in rows:
        yield _line(row, columns, look, paint)


def _columns(rows: list[_Row], look: Look) -> _Columns:
    seq = max([len(row.seq) for row in rows] + [1])
    context = 0
    if any(row.context not in ("", MAIN) for row in rows):
        context = min(_CONTEXT_COLUMN, max(7, *(cells(row.context) for row in rows)))
    front = 7 + seq + 2 + (context + 2 if context else 0)
    longest = max([cells(row.text) for row in rows if row.mark] + [4])
    room = max(24, look.width - front - _MARK_ROOM)
    return _Columns(seq, context, min(max(_CALL_COLUMN, longest), room), front)


def _line(row: _Row, columns: _Columns, look: Look, paint: Paint) -> str:
    context = ""
    if columns.context:
        context = padded(shortened(row.context, columns.context), columns.context + 2)
    start = paint(f"{row.turn:>4}   {row.seq:>{columns.seq}}  {context}", "dim")
    if not row.mark:
        text = shortened(row.text, max(24, look.width - columns.front))
        return start + (paint(text, row.style) if row.style else text)
    call = padded(shortened(row.text, columns.call), columns.call)
    mark = shortened(row.mark, max(20, look.width - columns.front - columns.call - 1))
    return f"{start}{call} {paint(mark, row.style)}"


def _row(item: Stop | Happening, calls: dict[int, Call], look: Look) -> _Row:
    if isinstance(item, Happening):
        style = _HAPPENING_STYLE.get(item.kind, "cyan")
        return _Row("", "", escaped(item.context), f"── {escaped(item.text)}", "", style)
    call = item.call
    mark, style = _mark(item, calls)
    text = call_text(call, look.width)
    return _Row(str(call.turn), str(call.seq), escaped(call.context), text, escaped(mark), style)


def _mark(stop: Stop, calls: dict[int, Call]) -> tuple[str, str]:
    call, resolved = stop.call, stop.resolved
    if stop.role == "artefact":
        return f"  the same record as #{stop.of}", "dim"
    if stop.role == "attempt":
        return f"↻ attempt of #{stop.of}{_failure(call)}", "cyan"
    if isinstance(stop.verdict, Finding):
        return _charged(stop.verdict)
    if isinstance(stop.verdict, Acquittal) and is_repeat(stop.verdict):
        return _acquitted(stop.verdict, call, calls), "green"
    if call.status not in ("ok", "missing"):
        return f"  {_failure(call).removeprefix(': ')}", "dim"
    if resolved.effect == "write":
        targets = ", ".join(target.resource for target in resolved.writes)
        return f"✎ {targets or 'writes'}", "yellow"
    if resolved.effect == "opaque":
        return "? effect unknown", "dim"
    return "", ""


def _charged(finding: Finding) -> tuple[str, str]:
    of = f" of #{finding.first.seq}" if finding.first is not None else ""
    if finding.level == "flag":
        return f"✗ {finding.rule}{of}", "red"
    return f"! {finding.rule}{of} (advice)", "yellow"


def _acquitted(acquittal: Acquittal, call: Call, calls: dict[int, Call]) -> str:
    seqs = [seq for seq in acquittal.evidence or () if seq >= 0]
    by = f" #{seqs[-1]}" if seqs else ""
    writer = calls.get(seqs[-1]) if seqs else None
    own = writer is not None and writer.context == call.context and writer.origin == "model"
    verified = ": verification" if acquittal.reason == "written-since" and own else ""
    return f"✓ {acquittal.reason}{by}{verified}"


def _failure(call: Call) -> str:
    if call.status == "ok":
        return ""
    return f": {call.status} ({call.error})" if call.error else f": {call.status}"
