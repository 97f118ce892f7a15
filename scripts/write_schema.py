"""Writes docs/report.schema.json: the shape of `refetch check --format json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from refetch.cost.totals import Total
from refetch.model.finding import CallRef, Finding
from refetch.model.trace import Problem
from refetch.reports.batch import Summary
from refetch.reports.json_report import SCHEMA

PAGE = Path(__file__).resolve().parent.parent / "docs" / "report.schema.json"


class _Acquittal(msgspec.Struct):
    reason: str
    reasons: list[str]
    context: str
    first: CallRef
    repeat: CallRef
    evidence: list[int] | None = None


class _Counts(msgspec.Struct):
    total: int
    by_tool: dict[str, int]


class _Cost(msgspec.Struct):
    flags: Total
    advice: Total
    by_rule: dict[str, Total]
    by_tool: dict[str, Total]


class _Trace(msgspec.Struct):
    run: str
    source: str
    format: str
    turns: str
    order: str
    calls: int
    attempts: int
    counts: _Counts
    recognised: int
    recognised_by: dict[str, int]
    cost: _Cost
    findings: list[Finding]
    acquitted: list[_Acquittal]


class _Report(msgspec.Struct):
    refetch: str
    schema: int
    traces: list[_Trace]
    summary: Summary
    skipped: int
    errors: list[Problem]


def page() -> str:
    """The schema as text."""
    (whole,), parts = msgspec.json.schema_components([_Report], ref_template="#/$defs/{name}")
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"refetch report, schema {SCHEMA}",
        **whole,
        "$defs": {name.lstrip("_"): part for name, part in parts.items()},
    }
    text = json.dumps(schema, indent=1, sort_keys=True)
    return text.replace("#/$defs/_", "#/$defs/") + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
