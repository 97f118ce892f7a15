"""What the page shows, as plain data: tested without a browser."""

from __future__ import annotations

from typing import Any

import msgspec

from refetch import __version__
from refetch.effects.resolve import ToolTable
from refetch.judge.reasons import ACQUITTAL_REASONS
from refetch.judge.rules.registry import RULES
from refetch.model.finding import Acquittal, Finding
from refetch.model.trace import Call
from refetch.reports.batch import Batch, Checked, repeats_by_reason, summarize
from refetch.reports.escape import escaped
from refetch.reports.path import Happening, Stop, path
from refetch.reports.text_cost import cost_line, finding_cost
from refetch.reports.text_findings import REMEDIES
from refetch.reports.text_header import percent
from refetch.reports.wording import title

LONGEST = 4000
"""Characters of arguments that the page carries."""


def page_data(batch: Batch) -> dict[str, Any]:
    """Everything that the page shows.

    `calls` rows are [seq, turn, context, tool, arguments, outcome, effect, characters of the
    result, verdict], where context is an index into `contexts` and verdict -1 or an index into
    `verdicts`; `marks` are [place among the calls, kind, context, text].
    """
    summary = summarize(batch.checked)
    share = f" ({percent(summary.redundant, summary.calls)})" if summary.redundant else ""
    cost = cost_line(f for one in batch.checked for f in one.report.findings)
    return {
        "version": __version__,
        "answer": f"{summary.redundant} redundant of {summary.calls} calls{share}",
        "figures": {
            "calls": summary.calls,
            "redundant": summary.redundant,
            "advice": summary.advice,
            "traces": summary.traces,
        },
        "cost": cost,
        "fine": repeats_by_reason(summary),
        "rules": {rule.code: [rule.name, title(rule)] for rule in RULES},
        "reasons": {name: reason.short for name, reason in ACQUITTAL_REASONS.items()},
        "remedies": REMEDIES,
        "errors": [
            escaped(f"{p.source}{f':{p.line}' if p.line else ''}: {p.message}")
            for p in batch.errors
        ],
        "traces": [_trace(one, batch.user) for one in batch.checked],
    }


def _trace(one: Checked, user: ToolTable | None) -> dict[str, Any]:
    report = one.report
    contexts: dict[str, int] = {}
    calls: list[list[Any]] = []
    marks: list[list[Any]] = []
    verdicts: list[dict[str, Any]] = []
    for item in path(one.trace, report, user) if one.trace is not None else ():
        if isinstance(item, Happening):
            marks.append([len(calls), item.kind, escaped(item.context), escaped(item.text)])
            continue
        context = contexts.setdefault(item.call.context, len(contexts))
        calls.append(_call(item, context, verdicts))
    verdicts += [_verdict(finding) for finding in report.findings if finding.repeat is None]
    return {
        "run": escaped(report.run),
        "source": escaped(report.source),
        "format": report.format,
        "model": escaped(report.model or ""),
        "contexts": [escaped(name) for name in contexts],
        "calls": calls,
        "marks": marks,
        "verdicts": verdicts,
        "recognised": [report.recognised, report.calls],
    }


def _call(stop: Stop, context: int, verdicts: list[dict[str, Any]]) -> list[Any]:
    call, place = stop.call, -1
    if stop.verdict is not None:
        place = len(verdicts)
        verdicts.append(_verdict(stop.verdict))
    return [
        call.seq, call.turn, context, escaped(call.name), _arguments(call),
        call.status if stop.role != "attempt" else f"{call.status}, retry of #{stop.of}",
        stop.resolved.effect, call.result_chars or len(bytes(call.result)), place,
    ]  # fmt: skip


def _arguments(call: Call) -> str:
    sent = bytes(call.args).decode("utf-8", "replace") or call.raw_args or ""
    text = escaped(sent, keep_newlines=True)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _verdict(verdict: Finding | Acquittal) -> dict[str, Any]:
    if isinstance(verdict, Acquittal):
        return {
            "kind": "fine",
            "code": verdict.reason,
            "reasons": verdict.reasons,
            "first": verdict.first.seq,
            "repeat": verdict.repeat.seq,
            "evidence": verdict.evidence or [],
        }
    out: dict[str, Any] = {
        "kind": verdict.level,
        "code": verdict.code,
        "first": verdict.first.seq if verdict.first is not None else None,
        "repeat": verdict.repeat.seq if verdict.repeat is not None else None,
        "evidence": verdict.evidence or [],
        "message": escaped(verdict.message),
        "confidence": verdict.confidence,
        "resource": escaped(verdict.resource or ""),
        "cost": finding_cost(verdict),
        "equal_by": verdict.equal_by or [],
        "calls": verdict.calls or [],
    }
    return msgspec.to_builtins(out)  # type: ignore[no-any-return]
