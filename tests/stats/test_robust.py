import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbench_kit.stats import Caveat, hodges_lehmann_log, mann_whitney_p, signed_rank_log, signed_rank_p


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


runs = st.lists(st.integers(100, 140), min_size=4, max_size=7)


@given(runs, runs, st.sampled_from([0.9, 0.95]))
def test_the_interval_excludes_1_only_where_the_test_rejects(
    a: list[int], b: list[int], confidence: float
) -> None:
    estimate = hodges_lehmann_log(a, b, confidence)
    if estimate.high < 1 - 1e-12 or estimate.low > 1 + 1e-12:
        assert mann_whitney_p(a, b) <= 1 - estimate.confidence + 1e-12


@given(st.lists(st.tuples(st.integers(100, 140), st.integers(100, 140)), min_size=6, max_size=9))
def test_the_paired_interval_excludes_1_only_where_the_test_rejects(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    estimate = signed_rank_log(a, b)
    if estimate.high < 1 - 1e-12 or estimate.low > 1 + 1e-12:
        assert signed_rank_p(a, b) <= 1 - estimate.confidence + 1e-12


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
    with pytest.raises(ValueError, match=r"no interval of 99\.000%; the widest has 97\.143%"):
        hodges_lehmann_log([1.0] * 4, [1.0] * 4, 0.99)
