"""The judge against the slow oracle on thousands of random traces, and its accounting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import Phase, given, settings
from tests.oracle.facts import hygiene
from tests.oracle.oracle import judge
from tests.oracle.strategies import as_native, random_trace, shrink, traces

from refetch.api import check
from refetch.model import RunReport, Trace

TRACES = 10_000
SLICES = 40
RUN_LEVEL = frozenset(("RF004", "RF108"))

Found = set[tuple[str, str, int, int]]


def from_judge(report: RunReport) -> Found:
    """(code, level, first, repeat) of the call-level findings."""
    return {
        (f.code, f.level, f.first.seq, f.repeat.seq)
        for f in report.findings
        if f.first is not None and f.repeat is not None and f.code not in RUN_LEVEL
    }


def from_oracle(trace: Trace) -> Found:
    """The same from the oracle."""
    return {(v.code, v.level, v.first, v.repeat) for v in judge(trace).values() if v.level}


def differs(trace: Trace) -> bool:
    return from_judge(check(trace)) != from_oracle(trace)


def explain(trace: Trace) -> str:
    """The smallest trace that still shows the difference, and both answers."""
    small = shrink(trace, differs)
    ours, theirs = from_oracle(small), from_judge(check(small))
    return f"{as_native(small)}oracle alone: {ours - theirs}\njudge alone:  {theirs - ours}"


def flagged(found: Found) -> set[int]:
    """The calls that are accused at flag level."""
    return {repeat for _, level, _, repeat in found if level == "flag"}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
def test_the_judge_accuses_nobody_whom_the_definition_spares(part: int) -> None:
    for seed in seeds(part):
        trace = random_trace(seed)
        if flagged(from_judge(check(trace))) - flagged(from_oracle(trace)):
            pytest.fail(f"seed {seed}\n{explain(trace)}")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
def test_the_judge_says_what_the_definition_says(part: int) -> None:
    different = [seed for seed in seeds(part) if differs(random_trace(seed))]
    if different:
        pytest.fail(f"seeds {different}\n{explain(random_trace(different[0]))}")


def seeds(part: int) -> range:
    size = TRACES // SLICES
    return range(part * size, (part + 1) * size)


def comparable(trace: Trace) -> set[int]:
    """Calls with an earlier call of the same key, or an earlier read of their resource."""
    calls, _ = hygiene(trace)
    return {
        j.seq
        for at, j in enumerate(calls)
        if any(
            (i.key is not None and i.key == j.key)
            or (i.effect in ("read", "pure") and i.resources & j.resources)
            for i in calls[:at]
        )
    }


def unaccounted(trace: Trace) -> str | None:
    """What is wrong with the accounting of one trace, if anything."""
    report = check(trace)
    found = [repeat for _, _, _, repeat in from_judge(report)]
    ends = found + [a.repeat.seq for a in report.acquitted]
    twice = sorted({end for end in ends if ends.count(end) > 1})
    silent = sorted(comparable(trace) - set(ends))
    if twice:
        return f"more than one verdict on {twice}"
    return f"no verdict on {silent}" if silent else None


def backwards(trace: Trace) -> str | None:
    """A pair whose earlier call is not earlier, if any."""
    report = check(trace)
    pairs = [(first, repeat) for _, _, first, repeat in from_judge(report)]
    pairs += [(a.first.seq, a.repeat.seq) for a in report.acquitted]
    wrong = [pair for pair in pairs if pair[0] >= pair[1]]
    return f"first does not stand before repeat: {wrong}" if wrong else None


@pytest.mark.parametrize("wrong", [unaccounted, backwards])
def test_the_ledger_of_every_random_trace(wrong: Callable[[Trace], str | None]) -> None:
    for seed in range(TRACES // SLICES * 4):
        trace = random_trace(seed)
        if wrong(trace):
            small = shrink(trace, lambda fewer: wrong(fewer) is not None)
            pytest.fail(f"seed {seed}\n{as_native(small)}{wrong(small)}")


@settings(max_examples=50, phases=(Phase.generate,))
@given(traces())
def test_the_same_trace_gets_the_same_verdicts(trace: Trace) -> None:
    assert check(trace) == check(trace)
