"""Files of kept traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from refetch.model.native import read_native
from refetch.replay import run_fixture
from refetch.testing.kept_traces import KeptTraces


@pytest.fixture
def kept(tmp_path: Path) -> KeptTraces:
    return KeptTraces(tmp_path / "kept", "tests/traces")


@pytest.mark.parametrize(
    ("test", "name"),
    [
        ("t.py::test_a", "test_a"),
        ("t.py::TestB::test_a[x/../y z]", "test_a-x-..-y-z"),
        ("t.py::test_a[..]", "test_a"),
        ("t.py::...", "test"),
        ("t.py::test_ü[\n]", "test_ü"),
        ("t.py::" + "a" * 300, "a" * 80),
    ],
)
def test_name_of_the_file(kept: KeptTraces, test: str, name: str) -> None:
    trace = run_fixture("well-behaved").trace
    path = kept.keep(trace, test)
    assert path == kept.folder / f"{name}.jsonl"
    assert read_native(path.read_bytes()).run == trace.run


def test_same_test_writes_over_its_file_and_others_do_not(kept: KeptTraces) -> None:
    trace = run_fixture("well-behaved").trace
    first, other = kept.keep(trace, "a.py::test"), kept.keep(trace, "b.py::test")
    assert first != other
    assert kept.keep(trace, "a.py::test") == first
    assert kept.keep(trace, "b.py::test") == other
    assert kept.keep(trace, "a.py::test", 2).name == "test-2.jsonl"


def test_command_can_be_pasted(kept: KeptTraces) -> None:
    root = kept.folder.parent
    assert kept.capture_command(root / "a b.jsonl", root) == (
        "refetch capture 'a b.jsonl' -o 'tests/traces/a b.json'"
    )
