"""What the program imports: heavy modules only where they are needed. Real processes, no clocks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.runner import EXAMPLES, PROJECT, refetching
from tests.unit.imports import imported

HEAVY = (
    "rich", "tree_sitter", "asyncio", "scipy", "numpy", "genai_prices", "zstandard",
    "zipfile", "gzip", "bz2", "lzma", "difflib", "traceback", "multiprocessing", "tempfile",
    "shutil",
)  # fmt: skip


def imported_by(*args: str) -> set[str]:
    """The modules that a run of the command line imports."""
    code = f"import sys; sys.argv = {['refetch', *args]!r}; from refetch.cli import main; main()"
    return imported(code, cwd=str(PROJECT))


def test_version_imports_almost_nothing() -> None:
    modules = imported_by("--version")
    assert modules.isdisjoint({*HEAVY, "click", "msgspec", "typing", "json", "re", "xxhash"})
    assert {name for name in modules if name.startswith("refetch")} == {"refetch", "refetch.cli"}


def test_a_check_imports_nothing_heavy(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(refetching())
    modules = imported_by("check", str(path))
    assert modules.isdisjoint(HEAVY)
    assert not [name for name in modules if name.startswith(("refetch.replay", "refetch.record"))]
    assert "refetch.reports.json_report" not in modules
    assert "refetch.cli.demo" not in modules


def test_the_shell_grammar_is_loaded_for_commands_only() -> None:
    assert "tree_sitter" in imported_by("check", str(EXAMPLES / "timeout-session.jsonl"))


@pytest.mark.parametrize("how", [["-m", "refetch"], ["-c", "from refetch.cli import main; main()"]])
def test_as_a_process(how: list[str], tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(refetching())
    done = subprocess.run(
        [sys.executable, *how, "check", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "1 redundant" in done.stdout
    assert done.stderr == ""


def test_exit_2_as_a_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "refetch", "check", str(tmp_path / "nope")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == f"error: {tmp_path / 'nope'}: no such file\n"


def test_a_terminal_without_unicode(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(refetching())
    done = subprocess.run(
        [sys.executable, "-m", "refetch", "check", str(path)],
        capture_output=True, check=False,
        env={"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert done.returncode == 1
    assert b"x stale-refetch of #0" in done.stdout
    assert b"r - 2 calls in 2 turns - 1 redundant (50 %)" in done.stdout


def test_a_reader_that_stops_early_sees_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(refetching())
    shell = f"{sys.executable} -m refetch show {path} | head -n 1"
    done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("r · 2 calls")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="closes streams with a shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("check sloppy", 1), ("check sloppy -o r.json", 1), ("check -", 2), ("show sloppy", 0),
        ("demo", 0), ("tools", 0), ("tools --commands -", 0), ("explain", 0), ("--version", 0),
        ("capture sloppy", 0), ("convert EXAMPLE -o -", 0), ("--help", 0), ("check nowhere", 2),
    ],
)  # fmt: skip
def test_streams_that_are_closed(tmp_path: Path, words: str, code: int, closed: str) -> None:
    words = words.replace("EXAMPLE", str(EXAMPLES / "release-notes.jsonl"))
    command = f'exec "$1" -m refetch {words} {closed}'
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        ["sh", "-c", command, "sh", sys.executable],
        stdin=subprocess.DEVNULL, capture_output=True, cwd=tmp_path, env=env, check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    assert done.returncode == code
    if "r.json" in words:
        assert (tmp_path / "r.json").read_bytes().startswith(b"{")
