"""Scaling curves: runs, their geometric means, and intervals where there are several runs."""

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
    assert "Without a bar: one figure." in explained_of(spec)


def test_the_title_says_how_much_more_it_gives() -> None:
    spec = spec_of(
        charts.scaling(_runs(("ext4", 1, 100.0), ("ext4", 8, 500.0), ("xfs", 1, 100.0), ("xfs", 8, 90.0)))
    )
    assert heading_of(spec) == "IOPS: ext4 goes from 100/s at 1 to 500/s at 8 threads, 5 times as much"
    assert "xfs goes from 100/s at 1 to 90/s at 8 threads, 0.9 times as much" in spec["description"]
    assert "One figure each" in explained_of(spec)


def test_both_axes_are_logarithmic_and_sizes_have_their_prefix() -> None:
    spec = spec_of(charts.scaling(_runs(("ext4", 1, 100.0), ("ext4", 8, 500.0))))
    x, y = (spec["spec"]["layer"][0]["encoding"][axis] for axis in "xy")
    assert x["scale"]["type"] == y["scale"]["type"] == "log"
    assert x["axis"]["values"] == [1, 8]
    assert "k/s" in y["axis"]["labelExpr"]


def test_a_setting_with_one_value_is_no_axis() -> None:
    with pytest.raises(RequestError, match="two values of threads"):
        charts.scaling(_runs(("ext4", 4, 100.0), ("xfs", 4, 100.0)))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_logs_are_data(name: str) -> None:
    chart = charts.scaling(_runs((name, 1, 100.0), (name, 8, 500.0)))
    assert vl_convert.vegalite_to_svg(chart.to_dict()).startswith("<svg")
