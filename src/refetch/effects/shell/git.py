"""git: what each sub-command does to the repository (``git:**``) and to the files of the work tree.

A look at changes depends on both. The repository is one resource whatever the directory is, since
no text says where its root lies; the directory stands in the view instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from refetch.effects.shell.call import Call, neutral
from refetch.effects.shell.effect import READS, VOLATILE, WORK_TREE, WRITES
from refetch.effects.shell.network import REMOTE
from refetch.effects.shell.options import Parsed, parse_options
from refetch.effects.shell.outcome import FILTERS, Opaque, Outcome
from refetch.effects.shell.table import Rule, Spec
from refetch.effects.shell.words import stage_text

REPOSITORY = "git:**"
INDEX = "git:index"
_HARMLESS_KEYS = re.compile(
    r"(color\.|core\.(quotepath|pager|autocrlf|filemode|ignorecase|longpaths|precomposeunicode)|user\.|"
    r"advice\.|commit\.gpgsign|tag\.gpgsign|gpg\.|init\.defaultbranch|safe\.directory|diff\.(noprefix|"
    r"renames|renamelimit|algorithm|mnemonicprefix|context)|log\.|pager\.|column\.|status\.|protocol\.|http\.|"
    r"grep\.|blame\.|merge\.(conflictstyle|ff)|pull\.(rebase|ff)|push\.default|rebase\.auto|"
    r"fetch\.|submodule\.recurse)",
    re.IGNORECASE,
)
# ``git checkout NAME`` is a file where the name has the extension of one, and no version number
# before it.
_FILE_NAME = re.compile(r"(?:^|/)[^/]*[^/0-9.]\.[A-Za-z][A-Za-z0-9]{0,5}$")
_LISTS_WITH = frozenset(
    """-l --list -a --all -r --remotes -v -vv --verbose --show-current --contains --no-contains
    --merged --no-merged
    --points-at --sort --format --column --no-column -n --color --no-color -i
    --ignore-case""".split()
)
_CHANGES = frozenset(
    """-d -D --delete -m -M --move -c -C --copy -f --force -u --set-upstream-to --unset-upstream -t
    --track
    --no-track --edit-description -s --sign --create-reflog --recurse-submodules --annotate -F
    --file
    --message --local-user""".split()
)
# Letters that take a value in one sub-command and none in another.
_FLAGS = {
    "restore": frozenset(("-S",)),
    "clean": frozenset(("-x", "-n")),
    "commit": frozenset(("-s", "-e", "-n", "-S", "-L")),
    "cherry-pick": frozenset(("-x", "-n", "-s", "-e")),
    "add": frozenset(("-n", "-e")),
    "rm": frozenset(("-n",)),
    "tag": frozenset(("-n", "-l", "-s")),
    "branch": frozenset(("-l", "-m", "-c", "-C")),
    "checkout": frozenset(("-m", "-l")),
    "switch": frozenset(("-m",)),
    "stash": frozenset(("-S",)),
    "grep": frozenset(("-F", "-n", "-l", "-L", "-c", "-o", "-x")),
    "config": frozenset(("-l", "-e")),
    "apply": frozenset(("-x",)),
}
_RESET_KEEPS_FILES = frozenset(("--soft", "--mixed", "-q", "--quiet", "-N", "--intent-to-add"))


class Git:
    """One git command after its global options: the words, the directory, the rule that fits."""

    def __init__(self, call: Call) -> None:
        self.call = call
        args = call.args
        globals_ = parse_options(args, call.spec, leading=True)
        self.folder = ""
        for name, value in globals_.options:
            if name == "-C" and value:
                self.folder = (
                    f"{self.folder}/{value}" if self.folder and value[:1] != "/" else value
                )
            elif name == "-c":
                key, _, setting = (value or "").partition("=")
                if not _HARMLESS_KEYS.match(key) or (
                    "pager" in key.lower() and setting not in ("cat", "")
                ):
                    raise Opaque(f"git -c {key}")
            elif name not in ("-P", "--no-pager", "--no-optional-locks", "--literal-pathspecs"):
                raise Opaque(f"git {name}")
        self.args = args[globals_.end :]
        self.words = self.args[1:]
        position = self.words.index("--") if "--" in self.words else None
        self.behind = None if position is None else self.words[position + 1 :]
        ahead = self.words if position is None else self.words[:position]
        flags = _FLAGS.get(self.args[0]) if self.args else None
        self.parsed: Parsed = parse_options(ahead, _grammar(call.spec, flags))
        self.given = frozenset(name for name, _ in self.parsed.options)
        self.stage = stage_text(["git", *self.args])

    @property
    def paths(self) -> list[str]:
        """What stands behind ``--``."""
        return self.behind or []

    def rule(self) -> Rule | None:
        """The rule of the sub-command that asks for most."""
        chosen: Rule | None = None
        operands = [self.args[0], *self.parsed.operands]
        for rule in self.call.spec.sub.get(self.args[0], ()):
            words = tuple(word for word in rule.words if word != ".")
            if tuple(operands[: len(words)]) != words or not rule.options <= self.given:
                continue
            if "." in rule.words and len(operands) > len(words):
                continue
            if rule.verdict == "opaque":
                return rule
            chosen = chosen or rule
        return chosen

    def outcome(self, kind: str) -> Outcome:
        """An empty outcome of this command."""
        result = Outcome(kind, stage=self.stage)
        words = [self.args[0]] if self.args else []
        result.programs.append(" ".join(["git", *words]))
        return result

    def view(self) -> str:
        """What is looked at: the whole text, and where."""
        base = "status" if self.args[0] == "status" and len(self.args) == 1 else f"git:{self.stage}"
        if self.folder:
            return f"{base} -C {self.folder}" + (
                f" @ {self.call.cwd}" if self.folder[0] != "/" else ""
            )
        return self.call.here(base)

    def at(self, path: str) -> str:
        """A path of the command, seen from the shell."""
        return f"{self.folder}/{path}" if self.folder and path[:1] not in "/~" else path

    def write_paths(self, outcome: Outcome, paths: list[str], change: str = "any") -> None:
        """Writes what the path specs name: files, or everything where they may name more."""
        for path in paths:
            if path in (".", ":/", "/") or path.startswith(":") or "*" in path:
                outcome.write(WORK_TREE)
            else:
                outcome.write(self.call.file(self.at(path)), change)


def _grammar(spec: Spec, flags: frozenset[str] | None) -> Spec:
    return msgspec.structs.replace(spec, value=spec.value - flags) if flags else spec


def git(call: Call) -> Outcome:
    """Looks the sub-command up and lets its verdict decide."""
    command = Git(call)
    if not command.args:
        return neutral()
    if command.args[-1:] == ["-h"] and len(command.args) == 2:
        return neutral()
    rule = command.rule()
    if rule is None or rule.verdict == "opaque":
        raise Opaque(f"git {command.args[0]}")
    outcome = _VERDICTS[rule.verdict](command)
    _output_file(command, outcome)
    return outcome


def _output_file(command: Git, outcome: Outcome) -> None:
    if command.args[0] not in (
        "diff",
        "log",
        "show",
        "archive",
        "format-patch",
        "diff-tree",
        "diff-index",
    ):
        return
    for name, value in command.parsed.options:
        if name == "--output" or (name.startswith("--outp") and "--output".startswith(name)):
            command.call.add_write(outcome, command.at(value or ""))


def _look(command: Git) -> Outcome:
    outcome = command.outcome(READS)
    outcome.read(REPOSITORY, command.view())
    if command.args[0] in ("ls-remote",) or command.args[:2] == ["remote", "show"]:
        outcome.kinds.add(VOLATILE)
        outcome.poll = True
    return outcome


def _tree(command: Git) -> Outcome:
    outcome = command.outcome(READS)
    view = command.view()
    if command.args[0] == "diff" and "--no-index" in command.given:
        for path in (*command.parsed.operands, *command.paths):
            outcome.read(command.call.file(command.at(path)), view)
        return outcome
    outcome.read(REPOSITORY, view)
    if command.args[0] == "ls-files" and not command.given & {
        "-o",
        "-m",
        "-d",
        "--others",
        "--modified",
        "--deleted",
    }:
        outcome.reads[0] = type(outcome.reads[0])(REPOSITORY, f"names:{view}")
        return outcome
    files = [path for path in command.paths if path not in (".", ":/") and path[:1] != ":"]
    if files and len(files) == len(command.paths):
        for path in files:
            outcome.read(command.call.file(command.at(path)), view)
    else:
        outcome.read(WORK_TREE, view)
    return outcome


def _state(command: Git) -> Outcome:
    outcome = command.outcome(WRITES)
    first = command.args[0]
    outcome.write(INDEX if first in ("add", "stage", "update-index", "read-tree") else REPOSITORY)
    if first == "add" and command.given & {"-n", "--dry-run"}:
        return _look(command)
    if first == "commit" and command.given & {"--dry-run"}:
        return _look(command)
    if first == "read-tree" and command.given & {"-u", "-m", "--reset"}:
        outcome.write(WORK_TREE)
    if first == "init":
        for path in command.parsed.operands:
            outcome.write(command.call.tree(command.at(path)), "create")
    if first == "hash-object" and "-w" not in command.given:
        return _tree(command)
    if first in ("fetch", "remote"):
        outcome.kinds.add(VOLATILE)
    if first == "remote":
        outcome.kinds.discard(VOLATILE)
    return outcome


def _writes(command: Git) -> Outcome:
    first = command.args[0]
    if first == "clean" and command.given & {"-n", "--dry-run"}:
        return _tree(command)
    if first == "cherry-pick" and command.given & {"--edit"}:
        raise Opaque("git cherry-pick with an editor")
    if first == "rebase" and command.given & {"-i", "--interactive", "--edit-todo"}:
        raise Opaque("git rebase with an editor")
    outcome = command.outcome(WRITES)
    if first in ("stash", "clean") and command.paths:
        command.write_paths(outcome, command.paths)
    else:
        outcome.write(WORK_TREE)
    outcome.write(REPOSITORY)
    return outcome


def _listed(command: Git) -> Outcome:
    """``git branch`` and ``git tag``: a list, unless a name is given to create or an option
    changes.
    """
    changes = command.given & _CHANGES
    if command.args[0] == "tag":
        changes = command.given & (_CHANGES | {"-a", "-m", "-u"})
    asks = command.given & (
        _LISTS_WITH - ({"-a", "-v", "-n"} if command.args[0] == "tag" else frozenset())
    )
    unknown = command.given - _LISTS_WITH - _CHANGES - {"-a", "-m", "-q", "--quiet", "-n"}
    names = [*command.parsed.operands, *command.paths]
    if not changes and not unknown and (asks or not names):
        return _look(command)
    outcome = command.outcome(WRITES)
    outcome.write(REPOSITORY)
    return outcome


def _config(command: Git) -> Outcome:
    words = command.parsed.operands
    asks = command.given & {
        "-l",
        "--list",
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--get-color",
    }
    changes = command.given & {
        "--unset",
        "--unset-all",
        "--add",
        "--replace-all",
        "-e",
        "--edit",
        "--rename-section",
        "--remove-section",
    }
    if not changes and (asks or words[:1] in (["get"], ["list"]) or len(words) == 1):
        return _look(command)
    outcome = command.outcome(WRITES)
    outcome.write("git:config")
    if command.given & {"-f", "--file"}:
        raise Opaque("git config of a file")
    return outcome


def _checkout(command: Git) -> Outcome:
    """A new branch changes no file; paths are written; a branch or commit writes the whole tree."""
    outcome = command.outcome(WRITES)
    names = command.parsed.operands
    if command.given & {"-b", "-B", "--orphan", "--branch"}:
        # ``-b`` takes the name; what else stands there is where the branch starts.
        outcome.write(REPOSITORY)
        if names and "--orphan" not in command.given:
            outcome.write(WORK_TREE)
        return outcome
    if command.behind is not None:
        command.write_paths(outcome, command.paths)
        if not command.paths:
            outcome.write(WORK_TREE)
        outcome.write(INDEX)
        return outcome if names or not command.paths else _only_files(outcome)
    files = [name for name in names if _FILE_NAME.search(name)]
    if names and len(files) == len(names) - (0 if files[:1] == names[:1] else 1) and files:
        command.write_paths(outcome, files)
        return outcome
    outcome.write(WORK_TREE)
    outcome.write(REPOSITORY)
    return outcome


def _only_files(outcome: Outcome) -> Outcome:
    """Restoring from the index leaves the repository as it is."""
    outcome.writes = [write for write in outcome.writes if write.resource != INDEX]
    return outcome


def _switch(command: Git) -> Outcome:
    outcome = command.outcome(WRITES)
    outcome.write(REPOSITORY)
    created = command.given & {"-c", "-C", "--create", "--force-create"}
    # ``-c`` takes a value in the table (as a global option), so a start point is what remains.
    if not created or command.parsed.operands:
        outcome.write(WORK_TREE)
    return outcome


def _restore(command: Git) -> Outcome:
    outcome = command.outcome(WRITES)
    staged = command.given & {"-S", "--staged"}
    if staged and not command.given & {"-W", "--worktree"}:
        outcome.write(INDEX)
        return outcome
    paths = [*command.parsed.operands, *command.paths]
    sources = command.parsed.values("-s", "--source")
    command.write_paths(outcome, [path for path in paths if path not in sources])
    if staged or not paths:
        outcome.write(WORK_TREE if not paths else INDEX)
    return outcome


def _reset(command: Git) -> Outcome:
    """Without ``--hard``, ``--merge`` or ``--keep`` the files stay."""
    outcome = command.outcome(WRITES)
    outcome.write(REPOSITORY)
    if command.given - _RESET_KEEPS_FILES:
        outcome.write(WORK_TREE)
    return outcome


def _apply(command: Git) -> Outcome:
    """``git apply``: writes whatever the patch names; ``--check`` and ``--stat`` only look."""
    patches = [*command.parsed.operands, *command.paths]
    outcome = command.outcome(WRITES)
    for path in patches:
        command.call.add_read(outcome, command.at(path), "input:patch")
    if command.call.piped and not patches:
        outcome.intake = FILTERS
    looks = command.given & {"--check", "--stat", "--numstat", "--summary"}
    if looks and "--apply" not in command.given:
        outcome.kinds.discard(WRITES)
        outcome.read(WORK_TREE, command.view())
        return outcome
    if "--cached" in command.given:
        outcome.write(INDEX)
        return outcome
    outcome.write(WORK_TREE)
    return outcome


def _rm(command: Git) -> Outcome:
    outcome = command.outcome(WRITES)
    outcome.write(INDEX)
    if command.given & {"-n", "--dry-run"}:
        return _look(command)
    if "--cached" not in command.given:
        paths = [*command.parsed.operands, *command.paths]
        if "-r" in command.given:
            for path in paths:
                outcome.write(command.call.file_or_tree(command.at(path)), "remove")
        else:
            command.write_paths(outcome, paths, "remove")
    return outcome


def _mv(command: Git) -> Outcome:
    outcome = command.outcome(WRITES)
    outcome.write(INDEX)
    command.write_paths(outcome, [*command.parsed.operands, *command.paths])
    return outcome


def _clone(command: Git) -> Outcome:
    outcome = command.outcome(WRITES)
    outcome.kinds.add(VOLATILE)
    names = command.parsed.operands
    if not names or command.given & {"-c", "--config", "-u", "--upload-pack", "--template"}:
        raise Opaque("git clone with options that are not followed")
    folder = (
        names[1] if len(names) > 1 else names[0].rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    )
    outcome.write(command.call.tree(command.at(folder)), "create")
    return outcome


def _push(command: Git) -> Outcome:
    if command.given & {"--receive-pack", "--exec"}:
        raise Opaque("git push with a program")
    outcome = command.outcome(WRITES)
    outcome.kinds.add(VOLATILE)
    outcome.write(REMOTE)
    outcome.write(REPOSITORY)
    return outcome


def _symbolic(command: Git) -> Outcome:
    if len(command.parsed.operands) == 1 and not command.given & {"-d", "--delete", "-m"}:
        return _look(command)
    outcome = command.outcome(WRITES)
    outcome.write(REPOSITORY)
    return outcome


def _format_patch(command: Git) -> Outcome:
    if "--stdout" in command.given:
        return _look(command)
    outcome = command.outcome(WRITES)
    folder = next(iter(command.parsed.values("-o", "--output-directory")), ".")
    outcome.write(command.call.tree(command.at(folder)), "create")
    return outcome


def _archive(command: Git) -> Outcome:
    if command.given & {"--remote", "--exec"}:
        raise Opaque("git archive of another host")
    outcome = _look(command)
    for value in command.parsed.values("-o"):
        command.call.add_write(outcome, command.at(value))
    return outcome


def _worktree(command: Git) -> Outcome:
    outcome = command.outcome(WRITES)
    outcome.write(REPOSITORY)
    for path in command.parsed.operands[1:]:
        outcome.write(command.call.tree(command.at(path)))
    return outcome


def _neutral(_: Git) -> Outcome:
    return neutral()


_VERDICTS: dict[str, Callable[[Git], Outcome]] = {
    "apply": _apply,
    "archive": _archive,
    "checkout": _checkout,
    "clone": _clone,
    "config": _config,
    "format_patch": _format_patch,
    "listed": _listed,
    "look": _look,
    "mv": _mv,
    "neutral": _neutral,
    "push": _push,
    "reset": _reset,
    "restore": _restore,
    "rm": _rm,
    "state": _state,
    "switch": _switch,
    "symbolic": _symbolic,
    "tree": _tree,
    "worktree": _worktree,
    "writes": _writes,
}
