"""Tool metadata: everything may be left out, nothing may be misspelled."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from refetch.model.tool import EFFECTS, RegionRule, ToolMeta


def test_what_is_not_declared_is_not_known() -> None:
    empty = ToolMeta()
    assert {getattr(empty, name) for name in ToolMeta.__struct_fields__} == {None}
    assert msgspec.json.encode(empty) == b"{}"


@pytest.mark.parametrize("field", ["mutates", "volatile", "poll", "idempotent", "repeatable"])
def test_a_declared_no_is_no_silence(field: str) -> None:
    assert msgspec.to_builtins(msgspec.convert({field: False}, ToolMeta)) == {field: False}


@pytest.mark.parametrize(
    "declared",
    [
        {"mutates": True, "resource": "user:{id}"},
        {"effect": {"by": "command", "view": "read", "*": "write"}},
        {"resource": ["file:{path}", "file:{other=.}"], "ttl": 1.5},
        {"region": {"unit": "page", "first": "page", "last": "page"}},
        {"defaults": {"limit": 10}, "schema": {"properties": {}}},
        *({"effect": effect} for effect in EFFECTS),
    ],
)
def test_declarations_come_back_as_they_were_written(declared: dict[str, Any]) -> None:
    assert msgspec.to_builtins(msgspec.convert(declared, ToolMeta)) == declared


@pytest.mark.parametrize(
    ("declared", "path"),
    [
        ({"mutate": True}, "mutate"),
        ({"region": {"from": "offset"}}, r"\$\.region"),
        ({"mutates": "yes"}, r"\$\.mutates"),
        ({"ttl": "5 s"}, r"\$\.ttl"),
        ({"ignore_args": "note"}, r"\$\.ignore_args"),
        ({"effect": ["read"]}, r"\$\.effect"),
        ({"resource": 5}, r"\$\.resource"),
    ],
)
def test_a_slip_is_named_with_its_place(declared: dict[str, Any], path: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=path):
        msgspec.convert(declared, ToolMeta)


def test_a_region_counts_lines_from_one_without_a_limit() -> None:
    rule = msgspec.convert({"first": "offset", "count": "limit"}, RegionRule)
    assert (rule.unit, rule.base, rule.limit) == ("line", 1, 0)
