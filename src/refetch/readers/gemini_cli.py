"""Gemini CLI conversations (`~/.gemini/tmp/…/chats/session-….json`), and the JSON Lines of 2026.

Sniff: `sessionId` and `projectHash` (in the document, or in one of the first lines).

- Turn: a message of type `gemini`. Context: `main`. A message written again under its id is one
  message, its last form counts.
- Calls: `toolCalls` with `args`; results `result[].functionResponse.response`.
- Outcomes: `status` success, error, cancelled: rejected where a person did not allow it, else it
  may have begun ("unknown"). A shell command with an exit code ran, whatever the code; one that
  was stopped or ran out of time says so itself. What is compared of its result leaves out the
  process ids at the end.
- Delivered lines of `read_file`: "showing lines A-B of N", which also says that less came than
  asked.
- Context loss (JSON Lines): `$rewindTo`; `$set` with `messages` puts another history in place of
  all so far, and loses the results that it lacks or tells otherwise (compressed, masked).
- People: messages of type `user`. Usage: `tokens`. Times: a call's `timestamp` is when its result
  was recorded.

What the format cannot tell: when a call began, arguments as sent, what left the history of a whole
document (it is gone, or stands there as it was last seen), which call started the session of a
sub-agent (it is a trace of its own).
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, NULL, beginning, begins
from refetch.readers.json_records import JsonLines, Lenient, mapping, parts
from refetch.readers.sniff import Sniffed, document_of, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "gemini-cli"
_SHELL = "run_shell_command"
_EXIT = re.compile(rb"\\nExit Code: (-?\d{1,9})")
_PROCESS_IDS = re.compile(rb"\\nProcess Group PGID: \d{1,12}")
_BACKGROUND = re.compile(rb"\\nBackground PIDs: \d")
_SHOWN = re.compile(r"showing lines (\d{1,9})-(\d{1,9}) of (\d{1,9})")
_CUT = re.compile(
    r"content (?:has been |was )?truncated|output was (?:too large and has been )?truncated"
    r"|output too large"
)
_REFUSED = re.compile(r"User (?:denied|did not allow|rejected)")
_OUT_OF_TIME = re.compile(r"Command was automatically cancelled")
_STOPPED = re.compile(r"Command was cancelled by user")
_KILLED = re.compile(rb"\\nExit Code: \(none\)\\nSignal: \d")
_NEVER = re.compile(r"Tool .{0,200} not found|Invalid parameters|params must", re.DOTALL)
_OUTCOMES = {"success": "ok", "error": "error"}
_EDGE = 600


class _ToolCall(msgspec.Struct, gc=False):
    id: str | None = None
    name: str | None = None
    args: Raw = Raw()
    result: Raw = Raw()
    status: str | None = None
    timestamp: str | None = None


class _Message(msgspec.Struct, rename="camel", gc=False):
    id: str | None = None
    type: str = ""
    content: Raw = Raw()
    tool_calls: list[_ToolCall] | None = None
    model: str | None = None
    tokens: Raw = Raw()


class _Line(_Message, rename="camel", gc=False):
    session_id: str | None = None
    rewind: str | None = msgspec.field(name="$rewindTo", default=None)
    changed: Raw = msgspec.field(name="$set", default=Raw())


_message = Lenient(_Message)


def sniff(sniffed: Sniffed) -> bool:
    """True for a conversation record."""
    return sniffed.any_row("sessionId", "projectHash")


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a conversation file.

    Raises:
        InputError: there are no messages.
    """
    document = document_of(data)
    if "messages" in document:
        return [_whole(document, source)]
    return [_by_line(data, source)]


def _whole(document: dict[str, Raw], source: str) -> Trace:
    build = TraceBuilder(source, NAME, NAME)
    build.run = small_text(document.get("sessionId"))
    for index, message in enumerate(_message.decode_list(document["messages"])):
        path = f"$.messages[{index}]"
        if message is None:
            build.problems.append(Problem(source, "not a message", None, path, "an object"))
            continue
        _take(build, message, path=path)
    return build.trace()


def _by_line(data: bytes, source: str) -> Trace:
    records = JsonLines(data, source, _Line, "Gemini CLI record")
    build = TraceBuilder(source, NAME, NAME)
    latest: dict[str, _Line] = {}
    order: list[tuple[int, _Line]] = []
    for number, line in records:
        if line.session_id is not None:
            build.run = build.run or line.session_id
        new = line.id is not None and line.id not in latest
        if new or line.rewind is not None or memoryview(line.changed):
            order.append((number, line))
        if line.id is not None:
            latest[line.id] = line
    build.problems.extend(records.problems)
    if not order and build.run is None:
        raise InputError(source, "no messages", expected="a Gemini CLI conversation", found="none")
    first_call: dict[str, int] = {}
    told: list[tuple[str, bytes]] = []
    for number, line in order:
        if line.rewind is not None:
            start = first_call.get(line.rewind, 0)
            lost = list(range(start, build.last_seq + 1))
            if lost:
                build.lose("trim", lost=lost)
        elif line.id is not None:
            first_call[line.id] = build.last_seq + 1
            _take(build, latest[line.id], line=number)
            told += _results_of(latest[line.id])
        elif (history := members(line.changed).get("messages")) is not None:
            _replaced(build, told, history)
    return build.trace()


def _results_of(message: _Message) -> list[tuple[str, bytes]]:
    """A name and the result of each call, one for each that `_take` makes."""
    if message.type != "gemini":
        return []
    calls = message.tool_calls or ()
    return [(f"{message.id} {asked.id} {asked.name}", _result_in(asked)) for asked in calls]


def _result_in(asked: _ToolCall) -> bytes:
    """The call's own response; a new history tells those of a whole turn at each of its calls."""
    for raw in parts(asked.result):
        answer = members(members(raw).get("functionResponse"))
        if asked.id is not None and small_text(answer.get("id")) == asked.id:
            return bytes(answer.get("response", EMPTY))
    return bytes(asked.result)


def _replaced(build: TraceBuilder, told: list[tuple[str, bytes]], history: Raw) -> None:
    """Lose what a new history no longer holds as it was; an empty one is a file's beginning."""
    kept = {
        result
        for one in _message.decode_list(history)
        if one is not None
        for result in _results_of(one)
    }
    lost = [seq for seq, result in enumerate(told) if result not in kept]
    if lost:
        build.lose("compaction", lost=lost)


def _take(build: TraceBuilder, message: _Message, **place: Any) -> None:
    if message.type == "user":
        build.user_message(message.content)
        return
    if message.type != "gemini":
        return
    build.begin_turn(model=message.model, usage=mapping(message.tokens))
    for index, asked in enumerate(message.tool_calls or ()):
        where = dict(place)
        if "path" in where:
            where["path"] += f".toolCalls[{index}]"
        args = asked.args if memoryview(asked.args) else NULL
        call = build.call(asked.name or "", args, call_id=asked.id, **where)
        _answer(call, asked)


def _answer(call: OpenCall, asked: _ToolCall) -> None:
    response = _response_of(asked.result)
    if asked.status is None and not memoryview(response):
        return
    outcome = _OUTCOMES.get(asked.status or "success", "unknown")
    said = beginning(response, _EDGE)
    if asked.status == "cancelled" and _REFUSED.search(said):
        outcome = "rejected"
    if not memoryview(response):
        call.end("missing" if outcome == "ok" else outcome, ended=asked.timestamp)
        return
    fields: dict[str, Any] = {"ended": asked.timestamp}
    raw = bytes(response)
    hashed: memoryview | None = None
    if asked.name == _SHELL:
        if code := _EXIT.search(raw):
            fields["exit_code"] = int(code[1])
            outcome = "ok" if outcome == "error" else outcome
        elif outcome in ("ok", "error"):
            outcome = _ended(said, raw) or outcome
        fields["background"] = bool(_BACKGROUND.search(raw))
        hashed = without_process_ids(response)
    elif outcome == "ok":
        fields["delivered"], fields["truncated"] = _shown(said.lower())
    if outcome not in ("ok", "missing"):
        fields["error"] = beginning(response) or bytes(raw[:200]).decode("utf-8", "replace")
        if outcome == "error" and _NEVER.search(fields["error"]):
            outcome = "not-executed"
    call.answer(response, outcome, hashed=hashed, **fields)


def _ended(said: str, raw: bytes) -> str | None:
    """How a command without an exit code ended, where it did not end by itself."""
    if _OUT_OF_TIME.search(said):
        return "timeout"
    return "unknown" if _STOPPED.search(said) or _KILLED.search(raw) else None


def without_process_ids(response: Raw) -> memoryview:
    """The text of a shell command's answer without the number of its process group."""
    return memoryview(_PROCESS_IDS.sub(b"", bytes(response)))


def _shown(edge: str) -> tuple[Any, bool]:
    """(`delivered`, `truncated`) as the note before the content tells, in lower case."""
    # Expressions are slow on text that holds none of their words, as nearly all does.
    if "showing lines " in edge and (shown := _SHOWN.search(edge)):
        first, last, total = (int(value) for value in shown.groups())
        cut = last < total
        return {"unit": "line", "from": first, "to": last if cut else None}, cut
    return None, ("truncated" in edge or "too large" in edge) and bool(_CUT.search(edge))


def _response_of(result: Raw) -> Raw:
    """The one output of a call, or the whole response where it has another form."""
    listed = parts(result)
    if not listed:
        return result if bytes(result) not in (b"", b"null") else EMPTY
    response = members(members(listed[0]).get("functionResponse")).get("response")
    if response is None or len(listed) > 1:
        return result
    inner = members(response)
    for key in ("output", "error"):
        if set(inner) == {key} and begins(inner[key], b'"'):
            return inner[key]
    return response
