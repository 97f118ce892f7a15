"""OpenAI Responses: input and output items, response objects, and logs of requests.

Sniff: items of type `function_call` or another call of this API, or an object "response".

- Turn: one response; in a list of items, what the model said between two results or messages (the
  API takes no request before all results are there). Context: `main`; calls that a `program` made
  (`caller`) are in a context of that program, their results go to it.
- Calls: `function_call`, `custom_tool_call`, `local_shell_call`, `shell_call`, `apply_patch_call`,
  `computer_call`, `mcp_call`, `program`, and the hosted tools (`web_search_call`, …), whose result
  is in the item, if anywhere. `raw_args`: the argument text as sent. Results: `…_output` items by
  `call_id` (or `id`); ids are reused, so a result goes to the latest call that waits for one.
- Outcomes: a status of `failed` or `incomplete`, an `error`, a shell's exit code (the first that is
  not 0) or timeout; a call that breaks off (`incomplete`) never ran; a refused MCP call is a
  rejection, as is what the Agents SDK answers for one. Results of functions are plain text: one
  that begins like an error message is "unknown". A shell's output longer than its
  `max_output_length` reached the model cut. `working_directory` is `cwd`.
- Context loss: `compaction` items, and results that a later request of the log leaves out or
  replaces (where no `previous_response_id` or `conversation` says that the provider keeps them).
- Usage and model: of responses. People: messages of the role "user", answers to approvals.
- Logs: objects with `input`, alone or under `request` with a `response`, also of the batch API;
  see `request_log`. Lists of the API that begin with the newest item are read from the end.

What the format cannot tell: times, sub-agents, whether a function failed, and what
`truncation: auto` dropped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import (
    NULL,
    beginning,
    begins,
    like_error,
    parsed_args,
)
from refetch.readers.json_records import mapping, plain
from refetch.readers.openai_shell import outcome_of_commands, was_refused
from refetch.readers.records import Record, logged, record_lists, run_of, sniffed_records
from refetch.readers.request_log import Exchange, Item, Teller, arguments_key, content_key, follow
from refetch.readers.sniff import Sniffed, elements, members, small_text
from refetch.readers.trace_builder import OpenCall

NAME = "openai-responses"
_KEYS = ("items", "data")
_LISTS = ("input", "output", "items")
_REQUESTS = ("request", "body", "params")
_RESPONSES = ("response", "body", "result")
_FUNCTIONS = frozenset(("function_call", "custom_tool_call", "mcp_call"))
_CLIENT = {
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
    "program": "program",
}
_HOSTED = {
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter",
    "image_generation_call": "image_generation",
    "tool_search_call": "tool_search",
}
_CALLS = _FUNCTIONS | _CLIENT.keys() | _HOSTED.keys()
_OUTPUTS = frozenset((*(f"{kind}_output" for kind in _CALLS), "tool_search_output"))
_MARKS = (_CALLS | _OUTPUTS) - {"program"}
_REFUSED = "mcp_approval_response"
_BAD = frozenset(("failed", "incomplete"))
_UNDER_WAY = frozenset(("queued", "in_progress"))
_ARGUMENTS = ("action", "actions", "operation", "queries", "code", "arguments")
_NOTHING = Raw(b'""')


def sniff(sniffed: Sniffed) -> bool:
    """True for items or response objects of this API."""
    for row in sniffed_records(sniffed, _KEYS):
        if "payload" in row:
            continue
        record = Record(row, "$")
        for one in (row, _request_in(record), _response_in(record), members(row.get("response"))):
            fields = one.fields if isinstance(one, Record) else one or {}
            if small_text(fields.get("object")) == "response" and "output" in fields:
                return True
            listed = [item for key in _LISTS for item in elements(fields.get(key), 20)]
            kinds = {small_text(members(item).get("type")) for item in listed}
            if (kinds | {small_text(fields.get("type"))}) & _MARKS:
                return True
    return False


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each conversation; those that overlap in a log are contexts of one.

    Raises:
        InputError: there are no items.
    """
    problems: list[Problem] = []
    (rows,) = record_lists(data, source, (), "item", problems)
    groups = follow(_exchanges(_spread(rows.records)))
    if not groups:
        raise InputError(source, "no items", expected="items with a `type` or a `role`")
    around = rows.records[0].fields if len(rows.records) == 1 else {}
    traces = []
    for index, steps in enumerate(groups):
        run = source if len(groups) == 1 else f"{source}#{index}"
        traces.append(_Teller(source, NAME, small_text(around.get("id")) or run).trace(steps))
    traces[0].problems.extend(problems)
    return traces


def _spread(rows: list[Record]) -> Iterator[Record]:
    """Rows, those that are lists of the API as what they hold."""
    for row in rows:
        for key in _KEYS:
            listed = elements(row.fields.get(key))
            if listed and not _is_item(row.fields):
                found = [
                    Record(members(raw), f"{row.path}.{key}[{at}]", row.line)
                    for at, raw in enumerate(listed)
                ]
                yield from reversed(found) if _newest_first(found) else found
                break
        else:
            yield row


def _newest_first(rows: list[Record]) -> bool:
    """A result before its call: the API lists the newest first, unless told otherwise."""
    seen: set[str | None] = set()
    answered: set[str | None] = set()
    for row in rows:
        kind, own = _kind(row.fields), small_text(row.fields.get("call_id"))
        if kind in _OUTPUTS:
            answered.add(own)
        elif kind in _CALLS and own is not None:
            if own in answered and own not in seen:
                return True
            seen.add(own)
    return False


def _kind(fields: dict[str, Raw]) -> str:
    return small_text(fields.get("type")) or ("message" if "role" in fields else "")


def _is_item(fields: dict[str, Raw]) -> bool:
    kind = _kind(fields)
    return kind in _CALLS or kind in _OUTPUTS or "role" in fields or "call_id" in fields


def _request_in(row: Record) -> Record | None:
    if _is_item(row.fields):
        return None
    return logged(row, _REQUESTS, "input")


def _response_in(row: Record) -> Record | None:
    """The response in a row, unless it is still being made."""
    found = None if _is_item(row.fields) else logged(row, _RESPONSES, "output")
    if found is None or not begins(found.fields["output"], b"["):
        return None
    under_way = small_text(found.fields.get("status")) in _UNDER_WAY
    return None if under_way and not elements(found.fields["output"], 1) else found


def _exchanges(rows: Iterator[Record]) -> Iterator[Exchange]:
    """Requests with their responses; items that stand side by side are one request."""
    known: dict[str, Record] = {}
    flat = _Items(known)
    waiting: Exchange | None = None
    for row in rows:
        request, response = _request_in(row), _response_in(row)
        if request is not None:
            if waiting is not None:
                yield waiting
            waiting = _asked(row, request, known)
        if response is not None and waiting is not None:
            yield _answered(waiting, response, known)
            waiting = None
        elif response is not None:
            flat.response(response)
        elif request is None:
            flat.take(row)
    if waiting is not None:
        yield waiting
    if flat.found:
        yield Exchange(flat.found, [], responses=flat.responses)


def _asked(row: Record, request: Record, known: dict[str, Record]) -> Exchange:
    sent = _Items(known)
    text = request.fields["input"]
    if begins(text, b'"') and text != _NOTHING:
        sent.found.append(_said(text, request))
    sent.take_all(request, "input")
    return Exchange(
        sent.found,
        [],
        previous=small_text(request.get("previous_response_id")),
        thread=_conversation(request),
        run=run_of(row),
        model=small_text(request.get("model")),
    )


def _answered(exchange: Exchange, response: Record, known: dict[str, Record]) -> Exchange:
    own = small_text(response.get("id"))
    items = _Items(known)
    items.take_all(response, "output")
    return exchange._replace(
        answered=items.found,
        own=own,
        previous=exchange.previous or small_text(response.get("previous_response_id")),
        thread=exchange.thread or _conversation(response),
        model=small_text(response.get("model")) or exchange.model,
        usage=mapping(response.get("usage")) or None,
    )


def _conversation(record: Record) -> str | None:
    raw = record.get("conversation")
    return small_text(raw) or small_text(members(raw).get("id"))


def _said(text: Raw, record: Record) -> Item:
    key = ("person", content_key(text))
    return Item("person", key, None, {"text": text}, record.path, record.line)


class _Items:
    """Collects items; those of the model between two others are one response.

    `known`: the items so far by their id; a request may name them instead of repeating them.
    """

    def __init__(self, known: dict[str, Record]) -> None:
        self.known = known
        self.found: list[Item] = []
        self.responses: dict[Hashable, tuple[str | None, dict[str, Any] | None]] = {}
        self.number = 0
        self.open = False
        self.approvals: dict[str, Record] = {}

    def take_all(self, record: Record, key: str) -> None:
        """The items in a list."""
        for at, raw in enumerate(elements(record.fields.get(key))):
            self.take(Record(members(raw), f"{record.path}.{key}[{at}]", record.line))

    def response(self, response: Record) -> None:
        """A response without its request; one that is told again counts once."""
        own = small_text(response.get("id"))
        if own is not None and any(own == key for key in self.responses):
            return
        self.open = False
        if own is not None:
            usage = mapping(response.get("usage")) or None
            self.responses[own] = (small_text(response.get("model")), usage)
        self._begin(own)
        self.take_all(response, "output")
        self.open = False

    def take(self, record: Record) -> None:
        """One item."""
        kind = _kind(record.fields)
        item_id = small_text(record.get("id"))
        if kind == "item_reference":
            named = self.known.get(item_id or "")
            if named is not None:
                self.take(named)
            return
        if item_id is not None:
            self.known[item_id] = record
        own = small_text(record.get("call_id")) or item_id
        role = small_text(record.get("role"))
        if kind in _CALLS:
            self._call(record, kind, own)
        elif kind in _OUTPUTS:
            self.open = False
            key = ("result", own, content_key(record.get("output", "result", "tools")))
            self._add("result", key, own, record)
        elif kind == "compaction":
            self.open = False
            self._add("loss", ("loss", content_key(record.get("encrypted_content"))), None, record)
        elif kind == "reasoning" or role == "assistant":
            self._begin(None)
            self._add("model", None, None, record)
        elif role == "user":
            self.open = False
            content = record.get("content")
            if memoryview(content) and content != _NOTHING:
                self.found.append(_said(content, record))
        elif kind == "mcp_approval_request" and own is not None:
            self.approvals[own] = record
        elif kind == _REFUSED:
            self._approval(record)

    def _call(self, record: Record, kind: str, own: str | None) -> None:
        self._begin(None)
        sent = arguments_key(record.get("arguments", "input", *_ARGUMENTS))
        self._add("call", ("call", kind, own, small_text(record.get("name")), sent), own, record)

    def _approval(self, record: Record) -> None:
        asked = small_text(record.get("approval_request_id"))
        request = self.approvals.get(asked or "")
        self.open = False
        if request is not None and begins(record.get("approve"), b"false"):
            self._begin(None)
            fields = {**request.fields, "type": Raw(f'"{_REFUSED}"'.encode())}
            self._add("call", ("refused", asked), None, request._replace(fields=fields))
            self.open = False
        self.found.append(
            Item("person", ("approval", asked), None, {"text": _NOTHING}, record.path, record.line)
        )

    def _begin(self, own: str | None) -> None:
        if not self.open:
            self.number += 1
            self.open = True
            self.current: Hashable = own if own is not None else self.number

    def _add(self, kind: Any, key: Hashable, own: str | None, record: Record) -> None:
        response = self.current if self.open else None
        self.found.append(Item(kind, key, own, record.fields, record.path, record.line, response))


class _Teller(Teller):
    def caller(self, item: Item) -> str | None:
        return small_text(members(item.fields.get("caller")).get("caller_id"))

    def call(self, item: Item, context: str) -> OpenCall:
        record = Record(item.fields, item.path, item.line)
        kind = _kind(item.fields)
        args, raw_args = _arguments(record, kind)
        call = self.build.call(
            _name(record, kind),
            args,
            context=context,
            call_id=item.id,
            line=item.line,
            path=item.path,
            raw_args=raw_args,
            cwd=small_text(members(record.get("action")).get("working_directory")),
            **({"origin": "harness"} if self.caller(item) is not None else {}),
        )
        status = small_text(record.get("status"))
        if kind == _REFUSED:
            call.end("rejected", error="not approved")
        elif kind == "mcp_call" or kind in _HOSTED:
            _settle(call, record, status)
        elif status == "incomplete":
            call.fields["outcome"] = "not-executed"  # unless its result says otherwise
        return call

    def answer(self, call: OpenCall, item: Item) -> None:
        record = Record(item.fields, item.path)
        output = record.get("output", "result", "tools")
        status = small_text(record.get("status"))
        fields: dict[str, Any] = {}
        outcome = "unknown" if like_error(output) else "ok"
        if was_refused(output):
            outcome = "rejected"
        elif status in _BAD:
            outcome = "error" if status == "failed" else "unknown"
        elif _kind(item.fields) == "shell_call_output":
            asked = members(call.fields["args"])
            limit = plain(record.get("max_output_length") or asked.get("max_output_length"))
            outcome, fields = outcome_of_commands(output, limit)
        error = None if outcome == "ok" else beginning(output) or outcome
        call.answer(output, outcome, error=error, **fields)


def _name(record: Record, kind: str) -> str:
    name, server = (small_text(record.get(key)) for key in ("name", "server_label"))
    named = name or _HOSTED.get(kind) or _CLIENT.get(kind) or kind
    return f"mcp__{server}__{named}" if server is not None else named


def _arguments(record: Record, kind: str) -> tuple[Raw, str | None]:
    """(`args`, `raw_args`)."""
    if kind in _FUNCTIONS or kind == _REFUSED:
        sent = plain(record.get("arguments", "input"))
        if not isinstance(sent, str):
            return record.get("arguments", "input") or NULL, None
        if kind == "custom_tool_call":
            return Raw(msgspec.json.encode({"input": sent})), sent
        return parsed_args(sent), sent
    args = record.get(*_ARGUMENTS)
    return (args if memoryview(args) else NULL), None


def _settle(call: OpenCall, record: Record, status: str | None) -> None:
    """What became of a call that the provider itself ran."""
    error = record.get("error")
    if memoryview(error):
        message = small_text(members(error).get("message"))
        call.answer(error, "error", error=message or beginning(error) or "error")
    elif status in _BAD:
        call.end("error" if status == "failed" else "unknown", error=status)
    elif memoryview(output := record.get("output", "outputs", "results", "result")):
        call.answer(output)
    elif status == "completed":
        call.end("ok")
