"""Traps with the tools of real harnesses, and what each would be without the thing that guards it.

A line of `traps.jsonl` is a case as in `cases.jsonl`, plus `theme`, `why` (what the eager engine
overlooks), `harness` and `tools` (header fields of the trace), `annotations` (what an MCP server
hints, handed over as a user's table is), `acquitted` (the reason given for the last repeat) and
`advice` (codes that are fair all the same). `T001-guilty` is `T001` with its guard removed: there
the judge must flag, so that one which never flags does not pass.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from refetch.api import check
from refetch.effects.mcp import meta_from_annotations
from refetch.effects.resolve import arguments
from refetch.effects.user_tables import UserTools
from refetch.keys import normalized_key
from refetch.model import Finding, RunReport, Trace
from refetch.testing.cases import flags_of, read_cases, score, translate

CASES = read_cases(Path(__file__).with_name("traps.jsonl"))
TRAPS = [case for case in CASES if not case["expect"]]
GUILTY = [case for case in CASES if case["expect"]]
PATHS = ("file_path", "path")


def trace_of(case: dict[str, Any]) -> Trace:
    """The case as a trace, under its harness and with its header's tools."""
    trace = translate(case)
    tools = {**trace.tools, **case.get("tools", {})}
    return msgspec.structs.replace(trace, harness=case.get("harness"), tools=tools)


def hints_of(annotations: dict[str, Any]) -> UserTools:
    """What servers' annotations say of their tools."""
    hints = {
        name: meta_from_annotations({"name": name, "annotations": said})
        for name, said in annotations.items()
    }
    return UserTools({}, "none", hints)


def judge(case: dict[str, Any]) -> RunReport:
    return check(trace_of(case), user=hints_of(case.get("annotations", {})))


def named(cases: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case["id"] for case in cases])


def eager(trace: Trace) -> bool:
    """The same name and normalized arguments, or one path read twice, is a repeat to this engine.

    It takes paths for the same that differ only in letter case, slashes or a leading part.
    """
    requests: set[str] = set()
    paths: list[str] = []
    for call in trace.calls:
        args = arguments(call)
        request = normalized_key(call.name, args)
        if request in requests:
            return True
        requests.add(request)
        if call.name in ("Edit", "Write"):
            continue
        for path in (str(args[name]) for name in PATHS if args and name in args):
            plain = "/" + path.replace("\\", "/").casefold().lstrip("/")
            if any(plain.endswith(other) or other.endswith(plain) for other in paths):
                return True
            paths.append(plain)
    return False


def never(trace: Trace) -> list[Finding]:
    """A judge that flags nothing."""
    return []


@named(TRAPS)
def test_the_judge_accuses_nobody_in_a_trap(case: dict[str, Any]) -> None:
    report = judge(case)
    assert not [f for f in report.findings if f.level == "flag"], case["why"]
    assert {f.code for f in report.findings} == set(case.get("advice", [])), case["why"]


@named([case for case in TRAPS if "acquitted" in case])
def test_the_last_repeat_is_acquitted_for_the_reason_given(case: dict[str, Any]) -> None:
    report = judge(case)
    assert report.acquitted, case["why"]
    last = max(report.acquitted, key=lambda a: a.repeat.seq)
    assert last.reason == case["acquitted"], case["why"]


@named(TRAPS)
def test_an_eager_engine_falls_into_every_trap(case: dict[str, Any]) -> None:
    assert eager(trace_of(case)), case["why"]


@named(GUILTY)
def test_without_its_guard_the_repeat_is_flagged(case: dict[str, Any]) -> None:
    result = score([case], lambda _: judge(case))
    assert not result.misses, f"{case['why']}\n{result.to_text()}"
    assert len(flags_of(judge(case))) == len(case["expect"])


@named(GUILTY)
def test_each_guilty_case_stands_beside_its_trap(case: dict[str, Any]) -> None:
    trap = next(other for other in TRAPS if other["id"] == case["id"].removesuffix("-guilty"))
    assert case["theme"] == trap["theme"]
    assert case["trace"] != trap["trace"] or case.get("events") != trap.get("events")


def test_a_judge_that_never_flags_fails_all_of_them() -> None:
    assert score(GUILTY, never).recall == 0


def test_the_file_is_sorted_and_large_enough() -> None:
    ids = [case["id"] for case in CASES]
    assert ids == sorted(set(ids))
    assert len(TRAPS) >= 60
    assert len(GUILTY) >= 20
    assert all(case["why"] for case in CASES)
