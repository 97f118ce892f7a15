"""From the spans of one run to a trace: contexts, turns, and each call once.

Serves formats that record a tree of spans (OpenTelemetry, Langfuse). A call can stand in the
answer of a model span, in a tool span, and as a response in the prompt of a later model span; it
is one call.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from refetch.model.trace import MAIN, ContextStart, seconds
from refetch.readers.blocks import EMPTY, beginning, like_error
from refetch.readers.json_records import plain
from refetch.readers.trace_builder import OpenCall, TraceBuilder

_PHASE = re.compile(r"tool\.(?P<tool>.+)\.(?P<phase>start|success|finish|error|retry)(?:-\d+)?$")
# Steps of one agent that are recorded like agents.
_STEP = re.compile(r"agent\..+\.(?:start|update|partial_update|success|error|retry)(?:-\d+)?$")


class Asked(NamedTuple):
    """A call in a model's answer."""

    call_id: str | None
    name: str
    args: Raw
    raw_args: str | None


class Told(NamedTuple):
    """A result in a model's prompt."""

    call_id: str
    result: Raw


class Span(msgspec.Struct):
    """One span, as far as it matters here. `kind`: tool, model, agent or other.

    `node` marks steps of a graph, which do not begin a history of their own; `people` is the number
    of user messages in a model's prompt; `session` names the conversation, where recorded.
    """

    id: str
    parent: str | None
    kind: str
    name: str
    started: float | str | None = None
    ended: float | str | None = None
    path: str = "$"
    line: int | None = None
    node: bool = False
    session: str | None = None
    call_id: str | None = None
    args: Raw = EMPTY
    raw_args: str | None = None
    result: Raw = EMPTY
    failed: bool = False
    error: str | None = None
    model: str | None = None
    usage: dict[str, Any] = {}
    asked: list[Asked] = []
    told: list[Told] = []
    people: int = 0


class SpanTree:
    """Turns the spans of one run into events of a builder."""

    def __init__(self, spans: list[Span], build: TraceBuilder) -> None:
        self.build = build
        self.by_id = {span.id: span for span in spans}
        ordered = sorted(spans, key=lambda span: seconds(span.started) or 0.0)
        self.spans = self._outermost(_phases_joined(ordered))
        self.roots = {
            span.parent for span in self.spans if span.kind == "model" and span.parent in self.by_id
        }
        self.models = {self._context_key(s) for s in self.spans if s.kind == "model"}
        self.names: dict[str, str] = {}
        self.people: dict[str, int] = {}
        self.calls: dict[str, list[OpenCall]] = {}
        self.executed: dict[str, OpenCall] = {}
        self.open: list[OpenCall] = []
        self.busy_until: dict[str, float] = {}
        self.inferred = False

    def tell(self) -> bool:
        """Give all events to the builder; True if turns had to be guessed."""
        for span in self.spans:
            if span.kind == "model":
                self._model(span)
            elif span.kind == "tool":
                self._tool(span)
        return self.inferred

    # Which spans count

    def _ancestors(self, span: Span) -> list[Span]:
        found: list[Span] = []
        seen = {span.id}
        while span.parent is not None and span.parent not in seen:
            seen.add(span.parent)
            parent = self.by_id.get(span.parent)
            if parent is None:
                break
            found.append(parent)
            span = parent
        return found

    def _outermost(self, spans: list[Span]) -> list[Span]:
        """Without spans that repeat the request or the call of a span around them."""
        kept = []
        for span in spans:
            around = next((a for a in self._ancestors(span) if _same(a, span)), None)
            if around is None:
                kept.append(span)
                continue
            for name in ("asked", "told", "usage", "model", "call_id", "people"):
                if not getattr(around, name) and getattr(span, name):
                    setattr(around, name, getattr(span, name))
            for name in ("args", "result"):
                if not memoryview(getattr(around, name)):
                    setattr(around, name, getattr(span, name))
        return kept

    # Contexts

    def _root(self, span: Span) -> Span | None:
        """The span around this one that holds a model's history."""
        for around in self._ancestors(span):
            if not (around.node or _STEP.match(around.name)) and (
                around.kind == "agent" or around.id in self.roots
            ):
                return around
        return None

    def _context_key(self, span: Span) -> str:
        root = self._root(span)
        if root is None:
            return ""
        if root.session is not None and not any(
            a.kind in ("agent", "tool") for a in self._ancestors(root)
        ):
            return f"{root.session} {root.name}"
        return root.id

    def _context(self, span: Span) -> str:
        key = self._context_key(span)
        known = self.names.get(key)
        if known is not None or key == "":
            return known or MAIN
        if not self.names:
            self.names[key] = MAIN
            return MAIN
        root = self._root(span)
        assert root is not None
        name = root.name if root.name not in self.names.values() else f"{root.name} {root.id}"
        self.names[key] = name
        tool = next((a for a in self._ancestors(span) if a.id in self.executed), None)
        parent = self.executed[tool.id].seq if tool is not None else None
        self.build.start_context(ContextStart(name, parent, model=span.model))
        return name

    # Events

    def _model(self, span: Span) -> None:
        for told in span.told:
            for call in self.calls.get(told.call_id, ()):
                if not call.answered:
                    failed = like_error(told.result)
                    call.answer(told.result, "unknown" if failed else "ok")
        context = self._context(span)
        if span.people > self.people.get(context, 0):
            self.build.user_message(context=context)
        self.people[context] = span.people
        self.build.begin_turn(context, span.model, span.usage)
        for asked in span.asked:
            call = self.build.call(
                asked.name,
                asked.args,
                raw_args=asked.raw_args,
                context=context,
                call_id=asked.call_id,
                path=span.path,
                line=span.line,
            )
            self.open.append(call)
            if asked.call_id is not None:
                self.calls.setdefault(asked.call_id, []).append(call)

    def _tool(self, span: Span) -> None:
        call = self._asked_by(span)
        if call is None:
            call = self._called_again(span) or self._called(span)
        else:
            self.open.remove(call)
            if not memoryview(call.fields["args"]) and call.fields.get("raw_args") is None:
                call.fields.update(args=span.args, raw_args=span.raw_args)
        self.executed[span.id] = call
        call.fields.update(started=span.started, ended=span.ended)
        if span.failed:
            outcome = "timeout" if "timeout" in (span.error or "").lower() else "error"
            if memoryview(span.result):
                call.answer(span.result, outcome, error=span.error or beginning(span.result))
            else:
                call.end(outcome, error=span.error)
        elif memoryview(span.result):
            call.answer(span.result, "ok")
        elif span.ended is not None and not call.answered:
            # It ended without an error; what it answered may still stand in a later prompt.
            call.fields["outcome"] = "ok"

    def _asked_by(self, span: Span) -> OpenCall | None:
        """The call of a model span that this tool span carried out."""
        waiting = [call for call in self.open if call.fields["name"] == span.name]
        if span.call_id is not None:
            for call in reversed(waiting):
                if call.fields["call_id"] == span.call_id:
                    return call
            waiting = [call for call in waiting if call.fields["call_id"] is None]
        sent = plain(span.args)
        for call in waiting:
            asked = plain(call.fields["args"])
            if sent is None or asked is None or sent in (asked, {"input": asked}):
                return call
        return None

    def _called_again(self, span: Span) -> OpenCall | None:
        """A further attempt at a call that was carried out before."""
        if span.call_id is None:
            return None
        for earlier in reversed(self.calls.get(span.call_id, [])):
            fields = earlier.fields
            if fields["name"] == span.name and plain(fields["args"]) == plain(span.args):
                again = self.build.call(
                    span.name,
                    fields["args"],
                    raw_args=fields.get("raw_args"),
                    context=fields["context"],
                    call_id=span.call_id,
                    turn=earlier.turn,
                    path=span.path,
                    line=span.line,
                )
                self.calls[span.call_id].append(again)
                return again
        return None

    def _called(self, span: Span) -> OpenCall:
        """A call that stands in no model's answer."""
        context = self._context(span)
        if self._context_key(span) not in self.models and not (
            context == MAIN and self.build.turn_of() and self.models
        ):
            self._guess_turn(span, context)
        call = self.build.call(
            span.name,
            span.args,
            raw_args=span.raw_args,
            context=context,
            call_id=span.call_id,
            path=span.path,
            line=span.line,
        )
        if span.call_id is not None:
            self.calls.setdefault(span.call_id, []).append(call)
        return call

    def _guess_turn(self, span: Span, context: str) -> None:
        """Without model spans, calls that overlap in time are taken for one response."""
        self.inferred = True
        start, end = seconds(span.started), seconds(span.ended)
        busy = self.busy_until.get(context)
        if busy is None or start is None or start >= busy:
            self.build.begin_turn(context)
            busy = end
        self.busy_until[context] = max(busy or 0.0, end or 0.0)


def _same(around: Span, span: Span) -> bool:
    """True if a span repeats the one around it: a wrapper of the same request or call."""
    if span.kind != around.kind or span.kind not in ("model", "tool"):
        return False
    if span.kind == "model":
        return True
    if span.call_id is not None and around.call_id is not None:
        return span.call_id == around.call_id and span.name == around.name
    if span.name != around.name:
        return False
    inner, outer = plain(span.args), plain(around.args)
    return inner is None or outer is None or inner == outer


def _phases_joined(spans: list[Span]) -> list[Span]:
    """Tools whose start and end are spans of their own (`tool.NAME.start`, `….success`) as one."""
    running: dict[tuple[str | None, str], Span] = {}
    kept = []
    for span in spans:
        phase = _PHASE.match(span.name) if span.kind == "tool" else None
        if phase is None:
            kept.append(span)
            continue
        key = (span.parent, phase["tool"])
        begun = running.get(key)
        if begun is None or phase["phase"] == "start":
            span.name = phase["tool"]
            running[key] = span
            kept.append(span)
            begun = span
        if memoryview(span.result):
            begun.result = span.result
        if phase["phase"] == "error":
            begun.failed = True
        if phase["phase"] != "start":
            begun.ended = span.started
    return kept
