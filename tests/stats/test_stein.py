import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from fsbench_kit.stats import Caveat, stein_log, stein_runs

PILOT_A, PILOT_B = [100, 105, 98, 103, 101], [150, 149, 158, 155, 147]


def test_runs_by_hand() -> None:
    variance = (np.log(PILOT_A).var(ddof=1) + np.log(PILOT_B).var(ddof=1)) / 2
    t = scipy_stats.t.ppf(0.975, 8)
    n = stein_runs(PILOT_A, PILOT_B, 1.02)
    assert n == math.ceil(2 * variance * (t / math.log(1.02)) ** 2)
    assert t * math.sqrt(2 * variance / n) <= math.log(1.02) < t * math.sqrt(2 * variance / (n - 1))


def test_never_fewer_than_the_pilot() -> None:
    assert stein_runs(PILOT_A, PILOT_B, 3) == 5


def test_many_cells() -> None:
    runs = stein_runs([PILOT_A, PILOT_A], [PILOT_B, PILOT_A], 1.02)
    assert runs[0] == stein_runs(PILOT_A, PILOT_B, 1.02)
    assert runs[1] == stein_runs(PILOT_A, PILOT_A, 1.02)


def test_confidence_and_width_are_kept() -> None:
    rng = np.random.default_rng(3)
    held, widths, needed = [], [], []
    for _ in range(1500):
        a, b = rng.lognormal(0, 0.05, (2, 400))
        n = int(stein_runs(a[:5], b[:5], 1.05))
        estimate = stein_log(a[:n], b[:n], 5)
        held.append(estimate.low <= 1 <= estimate.high)
        widths.append(np.sqrt(estimate.high / estimate.low))
        needed.append(n)
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)
    assert max(widths) <= 1.05 + 1e-9
    assert np.mean(needed) == pytest.approx(11.7, abs=0.5)


def test_the_spread_is_the_pilot_s() -> None:
    estimate = stein_log([*PILOT_A, 50.0], [*PILOT_B, 900.0], 5)
    assert estimate.df == 8
    assert (estimate.n_a, estimate.n_b) == (6, 6)
    variance = (np.log(PILOT_A).var(ddof=1) + np.log(PILOT_B).var(ddof=1)) / 2
    assert estimate.standard_error == pytest.approx(np.sqrt(variance / 3))


def test_a_pilot_without_spread_gives_no_interval() -> None:
    estimate = stein_log([1.0, 1.0, 1.2], [2.0, 2.0, 2.2], 2)
    assert np.isnan(estimate.low)
    assert {Caveat.NO_SPREAD, Caveat.TWO_RUNS} == set(estimate.caveats)


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="equally many runs"):
        stein_runs(PILOT_A, PILOT_B[:4], 1.05)
    with pytest.raises(ValueError, match="none of them is absent"):
        stein_log(np.ma.masked_equal(PILOT_A, 105), PILOT_B, 3)
    with pytest.raises(ValueError, match=r"write 1\.05 for 5 %"):
        stein_runs(PILOT_A, PILOT_B, 0.05)
