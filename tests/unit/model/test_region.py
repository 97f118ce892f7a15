"""Regions as a trace spells them: what is written is what the judge reads."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from refetch.effects.regions import ALL, Region, from_spec
from refetch.model.region import RegionSpec


@pytest.mark.parametrize(
    ("spec", "written", "read"),
    [
        (RegionSpec(), {}, None),
        (
            RegionSpec(unit="line", from_=1, to=200),
            {"unit": "line", "from": 1, "to": 200},
            Region("range", "line", 1, 200),
        ),
        (
            RegionSpec(unit="byte", from_=0),
            {"unit": "byte", "from": 0},
            Region("range", "byte", 0, None),
        ),
        (RegionSpec(cursor="abc"), {"cursor": "abc"}, Region("text", "cursor", text="abc")),
        (
            RegionSpec(fields=("a", "b")),
            {"fields": ["a", "b"]},
            Region("fields", fields=frozenset("ab")),
        ),
        (RegionSpec(unit="line", tail=5), {"unit": "line", "tail": 5}, Region("tail", "line", 5)),
    ],
)
def test_the_written_form(spec: RegionSpec, written: dict[str, Any], read: Region | None) -> None:
    text = msgspec.json.encode(spec)
    assert msgspec.json.decode(text) == written
    assert msgspec.json.decode(text, type=RegionSpec) == spec
    assert read is None or from_spec(written) == read


def test_nothing_said_is_not_everything_asked() -> None:
    assert from_spec(msgspec.to_builtins(RegionSpec())) != ALL


def test_unknown_fields_are_ignored() -> None:
    found = msgspec.json.decode(b'{"from":3,"colour":"red"}', type=RegionSpec)
    assert found == RegionSpec(from_=3)
