import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbench_kit.stats import (
    LogRatio,
    RatioEstimate,
    equivalence_p,
    equivalent,
    hodges_lehmann_log,
    paired_log,
    welch_log,
)


def p_of(estimate: RatioEstimate, margin: float) -> np.ndarray:
    ratio = LogRatio(np.log(estimate.estimate), estimate.standard_error, estimate.df)
    return equivalence_p(ratio, np.log(margin))


runs = st.lists(st.integers(950, 1050), min_size=4, max_size=4)


@given(runs, runs, st.sampled_from([1.01, 1.05, 1.10]))
def test_two_one_sided_tests_are_inclusion_of_the_90_percent_interval(
    a: list[int], b: list[int], margin: float
) -> None:
    for method in (welch_log, paired_log):
        p = p_of(method(a, b), margin)  # at any confidence
        assert equivalent(method(a, b, 0.9), margin) == (p <= 0.05)


@given(runs, runs)
def test_the_margin_reads_the_same_both_ways(a: list[int], b: list[int]) -> None:
    assert equivalent(welch_log(a, b, 0.9), 1.03) == equivalent(welch_log(b, a, 0.9), 1.03)


def test_tost_agrees_with_two_shifted_t_tests() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.lognormal(0, 0.03, (2, 20, 5))
    below, above = welch_log(a * 1.05, b), welch_log(a / 1.05, b)
    one_sided = [
        np.where(below.estimate < 1, below.p / 2, 1 - below.p / 2),
        np.where(above.estimate > 1, above.p / 2, 1 - above.p / 2),
    ]
    np.testing.assert_allclose(p_of(welch_log(a, b), 1.05), np.maximum(*one_sided), rtol=1e-9)


def test_by_hand() -> None:
    tight, loose = [100.0, 100.1, 99.9], [100.0, 130.0, 70.0]
    assert equivalent(welch_log([tight, loose], [tight, tight], 0.9), 1.05).tolist() == [True, False]


def test_without_an_interval_nothing_is_equivalent() -> None:
    estimate = welch_log([5.0, 5.0], [5.0, 5.0], 0.9)
    assert not equivalent(estimate, 1.05)
    assert np.isnan(p_of(estimate, 1.05))


def test_ranks_have_an_interval_too() -> None:
    estimate = hodges_lehmann_log([100, 101, 102, 103], [100, 101, 102, 103], 0.9)
    assert equivalent(estimate, 1.05)


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"write 1\.05 for 5 %"):
        equivalent(welch_log([1.0, 2.0], [1.0, 2.0], 0.9), 0.05)
    with pytest.raises(ValueError, match="an interval of 89 % does not show equivalence"):
        equivalent(welch_log([1.0, 2.0], [1.0, 2.0], 0.89), 1.05)
