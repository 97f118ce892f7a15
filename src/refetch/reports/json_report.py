"""The JSON report: the document of SPEC 12, for programs. `SCHEMA` names its version."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from refetch import __version__
from refetch.cost.totals import total_of, totals_by_rule, totals_by_tool
from refetch.model.finding import Acquittal, RunReport
from refetch.reports.batch import Batch, Checked, summarize
from refetch.reports.escape import escaped_json
from refetch.reports.look import Look

SCHEMA = 1
"""Version of the document. History: 1 first version."""


def render(batch: Batch, look: Look) -> str:
    """The whole document, indented."""
    return encode(document(batch), indent=2) + "\n"


def document(batch: Batch) -> dict[str, Any]:
    """The document as plain data."""
    return {
        "refetch": __version__,
        "schema": SCHEMA,
        "traces": [trace_document(one) for one in batch.checked],
        "summary": msgspec.to_builtins(summarize(batch.checked)),
        "skipped": batch.skipped,
        "errors": msgspec.to_builtins(batch.errors),
    }


def trace_document(checked: Checked) -> dict[str, Any]:
    """One entry of `traces`."""
    report = checked.report
    return {
        "run": report.run,
        "source": report.source,
        "format": report.format,
        "turns": report.turns,
        "order": report.order,
        "calls": report.calls,
        "attempts": report.attempts,
        "counts": {"total": report.calls, "by_tool": report.by_tool},
        "recognised": report.recognised,
        "recognised_by": report.recognised_by,
        "cost": cost_document(report),
        "findings": [finding.to_dict() for finding in report.findings],
        "acquitted": [_acquittal(acquittal) for acquittal in report.acquitted],
    }


def cost_document(report: RunReport) -> dict[str, Any]:
    """What the redundant calls of a trace cost, and by rule and tool; advice is apart."""
    flags = report.flags
    return {
        "flags": msgspec.to_builtins(total_of(flags)),
        "advice": msgspec.to_builtins(total_of(report.findings, level="advice")),
        "by_rule": msgspec.to_builtins(totals_by_rule(report.findings)),
        "by_tool": msgspec.to_builtins(totals_by_tool(report.findings)),
    }


def _acquittal(acquittal: Acquittal) -> dict[str, Any]:
    out: dict[str, Any] = {
        "reason": acquittal.reason,
        "reasons": acquittal.reasons,
        "context": acquittal.context,
        "first": msgspec.to_builtins(acquittal.first),
        "repeat": msgspec.to_builtins(acquittal.repeat),
    }
    if acquittal.evidence:
        out["evidence"] = acquittal.evidence
    return out


def encode(value: Any, *, indent: int | None = None) -> str:
    """JSON text; what UTF-8 cannot hold (halves of surrogate pairs in file names) is escaped.

    So is what would act in a terminal: the value stays the same, the bytes are harmless.
    """
    try:
        data = msgspec.json.encode(value)
        text = (msgspec.json.format(data, indent=indent) if indent else data).decode()
        return escaped_json(text)
    except UnicodeEncodeError:
        return escaped_json(json.dumps(value, indent=indent))
