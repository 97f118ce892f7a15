"""The rank sum of two samples: its exact permutation distribution, with ties, by strata.

Source: Wilcoxon (1945), Mann and Whitney (1947); strata after van Elteren (1960). The distribution
of the sum of mid-ranks over all divisions of the pooled sample is counted by dynamic programming
(Streitberg and Röhmel's shift algorithm), so that ties need no correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import erfc, gcd, sqrt
from typing import Any, NamedTuple

from refetch.model.errors import MissingExtraError

Sample = Sequence[float]
LARGEST_SUPPORT = 200_000
"""Distinct values of a stratified statistic up to which it is counted exactly."""


def numpy() -> Any:
    """The module, or an error that names the extra."""
    try:
        import numpy as module
    except ImportError:
        raise MissingExtraError("comparing runs", "stats") from None
    return module


class Tested(NamedTuple):
    """One-sided p-value that the second sample is larger, two-sided one, and whether both are
    exact.
    """

    greater: float
    two_sided: float
    exact: bool = True


def mid_ranks(pooled: Sample) -> list[int]:
    """Twice the rank of each value (ties share the mean of theirs), so that ranks are whole."""
    order = sorted(range(len(pooled)), key=lambda i: pooled[i])
    doubled = [0] * len(pooled)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and pooled[order[end]] == pooled[order[start]]:
            end += 1
        for place in order[start:end]:
            doubled[place] = start + end + 1
        start = end
    return doubled


@lru_cache(maxsize=2000)
def _distribution(ranks: tuple[int, ...], chosen: int) -> Any:
    """Probability of each sum of `chosen` of these ranks (index: the sum), all choices alike."""
    np = numpy()
    total = sum(sorted(ranks)[-chosen:]) if chosen else 0
    counts = np.zeros((chosen + 1, total + 1))
    counts[0, 0] = 1.0
    for seen, rank in enumerate(ranks, 1):
        for size in range(min(seen, chosen), 0, -1):
            if rank <= total:
                counts[size, rank:] += counts[size - 1, : total + 1 - rank]
        counts /= 2.0  # keeps the numbers small; the scale falls out below
    return counts[chosen] / counts[chosen].sum()


def rank_sum(before: Sample, after: Sample) -> Tested:
    """Whether values of `after` tend to be larger than those of `before`."""
    return stratified_rank_sum([(before, after)])


def stratified_rank_sum(strata: Sequence[tuple[Sample, Sample]]) -> Tested:
    """The same over several strata (tasks): each adds its rank sum, weighted by 1 / (n + 1).

    Exact while the weighted sum has few distinct values, else by its normal approximation.
    """
    np = numpy()
    parts = []
    for before, after in strata:
        ranks = tuple(mid_ranks([*before, *after]))
        observed = sum(ranks[len(before) :])
        parts.append((tuple(sorted(ranks)), len(after), observed, len(before) + len(after) + 1))
    common = 1
    for *_, weight in parts:
        common = common * weight // gcd(common, weight)
    scales = [common // weight for *_, weight in parts]
    width = sum(
        scale * sum(ranks[-chosen:])
        for scale, (ranks, chosen, _, _) in zip(scales, parts, strict=True)
    )
    observed_sum = sum(
        scale * observed for scale, (_, _, observed, _) in zip(scales, parts, strict=True)
    )
    if width <= LARGEST_SUPPORT:
        whole = np.array([1.0])
        for scale, (ranks, chosen, _, _) in zip(scales, parts, strict=True):
            # No sum is less than that of the smallest ranks: those zeros are left out.
            least = sum(ranks[:chosen])
            observed_sum -= scale * least
            whole = np.convolve(whole, _spread(_distribution(ranks, chosen)[least:], scale))
        return _tails(whole, observed_sum)
    return _normal(parts)


def _spread(probabilities: Any, scale: int) -> Any:
    if scale == 1:
        return probabilities
    np = numpy()
    spread = np.zeros((len(probabilities) - 1) * scale + 1)
    spread[::scale] = probabilities
    return spread


def _tails(probabilities: Any, observed: int) -> Tested:
    greater = float(probabilities[observed:].sum())
    less = float(probabilities[: observed + 1].sum())
    return Tested(min(1.0, greater), min(1.0, 2 * min(greater, less)))


def _normal(parts: Sequence[tuple[tuple[int, ...], int, int, int]]) -> Tested:
    shift, variance = 0.0, 0.0
    for ranks, chosen, observed, weight in parts:
        size = len(ranks)
        mean = sum(ranks) / size
        spread = sum((rank - mean) ** 2 for rank in ranks)
        other = size - chosen
        shift += (observed - chosen * mean) / weight
        if size > 1:
            variance += chosen * other * spread / (size * (size - 1)) / weight**2
    if variance == 0:
        return Tested(1.0, 1.0, exact=False)
    z = shift / sqrt(variance)
    greater = erfc(z / sqrt(2)) / 2
    return Tested(greater, erfc(abs(z) / sqrt(2)), exact=False)


class Shift(NamedTuple):
    """The Hodges-Lehmann estimate of how much larger `after` is, with an interval."""

    estimate: float
    low: float
    high: float


def hodges_lehmann(before: Sample, after: Sample, confidence: float = 0.95) -> Shift:
    """The median of all differences, and the interval that inverts the exact rank sum test.

    With ties the interval is conservative. With too few runs for the confidence it spans all
    differences.

    Source: Hodges and Lehmann (1963); Hollander and Wolfe, section 4.3.
    """
    np = numpy()
    differences = np.sort(
        np.subtract.outer(np.asarray(after, float), np.asarray(before, float)).ravel()
    )
    count = len(differences)
    untied = tuple(2 * rank for rank in range(1, len(before) + len(after) + 1))
    probabilities = _distribution(untied, len(after))
    lowest = len(after) * (len(after) + 1)
    # P(U <= k) for the number U of pairs in which `after` is the larger one.
    below = np.cumsum(probabilities[lowest::2])
    cut = int(np.searchsorted(below, (1 - confidence) / 2, side="right"))
    low = differences[max(0, cut - 1)] if cut > 0 else differences[0]
    high = differences[min(count - 1, count - cut)] if cut > 0 else differences[-1]
    return Shift(float(np.median(differences)), float(low), float(high))
