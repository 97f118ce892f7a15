"""The example plug-in, installed beside the package as pip would leave it, and asked for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "reader-plugin"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A folder on the path with the module and the metadata that its pyproject.toml declares."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    shutil.copy(EXAMPLE / "src" / "refetch_reader_example.py", tmp_path)
    info = tmp_path / f"refetch_reader_example-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return {**os.environ, "PYTHONPATH": str(tmp_path), "NO_COLOR": "1"}


def refetch(environment: dict[str, str], *args: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "refetch", *map(str, args)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_its_log_is_recognised_and_judged(environment: dict[str, str]) -> None:
    done = refetch(environment, "check", EXAMPLE / "session.log.jsonl")
    assert done.stderr == ""
    assert done.returncode == 1
    assert "RF003" in done.stdout


def test_it_can_be_named_and_its_errors_are_told(
    environment: dict[str, str], tmp_path: Path
) -> None:
    broken = tmp_path / "b.jsonl"
    broken.write_text('{"agent":"example","event":"ask"}\n')
    done = refetch(environment, "check", "--input-format", "example-agent", broken)
    assert done.returncode == 2
    assert "no log records" in done.stderr


def test_without_it_the_format_is_unknown() -> None:
    done = refetch({**os.environ}, "check", EXAMPLE / "session.log.jsonl")
    assert done.returncode == 2
    assert "agent, event, text" in done.stderr
