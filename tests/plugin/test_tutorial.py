"""The tutorial's code does what the tutorial says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "tutorial.md").read_text("utf-8")
FAILING, FIXED = re.findall(r"```python[^\n]*\n(.*?)```", TEXT, re.DOTALL)


def test_the_first_test_fails_as_told(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_agent=FAILING)
    result = pytester.runpytest("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*1 redundant call*", "*stale-refetch*turn 2*"])


def test_the_fixed_one_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_agent=FIXED)
    pytester.runpytest("-q").assert_outcomes(passed=1)
