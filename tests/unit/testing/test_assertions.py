"""`assert_no_redundant_calls` without a test runner."""

from __future__ import annotations

import pickle

import pytest

from refetch.model.errors import UsageError
from refetch.model.trace import Trace
from refetch.record import ToolTracer
from refetch.replay import run_fixture
from refetch.testing import RedundantCalls, assert_no_redundant_calls
from refetch.testing.assertions import rule_codes, trace_of


def test_sloppy_fails_with_its_findings() -> None:
    run = run_fixture("sloppy")
    with pytest.raises(AssertionError) as caught:
        assert_no_redundant_calls(run)
    error = caught.value
    assert isinstance(error, RedundantCalls)
    assert [finding.code for finding in error.findings] == ["RF001", "RF002", "RF003"]
    assert error.trace is run.trace
    assert str(error).startswith("3 redundant calls\n")


@pytest.mark.parametrize("fixture", ["well-behaved", "transient-retry"])
def test_good_runs_give_their_verdict(fixture: str) -> None:
    run = run_fixture(fixture)
    report = assert_no_redundant_calls(run, level="advice")
    assert report.calls == len([c for c in run.trace.calls if c.origin == "model"])


@pytest.mark.parametrize(("budget", "fails"), [(8, True), (9, False), (None, False)])
def test_budget_alone(budget: int | None, fails: bool) -> None:
    run = run_fixture("sloppy")
    rules = ["RF001", "RF002", "RF003"]
    if not fails:
        assert_no_redundant_calls(run, budget=budget, ignore=rules)
        return
    with pytest.raises(RedundantCalls, match=r"^9 calls for a budget of 8"):
        assert_no_redundant_calls(run, budget=budget, ignore=rules)


def test_advice_counts_only_when_asked() -> None:
    tracer = ToolTracer()
    read = tracer.wrap(lambda args: 1, name="send", mutates=True, resource="mail:a")
    for _ in range(2):
        tracer.next_turn()
        read({})
    assert [f.code for f in assert_no_redundant_calls(tracer).findings] == ["RF005"]
    with pytest.raises(RedundantCalls, match="1 finding at advice level"):
        assert_no_redundant_calls(tracer, level="advice")
    assert_no_redundant_calls(tracer, level="advice", ignore=["duplicate-mutation"])


def test_failure_travels_between_processes() -> None:
    with pytest.raises(RedundantCalls) as caught:
        assert_no_redundant_calls(run_fixture("sloppy"))
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - made a moment ago
    assert isinstance(again, RedundantCalls)
    assert str(again) == str(caught.value)


def test_what_holds_a_trace() -> None:
    run = run_fixture("well-behaved")
    assert trace_of(run) is trace_of(run.trace) is run.trace
    assert isinstance(trace_of(ToolTracer()), Trace)


@pytest.mark.parametrize("other", [None, [], "run.jsonl", {"trace": 1}, object()])
def test_what_holds_none(other: object) -> None:
    with pytest.raises(TypeError, match="expected a trace, a run or a tracer, found"):
        trace_of(other)


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ((), set()),
        ("RF003", {"RF003"}),
        (["stale-refetch", "RF003", "RF001"], {"RF003", "RF001"}),
    ],
)
def test_rules_by_code_and_name(words: list[str], codes: set[str]) -> None:
    assert rule_codes(words) == codes


@pytest.mark.parametrize(
    ("word", "hint"), [("exact-duplicates", "did you mean exact-dup"), ("zzzz", "known: RF001")]
)
def test_unknown_rule(word: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        rule_codes([word])
