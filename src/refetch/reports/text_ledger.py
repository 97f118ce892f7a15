"""The repeats that were fine, by reason or one by one, and how much of the tools is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from refetch.judge.reasons import ACQUITTAL_REASONS
from refetch.model.finding import Acquittal, CallRef
from refetch.model.trace import Call, Trace
from refetch.reports.batch import Summary, repeats_by_reason
from refetch.reports.call_text import call_text
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.paint import Paint, cells

_SOURCES = {
    "shell": "shell reader",
    "record": "declared in the trace",
    "trace": "declared in the trace",
    "name": "guessed from the name",
    "unknown": "unknown",
}
_GUESSES = ("name", "unknown")
_SOURCES_SHOWN = 4


def ledger_lines(summary: Summary, look: Look) -> Iterator[str]:
    """How many repeats were fine, by reason."""
    total = sum(repeats_by_reason(summary).values())
    if not total:
        return
    yield f"repeats that were fine: {total}"
    line = " "
    parts = [f"{reason} {count}" for reason, count in repeats_by_reason(summary).items()]
    for index, part in enumerate(parts):
        piece = f" {part}" + (" ·" if index < len(parts) - 1 else "")
        if cells(line) + cells(piece) > look.width:
            yield line
            line = " "
        line += piece
    yield line + ("" if look.why else Paint(look)("     (--why lists them)", "dim"))


def recognised_line(summary: Summary) -> str:
    """Of how many calls the effect is known, and from where."""
    known: Counter[str] = Counter()
    for label, count in summary.recognised_by.items():
        if label not in _GUESSES:
            known[_source(label)] += count
    most = known.most_common(_SOURCES_SHOWN if len(known) > _SOURCES_SHOWN + 1 else None)
    sources = [f"{source} {count}" for source, count in most]
    if len(most) < len(known):
        sources.append(f"others {known.total() - sum(count for _, count in most)}")
    guessed = summary.recognised_by.get("name", 0)
    unknown = summary.recognised_by.get("unknown", 0)
    rest = [f"{guessed} guessed from the name"] if guessed else []
    rest += [f"{unknown} unknown"] if unknown else []
    line = f"tools recognised: {summary.recognised} of {summary.calls} calls"
    line += f" ({', '.join(sources)})" if sources else ""
    return line + (f"; {', '.join(rest)}" if rest else "")


def _source(label: str) -> str:
    if label.startswith("catalogue:"):
        return f"{label.removeprefix('catalogue:')} catalogue"
    return _SOURCES.get(label, label)


def acquittal_lines(acquitted: list[Acquittal], trace: Trace | None, look: Look) -> Iterator[str]:
    """Every repeat that was fine: what it repeats, why that is fine, and the proof."""
    paint = Paint(look)
    calls: dict[int, Call] = {}
    for call in trace.calls if trace is not None else ():
        calls.setdefault(call.seq, call)
    width = max(30, look.width - 24)
    for acquittal in acquitted:
        first, repeat = acquittal.first, acquittal.repeat
        reason = ACQUITTAL_REASONS[acquittal.reason]
        yield f"  #{repeat.seq} {_call(repeat, calls, width)}   turn {repeat.turn}"
        where = f"turn {first.turn}"
        if first.context != repeat.context:
            where = f"{escaped(first.context)} {where}"
        head = f"repeats #{first.seq} ({where})"
        yield f"     {head} · {paint(f'✓ {reason.name}', 'green')}: {reason.short}"
        for seq in acquittal.evidence or ():
            text = call_text(calls[seq], width) if seq in calls else "an event, not a call"
            yield f"     evidence: #{seq} {text}" if seq >= 0 else "     evidence: before all calls"
        others = [name for name in acquittal.reasons if name != acquittal.reason]
        if others:
            yield paint(f"     also: {', '.join(others)}", "dim")


def _call(ref: CallRef, calls: dict[int, Call], width: int) -> str:
    if ref.seq in calls:
        return call_text(calls[ref.seq], width)
    return escaped(ref.raw_key or ref.name)
