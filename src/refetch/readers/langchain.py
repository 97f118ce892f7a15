"""LangChain and LangGraph messages in their three encodings.

Sniff: messages with `lc` and `kwargs` (`dumps`), with `type` and `data` (`messages_to_dict`), or
with a `type` of human/ai/tool beside `content` (`model_dump`).

- Turn: one AI message; the chunks of a streamed one are joined. Context: always `main`.
- Calls: `tool_calls`, else `additional_kwargs.tool_calls`; `invalid_tool_calls` never ran.
  Results: tool messages by `tool_call_id`.
- Outcomes: `status: error`, a timeout where it says so; else ok. Usage and model:
  `usage_metadata`, `response_metadata`.
- Context loss: a `RemoveMessage` loses the results it names; of all messages, all. A later state
  without a result has lost it.
- Snapshots repeat all messages at each node: a message with an id that was read is not read again.

What the format cannot tell: times, sub-graphs (their messages carry no name of theirs), and what a
trimmer left out of a single request.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import NULL, beginning, parsed_args
from refetch.readers.failures import failed_as
from refetch.readers.json_records import mapping, parts, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, elements, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "langchain"
_KEYS = ("messages",)
_TYPES = frozenset(("human", "ai", "tool", "remove", "HumanMessage", "AIMessage", "ToolMessage"))
_CHUNKS = {"AIMessageChunk": "ai", "HumanMessageChunk": "human", "ToolMessageChunk": "tool"}
_ALL = "__remove_all__"


def sniff(sniffed: Sniffed) -> bool:
    """True for messages in one of the three encodings."""
    return any(
        kind in ("ai", "tool", "human")
        and ({"content", "data", "kwargs", "lc"} & row.keys() > set())
        for row in _rows(sniffed)
        for kind in [_kind(row)]
    )


def _rows(sniffed: Sniffed) -> list[dict[str, Raw]]:
    rows = []
    for row in sniffed_records(sniffed, _KEYS):
        rows.append(row)
        # A stream of state updates: {"node": {"messages": […]}}, or values under "values".
        for value in list(row.values())[:5]:
            inner = members(value)
            rows += [members(m) for m in elements(inner.get("messages", NULL), 5)]
    return rows


def _kind(row: dict[str, Raw]) -> str | None:
    """human, ai, tool, system, remove; None for what is no message."""
    if "lc" in row and "id" in row:
        path = plain(row["id"])
        name = path[-1] if isinstance(path, list) and path else None
        if not isinstance(name, str) or not name.endswith(("Message", "MessageChunk")):
            return None
        return name.removesuffix("Chunk").removesuffix("Message").lower()
    kind = small_text(row.get("type"))
    return _CHUNKS.get(kind, kind) if kind is not None else None


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each message list; snapshots of one list are one trace.

    Raises:
        InputError: there are no messages.
    """
    problems: list[Problem] = []
    lists = record_lists(data, source, _KEYS, "message", problems)
    readings: list[_Reading] = []
    for one in lists:
        records = [inner for record in one.records for inner in _inner(record)]
        ids = {i for r in records if (i := small_text(_fields(r.fields).get("id")))}
        same = next((r for r in readings if r.seen & ids), None)
        if same is None:
            same = _Reading(source)
            readings.append(same)
        elif "messages" in one.around:
            same.forget(ids)
        for record in records:
            same.take(record)
    traces = []
    for index, reading in enumerate(readings):
        reading.build.run = source if len(readings) == 1 else f"{source}#{index}"
        traces.append(reading.build.trace())
    traces[0].problems.extend(problems)
    return traces


def _inner(record: Record) -> list[Record]:
    """The messages in a state update, or the message itself."""
    if _kind(record.fields) is not None:
        return [record]
    found = []
    for name, value in record.fields.items():
        update = Record(members(value), f"{record.path}.{name}", record.line)
        found += update.inner("messages")
    return found


def _fields(row: dict[str, Raw]) -> dict[str, Raw]:
    for key in ("kwargs", "data"):
        if key in row and (inner := members(row[key])):
            return inner
    return row


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME)
        self.seen: set[str] = set()
        self.results: dict[str, int] = {}
        self.streamed: dict[tuple[str | None, str], OpenCall] = {}

    def forget(self, ids: set[str]) -> None:
        """A whole state follows that holds the messages `ids` and no others."""
        gone = [own for own in self.results if own not in ids]
        if gone:
            self.build.lose("trim", lost=sorted(self.results.pop(own) for own in gone))

    def take(self, record: Record) -> None:
        """One message, unless it was read before."""
        kind = _kind(record.fields)
        fields = _fields(record.fields)
        own = small_text(fields.get("id"))
        if kind == "remove":
            self._remove(own)
            return
        if kind == "ai" and (pieces := parts(fields.get("tool_call_chunks", NULL))):
            self._stream(own, fields, pieces, record)
            return
        if own is not None:
            if own in self.seen:
                return
            self.seen.add(own)
        if kind == "ai":
            self._answer(fields, record)
        elif kind == "tool":
            self._result(fields, own)
        elif kind == "human":
            self.build.user_message(fields.get("content", NULL))

    def _remove(self, own: str | None) -> None:
        if own == _ALL:
            self.build.lose("trim")
            self.results.clear()
        elif own in self.results:
            self.build.lose("trim", lost=[self.results.pop(own)])

    def _begin(self, fields: dict[str, Raw]) -> None:
        metadata = mapping(fields.get("response_metadata"))
        model = metadata.get("model_name", metadata.get("model"))
        self.build.begin_turn(
            model=model if isinstance(model, str) else None,
            usage=mapping(fields.get("usage_metadata")),
        )

    def _stream(
        self, own: str | None, fields: dict[str, Raw], pieces: list[Raw], record: Record
    ) -> None:
        """A piece of a streamed message: its arguments are texts to be joined, call by call.

        What a piece itself shows as `tool_calls` are guesses at arguments that are not whole yet.
        """
        if own is None or own not in self.seen:
            self._begin(fields)
        if own is not None:
            self.seen.add(own)
        for raw in pieces:
            piece = members(raw)
            key = (own, bytes(piece.get("index", NULL)).decode("utf-8", "replace"))
            call, call_id = self.streamed.get(key), small_text(piece.get("id"))
            if call is None or (call_id is not None and call_id != call.fields["call_id"]):
                call = self.streamed[key] = self.build.call(
                    small_text(piece.get("name")) or "",
                    call_id=call_id,
                    line=record.line,
                    path=record.path,
                    raw_args="",
                )
            text = plain(piece.get("args"))
            if isinstance(text, str) and not call.answered:
                call.fields["raw_args"] += text
                call.fields["args"] = parsed_args(call.fields["raw_args"])

    def _answer(self, fields: dict[str, Raw], record: Record) -> None:
        self._begin(fields)
        extra = members(fields.get("additional_kwargs"))
        asked = parts(fields.get("tool_calls", NULL))
        for at, raw in enumerate(asked):
            self._call(members(raw), f"{record.path}.tool_calls[{at}]", record.line)
        for raw in parts(fields.get("invalid_tool_calls", NULL)):
            self._call(members(raw), record.path, record.line, never=True)
        if not asked:
            for raw in parts(extra.get("tool_calls", NULL)):
                self._call(members(raw), record.path, record.line)

    def _call(
        self, asked: dict[str, Raw], path: str, line: int | None, *, never: bool = False
    ) -> None:
        function = members(asked.get("function")) or asked
        sent = function.get("args", function.get("arguments", NULL))
        text = plain(sent)
        raw_args = text if isinstance(text, str) else None
        more: dict[str, Any] = {"outcome": "not-executed"} if never else {}
        self.build.call(
            small_text(function.get("name")) or "",
            parsed_args(raw_args) if raw_args is not None else sent,
            call_id=small_text(asked.get("id")),
            line=line,
            path=path,
            raw_args=raw_args,
            **more,
        )

    def _result(self, fields: dict[str, Raw], own: str | None) -> None:
        call = self.build.waiting(small_text(fields.get("tool_call_id")))
        if call is None:
            return
        if own is not None:
            self.results[own] = call.seq
        content = fields.get("content", Raw(b'""'))
        failed = small_text(fields.get("status")) == "error"
        error = (beginning(content) or "error") if failed else None
        call.answer(content, failed_as(error) if failed else "ok", error=error)
