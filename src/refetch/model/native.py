"""The native trace format, version 1 (SPEC 11): JSON Lines, a header and then one event a line."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from refetch.model.errors import InputError
from refetch.model.trace import (
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Problem,
    Request,
    Result,
    Trace,
    UserMessage,
    Write,
)

VERSION = 1
_BLANK = 0x20


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first line. Unknown fields are ignored."""

    refetch: int
    run: str
    task: str | None = None
    model: str | None = None
    source: str | None = None
    harness: str | None = None
    turns: str = "recorded"
    order: str = "recorded"
    tools: dict[str, Any] = {}


Row = TypeVar("Row")

_header = msgspec.json.Decoder(Header)
_event = msgspec.json.Decoder(
    Call | Result | ContextLoss | ContextStart | Write | UserMessage | Request
)
_encode = msgspec.json.Encoder().encode
_skim = msgspec.json.Decoder(msgspec.Raw)
_EXPECTED = re.compile(
    r"^Expected `(?P<expected>.+?)`, got `(?P<found>.+?)`(?: - at `(?P<path>.+)`)?$"
)
_AT = re.compile(r" - at `(?P<path>.+)`$")
_ESCAPED = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)
"""A pair of surrogate escapes, half of one, or any other escape (which may hide a backslash)."""
_HALF = re.compile("[\ud800-\udfff]")
_KEEP_LINES = 20
_HEAD = 1 << 20
_KNOWN_TYPES = "call, result, context_loss, context, write, user_message or request"


def lines_of(data: bytes | memoryview) -> Iterator[tuple[int, memoryview]]:
    """Each line that is not blank with its 1-based number, without copying (PERF: find, no
    split)."""
    view = memoryview(data)
    find = data.find if isinstance(data, bytes) else bytes(data).find
    size, start, number = len(view), 0, 0
    while start < size:
        end = find(b"\n", start)
        if end < 0:
            end = size
        number += 1
        if end > start and (view[start] > _BLANK or bytes(view[start:end]).strip()):
            yield number, view[start:end]
        start = end + 1


def problem_of(source: str, line: int | None, error: Exception, *, what: str) -> Problem:
    """A decoding error as a `Problem`: place, expected and found, in the words of the format."""
    text = str(error)
    if match := _EXPECTED.match(text):
        path = match["path"] or "$"
        expected, found = match["expected"], match["found"]
        return Problem(
            source, f"expected {expected}, found {found} ({what})", line, path, expected, found
        )
    at = _AT.search(text)
    message = _AT.sub("", text)
    return Problem(source, f"{message} ({what})", line, at["path"] if at else None)


def _decoded_header(line: bytes | memoryview) -> Header:
    try:
        return _header.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        repaired = _without_lone_surrogates(line, _header)
        if repaired is None:
            raise
        return repaired


def is_native(data: bytes) -> bool:
    """Whether the first line is a header of this format, of whatever version."""
    line = next((bytes(line) for _, line in lines_of(data[:_HEAD])), b"")
    try:
        return "refetch" in msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def read_header(line: bytes | memoryview, source: str) -> Header:
    """Decode the first line.

    Raises:
        InputError: no header, or a version that this release does not know.
    """
    try:
        header = _decoded_header(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        problem = problem_of(source, 1, error, what="refetch trace header")
        raise InputError(
            source,
            problem.message,
            line=1,
            path=problem.path,
            expected=problem.expected or '{"refetch": 1, "run": "…"}',
            found=problem.found,
        ) from None
    if header.refetch != VERSION:
        raise InputError(
            source,
            f"refetch trace version {header.refetch} is not known (this release reads {VERSION})",
            line=1,
            path="$.refetch",
            expected=str(VERSION),
            found=str(header.refetch),
        )
    return header


def read_native(data: bytes, source: str = "-") -> Trace:
    """Read a native trace.

    Lines that break the format become `Trace.problems`; every other line is kept. Half a surrogate
    pair, which no UTF-8 text can hold, is read as U+FFFD.

    Raises:
        InputError: there is no readable header.
    """
    walker = lines_of(data)
    first = next(walker, None)
    if first is None:
        raise InputError(source, "empty input", expected="a refetch trace header", found="nothing")
    header = read_header(first[1], source)
    events: list[Event] = []
    where: dict[int, int] = {}
    problems: list[Problem] = []
    decode, append = _event.decode, events.append
    what = f"refetch trace version {VERSION}"
    for number, line in walker:
        try:
            event = decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            repaired = _without_lone_surrogates(line, _event)
            if repaired is not None:
                append(repaired)
                if type(repaired) is Call:
                    where.setdefault(repaired.seq, number)
                continue
            if len(problems) < _KEEP_LINES:
                problems.append(problem_of(source, number, error, what=what))
            continue
        if type(event) is Call:
            where.setdefault(event.seq, number)
        append(event)
    return Trace(
        run=header.run,
        events=join_results(events),
        task=header.task,
        model=header.model,
        source=source,
        format="native",
        harness=header.harness,
        turns=header.turns,
        order=header.order,
        tools=header.tools,
        lines=where,
        problems=problems,
    )


def _without_lone_surrogates(
    line: bytes | memoryview, decoder: msgspec.json.Decoder[Row]
) -> Row | None:
    """What stands in a line that is broken by lone surrogates alone; U+FFFD takes their place.

    Recorders cut texts in the middle of a character, and no UTF-8 text can hold what is left.
    """
    data = bytes(line)
    if rb"\u" not in data:
        return None
    try:
        return decoder.decode(_ESCAPED.sub(_kept_pair, data))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _kept_pair(found: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if len(found[0]) == len(rb"\ud800") else found[0]


def join_results(events: list[Event]) -> list[Event]:
    """Put each `result` event into the call it completes; the call keeps its place."""
    if not any(type(event) is Result for event in events):
        return events
    place = {e.seq: i for i, e in enumerate(events) if type(e) is Call}
    joined: list[Event | None] = list(events)
    for index, event in enumerate(events):
        if type(event) is not Result or event.seq not in place:
            continue
        at = place[event.seq]
        call = joined[at]
        changes = {
            name: value
            for name in Result.__struct_fields__
            if name != "seq" and (value := getattr(event, name)) not in (None, False)
        }
        if not bytes(event.result):
            changes.pop("result", None)
        joined[at] = msgspec.structs.replace(call, **changes)  # type: ignore[type-var]
        joined[index] = None
    return [event for event in joined if event is not None]


def header_of(trace: Trace) -> Header:
    """The header line of a trace."""
    return Header(
        refetch=VERSION,
        run=trace.run,
        task=trace.task,
        model=trace.model,
        source=trace.source if trace.source != "-" else None,
        harness=trace.harness,
        turns=trace.turns,
        order=trace.order,
        tools=trace.tools,
    )


def encode_line(row: Header | Event) -> bytes:
    """One header or event as one line of JSON, without the line feed.

    Recorded JSON text stands as it is; where it would break the line (line feeds between its
    tokens, text that is no JSON or no UTF-8 after all) it is rewritten. Lone surrogates, which
    UTF-8 cannot hold, are written as U+FFFD.
    """
    if isinstance(row, Call | Result):
        row = _with_sound_json(row)
    try:
        return _encode(row)
    except UnicodeEncodeError:
        return _encode(_with_whole_characters(row))


def _with_sound_json(event: Call | Result) -> Call | Result:
    changes: dict[str, Any] = {}
    for name, default in _RAW_FIELDS[type(event)]:
        raw = getattr(event, name)
        if raw is default:
            continue
        text = bytes(raw)
        if not text:
            # Only the default object itself is left out by the encoder.
            changes[name] = default
        elif (sound := _sound_json(text)) is not text:
            changes[name] = msgspec.Raw(sound)
    return msgspec.structs.replace(event, **changes) if changes else event


def _sound_json(text: bytes) -> bytes:
    """The same JSON in one line; what is none becomes a string that holds it."""
    if not text.isascii():
        readable = text.decode("utf-8", "replace").encode()
        text = text if readable == text else readable
    try:
        _skim.decode(text)
        if b"\n" not in text and b"\r" not in text:
            return text
        return msgspec.json.format(text, indent=-1)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _encode(text.decode())


def _with_whole_characters(row: Header | Event) -> Header | Event:
    changes = {
        name: _whole(msgspec.to_builtins(value))
        for name in row.__struct_fields__
        if not isinstance(value := getattr(row, name), msgspec.Raw)
    }
    return msgspec.structs.replace(row, **changes)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(part) for part in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(part) for name, part in value.items()}
    return value


def _defaults(kind: type[msgspec.Struct]) -> tuple[Any, ...]:
    given = kind.__struct_defaults__
    missing: tuple[Any, ...] = (msgspec.NODEFAULT,) * (len(kind.__struct_fields__) - len(given))
    return (*missing, *given)


_RAW_FIELDS = {
    kind: [
        (name, default)
        for name, default in zip(kind.__struct_fields__, _defaults(kind), strict=True)
        if isinstance(default, msgspec.Raw)
    ]
    for kind in (Call, Result)
}


def encode_native(trace: Trace) -> bytes:
    """The whole trace as native JSON Lines."""
    rows: Iterable[bytes] = map(encode_line, (header_of(trace), *trace.events))
    return b"\n".join(rows) + b"\n"


class NativeWriter:
    """Streams events to a file so that a killed process leaves a readable trace.

    Each event is one unbuffered write of a whole line, so the operating system holds it even when
    the process dies right after. Safe to use from several threads.
    """

    def __init__(self, path: str | os.PathLike[str], header: Header) -> None:
        self._lock = threading.Lock()
        self._file: IO[bytes] = Path(path).open("wb", buffering=0)  # noqa: SIM115 - open as long as the writer
        self._file.write(encode_line(header) + b"\n")

    def write(self, event: Event) -> None:
        """Append one event."""
        line = encode_line(event) + b"\n"
        with self._lock:
            if not self._file.closed:
                self._file.write(line)

    def close(self) -> None:
        """Close the file; later events are dropped."""
        with self._lock:
            self._file.close()
