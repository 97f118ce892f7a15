"""The list of commands. A command's module is imported when the command runs, or for help."""

from __future__ import annotations

import errno
from importlib import import_module
from typing import Any

import click

from refetch import __version__
from refetch.cli import INTERRUPTED
from refetch.model.errors import RefetchError, nearest

COMMANDS: dict[str, str] = {
    "demo": "Run three scripted agents and check what they did.",
    "check": "Find redundant calls in traces.",
    "show": "Print the calls of a trace in order, marked.",
    "explain": "Say what a rule or an acquittal means.",
    "tools": "List tools and what is known of them; judge shell commands.",
    "run": "Run an agent on a task many times.",
    "baseline": "Record and review how healthy runs look.",
    "compare": "Compare runs with a baseline, by statistics.",
    "report": "Write a page on some traces.",
    "convert": "Write traces in another format.",
    "capture": "Turn a trace into a fixture, so that it stays as a test.",
    "replay": "Run a fixture and compare its findings with what it expects.",
    "completion": "Print the completion script for a shell.",
}
"""Command → one line of help. Its module is `refetch.cli.<command>`, its object `command`."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"refetch.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except RefetchError as error:
            from refetch.reports.escape import escaped

            click.echo(f"error: {escaped(str(error), keep_newlines=True)}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except OSError as error:
            if error.errno == errno.EPIPE or error.strerror is None:
                raise
            # A place that was asked for and that the system refuses, wherever it was touched.
            from refetch.reports.escape import escaped

            place = f"{error.filename}: " if error.filename is not None else ""
            click.echo(f"error: {escaped(place + error.strerror)}", err=True)
            ctx.exit(2)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = nearest(args[0], COMMANDS) if args else None
            if near is None:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near}?", ctx) from None


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with `refetch demo`, then `refetch check TRACE`; more: `refetch explain RF003`.",
)
@click.version_option(
    __version__, "-V", "--version", prog_name="refetch", message="%(prog)s %(version)s"
)
def program() -> None:
    """Audit the tool-call traces of AI agents: which calls were redundant, which only look it."""
