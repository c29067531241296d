"""Expected figures are written from the documents by eye, or are those of the normal report of the same run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsbench_kit as fsb
from fsbench_kit.analysis.time_series import time_series
from fsbench_kit.documents.encoding import decode
from fsbench_kit.formats import fio_json, fio_normal, sniff
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Block, Diagnostic, Measurement, Record, Run

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
DOCUMENT = (DATA / "fio_json" / "3.33-grouped.json").read_text()
NORMAL = (DATA / "fio_normal" / "3.33-grouped.txt").read_text()


def runs(records: list[Record]) -> list[Run]:
    return [record for record in records if isinstance(record, Run)]


def diagnostics(records: list[Record]) -> list[Diagnostic]:
    return [record for record in records if isinstance(record, Diagnostic)]


def parse(text: str) -> list[Record]:
    return list(fio_json.parse(Text(text)))


def only_run(text: str) -> Run:
    (run,) = runs(parse(text))
    return run


def figure(run: Run, operation: str, metric: str, statistic: str = "value", **where: object) -> Measurement:
    where = {"scope": "job", "primary": True} | where
    found = [
        item
        for item in run.measurements
        if (item.operation, item.metric, item.statistic) == (operation, metric, statistic)
        and all(getattr(item, key) == value for key, value in where.items())
    ]
    assert len(found) == 1, (operation, metric, statistic, where, found)
    return found[0]


def test_figures_of_a_document() -> None:
    run = only_run(DOCUMENT)
    assert (run.tool_version, run.status, run.duration) == ("3.33", "ok", 0.107)
    assert run.ended_at == datetime(2026, 11, 21, 10, 16, 30)
    assert (run.start, run.line) == (0, 1)
    assert run.end == len(DOCUMENT.rstrip())
    iops = figure(run, "read", "iops")
    assert (iops.value, iops.text, iops.part) == (2317.757009, "2317.757009", "w")
    assert (iops.low, iops.high) == pytest.approx((2317.7570085, 2317.7570095), rel=1e-12)
    assert (iops.threads, iops.block_size, iops.line) == (2, 8192, 27)
    rate = figure(run, "write", "bandwidth")
    assert (rate.value, rate.low, rate.high) == (20212037, 20212037, 20212038)  # cut to whole B/s
    again = figure(run, "write", "bandwidth", primary=False)
    assert (again.low, again.high) == (19738 * 1024, 19739 * 1024)
    count = figure(run, "write", "operations")
    assert (count.value, count.low, count.high) == (264, 264, 264)
    assert figure(run, "read", "bytes").value == 2031616
    assert figure(run, "read", "runtime").value == 0.107
    largest = figure(run, "read", "completion_latency", "max")
    assert (largest.value, largest.low, largest.high) == (5716102e-9, 5716102e-9, 5716102e-9)
    stdev = figure(run, "write", "latency", "stdev")
    assert (stdev.value, stdev.samples) == (pytest.approx(4092.403765e-9), 264)
    percentile = figure(run, "read", "completion_latency", "p95")
    # 3981312 ns is the middle of a bin that is 32768 ns wide
    assert (percentile.low, percentile.high) == pytest.approx((3964928e-9, 3997696e-9))
    assert figure(run, "sync", "operations").value == 25
    assert figure(run, "sync", "latency", "mean").value == pytest.approx(3139590.52e-9)
    assert figure(run, "all", "cpu_user").value == pytest.approx(0.0441989)
    assert figure(run, "all", "minor_faults").value == 27
    assert figure(run, "all", "disk_utilisation", scope="disk", part="vda").value == 0


def test_what_was_not_done_has_no_figures() -> None:
    run = only_run(DOCUMENT)
    assert {item.operation for item in run.measurements} == {"read", "write", "sync", "all"}
    assert not [item for item in run.measurements if item.metric == "submission_latency"]  # over no samples
    assert not [item for item in run.measurements if item.metric == "group_share"]  # no interval was complete


def test_bins_of_json_plus() -> None:
    run = only_run(DOCUMENT)
    bins = [item for item in run.bins if item.operation == "write" and item.count is not None]
    assert sum(item.count or 0 for item in bins) == 264
    # the second but last line of that block: "21376" : 1, in a bin that is 256 ns wide
    assert (bins[-2].low, bins[-2].high, bins[-2].count) == pytest.approx((21248e-9, 21504e-9, 1))
    assert sum(item.count or 0 for item in run.bins if item.operation == "sync") == 25
    shares = {(item.low, item.high): item.share for item in run.bins if item.share is not None}
    assert shares[(50e-6, 100e-6)] == pytest.approx(0.38867188)
    depth = [item.share for item in run.bins if item.metric == "depth"]
    assert depth == pytest.approx([1.04882812, 0, 0, 0, 0, 0, 0])


def test_options_are_settings() -> None:
    run = only_run(DOCUMENT)
    found = {item.key: (item.value, item.origin, item.scope) for item in run.settings}
    assert found["pattern"] == ("randrw", "log", "all")
    assert found["block_size"] == ("8192", "log", "all")
    assert found["file_size"] == (str(2 * 2**20), "log", "all")
    assert found["fsync"] == ("16", "log", "all")
    assert found["threads"] == ("2", "log", "all")
    assert found["job_name"] == ("w", "log", "all")
    assert found["fio.latency_percentile"] == ("1.0", "log", "all")
    assert "iodepth" not in found  # it was not asked for


def test_jobs_share_what_all_of_them_have() -> None:
    document = json.loads(DOCUMENT)
    (job,) = document["jobs"]
    document["global options"] = {"ioengine": "libaio", "bs": "4k"}
    document["jobs"] = [
        job | {"jobname": "a", "job options": {"name": "a", "bs": "64k"}},
        job | {"jobname": "b", "job options": {"name": "b"}},
    ]
    run = only_run(json.dumps(document))
    found = {(item.part, item.key): item.value for item in run.settings}
    assert found[(None, "engine")] == "libaio"
    assert (found[("a", "block_size")], found[("b", "block_size")]) == ("65536", "4096")
    assert (None, "block_size") not in found
    assert figure(run, "read", "iops", part="a").block_size == 65536
    assert figure(run, "read", "iops", part="b").threads == 1


def test_jobs_of_one_name_are_told_apart() -> None:
    document = json.loads(DOCUMENT)
    document["jobs"] *= 2
    run = only_run(json.dumps(document))
    assert {item.part for item in run.measurements if item.scope == "job"} == {"w.0", "w.1"}
    assert {item.threads for item in run.measurements if item.scope == "job"} == {1}


def test_documents_between_other_text() -> None:
    text = f"$ cat one.json\n{DOCUMENT}\nnow the other, on host 17\n{DOCUMENT}done"
    records = parse(text)
    first, second = runs(records)
    assert text.encode()[first.start : first.end].decode() == DOCUMENT.rstrip()
    assert text.encode()[second.start : second.end].decode() == DOCUMENT.rstrip()
    (note,) = diagnostics(records)
    assert (note.code, note.excerpt) == ("UNREAD_FIGURE", "now the other, on host 17")
    assert figure(second, "read", "iops").line == figure(first, "read", "iops").line + DOCUMENT.count("\n") + 2


def test_a_document_inside_another_one() -> None:
    run = only_run(json.dumps({"runs": [{"fio": json.loads(DOCUMENT)}]}))
    assert figure(run, "read", "operations").value == 248


def test_a_document_that_breaks_off_is_read_up_to_there() -> None:
    end = DOCUMENT.index('"runtime" : 107') + len('"runtime" : 10')
    records = parse(DOCUMENT[:end])
    (run,) = runs(records)
    assert run.status == "partial"
    assert {item.metric for item in run.measurements} == {"bytes", "bandwidth", "iops"}  # 10 may be 107
    note, rest = diagnostics(records)
    assert (note.code, note.line) == ("INCOMPLETE_LOG", DOCUMENT[:end].count("\n"))
    assert (rest.code, rest.excerpt) == ("UNREAD_FIGURE", '"runtime" : 10')


def test_an_error_makes_the_run_failed() -> None:
    records = parse(DOCUMENT.replace('"error" : 0', '"error" : 28'))
    assert runs(records)[0].status == "failed"
    assert [item.code for item in diagnostics(records)] == ["RUN_FAILED"]


def test_numbers_without_a_place_are_named() -> None:
    text = DOCUMENT.replace('"ctx" : 315,', '"ctx" : 315,\n      "watts" : 17.5,\n      "zero" : 0,')
    (item,) = diagnostics(parse(text))
    assert item.code == "UNREAD_FIGURE"
    assert item.message == "These figures were not understood: watts."
    assert item.line == text[: text.index('"watts"')].count("\n") + 1


def test_figures_that_cannot_both_be_right_are_named() -> None:
    assert diagnostics(parse(DOCUMENT)) == []
    (item,) = diagnostics(parse(DOCUMENT.replace('"total_ios" : 248', '"total_ios" : 348')))
    assert item.code == "FIGURES_DISAGREE"
    assert "348 (operations)" in item.message


def test_old_layout() -> None:
    """Of fio 2.x: latencies in µs, bandwidth in KiB/s, bytes in KiB."""
    run = only_run((DATA / "fio_json" / "2.2.10-old-layout.json").read_text())
    rate = figure(run, "read", "bandwidth")
    assert (rate.low, rate.high) == (1000 * 1024, 1001 * 1024)
    assert figure(run, "read", "bytes").value == 2000 * 1024
    assert figure(run, "read", "completion_latency", "max").value == pytest.approx(263e-6)
    percentile = figure(run, "read", "completion_latency", "p1")
    assert (percentile.low, percentile.high) == pytest.approx((200e-6, 202e-6))
    assert not [item for item in run.measurements if item.operation == "write" or item.statistic == "p0"]
    assert [(item.low, item.high) for item in run.bins] == [(0, 2e-6)]
    assert figure(run, "read", "iops").threads is None  # the options are not there to ask


@pytest.mark.parametrize(
    ("printed", "metric", "value"), [(99.9, "group_share", 0.999), (999.5, "bandwidth", 999.5 * 1024)]
)
def test_the_oldest_documents_print_the_mean_bandwidth_for_the_share(
    printed: float, metric: str, value: float
) -> None:
    """Of fio 2.1; later ones of 2.x print a share."""
    document = json.loads((DATA / "fio_json" / "2.2.10-old-layout.json").read_text())
    document["jobs"][0]["read"] |= {
        "bw_min": 3,
        "bw_max": 1200,
        "bw_agg": printed,
        "bw_mean": 999.5,
        "bw_dev": 2.5,
    }
    records = parse(json.dumps(document))
    assert diagnostics(records) == []
    (item,) = [item for item in runs(records)[0].measurements if item.text == str(printed)][:1]
    assert (item.metric, item.value) == (metric, pytest.approx(value))


def test_a_document_without_its_version_has_the_units_of_its_keys() -> None:
    for name in ("2.2.10-old-layout", "3.33-grouped"):
        document = json.loads((DATA / "fio_json" / f"{name}.json").read_text())
        known = only_run(json.dumps(document))
        del document["fio version"]
        records = parse(json.dumps(document))
        (run,) = runs(records)
        assert [item.code for item in diagnostics(records)] == ["INCOMPLETE_LOG"]
        assert [(item.metric, item.value) for item in run.measurements] == [
            (item.metric, item.value) for item in known.measurements
        ]


def test_reports_of_a_run_may_lack_the_version() -> None:
    records = parse(load("status-interval").replace('"fio version"', '"io version"', 1))
    assert len(runs(records)) == 1


def test_clients_and_their_sum() -> None:
    document = json.loads(DOCUMENT)
    (job,) = document.pop("jobs")
    document["client_stats"] = [job | {"hostname": "n1", "port": 8765}, job | {"jobname": "All clients"}]
    run = only_run(json.dumps(document))
    assert figure(run, "read", "operations", scope="client").part == "n1/w"
    assert figure(run, "read", "operations", scope="all").part is None


def load(name: str) -> str:
    return (DATA / "fio_json" / f"3.33-{name}.json").read_text()


def test_a_server_adds_the_sum_of_its_clients() -> None:
    document = json.loads(load("client"))
    run = only_run(load("client"))
    parts = {item.part for item in run.measurements if item.scope == "client"}
    assert parts == {"127.0.0.1/load.0", "127.0.0.1/load.1"}
    done = [client["read"]["total_ios"] for client in document["client_stats"]]
    assert figure(run, "read", "operations", scope="all").value == done[-1] == sum(done[:-1])
    assert {item.value for item in run.settings if item.key == "job_name"} == {"load"}


def test_disks_of_several_clients_are_several() -> None:
    """Two hosts have a disk of the same name each, whose figures are no second printing of the other one's."""
    disks = json.loads(load("client-disks"))["disk_util"]
    records = parse(load("client-disks"))
    assert diagnostics(records) == []
    (run,) = runs(records)
    for disk in disks:
        part = f"{disk['hostname']}/{disk['name']}"
        assert figure(run, "read", "disk_ios", scope="disk", part=part).value == disk["read_ios"]
    assert {part for item in run.measurements if (part := item.part) and item.scope == "disk"} == {
        "node1/vda",
        "node2/vda",
    }


def test_latencies_of_each_priority() -> None:
    (job,) = json.loads(load("priorities"))["jobs"]
    run = only_run(load("priorities"))
    for block in job["write"]["prios"]:
        part = f"p/prio {block['prioclass']}/{block['prio']}"
        largest = figure(run, "write", "completion_latency", "max", part=part)
        assert largest.value == pytest.approx(block["clat_ns"]["max"] / 1e9)
        assert largest.samples == block["clat_ns"]["N"]
    assert len({item.part for item in run.measurements if item.part and "/prio " in item.part}) == 2


def test_a_steady_state_is_a_series() -> None:
    (job,) = json.loads(load("steady-state"))["jobs"]
    data = job["steadystate"]["data"]
    records = parse(load("steady-state"))
    assert diagnostics(records) == []
    blocks = {record.metric: record for record in records if isinstance(record, Block)}
    assert list(blocks["bandwidth"].values) == data["bw"]
    assert list(blocks["iops"].values) == data["iops"]
    assert list(blocks["iops"].times) == [1, 2]
    (run,) = runs(records)
    assert figure(run, "all", "bandwidth", "steady_mean").value == data["bw_mean"]
    assert {item.key: item.value for item in run.settings}["fio.steadystate_attained"] == "true"


# Several documents


def documents(name: str) -> list[dict[str, Any]]:
    """Read the documents of a file one after the other, as Python's own decoder has them."""
    text, found = load(name).strip(), []
    while text:
        document, end = json.JSONDecoder().raw_decode(text)
        found.append(document)
        text = text[end:].strip()
    return found


def test_reports_of_a_run_that_goes_on_are_its_series() -> None:
    reports = [document["jobs"][0]["write"] for document in documents("status-interval")]
    assert len(reports) == 3
    text = load("status-interval")
    records = parse(text)
    (run,) = runs(records)
    assert [item.code for item in diagnostics(records)] == ["INTERIM_REPORT", "INTERIM_REPORT"]
    assert (run.start, run.end) == (text.index("{"), len(text.rstrip()))
    assert figure(run, "write", "bytes").value == reports[-1]["io_bytes"]
    series = {(item.metric, item.statistic): item for item in records if isinstance(item, Block)}
    assert {tuple(item.times) for item in series.values()} == {
        tuple(report["runtime"] / 1000 for report in reports)
    }
    for key, values in {
        ("bytes", "value"): [report["io_bytes"] for report in reports],
        ("operations", "value"): [report["total_ios"] for report in reports],
        ("bandwidth", "cumulative_value"): [report["bw_bytes"] for report in reports],
        ("iops", "cumulative_value"): [report["iops"] for report in reports],
        ("completion_latency", "cumulative_mean"): [report["clat_ns"]["mean"] / 1e9 for report in reports],
        ("latency", "cumulative_max"): [report["lat_ns"]["max"] / 1e9 for report in reports],
        ("completion_latency", "cumulative_p99"): [
            report["clat_ns"]["percentile"]["99.000000"] / 1e9 for report in reports
        ],
    }.items():
        assert list(series[key].values) == pytest.approx(values)


def test_what_is_no_number_in_a_report_of_a_run_that_goes_on_is_named(tmp_path: Path) -> None:
    first, second, third = documents("status-interval")
    first["jobs"][0]["write"]["bw_bytes"] = "@"
    path = tmp_path / "log.json"
    path.write_text("\n".join(map(json.dumps, (first, second, third))).replace('"@"', "1e999"))
    data = fsb.read(path)
    assert data.runs.height == 1
    assert data.diagnostics.filter(code="UNREAD_FIGURE")["excerpt"].to_list() == ["bw_bytes: 1e999"]
    assert data.series.filter(metric="bandwidth", statistic="cumulative_value").height == 2


def test_cumulative_figures_are_no_series_that_comes_to_rest() -> None:
    data = fsb.read(DATA / "fio_json" / "3.33-status-interval.json")
    runs_with_filesystem = data.runs.with_columns(filesystem=pl.lit("ext4"))
    looked_at = time_series(replace(data, runs=runs_with_filesystem))
    assert looked_at.runs.is_empty()


@pytest.mark.parametrize("clock", ["timestamp_ms", "timestamp", None])
def test_runs_of_one_job_are_not_its_series(clock: str | None) -> None:
    """Each of them started from nothing; the last ones by chance did a little more."""
    document = json.loads(DOCUMENT)
    found = []
    for number in range(3):
        again = json.loads(DOCUMENT)
        for key in ("timestamp", "timestamp_ms"):
            del again[key]
        if clock is not None:
            again[clock] = document[clock] + number * 60 * (1000 if clock == "timestamp_ms" else 1)
        for operation in ("read", "write"):
            for key in ("io_bytes", "io_kbytes", "total_ios", "runtime"):
                again["jobs"][0][operation][key] += number
        found.append(json.dumps(again))
    assert len(runs(parse("\n".join(found)))) == 3


def test_an_object_for_each_run_on_a_line() -> None:
    lines = [json.dumps({"id": number, "fio": json.loads(DOCUMENT), "watts": 17.5}) for number in range(2)]
    records = parse("\n".join(lines))
    assert len(runs(records)) == 2
    assert {item.code for item in diagnostics(records)} == {"OTHER_TEXT"}


def test_bare_jobs_are_those_of_one_run() -> None:
    (job,) = json.loads(DOCUMENT)["jobs"]
    run = only_run(json.dumps([job | {"jobname": "a"}, job | {"jobname": "b"}]))
    assert {item.part for item in run.measurements if item.scope == "job"} == {"a", "b"}
    assert len(runs(parse("\n".join(json.dumps(job | {"jobname": name}) for name in "ab")))) == 2


@pytest.mark.parametrize(
    "wrap",
    [
        lambda document: [document],
        lambda document: {"host": "n1", "results": {"fio": document, "exit": 0}},
        lambda document: {"runs": [{"output": document}]},
    ],
)
def test_homes_of_a_document(wrap: Callable[[object], object]) -> None:
    for indent in (None, 4):
        run = only_run(json.dumps(wrap(json.loads(DOCUMENT)), indent=indent))
        assert [m.value for m in run.measurements] == [m.value for m in only_run(DOCUMENT).measurements]


# Damage


def texts(run: Run) -> list[tuple[object, ...]]:
    return [(item.part, item.operation, item.metric, item.statistic, item.text) for item in run.measurements]


def test_a_document_can_be_cut_anywhere() -> None:
    whole = set(texts(only_run(DOCUMENT)))
    for end in range(30, len(DOCUMENT.rstrip()) - 1, 97):
        records = parse(DOCUMENT[:end])
        for run in runs(records):
            assert run.status == "partial"
            assert set(texts(run)) <= whole, end
        assert {"INCOMPLETE_LOG", "UNREAD_FIGURE"} & {item.code for item in diagnostics(records)}


def test_processes_that_may_be_cut_off_are_not_counted() -> None:
    text = DOCUMENT.replace('"group_reporting" : ""', '"overwrite" : "1"')
    end = text.index('"trim" :')
    assert figure(only_run(text), "read", "iops").threads == 2
    assert figure(only_run(text[:end]), "read", "iops").threads is None


def test_other_programs_lines_in_a_document() -> None:
    for line in (
        "fio: pid=5, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device",
        "Jobs: 1 (f=1): [r(1)][100.0%][r=1024KiB/s][r=256 IOPS][eta 00m:00s]",
        "[12345.678901] EXT4-fs (loop0): mounted filesystem",
        "root@host:~# ",
    ):
        text = DOCUMENT.replace('      "write" : {', f'{line}\n      "write" : {{', 1)
        assert texts(only_run(text)) == texts(only_run(DOCUMENT)), line


def test_lines_that_are_missing_end_what_is_certain() -> None:
    """Without the line between them the writes' figures would be those of reads."""
    start = DOCUMENT.index('      "write" : {')
    before = DOCUMENT.rindex("      },", 0, start)
    records = parse(DOCUMENT[:before] + DOCUMENT[start + len('      "write" : {\n') :])
    (run,) = runs(records)
    assert set(texts(run)) <= set(texts(only_run(DOCUMENT)))
    assert {item.operation for item in run.measurements} == {"read"}
    assert {"INCOMPLETE_LOG", "UNREAD_FIGURE"} <= {item.code for item in diagnostics(records)}


def test_of_a_repeated_figure_the_first_one_counts() -> None:
    text = DOCUMENT.replace('"ctx" : 315,', '"ctx" : 315,\n      "ctx" : 316,')
    records = parse(text)
    assert figure(runs(records)[0], "all", "context_switches").value == 315
    assert [item.code for item in diagnostics(records)] == ["DUPLICATE_FIGURE"]


# Numbers that are none


@pytest.mark.parametrize("word", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity", "1e308", "1e-99999999"])
def test_what_is_no_number_is_a_missing_figure(tmp_path: Path, word: str) -> None:
    document = json.loads(DOCUMENT)
    job = document["jobs"][0]
    for block, key in ((job["read"], "bw_bytes"), (job["read"]["clat_ns"], "mean"), (job, "usr_cpu")):
        block[key] = "@"
    job["latency_us"]["250"] = "@"
    job["read"]["clat_ns"]["percentile"]["99.000000"] = "@"
    job["steadystate"] = {"data": {"bw": ["@", 5], "bw_mean": "@"}}
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(document).replace('"@"', word))
    data = fsb.read(path)
    (item,) = data.diagnostics.filter(code="UNREAD_FIGURE").rows(named=True)
    assert item["message"] == "These values are not numbers: bw_bytes, mean, 99.000000, usr_cpu, 250, bw, bw_mean."
    assert f"bw_bytes: {word}, mean: {word}" in item["excerpt"]
    assert data.measurements.filter(~pl.all_horizontal(pl.col("value", "low", "high").is_finite())).is_empty()
    assert data.distributions["share"].is_finite().all()
    assert data.series.filter(statistic="steady")["value"].to_list() == [5.0]
    of_bins = data.measurements.filter(operation="read", metric="completion_latency", statistic="p99")
    p99 = json.loads(DOCUMENT)["jobs"][0]["read"]["clat_ns"]["percentile"]["99.000000"]
    assert of_bins.select("text", "primary").rows() == [(str(p99), True)]
    assert data.measurements.filter(
        operation="read", metric="bandwidth", statistic="value", primary=True
    ).is_empty()


def test_a_number_in_the_digits_of_another_script_is_kept_as_printed(tmp_path: Path) -> None:
    document = json.loads(DOCUMENT)
    document["jobs"][0]["read"]["bw_mean"] = "@"
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(document, indent=2).replace('"@"', "٣"), encoding="utf-8")
    mean = fsb.read(path).measurements.filter(operation="read", metric="bandwidth", statistic="mean", primary=True)
    assert mean.select("value", "text").rows() == [(3 * 1024.0, "٣")]


@pytest.mark.parametrize("count", [6 * 10**18, 10**19, 10**30])
def test_bins_that_count_more_than_all_requests_are_refused(tmp_path: Path, count: int) -> None:
    document = json.loads(DOCUMENT)
    clat = document["jobs"][0]["read"]["clat_ns"]
    first, second, *_ = clat["bins"]
    honest = sum(clat["bins"].values()) - clat["bins"][first] - clat["bins"][second]
    clat["bins"] |= {first: count, second: count}
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(document, indent=1))
    data = fsb.read(path)
    (item,) = data.diagnostics.filter(code="UNREAD_FIGURE").rows(named=True)
    assert item["excerpt"] == f"{first}: {count}, {second}: {count}"
    of_read = data.distributions.filter(operation="read", metric="completion_latency")
    assert of_read["count"].sum() == honest


def test_bins_that_are_not_all_requests_are_named(tmp_path: Path) -> None:
    document = json.loads(DOCUMENT)
    document["jobs"][0]["read"]["clat_ns"]["bins"].popitem()
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(document))
    messages = fsb.read(path).diagnostics.filter(code="FIGURES_DISAGREE")["message"]
    assert any("The bins count" in message for message in messages)


# Bins


def test_percentiles_are_those_of_the_bins() -> None:
    document = json.loads(DOCUMENT)
    clat = document["jobs"][0]["read"]["clat_ns"]
    printed = {f"p{float(rank):g}": str(value) for rank, value in clat["percentile"].items()}
    again = [m for m in only_run(DOCUMENT).measurements if m.operation == "read" and m.statistic in printed]
    assert {m.statistic: m.text for m in again if m.metric == "completion_latency" and not m.primary} == printed
    del clat["percentile"]
    rebuilt = [m for m in only_run(json.dumps(document)).measurements if m.operation == "read"]
    assert {m.statistic: m.text for m in rebuilt if m.primary and m.statistic in printed} == printed


def test_bins_that_do_not_make_the_percentiles() -> None:
    text = DOCUMENT.replace('"50.000000" : 75264', '"50.000000" : 85504', 1)
    assert "SECOND_PRINTING_DIFFERS" in [item.code for item in diagnostics(parse(text))]


@pytest.mark.parametrize(
    ("right", "wrong"), [('"50.000000" : 75264', '"50.000000" : 75267'), ('"55040"', '"55340"')]
)
def test_what_is_no_bin_is_not_read(right: str, wrong: str) -> None:
    """Bins of 65 to 131 µs are 1024 ns wide, those below that 512 ns."""
    records = parse(DOCUMENT.replace(right, wrong, 1))
    assert [item.code for item in diagnostics(records)] == ["UNREAD_FIGURE"]
    assert {"75267", "55340"}.isdisjoint(item.text for run in runs(records) for item in run.measurements)


def test_a_percentile_that_fio_cannot_print_is_that_of_the_bins(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(DOCUMENT.replace('"50.000000" : 75264', '"50.000000" : 75267', 1))
    data = fsb.read(path)
    (item,) = data.diagnostics.filter(severity="warning").rows(named=True)
    assert (item["message"], item["excerpt"]) == (
        "fio cannot print 75267 as p50.",
        "50.000000: 75267",
    )
    median = data.measurements.filter(operation="read", metric="completion_latency", statistic="p50", primary=True)
    assert median["text"].to_list() == ["75264"]


def test_bins_that_go_by_their_index() -> None:
    """Of fio 3.0 and before: 64 bins for an octave, the first 128 of one unit each."""
    records = parse((DATA / "fio_json" / "3.0-bins-by-index.json").read_text())
    (run,) = runs(records)
    assert diagnostics(records) == []
    # 128 are below 256; 200 is 72 further, 64 + 8: in the octave from 256 on, in which bins are 4 wide
    assert [(b.low, b.high, b.count) for b in run.bins] == [
        (100e-9, 100e-9, 3),
        (pytest.approx(288e-9), pytest.approx(292e-9), 1),
    ]


def test_an_index_that_no_bin_of_fio_has_is_named(tmp_path: Path) -> None:
    text = (DATA / "fio_json" / "3.0-bins-by-index.json").read_text()
    path = tmp_path / "fio.json"
    path.write_text(text.replace('"200": 1', '"123456789": 1'))
    assert path.read_text() != text
    data = fsb.read(path)
    assert data.distributions["count"].drop_nulls().to_list() == [3]
    assert "123456789: 1" in "".join(data.diagnostics["excerpt"].drop_nulls())


def test_only_its_own_documents_are_recognised() -> None:
    assert {log_format for _, log_format in sniff(DOCUMENT)} == {fio_json}
    assert not list(fio_json.signatures(NORMAL))
    for path in (ROOT / "raw_results" / "published").glob("*/*.txt"):
        assert not list(fio_json.signatures(path.read_text()))
    assert runs(parse('{"jobs": [{"steps": 3}]}')) == []


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_documents_never_raise(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(DOCUMENT)))
    stop = data.draw(st.integers(start, min(len(DOCUMENT), start + 40)))
    insert = data.draw(st.sampled_from(["", "-1", "NaN", '"x"', "[]", "{}", "null", '{"', "1e999"]))
    for run in runs(parse(DOCUMENT[:start] + insert + DOCUMENT[stop:])):
        assert all(item.low is not None for item in run.measurements)


# Both reports of one run


def assert_agree(of_json: Run, of_normal: Run) -> None:
    """Hold each figure of one report against its counterpart in the other."""

    def by_key(run: Run) -> dict[tuple[object, ...], Measurement]:
        return {
            (m.scope, m.part, m.operation, m.threads, m.block_size, m.metric, m.statistic): m
            for m in run.measurements
            # what fio has in its normal report only
            if m.primary and m.scope != "group" and m.metric != "zone_resets"
        }

    exact, rounded = by_key(of_json), by_key(of_normal)
    assert set(exact) == set(rounded)
    for key, item in exact.items():
        other = rounded[key]
        assert None not in {item.low, item.high, other.low, other.high, item.value}
        assert other.low is not None
        assert other.high is not None
        assert item.low is not None
        assert item.high is not None
        # fio cuts a quantity to a 1000th of its unit before it rounds
        slack = 0.1 * (other.high - other.low) + 1e-12
        if key[-1] in {"min", "max", "value"} or "p" not in str(key[-1]):
            assert item.value is not None
            assert other.low - slack <= item.value <= other.high + slack, (key, item, other)
        else:  # the bin of the percentile
            assert other.low <= item.low, (key, item, other)
            assert item.high <= other.high, (key, item, other)

    def shares(run: Run) -> dict[tuple[object, ...], float]:
        return {(b.part, b.operation, b.metric, b.low, b.high): b.share for b in run.bins if b.share is not None}

    assert set(shares(of_json)) == set(shares(of_normal))
    for key, share in shares(of_json).items():
        assert shares(of_normal)[key] == pytest.approx(share, abs=0.00051), key


def test_the_two_reports_of_a_run_agree() -> None:
    (normal,) = runs(list(fio_normal.parse(Text(NORMAL))))
    assert_agree(only_run(DOCUMENT), normal)
    assert len(normal.measurements) > 100


FILE = ["--directory=.", "--size=4M", "--bs=16k"]
NULL = ["--ioengine=null", "--size=64M", "--bs=4k"]


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize(
    "options",
    [
        ["--name=load", "--rw=read", *NULL],
        ["--name=load", "--rw=randrw", *NULL, "--numjobs=3"],
        ["--name=load", "--rw=randrw", "--rwmixread=70", *NULL, "--numjobs=3", "--group_reporting"],
        ["--name=load", "--rw=trimwrite", "--ioengine=null", "--size=1M", "--bs=4k"],
        ["--name=load", "--rw=write", *FILE, "--fsync=8"],
        ["--name=load", "--rw=randread", *FILE, "--bs=4k", "--numjobs=2", "--time_based", "--runtime=1"],
        ["--name=load", "--rw=randwrite", *FILE, "--numjobs=2", "--group_reporting", "--lat_percentiles=1"],
        ["--name=first", "--rw=write", *FILE, "--name=second", "--stonewall", "--rw=randread", *FILE, "--bs=4k"],
        ["--name=both", "--rw=randrw", *FILE, "--unified_rw_reporting=1"],
    ],
    ids=["null read", "null randrw", "grouped", "trim", "fsync", "two jobs", "lat", "stonewall", "mixed"],
)
def test_the_two_reports_of_a_live_run_agree(tmp_path: Path, options: list[str]) -> None:
    command = ["fio", "--output-format=normal,json+", *options]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    start = result.stdout.index("{\n")
    end = result.stdout.index("\n}\n") + 3
    records = list(fio_normal.parse(Text(result.stdout[:start] + result.stdout[end:])))
    (normal,) = runs(records)
    assert [item for item in diagnostics(records) if item.code != "PROGRESS"] == []
    document = parse(result.stdout[start:end])
    assert diagnostics(document) == []
    assert_agree(runs(document)[0], normal)


CORPUS = os.environ.get("FSBENCH_CORPUS")


@pytest.mark.skipif(CORPUS is None, reason="FSBENCH_CORPUS names no folder of real logs")
def test_real_documents_are_understood() -> None:
    paths = sorted(Path(CORPUS or "", "fio", "json").iterdir())
    assert paths
    for path in paths:
        text = decode(path.read_bytes(), path.name)
        assert text is not None
        records = list(fio_json.parse(text))
        is_cut = path.name.startswith("pcuzner_")  # its end was cut away by hand
        assert [item for item in diagnostics(records) if item.code == "UNREAD_FIGURE"] == [], path
        assert bool(runs(records)) != is_cut
        if is_cut:
            assert "INCOMPLETE_LOG" in {item.code for item in diagnostics(records)}
            continue
        document = json.loads(path.read_text())
        jobs = document.get("jobs", document.get("client_stats"))
        done = [
            (name, str(job[name]["io_bytes"]))
            for job in jobs
            for name in ("read", "write", "trim", "mixed")
            if job.get(name, {}).get("io_bytes")
        ]
        (run,) = runs(records)
        assert [(m.operation, m.text) for m in run.measurements if m.metric == "bytes" and m.primary] == done, path


def test_idle_processors() -> None:
    run = only_run((DATA / "fio_json" / "3.33-idleness.json").read_text())
    idle = {m.part: m.text for m in run.measurements if m.metric == "cpu_idle"}
    assert idle == {None: "33.714222", "cpu-0": "5.564132", "cpu-1": "61.864313"}
    units = {m.statistic: m.value for m in run.measurements if m.metric == "idle_unit_time"}
    assert units == {"mean": pytest.approx(29.346e-6), "stdev": pytest.approx(9.038239e-6)}


def test_what_is_json_costs_no_object_for_each_bin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the tolerant decoder nor an object for each bin is paid for by a document that is whole."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("this is for damaged documents, and for who asks for a bin")

    monkeypatch.setattr("fsbench_kit.formats.loose_json.decode", refuse)
    monkeypatch.setattr("fsbench_kit.model.records.Bin.__init__", refuse)
    data = fsb.read(DATA / "fio_json" / "3.33-grouped.json")
    assert data.distributions.filter(pl.col("count").is_not_null()).height > 100


def test_a_report_that_another_program_wrote_anew_keeps_its_time(tmp_path: Path) -> None:
    report = json.loads(DOCUMENT)
    for number in range(3):
        report["timestamp"] += 60
        report["time"] = f"Tue Jan  2 09:0{number}:00 2024"
        (tmp_path / f"{number}.json").write_text(json.dumps(report, indent=2) + "\n")
    assert fsb.read(tmp_path).runs["ended_at"].dt.minute().to_list() == [0, 1, 2]
