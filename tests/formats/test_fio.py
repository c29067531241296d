"""Bounds are those of fio's own arithmetic: ``plat_val_to_idx`` in stat.c, ``io_u_mark_*`` in io_u.c."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbench_kit.formats.fio import depth_bounds, latency_bounds, part_names, percentile_bounds, uncut_share
from fsbench_kit.model.units import quantity


@pytest.mark.parametrize(
    ("printed", "bounds"),
    [
        ((127, 127), (127, 127)),  # below 128 a bin holds one value
        ((129, 129), (128, 130)),
        ((255, 255), (254, 256)),
        ((258, 258), (256, 260)),
        ((21632, 21632), (21504, 21760)),
        ((8454001, 8455000), (8388608, 8519680)),  # printed as 8455 µs
        ((17112760320, 17112760320), (17045651456, None)),
    ],
)
def test_bounds_of_percentiles(printed: tuple[int, int], bounds: tuple[int, int | None]) -> None:
    assert percentile_bounds(*printed) == bounds


@given(st.integers(0, 2**33))
def test_a_value_lies_in_its_bin(value: int) -> None:
    low, high = percentile_bounds(value, value)
    assert high is not None
    assert low <= value <= high
    assert high - low <= value / 64


def test_bounds_of_buckets() -> None:
    assert latency_bounds("2", 10**9) == (0, 2e-9)
    assert latency_bounds("2", 10**6, first=1) == (1e-6, 2e-6)
    assert latency_bounds("1000", 10**3, first=1) == (0.75, 1.0)
    assert latency_bounds("2000", 10**3) == (1.0, 2.0)
    assert latency_bounds(">=2000", 10**3) == (2.0, None)
    with pytest.raises(ValueError, match="not in tuple"):
        latency_bounds("3", 10**3)
    assert [depth_bounds("depth", label) for label in ("1", "2", "32", ">=64")] == [
        (0, 1),
        (1, 3),
        (31, 63),
        (63, None),
    ]
    assert [depth_bounds("submit_batch", label) for label in ("0", "4", "8", "64", ">=64")] == [
        (None, 0),
        (0, 4),
        (4, 8),
        (32, 64),
        (64, None),
    ]


def test_names_of_parts_are_unique() -> None:
    assert list(part_names(["a", "b", "a"])) == ["a.0", "b", "a.1"]


def test_a_share_is_that_of_a_mean_without_its_fraction() -> None:
    """fio 3.33 printed a mean of 221403.5 KiB/s and 49.77192 %; the share of the whole mean is 49.772032 %."""
    share, mean = quantity("49.77192", "%"), quantity("221403.5", "KiB/s", rounding="exact")
    bounds = uncut_share(share, mean)
    assert bounds is not None
    low, high = bounds
    assert low == share.low
    assert high is not None
    assert 0.49772032 <= high < 0.497722
