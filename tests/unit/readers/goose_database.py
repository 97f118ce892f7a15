"""Databases as Goose makes them, small."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

_SCHEMA = """
create table schema_version(version integer primary key, applied_at timestamp);
create table sessions(id text primary key, name text not null default '', session_type text not null
  default 'user', working_dir text not null, extension_data text default '{}', total_tokens integer,
  provider_name text, model_config_json text);
create table messages(id integer primary key autoincrement, session_id text not null, role text not
  null, content_json text not null, created_timestamp integer not null, timestamp timestamp, tokens
  integer, metadata_json text);
"""
HIDDEN = {"userVisible": True, "agentVisible": False}
FOR_THE_MODEL = {"userVisible": False, "agentVisible": True}

Message = tuple[str, int, list[dict[str, Any]], dict[str, bool] | None]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def asked(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"status": "success", "value": {"name": name, "arguments": arguments}}
    return {"type": "toolRequest", "id": call_id, "toolCall": call}


def answered(call_id: str, words: str, **more: Any) -> dict[str, Any]:
    value = {"content": [text(words)], "isError": False, **more}
    result = {"status": "success", "value": value}
    return {"type": "toolResponse", "id": call_id, "toolResult": result}


def message(role: str, at: int, *content: Any, seen: dict[str, bool] | None = None) -> Message:
    return (role, at, list(content), seen)


def database(sessions: dict[str, list[Message]], *, wal: bool = False) -> dict[str, bytes]:
    """The files of a database: "db", and "wal" where its program has not moved that over."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("pragma page_size = 512")
            if wal:
                connection.execute("pragma journal_mode = wal")
            connection.executescript(_SCHEMA)
            if wal:
                connection.execute("pragma wal_checkpoint(truncate)")
            for session, messages in sessions.items():
                connection.execute(
                    "insert into sessions(id, working_dir, model_config_json) values(?, ?, ?)",
                    (session, "/w", json.dumps({"model_name": "m"})),
                )
                connection.executemany(
                    "insert into messages(session_id, role, content_json, created_timestamp, "
                    "metadata_json) values(?, ?, ?, ?, ?)",
                    [
                        (session, role, json.dumps(content), at, json.dumps(seen) if seen else None)
                        for role, at, content, seen in messages
                    ],
                )
            connection.commit()
            beside = Path(folder) / "sessions.db-wal"
            log = beside.read_bytes() if beside.exists() else b""
            return {"db": path.read_bytes(), "wal": log}
