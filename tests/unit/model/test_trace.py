"""What a record says about its own outcome and time."""

from __future__ import annotations

import math
from typing import Any

import pytest
from msgspec import Raw

from refetch.model.trace import OUTCOMES, Call, Trace, UserMessage, seconds


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, "missing"),
        ({"ok": True}, "ok"),
        ({"ok": False}, "error"),
        ({"result": Raw(b'"x"')}, "missing"),
        ({"outcome": "dancing"}, "unknown"),
        ({"outcome": "timeout"}, "timeout"),
        ({"outcome": "rejected", "ok": False}, "rejected"),
        ({"outcome": "error", "result": Raw(b'"x"')}, "error"),
    ],
)
def test_the_outcome(fields: dict[str, Any], status: str) -> None:
    assert Call(0, 1, "x", **fields).status == status
    assert status in OUTCOMES


@pytest.mark.parametrize(
    ("fields", "has"),
    [
        ({}, False),
        ({"args": Raw(b"null")}, True),
        ({"raw_args": ""}, True),
        ({"args": Raw()}, False),
    ],
)
def test_whether_arguments_were_recorded(fields: dict[str, Any], has: bool) -> None:
    assert Call(0, 1, "x", **fields).has_args is has


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (1.5, 1.5),
        (3, 3),
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T01:00:10.5+01:00", 10.5),
        ("yesterday", None),
        ("", None),
        ("0001-01-01T00:00:00", None),
        ("99999-01-01T00:00:00Z", None),
    ],
)
def test_times(value: float | str | None, expected: float | None) -> None:
    found = seconds(value)
    if value == "0001-01-01T00:00:00":  # some systems can say it, some cannot
        assert found is None or math.isfinite(found)
    else:
        assert found == expected


def test_the_calls_of_a_trace() -> None:
    call = Call(0, 1, "x")
    assert Trace("r", [UserMessage(0), call]).calls == [call]
