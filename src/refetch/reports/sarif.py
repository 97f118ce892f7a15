"""SARIF 2.1.0: findings as results, for code scanning services.

A result's location is the call that repeats, in the trace file at its line where the format has
lines; the call that it repeats is a related location. The fingerprint names rule, tool, arguments
and place in the order of equal findings, so that it stays the same from run to run.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from refetch import __version__
from refetch.judge.rules.registry import RULES
from refetch.model.finding import CallRef, Finding
from refetch.reports.batch import Batch
from refetch.reports.escape import escaped
from refetch.reports.fingerprints import numbered
from refetch.reports.json_report import encode
from refetch.reports.look import Look
from refetch.reports.wording import sentence, title

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"flag": "error", "advice": "note"}


def render(batch: Batch, look: Look) -> str:
    """The whole log."""
    results = [
        _result(finding, one.report.source, name) for name, one, finding in numbered(batch.checked)
    ]
    driver = {
        "name": "refetch",
        "semanticVersion": __version__,
        "rules": [_rule(index) for index in range(len(RULES))],
    }
    invocation = {
        "executionSuccessful": not batch.errors,
        "toolExecutionNotifications": [
            {
                "level": "error",
                "message": {"text": escaped(problem.message)},
                "locations": [_location(problem.source, problem.line, problem.path)],
            }
            for problem in batch.errors
        ],
    }
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
    return encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(index: int) -> dict[str, Any]:
    rule = RULES[index]
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": title(rule)},
        "fullDescription": {"text": rule.doc.strip().split("\n## ")[0]},
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
    }


def _result(finding: Finding, source: str, name: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": next(i for i, rule in enumerate(RULES) if rule.code == finding.code),
        "level": _LEVELS[finding.level],
        "message": {"text": sentence(finding)},
        "locations": [_place(finding.repeat, source)],
        "partialFingerprints": {"refetch/v1": name},
    }
    if finding.first is not None:
        related = _place(finding.first, source)
        result["relatedLocations"] = [{**related, "message": {"text": "what it repeats"}}]
    return result


def _place(ref: CallRef | None, source: str) -> dict[str, Any]:
    location = ref.location if ref is not None else None
    line = location.line if location is not None else None
    return _location(source, line, location.path if location is not None else None)


def _location(source: str, line: int | None, path: str | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(source)}}
    if line is not None:
        place["region"] = {"startLine": line}
    found: dict[str, Any] = {"physicalLocation": place}
    if path is not None:
        found["logicalLocations"] = [{"fullyQualifiedName": escaped(path), "kind": "element"}]
    return found


def _uri(source: str) -> str:
    path = PurePath(source).as_posix()
    encoded = quote(path.encode("utf-8", "surrogateescape"), safe="/:" if ":/" in path[:3] else "/")
    return f"file://{encoded}" if path.startswith("/") else encoded
