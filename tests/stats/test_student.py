from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from fsbench_kit.stats.student import half_width_by_t


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.999, 1 - 1e-6])
def test_quantiles_of_many_cells_are_those_of_each(confidence: float) -> None:
    inverse = np.concatenate([np.linspace(0, 1, 1000), [1e-9, 1e-5]])
    with np.errstate(divide="ignore"):
        df = np.append(1 / inverse, np.nan)
    found = half_width_by_t(np.ones_like(df), df, confidence)
    assert np.isnan(found[-1])
    np.testing.assert_allclose(found[:-1], scipy.stats.t.ppf((1 + confidence) / 2, df[:-1]), rtol=1e-12)


def test_fewer_degrees_than_one_have_quantiles_too() -> None:
    df = np.linspace(0.5, 5, 1000)
    np.testing.assert_allclose(
        half_width_by_t(np.ones_like(df), df, 0.95), scipy.stats.t.ppf(0.975, df), rtol=1e-12
    )
