"""The JSON report against the shape of SPEC 12."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.runner import EXAMPLES, document, run

import refetch
from refetch.model.trace import Problem
from refetch.reports.batch import Batch
from refetch.reports.json_report import encode, render
from refetch.reports.look import Look

SOURCES = ("sloppy", "well-behaved", "transient-retry", *sorted(map(str, EXAMPLES.iterdir())))
TRACE_KEYS = set(
    "run source format turns order calls attempts counts cost findings acquitted "
    "recognised recognised_by".split()
)
FINDING_KEYS = set(
    "code rule level confidence kind context resource equal_by metadata_from blame side_effect "
    "first repeat calls limit actual message evidence cost".split()
)
REF_KEYS = set("seq turn name call_id raw_key resource context location".split())


@pytest.fixture(scope="module")
def report() -> Any:
    return document("check", "--format", "json", "--budget", 3, *SOURCES)


def test_the_document(report: Any) -> None:
    assert list(report) == ["refetch", "schema", "traces", "summary", "skipped", "errors"]
    assert report["refetch"] == refetch.__version__
    assert report["schema"] == 1
    assert (report["skipped"], report["errors"]) == (0, [])


def test_traces_are_in_the_order_of_the_arguments(report: Any) -> None:
    assert sorted(t["source"] for t in report["traces"]) == sorted(SOURCES)
    sources = [t["source"] for t in report["traces"] if t["source"].startswith("/")]
    assert sources == [s for s in SOURCES if s.startswith("/")]


def test_each_trace(report: Any) -> None:
    for trace in report["traces"]:
        assert set(trace) == TRACE_KEYS
        assert (
            trace["counts"]["total"] == trace["calls"] == sum(trace["counts"]["by_tool"].values())
        )
        assert trace["attempts"] >= trace["calls"] - 1


def test_each_finding(report: Any) -> None:
    found = [finding for trace in report["traces"] for finding in trace["findings"]]
    assert {"RF001", "RF002", "RF003", "RF004", "RF103", "RF110"} <= {f["code"] for f in found}
    for finding in found:
        assert set(finding) <= FINDING_KEYS
        assert {"code", "rule", "level", "confidence", "context", "message"} <= set(finding)
        assert finding["level"] in ("flag", "advice")
        assert finding["confidence"] in ("proven", "declared", "inferred")
        if finding["code"] == "RF004":
            assert finding["actual"] > finding["limit"]
            continue
        for ref in (finding["first"], finding["repeat"]):
            assert {"seq", "turn", "name", "raw_key"} <= set(ref) <= REF_KEYS


def test_each_acquittal(report: Any) -> None:
    for trace in report["traces"]:
        for acquittal in trace["acquitted"]:
            assert {"reason", "reasons", "context", "first", "repeat"} <= set(acquittal)
            assert acquittal["reason"] == acquittal["reasons"][0]
            for ref in (acquittal["first"], acquittal["repeat"]):
                assert ref["raw_key"].startswith(ref["name"] + "(")


def test_a_location_is_a_line_of_the_file(report: Any) -> None:
    path = EXAMPLES / "timeout-session.jsonl"
    (trace,) = [t for t in report["traces"] if t["source"] == str(path)]
    (finding,) = [f for f in trace["findings"] if f["code"] == "RF003"]
    line = finding["repeat"]["location"]["line"]
    assert finding["repeat"]["call_id"] in path.read_text().splitlines()[line - 1]


def test_no_call_has_two_verdicts(report: Any) -> None:
    for trace in report["traces"]:
        verdicts: dict[int, int] = defaultdict(int)
        for verdict in (*trace["findings"], *trace["acquitted"]):
            if "repeat" in verdict:
                verdicts[verdict["repeat"]["seq"]] += 1
        assert all(count == 1 for count in verdicts.values())


def test_the_summary_adds_up(report: Any) -> None:
    summary, traces = report["summary"], report["traces"]
    findings = [finding for trace in traces for finding in trace["findings"]]
    assert summary["traces"] == len(traces)
    assert summary["calls"] == sum(trace["calls"] for trace in traces)
    assert summary["flags"] == sum(finding["level"] == "flag" for finding in findings)
    assert summary["flags"] + summary["advice"] == len(findings)
    assert sum(summary["by_rule"].values()) == len(findings)
    assert sum(summary["acquitted"].values()) == sum(len(t["acquitted"]) for t in traces)
    budgets = sum(finding["code"] == "RF004" for finding in findings)
    assert summary["redundant"] == summary["flags"] - budgets


def test_jsonl_is_the_same_in_lines(report: Any) -> None:
    lines = run("check", "--format", "jsonl", "--budget", 3, *SOURCES).stdout.splitlines()
    *traces, rest = map(json.loads, lines)
    assert traces == report["traces"]
    assert rest == {key: value for key, value in report.items() if key != "traces"}


def test_errors_are_listed_without_empty_fields() -> None:
    problem = Problem("x.jsonl", "broken", line=3, path="$.a")
    found = json.loads(render(Batch(errors=[problem]), Look()))
    assert found["errors"] == [{"source": "x.jsonl", "message": "broken", "line": 3, "path": "$.a"}]


def test_text_that_utf_8_cannot_hold() -> None:
    assert json.loads(encode({"a": "\udcff"})) == {"a": "\udcff"}


def test_labels_of_real_traces_can_be_scored(shared_dir: Path) -> None:
    folder = shared_dir / "traces" / "inspect-ai"
    found = document("check", "--format", "json", folder)
    for trace in found["traces"]:
        assert Path(trace["source"].split("#")[0].split("::")[0]).parent == folder
        for finding in trace["findings"]:
            assert finding["level"]
            assert finding["rule"]
            assert "repeat" not in finding or isinstance(finding["repeat"]["seq"], int)
