"""What `time` prints: figures by eye, from a second reading, and from the installed programs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fsbench_kit.documents import read_document
from fsbench_kit.formats import gnu_time
from fsbench_kit.model.records import Measurement, Run
from tests.formats.reading import Reading

DATA = Path(__file__).parents[1] / "data" / "gnu_time"
LOGS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(DATA.glob("*.txt"))}

USAGE = """\
12.34user 5.60system 1:02.50elapsed 28%CPU (0avgtext+0avgdata 2000maxresident)k
16inputs+8outputs (1major+100minor)pagefaults 0swaps
"""


READING = Reading(gnu_time)
records = READING.records
runs = READING.runs
codes = READING.codes


def figures(run: Run) -> dict[str, Measurement]:
    found = {m.metric: m for m in run.measurements}
    assert len(found) == len(run.measurements)
    return found


def values(run: Run) -> dict[str, float | None]:
    return {metric: m.value for metric, m in figures(run).items()}


def test_the_default_format() -> None:
    (run,) = runs(USAGE)
    assert values(run) == pytest.approx(
        {
            "cpu_time_user": 12.34,
            "cpu_time_system": 5.60,
            "elapsed": 62.5,
            "cpu": 0.28,
            "memory_peak": 2000 * 1024,
            "block_inputs": 16,
            "block_outputs": 8,
            "major_faults": 1,
            "minor_faults": 100,
            "swaps": 0,
        }
    )
    assert {m.operation for m in run.measurements} == {"command"}
    assert (run.tool, run.status, run.duration, run.start, run.end) == ("time", "ok", 62.5, 0, len(USAGE) - 1)
    assert codes(USAGE) == []


def test_times_are_cut_off() -> None:
    (run,) = runs(USAGE)
    elapsed, cpu = figures(run)["elapsed"], figures(run)["cpu"]
    assert (elapsed.low, elapsed.high, elapsed.text) == (62.5, pytest.approx(62.51), "1:02.50")
    assert (cpu.low, cpu.high) == pytest.approx((0.28, 0.29))


def test_a_time_that_prints_as_0_is_below_its_last_digit() -> None:
    (run,) = runs(USAGE.replace("5.60system", "0.00system").replace("28%CPU", "19%CPU"))
    system = figures(run)["cpu_time_system"]
    assert (system.state, system.value, system.low, system.high) == ("censored", None, None, 0.01)
    assert figures(run)["swaps"].value == 0


def test_hours() -> None:
    (run,) = runs(USAGE.replace("1:02.50elapsed 28%", "1:02:03elapsed 0%"))
    elapsed = figures(run)["elapsed"]
    assert (elapsed.value, elapsed.low, elapsed.high) == (3723, 3723, 3724)


def test_no_time_has_no_share() -> None:
    (run,) = runs("0.00user 0.00system 0:00.00elapsed ?%CPU (0avgtext+0avgdata 900maxresident)k\n")
    assert "cpu" not in figures(run)
    assert run.duration == 0


def test_a_share_that_its_times_contradict_is_named() -> None:
    assert codes(USAGE.replace("28%", "29%")) == ["FIGURES_DISAGREE"]


@pytest.mark.parametrize(
    ("ending", "exit_code"),
    [
        ("Command exited with non-zero status 3\n", 3),
        ("Command terminated by signal 9\n", None),
    ],
)
def test_a_command_that_fails(ending: str, exit_code: int | None) -> None:
    (run,) = runs(ending + USAGE)
    assert (run.status, run.exit_code, run.start) == ("failed", exit_code, 0)
    assert codes(ending + USAGE) == ["RUN_FAILED"]
    assert [run.status for run in runs(USAGE + ending + USAGE)] == ["ok", "failed"]


def test_the_fixtures() -> None:
    first, second = runs(LOGS["1.9-default"])
    assert values(first) == pytest.approx(
        {
            "cpu_time_user": 0.08,
            "cpu_time_system": 0.02,
            "elapsed": 0.26,
            "cpu": 0.40,
            "memory_peak": 2796 * 1024,
            "block_inputs": 0,
            "block_outputs": 131112,
            "major_faults": 0,
            "minor_faults": 425,
            "swaps": 0,
        }
    )
    assert (second.status, second.exit_code, second.duration) == ("failed", 3, 0.3)
    (mkfs,) = runs(LOGS["1.9-verbose"])
    assert {m.operation for m in mkfs.measurements} == {"mkfs"}
    assert values(mkfs)["voluntary_switches"] == 78
    assert values(mkfs)["block_outputs"] == 656
    assert (mkfs.status, mkfs.exit_code) == ("ok", 0)
    assert [(s.key, s.value) for s in mkfs.settings] == [("command", "/sbin/mkfs.ext4 -q -F img")]
    (killed,) = runs(LOGS["1.9-verbose-killed"])
    assert (killed.status, killed.exit_code, killed.duration) == ("failed", None, 0.2)
    assert [run.duration for run in runs(LOGS["5.2-bash-and-posix"])] == [0.25, 0.13, 0.091]


def test_the_logs_of_1_7() -> None:
    failed, on_an_old_kernel = runs(LOGS["1.7-default"])
    assert (failed.status, failed.exit_code, failed.duration) == ("failed", 2, 9.85)
    assert values(failed)["block_inputs"] == 208456
    memory = figures(failed)["memory_peak"]
    assert (memory.value, memory.low, memory.high) == (11248 * 1024, 2812 * 1024, 11248 * 1024)
    memory = figures(on_an_old_kernel)["memory_peak"]
    assert (memory.state, memory.value, memory.low, memory.high) == ("missing", None, None, None)
    assert values(on_an_old_kernel)["major_faults"] == 201
    (run,) = runs(LOGS["1.7-verbose"])
    assert values(run) == pytest.approx(
        {
            "cpu_time_user": 0.11,
            "cpu_time_system": 2.04,
            "elapsed": 9.31,
            "cpu": 0.23,
            "memory_peak": 7216 * 1024,
            "block_inputs": 208456,
            "block_outputs": 262432,
            "major_faults": 0,
            "minor_faults": 1127,
            "voluntary_switches": 10442,
            "involuntary_switches": 217,
            "swaps": 0,
        }
    )
    assert figures(run)["memory_peak"].low == 1804 * 1024
    assert codes(LOGS["1.7-verbose"]) == []


def test_memory_of_no_whole_number_of_four_pages_is_as_printed() -> None:
    (run,) = runs(USAGE.replace("2000maxresident", "2004maxresident"))
    memory = figures(run)["memory_peak"]
    assert memory.low == memory.value == memory.high == 2004 * 1024


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        ("mkfs.xfs -f /dev/sdb1", "mkfs"),
        ("sudo /sbin/mke2fs /dev/sdb1", "mkfs"),
        ("mount /dev/sdb1 /mnt", "mount"),
        ("umount /mnt", "umount"),
        ("sync", "sync"),
        ("cp -a /usr /mnt", "command"),
        ("mountebank", "command"),
        ("", "command"),
    ],
)
def test_the_operation_is_what_the_command_tells(command: str, operation: str) -> None:
    chars = LOGS["1.9-verbose"].replace("/sbin/mkfs.ext4 -q -F img", command)
    assert {m.operation for run in runs(chars) for m in run.measurements} == {operation}


def test_bash_rounds_and_posix_cuts_off() -> None:
    first, _, bash = runs(LOGS["5.2-bash-and-posix"])
    assert (figures(first)["elapsed"].low, figures(first)["elapsed"].high) == pytest.approx((0.2495, 0.26))
    assert (figures(bash)["elapsed"].low, figures(bash)["elapsed"].high) == pytest.approx((0.0905, 0.0915))
    assert figures(bash)["cpu_time_system"].value == 0.02
    (minutes,) = runs("real\t2m3,250s\nuser\t0m1,000s\nsys\t1m0,500s\n")
    assert values(minutes) == {"elapsed": 123.25, "cpu_time_user": 1, "cpu_time_system": 60.5}


def test_busybox_cuts_off() -> None:
    (run,) = runs("real\t1m 2.25s\nuser\t0m 0.00s\nsys\t0m 0.50s\n")
    assert (figures(run)["elapsed"].low, figures(run)["elapsed"].high) == pytest.approx((62.25, 62.26))
    assert figures(run)["cpu_time_user"].state == "censored"


def second_reading(chars: str) -> list[str]:
    """Return every number of a log but those of lines that say nothing of the command."""
    silent = (
        r"(?m)^.*(?:Average|Socket|Signals|Page size|being timed|records|copied).*$|\(0avgtext\+0avgdata|\(h:.*\):"
    )
    return re.findall(r"\d[\d.:]*(?:m[\d.]+)?", re.sub(silent, "", chars))


@pytest.mark.parametrize("log", LOGS)
def test_every_number_is_accounted_for(log: str) -> None:
    read = [m.text.rstrip("s") for run in runs(LOGS[log]) for m in run.measurements]
    ends = re.findall(r"(?:status|signal|status:) (\d+)", LOGS[log])
    assert sorted(read + ends) == sorted(second_reading(LOGS[log]))


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize(
    "mangled", [lambda c: c.replace("\n", " "), lambda c: c.replace("\t", ""), lambda c: c + c]
)
def test_mangling_changes_no_figure(log: str, mangled: object) -> None:
    chars = mangled(LOGS[log])  # type: ignore[operator]
    whole = [values(run) for run in runs(LOGS[log])]
    assert [values(run) for run in runs(chars)] in (whole, whole * 2)


def test_lines_that_stand_twice_count_once() -> None:
    doubled = "".join(line * 2 for line in USAGE.splitlines(keepends=True))
    assert [values(run) for run in runs(doubled)] == [values(run) for run in runs(USAGE)]
    assert codes(doubled) == ["REPAIRED"]
    bash = "real\t0m1.133s\nreal\t0m1.133s\nuser\t0m0.089s\nuser\t0m0.089s\nsys\t0m0.333s\nsys\t0m0.333s\n"
    assert len(list(gnu_time.signatures(bash))) == 1
    assert len(runs(bash)) == 1


def test_a_log_that_is_cut() -> None:
    (run,) = runs("real 1.00\nuser 0.50\n")
    assert values(run) == {"elapsed": 1, "cpu_time_user": 0.5}
    assert codes("real 1.00\nuser 0.50\n") == ["INCOMPLETE_LOG"]
    (paging,) = runs(USAGE.splitlines()[1])
    assert (paging.status, paging.duration) == ("partial", None)
    assert codes("Command terminated by signal 9\n") == ["UNREAD_FIGURE"]


@pytest.mark.parametrize(
    "chars",
    [
        "in real 2.50 and user 1.00 terms\n",
        "0.5user",
        'printf("%Uuser %Ssystem %Eelapsed %PCPU");',
        "real 0m1s",
        "Command exited with non-zero status 3",
    ],
)
def test_other_text_is_not_recognised(chars: str) -> None:
    assert list(gnu_time.signatures(chars)) == []


def test_a_benchmark_that_was_timed_is_two_runs() -> None:
    log = (DATA.parent / "sysbench" / "1.0.20-seqwr.txt").read_text(encoding="utf-8")
    found = [r for r in read_document((log + USAGE).encode(), "x") if isinstance(r, Run)]
    assert [(run.tool, run.status) for run in found] == [("sysbench", "ok"), ("time", "ok")]
    assert found[1].start == len(log)


GNU_TIME = Path("/usr/bin/time")


@pytest.mark.skipif(not GNU_TIME.exists(), reason="GNU time is not installed")
@pytest.mark.parametrize("option", ["-v", "-p", None])
def test_the_installed_time(option: str | None) -> None:
    end = 0 if option == "-p" else 4  # of which -p says nothing
    argv = [str(GNU_TIME), *([option] if option else []), "sh", "-c", f"sleep 0.15; exit {end}"]
    said = subprocess.run(argv, capture_output=True, text=True, check=False).stderr
    (run,) = runs(said)
    elapsed = figures(run)["elapsed"]
    assert elapsed.low is not None
    assert elapsed.high is not None
    assert elapsed.high > 0.15
    assert elapsed.low < 5
    assert (run.status, run.exit_code) == (("failed", 4) if end else ("ok", None))
    assert codes(said) == (["RUN_FAILED"] if end else [])


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_installed_bash() -> None:
    said = subprocess.run(["bash", "-c", "time sleep 0.15"], capture_output=True, text=True, check=True).stderr
    (run,) = runs(said)
    assert 0.15 <= (run.duration or 0) < 5
    assert codes(said) == []
