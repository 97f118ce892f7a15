"""tau2-bench result files: `{"simulations": [{id, task_id, trial, messages}]}`, or the bare list.

Sniff: `simulations` beside `tasks` or `info`, or an array of objects with `task_id`, `messages` and
one of `reward_info`, `termination_reason`, `trial`, `user_cost`.

- Run: `ID|task=T|trial=K`; one trace for each simulation, in order.
- Contexts: `main` is the agent; `user` is the user simulator, which has tools of its own (calls
  with `requestor: user`). `seq` counts the calls of both in message order. Turn: one message of the
  context's own model. What the simulated user says is a user message in `main`, what the agent says
  one in `user`.
- Results: by id and context, several in one `tool_messages` list too. `raw_args`: the argument text
  in `raw_data`, where it is there.
- Outcomes: `error: true`, or a content that begins with "Error" (the flag is false on some of
  these); "Error: Tool … not found" never ran.
- Times: `timestamp` of a tool message is when its call ended. Usage: `usage`.

What the format cannot tell: when a call began, context loss.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import MAIN, ContextStart, Problem, Trace
from refetch.readers.blocks import beginning, starts_with
from refetch.readers.json_records import Lenient, mapping, plain
from refetch.readers.sniff import Sniffed, document_of, members
from refetch.readers.trace_builder import TraceBuilder

NAME = "tau2-bench"
USER = "user"
_MARKS = frozenset(("reward_info", "termination_reason", "trial", "user_cost"))
_NO_SUCH_TOOL = re.compile(r"Error: Tool '?[^']{0,80}'? not found")
_SNIFFED = 4


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: Raw = Raw()


class _RawCall(msgspec.Struct, gc=False):
    function: _Function | None = None


class _RawMessage(msgspec.Struct, gc=False):
    tool_calls: list[_RawCall] | None = None


class _RawData(msgspec.Struct, gc=False):
    message: _RawMessage | None = None


class _ToolCall(msgspec.Struct, gc=False):
    id: str | None = None
    name: str | None = None
    arguments: Raw = Raw()
    requestor: str | None = None


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: Raw = Raw()
    tool_calls: list[_ToolCall] | None = None
    tool_messages: Raw = Raw()
    id: str | None = None
    requestor: str | None = None
    error: bool | None = None
    timestamp: str | None = None
    usage: Raw = Raw()
    raw_data: Raw = Raw()


class _Simulation(msgspec.Struct, gc=False):
    id: Raw = Raw()
    task_id: Raw = Raw()
    trial: Raw = Raw()
    messages: list[_Message | None] | None = None


_message = Lenient(_Message)
_simulation = Lenient(_Simulation)
_raw_data = Lenient(_RawData)


def sniff(sniffed: Sniffed) -> bool:
    """True for a result file and for a bare list of simulations."""
    if sniffed.shape == "object":
        document = sniffed.document
        return "simulations" in document and ("tasks" in document or "info" in document)
    return sniffed.shape == "array" and any(
        "task_id" in row and "messages" in row and bool(_MARKS & row.keys())
        for row in sniffed.rows[:_SNIFFED]
    )


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each simulation in the file, in order.

    Raises:
        InputError: the file holds no simulation.
    """
    document = document_of(data)
    prefix = "$.simulations" if document else "$"
    models = _models(document)
    traces = []
    problems = []
    for index, one in enumerate(_simulation.decode_list(document.get("simulations", data))):
        path = f"{prefix}[{index}]"
        if one is None or one.messages is None:
            problems.append(Problem(source, "no `messages`", None, path, "a simulation"))
            continue
        traces.append(_Reading(source, one, one.messages, path, models).trace())
    if not traces:
        raise InputError(
            source, "no simulations", path=prefix, expected="simulations with `messages`"
        )
    traces[0].problems.extend(problems)
    return traces


def _models(document: dict[str, Raw]) -> dict[str, str | None]:
    info = members(document.get("info"))
    models: dict[str, str | None] = {}
    for context, key in ((MAIN, "agent_info"), (USER, "user_info")):
        model = mapping(info.get(key)).get("llm")
        models[context] = model if isinstance(model, str) else None
    return models


class _Reading:
    def __init__(
        self,
        source: str,
        simulation: _Simulation,
        messages: list[_Message | None],
        path: str,
        models: dict[str, str | None],
    ) -> None:
        ids = [plain(raw) for raw in (simulation.id, simulation.task_id, simulation.trial)]
        self.build = TraceBuilder(source, NAME)
        self.build.run = f"{ids[0]}|task={ids[1]}|trial={ids[2]}"
        self.build.model = models[MAIN]
        self.models = models
        self.path = path
        self.messages = messages
        self.two = any(
            call.requestor == USER
            for message in self.messages
            if message is not None
            for call in message.tool_calls or ()
        )

    def trace(self) -> Trace:
        """Read all messages."""
        if self.two:
            self.build.start_context(ContextStart(USER, model=self.models[USER]))
        for index, message in enumerate(self.messages):
            path = f"{self.path}.messages[{index}]"
            if message is None:
                self.build.problems.append(
                    Problem(self.build.source, "not a message", None, path, "an object")
                )
            elif message.role == "assistant":
                self._said(message, MAIN, USER, path)
            elif message.role == "user":
                self._said(message, USER, MAIN, path)
            elif message.role == "tool":
                self._answered(message)
        return self.build.trace()

    def _said(self, message: _Message, speaker: str, hearer: str, path: str) -> None:
        if speaker == MAIN or self.two:
            self.build.begin_turn(speaker, self.models[speaker], mapping(message.usage))
        if message.tool_calls:
            self._asked(message, message.tool_calls, speaker, path)
        elif hearer == MAIN or self.two:
            # With calls in it a message goes to the tools; the other side never sees its words.
            self.build.user_message(message.content, hearer)

    def _asked(self, message: _Message, calls: list[_ToolCall], speaker: str, path: str) -> None:
        texts = _argument_texts(message.raw_data, [call.name for call in calls])
        for number, call in enumerate(calls):
            context = USER if call.requestor == USER else MAIN if call.requestor else speaker
            self.build.call(
                call.name or "",
                call.arguments,
                raw_args=texts[number] if texts else None,
                context=context,
                call_id=call.id,
                path=f"{path}.tool_calls[{number}]",
            )

    def _answered(self, message: _Message) -> None:
        for each in _message.decode_list(message.tool_messages) or [message]:
            if each is None:
                continue
            context = USER if each.requestor == USER else MAIN
            call = self.build.waiting(each.id, context)
            if call is None:
                continue
            fields: dict[str, Any] = {"ended": each.timestamp}
            outcome = "ok"
            if each.error or starts_with(each.content, b"Error"):
                fields["error"] = beginning(each.content)
                missing = _NO_SUCH_TOOL.match(fields["error"])
                outcome = "not-executed" if missing else "error"
            call.answer(each.content, outcome, **fields)


def _argument_texts(raw: Raw, names: list[str | None]) -> list[str | None]:
    """The arguments as the model wrote them, where the provider's answer holds the same calls."""
    data = _raw_data.decode(raw)
    calls = (data.message.tool_calls if data and data.message else None) or []
    functions = [call.function or _Function() for call in calls]
    if [function.name for function in functions] != names:
        return []
    texts = [plain(function.arguments) for function in functions]
    return [text if isinstance(text, str) else None for text in texts]
