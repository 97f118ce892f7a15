"""What the tracer holds while an agent runs: open and finished calls, contexts, scopes."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw

from refetch.model.trace import Call
from refetch.record.encoding import Digest, digest_text


class ContextState(msgspec.Struct, eq=False):
    """One model's message history. `implicit`: nobody named it, it is what ran inside a call."""

    name: str
    turn: int = 0
    implicit: bool = False


class Scope(msgspec.Struct, eq=False):
    """What code between two calls runs in: a context, a tag of origin, a group of attempts.

    `first` is the first call of an attempt group: seq, name and arguments.
    """

    inner: ContextState
    call: OpenCall | None = None
    ambient: str = "model"
    attempt_of: int | None = None
    attempts: bool = False
    first: tuple[int, str, bytes] | None = None


class OpenCall(msgspec.Struct, eq=False, gc=False):
    """A call from its start on. `result`, `error` and `outcome` may be set while it is open.

    `inner` is the context of what runs inside the call, made when first needed. `ended` is 0 while
    the call is open. `fields` holds what is known about this call alone, by name in the record.
    The collector need not look at these: they only point to what was there before them.
    """

    seq: int
    turn: int
    name: str
    args: bytes
    context: ContextState
    within: OpenCall | Scope
    origin: str
    started: float
    ended: float = 0.0
    outcome: str | None = None
    result: Any = UNSET
    error: str | None = None
    attempt_of: int | None = None
    call_id: str | None = None
    raw_args: str | None = None
    inner: ContextState | None = None
    fields: dict[str, Any] | None = None
    ambient: str = "model"

    def note(self, **fields: Any) -> None:
        """Add fields of the call record, such as `exit_code=1` or `truncated=True`."""
        self.fields = {**(self.fields or {}), **fields}


def parent_of(row: OpenCall) -> int | None:
    """The call that this one ran inside."""
    within = row.within
    if isinstance(within, OpenCall):
        return within.seq
    return within.call.seq if within.call is not None else None


def origin_of(row: OpenCall) -> tuple[str, int | None]:
    """Who made the call, and of which call it is another attempt."""
    within = row.within
    if isinstance(within, Scope):
        if within.attempts:
            first = within.first
            if first is None or first[1:] != (row.name, row.args):
                within.first = (row.seq, row.name, row.args)
            elif first[0] != row.seq and row.origin == "model":
                return "harness-retry", first[0]
        if row.attempt_of is None and row.origin == within.ambient:
            return row.origin, within.attempt_of
    # Code that runs inside a tool before any model spoke there: the tool's own doing.
    if row.context.implicit and row.turn == 0 and row.origin == "model":
        return "harness", row.attempt_of
    return row.origin, row.attempt_of


_SAID_BY_OK = frozenset(("ok", "error"))


def outcome_of(row: OpenCall) -> str | None:
    """How the call ended, None while it is open. The fast path says nothing of a plain success."""
    if row.outcome is None and row.ended:
        return "ok"
    return row.outcome


def settle(row: OpenCall, *, keep: bool) -> Digest | None:
    """Replace a string result by its digest, so that the string can be freed."""
    result = row.result
    if isinstance(result, str):
        result = row.result = digest_text(result, keep=keep)
    return result if isinstance(result, Digest) else None


def to_call(row: OpenCall, *, offset: float, keep: bool) -> Call:
    """The record of a call. `offset` turns the tracer's clock into seconds since the epoch."""
    digest = settle(row, keep=keep)
    origin, attempt_of = origin_of(row)
    outcome = outcome_of(row)
    more: dict[str, Any] = dict(row.fields) if row.fields else {}
    if digest is not None:
        more.setdefault("result_hash", digest.hash)
        more.setdefault("result_chars", digest.chars)
        if keep and bytes(digest.raw):
            more["result"] = digest.raw
    if row.args:
        more["args"] = Raw(row.args)
    return Call(
        seq=row.seq,
        turn=row.turn,
        name=row.name,
        raw_args=row.raw_args,
        context=row.context.name,
        call_id=row.call_id,
        origin=origin,
        attempt_of=attempt_of,
        ok=None if outcome is None else outcome == "ok",
        outcome=None if outcome in _SAID_BY_OK else outcome,
        error=row.error,
        started=round(row.started + offset, 6),
        ended=round(row.ended + offset, 6) if row.ended else None,
        parent=parent_of(row),
        **more,
    )
