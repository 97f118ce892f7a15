"""`refetch report`: the page, from traces."""

from __future__ import annotations

from typing import Any

import click

from refetch.cli import choices
from refetch.cli.checking import check_paths
from refetch.cli.errors import report_problems
from refetch.cli.flags import flags
from refetch.cli.output import Target, look_of, write_reports
from refetch.reports.registry import format_named


@click.command("report")
@choices.PATHS
@flags("report")
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Write a page on some traces: one file that opens from disk and needs no network.

    Exit code: 0 written, 2 something could not be read or written.
    """
    settings, user = choices.configured(ctx)
    batch = check_paths(
        paths,
        user=user,
        settings=settings,
        input_format=given["input_format"],
        needs=("all",),
    )
    write_reports(batch, [Target(format_named("html"), given["output"])], look_of(False))
    report_problems(batch)
    click.echo(f"wrote {given['output']}", err=True)
    ctx.exit(2 if batch.errors else 0)
