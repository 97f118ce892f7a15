"""Projects in temporary folders, run with the plugin as people install it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SLOPPY: list[dict[str, Any]] = [
    {"toolCalls": [{"tool": "search", "args": {"query": "config"}}] * 2},
    {"toolCalls": [{"tool": "read_file", "args": {"path": "config.json"}}]},
    {"toolCalls": [{"tool": "read_file", "args": {"path": "config.json"}}]},
    {"final": "done"},
]
"""One exact duplicate and one stale re-fetch, in four calls."""

FILES = {"config.json": "{}"}


@pytest.fixture
def write_fixture(pytester: pytest.Pytester) -> Callable[..., Path]:
    """Write a fixture file below the project: `write_fixture("traces/a.json", name="a")`."""

    def write(path: str, **fields: Any) -> Path:
        file = pytester.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        known: dict[str, Any] = {
            "name": file.stem,
            "task": "",
            "world": {"files": FILES},
            "steps": SLOPPY,
        }
        file.write_text(json.dumps(known | fields), "utf-8")
        return file

    return write


@pytest.fixture
def properties() -> Callable[[pytest.HookRecorder], dict[str, list[Any]]]:
    """What the calls of all tests reported, by name of property."""

    def collect(recorder: pytest.HookRecorder) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for report in recorder.getreports("pytest_runtest_logreport"):
            if report.when == "call":
                for name, value in report.user_properties:
                    found.setdefault(name, []).append(value)
        return found

    return collect
