"""The action and the hooks, by running what they run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "scripts" / "action.sh"
if not (ROOT / "action.yml").is_file():
    pytest.skip("the action stands in the repository alone", allow_module_level=True)


def act(tmp_path: Path, paths: str, **inputs: str) -> tuple[int, str, str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "REFETCH_PATHS": paths,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        **inputs,
    }
    done = subprocess.run(
        ["bash", str(ACTION)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_the_action_annotates_and_summarizes(tmp_path: Path) -> None:
    traces = str(ROOT / "examples" / "traces")
    code, out, err = act(tmp_path, f"{traces}\n\n")
    assert (code, err) == (1, "")
    assert out.startswith("::notice title=refetch::")
    assert "::error file=" in out
    assert (tmp_path / "summary.md").read_text().startswith("### refetch: ")
    assert (tmp_path / "refetch.sarif").is_file()
    assert (tmp_path / "output").read_text() == "sarif=refetch.sarif\n"


def test_inputs_are_never_commands(tmp_path: Path) -> None:
    code, _, err = act(tmp_path, "$(touch hacked)\n`touch hacked`\n; touch hacked\n--help")
    assert code == 2
    assert "no such file" in err
    assert not (tmp_path / "hacked").exists()


def test_never_failing(tmp_path: Path) -> None:
    code, _, _ = act(tmp_path, str(ROOT / "examples" / "traces"), REFETCH_FAIL_ON="never")
    assert code == 0


def test_every_input_is_handed_over_as_a_variable() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    for line in re.findall(r"run: (.*)", text):
        assert "${{" not in line
    assert set(re.findall(r"inputs\.([a-z-]+)", text)) == {"paths", "known", "fail-on", "version"}


def test_each_hook_runs_a_command_that_exists() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    entries = re.findall(r"entry: refetch (\w+)", text)
    assert entries == ["check", "replay"]
    trace = ROOT / "examples" / "traces" / "release-notes.jsonl"
    (pattern, _) = re.findall(r"files: (.*)", text)
    assert re.search(pattern, str(trace))
    done = subprocess.run(
        [sys.executable, "-m", "refetch", entries[0], str(trace)], capture_output=True, check=False
    )
    assert done.returncode == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    command = [sys.executable, "-m", "refetch", "completion", shell]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "_REFETCH_COMPLETE" in done.stdout
