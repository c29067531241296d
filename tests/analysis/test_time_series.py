"""What is seen in figures over time, on series whose changes, stalls and gaps are known because we made them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fsbench_kit as fsb
from fsbench_kit.analysis.time_series import time_series
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.records import Block, Measurement, Run


def _log(
    values: list[float],
    times: list[float] | None = None,
    *,
    metric: str = "latency",
    level: str = "ext4",
    order: int = 1,
) -> Log:
    unit = {"latency": "s", "bandwidth": "B/s"}[metric]
    mean = Measurement(
        operation="write", metric=metric, statistic="mean", value=1.0, unit=unit, text="1", line=1, block_size=4096
    )
    run = Run(tool="fio", start=0, end=9, line=1, filesystem=level, measurements=(mean,))
    times = times or [(i + 1) / 10 for i in range(len(values))]
    block = Block(operation="write", metric=metric, times=times, values=values, lines=[1] * len(values))
    return Log(
        source=f"{order}.txt",
        data=f"run {order:05}".encode(),
        records=[run, block],
        study="s",
        order=order,
        round=1,
    )


def _noise(n: int, seed: int = 1) -> "np.ndarray[Any, Any]":
    return 1 + 0.02 * np.random.default_rng(seed).standard_normal(n)


def _data(*logs: Log) -> Dataset:
    return assemble(logs)


def test_a_change_of_level_is_found_where_it_is() -> None:
    values = 1e-3 * _noise(100)
    values[60:] *= 3
    found = time_series(_data(_log(values.tolist())))
    assert found.runs["changes"].to_list() == [1]
    assert found.stretches["start"].to_list() == pytest.approx([0, 6.0])
    assert found.stretches["value"].to_list() == pytest.approx([1e-3, 3e-3], rel=0.02)


def test_a_change_in_a_very_long_series_is_found_near_where_it_is() -> None:
    values = _noise(50_000)
    values[30_000:] *= 1.1
    found = time_series(_data(_log(values.tolist(), [i / 1000 for i in range(1, 50_001)])))
    assert found.stretches["start"].to_list() == pytest.approx([0, 30], abs=0.1)


def test_tenths_of_a_run_have_their_means_and_tell_since_when_it_is_steady() -> None:
    # 40 % above its later level for 3 s of 10
    values = np.where(np.arange(100) < 30, 1.4e-3, 1e-3) * _noise(100)
    found = time_series(_data(_log(values.tolist())))
    assert found.batches["value"].to_list() == pytest.approx([1.4e-3] * 3 + [1e-3] * 7, rel=0.03)
    row = found.runs.row(0, named=True)
    assert row["steady"] is True
    assert row["steady_since"] == pytest.approx(3.0)
    assert row["low"] < values.mean() < row["high"]


@pytest.mark.parametrize(("metric", "worse"), [("latency", 20.0), ("bandwidth", 1 / 20)])
def test_a_stall_is_a_figure_far_from_the_median_on_the_bad_side(metric: str, worse: float) -> None:
    values = _noise(50)
    values[20:23] *= worse
    values[40] /= worse
    found = time_series(_data(_log(values.tolist(), metric=metric)), metric=metric)
    (stall,) = found.stalls.rows(named=True)
    assert (stall["start"], stall["end"]) == pytest.approx((2.0, 2.3))
    assert found.runs["longest"].to_list() == pytest.approx([0.3])


@pytest.mark.parametrize(
    ("metric", "value", "stalls"),
    [("latency", 9.9, 0), ("latency", 10.0, 1), ("bandwidth", 1 / 9.9, 0), ("bandwidth", 1 / 10, 1)],
)
def test_a_stall_is_ten_times_worse_than_the_median(metric: str, value: float, stalls: int) -> None:
    values = [1.0] * 30
    values[20] = value
    assert time_series(_data(_log(values, metric=metric)), metric=metric).runs["stalls"].to_list() == [stalls]


@pytest.mark.parametrize(("gap", "stalls"), [(0.245, 0), (0.255, 1)])
def test_two_and_a_half_intervals_without_a_figure_are_a_stall(gap: float, stalls: int) -> None:
    times = [i / 10 for i in range(1, 31)] + [3 + gap + i / 10 for i in range(20)]
    assert time_series(_data(_log([1.0] * 50, times))).runs["stalls"].to_list() == [stalls]


@pytest.mark.parametrize(("start", "began"), [(0.34, 0.0), (0.36, 0.26)])
def test_a_first_figure_that_comes_late_is_of_one_interval(start: float, began: float) -> None:
    times = [start + i / 10 for i in range(30)]
    assert time_series(_data(_log([1.0] * 30, times))).points["start"][0] == pytest.approx(began)


@pytest.mark.parametrize(("last", "figures"), [(3.049, 30), (3.051, 31)])
def test_a_last_figure_of_less_than_half_an_interval_is_left_out(last: float, figures: int) -> None:
    times = [i / 10 for i in range(1, 31)] + [last]
    assert time_series(_data(_log([1.0] * 31, times))).runs["figures"].to_list() == [figures]


def test_time_without_figures_is_a_stall_without_a_value() -> None:
    times = [i / 10 for i in range(1, 31)] + [i / 10 for i in range(41, 61)]
    found = time_series(_data(_log(_noise(50).tolist(), times)))
    (stall,) = found.stalls.rows(named=True)
    assert (stall["start"], stall["end"], stall["value"]) == (3.0, 4.1, None)


def test_the_remainder_that_fio_logs_at_its_end_is_left_out() -> None:
    times = [i / 10 for i in range(1, 31)] + [3.002]
    found = time_series(_data(_log([*_noise(30).tolist(), 100.0], times)))
    assert found.runs.select("figures", "stalls").row(0) == (30, 0)


def test_what_takes_more_figures_than_there_are_is_unknown() -> None:
    row = time_series(_data(_log(_noise(9).tolist()))).runs.row(0, named=True)
    assert [row[name] for name in ("changes", "mean", "low", "steady", "steady_since", "longest")] == [None] * 6
    assert row["figures"] == 9


def test_ten_figures_are_enough_for_changes_and_twenty_for_an_interval() -> None:
    known = [time_series(_data(_log(_noise(n).tolist()))).runs.row(0, named=True) for n in (10, 19, 20)]
    assert [row["changes"] is not None for row in known] == [True] * 3
    assert [row["low"] is not None for row in known] == [False, False, True]


def test_a_flat_series_has_a_mean_and_no_interval() -> None:
    row = time_series(_data(_log([1e-3] * 40))).runs.row(0, named=True)
    assert (row["mean"], row["low"], row["high"]) == (pytest.approx(1e-3), None, None)


def test_a_long_series_is_summarised_and_keeps_its_extremes() -> None:
    values = _noise(3_000)
    values[777] = 50.0
    points = time_series(_data(_log(values.tolist(), [i / 1000 for i in range(1, 3_001)]))).points
    assert points.height == 250
    assert points["highest"].max() == 50.0
    assert points["value"].mean() == pytest.approx(values.mean())
    assert points.filter(highest=50.0)["lowest"].item() < 1.1


def test_failed_runs_are_left_out_and_nothing_may_be_left() -> None:
    log = _log(_noise(30).tolist())
    failed = Log(source="2.txt", data=b"other", records=log.records, study="s", status="failed")
    assert time_series(_data(log, failed)).runs.height == 1
    assert time_series(_data(failed)).runs.is_empty()


def test_the_recorded_runs_have_series(root: Path) -> None:
    dataset = fsb.read(root / "raw_results" / "recorded" / "latency-loop-2026")
    found = time_series(dataset)
    assert found.runs.height == 10
    assert set(found.runs["metric"]) == {"completion_latency"}
    assert found.runs["figures"].is_between(100, 120).all()  # 12 s of windows of 0.1 s


@pytest.mark.parametrize(("broken", "since"), [(3, 4.0), (8, None)])
def test_a_run_is_steady_since_the_start_of_an_unbroken_stretch_and_since_never_if_it_ends_otherwise(
    broken: int, since: float | None
) -> None:
    values = _noise(100)
    values[10 * broken : 10 * broken + 10] *= 3
    row = time_series(_data(_log(values.tolist()))).runs.row(0, named=True)
    assert row["steady"] is (since is not None)
    assert row["steady_since"] == (None if since is None else pytest.approx(since))
