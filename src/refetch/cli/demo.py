"""`refetch demo`: three scripted agents, checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from refetch.cli.checking import check_paths
from refetch.cli.flags import flags
from refetch.cli.output import look_of, write_document, write_text
from refetch.judge import Options
from refetch.reports.batch import Batch
from refetch.reports.json_report import document, encode
from refetch.reports.look import Look
from refetch.reports.paint import Paint, plain_marks
from refetch.reports.text import render

_RUNS = (
    ("well-behaved", "reads, writes, and reads again to verify: nothing to complain about", None),
    ("transient-retry", "a search fails for a moment, the harness retries: one call", None),
    ("sloppy", "asks twice what it knows, and nine times where five would do", 5),
)


@click.command("demo")
@flags("demo")
def command(**given: Any) -> None:
    """Run three scripted agents and check what they did. Needs no model and no network."""
    runs = [(name, about, _checked(name, budget)) for name, about, budget in _RUNS]
    if given["format"] == "json":
        whole = Batch([one for _, _, batch in runs for one in batch.checked])
        write_document(sys.stdout, encode(document(whole), indent=2) + "\n")
        return
    look = look_of(given["color"])
    write_text(sys.stdout, "\n".join(_section(*run, look=look) for run in runs))
    write_text(sys.stdout, plain_marks("\n" + "\n".join(_next(look)) + "\n", look))


def _checked(name: str, budget: int | None) -> Batch:
    return check_paths([name], options=Options(budget=budget), user=None, needs=("one", "keys"))


def _section(name: str, about: str, batch: Batch, *, look: Look) -> str:
    command_line = f"$ refetch check {name}"
    if batch.budget is not None:
        command_line += f" --budget {batch.budget}"
    head = Paint(look)(f"{command_line}      # {about}", "cyan")
    return plain_marks(f"{head}\n", look) + render(batch, look)


def _next(look: Look) -> Iterator[str]:
    yield Paint(look)("next", "bold")
    yield "  refetch show sloppy                every call in order"
    yield "  refetch check sloppy --why         why the repeats that look alike were fine"
    yield "  refetch check PATH                 your own traces: files, folders, any known format"
