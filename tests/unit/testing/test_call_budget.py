"""Budgets as tests state them."""

from __future__ import annotations

from typing import Any

import pytest

from refetch.model.errors import UsageError
from refetch.testing.call_budget import Budget, budget_of, budget_of_marks


def marks(*stated: dict[str, Any]) -> list[pytest.Mark]:
    return [pytest.mark.call_budget(**kwargs).mark for kwargs in stated]


@pytest.mark.parametrize(
    ("stated", "budget"),
    [
        ([{"total": 5}], Budget(5, {})),
        ([{"total": 0, "read": 0}], Budget(0, {"read": 0})),
        ([{"read": 2}], Budget(None, {"read": 2})),
        ([{"total": 5, "read": 1}, {"read": 2}], Budget(5, {"read": 2})),
        ([{"total": 5}, {"total": 6, "write": 1}], Budget(6, {"write": 1})),
        ([{"per_tool": {"total": 3}}], Budget(None, {"total": 3})),
        ([], Budget(None, {})),
    ],
)
def test_marks(stated: list[dict[str, Any]], budget: Budget) -> None:
    assert budget_of_marks(marks(*stated)) == budget


@pytest.mark.parametrize("value", [-1, 1.0, "1", True, None])
def test_no_ceiling(value: object) -> None:
    with pytest.raises(UsageError, match="must be a whole number from 0 on"):
        budget_of_marks(marks({"read": value}))
    with pytest.raises(UsageError, match=r"per_tool\['read'\] must be a whole number"):
        budget_of(None, {"read": value})


def test_argument_without_a_name() -> None:
    with pytest.raises(UsageError, match="5 has no name"):
        budget_of_marks([pytest.mark.call_budget(5).mark])


def test_no_budget() -> None:
    assert budget_of(None, None) == Budget(None, {})
    assert budget_of(0, {"a": 1}) == Budget(0, {"a": 1})
