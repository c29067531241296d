"""Documents that fio's JSON would be of further runs of the same jobs: other figures, which fit each other."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from itertools import accumulate
from math import ceil, sqrt
from time import asctime, gmtime
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Object = dict[str, Any]

_FLOAT: Final = re.compile(r"(?<= : )\d+\.\d+(?:e-\d+)?")
_DAYS: Final = 365


def another_document(text: str, chance: np.random.Generator) -> str:
    """Return what fio 3 would print with ``json+`` of another run of the jobs, each with one size of requests.

    The requests are drawn anew from the bins, and the jobs take up to a tenth more or less time for each. What
    fio computes of these is computed of them: amounts, rates, percentiles, shares of groups.
    """
    report = json.loads(text)
    ended = report["timestamp_ms"] + int(chance.integers(_DAYS * 86_400_000))
    report |= {"timestamp": ended // 1000, "timestamp_ms": ended, "time": asctime(gmtime(ended // 1000))}
    groups: dict[tuple[int, str], list[Object]] = defaultdict(list)
    for job in report["jobs"]:
        for operation in ("read", "write", "trim"):
            if job[operation]["total_ios"]:
                groups[job["groupid"], operation].append(_again(job[operation], chance))
        job["ctx"] += int(chance.integers(100))
        job["usr_cpu"], job["sys_cpu"] = (job[name] * chance.uniform(0.9, 1.1) for name in ("usr_cpu", "sys_cpu"))
    for directions in groups.values():
        _share(directions)
    for disk in report["disk_util"]:
        disk |= {name: int(of * chance.uniform(0.9, 1.1)) for name, of in disk.items() if isinstance(of, int)}
    printed = json.dumps(report, indent=2, separators=(",", " : "))
    return _FLOAT.sub(lambda found: f"{float(found[0]):.6f}", printed) + "\n"


def _again(direction: Object, chance: np.random.Generator) -> Object:
    """Make figures of a direction those of another run."""
    completed, whole = direction["clat_ns"], direction["lat_ns"]
    size = direction["io_bytes"] // direction["total_ios"]
    around = whole["mean"] - completed["mean"]
    drawn = {int(name): int(chance.poisson(count)) for name, count in completed["bins"].items()}
    bins = {name: count for name, count in drawn.items() if count}
    number = sum(bins.values())
    mean = sum(name * count for name, count in bins.items()) / number
    spread = sqrt(sum((name - mean) ** 2 * count for name, count in bins.items()) / number)
    reached, names = list(accumulate(bins.values())), list(bins)
    completed |= {"min": names[0], "max": names[-1], "mean": mean, "stddev": spread, "N": number}
    completed["percentile"] = {
        rank: names[np.searchsorted(reached, ceil(float(rank) * number / 100))] for rank in completed["percentile"]
    }
    completed["bins"] = {str(name): count for name, count in bins.items()}
    whole |= {"min": names[0] + 12, "max": names[-1] + 67, "mean": mean + around, "stddev": spread, "N": number}
    slower = chance.uniform(0.9, 1.1) * number / direction["total_ios"]
    runtime = round(direction["runtime"] * slower)
    rate = number * size * 1000 // runtime
    direction |= {"io_bytes": number * size, "io_kbytes": number * size >> 10, "total_ios": number}
    direction |= {"bw_bytes": rate, "bw": rate >> 10, "iops": number * 1000 / runtime, "runtime": runtime}
    for name in ("bw_min", "bw_max", "iops_min", "iops_max"):
        direction[name] = int(direction[name] / slower)
    for name in ("bw_mean", "bw_dev", "iops_mean", "iops_stddev"):
        direction[name] /= slower
    return direction


def _share(directions: Sequence[Object]) -> None:
    """Say what share each job of a group has in its bandwidth."""
    longest = max(each["runtime"] for each in directions)
    rate = (sum(each["io_bytes"] for each in directions) * 1000 // longest) >> 10
    for each in directions:
        each["bw_agg"] = min(100 * int(each["bw_mean"]) / rate, 100.0)
