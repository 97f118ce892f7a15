"""`refetch compare`: runs against a baseline, with three answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from refetch.cli.errors import write_problems
from refetch.cli.flags import flags
from refetch.model.errors import UsageError
from refetch.runs import baseline, render
from refetch.runs.compare import INCONCLUSIVE, REGRESSED, compare
from refetch.runs.metrics import GATED
from refetch.runs.store import load_runs


@click.command("compare")
@click.argument("runs")
@flags("compare")
@click.pass_context
def command(ctx: click.Context, /, runs: str, **given: Any) -> None:
    """Compare runs with a baseline: regressed, no regression, or inconclusive.

    Exit code: 0 no regression (or inconclusive without --strict), 1 regressed, 2 wrong input.
    """
    found = load_runs(runs)
    write_problems(found.problems)
    result = compare(
        baseline.read_all(given["baseline"], root=Path(given["root"])),
        found.by_task(),
        alpha=given["alpha"],
        practical=_share(given["practical"]),
        gated=given["metric"] or GATED,
        family=given["family_alpha"],
        force=given["force"],
    )
    renderers = {"json": render.document, "markdown": render.markdown}
    if given["format"] == "text":
        click.echo(render.text(result, everything=given["all"]), nl=False)
    else:
        click.echo(renderers[given["format"]](result), nl=False)
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
