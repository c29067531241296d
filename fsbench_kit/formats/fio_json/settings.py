"""Reads the options of the jobs."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from fsbench_kit.formats.fio_command import job_option
from fsbench_kit.formats.fio_json.contents import Report, is_amount, object_
from fsbench_kit.formats.loose_json import Object, is_number
from fsbench_kit.model.units import size

if TYPE_CHECKING:
    from collections.abc import Mapping


def settings(report: Report) -> list[tuple[str, str, str | None]]:
    """Return keys and values, and the job that each belongs to: ``None`` if all jobs share it."""
    by_job: dict[str, dict[str, str]] = {}
    names = [report.text(job.get("jobname")) for job in report.jobs]
    times = Counter(names)
    for job, name in zip(report.jobs, names, strict=True):
        if name not in by_job and not report.is_sum(job):
            by_job[name] = _of_job(report, job, name, times[name])
    shared = set.intersection(*(set(known.items()) for known in by_job.values())) if by_job else set()
    return [
        (key, value, None if (key, value) in shared else name)
        for index, (name, known) in enumerate(by_job.items())
        for key, value in known.items()
        if index == 0 or (key, value) not in shared
    ]


def _of_job(report: Report, job: Object, name: str, times: int) -> dict[str, str]:
    options = report.options(job)
    known = dict(job_option(option, value) for option, value in ({"name": name} | options).items())
    sizes = block_sizes(options)
    if sizes and "block_size" in known:
        each = [str(sizes[operation]) for operation in ("read", "write", "trim")]
        known["block_size"] = each[0] if len(set(each)) == 1 else ",".join(each)
    processes = threads(report, options, times)
    if processes is not None and options:
        known["threads"] = str(processes * times)
    if "desc" in job:
        known["description"] = report.text(job["desc"])
    steady = object_(job.get("steadystate"))
    if steady:
        known["fio.steadystate_attained"] = "true" if report.count(steady.get("attained")) else "false"
        known["fio.steadystate_criterion"] = report.text(steady.get("criterion"))
    return known | _latency_target(report, job)


def _latency_target(report: Report, job: Object) -> dict[str, str]:
    """Return the settings of fio's search for a depth that meets a target latency."""
    known = {}
    for key, per_second in (("target", 10**6 if report.is_old else 10**9), ("window", 10**6)):
        value = report.count(job.get(f"latency_{key}"))
        if value is not None:
            known[f"fio.latency_{key}"] = str(value / per_second) if value else "0"
    depth, percentile = job.get("latency_depth"), job.get("latency_percentile")
    if is_number(percentile) and is_amount(report.text(percentile)):
        known["fio.latency_percentile"] = str(float(report.text(percentile)) / 100)
    if is_number(depth):
        known["fio.latency_depth"] = report.text(depth)
    return known


def threads(report: Report, options: Mapping[str, str], times: int) -> int | None:
    """Return the number of processes behind a job's figures; `times` is how often its name occurs."""
    numjobs = _numjobs(options)
    is_cut = not report.document.is_whole or report.version is None
    if times == 1 and is_cut and numjobs != 1 and "group_reporting" not in options:
        return None  # its other processes may have been cut off
    return 1 if times > 1 else numjobs


def _numjobs(options: Mapping[str, str]) -> int | None:
    """Return the number of processes that was requested for a job."""
    numjobs = options.get("numjobs", "1") if options else ""
    return int(numjobs) if re.fullmatch(r"[0-9]{1,9}", numjobs) else None


def block_sizes(options: Mapping[str, str]) -> dict[str, int]:
    """Return the block size of each operation, if the options specify exactly one.

    >>> block_sizes({"bs": "4k,8k"})
    {'read': 4096, 'write': 8192, 'trim': 8192}
    """
    if options.keys() & {"bssplit", "bsrange", "blocksize_range"}:
        return {}
    words = options.get("bs", options.get("blocksize", "")).split(",")
    try:
        given = [size(word) for word in words]
    except ValueError:
        return {}
    filled = (given + [given[-1]] * 2)[:3]
    known = dict(zip(("read", "write", "trim"), filled, strict=True))
    return known | {"mixed": given[0]} if len(set(filled)) == 1 else known
