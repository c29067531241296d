"""Processor time against throughput: what is held against what, and what a unit of work costs."""

import pytest
import vl_convert

from fsbench_kit import charts
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.records import Measurement, Run
from tests.charts.specs import HOSTILE, data_of, heading_of, spec_of

GIB = 2.0**30


def _figure(operation: str, metric: str, value: float) -> Measurement:
    unit = "B/s" if metric == "bandwidth" else "1"
    return Measurement(operation=operation, metric=metric, value=value, unit=unit, text="", line=1)


def _runs(*runs: tuple[str, list[Measurement]]) -> Dataset:
    return assemble(
        Log(
            source=f"{i}.txt",
            data=f"{i:05}".encode(),
            records=[Run(tool="fio", start=0, end=9, line=1, filesystem=level, measurements=tuple(figures))],
            study="s",
        )
        for i, (level, figures) in enumerate(runs)
    )


def test_processor_time_of_an_operation_is_held_against_its_own_throughput() -> None:
    figures = [
        _figure("read", "bandwidth", 2 * GIB),
        _figure("read", "cpu", 0.5),
        _figure("write", "bandwidth", GIB),
    ]
    (dot,) = data_of(spec_of(charts.cpu_cost(_runs(("ext4", figures)))))
    assert (dot["done"], dot["cpu"]) == (2 * GIB, 0.5)


def test_processor_time_of_a_whole_run_is_held_against_all_that_it_moved() -> None:
    figures = [
        _figure("read", "bandwidth", 3 * GIB),
        _figure("write", "bandwidth", GIB),
        _figure("all", "cpu_user", 0.25),
        _figure("all", "cpu_system", 0.75),
    ]
    spec = spec_of(charts.cpu_cost(_runs(("ext4", figures))))
    (dot,) = data_of(spec)
    assert (dot["done"], dot["cpu"]) == (4 * GIB, 1.0)
    # a second of processor time each second, for 4 GiB
    assert heading_of(spec) == "Bandwidth: one GiB takes 250 ms on ext4 (1 run) of processor time"


def test_without_processor_time_the_error_says_who_prints_it() -> None:
    with pytest.raises(RequestError) as caught:
        charts.cpu_cost(_runs(("ext4", [_figure("read", "bandwidth", GIB)])))
    assert "iozone with -+u" in str(caught.value)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_logs_are_data(name: str) -> None:
    chart = charts.cpu_cost(_runs((name, [_figure("read", "bandwidth", GIB), _figure("read", "cpu", 0.5)])))
    assert vl_convert.vegalite_to_svg(chart.to_dict()).startswith("<svg")
