"""Known findings: new ones fail, old ones pass, vanished ones are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.runner import READ, call, native, run


def rereads(*paths: str, turn: int = 1) -> str:
    rows: list[dict[str, Any]] = []
    for path in paths:
        for _ in range(2):
            rows.append(call(len(rows), turn + len(rows), "read", {"path": path}, result="x"))
    return native(*rows, tools=READ)


@pytest.fixture
def known(tmp_path: Path) -> Path:
    trace = tmp_path / "old.jsonl"
    trace.write_text(rereads("a", "b"))
    done = run("check", trace, "--write-known", tmp_path / "known.json")
    assert done.exit_code == 0
    assert "2 findings are known now" in done.stderr
    return tmp_path / "known.json"


def test_the_file_can_be_reviewed(known: Path) -> None:
    document = json.loads(known.read_text())
    assert document["refetch_known"] == 1
    assert [entry["call"] for entry in document["findings"]] == [
        'read({"path":"a"})', 'read({"path":"b"})',
    ]  # fmt: skip


def test_known_findings_pass_in_a_later_run(known: Path, tmp_path: Path) -> None:
    later = tmp_path / "later.jsonl"
    later.write_text(rereads("b", "a", turn=7))
    done = run("check", later, "--known", known)
    assert done.exit_code == 0
    assert "2 known findings left out" in done.stderr
    assert "no longer" not in done.stderr


def test_new_ones_fail_and_vanished_ones_are_named(known: Path, tmp_path: Path) -> None:
    later = tmp_path / "later.jsonl"
    later.write_text(rereads("a", "c"))
    done = run("check", later, "--known", known)
    assert done.exit_code == 1
    assert "1 redundant" in done.stdout
    assert '"c"' in done.stdout
    assert 'no longer found: RF003 read({"path":"b"})' in done.stderr


def test_more_of_the_same_is_new(known: Path, tmp_path: Path) -> None:
    later = tmp_path / "later.jsonl"
    later.write_text(rereads("a", "a", "b"))
    assert run("check", later, "--known", known).exit_code == 1


@pytest.mark.parametrize("text", ["{", "[]", '{"refetch_known":9,"findings":[]}', ""])
def test_another_file_is_named(text: str, known: Path, tmp_path: Path) -> None:
    known.write_text(text)
    done = run("check", tmp_path / "old.jsonl", "--known", known)
    assert done.exit_code == 2
    assert "known.json" in done.stderr
    assert run("check", tmp_path / "old.jsonl", "--known", tmp_path / "none").exit_code == 2
