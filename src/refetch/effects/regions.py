"""The part of a resource that was asked or delivered, and whether deliveries cover a request.

A region is everything, an inclusive range of one unit, a set of fields, the last n units, or a text
that equals only itself (a cursor, a script). Ranges join into unions; an end that was left out is
open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from refetch.model.tool import RegionRule


class Region(NamedTuple):
    """`kind` is one of all, range, fields, tail, text. `high` None is an open end."""

    kind: str
    unit: str = ""
    low: int = 0
    high: int | None = None
    fields: frozenset[str] = frozenset()
    text: str = ""


ALL = Region("all")

WELL_KNOWN = frozenset(
    """offset limit page per_page cursor page_token skip take start end start_line end_line
    view_range head
    tail lines before after perPage pageToken startLine endLine viewRange pageSize page_size
    pageNumber
    page_number nextCursor next_cursor""".split()
)
"""Arguments that spell a region for tools without a declared one (SPEC 4)."""

_PAIRS = (("start_line", "end_line"), ("startLine", "endLine"), ("start", "end"))
_COUNTED = (("offset", "limit"), ("skip", "take"), ("start", "limit"))
_PAGE_SIZES = frozenset(("per_page", "perPage", "page_size", "pageSize"))


def as_int(value: Any) -> int | None:
    """A whole number, also when it arrived as text or as 5.0; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) < 19 and value.strip().lstrip("-").isdecimal():
        return int(value)
    return None


def from_spec(spec: Any) -> Region:
    """The region written in a trace: "all", or a mapping as in SPEC 11; unreadable ones equal
    only themselves.
    """
    if spec is None or spec == "all":
        return ALL
    if isinstance(spec, Mapping):
        if isinstance(fields := spec.get("fields"), list):
            return Region("fields", fields=frozenset(map(str, fields)))
        if "cursor" in spec:
            return Region("text", "cursor", text=str(spec["cursor"]))
        unit = str(spec.get("unit", "line"))
        if (tail := as_int(spec.get("tail"))) is not None:
            return Region("tail", unit, tail)
        if (low := as_int(spec.get("from"))) is not None:
            return Region("range", unit, low, as_int(spec.get("to")))
    return Region("text", "spelled", text=repr(spec))


def from_rule(rule: RegionRule, args: Mapping[str, Any]) -> Region:
    """The region that arguments spell under a declared rule."""
    if rule.cursor and args.get(rule.cursor) is not None:
        return Region("text", "cursor", text=str(args[rule.cursor]))
    if rule.range and (bounds := args.get(rule.range)) is not None:
        return _from_range(rule.unit, bounds)
    if rule.tail and (tail := as_int(args.get(rule.tail))) is not None:
        return Region("tail", rule.unit, tail)
    names = [n for n in (rule.first, rule.last, rule.count) if n and args.get(n) is not None]
    if not names:
        return ALL
    numbers = {n: as_int(args[n]) for n in names}
    if None in numbers.values():
        return Region("text", "spelled", text=repr([(n, args[n]) for n in names]))
    low = numbers.get(rule.first or "")
    low = rule.base if low is None else max(low, rule.base)
    high = numbers.get(rule.last or "")
    count = numbers.get(rule.count or "")
    if high is not None and high < 0:
        high = None
    if high is None and count is not None and count > 0:
        high = low + count - 1
    return Region("range", rule.unit, low, high)


def _from_range(unit: str, bounds: Any) -> Region:
    if isinstance(bounds, Sequence) and not isinstance(bounds, str) and len(bounds) == 2:
        low, high = as_int(bounds[0]), as_int(bounds[1])
        if low is not None and high is not None:
            return Region("range", unit, low, None if high < 0 else high)
    return Region("text", "spelled", text=repr(bounds))


def from_arguments(args: Mapping[str, Any]) -> Region:
    """The region that well-known arguments spell, for a tool without a declared rule."""
    given = {n: v for n, v in args.items() if n in WELL_KNOWN and v is not None}
    if not given:
        return ALL
    names = set(given)
    if names in ({"view_range"}, {"viewRange"}):
        return _from_range("line", next(iter(given.values())))
    bounded = _bounded(given, names)
    if bounded is not None:
        return bounded
    return Region("text", "spelled", text=repr(sorted((n, str(v)) for n, v in given.items())))


def _bounded(given: Mapping[str, Any], names: set[str]) -> Region | None:
    for first, last in _PAIRS:
        if first in names and names <= {first, last}:
            low, high = as_int(given[first]), as_int(given.get(last))
            if low is not None and (last not in given or high is not None):
                return Region("range", "line", low, high)
    for first, count in _COUNTED:
        if first in names and names <= {first, count}:
            low, size = as_int(given[first]), as_int(given.get(count))
            if low is not None and (count not in given or size is not None):
                return Region(
                    "range", f"from {first}", low, None if size is None else low + size - 1
                )
    if "page" in names and names <= {"page", *_PAGE_SIZES}:
        sizes = sorted((n, str(v)) for n, v in given.items() if n != "page")
        if (page := as_int(given["page"])) is not None:
            return Region("range", f"page of {sizes}", page, page)
    return None


def bounds_of(rule: RegionRule) -> frozenset[str]:
    """The arguments that spell the region under a declared rule."""
    names = (rule.first, rule.last, rule.count, rule.range, rule.cursor, rule.tail)
    return frozenset(name for name in names if name)


def capped(region: Region, rule: RegionRule) -> Region:
    """What a tool with a default limit delivers at the most: an open end is closed there."""
    if rule.limit <= 0:
        return region
    if region.kind == "all":
        return Region("range", rule.unit, rule.base, rule.base + rule.limit - 1)
    if region.kind == "range" and region.high is None:
        return region._replace(high=region.low + rule.limit - 1)
    return region


def inside(part: Region, whole: Region) -> bool:
    """Whether one delivered region holds all of another."""
    if part == whole:
        return True
    if whole.kind == "all":
        return _part_of_all(part)
    if part.kind != whole.kind or part.unit != whole.unit:
        return False
    if part.kind == "range":
        if part.low < whole.low:
            return False
        return whole.high is None or (part.high is not None and part.high <= whole.high)
    if part.kind == "fields":
        return part.fields <= whole.fields
    return part.kind == "tail" and part.low <= whole.low


def _part_of_all(part: Region) -> bool:
    """Whether a request without a region delivers this part too.

    Of a document, yes. Of a listing it may have been the first page alone: pages, cursors and
    places in a list are asked for because there is more.
    """
    if part.kind == "range":
        return part.unit in ("line", "byte")
    return part.kind in ("all", "fields", "tail")


def union_parts(part: Region, delivered: Sequence[Region]) -> list[int] | None:
    """Indexes of regions (the latest stands last) that together hold `part`, or None.

    Later deliveries are preferred, so the parts named are the freshest that do.
    """
    for index in range(len(delivered) - 1, -1, -1):
        if inside(part, delivered[index]):
            return [index]
    if part.kind == "fields":
        return _union_of_fields(part, delivered)
    if part.kind != "range" or part.high is None:
        return None
    missing = [(part.low, part.high)]
    used: list[int] = []
    for index in range(len(delivered) - 1, -1, -1):
        region = delivered[index]
        if region.kind != "range" or region.unit != part.unit:
            continue
        rest = list(_subtract(missing, region.low, region.high))
        if rest != missing:
            used.append(index)
            missing = rest
        if not missing:
            return sorted(used)
    return None


def _union_of_fields(part: Region, delivered: Sequence[Region]) -> list[int] | None:
    missing, used = part.fields, []
    for index in range(len(delivered) - 1, -1, -1):
        if delivered[index].kind == "fields" and missing & delivered[index].fields:
            missing -= delivered[index].fields
            used.append(index)
        if not missing:
            return sorted(used)
    return None


def _subtract(
    ranges: Iterable[tuple[int, int]], low: int, high: int | None
) -> Iterable[tuple[int, int]]:
    for first, last in ranges:
        if last < low or (high is not None and first > high):
            yield first, last
            continue
        if first < low:
            yield first, low - 1
        if high is not None and last > high:
            yield high + 1, last
