"""A bar for people who wait, and nothing for anybody else."""

from __future__ import annotations

import io
import sys

import click
import pytest

from refetch.cli.progress import LONG_BYTES, LONG_FILES, always_shown, shown


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "files", "size", "bar"),
    [
        (True, LONG_FILES, 0, True),
        (True, 3, LONG_BYTES, True),
        (True, 3, 10, False),
        (False, LONG_FILES, LONG_BYTES, False),
    ],
)
def test_when_it_is_shown(
    terminal: bool, files: int, size: int, bar: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = _Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    assert list(shown(iter(range(files)), files, size)) == list(range(files))
    assert ("reading" in stream.getvalue()) is bar


def test_an_early_end_leaves_no_bar_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    parts = shown(iter(range(LONG_FILES)), LONG_FILES, 0)
    assert next(parts) == 0
    parts.close()  # type: ignore[attr-defined]
    assert "\x1b[?25h" in stream.getvalue() or "\x1b[?25l" not in stream.getvalue()


def test_a_pipe_gets_its_lines_while_the_bar_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, pipe = _Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", pipe)
    monkeypatch.setenv("TERM", "xterm")
    for part in always_shown(iter(range(3)), 3, "running"):
        click.echo(f"run {part}")
    assert pipe.getvalue() == "run 0\nrun 1\nrun 2\n"
    assert "running" in terminal.getvalue()
    nobody = io.StringIO()
    monkeypatch.setattr(sys, "stderr", nobody)
    assert list(always_shown(iter("ab"), 2, "running")) == ["a", "b"]
    assert nobody.getvalue() == ""
