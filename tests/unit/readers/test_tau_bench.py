"""Rules of the tau-bench reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refetch.model.errors import InputError
from refetch.model.trace import Trace, UserMessage
from refetch.readers import read_bytes


def asked(*calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": key, "function": {"name": name, "arguments": json.dumps(args)}}
            for key, name, args in calls
        ],
    }


def told(key: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "name": "x", "content": content}


def runs(*trajs: list[dict[str, Any]]) -> list[Trace]:
    rows = [{"task_id": 3, "trial": n, "reward": 0.0, "traj": traj} for n, traj in enumerate(trajs)]
    return read_bytes(json.dumps(rows).encode(), "tau.json")


def test_each_run_is_a_trace() -> None:
    first, second = runs([asked(("a", "f", {}))], [asked(("a", "g", {}))])
    assert (first.run, second.run) == ("idx=0|task=3|trial=0", "idx=1|task=3|trial=1")
    assert first.harness is None
    assert second.paths == {0: "$[1].traj[0].tool_calls[0]"}


def test_reused_ids_pair_by_position() -> None:
    (trace,) = runs(
        [asked(("a", "f", {"n": 1})), told("a", "1"), asked(("a", "f", {"n": 2})), told("a", "2")]
    )
    assert [bytes(c.result) for c in trace.calls] == [b'"1"', b'"2"']
    assert [c.turn for c in trace.calls] == [1, 2]


def test_an_id_that_fits_no_call_pairs_by_position() -> None:
    (trace,) = runs([asked(("a", "f", {"n": 1})), told("other", "1")])
    assert trace.calls[0].outcome == "ok"


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        ("Error: user not found", "error"),
        ("Unknown action foo", "not-executed"),
        ('{"error": null}', "ok"),
        ("No errors", "ok"),
        ("", "ok"),
    ],
)
def test_outcomes(content: str, outcome: str) -> None:
    (trace,) = runs([asked(("a", "f", {})), told("a", content)])
    assert trace.calls[0].status == outcome


def test_the_argument_text_is_kept() -> None:
    (trace,) = runs([asked(("a", "f", {"id": 5.0}))])
    assert trace.calls[0].raw_args == '{"id": 5.0}'


def test_people_speak() -> None:
    (trace,) = runs([{"role": "user", "content": "Hi"}, asked(("a", "f", {})), told("a", "1")])
    assert [e for e in trace.events if type(e) is UserMessage] == [UserMessage(-1)]
    assert trace.task == "Hi"


def test_a_broken_run_costs_only_itself() -> None:
    rows = [{"task_id": 1, "traj": [asked(("a", "f", {}))]}, {"task_id": 2}, 5]
    (trace,) = read_bytes(json.dumps(rows).encode())
    assert [p.path for p in trace.problems] == ["$[1]", "$[2]"]


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b"[]", input_format="tau-bench")


def test_the_labels_name_the_tools(shared_dir: Path) -> None:
    path = shared_dir / "traces/tau-bench/gpt-4o-airline.json"
    traces = read_bytes(path.read_bytes(), path.name)
    assert sum(len(trace.calls) for trace in traces) == 1164
    checked = 0
    for label in map(
        json.loads, (shared_dir / "gold/labels.jsonl").read_text("utf-8").split("\n")[:-1]
    ):
        if label["set"] == "tau":
            trace = traces[label["trace_index"]]
            assert trace.run == label["run"]
            assert trace.calls[label["repeat_seq"]].name == label["tool"]
            checked += 1
    assert checked > 10
