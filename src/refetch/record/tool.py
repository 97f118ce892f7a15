"""A tool as people declare it: what runs, and what is known about its effects (SPEC 2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from refetch.model.errors import UsageError
from refetch.model.tool import RegionRule, ToolMeta

Args = dict[str, Any]

PER_CALL = (
    "resource",
    "region",
    "view",
    "mutates",
    "effect",
    "volatile",
    "ttl",
    "depends_on",
    "background",
    "cwd",
)
"""Fields that a call record can carry, so a function of the arguments may compute them."""

DESCRIPTIVE = frozenset(
    ("name", "description", "parameters", "input_schema", "output_schema", "title", "annotations")
)
"""Keys that registries carry for the model's sake; they declare no effect."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a registry.

    `run` takes one dictionary of arguments. `mutates` says whether it changes anything, `resource`
    what it touches (`scheme:path`): a function of the arguments, or a template such as
    `file:{path}`. All other fields are refinements (SPEC 2), each absent unless declared; those in
    `PER_CALL` may be functions of the arguments. A function that raises, or returns something
    unusable, never disturbs the call: it stands in `ToolTracer.problems`, the field is unknown.
    """

    run: Callable[..., Any]
    mutates: bool | Callable[[Args], bool] | None = None
    resource: str | list[str] | Callable[[Args], str | list[str] | None] | None = None
    effect: str | dict[str, str] | Callable[[Args], str | None] | None = None
    view: str | Callable[[Args], str | None] | None = None
    region: RegionRule | dict[str, Any] | Callable[[Args], Any] | None = None
    depends_on: str | list[str] | Callable[[Args], str | list[str] | None] | None = None
    volatile: bool | Callable[[Args], bool] | None = None
    poll: bool | None = None
    ttl: float | Callable[[Args], float | None] | None = None
    idempotent: bool | None = None
    repeatable: bool | None = None
    partial: bool | None = None
    background: bool | Callable[[Args], bool] | None = None
    ignore_args: list[str] | None = None
    verbatim: list[str] | None = None
    defaults: dict[str, Any] | None = None
    schema: dict[str, Any] | None = None
    path_args: list[str] | None = None
    url_args: list[str] | None = None
    unordered: list[str] | None = None
    domain: str | None = None
    independent: list[str] | None = None
    change: str | None = None
    shell: str | None = None
    persistent: bool | None = None
    noise: list[str] | None = None
    cwd: str | Callable[[Args], str | None] | None = None

    def declared(self) -> dict[str, Any]:
        """The declarative part, as the header of a trace holds it.

        Raises:
            UsageError: a field has a type that no trace can hold.
        """
        fields = {
            name: value
            for name in ToolMeta.__struct_fields__
            if (value := getattr(self, name)) is not None and not callable(value)
        }
        try:
            meta = msgspec.convert(msgspec.to_builtins(fields), ToolMeta)
        except (msgspec.ValidationError, TypeError) as error:
            raise UsageError(f"tool metadata: {error}") from None
        declared: dict[str, Any] = msgspec.to_builtins(meta)
        return declared

    def computed(self) -> list[tuple[str, Callable[[Args], Any]]]:
        """The fields that are functions of the arguments; a constant `cwd` counts as one."""
        found = [(name, value) for name in PER_CALL if callable(value := getattr(self, name))]
        if isinstance(self.cwd, str):
            where = self.cwd
            found.append(("cwd", lambda _: where))
        return found


_FIELDS = frozenset(field.name for field in dataclasses.fields(Tool))


def as_tool(name: str, entry: object) -> tuple[Tool, list[str]]:
    """A registry's entry as a `Tool`, with the keys that were not understood.

    An entry is a `Tool`, a mapping with the same keys, an object with such attributes, or a plain
    callable that takes one dictionary.

    Raises:
        UsageError: the entry has nothing to run.
    """
    if isinstance(entry, Tool):
        return entry, []
    if isinstance(entry, Mapping):
        if not callable(entry.get("run")):
            raise UsageError(f"tool {name!r}: expected a callable under 'run'")
        known = {key: value for key, value in entry.items() if key in _FIELDS}
        unknown = [str(key) for key in entry if key not in _FIELDS and key not in DESCRIPTIVE]
        return Tool(**known), unknown
    run = getattr(entry, "run", None)
    if callable(run):
        known = {
            key: getattr(entry, key)
            for key in _FIELDS
            if key != "run" and getattr(entry, key, None) is not None
        }
        return Tool(run, **known), []
    if callable(entry):
        return Tool(entry), []
    raise UsageError(f"tool {name!r}: expected a Tool, a mapping with 'run' or a callable")
