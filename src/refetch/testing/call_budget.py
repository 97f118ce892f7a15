"""Ceilings on calls as tests state them: in the marker `call_budget` and in assertions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from refetch.model.errors import UsageError

USAGE = "call_budget(total=5, read_file=2): a ceiling for all calls, and one for each tool"


class Budget(NamedTuple):
    """Calls of the model that a run may make: in total (None: any number), and by tool."""

    total: int | None
    per_tool: dict[str, int]


class MarkLike(Protocol):
    """What a marker of pytest holds."""

    @property
    def args(self) -> tuple[Any, ...]: ...
    @property
    def kwargs(self) -> Mapping[str, Any]: ...


def budget_of(total: object, per_tool: object) -> Budget:
    """A checked budget.

    Raises:
        UsageError: a ceiling is no whole number from 0 on.
    """
    if per_tool is None:
        per_tool = {}
    if not isinstance(per_tool, Mapping):
        raise UsageError(f"per_tool must map names of tools to ceilings, found {per_tool!r}")
    ceilings = {str(name): _ceiling(f"per_tool[{name!r}]", n) for name, n in per_tool.items()}
    return Budget(None if total is None else _ceiling("budget", total), ceilings)


def budget_of_marks(marks: Iterable[MarkLike]) -> Budget:
    """The budget that markers state together, the outermost first; an inner one replaces a ceiling.

    `per_tool={…}` takes what cannot be a keyword, such as a tool that is called "total".

    Raises:
        UsageError: arguments without a name, no arguments, or a ceiling that is none.
    """
    total: int | None = None
    per_tool: dict[str, int] = {}
    for mark in marks:
        if mark.args:
            raise UsageError(f"call_budget: {mark.args[0]!r} has no name; write {USAGE}")
        if not mark.kwargs:
            raise UsageError(f"call_budget: no ceiling; write {USAGE}")
        stated = dict(mark.kwargs)
        listed = budget_of(None, stated.pop("per_tool", None)).per_tool
        checked = {name: _ceiling(f"call_budget: {name}", n) for name, n in stated.items()}
        total = checked.pop("total", total)
        per_tool |= checked | listed
    return Budget(total, per_tool)


def _ceiling(what: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise UsageError(f"{what} must be a whole number from 0 on, found {value!r}")
