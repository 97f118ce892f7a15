"""Runs an agent many times, each in its own process, with a time limit; partial results stay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import msgspec

from refetch.model.errors import UsageError
from refetch.replay.replaying import agent_place
from refetch.runs.store import RUN_FILE, VERSION, RunInfo, slug, write_json


def load_task(task: str) -> Any:
    """A task by name, or the JSON or text in a file.

    Raises:
        UsageError: a file that cannot be read, or is JSON and broken or no task.
    """
    path = Path(task)
    if not os.path.isfile(path):  # noqa: PTH113 (a task in words can be longer than a path)
        return task
    try:
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{task}: cannot be read: {error.strerror}") from None
    if path.suffix != ".json":
        return {"name": path.stem, "text": text}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{task}: no valid JSON: {error}") from None
    if not isinstance(value, dict | str):
        raise UsageError(f"{task}: a task is a text or an object, not {text.strip()[:20]!r}")
    return {"name": path.stem, **value} if isinstance(value, dict) else value


def run_many(
    agent: str,
    task: Any,
    out: Path,
    *,
    runs: int,
    parallel: int = 1,
    timeout: float = 600.0,
    resume: bool = False,
) -> Iterator[RunInfo]:
    """Run and yield each run as it ends. Runs that are there already are kept with `resume`.

    Raises:
        UsageError: the agent has no name of a callable, the folder cannot be made, or it holds runs
            and `resume` was not asked for.
    """
    agent_place(agent)
    name = task if isinstance(task, str) else str(task.get("name", "task"))
    base = out / slug(name)
    folders = [base / f"run-{number:03d}" for number in range(1, runs + 1)]
    there = [folder for folder in folders if os.path.isfile(folder / RUN_FILE)]  # noqa: PTH113
    if there and not resume:
        raise UsageError(f"{base} holds runs already: --resume keeps them, or name another folder")
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{base}: cannot be made: {error.strerror}") from None
    waiting = [
        (number, folder) for number, folder in enumerate(folders, 1) if not _finished(folder)
    ]
    pool = ThreadPoolExecutor(max(1, parallel))
    try:
        futures: list[Future[RunInfo]] = [
            pool.submit(_one, agent, task, name, folder, number, timeout)
            for number, folder in waiting
        ]
        for future in as_completed(futures):
            yield future.result()
    finally:
        # What has not begun is not begun; what runs ends or is cut off by its limit.
        pool.shutdown(wait=True, cancel_futures=True)


def _finished(folder: Path) -> bool:
    try:
        info = msgspec.json.decode((folder / RUN_FILE).read_bytes(), type=RunInfo)
    except (OSError, msgspec.MsgspecError):
        return False
    return info.outcome == "finished"


def _one(agent: str, task: Any, name: str, folder: Path, number: int, timeout: float) -> RunInfo:
    folder.mkdir(parents=True, exist_ok=True)
    # By standard input, since a command line has a limit that a task in a file has not.
    spelled = json.dumps(task).encode()
    command = [sys.executable, "-m", "refetch.runs.worker", agent, str(folder), str(number)]
    error = None
    with (folder / "output.txt").open("wb") as output:
        try:
            subprocess.run(  # noqa: S603
                command, input=spelled, stdout=output, stderr=output, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            error = ("timeout", f"took longer than {timeout:g} s")
    file = folder / RUN_FILE
    if error is None and file.is_file():
        return msgspec.json.decode(file.read_bytes(), type=RunInfo)
    outcome, text = error or ("failed", "its process died; see output.txt")
    info = RunInfo(VERSION, name, number, outcome, error=text)
    write_json(file, msgspec.to_builtins(info))
    return info
