"""Everything that is compared, side by side in one run: ratios count, not the milliseconds.

    python benchmarks/run.py [--megabytes 100] [--rounds 3] [--only check|tracer]

`check`: the corpus end to end (read, parse, judge) by `refetch check` as people start it, by its
library in this process, by the founding logic in Node, and `json.loads` of the same bytes, which
judges nothing.
`tracer`: what recording adds to a call that gives a string, here and in Node.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import corpus

HERE = Path(__file__).parent
NODE = shutil.which("node")
CALLS = 100_000
LENGTHS = (0, 100, 10_000)


def timed(work: Callable[[], Any]) -> float:
    """Seconds of one execution."""
    gc.collect()
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def best(rows: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The best of several rounds for each, interleaved so that all meet the same machine."""
    found = dict.fromkeys(rows, float("inf"))
    for _ in range(rounds):
        for name, work in rows.items():
            found[name] = min(found[name], timed(work))
    return found


def run(*command: str | Path) -> None:
    """Start a program; exit 1 means findings."""
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False)
    if done.returncode not in (0, 1) or done.stderr:
        raise SystemExit(done.stderr.decode())


def load_all(folder: Path) -> None:
    """`json.loads` of every line."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            json.loads(line)


def check_all(folder: Path) -> None:
    """Every file read and judged in this process."""
    from refetch import api
    from refetch.readers import read_path

    for path in sorted(folder.glob("*.jsonl")):
        for trace in read_path(path):
            api.check(trace)


def compare_checks(megabytes: int, rounds: int) -> None:
    """The table of the end-to-end comparison."""
    folder = corpus.build(corpus.default_folder(megabytes), megabytes)
    size = sum(path.stat().st_size for path in folder.glob("*.jsonl")) / 1e6
    refetch = [sys.executable, "-m", "refetch", "check"]
    rows: dict[str, Callable[[], Any]] = {
        "refetch check --format json": lambda: run(*refetch, "--format", "json", folder),
        "  without the ledger": lambda: run(*refetch, "--no-ledger", "--format", "json", folder),
        "  as a library": lambda: check_all(folder),
        "json.loads of the same bytes": lambda: load_all(folder),
    }
    if NODE:
        node = NODE
        rows["founding logic in Node"] = lambda: run(node, HERE / "node" / "founding.mjs", folder)
    found = best(rows, rounds)
    base = found.get("founding logic in Node")
    print(f"\n{size:.0f} MB in {len(list(folder.glob('*.jsonl')))} files, best of {rounds}\n")
    print(f"{'end to end':32}{'seconds':>10}{'MB/s':>9}{'vs Node':>10}")
    for name, seconds in found.items():
        ratio = f"{base / seconds:9.2f}x" if base else f"{'-':>10}"
        print(f"{name:32}{seconds:10.3f}{size / seconds:9.0f}{ratio}")


def tracer_costs(rounds: int) -> dict[int, dict[str, float]]:
    """Microseconds of a call, by the length of its result and by how it is recorded."""
    from refetch.record import Tool, ToolTracer

    found: dict[int, dict[str, float]] = {}
    args = {"path": "config.json", "limit": 5}
    for length in LENGTHS:
        text = "x" * length

        def tool(args: dict[str, Any], text: str = text) -> str:
            return text

        def loop(call: Callable[[dict[str, Any]], Any]) -> None:
            for _ in range(CALLS):
                call(args)

        def recorded(
            resource: Any, *, read: bool = False, tool: Callable[..., str] = tool
        ) -> Callable[[], None]:
            def work() -> None:
                tracer = ToolTracer()
                wrapped = tracer.wrap_registry({"read_file": Tool(tool, False, resource)})
                tracer.next_turn()
                loop(wrapped["read_file"])
                if read:
                    tracer.trace()

            return work

        rows: dict[str, Callable[[], Any]] = {
            "plain": functools.partial(loop, tool),
            "traced": recorded("file:{path}"),
            "traced, resource computed": recorded(lambda args: f"file:{args['path']}"),
            "traced, hashed and read out": recorded("file:{path}", read=True),
        }
        times = best(rows, rounds)
        found[length] = {name: seconds / CALLS * 1e6 for name, seconds in times.items()}
    return found


def compare_tracers(rounds: int) -> None:
    """The table of the tracers."""
    ours = tracer_costs(rounds)
    node: dict[str, dict[str, float]] = {}
    if NODE:
        command = [NODE, str(HERE / "node" / "tracer.mjs"), str(CALLS), str(rounds)]
        node = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    names = [name for name in ours[LENGTHS[0]] if name != "plain"]
    print(f"\n{'added to a call, in us':34}" + "".join(f"{f'{n} characters':>18}" for n in LENGTHS))
    for name in names:
        cells = [ours[n][name] - ours[n]["plain"] for n in LENGTHS]
        print(f"{name:34}" + "".join(f"{cell:18.2f}" for cell in cells))
    if not node:
        print("Node is not on this machine: no comparison")
        return
    for name, label in (("traced", "Node, not hashed"), ("hashed", "Node, hashed (sha256)")):
        cells = [node[str(n)][name] - node[str(n)]["plain"] for n in LENGTHS]
        print(f"{label:34}" + "".join(f"{cell:18.2f}" for cell in cells))
    ratios = [
        (ours[n]["traced"] - ours[n]["plain"]) / (node[str(n)]["hashed"] - node[str(n)]["plain"])
        for n in LENGTHS
    ]
    print(f"{'traced / Node, hashed':34}" + "".join(f"{ratio:17.2f}x" for ratio in ratios))


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("check", "tracer"))
    options = parser.parse_args()
    if options.only != "tracer":
        compare_checks(options.megabytes, options.rounds)
    if options.only != "check":
        compare_tracers(options.rounds)


if __name__ == "__main__":
    main()
