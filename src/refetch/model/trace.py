"""A trace: one header and its events, as in the native format version 1 (SPEC 11)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Raw

MAIN = "main"
"""The context that a trace without sub-agents has."""

OUTCOMES = frozenset("ok error timeout unknown missing rejected not-executed cancelled".split())
NEVER_RAN = frozenset(("rejected", "not-executed", "cancelled"))
"""Outcomes of calls that had no effect at all (SPEC 3.4)."""

MAY_HAVE_RUN = frozenset(("timeout", "unknown", "missing"))
"""Outcomes after which an effect must be assumed (SPEC 3.4)."""


class _Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class Call(_Event, frozen=True, tag="call"):
    """One execution of a tool, as recorded.

    `args` is the JSON text of the parsed arguments; an empty `Raw` means that arguments were not
    recorded, `null` that there were none. `raw_args` is the argument text exactly as the model sent
    it, where the format has it. `result` is the JSON text of the result (empty: not recorded),
    `result_hash` is `algo:hex`, comparable only within one algorithm. `started`/`ended`: seconds or
    RFC 3339.
    """

    seq: int
    turn: int
    name: str
    args: Raw = Raw()
    raw_args: str | None = None
    context: str = MAIN
    call_id: str | None = None
    origin: str = "model"
    attempt_of: int | None = None
    ok: bool | None = None
    outcome: str | None = None
    exit_code: int | None = None
    error: str | None = None
    result_hash: str | None = None
    result_chars: int | None = None
    result_tokens: int | None = None
    result: Raw = Raw()
    resource: str | list[str] | None = None
    region: Any = None
    delivered: Any = None
    view: str | None = None
    mutates: bool | None = None
    effect: str | None = None
    volatile: bool | None = None
    ttl: float | None = None
    depends_on: str | list[str] | None = None
    truncated: bool = False
    unchanged: bool = False
    background: bool = False
    cwd: str | None = None
    started: float | str | None = None
    ended: float | str | None = None
    parent: int | None = None

    @property
    def status(self) -> str:
        """The outcome in one word: `outcome` if recorded, else from `ok`, else "missing" (SPEC
        3.4).
        """
        if self.outcome is not None:
            return self.outcome if self.outcome in OUTCOMES else "unknown"
        if self.ok is None:
            return "missing"
        return "ok" if self.ok else "error"

    @property
    def has_args(self) -> bool:
        """False where arguments were not recorded, in any form."""
        return bool(bytes(self.args)) or self.raw_args is not None


class Result(_Event, frozen=True, tag="result"):
    """Completes a call that was written when it was requested (a streaming recorder)."""

    seq: int
    ok: bool | None = None
    outcome: str | None = None
    exit_code: int | None = None
    error: str | None = None
    result_hash: str | None = None
    result_chars: int | None = None
    result_tokens: int | None = None
    result: Raw = Raw()
    delivered: Any = None
    truncated: bool = False
    unchanged: bool = False
    ended: float | str | None = None


class ContextLoss(_Event, frozen=True, tag="context_loss"):
    """Results left a context after call `after`. Without `lost`, everything delivered so far
    did.
    """

    after: int
    kind: Literal["compaction", "clear", "trim", "eviction", "truncation"] = "compaction"
    context: str = MAIN
    lost: list[int] | None = None


class ContextStart(_Event, frozen=True, tag="context"):
    """A context exists: which call started it, and whether it began with its parent's history."""

    context: str
    parent_call: int | None = None
    inherits: bool = False
    background: bool = False
    model: str | None = None


class Write(_Event, frozen=True, tag="write"):
    """Something other than a recorded call wrote `scope` after call `after`."""

    scope: str
    after: int
    by: str = "external"


class UserMessage(_Event, frozen=True, tag="user_message"):
    """A person said something after call `after`."""

    after: int
    context: str = MAIN


class Request(_Event, frozen=True, tag="request"):
    """One model request: its turn and the usage the provider reported (token counts by name)."""

    turn: int
    context: str = MAIN
    model: str | None = None
    usage: dict[str, Any] | None = None


Event = Call | Result | ContextLoss | ContextStart | Write | UserMessage | Request


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something in an input that could not be read; the rest was. Shape of `errors[]` in SPEC
    12.
    """

    source: str
    message: str
    line: int | None = None
    path: str | None = None
    expected: str | None = None
    found: str | None = None


class Trace(msgspec.Struct, frozen=True):
    """Everything one agent did on one task.

    `events` are in recorded order; `seq` and `after` decide their place in time. `format` is the
    reader's name, `harness` the program that ran the agent where the trace says so (it decides
    which built-in tool catalogue applies). `servers` maps a tool-name prefix to the MCP server it
    belongs to. `lines` and `paths` say where in the source a call stands, by seq. `problems` lists
    what could not be read.
    """

    run: str
    events: list[Event]
    task: str | None = None
    model: str | None = None
    source: str = "-"
    format: str = "native"
    harness: str | None = None
    turns: str = "recorded"
    order: str = "recorded"
    tools: dict[str, Any] = {}
    lines: dict[int, int] = {}
    paths: dict[int, str] = {}
    problems: list[Problem] = []

    @property
    def calls(self) -> list[Call]:
        """The recorded executions, before any hygiene."""
        return [event for event in self.events if type(event) is Call]


def seconds(value: float | str | None) -> float | None:
    """A recorded time as seconds since the epoch, or None where it is absent or unreadable."""
    if value is None or isinstance(value, (int, float)):
        return value
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
