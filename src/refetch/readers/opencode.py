"""opencode: exported sessions (`opencode export`) and lists of messages with their parts.

Sniff: messages with `info` and `parts`, or parts of type "tool" with `callID` and `state`.

- Turn: one `step-start` part, else one assistant message. Context: `main`, or the session a part
  names where a file holds several.
- Calls and results: `tool` parts (`tool`, `state.input`, `state.output`).
- Outcomes: the state's status: completed, error (an aborted call is cancelled); pending and running
  have no result yet. Times: `state.time`. Usage: `step-finish` and the message's `tokens`.
- Context loss: a summary message or a `compaction` part; a tool part whose `state.time.compacted`
  is set lost its own result.
- People: user messages.

What the format cannot tell: exit codes other than in a tool's metadata, and who approved a call.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from refetch.model.trace import MAIN, ContextStart, Problem, Trace
from refetch.readers.blocks import NULL, beginning
from refetch.readers.json_records import mapping, parts, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import OpenRequest, TraceBuilder

NAME = "opencode"
_KEYS = ("messages", "parts")


def sniff(sniffed: Sniffed) -> bool:
    """True for messages with info and parts, or tool parts."""
    for row in sniffed_records(sniffed, _KEYS):
        info = members(row.get("info"))
        if "role" in info and "parts" in row and ("sessionID" in info or "time" in info):
            return True
        if small_text(row.get("type")) == "tool" and {"callID", "state"} <= row.keys():
            return True
    return False


def read(data: bytes, source: str) -> list[Trace]:
    """The one session in a file.

    Raises:
        InputError: there are no messages.
    """
    problems: list[Problem] = []
    reading = _Reading(source)
    for one in record_lists(data, source, _KEYS, "message", problems):
        info = members(one.around.get("info"))
        reading.build.run = reading.build.run or small_text(info.get("id"))
        for record in one.records:
            if "parts" in record.fields:
                reading.message(record)
            else:
                reading.part(record, MAIN)
    reading.build.problems.extend(problems)
    return [reading.build.trace()]


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME, NAME)
        self.session: str | None = None
        self.known = {MAIN}
        self.began = False
        self.request: OpenRequest | None = None

    def message(self, record: Record) -> None:
        """One message and its parts."""
        info = members(record.get("info"))
        session = small_text(info.get("sessionID"))
        self.session = self.session or session
        context = MAIN if session in (None, self.session) else str(session)
        if context not in self.known:
            self.known.add(context)
            self.build.start_context(ContextStart(context))
        listed = parts(record.get("parts"))
        if small_text(info.get("role")) == "user":
            said = next((t for p in listed if (t := members(p).get("text"))), NULL)
            self.build.user_message(said, context)
            if any(small_text(members(p).get("type")) == "compaction" for p in listed):
                self.build.lose("compaction", context)
            return
        if plain(info.get("summary")) is True:
            self.build.lose("compaction", context)
        model = small_text(info.get("modelID"))
        self.began = False
        if not any(small_text(members(p).get("type")) == "step-start" for p in listed):
            self._begin(context, model, mapping(info.get("tokens")))
        for at, raw in enumerate(listed):
            place = f"{record.path}.parts[{at}]"
            self.part(Record(members(raw), place, record.line), context, model)

    def _begin(self, context: str, model: str | None, usage: dict[str, Any]) -> None:
        self.request = self.build.begin_turn(context, model, _counts(usage))
        self.began = True

    def part(self, part: Record, context: str, model: str | None = None) -> None:
        """One part."""
        kind = small_text(part.get("type"))
        if kind == "step-start":
            self._begin(context, model, {})
        elif kind == "tool":
            if not self.began:
                self._begin(context, model, {})
            self._tool(part, context)
        elif kind == "step-finish" and self.request is not None:
            self.request.usage = _counts(mapping(part.get("tokens"))) or self.request.usage

    def _tool(self, part: Record, context: str) -> None:
        state = members(part.get("state"))
        time = mapping(state.get("time"))
        metadata = mapping(state.get("metadata"))
        code = metadata.get("exit")
        call = self.build.call(
            small_text(part.get("tool")) or "",
            state.get("input", NULL),
            context=context,
            call_id=small_text(part.get("callID")),
            line=part.line,
            path=part.path,
            started=_seconds(time.get("start")),
        )
        ended = _seconds(time.get("end"))
        status = small_text(state.get("status"))
        if status == "completed":
            code = code if isinstance(code, int) and not isinstance(code, bool) else None
            output = state.get("output", Raw(b'""'))
            cut = metadata.get("truncated") is True
            call.answer(output, exit_code=code, truncated=cut, ended=ended)
        elif status == "error":
            error = state.get("error", NULL)
            text = beginning(error) or "error"
            aborted = "aborted" in text.lower()
            call.answer(error, "cancelled" if aborted else "error", error=text, ended=ended)
        if isinstance(time.get("compacted"), int | float):
            self.build.lose("eviction", context, lost=[call.seq])


def _counts(usage: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in usage.items() if isinstance(v, int | float)}


def _seconds(value: Any) -> float | None:
    return value / 1000 if isinstance(value, int | float) and not isinstance(value, bool) else None
