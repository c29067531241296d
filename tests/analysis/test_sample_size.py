"""How many runs are needed; the numbers are those of a table that was computed elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import fsbench_kit as fsb
from fsbench_kit.analysis.sample_size import widths
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from pathlib import Path


# Student's planning on logarithms: half-width 5 %, power .8 for 10 %, TOST power .8 at 5 %
@pytest.mark.parametrize(
    ("cv", "expected"),
    [
        (0.01, (2, 2, 2)),
        (0.02, (3, 3, 4)),
        (0.03, (5, 3, 8)),
        (0.05, (10, 6, 19)),
        (0.10, (34, 19, 73)),
        (0.2, (131, 71, 289)),
    ],
)
def test_runs_of_an_assumed_variation(cv: float, expected: tuple[int, int, int]) -> None:
    row = fsb.sample_size(cv=cv).row(0, named=True)
    found = (row["for_half_width"], row["for_effect"], row["for_equivalence"])
    # a coefficient of variation is a little more than the deviation of logarithms with which the table was made
    assert all(e - max(1, round(0.03 * e)) <= f <= e for f, e in zip(found, expected, strict=True)), found


def test_a_pilot(root: Path) -> None:
    pilot = fsb.read(root / "raw_results" / "recorded" / "ext4-xfs-loop-2026")
    table = fsb.sample_size(pilot)
    row = table.filter(tool="fio", metric="iops").row(0, named=True)
    # the same from the frames by hand: the ratio of both filesystems in each of ten rounds
    iops = pilot.measurements.filter(metric="iops", statistic="value", primary=True, scope="job").join(
        pilot.runs.filter(tool="fio").select("run_id", "filesystem", "round"), on="run_id"
    )
    rates = {tuple(key): value for *key, value in iops.select("round", "filesystem", "value").rows()}
    logs = [math.log(rates[number, "xfs"] / rates[number, "ext4"]) for number in range(1, 11)]
    variance, freedom = np.var(logs, ddof=1), 9
    assert (row["unit"], row["pilot_runs"]) == ("round", 20)
    assert row["cv"] == pytest.approx(math.sqrt(math.expm1(variance)))
    high = variance * freedom / scipy_stats.chi2.ppf(0.2, freedom)
    assert row["cv_high"] == pytest.approx(math.sqrt(math.expm1(high)))
    width, n = scipy_stats.t.ppf(0.975, row["for_half_width"] - 1), row["for_half_width"]
    assert width * math.sqrt(high / n) <= math.log(1.05)
    fewer = scipy_stats.t.ppf(0.975, n - 2) * math.sqrt(high / (n - 1))
    assert fewer > math.log(1.05)


def test_a_pilot_without_rounds_counts_runs(root: Path) -> None:
    whole = fsb.read(root / "raw_results" / "recorded" / "ext4-xfs-loop-2026")
    pilot = replace(whole, runs=whole.runs.with_columns(round=pl.lit(None, pl.Int64)))
    row = fsb.sample_size(pilot).filter(tool="fio", metric="iops").row(0, named=True)
    # two filesystems, each with its own mean of logarithms
    iops = pilot.measurements.filter(metric="iops", statistic="value", primary=True, scope="job").join(
        pilot.runs.filter(tool="fio").select("run_id", "filesystem"), on="run_id"
    )
    logs = [np.log(group["value"].to_numpy()) for _, group in iops.group_by("filesystem")]
    freedom = sum(len(x) - 1 for x in logs)
    variance = sum(((x - x.mean()) ** 2).sum() for x in logs) / freedom
    assert (row["unit"], row["pilot_runs"]) == ("run", sum(map(len, logs)))
    assert row["cv"] == pytest.approx(math.sqrt(math.expm1(variance)))
    assert row["for_half_width"] == fsb.sample_size(cv=row["cv_high"])["for_half_width"][0]


def test_more_variation_needs_more_runs() -> None:
    table = fsb.sample_size(cv=[0.01, 0.05, 0.2])
    assert table["for_effect"].is_sorted()
    assert table["cv"].to_list() == [0.01, 0.05, 0.2]


@pytest.mark.parametrize(
    "arguments", [{}, {"cv": 0.0}, {"cv": 0.05, "half_width": 0.0}, {"cv": 0.05, "margin": 1.0}]
)
def test_what_cannot_be_planned(arguments: dict[str, float]) -> None:
    with pytest.raises(RequestError):
        fsb.sample_size(**arguments)  # type: ignore[arg-type]


def test_intervals_narrow_as_planned() -> None:
    curve = widths([0.05])
    # 10 runs are the fewest for 5 %, by the table above
    half = dict(curve.select("runs", "half_width").rows())
    assert half[10] <= 0.05 < half[9]
    # t(.975, 2) sqrt(2/2) s = 4.303 s at 2 runs
    assert half[2] == pytest.approx(math.expm1(4.302653 * math.sqrt(math.log1p(0.05**2))))


def test_single_runs_are_no_pilot(published: Path) -> None:
    with pytest.raises(RequestError, match="nothing is known of how runs vary"):
        fsb.sample_size(fsb.read(published / "sysbench-rhel72"))
