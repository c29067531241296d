"""Reads the figures of a job."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.fio import DEPTHS, depth_bounds, latency_bounds, uncut_share
from fsbench_kit.formats.fio_json.contents import DIRECTIONS, object_, objects
from fsbench_kit.formats.fio_json.latencies import read_latency
from fsbench_kit.formats.fio_json.settings import block_sizes
from fsbench_kit.formats.loose_json import is_number
from fsbench_kit.model.units import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fsbench_kit.formats.builder import Bounds, Place
    from fsbench_kit.formats.fio_json.figures import Figures
    from fsbench_kit.formats.loose_json import Object

_RATE_UNITS: Final = {"bandwidth": "KiB/s", "iops": "1/s"}
_DEPTH_KEYS: Final = {
    "iodepth_level": DEPTHS["IO depths"],
    "iodepth_submit": DEPTHS["submit"],
    "iodepth_complete": DEPTHS["complete"],
}


def read_job(figures: Figures, job: Object, place: Place, options: Mapping[str, str]) -> None:
    """Read what a document has of a job; `place` is that of all its operations."""
    sizes = block_sizes(options)
    for operation in DIRECTIONS:
        of_direction = place._replace(operation=operation, block_size=sizes.get(operation))
        _read_direction(figures, object_(job.get(operation)), of_direction)
    sync = object_(job.get("sync"))
    if figures.report.is_work(sync):
        figures.add(place._replace(operation="sync"), sync, "total_ios", "operations")
        read_latency(figures, object_(sync.get("lat_ns")), place._replace(operation="sync"), "sync")
    figures.add(place, job, "usr_cpu", "cpu_user", unit="%")
    figures.add(place, job, "sys_cpu", "cpu_system", unit="%")
    figures.add(place, job, "ctx", "context_switches")
    figures.add(place, job, "majf", "major_faults")
    figures.add(place, job, "minf", "minor_faults")
    figures.add(place, job, "total_err", "errors")
    figures.add(place, job, "zone_resets", "zone_resets")
    _read_steady_state(figures, object_(job.get("steadystate")), place)
    for key, metric in _DEPTH_KEYS.items():
        _read_shares(figures, place, metric, object_(job.get(key)), partial(depth_bounds, metric))
    for key, per_second in (("latency_ns", 10**9), ("latency_us", 10**6), ("latency_ms", 10**3)):
        first = 0 if key == "latency_ns" or (key == "latency_us" and figures.report.is_old) else 1
        shares = object_(job.get(key)).items()
        buckets = {label: share for label, share in shares if figures.report.text(share).strip("-0.")}
        bounds = partial(latency_bounds, per_second=per_second, first=first)
        _read_shares(figures, place, "completion_latency", buckets, bounds)


def _read_direction(figures: Figures, block: Object, place: Place) -> None:
    report = figures.report
    if report.has_requests(block):
        _read_rates(figures, block, place)
    else:
        report.mark(block.get("runtime"))  # for how long nothing was done
    for kind in ("slat", "clat", "lat"):
        read_latency(figures, object_(block.get(f"{kind}_ns", block.get(kind))), place, kind)
    _read_intervals(figures, block, place, "bandwidth", ("bw_min", "bw_max", "bw_mean", "bw_dev"))
    _read_intervals(figures, block, place, "iops", ("iops_min", "iops_max", "iops_mean", "iops_stddev"))
    for priority in objects(block.get("prios")):
        _read_priority(figures, priority, place)


def _read_rates(figures: Figures, block: Object, place: Place) -> None:
    figures.add(place, block, "iops", "iops", unit="1/s", whole="down")
    figures.add(place, block, "bw_bytes", "bandwidth", unit="B/s", rounding="down")
    figures.add(place, block, "bw", "bandwidth", unit="KiB/s", rounding="down", primary="bw_bytes" not in block)
    if figures.report.is_old and "io_kbytes" not in block:
        figures.add(place, block, "io_bytes", "bytes", unit="KiB", rounding="down")
    else:
        figures.add(place, block, "io_bytes", "bytes", unit="B")
        figures.add(place, block, "io_kbytes", "bytes", unit="KiB", rounding="down", primary=False)
    figures.add(place, block, "runtime", "runtime", unit="ms")
    figures.add(place, block, "total_ios", "operations")
    figures.add(place, block, "short_ios", "short_operations")
    figures.add(place, block, "drop_ios", "dropped_operations")


def _read_priority(figures: Figures, block: Object, place: Place) -> None:
    """Read the latencies of the requests of one priority."""
    report = figures.report
    numbers = [block[key] for key in ("prioclass", "prio", "priohint") if is_number(block.get(key))]
    for number in numbers:
        report.mark(number)
    place = place._replace(part=f"{place.part}/prio {'/'.join(map(report.text, numbers))}")
    for kind in ("clat", "lat"):
        read_latency(figures, object_(block.get(f"{kind}_ns")), place, kind)


def _read_intervals(
    figures: Figures, block: Object, place: Place, metric: str, keys: tuple[str, str, str, str]
) -> None:
    """Read the statistics over intervals, if there were any."""
    report, unit = figures.report, _RATE_UNITS[metric]
    prefix = keys[0].removesuffix("min")
    if not report.is_work({key: block.get(key) for key in (*keys, f"{prefix}samples")}):
        return
    if not (report.document.is_whole or report.is_old or f"{prefix}samples" in block):
        return  # cut off before it tells whether these are over intervals
    samples = report.count(block.get(f"{prefix}samples"))
    for key, statistic in zip(keys, ("min", "max", "mean", "stdev"), strict=True):
        figures.add(place, block, key, metric, statistic, unit=unit, whole="down", samples=samples)
    if report.is_old and report.text(block.get("bw_agg")) == report.text(block.get("bw_mean")):
        figures.add(place, block, f"{prefix}agg", metric, "mean", unit=unit, samples=samples, primary=False)
    else:
        share = figures.amount(block, f"{prefix}agg", "%")
        bounds = uncut_share(share, figures.amount(block, f"{prefix}mean", unit, whole="down"))
        figures.add(place, block, f"{prefix}agg", "group_share", unit="%", bounds=bounds)


def _read_steady_state(figures: Figures, block: Object, place: Place) -> None:
    """Read the means over the last intervals, one second each, and those intervals as series."""
    report = figures.report
    data = object_(block.get("data"))
    for key, metric, unit in (("bw", "bandwidth", "B/s"), ("iops", "iops", "1/s"), ("lat", "latency", "ns")):
        figures.add(place, data, f"{key}_mean", metric, "steady_mean", unit=unit, rounding="down")
        points = data.get("lat_ns" if key == "lat" else key)
        numbers = filter(is_number, points) if isinstance(points, list) else ()
        known = [
            (second, number, value)
            for second, number in enumerate(numbers, 1)
            if (value := _value(report.text(number), unit)) is not None
        ]
        if not known:
            continue
        for _, number, _ in known:
            report.mark(number)
        figures.run.add_series(
            place,
            metric,
            "steady",
            times=[float(second) for second, _, _ in known],
            values=[value for _, _, value in known],
            lines=[figures.text.line(report.document.positions[number]) for _, number, _ in known],
        )
    for number in block.values():
        report.mark(number)  # how the search went; what it found is kept


def _value(text: str, unit: str) -> float | None:
    """Return a number in its base unit, or ``None`` where it is none: NaN, Infinity, 1e999."""
    try:
        return quantity(text, unit).value
    except ValueError:
        return None


def _read_shares(
    figures: Figures, place: Place, metric: str, block: Object, bounds: Callable[[str], Bounds]
) -> None:
    known = []
    for label, number in block.items():
        if not is_number(number):
            continue
        try:
            known.append((*bounds(label), quantity(figures.report.text(number), "%").value, number))
        except ValueError:
            continue  # it is named with the numbers that were not read
        figures.report.mark(number)
    if known:
        lows, highs, shares, numbers = zip(*known, strict=True)
        positions = [figures.report.document.positions[number] for number in numbers]
        figures.run.add_bins(place, metric, lows, highs, shares=shares, positions=positions)
