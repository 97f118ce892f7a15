"""opencode's storage folder of 2025: a file for each session, message and part.

A session's messages lie in `message/<session>/`, their parts in `part/<message>/` (at first in
`part/<session>/<message>/`), beside the folder of sessions. Names come from the session file's own
path and from listings, never from what a file says.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem
from refetch.readers.records import Record
from refetch.readers.sniff import members, small_text

_KEPT_PROBLEMS = 20


def is_session(document: dict[str, Raw]) -> bool:
    """True for what the file of a session holds."""
    own = small_text(document.get("id")) or ""
    return own.startswith("ses") and {"title", "time", "version"} <= document.keys()


def messages_beside(source: str, problems: list[Problem]) -> list[Record]:
    """The messages of a session, in order, with their parts.

    Args:
        source: the path of the session's file.
        problems: files that cannot be read are added here.

    Raises:
        InputError: there are none.
    """
    session = Path(source)
    for base in list(session.parents)[1:3] if os.path.isfile(source) else ():  # noqa: PTH113
        found = []
        for file, info in _objects(base / "message" / session.stem, problems):
            own = file.stem
            folders = (base / "part" / own, base / "part" / session.stem / own)
            listed = [part for folder in folders for _, part in _objects(folder, problems)]
            fields = {"info": info, "parts": Raw(b"[" + b",".join(map(bytes, listed)) + b"]")}
            found.append(Record(fields, f"$.message[{own}]"))
        if found:
            return found
    raise InputError(
        source,
        "a session of opencode without its messages",
        expected=f"files in ../../message/{session.stem}/",
        found="none",
    )


def _objects(folder: Path, problems: list[Problem]) -> list[tuple[Path, Raw]]:
    """The JSON objects in a folder by name, which is their order in time."""
    found = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            raw = Raw(path.read_bytes().strip())
        except OSError as error:
            problems.append(Problem(str(path), error.strerror or "it cannot be read"))
            continue
        if members(raw):
            found.append((path, raw))
        elif len(problems) < _KEPT_PROBLEMS:
            problems.append(Problem(str(path), "not a JSON object", expected="an object"))
    return found
