from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.findings import diagnostics
from fsbench_kit.model.records import Measurement


def figure(metric: str, low: float, high: float | None = None, **more: Any) -> Measurement:
    high = low if high is None else high
    columns = {"operation": "read", "unit": "1", "text": f"{low:g}", "line": 1} | more
    return Measurement(metric=metric, value=low, low=low, high=high, **columns)


def codes(*measurements: Measurement) -> list[str]:
    return [item.code for item in diagnostics(cross_checks(measurements))]


def test_a_second_printing_has_to_overlap() -> None:
    first = figure("bandwidth", 10, 11)
    assert codes(first, figure("bandwidth", 10.9, 12, primary=False)) == []
    assert codes(first, figure("bandwidth", 11.9, 13, primary=False)) == ["SECOND_PRINTING_DIFFERS"]


def test_work_over_time_is_the_rate() -> None:
    runtime = figure("runtime", 10)
    assert codes(figure("bandwidth", 99, 101), figure("bytes", 1000), runtime) == []
    assert codes(figure("bandwidth", 102, 103), figure("bytes", 1000), runtime) == ["FIGURES_DISAGREE"]
    assert codes(figure("iops", 102, 103), figure("operations", 1000), runtime) == ["FIGURES_DISAGREE"]
    assert codes(figure("iops", 102, 103), figure("operations", 1000), figure("runtime", 0)) == []


def test_a_figure_that_was_cut_is_below_the_next_one() -> None:
    """2002 KiB in 2 s would have been printed as 1001 KiB/s."""
    work, rate = figure("runtime", 2), figure("bandwidth", 1000, 1001)
    assert codes(rate, work, figure("bytes", 2001.9)) == []
    assert codes(rate, work, figure("bytes", 2002)) == ["FIGURES_DISAGREE"]
    assert codes(rate, work, figure("bytes", 2000)) == []


def test_a_cut_of_almost_one_is_no_contradiction() -> None:
    """What fio 3.33 printed of a run: 684359680 / 1.001 is 683676003.996."""
    runtime, done = figure("runtime", 1.001), figure("bytes", 684359680)
    assert codes(figure("bandwidth", 683676003, 683676004), done, runtime) == []
    assert codes(figure("bandwidth", 683676002, 683676003), done, runtime) == ["FIGURES_DISAGREE"]


def test_a_figure_of_all_digits_that_a_float_has_is_no_contradiction() -> None:
    """61072 / 60 as json.dumps writes it; half of its last digit is less than floats can tell."""
    runtime, done = figure("runtime", 60), figure("operations", 61072)
    assert codes(figure("iops", 1017.8666666666667, 1017.8666666666668), done, runtime) == []
    assert codes(figure("iops", 1017.8666666667, 1017.8666666668), done, runtime) == ["FIGURES_DISAGREE"]


def test_requests_of_one_size_make_the_bandwidth() -> None:
    assert codes(figure("iops", 10, 11, block_size=100), figure("bandwidth", 1100, 1200)) == []
    assert codes(figure("iops", 10, 11, block_size=100), figure("bandwidth", 1300, 1400)) == ["FIGURES_DISAGREE"]
    assert codes(figure("iops", 10, 11), figure("bandwidth", 1300, 1400)) == []


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [
        ({"min": 1, "mean": 2, "max": 3}, 0),
        ({"min": 1, "max": 3, "mean": 4}, 1),
        ({"min": 3, "mean": 2, "max": 1}, 2),
        ({"p5": 1, "p50": 1, "p99": 2, "p99.9": 3}, 0),
        ({"p99.9": 2, "p5": 1, "p99": 3}, 1),
    ],
)
def test_statistics_have_an_order(statistics: dict[str, float], expected: int) -> None:
    measurements = [figure("latency", value, statistic=name) for name, value in statistics.items()]
    assert codes(*measurements) == ["FIGURES_DISAGREE"] * expected


def test_printings_of_one_precision_have_the_same_digits() -> None:
    first = figure("cpu", 7, 8)
    assert codes(first, figure("cpu", 7, 8, primary=False)) == []
    assert codes(first, figure("cpu", 8, 9, primary=False)) == ["SECOND_PRINTING_DIFFERS"]
    assert codes(first, figure("cpu", 9, 10)) == ["SECOND_PRINTING_DIFFERS"]


def test_requests_in_flight_count_for_the_bandwidth_alone() -> None:
    rates = figure("iops", 100, block_size=10, threads=2), figure("bandwidth", 1150)
    measurements = [*rates, figure("runtime", 4)]
    assert [item.code for item in diagnostics(cross_checks(measurements, {None: 32}))] == []
    assert [item.code for item in diagnostics(cross_checks(measurements, {None: 16}))] == ["FIGURES_DISAGREE"]
    assert codes(*measurements) == ["FIGURES_DISAGREE"]


def test_requests_may_be_a_hundredth_off_the_bandwidth() -> None:
    # 1000 requests of 10 bytes: from 9,900 to 10,100 bytes per second
    for low, high, expected in ((9901, 9905, 0), (9880, 9890, 1), (10_095, 10_099, 0), (10_110, 10_120, 1)):
        found = codes(figure("iops", 1000, block_size=10), figure("bandwidth", low, high))
        assert found == ["FIGURES_DISAGREE"] * expected, low


@pytest.mark.parametrize(
    ("latency", "part", "expected"),
    [
        # a fiftieth of the whole: from 9 / 1.02 = 8.824 to 9 / 0.98 = 9.184
        (8.83, 4.5, 0),
        (8.81, 4.5, 1),
        (9.18, 4.5, 0),
        (9.19, 4.5, 1),
        # and two microseconds, the steps of a clock: from 8 / 1.02 = 7.84 for 10
        (7.9e-6, 5e-6, 0),
        (7.8e-6, 5e-6, 1),
    ],
)
def test_latency_may_be_a_little_off_its_parts(latency: float, part: float, expected: int) -> None:
    parts = {"submission_latency": part, "completion_latency": part, "latency": latency}
    measurements = [figure(metric, value, statistic="mean") for metric, value in parts.items()]
    assert codes(*measurements) == ["FIGURES_DISAGREE"] * expected


@pytest.mark.parametrize(("done", "expected"), [(1005.4, 0), (1005.6, 1)])
def test_what_was_rounded_may_have_been_shortened_by_a_tenth_of_that_before(done: float, expected: int) -> None:
    # 100 stands for 99.5 to 100.5, and for a twentieth more
    rate = replace(figure("bandwidth", 99.5, 100.5), value=100.0)
    assert codes(rate, figure("bytes", done), figure("runtime", 10)) == ["FIGURES_DISAGREE"] * expected


@pytest.mark.parametrize(("latency", "expected"), [(9, 0), (8, 1), (10, 1)])
def test_latency_is_submission_and_completion(latency: float, expected: int) -> None:
    parts = {"submission_latency": 2, "completion_latency": 7, "latency": latency}
    measurements = [figure(metric, value, statistic="mean") for metric, value in parts.items()]
    assert codes(*measurements) == ["FIGURES_DISAGREE"] * expected


def test_parts_and_operations_are_not_mixed() -> None:
    assert codes(figure("latency", 3, statistic="min"), figure("latency", 1, statistic="max", part="b")) == []
    assert (
        codes(figure("latency", 3, statistic="min"), figure("latency", 1, statistic="max", operation="write"))
        == []
    )
