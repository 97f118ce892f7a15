"""`refetch compare`: runs against a baseline, with three answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from refetch.cli.errors import write_problems
from refetch.cli.flags import flags
from refetch.cli.output import write_document, write_text
from refetch.cli.writing import write_file
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
        write_text(sys.stdout, render.text(result, everything=given["all"]))
    else:
        write_document(sys.stdout, renderers[given["format"]](result))
    if given["html"]:
        write_file(given["html"], render.page(result).encode("utf-8", "backslashreplace"))
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
