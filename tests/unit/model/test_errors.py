"""Errors name the place in the words that every report uses."""

from __future__ import annotations

import pytest

from refetch.model.errors import (
    FixtureError,
    InputError,
    MissingExtraError,
    RefetchError,
    UsageError,
)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({}, "f: broken"),
        ({"line": 3}, "f:3: broken"),
        ({"path": "$.a"}, "f: $.a: broken"),
        ({"line": 3, "path": "$.a"}, "f:3: $.a: broken"),
    ],
)
def test_the_place_comes_first(place: dict[str, str | int], text: str) -> None:
    assert str(InputError("f", "broken", **place)) == text  # type: ignore[arg-type]


def test_a_missing_extra_says_what_to_install() -> None:
    error = MissingExtraError("reading .zst files", "zstd")
    assert error.extra == "zstd"
    assert "pip install 'refetch[zstd]'" in str(error)


def test_every_error_can_be_caught_as_one_and_has_an_anchor() -> None:
    kinds = (InputError, UsageError, FixtureError, MissingExtraError)
    assert all(issubclass(kind, RefetchError) for kind in kinds)
    assert len({kind.slug for kind in kinds}) == len(kinds)
