"""Which files belong to one Claude Code session.

A project folder holds `<session>.jsonl` and, for its sub-agents,
`<session>/subagents/agent-<id>.jsonl` (older versions: `agent-<id>.jsonl` beside it, whose records
name the session).
"""

from __future__ import annotations

from pathlib import Path

import msgspec

_FOLDER = "subagents"
_PREFIX = "agent-"
_SUFFIX = ".jsonl"
_FIRST_LINE = 1 << 20


class _Owner(msgspec.Struct, rename="camel"):
    session_id: str | None = None
    is_sidechain: bool = False


_owner = msgspec.json.Decoder(_Owner)


def session_file_of(path: Path) -> Path | None:
    """The session file that a sub-agent's file belongs to, which need not exist; else None.

    Only the older layout is opened (its first line); an unreadable file belongs to nothing.
    """
    if not (path.name.startswith(_PREFIX) and path.name.endswith(_SUFFIX)):
        return None
    if _FOLDER in path.parts[-4:-1]:
        at = len(path.parts) - 1 - path.parts[::-1].index(_FOLDER)
        session = Path(*path.parts[:at])
        return session.parent / f"{session.name}{_SUFFIX}"
    try:
        with path.open("rb") as file:
            owner = _owner.decode(file.readline(_FIRST_LINE))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not owner.is_sidechain or not owner.session_id or "/" in owner.session_id:
        return None
    return path.parent / f"{owner.session_id}{_SUFFIX}"


def subagent_files(session: Path) -> list[Path]:
    """The files of a session's sub-agents in the newer layout, by name."""
    folder = session.parent / session.name.removesuffix(_SUFFIX) / _FOLDER
    if not session.name.endswith(_SUFFIX) or not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob(f"{_PREFIX}*{_SUFFIX}") if path.is_file())
