"""Expected figures are written from the logs by eye."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbench_kit.documents.encoding import decode
from fsbench_kit.formats import fio_normal, sniff
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Block, Diagnostic, Measurement, Run

if TYPE_CHECKING:
    from fsbench_kit.model.records import Record

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "raw_results" / "published"
DATA = ROOT / "tests" / "data" / "fio_normal"
LOGS = sorted(PUBLISHED.glob("*/fio-*.txt"))
US = 1e-6
MIB = 2**20


def read(path: Path) -> list[Record]:
    text = decode(path.read_bytes(), path.name)
    assert text is not None
    return list(fio_normal.parse(text))


def runs(records: list[Record]) -> list[Run]:
    return [record for record in records if isinstance(record, Run)]


def diagnostics(records: list[Record]) -> list[Diagnostic]:
    return [record for record in records if isinstance(record, Diagnostic)]


def published(name: str) -> Run:
    (run,) = runs(read(next(PUBLISHED.glob(f"*/{name}.txt"))))
    return run


def figure(run: Run, operation: str, metric: str, statistic: str = "value", **where: object) -> Measurement:
    where = {"scope": "job", "primary": True} | where
    found = [
        item
        for item in run.measurements
        if (item.operation, item.metric, item.statistic) == (operation, metric, statistic)
        and all(getattr(item, key) == value for key, value in where.items())
    ]
    assert len(found) == 1, (operation, metric, statistic, where, found)
    return found[0]


def value(run: Run, operation: str, metric: str, statistic: str = "value", **where: object) -> float:
    item = figure(run, operation, metric, statistic, **where)
    assert item.value is not None
    return item.value


def known(run: Run) -> dict[str, tuple[str, str]]:
    return {item.key: (item.value, item.origin) for item in reversed(run.settings)}


def test_excerpt_of_16k_zfs() -> None:
    run = published("fio-randrw-16k-zfs")
    iops = figure(run, "read", "iops")
    assert (iops.value, iops.low, iops.high, iops.text, iops.line) == (706, 706, 707, "706", 1)
    assert value(run, "write", "iops") == 303
    rate = figure(run, "read", "bandwidth")
    assert (rate.value, rate.low, rate.high) == pytest.approx((11.0 * MIB, 10.95 * MIB, 11.05 * MIB))
    again = figure(run, "read", "bandwidth", primary=False)
    assert (again.value, again.low, again.high) == pytest.approx((11.6e6, 11.55e6, 11.65e6))
    assert value(run, "write", "bandwidth") == 4852 * 1024
    assert value(run, "read", "bytes") == 5731 * MIB
    assert value(run, "write", "bytes") == 2461 * MIB
    assert value(run, "read", "runtime") == 519.310
    assert value(run, "write", "bandwidth", "max", scope="group", part="0") == 4852 * 1024
    assert value(run, "write", "bytes", scope="group", primary=False) == 2580e6
    assert value(run, "write", "runtime", "max", scope="group") == 519.310
    assert run.duration == 519.310
    assert (run.tool_version, run.ended_at, run.status, run.settings) == (None, None, "ok", ())
    assert {item.part for item in run.measurements if item.scope == "job"} == {None}


@pytest.mark.parametrize(
    ("filesystem", "iops", "kib_per_s", "disks"),
    [
        ("ext4", (132, 57), (2127, 913), {"md0": 0.0, "sde": 0.0874, "sdc": 0.1501}),
        ("xfs", (104, 45), (1680, 727), {"md1": 0.0, "sdg": 0.0711, "sdf": 0.1218}),
    ],
)
def test_excerpts_of_16k_with_disks(
    filesystem: str, iops: tuple[int, int], kib_per_s: tuple[int, int], disks: dict[str, float]
) -> None:
    run = published(f"fio-randrw-16k-{filesystem}")
    assert (value(run, "read", "iops"), value(run, "write", "iops")) == iops
    assert value(run, "read", "bandwidth") == kib_per_s[0] * 1024
    assert value(run, "write", "bandwidth") == kib_per_s[1] * 1024
    utilisation = {
        item.part: item.value
        for item in run.measurements
        if item.metric == "disk_utilisation" and item.statistic == "value"
    }
    assert utilisation == pytest.approx(disks)


def test_disks_and_their_members_of_16k_xfs() -> None:
    run = published("fio-randrw-16k-xfs")
    disk = {"scope": "disk", "part": "sdg"}
    assert value(run, "read", "disk_ios", **disk) == 13054
    assert value(run, "write", "disk_ios", **disk) == 28345
    assert value(run, "write", "disk_merges", **disk) == 4
    assert value(run, "read", "disk_ticks", **disk) == 146.353
    assert value(run, "write", "disk_ticks", **disk) == 101.802
    assert value(run, "all", "disk_queue_time", **disk) == 235.378
    members = {"scope": "disk", "part": "md1/members"}
    ios = figure(run, "read", "disk_ios", "mean", **members)
    assert (ios.value, ios.low, ios.high) == (31500, 31500, 31501)
    assert value(run, "all", "disk_queue_time", "mean", **members) == 1375.129
    assert value(run, "all", "disk_utilisation", "max", **members) == 0.1218


def test_128k_xfs() -> None:
    run = published("fio-randrw-128k-xfs")
    assert (run.tool_version, run.host, run.duration) == ("3.7", "fstest", 600.059)
    assert run.ended_at == datetime(2020, 3, 23, 0, 42, 49)
    percentile = figure(run, "read", "completion_latency", "p99.99")
    # 21632 ns is the middle of a bin that is 256 ns wide
    assert (percentile.value, percentile.low, percentile.high) == pytest.approx((21632e-9, 21504e-9, 21760e-9))
    assert value(run, "read", "completion_latency", "p50") == 3600e-9
    assert value(run, "write", "completion_latency", "p99.5") == 2256e-9
    assert value(run, "read", "submission_latency", "max") == pytest.approx(673486 * US)
    assert value(run, "read", "latency", "max") == pytest.approx(673491 * US)
    stdev = figure(run, "read", "latency", "stdev")
    assert (stdev.value, stdev.low, stdev.high) == pytest.approx(
        (61519.33 * US, 61519.325 * US, 61519.335 * US), rel=1e-12
    )
    smallest = figure(run, "write", "submission_latency", "min")
    assert (smallest.low, smallest.high) == pytest.approx((63 * US, 64 * US))  # cut to whole µs
    exact = figure(run, "write", "completion_latency", "max")
    assert (exact.low, exact.value, exact.high) == (26489e-9, 26489e-9, 26489e-9)  # nothing cut from ns
    mean = figure(run, "write", "bandwidth", "mean")
    assert (mean.value, mean.samples) == (931.85 * 1024, 8087)
    assert value(run, "read", "bandwidth", "max") == 12288 * 1024
    assert value(run, "read", "iops", "stdev") == 9.72
    assert value(run, "write", "group_share") == 0.1484
    assert value(run, "all", "cpu_system") == 0.0019
    assert value(run, "all", "context_switches") == 68315
    assert value(run, "all", "minor_faults") == 187
    assert value(run, "read", "operations") == 68283
    assert value(run, "write", "operations") == 29441
    assert value(run, "write", "dropped_operations") == 0
    assert value(run, "all", "disk_utilisation", scope="disk", part="md1") == 0
    assert value(run, "all", "disk_utilisation", scope="disk", part="sdg") == 0.1110
    assert figure(run, "read", "iops").part == "randrw"
    assert (figure(run, "read", "iops").threads, figure(run, "write", "iops").block_size) == (8, 131072)
    assert figure(run, "read", "bandwidth", scope="group").threads == 8


def test_settings_of_128k_xfs() -> None:
    run = published("fio-randrw-128k-xfs")
    found = known(run)
    assert found["direct"] == ("false", "command")
    assert found["file_size"] == (str(16 * 2**30), "command")
    assert found["read_share"] == ("0.7", "command")
    assert found["grouped"] == ("true", "command")
    assert found["iodepth"] == ("1", "log")
    assert found["command"][0].endswith("--runtime=600 --group_reporting")
    both = {(item.key, item.value, item.origin) for item in run.settings}
    for key, text in (("pattern", "randrw"), ("block_size", "131072"), ("engine", "libaio"), ("threads", "8")):
        assert {(key, text, "command"), (key, text, "log")} <= both
    assert found["fio.latency_percentile"] == ("1.0", "log")


def test_128k_ext4() -> None:
    run = published("fio-randrw-128k-ext4")
    assert value(run, "read", "iops") == 115
    assert value(run, "read", "bandwidth") == pytest.approx(14.5 * MIB)
    assert value(run, "write", "bandwidth") == 6391 * 1024
    assert value(run, "read", "submission_latency", "mean") == pytest.approx(68985.35 * US)
    assert value(run, "write", "completion_latency", "p99.9") == 12480e-9
    assert value(run, "all", "major_faults") == 0
    buckets = {(item.low, item.high): item.share for item in run.bins if item.metric == "completion_latency"}
    assert buckets == pytest.approx(
        {
            (1e-6, 2e-6): 0.2810,
            (2e-6, 4e-6): 0.5605,
            (4e-6, 10e-6): 0.1452,
            (10e-6, 20e-6): 0.0130,
            (20e-6, 50e-6): 0.0004,
            (100e-6, 250e-6): 0.0001,
        }
    )


def test_128k_zfs() -> None:
    run = published("fio-randrw-128k-zfs")
    assert run.ended_at == datetime(2020, 3, 23, 0, 31, 15)
    assert value(run, "read", "iops") == 101
    assert value(run, "write", "latency", "mean") == pytest.approx(961.20 * US)
    assert value(run, "read", "completion_latency", "p1") == 1768e-9
    assert value(run, "read", "operations") == 60644
    assert not [item for item in run.measurements if item.scope == "disk"]
    assert run.end == 2980  # the whole file but its line end


def test_nvme_xfs() -> None:
    run = published("fio-randwrite-xfs")
    iops = figure(run, "write", "iops")
    assert (iops.value, iops.low, iops.high) == (189000, 188500, 189500)
    assert (iops.part, iops.threads, iops.block_size) == ("xfs-fio", 64, None)
    mean = figure(run, "write", "bandwidth", "mean")
    assert (mean.value, mean.samples) == (pytest.approx(757400.32 * 1024), 38262)
    assert value(run, "write", "bandwidth", "stdev") == pytest.approx(21559.21 * 1024)
    assert value(run, "write", "iops", "max") == 1784976
    largest = figure(run, "write", "completion_latency", "max")
    # 2430.4k is a thousandfold of the heading's own unit, the microsecond
    assert (largest.value, largest.low, largest.high) == pytest.approx((2.4304, 2.43035, 2.43045))
    percentile = figure(run, "write", "completion_latency", "p99.5")
    # printed as 8455 after rounding up; the bins there are 131072 ns wide
    assert percentile.value == pytest.approx(8455 * US)
    assert (percentile.low, percentile.high) == pytest.approx((8388608e-9, 8519680e-9))
    assert value(run, "write", "operations") == 56715776
    assert value(run, "write", "zone_resets") == 0
    assert value(run, "all", "cpu_system") == 0.0734
    assert value(run, "write", "bytes") == 216 * 2**30
    assert value(run, "write", "disk_ios", scope="disk", part="nvme7n1") == 21951553
    assert value(run, "all", "disk_utilisation", scope="disk", part="nvme7n1") == pytest.approx(0.2139)
    assert not [item for item in run.measurements if item.operation in {"read", "trim"} and item.scope != "disk"]
    buckets = {(item.low, item.high): item.share for item in run.bins if item.metric == "completion_latency"}
    assert buckets[(4e-6, 10e-6)] == pytest.approx(0.1341)
    assert buckets[(0.05, 0.1)] == pytest.approx(0.0046)
    assert buckets[(2.0, None)] == pytest.approx(0.0001)
    assert len(buckets) == 21


def test_nvme_zfs() -> None:
    run = published("fio-randwrite-zfs")
    iops = figure(run, "write", "iops")
    assert (iops.value, iops.low, iops.high) == pytest.approx((28300, 28250, 28350))
    assert value(run, "write", "latency", "max") == pytest.approx(314790 * US)
    assert value(run, "write", "completion_latency", "p40") == pytest.approx(1057 * US)
    assert value(run, "write", "bytes") == pytest.approx(32.3 * 2**30)
    assert value(run, "write", "bytes", scope="group", primary=False) == pytest.approx(34.7e9)
    assert run.duration == 300.004
    assert run.ended_at == datetime(2021, 2, 1, 23, 0, 41)


def test_depths_and_batches_are_bins() -> None:
    run = published("fio-randwrite-zfs")
    depth = {(item.low, item.high): item.share for item in run.bins if item.metric == "depth"}
    assert depth[(0, 1)] == 1.0
    assert list(depth)[-2:] == [(31, 63), (63, None)]
    submit = {(item.low, item.high): item.share for item in run.bins if item.metric == "submit_batch"}
    assert submit[(0, 4)] == 1.0
    assert submit[(None, 0)] == 0.0
    assert len([item for item in run.bins if item.metric == "complete_batch"]) == 7


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_published_logs_hold_no_contradiction_and_are_understood(path: Path) -> None:
    codes = {item.code for item in diagnostics(read(path))}
    expected = {"INCOMPLETE_LOG"} if "128k" not in path.stem else {"PROGRESS"}
    assert codes == expected


def test_what_an_excerpt_lacks_is_said() -> None:
    (note,) = diagnostics(read(PUBLISHED / "fio-nvme-2021" / "fio-randwrite-xfs.txt"))
    assert note.code == "INCOMPLETE_LOG"
    assert note.message == "The log lacks the jobs' headers, fio's version."


# Every number of a log has its place

# What is no figure: (number, how often). The zeros are groups, err= 0, and counts of directions without work.
NO_FIGURES = {
    "fio-randrw-16k": Counter({"0": 1}),
    "fio-randrw-128k-ext4": Counter({"11169": 1, "0": 10, "23": 1, "00": 1, "29": 1, "37": 1, "2020": 1}),
    "fio-randrw-128k-xfs": Counter({"10376": 1, "0": 10, "23": 1, "00": 1, "42": 1, "49": 1, "2020": 1}),
    "fio-randrw-128k-zfs": Counter({"25652": 1, "0": 10, "23": 1, "00": 1, "31": 1, "15": 1, "2020": 1}),
    "fio-randwrite-xfs": Counter({"63": 1, "0": 12, "1": 1, "21": 1, "46": 1, "44": 1, "2021": 1}),
    "fio-randwrite-zfs": Counter({"64": 1, "0": 12, "1": 1, "23": 1, "00": 1, "41": 1, "2021": 1}),
}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_every_number_of_a_log_is_accounted_for(path: Path) -> None:
    records = read(path)
    (run,) = runs(records)
    raw = path.read_bytes()
    for item in diagnostics(records):
        if item.code != "INCOMPLETE_LOG":  # which points at a line that was read
            assert item.start is not None
            assert item.end is not None
            raw = raw[: item.start] + b" " * (item.end - item.start) + raw[item.end :]
    text = raw.decode()
    found = known(run)
    if "command" in found:
        words = r"\s+".join(map(re.escape, found["command"][0].replace("--numjobs=8", r"--numjobs=8 \\").split()))
        text, times = re.subn(words.replace(r"\\\\", r"\\"), "", text)
        assert times == 1

    shares = Counter(round(item.share or 0, 6) for item in run.bins)
    for share in re.findall(r"\d=(\d+\.\d+)%", text):
        assert shares[round(float(share) / 100, 6)] > 0
    assert shares.total() == len(re.findall(r"\d=(\d+\.\d+)%", text))
    text = re.sub(r"(?:>=)?\d+=\d+\.\d+%", "", text)

    text = re.sub(r"\b(md|sd|nvme)\w*(?=:)", "", text)  # names of disks
    numbers = Counter(re.findall(r"\d+(?:\.\d+)?", text))
    kept = Counter(re.sub(r"[kM]$", "", item.text) for item in run.measurements)
    kept += Counter(
        f"{float(item.statistic[1:]):.2f}" for item in run.measurements if re.match(r"p\d", item.statistic)
    )
    kept += Counter(
        str(item.samples) for item in run.measurements if item.samples is not None and item.statistic == "mean"
    )
    if "fio-randrw-128k" in path.stem:
        kept += Counter({"128": 6, "1": 1, "3.7": 1, "8": 2})  # header, banner, processes, jobs=
        assert found["block_size"][0] == str(128 * 1024)
        assert (found["iodepth"][0], run.tool_version, found["threads"][0]) == ("1", "3.7", "8")
        assert found["fio.started"][0] == "8 processes"
        kept += Counter({"1": 8, "16384": 8})  # eight files are laid out
        assert int(found["file_size"][0]) == 16384 * MIB
    if "fio-randwrite" in path.stem:
        kept += Counter({"64": 1})  # jobs=
        assert found["threads"][0] == "64"
    if "fio-randrw-16k" not in path.stem:
        kept += Counter({"0": 2, "100.00": 1, "1": 1})  # latency: target, window, percentile, depth
        assert [found[f"fio.latency_{key}"][0] for key in ("target", "window", "percentile", "depth")] == [
            "0",
            "0",
            "1.0",
            "1",
        ]
    (no_figures,) = [counter for name, counter in NO_FIGURES.items() if path.stem.startswith(name)]
    assert numbers - kept - no_figures == Counter()
    assert kept + no_figures - numbers == Counter()


# Intact reports of fio 3.33


def test_three_jobs_of_one_name_are_told_apart() -> None:
    records = read(DATA / "3.33-three-jobs.txt")
    (run,) = runs(records)
    assert diagnostics(records) == []
    assert [value(run, "read", "iops", part=f"j.{number}") for number in range(3)] == [7314, 7366, 7474]
    assert figure(run, "read", "iops", part="j.0").threads == 1
    assert figure(run, "read", "completion_latency", "p99.5", part="j.2").line == 53
    assert value(run, "read", "bandwidth", "min", scope="group") == pytest.approx(28.6 * MIB)
    assert value(run, "read", "runtime", "min", scope="group") == 0.137
    assert figure(run, "read", "bandwidth", scope="group").threads == 3
    assert known(run)["threads"] == ("3", "log")
    assert known(run)["file_size"] == (str(4 * MIB), "log")
    assert run.ended_at == datetime(2026, 11, 21, 9, 53, 14)


def test_syncs_have_latencies_of_their_own() -> None:
    (run,) = runs(read(DATA / "3.33-fsync.txt"))
    assert value(run, "sync", "latency", "mean") == pytest.approx(519.61 * US)
    assert value(run, "sync", "latency", "p95") == pytest.approx(1057 * US)
    assert value(run, "sync", "operations") == 63
    assert value(run, "write", "completion_latency", "p95") == pytest.approx(52 * US)
    assert value(run, "write", "operations") == 1024
    assert not [item for item in run.measurements if item.operation in {"read", "trim"} and item.scope == "job"]


def test_jobs_of_two_groups() -> None:
    (run,) = runs(read(DATA / "3.33-two-groups.txt"))
    assert value(run, "read", "iops", part="seq read") == 14200
    assert value(run, "read", "bytes", scope="group", part="1") == 4432 * 1024
    assert value(run, "write", "bandwidth", scope="group", part="1") == 189 * MIB
    assert figure(run, "read", "iops", part="seq read").block_size == 65536
    assert figure(run, "read", "iops", part="mixed").block_size == 4096
    write = figure(run, "write", "iops", part="mixed")
    assert (write.block_size, write.threads) == (8192, 2)
    of_jobs = {(item.part, item.key, item.value) for item in run.settings if item.scope == "job"}
    assert {
        ("seq read", "description", "first one"),
        ("seq read", "block_size", "65536"),
        ("mixed", "block_size", "4096,8192,8192"),
        ("mixed", "threads", "2"),
        ("mixed", "iodepth", "4"),
    } <= of_jobs


def test_a_run_that_met_an_error_has_failed() -> None:
    records = read(DATA / "3.33-no-space.txt")
    (run,) = runs(records)
    assert run.status == "failed"
    assert [item.line for item in diagnostics(records) if item.code == "RUN_FAILED"] == [4, 5, 7]
    assert value(run, "write", "operations") == 1


def test_several_runs_of_a_file_keep_their_bytes() -> None:
    one = (DATA / "3.33-fsync.txt").read_text()
    two = (PUBLISHED / "raid1-hdd-2020" / "fio-randrw-128k-xfs.txt").read_text()
    three = (PUBLISHED / "fio-nvme-2021" / "fio-randwrite-zfs.txt").read_text()
    text = f"première\n{one}\n{two}{three}"
    found = runs(list(fio_normal.parse(Text(text))))
    assert [run.tool_version for run in found] == ["3.33", "3.7", None]
    assert [run.duration for run in found] == [0.070, 600.059, 300.004]
    stretches = [text.encode()[run.start : run.end].decode() for run in found]
    assert stretches == [one.rstrip(), two.rstrip(), three.rstrip().removesuffix("real")]


def test_flattened_text_reads_like_the_intact_one() -> None:
    path = DATA / "3.33-two-groups.txt"
    intact = runs(read(path))[0]
    flat = " ".join(path.read_text().replace("seq read", "seq-read").split())
    (run,) = runs(list(fio_normal.parse(Text(flat))))

    def figures(run: Run) -> list[tuple[object, ...]]:
        return [
            (m.scope, (m.part or "").replace(" ", "-"), m.operation, m.block_size, m.metric, m.statistic, m.text)
            for m in run.measurements
        ]

    assert figures(run) == figures(intact)
    assert len(figures(run)) > 150
    assert [(b.low, b.high, b.share) for b in run.bins] == [(b.low, b.high, b.share) for b in intact.bins]


def test_figures_that_cannot_both_be_right_are_named() -> None:
    text = "write: IOPS=0, BW=27.5MiB/s (29.4MB/s)(2368MiB/84578msec)"
    found = diagnostics(list(fio_normal.parse(Text(text))))
    assert {item.code for item in found} >= {"SECOND_PRINTING_DIFFERS", "FIGURES_DISAGREE"}
    assert "27.5" in next(item.message for item in found if item.code == "SECOND_PRINTING_DIFFERS")


@pytest.mark.parametrize(
    ("version", "high", "codes"),
    [
        ("fio-3.25", 28, {"CARRY_LOST"}),
        ("fio-3.26", 27.05, {"SECOND_PRINTING_DIFFERS", "FIGURES_DISAGREE"}),
        ("", 28, {"CARRY_LOST"}),
    ],
)
def test_a_carry_that_fio_lost_is_allowed_for(version: str, high: float, codes: set[str]) -> None:
    """2368 MiB in 84.578 s are 27.998 MiB/s, and 29.36 MB/s."""
    text = f"{version}\nwrite: IOPS=0, BW=27.0MiB/s (29.4MB/s)(2368MiB/84578msec)"
    records = list(fio_normal.parse(Text(text)))
    rate = figure(runs(records)[0], "write", "bandwidth")
    assert (rate.value, rate.high) == pytest.approx((27 * MIB, high * MIB))
    assert {item.code for item in diagnostics(records)} - {"INCOMPLETE_LOG"} == codes


def test_a_second_printing_shows_that_no_carry_was_lost() -> None:
    text = "fio-3.7\nwrite: IOPS=0, BW=27.0MiB/s (28.4MB/s)(2284MiB/84578msec)"
    records = list(fio_normal.parse(Text(text)))
    rate = figure(runs(records)[0], "write", "bandwidth")
    assert (rate.low, rate.high) == pytest.approx((27.0 * MIB, 27.05 * MIB))
    assert {item.code for item in diagnostics(records)} == {"INCOMPLETE_LOG"}


def test_old_layout() -> None:
    """Of fio 2.x, whose fraction is no decimal fraction: 1305020 KiB in 1000 s, 1305.02, prints as 1305.2."""
    text = """\
job: (groupid=0, jobs=1): err= 0: pid=7: Mon Feb  1 21:46:44 2021
  read : io=1274.5MB, bw=1305.2KB/s, iops=326, runt=1000000msec
    clat (usec): min=2, max=8142.8K, avg=336.28, stdev=4745.39
    clat percentiles (msec):
     |  1.00th=[    3], 99.00th=[  225]
    bw (KB  /s): min=   78, max=30734, per=100.00%, avg=4036.39, stdev=2090.62
    lat (usec) : 2=0.20%
     issued    : total=r=326255/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0
other: (groupid=0, jobs=1): err= 0: pid=8: Mon Feb  1 21:46:44 2021
  read : io=614400KB, bw=615KB/s, iops=153, runt=999000msec
Run status group 0 (all jobs):
   READ: io=1874.5MB, aggrb=1919KB/s, minb=615KB/s, maxb=1305KB/s, mint=999000msec, maxt=1000000msec
"""
    records = list(fio_normal.parse(Text(text)))
    (run,) = runs(records)
    assert {item.code for item in diagnostics(records)} == {"INCOMPLETE_LOG"}
    rate = figure(run, "read", "bandwidth", part="job")
    assert (rate.low, rate.high) == pytest.approx((1305 * 1024, 1306 * 1024))
    assert value(run, "read", "completion_latency", "max") == pytest.approx(8.1428)
    percentile = figure(run, "read", "completion_latency", "p1")
    # above 2 ms and up to 3 ms, in bins that are 16 µs and 32 µs wide there
    assert (percentile.low, percentile.high) == pytest.approx((2000e-6, 3008e-6))
    assert value(run, "read", "bandwidth", "mean") == 4036.39 * 1024
    assert value(run, "read", "operations") == 326255
    largest = figure(run, "read", "bandwidth", "max", scope="group")
    # whether fio 2.0 or a later one, which means 1024 bytes, is not known
    assert (largest.value, largest.low, largest.high) == pytest.approx((1305 * 1024, 1305 * 1000, 1306 * 1024))
    assert value(run, "read", "runtime", "min", scope="group") == 999
    assert (run.bins[0].low, run.bins[0].high) == (0, 2e-6)


# Other versions: their figures are what their `num2str` makes of numbers that we chose


def one_run(name: str) -> Run:
    (run,) = runs(read(DATA / f"{name}.txt"))
    return run


def test_the_oldest_layout_means_bytes_per_ms_by_kib() -> None:
    """64 MiB in 2 s: 33554 bytes per ms."""
    run = one_run("1.21-bytes-per-ms")
    assert value(run, "read", "bytes") == 64 * MIB
    rate = figure(run, "read", "bandwidth")
    assert (rate.value, rate.text) == (33554e3, "33554")
    assert value(run, "read", "bandwidth", "mean") == pytest.approx(33510.33e3)
    assert value(run, "read", "bandwidth", "min") == 31200e3
    assert value(run, "read", "bandwidth", scope="group") == 33554e3
    assert value(run, "read", "bandwidth", "min", scope="group") == 33554e3
    assert value(run, "read", "operations") == 16384
    assert value(run, "all", "context_switches") == 16390
    assert len([item for item in run.bins if item.metric == "completion_latency"]) == 7


def test_two_jobs_of_1_57() -> None:
    """8192000 bytes in 1000 ms and 12288000 in 1499 ms; 1203004 us print as 1203.4K."""
    run = one_run("1.57-two-jobs")
    assert run.tool_version == "1.57"
    assert [value(run, "read", "iops", part=f"randread.{n}") for n in (0, 1)] == [1000, 1000]
    rate = figure(run, "read", "bandwidth", part="randread.1")
    assert rate.low is not None
    assert rate.high is not None
    assert rate.low <= 12288000 / 1.499 <= rate.high
    largest = figure(run, "read", "completion_latency", "max", part="randread.0")
    assert (largest.low, largest.high) == pytest.approx((1.203, 1.204))
    assert value(run, "read", "completion_latency", "max", part="randread.1") == 1.005
    group = {"scope": "group", "part": "0"}
    assert value(run, "read", "bandwidth", **group) == 13342 * 1024
    assert value(run, "read", "bandwidth", "min", **group) == 8192e3  # 8192000 bytes in 1000 ms
    assert value(run, "read", "bandwidth", "max", **group) == 8197e3
    assert known(run)["threads"] == ("2", "log")


def test_bytes_of_2_2_8_without_a_prefix() -> None:
    run = one_run("2.2.8-bytes")
    assert figure(run, "read", "bandwidth").value == 765952
    assert figure(run, "write", "bytes").value == 327680
    assert value(run, "read", "bandwidth", "mean") == 748 * 1024
    assert value(run, "write", "bandwidth", "max", scope="group") == 320 * 1024
    assert value(run, "write", "completion_latency", "p50") == pytest.approx(3792 * US)
    assert value(run, "write", "operations") == 80
    assert (run.bins[0].low, run.bins[0].high) == pytest.approx((20 * US, 50 * US))


def test_microseconds_of_the_first_version_with_the_new_layout() -> None:
    run = one_run("2.17-new-layout")
    percentile = figure(run, "write", "completion_latency", "p99")
    # in ticks of 1 us the bin of 2096 is 32 us wide
    assert (percentile.low, percentile.high) == pytest.approx((2080 * US, 2112 * US))
    assert value(run, "write", "iops", "max") == 832
    assert value(run, "write", "operations") == 800


def test_zone_resets() -> None:
    run = one_run("3.13-zone-resets")
    assert value(run, "write", "zone_resets") == 12
    assert value(run, "write", "submission_latency", "max") == pytest.approx(1.5378)
    rate = figure(run, "write", "bandwidth")
    assert (rate.value, rate.low, rate.high) == (10 * MIB, 10 * MIB, 11 * MIB)


@pytest.mark.parametrize(
    ("name", "metric", "high", "low"),
    [
        ("3.19-high-and-low-priority", "completion_latency", "p/high prio", "p/low prio"),
        ("3.38-sectors-and-hints", "latency", "p/prio 2/4/0", "p/prio 1/0/3"),
    ],
)
def test_latencies_of_each_priority(name: str, metric: str, high: str, low: str) -> None:
    run = one_run(name)
    assert value(run, "read", metric, "mean", part="p") == pytest.approx(
        {"completion_latency": 700.10 * US, "latency": 702.60 * US}[metric]
    )
    assert value(run, "read", metric, "mean", part=high) == pytest.approx(500.10 * US)
    assert value(run, "read", metric, "max", part=low) == pytest.approx(4010 * US)
    assert value(run, "read", metric, "p50", part="p") == pytest.approx(693 * US)
    assert value(run, "read", metric, "p50", part=high) == pytest.approx(494 * US)
    assert value(run, "read", metric, "p99", part=low) == pytest.approx(1090 * US)
    assert value(run, "read", "operation_share", part=high) == pytest.approx(0.501)


def test_sectors_and_the_target_of_3_38() -> None:
    run = one_run("3.38-sectors-and-hints")
    assert value(run, "read", "disk_sectors", scope="disk", part="md0") == 15920
    assert value(run, "write", "disk_sectors", "mean", scope="disk", part="md0/members") == 16
    assert value(run, "read", "disk_ticks", scope="disk", part="nvme1n1") == 0.680
    assert known(run)["fio.latency_target"] == ("0.05", "log")
    assert known(run)["fio.latency_window"] == ("5.0", "log")
    assert known(run)["fio.steadystate_attained"] == ("false", "log")
    assert known(run)["fio.steadystate_criterion"] == ("lat mean dev=3.250%", "log")
    assert value(run, "all", "latency", "steady_mean") == pytest.approx(701 * US)
    assert value(run, "all", "bandwidth", "steady_mean") == 4000 * 1024


# What else fio 3.33 prints


def test_reads_and_writes_as_one() -> None:
    run = one_run("3.33-mixed")
    assert value(run, "mixed", "iops") == 1024000
    assert value(run, "mixed", "bytes") == 4096 * 1024
    assert value(run, "mixed", "operations") == 1024
    assert value(run, "mixed", "bandwidth", scope="group") == 4000 * MIB
    assert {m.operation for m in run.measurements} == {"mixed", "all"}


def test_a_sum_that_fio_forgets_is_missing() -> None:
    records = read(DATA / "3.33-reads-writes-and-both.txt")
    (run,) = runs(records)
    assert not [m for m in run.measurements if m.operation == "mixed" and m.value == 0]
    assert value(run, "mixed", "completion_latency", "mean") == pytest.approx(39.52e-9)
    assert value(run, "mixed", "bytes", scope="group") == 8192 * 1024
    assert value(run, "write", "iops") == 1066000
    (item,) = diagnostics(records)
    assert (item.code, item.line) == ("FIGURES_DISAGREE", 25)


def test_a_steady_state() -> None:
    run = one_run("3.33-steady-state")
    assert known(run)["fio.steadystate_attained"] == ("true", "log")
    assert value(run, "all", "bandwidth", "steady_mean") == pytest.approx(11.7 * MIB)
    assert value(run, "all", "iops", "steady_mean") == 3001


def test_trims() -> None:
    run = one_run("3.33-trimwrite")
    assert value(run, "trim", "iops") == 8000
    assert value(run, "trim", "completion_latency", "max") == pytest.approx(3703 * US)
    assert value(run, "trim", "operations") == 64
    assert value(run, "trim", "bytes", scope="group") == 4096 * 1024
    assert value(run, "write", "bandwidth") == 500 * MIB


def test_priorities_of_3_33() -> None:
    run = one_run("3.33-priorities")
    assert value(run, "read", "completion_latency", "max", part="p/prio 0/0") == pytest.approx(50168e-9)
    assert value(run, "read", "completion_latency", "p99", part="p/prio 1/0") == pytest.approx(22656e-9)
    assert value(run, "write", "operation_share", part="p/prio 1/0") == pytest.approx(0.2519)
    assert value(run, "write", "completion_latency", "p99", part="p") == pytest.approx(34048e-9)


def test_percentiles_of_submission_and_total_latency() -> None:
    run = one_run("3.33-percentiles-of-all")
    assert value(run, "write", "latency", "p99.999") == pytest.approx(764e-9)
    assert value(run, "write", "completion_latency", "p99.999") == pytest.approx(116e-9)
    assert value(run, "read", "latency", "p50") == pytest.approx(115e-9)


def test_bits() -> None:
    """2400 requests of 4 KiB in 1.201 s are 62.45 Mibit/s."""
    records = read(DATA / "3.33-bits.txt")
    (run,) = runs(records)
    assert diagnostics(records) == []
    assert value(run, "read", "bandwidth") == pytest.approx(62.4 * MIB / 8)
    assert value(run, "read", "bandwidth", primary=False) == pytest.approx(65.5e6 / 8)
    assert value(run, "write", "bandwidth", "mean") == 8004 * 1024
    assert value(run, "write", "bytes") == 9600 * 1024


def test_powers_of_ten_do_not_reach_the_samples() -> None:
    """2002 requests per second of 4 KiB are 8008 KiB/s, which fio calls kB/s."""
    records = read(DATA / "3.33-decimal.txt")
    (run,) = runs(records)
    assert value(run, "read", "bandwidth") == 8184e3
    assert value(run, "read", "bandwidth", "min") == 8008 * 1024
    assert {item.code for item in diagnostics(records)} == {"WRONG_HEADING"}


def test_mib_of_a_decimal_report_are_1000_kib() -> None:
    """As fio's JSON of that run had it: a mean of 135217152 KiB/s."""
    text = """\
  read: IOPS=133k, BW=139GB/s (130GiB/s)(167GB/1201msec)
   bw (  MiB/s): min=131649, max=138784, per=99.32%, avg=135217.15, stdev=5045.37, samples=2
"""
    (run,) = runs(list(fio_normal.parse(Text(text))))
    assert value(run, "read", "bandwidth", "mean") == pytest.approx(135217152 * 1024, rel=1e-7)


def test_sizes_of_a_decimal_report_are_rounded() -> None:
    text = (
        "s: (g=0): rw=read, bs=(R) 1049kB-1049kB, (W) 1049kB-1049kB, (T) 1049kB-1049kB, ioengine=null, iodepth=1\n"
    )
    text += "read: IOPS=133k, BW=139GB/s (130GiB/s)(167GB/1201msec)"
    (run,) = runs(list(fio_normal.parse(Text(text))))
    assert known(run)["block_size"] == ("1049kB", "log")
    assert figure(run, "read", "iops").block_size is None


def test_an_engine_that_does_not_queue() -> None:
    (item,) = diagnostics(read(DATA / "3.33-capped-depth.txt"))
    assert (item.code, item.line) == ("QUALIFIED", 5)


def test_a_run_that_was_stopped_is_partial() -> None:
    assert one_run("3.33-stopped").status == "partial"


def test_figures_of_clients_and_of_all_of_them() -> None:
    run = one_run("3.33-two-clients")
    assert (run.host, run.tool_version) == ("vm", "3.33")
    assert value(run, "read", "completion_latency", "max", scope="client", part="vm.1/j1.1") == pytest.approx(
        10652e-9
    )
    assert value(run, "write", "iops", scope="client", part="vm.0/j1.0") == 999
    assert value(run, "read", "bandwidth", scope="group", part="vm.0/0") == 7998 * 1024
    everything = figure(run, "read", "bandwidth", scope="all")
    assert (everything.value, everything.part, everything.threads) == (pytest.approx(15.6 * MIB), None, 4)
    assert value(run, "write", "iops", scope="all") == 1999
    assert known(run)["threads"] == ("2", "log")


# Reports that fio makes while a run goes on

INTERIM = DATA / "3.33-status-interval.txt"


def blocks(records: list[Record]) -> list[Block]:
    return [record for record in records if isinstance(record, Block)]


def test_the_last_report_of_a_run_is_its_result() -> None:
    records = read(INTERIM)
    (run,) = runs(records)
    assert (run.status, run.duration) == ("ok", 3.001)
    assert value(run, "read", "operations") == 3000
    assert [item.line for item in diagnostics(records) if item.code == "INTERIM_REPORT"] == [5, 41, 77]
    grown = {
        (b.operation, b.metric): (b.part, list(b.times), list(b.values), list(b.lines)) for b in blocks(records)
    }
    times = [0.897, 1.897, 2.897, 3.001]
    assert grown["read", "operations"] == ("s", times, [899, 1899, 2899, 3000], [34, 70, 106, 142])
    assert grown["write", "bytes"][2] == pytest.approx([3592 * 1024, 7592 * 1024, 11.3 * MIB, 11.7 * MIB])


def test_a_last_report_that_is_cut_off_is_not_the_result() -> None:
    text = "".join(INTERIM.read_text().splitlines(keepends=True)[:92])
    records = list(fio_normal.parse(Text(text)))
    (run,) = runs(records)
    assert (run.status, run.duration) == ("partial", 1.897)
    assert value(run, "read", "operations") == 1899
    (read_bytes,) = [b for b in blocks(records) if (b.operation, b.metric) == ("read", "bytes")]
    assert list(read_bytes.times) == [0.897, 1.897, 2.897]


def test_runs_of_other_processes_are_no_interim_reports() -> None:
    report = INTERIM.read_text().split("\n\n")
    texts = [report[1] + "\n\n" + report[2], report[3] + "\n\n" + report[4]]
    text = "\n\n".join([texts[0], texts[1].replace("pid=13391", "pid=13999")])
    assert len(runs(list(fio_normal.parse(Text(text))))) == 2


def test_a_report_that_stands_there_twice_counts_once() -> None:
    report = "\n\n".join(INTERIM.read_text().split("\n\n")[1:3])
    records = list(fio_normal.parse(Text(f"{report}\n\n{report}")))
    assert len(runs(records)) == 1
    assert "SAME_RUN" in {item.code for item in diagnostics(records)}


@pytest.mark.parametrize(
    ("printed", "bandwidth"),
    [("BW=16.0EiB/s (18.4EB/s)", 16.0 * 2**60), ("BW=-4096B/s (-4096B/s)", -4096)],
)
def test_impossible_rates_are_named(printed: str, bandwidth: float) -> None:
    records = list(fio_normal.parse(Text(f"fio-3.33\nread: IOPS=1, {printed}(4096B/1000msec)")))
    assert value(runs(records)[0], "read", "bandwidth") == bandwidth
    assert "FIGURES_DISAGREE" in {item.code for item in diagnostics(records)}


def test_a_terse_line_has_no_banner() -> None:
    text = (DATA / "3.33-mixed.txt").read_text().replace("fio-3.33\n", "3;fio-3.32;s;0;0;132160\n")
    (run,) = runs(list(fio_normal.parse(Text(text))))
    assert run.tool_version is None


def test_the_old_layout_cannot_show_that_its_prefixes_are_decimal() -> None:
    text = "fio --name=s --kb_base=1000\nread : io=64000KB, bw=32000KB/s, iops=8000, runt=  2000msec"
    (run,) = runs(list(fio_normal.parse(Text(text))))
    assert (value(run, "read", "bytes"), value(run, "read", "bandwidth")) == (64e6, 32e6)


@pytest.mark.parametrize(
    ("version", "low", "high"),
    [
        ("1.58", 600 * 1000, 601 * 1000),
        ("2.0.7", 600 * 1000, 601 * 1024),
        ("2.2.10", 600 * 1024, 601 * 1024),
    ],
)
def test_the_slowest_job_of_a_group_is_in_units_of_its_version(version: str, low: int, high: int) -> None:
    text = f"""\
fio-{version}
Run status group 0 (all jobs):
   READ: io=1274.5MB, aggrb=1305KB/s, minb=600KB/s, maxb=705KB/s, mint=999000msec, maxt=1000000msec
"""
    (run,) = runs(list(fio_normal.parse(Text(text))))
    slowest = figure(run, "read", "bandwidth", "min", scope="group")
    assert (slowest.low, slowest.high) == pytest.approx((low, high))


def test_the_old_layout_has_no_tera() -> None:
    text = "fio-2.2.8\nwrite: io=2048.0PB, bw=2048.0GB/s, iops=100, runt=1024000msec"
    (run,) = runs(list(fio_normal.parse(Text(text))))
    assert (value(run, "write", "bytes"), value(run, "write", "bandwidth")) == (2**51, 2**41)


# Where a command is known from


@pytest.mark.parametrize(
    ("before", "origin"),
    [
        ("fio --name=s --bs=4k\n", "command"),
        ("$ fio --name=s --bs=4k\nwarming up\n", "command"),
        ("fio --name=s --bs=4k\n\nThis is what I get:\n\n", "stated"),
    ],
)
def test_a_command_is_that_of_the_run_or_what_a_text_says(before: str, origin: str) -> None:
    text = before + (DATA / "3.33-mixed.txt").read_text()
    (run,) = runs(list(fio_normal.parse(Text(text))))
    assert {item.origin for item in run.settings if item.key == "command"} == {origin}


def test_a_log_that_stops_inside_a_job_is_partial() -> None:
    lines = (DATA / "3.33-fsync.txt").read_text().splitlines(keepends=True)
    job = next(number for number, line in enumerate(lines) if "groupid=" in line)
    for end in (job + 2, job + 9):
        (run,) = runs(list(fio_normal.parse(Text("".join(lines[:end])))))
        assert run.status == "partial"
    whole = (DATA / "3.33-two-groups.txt").read_text()
    (run,) = runs(list(fio_normal.parse(Text(whole[: whole.index("mixed: (groupid=1")]))))
    assert run.status == "partial"


@pytest.mark.parametrize("stdev", ["-nan", "-1.00"])
def test_a_deviation_that_is_none_is_missing(stdev: str) -> None:
    text = (
        f"read: IOPS=1, BW=4096B/s (4096B/s)(4096B/1000msec)\nclat (usec): min=5, max=5, avg= 5.00, stdev={stdev}"
    )
    (run,) = runs(list(fio_normal.parse(Text(text))))
    item = figure(run, "read", "completion_latency", "stdev")
    assert (item.state, item.value, item.text, item.unit) == ("missing", None, stdev, "s")


FIXTURES = sorted(DATA.glob("*.txt"))


def test_each_figure_stands_for_one_thing() -> None:
    for path in FIXTURES:
        for run in runs(read(path)):
            names = Counter(
                (m.scope, m.part, m.operation, m.block_size, m.metric, m.statistic)
                for m in run.measurements
                if m.primary
            )
            assert names.total() > 5, path
            assert max(names.values()) == 1, path


MANGLINGS = {
    "on one line": lambda text: " ".join(text.split("\n")),
    "single spaces": lambda text: " ".join(text.split()),
    "no indents": lambda text: re.sub(r"(?m)^[ \t]+", "", text),
    "no-break spaces": lambda text: text.replace(" ", "\N{NO-BREAK SPACE}"),
    "blank lines": lambda text: text.replace("\n", "\n\n"),
    "table cells": lambda text: re.sub(r"(?m)^(.*)$", r"| \1 |", text),
    "line ends of Windows": lambda text: text.replace("\n", "  \r\n"),
    "dashes": lambda text: re.sub(r"(?<=[sB\d])-(?=\d)", "\N{EN DASH}", text),
}


@pytest.mark.parametrize("mangling", MANGLINGS)
def test_mangled_copies_have_the_same_figures(mangling: str) -> None:
    def figures(text: str) -> list[tuple[object, ...]]:
        found = runs(list(fio_normal.parse(Text(text))))
        return [
            (run.status, m.scope, m.part, m.operation, m.metric, m.statistic, m.value)
            for run in found
            for m in run.measurements
        ]

    for path in FIXTURES:
        intact = path.read_text().replace("seq read", "seq-read")
        assert figures(MANGLINGS[mangling](intact)) == figures(intact), path


def test_a_percentile_that_is_no_bin_is_not_read() -> None:
    """In µs 688.1 to 696.3 make a bin, which prints as 693."""
    text = (DATA / "3.19-high-and-low-priority.txt").read_text().replace("[  693]", "[  698]")
    (said,) = diagnostics(list(fio_normal.parse(Text(text))))
    assert (said.code, said.excerpt) == ("UNREAD_FIGURE", "50.00th=[ 698]")


def test_a_percentile_in_the_last_bin_is_only_bounded_below() -> None:
    text = "read: IOPS=1, BW=4096B/s (4096B/s)(4096B/1000msec) clat percentiles (msec): | 99.99th=[17113]"
    (run,) = runs(list(fio_normal.parse(Text(text))))
    item = figure(run, "read", "completion_latency", "p99.99")
    assert (item.state, item.value, item.high) == ("censored", None, None)
    assert item.low == pytest.approx(17.045651456)


def test_figures_without_an_operation_are_not_guessed() -> None:
    text = "slat (usec): min=554, max=610323, avg=68985.35, stdev=55557.33"
    (item,) = [d for d in diagnostics(list(fio_normal.parse(Text(text)))) if d.code == "UNREAD_FIGURE"]
    assert item.excerpt == text


def test_unknown_lines_are_reported() -> None:
    path = DATA / "3.33-fsync.txt"
    text = path.read_text().replace("  cpu   ", "  gpu use      : watts=17\n  cpu   ")
    (item,) = diagnostics(list(fio_normal.parse(Text(text))))
    assert (item.code, item.excerpt, item.line) == ("UNREAD_FIGURE", "gpu use : watts=17", 26)


def test_exactly_the_fio_logs_are_recognised() -> None:
    logs = {path for path in PUBLISHED.glob("*/*.txt") if list(fio_normal.signatures(path.read_text()))}
    assert logs == set(PUBLISHED.glob("*/fio-*.txt"))
    assert {log_format for path in logs for _, log_format in sniff(path.read_text())} == {fio_normal}


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_damaged_logs_never_raise(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([*LOGS, *sorted(DATA.glob("*.txt"))]))
    text = path.read_text()
    match data.draw(st.sampled_from(["cut", "flatten", "repeat", "delete", "change"])):
        case "cut":
            start = data.draw(st.integers(0, len(text)))
            text = text[start : data.draw(st.integers(start, len(text)))]
        case "flatten":
            text = data.draw(st.sampled_from([" ", ""])).join(text.split("\n"))
        case "repeat":
            lines = text.splitlines()
            at = data.draw(st.integers(0, len(lines) - 1))
            text = "\n".join(lines[: at + 1] + lines[at : at + data.draw(st.integers(1, 9))] + lines[at + 1 :])
        case "delete":
            start = data.draw(st.integers(0, len(text)))
            text = text[:start] + text[start + data.draw(st.integers(0, 60)) :]
        case "change":
            at = data.draw(st.integers(0, len(text)))
            text = text[:at] + data.draw(st.text(max_size=5)) + text[at + 1 :]
    for run in runs(list(fio_normal.parse(Text(text)))):
        for item in run.measurements:
            if item.value is not None:
                assert item.low is not None
                assert item.high is not None
                assert item.low <= item.high
        assert 0 <= run.start <= run.end <= len(text.encode())


TOTALS = """\
  READ: bw=40.1MiB/s (42.0MB/s), 40.1MiB/s-40.1MiB/s (42.0MB/s-42.0MB/s), io=96.0MiB (101MB), run=2385-2385msec
  WRITE: bw=20.2MiB/s (21.2MB/s), 20.2MiB/s-20.2MiB/s (21.2MB/s-21.2MB/s), io=48.0MiB (50.3MB), run=2376-2376msec
"""
OLD_GROUPS = """\
Run status group 0 (all jobs):
  WRITE: io=320.0MB, aggrb=13107KB/s, minb=3276KB/s, maxb=3284KB/s, mint=24944msec, maxt=25000msec

Run status group 1 (all jobs):
   READ: io=320.0MB, aggrb=29000KB/s, minb=7248KB/s, maxb=7273KB/s, mint=11262msec, maxt=11299msec
"""
JOB = """\
  read: IOPS=2560, BW=10.0MiB/s (10.5MB/s)(100MiB/10000msec)
    clat (usec): min=20, max=900, avg=42.50, stdev= 7.10
  cpu          : usr=1.00%, sys=2.00%, ctx=25600, majf=0, minf=9
"""


@pytest.mark.parametrize(
    ("excerpt", "changed"),
    [(TOTALS, ("40.1", "50.1")), (OLD_GROUPS, ("29000", "28000")), (JOB, ("42.50", "43.50"))],
    ids=["totals", "groups", "job"],
)
def test_excerpts_of_two_reports_are_two_runs(excerpt: str, changed: tuple[str, str]) -> None:
    text = f"Before the change:\n{excerpt}\nand after it:\n{excerpt.replace(*changed)}"
    assert sniff(text)[0][0] < text.index("and after")
    one, other = runs(list(fio_normal.parse(Text(text))))
    assert (
        len(one.measurements)
        == len(other.measurements)
        == len({(m.scope, m.part, m.operation, m.metric, m.statistic, m.primary) for m in one.measurements})
    )
    assert one.measurements != other.measurements


def test_a_line_that_stands_there_twice_starts_no_run() -> None:
    assert len(runs(list(fio_normal.parse(Text("".join(line * 2 for line in OLD_GROUPS.splitlines(True))))))) == 1


ANNOUNCED = """\
load: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
...
fio-3.33
Starting {started} processes

load: (groupid=0, jobs=1): err={error}: pid=77: Sat Nov 21 20:41:57 2026
  read: IOPS=2560, BW=10.0MiB/s (10.5MB/s)(100MiB/10000msec)
     issued rwts: total=25600,0,0,0 short=0,0,0,0 dropped=0,0,0,0
"""


@pytest.mark.parametrize(("started", "status"), [("1", "ok"), ("2", "partial"), ("1 process and 3", "partial")])
def test_a_log_that_lacks_jobs_is_partial(started: str, status: str) -> None:
    (run,) = runs(list(fio_normal.parse(Text(ANNOUNCED.format(started=started, error=" 0")))))
    assert run.status == status


@pytest.mark.parametrize("error", ["84 ()", "1769919122 (file:io_u.c:2263, error=Unknown error 1769919122)"])
def test_an_error_without_words(error: str) -> None:
    (run,) = runs(list(fio_normal.parse(Text(ANNOUNCED.format(started="1", error=error)))))
    assert run.status == "failed"
    assert figure(run, "read", "iops", part="load").value == 2560


def test_data_that_fio_did_not_write_are_a_failure() -> None:
    records = read(DATA / "3.33-foreign-data.txt")
    (run,) = runs(records)
    assert run.status == "failed"
    assert {d.code for d in diagnostics(records)} == {"RUN_FAILED"}
    assert value(run, "all", "errors", part="load") == 4
    idle = [(m.part, m.text) for m in run.measurements if m.metric == "cpu_idle"]
    assert idle == [(None, "56.77"), ("cpu-0", "111.29"), ("cpu-1", "2.25")]


def test_idle_processors_and_what_else_fio_says() -> None:
    text = (
        ANNOUNCED.format(started="1", error=" 0")
        + """
fio: latency of 166594 nsec exceeds specified max (1000 nsec): f.0.0 read 122880 4096

Run status group 0 (all jobs):
   READ: bw=10.0MiB/s (10.5MB/s), 10.0MiB/s-10.0MiB/s (10.5MB/s-10.5MB/s), io=100MiB (105MB), run=10000-10000msec

CPU idleness:
  system: 70.97%
  percpu: 24.99%, 116.95%
  unit work: mean=28.04us, stddev=19.80
"""
    )
    records = list(fio_normal.parse(Text(text)))
    (run,) = runs(records)
    idle = [(m.part, m.value) for m in run.measurements if m.metric == "cpu_idle"]
    assert idle == [
        (None, pytest.approx(0.7097)),
        ("cpu-0", pytest.approx(0.2499)),
        ("cpu-1", pytest.approx(1.1695)),
    ]
    assert value(run, "all", "idle_unit_time", "mean", scope="all") == pytest.approx(28.04e-6)
    assert [d.code for d in diagnostics(records)] == ["OTHER_TEXT"]


def test_lifetimes_of_blocks_are_named() -> None:
    said = """\
  block lifetime percentiles :
   | 1.00th=3, 5.00th=4,
   | 99.00th=9
        states               : unwritten=1, trimmed=2, written=3, trim failure=0, write failure=0
"""
    records = list(fio_normal.parse(Text(ANNOUNCED.format(started="1", error=" 0") + said)))
    assert [d.code for d in diagnostics(records)] == ["OTHER_TEXT", "INCOMPLETE_LOG"]


def test_a_mail_breaks_commands_and_headers() -> None:
    text = ANNOUNCED.format(started="1", error=" 0").replace(", (T) 4096B", ", (T)\n4096B")
    (run,) = runs(list(fio_normal.parse(Text(f"$ fio --name=load --rw=read\n--ioengine=psync --bs=4k\n{text}"))))
    assert ("block_size", "4096", "log") in {(s.key, s.value, s.origin) for s in run.settings}
    assert ("command", "fio --name=load --rw=read --ioengine=psync --bs=4k") in {
        (s.key, s.value) for s in run.settings
    }
