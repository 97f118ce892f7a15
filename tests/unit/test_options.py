"""The table of options: what people can set is what it holds, and everything in it works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete
from tests.unit.imports import imported

import pytest_refetch
from refetch.cli.flags import spellings
from refetch.cli.program import program
from refetch.judge import Options
from refetch.options import OPTIONS, Option, choices_of, flags_of, keys_of, of_pytest
from refetch.reports.registry import format_names

PLACES = ("top", "tasks", "paths", "tools")
SHARED = ("choices", "check")
"""Modules that read settings for several commands."""


def commands(group: click.Group = program, before: str = "") -> Iterator[tuple[str, click.Command]]:
    with click.Context(group) as ctx:
        for name in group.list_commands(ctx):
            command = group.get_command(ctx, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from commands(command, f"{name} ")
            else:
                yield f"{before}{name}", command


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_flags_of_the_table_and_no_others(name: str) -> None:
    found = [param for param in COMMANDS[name].params if isinstance(param, click.Option)]
    written = [sorted([*param.opts, *param.secondary_opts]) for param in found]
    told = [sorted(re.split("/|,", ",".join(spellings(option)))) for option in flags_of(name)]
    assert written == told


class _Parser:
    """Takes what a plugin adds to pytest's options."""

    def __init__(self) -> None:
        self.ini: dict[str, Any] = {}
        self.flags: dict[str, Any] = {}

    def addini(self, name: str, help: str, type: str, default: Any) -> None:  # noqa: A002 pytest's
        self.ini[name] = (help, default)

    def getgroup(self, name: str) -> _Parser:
        assert name == "refetch"
        return self

    def addoption(self, flag: str, **given: Any) -> None:
        self.flags[flag] = given["help"]


def test_pytest_has_the_options_of_the_table_and_no_others() -> None:
    parser: Any = _Parser()
    pytest_refetch.pytest_addoption(parser)
    assert parser.ini == {
        f"refetch_{o.name.replace('-', '_')}": (o.help, o.default) for o in of_pytest("ini")
    }
    assert parser.flags == {f"--refetch-{o.name}": o.help for o in of_pytest("flag")}
    source = Path(pytest_refetch.__file__).read_text("utf-8")
    for name in [*parser.ini, *parser.flags]:
        assert f'"{name}"' in source, f"{name} is set nowhere"


@pytest.mark.parametrize("option", OPTIONS, ids=lambda o: f"{o.name}-{(*o.commands, 'pytest')[0]}")
def test_an_option_is_applied_where_it_can_be_set(option: Option) -> None:
    assert option.commands or option.pytest
    assert set(option.commands) <= set(COMMANDS)
    assert set(option.places) <= set(PLACES)
    assert set(option.pytest) <= {"flag", "ini"}
    if option.field is not None:
        assert getattr(Options(), option.field) in (option.default, {})
        return
    if option.name in ("select", "ignore"):
        return  # tests/unit/test_settings.py sets them everywhere
    for command in option.commands:
        read = [import_module(f"refetch.cli.{name}").__file__ for name in (command.split()[0],)]
        read += [import_module(f"refetch.cli.{name}").__file__ for name in SHARED]
        text = "\n".join(Path(str(file)).read_text("utf-8") for file in read)
        used = rf'(given|settings|ctx\.params)\["({option.name}|{option.parameter})"\]'
        assert re.search(rf"{used}|\b{option.parameter}: ", text), f"{command} leaves it unused"


def test_one_option_a_name() -> None:
    for told in (*map(flags_of, COMMANDS), of_pytest("flag"), of_pytest("ini")):
        assert len({option.name for option in told}) == len(told)
    for place in PLACES:
        assert len(keys_of(place)) == sum(place in option.places for option in OPTIONS)


def test_each_option_says_what_it_does() -> None:
    for option in OPTIONS:
        assert option.help.endswith((".", ")")) or option.pytest or option.choices, option.name


def test_formats_come_from_their_registry() -> None:
    assert choices_of(keys_of("top")["format"]) == tuple(format_names())


@pytest.mark.parametrize(
    ("words", "start", "found"),
    [
        (["check", "--select"], "RF00", ["RF001", "RF002", "RF003", "RF004", "RF005"]),
        (["check", "--ignore"], "stale", ["stale-refetch"]),
        (["check", "--format"], "js", ["json", "jsonl"]),
        (["check", "--fail-on"], "", ["flag", "advice", "never"]),
        (["show", "--input-format"], "codex", ["codex-cli", "codex-exec"]),
        (["capture", "--redact"], "gitl", ["gitlab-token"]),
        (["convert", "--to"], "a", ["atif"]),
        (["baseline", "record"], "--fo", ["--force"]),
    ],
)
def test_shells_complete_what_the_table_says(
    words: list[str], start: str, found: list[str]
) -> None:
    complete = ShellComplete(program, {}, "refetch", "_REFETCH_COMPLETE")
    assert [item.value for item in complete.get_completions(words, start)] == found


def test_the_table_imports_nothing() -> None:
    modules = imported("import refetch.options") - imported("import typing, __future__, importlib")
    assert {name.split(".")[0] for name in modules} == {"refetch"}
