"""OpenHands: the event stream of version 0 and the events of its SDK.

Sniff: events with `source` beside `action` or `observation`; or with a `kind` that ends in
"Event".

- Turn: one model response (`tool_call_metadata.model_response.id`, `llm_response_id`). Context:
  `main`; delegates of version 0 write streams of their own.
- Calls: actions that came from a tool call, under the tool's own name. `raw_args`: the argument
  text that the model sent, where the response is kept. Results: the observation with that cause or
  `tool_call_id`.
- Outcomes: an error observation or `AgentErrorEvent` is an error; exit codes from the metadata (-1:
  still running, a timeout); a rejected action.
- Context loss: condensations, by the events that they forget where they say so.
- People: messages of the user. Times: of the events. Model: of the response.

What the format cannot tell: what a condenser left out that it did not name; with the older ones a
window over the history is not recorded at all.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import NULL, beginning, parsed_args, whole_text
from refetch.readers.json_records import mapping, plain
from refetch.readers.records import Record, record_lists, sniffed_records, traces_of
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "openhands"
_KEYS = ("history", "events", "trajectory")
_SDK_KINDS = frozenset(
    """ActionEvent ObservationEvent MessageEvent AgentErrorEvent SystemPromptEvent Condensation
    CondensationRequest UserRejectObservation ConversationStateUpdateEvent PauseEvent
    LLMCompletionLogEvent TokenEvent CondensationSummaryEvent""".split()
)
_SILENT = frozenset(("message", "system", "recall", "change_agent_state", "null", "condensation"))


def sniff(sniffed: Sniffed) -> bool:
    """True for events of either generation."""
    for row in sniffed_records(sniffed, _KEYS):
        if small_text(row.get("kind")) in _SDK_KINDS and "source" in row:
            return True
        if "source" in row and "id" in row and ("action" in row or "observation" in row):
            return "message" in row or "args" in row or "extras" in row
    return False


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each event stream.

    Raises:
        InputError: there are no events.
    """
    problems: list[Problem] = []
    lists = record_lists(data, source, _KEYS, "event", problems)
    traces = traces_of(lists, source, "instance_id", _Reading)
    traces[0].problems.extend(problems)
    return traces


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME, NAME)
        self.by_event: dict[int | str, OpenCall] = {}
        self.response: str | None = None

    def take(self, record: Record) -> None:
        """One event."""
        kind = small_text(record.get("kind"))
        if kind is not None:
            self._sdk(kind, record)
        elif memoryview(record.get("action")):
            self._action(record)
        elif memoryview(record.get("observation")):
            self._observation(record)

    def _begin(self, response: str | None, model: Any, usage: Any = None) -> None:
        if response is None or response != self.response:
            self.build.begin_turn(
                model=model if isinstance(model, str) else None,
                usage=usage if isinstance(usage, dict) else None,
            )
        self.response = response

    def _number(self, record: Record, call: OpenCall) -> None:
        number = plain(record.get("id"))
        if isinstance(number, int | str):
            self.by_event[number] = call

    def _numbered(self, raw: Raw) -> OpenCall | None:
        number = plain(raw)
        return self.by_event.get(number) if isinstance(number, int | str) else None

    # -- version 0
    # -------------------------------------------------------------------------------------

    def _action(self, record: Record) -> None:
        action = small_text(record.get("action")) or ""
        if small_text(record.get("source")) == "user" and action == "message":
            self.build.user_message(members(record.get("args")).get("content"))
            return
        if action == "condensation":
            self._forget(mapping(record.get("args")))
            return
        metadata = mapping(record.get("tool_call_metadata"))
        if not metadata and (action in _SILENT or small_text(record.get("source")) != "agent"):
            return
        response = metadata.get("model_response")
        response = response if isinstance(response, dict) else {}
        own = response.get("id")
        self._begin(
            own if isinstance(own, str) else None, response.get("model"), response.get("usage")
        )
        call_id, name = metadata.get("tool_call_id"), metadata.get("function_name")
        raw_args = _sent(response, call_id)
        call = self.build.call(
            name if isinstance(name, str) else action,
            parsed_args(raw_args) if raw_args is not None else _or_null(record.get("args")),
            call_id=call_id if isinstance(call_id, str) else None,
            line=record.line,
            path=record.path,
            raw_args=raw_args,
            started=_time(record),
        )
        self._number(record, call)

    def _observation(self, record: Record) -> None:
        call = self._numbered(record.get("cause"))
        if call is None or call.answered:
            return
        kind = small_text(record.get("observation"))
        content = record.get("content")
        extras = mapping(record.get("extras"))
        metadata = extras.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else extras.get("exit_code")
        code = code if isinstance(code, int) and not isinstance(code, bool) else None
        outcome, error = "ok", None
        if kind == "error":
            outcome, error = "error", beginning(content) or "error"
        elif kind == "user_rejected":
            outcome, error = "rejected", beginning(content) or "rejected"
        elif code == -1:
            outcome, code = "timeout", None
        call.answer(content, outcome, error=error, exit_code=code, ended=_time(record))

    def _forget(self, args: dict[str, Any]) -> None:
        ids = args.get("forgotten_event_ids")
        first, last = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
        if isinstance(ids, list):
            gone = {i for i in ids if isinstance(i, int | str)}
        elif isinstance(first, int) and isinstance(last, int):
            gone = {i for i in self.by_event if isinstance(i, int) and first <= i <= last}
        else:
            self.build.lose("compaction")
            return
        lost = [call.seq for event, call in self.by_event.items() if event in gone]
        if lost:
            self.build.lose("compaction", lost=sorted(lost))

    # -- the SDK
    # -------------------------------------------------------------------------------------

    def _sdk(self, kind: str, record: Record) -> None:
        if kind == "ActionEvent":
            self._sdk_action(record)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._sdk_result(kind, record)
        elif kind == "MessageEvent" and small_text(record.get("source")) == "user":
            message = members(record.get("llm_message"))
            self.build.user_message(message.get("content", NULL))
        elif kind == "Condensation":
            self._forget({"forgotten_event_ids": plain(record.get("forgotten_event_ids"))})

    def _sdk_action(self, record: Record) -> None:
        self._begin(small_text(record.get("llm_response_id")), None)
        asked = members(record.get("tool_call"))
        function = members(asked.get("function")) or asked
        sent = function.get("arguments", NULL)
        raw_args = whole_text(sent) if isinstance(plain(sent), str) else None
        call = self.build.call(
            small_text(record.get("tool_name")) or small_text(function.get("name")) or "",
            parsed_args(raw_args) if raw_args is not None else _or_null(record.get("action")),
            call_id=small_text(record.get("tool_call_id")),
            line=record.line,
            path=record.path,
            raw_args=raw_args,
            started=_time(record),
        )
        self._number(record, call)
        if not memoryview(record.get("action")):
            call.fields["outcome"] = "not-executed"

    def _sdk_result(self, kind: str, record: Record) -> None:
        call = self._numbered(record.get("action_id")) or self.build.waiting(
            small_text(record.get("tool_call_id"))
        )
        if call is None or call.answered:
            return
        observation = members(record.get("observation"))
        content = observation.get("content", observation.get("output"))
        if content is None:
            content = record.get("error", "rejection_reason", "observation")
        code = plain(observation.get("exit_code"))
        code = code if isinstance(code, int) and not isinstance(code, bool) else None
        outcome = {"AgentErrorEvent": "error", "UserRejectObservation": "rejected"}.get(kind, "ok")
        if outcome == "ok" and plain(observation.get("is_error")) is True and code is None:
            outcome = "error"
        if outcome == "ok" and (code == -1 or plain(observation.get("timeout")) is True):
            outcome, code = "timeout", None
        error = (beginning(content) or outcome) if outcome in ("error", "rejected") else None
        call.answer(content, outcome, error=error, exit_code=code, ended=_time(record))


def _sent(response: dict[str, Any], call_id: Any) -> str | None:
    """The argument text of a call in the model's response."""
    for choice in _objects(response.get("choices")):
        for message in _objects([choice.get("message")]):
            for asked in _objects(message.get("tool_calls")):
                if asked.get("id") == call_id:
                    sent = next(
                        (f.get("arguments") for f in _objects([asked.get("function")])), None
                    )
                    return sent if isinstance(sent, str) else None
    return None


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; a value of another type has none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _or_null(raw: Raw) -> Raw:
    return raw if memoryview(raw) else NULL


def _time(record: Record) -> str | None:
    return small_text(record.get("timestamp"))
