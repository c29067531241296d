import numpy as np
import pytest

from fsbench_kit.stats import Caveat, summary_band


def test_width_factors() -> None:
    bands = summary_band(412, 20, 120, correlation=[0, 0.3, 0.6, 0.8, 0.9])
    half = (bands.high - bands.low) / 2
    assert half[0] == pytest.approx(1.959964 * 20 / np.sqrt(120), rel=1e-6)
    assert half[1:] / half[0] == pytest.approx([1.36, 2.0, 3.0, 4.36], abs=0.005)
    assert bands.estimate.tolist() == [412] * 5
    assert summary_band(412, 20, 120).low == bands.low[2]
    assert set(bands.caveats) == {Caveat.WITHIN_RUN}


@pytest.mark.parametrize("jobs", [4, 16])
def test_pooled_jobs_that_stall_together(jobs: int) -> None:
    # Their rates are one and the same series, so the sum is jobs times the series, and so is its error.
    rng = np.random.default_rng(jobs)
    series = rng.normal(100, 10, (2000, 120))
    total = jobs * series.mean(axis=1)
    band = summary_band(total, series.std(axis=1, ddof=1), jobs * 120, jobs=jobs, correlation=0)
    assert ((band.low <= 100 * jobs) & (band.high >= 100 * jobs)).mean() == pytest.approx(0.95, abs=0.02)
    assert band.caveats[Caveat.JOBS_POOLED].all()


def test_nonsense_is_refused() -> None:
    for kwargs in ({"jobs": 0}, {"correlation": 1}, {"correlation": -0.1}):
        with pytest.raises(ValueError, match="a summary has"):
            summary_band(100, 10, 120, **kwargs)
    with pytest.raises(ValueError, match="a summary has"):
        summary_band(100, -1, 120)
