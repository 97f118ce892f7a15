"""Message histories of Pydantic AI (`ModelMessagesTypeAdapter.dump_json`).

Sniff: messages with `parts` whose `part_kind` is named, or `kind` request/response beside `parts`.

- Turn: one response. Context: always `main`.
- Calls: `tool-call` and `builtin-tool-call` parts. `raw_args` where the arguments are a text.
- Results: `tool-return` and `builtin-tool-return` parts by `tool_call_id`. A `retry-prompt` with a
  tool name is the failed result of that call.
- Outcomes: a retry prompt is an error, or a timeout where it says so; `outcome` of a return where
  recorded. Usage, model and the
  time of the response: recorded. People: `user-prompt` parts.

What the format cannot tell: context loss (a history processor leaves a shorter history), and
agents that a tool called: their messages are a history of their own.
"""

from __future__ import annotations

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import NULL, beginning, begins, parsed_args, whole_text
from refetch.readers.failures import failed_as
from refetch.readers.json_records import mapping, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, elements, members, small_text
from refetch.readers.trace_builder import TraceBuilder

NAME = "pydantic-ai"
_KEYS = ("messages", "all_messages", "message_history")
_CALLS = frozenset(("tool-call", "builtin-tool-call"))
_RETURNS = frozenset(("tool-return", "builtin-tool-return"))
_OUTCOMES = {"success": "ok", "failed": "error", "retried": "error", "denied": "rejected"}


def sniff(sniffed: Sniffed) -> bool:
    """True for messages with kinds of parts."""
    return any(
        any("part_kind" in members(part) for part in elements(row.get("parts", NULL), 5))
        for row in sniffed_records(sniffed, _KEYS)
    )


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each history.

    Raises:
        InputError: there are no messages.
    """
    problems: list[Problem] = []
    lists = record_lists(data, source, _KEYS, "message", problems)
    traces = []
    for index, one in enumerate(lists):
        build = TraceBuilder(source, NAME)
        build.run = source if len(lists) == 1 else f"{source}#{index}"
        for record in one.records:
            _take(build, record)
        traces.append(build.trace())
    traces[0].problems.extend(problems)
    return traces


def _take(build: TraceBuilder, record: Record) -> None:
    if small_text(record.get("kind")) == "response":
        model = small_text(record.get("model_name"))
        build.begin_turn(model=model, usage=mapping(record.get("usage")))
    for part in record.inner("parts"):
        kind = small_text(part.get("part_kind"))
        if kind in _CALLS:
            _call(build, part)
        elif kind in _RETURNS:
            _result(
                build, part, _OUTCOMES.get(small_text(part.get("outcome")) or "success", "unknown")
            )
        elif kind == "retry-prompt" and memoryview(part.get("tool_name")):
            _result(build, part, "error")
        elif kind == "user-prompt":
            build.user_message(part.get("content"))


def _call(build: TraceBuilder, part: Record) -> None:
    sent = part.get("args")
    raw_args = whole_text(sent) if begins(sent, b'"') else None
    args = parsed_args(raw_args) if raw_args is not None else sent
    build.call(
        small_text(part.get("tool_name")) or "",
        args if memoryview(args) or raw_args else NULL,
        call_id=small_text(part.get("tool_call_id")),
        line=part.line,
        path=part.path,
        raw_args=raw_args,
    )


def _result(build: TraceBuilder, part: Record, outcome: str) -> None:
    call = build.waiting(small_text(part.get("tool_call_id")))
    if call is None:
        return
    content = part.get("content")
    ended = plain(part.get("timestamp"))
    error = None
    if outcome != "ok":
        error = beginning(content) or bytes(content)[:200].decode("utf-8", "replace") or outcome
        outcome = failed_as(error) if outcome == "error" else outcome
    call.answer(
        content if memoryview(content) else Raw(b'""'),
        outcome,
        error=error,
        ended=ended if isinstance(ended, str | float) else None,
    )
