"""What a whole run used, and that every place that tells it tells the same."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from tests.unit.cli.runner import run

from refetch.cost import spending_of
from refetch.cost.prices import Prices
from refetch.model import Call, Request, Trace
from refetch.runs.metrics import metrics_of

USAGE: tuple[dict[str, object], ...] = (
    {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 10},
    {"prompt_tokens": 50, "completion_tokens": 5},
    {"anything": "else"},
)


@pytest.fixture
def prices(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Prices(fresh=10e-6, cached=1e-6, output=50e-6)
    monkeypatch.setattr(
        "refetch.cost.spending.prices_of", lambda model: known if model == "known" else None
    )


def trace_of(*usages: dict[str, object] | None, model: str | None = None) -> Trace:
    requests = [Request(turn, usage=usage) for turn, usage in enumerate(usages, 1)]
    call = Call(0, 1, "read", msgspec.Raw(b"{}"), ok=True)
    return Trace("r", [*requests, call], model=model)


@pytest.mark.usefixtures("prices")
def test_the_sum_of_all_requests() -> None:
    spent = spending_of(trace_of(*USAGE, model="known"))
    assert spent is not None
    assert spent.tokens == 100 + 900 + 10 + 50 + 5
    assert spent.dollars == pytest.approx(150 * 10e-6 + 900 * 1e-6 + 15 * 50e-6)


@pytest.mark.usefixtures("prices")
def test_without_a_price_there_is_no_sum_of_money() -> None:
    trace = trace_of(*USAGE, model="nobody knows it")
    spent = spending_of(trace)
    assert spent is not None
    assert spent.dollars is None
    metrics = metrics_of(trace)
    assert "cost" not in metrics
    assert metrics["tokens"] == spent.tokens


@pytest.mark.parametrize("usages", [(), (None,), ({"anything": "else"},)])
def test_what_records_no_usage_has_no_figures(usages: tuple[dict[str, object] | None, ...]) -> None:
    trace = trace_of(*usages, model="known")
    assert spending_of(trace) is None
    assert not {"tokens", "cost"} & set(metrics_of(trace))


@pytest.mark.usefixtures("prices")
def test_the_metrics_of_a_run_hold_it() -> None:
    trace = trace_of(*USAGE, model="known")
    spent, metrics = spending_of(trace), metrics_of(trace)
    assert spent is not None
    assert (metrics["tokens"], metrics["cost"]) == spent


def test_a_run_tells_what_it_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spender.py").write_text(
        "def agent(task, tracer):\n"
        "    tracer.next_turn()\n"
        "    tracer.request(usage={'input_tokens': 70, 'output_tokens': 7})\n"
    )
    done = run("run", "spender:agent", "--task", "t", "--runs", 1)
    assert done.exit_code == 0, done.stderr
    (file,) = tmp_path.glob("runs/t/*/run.json")
    told = json.loads(file.read_text())
    assert told["tokens"] == 77
    assert "cost" not in told
