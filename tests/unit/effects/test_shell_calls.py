"""Finding the command of a call, and reading several command lines of one call."""

from __future__ import annotations

from typing import Any

import pytest

from refetch.effects.shell_calls import Several, ShellReading, command_of, read_command


def reading(*commands: str) -> ShellReading:
    command = command_of("shell", {"commands": list(commands)}, None)
    assert command is not None
    return read_command(command, None, "main")


def names(places: tuple[Any, ...]) -> list[str]:
    return [place.resource for place in places]


@pytest.mark.parametrize(
    ("name", "args", "command"),
    [
        ("bash", {"command": "ls"}, "ls"),
        ("local_shell", {"command": ["ls", "a b"]}, ("ls", "a b")),
        ("shell", {"commands": ["ls"]}, "ls"),
        ("shell", {"commands": ["ls", "pwd"]}, Several(("ls", "pwd"))),
        ("shell", {"commands": ["ls", 5]}, None),
        ("shell", {"commands": []}, None),
        ("shell", {}, None),
        ("lookup", {"command": "ls"}, None),
    ],
)
def test_the_command_of_a_call(name: str, args: dict[str, Any], command: Any) -> None:
    assert command_of(name, args, None) == command


def test_several_reads_are_a_read_of_all() -> None:
    found = reading("cat a", "sed -n 1,3p b")
    assert (found.effect, names(found.reads)) == ("read", ["file:a", "file:b"])


def test_a_list_of_commands_is_no_argv() -> None:
    assert reading("ls", "cat a") != read_command(("ls", "cat a"), None, "main")


@pytest.mark.parametrize(
    ("commands", "effect", "writes"),
    [
        (("ls", "rm a"), "write", ["file:a"]),
        (("cat a", "echo x > a"), "write", ["file:a"]),
        (("echo x > a", "cat a"), "write", ["file:a"]),
        (("ls", "pwd", "touch b"), "write", ["file:b"]),
        (("cat a", "make"), "opaque", []),
        (("cd x", "cat a"), "opaque", []),
        (("export A=1", "cat a"), "opaque", []),
        (("cat a", "source b"), "opaque", []),
        (("cat 'a", "b'"), "opaque", []),
        (("(ls", "rm a)"), "opaque", []),
        (("cat <<EOF", "rm a\nEOF"), "opaque", ["file:a"]),
        (("ls # not all", "rm a"), "write", ["file:a"]),
        (("ls \\", "rm a"), "opaque", ["file:a"]),
    ],
)
def test_none_of_several_commands_hides_another(
    commands: tuple[str, ...], effect: str, writes: list[str]
) -> None:
    found = reading(*commands)
    assert (found.effect, found.reads) == (effect, ())
    assert set(writes) <= set(names(found.writes))


def test_one_exit_code_vouches_for_none_of_several() -> None:
    found = reading("test -f a && cat a", "ls")
    assert [place.view for place in found.reads if place.resource == "file:a"] != ["content"]
