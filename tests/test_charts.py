"""Charts: what is drawn and what is not, and the words around it, read from the specification a browser gets."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import altair as alt
import polars as pl
import pytest
import vl_convert

from fsbench_kit import charts
from fsbench_kit.dataset import Dataset, Log, assemble
from fsbench_kit.errors import RequestError
from fsbench_kit.records import Measurement, Run
from fsbench_kit.repeats import widths

Compare = Callable[..., pl.DataFrame]

SINGLE: dict[str, Any] = {
    "block_size": 8192,
    "ratio": 1.97,
    "ci_low": None,
    "ci_high": None,
    "confidence": None,
    "break_even_cv": 0.25,
    "verdict": "single runs",
    "reasons": ["ONE_RUN_NO_REPLICATES"],
    "footnotes": ["A side has a single run."],
}


def _spec(chart: alt.FacetChart) -> dict[str, Any]:
    return json.loads(json.dumps(chart.to_dict()))  # what a browser gets


def _data(spec: dict[str, Any]) -> list[dict[str, Any]]:
    (rows,) = spec["datasets"].values()
    return rows


def _layer(spec: dict[str, Any], mark: str, **encoding: str) -> dict[str, Any]:
    """Return the layer with a mark whose channels show the given fields."""
    (found,) = (
        layer
        for layer in spec["spec"]["layer"]
        if layer["mark"]["type"] == mark
        and all(layer["encoding"][channel].get("field") == field for channel, field in encoding.items())
    )
    return found


def _heading(spec: dict[str, Any]) -> str:
    return " ".join(spec["title"]["text"])


def _explained(spec: dict[str, Any]) -> str:
    return " ".join(spec["title"]["subtitle"]).replace("\N{NO-BREAK SPACE}", " ")


# --- colours -----------------------------------------------------------------------------------------------------


def test_a_filesystem_has_the_same_colour_everywhere() -> None:
    def colours(*levels: str) -> dict[str, str]:
        scale = charts.colour_scale(levels).to_dict()
        return dict(zip(scale["domain"], scale["range"], strict=True))

    assert colours("xfs", "ext4")["ext4"] == colours("ext4", "zfs", "mine")["ext4"] == colours("EXT4")["EXT4"]
    strangers = colours("a", "b", "c", "ext4", "xfs")
    assert len(set(strangers.values())) == 5


# --- forest ------------------------------------------------------------------------------------------------------


def test_a_row_with_an_interval_is_a_filled_point_with_a_bar(comparison: Compare) -> None:
    spec = _spec(charts.forest(comparison({})))
    (row,) = _data(spec)
    assert (row["filled"], row["hollow"]) == (1.84, None)
    assert (row["ci_low"], row["ci_high"]) == (1.71, 1.98)
    assert _layer(spec, "rule", x="ci_low", x2="ci_high")
    assert _layer(spec, "point", x="filled")["mark"]["filled"] is True


def test_a_row_of_single_runs_is_a_hollow_point_without_a_bar(comparison: Compare) -> None:
    spec = _spec(charts.forest(comparison({}, SINGLE)))
    row = _data(spec)[1]
    assert (row["filled"], row["hollow"], row["ci_low"], row["ci_high"]) == (None, 1.97, None, None)
    assert not _layer(spec, "point", x="hollow")["mark"].get("filled")
    assert "A hollow point without a bar has no interval" in _explained(spec)


def test_the_axis_is_logarithmic_with_equality_and_its_band(comparison: Compare) -> None:
    spec = _spec(charts.forest(comparison({}), margin=1.1))
    scale = _layer(spec, "point", x="filled")["encoding"]["x"]["scale"]
    assert scale["type"] == "log"
    low, high = scale["domain"]
    assert low < 1 / 1.1
    assert high > 1.98
    (equal,) = (e for layer in spec["spec"]["layer"] if (e := layer["encoding"]["x"].get("datum")) == 1.0)
    (band,) = (layer for layer in spec["spec"]["layer"] if layer["mark"]["type"] == "rect")
    assert (band["encoding"]["x"]["datum"], band["encoding"]["x2"]["datum"]) == (1 / 1.1, 1.1)
    assert equal == 1.0
    assert "the band ±10 %" in _explained(spec)


def test_a_panel_says_in_words_which_side_is_better(comparison: Compare) -> None:
    latency = {"metric": "completion_latency", "statistic": "p99"}
    spec = _spec(charts.forest(comparison(latency, {})))
    assert spec["facet"]["row"]["sort"] == [
        "Bandwidth: higher is better, so right of 1",
        "Completion latency, p99: lower is better, so left of 1",
    ]


def test_reasons_are_in_the_tooltip(comparison: Compare) -> None:
    spec = _spec(charts.forest(comparison(SINGLE)))
    assert _data(spec)[0]["reasons"] == "ONE_RUN_NO_REPLICATES A side has a single run."
    tooltip = _layer(spec, "point", x="hollow")["encoding"]["tooltip"]
    assert {"words", "reasons"} <= {entry["field"] for entry in tooltip}


def test_a_bound_points_to_where_the_ratio_can_be(comparison: Compare) -> None:
    bound = {"ratio": None, "ci_low": None, "ci_high": None, "verdict": "bound only"}
    below = bound | {"rounding_high": 0.5, "operation": "read"}
    spec = _spec(charts.forest(comparison(bound | {"rounding_low": 2.1}, below)))
    rows = {row["hollow"]: row["evidence"] for row in _data(spec)}
    scale = _layer(spec, "point", x="hollow")["encoding"]["shape"]["scale"]
    shapes = dict(zip(scale["domain"], scale["range"], strict=True))
    assert {place: shapes[evidence] for place, evidence in rows.items()} == {
        2.1: "triangle-right",
        0.5: "triangle-left",
    }


def test_a_verdict_withheld_is_seen(comparison: Compare) -> None:
    spec = _spec(charts.forest(comparison({"verdict": "not comparable"})))
    assert _data(spec)[0]["evidence"] == "verdict withheld"
    assert "A pale diamond has an interval and no verdict" in _explained(spec)


def test_an_interval_that_would_squeeze_the_others_is_cut_and_marked(comparison: Compare) -> None:
    spec = _spec(
        charts.forest(comparison({}, {"operation": "read", "ratio": 1.5, "ci_low": 0.01, "ci_high": 225.0}))
    )
    low, high = _layer(spec, "point", x="filled")["encoding"]["x"]["scale"]["domain"]
    cut = next(row for row in _data(spec) if row["filled"] == 1.5)
    whole = next(row for row in _data(spec) if row["filled"] == 1.84)
    assert 0.2 < low < high < 10
    assert (cut["ci_low"], cut["cut_low"], cut["ci_high"], cut["cut_high"]) == (low, low, high, high)
    assert (whole["cut_low"], whole["cut_high"]) == (None, None)


def test_the_title_says_what_was_found_and_the_description_says_it_of_each_row(comparison: Compare) -> None:
    spec = _spec(charts.forest(comparison({}, SINGLE)))
    assert _heading(spec) == "xfs against ext4, 2 comparisons: better in 1, no interval (single runs) in 1."
    assert "xfs/ext4 = 1.97× from one run each" in spec["description"]
    assert _heading(_spec(charts.forest(comparison({}), title="Mine"))) == "Mine"


def test_a_long_comparison_keeps_intervals_first_and_then_what_is_furthest_from_1(comparison: Compare) -> None:
    single = [SINGLE | {"block_size": 4096 * (i + 1), "ratio": ratio} for i, ratio in enumerate((1.1, 0.2, 3.0))]
    spec = _spec(charts.forest(comparison(*single, {"ratio": 1.01, "ci_low": 0.9, "ci_high": 1.2}), most=2))
    assert {row["filled"] or row["hollow"] for row in _data(spec)} == {1.01, 0.2}
    assert "Of 4 rows, 2 are drawn: those with an interval, and those furthest from 1." in _explained(spec)


def test_rows_without_a_ratio_are_counted(comparison: Compare) -> None:
    nothing = {"ratio": None, "ci_low": None, "ci_high": None, "verdict": "not comparable"}
    assert "Without a ratio to draw: 1." in _explained(_spec(charts.forest(comparison({}, nothing))))
    assert "No row of this comparison has a ratio or a bound." in str(charts.forest(comparison(nothing)).to_dict())


def test_nothing_to_compare_is_said(comparison: Compare) -> None:
    assert "nothing could be set side by side" in str(charts.forest(comparison({}).clear()).to_dict())


def test_more_rows_than_a_chart_can_show_are_an_error(comparison: Compare) -> None:
    rows = pl.concat([comparison({})] * 5001)
    with pytest.raises(RequestError, match=r"5,001 rows .* takes 5,000"):
        charts.forest(rows)


@pytest.mark.parametrize(
    "name",
    ['<script>alert("1")</script>', "'\"\\", "a\nb\u2028c\x00\x1b[31md", "x" * 10_000, "datum.ci_low"],
)
def test_names_from_logs_are_data(comparison: Compare, name: str) -> None:
    rows = comparison({"level": name, "part": name, "footnotes": [name]}, {"level": name, "part": "other"})
    spec = charts.forest(rows).to_dict()
    (level,) = {row["level"] for row in _data(spec)}
    assert level[:6] == name[:6] or level == "a b c [31md"
    assert vl_convert.vegalite_to_svg(spec).startswith("<svg")


# --- runs in their order -----------------------------------------------------------------------------------------


def _run(number: int, filesystem: str, rate: float, *, block_size: int = 4096, **facts: Any) -> Log:
    """Return a log of one run that wrote at a rate, in B/s."""
    figure = Measurement(
        operation="write", metric="bandwidth", value=rate, unit="B/s", text="", line=1, block_size=block_size
    )
    run = Run(tool="fio", start=0, end=9, line=1, filesystem=filesystem, measurements=(figure,))
    return Log(source=f"{number}.txt", data=f"run {number:05}".encode(), records=[run], study="s", **facts)


def _runs(*rates: tuple[str, float]) -> Dataset:
    # The files' names are in the opposite order of the runs.
    return assemble(_run(99 - i, filesystem, rate, order=i) for i, (filesystem, rate) in enumerate(rates, 1))


MIB = 2.0**20


def test_runs_stand_in_the_order_in_which_they_were_made() -> None:
    spec = _spec(charts.run_order(_runs(("ext4", 100 * MIB), ("xfs", 150 * MIB), ("ext4", 200 * MIB))))
    assert [
        (row["place"], row["level"], row["value"]) for row in sorted(_data(spec), key=lambda r: r["place"])
    ] == [
        (1, "ext4", 100.0),
        (2, "xfs", 150.0),
        (3, "ext4", 200.0),
    ]
    assert spec["facet"]["sort"] == ["Bandwidth, in MiB/s"]


def test_the_title_names_the_runs_that_vary_most() -> None:
    # ln 2 apart: variance of the logs ln(2)^2/2 = 0.2402, CV sqrt(exp(0.2402) - 1) = 0.521
    dataset = _runs(("ext4", 100 * MIB), ("xfs", 150 * MIB), ("ext4", 200 * MIB), ("xfs", 150 * MIB))
    spec = _spec(charts.run_order(dataset))
    assert _heading(spec) == "Runs vary most for ext4 in Bandwidth (CV 52\N{NO-BREAK SPACE}%)"
    assert "xfs, Bandwidth: CV 0\N{NO-BREAK SPACE}% over 2 runs." in spec["description"]


def test_without_replicates_the_title_says_that_nothing_is_known() -> None:
    spec = _spec(charts.run_order(_runs(("ext4", 1.0), ("xfs", 2.0))))
    assert _heading(spec) == "One run of each kind: nothing is known of how runs vary"


def test_the_time_of_a_run_decides_where_no_order_was_recorded() -> None:
    dataset = assemble(_run(day, "ext4", float(day), started_at=datetime(2024, 5, day)) for day in (3, 1, 2))
    spec = _spec(charts.run_order(dataset))
    assert [row["value"] for row in sorted(_data(spec), key=lambda r: r["place"])] == [1, 2, 3]
    assert "not known" not in _explained(spec)


def test_runs_of_unknown_time_are_said_to_stand_in_the_order_of_their_files() -> None:
    spec = _spec(charts.run_order(assemble([_run(1, "ext4", 5.0), _run(2, "ext4", 6.0)])))
    assert "When the runs were made is not known" in _explained(spec)
    assert spec["spec"]["encoding"]["x"]["title"] == "order in the files"


def test_failed_runs_are_left_out_and_said_to_be() -> None:
    spec = _spec(
        charts.run_order(assemble([_run(1, "ext4", 5.0, order=1), _run(2, "ext4", 9.0, status="failed")]))
    )
    assert [row["value"] for row in _data(spec)] == [5.0]
    assert "Left out: runs that failed or are partial." in _explained(spec)


def test_the_cells_that_vary_most_are_kept() -> None:
    figures = [(4096, 10.0), (4096, 20.0), (8192, 10.0), (8192, 11.0)]
    logs = [_run(i, "ext4", rate, block_size=size, order=i) for i, (size, rate) in enumerate(figures)]
    spec = _spec(charts.run_order(assemble(logs), most=1))
    assert spec["facet"]["sort"] == ["block size 4 KiB, in B/s"]
    assert "Drawn: 1 of 2 cells." in _explained(spec)


def test_a_metric_that_no_run_has_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(RequestError) as caught:
        charts.run_order(_runs(("ext4", 1.0)), "iops")
    assert "bandwidth" in str(caught.value)


def test_runs_needed_says_how_many_are_enough() -> None:
    chart = charts.runs_needed(widths([0.02, 0.05, 0.2]))
    spec = json.loads(json.dumps(chart.to_dict()))
    heading = _heading(spec).replace("\N{NO-BREAK SPACE}", " ")
    # 3 and 10 runs by Student's planning; at 20 % it takes 131, more than are drawn
    assert "3 runs a side where runs vary by 2 %, 10 runs a side where runs vary by 5 %" in heading
    assert "20 %" not in heading
    assert len(vl_convert.vegalite_to_svg(spec)) > 1000
