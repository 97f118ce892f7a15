"""Settings from a file: one table, flags first, mistakes named."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.runner import READ, call, native, refetching, run

from refetch.cli.settings import BUDGETS, OF_PATHS, SETTINGS, load_settings
from refetch.judge import Options
from refetch.model.errors import UsageError


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


def test_each_setting_has_help_and_a_field_that_exists() -> None:
    fields = set(Options.__struct_fields__)
    assert all(s.help.endswith(".") and (s.field is None or s.field in fields) for s in SETTINGS)
    assert set(BUDGETS) <= set(OF_PATHS) <= set(SETTINGS)
