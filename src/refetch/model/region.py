"""The part of a resource that a call asked for or got, as it is written in a trace (SPEC 11)."""

from __future__ import annotations

import msgspec


class RegionSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename={"from_": "from"}):
    """One of: an inclusive range, a cursor, a set of fields, the last n units.

    `unit` is "line", "byte", "page" or "item". `from_` is 1-based for lines and pages, 0-based for
    bytes and items, as the recorder counts; `to` is inclusive, and None means "as far as the tool
    goes". `tail` asks for the last n units, whose place is unknown without the length.
    """

    unit: str | None = None
    from_: int | None = None
    to: int | None = None
    cursor: str | None = None
    fields: tuple[str, ...] | None = None
    tail: int | None = None
