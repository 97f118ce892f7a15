"""Vercel AI SDK 4 to 6: UI messages, model messages and results of `generateText`.

Sniff: parts of type `tool-…` with a `toolCallId`, blocks `tool-call`/`tool-result`,
`toolInvocations`, or messages whose `parts` all have a type.

- Turn: one assistant message or step; in UI messages each `step-start` begins one, in
  `toolInvocations` each new `step`. Context: always `main`.
- Calls: `tool-NAME` and `dynamic-tool` parts, `tool-invocation` parts, `tool-call` blocks. A UI
  message of SDK 4 tells its calls twice (`parts` and `toolInvocations`): the parts count. Calls
  whose input is still streaming were not asked yet.
- Results: the part's own `output`, or a `tool-result` block by `toolCallId`; in steps it is what
  the tool returned, in model messages wrapped as `{type, value}`. `preliminary` ones are "unknown".
- Outcomes: the part's state (`output-error`, `output-denied`), an output of type `error-…`, a
  `tool-error` block, `isError` (also inside the answer of an MCP server). Invalid input and
  unavailable tools never ran (`rawInput`, `invalid`, or the SDK's own words); a refused approval is
  a rejection, one that is still waited for has not run.
- Usage and model: of the steps of `generateText`; of a UI message's metadata, where it is one step.
- Saved again and again, a conversation that begins with the whole of the one before replaces it.

What the format cannot tell: times, context loss (a shortened list looks like a short one),
sub-agents, and which batch a call was in where SDK 4 recorded no steps.
"""

from __future__ import annotations

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, NULL, beginning, begins, starts_with
from refetch.readers.json_records import mapping, plain
from refetch.readers.records import Record, RecordList, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, elements, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "vercel-ai"
_KEYS = ("messages", "steps", "uiMessages")
_BLOCKS = frozenset(("tool-call", "tool-result", "tool-error", "tool-invocation", "dynamic-tool"))
_UI_PARTS = frozenset(("text", "reasoning", "step-start", "file", "source-url", "source-document"))
_ROLES = frozenset(("system", "user", "assistant"))
_NOT_ASKED = frozenset(("input-streaming", "partial-call"))
_ANSWERED = frozenset(("output-available", "result"))
_ENDS = {
    "output-error": "error",
    "output-denied": "rejected",
    "approval-requested": "not-executed",
}
_KINDS = {
    "text": "ok",
    "json": "ok",
    "content": "ok",
    "error-text": "error",
    "error-json": "error",
    "execution-denied": "rejected",
}
_WRAPPING = frozenset(("type", "value", "reason", "providerOptions"))
_NEVER_RAN = (b"Invalid input for tool ", b"Model tried to call unavailable tool ")


def sniff(sniffed: Sniffed) -> bool:
    """True for messages whose calls have a `toolCallId`, and for UI messages of any kind."""
    for row in (*sniffed_records(sniffed, _KEYS), *_steps_of(sniffed)):
        if "toolInvocations" in row or {"toolCalls", "toolResults"} <= row.keys():
            return True
        if _is_ui(row):
            return True
        for key in ("parts", "content"):
            for raw in elements(row.get(key, NULL), 20):
                block = members(raw)
                kind = small_text(block.get("type")) or ""
                named = kind in _BLOCKS or kind.startswith("tool-")
                if named and ("toolCallId" in block or "toolInvocation" in block):
                    return True
    return False


def _steps_of(sniffed: Sniffed) -> list[dict[str, Raw]]:
    return [
        members(raw) for row in sniffed.rows[:1] for raw in elements(row.get("steps", NULL), 20)
    ]


def _is_ui(row: dict[str, Raw]) -> bool:
    kinds = {small_text(members(raw).get("type")) for raw in elements(row.get("parts", NULL), 20)}
    return bool(kinds) and small_text(row.get("role")) in _ROLES and kinds <= _UI_PARTS


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each message list.

    Raises:
        InputError: there are no messages.
    """
    problems: list[Problem] = []
    lists = _latest(record_lists(data, source, _KEYS, "message", problems))
    traces = []
    for index, one in enumerate(lists):
        build = TraceBuilder(source, NAME)
        build.run = small_text(one.around.get("id")) or (
            source if len(lists) == 1 else f"{source}#{index}"
        )
        reading = _Reading(build)
        for record in one.records:
            reading.take(record)
        reading.steps_beside(one)
        traces.append(build.trace())
    traces[0].problems.extend(problems)
    return traces


def _latest(lists: list[RecordList]) -> list[RecordList]:
    """Snapshots of a growing conversation are the last of them."""
    found: list[RecordList] = []
    told: list[list[str | bytes]] = []
    places: dict[str | bytes, int] = {}
    for one in lists:
        keys = [_key(record) for record in one.records]
        place = places.get(keys[0])
        if place is not None and keys[: len(told[place])] == told[place]:
            found[place], told[place] = one, keys
            continue
        places[keys[0]] = len(found)
        found.append(one)
        told.append(keys)
    return found


def _key(record: Record) -> str | bytes:
    return small_text(record.get("id")) or bytes(record.get("content", "parts", "toolCalls"))


class _Reading:
    """Tells one message list to a builder."""

    def __init__(self, build: TraceBuilder) -> None:
        self.build = build
        self.approvals: dict[str, str] = {}

    def take(self, record: Record) -> None:
        """One message or step."""
        role = small_text(record.get("role"))
        key = "parts" if memoryview(record.get("parts")) else "content"
        listed = record.get(key)
        if role == "user":
            self.build.user_message(listed)
            return
        inner = record.inner(key)
        kinds = [small_text(part.get("type")) or "" for part in inner]
        if role == "assistant" or (role is None and memoryview(record.get("content", "toolCalls"))):
            self._begin(record, one_step=kinds.count("step-start") < 2)
        elif role != "tool":
            return
        begun = True
        for kind, part in zip(kinds, inner, strict=True):
            if kind == "step-start" and not begun:
                self._begin(record, one_step=False)
            begun = kind == "step-start"
            self._part(kind, part)
        if not inner:
            self._flat(record)
        if not any(kind.startswith("tool-") or kind == "dynamic-tool" for kind in kinds):
            self._invocations(record)

    def steps_beside(self, one: RecordList) -> None:
        """The steps of a document whose `messages` are only what they began with."""
        if not one.records or ".messages[" not in one.records[0].path:
            return
        prefix = one.records[0].path.rpartition(".messages[")[0]
        steps = Record(one.around, prefix, one.records[0].line).inner("steps")
        told = {call.fields["call_id"] for call in self.build.calls}
        if told.isdisjoint(asked for step in steps for asked in _asked_in(step)):
            for step in steps:
                self.take(step)

    def _begin(self, record: Record, *, one_step: bool) -> None:
        metadata = mapping(record.get("metadata"))
        usage = mapping(record.get("usage")) or metadata.get("usage")
        model = _model_of(record) or metadata.get("model")
        self.build.begin_turn(
            model=model if isinstance(model, str) else None,
            usage=usage if isinstance(usage, dict) and one_step else None,
        )

    def _flat(self, record: Record) -> None:
        """A step of `generateText` that names its calls and results beside each other."""
        for key, take in (("toolCalls", self._call), ("toolResults", self._result)):
            for part in record.inner(key):
                take(part)

    def _invocations(self, record: Record) -> None:
        step: int | None = None
        for part in record.inner("toolInvocations"):
            number = plain(part.get("step"))
            if isinstance(number, int):
                if step is not None and number != step:
                    self._begin(record, one_step=False)
                step = number
            self._invocation(part)

    def _part(self, kind: str, part: Record) -> None:
        if "state" in part.fields and kind.startswith("tool-"):
            # A UI part of any tool, even of one that is called "call" or "result".
            self._invocation(part, small_text(part.get("toolName")) or kind.removeprefix("tool-"))
        elif kind == "tool-call":
            self._call(part)
        elif kind in ("tool-result", "tool-error"):
            self._result(part, failed=kind == "tool-error")
        elif kind == "tool-invocation":
            path = f"{part.path}.toolInvocation"
            self._invocation(Record(members(part.get("toolInvocation")), path, part.line))
        elif kind == "tool-approval-request":
            approval, call_id = (small_text(part.get(k)) for k in ("approvalId", "toolCallId"))
            if approval is not None and call_id is not None:
                self.approvals[approval] = call_id
        elif kind == "tool-approval-response":
            self._approval(part)
        elif kind == "dynamic-tool":
            self._invocation(part)

    def _approval(self, part: Record) -> None:
        call_id = self.approvals.get(small_text(part.get("approvalId")) or "")
        refused = begins(part.get("approved"), b"false")
        call = self.build.waiting(call_id) if refused and call_id is not None else None
        if call is not None:
            call.end("rejected", error=small_text(part.get("reason")) or "not approved")

    def _invocation(self, part: Record, name: str | None = None) -> None:
        state = small_text(part.get("state")) or ""
        if state in _NOT_ASKED:
            return
        call = self._call(part, name)
        if state in _ANSWERED:
            output = part.get("output", "result")
            outcome = "unknown" if begins(part.get("preliminary"), b"true") else "ok"
            outcome = "error" if _failed(output) else outcome
            call.answer(output, outcome, error=None if outcome == "ok" else outcome)
        elif state in _ENDS:
            never = not memoryview(part.get("input")) and bool(memoryview(part.get("rawInput")))
            call.end(
                "not-executed" if never else _ENDS[state],
                error=beginning(part.get("errorText")) or state,
            )
        elif begins(members(part.get("approval")).get("approved", NULL), b"false"):
            call.end("rejected", error=state)

    def _call(self, part: Record, name: str | None = None) -> OpenCall:
        args = part.get("input", "args", "rawInput")
        call = self.build.call(
            name or small_text(part.get("toolName")) or "",
            args if memoryview(args) else NULL,
            call_id=small_text(part.get("toolCallId")),
            line=part.line,
            path=part.path,
        )
        if begins(part.get("invalid"), b"true"):
            call.end("not-executed", error="invalid call")
        return call

    def _result(self, part: Record, *, failed: bool = False) -> None:
        call = self.build.waiting(small_text(part.get("toolCallId")))
        if call is None:
            return
        outcome, value = _typed(part.get("output", "result", "error"))
        failed = failed or begins(part.get("isError"), b"true") or _failed(value)
        if outcome == "ok" and failed:
            outcome = "error"
        if outcome == "error" and starts_with(value, *_NEVER_RAN):
            outcome = "not-executed"
        error = None if outcome == "ok" else beginning(value) or outcome
        call.answer(value, outcome, error=error)


def _model_of(record: Record) -> str | None:
    said = small_text(members(record.get("response")).get("modelId"))
    return said or small_text(members(record.get("model")).get("modelId"))


def _asked_in(step: Record) -> list[str]:
    listed = [*step.inner("content"), *step.inner("toolCalls")]
    return [call_id for one in listed if (call_id := small_text(one.fields.get("toolCallId")))]


def _failed(value: Raw) -> bool:
    """What an MCP server answers says so itself."""
    return begins(members(value).get("isError", NULL), b"true")


def _typed(result: Raw) -> tuple[str, Raw]:
    """(outcome, value) of an output.

    Model messages wrap it, older ones and steps do not; what a tool returned may have a `type` of
    its own.
    """
    fields = members(result)
    outcome = _KINDS.get(small_text(fields.get("type")) or "")
    if outcome is None or not fields.keys() <= _WRAPPING:
        return "ok", result
    if outcome == "rejected":
        return outcome, fields.get("reason", EMPTY)
    return (outcome, fields["value"]) if "value" in fields else ("ok", result)
