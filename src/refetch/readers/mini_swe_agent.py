"""mini-swe-agent trajectories (`*.traj.json`), text fences (v1) and tool calls (v2).

Sniff: `trajectory_format` that begins with "mini-swe-agent"; `messages` beside an `info` with
`mini_version`; or a bare list of messages whose user messages begin with `<returncode>` (or whose
commands stand in `mswea_bash_command` fences).

- Turn: one assistant message. Context: always `main`. Tool: always `bash` with `command`.
- Calls: the fence that ran, that is the only one of its message. A message that the harness
  rejected for a wrong number of fences is neither a call nor a user message, so `seq` counts
  executed commands. A command that timed out and the submission are calls. v2: `extra.actions`,
  else `tool_calls`.
- Outcomes: `<returncode>N</returncode>` ran (ok with `exit_code`); "timed out and has been killed"
  is a timeout; the last message is what the submission printed; anything else is unknown. A command
  that a person refused is "rejected", and what they said a user message.
- Each command runs in a fresh shell in `info.config.environment.cwd`.
- Truncation: "characters elided" between head and tail. Context loss: none.
- Results: the text between `<output>` and `</output>`, else the whole answer.
- Usage: `extra.response.usage`.

What the format cannot tell: when a command ran, and (v1) which fence ran where several stand in a
message that was not rejected: such a call has no arguments.
"""

from __future__ import annotations

import re

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, beginning, raw_of, starts_with, whole_text
from refetch.readers.json_records import Lenient, mapping, plain
from refetch.readers.sniff import Sniffed, document_of, keys_of, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "mini-swe-agent"
_FENCES = tuple(
    re.compile(rf"```{word}\s*\n(.*?)\n```", re.DOTALL) for word in ("mswea_bash_command", "bash")
)
_RAN = re.compile(rb'"<returncode>(-?\d{1,9})</returncode>')
_OUTPUT = re.compile(rb'"<returncode>-?\d{1,9}</returncode>\\n<output>\\n')
_OUTPUT_END = b'</output>"'
_CUT = b"<elided_chars>"
_KILLED = re.compile(r"timed out", re.IGNORECASE)
_SUBMITS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_REFUSED = (b"Command not executed", b"Commands not executed")
_ENDINGS = frozenset(("LimitsExceeded", "Submitted", "exit"))
_SNIFFED = 40
_INFO_KEYS = frozenset(("mini_version", "model_stats", "exit_status"))


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: Raw = Raw()


class _ToolCall(msgspec.Struct, gc=False):
    id: str | None = None
    function: _Function | None = None


class _Action(msgspec.Struct, gc=False):
    command: str | None = None
    tool_call_id: str | None = None


class _Response(msgspec.Struct, gc=False):
    usage: Raw = Raw()
    model: str | None = None


class _Extra(msgspec.Struct, gc=False):
    actions: list[_Action] | None = None
    response: _Response | None = None
    returncode: int | None = None
    exception_info: str | None = None
    interrupt_type: str | None = None


class _Message(msgspec.Struct, gc=False):
    role: str | None = None
    type: str | None = None
    object: str | None = None
    content: Raw = Raw()
    output: Raw = Raw()
    usage: Raw = Raw()
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: str | None = None
    call_id: str | None = None
    extra: _Extra | None = None


_message = Lenient(_Message)


def sniff(sniffed: Sniffed) -> bool:
    """True for the trajectory document and for its bare message list."""
    if sniffed.shape == "object":
        document = sniffed.document
        named = small_text(document.get("trajectory_format")) or ""
        if named.startswith(NAME):
            return True
        return "messages" in document and len(_INFO_KEYS & set(keys_of(document.get("info")))) > 1
    if sniffed.shape != "array":
        return False
    return any(
        starts_with(row["content"], b"<returncode>")
        or (b"```mswea_bash_command" in bytes(row["content"]) and "role" in row)
        for row in sniffed.rows[:_SNIFFED]
        if "content" in row
    )


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a trajectory file.

    Raises:
        InputError: there is no list of messages.
    """
    document = document_of(data)
    messages = _message.decode_list(document.get("messages", data))
    if not messages:
        raise InputError(
            source,
            "no messages",
            path="$.messages",
            expected="a list of messages",
            found="nothing that can be read",
        )
    reading = _Reading(source, document)
    reading.read(messages, "$.messages" if document else "$")
    return [reading.build.trace()]


class _Reading:
    def __init__(self, source: str, document: dict[str, Raw]) -> None:
        info = members(document.get("info"))
        config = members(info.get("config"))
        environment = mapping(config.get("environment"))
        model = members(config.get("model"))
        self.build = TraceBuilder(source, NAME, NAME)
        self.build.run = small_text(document.get("instance_id"))
        self.build.model = small_text(model.get("model_name"))
        self.submitted = small_text(info.get("exit_status")) == "Submitted"
        cwd = environment.get("cwd")
        self.cwd: str | None = cwd if isinstance(cwd, str) and cwd else None
        self.waiting: list[OpenCall] = []
        self.unsettled: tuple[str, int, str] | None = None

    def read(self, messages: list[_Message | None], prefix: str) -> None:
        """Take all messages in order."""
        for index, message in enumerate(messages):
            path = f"{prefix}[{index}]"
            if message is None:
                self.build.problems.append(
                    Problem(self.build.source, "not a message", None, path, "an object")
                )
                continue
            last = index == len(messages) - 1
            if message.role == "assistant" or message.object == "response":
                self._settle(None)
                self._asked(message, path)
            elif message.role in ("user", "tool") or message.type == "function_call_output":
                self._answered(message, last)
            elif message.role == "exit":
                self._submission(message.content)
        self._settle(None)

    def _asked(self, message: _Message, path: str) -> None:
        extra = message.extra or _Extra()
        response = extra.response or _Response()
        usage = mapping(response.usage) or mapping(message.usage)
        self.build.begin_turn(model=response.model or self.build.model, usage=usage)
        self.waiting = []
        if extra.actions is not None:
            for action in extra.actions:
                args = EMPTY if action.command is None else raw_of({"command": action.command})
                self._call(args, f"{path}.extra.actions", action.tool_call_id)
            return
        if message.tool_calls:
            for place, call in enumerate(message.tool_calls):
                asked = call.function or _Function()
                text = plain(asked.arguments)
                args = Raw(text.encode()) if isinstance(text, str) else asked.arguments
                if plain(args) is None:
                    args = EMPTY
                self._call(args, f"{path}.tool_calls[{place}]", call.id)
            return
        text = whole_text(message.content)
        self.unsettled = (text, len(self.build.calls), path)

    def _call(self, args: Raw, path: str, call_id: str | None = None) -> OpenCall:
        call = self.build.call("bash", args, call_id=call_id, path=path, cwd=self.cwd)
        self.waiting.append(call)
        return call

    def _settle(self, answer: Raw | None) -> None:
        """Decide whether the last text message ran a command, once its answer is known."""
        if self.unsettled is None:
            return
        text, _, path = self.unsettled
        self.unsettled = None
        fences = [found for fence in _FENCES if (found := fence.findall(text))]
        single = next((found[0] for found in fences if len(found) == 1), None)
        ran = answer is not None and _says_it_ran(answer)
        if ran or (single is not None and fences and len(fences[0]) == 1):
            args = EMPTY if single is None else raw_of({"command": single.strip()})
            self._call(args, f"{path}.content")

    def _answered(self, message: _Message, last: bool) -> None:
        content = message.output if message.type == "function_call_output" else message.content
        was_unsettled = self.unsettled is not None
        self._settle(content)
        call_id = message.tool_call_id or message.call_id
        call = self._next(call_id)
        if call is None:
            self._nobody_asked(message, content, last, was_unsettled)
            return
        self._result(call, content, message.extra or _Extra(), last)

    def _next(self, call_id: str | None) -> OpenCall | None:
        for call in self.waiting:
            if not call.answered and (call_id is None or call.fields["call_id"] == call_id):
                return call
        return None

    def _nobody_asked(self, message: _Message, content: Raw, last: bool, rejected: bool) -> None:
        """A user message that answers no command: the task, a person, or the harness itself."""
        if rejected or message.role != "user" or (last and not self.submitted):
            return
        if message.extra is not None and message.extra.interrupt_type in ("FormatError",):
            return
        text = whole_text(content)
        if text not in _ENDINGS:
            self.build.user_message(text)

    def _result(self, call: OpenCall, content: Raw, extra: _Extra, last: bool) -> None:
        if extra.exception_info and _KILLED.search(extra.exception_info):
            call.answer(content, "timeout", error=extra.exception_info[:200])
        elif ran := _RAN.match(memoryview(content)):
            code = int(ran[1])
            shown = _output_of(content)
            call.answer(shown, "ok", exit_code=code, truncated=_CUT in bytes(content))
        elif extra.returncode is not None:
            call.answer(content, "ok", exit_code=extra.returncode)
        elif starts_with(content, b"The last command"):
            call.answer(content, "timeout", error=beginning(content))
        elif starts_with(content, *_REFUSED):
            call.answer(content, "rejected", error=beginning(content))
            self.build.user_message()
        elif _submits(call, last and self.submitted):
            call.answer(content, "ok")
        else:
            call.answer(content, "unknown", error=beginning(content))

    def _submission(self, content: Raw) -> None:
        """The closing message of v2 holds what the last command printed."""
        self._settle(None)
        call = self._next(None)
        if call is not None and _submits(call, self.submitted):
            call.answer(content, "ok")


def _says_it_ran(answer: Raw) -> bool:
    return bool(_RAN.match(memoryview(answer))) or starts_with(answer, b"The last command")


def _submits(call: OpenCall, at_the_end: bool) -> bool:
    command = bytes(call.fields["args"])
    return at_the_end or any(word.encode() in command for word in _SUBMITS)


def _output_of(content: Raw) -> Raw:
    """The output alone, cut out of the JSON text without decoding it."""
    view = memoryview(content)
    start = _OUTPUT.match(view)
    if start is None or bytes(view[-len(_OUTPUT_END) :]) != _OUTPUT_END:
        return content
    return Raw(b"".join((b'"', view[start.end() : -len(_OUTPUT_END)], b'"')))
