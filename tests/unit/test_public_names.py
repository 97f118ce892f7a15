"""The public names of the package."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import refetch

COMPATIBILITY = """ToolTracer Tool normalize_args run_agent scripted_model run_fixture
find_exact_duplicates find_semantic_duplicates find_stale_refetches call_counts
TransientError""".split()


@pytest.mark.parametrize("name", refetch.__all__)
def test_each_name_is_there(name: str) -> None:
    assert getattr(refetch, name) is not None
    assert name in dir(refetch)


def test_the_names_of_the_founding_design() -> None:
    assert set(COMPATIBILITY) <= set(refetch.__all__)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        getattr(refetch, "nope")  # noqa: B009


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import refetch, sys; print(*[m for m in sys.modules if m.startswith('refetch')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refetch"]


def test_the_founding_detectors_on_a_fixture() -> None:
    run = refetch.run_fixture("sloppy")
    (exact,) = refetch.find_exact_duplicates(run)
    (semantic,) = refetch.find_semantic_duplicates(run.trace)
    (stale,) = refetch.find_stale_refetches(refetch.check(run.trace))
    for finding, turns in ((exact, (1, 1)), (semantic, (2, 2)), (stale, (2, 3))):
        assert finding.first is not None
        assert finding.repeat is not None
        assert (finding.first.turn, finding.repeat.turn) == turns
    assert semantic.first is not None
    assert semantic.first.raw_key == 'get_user({"id":5})'
    assert refetch.call_counts(run)["total"] == 9


@pytest.mark.parametrize("thing", [None, 5, "run.jsonl", [], {}, object()])
def test_what_is_no_trace_is_named(thing: Any) -> None:
    with pytest.raises(TypeError, match=f"load.path. .*not {type(thing).__name__}"):
        refetch.check(thing)
