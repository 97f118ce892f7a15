"""Several processes say what one says, in the same order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.unit.cli.runner import clean, run

from refetch.cli import jobs
from refetch.cli.checking import check_paths
from refetch.effects.user_tables import load_user_tools
from refetch.judge import Options
from refetch.readers.open_input import Unit, find_inputs, unit_families
from refetch.reports.batch import Batch

LINE = '{"type":"call","seq":%d,"turn":%d,"name":"read_file","args":{"path":"a"},"result":"%s"}\n'


def folder_of(tmp_path: Path, files: int) -> Path:
    for number in range(files):
        lines = [f'{{"refetch":1,"run":"run-{number:02d}"}}\n']
        lines += [LINE % (seq, seq, "x") for seq in range(number % 3 + 1)]
        (tmp_path / f"{number:02d}.jsonl").write_text("".join(lines))
    (tmp_path / "broken.jsonl").write_text('{"refetch":1,"run":"b"}\n{"type":"call","seq":"x"}\n')
    (tmp_path / "notes.txt").write_text("nothing { here")
    return tmp_path


def seen(batch: Batch) -> bytes:
    return msgspec.json.encode([[one.report for one in batch.checked], batch.errors, batch.skipped])


@pytest.mark.parametrize("needs", [(), ("keys",), ("one",), ("all",)])
def test_the_answer_does_not_depend_on_the_number_of_processes(
    tmp_path: Path, needs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "PORTION_FILES", 2)
    folder = str(folder_of(tmp_path, 9))
    user = load_user_tools(tmp_path)
    one, three = (
        check_paths([folder], options=Options(), user=user, needs=needs, jobs=count)
        for count in (1, 3)
    )
    assert len(one.checked) == 10
    assert seen(one) == seen(three)


def test_a_single_trace_among_many_files_keeps_its_calls(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"refetch":1,"run":"r"}\n' + LINE % (0, 0, "x"))
    for number in range(4):
        (tmp_path / f"{number}.json").write_text('{"no":"trace"}')
    batch = check_paths([str(tmp_path)], options=Options(), user=None, needs=("one",), jobs=2)
    assert batch.checked[0].trace is not None
    assert batch.skipped == 4


def test_a_process_that_dies_leaves_its_work_to_this_one(tmp_path: Path) -> None:
    families = unit_families(find_inputs([folder_of(tmp_path, 4)]).units)
    parts = list(jobs.checked_parts(_Deadly(os.getpid()).check, families, 2))
    assert [part.skipped for part in parts] == [1] * len(families)


class _Deadly(msgspec.Struct):
    """Dies in every process but the one that made it."""

    home: int

    def check(self, family: object) -> Batch:
        if os.getpid() != self.home:
            os._exit(1)
        return Batch(skipped=1)


@pytest.mark.parametrize(
    ("asked", "size", "expected"), [(0, 10, 1), (2, 10, 2), (9, 10, 3), (1, 1 << 30, 1)]
)
def test_processes_are_taken_where_they_are_worth_it(
    asked: int, size: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_size", lambda unit: size)
    assert jobs.processes_for([[Unit((name,))] for name in "abc"], asked) == expected


def test_big_files_take_every_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_size", lambda unit: jobs.WORTH_IT)
    monkeypatch.setattr(jobs, "_processors", lambda: 2)
    assert jobs.processes_for([[Unit((name,))] for name in "abc"], 0) == 2
    assert jobs.processes_for([[Unit(("-",))], [Unit(("b",))]], 0) == 1


_PROGRAM = """
import os, signal, sys, time
from concurrent.futures import ProcessPoolExecutor
from refetch.cli.jobs import _end_with_parent

if __name__ == "__main__":
    pool = ProcessPoolExecutor(2, initializer=_end_with_parent)
    began = [pool.submit(time.sleep, wait) for wait in (0, 0, 600, 600)]
    began[1].result()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_no_process_outlives_the_one_that_started_it(tmp_path: Path) -> None:
    file = tmp_path / "parent.py"
    file.write_text(_PROGRAM)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # The pipe is read to its end: as long as a process holds it, that does not come.
    done = subprocess.run([sys.executable, file], capture_output=True, env=env, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")


def test_an_interrupt_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "t.jsonl"
    file.write_text(clean())
    monkeypatch.setattr("refetch.cli.check.check_paths", interrupt)
    told = run("check", file, "-o", tmp_path / "r.json")
    assert (told.exit_code, told.stderr) == (130, "interrupted\n")
    assert not (tmp_path / "r.json").exists()
