"""One run that fio prints in several formats into one file is one run, with all that each format says of it."""

import json
import re
import shutil
import subprocess
from collections import Counter
from itertools import permutations
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.documents import read_document
from fsbench_kit.formats import fio_json
from fsbench_kit.model.records import Run

DATA = Path(__file__).parents[1] / "data"
RECORDED = (DATA / "fio-3.33-normal-json-terse.txt").read_text()

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def _fio(folder: Path, *arguments: str) -> str:
    run = subprocess.run(
        ["fio", f"--filename={folder / 'file'}", "--size=2m", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def _read(folder: Path, log: str) -> Dataset:
    path = folder / "log.txt"
    path.write_text(log)
    return fsb.read(path)


def _codes(dataset: Dataset) -> set[str]:
    return set(dataset.diagnostics["code"])


def _values(dataset: Dataset, metric: str, *, primary: bool) -> list[float]:
    rows = dataset.measurements.filter(metric=metric, statistic="value", operation="write", primary=primary)
    return rows.filter(pl.col("scope") != "group")["value"].to_list()


@needs_fio
@pytest.mark.parametrize(
    "formats", [",".join(order) for n in (2, 3) for order in permutations(("normal", "json+", "terse"), n)]
)
def test_a_run_in_several_formats_is_one(formats: str, tmp_path: Path) -> None:
    log = _fio(tmp_path, "--name=seq", "--rw=write", "--bs=64k", f"--output-format={formats}")
    dataset = _read(tmp_path, log)
    (run,) = dataset.runs.rows(named=True)
    assert (run["tool"], run["tool_version"], run["status"]) == ("fio", "3.33", "ok")
    assert _codes(dataset) == {"SAME_RUN"}
    count = formats.count(",") + 1
    assert len(dataset.diagnostics) == count - 1
    # 32 requests of 64 KiB: as many printings, one of which counts
    assert _values(dataset, "operations", primary=True) == [32.0] * ("normal" in formats or "json" in formats)
    assert len(_values(dataset, "runtime", primary=True)) == 1
    assert len(_values(dataset, "runtime", primary=False)) == count - 1
    assert len(set(_values(dataset, "runtime", primary=True) + _values(dataset, "runtime", primary=False))) == 1
    settings = dict(dataset.settings.select("key", "value").rows())
    if "normal" in formats or "json" in formats:
        assert settings["block_size"] == "65536"
        assert settings["pattern"] == "write"
    if "normal" in formats:
        assert settings["engine"] == "psync"
        assert (run["start"], run["line"]) == (0, 1)
        assert run["end"] == len(log.rstrip())
    if "json" in formats:
        document = json.loads(log[log.index("{\n") : log.index("\n}\n") + 2])
        bandwidth = dataset.measurements.filter(metric="bandwidth", statistic="value", scope="job", primary=True)
        assert bandwidth["value"].to_list() == [document["jobs"][0]["write"]["bw_bytes"]]


MICROSECONDS = (DATA / "fio-3.33-terse-json-plus-microseconds.txt").read_text()
"""A run of 32 requests in 2 ms, of whose figures only deviations, of less than 1 us, have more than two digits."""


def test_formats_right_after_each_other_need_few_digits(tmp_path: Path) -> None:
    terse, document = MICROSECONDS.split("\n", 1)
    assert len(_read(tmp_path, MICROSECONDS).runs) == 1
    assert len(_read(tmp_path, f"{document}{terse}\n").runs) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.800942", "0.800943"),  # the next value of a deviation
        (";25;30;", ";25;31;"),  # of a maximum
        (r"(?<=;)0\.(?:855733|800942)(?=;)|(?<= : )8(?:55|00)\.\d+", "0.000000"),  # nothing tells
        (r"\n\{", "\nAnd on the other machine:\n{"),
    ],
)
def test_runs_right_after_each_other_that_differ_in_anything_are_two(old: str, new: str, tmp_path: Path) -> None:
    log, changes = re.subn(old, new, MICROSECONDS)
    assert changes
    assert len(_read(tmp_path, log).runs) == 2


@needs_fio
@pytest.mark.parametrize("form", ["json", "terse"])
def test_a_header_above_a_report_for_programs_is_no_run(form: str, tmp_path: Path) -> None:
    """fio prints the header of a job that stands on its command line before the format."""
    jobs = [option for name in "ab" for option in (f"--name={name}", "--rw=write", "--bs=4k", "--size=1m")]
    log = _fio(tmp_path, *jobs, f"--output-format={form}")
    assert log.startswith("a: (g=0): rw=write")
    dataset = _read(tmp_path, log)
    assert len(dataset.runs) == 1
    assert _codes(dataset) <= {"AMBIGUOUS_RUNS", "UNNAMED_LATENCY"}  # of terse lines alone
    twice = _read(tmp_path, log + _fio(tmp_path, "--name=c", "--rw=write", "--bs=16k"))
    assert len(twice.runs) == 2
    normal = twice.runs.filter(line=log.count("\n") + 1)["run_id"].item()
    assert twice.settings.filter(run_id=normal, key="block_size")["value"].to_list() == ["16384"]
    assert _codes(twice) <= {"AMBIGUOUS_RUNS", "UNNAMED_LATENCY"}


@needs_fio
def test_two_runs_in_several_formats_stay_two(tmp_path: Path) -> None:
    logs = [
        _fio(tmp_path, "--name=x", "--rw=write", f"--bs={bs}", "--output-format=normal,json")
        for bs in ("64k", "128k")
    ]
    dataset = _read(tmp_path, "".join(logs))
    assert dataset.runs.select("start", "end").rows() == [
        (0, len(logs[0].rstrip())),
        (len(logs[0]), len(logs[0]) + len(logs[1].rstrip())),
    ]
    assert sorted(_values(dataset, "operations", primary=True)) == [16.0, 32.0]
    sizes = dataset.settings.filter(key="block_size").select("run_id", "value").unique()
    assert dict(sizes.rows()) == dict(zip(dataset.runs["run_id"], ["65536", "131072"], strict=True))
    assert _codes(dataset) == {"SAME_RUN"}


def test_a_run_that_tells_little_is_one_as_well(tmp_path: Path) -> None:
    """Figures of two digits could agree by chance, but not those of a document inside a report."""
    cut = RECORDED[: RECORDED.index("    clat (usec)")]
    report = re.sub(r"(?s)IOPS=.*", "IOPS=0, BW=0B/s (0B/s)(0B/1msec)\n", cut)
    document = json.loads(RECORDED[RECORDED.index("{\n") : RECORDED.index("\n}\n") + 2])
    document["jobs"][0] |= {
        "read": {"io_bytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 1, "total_ios": 0}
    }
    report = re.sub(r"(?s)\n\{.*\n\}\n", lambda _: f"\n{json.dumps(document, indent=2)}\n", report)
    report = re.sub(r"(?m)^3;fio.*\n", "", report)
    assert len(_read(tmp_path, report).runs) == 1


def test_an_interim_report_in_each_format_is_one_run_with_a_series(tmp_path: Path) -> None:
    report = RECORDED[RECORDED.index("3;fio") :]
    early = report.replace("2001", "1001").replace("139497", "69000")
    dataset = _read(tmp_path, RECORDED.replace(report, early + "\n" + report))
    assert len(dataset.runs) == 1
    assert _codes(dataset) >= {"INTERIM_REPORT"}
    requests = dataset.measurements.filter(metric="operations", statistic="value", primary=True, scope="job")
    assert requests["value"].to_list() == [139497.0]


def test_a_log_between_two_others_belongs_to_none() -> None:
    """Somebody's words between them say that they are not one printing."""
    normal = (DATA / "fio_normal" / "3.33-grouped.txt").read_text()
    header, report = (
        normal[: normal.index("\n", normal.index("Starting")) + 1],
        normal[normal.index("(groupid=") :],
    )
    report = re.findall(r"[^\n]*$", normal[: normal.index("(groupid=")])[0] + report
    document = (DATA / "fio_json" / "3.33-priorities.json").read_text()
    text = f"{header}\nAnd of another machine:\n\n{document}\nAnd this is of the first one:\n\n{report}"
    runs = [record for record in read_document(text.encode(), "x") if isinstance(record, Run)]
    assert Counter(run.format for run in runs) == {"fio_json": 1, "fio_normal": 1}
    assert next(run for run in runs if run.format == "fio_normal").tool_version is None


def test_what_stands_alone_in_its_format_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = Mock(wraps=fio_json.parse)
    monkeypatch.setattr(fio_json, "parse", parse)
    assert sum(isinstance(record, Run) for record in read_document(RECORDED.encode(), "log")) >= 1
    assert parse.call_count == 1
