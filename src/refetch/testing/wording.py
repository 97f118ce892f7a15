"""What a failing test says about tool calls: the answer, each pair, the counts, how to act."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from refetch.model.finding import CallRef, Finding, RunReport
from refetch.model.trace import MAIN
from refetch.replay.fixtures import Expected
from refetch.replay.replaying import ReplayResult
from refetch.reports.escape import escaped

SHOWN = 20
"""Findings, and tools, that a text shows before it only counts the rest."""

_LIMITS = (60, 400)
"""Characters of an argument that are shown; the second where the first would hide a difference."""

Row = tuple[str, Sequence[str]]

_arguments = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def call_text(call: CallRef, limit: int = _LIMITS[0]) -> str:
    """A call as people write it, `read_file(path="config.json")`; values exactly as they were sent.

    `limit`: characters of an argument that are shown.
    """
    sent = call.raw_key.removeprefix(f"{call.name}(").removesuffix(")")
    try:
        named = [
            f"{escaped(name)}={_short(bytes(value).decode(), limit)}"
            for name, value in _arguments(sent.encode()).items()
        ]
    except (msgspec.MsgspecError, UnicodeError):
        named = [_short(sent, limit * 2)]
    return f"{escaped(call.name)}({', '.join(named)})"


def _short(text: str, limit: int) -> str:
    shown = escaped(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def headline(findings: Iterable[Finding]) -> str:
    """The answer in one line: `1 redundant call, and 9 calls for a budget of 5`."""
    findings = list(findings)
    pairs = sum(f.level == "flag" and f.repeat is not None for f in findings)
    advice = sum(f.level != "flag" for f in findings)
    parts = [f"{_count(pairs, 'redundant call')}"] if pairs else []
    parts += [f"{_count(advice, 'finding')} at advice level"] if advice else []
    parts += [_over(f) for f in findings if f.limit is not None]
    *rest, last = parts or ["nothing redundant"]
    return f"{', '.join(rest)}, and {last}" if rest else last


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _over(finding: Finding) -> str:
    made = _count(int(finding.actual or 0), "call")
    of_tool = "" if finding.kind is None else f" of {escaped(finding.kind)}"
    return f"{made}{of_tool} for a budget of {finding.limit:g}"


def pair_lines(finding: Finding) -> list[str]:
    """A finding in two or three lines: the repeat, the earlier call if it reads otherwise, why."""
    if finding.repeat is None:
        return [escaped(finding.message)]
    first, repeat = finding.first, finding.repeat
    lines = [f"{_when(repeat)}: {call_text(repeat)}"]
    if first is not None and (first.raw_key, first.context) != (repeat.raw_key, repeat.context):
        lines = _told_apart(first, repeat)
    return [*lines, escaped(finding.message)] if finding.message else lines


def _told_apart(first: CallRef, repeat: CallRef) -> list[str]:
    for limit in _LIMITS:
        earlier, later = call_text(first, limit), call_text(repeat, limit)
        if earlier != later:
            break
    return [f"{_when(repeat)}: {later}", f"{_when(first)}: {earlier}, the earlier call"]


def _when(call: CallRef) -> str:
    where = "" if call.context == MAIN else f" of {escaped(call.context)}"
    return f"turn {call.turn}{where}"


def failure_text(report: RunReport, findings: Sequence[Finding]) -> str:
    """Why a run fails: the headline, each pair, and the calls by tool.

    `findings`: those of the report that count.
    """
    pairs = [f for f in findings if f.limit is None]
    rows: list[Row] = [(_label(f), pair_lines(f)) for f in pairs[:SHOWN]]
    if len(pairs) > SHOWN:
        rows.append(("…", [f"and {len(pairs) - SHOWN} more"]))
    limits = {f.kind: f.limit for f in findings if f.kind is not None and f.limit is not None}
    rows.append(("calls", [counts_text(report.by_tool, limits)]))
    return "\n".join([headline(findings), *_columns(rows)])


def _label(finding: Finding) -> str:
    return finding.rule if finding.level == "flag" else f"{finding.rule} ({finding.level})"


def counts_text(by_tool: Mapping[str, int], limits: Mapping[str, float] | None = None) -> str:
    """`search 2, read_file 4 (budget 2)`; `limits`: the ceilings that were exceeded, by tool."""
    limits = limits or {}
    shown = [
        f"{escaped(name)} {count}" + (f" (budget {limits[name]:g})" if name in limits else "")
        for name, count in by_tool.items()
    ]
    rest = len(shown) - SHOWN
    return ", ".join(shown[:SHOWN] + ([f"and {_count(rest, 'tool')} more"] if rest > 0 else []))


def _columns(rows: Iterable[Row], indent: str = "  ") -> list[str]:
    rows = list(rows)
    width = max(len(label) for label, _ in rows)
    return [
        f"{indent}{label if not index else '':{width}}  {line}".rstrip()
        for label, lines in rows
        for index, line in enumerate(lines)
    ]


def finding_line(finding: Finding) -> str:
    """A finding as one line that starts with its code, for properties of a test."""
    level = "" if finding.level == "flag" else f" ({finding.level})"
    return f"{finding.code} {finding.rule}{level}: {'; '.join(pair_lines(finding))}"


def replay_text(result: ReplayResult, source: str) -> str:
    """How the findings of a replayed fixture differ from what it expects.

    `source`: the fixture's file as people name it.
    """
    told = [("new", len(result.new)), ("vanished", len(result.vanished))]
    head = ", ".join(f"{_count(n, 'finding')} {what}" for what, n in told if n)
    rows: list[Row] = []
    for finding in result.new[:SHOWN]:
        line, *more = pair_lines(finding)
        rows.append(("new", [f"{finding.code} {_label(finding)}, {line}", *more]))
    rows += [("vanished", [_expected_line(item)]) for item in result.vanished[:SHOWN]]
    rest = sum(max(0, n - SHOWN) for _, n in told)
    rows += [("…", [f"and {rest} more"])] if rest else []
    return "\n".join([f"{source}: {head}", *_columns(rows)])


def _expected_line(item: Expected) -> str:
    calls = [item.first, item.repeat] if item.repeat is not None else item.calls or []
    places = " and ".join(f"#{seq}" for seq in calls if seq is not None)
    said = [escaped(f"{item.code} {item.rule or ''}".strip())]
    said += [f"calls {places}"] if places else []
    said += [_short(item.call, _LIMITS[0] * 2)] if item.call else []
    return ", ".join(said)
