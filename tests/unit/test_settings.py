"""Settings from a file: one table, flags first, mistakes named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.runner import READ, call, native, refetching, run

from refetch.judge import Options
from refetch.model.errors import UsageError
from refetch.readers.open_input import read_path as load
from refetch.settings import load_settings
from refetch.testing.assertions import judged
from refetch.testing.call_budget import Budget


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.jsonl"
    path.write_text(refetching())
    return path


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("budget = 1", 1, "budget 1: over by 1"),
        ("per-tool = { read = 1 }", 1, "RF004"),
        ('ignore = ["RF003"]', 0, "clean"),
        ('select = ["RF001"]', 0, "clean"),
        ('fail-on = "never"', 0, "1 redundant"),
        ("[tasks.r]\nbudget = 1", 1, "RF004"),
        ('[tasks."x*"]\nbudget = 1', 1, "1 redundant"),
    ],
)
def test_a_file_sets_what_flags_set(trace: Path, text: str, code: int, words: str) -> None:
    Path("refetch.toml").write_text(text)
    done = run("check", trace)
    assert done.exit_code == code
    assert words in done.stdout


def test_flags_come_first(trace: Path) -> None:
    Path("refetch.toml").write_text('budget = 1\nfail-on = "never"\nignore = ["RF003"]')
    assert "over by" not in run("check", trace, "--budget", 5).stdout
    assert run("check", trace, "--fail-on", "flag").exit_code == 1
    assert "RF003" in run("check", trace, "--ignore", "RF001").stdout


def test_ceilings_of_tools_are_told_in_the_order_of_the_calls(trace: Path) -> None:
    names = [f"tool_{letter}" for letter in "hcaebdgf"]
    trace.write_text(native(*(call(i, 1, name, {}) for i, name in enumerate(names))))
    Path("refetch.toml").write_text('[tools."tool_*"]\nbudget = 0')
    (report,) = json.loads(run("check", trace, "--format", "json").stdout)["traces"]
    assert [finding["kind"] for finding in report["findings"]] == names


@pytest.mark.parametrize("place", ["", "[tasks.r]", '[paths."*.jsonl"]'])
@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("budget = 1", "2 calls, budget 1: over by 1"),
        ("per-tool = { read = 1, write = 1 }", "2 calls of read, budget 1"),
        ("per-turn = 0", "1 calls in turn 1 of main, budget 0"),
        ("tokens = 1000", "900,010 tokens, budget 1,000"),
        ("dollars = 0.01", "budget 0.01"),
    ],
)
def test_every_budget_everywhere(trace: Path, place: str, budget: str, words: str) -> None:
    usage = {"input_tokens": 900_000, "output_tokens": 10}
    rows = [call(seq, seq + 1, "read", {"path": f"{seq}"}) for seq in range(2)]
    request = {"type": "request", "turn": 1, "usage": usage}
    trace.write_text(native(request, *rows, tools=READ, model="gpt-4o"))
    Path("refetch.toml").write_text(f"{place}\n{budget}")
    done = run("check", trace)
    assert words in done.stdout
    assert done.exit_code == 1


def test_whether_a_user_message_is_a_barrier(trace: Path) -> None:
    first = call(0, 1, "read", {"path": "a"}, result="text")
    said = {"type": "user_message", "after": 0}
    trace.write_text(native(first, said, {**first, "seq": 1, "turn": 2}, tools=READ))
    assert "RF107" in run("check", trace).stdout
    assert "RF003" in run("check", trace, "--no-user-message-is-barrier").stdout
    Path("refetch.toml").write_text("user-message-is-barrier = false")
    assert "RF003" in run("check", trace).stdout
    assert "RF107" in run("check", trace, "--user-message-is-barrier").stdout


@pytest.mark.parametrize("table", ["tasks.r", 'paths."*"', "tools.read"])
def test_flags_come_before_what_a_table_has_of_its_own(trace: Path, table: str) -> None:
    Path("refetch.toml").write_text(f"[{table}]\nbudget = 1")
    assert "over by 1" in run("check", trace).stdout
    flags = ("--per-tool", "read=9") if table == "tools.read" else ("--budget", 9)
    assert "over by" not in run("check", trace, *flags).stdout


@pytest.mark.parametrize(
    ("text", "flags", "codes"),
    [
        ('[tools.read]\nignore = ["RF003"]', (), []),
        ('[tools."re*"]\nignore = ["stale-refetch"]', (), []),
        ('[tools.read]\nselect = ["RF001", "RF2"]', (), "no rule 'RF2'"),
        ('[tools.read]\nselect = ["RF001"]', (), []),
        ('[tools.read]\nselect = ["RF001"]', ("--select", "RF003"), []),
        ('[tools.write]\nignore = ["RF003"]', (), ["RF003"]),
        ('[tools."*"]\nignore = ["RF003"]\n[tools.read]\neffect = "read"', (), []),
        ('[tools."*"]\nignore = ["RF003"]\n[tools.read]\nselect = []', (), ["RF003"]),
        ("[tools.read]\nttl = 0", (), []),
        ('[tools."re*"]\nttl = 0\n[tools.read]\nbudget = 9', (), []),
        ('[tools."re*"]\nttl = 0\n[tools.read]\nmutates = false', (), ["RF003"]),
        ("[tools.read]\nbudget = 1", (), ["RF003", "RF004"]),
        ("[tools.read]\nbudget = 2", (), ["RF003"]),
        ('[tools."*"]\nbudget = 1', (), ["RF003", "RF004"]),
        ("per-tool = { read = 5 }\n[tools.read]\nbudget = 1", (), ["RF003"]),
        ('[tools.read]\nbudget = 1\nignore = ["RF003"]\neffect = "read"', (), ["RF004"]),
    ],
)
def test_what_a_tool_has_of_its_own(
    trace: Path, text: str, flags: tuple[str, ...], codes: list[str] | str
) -> None:
    Path("refetch.toml").write_text(text)
    done = run("check", trace, "--format", "json", *flags)
    if isinstance(codes, str):
        assert codes in done.stderr
        return
    (report,) = json.loads(done.stdout)["traces"]
    assert sorted(finding["code"] for finding in report["findings"]) == codes


def test_reports_and_other_switches_in_the_file(trace: Path) -> None:
    Path("refetch.toml").write_text('format = "json"\noutput = ["csv=all.csv"]\nno-cost = true')
    (finding,) = json.loads(run("check", trace).stdout)["traces"][0]["findings"]
    assert "cost" not in finding
    assert Path("all.csv").read_text().startswith("source,run,")
    assert run("check", trace, "--format", "github").stdout.startswith("::")
    run("check", trace, "-o", "page.html")
    assert Path("page.html").read_text().startswith("<!doctype html>")
    Path("refetch.toml").write_text("poll-limit = 2\njobs = 1\ntop = 1\nwhy = true")
    assert run("check", trace).exit_code == 1


def test_flags_for_what_only_the_file_had(trace: Path) -> None:
    assert "RF004" not in run("check", trace, "--tokens", 5, "--dollars", 0.1).stdout
    rows = [call(seq, seq + 1, "get_status", {}, ok=False, error="no such job") for seq in range(2)]
    trace.write_text(native(*rows))
    assert "RF105" not in run("check", trace).stdout
    assert "RF105" in run("check", trace, "--failure-limit", 2).stdout


def test_other_commands_follow_the_settings(trace: Path) -> None:
    Path("refetch.toml").write_text('ignore = ["RF003"]')
    assert "stale-refetch" not in run("show", trace).stdout
    assert "stale-refetch" in run("show", trace, "--ignore", "RF1").stdout
    run("report", trace, "-o", "page.html")
    assert '"redundant":0,' in Path("page.html").read_text("utf-8")


def test_a_fixture_is_replayed_under_the_settings_it_was_captured_under(trace: Path) -> None:
    Path("refetch.toml").write_text('ignore = ["RF003"]\nbudget = 1')
    run("capture", trace, "-o", "fixture.json")
    assert [e["code"] for e in json.loads(Path("fixture.json").read_text())["expect"]] == ["RF004"]
    assert run("replay", "fixture.json").exit_code == 0
    Path("refetch.toml").unlink()
    assert run("replay", "fixture.json").exit_code == 1


def test_files_are_seen_from_the_folder_of_the_settings(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("check", trace, "--write-known", "known.json")
    Path("tools.json").write_text('{"tools": []}')
    Path("refetch.toml").write_text('known = "known.json"\nmcp-tools = ["tools.json"]')
    Path("below").mkdir()
    monkeypatch.chdir("below")
    assert run("check", trace).exit_code == 0


def test_assertions_follow_the_settings(trace: Path) -> None:
    (known,), folder = load(trace), trace.parent
    assert [f.code for f in judged(known, None, folder).findings] == ["RF003"]
    Path("refetch.toml").write_text('ignore = ["RF003"]\nbudget = 1')
    assert [f.code for f in judged(known, None, folder).findings] == ["RF004"]
    assert judged(known, Budget(2, {}), folder).findings == []
    assert [f.limit for f in judged(known, Budget(3, {"read": 0}), folder).findings] == [0]


def test_pyproject_and_a_named_file(trace: Path) -> None:
    Path("pyproject.toml").write_text('[tool.refetch]\nfail-on = "never"\n')
    assert run("check", trace).exit_code == 0
    Path("other.toml").write_text('[tool.refetch]\nfail-on = "flag"\n')
    assert run("check", trace, "--config", "other.toml").exit_code == 1


def test_known_findings_in_the_file(trace: Path) -> None:
    run("check", trace, "--write-known", "known.json")
    Path("refetch.toml").write_text('known = "known.json"')
    assert run("check", trace).exit_code == 0


def test_tokens_and_dollars_of_a_task(trace: Path) -> None:
    usage = {"input_tokens": 900_000, "output_tokens": 10}
    request = {"type": "request", "turn": 1, "usage": usage}
    rows = native(request, call(0, 1, "read", {"path": "a"}), tools=READ, model="gpt-4o")
    trace.write_text(rows)
    Path("refetch.toml").write_text("tokens = 1000")
    assert "900,010 tokens, budget 1,000" in run("check", trace).stdout
    Path("refetch.toml").write_text("dollars = 0.01")
    assert "budget 0.01" in run("check", trace).stdout
    Path("refetch.toml").write_text("dollars = 1000\ntokens = 1000000")
    assert run("check", trace).exit_code == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('[paths."old/*"]\nignore = ["RF003"]', 0),
        ('[paths."old/*"]\nselect = ["RF001"]', 0),
        ('[paths."*.jsonl"]\nignore = ["stale-refetch"]', 0),
        ('[paths."old/*"]\nignore = ["RF003"]\nbudget = 1', 1),
        ('[paths."old/*"]\nbudget = 1\nignore = ["RF003"]\n[tasks."*"]\nbudget = 9', 0),
        ('[paths."*"]\nignore = ["RF003"]\n[paths."old/*"]\nbudget = 50', 1),
        ('[paths."new/*"]\nignore = ["RF003"]', 1),
        ('[paths."t.jsonl"]\nignore = ["RF003"]', 1),
    ],
)
@pytest.mark.parametrize("absolute", [False, True])
def test_what_a_path_has_of_its_own(trace: Path, text: str, code: int, absolute: bool) -> None:
    Path("old").mkdir()
    moved = trace.rename(trace.parent / "old" / "t.jsonl")
    Path("refetch.toml").write_text(text)
    assert run("check", moved if absolute else "old/t.jsonl").exit_code == code


def test_a_path_is_seen_from_the_folder_of_the_file(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("old").mkdir()
    trace.rename(trace.parent / "old" / "t.jsonl")
    Path("refetch.toml").write_text('[paths."old/*"]\nignore = ["RF003"]')
    monkeypatch.chdir("old")
    assert run("check", "t.jsonl").exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[paths.x]\nignore = ["RF9"]', "[paths.\"x\"] no rule 'RF9'"),
        ("[paths.x]\nignroe = []", '[paths."x"] unknown key `ignroe`; did you mean ignore?'),
        ("budget = -1", "budget: expected 0 or more, found -1"),
        ("dollars = nan", "dollars: expected 0 or more, found nan"),
        ("per-tool = { read = -1 }", "per-tool: expected 0 or more, found -1"),
        ("poll-limit = 1", "poll-limit: expected 2 or more, found 1"),
        ('format = "pdf"', "refetch.toml: format: expected one of text, json, jsonl"),
        ("per_tool = 1", "unknown key `per_tool`; did you mean per-tool?"),
        ('[tool."x"]\nbudget = 1', "unknown key `tool`; did you mean tools?"),
        ('[tasks.x.per-tool]\nread = "1"', '[tasks."x"] per-tool: Expected `int`, got `str`'),
        ('[task."x"]\nbudget = 1', "unknown key `task`; did you mean tasks?"),
        ("[tools.read]\nbudgte = 1", "[tools.read] unknown key `budgte`; did you mean `budget`?"),
        ("[tools.read]\nmutate = true", "unknown key `mutate`; did you mean `mutates`?"),
        ("[tools.read.region]\nfrist = 1", "[tools.read.region] unknown key `frist`; did you mean"),
        ("[tools.read]\nbudget = true", '[tools."read"] budget: Expected `int`, got `bool`'),
        ("tools = 5", "[tools] must be a table of tools"),
        ("[tools]\nread = 5", '[tools."read"] must be a table'),
        ("[tasks]\nread = 5", '[tasks."read"] must be a table'),
        ("paths = 5", "[paths] must be a table of paths"),
        ("budgte = 1", "unknown key `budgte`; did you mean budget?"),
        ("zzz = 1", "unknown key `zzz`; known: budget"),
        ('budget = "five"', "budget: Expected `int`, got `str`"),
        ('fail-on = "sometimes"', "fail-on: expected one of flag, advice, never"),
        ("[tasks.x]\nselect = []", '[tasks."x"] unknown key `select`'),
        ("tasks = 5", "[tasks] must be a table"),
        ("budget = ", "no valid TOML"),
        ('select = ["RF9"]', "no rule 'RF9'"),
    ],
)
def test_mistakes_are_named(trace: Path, text: str, words: str) -> None:
    Path("refetch.toml").write_text(text)
    done = run("check", trace)
    assert done.exit_code == 2
    assert words in done.stderr


def test_nothing_set_is_nothing_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(None).options(Options()) == Options()
    (tmp_path / "pyproject.toml").write_text("[tool]\nrefetch = 5")
    with pytest.raises(UsageError):
        load_settings(None)
