"""What a fresh interpreter imports. Real processes, no clocks."""

from __future__ import annotations

import os
import subprocess
import sys

_PROGRAM = """
import sys
before = set(sys.modules)
try:
    exec({code!r})
except SystemExit:
    pass
print("IMPORTED", *sorted(set(sys.modules) - before), file=sys.stderr)
"""


def imported(code: str, **options: str) -> set[str]:
    """The modules that this code imports; `options` are those of `subprocess.run`."""
    # A child that measures its own coverage, or the width of a terminal, imports more.
    env = {k: v for k, v in os.environ.items() if not k.startswith("COV") and k != "COLUMNS"}
    command = [sys.executable, "-c", _PROGRAM.format(code=code)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=env, cwd=options.get("cwd")
    )
    (line,) = [row for row in done.stderr.splitlines() if row.startswith("IMPORTED ")]
    return set(line.split()[1:])
