"""Percentile curves: their axis, their width, what is drawn of runs that print only percentiles."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert

import fsbench_kit as fsb
from fsbench_kit import charts
from fsbench_kit.analysis.latency import curves
from fsbench_kit.charts.style import MOST_ROWS
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.records import Bin, Measurement, Run
from tests.charts.specs import HOSTILE, data_of, explained_of, heading_of, spec_of


def _log(number: int, level: str, counts: dict[tuple[float, float | None], int]) -> Log:
    """Return a log of a run whose requests lie in bins, given in milliseconds."""
    mean = Measurement(
        operation="write",
        metric="latency",
        statistic="mean",
        value=1e-3,
        unit="s",
        text="1",
        line=1,
        block_size=4096,
    )
    bins = tuple(
        Bin(
            operation="write",
            metric="latency",
            low=low / 1e3,
            high=None if high is None else high / 1e3,
            count=count,
            line=1,
        )
        for (low, high), count in counts.items()
    )
    run = Run(tool="fio", start=0, end=9, line=1, filesystem=level, measurements=(mean,), bins=bins)
    return Log(source=f"{number}.txt", data=f"run {number:05}".encode(), records=[run], study="s", order=number)


# 990 of 1000 requests in 1 to 2 ms, 9 in 4 to 5 ms, 1 in 9 to 10 ms
COUNTS: dict[tuple[float, float | None], int] = {(1, 2): 990, (4, 5): 9, (9, 10): 1}


@pytest.fixture
def runs() -> Dataset:
    return assemble([_log(1, "ext4", COUNTS), _log(2, "xfs", {(1, 2): 1000}), _log(3, "ext4", {(4, 5): 1000})])


def _points(spec: dict[str, Any], curve: str) -> dict[float, dict[str, Any]]:
    return {round(row["share"], 6): row for row in data_of(spec) if row["curve"] == curve}


def test_the_slowest_requests_are_spread_out_by_their_number_of_nines(runs: Dataset) -> None:
    spec = spec_of(charts.percentiles(curves(runs)))
    first = _points(spec, runs.runs[0, "run_id"])
    assert first[0.9]["nines"] == pytest.approx(1)
    assert first[0.99]["nines"] == pytest.approx(2)
    axis = spec["spec"]["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"][:3] == pytest.approx([math.log10(2), 1, 2])
    assert "'99.9 %'" in axis["labelExpr"]


def test_a_curve_is_as_wide_as_its_bins(runs: Dataset) -> None:
    spec = spec_of(charts.percentiles(curves(runs)))
    points = _points(spec, runs.runs[0, "run_id"])
    assert [(points[share]["low"], points[share]["high"]) for share in (0.5, 0.99, 0.999)] == [
        (0.001, 0.002),
        (0.001, 0.002),
        (0.004, 0.005),
    ]
    ribbon = spec["spec"]["layer"][0]
    assert (ribbon["mark"]["type"], ribbon["encoding"]["y"]["field"], ribbon["encoding"]["y2"]["field"]) == (
        "area",
        "high",
        "low",
    )


def test_runs_are_curves_of_their_own_and_told_apart_without_colour(runs: Dataset) -> None:
    spec = spec_of(charts.percentiles(curves(runs)))
    assert len({row["curve"] for row in data_of(spec)}) == 3
    line = spec["spec"]["layer"][1]["encoding"]
    assert line["detail"]["field"] == "curve"
    dashes = line["strokeDash"]["scale"]["range"]
    assert len({tuple(dash) for dash in dashes}) == len(line["strokeDash"]["scale"]["domain"]) == 2
    assert "Each curve is one run; runs are not averaged." in explained_of(spec)


def test_a_symbol_of_the_legend_has_no_dash_where_it_has_a_shape(runs: Dataset, published: Path) -> None:
    for found, shown in ((runs, "strokeDash"), (fsb.read(published / "sysbench-rhel72"), "shape")):
        drawn = vl_convert.vegalite_to_vega(spec_of(charts.percentiles(curves(found))))
        (legend,) = drawn["legends"]
        assert {"strokeDash", "shape"} & set(legend) == {shown}


def test_from_three_runs_on_a_group_has_a_median_and_a_band_and_its_runs_are_thin() -> None:
    logs = [_log(number, "ext4", {(1, high): 1000}) for number, high in ((1, 2), (2, 3), (3, 6))]
    rows = curves(assemble([*logs, _log(4, "xfs", COUNTS), _log(5, "xfs", COUNTS)]))
    for draw, across in ((charts.percentiles, "y"), (charts.ecdf, "x")):
        spec = spec_of(draw(rows))
        middle = [row for row in data_of(spec) if row["curve"] == "median"]
        assert {row["level"] for row in middle} == {"ext4"}  # two curves have no median of their own
        assert {(row["lowest"], row["median"], row["highest"]) for row in middle} == {(0.002, 0.003, 0.006)}
        fields = [layer["encoding"][across]["field"] for layer in spec["spec"]["layer"]]
        assert fields == ["high", "highest", "median"]  # and no ribbons
        run, _, median = (layer["mark"] for layer in spec["spec"]["layer"])
        assert run["strokeWidth"] < 1 < median["strokeWidth"]
        assert "Thin lines are runs; the thick one is their median" in explained_of(spec)


def test_pooled_runs_are_one_curve_and_said_to_be(runs: Dataset) -> None:
    spec = spec_of(charts.percentiles(curves(runs, pooled=True)))
    assert len({row["curve"] for row in data_of(spec)}) == 2
    assert "The bins of all runs are added up" in explained_of(spec)
    assert "not averaged" not in explained_of(spec)


def test_the_title_names_the_last_percentile_with_requests_beyond_it(runs: Dataset) -> None:
    heading = heading_of(spec_of(charts.percentiles(curves(runs)))).replace("\N{NO-BREAK SPACE}", " ")
    # of 1000 requests, ten lie beyond 99 %, and one beyond 99.9 %
    said = "99 % of the requests took at most 2 ms to 5 ms on ext4 (2 runs), at most 2 ms on xfs (1 run)"
    assert heading == f"{said}: the runs overlap"
    faster = curves(runs).with_columns(
        high=pl.when(pl.col("level") == "xfs").then(pl.col("high") / 10).otherwise("high")
    )
    assert heading_of(spec_of(charts.percentiles(faster))).endswith("(1 run): every run on xfs was faster")
    numbered = faster.with_columns(
        factor=pl.lit("threads"), level=pl.col("level").replace({"ext4": "1", "xfs": "2"})
    )
    assert heading_of(spec_of(charts.percentiles(numbered))).endswith(
        "with threads 2 (1 run): every run with threads 2 was faster"
    )
    pooled = heading_of(spec_of(charts.percentiles(curves(runs, pooled=True))))
    assert pooled.endswith("run)")
    assert heading_of(spec_of(charts.percentiles(curves(runs), title="Mine"))) == "Mine"


def test_an_open_end_is_not_drawn() -> None:
    spec = spec_of(charts.percentiles(curves(assemble([_log(1, "ext4", {(1, 2): 50, (2, None): 50})]))))
    point = _points(spec, next(iter({row["curve"] for row in data_of(spec)})))[0.9]
    assert (point["low"], point["high"]) == (0.002, None)
    assert "an unknown time" in point["within"]


def test_the_distribution_goes_from_nothing_to_all(runs: Dataset) -> None:
    spec = spec_of(charts.ecdf(curves(runs)))
    encoding = spec["spec"]["layer"][1]["encoding"]
    assert encoding["y"]["field"] == "share"
    assert encoding["y"]["scale"]["domain"] == [0, 1]
    assert encoding["x"]["scale"]["type"] == "log"
    assert heading_of(spec).startswith("50")


def _printed(level: str) -> Log:
    figures = tuple(
        Measurement(
            operation="write",
            metric="latency",
            statistic=f"p{rank}",
            value=value,
            unit="s",
            text="1",
            line=1,
            low=0.9 * value,
            high=1.1 * value,
        )
        for rank, value in (("50", 0.001), ("99", 0.004), ("99.9", 0.01))
    )
    run = Run(tool="fio", start=0, end=9, line=1, filesystem=level, measurements=figures)
    return Log(source=f"{level}.txt", data=level.encode(), records=[run], study="s")


def test_printed_percentiles_are_points() -> None:
    spec = spec_of(charts.percentiles(curves(assemble([_printed("ext4"), _printed("xfs")]))))
    rows = [row for row in data_of(spec) if row["level"] == "xfs"]
    assert [row["share"] for row in rows] == pytest.approx([0.5, 0.99, 0.999])
    assert [row["printed"] for row in rows] == pytest.approx([0.0011, 0.0044, 0.011])
    assert "Points are printed percentiles" in explained_of(spec)
    assert "bins" not in explained_of(spec)


@pytest.mark.parametrize("name", [*HOSTILE, "datum.low"])
def test_names_from_logs_are_data(name: str) -> None:
    rows = curves(assemble([_log(1, name, COUNTS), _log(2, "ext4", COUNTS)]))
    for draw in (charts.percentiles, charts.ecdf):
        assert vl_convert.vegalite_to_svg(draw(rows).to_dict()).startswith("<svg")


def test_more_points_than_a_chart_takes_are_thinned_to_the_last_of_each_curve() -> None:
    bins: dict[tuple[float, float | None], int] = {(step, step + 1): 50 for step in range(1, 300)}
    many = curves(assemble(_log(number, level, bins) for level in ("ext4", "xfs") for number in range(30)))
    assert many.height > MOST_ROWS
    rows = data_of(spec_of(charts.percentiles(many)))
    assert len(rows) <= MOST_ROWS
    kept = pl.DataFrame(rows, infer_schema_length=None).filter(pl.col("curve") != "median")
    assert kept["curve"].n_unique() == 60
    assert set(kept.group_by("curve").agg(pl.col("high").max())["high"].round(9)) == {0.3}
