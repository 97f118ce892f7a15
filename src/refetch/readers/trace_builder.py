"""Puts a trace together in the order in which a file tells it; results come later than calls.

Readers that follow a file from start to end use it; it numbers calls and turns and finds the call
that a result answers.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from refetch.model.trace import (
    MAIN,
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Problem,
    Request,
    Trace,
    UserMessage,
)
from refetch.readers.blocks import EMPTY, raw_chars, raw_hash, whole_text

TASK_CHARS = 200
"""How much of the first prompt names the task."""

_NOTHING = Raw(b'""')


class OpenCall(msgspec.Struct, eq=False, gc=False):
    """A call whose result may still come. `fields` are those of `Call`."""

    fields: dict[str, Any]
    answered: bool = False

    @property
    def seq(self) -> int:
        """Its ordinal in the trace."""
        seq: int = self.fields["seq"]
        return seq

    @property
    def turn(self) -> int:
        """Its turn in its context."""
        turn: int = self.fields["turn"]
        return turn

    def answer(
        self,
        result: Raw,
        outcome: str = "ok",
        *,
        hashed: Raw | memoryview | None = None,
        **fields: Any,
    ) -> None:
        """Attach the result.

        Args:
            result: its JSON text; empty means that the tool answered with nothing.
            outcome: see `refetch.model.trace.OUTCOMES`.
            hashed: the part of it that a second look would have to repeat, where not all of it.
            fields: further fields of `Call`.
        """
        view = memoryview(result)
        if not view:
            result, view = _NOTHING, memoryview(_NOTHING)
        self.answered = True
        own = self.fields
        if fields:
            own.update(fields)
        own["outcome"] = outcome
        own["result"] = result
        own["result_hash"] = raw_hash(view if hashed is None else hashed)
        own["result_chars"] = raw_chars(view)

    def end(self, outcome: str, **fields: Any) -> None:
        """Say what became of the call where no result was recorded."""
        self.answered = True
        self.fields.update(fields, outcome=outcome)


class OpenRequest(msgspec.Struct, eq=False, gc=False):
    """A model request whose usage may still come."""

    turn: int
    context: str
    model: str | None
    usage: dict[str, Any] | None


class TraceBuilder:
    """Collects one trace.

    Args:
        source: what the trace calls its file.
        reader: the format's name.
        harness: the program that ran the agent, where the format says so.
    """

    def __init__(self, source: str, reader: str, harness: str | None = None) -> None:
        self.source = source
        self.reader = reader
        self.harness = harness
        self.run: str | None = None
        self.task: str | None = None
        self.model: str | None = None
        self.problems: list[Problem] = []
        self.lines: dict[int, int] = {}
        self.paths: dict[int, str] = {}
        self.calls: list[OpenCall] = []
        self._events: list[Event | OpenCall | OpenRequest] = []
        self._turns: dict[str, int] = {}
        self._by_id: dict[tuple[str, str], list[OpenCall]] = {}
        self._unanswered: dict[str, list[OpenCall]] = {}
        self._last_message: dict[str, int] = {}
        self._last_loss: dict[str, int] = {}

    @property
    def last_seq(self) -> int:
        """The latest call so far, -1 before all."""
        return len(self.calls) - 1

    def turn_of(self, context: str = MAIN) -> int:
        """The current turn of a context, 0 before any response."""
        return self._turns.get(context, 0)

    def begin_turn(
        self,
        context: str = MAIN,
        model: str | None = None,
        usage: dict[str, Any] | None = None,
    ) -> OpenRequest:
        """A model response begins."""
        turn = self._turns[context] = self._turns.get(context, 0) + 1
        request = OpenRequest(turn, context, model, usage or None)
        self._events.append(request)
        if context == MAIN:
            self.model = self.model or model
        return request

    def call(
        self,
        name: str,
        args: Raw = EMPTY,
        *,
        context: str = MAIN,
        call_id: str | None = None,
        line: int | None = None,
        path: str | None = None,
        **fields: Any,
    ) -> OpenCall:
        """The model asks for a call in the current turn; `fields` are further fields of `Call`."""
        seq = fields["seq"] = len(self.calls)
        fields["name"] = name
        fields["args"] = args
        fields["context"] = context
        fields["call_id"] = call_id
        if "turn" not in fields:
            fields["turn"] = self._turns.get(context, 0)
        call = OpenCall(fields)
        self.calls.append(call)
        self._events.append(call)
        if line is not None:
            self.lines[seq] = line
        if path is not None:
            self.paths[seq] = path
        if call_id is not None:
            same = self._by_id.get((context, call_id))
            if same is None:
                self._by_id[context, call_id] = [call]
            else:
                same.append(call)
        if context in self._unanswered:
            self._unanswered[context].append(call)
        else:
            self._unanswered[context] = [call]
        return call

    def waiting(self, call_id: str | None, context: str = MAIN) -> OpenCall | None:
        """The unanswered call with this id; without an id, the next one in order.

        Ids are reused in real files, so the latest turn is asked first, and within it the calls in
        order.
        """
        if call_id is None:
            return _next_of(self._unanswered.get(context))
        return _next_of(self._by_id.get((context, call_id)))

    def still_open(self, context: str = MAIN) -> list[OpenCall]:
        """The calls of the context's current turn without a result."""
        turn = self.turn_of(context)
        found = []
        for call in reversed(self._unanswered.get(context, [])):
            if call.turn != turn:
                break
            if not call.answered:
                found.append(call)
        return found[::-1]

    def user_message(self, text: str | Raw | None = None, context: str = MAIN) -> None:
        """A person spoke. Several messages between two calls are one.

        Args:
            text: what was said, decoded or not; the first one names the task.
            context: who heard it.
        """
        if context == MAIN and self.task is None and text is not None:
            words = text if isinstance(text, str) else whole_text(text)
            self.task = words.strip()[:TASK_CHARS] or None
        last = len(self.calls) - 1
        if self._last_message.get(context) != last:
            self._last_message[context] = last
            self._events.append(UserMessage(last, context))

    def lose(
        self,
        kind: Literal["compaction", "clear", "trim", "eviction", "truncation"],
        context: str = MAIN,
        lost: list[int] | None = None,
        after: int | None = None,
    ) -> None:
        """Results left a context; without `lost`, all of them did (told twice counts once)."""
        at = self.last_seq if after is None else after
        if lost is None:
            if self._last_loss.get(context) == at:
                return
            self._last_loss[context] = at
        self._events.append(ContextLoss(at, kind, context, lost))

    def start_context(self, start: ContextStart) -> None:
        """A further context exists."""
        self._events.append(start)

    def add(self, event: Event) -> None:
        """Any other event."""
        self._events.append(event)

    def trace(self, *, turns: str = "recorded", order: str = "recorded") -> Trace:
        """Everything collected."""
        events: list[Event] = [
            Call(**event.fields)
            if isinstance(event, OpenCall)
            else Request(event.turn, event.context, event.model, event.usage)
            if isinstance(event, OpenRequest)
            else event
            for event in self._events
        ]
        return Trace(
            run=self.run or self.source,
            events=events,
            task=self.task,
            model=self.model,
            source=self.source,
            format=self.reader,
            harness=self.harness,
            turns=turns,
            order=order,
            lines=self.lines,
            paths=self.paths,
            problems=self.problems,
        )


def _next_of(calls: list[OpenCall] | None) -> OpenCall | None:
    if calls is None:
        return None
    if len(calls) == 1:
        return None if calls[0].answered else calls[0]
    while calls and calls[-1].answered:
        calls.pop()
    if not calls:
        return None
    turn = calls[-1].turn
    found = None
    for call in reversed(calls):
        if call.turn != turn:
            break
        if not call.answered:
            found = call
    return found
