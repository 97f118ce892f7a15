"""One table of a file at a time, and never another than the whole file gives."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import pytest

from refetch.effects.sections import Sections
from refetch.effects.shell.programs import HANDLERS
from refetch.effects.shell.table import known_programs, spec_of

EFFECTS = files("refetch.effects")
BUILTIN = sorted((EFFECTS / "builtin").iterdir(), key=str)
COMMANDS = sorted((EFFECTS / "shell" / "commands").iterdir(), key=str)


@pytest.mark.parametrize(
    ("file", "below"),
    [*((f, "tools") for f in BUILTIN), *((f, None) for f in COMMANDS)],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_tables_are_those_of_the_whole_file(file: Any, below: str | None) -> None:
    if not file.name.endswith(".toml"):
        pytest.skip("no table")
    text = file.read_text("utf-8")
    whole = tomllib.loads(text)
    sections = Sections(text, f"{below}." if below else "")
    tables = whole.pop(below) if below else whole
    assert {name: sections.table(name) for name in sections} == tables
    assert sections.head() == (whole if below else {})


def test_names_in_quotes_sub_tables_and_comments() -> None:
    text = """\
# A comment with [brackets].
k = 1
[t."a.b"]  # the first
x = "[no] header"
[t.c]
y = 1
[t.c.d]
z = 2
"""
    sections = Sections(text, "t.")
    assert sections.head() == {"k": 1}
    assert list(sections) == ["a.b", "c"]
    assert sections.table("a.b") == {"x": "[no] header"}
    assert sections.table("c") == {"y": 1, "d": {"z": 2}}
    assert "d" not in sections
    with pytest.raises(KeyError):
        sections.table("d")


def test_a_file_without_tables() -> None:
    assert Sections("k = 1\n").head() == {"k": 1}
    assert list(Sections("")) == []


@pytest.mark.parametrize("name", known_programs())
def test_every_row_of_the_command_table_can_be_used(name: str) -> None:
    spec = spec_of(name)
    assert spec is not None
    assert spec.do in HANDLERS


@pytest.mark.parametrize("name", ["", "no-such-program", "names", "sub", "git.sub"])
def test_what_is_no_program_has_no_row(name: str) -> None:
    assert spec_of(name) is None
