import tracemalloc
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats as scipy_stats
from hypothesis import example, given
from hypothesis import strategies as st

from fsbench_kit.stats import (
    Caveat,
    RatioEstimate,
    hodges_lehmann_log,
    mann_whitney_p,
    signed_rank_log,
    signed_rank_p,
)


def test_confidence_that_ranks_allow() -> None:
    four = [1.0, 2.0, 3.0, 4.0]
    six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert hodges_lehmann_log(four, four).confidence == pytest.approx(1 - 2 / 70)  # 70 ways to deal 4 and 4
    # One way gives 0, one gives 1, two give 2: 4/70 in both tails together is within 10 %, 8/70 is not.
    assert hodges_lehmann_log(four, four, 0.9).confidence == pytest.approx(1 - 4 / 70)
    assert signed_rank_log(six, six).confidence == pytest.approx(1 - 2 / 64)


def test_hodges_lehmann_by_hand() -> None:
    # The ratios are 1, 2, ..., 1024 / 8: powers of two with exponents 4..10 less 0..3.
    estimate = hodges_lehmann_log([1, 2, 4, 8], [16, 64, 256, 1024])
    exponents = sorted(i - j for i in (4, 6, 8, 10) for j in (0, 1, 2, 3))
    assert np.log2(estimate.estimate) == pytest.approx((exponents[7] + exponents[8]) / 2)
    assert np.log2([estimate.low, estimate.high]) == pytest.approx([1, 10])
    narrower = hodges_lehmann_log([1, 2, 4, 8], [16, 64, 256, 1024], 0.9)
    assert np.log2([narrower.low, narrower.high]) == pytest.approx([exponents[1], exponents[-2]])


def test_signed_rank_by_hand() -> None:
    # Exponents of the ratios 0, 1, 2, 3, 4, 11; of the 21 Walsh averages 5/2 is the middle one.
    estimate = signed_rank_log([1] * 6, [1, 2, 4, 8, 16, 2048])
    assert np.log2([estimate.estimate, estimate.low, estimate.high]) == pytest.approx([2.5, 0, 11])


def test_one_odd_run_does_not_move_the_estimate() -> None:
    a, b = [100, 101, 102, 103, 104.0], [200, 202, 204, 206, 208.0]
    spoilt = [*b[:4], 20.0]
    assert hodges_lehmann_log(a, spoilt).estimate == pytest.approx(2, rel=0.02)


def check_error(found: RatioEstimate, p: np.ndarray, *, ties: bool) -> None:
    """Hold an interval, for all ways in which chance deals the values, to its confidence, and to its test."""
    excludes = (found.high < 1 - 1e-12) | (found.low > 1 + 1e-12)
    error = 1 - np.max(found.confidence) + 1e-12
    assert excludes.mean() <= error
    if not ties:
        assert (excludes == (p <= error)).all()


runs = st.lists(st.integers(100, 140), min_size=4, max_size=7)


@given(runs, runs, st.sampled_from([0.9, 0.95]))
@example([100, 101, 101, 102, 102, 104, 104], [103, 103, 103, 105, 107], 0.9)  # p 0.081, error 0.073
@example([100, 101, 103, 106, 110], [115, 121, 128, 136, 139], 0.95)
def test_the_interval_excludes_1_no_more_often_than_it_says(a: list[int], b: list[int], confidence: float) -> None:
    values = np.array(a + b)
    ways = np.array(list(combinations(range(values.size), len(b))))
    rest = np.array([np.delete(values, way) for way in ways])
    found = hodges_lehmann_log(rest, values[ways], confidence)
    check_error(found, mann_whitney_p(rest, values[ways]), ties=np.unique(values).size < values.size)


@given(st.lists(st.tuples(st.integers(100, 140), st.integers(100, 140)), min_size=6, max_size=9))
@example([(100, 101)] * 4 + [(102, 101)] + [(111, 112)] * 4)  # p 0.047, error 0.039
@example([(100, 101), (100, 103), (106, 100), (100, 110), (100, 115), (121, 100)])
def test_the_paired_interval_excludes_1_no_more_often_than_it_says(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    swapped = np.array(list(product([False, True], repeat=len(pairs))))
    sides = np.where(swapped, b, a), np.where(swapped, a, b)
    sizes = {Fraction(max(pair), min(pair)) for pair in pairs}
    check_error(signed_rank_log(*sides), signed_rank_p(*sides), ties=len(sizes - {1}) < len(pairs))


def test_equal_values_are_labelled() -> None:
    spread, still = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2.0] * 6
    assert hodges_lehmann_log([spread, spread], [spread, still]).caveats[Caveat.NO_SPREAD].tolist() == [
        False,
        True,
    ]
    assert signed_rank_log([spread, still], [spread, spread]).caveats[Caveat.NO_SPREAD].tolist() == [True, False]
    assert not hodges_lehmann_log(spread, spread).caveats


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="b has 3 runs; this method needs at least 4"):
        hodges_lehmann_log([1.0] * 4, [1.0] * 3)
    with pytest.raises(ValueError, match="a has 5 runs; this method needs at least 6"):
        signed_rank_log([1.0] * 5, [1.0] * 5)


def test_a_level_out_of_reach_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no interval of 99\.000 %; the widest has 97\.143 %"):
        hodges_lehmann_log([1.0] * 4, [1.0] * 4, 0.99)


@pytest.mark.parametrize("runs", [60, 700])
def test_intervals_of_many_runs_are_what_the_tests_leave(runs: int) -> None:
    a, b = np.random.default_rng(runs).lognormal(0, 0.05, (2, runs))

    def of_two_samples(ratio: float) -> float:
        return float(scipy_stats.mannwhitneyu(b / ratio, a, method="asymptotic").pvalue)

    def of_pairs(ratio: float) -> float:
        return float(scipy_stats.wilcoxon(np.log(b / ratio / a), method="asymptotic", correction=True).pvalue)

    for found, p in ((hodges_lehmann_log(a, b), of_two_samples), (signed_rank_log(a, b), of_pairs)):
        assert found.confidence == pytest.approx(0.95, abs=0.002)
        for inside, outside in (
            (found.low * 1.0005, found.low / 1.0005),
            (found.high / 1.0005, found.high * 1.0005),
        ):
            assert p(float(outside)) < 0.05 < p(float(inside))
        assert p(float(found.estimate)) > 0.9


def test_thousands_of_runs_take_little_memory() -> None:
    a, b = np.random.default_rng(1).lognormal(0, 0.05, (2, 3000))
    tracemalloc.start()
    try:
        found = [hodges_lehmann_log(a, b), signed_rank_log(a, b)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5e6  # nine million ratios would be 72 MB
    assert all(0.99 < estimate.low < 1 < estimate.high < 1.01 for estimate in found)
