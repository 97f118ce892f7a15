"""The exact rank sum: against scipy, against counting every division, against printed tables."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.stats.families import holm
from refetch.stats.rank_sum import (
    hodges_lehmann,
    mid_ranks,
    rank_sum,
    stratified_rank_sum,
)
from refetch.stats.rates import boschloo, newcombe, stratified_exact, wilson

stats = pytest.importorskip("scipy.stats", reason="needs refetch[stats]")
SMALL = st.lists(st.integers(0, 4), min_size=1, max_size=6)
FLOATS = st.lists(st.floats(-50, 50, allow_nan=False), min_size=2, max_size=9, unique=True)


def counted(before: list[int], after: list[int]) -> float:
    """The share of divisions of the pooled sample with a rank sum at least as large."""
    ranks = mid_ranks([*before, *after])
    observed = sum(ranks[len(before) :])
    sums = [sum(chosen) for chosen in combinations(ranks, len(after))]
    return sum(total >= observed for total in sums) / len(sums)


@given(SMALL, SMALL)
def test_with_ties_it_counts_every_division(before: list[int], after: list[int]) -> None:
    assert rank_sum(before, after).greater == pytest.approx(counted(before, after), abs=1e-12)


@given(FLOATS, FLOATS)
def test_without_ties_it_is_what_scipy_says(before: list[float], after: list[float]) -> None:
    pooled = set(before) | set(after)
    if len(pooled) < len(before) + len(after):
        return
    greater = stats.mannwhitneyu(after, before, alternative="greater", method="exact").pvalue
    both = stats.mannwhitneyu(after, before, method="exact").pvalue
    found = rank_sum(before, after)
    assert found.greater == pytest.approx(greater, abs=1e-12)
    assert found.two_sided == pytest.approx(both, abs=1e-12)


@pytest.mark.parametrize(
    ("sizes", "statistic", "p_value"),
    # P(U >= u) of two samples without ties; the tables of Mann and Whitney (1947) round these.
    [
        ((3, 3), 9, 0.050), ((3, 3), 8, 0.100), ((3, 4), 12, 0.029), ((3, 4), 11, 0.057),
        ((4, 4), 16, 0.014), ((4, 4), 15, 0.029), ((4, 4), 14, 0.057), ((4, 5), 18, 0.032),
        ((5, 5), 23, 0.016), ((5, 5), 21, 0.048), ((5, 6), 25, 0.041), ((6, 6), 29, 0.047),
        ((6, 6), 31, 0.021), ((6, 7), 34, 0.037), ((7, 7), 38, 0.049), ((7, 7), 41, 0.019),
        ((7, 8), 43, 0.047), ((8, 8), 49, 0.041), ((8, 8), 51, 0.025), ((3, 5), 14, 0.036),
    ],
)  # fmt: skip
def test_published_tables(sizes: tuple[int, int], statistic: int, p_value: float) -> None:
    before, after = _samples(*sizes, statistic)
    assert rank_sum(before, after).greater == pytest.approx(p_value, abs=6e-4)


def _samples(before: int, after: int, statistic: int) -> tuple[list[float], list[float]]:
    """Samples without ties in which `statistic` pairs have the larger value after."""
    larger = [statistic // after + (place < statistic % after) for place in range(after)]
    values = sorted(larger)
    return (
        [float(place) for place in range(1, before + 1)],
        [count + 0.5 + index / 100 for index, count in enumerate(values)],
    )


@given(SMALL, SMALL, st.randoms())
def test_the_order_of_runs_never_matters(
    before: list[int], after: list[int], chance: object
) -> None:
    turned = sorted(before, reverse=True), sorted(after)
    assert rank_sum(before, after) == rank_sum(*turned)


@given(SMALL, SMALL)
def test_swapping_the_samples_mirrors_the_result(before: list[int], after: list[int]) -> None:
    one, other = rank_sum(before, after), rank_sum(after, before)
    assert one.two_sided == pytest.approx(other.two_sided)
    shift, back = hodges_lehmann(before, after), hodges_lehmann(after, before)
    assert shift.estimate == pytest.approx(-back.estimate)
    assert (shift.low, shift.high) == pytest.approx((-back.high, -back.low))


@given(SMALL, SMALL, st.integers(-9, 9))
def test_adding_a_constant_shifts_the_estimate(
    before: list[int], after: list[int], by: int
) -> None:
    moved = hodges_lehmann(before, [value + by for value in after])
    plain = hodges_lehmann(before, after)
    assert moved.estimate == pytest.approx(plain.estimate + by)
    assert moved.high == pytest.approx(plain.high + by)


@given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=3))
def test_strata_count_every_division_of_each(strata: list[tuple[list[int], list[int]]]) -> None:
    found = stratified_rank_sum(strata)
    if not found.exact:
        return
    parts = []
    for before, after in strata:
        ranks = mid_ranks([*before, *after])
        weight = len(ranks) + 1
        observed = sum(ranks[len(before) :]) / weight
        parts.append((observed, [sum(c) / weight for c in combinations(ranks, len(after))]))
    sums = [0.0]
    for _, some in parts:
        sums = [total + one for total in sums for one in some]
        if len(sums) > 50_000:
            return
    observed = sum(one for one, _ in parts)
    share = sum(total >= observed - 1e-9 for total in sums) / len(sums)
    assert found.greater == pytest.approx(share, abs=1e-9)


def test_constant_samples_show_nothing() -> None:
    found = rank_sum([4, 4, 4], [4, 4, 4])
    assert (found.greater, found.two_sided) == (1.0, 1.0)
    assert hodges_lehmann([4, 4, 4], [4, 4, 4]) == (0, 0, 0)


# -- shares ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "p_value"),
    [((1, 10, 5, 10), 0.0312), ((0, 10, 10, 10), 0.0), ((5, 10, 5, 10), None)],
)
def test_boschloo(counts: tuple[int, int, int, int], p_value: float | None) -> None:
    a, n, b, m = counts
    direct = stats.boschloo_exact([[b, a], [m - b, n - a]], alternative="greater").pvalue
    assert boschloo(*counts).greater == pytest.approx(direct)
    assert p_value is None or boschloo(*counts).greater == pytest.approx(p_value, abs=1e-3)


def test_no_hits_or_only_hits_show_nothing() -> None:
    assert boschloo(0, 10, 0, 10).greater == 1.0
    assert boschloo(10, 10, 10, 10).greater == 1.0


def test_newcombe_and_wilson_as_published() -> None:
    # Newcombe (1998), table II, method 10: 56/70 against 48/80.
    found = newcombe(48, 80, 56, 70)
    assert (found.estimate, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=1e-4)
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)  # Newcombe's example
    assert newcombe(0, 10, 0, 10)[:1] == (0,)


@given(st.integers(0, 5), st.integers(0, 5))
def test_one_stratum_is_the_test_of_fisher(a: int, b: int) -> None:
    table = [[b, a], [5 - b, 5 - a]]
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    assert stratified_exact([(a, 5, b, 5)]).greater == pytest.approx(expected)


def test_strata_of_shares_by_hand() -> None:
    # Two strata of 0 of 2 against 2 of 2: each 1 of 6 ways, both together 1 of 36.
    assert stratified_exact([(0, 2, 2, 2)] * 2).greater == pytest.approx(1 / comb(4, 2) ** 2)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]
