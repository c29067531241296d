import json
from pathlib import Path

import numpy as np
import pytest

from fsbench_kit.stats import binned_quantile, merged

FIO = Path(__file__).parents[1] / "data" / "fio_json" / "3.33-grouped.json"


def fio_edges() -> np.ndarray:
    """The lower ends of fio's bins, by the comment of its stat.h: 64 to an octave, from 128 on wider than 1."""
    octaves = [np.arange(64, 128) << shift for shift in range(1, 29)]
    return np.concatenate([np.arange(128), *octaves]).astype(float)


def fio_bins(middles: list[int]) -> tuple[np.ndarray, np.ndarray]:
    edges = fio_edges()
    place = np.searchsorted(edges, middles, side="right") - 1
    low, high = edges[place], edges[place + 1]
    return low, np.where(high - low == 1, low, high)


def test_percentiles_of_fio() -> None:
    checked = 0
    for job in json.loads(FIO.read_text(encoding="utf-8"))["jobs"]:
        for direction in ("read", "write"):
            latency = job[direction]["clat_ns"]
            if "bins" in latency:
                middles = [int(middle) for middle in latency["bins"]]
                low, high = fio_bins(middles)
                assert np.array_equal((low + high) // 2, middles)
                histogram = merged(low, high, list(latency["bins"].values()))
                assert histogram.total == latency["N"]
                for percent, value in latency["percentile"].items():
                    found = binned_quantile(histogram, float(percent) / 100)
                    assert int(found.value) == value
                    checked += 1
    assert checked > 10


def test_the_error_of_fio_s_bins() -> None:
    edges = fio_edges()
    low, high = edges[128:-1], edges[129:]
    assert ((high - low) / 2 / low).max() == pytest.approx(1 / 128)


def test_jobs_are_merged() -> None:
    histogram = merged([0, 10, 10, 20, 0], [10, 20, 20, np.inf, 10], [1, 2, 3, 4, 0])
    assert histogram.low.tolist() == [0, 10, 20]
    assert histogram.count.tolist() == [1, 5, 4]
    assert [binned_quantile(histogram, q).low for q in (0.1, 0.11, 0.6, 0.61)] == [0, 10, 10, 20]
    assert binned_quantile(histogram, 1).high == np.inf


def test_counts_that_a_float_cannot_add_up_are_refused() -> None:
    """Two of 6 x 10^18 are beyond 64 bits, and made a negative total."""
    with pytest.raises(ValueError, match="more than can be counted exactly"):
        merged([0, 10], [10, 20], [6 * 10**18, 6 * 10**18])


def test_a_share_that_is_met_exactly_is_met() -> None:
    histogram = merged([1, 2], [1, 2], [99, 1])
    assert binned_quantile(histogram, 0.99).value == 1  # 0.99 * 100 is not 99 in floating point
    assert binned_quantile(histogram, 0.991).value == 2


@pytest.mark.parametrize(
    ("low", "high", "count", "message"),
    [
        ([0, 5], [10, 15], [1, 1], "bins overlap: 0 to 10, and 5 to 15"),
        ([0], [1], [0], "all bins are empty"),
        ([0], [1], [1.5], "whole number"),
        ([0], [1], [-1], "whole number"),
        ([2], [1], [1], "not below"),
        ([0, 1], [1], [1], "the same length"),
    ],
)
def test_nonsense_is_refused(low: list[float], high: list[float], count: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        merged(low, high, count)
