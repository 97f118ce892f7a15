"""What a finding looks like to machines."""

from __future__ import annotations

import msgspec

from refetch.model.finding import REASONS, Acquittal, CallRef, Finding, RunReport

FIRST, REPEAT = CallRef(0, 1, "get", "a"), CallRef(3, 2, "get", "b")


def test_level_confidence_and_context_are_always_written() -> None:
    for level in ("flag", "advice"):
        out = Finding("RF003", "stale-refetch", level, first=FIRST, repeat=REPEAT).to_dict()
        assert (out["level"], out["confidence"], out["context"]) == (level, "declared", "main")


def test_the_text_does_not_depend_on_where_a_name_came_from() -> None:
    copied = "".join(["ma", "in"])
    plain = CallRef(0, 1, "x")
    for context in (copied, "main"):
        assert msgspec.json.encode(CallRef(0, 1, "x", context=context)) == msgspec.json.encode(
            plain
        )
    assert b'"context":"child"' in msgspec.json.encode(CallRef(0, 1, "x", context="child"))


def test_flags_are_the_findings_that_fail() -> None:
    findings = [Finding("RF003", "a", "flag"), Finding("RF101", "b", "advice")]
    report = RunReport("r", "f", "native", "recorded", "recorded", 1, 1, {}, findings, [])
    assert [finding.code for finding in report.flags] == ["RF003"]


def test_findings_survive_a_round_trip() -> None:
    finding = Finding("RF003", "stale-refetch", "flag", first=FIRST, repeat=REPEAT, evidence=[1])
    assert msgspec.convert(finding.to_dict(), Finding) == finding
    acquittal = Acquittal("written-since", ["written-since"], "main", FIRST, REPEAT, [2])
    assert msgspec.json.decode(msgspec.json.encode(acquittal), type=Acquittal) == acquittal


def test_reasons_are_a_closed_list_without_doubles() -> None:
    assert len(REASONS) == len(set(REASONS))
    assert {"written-since", "result-changed", "harness-retry", "recorder-artefact"} <= set(REASONS)
