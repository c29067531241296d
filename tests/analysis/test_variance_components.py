"""Where variation lies, on figures whose components were computed by hand."""

from math import exp

import pytest

from fsbench_kit.analysis.variance_components import BETWEEN, LEVELS, WITHIN, variance_components
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.records import Block, Measurement, Run


def _runs(*figures: tuple[str, float], series: dict[int, list[float]] | None = None) -> Dataset:
    logs = []
    for i, (level, log) in enumerate(figures):
        rate = Measurement(operation="write", metric="bandwidth", value=exp(log), unit="B/s", text="", line=1)
        sampled = Measurement(
            operation="write", metric="bandwidth", statistic="mean", value=1.0, unit="B/s", text="", line=1
        )
        run = Run(tool="fio", start=0, end=9, line=1, filesystem=level, measurements=(rate, sampled))
        records: list[Run | Block] = [run]
        if series is not None:
            values = [exp(x) for x in series[i]]
            times = [float(t) for t in range(len(values))]
            lines = [1] * len(values)
            records.append(Block(operation="write", metric="bandwidth", times=times, values=values, lines=lines))
        logs.append(Log(source=f"{i}.txt", data=f"{i:05}".encode(), records=records, study="s", order=i))
    return assemble(logs)


def test_runs_and_levels_share_the_variance() -> None:
    # logs 0 and 2 on one side, 5 and 7 on the other: 2 within each, means 1 and 6 with 12.5, less 2/2
    found = variance_components(_runs(("ext4", 0.0), ("ext4", 2.0), ("xfs", 5.0), ("xfs", 7.0)))
    assert found.select("source", "variance", "levels", "runs").rows() == [
        (BETWEEN, pytest.approx(2.0), 2, 2),
        (LEVELS, pytest.approx(11.5), 2, 2),
    ]
    assert found["share"].to_list() == pytest.approx([2 / 13.5, 11.5 / 13.5])


def test_a_source_that_adds_nothing_has_nothing() -> None:
    # equal means, so that the estimate is 0 - 2/2
    found = variance_components(_runs(("ext4", 0.0), ("ext4", 2.0), ("xfs", 0.0), ("xfs", 2.0)))
    assert dict(found.select("source", "variance").rows()) == {BETWEEN: pytest.approx(2.0), LEVELS: 0.0}


def test_tenths_of_runs_are_a_source_where_all_runs_have_them() -> None:
    # tenths 0 and 1 by turns: variance 10/4/9; the runs' means are 0.5 and 2.5
    tenths = {0: [0.0, 1.0] * 5, 1: [2.0, 3.0] * 5}
    found = variance_components(_runs(("ext4", 0.0), ("ext4", 1.0), series=tenths))
    within = 10 / 4 / 9
    assert dict(found.select("source", "variance").rows()) == {
        WITHIN: pytest.approx(within),
        BETWEEN: pytest.approx(2.0 - within / 10),
    }


@pytest.mark.parametrize(("figures", "sources"), [(9, [BETWEEN]), (10, [WITHIN, BETWEEN])])
def test_tenths_of_a_run_are_of_ten_figures_at_least(figures: int, sources: list[str]) -> None:
    series = {run: [float(i % 2 + run) for i in range(figures)] for run in range(2)}
    assert variance_components(_runs(("ext4", 0.0), ("ext4", 1.0), series=series))["source"].to_list() == sources


def test_sides_count_with_equally_many_runs_and_single_runs_not_at_all() -> None:
    found = variance_components(_runs(("ext4", 0.0), ("ext4", 2.0), ("ext4", 99.0), ("xfs", 5.0), ("xfs", 7.0)))
    assert dict(found.select("source", "variance").rows())[BETWEEN] == pytest.approx(2.0)
    assert variance_components(_runs(("ext4", 0.0), ("ext4", 2.0), ("xfs", 5.0))).is_empty()
