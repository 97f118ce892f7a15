"""Runs against a baseline: three answers, error rates, bad input."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from refetch.model.errors import InputError, UsageError
from refetch.runs import baseline, render
from refetch.runs.compare import INCONCLUSIVE, REGRESSED, RISE, UNHARMED, compare
from refetch.runs.store import Run, Runs

pytest.importorskip("scipy", reason="needs refetch[stats]")


def runs_of(
    calls: list[float], stale: int = 0, task: str = "t", model: str | None = "m", **more: Any
) -> list[Run]:
    return [
        Run(
            task,
            f"{task}/{index:03d}",
            {
                "model_calls": float(count),
                "stale_refetch": float(index < stale),
                "exact_duplicate": 0.0,
                **{name: float(values[index]) for name, values in more.items()},
            },
            model,
            ("read",),
        )
        for index, count in enumerate(calls)
    ]


def recorded(root: Path, *groups: list[Run]) -> dict[str, baseline.Baseline]:
    runs = Runs([run for group in groups for run in group])
    baseline.record("main", runs, root=root)
    return baseline.read_all("main", root=root)


def by_task(*groups: list[Run]) -> dict[str, list[Run]]:
    return {group[0].task: group for group in groups}


FOUR = [4.0, 4, 4, 3, 5, 4, 4, 5, 3, 4]
SIX = [6.0, 6, 5, 7, 6, 6, 7, 5, 6, 6]


def test_the_founding_examples_are_regressions_at_ten_runs(tmp_path: Path) -> None:
    before = recorded(tmp_path, runs_of(FOUR, stale=1))
    slower = compare(before, by_task(runs_of(SIX, stale=1)))
    assert slower.verdict == REGRESSED
    staler = compare(before, by_task(runs_of(FOUR, stale=5)))
    assert staler.verdict == REGRESSED
    (row,) = [one for one in staler.metrics if one.metric == "stale_refetch"]
    assert row.p_greater == pytest.approx(0.0312, abs=1e-3)
    assert (row.middle_before, row.middle_after) == (0.1, 0.5)


def test_equal_runs_show_that_nothing_rose(tmp_path: Path) -> None:
    before = recorded(tmp_path, runs_of([4.0] * 40))
    found = compare(before, by_task(runs_of([4.0] * 40)))
    assert found.verdict == UNHARMED
    assert "excluded" in render.sentence(found)


def test_few_runs_are_inconclusive_and_say_how_many_would_do(tmp_path: Path) -> None:
    before = recorded(tmp_path, runs_of([3.0, 9, 4]))
    found = compare(before, by_task(runs_of([4.0, 8, 5])))
    assert found.verdict == INCONCLUSIVE
    needed = [one.runs_needed for one in found.metrics if one.gated]
    assert all(count is not None and count > 3 for count in needed)
    assert "would decide" in render.text(found)


def test_an_exact_duplicate_fails_on_a_single_run(tmp_path: Path) -> None:
    before = recorded(tmp_path, runs_of([4.0] * 20))
    runs = runs_of([4.0] * 20, exact_duplicate=[1.0, *[0.0] * 19])
    found = compare(before, by_task(runs))
    assert found.verdict == REGRESSED
    assert "t/000" in found.hard[0]


def test_other_metrics_are_told_and_gate_only_when_named(tmp_path: Path) -> None:
    few, many = [1.0] * 10, [9.0] * 10
    before = recorded(tmp_path, runs_of([4.0] * 10, turns=few))
    runs = by_task(runs_of([4.0] * 10, turns=many))
    assert next(o for o in compare(before, runs).metrics if o.metric == "turns").verdict == RISE
    assert compare(before, runs).verdict != REGRESSED
    assert compare(before, runs, gated=("turns",)).verdict == REGRESSED
    fewer = by_task(runs_of([4.0] * 10, turns=[0.0] * 10))
    assert compare(before, fewer, gated=("turns",)).verdict == UNHARMED


def test_less_success_is_a_regression(tmp_path: Path) -> None:
    before = recorded(tmp_path, runs_of([4.0] * 10, success=[1.0] * 10))
    worse = by_task(runs_of([4.0] * 10, success=[0.0] * 10))
    assert compare(before, worse, gated=("success",)).verdict == REGRESSED
    better = recorded(tmp_path / "b", runs_of([4.0] * 10, success=[0.0] * 10))
    assert compare(better, by_task(runs_of([4.0] * 10, success=[1.0] * 10)),
                   gated=("success",)).verdict == UNHARMED  # fmt: skip


def test_several_tasks_are_tested_together_and_each_by_holm(tmp_path: Path) -> None:
    small = [4.0, 4, 5, 4, 3]
    groups = [runs_of(small, task=name) for name in "abc"]
    before = recorded(tmp_path, *groups)
    worse = [runs_of([value + 1 for value in small], task=name) for name in "abc"]
    found = compare(before, by_task(*worse))
    together = [one for one in found.metrics if not one.task]
    assert found.verdict == REGRESSED
    assert {one.metric for one in together} >= {"model_calls", "stale_refetch"}
    each = [one for one in found.metrics if one.task and one.metric == "model_calls"]
    assert all((one.adjusted or 0) >= one.p_greater for one in each)
    family = compare(before, by_task(*worse), family=True)
    assert all(one.adjusted is not None for one in family.metrics if one.gated)


@pytest.mark.parametrize("seed", range(3))
def test_an_unchanged_agent_trips_the_gate_rarely(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    alarms = 0
    for number in range(60):
        draw = [float(4 + (chance.random() < 0.3) * chance.randrange(6)) for _ in range(20)]
        before = recorded(tmp_path / str(number), runs_of(draw[:10]))
        alarms += compare(before, by_task(runs_of(draw[10:]))).verdict == REGRESSED
    assert alarms <= 6  # twice alpha of 60; the seeds are fixed


# -- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runs", "options", "words"),
    [
        (runs_of([4.0]), {}, "1 run; a comparison needs two"),
        (runs_of([4.0, 4], task="other"), {}, "no task in common: the baseline has t"),
        (runs_of([4.0, 4], model="other"), {}, "of model m, the runs are of other"),
        (runs_of([4.0, 4]), {"gated": ("nothing",)}, "no metric 'nothing'; known:"),
    ],
)
def test_mistakes_are_sentences(
    tmp_path: Path, runs: list[Run], options: dict[str, Any], words: str
) -> None:
    before = recorded(tmp_path, runs_of([4.0, 4, 4]))
    with pytest.raises(UsageError, match=words):
        compare(before, by_task(runs), **options)


def test_models_are_mixed_only_by_force(tmp_path: Path) -> None:
    before = recorded(tmp_path, runs_of([4.0] * 5))
    runs = by_task(runs_of([4.0] * 5, model="other"))
    assert compare(before, runs, force=True).verdict in (UNHARMED, INCONCLUSIVE)
    mixed = Runs([*runs_of([4.0, 4]), *runs_of([4.0, 4], model="other")])
    with pytest.raises(UsageError, match="different models"):
        baseline.record("main", mixed, root=tmp_path)
    with pytest.raises(UsageError, match="of model m"):
        baseline.record("main", Runs(runs_of([4.0, 4], model="z")), root=tmp_path)
    assert baseline.record("main", mixed, root=tmp_path, force=True)


def test_a_baseline_needs_two_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a baseline needs two"):
        baseline.record("main", Runs(runs_of([4.0])), root=tmp_path)
    with pytest.raises(UsageError, match="no runs to record"):
        baseline.record("main", Runs(), root=tmp_path)


def test_an_edited_baseline_is_refused(tmp_path: Path) -> None:
    recorded(tmp_path, runs_of([4.0, 4, 5]))
    (file,) = tmp_path.rglob("*.json")
    document = json.loads(file.read_text())
    document["metrics"]["model_calls"][0] = 99.0
    file.write_text(json.dumps(document))
    with pytest.raises(InputError, match="edited by hand"):
        baseline.read_all("main", root=tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"refetch_baseline": 9}', "\x00"])
def test_a_file_that_is_no_baseline_is_named(tmp_path: Path, text: str) -> None:
    recorded(tmp_path, runs_of([4.0, 4, 5]))
    (file,) = tmp_path.rglob("*.json")
    file.write_text(text)
    with pytest.raises(InputError, match=file.name):
        baseline.read_all("main", root=tmp_path)


def test_the_file_is_sorted_and_holds_every_value(tmp_path: Path) -> None:
    recorded(tmp_path, runs_of([5.0, 4, 6]))
    (file,) = tmp_path.rglob("*.json")
    document = json.loads(file.read_text())
    assert list(document) == sorted(document)
    assert document["metrics"]["model_calls"] == [5.0, 4.0, 6.0]
    assert document["model"] == "m"


def test_approve_and_prune(tmp_path: Path) -> None:
    recorded(tmp_path, runs_of([4.0, 4]), runs_of([4.0, 4], task="old"))
    baseline.record("next", Runs(runs_of([9.0, 9])), root=tmp_path)
    baseline.approve("main", "next", root=tmp_path)
    assert baseline.read_all("main", root=tmp_path)["t"].metrics["model_calls"] == [9.0, 9.0]
    (gone,) = baseline.prune("main", {"t"}, root=tmp_path)
    assert "old" in gone.name
    assert baseline.names(root=tmp_path) == ["main", "next"]
    with pytest.raises(UsageError, match="recorded: main, next"):
        baseline.read_all("none", root=tmp_path)


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>|`x`\x1b[31m"
    before = recorded(tmp_path, runs_of([4.0, 5, 4], task=name))
    found = compare(before, by_task(runs_of([4.0, 5, 4], task=name)))
    assert "<script>" not in render.page(found)
    assert "<script>" not in render.markdown(found)
    assert "\x1b" not in render.text(found) + render.page(found) + render.markdown(found)
    assert json.loads(render.document(found))["verdict"] == found.verdict
