"""The judge on real traces: hand labels, and one verdict for every repeat."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from refetch.judge.knowledge import raw_key_of
from refetch.model import RunReport, Trace

REDUNDANT = {"exact-duplicate", "semantic-duplicate", "stale-refetch"}


@pytest.fixture(scope="module")
def flagged(judged: list[tuple[Trace, RunReport]]) -> set[tuple[str, Any]]:
    """(file, call id) and (file and index in the file, seq) of every repeat at flag level."""
    index: Counter[str] = Counter()
    found: set[tuple[str, Any]] = set()
    for trace, report in judged:
        name = Path(trace.source).name
        for finding in report.flags:
            if finding.rule in REDUNDANT and finding.repeat is not None:
                found.add((name, finding.repeat.call_id))
                found.add((f"{name} {index[name]}", finding.repeat.seq))
        index[name] += 1
    return found


def labels(shared_dir: Path) -> list[dict[str, Any]]:
    lines = (shared_dir / "gold" / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    return [label for line in lines if (label := json.loads(line))["sure"]]


def named(label: dict[str, Any]) -> tuple[str, Any]:
    name = Path(label["file"]).name
    if "repeat_id" in label:
        return name, label["repeat_id"]
    return f"{name} {label.get('trace_index', 0)}", label["repeat_seq"]


def test_no_sure_acquittal_is_flagged(shared_dir: Path, flagged: set[tuple[str, Any]]) -> None:
    wrong = [lb for lb in labels(shared_dir) if lb["verdict"] != "flag" and named(lb) in flagged]
    assert wrong == []


def test_most_sure_flags_are_found(shared_dir: Path, flagged: set[tuple[str, Any]]) -> None:
    wanted = [label for label in labels(shared_dir) if label["verdict"] == "flag"]
    found = [label for label in wanted if named(label) in flagged]
    assert len(found) >= 0.85 * len(wanted)


def test_flags_stay_rare(judged: list[tuple[Trace, RunReport]]) -> None:
    claude = [report for trace, report in judged if trace.format == "claude-code"]
    assert 0 < sum(len(report.flags) for report in claude) <= 20


def test_every_repeat_ends_in_one_verdict(judged: list[tuple[Trace, RunReport]]) -> None:
    for trace, report in judged:
        ends = Counter(f.repeat.seq for f in report.findings if f.repeat is not None)
        ends.update(a.repeat.seq for a in report.acquitted)
        assert [seq for seq, count in ends.items() if count > 1] == [], trace.source
        seen: set[tuple[str, str]] = set()
        for call in trace.calls:
            key = (call.name, raw_key_of(call))
            if key in seen:
                assert call.seq in ends, f"{trace.source}: no verdict on call {call.seq}"
            if call.has_args:
                seen.add(key)
