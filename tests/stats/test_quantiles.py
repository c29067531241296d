import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from fsbench_kit.stats import (
    Caveat,
    quantile_interval,
    quantile_ranks,
    ragged,
    rank_confidence,
)

# golang.org/x/perf, cmd/benchstat/testdata/{old,new}.txt: medians of ten runs, with their intervals.
BENCHSTAT = {
    (1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774): (1718, 1707, 1736),
    (1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425): (1422.5, 1412, 1426),
    (3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062): (3065.5, 3059, 3075),
    (3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062): (3070, 3060, 3135),
}

# Conover, Practical Nonparametric Statistics: life of 16 transistors.
HOURS = [46.9, 47.2, 49.1, 56.5, 56.8, 59.2, 59.9, 63.2, 63.3, 63.4, 63.7, 64.1, 67.1, 67.7, 73.3, 78.5]


@pytest.mark.parametrize("values", BENCHSTAT)
def test_medians_of_benchstat(values: tuple[int, ...]) -> None:
    estimate = quantile_interval(values, 0.5)
    assert (estimate.estimate, estimate.low, estimate.high) == BENCHSTAT[values]
    assert estimate.confidence == pytest.approx(0.97852, abs=5e-6)


@pytest.mark.parametrize(
    ("n", "q", "first", "last", "achieved"),
    [
        (4, 0.5, 2, 3, 0.375),
        (4, 0.25, 1, 2, 0.421875),
        (4, 0.5, 1, 3, 0.625),
        (5, 0.5, 2, 4, 0.625),
        (4, 0.5, 0, 4, 0.9375),
        (6, 0.5, 1, 6, 0.96875),
    ],
)
def test_what_ranks_achieve_as_go_moremath_has_it(
    n: int, q: float, first: int, last: int, achieved: float
) -> None:
    assert rank_confidence(n, q, first, last) == pytest.approx(achieved)


def test_tails_are_equal() -> None:
    # Where go-moremath takes the left one of two values as good as each other, both ends move here.
    assert quantile_ranks(4, 0.5, 0.3750001) == (1, 4)
    assert quantile_ranks(5, 0.5, 0.3125001) == (2, 4)
    assert quantile_ranks(6, 0.5, 0.95) == (1, 6)
    assert quantile_ranks(4, 0.5, 0.875) == (1, 4)  # met exactly


def test_conover() -> None:
    median, upper = quantile_interval(HOURS, 0.5), quantile_interval(HOURS, 0.75)
    assert (median.low, median.high) == (56.5, 67.1)
    assert (upper.low, upper.high) == (63.2, 78.5)


@pytest.mark.parametrize("n", [6, 7, 12, 31])
@pytest.mark.parametrize("q", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_scipy_agrees(n: int, q: float, confidence: float) -> None:
    values = np.random.default_rng(n).normal(size=n)
    estimate = quantile_interval(values, q, confidence)
    expected = scipy_stats.quantile_test(values, q=0, p=q).confidence_interval(confidence)
    ends = [
        -np.inf if np.isnan(expected.low) else expected.low,
        np.inf if np.isnan(expected.high) else expected.high,
    ]
    assert [estimate.low, estimate.high] == ends
    assert (Caveat.OPEN_END in estimate.caveats) == (not np.isfinite(ends).all())
    assert estimate.confidence >= confidence - 1e-12


@pytest.mark.parametrize(("q", "n"), [(0.5, 6), (0.9, 36), (0.95, 72), (0.99, 368), (0.01, 368), (0.999, 3688)])
def test_the_fewest_values(q: float, n: int) -> None:
    first, last = quantile_ranks(n, q)
    assert first >= 1
    assert last <= n
    first, last = quantile_ranks(n - 1, q)
    assert first == 0 or last == n


def test_cells_of_unequal_size() -> None:
    estimate = quantile_interval(ragged([HOURS, HOURS[:6], []]), 0.5)
    assert estimate.low.tolist()[:2] == [56.5, 46.9]
    assert math.isnan(estimate.estimate[2])
    assert estimate.confidence[1] == pytest.approx(0.96875)
    assert estimate.caveats[Caveat.TOO_FEW].tolist() == [False, False, True]


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"write 0\.99 for 99 %"):
        quantile_interval(HOURS, 99)
    with pytest.raises(ValueError, match="values that are not finite"):
        quantile_interval([1.0, np.inf], 0.5)
    with pytest.raises(ValueError, match="not in order"):
        rank_confidence(4, 0.5, 3, 2)
