"""What several commands take besides flags, and the reading of their settings."""

from __future__ import annotations

import os
from pathlib import Path

import click

from refetch.cli.flags import said
from refetch.effects.mcp import tools_from_list_dump
from refetch.effects.user_tables import UserTools, load_user_tools
from refetch.model.errors import UsageError
from refetch.settings import Settings, load_settings

PATHS = click.argument("paths", nargs=-1, required=True, metavar="PATH…")


def configured(ctx: click.Context) -> tuple[Settings, UserTools]:
    """The settings of the file and the command line; the user's tool tables, with what MCP servers
    say of their tools.

    Raises:
        UsageError: a file is missing or wrong. InputError: no `tools/list` answer.
    """
    config = ctx.params["config"]
    if config is not None and not os.path.isfile(config):  # noqa: PTH113 (Path.is_file can raise)
        raise UsageError(f"{config}: no such configuration file")
    settings = load_settings(config, said(ctx))
    found = load_user_tools(config if config is not None else Path())
    for path in settings["mcp-tools"]:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
        found.hints.update(tools_from_list_dump(data, path))
    return settings, found
