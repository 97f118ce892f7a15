"""Findings as people read them: the rule, both calls, why the first still held, what to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from refetch.model.finding import CallRef, Finding
from refetch.model.trace import MAIN
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.paint import Paint, cells, shortened_pair
from refetch.reports.text_cost import finding_cost

REMEDIES: dict[str, str] = {
    "RF001": "ask once: drop equal calls from a batch before they run",
    "RF002": "ask once: compare normalized arguments before a batch runs",
    "RF003": "use the answer that stands in context; a fresh look needs a reason",
    "RF004": "see which calls the task does not need",
    "RF005": "check that the second effect was meant",
    "RF101": "use the lines that stand in context",
    "RF102": "use the content that the other tool showed",
    "RF103": "hand the answer over instead of having it read again",
    "RF104": "wait longer between looks, or be told when it is done",
    "RF105": "change the call, or stop after the first such failure",
    "RF106": "let the error of the failed write show the text it met",
    "RF107": "fine if the user asked for a fresh look",
    "RF108": "stop the loop: the same steps gave the same answers",
    "RF109": "mend the harness; the model is not at fault",
    "RF110": "keep the result, or a note of it, when the context is shortened",
}
"""What to change, by code, in a line."""


def finding_lines(findings: Iterable[Finding], look: Look) -> Iterator[str]:
    """All findings, flags first, then by rule; each rule ends with what to change."""
    paint = Paint(look)
    ordered = sorted(findings, key=lambda f: (f.level != "flag", f.code))
    for (level, code), group in groupby(ordered, key=lambda f: (f.level, f.code)):
        rows = list(group)
        shown = rows[: look.top] if look.top else rows
        yield ""
        for finding in shown:
            yield from _one(finding, look, paint)
        if len(rows) > len(shown):
            yield paint(
                f"  … and {len(rows) - len(shown)} more of {code} (--top 0 shows all)", "dim"
            )
        remedy = REMEDIES.get(code)
        if remedy and level == "flag":
            yield paint(f"  → {remedy}", "dim")
        elif remedy:
            yield paint(f"  → advice: {remedy}", "dim")


def _one(finding: Finding, look: Look, paint: Paint) -> Iterator[str]:
    color = "red" if finding.level == "flag" else "yellow"
    about = [part for part in _about(finding) if part]
    yield paint(f"{finding.code} {finding.rule}", "bold", color) + "".join(
        f" · {escaped(part)}" for part in about
    )
    if finding.first is None or finding.repeat is None:
        if finding.calls:
            yield "  " + _call_list(finding.calls)
        return
    yield from _pair(finding, finding.first, finding.repeat, look, paint)


def _about(finding: Finding) -> Iterator[str]:
    if finding.repeat is None:
        yield finding.context if finding.context != MAIN else ""
        yield finding.message
        return
    if finding.code == "RF003" or finding.code > "RF100":
        yield finding.resource or ""
    yield _turns(finding)
    yield finding.context if finding.context != MAIN else ""
    yield "a second side effect" if finding.side_effect else ""
    yield f"blame: {finding.blame}" if finding.blame not in (None, "model") else ""
    yield finding_cost(finding)


def _turns(finding: Finding) -> str:
    first, repeat = finding.first, finding.repeat
    if first is None or repeat is None:
        return ""
    if first.context != repeat.context:
        return f"{first.context} turn {first.turn} → {repeat.context} turn {repeat.turn}"
    if first.turn == repeat.turn:
        return f"turn {repeat.turn}"
    return f"turn {first.turn} → {repeat.turn}"


def _pair(
    finding: Finding, first: CallRef, repeat: CallRef, look: Look, paint: Paint
) -> Iterator[str]:
    number = max(len(str(first.seq)), len(str(repeat.seq)))
    room = max(30, look.width - number - 5)
    one, two = shortened_pair(_key(first), _key(repeat), room)
    yield f"  {paint(f'#{first.seq:<{number}}', 'dim')} {one}"
    why = f"{finding.message} ({finding.confidence})" if finding.message else finding.confidence
    why = escaped(why)
    line = f"  {paint(f'#{repeat.seq:<{number}}', 'dim')} {two}"
    if cells(two) + cells(why) + 3 <= room:
        yield f"{line}   {paint(why, 'dim')}"
    else:
        yield line
        yield f"   {' ' * number} {paint(why, 'dim')}"
    others = [seq for seq in finding.calls or () if seq not in (first.seq, repeat.seq)]
    if others:
        yield f"   {' ' * number} {paint('together with ' + _call_list(others), 'dim')}"


def _key(ref: CallRef) -> str:
    return escaped(ref.raw_key or ref.name)


def _call_list(seqs: list[int], most: int = 12) -> str:
    shown = " ".join(f"#{seq}" for seq in seqs[:most])
    return shown if len(seqs) <= most else f"{shown} … {len(seqs)} in all"
