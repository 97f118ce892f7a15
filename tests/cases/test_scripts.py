"""Cases by rule, and traps: traces in which an engine that is too eager accuses falsely."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.cases.scripts import read_scripts, trace_of

from refetch.api import check
from refetch.effects.resolve import arguments
from refetch.judge.rules.registry import RULES
from refetch.keys import normalized_key
from refetch.model import Trace

HERE = Path(__file__).parent
BY_RULE = read_scripts(HERE / "rules.toml")
TRAPS = read_scripts(HERE / "traps.toml")
EVERY = [*BY_RULE, *TRAPS]
OF_THE_RUN = ("RF004", "RF108")
"""Rules that name no pair of calls."""


def found(case: dict[str, Any]) -> list[str]:
    """What the judge says, as `CODE level first->repeat` (`CODE level` for the run as a whole)."""
    report = check(trace_of(case["trace"], case.get("tools")), **case.get("options", {}))
    said = []
    for finding in report.findings:
        pair = ""
        if finding.code not in OF_THE_RUN and finding.first and finding.repeat:
            pair = f" {finding.first.seq}->{finding.repeat.seq}"
        said.append(f"{finding.code} {finding.level}{pair}")
    return said


@pytest.mark.parametrize("case", EVERY, ids=[case["id"] for case in EVERY])
def test_the_judge_says_exactly_what_the_case_says(case: dict[str, Any]) -> None:
    assert sorted(found(case)) == sorted(case.get("finds", []))


WITH_REASON = [case for case in EVERY if "why" in case]


@pytest.mark.parametrize("case", WITH_REASON, ids=[case["id"] for case in WITH_REASON])
def test_the_repeat_is_acquitted_for_the_reason_given(case: dict[str, Any]) -> None:
    report = check(trace_of(case["trace"], case.get("tools")))
    last = max((a for a in report.acquitted), key=lambda a: a.repeat.seq)
    assert last.reason == case["why"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_each_rule_has_enough_cases(rule: Any) -> None:
    """Three that it must report and six that it must not, in the section of its name."""
    must = Counter(
        any(said.startswith(rule.code) for said in case.get("finds", []))
        for case in BY_RULE
        if case["group"] == rule.code
    )
    assert must[True] >= 3, f"{rule.code}: {must[True]} cases that must be reported"
    assert must[False] >= 6, f"{rule.code}: {must[False]} cases that must not be reported"


def eager(trace: Trace) -> bool:
    """An engine that knows neither effects nor time: a thing asked for twice is a duplicate."""
    requests: set[str] = set()
    things: set[tuple[str, str]] = set()
    for call in trace.calls:
        args = arguments(call)
        request = normalized_key(call.name, args)
        thing = {(k, str(v)) for k, v in (args or {}).items() if k in ("p", "id", "u", "command")}
        if request in requests or thing & things:
            return True
        requests.add(request)
        things |= thing
    return False


@pytest.mark.parametrize("case", TRAPS, ids=[case["id"] for case in TRAPS])
def test_each_trap_catches_an_eager_engine_and_not_this_one(case: dict[str, Any]) -> None:
    assert eager(trace_of(case["trace"], case.get("tools")))
    assert not [said for said in case.get("finds", []) if " flag" in said]


def test_there_are_sixty_traps() -> None:
    assert len(TRAPS) >= 60
    assert len({case["id"] for case in EVERY}) == len(EVERY)
