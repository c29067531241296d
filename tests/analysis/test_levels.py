"""Which levels are compared with which, and in what order they come."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import fsbench_kit as fsb
from benchmarks.designs import dataset, mixed
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.log import Log
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.records import Run
from tests.analysis.made import START, figure

MINUTE = timedelta(minutes=1)


def versions(levels: Mapping[str, Sequence[Sequence[float]]]) -> fsb.Dataset:
    """Runs of versions of a tool in turns, with a figure for each block size: ``levels[version][run][size]``."""
    logs = []
    for place, (version, runs) in enumerate(levels.items()):
        for number, values in enumerate(runs):
            start = START + MINUTE * (2 * len(levels) * number + 2 * ((place + number) % len(levels)))
            figures = tuple(figure(value, block_size=4096 << size) for size, value in enumerate(values))
            run = Run(
                tool="fio", start=0, end=8, line=1, filesystem="xfs", tool_version=version, measurements=figures
            )
            log = Log(source=f"{version}-{number}", data=f"{version} {number} {values}".encode(), records=[run])
            logs.append(replace(log, study="s", host="h", started_at=start, ended_at=start + MINUTE))
    return assemble(logs)


ORDERED = ["fio-3.9", "fio-3.28-rc1", "fio-3.28", "fio-3.28-2-gabc"]
FOUR = versions({name: [[100 + n + place] for n in (0, 1, 2)] for place, name in enumerate(ORDERED[::-1])})


def _pairs(table: pl.DataFrame) -> list[tuple[str, str]]:
    return table.select("baseline", "level").rows()


def test_the_earliest_version_is_the_baseline_and_the_others_come_in_their_order() -> None:
    assert _pairs(fsb.compare(FOUR, "tool_version")) == [(ORDERED[0], name) for name in ORDERED[1:]]


def test_each_version_is_compared_with_the_one_before_it() -> None:
    table = fsb.compare(FOUR, "tool_version", consecutive=True)
    assert _pairs(table) == list(pairwise(ORDERED))
    over_cells = fsb.geometric_mean(FOUR, "tool_version", consecutive=True)
    assert _pairs(over_cells) == _pairs(table)


def test_a_version_without_the_cell_is_passed_over() -> None:
    some = versions({"6.9": [[100, 10]] * 3, "6.10": [[100]] * 3, "6.12": [[100, 10]] * 3})
    table = fsb.compare(some, "tool_version", consecutive=True)
    assert _pairs(table.filter(block_size=8192)) == [("6.9", "6.12")]


# R: t.test(weight ~ group, PlantGrowth) of each pair, and p.adjust(..., "holm")
PLANTS = {
    "ctrl": [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
    "trt1": [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
    "trt2": [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
}


def test_all_pairs_are_compared_and_corrected_for_their_number() -> None:
    data = versions({name: [[float(np.exp(weight))] for weight in weights] for name, weights in PLANTS.items()})
    table = fsb.compare(data, "tool_version", all_pairs=True)
    assert _pairs(table) == [("ctrl", "trt1"), ("ctrl", "trt2"), ("trt1", "trt2")]
    assert table["p"].to_list() == pytest.approx([0.2504, 0.0479, 0.009298], abs=5e-5)
    assert table["p_adjusted"].to_list() == pytest.approx([0.2504, 2 * 0.0479, 3 * 0.009298], abs=1e-4)
    assert table["tested"].to_list() == [3, 3, 3]
    assert table["verdict"].to_list() == ["inconclusive", "inconclusive", "better"]


def test_a_pair_in_two_metrics_is_one_effect_and_another_pair_is_another() -> None:
    as_bandwidth = FOUR.measurements.with_columns(
        pl.lit("bandwidth").alias("metric"), pl.lit("B/s").alias("unit"), pl.col("value", "low", "high") * 4096
    )
    frames = {**FOUR.frames, "measurements": pl.concat([FOUR.measurements, as_bandwidth])}
    table = fsb.compare(fsb.Dataset(**frames), "tool_version", all_pairs=True)
    assert (table.height, table["effect"].n_unique(), table["tested"].unique().to_list()) == (12, 6, [6])


def test_all_pairs_of_equals_are_rarely_called_different() -> None:
    names = ["1.1", "1.2", "1.3", "1.4", "1.5"]
    runs = [{"filesystem": "xfs", "tool_version": names[(n + turn) % 5]} for turn in range(6) for n in range(5)]
    studies = 200
    rates = np.random.default_rng(7).lognormal(5, 0.05, (studies, 2, len(runs)))
    table = fsb.compare(dataset(runs, rates, whole=False), "tool_version", all_pairs=True)
    assert table["tested"].unique().to_list() == [2 * 10]
    false = table.filter(pl.col("verdict").is_in(["better", "worse"]))["study"].n_unique()
    assert false / studies <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / studies)


@pytest.mark.parametrize(
    "asked", [{"all_pairs": True, "consecutive": True}, {"all_pairs": True, "baseline": ORDERED[0]}]
)
def test_contradicting_wishes_are_refused(asked: dict[str, object]) -> None:
    with pytest.raises(RequestError, match=r"not both|has no baseline"):
        fsb.compare(FOUR, "tool_version", **asked)  # type: ignore[arg-type]


def test_tables_and_charts_name_both_groups_of_a_pair() -> None:
    table = fsb.compare(FOUR, "tool_version", all_pairs=True)
    told = str(fsb.tables.comparison_table(table))
    assert told.index("fio-3.9") < told.index("fio-3.28-rc1") < told.index("fio-3.28-2-gabc")
    drawn = str(fsb.charts.forest(table).to_dict())
    assert all(f"{level} / {baseline}" in drawn for baseline, level in _pairs(table))


def test_a_number_is_named_by_its_factor() -> None:
    two = versions({"6.12": [[100.0 + n] for n in range(5)], "6.9": [[50.0 + n] for n in range(5)]})
    (said,) = fsb.tables.summary(fsb.compare(two, "tool_version"))
    assert said.startswith("tool version 6.12 reads 1.96 times as fast as tool version 6.9 (")


def test_many_rows_of_strata_alone_have_verdicts() -> None:
    table = mixed(np.random.default_rng(3), 60, 3, 1.5)
    assert table.height == 60
    assert table["ci_low"].null_count() == 0
    assert (table["verdict"] == "better").any()
