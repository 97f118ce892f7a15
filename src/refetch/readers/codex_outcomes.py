"""What became of a Codex call, read from its output, whose form changed with the versions.

0.2x-0.4x: a JSON string `{"output", "metadata": {"exit_code"}}`; later "Exit code: N … Output:";
since the unified exec tool "Process exited with code N … Output:". Failures are plain sentences.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
from msgspec import Raw

from refetch.readers.blocks import beginning, raw_of
from refetch.readers.json_records import BROKEN, Lenient, plain
from refetch.readers.trace_builder import OpenCall

_HEADER = re.compile(
    rb'"(?:Chunk ID: [^\\"]{0,40}\\n)?(?:Exit code: (?P<exit>-?\d{1,9})\\n)?'
    rb'(?:Wall time: [^\\"]{0,40}\\n)?'
    rb"(?:Process exited with code (?P<code>-?\d{1,9})\\n)?"
    rb"(?P<running>Process running with session ID \d{1,12}\\n)?"
    rb"(?:Original token count: \d{1,12}\\n)?(?:Total output lines: \d{1,12}\\n)?Output:\\n"
)
_CUT = re.compile(
    rb"\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]"
    rb"|(?:\xe2\x80\xa6|\\u2026)\d+ (?:tokens|chars|lines|bytes) truncated(?:\xe2\x80\xa6|\\u2026)"
)
_CUT_WORDS = (b"... omitted ", b" truncated")
_TIMED_OUT = re.compile(r"(?:execution error: )?command timed out after|.{0,40}Timeout\b")
_EXIT_IN_SANDBOX = re.compile(r"failed in sandbox .{0,200}?exit code: (-?\d{1,9})", re.DOTALL)
_FAILURES = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), outcome)
    for pattern, outcome in (
        (
            r"(?:patch|exec command|command|tool call) (?:rejected|denied|declined) by user",
            "rejected",
        ),
        (r"user (?:rejected|denied|cancelled) ", "rejected"),
        (r"rejected:|patch rejected:|exec_command rejected", "rejected"),
        (r"aborted\b|interrupted\b|command was aborted", "unknown"),
        (r"unsupported (?:custom tool )?call|failed to parse function arguments", "not-executed"),
        (r"apply_patch verification failed|patch verification failed", "not-executed"),
        (r"(?:execution error: )?command timed out", "timeout"),
        (
            r"failed in sandbox|execution error|failed to spawn|exec_command failed|tool call err",
            "error",
        ),
        (r"write_stdin failed|err: |Error: ", "error"),
    )
)


class _Metadata(msgspec.Struct, gc=False):
    exit_code: int | None = None


class _Structured(msgspec.Struct, gc=False):
    output: Raw = Raw()
    metadata: _Metadata | None = None


class _Flagged(msgspec.Struct, gc=False):
    content: Raw = Raw()
    success: bool | None = None


_structured = msgspec.json.Decoder(_Structured)
_flagged = Lenient(_Flagged)


class Outcome(NamedTuple):
    """What an output says."""

    result: Raw
    outcome: str = "ok"
    exit_code: int | None = None
    error: str | None = None
    truncated: bool = False
    background: bool = False

    def apply(self, call: OpenCall) -> None:
        """Give the call its result."""
        call.answer(
            self.result,
            self.outcome,
            exit_code=self.exit_code,
            error=self.error,
            truncated=self.truncated,
            background=self.background,
        )


def outcome_of(output: Raw) -> Outcome:
    """Judge the `output` of an output item.

    Args:
        output: a JSON string, a list of content items, or `{"content", "success"}`.
    """
    start = bytes(memoryview(output)[:16]).replace(b" ", b"")
    if start.startswith(b"{"):
        flagged = _flagged.decode(output) or _Flagged()
        inner = outcome_of(flagged.content) if memoryview(flagged.content) else Outcome(output)
        if flagged.success is False and inner.outcome == "ok" and inner.exit_code is None:
            return inner._replace(outcome="error", error=beginning(inner.result))
        return inner
    if start.startswith((rb'"{\"output\"', rb'"{\"metadata')):
        structured = _unpacked(output)
        if structured is not None:
            return structured
    header = _HEADER.match(memoryview(output))
    if header is not None and header.end() > len('"Output:\\n'):
        return _with_header(output, header)
    text = beginning(output)
    for pattern, outcome in _FAILURES:
        if pattern.match(text):
            code = _EXIT_IN_SANDBOX.match(text)
            return Outcome(output, outcome, int(code[1]) if code else None, text)
    return Outcome(output, truncated=_is_cut(output))


def _is_cut(result: Raw) -> bool:
    text = bytes(result)
    # Looking for the words first costs a tenth of the pattern.
    return any(words in text for words in _CUT_WORDS) and bool(_CUT.search(text))


def _unpacked(output: Raw) -> Outcome | None:
    text = plain(output)
    try:
        found = _structured.decode(text) if isinstance(text, str) else None
    except BROKEN:
        found = None
    if found is None:
        return None
    code = found.metadata.exit_code if found.metadata else None
    result = found.output if memoryview(found.output) else raw_of("")
    if (start := _out_of_time(result)) is not None:
        return Outcome(result, "timeout", code, start)
    return Outcome(result, "ok", code, truncated=_is_cut(result))


def _out_of_time(result: Raw) -> str | None:
    """What a result that begins with words about a timeout begins with."""
    if b"timed out" not in (head := bytes(memoryview(result)[:120])) and b"Timeout" not in head:
        return None
    start = beginning(result, 120)
    return start if _TIMED_OUT.match(start) else None


def _with_header(output: Raw, header: re.Match[bytes]) -> Outcome:
    """The text behind the header, which names times that no second run repeats."""
    code = header["exit"] or header["code"]
    result = Raw(b'"' + bytes(memoryview(output)[header.end() :]))
    if (start := _out_of_time(result)) is not None:
        return Outcome(result, "timeout", int(code) if code else None, start)
    return Outcome(
        result,
        "ok",
        int(code) if code else None,
        truncated=_is_cut(result),
        background=header["running"] is not None,
    )
