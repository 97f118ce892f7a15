"""What became of a Claude Code call, read from the first bytes of its result.

The file has one flag, `is_error`, for failures that mean different things: a user's refusal, a
validation before anything ran, a sibling's failure, a command's exit code. The texts are the
harness's own and stable over the versions 1.0 to 2.1.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Raw

from refetch.readers.blocks import beginning, starts_with

_HEAD = 400
_ERROR_KEPT = 200

# Text at the beginning of a failed result, and the outcome it stands for; the first match counts.
_FAILURES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), outcome)
    for pattern, outcome in (
        (r"The user doesn't want to proceed with this tool use", "rejected"),
        (r"The user doesn't want to take this action right now", "unknown"),
        (r"\[Request interrupted by user for tool use\]", "rejected"),
        (r"\[Request interrupted by user", "unknown"),
        (r"Claude requested permissions? to |Permission to use .*has been denied", "rejected"),
        (r"This (?:Bash )?command (?:contains|requires)\b.*requires? approval", "rejected"),
        (r"(?:Error: )?(?:Hook )?PreToolUse\b", "not-executed"),
        (r"(?:<tool_use_error>)?(?:Error: )?Sibling tool call errored", "cancelled"),
        (r"(?:<tool_use_error>)?Cancelled: parallel tool call", "cancelled"),
        (r"<tool_use_error>(?:Error: )?Streaming fallback", "unknown"),
        (r"<tool_use_error>File has not been read yet", "not-executed"),
        (r"<tool_use_error>(?:Error: )?(?:Input ?Validation ?Error|No such tool)", "not-executed"),
        (r"<tool_use_error>(?:Error: )?.{0,80}(?:is not available|is not enabled)", "not-executed"),
        (r"(?:Exit code \d+\s+)?Command timed out", "timeout"),
        (r"(?:Error: )?(?:Request|Tool call|MCP .{0,60}) timed out", "timeout"),
    )
)
_EXIT = re.compile(r"(?:Error: )?Exit code (\d+)")
_MARKED = (b"<tool_use_error>", b"[Request interrupted", b"Exit code ")
_KILLED = frozenset((130, 137, 143))
_UNCHANGED = (
    b"File unchanged since",
    b"Wasted call",
    b"<system-reminder>File unchanged since",
    b"<system-reminder>Wasted call",
)
_MODIFIED = re.compile(r"<tool_use_error>File has been (?:unexpectedly )?modified since")
_USER_SAID = re.compile(r"the user said:\s*\S")
_ANSWERED = re.compile(r"User has answered|User's answers|Your questions have been answered")
_BACKGROUND = (
    b"Command running in background",
    b"Command was moved to the background",
    b"Command was manually backgrounded",
)
_ABORTED = "Command was aborted before completion"
_ABORTED_BYTES = _ABORTED.encode()
_CUT_AT_END = re.compile(
    rb"(?:Results are truncated\. Consider|\[Showing results with pagination|OUTPUT TRUNCATED"
    rb"|(?:lines|characters|chars) truncated\] \.\.\.|\[truncated\]|\[Content truncated)"
)
_CUT_AT_START = (b"<persisted-output>", b"Error: result (")
_CUT_INSIDE = re.compile(rb"\.\.\. \[\d+ (?:lines|characters|chars) truncated\] \.\.\.")
_MAY_BE_CUT_INSIDE = 20_000

PEOPLE_ANSWER = frozenset(("AskUserQuestion",))
"""Tools whose result is a person's answer."""


class Outcome(NamedTuple):
    """What a result says about its call."""

    outcome: str
    exit_code: int | None = None
    error: str | None = None
    truncated: bool = False
    unchanged: bool = False
    background: bool = False
    modified_outside: bool = False
    user_spoke: bool = False


_OK = Outcome("ok")
_CUT_OK = Outcome("ok", truncated=True)
_UNCHANGED_OK = Outcome("ok", unchanged=True)


def outcome_of(name: str, result: Raw, is_error: bool | None, details: Raw) -> Outcome:
    """Judge one result.

    Args:
        name: the tool.
        result: its content, undecoded.
        is_error: the file's flag; absent means success.
        details: the record's `toolUseResult`, undecoded; may be empty.
    """
    if is_error or starts_with(result, *_MARKED):
        return _failed(name, beginning(result, _HEAD), bool(is_error))
    if name == "Read":
        return _UNCHANGED_OK if starts_with(result, *_UNCHANGED) else _OK
    if name == "Bash" or name == "PowerShell":
        return _ran(result, details)
    if name in PEOPLE_ANSWER:
        return Outcome("ok", user_spoke=True)
    return _CUT_OK if _is_cut(result) else _OK


def _failed(name: str, text: str, flagged: bool) -> Outcome:
    exit_code = int(code[1]) if (code := _EXIT.match(text)) else None
    for pattern, outcome in _FAILURES:
        if pattern.match(text):
            return Outcome(
                outcome, exit_code, text[:_ERROR_KEPT], user_spoke=bool(_USER_SAID.search(text))
            )
    if exit_code is not None:
        if not flagged and name != "Bash":
            return _OK
        if _ABORTED in text or exit_code in _KILLED:
            return Outcome("unknown", exit_code, text[:_ERROR_KEPT])
        return Outcome("ok", exit_code)
    if _ABORTED in text:
        return Outcome("unknown", None, text[:_ERROR_KEPT])
    return Outcome("error", None, text[:_ERROR_KEPT], modified_outside=bool(_MODIFIED.match(text)))


def _ran(result: Raw, details: Raw) -> Outcome:
    tail = bytes(memoryview(details)[-400:])
    if b',"interrupted":true' in tail or _ABORTED_BYTES in bytes(memoryview(result)[-200:]):
        return Outcome("unknown", error="interrupted while running")
    if starts_with(result, *_BACKGROUND):
        return Outcome("ok", background=True)
    return _CUT_OK if _is_cut(result) else _OK


def _is_cut(result: Raw) -> bool:
    view = memoryview(result)
    if len(view) < 40:
        return False
    tail = bytes(view[-300:])
    # Three plain searches cost less than the one pattern that nearly always fails.
    worth_a_look = b"runcated" in tail or b"TRUNCATED" in tail or b"pagination" in tail
    if worth_a_look and _CUT_AT_END.search(tail):
        return True
    if starts_with(result, *_CUT_AT_START):
        return True
    return len(view) > _MAY_BE_CUT_INSIDE and bool(_CUT_INSIDE.search(view))
