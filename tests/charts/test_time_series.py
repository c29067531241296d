"""Figures over time as a chart: what each layer shows, what the title counts, what is said in words."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import vl_convert

from fsbench_kit import charts
from fsbench_kit.analysis.time_series import TimeSeries, time_series
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.log import Log
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.records import Block, Measurement, Run
from tests.charts.specs import HOSTILE, data_of, explained_of, heading_of, spec_of


def _log(order: int, level: str, *, change: bool = False, stall: bool = False) -> Log:
    values = 1e-3 * (1 + 0.02 * np.random.default_rng(order).standard_normal(60))
    values[40:] *= 2 if change else 1
    values[20:22] *= 30 if stall else 1
    mean = Measurement(
        operation="write", metric="latency", statistic="mean", value=1.0, unit="s", text="1", line=1
    )
    run = Run(tool="fio", start=0, end=9, line=1, filesystem=level, measurements=(mean,))
    times = [(i + 1) / 10 for i in range(60)]
    block = Block(operation="write", metric="latency", times=times, values=values.tolist(), lines=[1] * 60)
    return Log(source=f"{order}.txt", data=f"{order:05}".encode(), records=[run, block], study="s", order=order)


@pytest.fixture
def found() -> TimeSeries:
    return time_series(assemble([_log(1, "ext4", change=True), _log(2, "xfs", stall=True)]))


def test_grey_lasts_until_a_run_is_steady_to_its_end_for_all_of_one_that_never_is(found: TimeSeries) -> None:
    steady = pl.Series("steady", [True, False])
    runs = found.runs.with_columns(steady, steady_since=pl.lit(1.8))
    rows = data_of(spec_of(charts.over_time(replace(found, runs=runs))))
    grey = {row["panel"]: (row["start"], row["restless"]) for row in rows if row.get("restless") is not None}
    assert grey == {"ext4, run 1": (0.0, 1.8), "xfs, run 2": (0.0, pytest.approx(6.0))}
    unknown = replace(found, runs=runs.with_columns(steady=pl.lit(None, pl.Boolean)))
    assert "Grey" not in explained_of(spec_of(charts.over_time(unknown)))


def test_series_of_one_run_are_not_counted_as_runs(found: TimeSeries) -> None:
    disks = replace(found, runs=found.runs.with_columns(run_id=pl.lit("a")))
    spec = spec_of(charts.over_time(disks, most=1))
    assert "the level changes in 1 of 2 series" in heading_of(spec)
    assert "Shown: 1 of 2 series, the first of each kind." in explained_of(spec)


def test_each_run_has_a_panel_in_the_order_of_execution(found: TimeSeries) -> None:
    spec = spec_of(charts.over_time(found))
    assert spec["facet"]["sort"] == ["ext4, run 1", "xfs, run 2"]
    values = [row for row in data_of(spec) if row.get("value") is not None]
    assert len(values) == 120


def test_changes_stalls_and_tenths_stand_where_they_are(found: TimeSeries) -> None:
    rows = pl.DataFrame(data_of(spec_of(charts.over_time(found))), infer_schema_length=None)
    assert rows.drop_nulls("change").select("panel", "change").rows() == [("ext4, run 1", pytest.approx(4.0))]
    assert rows.drop_nulls("stall").select("panel", "stall").rows() == [("xfs, run 2", pytest.approx(2.1))]
    tenths = rows.drop_nulls("batch").filter(panel="ext4, run 1")
    assert tenths["batch"].to_list()[-3:] == pytest.approx([2e-3] * 3, rel=0.03)
    assert tenths["batch_start"].to_list()[-1] == pytest.approx(5.4)


def test_the_title_counts_what_was_seen(found: TimeSeries) -> None:
    spec = spec_of(charts.over_time(found))
    heading = heading_of(spec).replace("\N{NO-BREAK SPACE}", " ")
    assert "the level changes in 1 of 2 runs" in heading
    assert "1 of 2 stall, for up to 200 ms" in heading
    described = spec["description"].replace("\N{NO-BREAK SPACE}", " ")
    assert "xfs, run 2: median 1 ms, changes of level 0, steady at its end, stalls 1." in described


def test_marks_that_are_not_there_are_not_explained() -> None:
    quiet = time_series(assemble([_log(1, "ext4")]))
    spec = spec_of(charts.over_time(quiet))
    assert "Triangle" not in explained_of(spec)
    assert "Dashed" not in explained_of(spec)
    assert "none stalls" in heading_of(spec)


def test_the_first_runs_of_each_group_are_drawn_and_the_others_counted() -> None:
    levels = ("ext4", "ext4", "ext4", "xfs", "xfs")
    found = time_series(assemble(_log(number, level) for number, level in enumerate(levels, 1)))
    spec = spec_of(charts.over_time(found, most=3))
    assert spec["facet"]["sort"] == ["ext4, run 1", "ext4, run 2", "xfs, run 4"]
    assert {row["panel"] for row in data_of(spec)} == set(spec["facet"]["sort"])
    assert "Shown: 3 of 5 runs, the first of each kind." in explained_of(spec)


def test_a_chart_of_no_run_is_refused(found: TimeSeries) -> None:
    with pytest.raises(RequestError, match="at least 1 run has to be drawn over time, not 0"):
        charts.over_time(found, most=0)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_logs_are_data(name: str) -> None:
    dataset = assemble([_log(1, name, change=True, stall=True), _log(2, "xfs")])
    assert vl_convert.vegalite_to_svg(charts.over_time(time_series(dataset)).to_dict()).startswith("<svg")


def test_without_figures_over_time_the_chart_says_how_to_get_some() -> None:
    spec = spec_of(charts.over_time(time_series(assemble([]))))
    assert "log_interval" in spec["description"]
