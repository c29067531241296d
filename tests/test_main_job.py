"""The main job from end to end: `fsbench report` measures this machine, compares, and publishes; or is stopped."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

import fsbench_kit as fsb
from tests.pages import barriers

FSBENCH = Path(sys.executable).with_name("fsbench")

pytestmark = pytest.mark.slow
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="loop images need root")


ROUNDS = 3
"""Of the runs of this machine, where the plan asks for more: the pages are the same."""


def _copy_project(root: Path, to: Path) -> Path:
    for name in ("notebooks", "plans", "raw_results/published", "raw_results/recorded", "raw_results/replicated"):
        shutil.copytree(root / name, to / name)
    plan = to / "plans" / "quick.toml"
    plan.write_text(re.sub(r"^repeats = \d+", f"repeats = {ROUNDS}", plan.read_text(), flags=re.MULTILINE))
    return to


@pytest.fixture(scope="module")
def reported(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project in which the report was made."""
    project = _copy_project(root, tmp_path_factory.mktemp("project"))
    result = subprocess.run([FSBENCH, "report"], cwd=project, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return project


@pytest.mark.root
@needs_root
def test_the_live_runs_are_pairs_in_random_order_with_intervals(reported: Path) -> None:
    data = fsb.read(reported / "raw_results" / "runs" / "quick")
    assert data.runs["status"].unique().to_list() == ["ok"]
    assert set(data.runs["filesystem"]) == {"ext4", "xfs", "btrfs"}
    whole = data.runs.group_by("round").len().filter(pl.col("len") == 6).height
    lasted = data.runs["ended_at"].max() - data.runs["started_at"].min()  # type: ignore[operator]
    assert whole == ROUNDS or lasted > timedelta(seconds=200)  # a busy machine uses up the budget of 250 s
    orders = data.runs.sort("order").group_by("round").agg("filesystem", "tool")
    assert orders.select(pl.struct("filesystem", "tool").n_unique()).item() > 1
    comparison = fsb.compare(data, baseline="ext4")
    assert comparison["n_pairs"].min() >= whole >= 2  # type: ignore[operator]
    assert comparison["ci_low"].null_count() == 0
    assert comparison["estimand"].null_count() == comparison["method"].null_count() == 0


SHEETS = {"raid1-hdd-2020": 6, "raid1-hdd-2020-again": 6, "iozone-ssd-2015": 8}
"""On how many sheets of paper the longest pages print, at most."""

DROP_ALIKE = (
    """document.querySelectorAll('.mark-symbol > *, tbody tr:nth-child(n + 10)').forEach((one) => one.remove())"""
)
"""Takes marks and rows of a page away that are like those of others, which axe-core spends most of its time on."""


@pytest.mark.root
@pytest.mark.browser
@needs_root
def test_every_page_opens_without_a_network_and_draws_its_charts(reported: Path, browser: Any) -> None:
    reports = reported / "reports"
    manifests = [json.loads(path.read_text()) for path in sorted(reports.glob("manifests/*.json"))]
    of_each_notebook = {manifest["source"]: manifest["name"] for manifest in manifests}.values()
    charts = {}
    for path in sorted(reports.glob("*.html")):
        opened = browser.open(path)
        assert opened.is_quiet(), (path, opened.requests, opened.errors)
        charts[path.stem] = opened.page.locator("figure.chart").count()
        assert opened.page.locator("figure.chart > img").count() == 0  # the images have given way
        assert path.stat().st_size < 1_500_000
        if path.stem in SHEETS:
            printed = opened.page.pdf(prefer_css_page_size=True, format="A4")
            assert len(re.findall(rb"/Type */Page\b", printed)) <= SHEETS[path.stem]
        if path.stem not in {"index", *of_each_notebook}:
            opened.page.evaluate(DROP_ALIKE)
        assert barriers(opened.page) == [], path
        opened.page.close()
    assert len(charts) == 19
    assert {name for name, number in charts.items() if number == 0} == {"index", "published"}


@pytest.mark.root
@needs_root
def test_a_second_report_runs_nothing_again(reported: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (reported / "raw_results" / "runs").rglob("run.json")}
    result = subprocess.run([FSBENCH, "report"], cwd=reported, capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert result.stdout.count("ok, unchanged") == 18
    assert {path: path.stat().st_mtime_ns for path in before} == before


def _left_behind(project: Path) -> list[str]:
    """Name the loop devices, mounts and processes that have to do with a project."""
    place = str(project)
    loops = subprocess.run(["losetup", "--all"], capture_output=True, text=True, check=True).stdout
    mounts = Path("/proc/mounts").read_text()
    found = [line for line in (loops + mounts).splitlines() if place in line]
    for process in psutil.process_iter():
        try:
            if process.cwd().startswith(place) or any(place in word for word in process.cmdline()):
                found.append(f"{process.pid} {process.cmdline()}")
        except psutil.Error:
            continue
    return found


@pytest.fixture
def under_way(root: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Return a report whose launch has an image mounted, and its project."""
    project = _copy_project(root, tmp_path)
    report = subprocess.Popen(
        [FSBENCH, "report"],
        cwd=project,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not any("/dev/loop" in line for line in _left_behind(project)):
            assert report.poll() is None, "no launch began"
            time.sleep(0.2)
        yield report, project
    finally:
        report.kill()
        report.wait()


@pytest.mark.root
@needs_root
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_report_that_is_stopped_leaves_nothing_behind(
    under_way: tuple[subprocess.Popen[bytes], Path], ending: signal.Signals
) -> None:
    report, project = under_way
    if ending == signal.SIGINT:
        os.killpg(report.pid, ending)  # as a terminal does on Ctrl-C
    else:
        report.send_signal(ending)
    assert report.wait(90) != 0
    deadline = time.monotonic() + 60
    while (left := _left_behind(project)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == []
    assert not list((project / "raw_results" / "runs").glob(".fsbench-scratch-*/target"))
    for folder in (project / "raw_results" / "runs").glob("*/*/"):
        assert (folder / "run.json").is_file()  # finished runs are whole
