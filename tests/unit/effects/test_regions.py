"""Regions: how arguments spell them, and whether deliveries together hold what is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.effects.regions import (
    ALL,
    Region,
    as_int,
    bounds_of,
    capped,
    from_arguments,
    from_rule,
    from_spec,
    inside,
    union_parts,
)
from refetch.model.tool import RegionRule


def lines(low: int, high: int | None) -> Region:
    return Region("range", "line", low, high)


@pytest.mark.parametrize(
    ("value", "number"),
    [(5, 5), (5.0, 5), ("5", 5), (" -5", -5), (True, None), (5.5, None), ("5.0", None),
     (None, None), ("9" * 30, None), ([5], None)],
)  # fmt: skip
def test_numbers(value: Any, number: int | None) -> None:
    assert as_int(value) == number


@pytest.mark.parametrize(
    ("spec", "region"),
    [
        (None, ALL),
        ("all", ALL),
        ({"unit": "line", "from": 2, "to": 5}, lines(2, 5)),
        ({"from": 2}, lines(2, None)),
        ({"unit": "byte", "from": 0, "to": 9}, Region("range", "byte", 0, 9)),
        ({"cursor": "abc"}, Region("text", "cursor", text="abc")),
        ({"fields": ["a", "b"]}, Region("fields", fields=frozenset("ab"))),
        ({"unit": "line", "tail": 5}, Region("tail", "line", 5)),
    ],
)
def test_written_in_a_trace(spec: Any, region: Region) -> None:
    assert from_spec(spec) == region


@pytest.mark.parametrize("spec", [{"from": "x"}, {}, 7, "some", {"unit": "line", "to": 5}])
def test_what_cannot_be_read_equals_only_itself(spec: Any) -> None:
    region = from_spec(spec)
    assert region.kind == "text"
    assert region == from_spec(spec)
    assert not inside(ALL, region)


@pytest.mark.parametrize(
    ("args", "region"),
    [
        ({"path": "a"}, ALL),
        ({"offset": None}, ALL),
        ({"start_line": 2, "end_line": 5}, lines(2, 5)),
        ({"startLine": "2", "endLine": "5"}, lines(2, 5)),
        ({"start_line": 2}, lines(2, None)),
        ({"view_range": [2, 5]}, lines(2, 5)),
        ({"view_range": [2, -1]}, lines(2, None)),
        ({"offset": 10, "limit": 5}, Region("range", "from offset", 10, 14)),
        ({"offset": 10}, Region("range", "from offset", 10, None)),
        ({"page": 3}, Region("range", "page of []", 3, 3)),
    ],
)
def test_well_known_arguments(args: dict[str, Any], region: Region) -> None:
    assert from_arguments(args) == region


@pytest.mark.parametrize(
    "args",
    [{"limit": 5}, {"cursor": "x"}, {"offset": "x"}, {"offset": 1, "page": 2}, {"view_range": [2]}],
)
def test_an_unclear_place_equals_only_itself(args: dict[str, Any]) -> None:
    assert from_arguments(args).kind == "text"


def test_pages_of_another_size_are_other_pages() -> None:
    small, large = from_arguments({"page": 1, "per_page": 5}), from_arguments({"page": 1})
    assert not inside(small, large)
    assert inside(small, from_arguments({"per_page": 5, "page": 1}))


RULE = RegionRule(first="offset", count="limit", limit=100)


@pytest.mark.parametrize(
    ("args", "asked", "delivered"),
    [
        ({}, ALL, lines(1, 100)),
        ({"offset": 50}, lines(50, None), lines(50, 149)),
        ({"offset": 0, "limit": 10}, lines(1, 10), lines(1, 10)),
        ({"limit": 10}, lines(1, 10), lines(1, 10)),
        ({"offset": 50, "limit": 0}, lines(50, None), lines(50, 149)),
    ],
)
def test_a_declared_rule(args: dict[str, Any], asked: Region, delivered: Region) -> None:
    assert from_rule(RULE, args) == asked
    assert capped(from_rule(RULE, args), RULE) == delivered


def test_other_parts_of_a_rule() -> None:
    rule = RegionRule(unit="byte", range="span", cursor="next", tail="last")
    assert from_rule(rule, {"span": [1, 2]}) == Region("range", "byte", 1, 2)
    assert from_rule(rule, {"span": "1-2"}).kind == "text"
    assert from_rule(rule, {"next": "n", "span": [1, 2]}) == Region("text", "cursor", text="n")
    assert from_rule(rule, {"last": 5}) == Region("tail", "byte", 5)
    assert from_rule(RegionRule(first="a"), {"a": "x"}).kind == "text"
    assert bounds_of(rule) == {"span", "next", "last"}
    assert capped(ALL, rule) == ALL


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (lines(2, 5), ALL, True),
        (ALL, lines(1, 10_000), False),
        (lines(2, 5), lines(1, 5), True),
        (lines(2, None), lines(1, 500), False),
        (lines(2, None), lines(1, None), True),
        (lines(2, 5), lines(3, None), False),
        (lines(2, 5), Region("range", "byte", 0, 99), False),
        (Region("tail", "line", 5), Region("tail", "line", 9), True),
        (Region("tail", "line", 9), Region("tail", "line", 5), False),
        (Region("fields", fields=frozenset("a")), Region("fields", fields=frozenset("ab")), True),
        (Region("fields", fields=frozenset("ac")), Region("fields", fields=frozenset("ab")), False),
        (Region("text", "cursor", text="a"), Region("text", "cursor", text="b"), False),
        (ALL, Region("text", "cursor", text="b"), False),
    ],
)
def test_inside(part: Region, whole: Region, expected: bool) -> None:
    assert inside(part, whole) is expected


RANGES = st.tuples(st.integers(1, 20), st.integers(0, 8)).map(lambda r: lines(r[0], r[0] + r[1]))


@given(RANGES, st.lists(RANGES, max_size=6))
def test_a_union_holds_every_line_of_what_is_asked(part: Region, delivered: list[Region]) -> None:
    def held(region: Region) -> set[int]:
        assert region.high is not None
        return set(range(region.low, region.high + 1))

    used = union_parts(part, delivered)
    everything = set().union(*map(held, delivered)) if delivered else set()
    assert (used is not None) == (held(part) <= everything)
    if used is not None:
        assert held(part) <= set().union(*(held(delivered[index]) for index in used))
        assert used == sorted(set(used))


@given(
    st.sets(st.sampled_from("abcd"), min_size=1),
    st.lists(st.sets(st.sampled_from("abcd")), max_size=4),
)
def test_a_union_of_fields(part: set[str], delivered: list[set[str]]) -> None:
    asked = Region("fields", fields=frozenset(part))
    given_ = [Region("fields", fields=frozenset(fields)) for fields in delivered]
    used = union_parts(asked, given_)
    assert (used is not None) == (part <= set().union(*delivered))


def test_an_open_end_is_held_by_one_delivery_alone() -> None:
    assert union_parts(lines(5, None), [lines(1, 10), lines(11, 99)]) is None
    assert union_parts(lines(5, None), [lines(1, None), lines(1, 3)]) == [0]
    assert union_parts(ALL, [lines(1, 10), ALL]) == [1]
