"""Goose: its session database (SQLite), exported sessions, and the older JSON Lines sessions.

Sniff: SQLite's first bytes (the tables are asked for when it is read); or messages whose content
has `toolRequest` or `toolResponse`.

- Traces: one for each session of a database. Turn: one assistant message. Context: always `main`.
- Calls: `toolRequest` blocks; the call is under `toolCall.value`; one whose own `status` is error
  was never executed. Results: `toolResponse` blocks by id, under `toolResult.value`.
- Outcomes: the status of the result and its `isError`. Times: of the messages.
- Context loss: messages that are not visible to the agent any more come before a summary.
- People: user messages with text.

The database is copied into memory and never written to. What the format cannot tell: usage of
single requests, and the results of sub-recipes' own tools.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import NULL, beginning
from refetch.readers.json_records import mapping, parts, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import TraceBuilder

NAME = "goose"
_KEYS = ("conversation", "messages")
_SQLITE = b"SQLite format 3\x00"
_SESSIONS = "SELECT DISTINCT session_id FROM messages ORDER BY session_id"
_MESSAGES = (
    "SELECT role, content_json, created_timestamp FROM messages WHERE session_id = ? ORDER BY id"
)


def sniff(sniffed: Sniffed) -> bool:
    """True for a database, or messages with tool requests."""
    if sniffed.shape == "sqlite":
        return True
    return any(
        small_text(members(block).get("type")) in ("toolRequest", "toolResponse")
        for row in sniffed_records(sniffed, _KEYS)
        for block in parts(row.get("content", NULL))[:20]
    )


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each session.

    Raises:
        InputError: no messages, or a database of something else.
    """
    if data.startswith(_SQLITE):
        return _database(data, source)
    problems: list[Problem] = []
    reading = _Reading(source)
    for one in record_lists(data, source, _KEYS, "message", problems):
        reading.build.run = reading.build.run or small_text(one.around.get("id"))
        for record in one.records:
            reading.message(record)
    reading.build.problems.extend(problems)
    return [reading.build.trace()]


def _database(data: bytes, source: str) -> list[Trace]:
    traces = []
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.text_factory = _text
        try:
            connection.deserialize(data)
            for (session,) in connection.execute(_SESSIONS).fetchall():
                reading = _Reading(source)
                reading.build.run = str(session)
                rows = connection.execute(_MESSAGES, (session,))
                for number, (role, content, created) in enumerate(rows):
                    fields = {
                        "role": Raw(f'"{role}"'.encode("utf-8", "replace")),
                        "content": Raw(str(content).encode("utf-8", "replace")),
                        "created": Raw(str(created).encode() if created is not None else b"null"),
                    }
                    reading.message(Record(fields, f"$.messages[{session}][{number}]"))
                traces.append(reading.build.trace())
        except (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError) as error:
            # A broken schema can hold any bytes, which then stand in SQLite's own messages.
            raise InputError(
                source,
                f"a SQLite database, but not one of Goose: {error}",
                expected="the table messages with session_id, role and content_json",
                found="another database",
            ) from None
    if not traces:
        raise InputError(source, "no sessions in this database", expected="at least one session")
    return traces


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME, NAME)

    def message(self, record: Record) -> None:
        """One message."""
        role = small_text(record.get("role"))
        created = plain(record.get("created"))
        when = float(created) if isinstance(created, int | float) else None
        metadata = mapping(record.get("metadata"))
        blocks = [members(raw) for raw in parts(record.get("content"))]
        kinds = {small_text(block.get("type")) for block in blocks}
        if "summarizationRequested" in kinds or "conversationCompacted" in kinds:
            self.build.lose("compaction")
        if metadata.get("agentVisible") is False:
            return
        if role == "assistant":
            self.build.begin_turn()
        for at, block in enumerate(blocks):
            kind = small_text(block.get("type"))
            if kind == "toolRequest":
                self._call(block, f"{record.path}.content[{at}]", record.line, when)
            elif kind == "toolResponse":
                self._result(block, when)
        if role == "user" and "toolResponse" not in kinds and "text" in kinds:
            self.build.user_message(record.get("content"))

    def _call(self, block: dict[str, Raw], path: str, line: int | None, when: Any) -> None:
        asked = members(block.get("toolCall"))
        value = members(asked.get("value"))
        broken = small_text(asked.get("status")) == "error"
        more = {"outcome": "not-executed"} if broken else {}
        self.build.call(
            small_text(value.get("name")) or "",
            value.get("arguments", NULL),
            call_id=small_text(block.get("id")),
            line=line,
            path=path,
            started=when,
            **more,
        )

    def _result(self, block: dict[str, Raw], when: Any) -> None:
        call = self.build.waiting(small_text(block.get("id")))
        if call is None:
            return
        told = members(block.get("toolResult"))
        value = told.get("value", told.get("error", NULL))
        inner = members(value)
        content = inner.get("content", value)
        failed = small_text(told.get("status")) == "error" or plain(inner.get("isError")) is True
        error = (beginning(content) or beginning(value) or "error") if failed else None
        call.answer(content, "error" if failed else "ok", error=error, ended=when)
