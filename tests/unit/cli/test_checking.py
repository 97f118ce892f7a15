"""From paths to verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.runner import clean, refetching

from refetch.cli.checking import check_paths, exit_code, only_run
from refetch.judge import Options
from refetch.model.errors import UsageError
from refetch.model.trace import Problem
from refetch.reports.batch import Batch


def batch_of(*paths: Path | str, needs: str = "") -> Batch:
    return check_paths([str(p) for p in paths], options=Options(), user=None, needs={needs})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_text(refetching("alpha"))
    (tmp_path / "b.jsonl").write_text(clean("alpine"))
    return tmp_path


def test_traces_are_kept_only_where_a_report_needs_them(folder: Path) -> None:
    def kept(batch: Batch) -> list[bool]:
        return [one.trace is not None for one in batch.checked]

    assert kept(batch_of(folder)) == [False, False]
    assert kept(batch_of(folder, needs="one")) == [False, False]
    assert kept(batch_of(folder / "a.jsonl", needs="one")) == [True]
    assert kept(batch_of(folder, needs="all")) == [True, True]


def test_a_file_beats_a_packaged_fixture_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert batch_of("sloppy").checked[0].report.calls == 9
    (tmp_path / "sloppy").write_text(clean("mine"))
    assert batch_of("sloppy").checked[0].report.run == "mine"


def test_only_run(folder: Path) -> None:
    for run, left in ((None, 2), ("alpha", 1), ("al", 2), ("alpi", 1)):
        batch = batch_of(folder)
        only_run(batch, run)
        assert len(batch.checked) == left
    with pytest.raises(UsageError, match="no run 'x'; there is: alpha, alpine"):
        only_run(batch_of(folder), "x")


def test_exit_codes(folder: Path) -> None:
    reports = [one.report for one in batch_of(folder).checked]
    assert exit_code(reports, [], "flag") == 1
    assert exit_code(reports, [], "never") == 0
    assert exit_code(reports[1:], [], "advice") == 0
    assert exit_code(reports, [Problem("x", "y")], "never") == 2
