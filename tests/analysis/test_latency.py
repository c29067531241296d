"""Percentile curves from bins and from printed percentiles, held against percentiles that tools print."""

import re
from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.analysis.latency import COLUMNS, curves
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.records import Bin, Measurement, Run


def _job(name: str | None, counts: dict[tuple[int, int], int], size: int = 4096) -> tuple[Measurement, list[Bin]]:
    scope = "all" if name is None else "job"
    mean = Measurement(
        operation="read", metric="latency", statistic="mean", value=1.0, unit="s", text="", line=1,
        scope=scope, part=name, block_size=size,
    )  # fmt: skip
    bins = [
        Bin(operation="read", metric="latency", low=low, high=high, count=count, line=1, scope=scope, part=name)
        for (low, high), count in counts.items()
    ]
    return mean, bins


def _run(*jobs: tuple[Measurement, list[Bin]], number: int = 1, status: str = "ok") -> Log:
    run = Run(
        tool="fio", start=0, end=9, line=1, filesystem="ext4",
        measurements=tuple(mean for mean, _ in jobs), bins=tuple(bin_ for _, bins in jobs for bin_ in bins),
    )  # fmt: skip
    return Log(source=f"{number}.txt", data=f"run {number:05}".encode(), records=[run], study="s", status=status)


def _at(rows: pl.DataFrame, share: float) -> list[tuple[float, float]]:
    return rows.filter((pl.col("share") - share).abs() < 1e-9).select("low", "high").rows()


def test_fio_s_own_percentiles_lie_in_the_bins_of_the_curve(root: Path) -> None:
    dataset = fsb.read(root / "raw_results" / "recorded" / "ext4-xfs-loop-2026").filter(
        pl.col("workload") == "randwrite-4k"
    )
    rows = curves(dataset)
    assert rows["curve"].n_unique() == 20
    for statistic, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)):
        printed = dataset.measurements.filter("primary", metric="completion_latency", statistic=statistic)
        ends = rows.filter((pl.col("share") - share).abs() < 1e-9).join(
            printed, left_on="curve", right_on="run_id", suffix="_printed"
        )
        assert ends.height == 20
        assert ends.select(pl.col("value").is_between(pl.col("low"), pl.col("high")).all()).item()


def test_jobs_that_are_alike_are_one_curve() -> None:
    rows = curves(assemble([_run(_job("a", {(1, 2): 90}), _job("b", {(3, 4): 10}))]))
    assert rows["curve"].n_unique() == 1
    assert set(rows["requests"]) == {100}
    assert (_at(rows, 0.5), _at(rows, 1 - 1 / 100)) == ([(1, 2)], [(3, 4)])


def test_jobs_of_different_sizes_stay_apart() -> None:
    rows = curves(assemble([_run(_job("a", {(1, 2): 90}), _job("b", {(3, 4): 10}, 8192))]))
    assert dict(rows.select("part", "requests").unique().rows()) == {"a": 90, "b": 10}


def test_what_is_said_of_the_whole_run_counts_and_not_its_jobs_besides() -> None:
    rows = curves(assemble([_run(_job(None, {(1, 2): 7}), _job("a", {(1, 2): 7}))]))
    assert set(rows["requests"]) == {7}


def _several(*counts: dict[tuple[int, int], int]) -> Dataset:
    return assemble(_run(_job(None, c), number=i) for i, c in enumerate(counts))


def test_pooled_bins_are_added_up_and_no_percentile_is_averaged() -> None:
    # the medians are 1 to 2 and 9 to 10; that of all 1010 requests is 9 to 10, and none is 5
    rows = curves(_several({(1, 2): 10}, {(9, 10): 1000}), pooled=True)
    assert rows.select("curve", "runs", "requests").unique().height == 1
    assert set(rows["runs"]) == {2}
    assert set(rows["requests"]) == {1010}
    assert _at(rows, 0.5) == [(9, 10)]


def test_bins_of_different_kinds_are_not_pooled() -> None:
    dataset = _several({(1, 3): 10}, {(2, 4): 10})
    assert curves(dataset)["curve"].n_unique() == 2
    with pytest.raises(RequestError, match="overlap"):
        curves(dataset, pooled=True)


def test_failed_runs_are_left_out() -> None:
    good, bad = _run(_job(None, {(1, 2): 5})), _run(_job(None, {(1, 2): 6}), number=2, status="failed")
    assert set(curves(assemble([good, bad]))["requests"]) == {5}


def test_a_curve_ends_with_the_request_that_is_the_slowest() -> None:
    rows = curves(_several({(1, 2): 999, (7, 8): 1}))
    assert rows["share"].max() == pytest.approx(1 - 1 / 1000)
    assert rows["share"].is_sorted()
    assert rows.schema == COLUMNS


def test_without_any_distribution_the_error_says_how_to_get_one(root: Path) -> None:
    with pytest.raises(RequestError) as caught:
        curves(fsb.read(root / "raw_results" / "published" / "fileserver-debian-2006"))
    assert "json+" in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"metric": "latencyy"}, "'latencyy' is not a latency.*Did you mean latency?"),
        ({"factor": "filesytem"}, "no filesytem is known for these runs.*Did you mean filesystem?"),
    ],
)
def test_a_factor_or_a_metric_that_is_mistyped_is_named(root: Path, asked: dict[str, str], said: str) -> None:
    data = fsb.read(root / "raw_results" / "recorded" / "latency-loop-2026")
    with pytest.raises(RequestError) as caught:
        curves(data, **asked)  # type: ignore[arg-type]
    assert re.search(said, str(caught.value), re.DOTALL)
