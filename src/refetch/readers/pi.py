"""Sessions of pi, the coding agent of pi-mono (JSON Lines), flat (1) and as a tree (2 and later).

Sniff: a first record `type: session` with an `id`, or `message` records whose message has pi's
roles (`toolResult`, `bashExecution`) or blocks (`toolCall`).

- Turn: one assistant message. Context: `main`. Calls: `toolCall` blocks. A message that was
  aborted or broke off in an error ran none of its calls: those without a result are cancelled,
  and their arguments, which may be half sent, are not taken.
- Outcomes: `isError` false is ok. "Command exited with code N" ran (ok with `exit_code`),
  "Command aborted" is unknown, "Command timed out" a timeout, "Skipped due to queued user
  message" cancelled.
- Delivered lines of `read`: from `offset` to the line before the one its closing note names, else
  to the end. Output that a note calls truncated is truncated.
- Context loss: `compaction` (everything before `firstKeptEntryId`), and going back to an earlier
  entry of the tree (everything on the branch that was left).
- People: user messages; their own commands (`bashExecution`) are calls with origin "user", whose
  results the model may not be shown (`excludeFromContext`).
- Usage: `usage` of the assistant message. Times: a result's `timestamp` is when its call ended.

What the format cannot tell: when a call began, sub-agents, arguments as sent.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.trace import Trace
from refetch.readers.blocks import EMPTY, beginning, ending, raw_of
from refetch.readers.json_records import JsonLines, Lenient, mapping
from refetch.readers.sniff import Sniffed, elements, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "pi"
_ROLES = frozenset(("toolResult", "bashExecution"))
_EXIT = re.compile(r"Command exited with code (-?\d{1,9})\s*$")
_ABORTED = re.compile(r"(?:Command|Operation) aborted\s*$")
_TIMED_OUT = re.compile(r"Command timed out after [^\n]*$")
_NEVER = re.compile(r"Tool .{0,80} not found|Validation failed", re.DOTALL)
_SKIPPED = re.compile(r"Skipped due to queued user message")
_MORE = re.compile(r"(?:more lines|Showing lines).{0,80}\. Use offset=(\d{1,12}) to continue")
_CUT = re.compile(
    r"\[Showing (?:last|lines)|\[Output truncated|\.\.\. \(\d+ more lines|exceeds .{1,20} limit"
    r"|lines were truncated|Output truncated"
)
_NOTES = (b"Showing l", b"more lines", b"exceeds ", b"truncated")
_TRUNCATED = re.compile(rb'"truncated"\s*:\s*true')
_TAIL = 400


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    id: str | None = None
    name: str | None = None
    arguments: Raw = Raw()
    text: Raw = Raw()


class _Message(msgspec.Struct, rename="camel", gc=False):
    role: str = ""
    content: Raw = Raw()
    provider: str | None = None
    model: str | None = None
    usage: Raw = Raw()
    stop_reason: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    details: Raw = Raw()
    timestamp: float | None = None
    command: str | None = None
    output: Raw = Raw()
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    exclude_from_context: bool = False


class _Line(msgspec.Struct, rename="camel", gc=False):
    type: str = ""
    id: str | None = None
    parent_id: str | None = None
    cwd: str | None = None
    model_id: str | None = None
    message: _Message | None = None
    first_kept_entry_id: str | None = None


_block = Lenient(_Block)


def sniff(sniffed: Sniffed) -> bool:
    """True for a session file."""
    for row in sniffed.rows:
        kind = small_text(row.get("type"))
        if kind == "session" and "id" in row and ("cwd" in row or "version" in row):
            return True
        if kind == "message" and "message" in row:
            message = members(row["message"])
            if small_text(message.get("role")) in _ROLES:
                return True
            blocks = elements(message.get("content"), 20)
            if any(small_text(members(b).get("type")) == "toolCall" for b in blocks):
                return True
    return False


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a session file.

    Raises:
        InputError: not one record could be read.
    """
    records = JsonLines(data, source, _Line, "pi record")
    session = _Session(source)
    count = 0
    for number, line in records:
        count += 1
        session.add(line, number)
    if not count:
        raise records.nothing()
    session.build.problems.extend(records.problems)
    return [session.build.trace()]


class _Session:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME, NAME)
        self.cwd: str | None = None
        self.leaf: str | None = None
        self.parents: dict[str, str | None] = {}
        self.order: dict[str, int] = {}
        self.placed: list[tuple[int, str | None]] = []

    def add(self, line: _Line, number: int) -> None:
        """Take the next record."""
        if line.type == "session":
            self.build.run = self.build.run or line.id
            self.cwd = line.cwd or self.cwd
            return
        self._place(line)
        if line.type == "compaction":
            self._compacted(line.first_kept_entry_id)
        elif line.type == "message" and line.message is not None:
            self._message(line.message, line.id, number)

    def _place(self, line: _Line) -> None:
        """Follow the tree: an entry under an older one leaves the branch after that."""
        if line.id is None:
            return
        if self.leaf is not None and line.parent_id != self.leaf:
            kept = self._path_to(line.parent_id)
            lost = [seq for seq, entry in self.placed if entry is not None and entry not in kept]
            if lost:
                self.build.lose("trim", lost=lost)
        self.parents[line.id] = line.parent_id
        self.order[line.id] = len(self.order)
        self.leaf = line.id

    def _path_to(self, entry: str | None) -> set[str]:
        path: set[str] = set()
        while entry is not None and entry not in path:
            path.add(entry)
            entry = self.parents.get(entry)
        return path

    def _compacted(self, first_kept: str | None) -> None:
        kept_from = self.order.get(first_kept or "")
        if kept_from is None:
            self.build.lose("compaction")
            return
        lost = [
            seq
            for seq, entry in self.placed
            if entry is not None and self.order.get(entry, 0) < kept_from
        ]
        if lost:
            self.build.lose("compaction", lost=lost)

    def _message(self, message: _Message, entry: str | None, number: int) -> None:
        if message.role == "assistant":
            self._answer(message, entry, number)
        elif message.role == "toolResult":
            call = self.build.waiting(message.tool_call_id)
            if call is not None:
                _result(call, message)
        elif message.role == "user":
            self.build.user_message(message.content)
        elif message.role == "bashExecution":
            self._by_hand(message, entry, number)

    def _answer(self, message: _Message, entry: str | None, number: int) -> None:
        blocks = _block.decode_list(message.content)
        self.build.begin_turn(model=message.model, usage=mapping(message.usage))
        broke_off = message.stop_reason in ("aborted", "error")
        for block in blocks:
            if block is None or block.type != "toolCall":
                continue
            args = EMPTY if broke_off else block.arguments
            call = self.build.call(
                block.name or "", args, call_id=block.id, line=number, cwd=self.cwd
            )
            self.placed.append((call.seq, entry))
            if broke_off:
                call.end("cancelled")

    def _by_hand(self, message: _Message, entry: str | None, number: int) -> None:
        args = raw_of({"command": message.command})
        call = self.build.call("bash", args, line=number, cwd=self.cwd, origin="user")
        self.placed.append((call.seq, entry))
        outcome = "unknown" if message.cancelled else "ok"
        cut = message.truncated
        call.answer(message.output, outcome, exit_code=message.exit_code, truncated=cut)
        if message.exclude_from_context:
            self.build.lose("trim", lost=[call.seq])


def _result(call: OpenCall, message: _Message) -> None:
    content = message.content
    fields: dict[str, Any] = {}
    if message.timestamp is not None:
        fields["ended"] = message.timestamp / 1000
    last = _last_text(content) if message.is_error or _has_a_note(content) else ""
    if message.is_error:
        outcome, code = _failure(last, beginning(content))
        fields["exit_code"] = code
        if outcome != "ok":
            fields["error"] = beginning(content) or last[:200]
        call.answer(content, outcome, **fields)
        return
    cut = bool(len(message.details) and _TRUNCATED.search(message.details)) or bool(
        last and _CUT.search(last)
    )
    if message.tool_name == "read":
        fields["delivered"], cut = _lines_of(mapping(call.fields["args"]), last, cut)
    call.answer(content, "ok", truncated=cut, **fields)


def _failure(last: str, first: str) -> tuple[str, int | None]:
    if code := _EXIT.search(last):
        return "ok", int(code[1])
    if _ABORTED.search(last):
        return "unknown", None
    if _TIMED_OUT.search(last):
        return "timeout", None
    if _SKIPPED.match(first):
        return "cancelled", None
    return ("not-executed" if _NEVER.match(first) else "error"), None


def _has_a_note(content: Raw) -> bool:
    """Whether the last text may end with words about what is left out; costs no decoding."""
    end = bytes(memoryview(content)[-_TAIL:])
    return not end.endswith(b'"}]') or any(words in end for words in _NOTES)


def _last_text(content: Raw) -> str:
    """The end of the last text block, without decoding the rest."""
    if bytes(memoryview(content)[-3:]) == b'"}]':
        # The usual order of a block's members leaves its text at the very end.
        return ending(memoryview(content)[:-2], _TAIL)
    texts = [block for block in _block.decode_list(content) if block and block.type == "text"]
    return ending(texts[-1].text if texts else content, _TAIL)


def _lines_of(args: dict[str, Any], last: str, cut: bool) -> tuple[Any, bool]:
    """(`delivered`, `truncated`) of a read."""
    offset, limit = args.get("offset"), args.get("limit")
    first = int(offset) if isinstance(offset, (int, float)) and offset >= 1 else 1
    more = _MORE.search(last)
    if more is None:
        if cut:
            return None, True
        if isinstance(limit, (int, float)):
            return {"unit": "line", "from": first, "to": first + int(limit) - 1}, False
        return ("all" if first == 1 else {"unit": "line", "from": first, "to": None}), False
    to = int(more[1]) - 1
    whole = isinstance(limit, (int, float)) and to - first + 1 >= limit
    return ({"unit": "line", "from": first, "to": to} if to >= first else None), not whole
