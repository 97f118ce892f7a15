"""How long a large comparison takes: 100 tasks, 20 runs each side, 12 metrics of every run.

python benchmarks/comparing.py [--tasks 100] [--runs 20]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from refetch.runs import baseline
from refetch.runs.compare import GATED, compare
from refetch.runs.store import Run, Runs

COUNTS = (
    "model_calls", "redundant_calls", "turns", "failed_calls", "retries", "carried_tokens",
    "tokens", "duration", "redundancy_rate",
)  # fmt: skip
SHARES = ("stale_refetch", "exact_duplicate", "success")


def runs_of(tasks: int, runs: int, seed: int) -> list[Run]:
    """Runs with ties, as counts have them, and with long tails."""
    draw = random.Random(seed)
    return [
        Run(
            f"task-{task:03d}",
            f"task-{task:03d}/run-{number:03d}",
            {name: float(int(draw.gammavariate(3, 3))) for name in COUNTS}
            | {name: float(draw.random() < 0.2) for name in SHARES if name != "exact_duplicate"}
            | {"exact_duplicate": 0.0},
            "m",
        )
        for task in range(tasks)
        for number in range(runs)
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        baseline.record("main", Runs(runs_of(options.tasks, options.runs, 1)), root=root)
        baselines = baseline.read_all("main", root=root)
    after = Runs(runs_of(options.tasks, options.runs, 2)).by_task()
    for gated in (GATED, (*COUNTS, *SHARES)):
        started = time.perf_counter()
        found = compare(baselines, after, gated=gated, family=True)
        seconds = time.perf_counter() - started
        print(f"{len(gated)} metrics gated: {len(found.metrics)} comparisons in {seconds:.2f} s")


if __name__ == "__main__":
    main()
