"""The entry points: a command line, or the argument list a harness recorded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from refetch.effects.shell import grammar
from refetch.effects.shell.call import State
from refetch.effects.shell.effect import SHELL_STATE, ShellEffect
from refetch.effects.shell.outcome import Opaque, Outcome, finished, opaque
from refetch.effects.shell.programs import run
from refetch.effects.shell.statements import Walker
from refetch.keys.paths import lexical_path

_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))
_MAX_LENGTH = 1_000_000


@lru_cache(maxsize=65536)
def classify(command: str, cwd: str | None = None, persistent: bool = False) -> ShellEffect:
    """Reads a Bash command line and says what it does; nothing is executed or opened.

    Args:
        command: the text given to the shell.
        cwd: the directory it starts in, where recorded; without it relative paths stay relative.
        persistent: whether ``cd``, ``export`` and the like outlive the command (they then write
        ``shell:``).

    Whatever is not certain (a syntax error, an unknown program or option, a variable in a path)
    makes the
    whole opaque. A command that may mutate is never called neutral, reads or tests. Never raises.
    """
    return finished(_whole(command, cwd, persistent))


def _whole(command: str, cwd: str | None, persistent: bool) -> Outcome:
    if len(command) > _MAX_LENGTH:
        return opaque("a command line of more than a million characters")
    source = command.encode("utf-8", "replace")
    root = grammar.parse(source)
    if root is None:
        if not grammar.available():
            return opaque(
                "the Bash grammar is not installed: pip install tree-sitter tree-sitter-bash"
            )
        return opaque("does not parse cleanly as Bash")
    state = State(lexical_path(cwd) if cwd else "", persistent)
    try:
        return Walker(source, state).statement(root)
    except Opaque as verdict:
        return opaque(str(verdict))
    except RecursionError:
        return opaque("nested too deep")


def classify_argv(
    argv: Sequence[str], cwd: str | None = None, persistent: bool = False
) -> ShellEffect:
    """The same for an argument list that no shell has split (Codex: ``["bash", "-lc", SCRIPT]``).

    The script of ``bash -c`` and its kind is read as a command line; any other list is one simple
    command, in
    which no character is special.
    """
    words = [str(word) for word in argv]
    if len(words) == 3 and _program(words[0]) in _SHELLS and _is_script_option(words[1]):
        return classify(words[2], cwd, persistent)
    try:
        outcome = run(words, State(lexical_path(cwd) if cwd else "", persistent), False)
    except Opaque as verdict:
        outcome = opaque(str(verdict))
    return finished(outcome)


def classify_each(commands: Sequence[str], cwd: str | None = None) -> ShellEffect:
    """The same for several command lines of one call, run in any order or at the same time.

    Nobody says whether they share a shell: where one changes its own, the whole is opaque.
    """
    total = Outcome()
    for command in commands:
        part = _whole(command, cwd, persistent=True)
        if any(write.resource.startswith(SHELL_STATE) for write in part.writes):
            return finished(opaque("one of several commands changes the shell of the others"))
        if part.exit_matters:
            part.doubt().exit_matters = False  # there is one exit code for all of them, if any
        total.add(part)
    return finished(total)


def _program(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _is_script_option(word: str) -> bool:
    """``-c`` alone or with ``-l``, ``-i``, ``-e`` and the like, which change nothing here."""
    return word.startswith("-") and word.endswith("c") and set(word[1:]) <= set("lciexu")
