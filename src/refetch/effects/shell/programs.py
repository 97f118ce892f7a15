"""From the words of a simple command to its effect: look the program up, let its reader judge."""

from __future__ import annotations

from collections.abc import Callable

from refetch.effects.shell import (
    archives,
    awk_program,
    checks,
    find_command,
    git,
    interpreters,
    network,
    printing,
    searching,
    sed_script,
    session,
    subcommands,
    wrappers,
    writing,
)
from refetch.effects.shell.call import Call, State, neutral
from refetch.effects.shell.outcome import Opaque, Outcome, opaque
from refetch.effects.shell.table import Spec, spec_of
from refetch.effects.shell.words import Glob, QuotedUnresolved, Unresolved

HANDLERS: dict[str, Callable[[Call], Outcome]] = {
    "awk": awk_program.awk,
    "background": session.background,
    "cd": session.cd,
    "cloud": subcommands.cloud,
    "compress": archives.compress,
    "content": printing.content,
    "copy": writing.copy,
    "curl": network.curl,
    "date": session.date,
    "dd": writing.dd,
    "fd": find_command.fd,
    "filter": printing.filtered,
    "find": find_command.find,
    "fixed": writing.fixed,
    "gh": subcommands.gh,
    "git": git.git,
    "goals": checks.goals,
    "grep": searching.grep,
    "head": printing.head,
    "kill": session.kill,
    "link": writing.link,
    "listing": printing.listing,
    "move": writing.move,
    "neutral": session.plain,
    "node": interpreters.node,
    "opaque": session.refused,
    "patch": archives.patch,
    "php": interpreters.php,
    "python": interpreters.python,
    "reads": session.environment,
    "reads_if": session.environment_if,
    "rsync": writing.rsync,
    "ruby": interpreters.ruby,
    "runner": wrappers.runner,
    "sed": sed_script.sed,
    "service": subcommands.service,
    "shell_script": interpreters.shell_script,
    "source": session.source,
    "state": session.state,
    "subcommands": subcommands.subcommands,
    "tail": printing.tail,
    "tar": archives.tar,
    "tee": writing.tee,
    "test": session.test,
    "tests": checks.tests,
    "unzip": archives.unzip,
    "volatile": session.live,
    "wait": session.wait,
    "wget": network.wget,
    "wrapper": wrappers.wrapper,
    "write": writing.write,
    "zip": archives.zip_archive,
}

_VERSION = frozenset(("--version", "--help"))
# Short options that, alone, print something and no more. ``python -v`` and ``pytest -v`` do not.
_SHORT_VERSION = {
    "python": frozenset(("-V", "-VV", "-h")),
    "node": frozenset(("-v", "-h")),
    "php": frozenset(("-v", "-h", "-m", "-i")),
    "ruby": frozenset(("-v", "-h")),
    "opaque": frozenset(("-V", "-version")),
    "tests": frozenset(("-V",)),
    "goals": frozenset(("-v", "-h")),
    "gh": frozenset(("-h",)),
    "subcommands": frozenset(("-v", "-V", "-h", "-version")),
    "shell_script": frozenset(()),
}
_BIN_FOLDERS = frozenset(("bin", "sbin", ".bin"))
_PRIVATE_BINS = ("venv", "node_modules", "vendor", "env", ".env", ".tox")


def run(argv: list[str], state: State, piped: bool, depth: int = 0) -> Outcome:
    """The effect of one simple command; `Opaque` escapes to the caller."""
    if not argv:
        return neutral()
    first = argv[0]
    if isinstance(first, Unresolved | Glob) or depth > 20:
        raise Opaque("the program is not settled by the text")
    name = program_name(first)
    spec = spec_of(name)
    args = argv[1:]
    if spec is None:
        return _unknown(first, name, args, piped, state)
    args = _settled(args, spec, name)
    if args and (
        _is_version(args[0], spec)
        if len(args) == 1
        else args[-1] == "--help" and _is_help(args, spec)
    ):
        return neutral()

    def again(words: list[str]) -> Outcome:
        return run(words, state, piped, depth + 1)

    call = Call(name, args, spec, state, piped, again)
    outcome = HANDLERS[spec.do](call)
    if not outcome.programs and outcome.kinds and "neutral" not in outcome.kinds:
        outcome.programs.append(name)
    return outcome


def program_name(word: str) -> str:
    """The name in the table of a program that may be given with its directory.

    Only system and tool folders say nothing about what the program is; ``./x`` and ``scripts/x``
    name
    scripts of the project.
    """
    if "/" not in word:
        return word.removesuffix(".exe") if word.endswith(".exe") else word
    folders, name = word.rsplit("/", 1)
    segments = folders.split("/")
    if segments[-1] in _BIN_FOLDERS:
        private = len(segments) > 1 and any(segments[-2].endswith(p) for p in _PRIVATE_BINS)
        if private or (word.startswith(("/", "~/")) and not word.startswith("/tmp/")):  # noqa: S108
            return name
    if segments[-1] in ("", ".", "..") and name in ("gradlew", "mvnw"):
        return name
    if segments[-1] == "Scripts" and len(segments) > 1 and segments[-2].endswith("venv"):
        return name.removesuffix(".exe")
    return word


def _settled(args: list[str], spec: Spec, name: str) -> list[str]:
    """The arguments, with unknown prose replaced; raises where anything else is unknown."""
    if spec.free:
        return args
    for index, word in enumerate(args):
        if isinstance(word, Unresolved):
            option, equals, _ = word.partition("=")
            before = args[index - 1] if index else ""
            in_cluster = before[:1] == "-" and before[:2] != "--" and "-" + before[-1:] in spec.text
            is_prose = before in spec.text or in_cluster or (equals and option in spec.text)
            if not (is_prose and isinstance(word, QuotedUnresolved)):
                raise Opaque(f"{name}: a variable or substitution among its words")
            args = [*args[:index], f"{option}=…" if equals else "…", *args[index + 1 :]]
    return args


def _is_version(word: str, spec: Spec) -> bool:
    return word in _VERSION or word in _SHORT_VERSION.get(spec.do, ())


def _is_help(args: list[str], spec: Spec) -> bool:
    """``tool sub --help`` of a program with sub-commands only prints."""
    return (
        spec.do in ("subcommands", "git", "gh", "cloud")
        and len(args) <= 3
        and all(not word.startswith("-") for word in args[:-1])
        and not any(rule.verdict in ("wrap", "runner") for rule in spec.sub.get(args[0], ()))
    )


def _unknown(first: str, name: str, args: list[str], piped: bool, state: State) -> Outcome:
    if interpreters.is_test_script(first):
        words = [word for word in args if not isinstance(word, Unresolved)]
        if len(words) < len(args):
            raise Opaque("a variable or substitution among the words of a test runner")
        if len(args) == 1 and args[0] in _VERSION:
            return neutral()
        return checks.test_script(first, args)
    if "/" in first:
        return opaque(f"runs a program of the project: {first}")
    return opaque(f"unknown program: {name}")
