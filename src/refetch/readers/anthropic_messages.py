"""Anthropic Messages: request bodies, message lists, responses, and JSON Lines of any of them.

Sniff: a message with content blocks of the Messages API (`tool_use`, `tool_result`, …), or an
object of type "message".

- Turn: one assistant message. Context: always `main`.
- Calls: `tool_use`, `server_tool_use` and `mcp_tool_use` blocks. Results: `tool_result` blocks of
  the next user message; those of server tools stand in the assistant's own message.
- Outcomes: `is_error` is an error; results of server tools carry an error block.
- Context loss: a `compaction` block, and `context_management.applied_edits` of a response.
- Usage and model: of response objects. People: text in user messages.
- JSON Lines of requests: each repeats the history, so that calls are told apart by their ids.

What the format cannot tell: times, sub-agents, and which reminders in user messages are a
harness's own.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import NULL, beginning
from refetch.readers.json_records import mapping, parts, plain
from refetch.readers.records import Record, RecordList, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import TraceBuilder

NAME = "anthropic-messages"
_KEYS = ("messages",)
_CALLS = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))
_MARKS = _CALLS | {"tool_result", "thinking", "redacted_thinking", "compaction"}


def sniff(sniffed: Sniffed) -> bool:
    """True where a message has blocks that only this API knows."""
    for row in sniffed_records(sniffed, _KEYS):
        for message in (row, members(row.get("response")), members(row.get("request"))):
            if small_text(message.get("type")) == "message" and "stop_reason" in message:
                return True
            role = small_text(message.get("role"))
            if role in ("user", "assistant") and _MARKS & _types(message.get("content")):
                return True
            for inner in parts(message.get("messages", NULL))[:20]:
                if _MARKS & _types(members(inner).get("content")):
                    return True
    return False


def _types(content: Raw | None) -> set[str | None]:
    return {small_text(members(block).get("type")) for block in parts(content or NULL)[:20]}


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each message list; request logs of one conversation are one trace.

    Raises:
        InputError: there are no messages.
    """
    problems: list[Problem] = []
    lists = _joined(record_lists(data, source, _KEYS, "message", problems))
    traces = []
    for index, one in enumerate(lists):
        reading = _Reading(source, source if len(lists) == 1 else f"{source}#{index}", one)
        traces.append(reading.trace())
    traces[0].problems.extend(problems)
    return traces


def _joined(lists: list[RecordList]) -> list[RecordList]:
    """Requests that repeat the one before, and their responses, are one conversation."""
    found: list[RecordList] = []
    for one in lists:
        for records in _conversations(one.records):
            before = found[-1].records if found else []
            if before and records and _begins_like(records, before):
                longer = [*before, *records[_common(records, before) :]]
                found[-1] = RecordList(longer, one.around)
            else:
                found.append(RecordList(records, one.around))
    return found


def _conversations(records: list[Record]) -> list[list[Record]]:
    """Messages that stand side by side are one; a logged request with its response is one each."""
    logged = [_unwrapped(record) for record in records]
    return [inner for inner in logged if inner] or [records]


def _unwrapped(record: Record) -> list[Record]:
    """The messages in a logged request and its response."""
    found = []
    for key in ("request", "response"):
        inner = members(record.fields.get(key))
        listed = parts(inner.get("messages", NULL))
        found += [
            Record(members(m), f"{record.path}.{key}.messages[{at}]", record.line)
            for at, m in enumerate(listed)
        ]
        if "content" in inner:
            found.append(Record(inner, f"{record.path}.{key}", record.line))
    return found


def _begins_like(records: list[Record], before: list[Record]) -> bool:
    common = _common(records, before)
    return common > 1 or (common == 1 and len(before) == 1)


def _common(records: list[Record], before: list[Record]) -> int:
    count = 0
    for mine, other in zip(records, before, strict=False):
        if bytes(mine.get("content")) != bytes(other.get("content")):
            break
        count += 1
    return count


class _Reading:
    def __init__(self, source: str, run: str, listed: RecordList) -> None:
        self.build = TraceBuilder(source, NAME)
        around = listed.around
        self.build.run = small_text(around.get("id")) or run
        self.build.model = small_text(around.get("model"))
        self.records = listed.records
        self.asked: set[str] = set()

    def trace(self) -> Trace:
        """Read all messages."""
        for record in self.records:
            role = small_text(record.get("role"))
            if role == "assistant":
                self._answer(record)
            elif role == "user":
                self._told(record)
        return self.build.trace()

    def _answer(self, record: Record) -> None:
        usage = mapping(record.get("usage"))
        self.build.begin_turn(model=small_text(record.get("model")), usage=usage)
        for at, raw in enumerate(parts(record.get("content"))):
            block = members(raw)
            kind = small_text(block.get("type")) or ""
            if kind in _CALLS:
                self._call(block, f"{record.path}.content[{at}]", record.line)
            elif kind.endswith("_tool_result"):
                self._result(block)
            elif kind == "compaction":
                self.build.lose("compaction")
        edits = mapping(record.get("context_management")).get("applied_edits")
        if isinstance(edits, list) and edits:
            self.build.lose("clear")

    def _call(self, block: dict[str, Raw], path: str, line: int | None) -> None:
        call_id = small_text(block.get("id"))
        name = small_text(block.get("name")) or ""
        server = small_text(block.get("server_name"))
        if server is not None:
            name = f"mcp__{server}__{name}"
        self.build.call(name, block.get("input", NULL), call_id=call_id, line=line, path=path)

    def _told(self, record: Record) -> None:
        content = record.get("content")
        blocks = parts(content)
        words = not blocks
        for raw in blocks:
            block = members(raw)
            kind = small_text(block.get("type"))
            if kind == "tool_result":
                self._result(block)
            elif kind == "text":
                words = words or bool(beginning(block.get("text", NULL), 20).strip())
        if words and len(bytes(content)) > len(b'""'):
            self.build.user_message(content)

    def _result(self, block: dict[str, Raw]) -> None:
        call = self.build.waiting(small_text(block.get("tool_use_id")))
        if call is None:
            return
        content = block.get("content", Raw(b'""'))
        failed = plain(block.get("is_error")) is True or _is_error(mapping(content))
        outcome = "error" if failed else "ok"
        call.answer(content, outcome, error=beginning(content) or "error" if failed else None)


def _is_error(content: dict[str, Any]) -> bool:
    """Server tools answer with an object that names their error."""
    return "error_code" in content
