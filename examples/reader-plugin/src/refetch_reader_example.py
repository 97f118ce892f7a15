"""Logs of an imaginary agent: one JSON object a line, `{"agent": "example", "event": …}`.

`ask` begins a turn, `call` asks for a tool, `done` answers it, `user` is a person's message.
"""

from __future__ import annotations

import json

from msgspec import Raw

from refetch.model import InputError, Problem, Trace
from refetch.readers.sniff import Sniffed, small_text
from refetch.readers.trace_builder import TraceBuilder

title = "Example agent log"


def sniff(sniffed: Sniffed) -> bool:
    """True if one of the first records is ours."""
    return any(small_text(row.get("agent")) == "example" for row in sniffed.rows)


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a log."""
    build = TraceBuilder(source, "example-agent")
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        try:
            record = json.loads(line)
            _take(build, record, number)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            build.problems.append(Problem(source, f"not a log record: {error}", number))
    if not build.calls and build.problems:
        raise InputError(source, "no log records", expected='{"agent": "example", …}')
    return [build.trace()]


def _take(build: TraceBuilder, record: dict[str, object], line: int) -> None:
    event = record["event"]
    if event == "user":
        build.user_message(str(record["text"]))
    elif event == "ask":
        build.begin_turn(model=str(record["model"]))
    elif event == "call":
        args = Raw(json.dumps(record["arguments"]).encode())
        build.call(str(record["tool"]), args, call_id=str(record["id"]), line=line)
    elif event == "done":
        call = build.waiting(str(record["id"]))
        if call is not None:
            outcome = "error" if record.get("failed") else "ok"
            call.answer(Raw(json.dumps(record["output"]).encode()), outcome)
