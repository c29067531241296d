"""Scaling curves of throughput, and of the processor time that it takes."""

import math

import pytest
import vl_convert

from fsbench_kit import charts
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.records import Measurement, Run
from tests.charts.specs import HOSTILE, data_of, explained_of, heading_of, spec_of

GIB = 2.0**30


def _runs(*figures: tuple[str, int, float]) -> Dataset:
    """Return runs on a filesystem, with so many threads, that gave so many IOPS."""
    logs = []
    for i, (level, threads, value) in enumerate(figures):
        iops = Measurement(
            operation="read",
            metric="iops",
            value=value,
            unit="1/s",
            text="",
            line=1,
            threads=threads,
            block_size=4096,
        )
        run = Run(tool="fio", start=0, end=9, line=1, filesystem=level, measurements=(iops,))
        logs.append(Log(source=f"{i}.txt", data=f"{i:05}".encode(), records=[run], study="s"))
    return assemble(logs)


def test_lines_join_geometric_means_and_repeats_have_student_s_interval() -> None:
    spec = spec_of(charts.scaling(_runs(("ext4", 1, 100.0), ("ext4", 1, 400.0), ("ext4", 8, 1000.0)), "threads"))
    dots = [row for row in data_of(spec) if row.get("value") is not None]
    means = {row["x"]: row for row in data_of(spec) if row.get("mean") is not None}
    assert len(dots) == 3
    assert means[1.0]["mean"] == pytest.approx(200)
    # t of one degree at 97.5 % is 12.706; the logs are ln 4 apart, their standard error is ln 4 / 2
    assert means[1.0]["high"] == pytest.approx(200 * math.exp(12.7062 * math.log(4) / 2), rel=1e-4)
    assert (means[8.0]["mean"], means[8.0]["low"]) == (pytest.approx(1000), None)
    assert "A mean without a bar is of one run." in explained_of(spec)


def test_the_title_names_the_largest_change() -> None:
    spec = spec_of(
        charts.scaling(_runs(("ext4", 1, 100.0), ("ext4", 8, 90.0), ("xfs", 1, 100.0), ("xfs", 8, 500.0)))
    )
    assert heading_of(spec) == (
        "IOPS changes most with threads for xfs: from 100/s at 1 to 500/s at 8, 5.00 times as much"
    )
    assert "ext4: from 100/s at 1 to 90/s at 8, 1.11 times less." in spec["description"]
    assert "Each dot is a single run" in explained_of(spec)
    (legend,) = vl_convert.vegalite_to_vega(spec)["legends"]
    assert "shape" in legend
    assert "strokeDash" not in legend  # it would fray the shape


def test_both_axes_are_logarithmic_and_sizes_have_their_prefix() -> None:
    spec = spec_of(charts.scaling(_runs(("ext4", 1, 100.0), ("ext4", 8, 500.0))))
    x, y = (spec["spec"]["layer"][0]["encoding"][axis] for axis in "xy")
    assert x["scale"]["type"] == y["scale"]["type"] == "log"
    assert x["axis"]["values"] == [1, 8]
    assert "k/s" in y["axis"]["labelExpr"]


def test_a_setting_with_one_value_is_no_axis() -> None:
    same = _runs(("ext4", 4, 100.0), ("xfs", 4, 100.0))
    with pytest.raises(RequestError, match="two values of threads"):
        charts.scaling(same)
    assert charts.varied_settings(same) == []
    assert charts.varied_settings(_runs(("ext4", 1, 100.0), ("ext4", 8, 90.0))) == ["threads"]


# ---- processor time


def _figure(operation: str, metric: str, value: float, threads: int) -> Measurement:
    unit = "B/s" if metric == "bandwidth" else "1"
    return Measurement(
        operation=operation, metric=metric, value=value, unit=unit, text="", line=1, threads=threads
    )


def _costly(*runs: tuple[str, list[Measurement]]) -> Dataset:
    return assemble(
        Log(
            source=f"{i}.txt",
            data=f"{i:05}".encode(),
            records=[Run(tool="fio", start=0, end=9, line=1, filesystem=level, measurements=tuple(figures))],
            study="s",
        )
        for i, (level, figures) in enumerate(runs)
    )


def _costs(dataset: Dataset) -> dict[float, float]:
    rows = data_of(spec_of(charts.cpu_cost(dataset)))
    return {row["x"]: row["value"] for row in rows if row.get("value") is not None}


def test_processor_time_of_an_operation_is_of_its_own_throughput_at_its_own_number_of_threads() -> None:
    figures = [
        figure
        for threads, rate, cpu in ((1, 2 * GIB, 0.5), (8, 4 * GIB, 2.0))
        for figure in (
            _figure("read", "bandwidth", rate, threads),
            _figure("read", "cpu", cpu, threads),
            _figure("write", "bandwidth", GIB, threads),
        )
    ]
    assert _costs(_costly(("ext4", figures))) == {1: 0.25, 8: 0.5}


def test_processor_time_of_a_whole_run_is_of_all_that_it_moved() -> None:
    runs = [
        (
            "ext4",
            [
                _figure("read", "bandwidth", 3 * GIB, threads),
                _figure("write", "bandwidth", GIB, threads),
                _figure("all", "cpu_user", 0.25, threads),
                _figure("all", "cpu_system", 0.75 * threads, threads),
            ],
        )
        for threads in (1, 5)
    ]
    # a second of processor time each second, for 4 GiB; then four
    assert _costs(_costly(*runs)) == {1: 0.25, 5: 1.0}
    heading = heading_of(spec_of(charts.cpu_cost(_costly(*runs))))
    assert heading.startswith("Processor time per GiB changes most with threads for ext4, ")
    assert heading.endswith(": from 250\N{NO-BREAK SPACE}ms at 1 to 1\N{NO-BREAK SPACE}s at 5, 4.00 times as much")


def test_without_processor_time_the_chart_says_who_prints_it() -> None:
    chart = charts.cpu_cost(_runs(("ext4", 1, 100.0), ("ext4", 8, 500.0)))
    assert "iozone does with -+u" in chart.to_dict()["description"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_logs_are_data(name: str) -> None:
    chart = charts.scaling(_runs((name, 1, 100.0), (name, 8, 500.0)))
    assert vl_convert.vegalite_to_svg(chart.to_dict()).startswith("<svg")
