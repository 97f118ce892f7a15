"""Goose: its session database (SQLite), exported sessions, and the older JSON Lines sessions.

Sniff: a SQLite database with the tables `sessions` and `messages`; or messages whose content has
`toolRequest` or `toolResponse`.

- Traces: one for each session of a database. Context: `main`.
- Turn: an assistant message that follows something else. Goose tells the calls of one response as
  pairs of request and answer, all stamped when the last one ended: pairs of the same second are one
  turn, and the trace says that its turns are inferred.
- Calls: `toolRequest` blocks; the call is under `toolCall.value`; one whose own `status` is error
  was never executed, one that delegates with `async` runs in the background. Results:
  `toolResponse` blocks by id, under `toolResult.value`.
- Outcomes: a command with an exit code ran (ok); a call that was declined is rejected; one that a
  person interrupted is unknown; else the status of the result and its `isError`.
- Context loss: a compaction keeps the messages, but the model sees them no more
  (`agentVisible` false); their results are lost where the first message follows that only the
  model sees (the summary, which is nobody's word).
- People: user messages with text that are visible to people.
- Model and folder: of the session. Times: of the messages, in seconds. Usage: none for single
  requests.

What the format cannot tell: which session started a sub-agent's session (it is a trace of its
own), when a call began, and results that left before compactions were kept (up to 2025).
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import NULL, beginning, ending, raw_of, whole_text
from refetch.readers.failures import failed_as
from refetch.readers.json_records import mapping, number, parts, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.sqlite_file import BROKEN, MAGIC, json_in, not_of, opened, with_log
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "goose"
_KEYS = ("conversation", "messages")
_TABLES = frozenset(("sessions", "messages"))
_ASKED = ("toolRequest", "frontendToolRequest")
_EXIT = re.compile(r"Command exited with code (-?\d{1,9})\s*$")
_CUT = re.compile(r"Full output saved to |showing only the last \d+ lines|output was truncated")
_ENDINGS = (
    (re.compile(r"The user has declined to run this tool"), "rejected"),
    (re.compile(r"Let the user know the tool call was skipped"), "rejected"),
    (re.compile(r"(?:-?\d+: )?Interrupted by the user"), "unknown"),
    (re.compile(r"(?:-?\d+: )?An uncaught error happened during tool use"), "unknown"),
)
_TAIL = 400
_SESSIONS = "SELECT * FROM sessions"
_RUNS = "SELECT session_id FROM messages GROUP BY session_id ORDER BY MIN(id)"
# An answer is stamped when its message was begun, which is before the request's was.
_MESSAGES = "SELECT * FROM messages WHERE session_id IS ? ORDER BY id"


class _Session(NamedTuple):
    run: str | None = None
    folder: str | None = None
    model: str | None = None


def sniff(sniffed: Sniffed) -> bool:
    """True for its database, or messages with tool requests."""
    if sniffed.shape == "sqlite":
        return _TABLES.issubset(sniffed.tables)
    return any(
        small_text(members(block).get("type")) in (*_ASKED, "toolResponse")
        for row in sniffed_records(sniffed, _KEYS)
        for block in parts(row.get("content", NULL))[:20]
    )


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each session.

    Raises:
        InputError: no messages, or a database of something else.
    """
    if data.startswith(MAGIC):
        return _database(data, source)
    problems: list[Problem] = []
    traces = []
    for one in record_lists(data, source, _KEYS, "message", problems):
        around = one.around or one.records[0].fields
        reading = _Reading(source, _described(around))
        for record in one.records:
            reading.message(record)
        traces.append(reading.finished())
    traces[0].problems.extend(problems)
    return traces


def _described(fields: dict[str, Raw]) -> _Session:
    """An exported session, or the first line of an older file."""
    model = members(fields.get("model_config"))
    return _Session(
        small_text(fields.get("id")) if "working_dir" in fields else None,
        small_text(fields.get("working_dir")),
        small_text(model.get("model_name")),
    )


def _database(data: bytes, source: str) -> list[Trace]:
    traces = []
    try:
        with opened(with_log(data, source)) as connection:
            about = {row.get("id"): _about(row) for row in _rows(connection, _SESSIONS)}
            found = connection.execute(_RUNS).fetchall()
            for (session,) in found:
                reading = _Reading(source, about.get(session, _Session(str(session))))
                for number, row in enumerate(_rows(connection, _MESSAGES, session)):
                    place = f"$.messages[{session}][{number}]"
                    reading.message(Record(_fields(row), place))
                traces.append(reading.finished())
    except (*BROKEN, KeyError) as error:
        # A broken schema can hold any bytes, which then stand in SQLite's own messages.
        columns = "session_id, role and content_json"
        raise not_of("Goose", source, error, "messages", columns) from None
    if not traces:
        raise InputError(source, "no sessions in this database", expected="at least one session")
    return traces


def _rows(connection: sqlite3.Connection, query: str, *values: Any) -> Iterator[dict[str, Any]]:
    """Rows by column: older databases have fewer."""
    found = connection.execute(query, values)
    names = [column[0] for column in found.description]
    for row in found:
        yield dict(zip(names, row, strict=True))


def _about(row: dict[str, Any]) -> _Session:
    folder = row.get("working_dir")
    model = mapping(json_in(row.get("model_config_json"))).get("model_name")
    return _Session(
        str(row.get("id")),
        folder if isinstance(folder, str) and folder else None,
        model if isinstance(model, str) else None,
    )


def _fields(row: dict[str, Any]) -> dict[str, Raw]:
    created = row.get("created_timestamp")
    return {
        "role": raw_of(str(row["role"])),
        "content": json_in(row["content_json"]),
        "created": raw_of(created if isinstance(created, int | float) else None),
        "metadata": json_in(row.get("metadata_json")),
    }


class _Reading:
    def __init__(self, source: str, session: _Session) -> None:
        self.build = TraceBuilder(source, NAME, NAME)
        self.build.run = session.run
        self.build.model = session.model
        self.session = session
        self.hidden: list[int] = []
        self.early: dict[str, tuple[dict[str, Raw], float | None]] = {}
        self.spoke = False
        self.asked_at: float | None = None
        self.guessed = False

    def finished(self) -> Trace:
        """What was read."""
        self._compacted()
        return self.build.trace(turns="inferred" if self.guessed else "recorded")

    def message(self, record: Record) -> None:
        """One message."""
        role = small_text(record.get("role"))
        created = plain(record.get("created"))
        when = number(created)
        metadata = mapping(record.get("metadata"))
        blocks = [members(raw) for raw in parts(record.get("content"))]
        kinds = [small_text(block.get("type")) for block in blocks]
        seen = metadata.get("agentVisible") is not False
        if "summarizationRequested" in kinds or "conversationCompacted" in kinds:
            self.build.lose("compaction")
        if seen:
            self._compacted()
        if metadata.get("userVisible") is False:
            return
        if role == "assistant":
            self._responded(when, any(kind in _ASKED for kind in kinds))
        before = self.build.last_seq
        for at, block in enumerate(blocks):
            if kinds[at] in _ASKED:
                self._call(block, f"{record.path}.content[{at}]", record.line, when)
            elif kinds[at] == "toolResponse":
                self._result(block, when)
        if not seen:
            self.hidden.extend(range(before + 1, self.build.last_seq + 1))
        if role == "user":
            self.spoke = False
            if "toolResponse" not in kinds and "text" in kinds:
                self.asked_at = None
                self.build.user_message(record.get("content"))

    def _responded(self, when: float | None, asks: bool) -> None:
        """Several messages of one response lie side by side, its calls in pairs of one second."""
        same = self.spoke
        if asks and not same and when is not None and when == self.asked_at:
            same = self.guessed = True
        if not same:
            self.build.begin_turn(model=self.session.model)
        self.spoke = True
        self.asked_at = when if asks else None

    def _compacted(self) -> None:
        if self.hidden:
            self.build.lose("compaction", lost=self.hidden)
            self.hidden = []

    def _call(self, block: dict[str, Raw], path: str, line: int | None, when: Any) -> None:
        asked = members(block.get("toolCall"))
        value = members(asked.get("value"))
        broken = small_text(asked.get("status")) == "error"
        more: dict[str, Any] = {"outcome": "not-executed"} if broken else {}
        call_id = small_text(block.get("id"))
        name = small_text(value.get("name")) or ""
        if name.endswith("delegate") and mapping(value.get("arguments")).get("async") is True:
            more["background"] = True
        call = self.build.call(
            name,
            value.get("arguments", NULL),
            call_id=call_id,
            line=line,
            path=path,
            cwd=self.session.folder,
            **more,
        )
        if call_id in self.early:
            _answer(call, *self.early.pop(call_id))

    def _result(self, block: dict[str, Raw], when: float | None) -> None:
        call_id = small_text(block.get("id"))
        call = self.build.waiting(call_id)
        told = members(block.get("toolResult"))
        if call is not None:
            _answer(call, told, when)
        elif call_id is not None:
            self.early[call_id] = (told, when)


def _answer(call: OpenCall, told: dict[str, Raw], when: float | None) -> None:
    value = told.get("value", told.get("error", NULL))
    inner = members(value)
    content = inner.get("content", value)
    first = beginning(content) or beginning(value)
    last = _last_words(content)
    failed = small_text(told.get("status")) == "error" or plain(inner.get("isError")) is True
    structured = mapping(inner.get("structuredContent", inner.get("structured_content")))
    code = structured.get("exit_code")
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    outcome = next((word for pattern, word in _ENDINGS if pattern.match(first)), None)
    if outcome is None and structured.get("timed_out") is True:
        outcome = "timeout"
    if outcome is None:
        if code is None and (ended := _EXIT.search(last)):
            code = int(ended[1])
        outcome = "ok" if not failed or code is not None else failed_as(first + "\n" + last)
    if call.fields.get("outcome") == "not-executed":
        outcome = "not-executed"
    call.answer(
        content,
        outcome,
        error=None if outcome == "ok" else first or "error",
        exit_code=code if outcome == "ok" else None,
        truncated=bool(_CUT.search(last)) or structured.get("output_truncated") is True,
        ended=when,
    )


def _last_words(content: Raw) -> str:
    """The end of the last text."""
    if said := ending(content, _TAIL):
        return said
    blocks = parts(content)
    texts = [text for raw in blocks if (text := members(raw).get("text")) is not None]
    return ending(texts[-1], _TAIL) if texts else whole_text(content)[-_TAIL:] if blocks else ""
