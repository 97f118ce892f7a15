"""The text report: the answer first, everything escaped, nothing wider than the terminal."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from refetch.api import check
from refetch.judge import Options
from refetch.model.trace import Call, Problem, Trace
from refetch.reports.batch import Batch, Checked
from refetch.reports.look import Look
from refetch.reports.paint import cells
from refetch.reports.text import render, render_paths

READ = {"read": {"effect": "read", "resource": "file:{path}"}}
HOSTILE = [
    "\x1b[2J",
    "\x1b]8;;http://x\x07",
    "\x9b0m",
    "a\rb",
    "a\nb",
    "\u202eb",
    "a\x00",
    "\x07",
    "\u2066",
    "\u2028",
]


def reread(path: str = "a", times: int = 2, run: str = "r", tool: str = "read") -> Trace:
    args = Raw(msgspec.json.encode({"path": path}))
    calls = [Call(seq, seq + 1, tool, args, ok=True, result=Raw(b'"x"')) for seq in range(times)]
    return Trace(run, list(calls), tools={tool: READ["read"]}, source=f"{run}.jsonl")


def batch_of(*traces: Trace, budget: int | None = None) -> Batch:
    checked = [Checked(check(trace, options=Options(budget=budget)), trace) for trace in traces]
    return Batch(checked, budget=budget)


def lines(*traces: Trace, look: Look | None = None) -> list[str]:
    return render(batch_of(*traces), look or Look()).splitlines()


def test_the_first_line_is_the_answer() -> None:
    assert lines(reread())[0] == "r · 2 calls in 2 turns · 1 redundant (50 %)"
    assert lines(reread(times=1)) == ["clean: 0 redundant of 1 call"]


def test_advice_and_budget_stand_in_it() -> None:
    text = render(batch_of(reread(times=5), budget=3), Look())
    assert text.splitlines()[0] == (
        "r · 5 calls in 5 turns · 4 redundant (80 %) · 1 advice · budget 3: over by 2"
    )
    assert "budget 9: 8 left" in render(batch_of(reread(times=1), budget=9), Look())


def test_session_ids_are_shortened() -> None:
    name = "6f1c0b1e-5a52-4c55-9d3e-2f6f0c7a9b11"
    assert lines(reread(run=name))[0].startswith("6f1c0b1e · ")


def test_no_traces() -> None:
    assert render(Batch(), Look()) == "no traces found\n"
    assert render(Batch(skipped=1), Look()) == (
        "no traces found\nskipped 1 file that is no trace\n"
    )
    assert render(Batch(errors=[Problem("x", "y")]), Look()) == ""


def test_a_trace_without_calls_is_not_called_clean() -> None:
    assert (
        render(batch_of(Trace("r", [])), Look())
        == "nothing to judge: no tool calls in this trace\n"
    )


def test_a_long_run_shows_its_findings_only() -> None:
    assert any(" turn  " in line for line in lines(reread(times=60)))
    assert not any(" turn  " in line for line in lines(reread(times=61)))


def test_top_limits_the_findings_of_a_rule() -> None:
    few = lines(reread(times=10), look=Look(top=3))
    assert sum("RF003 stale-refetch ·" in line for line in few) == 3
    assert any("and 6 more of RF003 (--top 0 shows all)" in line for line in few)
    every = lines(reread(times=10), look=Look(top=0))
    assert sum("RF003 stale-refetch ·" in line for line in every) == 9


def test_many_traces_are_a_table_worst_first() -> None:
    traces = [reread(times=times, run=f"run{times}") for times in (2, 4, 3, 1)]
    shown = lines(*traces)
    assert shown[0] == "6 redundant of 10 calls (60 %) in 4 traces"
    rows = [line.split() for line in shown if line.endswith(".jsonl")]
    assert [row[-1] for row in rows] == ["run4.jsonl", "run3.jsonl", "run2.jsonl"]
    assert any("1 trace has no findings" in line for line in shown)
    top = lines(*traces, look=Look(top=1))
    assert any("and 2 more with findings" in line for line in top)


def test_many_clean_traces_are_one_line() -> None:
    assert lines(reread(times=1), reread(times=1, run="s")) == [
        "clean: 0 redundant of 2 calls in 2 traces"
    ]


def test_runs_of_one_file_are_told_apart() -> None:
    one, two = (msgspec.structs.replace(reread(run=run), source="f") for run in ("x", "y"))
    assert [line.split()[-1] for line in lines(one, two) if "f [" in line] == ["[x]", "[y]"]


def test_why_lists_the_findings_of_every_trace() -> None:
    shown = "\n".join(lines(reread(run="x"), reread(run="y"), look=Look(why=True)))
    assert shown.count("RF003 stale-refetch ·") == 2


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_from_a_trace_is_active(text: str) -> None:
    trace = reread(text, run=f"r{text}", tool="read" + text)
    for look in (Look(), Look(why=True), Look(width=40)):
        for shown in (render(batch_of(trace), look), render_paths(batch_of(trace), look)):
            assert all(char.isprintable() or char == "\n" for char in shown)
    many = render(batch_of(trace, reread()), Look(why=True))
    assert all(char.isprintable() or char == "\n" for char in many)


def test_the_number_of_lines_does_not_depend_on_the_trace() -> None:
    assert len(lines(reread("a\nb\r\nc"))) == len(lines(reread("abc")))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_calls_fit_the_width(width: int) -> None:
    trace = reread("very/long/" * 40 + "name.py")
    for line in render_paths(batch_of(trace), Look(width=width)).splitlines():
        assert cells(line) <= width


def test_ascii_alone() -> None:
    trace = reread()
    assert render(batch_of(trace), Look(ascii=True)).isascii()
    assert render_paths(batch_of(trace), Look(ascii=True)).isascii()


def test_colors_change_nothing_else() -> None:
    import re

    batch = batch_of(reread(times=5), budget=2)
    colored = render(batch, Look(color=True))
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(batch, Look())


def test_unknown_tools_are_pointed_at() -> None:
    args = Raw(b"{}")
    trace = Trace("r", [Call(0, 1, "zork", args, ok=True), Call(1, 2, "zork", args, ok=True)])
    shown = "\n".join(lines(trace))
    assert "tools recognised: 0 of 2 calls; 2 unknown" in shown
    assert "refetch tools TRACE" in shown


def test_a_pair_whose_arguments_differ_far_inside_shows_the_difference() -> None:
    long = "x" * 300
    args = [
        Raw(msgspec.json.encode({"q": long + "a", "n": 5})),
        Raw(msgspec.json.encode({"n": 5, "q": long + "a"})),
    ]
    calls = [Call(i, 1, "read", a, ok=True, result=Raw(b'"x"')) for i, a in enumerate(args)]
    trace = Trace("r", list(calls), tools={"read": {"effect": "read"}})
    shown = [line for line in lines(trace) if line.startswith("  #")]
    assert shown[0] != shown[1].replace("#1", "#0")
