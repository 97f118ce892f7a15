"""`refetch check`: find redundant calls in traces."""

from __future__ import annotations

from typing import Any

import click

from refetch.cli import choices
from refetch.cli.checking import check_paths, exit_code
from refetch.cli.errors import report_problems
from refetch.cli.flags import flags
from refetch.cli.known import read_known, report_known, without_known, write_known
from refetch.cli.output import look_of, needs_of, targets, write_reports
from refetch.judge import Options


@click.command("check")
@choices.PATHS
@flags("check")
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Find redundant calls in traces.

    PATH is a file, a folder, a pattern or "-" for standard input, in any known format, compressed
    or not. Exit code: 0 clean, 1 findings, 2 something could not be read.
    """
    settings, user = choices.configured(ctx)
    wanted = targets(settings.said.get("format"), settings["output"], settings["format"])
    why = settings["why"]
    batch = check_paths(
        paths,
        options=Options(ledger=not settings["no-ledger"]),
        user=user,
        input_format=given["input_format"],
        needs=needs_of(wanted, why=why),
        jobs=settings["jobs"],
        cost=not settings["no-cost"],
        settings=settings,
    )
    if given["write_known"]:
        written = write_known(given["write_known"], batch)
        click.echo(f"{written} findings are known now: {given['write_known']}", err=True)
    if known_file := settings["known"] or given["write_known"]:
        met, vanished = without_known(batch, read_known(known_file))
        report_known(met, vanished)
    write_reports(batch, wanted, look_of(given["color"], why=why, top=settings["top"]))
    report_problems(batch)
    ctx.exit(exit_code((one.report for one in batch.checked), batch.errors, settings["fail-on"]))
