"""opencode's database: sessions, and those that their calls started, as messages with parts."""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from msgspec import Raw

from refetch.model.errors import InputError
from refetch.readers.blocks import raw_of
from refetch.readers.records import Record
from refetch.readers.sniff import members
from refetch.readers.sqlite_file import BROKEN, json_in, not_of, opened, with_log

TABLES = frozenset(("session", "message", "part"))
_SESSIONS = "SELECT id, parent_id, directory FROM session ORDER BY time_created, id"
_MESSAGES = "SELECT id, session_id, data FROM message ORDER BY time_created, id"
_PARTS = "SELECT message_id, data FROM part ORDER BY id"


class Session(NamedTuple):
    """A session that no other one started, with the messages of those that it did start."""

    run: str
    folder: str | None
    messages: list[Record]


def sessions_in(data: bytes, source: str) -> list[Session]:
    """The sessions with messages.

    Raises:
        InputError: there are none, or it is another program's database.
    """
    try:
        with opened(with_log(data, source)) as connection:
            found = _sessions(connection)
    except BROKEN as error:
        columns = "id, session_id, time_created and data"
        raise not_of("opencode", source, error, "message", columns) from None
    if not found:
        raise InputError(source, "no sessions in this database", expected="at least one session")
    return found


def _sessions(connection: sqlite3.Connection) -> list[Session]:
    rows = connection.execute(_SESSIONS).fetchall()
    parents = {own: parent for own, parent, _ in rows}
    listed: dict[Any, list[bytes]] = {}
    for message, data in connection.execute(_PARTS):
        if members(part := json_in(data)):
            listed.setdefault(message, []).append(bytes(part))
    messages: dict[Any, list[Record]] = {}
    for own, session, data in connection.execute(_MESSAGES):
        fields = {
            "id": raw_of(str(own)),
            "sessionID": raw_of(str(session)),
            "info": json_in(data),
            "parts": Raw(b"[" + b",".join(listed.get(own, [])) + b"]"),
        }
        record = Record(fields, f"$.message[{own}]")
        messages.setdefault(_root(session, parents), []).append(record)
    return [
        Session(str(own), str(folder) if folder else None, messages[own])
        for own, _, folder in rows
        if own in messages
    ]


def _root(session: Any, parents: dict[Any, Any]) -> Any:
    """The session from which all others that led to this one came; a circle ends where it began."""
    seen = {session}
    while (parent := parents.get(session)) in parents and parent not in seen:
        session = parent
        seen.add(session)
    return session
