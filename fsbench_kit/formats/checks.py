"""Holds the figures of a run against each other, within what their prints allow.

The checks know no tool: they work on measurements of one part and operation, and say where two figures that
determine each other cannot both be right.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import inf, isclose
from typing import TYPE_CHECKING, Final

from fsbench_kit.records import Diagnostic, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Interval = tuple[float, float]
Figures = dict[tuple[str, str], Measurement]
"""The primary measurements of one part and operation, by metric and statistic."""

# fio cuts a quantity to a 1000th or 1024th of its unit before it rounds that to one or two decimals.
_SLACK: Final = 0.1
# fio 2.x takes rates from a runtime that it knows better than it prints it.
_PRECISION: Final = 1e-6
# At the end of a ramp time fio counts the bytes of requests in flight, and not the requests.
_IN_FLIGHT: Final = 0.01

# The clock is read again between the ends of a submission and of a request.
_LATENCY_SLACK: Final = 0.02
_CLOCK: Final = 2e-6

_PERCENTILE: Final = re.compile(r"p(\d+(?:\.\d+)?)")


def cross_checks(
    measurements: Iterable[Measurement], depths: Mapping[str | None, int] | None = None
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each pair of figures that cannot both be right.

    Checked are a figure against its second printings, bandwidth against bytes over runtime and against IOPS times
    block size, IOPS against operations over runtime, the order of minimum, mean and maximum, and that of
    percentiles, latencies against the parts of which they are sums, and shares of a group against its bandwidth.

    Parameters
    ----------
    measurements
        Those of one run.
    depths
        How many requests a process may have in flight, by part, where that is known.
    """
    measurements = list(measurements)
    yield from second_printings(measurements)
    yield from _shares(measurements)
    for (_, part, _), figures in _by_part(measurements).items():
        yield from _rates(figures, (depths or {}).get(part))
        yield from _order(figures)
        yield from _sums_of_latencies(figures)


def second_printings(measurements: Iterable[Measurement]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each second printing that is not what the first one is."""
    measurements = list(measurements)
    parts = _by_part(measurements)
    for repeat in measurements:
        first = parts.get(_part(repeat), {}).get((repeat.metric, repeat.statistic))
        if first is not None and first is not repeat and not _can_be_alike(_interval(first), _interval(repeat)):
            message = f"{_name(first)} is printed as {first.text}, and again as {repeat.text}."
            yield _diagnostic("SECOND_PRINTING_DIFFERS", message, first, repeat)


def _can_be_alike(one: Interval | None, other: Interval | None) -> bool:
    """Whether two printings can be of one figure: of the same precision, they have to be the same digits."""
    if one is not None and other is not None:
        width = one[1] - one[0]
        if width and isclose(width, other[1] - other[0], rel_tol=_PRECISION):
            return abs(one[0] - other[0]) <= max(width / 2, _PRECISION * one[1])
    return _overlap(one, other)


def _part(item: Measurement) -> tuple[str, str | None, str]:
    return item.scope, item.part, item.operation


def _by_part(measurements: Iterable[Measurement]) -> dict[tuple[str, str | None, str], Figures]:
    parts: dict[tuple[str, str | None, str], Figures] = {}
    for item in measurements:
        figures = parts.setdefault(_part(item), {})
        if item.primary:
            figures.setdefault((item.metric, item.statistic), item)
    return parts


def _rates(figures: Figures, depth: int | None) -> Iterator[Diagnostic]:
    runtime = figures.get(("runtime", "value")) or figures.get(("runtime", "max"))
    bandwidth = figures.get(("bandwidth", "value"))
    iops = figures.get(("iops", "value"))
    for rate, name in ((bandwidth, "bytes"), (iops, "operations")):
        work = figures.get((name, "value"))
        if rate is None or work is None or runtime is None:
            continue
        done, time = _interval(work), _interval(runtime)
        if done and time and time[0] > 0 and not _overlap((done[0] / time[1], done[1] / time[0]), _interval(rate)):
            message = f"{work.text} ({name}) over {runtime.text} (runtime) is not the {_name(rate)}, {rate.text}."
            yield _diagnostic("FIGURES_DISAGREE", message, rate, work)
    if bandwidth is not None and iops is not None and iops.block_size is not None:
        requests = _interval(iops)
        size = iops.block_size
        moved = requests and (
            requests[0] * size * (1 - _IN_FLIGHT),
            max(requests[1] * (1 + _IN_FLIGHT), requests[1] + _in_flight(iops, depth, runtime)) * size,
        )
        if not _overlap(moved, _interval(bandwidth)):
            message = (
                f"{iops.text} requests per second of {size} bytes are not the {_name(bandwidth)}, "
                f"{bandwidth.text}."
            )
            yield _diagnostic("FIGURES_DISAGREE", message, iops, bandwidth)


def _in_flight(iops: Measurement, depth: int | None, runtime: Measurement | None) -> float:
    """Return by how many requests per second those at most in flight at the end of a ramp time add to a rate."""
    if depth is None or iops.threads is None or runtime is None or not runtime.value:
        return 0
    return depth * iops.threads / runtime.value


def _sums_of_latencies(figures: Figures) -> Iterator[Diagnostic]:
    """Hold latencies against those of submission and completion: each request's is the sum of the two."""
    for statistic in ("min", "mean", "max"):
        whole = figures.get(("latency", statistic))
        known = [figures.get((f"{part}_latency", statistic)) for part in ("submission", "completion")]
        parts = [item for item in known if item is not None]
        if whole is None or whole.high is None or not parts or whole.operation == "sync":
            continue
        least = sum(part.low or 0 for part in parts)
        most = sum(part.high or inf for part in parts) if len(parts) == len(known) else inf
        tolerance = _LATENCY_SLACK * whole.high + _CLOCK
        too_small = statistic != "max" and whole.high + tolerance < least
        too_small |= any(part.low is not None and whole.high + tolerance < part.low for part in parts)
        too_large = statistic != "min" and whole.low is not None and whole.low - tolerance > most
        if too_small or too_large:
            words = " and ".join(f"{_name(part)}, {part.text}," for part in parts)
            yield _diagnostic(
                "FIGURES_DISAGREE",
                f"{_name(whole)}, {whole.text}, is not that of {words} together.",
                whole,
                parts[-1],
            )


def _shares(measurements: Sequence[Measurement]) -> Iterator[Diagnostic]:
    """Hold a job's share of its group against the mean of its bandwidth and that of the group."""
    parts = _by_part(measurements)
    groups: dict[str, list[Measurement]] = {}
    for (scope, _, operation), figures in parts.items():
        if scope == "group" and ("bandwidth", "value") in figures:
            groups.setdefault(operation, []).append(figures["bandwidth", "value"])
    for (scope, _, operation), figures in parts.items():
        share, mean = figures.get(("group_share", "value")), figures.get(("bandwidth", "mean"))
        known = _interval(share) if share is not None else None
        rates = groups.get(operation, []) if scope == "job" else []
        if share is None or mean is None or known is None or not rates:
            continue
        if not any(_overlap(_of_group(known, _interval(rate)), _interval(mean)) for rate in rates):
            message = (
                f"{share.text} % of the group's bandwidth, {rates[0].text}, is not {_name(mean)}, {mean.text}."
            )
            yield _diagnostic("FIGURES_DISAGREE", message, share, mean)


def _of_group(share: Interval, rate: Interval | None) -> Interval | None:
    """Return what a share of a rate can be; fio cuts larger shares to 100 %."""
    return (share[0] * rate[0], share[1] * rate[1] if share[1] < 1 else inf) if rate is not None else None


def _order(figures: Figures) -> Iterator[Diagnostic]:
    for metric in dict.fromkeys(metric for metric, _ in figures):
        extent = [figures.get((metric, statistic)) for statistic in ("min", "mean", "max")]
        for chain in ([item for item in extent if item is not None], _percentiles(figures, metric)):
            for smaller, larger in pairwise(chain):
                low, high = _interval(smaller), _interval(larger)
                if low and high and low[0] > high[1]:
                    message = f"{_name(smaller)} {smaller.text} is above {_name(larger)} {larger.text}."
                    yield _diagnostic("FIGURES_DISAGREE", message, smaller, larger)


def _percentiles(figures: Mapping[tuple[str, str], Measurement], metric: str) -> list[Measurement]:
    found = [
        (float(match[1]), item)
        for (name, statistic), item in figures.items()
        if name == metric and (match := _PERCENTILE.fullmatch(statistic))
    ]
    return [item for _, item in sorted(found, key=lambda pair: pair[0])]


def _name(item: Measurement) -> str:
    statistic = "" if item.statistic == "value" else f"{item.statistic} "
    return f"{statistic}{item.metric} of {item.operation}"


def _interval(item: Measurement) -> Interval | None:
    if item.low is None or item.high is None:
        return None
    return item.low, item.high


def _overlap(one: Interval | None, other: Interval | None) -> bool:
    """Whether two figures can be the same; one of which nothing is known can be anything."""
    if one is None or other is None:
        return True
    widths = (high - low for low, high in (one, other) if high < inf)
    slack = _SLACK * sum(widths) / 2 + _PRECISION * abs(other[1])
    return one[0] <= other[1] + slack and other[0] <= one[1] + slack


def _diagnostic(code: str, message: str, one: Measurement, other: Measurement) -> Diagnostic:
    return Diagnostic(code=code, message=message, line=one.line, excerpt=f"{one.text} … {other.text}")
