"""Expected figures are written from the logs by eye."""

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from fsbench_kit.documents import read_document
from fsbench_kit.formats import FORMATS, sniff, sysbench
from fsbench_kit.model.records import Block, Diagnostic, Measurement, Run
from tests.formats.reading import Reading

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "raw_results/published/sysbench-rhel72"
DATA = ROOT / "tests/data/sysbench"
LOGS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(STUDY.glob("*.txt"))}
Key = tuple[str, str, str]

MIXED = """\
sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 2

Extra file open flags: 16384
4 files, 4Mb each
16Mb total file size
Block size 8Kb
Number of random requests for random IO: 1000
Read/Write ratio for combined random IO test: 2.50
Periodic FSYNC enabled, calling fsync() each 50 requests.
Using asynchronous I/O mode
Doing random r/w test
Threads started!
(last message repeated 1 times)
Done.

Operations performed:  700 Read, 300 Write, 80 Other = 1080 Total
Read 5.4688Mb  Written 2.3438Mb  Total transferred 7.8125Mb  (3.125Mb/sec)
  400.00 Requests/sec executed

Test execution summary:
    total time:                          2.5000s
    total number of events:              1000
    total time taken by event execution: 4.8000
    per-request statistics:
         min:                                  0.00ms
         avg:                                  4.80ms
         max:                                 60.00ms
         approx.  99 percentile:               0.00ms

Threads fairness:
    events (avg/stddev):           500.0000/0.00
    execution time (avg/stddev):   2.4000/0.05
"""


READING = Reading(sysbench)
records = READING.records
runs = READING.runs
run_of = READING.run_of
diagnostics = READING.diagnostics
codes = READING.codes


def figures(run: Run) -> dict[Key, Measurement]:
    primary = [m for m in run.measurements if m.primary and m.scope == "all"]
    by_key = {(m.operation, m.metric, m.statistic): m for m in primary}
    assert len(by_key) == len(primary)
    return by_key


def values(run: Run) -> dict[Key, float | None]:
    return {key: m.value for key, m in figures(run).items()}


def settings(run: Run, origin: str) -> dict[str, str]:
    return {item.key: item.value for item in run.settings if item.origin == origin}


PUBLISHED = {
    # log: host, direction, requests, fsyncs, total, GiB, MiB/s, requests/s, total time, event time,
    #      avg ms, max ms, p95 ms, events avg, events stddev, time avg, time stddev
    "seqwr-xfs": (
        *("host01", "write", 9710025, 1553600, 11263625, 148.16, 842.88, 53944.57, 180.0000, 678.2973),
        *(0.07, 90.93, 0.10, 2427506.25, 6365.48, 169.5743, 0.22),
    ),
    "seqwr-ext4": (
        *("host02", "write", 4014480, 642304, 4656784, 61.256, 348.48, 22302.64, 180.0002, 712.0619),
        *(0.18, 123.86, 0.23, 1003620, 19916.58, 178.0155, 0.07),
    ),
    "seqrd-xfs": (
        *("host02", "read", 10222146, 0, 10222146, 155.98, 887.34, 56789.67, 180.0001, 714.2186),
        *(0.07, 144.94, 0.10, 2555536.5, 124.69, 178.5547, 0.05),
    ),
    "seqrd-ext4": (
        *("host01", "read", 9961497, 0, 9961497, 152.00, 864.70, 55341.00, 180.0021, 713.3962),
        *(0.07, 143.99, 0.10, 2490374.25, 436.98, 178.3491, 0.18),
    ),
    "rndwr-xfs": (
        *("host02", "write", 186364, 29808, 216172, 2.8437, 16.171, 1034.95, 180.0709, 523.4992),
        *(2.81, 772.01, 0.12, 46591, 26773.96, 130.8748, 75.55),
    ),
    "rndwr-ext4": (
        *("host01", "write", 194208, 31072, 225280, 2.9634, 16.855, 1078.70, 180.0396, 694.4098),
        *(3.58, 349.96, 1.74, 48552, 559.95, 173.6025, 0.45),
    ),
    "rndrd-xfs": (
        *("host02", "read", 164839, 0, 164839, 2.5152, 14.308, 915.73, 180.0092, 719.9114),
        *(4.37, 48.49, 10.48, 41209.75, 51.29, 179.9779, 0.00),
    ),
    "rndrd-ext4": (
        *("host01", "read", 208723, 0, 208723, 3.1849, 18.118, 1159.54, 180.0045, 719.8451),
        *(3.45, 37.33, 8.16, 52180.75, 160.49, 179.9613, 0.00),
    ),
}


@pytest.mark.parametrize("log", PUBLISHED)
def test_all_figures_of_the_published_logs(log: str) -> None:
    host, direction, requests, fsyncs, total, gib, mib_s, rate, time, event_time, *rest = PUBLISHED[log]
    mean, longest, p95, thread_events, events_stdev, thread_time, time_stdev = rest
    other = "read" if direction == "write" else "write"
    run = run_of(LOGS[log])
    assert values(run) == pytest.approx(
        {
            (direction, "operations", "value"): requests,
            (other, "operations", "value"): 0,
            ("other", "operations", "value"): fsyncs,
            ("all", "operations", "value"): total,
            (direction, "bytes", "value"): gib * 2**30,
            (other, "bytes", "value"): 0,
            ("all", "bytes", "value"): gib * 2**30,
            (direction, "bandwidth", "value"): mib_s * 2**20,
            (direction, "iops", "value"): rate,
            ("all", "runtime", "value"): time,
            ("all", "event_time", "value"): event_time,
            ("all", "latency", "min"): 0.04e-3,
            ("all", "latency", "mean"): mean / 1e3,
            ("all", "latency", "max"): longest / 1e3,
            ("all", "latency", "p95"): p95 / 1e3,
            ("all", "thread_events", "mean"): thread_events,
            ("all", "thread_events", "stdev"): events_stdev,
            ("all", "thread_time", "mean"): thread_time,
            ("all", "thread_time", "stdev"): time_stdev,
        },
        rel=1e-12,
        abs=0,
    )
    second = [m for m in run.measurements if not m.primary]
    assert [(m.operation, m.metric, m.value) for m in second] == [(direction, "operations", requests)]
    assert {(m.block_size, m.threads, m.state) for m in run.measurements} == {(16384, 4, "measured")}
    assert (run.tool, run.tool_version, run.host) == ("sysbench", "0.5", host)
    assert (run.duration, run.status, run.exit_code) == (time, "ok", None)


@pytest.mark.parametrize("log", PUBLISHED)
def test_settings_of_the_published_logs(log: str) -> None:
    pattern, _ = log.split("-")
    run = run_of(LOGS[log])
    random = {"request_limit": "100000000", "sysbench.file-rw-ratio": "1.5"} if pattern[:3] == "rnd" else {}
    assert settings(run, "log") == {
        "threads": "4",
        "open_flags": "3",
        "files": "16",
        "file_size": str(128 * 2**20),
        "total_size": str(2 * 2**30),
        "block_size": "16384",
        "fsync": "100",
        "final_fsync": "true",
        "engine": "sync",
        "pattern": pattern,
        **random,
    }
    from_command = settings(run, "command")
    assert from_command.pop("command").startswith("sysbench--test=fileio --file-num=16 ")
    assert from_command == {
        "files": "16",
        "block_size": "16384",
        "total_size": str(2 * 2**30),
        "threads": "4",
        "request_limit": "100000000",
        "time_limit": "180",
        "pattern": pattern,
        "direct": "true",
        "sync": "false",
    }


@pytest.mark.parametrize(
    ("log", "key", "low", "high"),
    [
        ("seqrd-ext4", ("read", "bandwidth", "value"), 864.695 * 2**20, 864.705 * 2**20),  # printed 864.7
        ("seqrd-ext4", ("read", "bytes", "value"), 151.995 * 2**30, 152.005 * 2**30),  # printed 152
        ("rndwr-xfs", ("write", "bandwidth", "value"), 16.1705 * 2**20, 16.1715 * 2**20),
        ("rndwr-xfs", ("write", "iops", "value"), 1034.945, 1034.955),
        ("rndwr-xfs", ("write", "operations", "value"), 186364, 186364),
        ("rndwr-xfs", ("all", "latency", "p95"), 0.115e-3, 0.125e-3),
        ("rndrd-xfs", ("all", "thread_time", "stdev"), 0, 0.005),
    ],
)
def test_intervals_follow_the_tools_rounding(log: str, key: Key, low: float, high: float) -> None:
    figure = figures(run_of(LOGS[log]))[key]
    assert (figure.low, figure.high) == pytest.approx((low, high), rel=1e-12, abs=0)


def test_where_figures_and_runs_stand() -> None:
    run = run_of(LOGS["rndwr-xfs"])
    lines = {key: m.line for key, m in figures(run).items()}
    assert lines["write", "operations", "value"] == 45
    assert lines["write", "bandwidth", "value"] == 47
    assert lines["all", "latency", "p95"] == 69
    assert (run.line, run.start, run.end) == (1, 0, (STUDY / "rndwr-xfs.txt").stat().st_size - 1)
    assert run_of(LOGS["seqrd-xfs"]).start == 2  # after a no-break space


def test_only_one_published_log_is_odd() -> None:
    odd = {log: [(item.code, item.line) for item in diagnostics(chars)] for log, chars in LOGS.items()}
    assert {log: found for log, found in odd.items() if found} == {"rndwr-xfs": [("IDLE_THREAD", 77)]}


def test_an_idle_thread_is_bounded_by_the_threads_spread() -> None:
    # 130.8748 - 75.55^2 / (180.0709 - 130.8748) = 14.85
    (idle,) = diagnostics(LOGS["rndwr-xfs"])
    assert "at most 14.9 s of 180.1 s" in idle.message
    assert "mean is 130.9 s" in idle.message


def test_an_idle_thread_of_a_short_run_is_told_by_figures_that_are_not_zero() -> None:
    # 0.02005 - 0.015^2 / (0.04005 - 0.01995) = 0.00886
    log = MIXED.replace("2.5000s", "0.0400s").replace("2.4000/0.05", "0.0200/0.02")
    (idle,) = (each for each in diagnostics(log) if each.code == "IDLE_THREAD")
    assert "at most 0.00886 s of 0.04005 s, where the mean is 0.01995 s" in idle.message


@pytest.mark.parametrize(("stdev", "idle"), [(0.36, True), (0.34, False)])
def test_a_thread_is_idle_below_half_of_the_mean(stdev: float, idle: bool) -> None:
    # threads of 2.4 s in a run of 2.5 s, whose deviation may be 0.005 less than is printed:
    # 2.4 - 0.355^2 / 0.1 = 1.14 is less than half of it, and 2.4 - 0.335^2 / 0.1 = 1.28 is not
    assert ("IDLE_THREAD" in codes(MIXED.replace("2.4000/0.05", f"2.4000/{stdev}"))) is idle


def test_time_in_fsync_is_no_idle_thread() -> None:
    # 25 % of the time is missing, but from both threads alike.
    assert "IDLE_THREAD" not in codes(MIXED.replace("4.8000", "3.7500").replace("2.4000/0.05", "1.8750/0.01"))


def test_waiting_for_a_target_rate_is_no_request() -> None:
    limited = LOGS["rndwr-xfs"].replace(
        "Number of threads: 4", "Number of threads: 4\nTarget transaction rate: 9/sec"
    )
    assert settings(run_of(limited), "log")["sysbench.rate"] == "9"
    assert codes(limited) == []


def test_the_logs_own_words_come_before_the_command() -> None:
    run = run_of("# sysbench --test=fileio --num-threads=8 --file-test-mode=rndrd run\n" + MIXED)
    assert {m.threads for m in run.measurements} == {2}
    assert ("mixed", "iops", "value") in values(run)
    assert settings(run, "command")["threads"] == "8"


def test_a_spread_between_threads_says_how_many() -> None:
    samples = {key[1]: m.samples for key, m in figures(run_of(MIXED)).items() if m.samples is not None}
    assert samples == {"thread_events": 2, "thread_time": 2}


@pytest.mark.parametrize(
    ("flags", "direct", "sync"),
    [
        ("(none)", "false", "false"),
        ("directio", "true", "false"),
        ("sync", "false", "true"),
        ("dsync", "false", "true"),
    ],
)
def test_open_flags_in_words(flags: str, direct: str, sync: str) -> None:
    found = settings(run_of(MIXED.replace("open flags: 16384", f"open flags: {flags}")), "log")
    assert (found["open_flags"], found["direct"], found["sync"]) == (flags, direct, sync)
    assert "direct" not in settings(run_of(MIXED), "log")  # the number differs between platforms


@pytest.mark.parametrize(
    ("old", "new", "key", "value"),
    [
        ("Using asynchronous", "Using fast mmaped", "engine", "mmap"),
        ("Using asynchronous", "Using slow mmaped", "engine", "mmap"),
        ("Doing random r/w", "Doing sequential rewrite", "pattern", "seqrewr"),
        ("calling fsync() each 50 requests", "calling fsync() each 7 requests", "fsync", "7"),
        ("Periodic FSYNC enabled, calling fsync() each 50 requests.", "", "fsync", None),
        ("Block size 8Kb", "Merging requests up to 1Mb for sequential IO", "sysbench.merged-size", "1048576"),
        (
            "4 files, 4Mb each",
            "3 files, 5.3333Mb each",
            "file_size",
            "5.3333Mb",
        ),  # rounded: no whole number of bytes
        (
            "Periodic FSYNC enabled, calling fsync() each 50 requests.",
            "Calling fsync() after each write operation.",
            "fsync",
            "1",
        ),
    ],
)
def test_words_of_the_header(old: str, new: str, key: str, value: str | None) -> None:
    assert old in MIXED
    assert settings(run_of(MIXED.replace(old, new)), "log").get(key) == value


def test_a_mixed_load() -> None:
    run = run_of(MIXED)
    assert values(run) == pytest.approx(
        {
            ("read", "operations", "value"): 700,
            ("write", "operations", "value"): 300,
            ("other", "operations", "value"): 80,
            ("all", "operations", "value"): 1080,
            ("mixed", "operations", "value"): 1000,
            ("read", "bytes", "value"): 5.4688 * 2**20,
            ("write", "bytes", "value"): 2.3438 * 2**20,
            ("all", "bytes", "value"): 7.8125 * 2**20,
            ("mixed", "bandwidth", "value"): 3.125 * 2**20,
            ("mixed", "iops", "value"): 400,
            ("all", "runtime", "value"): 2.5,
            ("all", "event_time", "value"): 4.8,
            ("all", "latency", "min"): None,
            ("all", "latency", "mean"): 4.8e-3,
            ("all", "latency", "max"): 60e-3,
            ("all", "latency", "p99"): None,
            ("all", "thread_events", "mean"): 500,
            ("all", "thread_events", "stdev"): 0,
            ("all", "thread_time", "mean"): 2.4,
            ("all", "thread_time", "stdev"): 0.05,
        }
    )
    assert settings(run, "log")["pattern"] == "rndrw"
    assert settings(run, "log")["engine"] == "async"
    assert settings(run, "log")["open_flags"] == "16384"
    assert "final_fsync" not in settings(run, "log")
    assert codes(MIXED) == []


def test_a_latency_of_zero_is_below_its_last_digit() -> None:
    figure = figures(run_of(MIXED))["all", "latency", "p99"]
    assert (figure.state, figure.value, figure.low, figure.high) == ("censored", None, None, pytest.approx(5e-6))
    stdev = figures(run_of(MIXED))["all", "thread_events", "stdev"]
    assert (stdev.state, stdev.value) == ("measured", 0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("80 Other", "81 Other", "reads + writes + others is 1081"),
        ("events:              1000", "events:              1001", "reads + writes is 1000, but events is 1001"),
        ("Read 5.4688Mb", "Read 5.4788Mb", "reads * block size"),
        ("Written 2.3438Mb", "Written 2.3538Mb", "writes * block size"),
        ("transferred 7.8125Mb", "transferred 7.8225Mb", "bytes read + bytes written"),
        ("(3.125Mb/sec)", "(3.127Mb/sec)", "bandwidth * total time"),
        ("400.00 Requests", "401.00 Requests", "request rate * total time"),
        ("avg:                                  4.80ms", "avg: 4.70ms", "latency mean * events"),
        ("500.0000/0.00", "501.0000/0.00", "thread events * threads"),
        ("2.4000/0.05", "2.3000/0.05", "thread time * threads"),
    ],
)
def test_figures_that_do_not_agree_are_said(old: str, new: str, words: str) -> None:
    assert old in MIXED
    said = [item for item in diagnostics(MIXED.replace(old, new)) if item.code == "FIGURES_DISAGREE"]
    assert any(words in item.message for item in said)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("4 files, 4Mb each", "4 files, 4100Kb each"),  # the last request on a file is half a block
        ("Block size 8Kb", "Block size 8Kb\nMerging requests up to 64Kb for sequential IO."),
    ],
)
def test_requests_of_several_sizes_are_not_held_against_bytes(old: str, new: str) -> None:
    fewer_bytes = MIXED.replace("Read 5.4688Mb", "Read 5.4600Mb")
    assert any("block size" in item.message for item in diagnostics(fewer_bytes))
    assert not any("block size" in item.message for item in diagnostics(fewer_bytes.replace(old, new)))


def test_1_0_names_its_figures_like_0_5() -> None:
    run = run_of((DATA / "1.0.20-seqwr.txt").read_text())
    assert values(run) == pytest.approx(
        {
            ("read", "operations", "value"): 0,
            ("write", "iops", "value"): 118250.83,
            ("other", "iops", "value"): 4736.02,
            ("read", "bytes", "value"): 0,
            ("write", "bandwidth", "value"): 1847.67 * 2**20,
            ("all", "runtime", "value"): 1.0010,
            ("all", "operations", "value"): 123238,
            ("all", "latency", "min"): None,
            ("all", "latency", "mean"): 0.02e-3,
            ("all", "latency", "max"): 2.34e-3,
            ("all", "latency", "p95"): 0.01e-3,
            ("all", "event_time", "value"): 1.97115,
            ("all", "thread_events", "mean"): 61619,
            ("all", "thread_events", "stdev"): 988,
            ("all", "thread_time", "mean"): 0.9856,
            ("all", "thread_time", "stdev"): 0,
        }
    )
    assert settings(run, "log") == {
        "threads": "2",
        "open_flags": "(none)",
        "direct": "false",
        "sync": "false",
        "files": "4",
        "file_size": str(2 * 2**20),
        "total_size": str(8 * 2**20),
        "block_size": "16384",
        "fsync": "100",
        "final_fsync": "true",
        "engine": "sync",
        "pattern": "seqwr",
    }
    assert (run.tool_version, run.duration) == ("1.0.20", 1.0010)


def test_a_read_only_test_of_1_0_has_no_rate_of_writes() -> None:
    found = values(run_of((DATA / "1.0.20-seqrd.txt").read_text()))
    assert found["read", "iops", "value"] == 995598.95
    assert found["read", "bandwidth", "value"] == pytest.approx(15556.23 * 2**20)
    assert found["write", "operations", "value"] == found["other", "operations", "value"] == 0
    assert not {("write", "iops", "value"), ("write", "bandwidth", "value"), ("other", "iops", "value")} & set(
        found
    )


def test_a_rate_of_zero_is_a_bound_where_the_test_is_not_known_not_to_do_it() -> None:
    chars = (DATA / "1.0.20-seqrd.txt").read_text()
    headless = chars[chars.index("File operations:") :]
    figure = figures(run_of(headless))["write", "iops", "value"]
    assert (figure.state, figure.value, figure.high) == ("censored", None, 0.005)


def test_percentiles_of_1_0_are_as_wide_as_their_buckets() -> None:
    figure = figures(runs((DATA / "1.0.20-prepare-rndrw-cpu-cleanup.txt").read_text())[0])["all", "latency", "p99"]
    assert figure.value == pytest.approx(0.32e-3)
    # 1023 steps from 0.001 to 100000 ms: a factor of 1.01817 each, and half of one to either side
    assert (figure.low, figure.high) == pytest.approx((0.315e-3 / 1.00904, 0.325e-3 * 1.00904), rel=1e-4)


def test_what_stands_around_a_run() -> None:
    """A preparation before it, a test of another kind after it, and a clean-up."""
    chars = (DATA / "1.0.20-prepare-rndrw-cpu-cleanup.txt").read_text()
    found = records(chars)
    (run,) = (record for record in found if isinstance(record, Run))
    assert settings(run, "log")["direct"] == "true"
    assert settings(run, "log")["sysbench.report-interval"] == "1"
    assert values(run)["read", "iops", "value"] == 7973.70
    assert values(run)["write", "bandwidth", "value"] == pytest.approx(83.05 * 2**20)
    assert [record for record in found if isinstance(record, Block)] == [
        Block(
            operation="read",
            metric="bandwidth",
            times=[1, 2],
            values=[119.89 * 2**20, 129.44 * 2**20],
            lines=[33, 34],
        ),
        Block(
            operation="write",
            metric="bandwidth",
            times=[1, 2],
            values=[79.93 * 2**20, 86.28 * 2**20],
            lines=[33, 34],
        ),
        Block(operation="other", metric="iops", times=[1, 2], values=[511.32, 556.01], lines=[33, 34]),
        Block(
            operation="all",
            metric="latency",
            statistic="p99",
            times=[1, 2],
            values=pytest.approx([0.354e-3, 0.129e-3]),  # type: ignore[arg-type]
            lines=[33, 34],
        ),
    ]
    # What is no run of fileio is named, each with where it stands.
    said = [(item.code, item.line) for item in diagnostics(chars)]
    assert said == [("PREPARATION", 1), ("NOT_FILEIO", 60), ("PREPARATION", 91)]
    assert diagnostics(chars)[1].message.endswith(": cpu.")


def test_a_run_that_gives_up_is_failed() -> None:
    chars = (DATA / "1.0.20-fatal.txt").read_text()
    run = run_of(chars)
    assert (run.status, run.measurements, run.duration) == ("failed", (), None)
    assert settings(run, "log")["pattern"] == "rndrd"
    failures = [item for item in diagnostics(chars) if item.code == "RUN_FAILED"]
    assert [item.line for item in failures] == [25, 26, 27]
    assert failures[0].message == "sysbench gave up: Checksum mismatch in block with offset: 737280"
    assert len(failures) == len(diagnostics(chars))


def test_a_missing_header_is_not_made_up() -> None:
    headless = MIXED[MIXED.index("Operations performed") :]
    run = run_of(headless)
    assert (run.tool_version, run.settings) == (None, ())
    assert {m.threads for m in run.measurements} == {None}
    assert values(run)["mixed", "iops", "value"] == 400
    assert codes(headless) == ["INCOMPLETE_LOG"]


def test_figures_that_are_quoted_below_a_report_are_no_second_run() -> None:
    quoted = MIXED + "\nSo it is `Read 5.4688Mb  Written 2.3438Mb  Total transferred 7.8125Mb  (3.125Mb/sec)`.\n"
    assert values(run_of(quoted)) == values(run_of(MIXED))
    assert codes(quoted) == []


def test_runs_in_one_text_stay_apart() -> None:
    both = MIXED + LOGS["rndwr-xfs"] + "\n" + MIXED
    first, second, third = runs(both)
    assert values(first) == values(third) == values(run_of(MIXED))
    assert values(second) == values(run_of(LOGS["rndwr-xfs"]))
    assert [run.host for run in (first, second, third)] == [None, "host02", None]
    data = both.encode()
    assert data[second.start : second.end].decode() == LOGS["rndwr-xfs"].rstrip("\n")
    # also where the banners are gone
    assert len(runs(MIXED.split("\n\n", 1)[1] * 3)) == 3


def test_the_command_of_a_preparation_is_not_the_runs() -> None:
    prepared = "# sysbench --test=fileio --file-total-size=64G prepare\n" + MIXED
    assert settings(run_of(prepared), "command") == {}


@pytest.mark.parametrize("number", ["1,034.95 Requests/sec executed", "1034.95 requests a second"])
def test_a_figure_that_is_not_understood_is_said(number: str) -> None:
    chars = LOGS["rndwr-xfs"].replace("1034.95 Requests/sec executed", number)
    assert ("write", "iops", "value") not in figures(run_of(chars))
    assert "UNREAD_FIGURE" in codes(chars)


# Everything is read

NUMBER = re.compile(r"\d+(?:\.\d+)?")
SAYS_NOTHING = re.compile(r"Random number ?generator seed is 0 and will ?be ignored")


@pytest.mark.parametrize("log", LOGS)
def test_every_number_is_accounted_for(log: str) -> None:
    run = run_of(LOGS[log])
    for line, chars in enumerate(LOGS[log].split("\n"), start=1):
        read = set(NUMBER.findall(run.host or "")) if line == 1 else set()
        if chars.startswith("sysbench"):
            read.add(run.tool_version or "")
        for figure in run.measurements:
            if figure.line == line:
                read |= {figure.text, figure.statistic.removeprefix("p")}
        for item in run.settings:
            if item.line == line:
                read |= set(NUMBER.findall(item.value))
                if item.value.isdecimal():
                    read |= {f"{int(item.value) / 1024**power:g}" for power in (1, 2, 3)}
                if item.key == "sysbench.file-rw-ratio":
                    read.add(f"{float(item.value):.2f}")
        if not SAYS_NOTHING.fullmatch(chars):
            assert set(NUMBER.findall(chars)) <= read, f"line {line}: {chars}"


# Other dialects, and what else stands in logs


def log_of(case: str) -> str:
    return (DATA / f"{case}.txt").read_text(encoding="utf-8")


def blocks(chars: str) -> dict[tuple[str | None, str, str, str], Block]:
    found = [record for record in records(chars) if isinstance(record, Block)]
    return {(b.part, b.operation, b.metric, b.statistic): b for b in found}


def test_1_1_prints_the_rates_of_a_direction_on_one_line() -> None:
    run = run_of(log_of("1.1.0-rndrw"))
    mib, ms = 2**20, 1e-3
    assert values(run) == pytest.approx(
        {
            ("read", "iops", "value"): 3000,
            ("read", "bandwidth", "value"): 46.88 * mib,
            ("write", "iops", "value"): 2000,
            ("write", "bandwidth", "value"): 31.25 * mib,
            ("other", "iops", "value"): 3224.5,
            ("all", "latency", "min"): None,
            ("all", "latency", "mean"): 0.49 * ms,
            ("all", "latency", "max"): 87.32 * ms,
            ("all", "latency", "p95"): 1.32 * ms,
            ("all", "event_time", "value"): 39.92173,
        }
    )
    again = [(m.operation, m.metric, m.value) for m in run.measurements if not m.primary]
    assert again == [("read", "bandwidth", 49.15e6), ("write", "bandwidth", 32.77e6)]
    assert (run.tool_version, run.status, run.duration) == ("1.1.0-ead2689", "ok", None)
    assert settings(run, "log")["direct"] == settings(run, "log")["sync"] == "true"
    assert codes(log_of("1.1.0-rndrw")) == []
    latency = blocks(log_of("1.1.0-rndrw"))[None, "all", "latency", "p95"]
    assert (latency.times, latency.values) == ([5, 10], pytest.approx([1.319e-3, 1.343e-3]))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(49.15 MB/s)", "(49.25 MB/s)", "read bandwidth is"),
        ("IOPS=2000.00", "IOPS=2010.00", "write rate * block size"),
    ],
)
def test_figures_of_1_1_that_do_not_agree_are_said(old: str, new: str, words: str) -> None:
    said = diagnostics(log_of("1.1.0-rndrw").replace(old, new))
    assert [item.code for item in said] == ["FIGURES_DISAGREE"]
    assert words in said[0].message


def test_a_read_only_test_of_1_1_has_no_rate_of_writes() -> None:
    found = values(run_of(log_of("1.1.0-seqrd")))
    assert found["read", "iops", "value"] == 48211.07
    assert found["write", "operations", "value"] == found["write", "bytes", "value"] == 0
    assert ("write", "iops", "value") not in found


def test_intervals_of_0_5() -> None:
    chars = log_of("0.5-rndrw-intervals")
    run = run_of(chars)
    assert values(run)["mixed", "iops", "value"] == 337.04
    found = blocks(chars)
    assert {key: list(block.values) for key, block in found.items()} == {
        (None, "read", "bandwidth", "value"): pytest.approx([1.17 * 2**20, 1.20 * 2**20, 0]),
        (None, "write", "bandwidth", "value"): pytest.approx([0.78 * 2**20, 0.80 * 2**20, 0]),
        (None, "other", "iops", "value"): [79.9, 81.6, 0],
        (None, "all", "latency", "p95"): pytest.approx([9.85e-3, 9.61e-3]),  # no request in the third interval
    }
    assert [list(block.times) for block in found.values()] == [[10, 20, 30]] * 3 + [[10, 20]]
    assert [list(block.lines) for block in found.values()] == [[23, 24, 25]] * 3 + [[23, 24]]
    assert codes(chars) == []


def test_a_run_that_was_interrupted_has_its_series() -> None:
    chars = log_of("0.5-rndrw-intervals").partition("Operations performed")[0]
    run = run_of(chars)
    assert (run.status, run.measurements) == ("partial", ())
    assert len(blocks(chars)) == 4
    assert codes(chars) == ["INCOMPLETE_LOG"]


def test_merged_requests_of_0_4_12() -> None:
    run = run_of(log_of("0.4.12-seqrewr-merged"))
    assert values(run)["write", "bandwidth", "value"] == pytest.approx(25.6 * 2**20)
    assert figures(run)["write", "bandwidth", "value"].high == pytest.approx(25.6005 * 2**20)
    assert settings(run, "log")["sysbench.merged-size"] == str(128 * 1024)
    assert settings(run, "log")["engine"] == "mmap"
    assert codes(log_of("0.4.12-seqrewr-merged")) == []


def test_checkpoints_are_points_of_series_and_no_replicates() -> None:
    chars = log_of("1.0.20-checkpoints-histogram")
    run = run_of(chars)
    assert values(run)["read", "iops", "value"] == 23.21
    assert values(run)["all", "operations", "value"] == 42
    assert settings(run, "log")["sysbench.report-checkpoints"] == "1,2"
    found = blocks(chars)
    reads, longest = (found["checkpoints", *key] for key in (("read", "iops", "value"), ("all", "latency", "max")))
    assert (reads.times, reads.values, reads.lines) == ([1, 2], [27.95, 28.0], [28, 55])
    assert longest.values == pytest.approx([0.2e-3, 0.09e-3])
    # Lines 50 and 77 stand right after a checkpoint, and say 0 where it took the counters away.
    assert found[None, "read", "bandwidth", "value"].lines == [79]
    assert [(item.code, item.line) for item in diagnostics(chars)] == [
        ("INTERIM_REPORT", 25),
        ("INTERIM_REPORT", 52),
    ]


def test_checkpoints_of_0_5() -> None:
    chars = log_of("0.5-checkpoints")
    assert values(run_of(chars))["read", "iops", "value"] == 7680
    assert blocks(chars)["checkpoints", "read", "iops", "value"].values == [8000]
    assert codes(chars) == ["INTERIM_REPORT"]


@pytest.mark.parametrize(("done", "disagree"), [(228200, False), (228000, True)])
def test_counters_of_a_last_part_may_have_gone_on_by_a_hundredth(done: int, disagree: bool) -> None:
    # 230400 events by another counter: a hundredth of them is 2304
    chars = log_of("0.5-checkpoints").replace(
        "total number of events:              230400", f"total number of events:              {done}"
    )
    assert ("FIGURES_DISAGREE" in codes(chars)) is disagree


def test_checkpoints_whose_headings_are_lost() -> None:
    chars = log_of("1.0.20-checkpoints-histogram").replace("Checkpoint report:", "")
    assert values(run_of(chars))["read", "iops", "value"] == 23.21
    assert blocks(chars)["checkpoints", "read", "iops", "value"].times == pytest.approx([1.0001, 2.0001])


def test_checkpoints_after_a_run_are_those_of_another() -> None:
    checkpoints = log_of("0.5-checkpoints")
    first, second = runs(MIXED + checkpoints[checkpoints.index("[  30s]") :])
    assert values(first) == values(run_of(MIXED))
    assert values(second)["read", "iops", "value"] == 7680


def test_a_run_that_ends_at_a_checkpoint_is_partial() -> None:
    chars = log_of("0.5-checkpoints")
    chars = chars[: chars.rindex("Operations performed")]
    assert (run_of(chars).status, run_of(chars).measurements) == ("partial", ())
    assert blocks(chars)["checkpoints", "read", "iops", "value"].values == [8000]


def test_a_histogram() -> None:
    run = run_of(log_of("1.0.20-checkpoints-histogram"))
    assert sum(bucket.count or 0 for bucket in run.bins) == 42
    # The middles 0.0120 and 0.0447, 0.0455 ms; a bucket is a factor of 1.01817 wide, 0.045 stands for two of them.
    first = run.bins[0]
    assert first.low is not None
    assert first.high is not None
    assert first.low < 0.0120e-3 < first.high
    (two,) = (bucket for bucket in run.bins if bucket.line == 96)
    assert (two.count, two.low, two.high) == (
        4,
        pytest.approx(0.0442e-3, rel=0.01),
        pytest.approx(0.0459e-3, rel=0.01),
    )


@pytest.mark.parametrize("row", ["0.012 1", "0.012 |***x 1", "7.123 |* 1"])
def test_a_bucket_that_is_none_is_said(row: str) -> None:
    chars = log_of("1.0.20-checkpoints-histogram").replace(
        "0.012 |*************                            1", row
    )
    assert sum(bucket.count or 0 for bucket in run_of(chars).bins) == 41
    assert "UNREAD_FIGURE" in codes(chars)


def test_a_count_that_no_column_holds_leaves_out_its_bucket_alone() -> None:
    row = "       0.012 |*************                            "
    chars = log_of("1.0.20-checkpoints-histogram").replace(f"{row}1", f"{row}{2**63}")
    (unread,) = [item for item in records(chars) if isinstance(item, Diagnostic) and item.code == "UNREAD_FIGURE"]
    assert unread.line == 82
    assert str(2**63) in (unread.excerpt or "")
    assert sum(bucket.count or 0 for bucket in run_of(chars).bins) == 41


def test_threads_of_a_debugged_run() -> None:
    run = run_of(log_of("1.0.20-debug"))
    threads = {
        (m.part, m.metric, m.statistic): (m.state, m.value) for m in run.measurements if m.scope == "thread"
    }
    assert threads["0", "thread_events", "value"] == ("measured", 5)
    assert threads["0", "latency", "max"] == ("measured", 0.0001)
    assert threads["1", "latency", "min"] == ("missing", None)  # it made no request
    assert threads["1", "thread_events", "value"] == ("measured", 0)
    assert values(run)["all", "event_time", "value"] == pytest.approx(0.31e-3)
    assert codes(log_of("1.0.20-debug")) == []


def test_a_setting_that_is_printed_twice_is_one() -> None:
    keys = [item.key for item in run_of(log_of("1.0.20-debug")).settings]
    assert keys.count("sysbench.validate") == 1


def test_percentiles_can_be_switched_off() -> None:
    run = run_of(log_of("1.0.20-async-no-percentile"))
    assert {key[2] for key in values(run) if key[1] == "latency"} == {"min", "mean", "max"}
    assert codes(log_of("1.0.20-async-no-percentile")) == []


def test_latencies_in_seconds() -> None:
    """As the oldest versions print them."""
    found = values(run_of(MIXED.replace("4.80ms", "0.0048s").replace("60.00ms", "0.0600s")))
    assert found["all", "latency", "mean"] == pytest.approx(4.8e-3)
    assert found["all", "latency", "max"] == pytest.approx(60e-3)


def test_latencies_of_no_request_are_missing() -> None:
    """The least of no latency is printed as the largest number there is."""
    nothing = re.sub(r"(events: +)1000", r"\g<1>0", MIXED).replace("0.00ms", "18446744073709.55ms", 1)
    state = {key[2]: (m.state, m.value) for key, m in figures(run_of(nothing)).items() if key[1] == "latency"}
    assert state["min"] == state["mean"] == state["max"] == ("missing", None)


def test_what_stops_a_run_does_not_take_its_figures_along() -> None:
    chars = MIXED.replace(
        "Threads started!", "Threads started!\nFATAL: Failed to fsync file! file: 0 errno = 22 ()"
    )
    for log in (chars, chars.replace("\n", " ")):
        run = run_of(log)
        assert run.status == "failed"
        assert values(run) == values(run_of(MIXED))
        (failure,) = diagnostics(log)
        assert failure.message == "sysbench gave up: Failed to fsync file! file: 0 errno = 22 ()"


def test_a_percentile_that_sysbench_itself_doubts() -> None:
    warning = (
        "WARNING: Operation time (0.000000) is less than minimal counted value, counting as 1.000000\n"
        "WARNING: Percentile statistics will be inaccurate\nDone."
    )
    assert codes(MIXED.replace("Done.", warning)) == ["QUALIFIED"]


def test_flags_in_hexadecimal_digits() -> None:
    found = settings(run_of(MIXED.replace("open flags: 16384", "open flags: c000")), "log")
    assert found["open_flags"] == "c000"
    assert "direct" not in found


OLTP = """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 8
Report intermediate results every 10 second(s)

Threads started!

[ 10s ] thds: 8 tps: 608.53 qps: 10967.91 (r/w/o: 8530.60/2437.31/0.00) lat (ms,99%): 25.79 err/s: 0.00
[  20s] threads: 8, tps: 591.30, reads/s: 8277.80, writes/s: 2362.80, response time: 26.58ms (99%)
SQL statistics:
    queries performed:
        read:                            497238
        write:                           142068
    transactions:                        35517  (591.75 per sec.)

General statistics:
    total time:                          60.0207s
    total number of events:              35517

Latency (ms):
         min:                                  5.02
         avg:                                 13.51
         max:                                 39.65
         99th percentile:                     27.20
         sum:                             479991.00

Threads fairness:
    events (avg/stddev):           4439.6250/19.06
    execution time (avg/stddev):   59.9989/0.01
"""


def test_another_test_is_named_and_no_run() -> None:
    for chars in (OLTP, OLTP.replace("\n", " ")):
        (named,) = records(chars)
        assert isinstance(named, Diagnostic)
        assert (named.code, named.start, named.end) == ("NOT_FILEIO", 0, len(OLTP.rstrip()))
        assert named.message.endswith(": oltp.")
    between = MIXED + OLTP + MIXED
    assert [values(run) for run in runs(between)] == [values(run_of(MIXED))] * 2
    assert codes(between) == ["NOT_FILEIO"]


def test_a_test_without_words_of_its_own_is_named_by_its_command() -> None:
    bare = OLTP.replace(OLTP[OLTP.index("[ 10s") : OLTP.index("General")], "")
    (named,) = diagnostics("$ sysbench --test=mutex --num-threads=8 run\n" + bare)
    assert (named.code, named.message[-7:]) == ("NOT_FILEIO", " mutex.")


def test_another_test_of_1_1_without_its_banner() -> None:
    chars = """\
Running the test with following options:
Number of threads: 64

Threads started!

Throughput:
    events/s (eps):                      3260.2227
    time elapsed:                        10.0775s
    total number of events:              32855

Latency (ms):
         min:                                    0.28
         sum:                               640000.00
"""
    (named,) = records(chars)
    assert isinstance(named, Diagnostic)
    assert (named.code, named.start, named.end) == ("NOT_FILEIO", 0, len(chars) - 1)
    assert list(sysbench.signatures(chars)) == [0]


def test_remarks_at_line_ends() -> None:
    """As in tutorials, which explain each line."""
    remarks = re.sub(r"(?m)(?<=\d)$", "  # 87 of them", log_of("1.1.0-rndrw"))
    remarks = re.sub(r"(?m)(?<=MB/s\))$", "  # so 2 GB in all", remarks)
    assert values(run_of(remarks)) == values(run_of(log_of("1.1.0-rndrw")))
    assert set(codes(remarks)) <= {"UNREAD_FIGURE", "OTHER_TEXT"}


def test_reports_that_were_cut_down() -> None:
    chars = log_of("1.1.0-rndrw")
    assert list(sysbench.signatures(chars[chars.index("Throughput") :]))
    assert list(sysbench.signatures("reads/s:    0.00\n  writes/s:   395.28\n"))
    run = run_of("reads/s:    0.00\n  writes/s:   395.28\n  fsyncs/s:    50.23\n")
    assert values(run)["write", "iops", "value"] == 395.28


def test_a_log_that_ends_before_it_says_what_it_is() -> None:
    assert codes("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nNumber of threads: 4\n") == [
        "INCOMPLETE_LOG"
    ]
    assert codes("General statistics:\n    total time:    10.0s\n") == ["UNREAD_FIGURE"]
    assert codes("         min:       0.05\n") == ["UNREAD_FIGURE"]


# Commands


@pytest.mark.parametrize(
    ("before", "origin"),
    [
        ("$ sysbench --test=fileio --num-threads=8 run\n", "command"),
        ("root@3f2a:/# sysbench --test=fileio --num-threads=8 run\n", "command"),
        ("$ docker exec -it box sysbench --test=fileio --num-threads=8 run\nWe see:\n", "command"),
        ("$ kubectl exec pod-0 -- /usr/bin/sysbench --test=fileio --num-threads=8 run\n", "command"),
        ("sysbench --test=fileio --num-threads=8 run\n\n```\n", "command"),
        ("sysbench fileio --threads=8 run\nWARNING: the --test option is deprecated. You can pass a", "command"),
        ("sysbench --threads=8 fileio run --time=60\n", "command"),
        ("sysbench --test=fileio \\\n  --num-threads=8 \\\n  run\n", "command"),
        ("They ran sysbench --test=fileio --num-threads=8 run and saw this:\n", "stated"),
    ],
)
def test_a_command_before_the_log(before: str, origin: str) -> None:
    before = before.replace(
        "You can pass a", "You can pass a script name or path on the command line without any options.\n"
    )
    run = run_of(before + MIXED)
    assert settings(run, origin)["threads"] == "8"
    assert {item.origin for item in run.settings} == {"log", origin}


# What copying does to a log

MANGLINGS: dict[str, Callable[[str], str]] = {
    "newlines to spaces": lambda chars: chars.replace("\n", " "),
    "no indentation": lambda chars: re.sub(r"(?m)^\s+", "", chars),
    "no-break spaces to spaces": lambda chars: chars.replace("\u00a0", " "),
    "runs of spaces to one": lambda chars: re.sub(r"[ \u00a0]+", " ", chars),
    "spaces to no-break spaces": lambda chars: chars.replace(" ", "\u00a0"),
    "blank lines": lambda chars: chars.replace("\n", "\n\n"),
    "no blank lines": lambda chars: re.sub(r"\n\s*\n", "\n", chars),
    "carriage returns": lambda chars: chars.replace("\n", "\r\n"),
    "quoted": lambda chars: re.sub(r"(?m)^", "    ", chars),
    "bars": lambda chars: re.sub(r":[ \u00a0]{2,}", ": | ", chars),
}
TEXTS = {
    **LOGS,
    "0.4.12-rndrw": MIXED,
    **{path.stem: path.read_text() for path in sorted(DATA.glob("*.txt")) if "prepare" not in path.stem},
}


def without_place(run: Run) -> tuple[object, ...]:
    return (
        [replace(item, line=None) for item in run.settings],
        [replace(m, line=0) for m in run.measurements],
        [replace(bucket, line=0) for bucket in run.bins],
        run.host,
        run.tool_version,
        run.status,
    )


@hypothesis_settings(deadline=None)
@given(st.sampled_from(sorted(TEXTS)), st.lists(st.sampled_from(sorted(MANGLINGS)), max_size=4, unique=True))
def test_mangling_changes_no_figure(log: str, manglings: list[str]) -> None:
    chars = TEXTS[log]
    for name in manglings:
        chars = MANGLINGS[name](chars)
    assert [without_place(run) for run in runs(chars)] == [without_place(run) for run in runs(TEXTS[log])]
    assert codes(chars) == codes(TEXTS[log])


@hypothesis_settings(deadline=None)
@given(st.sampled_from(sorted(log for log in TEXTS if "checkpoints" not in log)), st.data())
def test_a_log_that_is_cut_gives_no_other_figures(log: str, data: st.DataObject) -> None:
    lines = TEXTS[log].splitlines(keepends=True)
    cut = data.draw(st.integers(0, len(lines)))
    whole = {(key, m.text) for key, m in figures(run_of(TEXTS[log])).items() if m.state == "measured"}
    for part in ("".join(lines[:cut]), "".join(lines[cut:])):
        found = {(key, m.text) for run in runs(part) for key, m in figures(run).items() if m.state == "measured"}
        # Without the lines that tell it, nobody knows that a test has only one direction.
        unknown = {(key, text) for key, text in found if key[0] == "mixed"}
        assert found - unknown <= whole
        assert {(key[1:], text) for key, text in unknown} <= {(key[1:], text) for key, text in whole}


@hypothesis_settings(deadline=None)
@given(st.text(alphabet=" \n0123456789.ab/():=\u00a0", max_size=60), st.sampled_from(sorted(TEXTS)), st.data())
def test_noise_raises_nothing(noise: str, log: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TEXTS[log])))
    records(TEXTS[log][:at] + noise + TEXTS[log][at:])


@pytest.mark.parametrize("log", TEXTS)
def test_lines_that_stand_twice_count_once(log: str) -> None:
    doubled = "".join(line * 2 for line in (TEXTS[log].rstrip("\n") + "\n").splitlines(keepends=True))
    assert [without_place(run) for run in runs(doubled)] == [without_place(run) for run in runs(TEXTS[log])]
    assert codes(doubled) == ["REPAIRED", *codes(TEXTS[log])]


# Which logs these are


def test_it_recognises_its_own_logs_and_no_others() -> None:
    own = {
        path
        for path in (ROOT / "raw_results/published").rglob("*.*")
        if list(sysbench.signatures(path.read_text()))
    }
    assert own == set(STUDY.glob("*.txt"))
    assert sysbench in FORMATS
    oltp = "[  10s] threads: 8, tps: 100.00, reads/s: 1400.21, writes/s: 400.06\n"
    assert not list(sysbench.signatures(oltp))
    assert list(sysbench.signatures((DATA / "1.0.20-fatal.txt").read_text()))


# A second reading, line by line, of logs whose lines are whole

LABELS = {
    "reads/s": ("read", "iops", "value"),
    "writes/s": ("write", "iops", "value"),
    "fsyncs/s": ("other", "iops", "value"),
    "total time": ("all", "runtime", "value"),
    "min": ("all", "latency", "min"),
    "avg": ("all", "latency", "mean"),
    "max": ("all", "latency", "max"),
    "events (avg/stddev)": ("all", "thread_events", "mean"),
    "execution time (avg/stddev)": ("all", "thread_time", "mean"),
}
COUNTS = re.compile(r"Operations performed: +(\d+) [Rr]eads?, (\d+) [Ww]rites?, (\d+) Other = (\d+) Total")


def second_reading(log: str) -> dict[Key, str]:
    """Return the figures of one report as printed."""
    found: dict[Key, str] = {}
    for row in log.splitlines():
        label, _, value = row.strip().rpartition(":")
        number = value.strip().removesuffix("ms").removesuffix("s").split("/")[0]
        if label in LABELS:
            found[LABELS[label]] = number
        elif label.endswith("percentile"):
            found["all", "latency", "p" + re.findall(r"\d+", label)[0]] = number
        elif (counts := COUNTS.search(row)) is not None:
            for operation, count in zip(("read", "write", "other", "all"), counts.groups(), strict=True):
                found[operation, "operations", "value"] = count
        elif row.endswith("Requests/sec executed"):
            found["", "iops", "value"] = row.split()[0]
    return found


def printed(run: Run, *, fsyncs_are_events: bool) -> dict[Key, str]:
    """Return the same figures of a run."""
    found: dict[Key, str] = {}
    for (operation, metric, statistic), m in figures(run).items():
        key = (operation, metric, statistic)
        if metric in {"iops", "runtime", "latency"}:
            found["" if metric == "iops" and not fsyncs_are_events else operation, metric, statistic] = m.text
        elif metric == "operations" and m.text == "0.00":
            found[operation, "iops", statistic] = m.text
        elif (metric == "operations" and operation != "mixed" and not fsyncs_are_events) or (
            metric in {"thread_events", "thread_time"} and statistic == "mean"
        ):
            found[key] = m.text
    return found


WITH_SYSBENCH = pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed")


def run_sysbench(folder: Path, *arguments: str) -> str:
    """Return what a small test prints on files that it prepares."""
    command = ["sysbench", "fileio", "--file-num=2", "--file-total-size=2M"]
    subprocess.run([*command, "--validate", "prepare"], cwd=folder, check=True, capture_output=True)
    done = subprocess.run([*command, *arguments, "run"], cwd=folder, check=True, capture_output=True, text=True)
    if not done.stdout.startswith("sysbench 1.0"):
        pytest.skip(f"the installed sysbench is not 1.0: {done.stdout[:20]}")
    return done.stdout


@WITH_SYSBENCH
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("pattern", ["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"])
def test_the_installed_sysbench(pattern: str, threads: int, tmp_path: Path) -> None:
    """Hold the figures against a reading of the report line by line, and against each other."""
    limits = ["--events=2000", "--time=1", "--file-fsync-end=off"]
    log = run_sysbench(tmp_path, f"--file-test-mode={pattern}", f"--threads={threads}", *limits)
    run = run_of(log)
    found = values(run)
    assert printed(run, fsyncs_are_events=True) == second_reading(log)
    assert settings(run, "log")["pattern"] == pattern
    assert settings(run, "log")["threads"] == str(threads)
    assert codes(log) in ([], ["IDLE_THREAD"])  # a short test can be over before the last thread begins
    # Rates are over the time until the report, which is longer than the total time by well under a second.
    time, events = found["all", "runtime", "value"], found["all", "operations", "value"]
    assert time is not None
    assert events is not None
    rate = sum(value or 0 for (_, metric, _), value in found.items() if metric == "iops")
    assert time <= events / rate * 1.02 <= time + 1
    for direction in ("read", "write"):
        requests = figures(run).get((direction, "iops", "value"))
        moved = figures(run).get((direction, "bandwidth", "value"))
        assert (requests is None) == (moved is None)
        if requests is not None and moved is not None and moved.low is not None and moved.high is not None:
            assert moved.low <= float(requests.text) * 16384 <= moved.high * 1.0001


@WITH_SYSBENCH
@pytest.mark.parametrize("threads", [1, 4])
def test_a_histogram_of_the_installed_sysbench(threads: int, tmp_path: Path) -> None:
    log = run_sysbench(
        tmp_path,
        "--file-test-mode=rndrw",
        "--events=3000",
        f"--threads={threads}",
        "--histogram",
        "--percentile=50",
    )
    run = run_of(log)
    rows = [row.split() for row in log.splitlines() if "|" in row]
    assert sum(bucket.count or 0 for bucket in run.bins) == sum(int(row[-1]) for row in rows)
    assert sum(bucket.count or 0 for bucket in run.bins) == values(run)["all", "operations", "value"]
    edges = [edge for bucket in run.bins for edge in (bucket.low or 0.0, bucket.high or 1e3)]
    assert all(before <= after * 1.0001 for before, after in itertools.pairwise(edges))
    # Half of the requests lie in the bins up to the median, as well as bins can tell.
    median = figures(run)["all", "latency", "p50"]
    below = sum(bucket.count or 0 for bucket in run.bins if (bucket.low or 0) < (median.high or 0))
    assert below >= 1500
    assert codes(log) in ([], ["IDLE_THREAD"])


@WITH_SYSBENCH
@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        (["--file-io-mode=async"], "engine", "async"),
        (["--file-io-mode=mmap"], "engine", "mmap"),
        (["--validate"], "sysbench.validate", "true"),
        (["--percentile=0"], "engine", "sync"),
        (["--file-extra-flags=dsync"], "sync", "true"),
        (["--file-fsync-all"], "fsync", "1"),
        (["--debug"], "sysbench.debug", "true"),
        (["--rand-seed=5"], "seed", "5"),
        (["--file-merged-requests=4"], "sysbench.merged-size", "65536"),
    ],
)
def test_options_of_the_installed_sysbench(options: list[str], key: str, value: str, tmp_path: Path) -> None:
    log = run_sysbench(tmp_path, "--file-test-mode=rndrw", "--events=300", *options)
    run = run_of(log)
    assert settings(run, "log")[key] == value
    assert printed(run, fsyncs_are_events=True).items() >= second_reading(log).items()
    assert codes(log) == []


@pytest.mark.slow
@WITH_SYSBENCH
def test_intervals_and_checkpoints_of_the_installed_sysbench(tmp_path: Path) -> None:
    log = run_sysbench(
        tmp_path,
        "--file-test-mode=rndrw",
        "--time=4",
        "--rate=300",
        "--report-interval=1",
        "--report-checkpoints=2",
    )
    run, *others = records(log)
    assert isinstance(run, Run)
    reports = log.split("File operations:")
    assert printed(run, fsyncs_are_events=True) == second_reading(reports[-1])
    blocks = {(b.part, b.operation, b.metric, b.statistic): b for b in others if isinstance(b, Block)}
    interim = second_reading(reports[1])
    for key in (("read", "iops", "value"), ("all", "latency", "max")):
        block = blocks["checkpoints", *key]
        assert list(block.times) == [2]
        assert block.values[0] == pytest.approx(float(interim[key]) * (1e-3 if key[1] == "latency" else 1))
    assert [item.code for item in others if isinstance(item, Diagnostic)] == ["INTERIM_REPORT"]


CORPUS = Path(os.environ.get("FSBENCH_CORPUS", "")) / "sysbench"
BANNER = re.compile(r"s?ysbench \d[\w.-]*(?: \(using|:  multi-threaded)")


@pytest.mark.skipif("FSBENCH_CORPUS" not in os.environ, reason="FSBENCH_CORPUS does not name a folder of logs")
def test_logs_from_the_wild() -> None:
    """Hold every report of fileio against the second reading of the stretch that its banner begins."""
    paths = sorted((CORPUS / "fileio").glob("*.txt"))
    assert paths
    for path in paths:
        chars = path.read_text(encoding="utf-8", errors="replace")
        starts = [match.start() for match in BANNER.finditer(chars)]
        logs = [chars[start:end] for start, end in itertools.pairwise([*starts, len(chars)])]
        logs = [log for log in logs if re.search(r"Doing \w+ \S+.*test", log)]
        found = runs(chars)
        assert len(found) == len(logs), path
        for run, log in zip(found, logs, strict=True):
            old = log.startswith("sysbench 0")
            assert printed(run, fsyncs_are_events=not old) == second_reading(log), (path, run.line)
        assert "FIGURES_DISAGREE" not in codes(chars), path
    for path in (CORPUS / "other").glob("*.txt"):
        chars = path.read_text(encoding="utf-8", errors="replace")
        assert runs(chars) == [], path
        assert "NOT_FILEIO" in codes(chars), path


def test_the_line_of_the_transfer_is_a_log() -> None:
    text = """\
# sysbench --test=fileio --file-test-mode=seqwr --file-num=1 run
sysbench 0.4.12:  multi-threaded system evaluation benchmark
...
Read 0b  Written 2Gb  Total transferred 2Gb  (150.5Mb/sec)
...
"""
    assert [log_format.TOOL.name for _, log_format in sniff(text)] == ["sysbench"]
    assert values(run_of(text))["write", "bandwidth", "value"] == 150.5 * 2**20


def test_a_warm_up_is_a_setting() -> None:
    log = (ROOT / "tests" / "data" / "sysbench" / "1.1.0-rndrw.txt").read_text()
    options = "Running the test with following options:\n"
    text = log.replace(options, f"{options}Warmup time: 30s\n").replace(
        "Threads started!\n", "Threads started!\n\nWarming up for 30 seconds...\n"
    )
    assert settings(run_of(text), "log")["sysbench.warmup-time"] == "30"
    assert codes(text) == codes(log)


def test_text_beside_another_test_is_no_damaged_log() -> None:
    text = """\
Running the test with following options:
Number of threads: 1

Prime numbers limit: 10000

General statistics:
    total time:                          1.0003s
    total number of events:              3295

real 0m1.02s
"""
    assert codes(text) == ["NOT_FILEIO", "OTHER_TEXT"]


def test_figures_that_touch_another_test_are_no_part_of_a_log() -> None:
    stray = "12 34 56 78 90 11 reads\n"

    def said(chars: str) -> list[str]:
        found = read_document(chars.encode(), "x")
        return [record.code for record in found if isinstance(record, Diagnostic)]

    assert said(stray + OLTP) == ["OTHER_TEXT", "NOT_FILEIO"]
    assert said(stray + MIXED) == ["UNREAD_FIGURE"]
    assert said(stray + OLTP + MIXED) == ["UNREAD_FIGURE", "NOT_FILEIO"]


@pytest.mark.parametrize(
    ("printed", "changed"),
    [
        ("max: 0.0001s  events: 5", "max: 0.0001s  events: 4"),
        ("time taken by event execution: 0.0003s", "time taken by event execution: 0.0006s"),
        ("total number of events:              5", "total number of events:              7"),
    ],
)
def test_what_each_thread_did_adds_up(printed: str, changed: str) -> None:
    log = (DATA / "1.0.20-debug.txt").read_text(encoding="utf-8")
    assert "FIGURES_DISAGREE" not in codes(log)
    assert printed in log
    assert "FIGURES_DISAGREE" in codes(log.replace(printed, changed))
