"""Errors as people read them on standard error: the place, what was expected, what was found."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import click

from refetch.model.trace import Problem
from refetch.reports.batch import Batch
from refetch.reports.escape import escaped

_SHOWN = 20


def report_problems(batch: Batch) -> None:
    """Write every error of a batch to standard error."""
    write_problems(batch.errors, {one.report.source for one in batch.checked})


def write_problems(problems: Sequence[Problem], readable: Collection[str] = ()) -> None:
    """Write errors, the first ones in full; `readable` are the sources that were read in part."""
    for problem in problems[:_SHOWN]:
        click.echo(problem_text(problem, readable=problem.source in readable), err=True)
    hidden = len(problems) - _SHOWN
    if hidden > 0:
        click.echo(f"error: {hidden} more inputs or lines could not be read", err=True)


def problem_text(problem: Problem, *, readable: bool) -> str:
    """One error. `readable`: the rest of the input was read, and stands in the report."""
    place = problem.source if problem.line is None else f"{problem.source}:{problem.line}"
    path = f"{problem.path}: " if problem.path else ""
    text = escaped(f"error: {place}: {path}{problem.message}")
    if readable and problem.line is not None and problem.line > 1:
        lines = (
            "1 earlier line was" if problem.line == 2 else f"{problem.line - 1} earlier lines were"
        )
        text += f"\n       {lines} read and are reported above"
    return text
