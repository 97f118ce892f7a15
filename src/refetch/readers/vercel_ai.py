"""Vercel AI SDK: UI messages, model messages and results of `generateText`.

Sniff: parts of type `tool-…` with a `toolCallId`, blocks `tool-call`/`tool-result`, or
`toolInvocations`.

- Turn: one assistant message; in UI messages each `step-start` begins one. Context: always `main`.
- Calls: `tool-NAME` and `dynamic-tool` parts, `tool-invocation` parts, `tool-call` blocks.
- Results: the part's own `output`, or a `tool-result` block by `toolCallId`.
- Outcomes: the part's state (`output-error`, `output-denied`), an output of type `error-…`, or
  `isError`.
- Usage and model: of the steps of `generateText` and of a message's metadata.

What the format cannot tell: times, context loss, sub-agents.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, NULL, beginning, begins
from refetch.readers.json_records import mapping, parts
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "vercel-ai"
_KEYS = ("messages", "steps", "uiMessages")
_BLOCKS = frozenset(("tool-call", "tool-result", "tool-error", "tool-invocation", "dynamic-tool"))
_STATES = {
    "output-available": "ok",
    "result": "ok",
    "output-error": "error",
    "output-denied": "rejected",
}


def sniff(sniffed: Sniffed) -> bool:
    """True for messages whose calls have a `toolCallId`."""
    for row in sniffed_records(sniffed, _KEYS):
        if "toolInvocations" in row or {"toolCalls", "toolResults"} <= row.keys():
            return True
        for key in ("parts", "content"):
            for raw in parts(row.get(key, NULL))[:20]:
                block = members(raw)
                kind = small_text(block.get("type")) or ""
                named = kind in _BLOCKS or kind.startswith("tool-")
                if named and ("toolCallId" in block or "toolInvocation" in block):
                    return True
    return False


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each message list.

    Raises:
        InputError: there are no messages.
    """
    problems: list[Problem] = []
    lists = record_lists(data, source, _KEYS, "message", problems)
    traces = []
    for index, one in enumerate(lists):
        build = TraceBuilder(source, NAME)
        build.run = small_text(one.around.get("id")) or (
            source if len(lists) == 1 else f"{source}#{index}"
        )
        for record in one.records:
            _take(build, record)
        traces.append(build.trace())
    traces[0].problems.extend(problems)
    return traces


def _take(build: TraceBuilder, record: Record) -> None:
    role = small_text(record.get("role"))
    listed = record.get("parts", "content")
    key = "parts" if memoryview(record.get("parts")) else "content"
    if role == "user":
        build.user_message(listed)
        return
    if role == "assistant" or (role is None and memoryview(record.get("content", "toolCalls"))):
        _begin(build, record)
    elif role != "tool":
        return
    begun = True
    for at, raw in enumerate(parts(listed)):
        part = Record(members(raw), f"{record.path}.{key}[{at}]", record.line)
        kind = small_text(part.get("type")) or ""
        if kind == "step-start":
            if not begun:
                _begin(build, record)
            begun = False
            continue
        begun = False
        _part(build, kind, part)
    if not parts(listed):
        _flat(build, record)
    for at, raw in enumerate(parts(record.get("toolInvocations"))):
        path = f"{record.path}.toolInvocations[{at}]"
        _invocation(build, Record(members(raw), path, record.line))


def _begin(build: TraceBuilder, record: Record) -> None:
    metadata = mapping(record.get("metadata"))
    usage = mapping(record.get("usage")) or metadata.get("usage")
    model = mapping(record.get("response")).get("modelId") or metadata.get("model")
    build.begin_turn(
        model=model if isinstance(model, str) else None,
        usage=usage if isinstance(usage, dict) else None,
    )


def _flat(build: TraceBuilder, record: Record) -> None:
    """A step of `generateText` that names its calls and results beside each other."""
    for key, take in (("toolCalls", _call), ("toolResults", _result)):
        for at, raw in enumerate(parts(record.get(key))):
            take(build, Record(members(raw), f"{record.path}.{key}[{at}]", record.line))


def _part(build: TraceBuilder, kind: str, part: Record) -> None:
    if kind == "tool-call":
        _call(build, part)
    elif kind in ("tool-result", "tool-error"):
        _result(build, part, failed=kind == "tool-error")
    elif kind == "tool-invocation":
        _invocation(build, Record(members(part.get("toolInvocation")), part.path, part.line))
    elif kind == "dynamic-tool" or kind.startswith("tool-"):
        name = small_text(part.get("toolName")) or kind.removeprefix("tool-")
        _invocation(build, part, name)


def _invocation(build: TraceBuilder, part: Record, name: str | None = None) -> None:
    state = small_text(part.get("state")) or ""
    if state == "input-streaming" or state == "partial-call":
        return
    call = _call(build, part, name)
    outcome = _STATES.get(state)
    if outcome == "ok":
        output = part.get("output", "result")
        call.answer(output if memoryview(output) else Raw(b'""'))
    elif outcome is not None:
        error = part.get("errorText")
        call.end(outcome, error=beginning(error) or state)


def _call(build: TraceBuilder, part: Record, name: str | None = None) -> OpenCall:
    args = part.get("input", "args")
    return build.call(
        name or small_text(part.get("toolName")) or "",
        args if memoryview(args) else NULL,
        call_id=small_text(part.get("toolCallId")),
        line=part.line,
        path=part.path,
    )


def _result(build: TraceBuilder, part: Record, *, failed: bool = False) -> None:
    call = build.waiting(small_text(part.get("toolCallId")))
    if call is None:
        return
    result = part.get("output", "result", "error")
    kind, value = _typed(result)
    refused = kind == "execution-denied"
    failed = failed or kind.startswith("error-") or begins(part.get("isError"), b"true")
    outcome = "rejected" if refused else "error" if failed else "ok"
    error = (beginning(value) or kind or "error") if outcome != "ok" else None
    call.answer(value if memoryview(value) else Raw(b'""'), outcome, error=error)


def _typed(result: Raw) -> tuple[str, Raw]:
    """(kind, value) of an output; the older ones are values without a kind."""
    fields: dict[str, Any] = members(result)
    kind = small_text(fields.get("type"))
    if kind is not None and (kind in ("text", "json", "content") or kind.startswith("e")):
        return kind, fields.get("value", fields.get("reason", EMPTY))
    return "", result
