"""How often the comparison errs, by simulation: false alarms, and power; beside the peers' rules.

    python benchmarks/error_rates.py [--rounds 400]

A/A: both samples from one distribution (negative binomial and zero-inflated counts, as model calls
are; a share of runs with a stale re-fetch). Power: the second sample's mean is larger by 10, 25 and
50 per cent. Peers: mean + 2 sigma of the baseline, and a fixed 10 per cent.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import mean, stdev
from typing import Any

import numpy as np

from refetch.stats.rank_sum import rank_sum
from refetch.stats.rates import boschloo

SIZES = (5, 10, 20, 50)
ALPHA = 0.05
Draw = Callable[[Any, int, float], Any]


def negative_binomial(random: Any, runs: int, scale: float) -> Any:
    """Overdispersed counts with mean 8 * scale: variance three times the mean."""
    return 1 + random.negative_binomial(3.5 * scale, 1 / 3, runs)


def zero_inflated(random: Any, runs: int, scale: float) -> Any:
    """Half of the runs make no call beyond the least, the others many."""
    return 2 + (random.random(runs) < 0.5) * random.poisson(6 * scale, runs)


def gate(before: Any, after: Any, stale: tuple[int, int]) -> bool:
    """The default gate: two metrics, each at alpha."""
    runs = len(before)
    return (
        rank_sum(list(before), list(after)).greater <= ALPHA
        or boschloo(stale[0], runs, stale[1], runs).greater <= ALPHA
    )


def peers(before: Any, after: Any) -> tuple[bool, bool]:
    """mean + 2 sigma, and 10 per cent."""
    one, other = mean(map(float, before)), mean(map(float, after))
    return other > one + 2 * stdev(map(float, before)), other > 1.1 * one


def simulate(draw: Draw, runs: int, scale: float, rounds: int, seed: int) -> tuple[float, ...]:
    """The shares of rounds in which each rule says "regressed"."""
    random = np.random.default_rng(seed)
    hits = [0, 0, 0]
    for _ in range(rounds):
        before, after = draw(random, runs, 1.0), draw(random, runs, scale)
        stale = tuple(int(random.binomial(runs, 0.15)) for _ in range(2))
        hits[0] += gate(before, after, (stale[0], stale[1]))
        for place, alarm in enumerate(peers(before, after), 1):
            hits[place] += alarm
    return tuple(count / rounds for count in hits)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    options = parser.parse_args()
    draws: tuple[tuple[str, Draw], ...] = (
        ("negative binomial", negative_binomial),
        ("zero-inflated", zero_inflated),
    )
    print(f"share of comparisons that say regressed; at most {2 * ALPHA:.2f} of unchanged agents\n")
    print(f"{'counts':20}{'runs':>6}{'rise':>7}{'refetch':>10}{'mean+2s':>10}{'10 %':>8}")
    for name, draw in draws:
        for scale in (1.0, 1.1, 1.25, 1.5):
            for runs in SIZES:
                found = simulate(draw, runs, scale, options.rounds, seed=runs)
                cells = f"{found[0]:10.3f}{found[1]:10.3f}{found[2]:8.3f}"
                print(f"{name:20}{runs:6}{scale - 1:7.0%}{cells}")


if __name__ == "__main__":
    main()
