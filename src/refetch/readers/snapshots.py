"""Several files of one session: checkpoints of a running session, copies, resumed histories.

The calls that a smaller file holds stand in the larger one as well and are counted once, there.
Files are compared only where they share the first id that a model provider gave out, so a folder
is not held in memory. Forks (each file has calls of its own behind a common history) stay apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from refetch.model.trace import Call, Trace

_PEEK = 1 << 18
_PROVIDER_ID = re.compile(rb'"((?:msg|toolu|call|fc|resp|chatcmpl)[_-][A-Za-z0-9_-]{8,80})"')

_Keys = dict[tuple[str, str, str, bytes], str | None]
"""(context, id, name, arguments) of each call, and its result."""


def first_provider_id(path: str) -> bytes | None:
    """The first message or call id in a file (its first 256 KiB, uncompressed), or None."""
    try:
        if not Path(path).is_file():
            return None
        with Path(path).open("rb") as file:
            found = _PROVIDER_ID.search(file.read(_PEEK))
    except OSError:
        return None
    return found[1] if found else None


def families(paths: Sequence[str]) -> list[list[int]]:
    """Positions of paths that may hold one session, in order of the first of each family."""
    if len(paths) < 2:
        return [[index] for index in range(len(paths))]
    by_id: dict[bytes, list[int]] = {}
    found: list[list[int]] = []
    for index, path in enumerate(paths):
        mark = first_provider_id(path)
        family = by_id.get(mark) if mark is not None else None
        if family is not None:
            family.append(index)
            continue
        found.append([index])
        if mark is not None:
            by_id[mark] = found[-1]
    return found


def without_snapshots(traces: Iterable[Trace]) -> tuple[list[Trace], int]:
    """The traces whose calls no other one holds too, and how many were left out.

    A trace without calls, or with a call without id, is never left out. Of equals the first stays.
    """
    given = list(traces)
    keys = [_keys(trace) for trace in given]
    order = sorted(range(len(given)), key=lambda i: -len(keys[i] or ()))
    kept: list[int] = []
    for index in order:
        mine = keys[index]
        if mine and any(
            given[other].format == given[index].format and _holds(keys[other] or {}, mine)
            for other in kept
        ):
            continue
        kept.append(index)
    return [given[index] for index in sorted(kept)], len(given) - len(kept)


def _keys(trace: Trace) -> _Keys | None:
    keys: _Keys = {}
    for event in trace.events:
        if type(event) is not Call or event.origin != "model":
            continue
        if event.call_id is None:
            return None
        args = (event.raw_args or "").encode("utf-8", "surrogatepass") or bytes(event.args)
        keys[event.context, event.call_id, event.name, args] = event.result_hash
    return keys


def _holds(larger: _Keys, smaller: _Keys) -> bool:
    # A checkpoint may have been taken before a result came.
    return all(
        key in larger and (result is None or result == larger[key])
        for key, result in smaller.items()
    )
