"""What a finding costs: carried tokens, their source, money, and sums that count nothing twice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from tests.oracle.strategies import random_trace

from refetch.api import check
from refetch.cost import costed, total_of, totals
from refetch.cost.prices import Prices
from refetch.cost.usage import Usage, usage_of
from refetch.model import Call, ContextLoss, Finding, Request, RunReport, Trace

TOOLS = {"read": {"effect": "read", "resource": "file:{p}"}}


def read(seq: int, turn: int, path: str = "a", size: int = 400) -> Call:
    text = Raw(msgspec.json.encode(path * size))
    args = Raw(msgspec.json.encode({"p": path}))
    return Call(seq, turn, "read", args, ok=True, result=text, result_chars=size)


def judged(*events: Any, model: str | None = None) -> RunReport:
    trace = Trace("r", list(events), tools=TOOLS, model=model)
    return costed(check(trace), trace)


def cost_of(*events: Any, model: str | None = None) -> dict[str, Any]:
    (finding,) = judged(*events, model=model).flags
    assert finding.cost is not None
    return finding.cost


@pytest.fixture(autouse=True)
def plain_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four characters a token and round prices, whatever is installed."""
    monkeypatch.setattr("refetch.cost.tokens._counter", lambda: None)
    known = Prices(fresh=10e-6, cached=1e-6, output=50e-6)
    monkeypatch.setattr(
        "refetch.cost.charging.prices_of", lambda model: known if model == "known" else None
    )


def test_a_result_is_carried_once_for_each_later_request() -> None:
    cost = cost_of(read(0, 1), read(1, 2), read(2, 3, "b"), read(3, 4, "c"), read(4, 5, "d"))
    assert (cost["result_tokens"], cost["later_requests"]) == (100, 3)
    assert cost["carried_tokens"] == 3 * 100 + cost["output_tokens"]
    assert cost["source"] == "estimated"


def test_nothing_is_carried_behind_a_loss() -> None:
    events = [read(0, 1), read(1, 2), read(2, 3, "b"), ContextLoss(2), read(3, 4, "c")]
    assert cost_of(*events)["later_requests"] == 1
    other = [
        read(0, 1),
        read(1, 2),
        read(2, 3, "b"),
        ContextLoss(2, "trim", lost=[2]),
        read(3, 4, "c"),
    ]
    assert cost_of(*other)["later_requests"] == 2


def test_requests_of_other_contexts_carry_nothing() -> None:
    child = msgspec.structs.replace(read(2, 1, "b"), context="child")
    assert cost_of(read(0, 1), read(1, 2), child)["later_requests"] == 0


def request(turn: int, prompt: int, output: int, cached: int | None = None) -> Request:
    usage = {"prompt_tokens": prompt, "completion_tokens": output}
    if cached is not None:
        usage["cached_tokens"] = cached
    return Request(turn, usage=usage)


def test_tokens_are_measured_by_what_the_prompt_grew() -> None:
    events = [
        request(1, 1000, 20), read(0, 1),
        request(2, 1120, 20), read(1, 2),
        request(3, 1290, 20), read(2, 3, "b"),
        request(4, 1500, 20),
    ]  # fmt: skip
    cost = cost_of(*events)
    assert (cost["result_tokens"], cost["source"]) == (1290 - 1120 - 20, "measured")
    assert cost["later_requests"] == 2
    assert cost["request_tokens"] == 1140


def test_a_batch_shares_the_growth_by_length() -> None:
    events = [
        request(1, 1000, 0), read(0, 1),
        request(2, 1100, 0), read(1, 2), read(2, 2, "b", size=1200),
        request(3, 1500, 0),
    ]  # fmt: skip
    cost = cost_of(*events)
    assert cost["result_tokens"] == 100
    assert "request_tokens" not in cost  # the turn had a call that was needed


def test_a_record_that_knows_its_tokens_is_believed() -> None:
    repeat = msgspec.structs.replace(read(1, 2), result_tokens=7)
    cost = cost_of(read(0, 1), repeat, read(2, 3, "b"))
    assert (cost["result_tokens"], cost["source"]) == (7, "measured")


def test_money_is_a_range_where_the_cache_is_not_told() -> None:
    cost = cost_of(
        request(1, 1000, 0), read(0, 1), request(2, 1100, 0), read(1, 2), request(3, 1200, 0),
        model="known",
    )  # fmt: skip
    written = cost["output_tokens"] * 50e-6
    assert cost["usd_low"] == pytest.approx(written + 100 * 1e-6 + 1100 * 1e-6)
    assert cost["usd_high"] == pytest.approx(written + 100 * 10e-6 + 1100 * 10e-6)
    assert cost["exact"] is False


def test_money_is_exact_where_the_cache_is_told() -> None:
    cost = cost_of(
        request(1, 1000, 0, 0), read(0, 1), request(2, 1100, 0, 1100), read(1, 2),
        request(3, 1200, 0, 600), model="known",
    )  # fmt: skip
    written = cost["output_tokens"] * 50e-6
    assert cost["usd_low"] == cost["usd_high"]
    assert cost["usd_low"] == pytest.approx(written + 100 * 5.5e-6 + 1100 * 1e-6)
    assert cost["exact"] is True


def test_unknown_prices_give_no_money() -> None:
    report = judged(read(0, 1), read(1, 2), model="nobody knows it")
    assert "usd_low" not in (report.flags[0].cost or {})
    assert total_of(report.findings).priced is False


def test_hazards_loops_and_budgets_cost_nothing() -> None:
    tools = {"save": {"effect": "write", "resource": "file:{p}"}}
    args = Raw(b'{"p":"a"}')
    calls = [Call(n, n + 1, "save", args, ok=True, result=Raw(b'"x"')) for n in range(6)]
    trace = Trace("r", list(calls), tools=tools)
    report = costed(check(trace, budget=1), trace)
    assert {finding.code for finding in report.findings} == {"RF004", "RF005", "RF108"}
    assert all(finding.cost is None for finding in report.findings)
    assert total_of(report.findings).carried_tokens == 0


@given(st.integers(0, 4000))
def test_the_parts_add_up_to_the_whole(seed: int) -> None:
    trace = random_trace(seed)
    findings: list[Finding] = costed(check(trace), trace).findings
    whole = total_of(findings)
    for parts in (totals.totals_by_rule(findings), totals.totals_by_tool(findings)):
        assert sum(part.carried_tokens for part in parts.values()) == whole.carried_tokens
        assert sum(part.request_tokens for part in parts.values()) == whole.request_tokens
        assert sum(part.findings for part in parts.values()) == whole.findings
    halves = total_of(findings, level="flag"), total_of(findings, level="advice")
    assert halves[0].carried_tokens + halves[1].carried_tokens == whole.carried_tokens


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, None),
        ({}, None),
        ({"output_tokens": 5}, None),
        ({"input_tokens": 10, "output_tokens": 5}, Usage(10, None, 5)),
        ({"input_tokens": 3, "cache_read_input_tokens": 90, "output_tokens": 1}, Usage(93, 90, 1)),
        (
            {"input_tokens": 3, "cache_creation_input_tokens": 7, "output_tokens": 1},
            Usage(10, 0, 1),
        ),
        ({"input": 3, "cacheRead": 4, "cacheWrite": 5, "output": 6}, Usage(12, 4, 6)),
        ({"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 2}, Usage(10, 4, 2)),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 99}},
            Usage(10, 10, 0),
        ),
        ({"input_tokens": 10, "cached_input_tokens": 8, "output_tokens": 2}, Usage(10, 8, 2)),
        ({"input": 10, "output": 2, "cached": 3, "thoughts": 9}, Usage(10, 3, 2)),
        ({"input_tokens": True, "prompt_tokens": 4}, Usage(4, None, 0)),
        ({"input_tokens": -1}, None),
    ],
)  # fmt: skip
def test_usage_by_any_name(raw: dict[str, Any] | None, expected: Usage | None) -> None:
    assert usage_of(raw) == expected
