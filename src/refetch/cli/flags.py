"""The flags of a command, made from the table of options."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from refetch.model.errors import UsageError
from refetch.options import Option, choices_of, flags_of

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_PLACES = ("FILE", "DIR", "OUT", "[NAME=]FILE")
"""Placeholders that shells complete with names of files."""


def flags(command: str) -> Decorator:
    """Give a command the flags that the table has for it."""

    def with_flags(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(flags_of(command)):
            function = click.option(*spellings(option), option.parameter, **_click(option))(
                function
            )
        return function

    return with_flags


def spellings(option: Option) -> list[str]:
    """How a flag is written."""
    switch = f"/--no-{option.name}" if option.kind == bool | None else ""
    return [*option.spelled, f"--{option.name}{switch}"]


def said(ctx: click.Context) -> dict[str, Any]:
    """The options that the command line sets, by name."""
    assert ctx.command.name is not None
    return {
        option.name: ctx.params[option.parameter]
        for option in flags_of(ctx.command.name)
        if ctx.get_parameter_source(option.parameter) is not ParameterSource.DEFAULT
    }


def _click(option: Option) -> dict[str, Any]:
    told: dict[str, Any] = {"help": option.help, "metavar": option.metavar}
    if option.kind is bool:
        return {**told, "is_flag": True}
    if option.kind == bool | None:
        return {**told, "default": None}
    told["required"] = option.required
    if option.default not in (None, ()):
        told |= {"default": option.default, "show_default": True}
    if option.kind in (list[str], dict[str, int]):
        told |= {"multiple": True, "help": f"{option.help} Repeatable."}
    if option.kind == dict[str, int]:
        told["callback"] = partial(_limits, option)
    elif option.open:
        told["shell_complete"] = partial(_proposed, option)
    else:
        told["type"] = _type(option)
    return told


def _type(option: Option) -> Any:
    if option.choices:
        return click.Choice(choices_of(option))
    if option.metavar in _PLACES:
        return click.Path()
    if option.least is None:
        return str if option.kind == list[str] else option.kind
    bounds: Any = _Number if option.kind is float else click.IntRange
    return bounds(option.least, option.most)


class _Number(click.FloatRange):
    """A number; NaN, which fits every range, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is no number", param, ctx)
        return found


def _proposed(
    option: Option, _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[str]:
    return [name for name in choices_of(option) if name.startswith(incomplete)]


def _limits(
    option: Option, _ctx: click.Context, _param: click.Parameter, pairs: Iterable[str]
) -> dict[str, int]:
    """`NAME=N` words as a mapping.

    Raises:
        UsageError: a word of another form.
    """
    limits: dict[str, int] = {}
    for pair in pairs:
        name, _, number = pair.rpartition("=")
        if not name or not number.isascii() or not number.isdigit():
            raise UsageError(f"--{option.name} {pair!r}: expected NAME=N, as in read_file=3")
        limits[name] = int(number)
    return limits
