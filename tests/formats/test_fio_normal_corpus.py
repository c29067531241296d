"""Real logs of other people, held against a second reading: line by line, with no thought of what was mangled."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Diagnostic, Run

CORPUS = os.environ.get("FSBENCH_CORPUS")

MANGLED = {
    "lore_gup_3.x_qp_nbsp_inline_reply.txt",  # mails in quoted-printable, with replies inside
    "lore_gup_reader_3.3_qp.txt",
}
OTHER_TEXT_TOUCHES = {"rafmoshe_3.41_k8s_pod7.txt", "weka_3.19_client_err22_progress.txt"}

BYTES = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
SECONDS = {"n": 1e-9, "u": 1e-6, "m": 1e-3}
SUFFIX = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6}
LATENCY = {
    "slat": "submission_latency",
    "clat": "completion_latency",
    "lat": "latency",
    "sync": "latency",
}

Figure = tuple[str, str, str, str]


def number(text: str, factor: float = 1) -> str:
    match = re.fullmatch(r"([\d.]+)([kKM]?)", text)
    assert match is not None
    return f"{float(match[1]) * SUFFIX[match[2]] * factor:.8g}"


def second_reading(text: str) -> Counter[Figure]:
    found = Counter[Figure]()
    operation = kind = unit = ""
    for line in text.splitlines():
        if match := re.match(r" *(read|write|trim) ?: (IOPS|io)=", line):
            operation = match[1]
        if match := re.search(r"IOPS=(\S+), BW=([\d.]+)(\w+)/s \(.*?\)\(([\d.]+)(\w+)/(\d+)msec", line):
            found[operation, "iops", "value", number(match[1])] += 1
            found[operation, "bandwidth", "value", number(match[2], BYTES[match[3]])] += 1
            found[operation, "bytes", "value", number(match[4], BYTES[match[5]])] += 1
            found[operation, "runtime", "value", number(match[6], 1e-3)] += 1
        elif match := re.search(r" io=([\d.]+)(\w+), bw=([\d.]+)(\w+)/s, iops=(\d+) ?, runt= *(\d+)msec", line):
            found[operation, "bytes", "value", number(match[1], BYTES[match[2]])] += 1
            found[operation, "bandwidth", "value", number(match[3], BYTES[match[4]])] += 1
            found[operation, "iops", "value", number(match[5])] += 1
            found[operation, "runtime", "value", number(match[6], 1e-3)] += 1
        elif match := re.match(r" *(slat|clat|lat|sync) \((.)sec\): *(min=.*)", line):
            values = re.findall(r"=\s*(\S+?) ?(?:,|$)", match[3])
            for statistic, value in zip(("min", "max", "mean", "stdev"), values, strict=True):
                of = "sync" if match[1] == "sync" else operation
                found[of, LATENCY[match[1]], statistic, number(value, SECONDS[match[2]])] += 1
        elif match := re.match(r" *(slat|clat|lat|sync) percentiles \((.)sec\)", line):
            kind, unit = match[1], match[2]
        elif line.lstrip().startswith("| "):
            for share, value in re.findall(r"([\d.]+)th=\[ *(\d+)\]", line):
                of = "sync" if kind == "sync" else operation
                found[of, LATENCY[kind], f"p{float(share):g}", number(value, SECONDS[unit])] += 1
        elif match := re.match(r" *(?:bw \( *(\w+) */s\)|(iops) +) ?: (min=.*)", line):
            factor = BYTES[match[1]] if match[1] else 1
            values = dict(re.findall(r"(\w+)= *([\d.]+)", match[3]))
            for statistic, name in (("min", "min"), ("max", "max"), ("mean", "avg"), ("stdev", "stdev")):
                metric = "bandwidth" if match[1] else "iops"
                found[operation, metric, statistic, number(values[name], factor)] += 1
        elif match := re.match(r" *cpu +: usr=([\d.]+)%, sys=([\d.]+)%, ctx=(\d+), majf=(\d+), minf=(\d+)", line):
            names = ("cpu_user", "cpu_system", "context_switches", "major_faults", "minor_faults")
            for name, value, factor in zip(names, match.groups(), (0.01, 0.01, 1, 1, 1), strict=True):
                found["all", name, "value", number(value, factor)] += 1
        elif match := re.match(r" *issued.*?total=r?=?(\d+)[,/]w?=?(\d+)[,/]", line):
            for of, value in zip(("read", "write"), match.groups(), strict=True):
                if value != "0":
                    found[of, "operations", "value", number(value)] += 1
    return found


def first_reading(runs: list[Run]) -> Counter[Figure]:
    return Counter(
        (item.operation, item.metric, item.statistic, f"{item.value:.8g}")
        for run in runs
        for item in run.measurements
        if item.primary
        and item.value is not None
        and item.scope in {"job", "client"}
        and item.metric not in {"group_share", "zone_resets", "short_operations", "dropped_operations"}
        and not (item.metric == "operations" and (item.operation in {"sync", "trim"} or item.value == 0))
    )


@pytest.mark.skipif(CORPUS is None, reason="FSBENCH_CORPUS names no folder of real logs")
def test_real_logs_are_read_as_line_by_line() -> None:
    paths = sorted(Path(CORPUS or "", "fio", "normal").glob("*.txt"))
    paths = [path for path in paths if path.name not in MANGLED]
    assert paths
    for path in paths:
        records = list(read_document(path.read_bytes(), path.name))
        first = first_reading([record for record in records if isinstance(record, Run)])
        second = second_reading(path.read_text())
        assert second.total() > 5
        assert (first - second, second - first) == (Counter(), Counter()), path.name


@pytest.mark.skipif(CORPUS is None, reason="FSBENCH_CORPUS names no folder of real logs")
def test_nothing_in_real_logs_is_unread() -> None:
    for path in sorted(Path(CORPUS or "", "fio", "normal").glob("*.txt")):
        if path.name not in MANGLED | OTHER_TEXT_TOUCHES:
            records = read_document(path.read_bytes(), path.name)
            assert [d for d in records if isinstance(d, Diagnostic) and d.code == "UNREAD_FIGURE"] == [], path.name
