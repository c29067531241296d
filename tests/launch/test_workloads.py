"""Every tool, run for real by a launch; what is read back is held against what the tool must have done."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import launch, read_plan, tools
from fsbench_kit.launch.workloads import RunContext
from fsbench_kit.launch.workloads.bonnie import Bonnie
from fsbench_kit.launch.workloads.iozone import Iozone
from fsbench_kit.launch.workloads.sysbench import Sysbench
from fsbench_kit.model.errors import InputError
from tests.launch.machine import MIB, busy_with_others

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Plan


def context(directory: Path) -> RunContext:
    return RunContext(directory=directory, beside=directory, filesystem="xfs", seed=7)


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(tools.find_program(program) is None, reason=f"needs {program}")


class Made:
    """A run that was made, and the data that `fsb.read` finds in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.record: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        self.data = fsb.read(folder)

    @property
    def settings(self) -> dict[str, str]:
        return dict(self.data.settings.select("key", "value").rows())

    def values(self, metric: str, statistic: str = "value") -> dict[str, float | None]:
        found = self.data.measurements.filter("primary", metric=metric, statistic=statistic, scope="all")
        return dict(found.select("operation", "value").rows())

    def text(self, name: str = "stdout.txt") -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.fixture
def make(tmp_path: Path, make_plan: Callable[..., Plan]) -> Callable[..., Made]:
    """Launch one run of a workload on a directory."""

    def run(*, odd: tuple[str, ...] = (), **workload: object) -> Made:
        result = launch(make_plan(workload=[workload], repeats=1), root=tmp_path)
        assert result.failures == {}
        (folder,) = result.runs
        return checked(Made(folder), odd)

    return run


def checked(made: Made, odd: tuple[str, ...] = ()) -> Made:
    """Return a run that is whole, and about which nothing is odd but what is named."""
    assert made.data.runs.select("tool", "status").rows() == [(made.record["tool"], "ok")]
    warnings = made.data.diagnostics.filter(made.data.diagnostics["severity"] != "note")
    others = busy_with_others(made.record)
    assert others <= set(warnings["code"]) <= others | set(odd), warnings["message"].to_list()
    return made


# ---- sysbench

MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
SMALL_SYSBENCH = {
    "tool": "sysbench",
    "file_total_size": "1M",
    "file_num": 4,
    "file_block_size": "16k",
    "threads": 2,
    "events": 200,
    "file_fsync_freq": 0,
    "file_fsync_end": False,
}


def _uneven(made: Made) -> tuple[str, ...]:
    """Of 200 requests, which take some milliseconds, one thread may make all; sysbench prints the spread."""
    (spread,) = re.findall(r"execution time \(avg/stddev\): +[\d.]+/([\d.]+)\n", made.text())
    return ("IDLE_THREAD",) if float(spread) else ()


@pytest.mark.slow
@needs("sysbench")
def test_all_modes_of_sysbench(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    workloads = [{**SMALL_SYSBENCH, "name": mode, "file_test_mode": mode} for mode in MODES]
    result = launch(make_plan(workload=workloads, repeats=1), root=tmp_path)
    assert result.failures == {}
    runs = {made.record["workload"]: checked(made, odd=_uneven(made)) for made in map(Made, result.runs)}
    assert runs.keys() == set(MODES)
    for mode, made in runs.items():
        phases = [command["argv"][-1] for command in made.record["preparation"]]
        assert phases == ([] if mode == "seqwr" else ["prepare"])
        assert [command["argv"][-1] for command in made.record["cleanup"]] == ["cleanup"]
        assert made.record["argv"][-1] == "run"
        assert all(command["exit_code"] == 0 for command in made.record["preparation"] + made.record["cleanup"])
        if phases:
            assert "4 files, 256Kb each, 1Mb total" in made.text("preparation.txt")
        assert "Removing test files" in made.text("cleanup.txt")
        # sysbench's own total, and what was asked of it
        assert re.search(r"total number of events: +200\n", made.text())
        assert made.data.measurements.filter(metric="operations", scope="all")["value"].max() == 200
        asked = {"pattern": mode, "files": "4", "total_size": str(MIB), "block_size": "16384", "threads": "2"}
        assert made.settings.items() >= asked.items()


def test_preparation_that_fails_fails_the_run(
    tmp_path: Path, make_plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    fake = programs / "sysbench"
    script = 'for last; do :; done\n[ "$last" = prepare ] || { echo "$last"; exit; }\necho "no space" >&2; exit 3'
    fake.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    table = {**SMALL_SYSBENCH, "name": "one", "file_test_mode": "rndrd"}
    result = launch(make_plan(workload=[table], repeats=1), root=tmp_path)
    ((run, failure),) = result.failures.items()
    assert failure == "the preparation failed: sysbench ended with exit code 3: no space"
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert (record["status"], record["argv"], record["logs"]) == ("failed", [], [])
    assert record["preparation"][0]["exit_code"] == 3
    assert (run / "preparation.txt").read_text() == "no space\n"
    # It was not measured, and it was cleaned up all the same.
    assert (run / "stdout.txt").read_text() == ""
    assert (run / "cleanup.txt").read_text() == "cleanup\n"


def test_sysbench_lasts_its_time(tmp_path: Path) -> None:
    table = {"tool": "sysbench", "name": "s", "file_test_mode": "rndrd", "file_total_size": "16M"}
    assert Sysbench(**table).least_seconds == Sysbench(**table).stated_seconds == 10  # its own default
    assert Sysbench(**table, time=3).least_seconds == 3
    counted = Sysbench(**table, events=5)
    assert (counted.least_seconds, counted.stated_seconds) == (0, 10)  # whichever is first
    assert Sysbench(**table).space == Sysbench(**table).least_written == 16 * MIB
    work = Sysbench(**table, histogram=True, file_rw_ratio=1.5).work(context(tmp_path))
    assert work.on_target
    assert work.measured == (
        *("sysbench", "fileio", "--file-test-mode=rndrd", "--file-total-size=16777216", "--file-rw-ratio=1.5"),
        *("--histogram=on", "--rand-seed=7", "run"),
    )


# ---- bonnie++


@pytest.mark.slow
@needs("bonnie++")
def test_bonnie(make: Callable[..., Made]) -> None:
    made = make(
        tool="bonnie++",
        size="4M",
        ram_size="2M",
        fast=True,
        files=1024,
        largest_file=200,
        smallest_file=100,
        directories=2,
        odd=("WRONG_FIGURE",),
    )
    # In its table this version prints another number for the rates of files, where it prints any and no +++++.
    of_files = made.text().partition("files:max:min")[2].splitlines()[1].split()[1:]
    has_figures = any(rate.isdecimal() for rate in of_files[::2])
    assert ("WRONG_FIGURE" in made.data.diagnostics["code"]) is has_figures
    # The CSV line, field by field, as bonnie++ 2.00's own bon_csv2html has them.
    fields = made.text().strip().splitlines()[-1].split(",")
    assert fields[:2] == ["1.98", "2.00a"]
    assert (fields[3], fields[5], fields[7]) == ("1", "4M", "8192")
    assert fields[4] == str(made.record["argv"][-1])  # the seed
    operations = set(made.values("file_rate")) | set(made.values("bandwidth"))
    assert operations >= {"write", "rewrite", "read", "sequential_create", "random_delete"}
    settings = made.settings
    assert (settings["file_size"], settings["files"]) == (str(4 * MIB), "1024")


def test_bonnie_counts_in_its_own_units(tmp_path: Path) -> None:
    table = {"tool": "bonnie++", "name": "b"}
    both = Bonnie(
        **table, size="1G", chunk_size="4k", files=2048, largest_file=5000, smallest_file=1000, ram_size=0
    )
    words = " ".join(both.work(context(tmp_path)).measured)
    assert f"-d {tmp_path} -s 1024:4096 -n 2:5000:1000 -r 0" in words
    assert words.endswith("-z 7")
    assert both.space == 2**30
    assert both.least_written == 2 * (2**30 + 2048 * 1000)
    files = Bonnie(**table, files=1024, largest_file=5000, concurrency=2)
    assert " -s 0 -n 1:5000:0 -c 2" in " ".join(files.work(context(tmp_path)).measured)
    assert files.space == 2 * 1024 * 3 * 4096
    assert files.least_written == 0


# ---- iozone


@needs("iozone")
def test_iozone_auto(make: Callable[..., Made]) -> None:
    made = make(
        tool="iozone",
        mode="auto",
        minimum_file_size="64k",
        maximum_file_size="128k",
        minimum_record_size="16k",
        maximum_record_size="64k",
        tests=["write", "read"],
        include_flush=True,
        excel_report=True,
    )
    table = re.findall(r"^ +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) *$", made.text(), re.MULTILINE)
    expected = {("64", "16"), ("64", "32"), ("64", "64"), ("128", "16"), ("128", "32"), ("128", "64")}
    assert {row[:2] for row in table} == expected
    found = made.data.measurements.filter("primary", metric="bandwidth", statistic="value")
    printed = {
        (operation, int(size) * 1024, int(record) * 1024, float(rate) * 1024)
        for size, record, *rates in table
        for operation, rate in zip(("write", "rewrite", "read", "reread"), rates, strict=True)
    }
    assert set(found.select("operation", "file_size", "block_size", "value").rows()) == printed


@needs("iozone")
def test_iozone_single(make: Callable[..., Made]) -> None:
    made = make(tool="iozone", mode="single", file_size="256k", record_size="4k", tests=["write", "random"])
    (row,) = re.findall(r"^ +256 +4 +(\d+) +(\d+) +(\d+) +(\d+) *$", made.text(), re.MULTILINE)
    expected = dict(zip(("write", "rewrite", "random_read", "random_write"), row, strict=True))
    assert made.values("bandwidth") == {operation: float(rate) * 1024 for operation, rate in expected.items()}


@needs("iozone")
@pytest.mark.slow  # iozone waits a second and more before each test
def test_iozone_throughput(make: Callable[..., Made]) -> None:
    made = make(
        tool="iozone",
        mode="throughput",
        processes=2,
        file_size="512k",
        record_size="64k",
        tests=["write"],
        odd=("NO_OVERLAP",),  # so small a file may be written before the other process begins
    )
    (rate,) = re.findall(r"Children see throughput for  2 initial writers \t= +([\d.]+) kB/sec", made.text())
    rates = made.data.measurements.filter(operation="write", metric="bandwidth")["value"]
    assert float(rate) * 1024 in rates.to_list()
    assert made.settings["threads"] == "2"


def test_iozone_has_a_file_for_each_process(tmp_path: Path) -> None:
    table = {"tool": "iozone", "name": "i", "mode": "throughput", "file_size": "1M", "record_size": "4k"}
    workload = Iozone(**table, processes=2, tests=["write", "pread"], direct=True)
    words = ["iozone", "-t", "2", "-s", "1024", "-r", "4", "-i", "0", "-i", "10", "-I"]
    files = [f"{tmp_path}/iozone.0", f"{tmp_path}/iozone.1"]
    assert list(workload.work(context(tmp_path)).measured) == [*words, "-F", *files]
    assert (workload.space, workload.least_written) == (2 * MIB, 4 * MIB)


# ---- mistakes

PLAN = """\
id = "test"
[[target]]
kind = "directory"
name = "here"
directory = "."

[[workload]]
name = "one"
{}
"""

SYSBENCH = 'tool = "sysbench"\nfile_test_mode = "rndrw"\nfile_total_size = "16M"'
IOZONE = 'tool = "iozone"\nmode = "throughput"\nprocesses = 2\nfile_size = "1M"\nrecord_size = "4k"'

MISTAKES = {
    "a mode of sysbench": (
        SYSBENCH.replace("rndrw", "rndwd"),
        10,
        '"file_test_mode" must be one of "seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw", not "rndwd"',
    ),
    "files below a block": (
        SYSBENCH.replace("16M", "1M"),
        11,
        "128 files of at least 16 KiB do not fit in 1 MiB",
    ),
    "flags of sysbench": (
        f'{SYSBENCH}\nfile_extra_flags = "directly"',
        12,
        '"file_extra_flags" must be a comma-separated list of "sync", "dsync" and "direct", not "directly"',
    ),
    "part of a MiB": (
        'tool = "bonnie++"\nsize = "100k"',
        10,
        '"size" must be a size of whole MiB, not "100k"',
    ),
    "no test of bonnie++": ('tool = "bonnie++"', 7, '"size" is missing from [[workload]]: a size of whole MiB'),
    "sizes of no files": (
        'tool = "bonnie++"\nsize = "8M"\nlargest_file = "4k"',
        7,
        '"files" is missing from [[workload]]: a number of files, a multiple of 1024',
    ),
    "part of a thousand": (
        'tool = "bonnie++"\nfiles = 1000',
        10,
        '"files" must be a number of files, a multiple of 1024, not 1000',
    ),
    "what a mode of iozone needs": (
        IOZONE.replace("processes = 2\n", ""),
        7,
        '"processes" is missing from [[workload]]: a whole number of at least 1',
    ),
    "what a mode of iozone does not take": (
        f'{IOZONE}\nmaximum_file_size = "1M"',
        14,
        '"maximum_file_size" does not apply in the mode "throughput"',
    ),
    "tests without a file": (
        f'{IOZONE}\ntests = ["read"]',
        14,
        '"tests" must begin with "write", because the other tests use its file',
    ),
    "a test that is none": (
        f'{IOZONE}\ntests = ["write", "red"]',
        14,
        '"tests" must be a list with any of "write", "read", "random", "backward_read", "record_rewrite", '
        '"stride_read", "fwrite", "fread", "random_mix", "pwrite", "pread", not "red"',
    ),
    "a record above its file": (IOZONE.replace("4k", "2M"), 13, "a record cannot be larger than its file"),
}


@needs("bonnie++")
def test_file_that_bonnie_refuses_beside_so_much_memory_is_told_before(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.format('tool = "bonnie++"\nsize = "1M"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"bonnie\+\+ refuses a file of 1 MiB with .* of memory") as raised:
        read_plan(path)
    assert raised.value.line == 10
    path.write_text(PLAN.format('tool = "bonnie++"\nsize = "1M"\nram_size = 0'), encoding="utf-8")
    read_plan(path)


@pytest.mark.parametrize(("table", "line", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_named_with_its_place(tmp_path: Path, table: str, line: int, sentence: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.format(table), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_plan(path)
    assert (raised.value.what, raised.value.line) == (sentence, line)
