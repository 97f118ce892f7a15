"""The one list of output formats of `refetch convert`. To add one: a module with `write`, and its
line here.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import msgspec

from refetch.model.errors import UsageError
from refetch.model.trace import Trace
from refetch.writers.written import Written

__all__ = ["WRITERS", "Writer", "Written", "writer_for", "writer_named", "writer_names"]


class Writer(msgspec.Struct, frozen=True):
    """An output format. `many`: one file may hold several runs. `suffix`: how its files end."""

    name: str
    title: str
    suffix: str
    many: bool = False

    def write(self, traces: Sequence[Trace]) -> Written:
        """The content of one file.

        Args:
            traces: one, or several where `many`.
        """
        written: Written = import_module(f"refetch.writers.{self.name}").write(traces)
        return written


WRITERS: tuple[Writer, ...] = (
    Writer("native", "refetch trace, JSON Lines", ".jsonl"),
    Writer("atif", "ATIF 1.8 trajectory", ".json"),
    Writer("otlp", "OTLP JSON with the GenAI conventions", ".json", many=True),
)


def writer_names() -> list[str]:
    """What `--to` accepts."""
    return [writer.name for writer in WRITERS]


def writer_named(name: str) -> Writer:
    """The writer of that name.

    Raises:
        UsageError: there is none.
    """
    for writer in WRITERS:
        if writer.name == name:
            return writer
    raise UsageError(f"unknown output format {name!r}; known: {', '.join(writer_names())}")


def writer_for(path: str) -> Writer:
    """The format that a file name asks for: `.atif.json`, `.otlp.json`, else native."""
    lower = path.lower()
    return next((w for w in WRITERS if f".{w.name}." in lower), WRITERS[0])
