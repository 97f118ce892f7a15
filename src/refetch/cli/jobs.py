"""Many files in several processes: each takes whole families of files, the order stays.

Threads gain nothing, since the work holds the interpreter's lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from refetch.readers.open_input import STDIN, Unit
from refetch.reports.batch import Batch

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Check = Callable[[Sequence[Unit]], Batch]

WORTH_IT = 16 << 20
"""Bytes below which starting processes costs more than it saves."""
PORTION = 4 << 20
"""Bytes that a process takes at a time; small ones would cost more in talking than in working."""
PORTION_FILES = 200


def processes_for(families: list[list[Unit]], jobs: int) -> int:
    """How many processes to take for these files: at most `jobs`; 0 decides by their size and the
    processors.
    """
    if any(STDIN in unit.paths for family in families for unit in family):
        return 1  # only this process has the standard input
    if jobs == 0:
        jobs = _processors() if size_of(families) >= WORTH_IT else 1
    return max(1, min(jobs, len(families)))


def size_of(families: list[list[Unit]]) -> int:
    """Bytes of all files."""
    return sum(_size(unit) for family in families for unit in family)


def checked_parts(check: Check, families: list[list[Unit]], processes: int) -> Iterator[Batch]:
    """The verdicts on each family, in order."""
    if processes == 1:
        yield from map(check, families)
    else:
        yield from _in_processes(check, _portions(families, processes), processes)


def _in_processes(
    check: Check, portions: list[list[list[Unit]]], processes: int
) -> Iterator[Batch]:
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    done = 0
    try:
        with ProcessPoolExecutor(processes, initializer=_end_with_parent) as pool:
            for parts in pool.map(partial(_check_portion, check), portions):
                yield from parts
                done += 1
    except BrokenProcessPool:
        # A process was killed, perhaps for its memory: the rest one after the other.
        for portion in portions[done:]:
            yield from map(check, portion)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, which nothing else would tell it."""
    import multiprocessing
    import threading

    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_await_end, args=(parent,), daemon=True).start()


def _await_end(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _check_portion(check: Check, portion: list[list[Unit]]) -> list[Batch]:
    return [check(family) for family in portion]


def _portions(families: list[list[Unit]], processes: int) -> list[list[list[Unit]]]:
    sizes = [sum(map(_size, family)) for family in families]
    portion = min(PORTION, sum(sizes) // processes + 1)
    found: list[list[list[Unit]]] = []
    room, places = 0, 0
    for family, size in zip(families, sizes, strict=True):
        if room <= 0 or places <= 0:
            found.append([])
            room, places = portion, PORTION_FILES
        found[-1].append(family)
        room -= size
        places -= 1
    return found


def _size(unit: Unit) -> int:
    try:
        return sum(Path(path).stat().st_size for path in unit.paths if path != STDIN)
    except OSError:
        return 0


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
