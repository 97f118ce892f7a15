"""What a shell command does, as data: its kinds, what it reads, what it writes.

Views start with a word that ends at the first colon:

- ``content``: the lines of a file, whatever numbers are printed beside them.
- ``names``, ``listing``: names only; names with sizes, times or modes. What follows the colon is
  the
  rest of the command (``names:ls -a``), so equal texts list alike.
- ``matches``: output of a filter over the file; ``sed``, ``awk``, ``wc`` and others: of that
  program.
- ``input:…``: the command reads this, but prints it nowhere (copied, captured, redirected).
- ``maybe:…``: it stands in a branch, a loop or behind ``||``, so it may not have run.

``input`` and ``maybe`` reads can be stale, but they never delivered anything for certain.
"""

from __future__ import annotations

import msgspec

READS = "reads"
WRITES = "writes"
TESTS = "tests"
NEUTRAL = "neutral"
VOLATILE = "volatile"
OPAQUE = "opaque"

EVERYTHING = "*"
WORK_TREE = "file:**"
SHELL_STATE = "shell:"
SHELL_DIRECTORY = "shell:directory"


class ShellRead(msgspec.Struct, frozen=True):
    """One thing a command reads.

    ``region`` is None for the whole, ``("line", from, to)`` with 1-based inclusive ends (``to`` None: to
    the end), ``("tail", n)`` for the last n lines, ``("tail", n, m)`` for the first m of these,
    ``("head-lines-but", n)`` for all but the last n, ``("head-bytes", n)``, ``("tail-bytes", n)`` or
    ``("from-byte", n)``.
    """

    resource: str
    view: str
    region: tuple[str | int | None, ...] | None = None


class ShellWrite(msgspec.Struct, frozen=True):
    """One thing a command writes: ``change`` is modify, create, remove or any.

    ``modify`` means that the file existed and keeps its name: a list of names stays true.
    """

    resource: str
    change: str = "any"


class ShellEffect(msgspec.Struct, frozen=True):
    """The effect of a whole command line.

    ``exit_matters``: some reads stand behind ``&&`` and certainly ran only if the exit code is 0.
    """

    kinds: frozenset[str]
    reads: tuple[ShellRead, ...] = ()
    writes: tuple[ShellWrite, ...] = ()
    background: bool = False
    waits: bool = False
    poll: bool = False
    program: str = ""
    note: str = ""
    exit_matters: bool = False

    @property
    def effect(self) -> str:
        """The kinds joined by ``+`` in alphabetical order: ``reads+writes``, ``opaque``."""
        return "+".join(sorted(self.kinds))
