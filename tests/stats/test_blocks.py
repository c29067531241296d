import numpy as np
import pytest
from scipy import stats as scipy_stats

from fsbench_kit.stats import Caveat, blocked_log, paired_log


def test_one_run_a_side_is_the_paired_t() -> None:
    a, b = np.random.default_rng(1).lognormal(0, 0.1, (2, 20, 5))
    blocked, paired = blocked_log(a[..., None], b[..., None]), paired_log(a, b)
    for field in ("estimate", "low", "high", "p", "df"):
        np.testing.assert_allclose(getattr(blocked, field), getattr(paired, field))


def test_each_block_counts_once() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.lognormal(0, 0.1, (4, 3)), rng.lognormal(0.2, 0.1, (4, 6))
    ratios = np.log(b).mean(axis=1) - np.log(a).mean(axis=1)
    expected = scipy_stats.ttest_1samp(ratios, 0)
    estimate = blocked_log(a, b)
    assert np.log(estimate.estimate) == pytest.approx(ratios.mean())
    assert estimate.p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert np.log([estimate.low, estimate.high]) == pytest.approx([interval.low, interval.high])
    assert (estimate.n_a, estimate.n_b, estimate.n_pairs) == (12, 24, 4)


def test_a_block_of_one_side_is_left_out() -> None:
    a = np.array([[1.0, 1.1], [2.0, 2.1], [3.0, 3.3], [4.0, 4.1]])
    b = np.ma.masked_equal([[2.0, 2.3], [4.1, 0.0], [6.1, 6.6], [0.0, 0.0]], 0)
    estimate = blocked_log(a, b)
    assert (estimate.n_a, estimate.n_b, estimate.n_pairs) == (6, 5, 3)
    by_hand = blocked_log(a[[0, 2]], b.data[[0, 2]])
    assert by_hand.n_pairs == 2
    assert Caveat.TWO_BLOCKS in by_hand.caveats
    second = np.log(4.1) - np.log([2.0, 2.1]).mean()
    assert np.log(estimate.estimate) == pytest.approx((2 * np.log(by_hand.estimate) + second) / 3)


def test_blocks_are_needed() -> None:
    with pytest.raises(ValueError, match="at least 2 blocks"):
        blocked_log([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="3 blocks cannot be paired with 2"):
        blocked_log(np.ones((3, 2)), np.ones((2, 2)))
