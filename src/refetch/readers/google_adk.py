"""Events of Google's Agent Development Kit: a session document, a list, or JSON Lines.

Sniff: events with an `author` and an invocation id.

- Turn: one event with calls or words of a model. Context: the event's `branch`, `main` without one
  (agents that take over by transfer share one history).
- Calls: `functionCall` parts. Results: `functionResponse` parts by id, else by name.
- Outcomes: a response with an `error` member is an error; `errorCode` of the event is of the model.
- Context loss: `actions.compaction`. Usage: `usageMetadata`. Times: of the events; the call's is
  when it was asked, the answer's when it came. People: events of the author "user" with words.
- Partial events of a stream are passed over; the whole one follows.

What the format cannot tell: which of a batch of calls ran first, and what a tool's own agent did.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from refetch.model.trace import MAIN, ContextStart, Problem, Trace
from refetch.readers.blocks import NULL, begins
from refetch.readers.json_records import mapping, parts, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import TraceBuilder

NAME = "google-adk"
_KEYS = ("events",)


def sniff(sniffed: Sniffed) -> bool:
    """True for events with author and invocation."""
    return any(
        "author" in row and ("invocationId" in row or "invocation_id" in row)
        for row in sniffed_records(sniffed, _KEYS)
    )


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each session.

    Raises:
        InputError: there are no events.
    """
    problems: list[Problem] = []
    lists = record_lists(data, source, _KEYS, "event", problems)
    traces = []
    for index, one in enumerate(lists):
        reading = _Reading(source)
        reading.build.run = small_text(one.around.get("id")) or (
            source if len(lists) == 1 else f"{source}#{index}"
        )
        for record in one.records:
            reading.take(record)
        traces.append(reading.build.trace())
    traces[0].problems.extend(problems)
    return traces


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME)
        self.known = {MAIN}

    def take(self, record: Record) -> None:
        """One event."""
        if begins(record.get("partial"), b"true"):
            return
        context = small_text(record.get("branch")) or MAIN
        if context not in self.known:
            self.known.add(context)
            self.build.start_context(ContextStart(context))
        actions = mapping(record.get("actions"))
        if actions.get("compaction"):
            self.build.lose("compaction", context)
        listed = parts(members(record.get("content")).get("parts", NULL))
        found = [Record(members(raw), "", record.line) for raw in listed]
        calls = [p.get("functionCall", "function_call") for p in found]
        told = [p.get("functionResponse", "function_response") for p in found]
        words = any(memoryview(p.get("text")) for p in found)
        if small_text(record.get("author")) == "user":
            if words:
                said = next(p.get("text") for p in found if memoryview(p.get("text")))
                self.build.user_message(said, context)
        elif any(map(bytes, calls)) or (words and not any(map(bytes, told))):
            usage = mapping(record.get("usageMetadata", "usage_metadata"))
            model = small_text(record.get("modelVersion", "model_version"))
            self.build.begin_turn(context, model, usage)
        time = plain(record.get("timestamp"))
        when = time if isinstance(time, str | int | float) and not isinstance(time, bool) else None
        for at, raw in enumerate(calls):
            if memoryview(raw):
                self._call(
                    members(raw), context, f"{record.path}.content.parts[{at}]", record.line, when
                )
        for raw in told:
            if memoryview(raw):
                self._result(members(raw), context, when)

    def _call(
        self, asked: dict[str, Raw], context: str, path: str, line: int | None, when: Any
    ) -> None:
        self.build.call(
            small_text(asked.get("name")) or "",
            asked.get("args", NULL),
            context=context,
            call_id=small_text(asked.get("id")),
            line=line,
            path=path,
            started=when,
        )

    def _result(self, told: dict[str, Raw], context: str, when: Any) -> None:
        call = self.build.waiting(small_text(told.get("id")), context)
        if call is None:
            return
        response = told.get("response", NULL)
        fields = members(response)
        if "error" in fields and not begins(fields["error"], b"null"):
            error = plain(fields["error"])
            call.answer(response, "error", error=str(error)[:200], ended=when)
            return
        result = fields["result"] if set(fields) == {"result"} else response
        call.answer(result, ended=when)
