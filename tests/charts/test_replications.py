"""Published ratios beside those of a replication."""

from __future__ import annotations

from typing import Any

import polars as pl

from fsbench_kit import charts
from fsbench_kit.charts.replications import PUBLISHED, REPLICATED
from fsbench_kit.launch.replicate import COLUMNS
from tests.charts.specs import data_of, heading_of, layer_of, spec_of

ROW: dict[str, Any] = {
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
    "finding": "same direction",
    "published_notes": [],
    "notes": [],
}


def _found(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([ROW | row for row in rows], schema=COLUMNS, orient="row")


def test_both_ratios_stand_in_one_cell() -> None:
    rows = data_of(spec_of(charts.replication(_found({}))))
    assert [(row["whose"], row["place"], row["low"], row["high"]) for row in rows] == [
        (PUBLISHED, 2.42, 2.41, 2.43),
        (REPLICATED, 1.1, 1.0, 1.2),
    ]
    assert len({row["cell"] for row in rows}) == 1
    assert rows[0]["group"] == "Bandwidth, xfs to ext4: right of 1 is better"


def test_the_published_ratio_is_hollow_and_ours_is_filled() -> None:
    spec = spec_of(charts.replication(_found({})))
    points = [layer for layer in spec["spec"]["layer"] if layer["mark"]["type"] == "point"]
    assert [layer["mark"]["filled"] for layer in points] == [False, True]
    assert layer_of(spec, "rule", x="low", x2="high")
    assert layer_of(spec, "rule", x="pair_low", x2="pair_high")


def test_the_title_counts_those_inside() -> None:
    spec = spec_of(charts.replication(_found({}, {"pattern": "rndwr", "finding": "inside"})))
    assert heading_of(spec) == "1 of 2 published ratios lie where one more pair of runs would"


def test_the_title_says_where_nothing_is_decided() -> None:
    spec = spec_of(charts.replication(_found({}, {"pattern": "rndwr", "finding": "inside, as 1"})))
    assert heading_of(spec).endswith("; for 1 of them the replication shows no difference")


def test_single_runs_of_ours_have_no_bar() -> None:
    rows = data_of(
        spec_of(charts.replication(_found({"ci_low": None, "ci_high": None, "finding": "no interval"})))
    )
    assert (rows[1]["low"], rows[1]["high"]) == (None, None)


def test_nothing_to_draw_is_said() -> None:
    spec = spec_of(charts.replication(_found()))
    assert spec["description"] == "No ratio is known from both the study and its replication."
