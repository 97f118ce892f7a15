"""The nightly example from end to end: healthy baseline, unchanged passes, regressed is caught."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "nightly"
pytest.importorskip("scipy", reason="needs refetch[stats]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nightly")
    shutil.copy(EXAMPLE / "agent.py", folder)
    return folder


def refetch(folder: Path, *args: str, seed: int = 1) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "refetch", *args]
    environment = {**os.environ, "AGENT_SEED": str(seed), "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def runs(folder: Path, agent: str, out: str, seed: int) -> None:
    done = refetch(
        folder, "run", f"agent:{agent}", "--task", "build", "--runs", "12", "--parallel", "2",
        "-o", out, seed=seed,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_whole_story(folder: Path) -> None:
    runs(folder, "healthy", "base", 1)
    recorded = refetch(folder, "baseline", "record", "base")
    assert recorded.returncode == 0, recorded.stderr
    assert "main: 1 task" in refetch(folder, "baseline", "list").stdout
    runs(folder, "healthy", "unchanged", 2)
    same = refetch(folder, "compare", "unchanged")
    assert same.returncode == 0, same.stdout
    assert not same.stdout.startswith("regressed")
    runs(folder, "regressed", "changed", 3)
    caught = refetch(folder, "compare", "changed", "--html", "page.html")
    assert caught.returncode == 1
    assert caught.stdout.startswith("regressed: build: model_calls")
    assert "<svg" in (folder / "page.html").read_text()
    worst = max((folder / "changed").rglob("trace.jsonl"), key=lambda path: path.stat().st_size)
    captured = refetch(folder, "capture", str(worst), "-o", "bad-run.json")
    assert captured.returncode == 0, captured.stderr
    assert refetch(folder, "replay", "bad-run.json").returncode == 0


def test_runs_are_not_overwritten_and_can_be_resumed(folder: Path) -> None:
    runs(folder, "healthy", "again", 5)
    args = ("run", "agent:healthy", "--task", "build", "--runs", "13", "-o", "again")
    assert refetch(folder, *args).returncode == 2
    resumed = refetch(folder, *args, "--resume")
    assert resumed.returncode == 0
    assert resumed.stdout.count("finished") == 1


def test_runs_that_fail_or_take_too_long_are_told_and_not_counted(folder: Path) -> None:
    (folder / "broken.py").write_text(
        "import time\n"
        "def fails(task, tracer):\n    raise ValueError('no model')\n"
        "def sleeps(task, tracer):\n    time.sleep(60)\n"
        "async def waits(task, tracer):\n    return True\n"
    )
    failed = refetch(folder, "run", "broken:fails", "--task", "x", "--runs", "2", "-o", "f")
    assert failed.returncode == 1
    assert "ValueError: no model" in failed.stdout
    slow = refetch(
        folder, "run", "broken:sleeps", "--task", "x", "--runs", "1", "--timeout", "1", "-o", "s"
    )
    assert "timeout" in slow.stdout
    waited = refetch(folder, "run", "broken:waits", "--task", "x", "--runs", "1", "-o", "w")
    assert "finished, success: true" in waited.stdout
    nothing = refetch(folder, "baseline", "record", "f", "--name", "f")
    assert nothing.returncode == 2
    assert "not counted" in nothing.stderr
    missing = refetch(folder, "run", "broken:nowhere", "--task", "x", "--runs", "1", "-o", "n")
    assert missing.returncode == 1
