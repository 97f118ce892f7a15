"""Baselines: the distributions of healthy runs, one reviewable file for each task.

A file holds every run's values, not only summaries, and a checksum: who edits it by hand has to
record or approve again. Nothing in it comes from arguments or results.
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from refetch import __version__
from refetch.model.errors import InputError, UsageError
from refetch.runs.store import Run, Runs, slug, write_json

FOLDER = Path(".refetch") / "baselines"
VERSION = 1
STALE_DAYS = 90


class Baseline(msgspec.Struct, frozen=True):
    """One task's baseline. `metrics`: the values of every run, in the order of the runs."""

    refetch_baseline: int
    name: str
    task: str
    recorded: str
    runs: int
    metrics: dict[str, list[float]]
    model: str | None = None
    tools: list[str] = []
    commit: str | None = None
    machine: str = ""
    refetch: str = ""
    checksum: str = ""

    @property
    def age_days(self) -> float:
        """Days since it was recorded."""
        then = datetime.fromisoformat(self.recorded)
        return (datetime.now(UTC) - then).total_seconds() / 86400


def record(name: str, runs: Runs, *, root: Path = FOLDER, force: bool = False) -> list[Path]:
    """Write the runs as the baseline of that name; returns the files.

    Raises:
        UsageError: fewer than two runs of a task, runs of different models or tools, or another
            model or tool set than the baseline that is replaced; the last two unless `force`.
    """
    written = []
    for task, found in runs.by_task().items():
        if len(found) < 2:
            raise UsageError(f"task {task!r}: {len(found)} run; a baseline needs two or more")
        baseline = _baseline(name, task, found)
        path = _path(root, name, task)
        if not force:
            _same(task, found, path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, msgspec.to_builtins(baseline))
        written.append(path)
    if not written:
        raise UsageError("no runs to record")
    return written


def _baseline(name: str, task: str, runs: list[Run]) -> Baseline:
    names = sorted({metric for run in runs for metric in run.metrics})
    # A rule or a tool that a run has nothing of is zero there; other metrics may be unknown.
    metrics = {
        metric: [float(v) for run in runs if (v := _value(run, metric)) is not None]
        for metric in names
    }
    baseline = Baseline(
        refetch_baseline=VERSION,
        name=name,
        task=task,
        recorded=datetime.now(UTC).replace(microsecond=0).isoformat(),
        runs=len(runs),
        metrics=metrics,
        model=runs[0].model,
        tools=sorted({tool for run in runs for tool in run.tools}),
        commit=commit(),
        machine=f"{platform.system()} {platform.machine()}",
        refetch=__version__,
    )
    return msgspec.structs.replace(baseline, checksum=_checksum(baseline))


def _value(run: Run, metric: str) -> float | None:
    if metric.startswith(("rule.", "tool.")):
        return run.metrics.get(metric, 0.0)
    return run.metrics.get(metric)


def values(runs: list[Run], metric: str) -> list[float]:
    """A metric of each run that has it."""
    return [value for run in runs if (value := _value(run, metric)) is not None]


def _same(task: str, runs: list[Run], path: Path) -> None:
    models = {run.model for run in runs}
    if len(models) > 1:
        shown = ", ".join(sorted(str(model) for model in models))
        raise UsageError(f"task {task!r}: runs of different models ({shown}); --force mixes them")
    if path.is_file():
        check_mix(read(path), runs)


def check_mix(baseline: Baseline, runs: list[Run]) -> None:
    """Refuse runs that another model made than the baseline's.

    Raises:
        UsageError: the models differ.
    """
    models = {run.model for run in runs}
    if models != {baseline.model}:
        shown = ", ".join(sorted(str(model) for model in models))
        raise UsageError(
            f"task {baseline.task!r}: the baseline is of model {baseline.model}, "
            f"the runs are of {shown}; --force compares them all the same"
        )


def read(path: Path) -> Baseline:
    """Read one file.

    Raises:
        InputError: it cannot be read, is no baseline, or was edited (its checksum differs).
    """
    try:
        baseline = msgspec.json.decode(path.read_bytes(), type=Baseline)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(str(path), f"no baseline: {error}", expected="a baseline file") from None
    if baseline.refetch_baseline != VERSION:
        raise InputError(str(path), f"baseline version {baseline.refetch_baseline} is not known")
    if baseline.checksum != _checksum(baseline):
        raise InputError(
            str(path),
            "the file was edited by hand: its checksum differs",
            expected="a file as `refetch baseline record` wrote it",
            found="other values",
        )
    return baseline


def read_all(name: str, *, root: Path = FOLDER) -> dict[str, Baseline]:
    """The baselines of that name, by task.

    Raises:
        UsageError: there are none. InputError: one cannot be read.
    """
    files = sorted((root / slug(name)).glob("*.json"))
    if not files:
        known = ", ".join(names(root=root)) or "none"
        raise UsageError(f"no baseline {name!r}; recorded: {known}")
    found = [read(path) for path in files]
    return {baseline.task: baseline for baseline in found}


def names(*, root: Path = FOLDER) -> list[str]:
    """The names of all baselines."""
    return sorted(path.name for path in root.glob("*") if path.is_dir()) if root.is_dir() else []


def approve(name: str, candidate: str, *, root: Path = FOLDER) -> list[Path]:
    """Put the files of one baseline in the place of another's, after a review.

    Raises:
        UsageError: there is no such candidate.
    """
    written = []
    for task, baseline in read_all(candidate, root=root).items():
        renamed = msgspec.structs.replace(baseline, name=name)
        renamed = msgspec.structs.replace(renamed, checksum=_checksum(renamed))
        path = _path(root, name, task)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, msgspec.to_builtins(renamed))
        written.append(path)
    return written


def prune(name: str, tasks: set[str], *, root: Path = FOLDER) -> list[Path]:
    """Remove the files of tasks that are no more; returns what was removed."""
    gone = []
    for task in read_all(name, root=root):
        if task not in tasks:
            path = _path(root, name, task)
            path.unlink()
            gone.append(path)
    return gone


def _path(root: Path, name: str, task: str) -> Path:
    # Two tasks may have one slug: the hash keeps them apart.
    mark = hashlib.sha256(task.encode("utf-8", "replace")).hexdigest()[:6]
    return root / slug(name) / f"{slug(task)}-{mark}.json"


def _checksum(baseline: Baseline) -> str:
    plain: dict[str, Any] = msgspec.to_builtins(baseline)
    plain.pop("checksum", None)
    return "sha256:" + hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()[:32]


def commit() -> str | None:
    """The commit of the folder that this is run in, where it is a repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],  # noqa: S607
            capture_output=True, text=True, check=False, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
