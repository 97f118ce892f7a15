"""OpenAI Codex sessions (`rollout-….jsonl`), of the 0.40 line and of 2026.

Sniff: JSON Lines of `{timestamp, type, payload}`, with a `session_meta`, `response_item`,
`turn_context` or `event_msg`.

- Turn: 0.40 writes a `turn_context` for each model request. Where that record carries a `turn_id`
  it stands for a whole prompt instead; then a response ends with its `token_count`, or with the
  first output that follows its calls. Context: `main`; a sub-agent's thread is a file of its own.
- Calls: `function_call` (`raw_args` as sent), `custom_tool_call` (its text is the argument
  `input`), `local_shell_call`, `web_search_call` and their like. `event_msg` records that repeat
  a call are passed over. `workdir`, else the session's folder, is `cwd`. The files named in a
  patch are the resource of `apply_patch`.
- Outcomes: see `codex_outcomes`. Calls that an interrupt left without an output are unknown.
- Context loss: `compacted` (all) and `thread_rolled_back` (the calls of the prompts taken back).
- People: `user_message`, and user items that the harness did not put there; commands they ran
  themselves are calls with origin "user".
- Forks: a file that names its parent begins with the parent's history, stamped with one time.
  Those calls have origin "harness": the model knows their results, but did not ask for them here.
- Usage: `token_count.info.last_token_usage`, `token_usage_record.usage`.

What the format cannot tell: when a call began or ended (lines are stamped when they are written),
and, in 2026 files without usage records, where a response without calls ends.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.trace import Trace
from refetch.readers.blocks import EMPTY, raw_of, whole_text
from refetch.readers.codex_outcomes import outcome_of
from refetch.readers.json_records import JsonLines, mapping, plain
from refetch.readers.openai_chat import arguments_of
from refetch.readers.sniff import Sniffed, small_text
from refetch.readers.trace_builder import OpenCall, OpenRequest, TraceBuilder

NAME = "codex-cli"
_TYPES = frozenset(("session_meta", "response_item", "turn_context", "event_msg", "compacted"))
_INJECTED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|INSTRUCTIONS|turn_aborted|skills?_?"
    r"|subagent_notification|collaboration_mode|personality|model_switch|apps_|plugins_|hook_)"
    r"|# AGENTS\.md instructions)"
)
_BY_HAND = re.compile(
    r"\s*<user_shell_command>\s*<command>\n?(.*?)\n?</command>(?:\s*<result>\n?(.*?)\n?</result>)?",
    re.DOTALL,
)
_REQUEST = "## My request for Codex:"
_PATCHED = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE
)
_ARGUMENTS = ("arguments", "action", "input", "query")
_REPLAY_SECONDS = 1.0


class _Info(msgspec.Struct, gc=False):
    total_token_usage: Raw = Raw()
    last_token_usage: Raw = Raw()


class _Payload(msgspec.Struct, gc=False):
    type: str | None = None
    id: str | None = None
    role: str | None = None
    name: str | None = None
    namespace: str | None = None
    call_id: str | None = None
    arguments: Raw = Raw()
    input: Raw = Raw()
    action: Raw = Raw()
    query: Raw = Raw()
    output: Raw = Raw()
    content: Raw = Raw()
    message: Raw = Raw()
    status: str | None = None
    cwd: str | None = None
    model: str | None = None
    turn_id: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    source: Raw = Raw()
    info: _Info | None = None
    usage: Raw = Raw()
    num_turns: int | None = None


class _Line(msgspec.Struct, gc=False):
    timestamp: str | None = None
    type: str = ""
    payload: _Payload | None = None


def sniff(sniffed: Sniffed) -> bool:
    """True for rollout records, one a line."""
    return sniffed.shape != "array" and any(
        "payload" in row and small_text(row.get("type")) in _TYPES for row in sniffed.rows
    )


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a rollout file.

    Raises:
        InputError: not one record could be read.
    """
    records = JsonLines(data, source, _Line, "Codex record")
    session = _Session(source)
    count = 0
    for number, line in records:
        if line.payload is not None:
            count += 1
            session.add(line, line.payload, number)
    if not count:
        raise records.nothing()
    session.build.problems.extend(records.problems)
    return [session.build.trace()]


class _Session:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME, NAME)
        self.cwd: str | None = None
        self.model: str | None = None
        self.forked_at: float | None = None
        self.request: OpenRequest | None = None
        self.context_per_request = False
        self.fresh = True
        self.total: bytes = b""
        self.prompts: list[int] = []
        self._handlers = {
            "session_meta": self._meta,
            "turn_context": self._context,
            "response_item": self._item,
            "event_msg": self._event,
            "token_usage_record": self._usage_record,
        }

    def add(self, line: _Line, payload: _Payload, number: int) -> None:
        """Take the next record."""
        if line.type == "compacted":
            self.build.lose("compaction")
            return
        handler = self._handlers.get(line.type)
        if handler is not None:
            handler(payload, line, number)

    def _meta(self, payload: _Payload, line: _Line, number: int) -> None:
        if self.build.run is not None:
            return  # a fork's file holds the records of its ancestors too
        self.build.run = payload.id
        self.cwd = payload.cwd
        spawned = b'"thread_spawn"' in bytes(payload.source)
        if payload.forked_from_id or payload.parent_thread_id or spawned:
            self.forked_at = _time(line.timestamp)

    def _context(self, payload: _Payload, line: _Line, number: int) -> None:
        self.cwd = payload.cwd or self.cwd
        self.model = payload.model or self.model
        self.context_per_request = payload.turn_id is None
        self.fresh = True

    # What the model said

    def _item(self, payload: _Payload, line: _Line, number: int) -> None:
        kind = payload.type or ""
        if kind.endswith("_output"):
            self._output(payload)
        elif kind.endswith("_call"):
            self._respond()
            self._call(payload, line, number)
        elif kind == "reasoning" or (kind == "message" and payload.role == "assistant"):
            self._respond()
        elif kind == "message" and payload.role == "user":
            self._told(whole_text(payload.content), number)
        elif kind == "compaction":
            self.build.lose("compaction")

    def _respond(self) -> None:
        if self.fresh:
            self.request = self.build.begin_turn(model=self.model)
            self.fresh = False

    def _call(self, payload: _Payload, line: _Line, number: int) -> None:
        kind = payload.type or ""
        name = payload.name or kind
        if payload.namespace and payload.namespace.startswith("mcp"):
            name = f"{payload.namespace.rstrip('_')}__{name}"
        fields: dict[str, Any] = {"cwd": self.cwd}
        if kind == "custom_tool_call":
            fields["raw_args"] = plain(payload.input)
            args = raw_of({"input": fields["raw_args"]})
        else:
            sent = next((r for k in _ARGUMENTS if memoryview(r := getattr(payload, k))), EMPTY)
            args, fields["raw_args"] = arguments_of(sent)
        where = mapping(args)
        folder = where.get("workdir") or where.get("working_directory") or where.get("cwd")
        if isinstance(folder, str):
            fields["cwd"] = _joined(self.cwd, folder)
        if name == "apply_patch" and (files := patched_files(where)):
            fields["resource"] = files
        if self._is_replay(line):
            fields["origin"] = "harness"
        call_id = payload.call_id or payload.id
        call = self.build.call(name, args, call_id=call_id, line=number, **fields)
        if kind in ("web_search_call", "image_generation_call") and payload.status == "completed":
            call.end("ok")

    def _output(self, payload: _Payload) -> None:
        if not self.context_per_request:
            self.fresh = True
        call = self.build.waiting(payload.call_id)
        if call is not None:
            outcome_of(payload.output).apply(call)

    def _is_replay(self, line: _Line) -> bool:
        at = _time(line.timestamp)
        if self.forked_at is None or at is None:
            return False
        return at - self.forked_at <= _REPLAY_SECONDS

    # What people and the harness did

    def _told(self, text: str, number: int) -> None:
        if not self.context_per_request:
            self.fresh = True
        by_hand = _BY_HAND.match(text)
        if by_hand:
            args = raw_of({"command": by_hand[1]})
            call = self.build.call("shell", args, origin="user", cwd=self.cwd, line=number)
            call.answer(raw_of(by_hand[2] or ""), "ok")
        elif text.strip() and not _INJECTED.match(text):
            self._spoke(text)

    def _spoke(self, text: str) -> None:
        self.build.user_message(text.partition(_REQUEST)[2] or text)
        if not self.prompts or self.prompts[-1] != self.build.last_seq:
            self.prompts.append(self.build.last_seq)

    def _event(self, payload: _Payload, line: _Line, number: int) -> None:
        kind = payload.type
        if kind == "token_count" and payload.info is not None:
            self._counted(payload.info)
        elif kind == "user_message":
            self._spoke(whole_text(payload.message))
        elif kind == "turn_aborted":
            for call in self._unanswered():
                call.end("unknown", error="interrupted")
        elif kind == "context_compacted":
            self.build.lose("compaction")
        elif kind == "thread_rolled_back" and payload.num_turns:
            self._rolled_back(payload.num_turns)

    def _unanswered(self) -> list[OpenCall]:
        return self.build.still_open()

    def _counted(self, info: _Info) -> None:
        total = bytes(info.total_token_usage)
        usage = mapping(info.last_token_usage)
        if total == self.total or not usage:
            return  # only the rate limits are new
        self.total = total
        if self.context_per_request:
            self._respond()
        if self.request is not None and self.request.usage is None:
            self.request.usage = usage
        if not self.context_per_request:
            self.fresh = True

    def _usage_record(self, payload: _Payload, line: _Line, number: int) -> None:
        usage = mapping(payload.usage)
        if usage and self.request is not None and self.request.usage is None:
            self.request.usage = usage
        if not self.context_per_request:
            self.fresh = True

    def _rolled_back(self, count: int) -> None:
        starts = self.prompts[-count:]
        del self.prompts[-count:]
        first = starts[0] + 1 if starts else 0
        lost = list(range(first, self.build.last_seq + 1))
        if lost:
            self.build.lose("trim", lost=lost)


def patched_files(args: dict[str, Any]) -> list[str]:
    """The files that a patch in Codex's own format names, as resources; empty if there is none."""
    text = args.get("input", args.get("patch"))
    if not isinstance(text, str) or "*** Begin Patch" not in text:
        return []
    return list(dict.fromkeys(f"file:{path}" for path in _PATCHED.findall(text)))


def _joined(base: str | None, folder: str) -> str:
    return folder if base is None or folder.startswith(("/", "~")) else f"{base}/{folder}"


def _time(stamp: str | None) -> float | None:
    try:
        return datetime.fromisoformat(stamp).timestamp() if stamp else None
    except ValueError:
        return None
