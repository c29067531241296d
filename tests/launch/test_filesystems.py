"""All six workloads, run for real on each kind of filesystem, and held against what the tools themselves print."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import launch, tools, zfs
from tests.launch.traces import assert_no_traces, scratch_folders

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Plan

IMAGE = {"kind": "loop", "size": "400M", "allocation": "sparse"}
TARGETS = {
    "ext4": {**IMAGE, "filesystem": "ext4"},
    "xfs": {**IMAGE, "filesystem": "xfs"},
    "btrfs": {**IMAGE, "filesystem": "btrfs"},
    "zfs": {"kind": "zfs", "name": "zfs", "size": "256M", "allocation": "sparse"},
}
WORKLOADS = {
    "fio": {"rw": "randwrite", "bs": "4k", "size": "2M", "end_fsync": True},
    "bonnie++": {"size": "4M", "ram_size": 0, "fast": True},
    "sysbench": {"file_test_mode": "rndrw", "file_total_size": "1M", "file_num": 4, "events": 200},
    "iozone": {"mode": "single", "file_size": "256k", "record_size": "4k", "tests": ["write", "read"]},
    "smallfiles": {"files": 300, "size": "4k"},
    "filetree": {"large_file": "300k", "files": 40, "directories": 7, "smallest": 100, "largest": "50k"},
}

# What stands in each tool's place asks findmnt and statfs (by stat -f) on what the tool is about to write, then
# becomes the tool. Asked for its version, a tool has one argument, and no target.
WITNESS = """\
#!/bin/sh
directory=target/
[ -e $directory ] || directory=.
[ $# -gt 1 ] && {{
    findmnt --noheadings --output FSTYPE --target $directory
    stat --file-system --format %T $directory
}} > {seen}
exec {program} "$@"
"""
STATFS = {"ext4": "ext2/ext3", "xfs": "xfs", "btrfs": "btrfs", "zfs": "fuseblk"}
"""Filesystem -> what ``stat -f`` calls it, by the numbers of ``linux/magic.h``."""

Figures = dict[tuple[str, str], float]
"""Operation and metric -> the figure, as the tool prints it."""


def printed_by_fio(run: Path) -> Figures:
    (bandwidth, *_), (bytes_, *_) = (
        re.findall(rf'"write" : {{[^}}]*?"{key}" : (\d+)', (run / "fio.json").read_text())
        for key in ("bw_bytes", "io_bytes")
    )
    return {("write", "bandwidth"): float(bandwidth), ("write", "bytes"): float(bytes_)}


def printed_by_bonnie(run: Path) -> Figures:
    """So small a test has no rates, but it has the latencies of block writes, rewrites, block reads and seeks."""
    last = (run / "stdout.txt").read_text().splitlines()[-1]
    names = ("write", "rewrite", "read", "seek")
    one = r"(\d+(?:us|ms|s))"
    latencies = re.search(f",,{one},{one},,{one},{one},", last)
    assert latencies is not None, last
    units = {"us": 1e6, "ms": 1e3, "s": 1.0}
    return {
        (name, "phase_latency"): float(re.sub(r"\D", "", text)) / units[re.sub(r"\d", "", text)]
        for name, text in zip(names, latencies.groups(), strict=True)
    }


def printed_by_sysbench(run: Path) -> Figures:
    text = (run / "stdout.txt").read_text()
    (reads,) = re.findall(r"reads/s: +([\d.]+)\n", text)
    (writes,) = re.findall(r"writes/s: +([\d.]+)\n", text)
    (syncs,) = re.findall(r"fsyncs/s: +([\d.]+)\n", text)
    return {("read", "iops"): float(reads), ("write", "iops"): float(writes), ("other", "iops"): float(syncs)}


def printed_by_iozone(run: Path) -> Figures:
    (row,) = re.findall(
        r"^ +256 +4 +(\d+) +(\d+) +(\d+) +(\d+) *$", (run / "stdout.txt").read_text(), re.MULTILINE
    )
    names = ("write", "rewrite", "read", "reread")
    return {(name, "bandwidth"): float(rate) * 1024 for name, rate in zip(names, row, strict=True)}


def printed_by_smallfiles(run: Path) -> Figures:
    rows = re.findall(
        r"^(\w+): ([\d.]+)/sec, \w+/([\d.]+) secs, (\w+)/([\d.]+) secs$",
        (run / "stdout.txt").read_text(),
        re.MULTILINE,
    )
    assert [row[0] for row in rows] == ["write", "rewrite", "read", "delete"]
    figures: Figures = {}
    for step, rate, elapsed, sync, synced in rows:
        figures |= {(step, "file_rate"): float(rate), (step, "elapsed"): float(elapsed)}
        figures[sync, "elapsed"] = float(synced)
    return figures


def printed_by_filetree(run: Path) -> Figures:
    rows = re.findall(r"^(\w+),\w+,elapsed,([\d.]+),,,s,$", (run / "filetree.csv").read_text(), re.MULTILINE)
    tasks = [task for task, _ in rows if not task.endswith("_sync")]
    own = (run / "stdout.txt").read_text().count(",elapsed,")
    assert own == 16
    assert len(tasks) == (8 if "zfs" in run.name else 11)  # a pool is not made by mkfs and mount
    return {(task, "elapsed"): float(seconds) for task, seconds in rows}


PRINTED = {
    "fio": printed_by_fio,
    "bonnie++": printed_by_bonnie,
    "sysbench": printed_by_sysbench,
    "iozone": printed_by_iozone,
    "smallfiles": printed_by_smallfiles,
    "filetree": printed_by_filetree,
}


TOOLS = ("fio", "bonnie++", "sysbench", "iozone")
"""Those that are programs of others."""


@pytest.fixture
def witnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a witness in the place of each tool, and return where they leave what they have seen."""
    programs, seen = tmp_path / "programs", tmp_path / "seen"
    programs.mkdir()
    seen.mkdir()
    for name in TOOLS:
        witness = programs / name
        witness.write_text(WITNESS.format(seen=seen / name, program=tools.find_program(name)), encoding="ascii")
        witness.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return seen


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts and processes of its own")
@pytest.mark.skipif(None in map(tools.find_program, TOOLS), reason="needs all four tools")
@pytest.mark.parametrize("filesystem", TARGETS)
def test_six_workloads(filesystem: str, tmp_path: Path, make_plan: Callable[..., Plan], witnesses: Path) -> None:
    if filesystem == "zfs":
        if zfs.implementation() != "zfs-fuse":
            pytest.skip("needs zfs-fuse")
    elif not tools.find_program(f"mkfs.{filesystem}") or filesystem not in tools.kernel_filesystems():
        pytest.skip(f"this machine has no {filesystem}")
    workloads = [{"tool": tool, **table} for tool, table in WORKLOADS.items()]
    result = launch(make_plan(target=[TARGETS[filesystem]], workload=workloads, repeats=1), root=tmp_path)

    assert result.failures == {}
    assert_no_traces(tmp_path)
    assert scratch_folders(tmp_path) == []

    found = fsb.read(result.folder)
    made: dict[str, Any] = {}
    for run in result.runs:
        record = json.loads((run / "run.json").read_text(encoding="utf-8"))
        made[record["tool"]] = run, record
    assert made.keys() == WORKLOADS.keys()
    assert sorted(found.runs.select("tool", "filesystem", "status").rows()) == sorted(
        (tool, filesystem, "ok") for tool in WORKLOADS
    )
    # zfs-fuse runs in user space
    assert ("SYNC_NOT_PASSED_ON" in found.diagnostics["code"].to_list()) == (filesystem == "zfs")
    for tool, (run, record) in made.items():
        figures = PRINTED[tool](run)
        of_tool = found.filter(pl.col("tool") == tool).measurements.filter(
            "primary", pl.col("statistic").is_in(["value", "max"]), scope="job" if tool == "fio" else "all"
        )
        read = {
            (operation, metric): value
            for operation, metric, value in of_tool.select("operation", "metric", "value").rows()
        }
        assert {key: read.get(key) for key in figures} == pytest.approx(figures)
        mount = record["environment"]["before"]["mount"]
        kind = mount.partition(" - ")[2].split()[0]
        assert kind == ("fuse.zfs" if filesystem == "zfs" else filesystem)
        if tool in TOOLS:
            assert (witnesses / tool).read_text().split() == [kind, STATFS[filesystem]]
