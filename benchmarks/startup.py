"""What starting costs, side by side in one run: ratios count, not the milliseconds.

    python benchmarks/startup.py [--rounds 15]

`refetch --version` against `python -c pass` of the same interpreter, and `refetch check` of one
small session against the founding logic in Node on the same file.
"""

from __future__ import annotations

import argparse
import functools
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import corpus
from run import HERE, NODE, best, run

BYTES = 100_000


def small_session(folder: Path) -> Path:
    """The beginning of one session of the corpus, whole lines."""
    whole = min(corpus.build(corpus.default_folder(1), 1).glob("*.jsonl"))
    size, lines = 0, []
    for line in whole.read_bytes().splitlines(keepends=True):
        size += len(line)
        if size > BYTES:
            break
        lines.append(line)
    session = folder / "session.jsonl"
    session.write_bytes(b"".join(lines))
    return session


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds: int = parser.parse_args().rounds
    program = Path(sys.executable).with_name("refetch")
    with tempfile.TemporaryDirectory() as folder:
        session = small_session(Path(folder))
        rows: dict[str, Callable[[], Any]] = {
            "python -c pass": functools.partial(run, sys.executable, "-c", "pass"),
            "refetch --version": functools.partial(run, program, "--version"),
            "refetch check, one session": functools.partial(run, program, "check", session),
        }
        if NODE:
            founding = HERE / "node" / "founding.mjs"
            rows["founding logic in Node"] = functools.partial(run, NODE, founding, session)
        size = session.stat().st_size
        found = best(rows, rounds)
    print(f"one session of {size / 1000:.0f} kB, best of {rounds}\n")
    for name, seconds in found.items():
        print(f"{name:30}{seconds * 1000:8.1f} ms")
    bare, version, check, *node = found.values()
    print(f"\nrefetch --version / python -c pass: {version / bare:.2f}x")
    if node:
        print(f"refetch check / founding logic in Node: {check / node[0]:.2f}x")


if __name__ == "__main__":
    main()
