"""What the words of a result say where the format or the recorder says nothing: that the call
failed, or that the answer is still to come.

Only the beginning of the JSON text is looked at, undecoded.
"""

from __future__ import annotations

import re

from msgspec import Raw

_LOOKED_AT = 260
_QUOTE = b'"'
_MARK = rb"(?>(?:[\x80-\xff\s]|\\u[0-9a-f]{4}){0,10})"
_WORDS = rb"""(?:
    <(?:\w{1,20}_)?error>
    | [\w.]{0,60}(?:error|exception)\b(?:\s*[:(<]|$|\s+\w)
    | traceback\ \(most\ recent
    | (?:an\ )?(?:unexpected\ |internal\ )?error\ occurred
    | fail(?:ed|ure)\b
    | (?:the\ )?(?:request|tool|command|call|execution|operation|query|connection|function|api)
      \b[\w\s'`"/.-]{0,40}
      \b(?:failed|timed\ out|refused|reset|aborted|denied|errored|not\ approved)\b
    | (?:the\ )?user\ (?:denied|rejected|doesn't\ want)
    | http(?:/\d(?:\.\d)?)?\ (?:error\ )?[45]\d\d\b
    | [45]\d\d\ (?:bad|unauthorized|forbidden|not\ found|conflict|too\ many|internal|service)
    | timed?\ ?out\b
    | (?:permission|access)\ denied
    | unauthorized\b | forbidden\b | not\ authenticated\b
    | invalid\ (?:arg|param|input|request|json|tool|token|api)
    | unknown\ (?:tool|function|command)
    | (?:unable\ to|cannot|can't|could\ not|couldn't)
      \ (?:connect|reach|fetch|get|read|load|find|access|open|execute|call|complete|process)
    | rate\ limit | too\ many\ requests | quota\ exceeded
    | (?:internal\ server\ error|service\ unavailable|bad\ (?:request|gateway)|gateway\ time)
)"""
_TEXT = re.compile(_MARK + _WORDS, re.IGNORECASE | re.VERBOSE)
_MEMBER = rb"""(?:"[^"\\]{0,40}"\s*:\s*(?:"[^"\\]{0,80}"|[\w.+-]{1,30})\s*,\s*){0,3}"""
_NOTHING = rb"""(?!null|false|0\b|""|\[\s*\]|\{\s*\})"""
_FAILED = re.compile(
    rb"\s*\{\s*" + _MEMBER + rb"(?:"
    rb'"(?:errors?|error_?message|exception|error_?code)"\s*:(?>\s*)' + _NOTHING + rb"."
    rb'|"(?:success|succeeded|ok)"\s*:\s*false\b'
    rb'|"(?:is_?error|failed)"\s*:\s*true\b'
    rb'|"(?:status|type|result|outcome)"\s*:\s*"(?:error|failed|failure|fail|denied|timeout)"'
    rb'|"(?:status|code|status_?code)"\s*:\s*"?[45]\d\d\b'
    rb'|"(?:message|msg|detail|reason)"\s*:\s*"(?:internal server error|not authenticated'
    rb"|unauthorized|forbidden|rate limit|too many requests|service unavailable|bad request"
    rb"|timed? ?out))",
    re.IGNORECASE | re.DOTALL,
)
_UNREADY = (
    rb"(?:pending|queued|in[ _-]?progress|processing|running|started|starting|scheduled|waiting"
    rb"|building|initializing|not[ _-]?ready|not[ _-]?started|in[ _-]?queue)"
)
_PENDING = re.compile(
    rb"\s*\{\s*" + _MEMBER + rb'"(?:status|state|phase)"\s*:\s*"' + _UNREADY + rb'"'
    rb"|\s*(?:\w+ ){0,4}(?:is |are )?(?:still (?:running|pending|processing|waiting|in progress)"
    rb"|not (?:yet )?(?:ready|finished|complete[d]?|available yet)|in progress)\b",
    re.IGNORECASE,
)


def says_failed(result: Raw | memoryview, *, json_only: bool = False) -> bool:
    """Whether a result begins as error messages do.

    Args:
        result: its JSON text.
        json_only: only by the members of a JSON object, not by words, which files hold too.
    """
    start = _beginning(result)
    if start.lstrip()[:1] == b"{":
        return _FAILED.match(start) is not None
    return not json_only and _TEXT.match(start) is not None


def says_pending(result: Raw | memoryview) -> bool:
    """Whether a result says that the answer is still to come, so that it will change by itself."""
    return _PENDING.match(_beginning(result)) is not None


def _beginning(result: Raw | memoryview) -> bytes:
    """The first text of a result: a string, a block of content, or an object as it is written."""
    start = bytes(memoryview(result)[:_LOOKED_AT])
    if not start.startswith(_QUOTE):
        at = start.find(b'"text":')
        if start[:1] not in (b"[", b"{") or at < 0:
            return start
        start = start[at + 7 :].lstrip()
        if not start.startswith(_QUOTE):
            return b""
    return start[1:].replace(b'\\"', _QUOTE).replace(b"\\n", b"\n")
