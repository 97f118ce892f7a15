"""Two shares: Boschloo's exact test, and Newcombe's interval of their difference."""

from __future__ import annotations

from functools import lru_cache
from math import comb, sqrt
from typing import NamedTuple

from refetch.model.errors import MissingExtraError
from refetch.stats.rank_sum import Tested, numpy

Z95 = 1.959963984540054


class Difference(NamedTuple):
    """How much larger the second share is, with an interval."""

    estimate: float
    low: float
    high: float


@lru_cache(maxsize=4096)
def boschloo(hits_before: int, runs_before: int, hits_after: int, runs_after: int) -> Tested:
    """Whether the share after is larger (one-sided), and different (two-sided).

    Source: Boschloo (1970), as scipy computes it. More powerful than Fisher's test, and exact as
    well, since it does not hold both margins fixed.
    """
    try:
        from scipy.stats import boschloo_exact
    except ImportError:
        raise MissingExtraError("comparing runs", "stats") from None
    table = [
        [hits_after, hits_before],
        [runs_after - hits_after, runs_before - hits_before],
    ]
    if hits_before + hits_after in (0, runs_before + runs_after):
        return Tested(1.0, 1.0)
    greater = float(boschloo_exact(table, alternative="greater").pvalue)
    both = float(boschloo_exact(table, alternative="two-sided").pvalue)
    return Tested(min(1.0, greater), min(1.0, both))


def wilson(hits: int, runs: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval of one share (1927)."""
    share = hits / runs
    centre = share + z * z / (2 * runs)
    spread = z * sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    scale = 1 + z * z / runs
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def newcombe(
    hits_before: int, runs_before: int, hits_after: int, runs_after: int, z: float = Z95
) -> Difference:
    """The difference of two shares with Newcombe's hybrid score interval (1998, method 10)."""
    before, after = hits_before / runs_before, hits_after / runs_after
    low_before, high_before = wilson(hits_before, runs_before, z)
    low_after, high_after = wilson(hits_after, runs_after, z)
    estimate = after - before
    low = estimate - sqrt((after - low_after) ** 2 + (high_before - before) ** 2)
    high = estimate + sqrt((high_after - after) ** 2 + (before - low_before) ** 2)
    return Difference(estimate, low, high)


def stratified_exact(strata: list[tuple[int, int, int, int]]) -> Tested:
    """Whether shares are larger after, over several strata: the exact conditional test.

    Given the margins of every stratum the number of hits after is hypergeometric; their sum is
    counted by convolution. Source: the exact form of the test of Mantel and Haenszel (1959).

    Args:
        strata: (hits before, runs before, hits after, runs after) of each.
    """
    np = numpy()
    whole = np.array([1.0])
    observed = 0
    for hits_before, runs_before, hits_after, runs_after in strata:
        hits, runs = hits_before + hits_after, runs_before + runs_after
        low, high = max(0, hits - runs_before), min(hits, runs_after)
        total = comb(runs, hits)
        ways = [
            comb(runs_after, k) * comb(runs_before, hits - k) / total for k in range(low, high + 1)
        ]
        whole = np.convolve(whole, ways)
        observed += hits_after - low
    greater = float(whole[observed:].sum())
    less = float(whole[: observed + 1].sum())
    return Tested(min(1.0, greater), min(1.0, 2 * min(greater, less)))
