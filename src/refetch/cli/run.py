"""`refetch run`: an agent on a task, many times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from refetch.cli.flags import flags
from refetch.cli.progress import always_shown
from refetch.reports.escape import escaped
from refetch.runs.runner import load_task, run_many


@click.command("run")
@click.argument("agent", metavar="MODULE:CALLABLE")
@flags("run")
@click.pass_context
def command(ctx: click.Context, /, agent: str, task: str, output: str, **given: Any) -> None:
    """Run an agent on a task N times, each in a process of its own, and keep every trace.

    The agent is called as `agent(task, tracer)` and may be a coroutine function; what it returns
    may say `success`. Exit code: 0 all runs finished, 1 some failed, 2 wrong use.
    """
    bad = 0
    runs = run_many(
        agent,
        load_task(task),
        Path(output),
        runs=given["runs"],
        parallel=given["parallel"],
        timeout=given["timeout"],
        resume=given["resume"],
    )
    for info in always_shown(runs, given["runs"], "running"):
        bad += info.outcome != "finished"
        said = "" if info.success is None else f", success: {str(info.success).lower()}"
        reason = f": {escaped(info.error)}" if info.error else ""
        click.echo(f"run {info.number}: {info.outcome}{said}{reason}")
    click.echo(f"{output}: compare with refetch compare {output} --baseline NAME", err=True)
    ctx.exit(1 if bad else 0)
