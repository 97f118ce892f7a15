"""The effect of one part of a command while the whole is being read."""

from __future__ import annotations

from refetch.effects.shell.effect import (
    EVERYTHING,
    NEUTRAL,
    OPAQUE,
    READS,
    SHELL_STATE,
    TESTS,
    VOLATILE,
    WRITES,
    ShellEffect,
    ShellRead,
    ShellWrite,
)

# How a program treats its standard input, which decides what a pipeline still shows of a file.
IGNORES, PASSES, NARROWS, FILTERS = range(4)

Cut = tuple[str | int, ...]
"""Lines kept of the input: ("head", n), ("tail", n), ("from", n) or ("lines", a, b, a, b, …)."""


class Opaque(Exception):
    """Nothing certain can be said of the whole command; the text says why."""


class Outcome:
    """Kinds, reads and writes gathered so far; mutable, private to this package.

    ``stage`` is the canonical text of a simple command without the files it reads, ``sure`` tells
    that
    nothing in it can fail, so what stands behind its ``&&`` runs.
    """

    __slots__ = (
        "background",
        "cut",
        "exit_matters",
        "intake",
        "kinds",
        "note",
        "poll",
        "programs",
        "reads",
        "stage",
        "sure",
        "waits",
        "writes",
    )

    def __init__(self, *kinds: str, stage: str = "", intake: int = IGNORES) -> None:
        self.kinds: set[str] = set(kinds)
        self.reads: list[ShellRead] = []
        self.writes: list[ShellWrite] = []
        self.note = ""
        self.background = self.waits = self.poll = self.sure = self.exit_matters = False
        self.programs: list[str] = []
        self.stage = stage
        self.intake = intake
        self.cut: Cut = ()

    def read(
        self, resource: str, view: str, region: tuple[str | int | None, ...] | None = None
    ) -> None:
        """Adds one read."""
        self.kinds.add(READS)
        self.reads.append(ShellRead(resource, view, region))

    def write(self, resource: str, change: str = "any") -> None:
        """Adds one write."""
        self.kinds.add(WRITES)
        self.writes.append(ShellWrite(resource, change))

    def add(self, other: Outcome) -> Outcome:
        """Takes in all that another part does."""
        self.kinds |= other.kinds
        self.reads += other.reads
        self.writes += other.writes
        self.note = self.note or other.note
        self.background |= other.background
        self.waits |= other.waits
        self.poll |= other.poll
        self.exit_matters |= other.exit_matters
        self.programs += other.programs
        return self

    def hide(self) -> Outcome:
        """Marks the reads as not printed: redirected, captured or swallowed by a later stage."""
        self.reads = [_marked(read, "input:") for read in self.reads]
        return self

    def doubt(self) -> Outcome:
        """Marks the reads as possibly not done."""
        self.reads = [_marked(read, "maybe:") for read in self.reads]
        return self


def opaque(note: str) -> Outcome:
    """An outcome that may read and write anything."""
    outcome = Outcome(OPAQUE)
    outcome.note = note
    return outcome


def _marked(read: ShellRead, mark: str) -> ShellRead:
    if read.view.startswith(("input:", "maybe:")):
        return read
    return ShellRead(read.resource, mark + read.view, read.region)


def finished(outcome: Outcome) -> ShellEffect:
    """The public form: opaque swallows the other kinds, tests read everything, neutral vanishes."""
    kinds = outcome.kinds
    reads: list[ShellRead] = outcome.reads
    writes = outcome.writes
    if OPAQUE in kinds:
        kinds = {OPAQUE}
        reads = [ShellRead(EVERYTHING, "content"), *(r for r in reads if r.resource != EVERYTHING)]
        writes = [*writes, ShellWrite(EVERYTHING)]
    elif TESTS in kinds:
        kinds = kinds - {READS}
        reads = [read for read in reads if read.resource == EVERYTHING]
    kinds = (kinds - {NEUTRAL}) or {NEUTRAL}
    return ShellEffect(
        kinds=frozenset(kinds),
        reads=tuple(dict.fromkeys(reads)) if len(reads) > 1 else tuple(reads),
        writes=tuple(dict.fromkeys(writes)) if len(writes) > 1 else tuple(writes),
        background=outcome.background,
        waits=outcome.waits,
        poll=outcome.poll,
        program=", ".join(dict.fromkeys(outcome.programs)),
        note=outcome.note,
        exit_matters=outcome.exit_matters,
    )


def shell_state(persistent: bool, resource: str = SHELL_STATE) -> Outcome:
    """A change of the shell itself: it outlives the command only in a persistent shell."""
    outcome = Outcome(NEUTRAL)
    if persistent:
        outcome.write(resource, "modify")
    return outcome


def volatile(stage: str = "", *, poll: bool = False) -> Outcome:
    """A look at something that changes by itself."""
    outcome = Outcome(VOLATILE, stage=stage)
    outcome.poll = poll
    return outcome
