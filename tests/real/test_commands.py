"""The shell reader on every command of the handed traces: never a crash, never a write missed.

The net is simple on purpose: a word that plainly changes something, where a command begins.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from refetch.effects.resolve import arguments
from refetch.effects.shell_calls import COMMAND_ARGS, Several, command_of, read_command
from refetch.readers.open_input import read_paths

CHANGES = frozenset(
    """rm rmdir mv cp touch mkdir chmod chown ln truncate dd patch tee unzip make cmake
    npx node python python3 perl ruby bash sh eval source""".split()
)
CHANGES_WITH = {
    "git": "add commit checkout reset stash push pull merge rebase clean rm mv apply clone init",
    "pip": "install uninstall",
    "npm": "install ci run uninstall",
    "apt-get": "install update remove",
    "apt": "install update remove",
    "cargo": "build run install add",
    "go": "get install generate run",
    "docker": "run exec build rm stop start",
}
BETWEEN = frozenset(("&&", "||", ";", "|", "&", "("))
HARMLESS = frozenset(("--version", "--help", "-V", "-h", "-v", "--dry-run", "-n", "list"))


@pytest.fixture(scope="module")
def commands(shared_dir: Path) -> list[str]:
    found: dict[str, None] = {}
    for loaded in read_paths([str(shared_dir / "traces")]):
        for trace in loaded.traces:
            for call in trace.calls:
                args = arguments(call)
                if isinstance(args, dict):
                    for name in (call.name, "bash"):
                        command = command_of(name, args, None)
                        if isinstance(command, Several):
                            found.update(dict.fromkeys(command.lines))
                        elif isinstance(command, str):
                            found[command] = None
                        elif command:
                            found[shlex.join(command)] = None
    return list(found)


def beginnings(command: str) -> Iterator[list[str]]:
    """The words of each simple command, as far as the text splits without a doubt."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word in BETWEEN:
            yield words
            words = []
        else:
            words.append(word)
    yield words


def plainly_changes(command: str) -> bool:
    if "\n" in command or "<<" in command or "#" in command:
        return False
    try:
        parts = list(beginnings(command))
    except ValueError:
        return False
    for words in parts:
        if not words or HARMLESS & set(words):
            continue
        if words[0] in CHANGES and len(words) > 1 and "-m" not in words and "-c" not in words:
            return True
        if len(words) > 1 and words[1] in CHANGES_WITH.get(words[0], "").split():
            return True
    return False


def test_there_are_many(commands: list[str]) -> None:
    assert len(commands) > 1000
    assert sum(map(plainly_changes, commands)) > 200
    assert COMMAND_ARGS


def test_every_command_is_read(commands: list[str]) -> None:
    effects = {read_command(command, "/repo").effect for command in commands}
    assert effects == {"read", "write", "opaque", "none"}


def test_none_that_plainly_changes_something_is_a_mere_look(commands: list[str]) -> None:
    missed = [
        command
        for command in commands
        if plainly_changes(command)
        and (found := read_command(command, "/repo")).effect in ("read", "none")
        and not found.tests
    ]
    assert missed == []
