"""Published ratios beside those of a replication."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import vl_convert

from fsbench_kit import charts
from fsbench_kit.charts.replications import PUBLISHED, REPLICATED
from fsbench_kit.charts.style import REFERENCE
from fsbench_kit.launch.replicate import COLUMNS, reproduced
from fsbench_kit.tables import reproduced_findings
from tests.charts.specs import data_of, heading_of, layer_of, spec_of

ROW: dict[str, Any] = {
    "study": "article",
    "tool": "sysbench",
    "pattern": "seqwr",
    "operation": "write",
    "block_size": 16384,
    "threads": 4,
    "metric": "bandwidth",
    "statistic": "value",
    "better": "higher",
    "baseline": "ext4",
    "level": "xfs",
    "published_ratio": 2.42,
    "published_low": 2.41,
    "published_high": 2.43,
    "ratio": 1.1,
    "ci_low": 1.0,
    "ci_high": 1.2,
    "prediction_low": 0.9,
    "prediction_high": 1.4,
    "confidence": 0.95,
    "n_baseline": 6,
    "n_candidate": 6,
    "effect": 0,
    "stands_for_effect": True,
    "direction": "same",
    "size": "outside",
    "published_notes": [],
    "notes": [],
}


def _cells(found: pl.DataFrame) -> list[dict[str, Any]]:
    """Return what the chart of a replication draws under its heads."""
    return [row for row in data_of(spec_of(charts.replication(found))) if row["head"] is None]


def _found(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([ROW | row for row in rows], schema=COLUMNS, orient="row")


def test_both_ratios_stand_in_one_cell() -> None:
    rows = _cells(_found({}))
    assert [(row["whose"], row["place"], row["low"], row["high"]) for row in rows] == [
        (PUBLISHED, 2.42, 2.41, 2.43),
        (REPLICATED, 1.1, 1.0, 1.2),
    ]
    assert len({(row["row"], row["cell"]) for row in rows}) == 1
    assert rows[0]["group"] == "Bandwidth, xfs against ext4"


def test_right_is_better_for_times_too() -> None:
    times = {"metric": "elapsed", "better": "lower", "published_ratio": 0.5, "published_low": 0.4}
    found = _found(times | {"published_high": 0.625, "ratio": 2.0, "ci_low": 1.6, "ci_high": 2.5})
    published, again = _cells(found)
    assert (published["place"], published["low"], published["high"]) == (2.0, 1.6, 2.5)
    assert (published["times as good"], again["times as good"]) == (
        "xfs 2.00 (1.60 to 2.50)",
        "ext4 2.00 (1.60 to 2.50)",
    )
    assert (again["place"], again["pair_low"], again["pair_high"]) == (0.5, 1 / 1.4, 1 / 0.9)
    spec = spec_of(charts.replication(found))
    (line,) = (layer for layer in spec["layer"] if layer["mark"]["type"] == "rect")
    assert line["encoding"]["x"]["axis"]["title"][1] == "← ext4 better · xfs better →"
    plane = next(
        rows for rows in spec_of(charts.replication_plane(found))["datasets"].values() if "judged" in rows[0]
    )
    assert [(row["published_ratio"], row["ratio"], row["ci_low"]) for row in plane] == [(2.0, 0.5, 0.4)]


def test_the_published_ratio_is_hollow_and_ours_is_filled() -> None:
    spec = spec_of(charts.replication(_found({})))
    (points,) = (layer for layer in spec["layer"] if layer["mark"]["type"] == "point")
    fill = points["encoding"]["fill"]["scale"]  # which the legend shows as well
    assert dict(zip(fill["domain"], fill["range"], strict=True)) == {PUBLISHED: "white", REPLICATED: "#0072b2"}
    assert layer_of(spec, "rule", x="low", x2="high")
    assert layer_of(spec, "rule", x="pair_low", x2="pair_high")


def test_the_title_counts_what_came_out_again() -> None:
    rows = [{}, {"pattern": "rndwr", "size": "inside"}, {"direction": "opposite"}, {"direction": "open"}]
    judged = "published effects that can be judged came out in the same direction"
    title = f"2 of 3 {judged}, 1 of them with the same size"
    assert heading_of(spec_of(charts.replication(_found(*rows)))) == title
    assert heading_of(spec_of(charts.replication_plane(_found(*rows)))) == title
    for directions, size, told in (
        (("same", "same"), "inside", f"All 2 {judged}, all of them with the same size"),
        (("same", "same"), "outside", f"All 2 {judged}, none of them with the same size"),
        (("opposite", "opposite"), "outside", f"None of 2 {judged}"),
    ):
        found = _found(*({"direction": one, "size": size, "pattern": str(n)} for n, one in enumerate(directions)))
        assert heading_of(spec_of(charts.replication(found))) == told


def test_the_sentence_of_a_finding_begins_with_the_title_of_its_chart() -> None:
    """So that a page says it once."""
    for rows in ([{}, {"pattern": "rndwr"}], [{}, {"pattern": "rndwr", "direction": "opposite"}]):
        found = _found(*rows)
        title = heading_of(spec_of(charts.replication(found)))
        assert reproduced_findings(reproduced(found))[0].startswith(title)


def test_the_title_says_where_nothing_is_decided() -> None:
    spec = spec_of(charts.replication(_found({"direction": "open"})))
    assert heading_of(spec) == "None of 1 published effect can be judged by these runs"


def test_on_the_plane_an_effect_is_one_point_and_what_cannot_be_judged_is_hollow() -> None:
    rows = [{}, {"metric": "latency", "stands_for_effect": False}, {"direction": "open", "study": "another"}]
    spec = spec_of(charts.replication_plane(_found(*rows)))
    points = next(rows for rows in spec["datasets"].values() if "judged" in rows[0])
    assert [(row["published_ratio"], row["ratio"], row["judged"]) for row in points] == [
        (2.42, 1.1, "cannot be judged"),
        (2.42, 1.1, "same direction"),  # on top
    ]


def test_a_tooltip_on_the_plane_has_nothing_that_is_null() -> None:
    spec = spec_of(charts.replication_plane(_found({"ci_low": None, "ci_high": None}, {"study": "another"})))
    point = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "point")
    rows = next(rows for rows in spec["datasets"].values() if "judged" in rows[0])
    shown = [[row[tip["field"]] for tip in point["encoding"]["tooltip"]][2:] for row in rows]
    assert shown == [["xfs 2.42", "xfs 1.10"], ["xfs 2.42", "xfs 1.10 (1.00 to 1.20)"]]


def test_the_plane_shows_what_mark_a_study_has() -> None:
    drawn = vl_convert.vegalite_to_svg(spec_of(charts.replication_plane(_found({}, {"study": "another"}))))
    symbols = re.findall('role-legend-symbol"[^>]*><path([^>]*)>', drawn)
    assert sum(f'stroke="{REFERENCE}"' in symbol for symbol in symbols) == 2
    assert not [symbol for symbol in symbols if 'stroke="transparent"' in symbol]


def test_a_tooltip_of_published_and_replicated_ratios_has_nothing_that_is_null() -> None:
    shown = [
        (row["direction"], row["size"], row["cell"], row["times as good"])
        for row in _cells(_found({"direction": "open", "size": None}))
    ]
    assert [row[:2] for row in shown] == [("open", "–")] * 2
    assert all(map(all, shown))


def test_single_runs_of_ours_have_no_bar() -> None:
    rows = _cells(_found({"ci_low": None, "ci_high": None, "size": None}))
    assert (rows[1]["low"], rows[1]["high"]) == (None, None)


def test_nothing_to_draw_is_said() -> None:
    spec = spec_of(charts.replication(_found()))
    assert spec["description"] == "No ratio is known from both the study and its replication."
