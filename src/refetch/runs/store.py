"""Runs on disk: one folder each, with the native trace and what is known of the run."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import msgspec

from refetch.effects.resolve import ToolTable
from refetch.model.errors import InputError, RefetchError
from refetch.model.trace import Problem, Trace
from refetch.readers import read_path
from refetch.readers.open_input import read_paths
from refetch.runs.metrics import metrics_of

RUN_FILE = "run.json"
TRACE_FILE = "trace.jsonl"
VERSION = 1


class RunInfo(msgspec.Struct, omit_defaults=True):
    """What `run.json` says. `outcome`: finished, failed, timeout; `success` as the agent said;
    `duration` in seconds; `tokens` of all requests and `cost` in USD where the trace records usage.
    """

    refetch_run: int
    task: str
    number: int
    outcome: str
    success: bool | None = None
    duration: float | None = None
    tokens: int | None = None
    cost: float | None = None
    model: str | None = None
    commit: str | None = None
    seed: int | None = None
    error: str | None = None
    versions: dict[str, str] = {}


class Run(msgspec.Struct, frozen=True):
    """One run with its metrics."""

    task: str
    source: str
    metrics: dict[str, float]
    model: str | None = None
    tools: tuple[str, ...] = ()


class Runs(msgspec.Struct):
    """What a folder holds: runs that finished, and what could not be counted."""

    runs: list[Run] = []
    problems: list[Problem] = []

    def by_task(self) -> dict[str, list[Run]]:
        """The runs of each task, in order of their sources."""
        found: dict[str, list[Run]] = {}
        for run in sorted(self.runs, key=lambda run: run.source):
            found.setdefault(run.task, []).append(run)
        return dict(sorted(found.items()))


def load_runs(folder: str, user: ToolTable | None = None) -> Runs:
    """The runs below a folder: those that `refetch run` made, or any traces, one run each.

    Runs that failed or were cut off are problems, not runs: a run that broke in the middle has few
    calls.

    Raises:
        InputError: nothing is there.
    """
    found = Runs()
    root = Path(folder)
    files = sorted(root.rglob(RUN_FILE)) if root.is_dir() else []
    for file in files:
        _add(found, file, user)
    if not files:
        _any_traces(found, folder, user)
    if not found.runs and not found.problems:
        raise InputError(folder, "no runs", expected="folders with run.json, or traces")
    return found


def _add(found: Runs, file: Path, user: ToolTable | None) -> None:
    try:
        info = msgspec.json.decode(file.read_bytes(), type=RunInfo)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        found.problems.append(Problem(str(file), f"no run: {error}", expected="a run.json"))
        return
    if info.refetch_run != VERSION:
        found.problems.append(Problem(str(file), f"run version {info.refetch_run} is not known"))
        return
    if info.outcome != "finished":
        text = f"this run {info.outcome} and is not counted: {info.error or 'no reason given'}"
        found.problems.append(Problem(str(file), text))
        return
    try:
        (trace,) = read_path(file.with_name(TRACE_FILE))
    except (RefetchError, ValueError) as error:
        found.problems.append(Problem(str(file), f"its trace cannot be read: {error}"))
        return
    if trace.problems:
        found.problems += trace.problems
        return
    found.runs.append(_run(trace, info.task, str(file.parent), user, info))


def _any_traces(found: Runs, folder: str, user: ToolTable | None) -> None:
    for loaded in read_paths([folder]):
        found.problems += loaded.problems
        for trace in loaded.traces:
            found.problems += trace.problems
            if not trace.problems:
                task = trace.task or "task"
                found.runs.append(_run(trace, task, f"{trace.source} {trace.run}", user, None))


def _run(trace: Trace, task: str, source: str, user: ToolTable | None, info: RunInfo | None) -> Run:
    metrics = metrics_of(trace, user, success=info.success if info is not None else None)
    if info is not None and info.duration is not None:
        metrics["duration"] = info.duration
    bad = [name for name, value in metrics.items() if not math.isfinite(value)]
    for name in bad:
        del metrics[name]
    tools = tuple(sorted({call.name for call in trace.calls}))
    return Run(task, source, metrics, trace.model or (info.model if info else None), tools)


def slug(text: str) -> str:
    """A name for files, from a task's, which may be anything."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:60] or "task"


def write_json(path: Path, value: Any) -> None:
    """Sorted and indented, in one step: a reader sees the old file or the new one."""
    data = msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1)
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data + b"\n")
    part.replace(path)
