import numpy as np
import pytest

from fsbench_kit.stats import run_cv, two_modes
from fsbench_kit.stats.shape import WIDE_GAP, WIDER_GAPS


def test_cv_by_hand() -> None:
    assert run_cv([8, 10, 12]) == pytest.approx(0.2)
    assert run_cv([[8, 10, 12], [1, 1, 1]]).shape == (2,)


def test_two_heaps() -> None:
    one = [100, 101, 102, 103, 104, 105]
    two = [100, 101, 102, 153, 155, 156]
    outlier = [100, 101, 102, 103, 104, 155]
    assert two_modes([one, two, outlier]).tolist() == [False, True, True]


def test_equal_values_are_one_heap() -> None:
    assert two_modes([[0.1] * 5, [0.1, 0.1, 0.1, 0.2, 0.2]]).tolist() == [False, True]


@pytest.mark.parametrize("n", [3, 4, 5, 7, 10, 20])
def test_one_heap_is_rarely_taken_for_two(n: int) -> None:
    flagged = two_modes(np.random.default_rng(n).lognormal(3, 0.1, (4000, n))).mean()
    assert flagged <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)
    if n in WIDER_GAPS:  # calibrated, not only careful
        assert flagged >= 0.05 - 3 * np.sqrt(0.05 * 0.95 / 4000)


def test_the_gap_narrows_to_its_floor() -> None:
    gaps = list(WIDER_GAPS.values())
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] > WIDE_GAP
    assert list(WIDER_GAPS) == list(range(3, 11))


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        two_modes([1.0, 2.0])
    with pytest.raises(ValueError, match="at least 2"):
        run_cv([1.0])
