"""How fast each format is read, beside `json.loads` and orjson on the same bytes.

    python benchmarks/readers.py [--megabytes 20] [FORMAT…]

The input is the largest sample of a format, from `../shared/traces` where that is at hand: JSON
Lines are repeated to the size asked for, documents are read again and again. Only formats that are
JSON are compared. The memory is the peak of reading alone, beside the size of the input.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def samples() -> dict[str, bytes]:
    """The largest sample of each format that is JSON."""
    from tests.readers.samples import SMALL, kept, shared

    found: dict[str, bytes] = {}
    for sample in (*SMALL, *kept(), *shared()):
        data = sample.read()
        if data[:1] in (b"{", b"[") and len(data) > len(found.get(sample.format, b"")):
            found[sample.format] = data
    return found


def is_lines(data: bytes) -> bool:
    """Whether the input is JSON Lines rather than one document."""
    try:
        json.loads(data)
    except ValueError:
        return True
    return False


def rate(work: Callable[[], Any], size: int, rounds: int) -> float:
    """MB/s, the best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return size / best / 1e6


def loads_of(data: bytes, lines: bool, loads: Callable[[bytes], Any]) -> Callable[[], Any]:
    """The same bytes through a JSON library."""
    if lines:
        return lambda: [loads(line) for line in data.split(b"\n") if line]
    return lambda: loads(data)


def compare(name: str, data: bytes, megabytes: int) -> None:
    """One line of the table."""
    from refetch.readers import read_bytes

    lines = is_lines(data)
    if lines and len(data) < megabytes * 1e6:
        data = data.rstrip(b"\n") + b"\n"
        data *= max(1, int(megabytes * 1e6 / len(data)))
    rounds = max(3, min(200, int(megabytes * 1e6 / len(data))))
    plain = rate(loads_of(data, lines, json.loads), len(data), rounds)
    try:
        import orjson
    except ImportError:
        quick = float("nan")
    else:
        quick = rate(loads_of(data, lines, orjson.loads), len(data), rounds)
    ours = rate(lambda: read_bytes(data, name, name), len(data), rounds)
    sniffed = rate(lambda: read_bytes(data, name), len(data), rounds)
    print(
        f"{name:20}{len(data) / 1e6:8.2f}{plain:12.0f}{quick:9.0f}{ours:9.0f}{sniffed:10.0f}"
        f"{sniffed / plain:9.2f}x",
        flush=True,
    )


def peak(path: Path) -> None:
    """Memory of a process that reads one file, above one that reads nothing."""
    code = "import sys, resource\nfrom refetch.readers import read_path\n"
    show = "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    rows = []
    for work in ("", "kept = read_path(sys.argv[1])\n"):
        command = [sys.executable, "-c", code + work + show, str(path)]
        rows.append(int(subprocess.run(command, capture_output=True, check=True).stdout) / 1024)
    size = path.stat().st_size / 1e6
    print(
        f"\npeak memory reading {size:.0f} MB: {rows[1]:.0f} MB ({rows[1] - rows[0]:.0f} MB added)"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*")
    parser.add_argument("--megabytes", type=int, default=20)
    options = parser.parse_args()
    head = ("MB", "json.loads", "orjson", "read", "+ sniff", "vs loads")
    print(f"{'MB/s':20}{head[0]:>8}{head[1]:>12}{head[2]:>9}{head[3]:>9}{head[4]:>10}{head[5]:>10}")
    found = samples()
    for name in options.formats or sorted(found):
        compare(name, found[name], options.megabytes)
    if not options.formats:
        import corpus

        folder = corpus.build(corpus.default_folder(options.megabytes), options.megabytes)
        peak(max(folder.glob("*.jsonl"), key=lambda path: path.stat().st_size))


if __name__ == "__main__":
    main()
