"""The forest plot: what is drawn and what is not, and the words around it."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
import vl_convert

from fsbench_kit import charts
from fsbench_kit.model.errors import RequestError
from tests.charts.specs import data_of, explained_of, heading_of, layer_of, spec_of

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


def test_a_row_with_an_interval_is_a_filled_point_with_a_bar(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({})))
    (row,) = data_of(spec)
    assert (row["filled"], row["hollow"]) == (1.84, None)
    assert (row["ci_low"], row["ci_high"]) == (1.71, 1.98)
    assert layer_of(spec, "rule", x="ci_low", x2="ci_high")
    assert layer_of(spec, "point", x="filled")["mark"]["filled"] is True


def test_a_row_of_single_runs_is_a_hollow_point_without_a_bar(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({}, SINGLE)))
    row = data_of(spec)[1]
    assert (row["filled"], row["hollow"], row["ci_low"], row["ci_high"]) == (None, 1.97, None, None)
    assert row["text"] == "1.97"
    assert not layer_of(spec, "point", x="hollow")["mark"].get("filled")
    assert "A hollow point without a bar has no interval" in explained_of(spec)


def test_the_axis_is_logarithmic_with_equality_and_its_band(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({}), margin=1.1))
    scale = layer_of(spec, "point", x="filled")["encoding"]["x"]["scale"]
    assert scale["type"] == "log"
    low, high = scale["domain"]
    assert low < 1 / 1.1
    assert high > 1.98
    (equal,) = (e for layer in spec["spec"]["layer"] if (e := layer["encoding"]["x"].get("datum")) == 1.0)
    (band,) = (layer for layer in spec["spec"]["layer"] if layer["mark"]["type"] == "rect")
    assert (band["encoding"]["x"]["datum"], band["encoding"]["x2"]["datum"]) == (1 / 1.1, 1.1)
    assert equal == 1.0
    assert "the band ±10 %" in explained_of(spec)


def test_a_panel_says_in_words_which_side_is_better(comparison: Compare) -> None:
    latency = {"metric": "completion_latency", "statistic": "p99"}
    spec = spec_of(charts.forest(comparison(latency, {})))
    assert spec["facet"]["row"]["sort"] == [
        "Bandwidth: higher is better (right of 1)",
        "Completion latency, p99: lower is better (left of 1)",
    ]


def test_reasons_are_in_the_tooltip(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison(SINGLE)))
    assert data_of(spec)[0]["reasons"] == "ONE_RUN_NO_REPLICATES A side has a single run."
    tooltip = layer_of(spec, "point", x="hollow")["encoding"]["tooltip"]
    assert {"summary", "reasons"} <= {entry["field"] for entry in tooltip}


def test_a_bound_points_to_where_the_ratio_can_be(comparison: Compare) -> None:
    bound = {"ratio": None, "ci_low": None, "ci_high": None, "verdict": "bound only"}
    below = bound | {"rounding_high": 0.5, "operation": "read"}
    spec = spec_of(charts.forest(comparison(bound | {"rounding_low": 2.1}, below)))
    rows = {row["hollow"]: row["evidence"] for row in data_of(spec)}
    scale = layer_of(spec, "point", x="hollow")["encoding"]["shape"]["scale"]
    shapes = dict(zip(scale["domain"], scale["range"], strict=True))
    assert {place: shapes[evidence] for place, evidence in rows.items()} == {
        2.1: "triangle-right",
        0.5: "triangle-left",
    }


def test_a_verdict_withheld_is_seen(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({"verdict": "not comparable"})))
    assert data_of(spec)[0]["evidence"] == "verdict withheld"
    assert "A pale diamond has an interval but no verdict" in explained_of(spec)


def test_an_interval_that_would_squeeze_the_others_is_cut_and_marked(comparison: Compare) -> None:
    spec = spec_of(
        charts.forest(comparison({}, {"operation": "read", "ratio": 1.5, "ci_low": 0.01, "ci_high": 225.0}))
    )
    low, high = layer_of(spec, "point", x="filled")["encoding"]["x"]["scale"]["domain"]
    cut = next(row for row in data_of(spec) if row["filled"] == 1.5)
    whole = next(row for row in data_of(spec) if row["filled"] == 1.84)
    assert 0.2 < low < high < 10
    assert (cut["ci_low"], cut["cut_low"], cut["ci_high"], cut["cut_high"]) == (low, low, high, high)
    assert (whole["cut_low"], whole["cut_high"]) == (None, None)


def test_the_title_says_what_was_found_and_the_description_says_it_of_each_row(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({}, SINGLE)))
    assert heading_of(spec) == (
        "block size 4 KiB: xfs is 84\N{NO-BREAK SPACE}% faster than ext4 "
        "(71 to 98\N{NO-BREAK SPACE}%; 5 rounds, 5 for xfs)."
    )
    assert "xfs was 97\N{NO-BREAK SPACE}% faster than ext4 in one run each" in spec["description"]
    assert heading_of(spec_of(charts.forest(comparison({}), title="Mine"))) == "Mine"


def test_an_effect_is_one_row_with_its_interval_as_text(comparison: Compare) -> None:
    twice = {"metric": "iops", "effect": 0}
    spec = spec_of(charts.forest(comparison({}, twice, {"operation": "read", "ci_low": 1.5, "ci_high": 2.1})))
    assert [row["text"] for row in data_of(spec)] == ["1.84 [1.50, 2.10]", "1.84 [1.71, 1.98]"]
    assert [row["level"] for row in data_of(spec)] == ["xfs", "xfs"]
    (text,) = (e for layer in spec["spec"]["layer"] if "field" in (e := layer["encoding"].get("text", {})))
    assert text["field"] == "text"


def test_a_long_comparison_keeps_intervals_first_and_then_what_is_furthest_from_1(comparison: Compare) -> None:
    single = [SINGLE | {"block_size": 4096 * (i + 1), "ratio": ratio} for i, ratio in enumerate((1.1, 0.2, 3.0))]
    spec = spec_of(charts.forest(comparison(*single, {"ratio": 1.01, "ci_low": 0.9, "ci_high": 1.2}), most=2))
    assert {row["filled"] or row["hollow"] for row in data_of(spec)} == {1.01, 0.2}
    assert "Shown: 2 of 4 rows, those with an interval, then those furthest from 1." in explained_of(spec)


def test_rows_without_a_ratio_are_counted(comparison: Compare) -> None:
    nothing = {"ratio": None, "ci_low": None, "ci_high": None, "verdict": "not comparable"}
    assert "Rows without a ratio: 1." in explained_of(spec_of(charts.forest(comparison({}, nothing))))
    assert "No row of this comparison has a ratio or a bound." in str(charts.forest(comparison(nothing)).to_dict())


def test_nothing_to_compare_is_said(comparison: Compare) -> None:
    assert "no two groups to compare" in str(charts.forest(comparison({}).clear()).to_dict())


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
    (level,) = {row["level"] for row in data_of(spec)}
    assert level[:6] == name[:6] or level == "a b c [31md"
    assert vl_convert.vegalite_to_svg(spec).startswith("<svg")
