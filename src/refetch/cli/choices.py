"""Options that several commands share, and the reading of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from refetch.effects.mcp import tools_from_list_dump
from refetch.effects.user_tables import UserTools, load_user_tools
from refetch.model.errors import UsageError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PATHS = click.argument("paths", nargs=-1, required=True, metavar="PATH…")
INPUT_FORMAT = click.option(
    "--input-format", metavar="NAME", help="Read every input as this format instead of looking."
)
CONFIG = click.option(
    "--config",
    metavar="FILE",
    help="Tool tables; without it the nearest refetch.toml or pyproject.toml.",
)
MCP_TOOLS = click.option(
    "--mcp-tools",
    multiple=True,
    metavar="FILE",
    help="A saved tools/list answer of an MCP server: its annotations are hints. Repeatable.",
)
COLOR = click.option("--color/--no-color", default=None, help="Colours; without it on terminals.")
FORMAT = click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
)
RUN = click.option("--run", metavar="ID", help="Only the trace whose run has this id or beginning.")
WHY = click.option(
    "--why", is_flag=True, help="List every repeat that was fine, with the evidence."
)


def user_tools(config: str | None, mcp_tools: Iterable[str] = ()) -> UserTools:
    """The user's tool tables, with what MCP servers say of their tools.

    Raises:
        UsageError: a file is missing or wrong. InputError: no `tools/list` answer.
    """
    if config is not None and not Path(config).is_file():
        raise UsageError(f"{config}: no such configuration file")
    found = load_user_tools(config if config is not None else Path())
    for path in mcp_tools:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
        found.hints.update(tools_from_list_dump(data, path))
    return found


def per_tool_limits(pairs: Iterable[str]) -> dict[str, int]:
    """`NAME=N` words as a mapping.

    Raises:
        UsageError: a word of another form.
    """
    limits: dict[str, int] = {}
    for pair in pairs:
        name, _, number = pair.rpartition("=")
        if not name or not number.isascii() or not number.isdigit():
            raise UsageError(f"--per-tool {pair!r}: expected NAME=N, as in read_file=3")
        limits[name] = int(number)
    return limits
