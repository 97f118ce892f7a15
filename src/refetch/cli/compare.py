"""`refetch compare`: runs against a baseline, with three answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from refetch.cli.errors import write_problems
from refetch.model.errors import UsageError
from refetch.runs import baseline, render
from refetch.runs.compare import INCONCLUSIVE, REGRESSED, compare
from refetch.runs.metrics import GATED
from refetch.runs.store import load_runs


@click.command("compare")
@click.argument("runs")
@click.option("--baseline", "name", default="main", show_default=True, metavar="NAME")
@click.option("--alpha", type=click.FloatRange(0.0001, 0.5), default=0.05, show_default=True)
@click.option("--family-alpha", is_flag=True,
              help="Holm over all gated metrics and tasks instead of alpha for each.")  # fmt: skip
@click.option("--metric", "metrics", multiple=True, help="A metric that gates. Repeatable.")
@click.option("--practical", default="10%", show_default=True, metavar="P%",
              help="The rise that would matter.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Inconclusive fails as well.")
@click.option("--force", is_flag=True, help="Compare runs of different models.")
@click.option("--all", "everything", is_flag=True, help="Show every metric.")
@click.option("--format", "format_name", type=click.Choice(["text", "json", "markdown"]),
              default="text", show_default=True)  # fmt: skip
@click.option("--html", metavar="FILE", help="Write a page with strips of both samples.")
@click.option("--root", default=str(baseline.FOLDER), show_default=True, metavar="DIR")
@click.pass_context
def command(ctx: click.Context, /, runs: str, name: str, **given: Any) -> None:
    """Compare runs with a baseline: regressed, no regression, or inconclusive.

    Exit code: 0 no regression (or inconclusive without --strict), 1 regressed, 2 wrong input.
    """
    found = load_runs(runs)
    write_problems(found.problems)
    result = compare(
        baseline.read_all(name, root=Path(given["root"])),
        found.by_task(),
        alpha=given["alpha"],
        practical=_share(given["practical"]),
        gated=given["metrics"] or GATED,
        family=given["family_alpha"],
        force=given["force"],
    )
    renderers = {"json": render.document, "markdown": render.markdown}
    if given["format_name"] == "text":
        click.echo(render.text(result, everything=given["everything"]), nl=False)
    else:
        click.echo(renderers[given["format_name"]](result), nl=False)
    if given["html"]:
        try:
            Path(given["html"]).write_text(render.page(result), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{given['html']}: cannot be written: {error.strerror}") from None
    if result.verdict == REGRESSED or (given["strict"] and result.verdict == INCONCLUSIVE):
        ctx.exit(1)
    ctx.exit(2 if found.problems and not found.runs else 0)


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 100:
        raise UsageError(f"--practical {text!r}: expected a share, as in 10% or 0.1")
    return value
