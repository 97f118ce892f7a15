"""Gemini CLI conversations (`~/.gemini/tmp/…/chats/session-….json`), and the JSON Lines of 2026.

Sniff: `sessionId` and `projectHash` (in the document, or in one of the first lines).

- Turn: a message of type `gemini`. Context: `main`. A message written again under its id is one
  message, its last form counts.
- Calls: `toolCalls` with `args`; results `result[].functionResponse.response`.
- Outcomes: `status` success, error, cancelled (a person refused it). A shell command with an exit
  code ran, whatever the code. What is compared of its result leaves out the process ids at the
  end.
- Delivered lines of `read_file`: "showing lines A-B of N", which also says that less came than
  asked.
- Context loss: `$rewindTo` (JSON Lines).
- People: messages of type `user`. Usage: `tokens`. Times: a call's `timestamp` is when its result
  was recorded.

What the format cannot tell: when a call began, arguments as sent, compression (it starts a new
history without a mark), sub-agents.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, NULL, beginning
from refetch.readers.json_records import JsonLines, Lenient, mapping, parts, plain
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "gemini-cli"
_SHELL = "run_shell_command"
_EXIT = re.compile(rb"\\nExit Code: (-?\d{1,9})")
_PROCESS_IDS = re.compile(rb"\\nProcess Group PGID: \d{1,12}")
_BACKGROUND = re.compile(rb"\\nBackground PIDs: \d")
_SHOWN = re.compile(r"showing lines (\d{1,9})-(\d{1,9}) of (\d{1,9})", re.IGNORECASE)
_CUT = re.compile(r"content (?:has been |was )?truncated|output was truncated", re.IGNORECASE)
_NEVER = re.compile(r"Tool .{0,200} not found|Invalid parameters|params must", re.DOTALL)
_OUTCOMES = {"success": "ok", "error": "error", "cancelled": "rejected"}


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


_message = Lenient(_Message)


def sniff(sniffed: Sniffed) -> bool:
    """True for a conversation record."""
    return sniffed.any_row("sessionId", "projectHash")


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a conversation file.

    Raises:
        InputError: there are no messages.
    """
    document = members(Raw(data.strip()))
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
        if line.rewind is not None or (line.id is not None and line.id not in latest):
            order.append((number, line))
        if line.id is not None:
            latest[line.id] = line
    build.problems.extend(records.problems)
    if not order and build.run is None:
        raise InputError(source, "no messages", expected="a Gemini CLI conversation", found="none")
    first_call: dict[str, int] = {}
    for number, line in order:
        if line.rewind is not None:
            start = first_call.get(line.rewind, 0)
            lost = list(range(start, build.last_seq + 1))
            if lost:
                build.lose("trim", lost=lost)
        elif line.id is not None:
            first_call[line.id] = build.last_seq + 1
            _take(build, latest[line.id], line=number)
    return build.trace()


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
        fields["background"] = bool(_BACKGROUND.search(raw))
        hashed = without_process_ids(response)
    elif outcome == "ok":
        fields["delivered"], fields["truncated"] = _shown(response)
    if outcome not in ("ok", "missing"):
        fields["error"] = beginning(response) or bytes(raw[:200]).decode("utf-8", "replace")
        if outcome == "error" and _NEVER.search(fields["error"]):
            outcome = "not-executed"
    call.answer(response, outcome, hashed=hashed, **fields)


def without_process_ids(response: Raw) -> memoryview:
    """The text of a shell command's answer without the number of its process group."""
    return memoryview(_PROCESS_IDS.sub(b"", bytes(response)))


def _shown(response: Raw) -> tuple[Any, bool]:
    """(`delivered`, `truncated`) as the note before or behind the content tells."""
    edges = beginning(response, 600)
    if shown := _SHOWN.search(edges):
        first, last, total = (int(value) for value in shown.groups())
        cut = last < total
        return {"unit": "line", "from": first, "to": last if cut else None}, cut
    return None, bool(_CUT.search(edges))


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
        if set(inner) == {key} and isinstance(plain(inner[key]), str):
            return inner[key]
    return response
