"""`refetch capture` and `refetch replay`: a bad run becomes a test in one command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.runner import EXAMPLES, call, native, refetching, run

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def fixture(tmp_path: Path) -> Path:
    trace, out = tmp_path / "t.jsonl", tmp_path / "fixture.json"
    trace.write_text(refetching())
    assert run("capture", trace, "-o", out).exit_code == 0
    return out


def test_capture_says_what_it_did(tmp_path: Path) -> None:
    trace, out = tmp_path / "t.jsonl", tmp_path / "fixture.json"
    trace.write_text(refetching())
    result = run("capture", trace, "-o", out)
    assert result.stdout == ""
    assert "captured 2 calls, 1 finding expected" in result.stderr
    assert f"refetch replay {out}" in result.stderr
    (expected,) = json.loads(out.read_text())["expect"]
    assert (expected["code"], expected["first"], expected["repeat"]) == ("RF003", 0, 1)


def test_capture_to_standard_output(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text(refetching())
    result = run("capture", trace, "--name", "mine")
    assert json.loads(result.stdout)["name"] == "mine"


def test_secrets_are_replaced_unless_asked_otherwise(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text(native(call(0, 1, "read", {"path": "a", "note": SECRET})))
    result = run("capture", trace)
    assert SECRET not in result.stdout
    assert "redacted: github-token 1" in result.stderr
    assert SECRET not in run("capture", trace, "--redact", "github-token").stdout
    assert SECRET in run("capture", trace, "--redact", "email").stdout
    kept = run("capture", trace, "--no-redact")
    assert SECRET in kept.stdout
    assert "nothing was redacted" in kept.stderr


def test_wrong_redaction_is_a_usage_error(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text(refetching())
    assert run("capture", trace, "--redact", "nope").exit_code == 2
    assert run("capture", trace, "--redact", "email", "--no-redact").exit_code == 2


def test_capture_needs_one_run(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(refetching("alpha"))
    (tmp_path / "b.jsonl").write_text(refetching("beta"))
    result = run("capture", tmp_path)
    assert result.exit_code == 2
    assert "2 traces; name one with --run: alpha, beta" in result.stderr
    assert json.loads(run("capture", tmp_path, "--run", "beta").stdout)["name"] == "beta"
    assert run("capture", tmp_path / "nope").exit_code == 2


def test_capture_as_json(tmp_path: Path) -> None:
    trace, out = tmp_path / "t.jsonl", tmp_path / "f.json"
    trace.write_text(refetching())
    told = json.loads(run("capture", trace, "-o", out, "--format", "json").stdout)
    assert told == {"fixture": str(out), "name": "r", "calls": 2, "expect": 1, "redacted": {}}


@pytest.mark.parametrize("example", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_the_replay_of_a_capture_passes(tmp_path: Path, example: Path) -> None:
    out = tmp_path / "f.json"
    assert run("capture", example, "-o", out).exit_code == 0
    result = run("replay", out)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"passed {out}: ")


def test_packaged_fixtures_pass() -> None:
    result = run("replay", "well-behaved", "sloppy", "transient-retry")
    assert result.exit_code == 0
    assert result.stdout.count("passed") == 3


def test_a_finding_that_is_not_expected_fails(fixture: Path) -> None:
    data = json.loads(fixture.read_text())
    data["expect"] = []
    fixture.write_text(json.dumps(data))
    result = run("replay", fixture)
    assert result.exit_code == 1
    assert "FAILED" in result.stdout
    assert "1 finding new" in result.stdout
    assert "RF003 stale-refetch" in result.stdout


def test_an_expectation_that_vanished_fails_a_plain_replay(fixture: Path) -> None:
    data = json.loads(fixture.read_text())
    data["expect"].append({"code": "RF001", "first": 0, "repeat": 1})
    fixture.write_text(json.dumps(data))
    result = run("replay", fixture)
    assert result.exit_code == 1
    assert "1 finding vanished" in result.stdout
    assert "RF001 #0 → #1" in result.stdout


AGENTS = """
def careful(task, tools):
    tools["read"]({"path": "a"})
    return "done"

def careless(task, tools):
    for path in "a", "b", "a", "b":
        tools["read"]({"path": path})

def broken(task, tools):
    raise RuntimeError("no idea")
"""


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"agents_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_mended_agent_is_green(fixture: Path, agents: str) -> None:
    result = run("replay", fixture, "--agent", f"{agents}:careful")
    assert result.exit_code == 0, result.output
    assert "1 finding vanished" in result.stdout


def test_an_agent_that_does_worse_is_red(tmp_path: Path, agents: str) -> None:
    trace, out = tmp_path / "t.jsonl", tmp_path / "f.json"
    records = [
        call(seq, seq + 1, "read", {"path": path}, result=path) for seq, path in enumerate("ab")
    ]
    tools = {"read": {"effect": "read", "resource": "file:{path}"}}
    trace.write_text(native(*records, tools=tools))
    run("capture", trace, "-o", out)
    result = run("replay", out, "--agent", f"{agents}:careless", "--format", "json")
    assert result.exit_code == 1
    (found,) = json.loads(result.stdout)
    assert found["passed"] is False
    assert len(found["new"]) == 2


@pytest.mark.parametrize("agent", ["broken", "nope"])
def test_a_broken_agent_is_exit_2(fixture: Path, agents: str, agent: str) -> None:
    result = run("replay", fixture, "--agent", f"{agents}:{agent}")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output


def test_a_missing_fixture_does_not_hide_the_others(tmp_path: Path) -> None:
    result = run("replay", tmp_path / "nope.json", "sloppy")
    assert result.exit_code == 2
    assert "no such fixture" in result.stderr
    assert "passed sloppy" in result.stdout
