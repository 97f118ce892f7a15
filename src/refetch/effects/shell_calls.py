"""Calls that take a command line: finding the command, and the shell reader's answer in the
judge's terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from refetch.effects.regions import ALL, Region
from refetch.effects.resources import canonical_resource

COMMAND_ARGS = ("command", "cmd", "script", "commands", "bash_command", "shell_command")
SHELL_NAMES = frozenset(
    """bash shell sh zsh terminal exec execute run_command run_shell_command execute_command
    execute_bash
    bash_exec shell_exec exec_command run_bash run_shell bash_command shell_command local_shell cmd
    run_terminal_cmd run_terminal_command execute_shell_command""".split()
)
"""Tool names that plainly take a command line, for tools that nobody declared."""


class ShellReading(NamedTuple):
    """One command as the judge sees it; see `Resolved` for the meaning of each part."""

    effect: str
    reads: tuple[Any, ...]
    writes: tuple[Any, ...]
    depends: tuple[str, ...]
    schemes: frozenset[str]
    volatile: bool
    poll: bool
    waits: bool
    background: bool
    tests: bool
    program: str
    noise: tuple[str, ...]


STILL = ShellReading(
    "", (), (), (), frozenset(), False, False, False, False, False, program="", noise=()
)
"""What a call that is no command brings: nothing."""


class Several(NamedTuple):
    """Command lines of one call, in a type of its own: an argv is a tuple of words."""

    lines: tuple[str, ...]


Command = str | tuple[str, ...] | Several
"""A command line, an argv, or several command lines."""

_SEVERAL = "commands"


def command_of(name: str, args: Mapping[str, Any], argument: str | None) -> Command | None:
    """What a call runs, or None where it plainly runs nothing."""
    if argument is None and name.lower() not in SHELL_NAMES:
        return None
    for key in (argument,) if argument else COMMAND_ARGS:
        value = args.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            words = tuple(value)
            if key != _SEVERAL:
                return words
            return words[0] if len(words) == 1 else Several(words)
    return None


@lru_cache(maxsize=65536)
def read_command(command: Command, cwd: str | None, context: str | None = None) -> ShellReading:
    """Classify a command; cached, since agents repeat themselves.

    `context` is given where the shell may be one that lives on between the commands of a context:
    then `cd`, `export`, `source` write `shell:<context>`, on which every command of it depends.
    """
    # The grammar and the tables cost more than the rest of the start-up.
    from refetch.effects import shell
    from refetch.effects.resolve import Access, WriteTarget
    from refetch.effects.shell.effect import SHELL_DIRECTORY

    if isinstance(command, str):
        found = shell.classify(command, cwd, context is not None)
    elif isinstance(command, Several):
        found = shell.classify_each(command.lines, cwd)
    else:
        found = shell.classify_argv(list(command), cwd)
    kinds = found.kinds
    if "opaque" in kinds:
        effect = "opaque"
    elif "writes" in kinds:
        effect = "write"
    elif kinds & {"reads", "tests", "volatile"}:
        effect = "read"
    else:
        effect = "none"
    tests = "tests" in kinds
    reads, depends = [], []
    for item in found.reads:
        resource = canonical_resource(item.resource, cwd)
        if resource == "*" or tests:
            depends.append("*")
        else:
            reads.append(Access(resource, item.view, _region(item.region), item.view == "names"))
    if context is not None:
        depends.append(f"shell:{context}")
    writes = []
    for target in found.writes:
        if target.resource.startswith("shell:"):
            # Where each call records its directory, an earlier `cd` is in there.
            moves = target.resource == SHELL_DIRECTORY
            if context is not None and not (moves and cwd is not None):
                writes.append(WriteTarget(f"shell:{context}", target.change))
        elif target.resource != "*":
            writes.append(WriteTarget(canonical_resource(target.resource, cwd), target.change))
    if writes and effect in ("none", "read"):
        effect = "write"
    return ShellReading(
        effect=effect,
        reads=tuple(reads) if effect == "read" else (),
        writes=tuple(writes) if effect in ("write", "opaque") else (),
        depends=tuple(depends),
        schemes=frozenset(a.resource.partition(":")[0] for a in reads),
        volatile="volatile" in kinds,
        poll=found.poll,
        waits=found.waits,
        background=found.background,
        tests=tests,
        program=found.program,
        noise=("test-runner",) if tests else (),
    )


def _region(region: tuple[Any, ...] | None) -> Region:
    """The reader's tuple: ("line", from, to|None), ("tail", n), or one that equals only itself."""
    if region is None:
        return ALL
    if region[0] == "line" and len(region) == 3 and isinstance(region[1], int):
        return Region("range", "line", region[1], region[2])
    if region[0] == "tail" and isinstance(region[1], int):
        return Region("tail", "line", region[1])
    return Region("text", "spelled", text=repr(region))
