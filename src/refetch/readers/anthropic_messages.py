"""Anthropic Messages: request bodies, message lists, responses, and logs of requests.

Sniff: a message with content blocks that only this API has (`tool_use`, `tool_result`, …), or a
response object of type "message"; no `tool_calls` and no `role: tool` beside them.

- Turn: one assistant message; messages with one `id` are one response. Context: `main`; calls that
  a code execution made (`caller`) are in a context of that program, their results go to it.
- Calls: `tool_use`, `server_tool_use` and `mcp_tool_use` blocks. Results: `tool_result` blocks of
  the next user message; those of server tools stand in the assistant's own message.
- Outcomes: `is_error`; results of server tools carry an error block, or a `return_code`. Without
  `is_error`, a text that begins like an error message is "unknown".
- Context loss: a `compaction` block, `context_management.applied_edits` that clear tool uses,
  results that a later request of the log leaves out or replaces, and Roo Code's summaries and
  markers in place of messages.
- Usage and model: of response objects. People: text in user messages.
- Logs: objects with `messages`, alone or under `request` with a `response`, also of the batch API;
  see `request_log`. A log line's `session_id`, `conversation_id`, `trace_id` or `run_id` keeps
  runs apart.

What the format cannot tell: times, sub-agents, and which reminders in user messages are a
harness's own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import NULL, beginning, begins, like_error
from refetch.readers.json_records import mapping, plain
from refetch.readers.records import Record, logged, record_lists, run_of, sniffed_records
from refetch.readers.request_log import Exchange, Item, Teller, arguments_key, content_key, follow
from refetch.readers.sniff import Sniffed, elements, members, small_text
from refetch.readers.trace_builder import OpenCall

NAME = "anthropic-messages"
_KEYS = ("messages",)
_REQUESTS = ("request", "body", "params")
_RESPONSES = ("response", "body")
_BATCHED = ("result", "message")
_CALLS = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))
_MARKS = _CALLS | {"tool_result", "thinking", "redacted_thinking", "compaction"}
_FOREIGN = frozenset(("tool_calls", "tool_call_id"))
_NOTHING = Raw(b'""')
_STANDS_FOR_OTHERS = ("isSummary", "isTruncationMarker")
"""Marks of Roo Code, whose histories are messages of this API."""


def sniff(sniffed: Sniffed) -> bool:
    """True where a message has blocks that only this API knows."""
    found = False
    for row in sniffed_records(sniffed, _KEYS):
        for message in _sniffed_messages(row):
            if _FOREIGN & message.keys() or small_text(message.get("role")) == "tool":
                return False
            found = found or _is_message(message)
    return found


def _sniffed_messages(row: dict[str, Raw]) -> Iterator[dict[str, Raw]]:
    record = Record(row, "$")
    request = logged(record, _REQUESTS, "messages")
    yield from (members(raw) for raw in elements(request.get("messages") if request else NULL, 20))
    response = _response_in(record)
    yield response.fields if response is not None else row


def _is_message(message: dict[str, Raw]) -> bool:
    if small_text(message.get("type")) == "message" and "stop_reason" in message:
        return True
    role = small_text(message.get("role"))
    kinds = {small_text(members(b).get("type")) for b in elements(message.get("content", NULL), 20)}
    return role in ("user", "assistant") and bool(_MARKS & kinds)


def _response_in(record: Record) -> Record | None:
    wrappers = _BATCHED if "result" in record.fields else _RESPONSES
    found = logged(record, wrappers, "content")
    return found if found is not None and "role" in found.fields else None


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each conversation; those that overlap in a log are contexts of one.

    Raises:
        InputError: there are no messages.
    """
    problems: list[Problem] = []
    (rows,) = record_lists(data, source, (), "message", problems)
    groups = follow(_exchanges(rows.records))
    if not groups:
        raise InputError(source, "no messages", expected="messages with `role` and `content`")
    traces = []
    for index, steps in enumerate(groups):
        run = source if len(groups) == 1 else f"{source}#{index}"
        traces.append(_Teller(source, NAME, run).trace(steps))
    traces[0].problems.extend(problems)
    return traces


def _exchanges(rows: list[Record]) -> Iterator[Exchange]:
    """Requests with their responses; messages that stand side by side are one request."""
    flat: list[Item] = []
    responses: dict[Hashable, tuple[str | None, dict[str, Any] | None]] = {}
    waiting: Exchange | None = None
    for row in rows:
        request, response = logged(row, _REQUESTS, "messages"), _response_in(row)
        if request is not None:
            if waiting is not None:
                yield waiting
            waiting = _asked(row, request)
        elif response is None:
            continue
        elif waiting is None:
            number = len(flat)
            flat += _items(response, number)
            usage = mapping(response.get("usage")) or None
            key = small_text(response.get("id")) or number
            responses[key] = (small_text(response.get("model")), usage)
            continue
        if response is not None and waiting is not None:
            yield _answered(waiting, response)
            waiting = None
    if waiting is not None:
        yield waiting
    if flat:
        yield Exchange(flat, [], responses=responses)


def _asked(row: Record, request: Record) -> Exchange:
    sent: list[Item] = []
    for message in request.inner("messages"):
        sent += _items(message, len(sent))
    model = small_text(request.fields.get("model"))
    return Exchange(sent, [], run=run_of(row), model=model)


def _answered(exchange: Exchange, response: Record) -> Exchange:
    edits = mapping(response.get("context_management")).get("applied_edits")
    cleared = isinstance(edits, list) and any(
        isinstance(edit, dict) and str(edit.get("type")).startswith("clear_tool") for edit in edits
    )
    return exchange._replace(
        answered=_items(response, "answer"),
        own=small_text(response.get("id")),
        model=small_text(response.get("model")) or exchange.model,
        usage=mapping(response.get("usage")) or None,
        edited=cleared,
    )


def _items(message: Record, number: int | str) -> list[Item]:
    """What a message holds; `number` stands for the response where the message has no id."""
    role = small_text(message.get("role"))
    content = message.get("content")
    response = small_text(message.get("id")) or number
    if any(begins(message.get(mark), b"true") for mark in _STANDS_FOR_OTHERS):
        key: Hashable = ("compaction", content_key(content))
        return [Item("loss", key, None, message.fields, message.path, message.line, response)]
    if role == "user" and begins(content, b'"'):
        return [_said(content, message.path, message.line)] if content != _NOTHING else []
    found: list[Item] = []
    if role not in ("user", "assistant"):
        return []
    blocks = message.inner("content")
    if role == "assistant" and not blocks:
        return [Item("model", None, None, {}, message.path, message.line, response)]
    for block, path, line in blocks:
        kind = small_text(block.get("type")) or ""
        if kind in _CALLS:
            call_id = small_text(block.get("id"))
            key = ("call", call_id, block_name(block), arguments_key(block.get("input", NULL)))
            found.append(Item("call", key, call_id, block, path, line, response))
        elif kind.endswith("tool_result"):
            call_id = small_text(block.get("tool_use_id"))
            key = ("result", call_id, content_key(block.get("content", _NOTHING)))
            found.append(Item("result", key, call_id, block, path, line, response))
        elif kind == "compaction" and not begins(block.get("content", NULL), b"null"):
            key = ("compaction", content_key(block["content"]))
            found.append(Item("loss", key, None, block, path, line, response))
        elif role == "assistant":
            found.append(Item("model", None, None, block, path, line, response))
        elif kind == "text" and beginning(block.get("text", NULL), 20).strip():
            found.append(_said(block["text"], path, line))
    return found


def _said(text: Raw, path: str, line: int | None) -> Item:
    return Item("person", ("person", content_key(text)), None, {"text": text}, path, line)


def block_name(block: dict[str, Raw]) -> str:
    """The tool's name, of MCP servers with the server."""
    name, server = small_text(block.get("name")), small_text(block.get("server_name"))
    return f"mcp__{server}__{name or ''}" if server is not None else name or ""


class _Teller(Teller):
    def caller(self, item: Item) -> str | None:
        program = item.fields.get("caller")
        return None if program is None else small_text(members(program).get("tool_id"))

    def call(self, item: Item, context: str) -> OpenCall:
        return self.build.call(
            block_name(item.fields),
            item.fields.get("input", NULL),
            context=context,
            call_id=item.id,
            line=item.line,
            path=item.path,
            **({"origin": "harness"} if self.caller(item) is not None else {}),
        )

    def answer(self, call: OpenCall, item: Item) -> None:
        content = item.fields.get("content", _NOTHING)
        told = members(content)
        code = plain(told.get("return_code", NULL))
        fields: dict[str, Any] = {"exit_code": code} if isinstance(code, int) else {}
        flag = item.fields.get("is_error")
        outcome = "ok"
        if begins(flag or NULL, b"true") or "error_code" in told:
            outcome = "error"
        elif begins(flag or NULL, b"null") and like_error(content):
            outcome = "unknown"
        error = None
        if outcome != "ok":
            error = beginning(content) or small_text(told.get("error_code")) or "error"
        call.answer(content, outcome, error=error, **fields)
