"""Words of errors."""

from __future__ import annotations

import pytest

from refetch.readers.failures import failed_as


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("Timed out after 2 seconds.", "timeout"),
        ("TimeoutError()", "timeout"),
        ("504: deadline exceeded", "timeout"),
        ("no such file", "error"),
        ("", "error"),
        (None, "error"),
    ],
)
def test_a_timeout_is_told_from_an_error(words: str | None, outcome: str) -> None:
    assert failed_as(words) == outcome
