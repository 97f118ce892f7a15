"""Tool metadata (SPEC 2): what a tool does, as far as anybody declared it."""

from __future__ import annotations

from typing import Any

import msgspec

EFFECTS = ("read", "write", "pure", "none", "opaque")


class RegionRule(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How arguments spell a region: names of arguments, except `unit`, `limit` and `base`.

    `first`/`last` name the arguments with the inclusive bounds, `count` the one with the length,
    `range` one that holds both as a two-element list. `limit` is the tool's default number of units
    where no end is asked (0: no limit), `base` what the tool counts from (its smallest `first`).
    """

    unit: str = "line"
    first: str | None = None
    last: str | None = None
    count: str | None = None
    range: str | None = None
    cursor: str | None = None
    tail: str | None = None
    limit: int = 0
    base: int = 1


class ToolMeta(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Everything that can be declared about one tool. Each field left out is simply not known.

    `resource` and `depends_on` are templates: `file:{path}` takes the argument `path`; a template
    whose argument is absent yields nothing; `{path=.}` gives a default. `effect` is one of
    `EFFECTS` or a table by argument: `{"by": "command", "view": "read", "create": "write"}` (`"*"`
    for any other value). `shell` names the argument with a command line; `persistent` says whether
    variables set by one command live on in the next (assumed where nobody says).
    """

    mutates: bool | None = None
    effect: str | dict[str, str] | None = None
    resource: str | list[str] | None = None
    view: str | None = None
    region: RegionRule | None = None
    depends_on: str | list[str] | None = None
    volatile: bool | None = None
    poll: bool | None = None
    ttl: float | None = None
    idempotent: bool | None = None
    repeatable: bool | None = None
    partial: bool | None = None
    background: bool | None = None
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
