"""`refetch check`: find redundant calls in traces."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from refetch.cli import choices
from refetch.cli.checking import check_paths, exit_code
from refetch.cli.errors import report_problems
from refetch.cli.known import read_known, report_known, without_known, write_known
from refetch.cli.output import look_of, needs_of, targets, write_reports
from refetch.cli.selecting import apply_selection, selection
from refetch.cli.settings import Settings, load_settings
from refetch.judge import Options
from refetch.reports.registry import format_names


@click.command("check")
@choices.PATHS
@click.option("--format", "format_name", type=click.Choice(format_names()), help="Default: text.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="FILE",
    help="Write the report to FILE; NAME=FILE (json=report.json) writes one more. Repeatable.",
)
@click.option("--budget", type=click.IntRange(min=0), metavar="N", help="Most calls of a trace.")
@click.option("--per-tool", multiple=True, metavar="NAME=N", help="Most calls of a tool.")
@click.option("--per-turn", type=click.IntRange(min=0), metavar="N", help="Most calls of a turn.")
@choices.WHY
@click.option(
    "--fail-on",
    type=click.Choice(["flag", "advice", "never"]),
    default="flag",
    show_default=True,
    help="Which findings make the exit code 1.",
)
@click.option(
    "--select", multiple=True, metavar="CODE", help="Only these rules (RF003, RF1, loop)."
)
@click.option("--ignore", multiple=True, metavar="CODE", help="All but these rules.")
@choices.INPUT_FORMAT
@choices.CONFIG
@choices.MCP_TOOLS
@click.option("--no-ledger", is_flag=True, help="Leave out the repeats that were fine; faster.")
@click.option("--top", type=click.IntRange(min=0), default=20, metavar="N", show_default=True,
              help="Traces in a table and findings of a rule that text shows; 0: all.")  # fmt: skip
@click.option("--known", metavar="FILE", help="Findings that are known do not fail.")
@click.option("--write-known", metavar="FILE", help="Write the findings as known and pass.")
@click.option("--no-cost", is_flag=True, help="Leave out what findings cost.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, metavar="N",
              help="Processes at most. Default: one a processor for many files.")  # fmt: skip
@choices.COLOR
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Find redundant calls in traces.

    PATH is a file, a folder, a pattern or "-" for standard input, in any known format, compressed
    or not. Exit code: 0 clean, 1 findings, 2 something could not be read.
    """
    wanted = targets(given["format_name"], given["outputs"])
    settings = load_settings(given["config"])
    given = {**given, **_unsaid(ctx, given, settings)}
    keep = selection(given["select"], given["ignore"])
    options = Options(
        budget=given["budget"],
        per_tool=choices.per_tool_limits(given["per_tool"]),
        per_turn=given["per_turn"],
        ledger=not given["no_ledger"],
    )
    batch = check_paths(
        paths,
        options=settings.options(options),
        user=choices.user_tools(given["config"], given["mcp_tools"]),
        input_format=given["input_format"],
        needs=needs_of(wanted, why=given["why"]),
        jobs=given["jobs"],
        cost=not given["no_cost"],
        settings=settings,
    )
    apply_selection(batch, keep)
    if given["write_known"]:
        written = write_known(given["write_known"], batch)
        click.echo(f"{written} findings are known now: {given['write_known']}", err=True)
    if known_file := given["known"] or given["write_known"]:
        met, vanished = without_known(batch, read_known(known_file))
        report_known(met, vanished)
    write_reports(batch, wanted, look_of(given["color"], why=given["why"], top=given["top"]))
    report_problems(batch)
    ctx.exit(exit_code((one.report for one in batch.checked), batch.errors, given["fail_on"]))


def _unsaid(ctx: click.Context, given: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """What the file says where the command line says nothing."""
    found: dict[str, Any] = {}
    for key in ("select", "ignore", "fail-on", "known", "mcp-tools"):
        name = key.replace("-", "_")
        said = ctx.get_parameter_source(name)
        if key in settings.values and said in (None, ParameterSource.DEFAULT):
            found[name] = settings.values[key]
    return found
