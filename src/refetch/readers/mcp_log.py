"""Logs of the Model Context Protocol: JSON-RPC messages as a proxy or a client writes them.

Sniff: messages with `jsonrpc` (themselves, or under `message`, `payload`, `data` or `body` of a
log record), one of them with an MCP method or a result. A line may hold a batch of messages.

- Turns: inferred; calls that were open at one time are one turn, else each is its own.
- Calls: `tools/call` requests. Results: responses with that id. `resources/read` is a call named
  `resources/read`. Both sides number their requests: a response answers the latest open request
  of its id. A request that is written again while it is open was recorded twice.
- Outcomes: a JSON-RPC error or `isError` is an error, a timeout where it says so; a closed
  connection is unknown, and so is `notifications/cancelled`: a server may finish all the same.
- Writes: `notifications/resources/updated` is one from outside.
- Tools: answers to `tools/list` give schemas. Their annotations are hints, no declarations; the
  command line takes them from a file of their own.
- Context: the session or server that a log record names, else `main`. Times: of the log records.

What the format cannot tell: the model, its turns, what it saw, context loss, and people.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from refetch.effects.mcp import tools_from_list_dump
from refetch.model.errors import RefetchError
from refetch.model.native import lines_of
from refetch.model.trace import MAIN, ContextStart, Problem, Trace, Write
from refetch.readers.blocks import EMPTY, NULL, beginning
from refetch.readers.failures import failed_as
from refetch.readers.json_records import epoch_seconds, mapping, parts, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "mcp-log"
_KEYS = ("messages", "logs", "entries")
_INSIDE = ("message", "payload", "data", "body", "msg", "json")
_SESSIONS = ("session_id", "sessionId", "session", "server", "server_name", "serverName")
_TIMES = ("timestamp", "time", "ts", "@timestamp")
_METHODS = ("tools/", "resources/", "prompts/", "initialize", "notifications/", "ping")
_CALLS = ("tools/call", "resources/read")
# Codes that the protocol's libraries give to requests that nobody answered.
_BY_CODE = {-32000: "unknown", -32001: "timeout"}


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
        records = one.records
        if records[0].line is not None and (batches := _batches(data)):
            records = sorted([*records, *batches], key=lambda record: record.line or 0)
        for record in records:
            reading.take(record)
    reading.build.problems.extend(problems)
    trace = reading.build.trace(turns="inferred")
    return [msgspec.structs.replace(trace, tools=reading.tools)]


def _batches(data: bytes) -> list[Record]:
    """The messages in lines that hold a list of them (protocol revision 2025-03-26)."""
    return [
        Record(members(raw), f"$[{at}]", number)
        for number, line in lines_of(data)
        if bytes(line[:1]) == b"["
        for at, raw in enumerate(parts(line))
    ]


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME)
        # Requests without a response by (context, id), a call or the method of another request.
        self.open: dict[tuple[str, str], list[OpenCall | str]] = {}
        self.running: dict[str, int] = {}
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
        if method in _CALLS:
            self._call(method, params, key, record, when)
        elif method == "notifications/cancelled":
            gone = bytes(params.get("requestId", EMPTY)).decode("utf-8", "replace")
            self._cancel((context, gone), params, when)
        elif method == "notifications/resources/updated":
            uri = small_text(params.get("uri")) or "*"
            scope = uri if ":" in uri else f"mcp:{uri}"
            self.build.add(Write(scope, self.build.last_seq, "external"))
        elif method is None:
            self._answer(message, key, when)
        elif "id" in message and method not in self.open.get(key, ()):
            self.open.setdefault(key, []).append(method)

    def _call(
        self, method: str, params: dict[str, Raw], key: tuple[str, str], record: Record, when: Any
    ) -> None:
        name = (small_text(params.get("name")) or "") if method == "tools/call" else method
        args = params.get("arguments", NULL)
        if method == "resources/read":
            args = Raw(b'{"uri":' + bytes(params.get("uri", NULL)) + b"}")
        waiting = self.open.setdefault(key, [])
        if any(_is_that(request, name, args) for request in waiting):
            return
        context = key[0]
        if not self.running.get(context):
            self.build.begin_turn(context)
        self.running[context] = self.running.get(context, 0) + 1
        waiting.append(
            self.build.call(
                name,
                args,
                context=context,
                call_id=key[1].strip('"') or None,
                line=record.line,
                path=record.path,
                started=when,
            )
        )

    def _cancel(self, key: tuple[str, str], params: dict[str, Raw], when: Any) -> None:
        calls = [one for one in self.open.get(key, ()) if isinstance(one, OpenCall)]
        reason = small_text(params.get("reason")) or "cancelled"
        outcome = "timeout" if failed_as(reason) == "timeout" else "unknown"
        for call in calls:
            self._end(key, call, outcome, reason, when)

    def _end(
        self, key: tuple[str, str], call: OpenCall, outcome: str, error: str, when: Any
    ) -> None:
        self.open[key].remove(call)
        self.running[key[0]] -= 1
        call.end(outcome, error=error[:200], ended=when)

    def _answer(self, message: dict[str, Raw], key: tuple[str, str], when: Any) -> None:
        waiting = self.open.get(key)
        if not waiting:
            return
        result = message.get("result", EMPTY)
        call = waiting[-1]
        if isinstance(call, str):
            waiting.pop()
            if call == "tools/list":
                self._learn(result)
            return
        others = [one for one in waiting if isinstance(one, OpenCall)]
        if len(others) > 1:
            # Two clients in one log: nothing says which of them was answered.
            for one in others:
                self._end(key, one, "unknown", "two open requests of one id", when)
            return
        waiting.pop()
        self.running[key[0]] -= 1
        if "error" in message:
            error = mapping(message["error"])
            words = str(error.get("message") or "error")[:200]
            code = error.get("code")
            outcome = _BY_CODE.get(code) if isinstance(code, int) else None
            call.answer(message["error"], outcome or failed_as(words), error=words, ended=when)
            return
        fields = members(result)
        content = fields.get("content", fields.get("contents", result))
        if "structuredContent" in fields:
            content = result
        failed = plain(fields.get("isError")) is True
        told = (beginning(content) or "error") if failed else None
        call.answer(content, failed_as(told) if failed else "ok", error=told, ended=when)

    def _learn(self, listing: Raw) -> None:
        """Schemas give defaults; a server's hints about effects stay out of it: no declaration."""
        try:
            found = tools_from_list_dump(bytes(listing), self.build.source)
        except RefetchError:
            return
        for name, meta in found.items():
            if meta.schema is not None:
                self.tools[name] = {"schema": meta.schema}


def _is_that(request: OpenCall | str, name: str, args: Raw) -> bool:
    """Whether an open request is this very call."""
    return isinstance(request, OpenCall) and (
        request.fields["name"] == name and bytes(request.fields["args"]) == bytes(args)
    )


def _time(record: Record) -> float | str | None:
    value = next((plain(record.fields[k]) for k in _TIMES if k in record.fields), None)
    return value if isinstance(value, str) else epoch_seconds(value)
