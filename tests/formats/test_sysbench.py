"""Expected figures are written from the logs by eye."""

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

from fsbench_kit.formats import FORMATS, sysbench
from fsbench_kit.formats.text import Text
from fsbench_kit.records import Block, Diagnostic, Measurement, Record, Run

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


def records(chars: str) -> list[Record]:
    return list(sysbench.parse(Text(chars)))


def runs(chars: str) -> list[Run]:
    return [record for record in records(chars) if isinstance(record, Run)]


def run_of(chars: str) -> Run:
    (run,) = runs(chars)
    return run


def diagnostics(chars: str) -> list[Diagnostic]:
    return [record for record in records(chars) if isinstance(record, Diagnostic)]


def codes(chars: str) -> list[str]:
    return [item.code for item in diagnostics(chars)]


def figures(run: Run) -> dict[Key, Measurement]:
    primary = [m for m in run.measurements if m.primary]
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
    ]
    # The report of the cpu test is not read, and not passed over in silence either.
    cpu = chars[chars.index("Prime numbers") :]
    assert all(
        item.code in {"UNREAD_FIGURE", "OTHER_TEXT"} and item.start is not None and item.start >= run.end
        for item in diagnostics(chars)
    )
    assert any("cpu" in (item.excerpt or "").lower() for item in diagnostics(chars))
    assert runs(cpu) == []


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
}
TEXTS = {
    **LOGS,
    "0.4.12-rndrw": MIXED,
    **{case: (DATA / f"{case}.txt").read_text() for case in ("1.0.20-seqwr", "1.0.20-seqrd")},
}


def without_place(run: Run) -> tuple[object, ...]:
    return (
        [replace(item, line=None) for item in run.settings],
        [replace(m, line=0) for m in run.measurements],
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
@given(st.sampled_from(sorted(TEXTS)), st.data())
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


# Which logs these are


def test_it_recognises_its_own_logs_and_no_others() -> None:
    own = {
        path for path in (ROOT / "raw_results/published").rglob("*.*") if list(sysbench.marks(path.read_text()))
    }
    assert own == set(STUDY.glob("*.txt"))
    assert sysbench in FORMATS
    oltp = "sysbench 0.5:  multi-threaded\n[  10s] threads: 8, tps: 100.00, reads/s: 1400.21, writes/s: 400.06\n"
    assert not list(sysbench.marks(oltp))
    assert list(sysbench.marks((DATA / "1.0.20-fatal.txt").read_text()))


@pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed")
@pytest.mark.parametrize("pattern", ["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"])
def test_the_installed_sysbench(pattern: str, tmp_path: Path) -> None:
    """Hold the figures against a reading of the report line by line."""
    command = ["sysbench", "fileio", "--file-num=2", "--file-total-size=2M"]
    subprocess.run([*command, "prepare"], cwd=tmp_path, check=True, capture_output=True)
    arguments = [f"--file-test-mode={pattern}", "--events=2000", "--time=1", "--threads=2"]
    done = subprocess.run([*command, *arguments, "run"], cwd=tmp_path, check=True, capture_output=True, text=True)
    if not done.stdout.startswith("sysbench 1.0"):
        pytest.skip(f"the installed sysbench is not 1.0: {done.stdout[:20]}")
    printed = dict(line.strip().split(":", 1) for line in done.stdout.splitlines() if ":" in line)
    run = run_of(done.stdout)
    found = values(run)
    for operation, name in (("read", "reads/s"), ("write", "writes/s"), ("other", "fsyncs/s")):
        key = (operation, "iops" if float(printed[name]) else "operations", "value")
        assert found[key] == float(printed[name])
    assert found["all", "runtime", "value"] == float(printed["total time"].rstrip("s"))
    assert found["all", "operations", "value"] == int(printed["total number of events"])
    assert found["all", "event_time", "value"] == pytest.approx(float(printed["sum"]) / 1e3)
    mean, stdev = printed["events (avg/stddev)"].split("/")
    assert found["all", "thread_events", "mean"] == float(mean)
    assert found["all", "thread_events", "stdev"] == float(stdev)
    assert settings(run, "log")["pattern"] == pattern
    assert not {"UNREAD_FIGURE", "FIGURES_DISAGREE", "INCOMPLETE_LOG"} & set(codes(done.stdout))


CORPUS = Path(os.environ.get("FSBENCH_CORPUS", "")) / "sysbench"


@pytest.mark.skipif("FSBENCH_CORPUS" not in os.environ, reason="FSBENCH_CORPUS does not name a folder of logs")
def test_logs_from_the_wild() -> None:
    paths = sorted((CORPUS / "fileio").glob("*.txt"))
    assert paths
    for path in paths:
        chars = path.read_text(encoding="utf-8", errors="replace")
        assert list(sysbench.marks(chars)), path
        assert len(runs(chars)) == len(re.findall(r"Doing \w+ \S+.*test", chars)), path
        assert "FIGURES_DISAGREE" not in codes(chars), path
    for path in (CORPUS / "other").glob("*.txt"):
        assert not list(sysbench.marks(path.read_text(encoding="utf-8", errors="replace"))), path
