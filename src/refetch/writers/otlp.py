"""OTLP JSON with the GenAI semantic conventions: a span for each agent, model request and tool.

The conventions have attributes for names, arguments, results, usage and errors. The rest of SPEC 11
stands in the attributes `refetch.run` and `refetch.call`, from where our reader takes it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import xxhash

from refetch.keys import UnreadableArguments, decode_json
from refetch.model.trace import MAIN, NEVER_RAN, Call, ContextStart, Request, Trace, seconds
from refetch.readers.carried import KEY, carried_call, carried_run
from refetch.writers.written import Written

_INTERNAL, _CLIENT = 1, 3
_STATUS_OK, _STATUS_ERROR = 1, 2
_encode = msgspec.json.Encoder().encode


def write(traces: Sequence[Trace]) -> Written:
    """Runs as one export: a resource each."""
    losses: Counter[str] = Counter()
    resources = []
    for number, trace in enumerate(traces):
        attributes = [_attribute("service.name", trace.harness or "agent")]
        spans = _Spans(trace, number, losses).all()
        scope = {"scope": {"name": KEY}, "spans": spans}
        resources.append({"resource": {"attributes": attributes}, "scopeSpans": [scope]})
    return Written(_encode({"resourceSpans": resources}) + b"\n", losses)


class _Spans:
    """The spans of one run."""

    def __init__(self, trace: Trace, number: int, losses: Counter[str]) -> None:
        self.trace = trace
        self.losses = losses
        self.trace_id = xxhash.xxh3_128_hexdigest(f"{number} {trace.run}".encode())
        self.spans: list[dict[str, Any]] = []
        self.agents: dict[str, str] = {}
        self.turns: dict[tuple[str, int], str] = {}
        self.started = {e.context: e for e in trace.events if isinstance(e, ContextStart)}
        self.requests = {(e.context, e.turn): e for e in trace.events if isinstance(e, Request)}

    def all(self) -> list[dict[str, Any]]:
        """The agent of the run first: it carries the run."""
        self.agent(MAIN)
        for name in self.started:
            self.agent(name)
        for call in self.trace.calls:
            self.tool(call)
        for context, turn in self.requests:
            self.turn(context, turn)
        return self.spans

    def agent(self, context: str) -> str:
        """The span of a context."""
        if context in self.agents:
            return self.agents[context]
        own = self.agents[context] = self._id("agent", context)
        start = self.started.get(context)
        parent = None
        if context != MAIN:
            by = start.parent_call if start is not None else None
            parent = self._id("call", by) if by is not None else self.agent(MAIN)
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": context,
            "gen_ai.conversation.id": self.trace.run,
        }
        if context == MAIN:
            attributes["refetch.run"] = _encode(carried_run(self.trace)).decode()
        self._add(own, parent, f"invoke_agent {context}", attributes)
        return own

    def turn(self, context: str, turn: int) -> str:
        """The span of one model request."""
        key = (context, turn)
        if key in self.turns:
            return self.turns[key]
        own = self.turns[key] = self._id("turn", *key)
        request = self.requests.get(key)
        model = (request.model if request is not None else None) or self.trace.model
        attributes: dict[str, Any] = {"gen_ai.operation.name": "chat"}
        if model is not None:
            attributes["gen_ai.request.model"] = model
        for name, value in ((request.usage if request is not None else None) or {}).items():
            if isinstance(value, int) and not isinstance(value, bool):
                attributes[f"gen_ai.usage.{name}"] = value
            else:
                self.losses["usage that is no number (kept in refetch.run)"] += 1
        name = f"chat {model}" if model else "chat"
        self._add(own, self.agent(context), name, attributes, kind=_CLIENT)
        return own

    def tool(self, call: Call) -> None:
        """The span of one execution of a tool."""
        own = self._id("call", call.seq)
        by_model = call.origin == "model"
        parent = self.turn(call.context, call.turn) if by_model else self.agent(call.context)
        text = _text_of(bytes(call.result))
        args = bytes(call.args)
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
        }
        if call.call_id is not None:
            attributes["gen_ai.tool.call.id"] = call.call_id
        if args:
            attributes["gen_ai.tool.call.arguments"] = args.decode("utf-8", "replace")
        if text is not None:
            attributes["gen_ai.tool.call.result"] = text
        elif bytes(call.result):
            attributes["gen_ai.tool.call.result"] = bytes(call.result).decode("utf-8", "replace")
        own_fields = carried_call(
            call,
            holds_args=_is_utf8(args),
            holds_result=text is not None and _encode(text) == bytes(call.result),
        )
        attributes["refetch.call"] = _encode(own_fields).decode()
        status: dict[str, Any] = {}
        if call.status == "ok":
            status = {"code": _STATUS_OK}
        elif call.status != "missing":
            status = {"code": _STATUS_ERROR, "message": call.error or call.status}
            attributes["error.type"] = call.status
        self.losses["times that were not recorded (0)"] += seconds(call.started) is None
        self.losses["calls that never ran (spans with an error)"] += call.status in NEVER_RAN
        self._add(
            own,
            parent,
            f"execute_tool {call.name}",
            attributes,
            times=(seconds(call.started), seconds(call.ended)),
            status=status,
        )

    def _add(
        self,
        own: str,
        parent: str | None,
        name: str,
        attributes: dict[str, Any],
        *,
        kind: int = _INTERNAL,
        times: tuple[float | None, float | None] = (None, None),
        status: dict[str, Any] | None = None,
    ) -> None:
        span: dict[str, Any] = {"traceId": self.trace_id, "spanId": own}
        if parent is not None:
            span["parentSpanId"] = parent
        span |= {
            "name": name,
            "kind": kind,
            "startTimeUnixNano": _nanoseconds(times[0]),
            "endTimeUnixNano": _nanoseconds(times[1] if times[1] is not None else times[0]),
            "attributes": [_attribute(key, value) for key, value in attributes.items()],
        }
        if status:
            span["status"] = status
        self.spans.append(span)

    def _id(self, *parts: object) -> str:
        return xxhash.xxh3_64_hexdigest(f"{self.trace_id} {parts}".encode("utf-8", "replace"))


def _attribute(key: str, value: str | int) -> dict[str, Any]:
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": key, "value": {kind: str(value)}}


def _nanoseconds(time: float | None) -> str:
    return "0" if time is None or not 0 <= time < 1e10 else str(int(time * 1e9))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text_of(result: bytes) -> str | None:
    """The text of a result that is a JSON string."""
    if not result.lstrip().startswith(b'"'):
        return None
    try:
        value = decode_json(result)
    except UnreadableArguments:
        return None
    return value if isinstance(value, str) else None
