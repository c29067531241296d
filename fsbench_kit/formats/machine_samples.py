"""Samples of the machine that a launch takes once a second during a run, in the file ``samples.csv``.

::

    time,cpu.user,...,memory.Dirty,...,pressure.io.some,...,device.vda.read_bytes,...
    0.000031,5120.21,...,90112,...,3714.185679,...,8192000,...

``time`` is in seconds since the start of the run. ``cpu.*`` are the seconds that all processors together have
spent in a state, ``pressure.*`` those for which some or all tasks have waited for a resource (PSI), and
``device.*`` the requests and bytes that a block device has transferred and the seconds that it has been busy. All
of these count from boot; the figures of the series are differences of consecutive samples over the time between
them. ``memory.*`` are current bytes. Values that the kernel did not provide are empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from fsbench_kit.model.records import Block, Diagnostic

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEVELS: Final = {
    "memory.MemAvailable": "memory_available",
    "memory.Cached": "memory_cached",
    "memory.Dirty": "memory_dirty",
    "memory.Writeback": "memory_writeback",
}
_COUNTERS: Final = {
    "reads": ("read", "device_iops"),
    "read_bytes": ("read", "device_bandwidth"),
    "writes": ("write", "device_iops"),
    "written_bytes": ("write", "device_bandwidth"),
    "busy": ("all", "disk_utilisation"),
    "some": ("all", "pressure_some"),
    "full": ("all", "pressure_full"),
}
_COUNTER: Final = re.compile(r"(?:device|pressure)\.(?P<part>.+)\.(?P<counted>\w+)")
_IDLE: Final = ("cpu.idle", "cpu.iowait")
_OF_PROCESSORS: Final = {"cpu_iowait": "cpu.iowait", "cpu_steal": "cpu.steal"}


def series(text: bytes) -> Iterator[Block | Diagnostic]:
    """Yield the series of the samples, and a diagnostic for each line that is not a sample."""
    head, *lines = text.rstrip(b"\n").split(b"\n")
    for row, line in enumerate(lines):
        if line.count(b",") != head.count(b","):
            message = "This line does not have the table's columns, and is left out."
            excerpt = line.decode("utf-8", "replace")
            yield Diagnostic(code="UNREAD_FIGURE", message=message, line=row + 2, excerpt=excerpt)
            lines[row] = b"," * head.count(b",")
    try:
        read = pl.read_csv(b"\n".join([head, *lines]), infer_schema=False)
        samples = read.cast(pl.Float64, strict=False)
        times = samples["time"].to_numpy()
    except pl.exceptions.PolarsError:
        message = "This is not a table of samples, and is left out."
        yield Diagnostic(code="UNREAD_FIGURE", message=message, line=1)
        return
    is_lost = read.select(pl.all().is_not_null()).to_numpy() & samples.select(pl.all().is_null()).to_numpy()
    for row in np.flatnonzero(is_lost.any(axis=1)).tolist():
        excerpt = ",".join(word or "" for word in read.row(row))
        yield Diagnostic(code="UNREAD_FIGURE", message="This is not a sample.", line=row + 2, excerpt=excerpt)
    for operation, metric, part, values in _figures(samples, np.diff(times, prepend=np.nan)):
        rows = np.flatnonzero(np.isfinite(values) & np.isfinite(times))
        if rows.size:
            yield Block(
                operation=operation,
                metric=metric,
                part=part,
                times=times[rows],
                values=values[rows],
                lines=rows + 2,
            )


_Figures = tuple[str, str, str | None, "NDArray[np.float64]"]


def _figures(samples: pl.DataFrame, passed: NDArray[np.float64]) -> Iterator[_Figures]:
    """Yield the operation, metric, part and values of each series; unknown values are NaN."""

    def since(name: str) -> NDArray[np.float64]:
        return np.diff(samples[name].to_numpy(), prepend=np.nan)

    of_cpu = {name: since(name) for name in samples.columns if name.startswith("cpu.")}
    with np.errstate(divide="ignore", invalid="ignore"):
        if of_cpu:
            whole = sum(of_cpu.values())
            idle = sum(of_cpu[name] for name in _IDLE if name in of_cpu)
            # The kernel's count of iowait can decrease.
            yield "all", "cpu_busy", None, np.clip(1 - idle / whole, 0, 1)
        for metric, name in _OF_PROCESSORS.items():
            if name in of_cpu:
                yield "all", metric, None, np.clip(of_cpu[name] / whole, 0, 1)
        for name in samples.columns:
            if name in _LEVELS:
                yield "all", _LEVELS[name], None, samples[name].to_numpy()
            elif (found := _COUNTER.fullmatch(name)) and found["counted"] in _COUNTERS:
                operation, metric = _COUNTERS[found["counted"]]
                yield operation, metric, found["part"], since(name) / passed
