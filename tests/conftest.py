"""What every test shares: the labelled traces and the way Hypothesis searches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Derandomized: a run says the same on every machine. No deadline: a busy machine is no bug.
settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

PROJECT_ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of labelled traces: ``$REFETCH_SHARED``, else ``shared`` beside the project."""
    named = os.environ.get("REFETCH_SHARED")
    folder = Path(named) if named else PROJECT_ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("labelled traces are not part of a clone")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's name must not hold what changes from run to run, or parallel workers disagree."""
    for item in items:
        assert "\\x" not in item.name or len(item.name) < 120, f"give {item.name!r} a stable id"
