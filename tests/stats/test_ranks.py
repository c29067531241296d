from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from fsbench_kit.stats import few_alternations_p, mann_whitney_p, signed_rank_p
from fsbench_kit.stats.ranks import EXACT_UP_TO, mann_whitney_null

# golang.org/x/perf, cmd/benchstat/testdata/{old,new}.txt: ns/op.
JSON_OLD = [1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774]
JSON_NEW = [1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425]
GOB_OLD = [3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062]
GOB_NEW = [3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062]


def test_benchstat() -> None:
    assert mann_whitney_p(GOB_OLD, GOB_NEW) == pytest.approx(0.44610, abs=5e-6)
    assert mann_whitney_p(JSON_OLD, JSON_NEW) == pytest.approx(1.0825e-05, rel=1e-4)


@pytest.mark.parametrize(
    ("n", "least"),
    [
        (1, 1),
        (2, 0.3333333),
        (3, 0.1),
        (4, 0.02857143),
        (5, 0.00793651),
        (6, 0.0021645),
        (7, 0.00058275),
        (8, 0.0001554),
        (9, 4.1135e-05),
    ],
)
def test_least_p_of_go_moremath(n: int, least: float) -> None:
    assert mann_whitney_p(np.arange(1, n + 1), np.arange(1, n + 1) + n) == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([-1] * 3, [1] * 3, 0.1),
        ([-1] * 4, [1] * 4, 0.02857142857),
        ([1, -1, -1, -1], [-1, 1, 1, 1], 0.4857142857),
        # go-moremath's own test wants 0 here. 6 of the 126 ways to deal have all three large values on side A,
        # none is as far off the other way: the tail is 0.0476, and twice it is the p value, as scipy has it.
        ([2, 1, 3, 5], [1, 1, 1, 1, 1], 2 * 6 / 126),
    ],
)
def test_ties(a: list[int], b: list[int], p: float) -> None:
    assert mann_whitney_p(np.exp(a), np.exp(b)) == pytest.approx(p, abs=1e-10)


small = st.lists(st.integers(1, 4), min_size=1, max_size=5)


@given(small, small)
def test_mann_whitney_counts_all_ways_to_deal(a: list[int], b: list[int]) -> None:
    everything = np.array(a + b)

    def statistic(in_b: tuple[int, ...]) -> float:
        rest = np.delete(everything, in_b)[:, None]
        return float((everything[list(in_b)] > rest).sum() + 0.5 * (everything[list(in_b)] == rest).sum())

    ways = np.array([statistic(chosen) for chosen in combinations(range(len(everything)), len(b))])
    observed = statistic(tuple(range(len(a), len(everything))))
    expected = min(1.0, 2 * min((ways <= observed).mean(), (ways >= observed).mean()))
    assert mann_whitney_p(a, b) == pytest.approx(expected)


def test_mann_whitney_agrees_with_scipy_without_ties() -> None:
    a, b = np.random.default_rng(5).lognormal(0, 1, (2, 20, 15))
    expected = scipy_stats.mannwhitneyu(b, a, axis=1, method="exact").pvalue
    np.testing.assert_allclose(mann_whitney_p(a, b), expected, rtol=1e-9)


def test_mann_whitney_agrees_with_scipy_on_ties() -> None:
    a, b = [1, 2, 2, 3, 3], [2, 3, 3, 4, 5, 5]
    expected = scipy_stats.mannwhitneyu(b, a, method=scipy_stats.PermutationMethod(n_resamples=10_000)).pvalue
    assert mann_whitney_p(a, b) == pytest.approx(expected)


def test_the_normal_limit_carries_on_where_the_exact_distribution_ends() -> None:
    groups = (3,) * 33 + (1,)
    assert sum(groups) == EXACT_UP_TO
    exact, limit = mann_whitney_null(50, groups), mann_whitney_null(50, (*groups, 1))
    at_5_percent = [np.searchsorted(np.cumsum(null), 0.025) / null.size for null in (exact, limit)]
    assert at_5_percent[0] == pytest.approx(at_5_percent[1], abs=0.002)
    assert limit.sum() == pytest.approx(1)


def test_mann_whitney_of_many_runs_agrees_with_scipy() -> None:
    a, b = np.random.default_rng(6).integers(1, 50, (2, 3, 80))
    expected = scipy_stats.mannwhitneyu(b, a, axis=1, method="asymptotic").pvalue
    np.testing.assert_allclose(mann_whitney_p(a, b), expected, rtol=0.01)


@pytest.mark.parametrize(("digits", "pairs"), [(1, EXACT_UP_TO + 60), (6, EXACT_UP_TO + 60), (6, 3000)])
def test_signed_rank_of_many_pairs_agrees_with_scipy(digits: int, pairs: int) -> None:
    logs = np.round(np.random.default_rng(8).normal(0.1, 1, (4, pairs)), digits)
    logs[logs == 0] = 0.1
    expected = scipy_stats.wilcoxon(logs, axis=1, method="asymptotic", correction=True).pvalue
    np.testing.assert_allclose(signed_rank_p(np.ones_like(logs), np.exp(logs)), expected, rtol=0.02, atol=1e-9)


@given(st.lists(st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4])), min_size=1, max_size=8))
def test_signed_rank_counts_all_signs(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    exponents = np.log2(b / a)
    ranks = np.where(exponents == 0, 0, scipy_stats.rankdata(np.abs(exponents)))
    ways = np.array([(ranks * signs).sum() for signs in product([0, 1], repeat=len(ranks))])
    observed = ranks[exponents > 0].sum()
    expected = min(1.0, 2 * min((ways <= observed).mean(), (ways >= observed).mean()))
    assert signed_rank_p(a, b) == pytest.approx(expected)


def test_signed_rank_agrees_with_scipy() -> None:
    a, b = np.random.default_rng(7).lognormal(0, 1, (2, 20, 12))
    expected = scipy_stats.wilcoxon(np.log(b) - np.log(a), axis=1, method="exact").pvalue
    np.testing.assert_allclose(signed_rank_p(a, b), expected, rtol=1e-9)


def test_ratios_that_differ_by_floating_point_alone_are_tied() -> None:
    a = np.array([0.1, 0.3, 0.7, 1.1])
    assert signed_rank_p(a, 3 * a) == signed_rank_p([1, 1, 1, 1], [3, 3, 3, 3]) == 2 / 16


def test_each_cell_has_its_own_ties() -> None:
    a = np.array([[1, 2, 3, 4], [1, 1, 2, 2], [1, 2, 3, 4]])
    b = np.array([[5, 6, 7, 8], [2, 2, 3, 3], [4, 3, 6, 7]])
    assert mann_whitney_p(a, b).tolist() == [mann_whitney_p(x, y) for x, y in zip(a, b, strict=True)]


def test_alternations_are_counted_over_all_orders() -> None:
    for n_a, n_b in ((1, 1), (2, 2), (3, 2), (4, 4), (1, 5)):
        counts = []
        for places in combinations(range(n_a + n_b), n_a):
            order = [place in places for place in range(n_a + n_b)]
            counts.append(1 + sum(x != y for x, y in pairwise(order)))
        for alternations in range(2, n_a + n_b + 1):
            share = np.mean([count <= alternations for count in counts])
            assert few_alternations_p(n_a, n_b, alternations) == pytest.approx(share)


def test_alternations_of_a_table() -> None:
    # Swed and Eisenhart (1943): with 10 and 10, six stretches or fewer have 1.9 %
    assert few_alternations_p(10, 10, 6) == pytest.approx(0.019, abs=5e-4)


def test_many_alternations_have_their_normal_limit() -> None:
    exact = few_alternations_p(50, 50, 40)
    assert few_alternations_p(51, 50, 40) == pytest.approx(exact, rel=0.2)
    order = np.random.default_rng(1).permuted(np.tile(np.arange(200) % 2, (20_000, 1)), axis=1)
    counts = 1 + (np.diff(order, axis=1) != 0).sum(axis=1)
    assert few_alternations_p(100, 100, 90) == pytest.approx((counts <= 90).mean(), abs=0.01)
