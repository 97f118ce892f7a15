"""The path of a run: its calls in order, with turns, contexts, attempts and marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from refetch.effects.resolve import Resolver, ToolTable
from refetch.hygiene import Step, prepare
from refetch.model.finding import Acquittal, Finding, RunReport
from refetch.model.trace import MAIN, NEVER_RAN, Call, ContextLoss, Trace, UserMessage, Write
from refetch.reports.call_text import call_text
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.paint import Paint, cells, padded, shortened

_MARK_COLUMN = 46
_MARK_SPACE = 34


class _Row(NamedTuple):
    turn: str
    seq: str
    context: str
    call: str
    mark: str
    style: str


def path_lines(
    trace: Trace, report: RunReport, look: Look, user: ToolTable | None = None
) -> Iterator[str]:
    """One line for each execution and for what else happened, in order of time."""
    rows = list(_rows(trace, report, look, user))
    paint = Paint(look)
    several = any(row.context not in ("", MAIN) for row in rows)
    seq_width = max([len(row.seq) for row in rows] + [1])
    name_width = min(14, max([cells(row.context) for row in rows] + [7])) if several else 0
    front = 7 + seq_width + 2 + (name_width + 2 if several else 0)
    longest = max([cells(row.call) for row in rows if row.mark] + [4])
    room = max(24, look.width - front - _MARK_SPACE)
    column = min(max(_MARK_COLUMN - 6, longest), room)
    head = f" turn  {padded('#', seq_width)}  " + (
        padded("context", name_width + 2) if several else ""
    )
    yield paint(head + "call", "dim")
    for row in rows:
        context = padded(shortened(row.context, name_width), name_width + 2) if several else ""
        start = f"{row.turn:>4}   {row.seq:>{seq_width}}  {context}"
        if not row.mark:
            text = shortened(row.call, max(24, look.width - front))
            yield paint(start, "dim") + (paint(text, row.style) if row.style else text)
            continue
        call = padded(shortened(row.call, column), column)
        mark = shortened(row.mark, max(20, look.width - front - column - 1))
        yield f"{paint(start, 'dim')}{call} {paint(mark, row.style)}"


def _rows(trace: Trace, report: RunReport, look: Look, user: ToolTable | None) -> Iterator[_Row]:
    verdicts: dict[int, Finding | Acquittal] = {a.repeat.seq: a for a in report.acquitted}
    verdicts.update((f.repeat.seq, f) for f in report.findings if f.repeat is not None)
    calls = {call.seq: call for call in trace.calls}
    resolver = Resolver(trace, user)
    for step in prepare(trace).steps:
        event = step.event
        if type(event) is Call:
            mark, style = _mark(event, step, verdicts, calls, resolver)
            yield _Row(
                str(event.turn),
                str(event.seq),
                escaped(event.context),
                call_text(event, look.width),
                escaped(mark),
                style,
            )
        elif type(event) is UserMessage:
            yield _Row("", "", escaped(event.context), "── the user speaks", "", "cyan")
        elif type(event) is ContextLoss:
            what = "everything so far" if event.lost is None else f"{len(event.lost)} results"
            text = f"── {event.kind}: {what} left the context"
            yield _Row("", "", escaped(event.context), text, "", "cyan")
        elif type(event) is Write:
            text = escaped(f"── {event.by} writes {event.scope}")
            yield _Row("", "", "", text, "", "yellow")


def _mark(
    call: Call,
    step: Step,
    verdicts: dict[int, Finding | Acquittal],
    calls: dict[int, Call],
    resolver: Resolver,
) -> tuple[str, str]:
    first = step.of.seq if step.of is not None else call.seq
    if step.role == "artefact":
        return f"  written twice: the same record as #{first}", "dim"
    verdict = verdicts.get(first) if step.role != "attempt" else None
    if isinstance(verdict, Finding):
        return _charged(verdict)
    if step.role == "attempt":
        return f"↻ another attempt of #{first}{_outcome(call)}", "cyan"
    if isinstance(verdict, Acquittal):
        return _acquitted(verdict, call, calls), "green"
    if call.status not in ("ok", "missing"):
        return f"  {_outcome(call).strip(': ')}", "dim"
    resolved = resolver.resolve(call)
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


def _outcome(call: Call) -> str:
    if call.status == "ok":
        return ""
    error = f" ({call.error})" if call.error and call.status not in NEVER_RAN else ""
    return f": {call.status}{error}"
