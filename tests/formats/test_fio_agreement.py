"""One run, printed in every format at once: the readers agree figure by figure, and each reads all it has."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fsbench_kit.formats import fio_json, fio_normal, fio_terse
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Bin, Diagnostic, Measurement, Record, Run

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

NULL = ["--ioengine=null", "--bs=4k", "--size=64M"]
FILE = ["--directory=.", "--ioengine=libaio", "--direct=1", "--bs=16k", "--size=4M"]

CASES = {
    "read": ["--name=load", "--rw=read", *NULL],
    "write": ["--name=load", "--rw=write", *NULL],
    "jobs": ["--name=load", "--rw=randrw", *NULL, "--numjobs=3"],
    "grouped": ["--name=load", "--rw=randrw", "--rwmixread=70", *NULL, "--numjobs=3", "--group_reporting"],
    "two groups": [
        *FILE,
        "--name=first",
        "--rw=write",
        "--name=second",
        "--stonewall",
        "--rw=randread",
        "--bs=4k",
    ],
    "trim": ["--name=load", "--rw=trimwrite", "--ioengine=null", "--bs=4k", "--size=1M"],
    "synced": ["--name=load", "--rw=write", *FILE, "--fsync=8", "--description=a test; of 4 MiB"],
    "timed": ["--name=load", "--rw=randread", *FILE, "--iodepth=4", "--numjobs=2", "--time_based", "--runtime=1"],
    "mixed": ["--name=load", "--rw=randrw", *NULL, "--unified_rw_reporting=mixed"],
    "both": ["--name=load", "--rw=randrw", *NULL, "--unified_rw_reporting=both"],
    "total latency": ["--name=load", "--rw=randrw", *FILE, "--lat_percentiles=1", "--clat_percentiles=0"],
    "colons": ["--name=a: b", "--rw=read", *NULL, "--name=c:d: e", "--rw=write", *NULL],
    "no latency": ["--name=load", "--rw=read", *NULL, "--gtod_reduce=1"],
}
TERSE_VERSIONS = [2, 3, 4, 5]

COUNTS = {"operations", "short_operations", "dropped_operations"}

Key = tuple[str, str | None, str, str, str]


def report(options: list[str], terse_version: int, folder: Path) -> tuple[Run, Run, Run]:
    """Run fio once, and read each of its three reports by itself."""
    command = ["fio", "--output-format=normal,json+,terse", f"--terse-version={terse_version}", *options]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    start = result.stdout.index("{\n")
    end = result.stdout.index("\n}\n") + 3
    lines = (result.stdout[:start] + result.stdout[end:]).splitlines()
    terse = [line for line in lines if re.match(rf"{terse_version};|;", line)]
    if "--lat_percentiles=1" in options:
        terse.insert(0, f"$ {' '.join(command)}")
    normal = [line for line in lines if line not in terse]
    return (
        only_run(list(fio_normal.parse(Text("\n".join(normal)))), {"PROGRESS", "FIGURES_DISAGREE"}),
        only_run(list(fio_json.parse(Text(result.stdout[start:end]))), set()),
        only_run(list(fio_terse.parse(Text("\n".join(terse)))), {"AMBIGUOUS_RUNS"}),
    )


def only_run(records: list[Record], allowed: set[str]) -> Run:
    said = [record for record in records if isinstance(record, Diagnostic) and record.code not in allowed]
    assert said == []
    (run,) = [record for record in records if isinstance(record, Run)]
    return run


def figures(run: Run) -> dict[Key, Measurement]:
    """Return what is printed of jobs and disks; the groups are in the report for people only.

    Percentiles that terse output does not name are of the completion latency, unless fio was told otherwise.
    """
    unnamed = {"completion_or_total_latency": "completion_latency"}
    return {
        (item.scope, item.part, item.operation, unnamed.get(item.metric, item.metric), item.statistic): item
        for item in run.measurements
        if item.primary and item.scope != "group"
    }


def is_in_normal(key: Key, options: list[str]) -> bool:
    """Whether a figure is in the report for people, which has zeros for the work of all directions together."""
    is_sum = key[2] == "mixed" and "--unified_rw_reporting=both" in options
    return not (is_sum and key[3] in {"bandwidth", "bytes", "iops", *COUNTS})


def is_in_terse(key: Key, version: int) -> bool:
    scope, _, operation, metric, statistic = key
    if scope == "disk":
        return version > 2 and metric != "disk_sectors"
    if metric in COUNTS or operation == "sync":
        return False
    if operation == "trim" and version == 3:
        return False
    if metric == "iops" and statistic != "value":
        return version == 5
    return True


def can_be_the_same(one: Measurement, other: Measurement) -> bool:
    """Whether some true value prints like both; fio cuts a quantity to a 1000th of its unit before it rounds."""
    if one.high is None or other.high is None:
        return one.high is other.high or one.low == other.low
    assert one.low is not None
    assert other.low is not None
    slack = 0.1 * ((one.high - one.low) + (other.high - other.low)) + 1e-9 * abs(one.high)
    return one.low <= other.high + slack and other.low <= one.high + slack


def assert_agree(exact: dict[Key, Measurement], rounded: dict[Key, Measurement]) -> None:
    for key, item in exact.items():
        assert can_be_the_same(item, rounded[key]), (key, item, rounded[key])
        if key[-1].startswith("p") and item.high is not None:  # the bin of a percentile
            other = rounded[key]
            assert other.low is not None
            assert other.high is not None
            assert item.low is not None
            assert other.low <= item.low * (1 + 1e-9)
            assert other.high >= item.high * (1 - 1e-9)


def shares(run: Run) -> dict[tuple[object, ...], float]:
    return {place(item): item.share for item in run.bins if item.share is not None}


def place(item: Bin) -> tuple[object, ...]:
    return (item.part, item.operation, item.metric, item.low, item.high)


def short_shares(of_json: Run) -> dict[tuple[object, ...], float]:
    """Return the shares as a terse line has them: no batches, and all below 2 µs in one bucket."""
    found: dict[tuple[object, ...], float] = {}
    for item in of_json.bins:
        if item.share is None or item.metric in {"submit_batch", "complete_batch"}:
            continue
        key = place(item)
        if item.metric == "completion_latency" and item.high is not None and item.high <= 2e-6:
            key = (item.part, item.operation, item.metric, 0.0, 2e-6)
        found[key] = found.get(key, 0.0) + item.share
    return found


def check(options: list[str], version: int, folder: Path) -> None:
    normal, document, terse = report(options, version, folder)
    of_json, of_normal, of_terse = figures(document), figures(normal), figures(terse)
    in_both = {key for key in of_json if is_in_normal(key, options)}
    assert in_both == {key for key in of_normal if key[3] != "zone_resets"}
    assert {key for key in of_json if is_in_terse(key, version)} == set(of_terse)
    assert_agree({key: of_json[key] for key in in_both}, of_normal)
    assert_agree({key: of_json[key] for key in of_terse}, of_terse)
    for key, item in ((key, of_json[key]) for key in in_both):
        assert (item.threads, item.block_size) == (of_normal[key].threads, of_normal[key].block_size), key
    assert shares(document) == pytest.approx(shares(normal), abs=0.00051)
    assert short_shares(document) == pytest.approx(shares(terse), abs=0.00051)
    for rebuilt in (item for item in document.measurements if not item.primary and item.statistic.startswith("p")):
        key = (rebuilt.scope, rebuilt.part, rebuilt.operation, rebuilt.metric, rebuilt.statistic)
        assert of_json[key].text == rebuilt.text
    known = {(item.part, item.key): item.value for item in terse.settings}
    assert known.items() <= {(item.part, item.key): item.value for item in document.settings}.items()
    assert known.items() <= {(item.part, item.key): item.value for item in normal.settings}.items()
    for name in {item.value for item in normal.settings if item.key == "job_name"}:
        for setting in ("threads", "job_name", "pattern", "block_size", "engine"):
            assert effective(document, setting, name) == effective(normal, setting, name)


def effective(run: Run, key: str, part: str) -> str | None:
    """Return the value that a setting has for a job."""
    known = {item.part: item.value for item in run.settings if item.key == key and item.part in {None, part}}
    return known.get(part, known.get(None))


@pytest.mark.parametrize(("number", "case"), [*enumerate(CASES)], ids=[case.replace(" ", "-") for case in CASES])
def test_the_three_reports_of_a_run_agree(number: int, case: str, tmp_path: Path) -> None:
    check(CASES[case], TERSE_VERSIONS[number % 4], tmp_path)


def test_an_idle_job_leaves_the_others_their_names(tmp_path: Path) -> None:
    busy = ["--name=load", "--rw=read", *FILE, "--time_based", "--runtime=1"]
    idle = ["--name=load", "--rw=read", *FILE, "--startdelay=9"]
    reports = report(["--exitall", *busy, *idle, *busy], 3, tmp_path)
    for run in reports:
        assert {item.part for item in run.measurements if item.metric == "bandwidth" and item.scope == "job"} == {
            "load.0",
            "load.1",
        }
    assert_agree(
        *[{key: item for key, item in figures(run).items() if key[3] == "bytes"} for run in reports[1::-1]]
    )


@pytest.mark.slow
@pytest.mark.parametrize("version", TERSE_VERSIONS)
@pytest.mark.parametrize("case", CASES)
def test_the_three_reports_agree_in_every_layout(case: str, version: int, tmp_path: Path) -> None:
    check(CASES[case], version, tmp_path)


@pytest.mark.root
def test_reports_of_trims_on_a_device_agree(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"\0" * 2**23)
    attached = subprocess.run(
        ["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=True, timeout=60
    )
    device = attached.stdout.strip()
    try:
        options = ["--name=load", f"--filename={device}", "--ioengine=sync", "--direct=1", "--size=4M", "--bs=64k"]
        check([*options, "--rw=randtrim"], 4, tmp_path)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True, timeout=60)
