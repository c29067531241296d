"""Samples: what is the same in whichever way it is computed."""

import numpy as np
import pytest

from fsbench_kit.stats.values import Sample


@pytest.mark.parametrize(
    "values",
    [
        [[1.0, 2.0, 3.0], [4.0, 5.0, 1e-9]],
        [[1e200, 1e150, 1e-200]],  # whose product no float holds
        [[1e-200, 1e-150, 1.0]],
        [[1e-320, 1.0, 1.0]],
        [[0.0, 1.0, 2.0]],
        [[-1.0, -2.0, 3.0]],
        [[np.inf, 1.0, 0.0]],
        [[np.nan, 1.0, 1.0]],
        [[1.001] * 10_000],
    ],
)
def test_the_mean_logarithm_is_that_of_the_logarithms(values: list[list[float]]) -> None:
    array = np.asfortranarray(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.log(array).mean(axis=-1)
    found = Sample(array, np.ones_like(array, dtype=np.bool_)).mean_log()
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_absent_values_have_no_part_in_the_mean_logarithm() -> None:
    sample = Sample(np.array([[2.0, 1.0, 8.0], [1.0, 1.0, 1.0]]), np.array([[True, False, True], [False] * 3]))
    np.testing.assert_allclose(sample.mean_log(), [np.log(4), np.nan])
