"""Log files of real runs of fio against the JSON report of the same run, read without this package's parser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fsbench_kit as fsb
from benchmarks.bench import measure

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

OPERATIONS = ("read", "write", "trim")
LATENCIES = {"lat": "latency", "clat": "completion_latency", "slat": "submission_latency"}


def _fio(folder: Path, *options: str, output: str = "json+", name: str = "report.json") -> None:
    """Run fio, which moves no data, in a folder, with its log files and its report there."""
    command = ["fio", "--name=job", "--ioengine=null", "--size=1g", "--bs=4k", "--iodepth=4", *options]
    command += [f"--output-format={output}", f"--output={name}"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)


LOGS = ("--write_bw_log=x", "--write_iops_log=x", "--write_lat_log=x")


def _jobs(folder: Path) -> list[dict[str, Any]]:
    jobs: list[dict[str, Any]] = json.loads((folder / "report.json").read_text())["jobs"]
    return jobs


def _values(path: Path) -> dict[str, list[int]]:
    """Return the values of a log by operation."""
    values = defaultdict(list)
    for line in path.read_text().splitlines():
        _, value, direction, *_ = line.split(", ")
        values[OPERATIONS[int(direction)]].append(int(value))
    return values


def _counted(path: Path) -> Counter[str]:
    """Return how many requests of each operation the histograms of a log count."""
    counts = Counter[str]()
    for line in path.read_text().splitlines():
        _, direction, _, *bins = line.split(", ")
        counts[OPERATIONS[int(direction)]] += sum(map(int, bins))
    return counts


def _figure(data: fsb.Dataset, **key: Any) -> dict[str, Any]:
    return data.measurements.filter(**key).row(0, named=True)


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of two jobs that logged each request."""
    folder = tmp_path_factory.mktemp("requests")
    _fio(folder, "--rw=randrw", "--numjobs=2", "--number_ios=2000", "--log_offset=1", *LOGS)
    return folder


@needs_fio
@pytest.mark.parametrize("kind", LATENCIES)
def test_latencies_of_single_requests_are_those_of_the_report(requests: Path, tmp_path: Path, kind: str) -> None:
    for number in (1, 2):
        shutil.copy(requests / f"x_{kind}.{number}.log", tmp_path)
    data = fsb.read(tmp_path)
    assert data.runs.height == 1
    assert data.diagnostics.is_empty()
    for number, job in enumerate(_jobs(requests), 1):
        for operation in ("read", "write"):
            place = {"part": str(number), "operation": operation, "metric": LATENCIES[kind]}
            report = job[operation][f"{kind}_ns"]
            for statistic, key in (("min", "min"), ("max", "max"), ("mean", "mean"), ("stdev", "stddev")):
                figure = _figure(data, **place, statistic=statistic)
                assert figure["value"] == pytest.approx(report[key] * 1e-9, rel=1e-6)
                assert figure["samples"] == report["N"]
            assert _figure(data, **place | {"metric": "operations"})["value"] == job[operation]["total_ios"]
            assert _figure(data, **place | {"metric": "bytes"})["value"] == job[operation]["io_bytes"]
            for name, middle in report.get("percentile", {}).items():
                value = _figure(data, **place, statistic=f"p{float(name):g}")["value"]
                assert value == pytest.approx(middle * 1e-9, rel=1 / 128)
            known = data.distributions.filter(**place).select("low", "high", "count").rows()
            middles = Counter({round((low + high) / 2 * 1e9): count for low, high, count in known})
            if "bins" in report:
                assert middles == {int(middle): count for middle, count in report["bins"].items()}


@needs_fio
def test_rates_of_single_requests_are_bytes_over_completion_latency_in_kb(requests: Path) -> None:
    rates = _values(requests / "x_bw.1.log")
    latencies = _values(requests / "x_clat.1.log")
    for operation in ("read", "write"):
        assert rates[operation] == [4096 * 10**6 // latency for latency in latencies[operation]]
    rows = fsb.scan_fio_log(requests / "x_bw.1.log").filter(operation="read").collect()
    assert rows["value"].to_list() == [value * 1000 for value in rates["read"]]


@needs_fio
def test_logs_belong_to_the_run_of_their_report(requests: Path) -> None:
    data = fsb.read(requests)
    assert data.runs.select("tool", "source").rows() == [("fio", str(requests / "report.json"))]
    added = data.measurements.filter(pl.col("statistic") == "p99.95", ~pl.col("primary"))
    assert sorted(set(added["part"])) == ["job.0", "job.1"]
    assert set(data.diagnostics["code"]) == {"NOT_OVER_INTERVALS"}
    assert data.series.filter(part="job.1", metric="latency").height == sum(
        job[operation]["total_ios"] for job in _jobs(requests)[1:] for operation in ("read", "write")
    )


@needs_fio
def test_figures_that_the_report_does_not_have_are_named(requests: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(requests, tmp_path / "changed")
    path = folder / "x_clat.2.log"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-100]))
    differs = fsb.read(folder).diagnostics.filter(code="SECOND_PRINTING_DIFFERS")
    assert differs.filter(pl.col("message").str.contains("mean completion_latency")).height > 0
    assert set(differs["source"]) == {str(folder / "report.json")}


@needs_fio
def test_a_grouped_report_is_held_against_all_its_logs(tmp_path: Path) -> None:
    _fio(tmp_path, "--rw=write", "--numjobs=2", "--number_ios=1000", "--group_reporting", *LOGS)
    data = fsb.read(tmp_path)
    assert data.runs.height == 1
    assert set(data.diagnostics["code"]) <= {"NOT_OVER_INTERVALS"}
    (job,) = _jobs(tmp_path)
    place = {"operation": "write", "metric": "latency", "primary": False}
    assert _figure(data, part="job", statistic="mean", **place)["value"] == pytest.approx(
        job["write"]["lat_ns"]["mean"] * 1e-9
    )
    assert set(data.measurements.filter(statistic="p50", **place)["part"]) == {"job.0", "job.1"}
    (tmp_path / "x_lat.2.log").write_text("1, 1, 1, 4096, 0\n" * 1000)
    differs = fsb.read(tmp_path).diagnostics.filter(code="SECOND_PRINTING_DIFFERS")
    assert differs.filter(pl.col("message").str.contains("mean latency of write")).height == 1


@needs_fio
@pytest.mark.parametrize("output", ["normal", "json"])
def test_logs_are_found_by_the_jobs_name(tmp_path: Path, output: str) -> None:
    _fio(tmp_path, "--rw=trim", "--number_ios=500", "--write_lat_log=job", output=output, name="report.txt")
    data = fsb.read(tmp_path)
    assert data.runs["source"].to_list() == [str(tmp_path / "report.txt")]
    assert data.series.filter(operation="trim", metric="latency").height == 500
    assert data.diagnostics.filter(pl.col("severity") != "note").is_empty()


@needs_fio
def test_logs_of_another_run_are_a_run_of_their_own(requests: Path, tmp_path: Path) -> None:
    _fio(tmp_path, "--rw=read", "--number_ios=100")
    shutil.copy(requests / "x_lat.1.log", tmp_path)
    data = fsb.read(tmp_path)
    assert sorted(Path(source).name for source in data.runs["source"]) == ["report.json", "x_lat.1.log"]


@needs_fio
def test_the_later_of_two_runs_wrote_the_logs(requests: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(requests, tmp_path / "twice")
    earlier = (folder / "report.json").read_text().replace('"time" : "', '"time" : "Mon Jan  6 00:00:00 2020 was ')
    (folder / "a_report.json").write_text(earlier)
    data = fsb.read(folder)
    assert data.runs.height == 2
    owner = data.series.join(data.runs, on="run_id")["source"].unique()
    assert owner.to_list() == [str(folder / "report.json")]


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that logged windows and histograms."""
    folder = tmp_path_factory.mktemp("windows")
    options = ("--time_based", "--runtime=1", "--rate_iops=4000", "--log_avg_msec=100")
    _fio(folder, "--rw=randrw", *options, *LOGS, "--write_hist_log=x", "--log_hist_msec=100")
    return folder


@needs_fio
def test_windows_agree_with_the_report(windows: Path) -> None:
    data = fsb.read(windows)
    assert data.runs.height == 1
    (job,) = _jobs(windows)
    codes = set(data.diagnostics["code"])
    counted = _counted(windows / "x_clat_hist.1.log")
    ratios = []
    for operation in ("read", "write"):
        for kind, metric, key, factor in (("bw", "bandwidth", "bw_mean", 1024), ("iops", "iops", "iops_mean", 1)):
            figure = _figure(data, operation=operation, metric=metric, statistic="window_mean")
            ratios.append(figure["value"] / (job[operation][key] * factor))
            values = _values(windows / f"x_{kind}.1.log")[operation]
            assert figure["value"] == pytest.approx(sum(values) / len(values) * factor)
            assert data.series.filter(operation=operation, metric=metric)["value"].to_list() == [
                value * factor for value in values
            ]
    # fio's own intervals are longer than the windows: a busy machine makes their means differ.
    assert ("FIGURES_DISAGREE" in codes) == any(abs(ratio - 1) > 0.1 for ratio in ratios)
    # Histograms mostly lack the last window, and then are not what the report's percentiles are of.
    whole = {operation for operation in ("read", "write") if counted[operation] == job[operation]["total_ios"]}
    assert ("INCOMPLETE_LOG" in codes) == (len(whole) < 2)
    # The report's own bins give percentiles a second time, too.
    printings = [
        read.measurements.filter(pl.col("statistic").str.starts_with("p"), ~pl.col("primary")).height
        for read in (data, fsb.read(windows / "report.json"))
    ]
    assert (printings[0] > printings[1]) == bool(whole)
    assert codes <= {"FIGURES_DISAGREE", "INCOMPLETE_LOG"}


@needs_fio
def test_windows_that_the_report_contradicts_are_named(windows: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(windows, tmp_path / "changed")
    (folder / "x_bw.1.log").write_text("".join(f"{time}00, 99999, 0, 0, 0\n" for time in range(1, 10)))
    (folder / "x_lat.1.log").write_text("".join(f"{time}00, 9999999999, 0, 0, 0\n" for time in range(1, 10)))
    messages = fsb.read(folder).diagnostics.filter(code="FIGURES_DISAGREE")["message"].to_list()
    assert any("bandwidth of read" in message for message in messages)
    assert any("latency of read" in message for message in messages)


@needs_fio
@pytest.mark.parametrize("coarseness", [0, 3])
def test_histograms_and_later_requests_are_the_bins_of_the_report(tmp_path: Path, coarseness: int) -> None:
    """Each bin of JSON+ is what the histograms count of it, and what requests after their last window add."""
    options = ("--time_based", "--runtime=1", "--rate_iops=4000", "--write_lat_log=x", "--write_hist_log=x")
    _fio(tmp_path, "--rw=read", *options, "--log_hist_msec=100", f"--log_hist_coarseness={coarseness}")
    merged = fsb.merged_histogram(fsb.scan_fio_histograms(tmp_path / "x_clat_hist.1.log"))
    counted = merged["count"].sum()
    assert counted > 1000
    after = _values(tmp_path / "x_clat.1.log")["read"][counted:]
    report = {int(middle): count for middle, count in _jobs(tmp_path)[0]["read"]["clat_ns"]["bins"].items()}
    for low, high, count in merged.select("low", "high", "count").rows():
        start, end = round(low * 1e9), max(round(high * 1e9), round(low * 1e9) + 1)
        late = sum(start <= value < end for value in after)
        assert sum(n for middle, n in report.items() if start <= middle < end) == count + late
    assert counted + len(after) == sum(report.values())


@needs_fio
def test_percentiles_of_histograms_are_those_of_the_requests_they_count(tmp_path: Path) -> None:
    options = ("--time_based", "--runtime=1", "--rate_iops=4000", "--write_lat_log=x", "--write_hist_log=h")
    _fio(tmp_path, "--rw=write", *options, "--log_hist_msec=100")
    data = fsb.read(tmp_path / "h_clat_hist.1.log")
    figures = data.measurements.filter(metric="completion_latency")
    counted = figures["samples"][0]
    values = sorted(_values(tmp_path / "x_clat.1.log")["write"][:counted])
    for statistic, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        figure = figures.filter(statistic=statistic).row(0, named=True)
        exact = values[-(-int(share * counted * 100) // 100) - 1] * 1e-9
        assert figure["low"] <= exact * (1 + 1e-9)
        assert exact <= figure["high"] * (1 + 1e-9)


@needs_fio
def test_logs_of_a_launched_run_stand_beside_its_report(requests: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "001"
    shutil.copytree(requests, folder)
    facts = {
        "study": "live",
        "round": 1,
        "order": 1,
        "tool": "fio",
        "filesystem": "ext4",
        "host": None,
        "argv": ["fio"],
        "exit_code": 0,
        "status": "ok",
        "started_at": "2026-01-02T03:04:05Z",
        "ended_at": "2026-01-02T03:04:06Z",
        "duration": 1.0,
        "logs": ["report.json"],
        "settings": {},
        "sha256": {},
    }
    (folder / "run.json").write_text(json.dumps(facts))
    data = fsb.read(tmp_path)
    assert data.runs.height == 1
    assert data.series.height > 0


CORPUS = Path(os.environ.get("FSBENCH_CORPUS", "")) / "fio" / "log"


@pytest.mark.skipif("FSBENCH_CORPUS" not in os.environ, reason="FSBENCH_CORPUS names no folder")
def test_logs_of_other_people() -> None:
    data = fsb.read(CORPUS)
    names = {Path(source).name for source in data.runs["source"]}
    assert len(names) == 10
    assert "pkb_*.log" in names
    hist = data.measurements.filter(statistic="p50", metric="completion_latency", unit="s").join(
        data.runs.filter(pl.col("source").str.ends_with("pkb_*.log")), on="run_id"
    )
    assert dict(hist.select("part", "samples").rows()) == {"1": 39663, "3": 11549, "4": 11541}
    assert data.diagnostics.filter(code="UNREAD_FIGURE")["excerpt"].to_list() == ["0, 4w50605, 1, 4096, 0"]


@pytest.mark.slow
def test_memory_does_not_grow_with_a_log() -> None:
    """Not one of the columns of nine million lines is ever held as a whole."""
    needed = measure("requests_3m", share=3, repeats=1)["memory"]
    number = 8  # bytes
    assert needed < 9_000_000 * number


@needs_fio
def test_log_files_of_a_run_have_its_name(tmp_path: Path) -> None:
    names = "{filesystem}_run{round}.json"
    for filesystem in ("ext4", "xfs"):
        prefix = f"{filesystem}_run1"
        _fio(tmp_path, "--number_ios=100", f"--write_lat_log={prefix}", name=f"{prefix}.json")
    data = fsb.read(tmp_path, names=names)
    assert data.runs.select("filesystem", "round").rows() == [("ext4", 1), ("xfs", 1)]
    assert data.diagnostics.filter(code="NAME_DOES_NOT_FIT").is_empty()
    (tmp_path / "ext4_run1.json").unlink()
    (said,) = fsb.read(tmp_path, names=names).diagnostics.filter(code="NAME_DOES_NOT_FIT")["source"]
    assert Path(said).name.startswith("ext4_run1_")
