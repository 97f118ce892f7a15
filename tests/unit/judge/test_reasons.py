"""Every reason of an acquittal has its words."""

from __future__ import annotations

from refetch.judge.reasons import ACQUITTAL_REASONS
from refetch.model.finding import REASONS


def test_the_same_reasons_in_the_same_order() -> None:
    assert tuple(ACQUITTAL_REASONS) == REASONS


def test_the_words() -> None:
    for reason in ACQUITTAL_REASONS.values():
        assert reason.short[0].islower()
        assert not reason.short.endswith(".")
        assert reason.doc.endswith(".")
        assert reason.condition
