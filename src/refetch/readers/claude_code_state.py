"""What is known about a call and about a context while a Claude Code session is being read."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

_any = msgspec.json.Decoder()


class Pending:
    """A call whose result may still come; becomes a `Call` at the end."""

    __slots__ = ("fields", "line_uuid", "message", "place")

    def __init__(
        self, place: int, message: str, line_uuid: str | None, fields: dict[str, Any]
    ) -> None:
        self.place = place
        self.message = message
        self.line_uuid = line_uuid
        self.fields = fields

    @property
    def open(self) -> bool:
        """True until a result came."""
        return "outcome" not in self.fields


class Context:
    """One model's history while it is read."""

    __slots__ = ("last_loss", "model", "parent_tool", "place", "requests", "turn", "turns")

    def __init__(self, place: int | None, parent_tool: str | None) -> None:
        self.place = place
        self.parent_tool = parent_tool
        self.turn = 0
        self.turns: dict[str, int] = {}
        self.requests: dict[str, tuple[int, Raw, str | None]] = {}
        self.model: str | None = None
        self.last_loss: int | None = None


def usage_of(raw: Raw) -> dict[str, Any] | None:
    """Token counts as the provider reported them."""
    if not memoryview(raw):
        return None
    try:
        usage = _any.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return usage if isinstance(usage, dict) else None


def path_argument(args: Raw) -> str | None:
    """The file that a file tool was asked to work on."""
    try:
        values = _any.decode(args)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    path = values.get("file_path", values.get("notebook_path"))
    return path if isinstance(path, str) else None
