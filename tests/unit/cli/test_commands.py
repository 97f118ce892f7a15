"""demo, show, explain, tools, and the program around them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.runner import EXAMPLES, call, document, native, refetching, run

from refetch.cli.program import COMMANDS
from refetch.judge.reasons import ACQUITTAL_REASONS
from refetch.judge.rules.registry import RULES


def test_help_lists_every_command() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for name, line in COMMANDS.items():
        assert name in result.stdout
        assert line in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: refetch " + name)


def test_version() -> None:
    assert run("--version").stdout.startswith("refetch 0.")


def test_demo_shows_the_three_runs() -> None:
    result = run("demo")
    assert result.exit_code == 0
    for name in ("well-behaved", "transient-retry", "sloppy"):
        assert f"$ refetch check {name}" in result.stdout
    assert "9 calls in 6 turns · 3 redundant (33 %) · budget 5: over by 4" in result.stdout


def test_demo_as_json() -> None:
    found = document("demo", "--format", "json")
    assert [(t["run"], t["calls"]) for t in found["traces"]] == [
        ("well-behaved", 4),
        ("transient-retry", 1),
        ("sloppy", 9),
    ]


def test_show_prints_every_call_and_exits_0(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(refetching())
    result = run("show", path)
    assert result.exit_code == 0
    assert '   2   1  read(path="a")                           ✗ stale-refetch of #0' in (
        result.stdout
    )


def test_show_names_contexts_attempts_and_losses() -> None:
    shown = run("show", EXAMPLES / "release-notes.jsonl").stdout
    assert "fixes    list_commits" in shown
    assert "↻ attempt of #1" in shown
    assert "── compaction: everything so far left the context" in shown
    assert "── the user speaks" in shown
    assert "── a context begins, by #3" in shown
    assert "! cross-agent-refetch of #0 (advice)" in shown


def test_show_as_json_adds_the_path() -> None:
    (trace,) = document("show", "sloppy", "--format", "json")["traces"]
    path = trace["path"]
    assert [step["seq"] for step in path] == list(range(9))
    assert path[1]["finding"] == {"code": "RF001", "level": "flag", "first": 0}
    assert path[8]["acquitted"]["reason"] == "written-since"
    assert path[7]["writes"] == ["file:config.json"]


def test_show_of_one_run(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(refetching("alpha"))
    (tmp_path / "b.jsonl").write_text(refetching("beta"))
    shown = run("show", tmp_path, "--run", "be").stdout
    assert "beta · 2 calls" in shown
    assert "alpha" not in shown
    assert run("show", tmp_path, "--run", "x").exit_code == 2


def test_show_of_something_broken(tmp_path: Path) -> None:
    result = run("show", tmp_path / "nope")
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_explain_rules_by_code_and_name(rule: object) -> None:
    known = next(r for r in RULES if r is rule)
    by_code = run("explain", known.code.lower())
    assert by_code.exit_code == 0
    assert by_code.stdout == run("explain", known.name).stdout
    assert by_code.stdout.startswith(f"{known.code} {known.name} · {known.level}\n")
    for heading in ("Why it matters", "Flagged", "Not flagged"):
        assert f"\n{heading}\n" in by_code.stdout


@pytest.mark.parametrize("name", ACQUITTAL_REASONS)
def test_explain_reasons(name: str) -> None:
    result = run("explain", name)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{name} · acquits: ")
    assert ACQUITTAL_REASONS[name].short in " ".join(result.stdout.split())


def test_explain_lists_everything() -> None:
    shown = run("explain").stdout
    for name in (*(rule.code for rule in RULES), *ACQUITTAL_REASONS):
        assert name in shown
    assert len(document("explain", "--format", "json")) == len(RULES) + len(ACQUITTAL_REASONS)
    assert document("explain", "RF003", "--format", "json")["name"] == "stale-refetch"


def test_explain_names_the_nearest() -> None:
    result = run("explain", "writen-since")
    assert result.exit_code == 2
    assert "did you mean written-since?" in result.stderr


def test_tools_of_a_command() -> None:
    assert document("tools", "--command", "cat a.txt > b.txt", "--format", "jsonl") == {
        "command": "cat a.txt > b.txt",
        "effect": "reads+writes",
        "reads": ["file:a.txt"],
        "writes": ["file:b.txt"],
    }
    shown = run("tools", "--command", "cat a.txt > b.txt").stdout
    assert shown.splitlines() == [
        "reads+writes  cat a.txt > b.txt",
        "    reads: file:a.txt",
        "    writes: file:b.txt",
    ]


def test_tools_of_a_command_in_its_folder() -> None:
    found = document("tools", "--command", "cat ../a", "--cwd", "/w/x", "--format", "jsonl")
    assert found["reads"] == ["file:/w/a"]


def test_tools_of_a_file_of_commands(tmp_path: Path) -> None:
    path = tmp_path / "commands.jsonl"
    path.write_text('{"command": "ls"}\n\n{"command": "rm x", "cwd": "/w"}\n')
    result = run("tools", "--commands", path, "--format", "jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["command"] for row in rows] == ["ls", "rm x"]
    assert set(rows[0]) >= {"command", "effect", "reads", "writes"}
    piped = run("tools", "--commands", "-", "--format", "jsonl", stdin=path.read_text())
    assert piped.stdout == result.stdout


def test_tools_prints_what_it_read_before_a_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "commands.jsonl"
    path.write_text('{"command": "ls"}\n{"command": 5}\n')
    result = run("tools", "--commands", path, "--format", "jsonl")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["command"] == "ls"
    assert "commands.jsonl:2" in result.stderr


def test_tools_of_commands_and_traces_exclude_each_other(tmp_path: Path) -> None:
    assert run("tools", tmp_path, "--command", "ls").exit_code == 2
    assert run("tools", "--commands", tmp_path / "nope").exit_code == 2


def test_the_catalogue() -> None:
    shown = run("tools").stdout
    assert "claude-code\n" in shown
    rows = document("tools", "--format", "json")
    assert {"owner": "claude-code", "tool": "Read", "effect": "read"} in rows


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    path = tmp_path / "t.jsonl"
    path.write_text(
        native(
            call(0, 1, "read", {"path": "a"}),
            call(1, 1, "zork", {"user_id": 5, "why": "x"}),
            call(2, 2, "zork", {"user_id": 6}),
            call(3, 3, "get_user", {"id": 7}),
            tools={"read": {"effect": "read", "resource": "file:{path}"}},
        )
    )
    return path


def test_the_tools_of_a_trace(mixed: Path) -> None:
    shown = run("tools", mixed).stdout.splitlines()
    assert [line.split() for line in shown[1:4]] == [
        ["2", "zork", "opaque", "·", "unknown"],
        ["1", "get_user", "read", "·", "name"],
        ["1", "read", "read", "·", "trace"],
    ]
    assert "2 tools are not declared" in shown[-1]
    rows = document("tools", mixed, "--format", "json")
    assert [(row["tool"], row["declared"]) for row in rows] == [
        ("zork", False),
        ("get_user", False),
        ("read", True),
    ]


def test_stubs_are_a_configuration_that_loads(mixed: Path) -> None:
    stubs = mixed.parent / "refetch.toml"
    stubs.write_text(run("tools", mixed, "--stub").stdout)
    assert '[tools."zork"]' in stubs.read_text()
    assert run("check", mixed, "--config", stubs).exit_code == 0
    rows = document("tools", mixed, "--config", stubs, "--format", "json")
    assert all(row["declared"] for row in rows)
    assert "every tool is declared" in run("tools", mixed, "--config", stubs, "--stub").stdout


def test_tools_of_something_broken(tmp_path: Path) -> None:
    result = run("tools", tmp_path / "nope")
    assert result.exit_code == 2
    assert "no such file" in result.stderr


def test_annotations_of_an_mcp_server_are_hints(tmp_path: Path) -> None:
    dump = tmp_path / "tools.json"
    dump.write_text(
        json.dumps({"tools": [{"name": "look", "annotations": {"readOnlyHint": True}}]})
    )
    asked = call(0, 1, "mcp__notes__look", {"id": 1}, result="x")
    trace = tmp_path / "t.jsonl"
    trace.write_text(native(asked, {**asked, "seq": 1, "turn": 2}))
    assert "1 redundant" not in run("check", trace).stdout
    hinted = run("check", trace, "--mcp-tools", dump)
    assert "1 redundant" in hinted.stdout
    assert "(inferred)" in hinted.stdout
    assert "mcp-annotations" in run("tools", trace, "--mcp-tools", dump).stdout
    assert run("check", trace, "--mcp-tools", tmp_path / "none.json").exit_code == 2
