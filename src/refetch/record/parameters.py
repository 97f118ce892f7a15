"""A callable's parameters, read once, so that a call's arguments get names at no cost."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from refetch.record.tool import Args, Tool

_PLAIN = (bool, int, float, str, type(None))
_RECEIVERS = frozenset(("self", "cls"))


@dataclasses.dataclass(frozen=True, slots=True)
class Parameters:
    """Names of the positional parameters, of `*args`, what to leave out, and plain defaults."""

    names: tuple[str, ...]
    rest: str | None
    skip: frozenset[str]
    defaults: dict[str, Any]

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Args:
        """The arguments as sent, by name; what the call left to a default stays out."""
        out: Args = dict(zip(self.names, args, strict=False))
        if len(args) > len(self.names):
            out[self.rest or "args"] = list(args[len(self.names) :])
        if kwargs:
            out.update(kwargs)
        for name in self.skip:
            out.pop(name, None)
        return out

    def with_defaults(self, tool: Tool) -> Tool:
        """Declare the signature's defaults: a call that spells one out is the same call."""
        if tool.defaults is not None or not self.defaults:
            return tool
        return dataclasses.replace(tool, defaults=self.defaults)


def parameters_of(function: Callable[..., Any], skip: tuple[str, ...] = ()) -> Parameters:
    """Read a signature; a callable without one records its positional arguments as a list."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return Parameters((), "args", frozenset(skip), {})
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = tuple(p.name for p in parameters if p.kind in positional)
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    left_out = set(skip)
    if names and names[0] in _RECEIVERS:
        left_out.add(names[0])
    defaults = {
        p.name: p.default
        for p in parameters
        if p.name not in left_out and type(p.default) in _PLAIN
    }
    return Parameters(names, rest, frozenset(left_out), defaults)
