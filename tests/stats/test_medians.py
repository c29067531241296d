import numpy as np
import pytest

from fsbench_kit.stats import Caveat, median_ratio, ragged

# statpsych, example of ci.ratio.median2: the ratio of the first median to the second.
FIRST = [36, 44, 47, 42, 49, 39, 46, 31, 33, 48]
SECOND = [32, 39, 26, 35, 43, 27, 40, 37, 34, 29, 49, 42, 40]


def test_statpsych() -> None:
    estimate = median_ratio(SECOND, FIRST)
    assert [estimate.estimate, estimate.low, estimate.high] == pytest.approx(
        [1.162162, 0.927667, 1.455933], abs=1e-6
    )
    assert estimate.estimand == "ratio of medians"


def test_cells_of_unequal_size_are_cells_one_by_one() -> None:
    estimate = median_ratio(ragged([SECOND, FIRST, SECOND[:5]]), ragged([FIRST, SECOND, FIRST]))
    assert estimate.low[0] == pytest.approx(0.927667, abs=1e-6)
    assert estimate.high[1] == pytest.approx(1 / 0.927667, abs=1e-5)
    assert np.isnan(estimate.low[2])
    assert estimate.caveats[Caveat.TOO_FEW].tolist() == [False, False, True]


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="a has 5 runs; this method needs at least 6"):
        median_ratio(SECOND[:5], FIRST)
