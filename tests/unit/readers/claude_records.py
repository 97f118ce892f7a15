"""Small Claude Code records for tests: each function gives one line of a session file."""

from __future__ import annotations

import json
from typing import Any

SESSION = "5e550000-0000-4000-8000-000000000001"
_TIME = "2026-01-01T00:00:{:02d}.000Z"


def record(kind: str, uuid: str, **fields: Any) -> dict[str, Any]:
    """Any record, with the fields that all of them have."""
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": SESSION,
        "cwd": "/w",
        "version": "2.1.17",
        "timestamp": _TIME.format(0),
        **fields,
    }


def asked(
    uuid: str, message: str, *calls: tuple[str, str, dict[str, Any]], **fields: Any
) -> dict[str, Any]:
    """An assistant record with tool_use blocks (id, name, input)."""
    usage = fields.pop("usage", {"input_tokens": 1, "output_tokens": 2})
    model = fields.pop("model", "claude-x")
    blocks = [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls]
    content = blocks or [{"type": "text", "text": "thinking aloud"}]
    body = {"id": message, "model": model, "role": "assistant", "content": content, "usage": usage}
    return record("assistant", uuid, message=body, **fields)


def told(uuid: str, text: Any, **fields: Any) -> dict[str, Any]:
    """A user record with words."""
    return record("user", uuid, message={"role": "user", "content": text}, **fields)


def answered(
    uuid: str, call: str, content: Any = "done", *, is_error: bool | None = None, **fields: Any
) -> dict[str, Any]:
    """A user record with one tool_result."""
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": content}
    if is_error is not None:
        block["is_error"] = is_error
    return record("user", uuid, message={"role": "user", "content": [block]}, **fields)


def lines(*records: dict[str, Any]) -> bytes:
    """The file."""
    rows = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in records)
    return "\n".join(rows).encode() + b"\n"
