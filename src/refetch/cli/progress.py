"""A bar on standard error while many or large files are read, where somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TypeVar

T = TypeVar("T")

LONG_BYTES = 64 << 20
LONG_FILES = 200


def shown(parts: Iterator[T], files: int, size: int) -> Iterator[T]:
    """The same parts, one a family of files, with a bar where people wait and watch."""
    if not sys.stderr.isatty() or (files < LONG_FILES and size < LONG_BYTES):
        return parts
    return _with_bar(parts, files, "reading")


def always_shown(parts: Iterator[T], total: int, what: str) -> Iterator[T]:
    """The same parts, with a bar where somebody watches: for slow parts, however few."""
    return _with_bar(parts, total, what) if sys.stderr.isatty() else parts


def _with_bar(parts: Iterator[T], total: int, what: str) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(
        console=Console(stderr=True),
        transient=True,
        # Lines for the terminal go above the bar; lines for a pipe are none of its business.
        redirect_stdout=sys.stdout.isatty(),
    )
    with bar as progress:
        yield from progress.track(parts, total=total, description=what)
