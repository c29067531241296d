"""Several printings of a run are one run; runs that are merely alike stay several."""

import json
import math
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fsbench_kit as fsb
from benchmarks.inputs import FIO_TEXT, other_digits
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.columns import Columns
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.deduplication import agreement
from fsbench_kit.data.deduplication.rules import PRINTED_ALIKE
from fsbench_kit.data.log import Log
from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Block, Measurement, Run, Setting
from fsbench_kit.model.schema import MEASUREMENT_KEY

FIO = Path(__file__).parents[1] / "data" / "fio-3.33-normal-json-terse.txt"
"""What ``fio --output-format=normal,json,terse`` prints of one time-based run of two processes."""

SYSBENCH = "rndrd-ext4.txt"


@pytest.fixture(scope="module")
def formats() -> dict[str, str]:
    """Return the printings of one run of fio by format, each as a log of its own."""
    text = FIO.read_text()
    head, rest = text.split("3;fio-3.33;", 1)
    terse, rest = rest.split("\n", 1)
    end = rest.index("\n}\n") + 3
    return {"json": rest[:end], "normal": head + rest[end:], "terse": f"3;fio-3.33;{terse}\n"}


def _codes(data: Dataset) -> list[str]:
    return data.diagnostics["code"].to_list()


def _one(data: Dataset, **columns: str) -> dict[str, object]:
    """Return the one measurement of a job that has these values."""
    (row,) = data.measurements.filter(scope="job", **columns).iter_rows(named=True)
    return row


# Printings of one run


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize("version", [2, 3, 4, 5])
@pytest.mark.parametrize("engine", ["psync", "libaio"])
def test_terse_percentiles_of_total_latency_are_named_by_the_other_formats(
    tmp_path: Path, version: int, engine: str
) -> None:
    """Once with the total latency alone in the other format, and once with the completion latency beside it."""
    options = ["--name=load", "--rw=randrw", "--bs=4k", "--size=4M", "--number_ios=1000", f"--ioengine={engine}"]
    options += ["--iodepth=8", "--lat_percentiles=1", f"--terse-version={version}"]
    for number, (formats, clat) in enumerate((("normal,terse,json+", 1), ("terse,json", 0), ("normal,terse", 1))):
        command = ["fio", *options, f"--output-format={formats}", f"--clat_percentiles={clat}"]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
        (tmp_path / f"{number}.txt").write_text(result.stdout)
        data = fsb.read(tmp_path / f"{number}.txt")
        assert data.runs.height == 1
        assert not {"UNNAMED_LATENCY", "SECOND_PRINTING_DIFFERS"} & set(_codes(data))
        terse = data.measurements.filter(pl.col("statistic") == "p99.5", ~pl.col("primary"))
        assert set(terse["metric"]) <= {"latency", "completion_latency"}
        assert terse.filter(metric="latency", operation="read").height


def test_formats_in_one_file_are_one_run_with_its_narrowest_figures() -> None:
    data = fsb.read(FIO)
    assert data.runs.height == 1
    text = FIO.read_text()
    start = text.index("{\n")
    read = json.loads(text[start : text.index("\n}\n") + 2])["jobs"][0]["read"]
    iops = _one(data, operation="read", metric="iops", statistic="value", primary=True)
    assert iops["value"] == pytest.approx(read["iops"], rel=1e-12)
    latency = _one(data, operation="read", metric="completion_latency", statistic="mean", primary=True)
    assert latency["value"] == pytest.approx(read["clat_ns"]["mean"] / 1e9, rel=1e-12)
    # The text says 69.7k, 28.09 usec: second printings.
    seconds = data.measurements.filter(scope="job", primary=False)["text"].to_list()
    assert {"69.7k", "28.09"} <= set(seconds)
    assert data.measurements.filter("primary").select(("run_id", *MEASUREMENT_KEY)).is_duplicated().sum() == 0
    # What only one of them prints is kept: the text's groups, and a figure of which JSON knows the block size.
    assert data.measurements.filter("primary", scope="group").height > 0
    assert iops["block_size"] == 4096
    assert data.settings.filter(key="pattern")["value"].to_list() == ["randread"]
    assert _codes(data).count("SAME_RUN") == 2
    assert "SECOND_PRINTING_DIFFERS" not in _codes(data)


def test_formats_that_contradict_each_other_are_one_run_if_the_third_fits_both(tmp_path: Path) -> None:
    """The report for people prints no sixth decimal, and the terse line has no date."""
    (line,) = re.findall(r"^3;fio-.*$", text := FIO.read_text(), re.MULTILINE)
    other = re.sub(r"(?<=\d\.\d{5})\d(?![%\d])", lambda match: str((int(match[0]) + 5) % 10), line)
    (tmp_path / "log.txt").write_text(text.replace(line, other))
    data = fsb.read(tmp_path / "log.txt")
    assert data.runs.height == 1
    assert _codes(data).count("SAME_RUN") == 2
    assert "SECOND_PRINTING_DIFFERS" in _codes(data)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_three_formats_of_two_unlike_jobs_are_one_run(tmp_path: Path) -> None:
    common = ["--size=2m", "--ioengine=psync", "--time_based", "--runtime=1", f"--directory={tmp_path}"]
    jobs = [
        "--name=a",
        "--rw=randrw",
        "--bs=4k",
        *common,
        "--name=b",
        "--rw=write",
        "--bs=64k",
        "--fsync=8",
        *common,
    ]
    output = tmp_path / "log.txt"
    command = ["fio", "--output-format=normal,json+,terse", f"--output={output}", *jobs]
    subprocess.run(command, check=True, capture_output=True)
    assert len(list(_runs_of(output))) == 3
    data = fsb.read(output)
    assert data.runs.height == 1
    assert _codes(data).count("SAME_RUN") == 2
    assert not {"SAME_FIGURES", "SECOND_PRINTING_DIFFERS"} & set(_codes(data))


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize("formats_asked", ["json,terse", "normal,json,terse"])
def test_a_run_that_failed_before_any_request_is_one_run(tmp_path: Path, formats_asked: str) -> None:
    output = tmp_path / "log.txt"
    missing = tmp_path / "missing" / "file"
    job = [
        "--name=load",
        "--rw=read",
        "--size=4m",
        f"--filename={missing}",
        "--create_on_open=1",
        "--allow_file_create=0",
    ]
    command = ["fio", f"--output-format={formats_asked}", f"--output={output}", *job]
    assert subprocess.run(command, check=False, capture_output=True).returncode != 0
    data = fsb.read(output)
    assert data.runs["status"].to_list() == ["failed"]
    assert "UNREAD_FIGURE" not in _codes(data)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_a_report_in_the_description_of_a_job_is_none(tmp_path: Path) -> None:
    quoted = (
        "a: (groupid=0, jobs=1): err= 0: READ: bw=9MiB/s (9MB/s), io=9MiB (9MB), run=1-1msec; 3;fio-3.33;a;0;0;"
    )
    output = tmp_path / "log.txt"
    null = ["--ioengine=null", "--size=1m", "--rw=read"]
    jobs = ["--name=a", f"--description={quoted}", *null, "--name=b", *null]
    subprocess.run(["fio", "--output-format=json", f"--output={output}", *jobs], check=True, capture_output=True)
    data = fsb.read(output)
    assert data.runs.height == 1
    assert data.measurements.filter(metric="bytes")["part"].unique().sort().to_list() == ["a", "b"]
    assert data.settings.filter(key="description")["value"].to_list() == [quoted]
    assert "UNREAD_FIGURE" not in _codes(data)


def test_formats_in_several_files_are_one_run(formats: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(formats["json"])
    (tmp_path / "run.txt").write_text(formats["normal"])
    data = fsb.read(tmp_path)
    assert data.runs.height == 1
    (remark,) = data.diagnostics.filter(code="SAME_RUN").iter_rows(named=True)
    main = data.runs["source"][0]
    (other,) = {str(tmp_path / "run.json"), str(tmp_path / "run.txt")} - {main}
    assert remark["source"] == other
    assert f"{main}, line {data.runs['line'][0]}" in remark["message"]
    # Lines are those of the run's own file.
    text = Path(main).read_text().splitlines()
    known = data.measurements.drop_nulls("line")
    assert all(row["text"] in text[row["line"] - 1] for row in known.iter_rows(named=True))
    assert data.measurements["line"].null_count() > 0


def test_a_run_is_the_same_whatever_the_order_of_its_files(formats: dict[str, str], tmp_path: Path) -> None:
    for name, text in formats.items():
        (tmp_path / name).write_text(text)
    orders = (("json", "normal"), ("normal", "json"))
    first, second = (fsb.read(*(tmp_path / name for name in order)) for order in orders)
    assert first.runs["run_id"].to_list() == second.runs["run_id"].to_list()
    key = ["run_id", *MEASUREMENT_KEY, "value", "low", "high"]
    assert (
        first.measurements.filter("primary")
        .select(key)
        .sort(key)
        .equals(second.measurements.filter("primary").select(key).sort(key))
    )


def test_copies_are_one_run(published: Path, tmp_path: Path) -> None:
    log = published / "sysbench-rhel72" / SYSBENCH
    shutil.copy(log, tmp_path / "a.txt")
    (tmp_path / "other").mkdir()
    shutil.copy(log, tmp_path / "other" / "b.txt")
    article = f"I ran it once.\n\n{log.read_text()}\n\nAnd now for something else.\n"
    (tmp_path / "article.txt").write_text(article)
    (tmp_path / "twice.txt").write_text(f"{log.read_text()}\nAgain:\n\n{log.read_text()}")
    data = fsb.read(tmp_path)
    assert data.runs.height == 1
    assert _codes(data).count("SAME_RUN") == 4
    once = fsb.read(tmp_path / "a.txt")
    assert data.measurements.filter("primary").height == once.measurements.filter("primary").height
    assert data.runs["run_id"].to_list() == once.runs["run_id"].to_list()


def test_a_complete_copy_beats_one_that_was_cut_off(published: Path, tmp_path: Path) -> None:
    log = (published / "fio-nvme-2021" / "fio-randwrite-xfs.txt").read_text()
    (tmp_path / "1-cut.txt").write_text(log[: log.index("clat percentiles")])
    (tmp_path / "2-whole.txt").write_text(log)
    data = fsb.read(tmp_path)
    assert data.runs["source"].to_list() == [str(tmp_path / "2-whole.txt")]
    assert data.runs["status"].to_list() == ["ok"]
    whole = fsb.read(tmp_path / "2-whole.txt")
    assert data.measurements.filter("primary").equals(whole.measurements.filter("primary"))


@pytest.mark.parametrize(
    ("statuses", "status", "source"),
    [
        (("partial", "ok"), "ok", "1.txt"),
        (("ok", "partial"), "ok", "0.txt"),
        (("partial", "failed"), "failed", "1.txt"),
        (("ok", "failed"), "failed", "0.txt"),
        (("partial", "partial"), "partial", "0.txt"),
    ],
)
def test_the_status_is_that_of_complete_printings(statuses: tuple[str, str], status: str, source: str) -> None:
    data = _assembled(*(_run(*RATES, status=status) for status in statuses))
    assert data.runs.select("status", "source").rows() == [(status, source)]


@pytest.mark.parametrize("study", ["published/raid1-hdd-2020", "recorded/ext4-xfs-loop-2026"])
def test_a_study_given_twice_compares_as_if_given_once(root: Path, tmp_path: Path, study: str) -> None:
    original = root / "raw_results" / study
    copy = tmp_path / original.name
    shutil.copytree(original, copy)
    once, twice = fsb.read(original), fsb.read(original, copy)
    assert twice.runs.equals(once.runs)
    assert fsb.compare(twice).equals(fsb.compare(once))


# Runs that are alike


def _run(*rates: float, step: float = 1.0, tool: str = "bonnie++", **facts: object) -> Run:
    """Return a run with a rate for each of some phases, printed in steps."""
    phases = ("write", "rewrite", "read", "seek", "write_char", "read_char")
    figures = [
        Measurement(
            operation=phase,
            metric="bandwidth",
            value=rate,
            unit="B/s",
            low=rate - step / 2,
            high=rate + step / 2,
            text=f"{rate:g}",
            line=number,
        )
        for number, (phase, rate) in enumerate(zip(phases, rates, strict=False), 1)
    ]
    given = {"tool": tool, "start": 0, "end": 9, "line": 1, "measurements": tuple(figures)} | facts
    return Run(**given)  # type: ignore[arg-type]


def _assembled(*runs: Run, **facts: tuple[object, object]) -> Dataset:
    """Assemble runs that stand in files of their own, with facts of each file."""
    logs = [
        Log(
            source=f"{number}.txt",
            data=f"{number:09}".encode(),
            records=[run],
            **{name: values[number] for name, values in facts.items()},  # type: ignore[arg-type]
        )
        for number, run in enumerate(runs)
    ]
    return assemble(logs)


RATES = (123456.0, 234567.0, 345678.0)


def _timed(run: Run, seconds: float = 60.001) -> Run:
    """Add a time, which all formats print alike."""
    time = Measurement(
        operation="all", metric="runtime", value=seconds, unit="s", low=seconds, high=seconds, text="60001", line=9
    )
    return replace(run, measurements=(*run.measurements, time))


def test_another_format_prints_fewer_digits() -> None:
    fine, coarse = _run(*RATES), _run(123460, 234570, 345680, step=10)
    assert _assembled(fine, fine).runs.height == 1
    assert _assembled(_timed(fine), _timed(coarse)).runs.height == 1
    assert _assembled(_timed(fine), _timed(_run(123460, 234570, 345690, step=10))).runs.height == 2
    # Nothing is printed alike: an article that rounds is no other format.
    assert _assembled(fine, coarse).runs.height == 2
    assert _assembled(_timed(fine), _timed(coarse, 60.002)).runs.height == 2
    # Three figures of three digits are not enough.
    rounded = _run(123000, 235000, 346000, step=1000)
    assert _assembled(_timed(fine), _timed(rounded)).runs.height == 2


def test_neighbours_on_one_scale_are_different_figures() -> None:
    assert _assembled(_run(*RATES), _run(123456, 234567, 345679)).runs.height == 2


def test_little_information_leaves_equal_bytes_apart() -> None:
    run = _run(1000.0)
    logs = [Log(source=name, data=b"123456789", records=[run]) for name in ("a", "b")]
    data = assemble(logs)
    assert [run_id[-2:] for run_id in data.runs["run_id"]] == ["-1", "-2"]
    # The same place given twice is known to be the same run all the same.
    assert assemble([logs[0], logs[0]]).runs.height == 1


@pytest.mark.parametrize(
    ("fact", "values"),
    [
        ("filesystem", ("ext4", "xfs")),
        ("host", ("alpha", "beta")),
        ("study", ("a", "b")),
        ("round", (1, 2)),
        ("order", (1, 2)),
        ("exit_code", (0, 1)),
        ("tool_version", ("1.97", "1.98")),
        ("settings", ((Setting(key="memory", value="1"),), (Setting(key="memory", value="2"),))),
    ],
)
def test_what_is_said_to_be_different_is_not_one_run(fact: str, values: tuple[object, object]) -> None:
    data = _assembled(_run(*RATES), _run(*RATES), **{fact: values})
    assert data.runs.height == 2
    (warning,) = data.diagnostics.iter_rows(named=True)
    assert warning["code"] == "SAME_FIGURES"
    assert warning["source"] == "1.txt"
    assert "0.txt, line 1" in warning["message"]


@pytest.mark.parametrize(
    ("log", "own", "another"),
    [
        ("bonnie/2.00a-fast-no-files.txt", "1795261745", "1795269999"),
        ("fio_normal/3.33-grouped.txt", "pid=19275", "pid=19299"),
        ("fio_normal/3.33-grouped.txt", "10:16:30 2026", "10:16:31 2026"),
        ("fio_json/3.33-grouped.json", '"timestamp_ms" : 1795256190805', '"timestamp_ms" : 1795256190806'),
        ("fio_json/3.33-grouped.json", '"timestamp" : 1795256190', '"timestamp" : 1795256191'),
    ],
)
def test_runs_whose_logs_name_them_differently_are_two(tmp_path: Path, log: str, own: str, another: str) -> None:
    text = (FIO.parent / log).read_text()
    assert own in text
    for name, copy in (("a", text), ("b", text.replace(own, another)), ("c", text)):
        (tmp_path / name).write_text(copy)
    data = fsb.read(tmp_path)
    assert [Path(source).name for source in data.runs["source"]] == ["a", "b"]
    assert sorted(code for code in _codes(data) if code.startswith("SAME")) == ["SAME_FIGURES", "SAME_RUN"]
    (tmp_path / "all").write_text(f"{text}\n\n{text.replace(own, another)}")
    assert fsb.read(tmp_path / "all").runs.height == 2


def test_a_fact_of_one_printing_is_known_of_the_run() -> None:
    data = _assembled(_run(*RATES), _run(*RATES, host="box"), filesystem=(None, "xfs"), study=(None, "s"))
    assert data.runs.select("filesystem", "host", "study").rows() == [("xfs", "box", "s")]


def test_a_third_printing_is_held_against_all_that_is_known() -> None:
    runs = (_run(*RATES), _run(*RATES), _run(*RATES))
    data = _assembled(*runs, filesystem=("ext4", None, "xfs"))  # type: ignore[arg-type]
    assert data.runs["filesystem"].to_list() == ["ext4", "xfs"]


def test_a_name_that_a_table_cut_off_is_no_other_host() -> None:
    assert _assembled(_run(*RATES, host="virtiote"), _run(*RATES, host="virtiotest")).runs.height == 1


def test_other_dates_are_other_runs() -> None:
    dates = [datetime(2026, 1, 1, 12, 0, second) for second in (0, 1, 59)]
    first, second, third = (_run(*RATES, ended_at=date) for date in dates)
    assert _assembled(first, second).runs.height == 1
    assert _assembled(first, third).runs.height == 2


def test_printings_of_one_date_may_contradict_each_other_in_a_figure() -> None:
    many = tuple(100000.0 + 12345 * number for number in range(6))
    wrong = (*many[:5], many[5] * 1.02)
    date = datetime(2026, 1, 1, 12)
    # One of six is more than few; so let each print its rates once more, as maxima.
    runs = [_run(*rates, ended_at=date) for rates in (many, wrong)]
    maxima = tuple(replace(item, statistic="max") for item in runs[0].measurements)
    runs = [replace(run, measurements=(*run.measurements, *maxima)) for run in runs]
    data = _assembled(*runs)
    assert data.runs.height == 1
    (remark,) = data.diagnostics.filter(code="SECOND_PRINTING_DIFFERS").iter_rows(named=True)
    assert "bandwidth of read_char is printed as 165147" not in remark["message"]
    assert f"printed as {wrong[5]:g}, and as {many[5]:g} at 0.txt, line 1" in remark["message"]
    assert _assembled(*(replace(run, ended_at=None) for run in runs)).runs.height == 2


def test_series_come_from_one_printing() -> None:
    block = Block(operation="read", metric="iops", times=[1.0], values=[5.0], lines=[1])
    logs = [
        Log(source=name, data=name.encode() * 9, records=[_run(*RATES), *blocks])
        for name, blocks in (("a", []), ("b", [block]), ("c", [block]))
    ]
    data = assemble(logs)
    assert data.series.select("run_id", "value").rows() == [(data.runs["run_id"][0], 5.0)]


# How sure it is


def _again(run: Run, factor: Callable[[Measurement], float], coarser: float = 1.0) -> Run:
    """Print a run once more: its figures times a factor, on a coarser scale."""

    def printed(item: Measurement) -> Measurement:
        if item.value is None or item.low is None or item.high is None or not item.high > item.low:
            return item
        step = (item.high - item.low) * coarser
        value = round(item.value * factor(item) / step) * step
        return replace(item, value=value, low=value - step / 2, high=value + step / 2)

    return replace(run, measurements=tuple(map(printed, run.measurements)), ended_at=None)


def _runs_of(path: Path) -> Iterator[Run]:
    return (record for record in read_document(path.read_bytes(), path.name) if isinstance(record, Run))


def _sets(runs: list[Run]) -> int:
    logs = [Log(source=str(n), records=[run], sha256=f"{n:064}") for n, run in enumerate(runs)]
    return assemble(logs).runs.height


LOGS = (
    "fio-nvme-2021/fio-randwrite-xfs.txt",
    "raid1-hdd-2020/bonnie-ext4.txt",
    "iozone-ssd-2015/iozone-ext4.txt",
    f"sysbench-rhel72/{SYSBENCH}",
)


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("noise", [0.001, 0.01, 0.05])
def test_replicates_are_never_one_run(published: Path, log: str, noise: float) -> None:
    """150 runs make 11,175 pairs. All figures of a kind share their noise, as they do in a run."""
    rng = random.Random(noise)
    run = next(_runs_of(published / log))

    def replicate() -> Run:
        factors: dict[object, float] = {}

        def factor(item: Measurement) -> float:
            kind = (item.part, item.operation, item.block_size, item.file_size, item.statistic)
            return factors.setdefault(kind, math.exp(rng.gauss(0, noise)))

        return _again(run, factor)

    assert _sets([replicate() for _ in range(150)]) == 150


@pytest.mark.parametrize("log", [log for log in LOGS if "iozone" not in log])
def test_formats_of_replicates_are_sorted_by_run(published: Path, log: str) -> None:
    """Each of 60 replicates is printed twice, once half as finely; the same is printed alike in all of them."""
    rng = random.Random(3)
    run = _timed(next(_runs_of(published / log)))
    alike = [item for item in run.measurements if item.metric in PRINTED_ALIKE]

    def printed(run: Run, noise: float, coarser: float = 1.0) -> Run:
        others = [item for item in run.measurements if item.metric not in PRINTED_ALIKE]
        again = _again(replace(run, measurements=tuple(others)), lambda _: math.exp(rng.gauss(0, noise)), coarser)
        return replace(again, measurements=(*again.measurements, *alike))

    runs = []
    for _ in range(60):
        replicate = printed(run, 0.05)
        runs += [replicate, replace(printed(replicate, 0.0, coarser=2.0), format="another")]
    rng.shuffle(runs)
    assert _sets(runs) == 60


def test_the_work_grows_with_the_number_of_runs_and_not_of_pairs(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that begin alike, and whose last measurement differs: each pair has to be told apart."""
    run = next(_runs_of(published / "sysbench-rhel72" / SYSBENCH))
    last = max(n for n, item in enumerate(run.measurements) if item.metric == "latency" and item.value)
    compared = 0

    same = agreement.Prints.same

    def counted(prints: agreement.Prints, *pairs: Any) -> Any:
        nonlocal compared
        compared += len(pairs[0])
        return same(prints, *pairs)

    monkeypatch.setattr(agreement.Prints, "same", counted)
    found = []
    for number in (100, 400):
        compared = 0
        runs = []
        for index in range(number):
            items = list(run.measurements)
            value = (items[last].value or 0) * (1 + index)
            items[last] = replace(items[last], value=value, low=value, high=value)
            runs.append(replace(run, measurements=tuple(items)))
        assert _sets(runs) == number
        found.append(compared)
    assert 0 < found[1] < 5 * found[0]


def test_many_pairs_are_compared_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 120 logs that differ in a few digits many are one run, which is found in few steps, each over columns."""
    rng = random.Random(1)
    text = FIO_TEXT[0].read_text(encoding="utf-8")
    for number in range(120):
        (tmp_path / f"{number}.txt").write_text(other_digits(text, rng))
    steps = 0
    agree = agreement.Figures.agree

    def counted(figures: agreement.Figures, *rows: Any) -> Any:
        nonlocal steps
        steps += 1
        return agree(figures, *rows)

    monkeypatch.setattr(agreement.Figures, "agree", counted)
    assert fsb.read(tmp_path, cache=False).runs.height < 60
    assert 0 < steps < 80


def test_no_object_is_made_of_the_figures_of_formats_and_copies(
    tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(published / "sysbench-rhel72" / SYSBENCH, tmp_path / "a.txt")
    shutil.copy(published / "sysbench-rhel72" / SYSBENCH, tmp_path / "b.txt")
    shutil.copy(FIO, tmp_path / "c.txt")
    monkeypatch.setattr(Columns, "run", lambda _, number: pytest.fail(f"an object was made of run {number}"))
    data = fsb.read(tmp_path, cache=False)
    assert data.runs.height == 2
    assert _codes(data).count("SAME_RUN") == 3
