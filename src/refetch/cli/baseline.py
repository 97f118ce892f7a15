"""`refetch baseline`: record, show, list, approve, prune."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import click

from refetch.cli.errors import write_problems
from refetch.cli.flags import flags
from refetch.reports.escape import escaped
from refetch.runs import baseline
from refetch.runs.store import load_runs


@click.group("baseline")
def command() -> None:
    """Baselines: how healthy runs of each task look, one reviewable file for each."""


@command.command("record")
@click.argument("runs")
@flags("baseline record")
def record(runs: str, name: str, force: bool, root: str) -> None:
    """Write the runs in a folder as the baseline NAME."""
    found = load_runs(runs)
    write_problems(found.problems)
    for path in baseline.record(name, found, root=Path(root), force=force):
        click.echo(f"recorded {path}")


@command.command("list")
@flags("baseline list")
def list_(root: str) -> None:
    """Name all baselines."""
    for name in baseline.names(root=Path(root)):
        tasks = baseline.read_all(name, root=Path(root))
        click.echo(f"{name}: {len(tasks)} task{'s' * (len(tasks) != 1)}")


@command.command("show")
@click.argument("name")
@flags("baseline show")
def show(name: str, root: str) -> None:
    """Print the tasks of a baseline with their medians."""
    for task, found in baseline.read_all(name, root=Path(root)).items():
        click.echo(
            f"{escaped(task)}: {found.runs} runs, model {escaped(found.model or 'unknown')}, "
            f"recorded {found.recorded}, commit {found.commit or 'unknown'}"
        )
        for metric, values in found.metrics.items():
            click.echo(
                f"  {escaped(metric)}: median {median(values):g} "
                f"({min(values):g} to {max(values):g})"
            )


@command.command("approve")
@click.argument("candidate")
@flags("baseline approve")
def approve(candidate: str, name: str, root: str) -> None:
    """Put the baseline CANDIDATE in the place of NAME, after a review."""
    for path in baseline.approve(name, candidate, root=Path(root)):
        click.echo(f"approved {path}")


@command.command("prune")
@click.argument("runs")
@flags("baseline prune")
def prune(runs: str, name: str, root: str) -> None:
    """Remove the files of tasks that the runs do not have."""
    tasks = set(load_runs(runs).by_task())
    for path in baseline.prune(name, tasks, root=Path(root)):
        click.echo(f"removed {path}")
