"""`refetch check`: exit codes, options, errors beside findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.runner import call, clean, document, native, refetching, run

from refetch.model.finding import RunReport
from refetch.model.trace import Trace


@pytest.fixture
def stale(tmp_path: Path) -> Path:
    path = tmp_path / "stale.jsonl"
    path.write_text(refetching())
    return path


@pytest.fixture
def fine(tmp_path: Path) -> Path:
    path = tmp_path / "fine.jsonl"
    path.write_text(clean())
    return path


def test_clean_is_one_line_and_exit_0(fine: Path) -> None:
    result = run("check", fine)
    assert result.exit_code == 0
    assert result.stdout == "clean: 0 redundant of 2 calls\n"
    assert result.stderr == ""


def test_a_flag_is_exit_1(stale: Path) -> None:
    result = run("check", stale)
    assert result.exit_code == 1
    assert result.stdout.startswith("r · 2 calls in 2 turns · 1 redundant (50 %)\n")
    assert "✗ stale-refetch of #0" in result.stdout


def test_acquitted_repeats_are_counted_in_the_clean_line() -> None:
    result = run("check", "well-behaved")
    assert result.exit_code == 0
    assert result.stdout == "clean: 0 redundant of 4 calls (1 repeat, all legitimate)\n"


@pytest.mark.parametrize(("fail_on", "code"), [("flag", 0), ("advice", 1), ("never", 0)])
def test_fail_on_with_advice_only(tmp_path: Path, fail_on: str, code: int) -> None:
    path = tmp_path / "t.jsonl"
    tools = {"save": {"effect": "write", "resource": "note:{id}"}}
    path.write_text(
        native(call(0, 1, "save", {"id": 1}), call(1, 2, "save", {"id": 1}), tools=tools)
    )
    result = run("check", path, "--fail-on", fail_on)
    assert "RF005 duplicate-mutation" in result.stdout
    assert result.exit_code == code


def test_fail_on_never_lets_flags_pass(stale: Path) -> None:
    assert run("check", stale, "--fail-on", "never").exit_code == 0


def test_a_blown_budget_is_exit_1_and_says_by_how_much(fine: Path) -> None:
    result = run("check", fine, "--budget", 1)
    assert result.exit_code == 1
    assert "budget 1: over by 1" in result.stdout.splitlines()[0]
    assert run("check", fine, "--budget", 2).exit_code == 0
    assert "budget 5: 3 left" in run("check", fine, "--budget", 5).stdout


def test_ceilings_by_tool_and_turn(fine: Path) -> None:
    assert run("check", fine, "--per-tool", "read=1").exit_code == 1
    assert run("check", fine, "--per-tool", "read=2", "--per-tool", "other=0").exit_code == 0
    assert run("check", fine, "--per-turn", 0).exit_code == 1
    assert run("check", fine, "--per-turn", 1).exit_code == 0


@pytest.mark.parametrize("value", ["read", "=3", "read=", "read=x", "read=-1", "read=²"])
def test_a_wrong_ceiling_is_a_usage_error(fine: Path, value: str) -> None:
    result = run("check", fine, "--per-tool", value)
    assert result.exit_code == 2
    assert "expected NAME=N" in result.stderr


@pytest.mark.parametrize(
    ("option", "value", "left"),
    [
        ("--select", "RF003", ["RF003"]),
        ("--select", "stale-refetch", ["RF003"]),
        ("--select", "rf00", ["RF001", "RF002", "RF003"]),
        ("--select", "RF001,RF002", ["RF001", "RF002"]),
        ("--ignore", "RF001", ["RF002", "RF003"]),
        ("--ignore", "RF", []),
        ("--select", "RF1", []),
    ],
)
def test_select_and_ignore(option: str, value: str, left: list[str]) -> None:
    (trace,) = document("check", "sloppy", "--format", "json", option, value)["traces"]
    assert [finding["code"] for finding in trace["findings"]] == left


def test_what_is_ignored_does_not_fail(stale: Path) -> None:
    assert run("check", stale, "--ignore", "RF003").exit_code == 0


def test_an_unknown_rule_names_the_nearest(stale: Path) -> None:
    result = run("check", stale, "--select", "stale-refetc")
    assert result.exit_code == 2
    assert "did you mean stale-refetch?" in result.stderr


def test_a_missing_file_is_an_error_beside_the_rest(stale: Path) -> None:
    result = run("check", stale, stale.parent / "nope.jsonl")
    assert result.exit_code == 2
    assert "1 redundant" in result.stdout
    assert "nope.jsonl: no such file" in result.stderr


def test_a_named_file_that_is_no_trace_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}')
    result = run("check", path)
    assert result.exit_code == 2
    assert "no known trace format" in result.stderr
    assert result.stdout == ""


def test_in_a_folder_it_is_skipped_and_counted(stale: Path) -> None:
    (stale.parent / "x.json").write_text('{"a": 1}')
    (stale.parent / "notes.txt").write_text("nothing")
    result = run("check", stale.parent)
    assert result.exit_code == 1
    assert "skipped 2 files that are no traces" in result.stdout
    assert document("check", stale.parent, "--format", "json")["skipped"] == 2


def test_an_empty_folder(tmp_path: Path) -> None:
    result = run("check", tmp_path)
    assert (result.exit_code, result.stdout) == (0, "no traces found\n")


def test_a_broken_line_is_told_and_the_rest_reported(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    broken = {"type": "call", "seq": 2, "turn": 2, "name": "read", "args": {}, "ok": []}
    path.write_text(refetching() + json.dumps(broken) + "\n")
    result = run("check", path)
    assert result.exit_code == 2
    assert "1 redundant" in result.stdout
    first, second = result.stderr.splitlines()
    assert first.startswith(f"error: {path}:4: $.ok: expected bool")
    assert "found array" in first
    assert second == "       3 earlier lines were read and are reported above"
    (error,) = document("check", path, "--format", "json")["errors"]
    assert (error["line"], error["path"]) == (4, "$.ok")


def test_not_clean_where_something_was_not_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(clean() + "{\n")
    result = run("check", path)
    assert result.exit_code == 2
    assert result.stdout.startswith("incomplete: 0 redundant of 2 calls")


def test_a_crash_inside_one_trace_is_recorded_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from refetch.judge import judge_trace

    def failing(trace: Trace, *rest: Any) -> RunReport:
        if trace.run == "bad":
            raise KeyError("boom")
        return judge_trace(trace, *rest)

    monkeypatch.setattr("refetch.settings.judge_trace", failing)
    (tmp_path / "a.jsonl").write_text(refetching("bad"))
    (tmp_path / "b.jsonl").write_text(refetching("good"))
    result = run("check", tmp_path, "--format", "json")
    found = json.loads(result.stdout)
    assert result.exit_code == 2
    assert [trace["run"] for trace in found["traces"]] == ["good"]
    (error,) = found["errors"]
    assert error["source"].endswith("a.jsonl")
    assert "KeyError: 'boom'" in error["message"]
    assert "Traceback" not in result.output


def test_standard_input() -> None:
    result = run("check", "-", stdin=refetching())
    assert result.exit_code == 1
    assert "1 redundant" in result.stdout


def test_input_format(stale: Path) -> None:
    assert run("check", stale, "--input-format", "native").exit_code == 1
    assert run("check", stale, "--input-format", "openai-chat").exit_code == 2
    result = run("check", stale, "--input-format", "nope")
    assert result.exit_code == 2
    assert "unknown input format 'nope'" in result.stderr


def test_output_to_files(stale: Path) -> None:
    out = stale.parent / "out"
    out.mkdir()
    plain, extra = out / "report.json", out / "more.txt"
    result = run("check", stale, "-o", plain, "-o", f"text={extra}")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert json.loads(plain.read_text())["summary"]["flags"] == 1
    assert "RF003 stale-refetch" in extra.read_text()


def test_an_added_report_leaves_standard_output_alone(stale: Path) -> None:
    out = stale.parent / "report.bin"
    result = run("check", stale, "-o", f"json={out}")
    assert "1 redundant" in result.stdout
    assert json.loads(out.read_text())["schema"] == 1


def test_format_beats_suffix(stale: Path) -> None:
    out = stale.parent / "report.json"
    run("check", stale, "--format", "text", "-o", out)
    assert out.read_text().startswith("r · 2 calls")


def test_a_file_that_cannot_be_written(stale: Path) -> None:
    result = run("check", stale, "-o", stale.parent / "no" / "such.json")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_config_declares_tools(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text(native(call(0, 1, "zork", {"a": 1}), call(1, 2, "zork", {"a": 1})))
    config = tmp_path / "refetch.toml"
    config.write_text('[tools.zork]\neffect = "read"\nresource = "thing:{a}"\n')
    assert run("check", trace).exit_code == 0
    assert run("check", trace, "--config", config).exit_code == 1


def test_config_is_found_from_the_folder_upward(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text(native(call(0, 1, "zork", {"a": 1}), call(1, 2, "zork", {"a": 1})))
    (tmp_path / "refetch.toml").write_text('[tools.zork]\neffect = "read"\nresource = "z:{a}"\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert run("check", trace).exit_code == 1


def test_a_wrong_config_is_a_usage_error(stale: Path) -> None:
    config = stale.parent / "refetch.toml"
    config.write_text("[tools.read]\nefect = 'read'\n")
    result = run("check", stale, "--config", config)
    assert result.exit_code == 2
    assert "unknown key `efect`; did you mean `effect`?" in result.stderr
    assert run("check", stale, "--config", stale.parent / "nope.toml").exit_code == 2


def test_no_ledger_leaves_the_acquittals_out() -> None:
    (trace,) = document("check", "well-behaved", "--format", "json", "--no-ledger")["traces"]
    assert trace["acquitted"] == []


def test_why_lists_every_acquittal_with_its_evidence() -> None:
    result = run("check", "well-behaved", "--why")
    assert "#3 read_file(path=" in result.stdout
    assert "✓ written-since: something wrote it in between" in result.stdout
    assert "evidence: #2 write_file(" in result.stdout


def test_colors(stale: Path) -> None:
    assert "\x1b[" not in run("check", stale).stdout
    assert "\x1b[" in run("check", stale, "--color").stdout
    assert "\x1b[" in run("check", stale, FORCE_COLOR="1").stdout
    assert "\x1b[" not in run("check", stale, FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "\x1b[" not in run("check", stale, "--no-color", FORCE_COLOR="1").stdout
    assert "\x1b[" not in run("check", stale, FORCE_COLOR="0").stdout


def test_a_reader_of_files_gets_no_colors(stale: Path) -> None:
    out = stale.parent / "report.txt"
    run("check", stale, "--color", "-o", out)
    assert "\x1b[" not in out.read_text()


def test_unknown_options_and_missing_paths_are_usage_errors() -> None:
    assert run("check").exit_code == 2
    assert run("check", "x", "--nope").exit_code == 2
    assert run("chek").exit_code == 2
