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
    return _with_bar(parts, files)


def _with_bar(parts: Iterator[T], files: int) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(parts, total=files, description="reading")
