"""The records of a Claude Code session file: only the fields that a verdict needs.

Input and result contents stay undecoded. A line that does not fit the typed shape is decoded again
loosely, member by member, so that one odd field does not cost a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.trace import Problem

_KEEP_PROBLEMS = 20
_BYTE = re.compile(r"trailing characters \(byte (\d+)\)")
_PLACE = re.compile(r" - at `(?P<path>.+)`$")
_BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Block(msgspec.Struct, gc=False):
    """A content block: text, tool_use or tool_result (others are skipped)."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    input: Raw = Raw()
    tool_use_id: str | None = None
    content: Raw = Raw()
    is_error: bool | None = None
    text: Raw = Raw()


class Message(msgspec.Struct, gc=False):
    """The message inside an assistant or user record."""

    model: str | None = None
    id: str | None = None
    content: str | list[Block] | None = ""
    usage: Raw = Raw()


class Progress(msgspec.Struct, rename="camel", gc=False):
    """`data` of a progress record: a sub-agent's message or a hook that ran."""

    type: str = ""
    agent_id: str | None = None
    message: Raw = Raw()
    hook_event: str | None = None
    hook_name: str | None = None
    command: str | None = None


class Attachment(msgspec.Struct, rename="camel", gc=False):
    """Something the harness put into the context by itself."""

    type: str = ""
    filename: str | None = None
    content: Raw = Raw()
    truncated: bool = False
    prompt: Raw = Raw()
    command_mode: str | None = None
    hook_event: str | None = None
    hook_name: str | None = None
    command: str | None = None
    tool_use_id: str | None = msgspec.field(name="toolUseID", default=None)


class Line(msgspec.Struct, rename="camel", gc=False):
    """One record; `stream_…` are the spellings of `--output-format stream-json`."""

    # In the order in which the files have them: the decoder looks for each key behind the last one.
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    is_sidechain: bool = False
    agent_id: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    type: str = ""
    subtype: str | None = None
    operation: str | None = None
    message: Message | None = None
    data: Progress | None = None
    attachment: Attachment | None = None
    content: Raw = Raw()
    is_meta: bool = False
    is_compact_summary: bool = False
    is_api_error_message: bool = False
    request_id: str | None = None
    parent_tool_use_id: str | None = msgspec.field(name="parentToolUseID", default=None)
    uuid: str | None = None
    timestamp: str | None = None
    tool_use_result: Raw = Raw()
    source_tool_use_id: str | None = msgspec.field(name="sourceToolUseID", default=None)
    source_tool_assistant_uuid: str | None = msgspec.field(
        name="sourceToolAssistantUUID", default=None
    )
    microcompact_metadata: Raw = Raw()
    origin: Raw = Raw()
    stream_session: str | None = msgspec.field(name="session_id", default=None)
    stream_parent: str | None = msgspec.field(name="parent_tool_use_id", default=None)


class AgentMessage(msgspec.Struct, rename="camel", gc=False):
    """The record of a sub-agent that a progress record carries."""

    type: str = ""
    uuid: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    message: Message | None = None
    tool_use_result: Raw = Raw()
    is_meta: bool = False


class FileContent(msgspec.Struct, rename="camel", gc=False):
    """What the harness knows about the lines it delivered."""

    file_path: str | None = None
    num_lines: int | None = None
    start_line: int | None = None
    total_lines: int | None = None


class FileAttachment(msgspec.Struct, gc=False):
    """`content` of an attached file."""

    type: str = ""
    file: FileContent | None = None


_line = msgspec.json.Decoder(Line)
_loose = msgspec.json.Decoder(dict[str, Raw])
_agent_message = msgspec.json.Decoder(AgentMessage)
_file_attachment = msgspec.json.Decoder(FileAttachment)
_fields = {
    field.encode_name: msgspec.json.Decoder(field.type)
    for field in msgspec.structs.fields(Line)
    if field.type is not Raw
}
_NEEDED = frozenset(("message", "type"))


def _decoded(decoder: msgspec.json.Decoder[Any], raw: Raw | memoryview | bytes) -> Any:
    if not memoryview(raw):
        return None
    try:
        return decoder.decode(raw)
    except _BROKEN:
        return None


def agent_message_of(progress: Progress) -> AgentMessage | None:
    """The sub-agent's record inside."""
    result: AgentMessage | None = _decoded(_agent_message, progress.message)
    return result


def attached_file(attachment: Attachment) -> FileContent | None:
    """The lines of an attached file, where recorded."""
    result: FileAttachment | None = _decoded(_file_attachment, attachment.content)
    return result.file if result else None


class Records:
    """The records of one file in order, and what could not be read.

    Two objects glued on one line are two records. A line that breaks off is reported and skipped;
    the last one breaks off when the session is still being written.
    """

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.source = source
        self.problems: list[Problem] = []

    def __iter__(self) -> Iterator[tuple[int, Line]]:
        decode, find = _line.decode, self.data.find
        view, size = memoryview(self.data), len(self.data)
        start = number = 0
        while start < size:
            end = find(b"\n", start)
            if end < 0:
                end = size
            number += 1
            text = view[start:end]
            start = end + 1
            try:
                line = decode(text)
            except _BROKEN as error:
                for line in self._broken(number, text, error):
                    yield number, line
                continue
            yield number, line

    def _broken(self, number: int, text: memoryview, error: Exception) -> Iterator[Line]:
        while glued := _BYTE.search(str(error)):
            at = int(glued[1]) - 1  # the decoder counts the byte that it tripped over
            first = self._one(number, text[:at])
            if first is not None:
                yield first
            text = text[at:]
            try:
                yield _line.decode(text)
            except _BROKEN as next_error:
                error = next_error
            else:
                return
        if not bytes(text[:256]).strip() and not bytes(text).strip():
            return
        last = self._one(number, text)
        if last is not None:
            yield last

    def _one(self, number: int, text: memoryview) -> Line | None:
        try:
            return _line.decode(text)
        except _BROKEN as error:
            first = error
        try:
            members = _loose.decode(text)
        except _BROKEN as error:
            self._report(number, text, error)
            return None
        line = Line()
        for field in msgspec.structs.fields(Line):
            raw = members.get(field.encode_name)
            if raw is None:
                continue
            decoder = _fields.get(field.encode_name)
            value = raw if decoder is None else _decoded(decoder, raw)
            if value is not None:
                setattr(line, field.name, value)
            elif field.encode_name in _NEEDED and line.type in ("user", "assistant"):
                self._report(number, text, first)
        return line

    def _report(self, number: int, text: memoryview, error: Exception) -> None:
        if len(self.problems) >= _KEEP_PROBLEMS:
            return
        words = str(error)
        place = _PLACE.search(words)
        message = _PLACE.sub("", words)
        cut_off = "truncated" in words
        # The end of this view in the whole input tells whether a writer was still at work.
        if cut_off and self._is_end(text):
            message = "the last line is cut off (still being written?); everything before it counts"
        self.problems.append(
            Problem(
                self.source,
                message,
                number,
                place["path"] if place else None,
                expected="a complete Claude Code record",
                found="a record that breaks off" if cut_off else None,
            )
        )

    def _is_end(self, text: memoryview) -> bool:
        tail = bytes(text[-64:])
        return bool(tail) and self.data.rstrip(b"\n").endswith(tail)
