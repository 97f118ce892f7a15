"""The list of formats."""

from __future__ import annotations

import pytest

from refetch.model.errors import UsageError
from refetch.reports.batch import Batch
from refetch.reports.look import Look
from refetch.reports.registry import FORMATS, format_named, format_names, format_of_file


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_each_format_renders_nothing_at_all(known: object) -> None:
    form = next(f for f in FORMATS if f is known)
    assert format_named(form.name) is form
    assert form.render(Batch(), Look()).endswith("\n")
    assert form.title


def test_names_are_unique() -> None:
    assert len(set(format_names())) == len(FORMATS)


def test_files() -> None:
    assert format_of_file("a/b.JSON") == format_named("json")
    assert format_of_file("b.jsonl") == format_named("jsonl")
    assert format_of_file("b") is None


def test_an_unknown_name() -> None:
    with pytest.raises(UsageError, match="unknown format 'x'"):
        format_named("x")
