"""How fast each format is read, beside `json.loads` and orjson on the same bytes.

    python benchmarks/readers.py [--megabytes 100] [--rounds 3] [--memory] [FORMAT…]

Two sets: generated traces, whose results are as long as those of real sessions, and the real
samples of at least 0.3 MB in `../shared/traces`, where that is at hand (many are short records).
Processor time counts, and the three take turns on each file. `--memory` adds the peak of a `check`
of one file of that size.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import formats

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SMALLEST = 300_000


def samples(name: str) -> list[bytes]:
    """The real samples of a format."""
    from tests.readers.samples import shared

    found = [one.read() for one in shared() if one.format == name]
    return [data for data in found if len(data) >= SMALLEST and data[:1] in (b"{", b"[")]


def is_lines(data: bytes) -> bool:
    """Whether the input is JSON Lines rather than one document."""
    try:
        json.loads(data)
    except ValueError:
        return True
    return False


def load_with(loads: Callable[[bytes], Any], data: bytes, lines: bool) -> None:
    """The same bytes through a JSON library."""
    if lines:
        for line in data.split(b"\n"):
            with contextlib.suppress(ValueError):  # some hold two records, or half of one
                loads(line)
    else:
        loads(data)


def seconds_of(work: Callable[[bytes, bool], object], data: bytes, lines: bool) -> float:
    """Processor time of one run."""
    gc.collect()
    started = time.process_time()
    work(data, lines)
    return time.process_time() - started


def contenders(name: str) -> dict[str, Callable[[bytes, bool], object]]:
    """What is compared; orjson where it is installed."""
    from refetch.readers import read_bytes

    rows: dict[str, Callable[[bytes, bool], object]] = {
        "json.loads": lambda data, lines: load_with(json.loads, data, lines)
    }
    try:
        import orjson
    except ImportError:
        pass
    else:
        rows["orjson"] = lambda data, lines: load_with(orjson.loads, data, lines)
    return {**rows, "refetch": lambda data, _: read_bytes(data, name)}


def compare(name: str, files: Iterable[bytes], rounds: int) -> str:
    """One line of the table: MB/s of each, and what refetch is of `json.loads`."""
    rows = contenders(name)
    total = dict.fromkeys(rows, 0.0)
    size = 0
    for data in files:
        lines = is_lines(data)
        size += len(data)
        best = dict.fromkeys(rows, float("inf"))
        for _ in range(rounds):
            for row, work in rows.items():
                best[row] = min(best[row], seconds_of(work, data, lines))
        for row, seconds in best.items():
            total[row] += seconds
    if not size:
        return ""
    speeds = "".join(f"{size / 1e6 / seconds:12.0f}" for seconds in total.values())
    return f"{size / 1e6:8.1f}{speeds}{total['json.loads'] / total['refetch']:9.2f}x"


# A child's peak begins with what its parent held, so a small process stands between.
_PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
assert done.returncode in (0, 1), done
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_of(path: Path) -> float:
    """MB that a process which checks this file holds at most."""
    check = [sys.executable, "-m", "refetch", "check", str(path)]
    command = [sys.executable, "-c", _PEAK, *check]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return int(done.stdout) * 1024 / 1e6


def memory(name: str, megabytes: int) -> str:
    """The peak of a check of one large file, and what it is above the size of the file."""
    (path,) = formats.build(name, megabytes, whole=True)
    size, peak = path.stat().st_size / 1e6, peak_of(path)
    return f"{size:8.1f}{peak:12.0f}{peak - size:12.0f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    names = options.formats or list(formats.WRITERS)
    columns = "".join(f"{row:>12}" for row in contenders(""))
    for title, files in (
        ("generated", lambda name: map(Path.read_bytes, formats.build(name, options.megabytes))),
        ("real samples", samples),
    ):
        print(f"\n{title + ', MB/s':20}{'MB':>8}{columns}{'vs loads':>10}")
        for name in names:
            if line := compare(name, files(name), options.rounds):
                print(f"{name:20}{line}", flush=True)
    if options.memory:
        print(f"\n{'check, peak MB':20}{'MB':>8}{'peak':>12}{'above file':>12}")
        for name in names:
            print(f"{name:20}{memory(name, options.megabytes)}", flush=True)


if __name__ == "__main__":
    main()
