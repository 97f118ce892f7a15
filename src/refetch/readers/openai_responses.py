"""OpenAI Responses: input and output items, response objects, and logs of requests.

Sniff: items of type `function_call` or another call of this API, or an object "response".

- Turn: one response object; in a list of items, the model's items between two results. Context:
  always `main`.
- Calls: `function_call`, `custom_tool_call`, `local_shell_call`, `shell_call`, `apply_patch_call`,
  `mcp_call`, and the hosted tools (`web_search_call`, …), whose result is not in the item.
  `raw_args`: the argument text as sent. Results: `…_output` items by `call_id`.
- Outcomes: a status of `failed` or `incomplete`, an `error`; results of functions are plain text,
  so that only the ones that begin like an error message are "unknown".
- Context loss: `compaction` items; `truncation` is not told. Usage and model: of responses.
- Requests repeat the history: an item that was seen is not told twice.

What the format cannot tell: times, sub-agents, and whether a function failed.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, NULL, beginning, begins, parsed_args, starts_with
from refetch.readers.json_records import mapping, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, elements, members, small_text
from refetch.readers.trace_builder import TraceBuilder

NAME = "openai-responses"
_KEYS = ("items", "data")
_LISTS = ("input", "output", "items")
_FUNCTIONS = frozenset(("function_call", "custom_tool_call"))
_HOSTED = {
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter",
    "computer_call": "computer",
    "image_generation_call": "image_generation",
    "tool_search_call": "tool_search",
}
_CALLS = frozenset((*_FUNCTIONS, *_HOSTED, "mcp_call"))
_OUTPUTS = frozenset(f"{kind}_output" for kind in _CALLS)
_MODEL_ITEMS = _CALLS | {"reasoning"}
_LIKE_ERRORS = (b"Error:", b"Error ", b"ERROR", b"Traceback (most recent", b"Exception:")
_BAD = frozenset(("failed", "incomplete"))


def sniff(sniffed: Sniffed) -> bool:
    """True for items or response objects of this API."""
    for row in sniffed_records(sniffed, _KEYS):
        for one in (row, members(row.get("response")), members(row.get("request"))):
            if small_text(one.get("object")) == "response" and "output" in one:
                return True
            kinds = {small_text(members(i).get("type")) for k in _LISTS for i in _some(one.get(k))}
            if (kinds | {small_text(one.get("type"))}) & (
                _CALLS | _OUTPUTS
            ) and "payload" not in row:
                return True
    return False


def _some(raw: Raw | None) -> list[Raw]:
    return elements(raw, 20)


def read(data: bytes, source: str) -> list[Trace]:
    """The one conversation in the input.

    Raises:
        InputError: there are no items.
    """
    problems: list[Problem] = []
    reading = _Reading(source)
    for listed in record_lists(data, source, _KEYS, "item", problems):
        reading.around(listed.around)
        for record in listed.records:
            reading.take(record)
    reading.build.problems.extend(problems)
    return [reading.build.trace()]


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME)
        self.seen: set[str | bytes] = set()
        self.open_turn = False

    def around(self, fields: dict[str, Raw]) -> None:
        """Names beside a list."""
        self.build.run = self.build.run or small_text(fields.get("id"))
        self.build.model = self.build.model or small_text(fields.get("model"))

    def take(self, record: Record) -> None:
        """An item, or an object that holds items."""
        nested = [record.fields]
        nested += [m for k in ("request", "response") if (m := members(record.fields.get(k)))]
        if len(nested) == 1 and not any(key in record.fields for key in ("input", "output")):
            self.item(record)
            return
        if "call_id" in record.fields or "role" in record.fields:
            self.item(record)
            return
        for fields in nested:
            self.around(
                {}
                if "output" in fields and "object" not in fields
                else {key: fields[key] for key in ("model",) if key in fields}
            )
            self._listed(Record(fields, record.path, record.line))

    def _listed(self, record: Record) -> None:
        fields = record.fields
        sent = fields.get("input")
        if sent is not None and begins(sent, b'"'):
            self._person(sent)
        for key in ("input", "items"):
            for at, raw in enumerate(elements(fields.get(key))):
                self.item(Record(members(raw), f"{record.path}.{key}[{at}]", record.line))
        output = elements(fields.get("output"))
        if not output:
            return
        fresh = [raw for raw in output if self._key(members(raw)) not in self.seen]
        if not fresh:
            return
        self.open_turn = False
        self._begin(small_text(fields.get("model")), mapping(fields.get("usage")))
        for at, raw in enumerate(output):
            self.item(Record(members(raw), f"{record.path}.output[{at}]", record.line))
        self.open_turn = False

    def item(self, record: Record) -> None:
        """One item, unless an earlier request told it."""
        key = self._key(record.fields)
        if key is not None and key in self.seen:
            return
        if key is not None:
            self.seen.add(key)
        kind = small_text(record.get("type")) or "message"
        role = small_text(record.get("role"))
        if kind in _OUTPUTS:
            self.open_turn = False
            self._output(record)
        elif kind in _MODEL_ITEMS or role == "assistant":
            if not self.open_turn:
                self._begin(None, {})
            if kind in _CALLS:
                self._call(kind, record)
        elif kind == "compaction":
            self.build.lose("compaction")
        elif role == "user":
            self.open_turn = False
            self._person(record.get("content"))

    def _key(self, fields: dict[str, Raw]) -> str | bytes | None:
        """What tells an item from all others: its ids, else its text."""
        kind = small_text(fields.get("type")) or "message"
        own = small_text(fields.get("call_id")) or small_text(fields.get("id"))
        if own is not None:
            return f"{kind} {own}"
        return None if kind != "message" else bytes(fields.get("content", EMPTY)) or None

    def _begin(self, model: str | None, usage: dict[str, Any]) -> None:
        self.build.begin_turn(model=model, usage=usage)
        self.open_turn = True

    def _person(self, content: Raw) -> None:
        if len(bytes(content)) > len(b'""'):
            self.build.user_message(content)

    def _call(self, kind: str, record: Record) -> None:
        fields = record.fields
        call_id = small_text(fields.get("call_id")) or small_text(fields.get("id"))
        name = small_text(fields.get("name")) or _HOSTED.get(kind, kind)
        server = small_text(fields.get("server_label"))
        if kind == "mcp_call" and server is not None:
            name = f"mcp__{server}__{name}"
        raw_args: str | None = None
        if kind in _FUNCTIONS or kind == "mcp_call":
            sent = plain(record.get("arguments", "input"))
            raw_args = sent if isinstance(sent, str) else None
            if kind == "custom_tool_call" and raw_args is not None:
                args = Raw(msgspec.json.encode({"input": raw_args}))
            else:
                args = parsed_args(raw_args) if raw_args is not None else NULL
        else:
            args = record.get("action", "operation", "queries", "code") or NULL
            args = args if memoryview(args) else NULL
        call = self.build.call(
            name, args, call_id=call_id, line=record.line, path=record.path, raw_args=raw_args
        )
        if kind == "mcp_call":
            error = record.get("error")
            if memoryview(error):
                call.answer(error, "error", error=beginning(error) or "error")
            elif memoryview(output := record.get("output")):
                call.answer(output)
        elif small_text(fields.get("status")) in _BAD:
            call.end("error", error=small_text(fields.get("status")))

    def _output(self, record: Record) -> None:
        call = self.build.waiting(small_text(record.get("call_id")))
        if call is None:
            return
        output = record.get("output")
        if small_text(record.get("status")) in _BAD:
            call.answer(output, "error", error=beginning(output) or "error")
        elif starts_with(output, *_LIKE_ERRORS):
            call.answer(output, "unknown", error=beginning(output))
        else:
            call.answer(output)
