"""Logs of the Model Context Protocol: JSON-RPC messages as a proxy or a client writes them.

Sniff: messages with `jsonrpc` (themselves, or under `message`, `payload`, `data` or `body` of a
log record), one of them with an MCP method or a result.

- Turns: inferred; calls that were open at one time are one turn, else each is its own.
- Calls: `tools/call` requests. Results: responses with that id. `resources/read` is a call named
  `resources/read`.
- Outcomes: a JSON-RPC error or `isError` is an error; `notifications/cancelled` cancels.
- Tools: answers to `tools/list` give annotations and schemas. Server: its name in `initialize`.
- Context: the session or server that a log record names, else `main`. Times: of the log records.

What the format cannot tell: the model, its turns, what it saw, context loss, and people.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from refetch.effects.mcp import tools_from_list_dump
from refetch.model.errors import RefetchError
from refetch.model.trace import MAIN, ContextStart, Problem, Trace
from refetch.readers.blocks import EMPTY, NULL, beginning
from refetch.readers.json_records import mapping, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "mcp-log"
_KEYS = ("messages", "logs", "entries")
_INSIDE = ("message", "payload", "data", "body", "msg", "json")
_SESSIONS = ("session_id", "sessionId", "session", "server", "server_name", "serverName")
_TIMES = ("timestamp", "time", "ts", "@timestamp")
_METHODS = ("tools/", "resources/", "prompts/", "initialize", "notifications/", "ping")


def sniff(sniffed: Sniffed) -> bool:
    """True for JSON-RPC messages with a method of the protocol."""
    return any(
        (small_text(_message(row).get("method")) or "").startswith(_METHODS)
        for row in sniffed_records(sniffed, _KEYS)
    )


def _message(row: dict[str, Raw]) -> dict[str, Raw]:
    if "jsonrpc" in row:
        return row
    for key in _INSIDE:
        raw = row.get(key)
        if raw is None:
            continue
        text = plain(raw) if bytes(memoryview(raw)[:1]) == b'"' else None
        inner = members(Raw(text.encode("utf-8", "replace")) if isinstance(text, str) else raw)
        if "jsonrpc" in inner:
            return inner
    return {}


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a log.

    Raises:
        InputError: there are no messages.
    """
    problems: list[Problem] = []
    reading = _Reading(source)
    for one in record_lists(data, source, _KEYS, "JSON-RPC message", problems):
        for record in one.records:
            reading.take(record)
    reading.build.problems.extend(problems)
    trace = reading.build.trace(turns="inferred")
    return [msgspec.structs.replace(trace, tools=reading.tools)]


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME)
        self.open: dict[tuple[str, str], OpenCall] = {}
        self.listings: set[tuple[str, str]] = set()
        self.tools: dict[str, Any] = {}
        self.known = {MAIN}

    def take(self, record: Record) -> None:
        """One message."""
        message = _message(record.fields)
        if not message:
            return
        context = next((t for k in _SESSIONS if (t := small_text(record.fields.get(k)))), MAIN)
        if context not in self.known:
            self.known.add(context)
            self.build.start_context(ContextStart(context))
        method = small_text(message.get("method"))
        key = (context, bytes(message.get("id", EMPTY)).decode("utf-8", "replace"))
        params = members(message.get("params"))
        when = _time(record)
        if method in ("tools/call", "resources/read"):
            self._call(method, params, key, record, when)
        elif method == "tools/list":
            self.listings.add(key)
        elif method == "notifications/cancelled":
            gone = bytes(params.get("requestId", EMPTY)).decode("utf-8", "replace")
            if (call := self.open.pop((context, gone), None)) is not None:
                call.end("cancelled", ended=when)
        elif method is None:
            self._answer(message, key, when)

    def _call(
        self, method: str, params: dict[str, Raw], key: tuple[str, str], record: Record, when: Any
    ) -> None:
        context = key[0]
        if not any(place[0] == context for place in self.open):
            self.build.begin_turn(context)
        name = small_text(params.get("name")) if method == "tools/call" else method
        args = params.get("arguments", NULL)
        if method == "resources/read":
            args = Raw(b'{"uri":' + bytes(params.get("uri", NULL)) + b"}")
        self.open[key] = self.build.call(
            name or "",
            args,
            context=context,
            call_id=key[1].strip('"') or None,
            line=record.line,
            path=record.path,
            started=when,
        )

    def _answer(self, message: dict[str, Raw], key: tuple[str, str], when: Any) -> None:
        result = message.get("result", EMPTY)
        if key in self.listings:
            self.listings.discard(key)
            self._learn(result)
            return
        call = self.open.pop(key, None)
        if call is None:
            return
        if "error" in message:
            error = mapping(message["error"]).get("message")
            call.answer(message["error"], "error", error=str(error or "error")[:200], ended=when)
            return
        fields = members(result)
        content = fields.get("content", fields.get("contents", result))
        failed = plain(fields.get("isError")) is True
        error = (beginning(content) or "error") if failed else None
        call.answer(content, "error" if failed else "ok", error=error, ended=when)

    def _learn(self, listing: Raw) -> None:
        """Schemas give defaults; a server's hints about effects stay out of it: no declaration."""
        try:
            found = tools_from_list_dump(bytes(listing), self.build.source)
        except RefetchError:
            return
        for name, meta in found.items():
            if meta.schema is not None:
                self.tools[name] = {"schema": meta.schema}


def _time(record: Record) -> float | str | None:
    value = next((plain(record.fields[k]) for k in _TIMES if k in record.fields), None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if value > 1e11 else value
    return value if isinstance(value, str) else None
