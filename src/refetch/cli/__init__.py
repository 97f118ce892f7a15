"""The command line. `main` is the entry point; each command is a file of this package."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave the process with its exit code: 0, 1 or 2 (SPEC 12)."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Answered before click is imported: scripts ask this often.
        from refetch import __version__

        sys.stdout.write(f"refetch {__version__}\n")
        return
    from refetch.cli.program import program

    program(prog_name="refetch")
