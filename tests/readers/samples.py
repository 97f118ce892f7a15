"""The inputs that every reader is tried on: small ones written here, kept files, real ones.

A new format needs one line in `SMALL` or a file under `tests/data/traces/<format>/`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from tests.unit.readers.claude_records import answered, asked, lines, record, told

from refetch.readers import format_names

_ROOT = Path(__file__).resolve().parents[2]
_KEPT = _ROOT / "tests" / "data" / "traces"
_SHARED = Path(os.environ.get("REFETCH_SHARED", _ROOT.parent / "shared")) / "traces"


class Sample(NamedTuple):
    """One input and the format that must claim it; `data` is None where it lies in `path`."""

    format: str
    name: str
    path: Path | None = None
    data: bytes | None = None

    def read(self) -> bytes:
        """The bytes."""
        return self.data if self.data is not None else self.path.read_bytes()  # type: ignore[union-attr]


def _native() -> bytes:
    rows: list[dict[str, Any]] = [
        {"refetch": 1, "run": "r", "task": "t", "tools": {"get": {"mutates": False}}},
        {"type": "call", "seq": 0, "turn": 1, "name": "get", "args": {"id": 5.0}, "ok": True},
        {"type": "user_message", "after": 0},
        {"type": "call", "seq": 1, "turn": 2, "name": "get", "raw_args": '{"id": 5}'},
        {"type": "result", "seq": 1, "outcome": "ok", "result": "five"},
        {"type": "context_loss", "after": 1, "kind": "trim", "lost": [0]},
        {"type": "write", "scope": "file:a", "by": "user", "after": 1},
        {"type": "request", "turn": 2, "usage": {"input_tokens": 3}},
    ]
    return lines(*rows)


def _claude_code() -> bytes:
    agent = asked("s1", "n1", ("t2", "Read", {"file_path": "/w/ä"}))
    data = {"type": "agent_progress", "agentId": "ag", "message": agent}
    return lines(
        told("u0", "fix it"),
        asked("a0", "m0", ("t1", "Task", {"prompt": "look"}), parentUuid="u0"),
        record("progress", "p0", data=data, parentToolUseID="t1"),
        answered("r0", "t1", [{"type": "text", "text": "found"}]),
        record("system", "s", subtype="compact_boundary"),
        asked("a1", "m1", ("t3", "Bash", {"command": "grep x y"})),
        answered("r1", "t3", "Exit code 1\n", is_error=True),
        asked("a2", "m2", ("t4", "Edit", {"file_path": "/w/b"}), ("t5", "Read", {})),
        {**asked("a3", "m2"), "message": {"content": [{"type": "tool_use", "name": "Nameless"}]}},
        answered("r2", "t4", "<tool_use_error>Sibling tool call errored", is_error=True),
    )


def _openai_chat() -> bytes:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": "ü"}'}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call, call]},
        {"role": "tool", "tool_call_id": "c", "content": "one"},
        {"role": "tool", "tool_call_id": "c", "content": "two"},
        {"role": "assistant", "content": "done"},
    ]
    shell = {"id": "d", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}
    messages.insert(1, {"role": "assistant", "tool_calls": [shell]})
    return json.dumps({"model": "m", "messages": messages}, indent=1).encode()


SMALL: tuple[Sample, ...] = (
    Sample("native", "small native", data=_native()),
    Sample("claude-code", "small claude-code", data=_claude_code()),
    Sample("openai-chat", "small openai-chat", data=_openai_chat()),
)


def kept() -> list[Sample]:
    """The samples in this repository that are files."""
    return [
        Sample(path.parent.name, f"{path.parent.name}/{path.name}", path)
        for path in sorted(_KEPT.glob("*/*"))
        if path.is_file() and path.parent.name in format_names()
    ]


def shared() -> list[Sample]:
    """The real traces of the manifest whose format has a reader; none in a plain clone."""
    manifest = _SHARED / "MANIFEST.tsv"
    if not manifest.is_file():
        return []
    rows = [line.split("\t") for line in manifest.read_text("utf-8").splitlines()[1:]]
    known = set(format_names())
    return [Sample(row[1], row[0], _SHARED / row[0]) for row in rows if row[1] in known]
