"""What a model answers: a batch of tool calls, or the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from refetch.model.errors import UsageError


class StepCall(msgspec.Struct, frozen=True):
    """One tool call that a model asks for."""

    tool: str
    args: Any = msgspec.field(default_factory=dict)
    id: str | None = None


class Step(msgspec.Struct, frozen=True):
    """One model response: `calls`, or the answer in `final`. `usage` as the provider reports it."""

    calls: list[StepCall] = []
    final: Any = None
    ends: bool = False
    usage: dict[str, Any] | None = None


def read_step(value: Any) -> Step:
    """A model's response: a `Step`, or a mapping with `tool_calls` (or `toolCalls`) or `final`.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(value, Step):
        return value
    if not isinstance(value, Mapping):
        raise UsageError(f"a model response must be a mapping, found {type(value).__name__}")
    usage = value.get("usage")
    asked = value.get("tool_calls", value.get("toolCalls"))
    if asked is None:
        if "final" not in value:
            raise UsageError("a model response needs 'tool_calls' or 'final'")
        return Step(final=value["final"], ends=True, usage=usage)
    try:
        calls = msgspec.convert(list(asked), list[StepCall], from_attributes=True)
    except (msgspec.ValidationError, TypeError) as error:
        raise UsageError(f"tool_calls of a model response: {error}") from None
    return Step(calls, usage=usage)
