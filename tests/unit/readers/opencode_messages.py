"""Messages and databases as opencode makes them, small."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

_SCHEMA = """
create table session(id text primary key, project_id text not null, parent_id text, slug text not
  null, directory text not null, title text not null, version text not null, time_created integer
  not null, time_updated integer not null);
create table message(id text primary key, session_id text not null, time_created integer not null,
  time_updated integer not null, data text not null);
create table part(id text primary key, message_id text not null, session_id text not null,
  time_created integer not null, time_updated integer not null, data text not null);
"""
START = {"type": "step-start"}
FINISH = {"type": "step-finish", "tokens": {"input": 1, "output": 1}}

Message = dict[str, Any]


def tool(call_id: str, name: str, args: dict[str, Any], **state: Any) -> dict[str, Any]:
    """A part of a call, completed unless told otherwise."""
    told = {"status": "completed", "input": args, "output": "x", "time": {"start": 1000}, **state}
    return {"type": "tool", "callID": call_id, "tool": name, "state": told}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def user(own: str, *listed: dict[str, Any], at: int = 1000, session: str = "ses_1") -> Message:
    info = {"id": own, "role": "user", "sessionID": session, "time": {"created": at}}
    return {"info": info, "parts": list(listed)}


def assistant(own: str, *listed: dict[str, Any], at: int = 2000, **more: Any) -> Message:
    info = {
        "id": own,
        "role": "assistant",
        "sessionID": "ses_1",
        "modelID": "m",
        "path": {"cwd": "/w", "root": "/w"},
        "time": {"created": at},
        **more,
    }
    return {"info": info, "parts": list(listed)}


def database(sessions: dict[str, str | None], messages: list[Message]) -> bytes:
    """A database of sessions (each with the one that started it) and all of their messages."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "opencode.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("pragma page_size = 512")
            connection.executescript(_SCHEMA)
            for at, (session, parent) in enumerate(sessions.items()):
                connection.execute(
                    "insert into session values(?, 'p', ?, 's', '/w', 't', '1', ?, ?)",
                    (session, parent, at, at),
                )
            for message in messages:
                info = dict(message["info"])
                own, session = info.pop("id"), info.pop("sessionID")
                at = info["time"]["created"]
                connection.execute(
                    "insert into message values(?, ?, ?, ?, ?)",
                    (own, session, at, at, json.dumps(info)),
                )
                for number, part in enumerate(message["parts"]):
                    connection.execute(
                        "insert into part values(?, ?, ?, ?, ?, ?)",
                        (f"{own}_{number:03}", own, session, at, at, json.dumps(part)),
                    )
            connection.commit()
        return path.read_bytes()
