"""`refetch completion`: the script that completes commands in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    bash: eval "$(refetch completion bash)"; zsh the same; fish: refetch completion fish | source
    """
    from refetch.cli.program import program

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(program, {}, "refetch", "_REFETCH_COMPLETE").source())
