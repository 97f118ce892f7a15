"""The command line. `main` is the entry point; each command is a file of this package."""

from __future__ import annotations

import gc
import os
import sys

INTERRUPTED = 130
"""The exit code after Ctrl-C: click's own would be that of findings."""

_OBJECTS = 200_000
"""New objects between two searches for garbage. Traces are trees and leave hardly any, and the
usual 700 make the search a tenth of the work."""


def main() -> None:
    """Run the command line and leave the process with its exit code: 0, 1 or 2 (SPEC 12)."""
    _open_streams()
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Answered before click is imported: scripts ask this often.
        from refetch import __version__

        sys.stdout.write(f"refetch {__version__}\n")
        return
    gc.set_threshold(_OBJECTS)
    try:
        from refetch.cli.program import program

        program(prog_name="refetch")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)  # before click could take it
    finally:
        gc.freeze()  # what dies with the process need not be searched for garbage first


def _open_streams() -> None:
    """Give a stream that was closed before the program began a place that holds nothing.

    Otherwise the next file that is opened would become standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
