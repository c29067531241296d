"""Reads the figures of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.fio import (
    DEPTH_LABELS,
    DEPTHS,
    LATENCY_LABELS,
    depth_bounds,
    latency_bounds,
)
from fsbench_kit.formats.fio_columns import Print, printed
from fsbench_kit.formats.fio_json.contents import DIRECTIONS, is_amount, object_, objects
from fsbench_kit.formats.fio_json.latencies import read_latency
from fsbench_kit.formats.fio_json.settings import block_sizes
from fsbench_kit.formats.loose_json import Object, is_number
from fsbench_kit.model.units import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fsbench_kit.formats.builder import Bounds, Place
    from fsbench_kit.formats.fio_json.figures import Figures

_OF_JOB: Final = (
    printed("usr_cpu", "cpu_user", unit="%"),
    printed("sys_cpu", "cpu_system", unit="%"),
    printed("ctx", "context_switches"),
    printed("majf", "major_faults"),
    printed("minf", "minor_faults"),
    printed("total_err", "errors"),
    printed("zone_resets", "zone_resets"),
)
_OPERATIONS: Final = printed("total_ios", "operations")
_BYTES: Final = (
    printed("io_bytes", "bytes", unit="B"),
    printed("io_kbytes", "bytes", unit="KiB", rounding="down", primary=False),
)
_RATES: Final = {
    (is_old, has_bytes): (
        printed("iops", "iops", unit="1/s", whole="down"),
        printed("bw_bytes", "bandwidth", unit="B/s", rounding="down"),
        printed("bw", "bandwidth", unit="KiB/s", rounding="down", primary=not has_bytes),
        *((printed("io_bytes", "bytes", unit="KiB", rounding="down"),) if is_old else _BYTES),
        printed("runtime", "runtime", unit="ms"),
        _OPERATIONS,
        printed("short_ios", "short_operations"),
        printed("drop_ios", "dropped_operations"),
    )
    for is_old in (True, False)
    for has_bytes in (True, False)
}
"""The rates of a direction, by whether bytes are in KiB only, and whether bandwidth is also printed in B/s."""


def _over_intervals(metric: str, unit: str, keys: Sequence[str]) -> tuple[Print, ...]:
    statistics = zip(keys, ("min", "max", "mean", "stdev"), strict=True)
    return tuple(printed(key, metric, statistic, unit=unit, whole="down") for key, statistic in statistics)


_INTERVALS: Final = {
    "bw": _over_intervals("bandwidth", "KiB/s", ("bw_min", "bw_max", "bw_mean", "bw_dev")),
    "iops": _over_intervals("iops", "1/s", ("iops_min", "iops_max", "iops_mean", "iops_stddev")),
}
_KEYS: Final = {
    name: (*(each.key for each in prints), f"{name}_agg", f"{name}_samples") for name, prints in _INTERVALS.items()
}
_SECOND_MEANS: Final = {
    "bw": printed("bw_agg", "bandwidth", "mean", unit="KiB/s", whole="down", primary=False),
    "iops": printed("iops_agg", "iops", "mean", unit="1/s", whole="down", primary=False),
}
_SHARE: Final = printed("bw_agg", "group_share", unit="%")
_STEADY: Final = {
    "bw": printed("bw_mean", "bandwidth", "steady_mean", unit="B/s", rounding="down"),
    "iops": printed("iops_mean", "iops", "steady_mean", unit="1/s", rounding="down"),
    "lat": printed("lat_mean", "latency", "steady_mean", unit="ns", rounding="down"),
}
_DEPTHS: Final = {
    key: (metric, {label: depth_bounds(metric, label) for label in DEPTH_LABELS})
    for key, metric in (
        ("iodepth_level", DEPTHS["IO depths"]),
        ("iodepth_submit", DEPTHS["submit"]),
        ("iodepth_complete", DEPTHS["complete"]),
    )
}
_LATENCIES: Final[Mapping[tuple[str, bool], Mapping[str, Bounds]]] = {
    (key, is_old): {
        label: latency_bounds(label, per_second, first=first if is_old else least) for label in LATENCY_LABELS
    }
    for key, per_second, first, least in (
        ("latency_ns", 10**9, 0, 0),
        ("latency_us", 10**6, 0, 1),
        ("latency_ms", 10**3, 1, 1),
    )
    for is_old in (True, False)
}


def read_job(figures: Figures, job: Object, place: Place, options: Mapping[str, str]) -> None:
    """Read the figures of a job; `place` is that of all its operations."""
    sizes = block_sizes(options)
    for operation in DIRECTIONS:
        if operation in job:
            of_direction = place._replace(operation=operation, block_size=sizes.get(operation))
            _read_direction(figures, object_(job[operation]), of_direction)
    sync = object_(job.get("sync"))
    if gate := figures.report.gate(sync, sync):
        figures.add(place._replace(operation="sync"), sync, (_OPERATIONS,), gate=gate)
        read_latency(figures, object_(sync.get("lat_ns")), place._replace(operation="sync"), "sync")
    figures.add(place, job, _OF_JOB)
    _read_steady_state(figures, object_(job.get("steadystate")), place)
    for key, (metric, bounds) in _DEPTHS.items():
        figures.add_shares(place, metric, object_(job.get(key)), bounds)
    for key in ("latency_ns", "latency_us", "latency_ms"):
        buckets = _LATENCIES[key, figures.report.is_old]
        figures.add_shares(place, "completion_latency", object_(job.get(key)), buckets, with_zeros=False)


def _read_direction(figures: Figures, block: Object, place: Place) -> None:
    report = figures.report
    has_kib_only = report.is_old and "io_kbytes" not in block
    figures.add(place, block, _RATES[has_kib_only, "bw_bytes" in block], gate=report.requests(block))
    runtime = block.get("runtime")
    if is_number(runtime) and is_amount(report.document.number(runtime)):
        report.mark(runtime)  # also if nothing was done during that time
    for kind in ("slat", "clat", "lat"):
        read_latency(figures, object_(block.get(f"{kind}_ns", block.get(kind))), place, kind)
    for name, prints in _INTERVALS.items():
        _read_intervals(figures, block, place, name, prints)
    for priority in objects(block.get("prios")):
        _read_priority(figures, priority, place)


def _read_priority(figures: Figures, block: Object, place: Place) -> None:
    """Read the latencies of the requests of one priority."""
    report = figures.report
    numbers = [block[key] for key in ("prioclass", "prio", "priohint") if is_number(block.get(key))]
    for number in numbers:
        report.mark(number)
    place = place._replace(part=f"{place.part}/prio {'/'.join(map(report.text, numbers))}")
    for kind in ("clat", "lat"):
        read_latency(figures, object_(block.get(f"{kind}_ns")), place, kind)


def _read_intervals(figures: Figures, block: Object, place: Place, name: str, prints: Sequence[Print]) -> None:
    """Read the statistics over intervals, if there are any."""
    report, samples_key = figures.report, f"{name}_samples"
    gate = report.gate(block, _KEYS[name])
    if not (report.document.is_whole or report.is_old or samples_key in block):
        return  # cut off before the number of intervals
    samples, requests = (
        number if is_number(number := block.get(key)) else None for key in (samples_key, "total_ios")
    )
    figures.add(place, block, prints, samples, gate=gate)
    if samples is not None:
        figures.sampled.append((samples, requests))
    number, mean = (block.get(key) for key in (f"{name}_agg", f"{name}_mean"))
    if not is_number(number):
        return
    if report.is_old and report.text(block.get("bw_agg")) == report.text(block.get("bw_mean")):
        figures.add(place, block, (_SECOND_MEANS[name],), samples, gate=gate)
    else:
        figures.add_share(place, _SHARE, number, mean if is_number(mean) else None, gate=gate)


def _read_steady_state(figures: Figures, block: Object, place: Place) -> None:
    """Read the means over the last intervals of one second, and these intervals as series."""
    report = figures.report
    data = object_(block.get("data"))
    for key, mean in _STEADY.items():
        figures.add(place, data, (mean,))
        points = data.get("lat_ns" if key == "lat" else key)
        numbers = filter(is_number, points) if isinstance(points, list) else ()
        known = [
            (second, number, value)
            for second, number in enumerate(numbers, 1)
            if (value := _value(report.text(number), mean.unit)) is not None
        ]
        if not known:
            continue
        for _, number, _ in known:
            report.mark(number)
        figures.run.add_series(
            place,
            mean.what.metric,
            "steady",
            times=[float(second) for second, _, _ in known],
            values=[value for _, _, value in known],
            lines=[figures.text.line(report.document.starts[number]) for _, number, _ in known],
        )
    for number in block.values():
        report.mark(number)  # state of the search, whose results are kept


def _value(text: str, unit: str) -> float | None:
    """Return a number in its base unit, or ``None`` for NaN, Infinity, 1e999."""
    try:
        return quantity(text, unit).value
    except ValueError:
        return None
