"""iozone's throughput mode: sums, parents, single processes, and the report that prints the sums again."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fsbench_kit.formats import iozone
from fsbench_kit.model.records import Measurement, Run
from tests.formats.reading import Reading

DATA = Path(__file__).parents[1] / "data" / "iozone"
LOGS = {path.stem: path.read_text() for path in sorted(DATA.glob("*throughput*.txt"))}
KIB = 1024.0


READING = Reading(iozone)
_parse = READING.parsed
_run = READING.run_of
_codes = READING.codes


def _figures(run: Run, **columns: object) -> list[Measurement]:
    wanted = {"primary": True} | columns
    return [m for m in run.measurements if all(getattr(m, key) == value for key, value in wanted.items())]


def _figure(run: Run, operation: str, metric: str, statistic: str = "value", **columns: object) -> Measurement:
    where = {"scope": "all", "part": None} | columns
    (found,) = _figures(run, operation=operation, metric=metric, statistic=statistic, **where)
    return found


# By eye


def test_a_test_of_three_processes() -> None:
    run = _run(LOGS["3.279-throughput"])
    total = _figure(run, "write", "bandwidth")
    assert (total.text, total.value, total.unit) == ("61254.19", pytest.approx(61254.19 * KIB), "B/s")
    assert (total.low, total.high) == (pytest.approx(61254.185 * KIB), pytest.approx(61254.195 * KIB))
    assert (total.threads, total.file_size, total.block_size) == (3, 262144 * 1024, 128 * 1024)
    assert _figure(run, "write", "bandwidth", part="parent").text == "50733.02"
    each = {s: _figure(run, "rewrite", "bandwidth", s, scope="thread") for s in ("min", "max", "mean")}
    assert {s: m.text for s, m in each.items()} == {"min": "18904.12", "max": "20133.40", "mean": "19603.57"}
    assert each["mean"].samples == 3
    assert _figure(run, "rewrite", "bytes", "min", scope="thread").value == 246144 * 1024
    assert (len(run.measurements), run.status, _codes(LOGS["3.279-throughput"])) == (12, "ok", [])


def test_the_name_of_the_machine_does_not_swallow_the_next_line() -> None:
    run = _run(LOGS["3.279-throughput"])
    settings = {s.key: s.value for s in run.settings if s.origin == "log"}
    assert settings["iozone.machine"].endswith("x86_64 x86_64 x")
    assert (run.host, settings["kernel"], settings["file_size"]) == ("tin", "2.6.18-8.el5", str(262144 * 1024))


def test_a_cluster_has_no_parent_and_its_children() -> None:
    run = _run((DATA / "3.465-cluster.txt").read_text())
    assert _figures(run, part="parent") == []
    assert [m.text for m in _figures(run, operation="read", metric="bandwidth", statistic="value")] == [
        "466791.50",
        *("117002.50", "116480.00", "117318.75", "115990.25"),
    ]
    third = _figure(run, "write", "bytes", scope="thread", part="2")
    assert (third.text, third.value, third.threads) == ("1048576.00", 2.0**30, 4)
    assert len(run.measurements) == 2 * (1 + 3 + 1 + 4 * 2)


def test_each_operation_has_its_name() -> None:
    run = _run(LOGS["3.489-throughput"])
    sums = _figures(run, scope="all", part=None, metric="bandwidth")
    assert [(m.operation, m.text) for m in sums] == [
        ("write", "4054265.00"),
        ("rewrite", "7183743.00"),
        ("read", "11376019.00"),
        ("reread", "4531485.00"),
        ("backward_read", "7392250.75"),
        *[(m.operation, m.text) for m in sums[5:]],
    ]
    assert [m.operation for m in sums[5:]] == [
        *("stride_read", "random_read", "mixed", "random_write", "pwrite", "pread", "fwrite", "fread")
    ]


def test_operations_per_second() -> None:
    run = _run(LOGS["3.489-throughput-ops"])
    assert {m.metric for m in run.measurements} == {"iops", "operations"}
    rewrite = _figure(run, "rewrite", "iops")
    assert (rewrite.text, rewrite.value, rewrite.unit) == ("93010.05", 93010.05, "1/s")
    assert _figure(run, "read", "operations", "min", scope="thread").value == 4


def test_threads_and_their_processor_time() -> None:
    run = _run(LOGS["3.489-throughput-threads-cpu"])
    assert [s.value for s in run.settings if (s.key, s.origin) == ("iozone.-T", "log")] == ["true"]
    cpu = _figure(run, "write", "cpu")
    assert (cpu.value, cpu.unit) == (pytest.approx(1.6803), "1")
    wall = _figure(run, "write", "runtime")
    assert (wall.state, wall.value, wall.high) == ("censored", None, 0.0005)
    assert _figure(run, "write", "cpu_time").state == "censored"
    assert [m.text for m in _figures(run, metric="cpu", primary=False)] == ["168.03", "139.30", "192.86", "96.38"]


def test_several_numbers_of_processes() -> None:
    run = _run(LOGS["3.489-throughput-range"])
    rewrites = _figures(run, operation="rewrite", scope="all", part=None)
    assert [(m.threads, m.text) for m in rewrites] == [(1, "3052087.75"), (2, "2285502.00"), (3, "2509882.00")]
    again = _figures(run, operation="rewrite", primary=False)
    assert [(m.threads, m.text) for m in again] == [(m.threads, m.text) for m in rewrites]
    limits = {s.key: s.value for s in run.settings if s.origin == "log"}
    assert (limits["iozone.-l"], limits["iozone.-u"]) == ("1", "3")


def test_a_report_names_no_test_that_did_not_run() -> None:
    run = _run(LOGS["3.489-throughput-readers-only"])
    missing = {(m.operation, m.metric): m.text for m in run.measurements if m.state == "missing"}
    assert missing == {
        ("write", "bandwidth"): "0.00",
        ("write", "cpu"): "0.00",
        ("rewrite", "cpu"): "0.00",
    }
    child = _figure(run, "read", "cpu", scope="thread", part="1")
    assert child.text == "96.87"
    assert _codes(LOGS["3.489-throughput-readers-only"]) == []


# Processes that did not run at the same time


def test_a_minimum_of_0_is_no_rate() -> None:
    run = _run(LOGS["3.489-throughput"])
    least = _figure(run, "reread", "bandwidth", "min", scope="thread")
    assert (least.text, least.state, least.value, least.low, least.high) == ("0.00", "missing", None, None, None)
    assert _figure(run, "reread", "bytes", "min", scope="thread").value == 0
    (said,) = [d for d in _parse(LOGS["3.489-throughput"])[1] if d.code == "NO_OVERLAP" and d.line == least.line]
    assert "did not run at the same time" in said.message


def test_a_minimum_above_the_mean_is_that_of_another_process() -> None:
    """iozone forgets a process that did nothing, where another one follows it."""
    run = _run(LOGS["3.489-throughput-threads-cpu"])
    least = _figure(run, "write", "bandwidth", "min", scope="thread")
    assert (least.text, least.state, least.value) == ("3368013.25", "missing", None)
    assert _figure(run, "rewrite", "bandwidth", "min", scope="thread").value == pytest.approx(598110.62 * KIB)
    assert _codes(LOGS["3.489-throughput-threads-cpu"]).count("NO_OVERLAP") == 3


# Cross-checks


def test_a_sum_that_is_not_that_of_the_processes_is_named() -> None:
    damaged = LOGS["3.279-throughput"].replace("61254.19", "71254.19")
    assert "FIGURES_DISAGREE" in _codes(damaged)


def test_a_maximum_below_the_mean_is_named() -> None:
    damaged = LOGS["3.279-throughput"].replace("20881.63", "20281.63")
    assert _codes(damaged) == ["FIGURES_DISAGREE"]


def test_a_report_that_says_otherwise_is_named() -> None:
    damaged = LOGS["3.489-throughput-range"].replace("3052087.75  2285502.00", "3052087.75  2285502.10")
    (said,) = [d for d in _parse(damaged)[1] if d.code == "SECOND_PRINTING_DIFFERS"]
    assert "2285502.00" in said.message
    assert "2285502.10" in said.message


# Pieces, and what copies do


def test_lines_without_a_header() -> None:
    lines = (
        "Children see throughput for  4 readers       =   18427.04 kB/sec\n"
        "Parent sees throughput for  4 readers        =   16253.55 kB/sec\n"
        "Children see throughput for 4 re-readers     =    8256.41 kB/sec\n"
    )
    run = _run(f"Some words.\n\n{lines}")
    assert [(m.operation, m.part, m.text, m.threads) for m in run.measurements] == [
        ("read", None, "18427.04", 4),
        ("read", "parent", "16253.55", 4),
        ("reread", None, "8256.41", 4),
    ]
    assert (run.status, _figures(run, block_size=None)) == ("ok", list(run.measurements))
    assert len(_parse(lines + lines.replace("18427.04", "18431.77"))[0]) == 2


def test_a_report_alone() -> None:
    report = LOGS["3.489-throughput-ops"].partition('"Throughput report')[1:]
    run = _run("".join(report))
    assert [(m.operation, m.metric, m.text, m.threads) for m in run.measurements] == [
        ("write", "iops", "57891.26", None),
        ("rewrite", "iops", "93010.05", None),
        ("read", "iops", "99361.91", None),
        ("reread", "iops", "54862.34", None),
    ]


def test_columns_of_a_report_are_not_guessed_at() -> None:
    report = "".join(LOGS["3.489-throughput-range"].partition('"Throughput report')[1:])
    assert _parse(report)[0] == []
    assert _codes(report).count("UNREAD_FIGURE") >= 4
    with_limits = _run("\tMin process = 1 \n\tMax process = 3 \n" + report)
    assert [m.threads for m in _figures(with_limits, operation="read")] == [1, 2, 3]


def test_processes_whose_test_is_lost_are_unread() -> None:
    log = LOGS["3.279-throughput"]
    for lost in ("Children see throughput for  3 rewriters", "Parent sees throughput for  3 rewriters"):
        log = re.sub(rf".*{lost}.*\n", "", log)
    assert {m.operation for m in _run(log).measurements} == {"write"}
    assert _codes(log).count("UNREAD_FIGURE") == 4


@pytest.mark.parametrize("log", ["3.279-throughput", "3.489-throughput-range", "3.489-throughput-readers-only"])
@pytest.mark.parametrize("prefix", ["> ", "# ", ""])
def test_one_line_and_prefixes_change_nothing(log: str, prefix: str) -> None:
    intact = [(m.operation, m.statistic, m.part, m.threads, m.text) for m in _run(LOGS[log]).measurements]
    chars = re.sub("^", prefix, LOGS[log], flags=re.MULTILINE) if prefix else " ".join(LOGS[log].split())
    assert [(m.operation, m.statistic, m.part, m.threads, m.text) for m in _run(chars).measurements] == intact


def test_hosts_that_pdsh_has_mixed_are_runs_of_their_own() -> None:
    runs, diagnostics = _parse((DATA / "3.493-two-hosts-mixed.txt").read_text())
    assert [(run.host, run.status, _figure(run, "write", "bandwidth").text) for run in runs] == [
        ("node1", "ok", "50117.25"),
        ("node2", "ok", "40222.50"),
    ]
    least = [_figure(run, "write", "bandwidth", "min", scope="thread") for run in runs]
    assert [(m.text, m.line) for m in least] == [("24100.50", 24), ("20000.00", 25)]
    assert [run.started_at.second for run in runs if run.started_at] == [1, 2]
    assert [d.code for d in diagnostics if d.line != 1] == []


def test_a_run_that_iozone_refuses_has_failed() -> None:
    assert _run(LOGS["3.489-throughput-refused"]).status == "failed"
    assert "RUN_FAILED" in _codes(LOGS["3.489-throughput-refused"])


CLUSTER = (Path(__file__).parents[1] / "data" / "iozone" / "3.465-cluster.txt").read_text()


def test_processes_are_held_against_what_they_come_to() -> None:
    log = CLUSTER
    for right, wrong in (("437569.50", "437669.50"), ("112004.75 kB/sec\n\tAvg", "112014.75 kB/sec\n\tAvg")):
        assert "FIGURES_DISAGREE" not in _codes(log)
        assert "FIGURES_DISAGREE" in _codes(log.replace(right, wrong, 1))


def test_the_least_of_processes_of_which_one_did_nothing_is_not_held_against_them() -> None:
    log = CLUSTER.replace("1007616.00 kB, Throughput =  107455.00", "0.00 kB, Throughput =  0.00")
    found = [d.line for d in _parse(log)[1] if d.code == "FIGURES_DISAGREE"]
    assert found == []


def test_a_log_that_stops_early_is_partial() -> None:
    run = _run(LOGS["3.489-throughput"].partition("Children see throughput for  2 readers")[0])
    assert (run.status, len(run.measurements)) == ("partial", 12)


# Against the tool itself


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("iozone") is None, reason="iozone is not installed")
@pytest.mark.parametrize("mode", ["-t 2", "-l 1 -u 2 -O", "-t 2 -T -+u -C"])
def test_the_report_says_what_the_children_say(tmp_path: Path, mode: str) -> None:
    log = subprocess.run(
        ["iozone", *mode.split(), *["-s", "256k", "-r", "64k", "-i", "0", "-i", "1", "-R"]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    run = _run(log)
    metric = "iops" if "-O" in mode else "bandwidth"
    first = [m.text for m in _figures(run, metric=metric, scope="all", part=None)]
    again = [m.text for m in _figures(run, metric=metric, scope="all", part=None, primary=False)]
    assert first == re.findall(r"Children see .*= +([\d.]+)", log)
    report = log.partition("Throughput report")[2].partition("CPU utilization report")[0]
    assert again == re.findall(r"(?<= )\d+\.\d\d\b", report)
    assert sorted(first) == sorted(again)
    assert set(_codes(log)) <= {"NO_OVERLAP", "QUALIFIED"}
    assert run.status == "ok"
