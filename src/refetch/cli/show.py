"""`refetch show`: the calls of a trace in order, marked."""

from __future__ import annotations

import sys
from typing import Any

import click

from refetch.cli import choices
from refetch.cli.checking import check_paths, only_run
from refetch.cli.errors import report_problems
from refetch.cli.flags import flags
from refetch.cli.output import look_of, write_document, write_text
from refetch.reports.batch import Batch


@click.command("show")
@choices.PATHS
@flags("show")
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Print the calls of a trace in order, with turns, contexts, attempts and marks.

    \b
    ✗ redundant   ! advice   ✓ a repeat that was fine   ✎ a write   ↻ a further attempt

    Exit code: 0, or 2 where something could not be read.
    """
    settings, user = choices.configured(ctx)
    batch = check_paths(
        paths,
        user=user,
        settings=settings,
        input_format=given["input_format"],
        needs=("all", "keys"),
    )
    only_run(batch, given["run"])
    if given["format"] == "json":
        write_document(sys.stdout, _json(batch))
    else:
        from refetch.reports.text import render_paths

        text = render_paths(batch, look_of(given["color"], why=given["why"]))
        write_text(sys.stdout, text)
    report_problems(batch)
    ctx.exit(2 if batch.errors else 0)


def _json(batch: Batch) -> str:
    from refetch.reports.json_report import document, encode
    from refetch.reports.path import path_document

    out = document(batch)
    for one, entry in zip(batch.checked, out["traces"], strict=True):
        if one.trace is not None:
            entry["path"] = path_document(one.trace, one.report, batch.user)
    return encode(out, indent=2) + "\n"
