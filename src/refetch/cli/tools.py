"""`refetch tools`: which tools there are, what is known of them, how shell commands are judged."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from refetch.cli import choices
from refetch.cli.flags import flags
from refetch.cli.output import look_of, write_document, write_text
from refetch.model.errors import UsageError
from refetch.model.trace import Problem
from refetch.reports.escape import escaped
from refetch.reports.json_report import encode
from refetch.reports.look import Look
from refetch.reports.paint import Paint, cells, padded, shortened
from refetch.reports.text import joined


@click.command("tools")
@click.argument("paths", nargs=-1, metavar="[TRACE…]")
@flags("tools")
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """List the tools of traces and what is known of them.

    Without a trace: the built-in catalogue. With --command or --commands: how shell commands are
    judged, that is what they read and write as far as their text says.
    """
    look = look_of(given["color"])
    problems: list[Problem] = []
    if given["command"] is not None or given["commands"] is not None:
        if paths:
            raise UsageError("--command and --commands take no traces")
        _print(_judged(given["command"], given["commands"], given["cwd"]), given["format"], look)
        return
    if paths:
        from refetch.cli.tool_use import tool_use, used_lines, used_stubs

        _, user = choices.configured(ctx)
        used, problems = tool_use(paths, user, given["input_format"])
        if given["stub"]:
            write_text(sys.stdout, used_stubs(used))
        elif given["format"] == "text":
            write_text(sys.stdout, joined(used_lines(used, look), look))
        else:
            _print([tool.document() for tool in used], given["format"], look)
    else:
        _catalogue(given["format"], look)
    if problems:
        from refetch.cli.errors import write_problems

        write_problems(problems)
        ctx.exit(2)


def _judged(one: str | None, file: str | None, cwd: str | None) -> Iterator[dict[str, Any]]:
    from refetch.effects.shell.judged import judge_commands, judged

    if one is not None:
        yield judged(one, cwd)
    if file is None:
        return
    with ExitStack() as stack:
        if file == "-":
            lines: Iterable[bytes] = sys.stdin.buffer
        else:
            try:
                lines = stack.enter_context(Path(file).open("rb"))
            except OSError as error:
                raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
        yield from judge_commands(lines, file)


def _print(rows: Iterable[dict[str, Any]], format_name: str, look: Look) -> None:
    if format_name == "json":
        write_document(sys.stdout, encode(list(rows), indent=2) + "\n")
        return
    for row in rows:
        if format_name == "jsonl":
            write_document(sys.stdout, encode(row) + "\n")
        else:
            write_text(sys.stdout, joined(_command(row, look), look))


def _command(row: dict[str, Any], look: Look) -> Iterator[str]:
    paint = Paint(look)
    color = {"opaque": "yellow"}.get(row["effect"], "green")
    yield f"{paint(escaped(row['effect']), color)}  {escaped(row['command'])}"
    for key in ("reads", "writes"):
        if row[key]:
            yield f"    {key}: {escaped(', '.join(row[key]))}"
    if row.get("note"):
        yield paint(f"    note: {escaped(row['note'])}", "dim")


def _catalogue(format_name: str, look: Look) -> None:
    from refetch.effects.catalogue import entries

    rows = [
        {"owner": entry.owner, "tool": entry.name, "effect": _effect(entry.meta.effect)}
        for entry in entries()
    ]
    if format_name != "text":
        _print(rows, format_name, look)
        return
    write_text(sys.stdout, joined(_catalogue_lines(rows, look), look))


def _catalogue_lines(rows: list[dict[str, str]], look: Look) -> Iterator[str]:
    paint = Paint(look)
    width = min(40, max(cells(row["tool"]) for row in rows))
    owner = None
    for row in rows:
        if row["owner"] != owner:
            owner = row["owner"]
            yield paint(owner, "bold")
        yield f"  {padded(shortened(row['tool'], width), width)}  {row['effect']}"


def _effect(effect: str | dict[str, str] | None) -> str:
    if effect is None:
        return "from its arguments"
    if isinstance(effect, str):
        return effect
    cases = ", ".join(f"{key}: {value}" for key, value in effect.items() if key != "by")
    return f"by {effect['by']}: {cases}"
