"""The shell itself and the machine: words, directories, variables, waiting, processes."""

from __future__ import annotations

from refetch.effects.shell.call import Call, neutral
from refetch.effects.shell.effect import (
    NEUTRAL,
    READS,
    SHELL_DIRECTORY,
    SHELL_STATE,
    VOLATILE,
    WRITES,
)
from refetch.effects.shell.outcome import Opaque, Outcome, opaque, shell_state
from refetch.effects.shell.words import Glob, QuotedUnresolved, Unresolved, file_resource
from refetch.keys.paths import lexical_path

# Variables that make a later program run something else.
_DANGEROUS = frozenset(
    """LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV PROMPT_COMMAND PAGER GIT_PAGER
    MANPAGER LESSOPEN LESSCLOSE
    GIT_EXTERNAL_DIFF GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL
    RIPGREP_CONFIG_PATH
    GREP_OPTIONS NODE_OPTIONS PERL5OPT RUBYOPT PYTHONSTARTUP PYTEST_ADDOPTS PYTEST_PLUGINS IFS
    CDPATH
    TAR_OPTIONS RSYNC_RSH INSTA_UPDATE INSTA_FORCE_PASS UPDATE_SNAPSHOTS UPDATE_GOLDEN UPDATE_EXPECT
    UPDATE_BASELINE UPDATE BLESS TRYBUILD GOFLAGS RUSTC_WRAPPER CARGO_BUILD_RUSTC_WRAPPER""".split()
)
_HARMLESS_VALUES = frozenset(("", "cat", "less", "more", "0", "false", "no"))
_SURE = frozenset(("echo", "printf", "true", ":", "pwd", "export", "set", "unset", "unalias"))
_STATE_SCRIPTS = frozenset(
    """activate activate.fish activate.csh .bashrc .bash_profile .profile .zshrc .zprofile .env
    .envrc nvm.sh env conda.sh
    cargo/env .env.local""".split()
)
_FILE_TESTS = frozenset("-a -b -c -d -e -f -g -h -k -L -N -O -G -p -r -s -S -u -w -x".split())


def plain(call: Call) -> Outcome:
    """A program that touches no file."""
    if call.spec.operands == "opaque" and call.args and not call.args[0].startswith("-"):
        raise Opaque(f"{call.name} with a value to set")
    outcome = neutral()
    outcome.sure = call.name in _SURE
    if call.name == "printf" and call.args[:1] == ["-v"]:
        return shell_state(call.state.keeps_changes)
    if not call.spec.free:
        call.apply_acts(call.parse(), outcome)
    return outcome


def refused(call: Call) -> Outcome:
    """A program that the table knows to be opaque."""
    return opaque(f"{call.name}: {call.spec.note}")


def live(call: Call) -> Outcome:
    """A look at the machine, which changes by itself."""
    outcome = Outcome(VOLATILE, stage=call.stage())
    outcome.poll = call.spec.poll
    call.apply_acts(call.parse(), outcome)
    return outcome


def date(call: Call) -> Outcome:
    """The clock; ``-s`` or a bare time sets it."""
    outcome = Outcome(VOLATILE, stage=call.stage())
    parsed = call.parse()
    given = parsed.has(frozenset(("-f", "--file"))) or parsed.has(frozenset(("-s", "--set")))
    if given or any(not word.startswith("+") for word in parsed.operands):
        raise Opaque("date with a time to set, or a form that is not known")
    return outcome


def wait(call: Call) -> Outcome:
    """Time passes."""
    outcome = neutral()
    outcome.waits = True
    outcome.sure = call.name == "sleep"
    return outcome


def environment(call: Call) -> Outcome:
    """What is installed."""
    outcome = Outcome(READS, stage=call.stage())
    call.apply_acts(call.parse(), outcome)
    outcome.read(call.spec.resource, f"matches:{outcome.stage}")
    return outcome


def environment_if(call: Call) -> Outcome:
    """The same where one of the asking options stands first; else the package database is
    changed.
    """
    first = call.args[0] if call.args else ""
    if call.spec.acts.get(first.partition("=")[0]) != "reads" and not (
        call.name == "rpm" and first.startswith("-q") and first[2:].isalpha()
    ):
        raise Opaque("package manager")
    if call.name == "rpm" and any(word.startswith("--pipe") for word in call.args):
        raise Opaque("rpm --pipe")
    outcome = Outcome(READS, stage=call.stage())
    outcome.read(call.spec.resource, f"matches:{outcome.stage}")
    return outcome


def cd(call: Call) -> Outcome:
    """Moves the directory for what follows; one that is not settled makes later relative paths
    unknown.
    """
    words = [word for word in call.args if word not in ("-P", "-L", "--", "-e", "-q")]
    state = call.state
    target = words[0] if words else "~"
    unsettled = isinstance(target, Unresolved | Glob) or len(words) > 1
    if call.name == "popd" or target == "-" or target.startswith("+") or unsettled:
        state.cwd = None
    elif target.startswith(("/", "~")):
        state.cwd = lexical_path(target)
    elif state.cwd is not None:
        moved = lexical_path(target, state.cwd or None)
        state.cwd = "" if moved == "." else moved
    outcome = shell_state(state.keeps_changes, SHELL_DIRECTORY)
    outcome.sure = True
    return outcome


def state(call: Call) -> Outcome:
    """Variables and options of the shell: neutral by themselves."""
    for word in call.args:
        name, equals, value = word.partition("=")
        if equals:
            known = not isinstance(word, Unresolved)
            check_assignment(name, value if known else "?")
    outcome = shell_state(call.state.keeps_changes)
    outcome.sure = call.name in _SURE
    return outcome


def check_assignment(name: str, value: str) -> None:
    """Raises for a variable that makes later programs run or write something else."""
    if name in _DANGEROUS and value not in _HARMLESS_VALUES:
        raise Opaque(f"{name} changes what later programs do")


def background(call: Call) -> Outcome:
    """``disown``: a job is left running."""
    outcome = neutral()
    outcome.background = True
    return outcome


def source(call: Call) -> Outcome:
    """Runs a script in this shell; only scripts that are known to set variables are shell state."""
    if not call.args or isinstance(call.args[0], Unresolved):
        raise Opaque("source of a script that is not named")
    script = call.args[0]
    name = script.rsplit("/", 1)[-1]
    if name in _STATE_SCRIPTS or script.endswith("/.cargo/env"):
        return shell_state(call.state.keeps_changes)
    outcome = opaque("source runs a script")
    if call.state.keeps_changes:
        outcome.write(SHELL_STATE, "modify")
    return outcome


def kill(call: Call) -> Outcome:
    """Ends processes: a write to them, unless it only asks."""
    args = call.args
    if any(isinstance(word, Unresolved) for word in args) or not args:
        raise Opaque("kill of a process that is not named")
    if any(call.spec.acts.get(word) == "look" for word in args):
        outcome = Outcome(VOLATILE)
        outcome.poll = True
        return outcome
    outcome = Outcome(WRITES)
    outcome.write("process:**")
    return outcome


def test(call: Call) -> Outcome:
    """``test`` and ``[``: the state of the files it asks about."""
    outcome = Outcome(NEUTRAL)
    args = call.args[:-1] if call.name == "[" else call.args
    for index, word in enumerate(args):
        if word in _FILE_TESTS and index + 1 < len(args) and _is_unary(args, index):
            read_status(outcome, call.state.cwd, args[index + 1])
        elif word in ("-nt", "-ot", "-ef") and 0 < index < len(args) - 1:
            read_status(outcome, call.state.cwd, args[index - 1])
            read_status(outcome, call.state.cwd, args[index + 1])
    return outcome


def _is_unary(args: list[str], index: int) -> bool:
    """``-a`` between two words is "and", not the old test for existence."""
    return args[index] != "-a" or index == 0 or args[index - 1] in ("!", "(", "-a", "-o")


def read_status(outcome: Outcome, cwd: str | None, path: str) -> None:
    """Reads whether and what a file is."""
    if isinstance(path, Unresolved | QuotedUnresolved):
        raise Opaque("a test of a file that is not settled by the text")
    if cwd is None and not path.startswith(("/", "~")):
        raise Opaque("the working directory is not settled by the text")
    base = "" if path.startswith(("/", "~")) else cwd or ""
    outcome.read(file_resource(path, base), "status")
