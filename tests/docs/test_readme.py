"""Every output, test and table in the README is what the program gives."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from refetch.effects.user_tables import tools_from_mapping
from refetch.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    readme = ROOT / "README.md"
    return [text for name, text in BLOCK.findall(readme.read_text("utf-8")) if name == kind]


def start(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: block.split("\n", 1)[0])
def test_an_output(block: str) -> None:
    command, expected = block.removeprefix("$ ").split("\n", 1)
    found = start(*shlex.split(command), cwd=ROOT)
    assert found.stderr == ""
    assert found.stdout.rstrip() == expected.rstrip()


def test_the_test_file(tmp_path: Path) -> None:
    (code,) = blocks("python")
    (tmp_path / "test_it.py").write_text(code, encoding="utf-8")
    found = start("pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), cwd=tmp_path)
    assert "1 passed" in found.stdout, found.stdout


def test_the_tables_load(tmp_path: Path) -> None:
    text, settings = blocks("toml")
    (tmp_path / "pyproject.toml").write_text(settings)
    assert load_settings(str(tmp_path / "pyproject.toml")).tasks["nightly-*"]["dollars"] == 0.5
    tools = tools_from_mapping(tomllib.loads(text)["tool"]["refetch"]["tools"], "README.md")
    assert tools.lookup("get_user") is not None
    assert tools.lookup("update_order") is not None
