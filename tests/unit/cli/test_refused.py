"""Words that no command can use: an error that says so and exit code 2, never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.runner import clean, run

from refetch.cli.program import COMMANDS

LONG = "n" * 400


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("t.jsonl").write_text(clean())
    Path("file").write_text("")


@pytest.mark.parametrize("place", [LONG, "file/x", "none/x/y", f"none/{LONG}"])
@pytest.mark.parametrize(
    "words",
    [
        "check {}", "check {}.jsonl", "check t.jsonl -o {}", "check t.jsonl --config {}",
        "check t.jsonl --known {}", "check t.jsonl --write-known {}",
        "check t.jsonl --mcp-tools {}", "show {}", "report t.jsonl -o {}", "report {}",
        "tools {}", "tools --commands {}",
        "convert {} -o x", "capture {}", "capture t.jsonl -o {}", "replay {}",
        "baseline record {} --name x", "baseline record . --name x --root {}", "baseline show {}",
        "baseline show x --root {}", "compare {} --baseline x", "compare . --baseline {}",
        "compare . --baseline x --root {}",
    ],
)  # fmt: skip
def test_places_that_lead_nowhere(words: str, place: str) -> None:
    told = run(*words.format(place).split())
    assert told.exit_code == 2
    assert "error: " in told.stderr


@pytest.mark.parametrize("place", [LONG, "file/x"])
@pytest.mark.parametrize(
    "words", ["convert t.jsonl -o {}", "convert t.jsonl t.jsonl sloppy -o {}",
              "run os:getcwd --task x --runs 1 -o {}"],
)  # fmt: skip
def test_folders_that_cannot_be_made(words: str, place: str) -> None:
    told = run(*words.format(place).split())
    assert told.exit_code == 2
    assert "error: " in told.stderr


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_nearest_command(name: str) -> None:
    told = run(name[:-1] + "zz"[: 1 + (len(name) > 5)])
    assert told.exit_code == 2
    assert f"Did you mean {name}?" in told.stderr


def test_the_nearest_input_format() -> None:
    told = run("check", "t.jsonl", "--input-format", "cluade-code")
    assert "did you mean claude-code?" in told.stderr
    assert "did you mean RF109?" in run("explain", "rf9").stderr


@pytest.mark.parametrize("value", ["[1]", "5", "null", "true", "{", "\ufeff{}", "[" * 100_000])
def test_files_that_are_no_task(value: str) -> None:
    Path("task.json").write_text(value, encoding="utf-8")
    told = run("run", "os:getcwd", "--task", "task.json", "--runs", "1")
    assert told.exit_code == 2
    assert "error: task.json: " in told.stderr
    assert not Path("runs").exists()


@pytest.mark.parametrize("task", ["file", LONG, "two\nlines", "{}", "x" * 500_000])
def test_tasks_of_any_length_reach_the_agent(task: str) -> None:
    if len(task) > 100_000:
        Path("task.txt").write_text(task)
        task = "task.txt"
    told = run("run", "builtins:print", "--task", task, "--runs", "1")
    assert told.exit_code == 0, told.stderr
    (info,) = Path("runs").rglob("run.json")
    assert json.loads(info.read_bytes())["outcome"] == "finished"


@pytest.mark.parametrize("agent", ["nope", ":", "os:", ":run", ""])
@pytest.mark.parametrize(
    "words", [("replay", "well-behaved", "--agent"), ("run", "--task", "x", "--runs", "1")]
)
def test_agents_that_are_not_named(words: tuple[str, ...], agent: str) -> None:
    told = run(*words, agent)
    assert told.exit_code == 2
    assert "module:callable" in told.stderr
    assert not Path("runs").exists()


BODIES: dict[str, Any] = {
    "raises": "raise ValueError('boom')",
    "syntax": "def f(:",
    "leaves": "import sys; sys.exit(0)",
    "later": "def run(task, tools): raise SystemExit(0)",
    "odd": "class E(Exception):\n    def __str__(self): raise ValueError\ndef run(*_): raise E",
}


@pytest.mark.parametrize("name", sorted(BODIES))
def test_an_agent_that_breaks_has_not_passed(name: str) -> None:
    Path(f"agent_{name}.py").write_text(BODIES[name])
    told = run("replay", "well-behaved", "--agent", f"agent_{name}:run")
    assert told.exit_code == 2
    assert "raised" in told.stderr
