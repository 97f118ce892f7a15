"""Interpreters: code they are given is not interpreted, so it is opaque; modules that test are
not.
"""

from __future__ import annotations

import posixpath

from refetch.effects.shell import checks
from refetch.effects.shell.call import Call, neutral
from refetch.effects.shell.outcome import Opaque, Outcome
from refetch.effects.shell.words import Unresolved

# Names that projects give to the script that runs their tests (Django, SymPy, NumPy and others).
_RUNNERS = frozenset("runtests run_tests run-tests runtest run_test testrunner".split())
_RUNNER_EXTENSIONS = frozenset(("", ".py"))
# In a folder of programs these names alone say the same (``bin/test``).
_BIN_RUNNERS = frozenset(("test", "tests", "doctest", "pytest", "phpunit", "rspec", "jest"))


def is_test_script(path: str) -> bool:
    """Whether the name of a script plainly says that it runs the tests.

    Shell scripts do not count: ``./test_issue.sh`` may do anything.
    """
    folder, name = posixpath.split(path)
    stem, extension = posixpath.splitext(name)
    if extension not in _RUNNER_EXTENSIONS:
        return False
    if stem in _RUNNERS and ("/" in path or extension):
        return True
    return posixpath.basename(folder) == "bin" and not extension and stem in _BIN_RUNNERS


def python(call: Call) -> Outcome:
    """``python -m pytest`` is pytest; a file, ``-c`` or standard input is code."""
    args = call.args
    position = 0
    while position < len(args):
        word = args[position]
        if word in ("-W", "-X", "--check-hash-based-pycs"):
            position += 2
        elif word == "-m":
            return _module(call, args[position + 1 :])
        elif (
            word.startswith("-") and len(word) > 1 and set(word[1:]) <= set("uBbdEIOPqsSRv")
        ) or word.startswith(("-W", "-X")):
            position += 1
        else:
            break
    rest = args[position:]
    if not rest:
        raise Opaque("python runs its standard input")
    if rest[0].startswith("-"):
        if rest[0] in ("-V", "-VV", "--version", "-h", "--help"):
            return neutral()
        raise Opaque("python -c: code is not interpreted")
    return _script(rest)


def _module(call: Call, words: list[str]) -> Outcome:
    if not words or isinstance(words[0], Unresolved):
        raise Opaque("python -m without a module that is named")
    name = words[0]
    program = call.spec.modules.get(name)
    if program is None:
        if name == "django" and words[1:2] == ["test"]:
            return checks.test_script("python -m django", words[1:])
        raise Opaque(f"python -m {name}")
    return call.run([program, *words[1:]])


def _script(words: list[str]) -> Outcome:
    name = posixpath.basename(words[0])
    is_manage = name == "manage.py" and words[1:2] == ["test"]
    if is_manage or is_test_script(words[0]):
        if words[1:] in (["--help"], ["--version"]):
            return neutral()
        return checks.test_script("python", words)
    raise Opaque("python FILE runs unknown code")


def node(call: Call) -> Outcome:
    """``node --test`` runs tests, ``node --check`` only parses."""
    args = call.args
    if args and args[0] in ("--check", "-c") and len(args) == 2 and not args[1].startswith("-"):
        return checks.test_outcome(call.stage())
    if args and args[0] == "--test":
        checks.refuse_writing_options(args)
        if any(
            a.startswith(("--import", "--require", "-r", "-e", "--eval", "--test-reporter-d"))
            for a in args
        ):
            raise Opaque("node with code of its own")
        outcome = checks.test_outcome(call.stage())
        outcome.waits = "--watch" in args
        return outcome
    raise Opaque("node runs unknown code")


def ruby(call: Call) -> Outcome:
    """``ruby -c FILE`` only parses."""
    if len(call.args) == 2 and call.args[0] in ("-c", "-wc", "-cw") and call.args[1][:1] != "-":
        return checks.test_outcome(call.stage())
    raise Opaque("ruby runs unknown code")


def php(call: Call) -> Outcome:
    """``php -l FILE`` only parses."""
    if len(call.args) == 2 and call.args[0] in ("-l", "--syntax-check") and call.args[1][:1] != "-":
        return checks.test_outcome(call.stage())
    if call.args[:2] == ["artisan", "test"]:
        return checks.test_script("php artisan", call.args[1:])
    raise Opaque("php runs unknown code")


def shell_script(call: Call) -> Outcome:
    """``bash -n FILE`` only parses; a script, ``-c`` or standard input is opaque."""
    if len(call.args) == 2 and call.args[0] == "-n" and call.args[1][:1] != "-":
        return checks.test_outcome(call.stage())
    raise Opaque(f"{call.name} runs a script")
