"""Which lines a Read delivered, as the harness recorded it beside the result."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from refetch.readers.claude_code_records import FileContent

_TAIL = 200
_COUNTS = re.compile(
    rb'"numLines":(\d{1,12}),"startLine":(\d{1,12})'
    rb',"totalLines":(\d{1,12})[,}]'
)
_REMINDER_TAIL = 2_000
_REMINDER_END = re.compile(rb'</system-reminder>(?:\\n)*"$')
_REMINDER_START = b"<system-reminder>"


class _Details(msgspec.Struct):
    file: FileContent | None = None


_details = msgspec.json.Decoder(_Details)


def delivered_lines(details: Raw) -> Any:
    """The region of a Read result: "all", a range of lines, or None where nothing is recorded.

    Args:
        details: the record's `toolUseResult`. Its counts stand at the end, behind the file's text,
        so
            that the text need not be walked; a quote inside that text would be escaped.
    """
    view = memoryview(details)
    if not view:
        return None
    if found := _COUNTS.search(bytes(view[-_TAIL:])):
        lines, start, total = (int(value) for value in found.groups())
        return region_of(FileContent(num_lines=lines, start_line=start, total_lines=total))
    try:
        file = _details.decode(view).file
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return region_of(file) if file is not None else None


def region_of(file: FileContent) -> Any:
    """The lines of a file that were delivered; `to` is open where they reach its end."""
    if file.num_lines is None:
        return None
    start = file.start_line if file.start_line is not None else 1
    total = file.total_lines
    ends = total is not None and start + file.num_lines - 1 >= total
    if start <= 1 and ends:
        return "all"
    if file.num_lines < 1:
        return None
    return {"unit": "line", "from": start, "to": None if ends else start + file.num_lines - 1}


def without_reminder(result: Raw) -> Raw | memoryview:
    """A Read result without the reminder that some versions append, for comparison.

    Whether it is there says nothing about the file.
    """
    view = memoryview(result)
    tail = bytes(view[-_REMINDER_TAIL:])
    if not _REMINDER_END.search(tail):
        return result
    at = tail.rfind(_REMINDER_START)
    if at < 0:
        return result
    text = view[: len(view) - len(tail) + at]
    while len(text) > 2 and bytes(text[-2:]) == b"\\n":
        text = text[:-2]
    # The closing quote is gone with the reminder: add it, so that equal texts hash equal.
    return memoryview(bytes(text) + b'"')
