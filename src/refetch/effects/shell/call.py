"""One simple command as its reader sees it: words, directory, standard input."""

from __future__ import annotations

from collections.abc import Callable

from refetch.effects.shell.effect import NEUTRAL, VOLATILE
from refetch.effects.shell.options import Parsed, acts, parse_options
from refetch.effects.shell.outcome import Opaque, Outcome
from refetch.effects.shell.table import Spec
from refetch.effects.shell.words import (
    Glob,
    Pipe,
    file_resource,
    glob_root,
    is_device,
    looks_like_file,
    stage_text,
    tree_resource,
)

Region = tuple[str | int | None, ...] | None


class State:
    """The shell while a command line runs.

    ``cwd`` is the directory ("" where the start is not known, None where a ``cd`` could not be resolved),
    ``local`` counts the sub-shells around, whose changes are lost.
    """

    __slots__ = ("cwd", "local", "persistent")

    def __init__(self, cwd: str | None, persistent: bool = False) -> None:
        self.cwd = cwd
        self.persistent = persistent
        self.local = 0

    @property
    def keeps_changes(self) -> bool:
        """Whether a change of the shell is still there for the next command line."""
        return self.persistent and not self.local


class Call:
    """A simple command: its name as in the table, its arguments, and where it runs.

    ``piped``: something feeds its standard input. ``run`` reads another command in the same place.
    """

    __slots__ = ("args", "name", "piped", "run", "spec", "state")

    def __init__(
        self,
        name: str,
        args: list[str],
        spec: Spec,
        state: State,
        piped: bool,
        run: Callable[[list[str]], Outcome],
    ) -> None:
        self.name = name
        self.args = args
        self.spec = spec
        self.state = state
        self.piped = piped
        self.run = run

    def parse(self) -> Parsed:
        """Options and operands of the whole command."""
        return parse_options(self.args, self.spec)

    @property
    def cwd(self) -> str:
        """The directory; raises `Opaque` where it is not known."""
        if self.state.cwd is None:
            raise Opaque("the working directory is not settled by the text")
        return self.state.cwd

    def base(self, path: str) -> str:
        """The directory a path is resolved against: irrelevant for an absolute one."""
        if path.startswith(("/", "~")):
            return ""
        return self.cwd

    def file(self, path: str) -> str:
        """The resource of one file, or of the tree that a pattern reaches into."""
        if isinstance(path, Glob):
            return self.tree(glob_root(path))
        return file_resource(path, self.base(path))

    def tree(self, path: str) -> str:
        """The resource of everything below a path."""
        if isinstance(path, Glob):
            path = glob_root(path)
        return tree_resource(path, self.base(path))

    def file_or_tree(self, path: str) -> str:
        """A tree, unless the name plainly is that of a file."""
        if not isinstance(path, Glob) and looks_like_file(path):
            return self.file(path)
        return self.tree(path)

    def view(self, view: str, path: str) -> str:
        """The view, which for a pattern also says what was asked: equal only to the same text."""
        if isinstance(path, Glob):
            return f"{view if ':' in view else view + ':'} in {self.file_text(path)}"
        return view

    def file_text(self, path: str) -> str:
        """A path or pattern with its directory, as text."""
        base = self.base(path)
        return f"{base}/{path}" if base else path

    def here(self, view: str) -> str:
        """A view that depends on the directory as well as on the words."""
        return f"{view} @ {self.cwd}" if self.cwd else view

    def add_read(self, outcome: Outcome, path: str, view: str, region: Region = None) -> None:
        """Reads an operand; ``-`` and process substitutions are no files."""
        if path == "-" or isinstance(path, Pipe) or path == "/dev/null":
            return
        outcome.read(self.file(path), self.view(view, path), region)
        if path.startswith(("/proc/", "/sys/", "/dev/")):
            outcome.kinds.add(VOLATILE)

    def add_write(self, outcome: Outcome, path: str, change: str = "any") -> None:
        """Writes a file that is named; devices that swallow their input are none."""
        if path == "" or isinstance(path, Pipe):
            raise Opaque(f"{self.name} writes to something that is not named")
        if not is_device(path):
            if path.startswith("/dev/"):
                raise Opaque(f"{self.name} writes to a device")
            outcome.write(self.file(path), change)

    def stage(self, omitted: list[str] | tuple[str, ...] = ()) -> str:
        """The canonical text of the command without the operands that are named as resources."""
        if not omitted:
            return stage_text([self.name, *self.args])
        left = list(omitted)
        words = [self.name]
        for word in reversed(self.args):
            if left and word is left[-1]:
                left.pop()
            else:
                words.insert(1, word)
        return stage_text(words)

    def apply_acts(self, parsed: Parsed, outcome: Outcome) -> set[str]:
        """Applies the options that mean the same everywhere and returns the names of all acts
        met.
        """
        met: set[str] = set()
        for act, name, value in acts(parsed, self.spec):
            met.add(act)
            if act == "opaque":
                raise Opaque(f"{self.name} {name}")
            if act in ("write", "tree") and value != "-":
                if not value:
                    raise Opaque(f"{self.name} {name} writes to something that is not named")
                if act == "tree":
                    outcome.write(self.tree(value))
                else:
                    self.add_write(outcome, value)
            elif act == "read" and value:
                self.add_read(outcome, value, f"input:{self.name}")
            elif act == "wait":
                outcome.waits = True
                outcome.kinds.add(VOLATILE)
            elif act == "volatile":
                outcome.kinds.add(VOLATILE)
        return met


def neutral() -> Outcome:
    """An outcome that touches nothing."""
    return Outcome(NEUTRAL)
