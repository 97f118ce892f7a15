"""OpenAI chat messages: a list of messages, `{"messages": […]}`, or JSON Lines of either.

Sniff: objects with a `role` of the chat API and no Anthropic content blocks. The format has no
mark of its own, so this reader is asked after all more specific ones.

- Turn: one assistant message. Context: always `main`.
- Calls: `tool_calls` (function and custom tools), and the older `function_call`. `raw_args` is the
  argument string as sent; `args` is set only where that string is JSON.
- Results: `role: tool` messages. Ids collide in real files, so a result is paired with the calls
  of the
  assistant message before it: by id, else (without an id) in order.
- JSON Lines of `{"messages": …}`: each line is a trace; where a line begins with the whole list of
  the
  line before (request logs repeat the history), the two are one.

What the format cannot tell: whether a call failed. A result is taken as delivered, unless it
begins like an error message, which leaves the outcome "unknown". No times, no usage, no context
loss (a message list that somebody shortened looks like a short one), no sub-agents.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.native import lines_of, problem_of
from refetch.model.trace import MAIN, Call, Event, Problem, Request, Trace, UserMessage
from refetch.readers.blocks import (
    EMPTY,
    beginning,
    like_error,
    parsed_args,
    raw_chars,
    raw_hash,
    whole_text,
)
from refetch.readers.sniff import Sniffed, document_of, elements, members, objects, small_text

NAME = "openai-chat"
ROLES = frozenset(("system", "developer", "user", "assistant", "tool", "function"))
_FOREIGN_BLOCKS = frozenset(("tool_use", "tool_result", "tool-call", "tool-result"))
_RUN_KEYS = ("id", "run_id", "session_id", "conversation_id", "thread_id", "trace_id")
_TASK_CHARS = 200
_SNIFFED_MESSAGES = 20
_BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: Raw = Raw()
    input: Raw = Raw()


class _ToolCall(msgspec.Struct):
    id: str | int | None = None
    function: _Function | None = None
    custom: _Function | None = None


class _Message(msgspec.Struct):
    role: str
    content: Raw = Raw()
    tool_calls: list[_ToolCall] | None = None
    function_call: _Function | None = None
    tool_call_id: str | int | None = None
    name: str | None = None
    model: str | None = None


_message = msgspec.json.Decoder(_Message)
_messages = msgspec.json.Decoder(list[_Message])
_string = msgspec.json.Decoder(str)


def sniff(sniffed: Sniffed) -> bool:
    """True for chat messages, in a list, under `messages`, or one a line."""
    rows = sniffed.rows
    if sniffed.shape == "object" or (rows and "messages" in rows[0]):
        rows = tuple(sniffed.inner(rows[0].get("messages", EMPTY)) if rows else ())
    return bool(rows) and all(_is_message(row) for row in rows)


def _is_message(row: dict[str, Raw]) -> bool:
    if small_text(row.get("role")) not in ROLES:
        return False
    if not ({"content", "tool_calls", "function_call", "refusal"} & row.keys()):
        return False
    return not any(
        small_text(members(block).get("type")) in _FOREIGN_BLOCKS
        for block in elements(row.get("content"), _SNIFFED_MESSAGES)
    )


def read(data: bytes, source: str) -> list[Trace]:
    """The traces in the input: one, or one a line.

    Raises:
        InputError: no list of messages could be read.
    """
    problems: list[Problem] = []
    chats = _whole(data) or _by_line(data, source, problems)
    if not chats:
        first = problems[0] if problems else None
        raise InputError(
            source,
            first.message if first else "no chat messages",
            line=first.line if first else None,
            path=first.path if first else None,
            expected="a list of messages with roles",
            found=first.found if first else None,
        )
    traces = [
        _Reading(chat, source, source if len(chats) == 1 else f"{source}#{index}").trace()
        for index, chat in enumerate(chats)
    ]
    traces[0].problems.extend(problems)
    return traces


class _Chat(msgspec.Struct):
    """One message list, or messages one a line; and the fields beside the list."""

    listed: Raw | bytes | list[Raw]
    around: dict[str, Raw]
    prefix: str = "$"
    line: int | None = None
    lines: list[int] | None = None

    def raws(self) -> list[Raw]:
        """Each message undecoded."""
        return self.listed if isinstance(self.listed, list) else elements(self.listed)

    def messages(self) -> list[_Message] | None:
        """All messages in one pass; None where one of them has another form."""
        try:
            return None if isinstance(self.listed, list) else _messages.decode(self.listed)
        except _BROKEN:
            return None


def _whole(data: bytes) -> list[_Chat]:
    if around := document_of(data):
        if "messages" in around:
            return [_Chat(around["messages"], around, "$.messages")]
        return [_Chat([Raw(data)], {}, "$", None, [1])] if "role" in around else []
    if "messages" in next(map(members, elements(data, 1)), {}):
        return [
            _Chat(around["messages"], around, f"$[{index}].messages")
            for index, around in enumerate(objects(data))
            if "messages" in around
        ]
    return [_Chat(data, {})] if elements(data, 1) else []


def _by_line(data: bytes, source: str, problems: list[Problem]) -> list[_Chat]:
    chats: list[_Chat] = []
    rows: list[Raw] = []
    numbers: list[int] = []
    for number, line in lines_of(data):
        try:
            raw = msgspec.json.decode(line, type=Raw)
        except _BROKEN as error:
            problems.append(problem_of(source, number, error, what="chat message"))
            continue
        around = members(raw)
        if "messages" in around:
            chat = _Chat(around["messages"], around, "$.messages", number)
            if chats and _continues(chat, chats[-1]):
                chats[-1] = chat
            else:
                chats.append(chat)
        elif "role" in around:
            rows.append(raw)
            numbers.append(number)
    if rows:
        chats.append(_Chat(rows, {}, "$", None, numbers))
    return chats


def _continues(chat: _Chat, before: _Chat) -> bool:
    known, told = before.raws(), chat.raws()
    return (
        0 < len(known) <= len(told)
        # A lone system prompt is no history: many conversations begin with the same one.
        and any(b'"assistant"' in bytes(raw) for raw in known)
        and known == told[: len(known)]
    )


class _Reading:
    """Turns one message list into a trace."""

    def __init__(self, chat: _Chat, source: str, run: str) -> None:
        self.chat = chat
        self.source = source
        self.run = run
        self.events: list[Event] = []
        self.problems: list[Problem] = []
        self.lines: dict[int, int] = {}
        self.paths: dict[int, str] = {}
        self.task: str | None = None
        self.model = small_text(chat.around.get("model"))
        self.turn = 0
        self.calls = 0
        # Where calls that wait for a result stand in `events`: of the last assistant message, and
        # before.
        self._waiting: list[int] = []
        self._late: list[int] = []

    def trace(self) -> Trace:
        """Read all messages."""
        found: Sequence[_Message | Raw] = self.chat.messages() or self.chat.raws()
        for index, message in enumerate(found):
            path = f"{self.chat.prefix}[{index}]" if self.chat.lines is None else "$"
            line = self.chat.line if self.chat.lines is None else self.chat.lines[index]
            if isinstance(message, Raw):
                try:
                    message = _message.decode(message)
                except _BROKEN as error:
                    problem = problem_of(self.source, line, error, what="chat message")
                    inner = (problem.path or "$").removeprefix("$")
                    self.problems.append(msgspec.structs.replace(problem, path=path + inner))
                    continue
            self._take(message, path, line)
        run = next(
            (text for key in _RUN_KEYS if (text := small_text(self.chat.around.get(key)))),
            self.run,
        )
        return Trace(
            run=run,
            events=self.events,
            task=self.task,
            model=self.model,
            source=self.source,
            format=NAME,
            lines=self.lines,
            paths=self.paths,
            problems=self.problems,
        )

    def _take(self, message: _Message, path: str, line: int | None) -> None:
        if message.role == "assistant":
            self._answer(message, path, line)
        elif message.role in ("tool", "function"):
            self._result(message)
        elif message.role == "user":
            self.events.append(UserMessage(self.calls - 1))
            if self.task is None:
                self.task = whole_text(message.content)[:_TASK_CHARS] or None

    def _answer(self, message: _Message, path: str, line: int | None) -> None:
        self.turn += 1
        self._late += self._waiting
        self._waiting = []
        self.model = self.model or message.model
        self.events.append(Request(self.turn, MAIN, message.model))
        for index, call in enumerate(message.tool_calls or ()):
            asked = call.function or call.custom
            if asked is not None:
                call_id = None if call.id is None else str(call.id)
                self._call(asked, call_id, f"{path}.tool_calls[{index}]", line)
        if message.function_call is not None:
            self._call(message.function_call, None, f"{path}.function_call", line)

    def _call(self, asked: _Function, call_id: str | None, path: str, line: int | None) -> None:
        sent = asked.arguments if memoryview(asked.arguments) else asked.input
        args, raw_args = arguments_of(sent)
        seq = self.calls
        self.calls += 1
        self.paths[seq] = path
        if line is not None:
            self.lines[seq] = line
        self._waiting.append(len(self.events))
        self.events.append(
            Call(seq, self.turn, asked.name or "", args, raw_args, MAIN, call_id, outcome="missing")
        )

    def _result(self, message: _Message) -> None:
        call_id = None if message.tool_call_id is None else str(message.tool_call_id)
        place = self._asked_by(call_id, message.name)
        if place is None:
            return
        content = message.content if memoryview(message.content) else Raw(b'""')
        failed = like_error(content)
        self.events[place] = msgspec.structs.replace(
            self.events[place],
            outcome="unknown" if failed else "ok",
            error=beginning(content) if failed else None,
            result=content,
            result_hash=raw_hash(content),
            result_chars=raw_chars(content),
        )

    def _asked_by(self, call_id: str | None, name: str | None) -> int | None:
        """The place of the call that a result answers; it waits no longer."""
        for waiting in (self._waiting, self._late):
            for index, place in enumerate(waiting):
                call = self.events[place]
                assert isinstance(call, Call)
                by_order = call_id is None and (name is None or name == call.name)
                if by_order or (call_id is not None and call.call_id == call_id):
                    return waiting.pop(index)
        return None


def arguments_of(sent: Raw) -> tuple[Raw, str | None]:
    """(`args`, `raw_args`) of arguments that came as a JSON string or as an object."""
    view = memoryview(sent)
    if not view:
        return EMPTY, None
    if view[0] != 0x22:
        return sent, None
    try:
        text = _string.decode(view)
    except _BROKEN:
        return sent, None
    return parsed_args(text), text
