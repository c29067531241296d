"""Figures of the published logs, taken from the logs by eye, as `fsb.read` gives them."""

import re
from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.data.dataset import Dataset

MIB, GIB = 2**20, 2**30

Key = dict[str, object]


@pytest.fixture(scope="module")
def data(published: Path) -> Dataset:
    return fsb.read(published)


def _figure(data: Dataset, log: str, key: Key) -> dict[str, object]:
    name, _, filesystem = log.partition(" ")
    runs = data.runs.filter(pl.col("source").str.contains(f"/{name}"))
    if filesystem:
        runs = runs.filter(pl.col("filesystem") == filesystem)
    rows = data.measurements.filter("primary").join(runs.select("run_id"), on="run_id")
    for column, value in {"statistic": "value", **key}.items():
        rows = rows.filter(pl.col(column).eq_missing(pl.lit(value)))
    assert rows.height == 1, rows
    return rows.row(0, named=True)


@pytest.mark.parametrize(
    ("log", "key", "value"),
    [
        ("bonnie-ext4", {"operation": "write", "metric": "bandwidth"}, 90 * MIB),
        ("bonnie-ext4", {"operation": "write", "metric": "cpu"}, 0.12),
        ("bonnie-ext4", {"operation": "seek", "metric": "iops"}, 346.1),
        ("bonnie-ext4", {"operation": "sequential_create", "metric": "file_rate"}, 12255),
        ("bonnie-ext4", {"operation": "write", "metric": "phase_latency", "statistic": "max"}, 8.545),
        ("fio-randrw-16k-zfs", {"operation": "read", "metric": "iops"}, 706),
        ("fio-randrw-16k-zfs", {"scope": "job", "operation": "read", "metric": "bandwidth"}, 11.0 * MIB),
        ("fio-randrw-16k-zfs", {"scope": "job", "operation": "read", "metric": "bytes"}, 5731 * MIB),
        ("fio-randrw-16k-zfs", {"scope": "job", "operation": "read", "metric": "runtime"}, 519.310),
        ("fio-randrw-16k-zfs", {"operation": "write", "metric": "iops"}, 303),
        (
            "fio-randrw-128k-xfs",
            {"operation": "read", "metric": "completion_latency", "statistic": "p99.99"},
            21632e-9,
        ),
        (
            "fio-randrw-128k-xfs",
            {"operation": "read", "metric": "submission_latency", "statistic": "max"},
            0.673486,
        ),
        ("fio-randrw-128k-xfs", {"operation": "read", "metric": "latency", "statistic": "max"}, 0.673491),
        ("fio-randrw-128k-xfs", {"operation": "read", "metric": "latency", "statistic": "stdev"}, 0.06151933),
        ("fio-randrw-128k-xfs", {"part": "md1", "metric": "disk_utilisation"}, 0.0),
        ("fio-randrw-128k-xfs", {"part": "sdg", "metric": "disk_utilisation"}, 0.1110),
        ("fio-randwrite-xfs", {"metric": "iops"}, 189000),
        ("fio-randwrite-xfs", {"metric": "bandwidth", "statistic": "mean"}, 757400.32 * 1024),
        ("fio-randwrite-xfs", {"metric": "bandwidth", "statistic": "stdev"}, 21559.21 * 1024),
        ("fio-randwrite-xfs", {"metric": "completion_latency", "statistic": "p99.5"}, 0.008455),
        ("fio-randwrite-xfs", {"operation": "write", "metric": "operations"}, 56715776),
        ("rndwr-xfs", {"metric": "bandwidth"}, 16.171 * MIB),
        ("rndwr-xfs", {"metric": "iops"}, 1034.95),
        ("rndwr-xfs", {"operation": "write", "metric": "operations"}, 186364),
        ("rndwr-xfs", {"metric": "latency", "statistic": "mean"}, 0.00281),
        ("rndwr-xfs", {"metric": "latency", "statistic": "p95"}, 0.00012),
        ("rndwr-xfs", {"metric": "thread_events", "statistic": "mean"}, 46591.0),
        ("rndwr-xfs", {"metric": "thread_events", "statistic": "stdev"}, 26773.96),
        (
            "iozone-zfs-freebsd",
            {"operation": "record_rewrite", "block_size": 131072, "metric": "bandwidth"},
            9670310 * 1024,
        ),
        (
            "iozone-zfs-freebsd",
            {"operation": "random_write", "block_size": 32768, "metric": "bandwidth"},
            15052 * 1024,
        ),
        ("iozone-zfs-freebsd", {"operation": "random_read", "block_size": 16777216, "metric": "cpu"}, 0.5072),
        ("smallfiles-4k ext4", {"operation": "write", "metric": "file_rate"}, 16592.003),
        ("smallfiles-4k ext4", {"operation": "write", "metric": "elapsed"}, 6.027),
        ("smallfiles-4k ext4", {"operation": "write_sync", "metric": "elapsed"}, 7.022),
        ("smallfiles-4k zfs", {"operation": "delete", "metric": "file_rate"}, 2045.073),
        ("tasks.csv xfs", {"operation": "mkfs", "metric": "elapsed"}, 0.7),
        ("tasks.csv reiserfs", {"operation": "mount", "metric": "elapsed"}, 2.3),
    ],
)
def test_a_figure_by_eye(data: Dataset, log: str, key: Key, value: float) -> None:
    figure = _figure(data, log, key)
    assert figure["value"] == pytest.approx(value, rel=1e-12)
    assert figure["state"] == "measured"
    assert figure["low"] <= figure["value"] <= figure["high"]  # type: ignore[operator]


def test_the_interval_that_a_print_allows(data: Dataset) -> None:
    figure = _figure(data, "fio-randwrite-xfs", {"metric": "iops"})
    assert figure["low"] <= 188_500  # type: ignore[operator]
    assert figure["high"] >= 189_500  # type: ignore[operator]
    assert _figure(data, "fio-randwrite-xfs", {"metric": "bandwidth", "statistic": "mean"})["samples"] == 38262


@pytest.mark.parametrize("operation", ["sequential_stat", "random_stat", "sequential_delete", "random_delete"])
def test_marks_of_bonnie_are_bounds_also_where_the_copy_damaged_them(data: Dataset, operation: str) -> None:
    rate = _figure(data, "bonnie-ext4", {"operation": operation, "metric": "file_rate"})
    assert (rate["state"], rate["value"], rate["text"]) == ("censored", None, "+++++")
    assert rate["low"] == pytest.approx(16 * 1024 / 0.5)
    assert rate["high"] is None
    share = _figure(data, "bonnie-ext4", {"operation": operation, "metric": "cpu"})
    assert (share["state"], share["value"]) == ("missing", None)


@pytest.mark.parametrize(
    ("log", "key", "value"),
    [
        ("fio-randrw-128k-xfs", "threads", "8"),
        ("fio-randrw-128k-xfs", "direct", "false"),
        ("fio-randrw-128k-xfs", "file_size", str(16 * GIB)),
        ("fio-randrw-16k-zfs", "direct", "true"),
        ("iozone-zfs-freebsd", "direct", "false"),
        ("iozone-ext4", "direct", "true"),
        ("rndwr-xfs", "pattern", "rndwr"),
    ],
)
def test_a_setting_by_eye(data: Dataset, log: str, key: str, value: str) -> None:
    from fsbench_kit.analysis.settings import effective

    runs = data.runs.filter(pl.col("source").str.contains(f"/{log}"))
    known = effective(data.settings).join(runs.select("run_id"), on="run_id").filter(pl.col("key") == key)
    assert known["value"].to_list() == [value]


def test_hosts_of_the_sysbench_study(data: Dataset) -> None:
    runs = data.runs.filter(pl.col("study") == "sysbench-rhel72")
    hosts = {Path(source).stem: host for source, host in runs.select("source", "host").rows()}
    assert hosts["rndwr-xfs"] == "host02"
    assert hosts["seqwr-xfs"] == "host01"


def test_every_log_of_every_study_is_read(data: Dataset, published: Path) -> None:
    listed = {
        str(path.parent / name)
        for path in published.glob("*/study.toml")
        for name in re.findall(r'^file = "(.*)"', path.read_text(), re.MULTILINE)
    }
    assert set(data.runs["source"]) == listed
    assert data.runs["origin"].unique().to_list() == ["published"]
    assert data.diagnostics.filter(pl.col("code").is_in(["UNREAD_FIGURE", "NO_LOG"])).is_empty()


def test_figures_are_in_base_units_and_within_their_prints(data: Dataset) -> None:
    measured = data.measurements.filter(pl.col("state") == "measured")
    assert set(measured["unit"]) == {"1", "1/s", "B", "B/s", "s"}
    assert measured.filter(pl.col("value") < pl.col("low")).is_empty()
    assert measured.filter(pl.col("value") > pl.col("high")).is_empty()
    assert data.measurements.filter(pl.col("state") != "measured")["value"].null_count() == (
        data.measurements.filter(pl.col("state") != "measured").height
    )
