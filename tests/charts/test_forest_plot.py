"""The forest plot: what is drawn and what is not, and the words around it."""

import itertools
import json
import math
import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
import vl_convert

from fsbench_kit import charts
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


def _effects(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in data_of(spec) if row["kind"] == "effect"]


def _heads(spec: dict[str, Any]) -> list[str]:
    return [row["head"].replace("\n", " ").replace("\xa0", " ") for row in data_of(spec) if row["head"]]


def _views(spec: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(row["view"] for row in data_of(spec)))


def _name(row: dict[str, Any]) -> str:
    return str(row["row"]).partition("|")[2]


def test_a_row_with_an_interval_is_a_filled_point_with_a_bar_and_its_text(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({})))
    (row,) = _effects(spec)
    assert (row["filled"], row["hollow"], row["text"]) == (1.84, None, "1.84 (1.71 to 1.98)")
    assert (row["ci_low"], row["ci_high"]) == (1.71, 1.98)
    assert layer_of(spec, "rule", x="ci_low", x2="ci_high")
    assert layer_of(spec, "point", x="filled")["mark"]["filled"] is True


def test_an_interval_that_is_narrower_than_its_print_gets_more_digits(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({"ratio": 0.9999, "ci_low": 0.9991, "ci_high": 1.0004})))
    assert _effects(spec)[0]["text"] == "1.000 (1.000 to 1.001)"
    spec = spec_of(charts.forest(comparison({"ratio": 1.84, "ci_low": 1.83999, "ci_high": 1.84001})))
    assert _effects(spec)[0]["text"] == "almost exactly 1.840"


def test_single_runs_are_hollow_points_without_bars_and_say_so_once(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({}, SINGLE, SINGLE | {"block_size": 2**20})))
    rows = [row for row in _effects(spec) if row["hollow"]]
    assert [(row["filled"], row["ci_low"], row["text"]) for row in rows] == [(None, None, "1.97")] * 2
    assert not layer_of(spec, "point", x="hollow")["mark"].get("filled")
    assert _heads(spec) == ["xfs ahead of ext4", "single runs: no interval, no verdict"]
    alone = spec_of(charts.forest(comparison(SINGLE)))
    assert _heads(alone) == []
    assert "All are ratios of single runs" in explained_of(alone)


def test_the_axis_is_logarithmic_with_equality_and_its_band_and_stands_above_and_below(
    comparison: Compare,
) -> None:
    spec = spec_of(charts.forest(comparison({}), margin=1.1))
    scale = layer_of(spec, "point", x="filled")["encoding"]["x"]["scale"]
    assert scale["type"] == "log"
    low, high = scale["domain"]
    assert low < 1 / 1.1
    assert high > 1.98
    (band,) = (layer for layer in spec["layer"] if "datum" in layer["encoding"]["x"])
    assert (band["encoding"]["x"]["datum"], band["encoding"]["x2"]["datum"]) == (1 / 1.1, 1.1)
    axes = [layer["encoding"]["x"].get("axis") for layer in spec["layer"] if "field" in layer["encoding"]["x"]]
    assert [axis.get("orient", "bottom") for axis in axes if axis] == ["top", "bottom"]
    assert "the ±10 % that count as equal" in explained_of(spec)


def test_the_figure_of_a_row_is_that_of_the_headline_and_the_axis_says_whose_side_it_is_on(
    comparison: Compare,
) -> None:
    spec = spec_of(charts.forest(comparison({"ratio": 0.5, "ci_low": 0.4, "ci_high": 0.625, "verdict": "worse"})))
    assert "ext4 writes 2.00 times as fast as xfs (1.60 to 2.50;" in heading_of(spec)
    (row,) = _effects(spec)
    assert (row["filled"], row["text"]) == (0.5, "2.00 (1.60 to 2.50)")
    (title,) = (title for layer in spec["layer"] if isinstance(title := layer["encoding"]["x"].get("title"), list))
    assert title[1] == "← ext4 better · xfs better →"
    ticks = re.findall(r">([\d.]+×)<", vl_convert.vegalite_to_svg(spec))
    middle = ticks.index("1×")
    assert (ticks[0], ticks[middle - 1], ticks[middle + 1]) == ("2.5×", "1.1×", "1.1×")
    several = comparison({"level": "zfs"}, {"level": "xfs"}, {"baseline": "xfs", "level": "zfs"})
    assert "the first better" in str(charts.forest(several).to_dict())
    assert "ext4 better · the other better" in str(charts.forest(several.head(2)).to_dict())


def test_rows_follow_the_headlines(comparison: Compare) -> None:
    """The sync of an operation is no headline where the operation itself is decided, however large its ratio."""
    worse = {"metric": "elapsed", "better": "lower", "verdict": "worse", "tool": "smallfiles"}
    rows = comparison(
        {"ratio": 1.2},
        worse | {"operation": "delete_sync", "ratio": 9.0},
        worse | {"operation": "delete", "ratio": 3.0},
        worse | {"operation": "rewrite", "ratio": 4.0},
    )
    spec = spec_of(charts.forest(rows))
    assert "rewrite" in heading_of(spec)
    assert [row["filled"] for row in _effects(spec)] == [
        0.25,
        pytest.approx(1 / 3),
        pytest.approx(1 / 9),
        1.2,
    ]


def test_what_is_lower_is_better_is_turned_round(comparison: Compare) -> None:
    latency = {"metric": "completion_latency", "statistic": "p99", "better": "lower", "verdict": "worse"}
    spec = spec_of(charts.forest(comparison(latency | {"ratio": 2.0, "ci_low": 1.6, "ci_high": 2.5}, {})))
    ahead, behind = sorted(_effects(spec), key=lambda row: -float(row["filled"]))
    assert (behind["filled"], behind["ci_low"], behind["ci_high"]) == (0.5, 0.4, 0.625)
    assert behind["text"] == "2.00 (1.60 to 2.50)"
    assert (_name(ahead), _name(behind)) == ("bandwidth", "completion latency, p99")
    assert "half the latency is twice as good" in explained_of(spec)


def test_groups_say_what_is_decided_the_largest_effect_first(comparison: Compare) -> None:
    cached = {"ratio": 1.99, "verdict": "not comparable", "reasons": ["CACHED"]}
    rows = comparison(
        cached,
        {"ratio": 1.01, "ci_low": 1.0, "ci_high": 1.02, "verdict": "equivalent", "block_size": 1},
        {"ratio": 1.2, "block_size": 2},
        {"ratio": 1.9, "block_size": 3},
        {"ratio": 0.2, "ci_low": 0.1, "ci_high": 0.3, "verdict": "worse", "block_size": 4},
        {"ratio": 1.3, "ci_low": 0.8, "ci_high": 2.0, "verdict": "inconclusive", "block_size": 5},
    )
    spec = spec_of(charts.forest(rows))
    *heads, withheld = _heads(spec)
    assert heads == ["ext4 ahead of xfs", "xfs ahead of ext4", "equal within 5 %", "inconclusive"]
    assert withheld.startswith("not comparable: the data are less than twice the memory")
    assert [(row["filled"] or row["hollow"], row["tone"]) for row in _effects(spec)] == [
        (0.2, "shown"),
        (1.9, "shown"),
        (1.2, "shown"),
        (1.01, "equal"),
        (1.3, "open"),
        (1.99, "withheld"),
    ]


@pytest.mark.parametrize("largest", ["xfs", "ext4"])
def test_the_group_with_the_first_headline_stands_first(comparison: Compare, largest: str) -> None:
    worse = {"ratio": 0.2 if largest == "ext4" else 0.8, "ci_low": 0.15, "ci_high": 0.9, "verdict": "worse"}
    spec = spec_of(charts.forest(comparison({}, worse | {"block_size": 4})))
    assert f"{largest} writes" in heading_of(spec)
    assert _heads(spec)[0].startswith(f"{largest} ahead of ")


def test_the_tooltip_has_the_sentence_and_both_figures_and_nothing_that_is_null(comparison: Compare) -> None:
    twice = {"metric": "iops", "effect": 0, "value_baseline": 250.0, "value_candidate": 460.0, "unit": "1/s"}
    spec = spec_of(charts.forest(comparison({}, twice)))
    (row,) = _effects(spec)
    assert row["summary"].endswith("Bandwidth: 184 MiB/s against 100 MiB/s. IOPS: 460/s against 250/s.")
    assert layer_of(spec, "point", x="filled")["encoding"]["tooltip"]["field"] == "summary"


def test_a_bound_says_on_which_side_of_it_the_ratio_lies(comparison: Compare) -> None:
    bound = {"ratio": None, "ci_low": None, "ci_high": None, "verdict": "bound only"}
    below = bound | {"rounding_high": 0.5, "operation": "read"}
    spec = spec_of(charts.forest(comparison(bound | {"rounding_low": 2.1}, below)))
    assert {row["hollow"]: row["text"] for row in _effects(spec)} == {2.1: "> 2.10", 0.5: "> 2.00"}


def test_an_interval_that_would_squeeze_the_others_is_cut_and_marked(comparison: Compare) -> None:
    spec = spec_of(
        charts.forest(comparison({}, {"operation": "read", "ratio": 1.5, "ci_low": 0.01, "ci_high": 225.0}))
    )
    low, high = layer_of(spec, "point", x="filled")["encoding"]["x"]["scale"]["domain"]
    cut = next(row for row in _effects(spec) if row["filled"] == 1.5)
    whole = next(row for row in _effects(spec) if row["filled"] == 1.84)
    assert 0.2 < low < high < 10
    assert (cut["ci_low"], cut["cut_low"], cut["ci_high"], cut["cut_high"]) == (0.01, low, 225.0, high)
    assert layer_of(spec, "rule", x="ci_low", x2="ci_high")["mark"]["clip"] is True
    assert (whole["cut_low"], whole["cut_high"]) == (None, None)


def test_the_title_says_what_was_found_and_the_description_says_it_of_each_row(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({}, SINGLE)))
    assert heading_of(spec) == (
        "block size 4 KiB: xfs writes 1.84 times as fast as ext4 (1.71 to 1.98; faster in all 5 rounds)."
    )
    assert "xfs wrote 1.97 times as fast as ext4 (one run each;" in spec["description"]
    assert heading_of(spec_of(charts.forest(comparison({}), title="Mine"))) == "Mine"


def test_a_long_comparison_is_summarised_by_operation_and_leaves_nothing_out(comparison: Compare) -> None:
    sizes = [{"block_size": 2**number, "ratio": number / 10} for number in (9, 10, 11)]
    reads = [size | {"operation": "read", "ratio": 4.0} for size in sizes]
    spec = spec_of(charts.forest(comparison(*sizes, *reads), most=5))
    first, *others = _views(spec)
    assert others == ["randwrite, read", "randwrite, write"]
    every = [row for row in _effects(spec) if row["view"] == first]
    assert len(every) == 6
    assert [(_name(row), row["text"]) for row in every if row["text"]] == [
        ("randwrite, read", "almost exactly 4.000"),
        ("randwrite, write", "1.00 (0.90 to 1.10)"),
    ]
    opened = [row["filled"] for row in _effects(spec) if row["view"] == "randwrite, write"]
    assert opened == [0.9, 1.1, 1.0]


def test_no_row_of_a_summary_mixes_questions_and_few_effects_are_not_summarised(comparison: Compare) -> None:
    cpu = {"metric": "cpu", "better": "lower", "ratio": 1.1}
    effects = [{"block_size": 2**number} | more for number in (9, 10, 11) for more in ({}, cpu)]
    spec = spec_of(charts.forest(comparison(*effects), most=5))
    assert _views(spec) == ["speed", "CPU", "randwrite, write"]
    shown = {view: [row["filled"] for row in _effects(spec) if row["view"] == view] for view in ("speed", "CPU")}
    assert shown == {"speed": [1.84] * 3, "CPU": [pytest.approx(1 / 1.1)] * 3}


def test_where_a_summary_saves_no_rows_there_is_none(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison(*({"level": f"fs{n}"} for n in range(9))), most=5))
    rows = [row for row in _effects(spec) if row["view"] == "all"]
    assert [(row["text"], row["ci_low"]) for row in rows] == [("1.84 (1.71 to 1.98)", 1.71)] * 9
    assert layer_of(spec, "point", x="filled")["encoding"]["shape"].get("legend", 0) is None  # rows have the names


def test_rows_of_a_view_are_as_high_as_its_names(comparison: Compare) -> None:
    long = {
        "ratio": 1.1,
        "better": "lower",
        "metric": "completion_latency",
        "statistic": "p99",
        "pattern": "x" * 40,
    }
    spec = spec_of(charts.forest(comparison({}, {"block_size": 1}, long), most=2))
    assert spec["usermeta"]["rows"]["spare"] == {
        "speed": 14,
        "completion latency, p99": 0,
        "randwrite, write": 14,
        f"{'x' * 40}, write": 0,
    }


def test_a_short_name_stands_as_near_above_its_row_as_a_long_one(comparison: Compare) -> None:
    """An SVG leaves out the step to the next line where a line is empty."""
    rows = comparison({"part": "short"}, {"part": "a long name " * 12})
    drawn = vl_convert.vegalite_to_svg(spec_of(charts.forest(rows, width="column")))
    (short,) = re.findall(r"<text[^>]*>((?:<tspan[^>]*>[^<]*</tspan>)*<tspan[^>]*>short</tspan>)</text>", drawn)
    lines = re.findall(r"<tspan[^>]*>([^<]*)</tspan>", short)
    assert len(lines) == 3
    assert all(lines)


@pytest.mark.parametrize(("low", "high"), [(0.3, 3.0), (0.3, 5.0), (0.5, 2.0), (0.7, 2.0)])
def test_the_tick_at_1_is_never_hidden(comparison: Compare, low: float, high: float) -> None:
    row = {"ratio": 1.1, "ci_low": low, "ci_high": high}
    axis = layer_of(spec_of(charts.forest(comparison(row))), "point", x="filled")["encoding"]["x"]["axis"]
    hidden = [json.loads(ticks) for ticks in re.findall(r"\[[^]]*\]", axis["labelExpr"])]
    assert len(hidden) == 2  # in a column, and on a page
    assert hidden[0]
    assert 1.0 in axis["values"]
    assert all(1.0 not in ticks for ticks in hidden)


def test_a_figure_for_a_journal_has_no_title_and_fits_a_column(comparison: Compare) -> None:
    spec = spec_of(charts.forest(comparison({}), style="paper", width="column"))
    assert "title" not in spec
    assert "Times" in spec["config"]["font"]
    drawn = vl_convert.vegalite_to_svg(spec)
    width = float(drawn.partition('width="')[2].partition('"')[0])
    assert width < 350  # 9 cm
    assert {"name": "narrow", "value": True} in spec["params"]
    assert spec["layer"][0]["encoding"]["y"]["axis"]["zindex"] == 1  # names stand in front of the band


def test_what_stands_above_a_column_is_no_wider_than_it(comparison: Compare) -> None:
    rows = comparison({}, {"block_size": 2**20, "operation": "read"})
    said = heading_of(spec_of(charts.forest(rows)))
    spec = spec_of(charts.forest(rows, width="column"))
    assert heading_of(spec) == said
    assert float(vl_convert.vegalite_to_svg(spec).partition('width="')[2].partition('"')[0]) < 390  # 10 cm


def test_rows_without_a_ratio_are_counted(comparison: Compare) -> None:
    nothing = {"ratio": None, "ci_low": None, "ci_high": None, "verdict": "not comparable"}
    assert "Effects without a ratio: 1." in explained_of(spec_of(charts.forest(comparison({}, nothing))))
    assert "No row of this comparison has a ratio or a bound." in str(charts.forest(comparison(nothing)).to_dict())


def test_nothing_to_compare_is_said(comparison: Compare) -> None:
    assert "no two groups to compare" in str(charts.forest(comparison({}).clear()).to_dict())


def _many(comparison: Compare, number: int) -> pl.DataFrame:
    """Make effects whose ratios are 1.0001, 1.0002 and so on, in random order."""
    one = comparison({})
    places = pl.int_range(1, number + 1, eager=True).shuffle(seed=1)
    same = one.select(pl.exclude("effect", "block_size", "ratio", "ci_low", "ci_high"))
    return (
        pl.DataFrame(
            {"effect": places, "block_size": places, "ratio": 1 + places / 1e4, "ci_low": 1.0, "ci_high": 2.0}
        )
        .join(same, how="cross")
        .select(one.columns)
    )


def test_very_many_effects_are_drawn_at_equal_steps_and_the_largest_one_by_one(comparison: Compare) -> None:
    spec = spec_of(charts.forest(_many(comparison, 6000)))
    assert len(data_of(spec)) <= 5000
    assert "There are 6,000 effects" in explained_of(spec)
    assert "marks at equal steps from the lowest to the highest" in explained_of(spec)
    of_view = {view: [row for row in _effects(spec) if row["view"] == view] for view in _views(spec)}
    assert list(of_view) == ["all, by operation", "randwrite, write"]
    places = [row["filled"] for row in of_view["all, by operation"]]
    assert (places[0], places[-1]) == (1.0001, 1.6)
    assert len(places) == 100
    steps = [after - before for before, after in itertools.pairwise(places)]
    assert max(steps) - min(steps) < 1.5e-4  # they are of 60 or of 61 effects
    assert of_view["all, by operation"][0]["text"] == "1.30 (1.00 to 1.60)"
    (listed,) = (rows for view, rows in of_view.items() if view != "all, by operation")
    assert [row["filled"] for row in listed] == [pytest.approx(1.6 - n / 1e4) for n in range(100)]
    assert _heads(spec) == ["and 5,900 more rows: the CSV of the table has all"]


def test_very_many_operations_have_no_views_of_their_own(comparison: Compare) -> None:
    rows = _many(comparison, 6000).with_columns(pattern=pl.format("p{}", pl.col("effect") % 3000))
    spec = spec_of(charts.forest(rows))
    assert len(data_of(spec)) <= 5000
    assert _views(spec) == ["all, by operation"]
    assert _heads(spec) == ["and 2,900 more rows: the CSV of the table has all"]


def test_all_rows_that_are_asked_for_are_drawn_as_far_as_a_chart_can_show_them(comparison: Compare) -> None:
    spec = spec_of(charts.forest(_many(comparison, 300), most=300))
    assert len(_effects(spec)) == 300
    assert _heads(spec) == []
    spec = spec_of(charts.forest(_many(comparison, 6000), most=6000))
    assert _heads(spec) == ["and 3,500 more rows: the CSV of the table has all"]


def test_a_chart_does_not_depend_on_the_last_digits_of_a_processor(comparison: Compare) -> None:
    row = {"ratio": 1.84, "ci_low": 1.7112345678901234, "ci_high": 1.9812345678901234}
    other = {name: math.nextafter(value, 2) for name, value in row.items()}
    assert other != row
    for better in ("higher", "lower"):
        rows = (comparison({}, {"part": "b", "better": better, **of}) for of in (row, other))
        first, second = (charts.forest(of).to_dict() for of in rows)
        assert second == first


@pytest.mark.parametrize(
    "name",
    ['<script>alert("1")</script>', "'\"\\", "a\nb\u2028c\x00\x1b[31md", "x" * 10_000, "datum.ci_low"],
)
def test_names_from_logs_are_data(comparison: Compare, name: str) -> None:
    rows = comparison({"level": name, "part": name, "footnotes": [name]}, {"level": name, "part": "other"})
    spec = charts.forest(rows).to_dict()
    (level,) = {row["level"] for row in data_of(spec) if row["level"]}
    assert level[:6] == name[:6] or level == "a b c [31md"
    assert vl_convert.vegalite_to_svg(spec).startswith("<svg")
