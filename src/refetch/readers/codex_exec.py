"""`codex exec --json`: the event stream that Codex prints when it runs without a screen.

Sniff: JSON Lines with `thread.started`, `turn.started` or `item.started`/`item.completed` and an
`item`.

- Calls: `command_execution` as `shell`, `file_change` as `apply_patch` (with the changed files as
  its resource), `mcp_tool_call` as `mcp__SERVER__TOOL`, `web_search`. An item that started and
  completed is one call.
- Outcomes: `exit_code` (an answer), `status` failed, declined or in progress (missing).
- Turns: the stream does not name model requests. Items that overlap are taken for one response,
  every other item for one of its own (`turns: inferred`).
- Context: `main`. People: each `turn.started` follows a prompt. Usage: of a whole prompt, so not
  used.

What the format cannot tell: model requests and their usage, arguments as sent, folder, times,
prompts, compaction.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.trace import Trace
from refetch.readers.blocks import NULL, beginning, raw_of
from refetch.readers.json_records import JsonLines, mapping, plain
from refetch.readers.sniff import Sniffed, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "codex-exec"
_HARNESS = "codex-cli"
_STARTS = frozenset(("thread.started", "turn.started"))
_ITEMS = frozenset(("item.started", "item.updated", "item.completed"))
_OUTCOMES = {"declined": "rejected", "failed": "error", "completed": "ok"}


class _Change(msgspec.Struct, gc=False):
    path: str | None = None
    kind: Raw = Raw()


class _Item(msgspec.Struct, gc=False):
    id: str | None = None
    type: str = ""
    item_type: str = ""
    command: str | None = None
    aggregated_output: Raw = Raw()
    exit_code: int | None = None
    status: str | None = None
    changes: list[_Change] | None = None
    server: str | None = None
    tool: str | None = None
    arguments: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()
    query: str | None = None


class _Line(msgspec.Struct, gc=False):
    type: str = ""
    thread_id: str | None = None
    item: _Item | None = None


def sniff(sniffed: Sniffed) -> bool:
    """True for the event stream."""
    return any(
        (kind := small_text(row.get("type"))) in _STARTS or (kind in _ITEMS and "item" in row)
        for row in sniffed.rows
    )


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in the stream.

    Raises:
        InputError: not one event could be read.
    """
    records = JsonLines(data, source, _Line, "codex exec event")
    reading = _Reading(source)
    count = 0
    for number, line in records:
        count += 1
        reading.add(line, number)
    if not count:
        raise records.nothing()
    reading.build.problems.extend(records.problems)
    return [reading.build.trace(turns="inferred")]


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME, _HARNESS)
        self.running: dict[str, OpenCall] = {}

    def add(self, line: _Line, number: int) -> None:
        """Take the next event."""
        if line.type == "thread.started":
            self.build.run = line.thread_id
        elif line.type == "turn.started":
            self.build.user_message()
        elif line.type in _ITEMS and line.item is not None:
            self._item(line.item, line.type, number)

    def _item(self, item: _Item, event: str, number: int) -> None:
        called = _called(item)
        if called is None:
            return
        key = item.id or f"line {number}"
        call = self.running.get(key)
        if call is None:
            if not self.running:
                self.build.begin_turn()
            name, args, fields = called
            call = self.build.call(name, args, call_id=item.id, line=number, **fields)
            self.running[key] = call
        if event == "item.completed":
            del self.running[key]
            _finish(call, item)


def _called(item: _Item) -> tuple[str, Raw, dict[str, Any]] | None:
    """Name, arguments and further fields of the call that an item stands for."""
    kind = item.type or item.item_type
    if kind == "command_execution":
        return "shell", raw_of({"command": item.command}), {}
    if kind == "file_change":
        paths = [change.path for change in item.changes or () if change.path]
        fields: dict[str, Any] = {"resource": [f"file:{p}" for p in paths]} if paths else {}
        changes = [{"path": c.path, "kind": plain(c.kind)} for c in item.changes or ()]
        return "apply_patch", raw_of({"changes": changes}), fields
    if kind == "mcp_tool_call":
        args = item.arguments if memoryview(item.arguments) else NULL
        return f"mcp__{item.server}__{item.tool}", args, {}
    if kind == "web_search":
        return "web_search", raw_of({"query": item.query}), {}
    return None


def _finish(call: OpenCall, item: _Item) -> None:
    name = call.fields["name"]
    if name == "shell" and item.exit_code is not None and item.status != "declined":
        call.answer(item.aggregated_output, "ok", exit_code=item.exit_code)
        return
    outcome = _OUTCOMES.get(item.status or "completed", "unknown")
    if mapping(item.error):
        call.answer(item.error, "error", error=str(mapping(item.error).get("message"))[:200])
    elif memoryview(item.result) or memoryview(item.aggregated_output):
        result = item.result if memoryview(item.result) else item.aggregated_output
        call.answer(result, outcome, error=None if outcome == "ok" else beginning(result))
    else:
        call.end(outcome)
