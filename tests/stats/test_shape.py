import numpy as np
import pytest

from fsbench_kit.stats import bimodal


def test_bimodal() -> None:
    one = [100, 101, 102, 103, 104, 105]
    two = [100, 101, 102, 153, 155, 156]
    outlier = [100, 101, 102, 103, 104, 155]
    assert bimodal([one, two, outlier]).tolist() == [False, True, True]


def test_equal_values_have_one_mode() -> None:
    assert bimodal([[0.1] * 5, [0.1, 0.1, 0.1, 0.2, 0.2]]).tolist() == [False, True]


WIDE = {3: 46.0, 4: 11.8, 5: 7.2, 6: 5.4, 7: 4.5, 8: 3.9, 9: 3.5, 10: 3.1, 11: 3.0, 30: 3.0}
"""By how many pooled standard deviations runs lie apart in two modes; few runs, by what chance exceeds in 5 %."""


@pytest.mark.parametrize("n", WIDE)
def test_one_mode_is_rarely_taken_for_two(n: int) -> None:
    flagged = bimodal(np.random.default_rng(n).lognormal(3, 0.1, (4000, n))).mean()
    assert flagged <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)
    if n <= 10:  # calibrated, not only careful
        assert flagged >= 0.05 - 3 * np.sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize(("n", "times"), WIDE.items())
def test_a_gap_is_wide_from_a_multiple_of_the_spread_on(n: int, times: float) -> None:
    mode = np.linspace(0, 1, n - 1)
    spread = np.sqrt(
        np.square(mode - 0.5).sum() / (n - 2)
    )  # about two means: a run alone has no distance from its own
    gaps = spread * times * np.array([0.99, 1.01])
    assert bimodal(np.exp([[*mode, 1 + gap] for gap in gaps])).tolist() == [False, True]


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        bimodal([1.0, 2.0])
