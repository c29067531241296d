"""Holds the figures of a run against each other, within what their prints allow.

The checks know no tool: they work on measurements of one part and operation, and say where two figures that
determine each other cannot both be right.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from math import inf, isclose
from typing import TYPE_CHECKING, Final

from fsbench_kit.model.records import Diagnostic, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Interval = tuple[float, float]
Part = tuple[str, str | None, str]
"""Scope, part and operation."""
Figures = dict[tuple[str, str], Measurement]
"""The primary measurements of one part and operation, by metric and statistic."""

# fio cuts a quantity to a 1000th or 1024th of its unit before it rounds that to one or two decimals.
_SLACK: Final = 0.1
# fio 2.x computes some rates in single precision.
_SINGLE: Final = 2**-23
_FLOATING: Final = 1e-14
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
    percentiles, and latencies against the parts of which they are sums.

    Parameters
    ----------
    measurements
        Those of one run.
    depths
        How many requests a process may have in flight, by part, where that is known.
    """
    parts, repeats = _grouped(measurements)
    yield from _contradicting(repeats, parts)
    for (_, part, _), figures in parts.items():
        yield from _rates(figures, (depths or {}).get(part))
        yield from _order(figures)
        yield from _sums_of_latencies(figures)


def second_printings(measurements: Iterable[Measurement]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each second printing that is not what the first one is."""
    parts, repeats = _grouped(measurements)
    yield from _contradicting(repeats, parts)


def _contradicting(repeats: Iterable[Measurement], parts: Mapping[Part, Figures]) -> Iterator[Diagnostic]:
    for repeat in repeats:
        first = parts[part_of(repeat)].get((repeat.metric, repeat.statistic))
        if first is not None and not can_be_alike(first, repeat):
            message = f"{name_of(first)} is printed as {first.text}, and again as {repeat.text}."
            yield contradiction("SECOND_PRINTING_DIFFERS", message, first, repeat)


def can_be_alike(one: Measurement, other: Measurement) -> bool:
    """Whether two printings can be of one figure: of the same precision, they have to be the same digits."""
    span, again = _interval(one), _interval(other)
    if span is not None and again is not None:
        width = span[1] - span[0]
        if width and isclose(width, again[1] - again[0], rel_tol=_SINGLE):
            return abs(span[0] - again[0]) <= max(width / 2, _SINGLE * span[1])
    return overlap(reach(one), reach(other))


def part_of(item: Measurement) -> Part:
    """Return what a figure is of."""
    return item.scope, item.part, item.operation


def figures_by_part(measurements: Iterable[Measurement]) -> dict[Part, Figures]:
    """Return the primary figures of each part, in their order."""
    return _grouped(measurements)[0]


def _grouped(measurements: Iterable[Measurement]) -> tuple[dict[Part, Figures], list[Measurement]]:
    """Return the primary figures of each part, and all other figures."""
    parts: dict[Part, Figures] = {}
    repeats: list[Measurement] = []
    last, figures = None, {}
    for item in measurements:
        part = item.scope, item.part, item.operation
        if part != last:  # those of one part follow each other
            last, figures = part, parts.setdefault(part, {})
        if not item.primary or figures.setdefault((item.metric, item.statistic), item) is not item:
            repeats.append(item)
    return parts, repeats


def _rates(figures: Figures, depth: int | None) -> Iterator[Diagnostic]:
    runtime = figures.get(("runtime", "value")) or figures.get(("runtime", "max"))
    bandwidth = figures.get(("bandwidth", "value"))
    iops = figures.get(("iops", "value"))
    for rate, name in ((bandwidth, "bytes"), (iops, "operations")):
        work = figures.get((name, "value"))
        if rate is None or work is None or runtime is None:
            continue
        done, time = reach(work), reach(runtime)
        if done and time and time[0] > 0 and not overlap((done[0] / time[1], done[1] / time[0]), reach(rate)):
            message = (
                f"{work.text} ({name}) over {runtime.text} (runtime) is not the {name_of(rate)}, {rate.text}."
            )
            yield contradiction("FIGURES_DISAGREE", message, rate, work)
    if bandwidth is not None and iops is not None and iops.block_size is not None:
        requests = reach(iops)
        size = iops.block_size
        moved = requests and (
            requests[0] * size * (1 - _IN_FLIGHT),
            max(requests[1] * (1 + _IN_FLIGHT), requests[1] + _in_flight(iops, depth, runtime)) * size,
        )
        if not overlap(moved, reach(bandwidth)):
            message = (
                f"{iops.text} requests per second of {size} bytes are not the {name_of(bandwidth)}, "
                f"{bandwidth.text}."
            )
            yield contradiction("FIGURES_DISAGREE", message, iops, bandwidth)


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
            words = " and ".join(f"{name_of(part)}, {part.text}," for part in parts)
            yield contradiction(
                "FIGURES_DISAGREE",
                f"{name_of(whole)}, {whole.text}, is not that of {words} together.",
                whole,
                parts[-1],
            )


def _order(figures: Figures) -> Iterator[Diagnostic]:
    by_metric: dict[str, dict[str, Measurement]] = {}
    for (metric, statistic), item in figures.items():
        by_metric.setdefault(metric, {})[statistic] = item
    for of_metric in by_metric.values():
        extent = [of_metric[statistic] for statistic in ("min", "mean", "max") if statistic in of_metric]
        ranks = {rank: item for statistic, item in of_metric.items() if (rank := _rank(statistic)) is not None}
        for chain in (extent, [ranks[rank] for rank in sorted(ranks)]):
            for smaller, larger in pairwise(chain):
                if smaller.low is None or smaller.high is None or larger.low is None or larger.high is None:
                    continue
                if smaller.low > larger.high:
                    message = f"{name_of(smaller)} {smaller.text} is above {name_of(larger)} {larger.text}."
                    yield contradiction("FIGURES_DISAGREE", message, smaller, larger)


@lru_cache(maxsize=2**10)
def _rank(statistic: str) -> float | None:
    """Return the rank of a percentile, or ``None`` for any other statistic."""
    match = _PERCENTILE.fullmatch(statistic)
    return float(match[1]) if match is not None else None


def name_of(item: Measurement) -> str:
    """Return what a figure is called in a message."""
    statistic = "" if item.statistic == "value" else f"{item.statistic} "
    return f"{statistic}{item.metric} of {item.operation}"


def _interval(item: Measurement) -> Interval | None:
    if item.low is None or item.high is None:
        return None
    return item.low, item.high


def reach(item: Measurement) -> Interval | None:
    """Return the values that a figure may have been computed from.

    What was rounded may have been shortened before; what was cut is less than its upper end.
    """
    if item.low is None or item.high is None:
        return None
    floating = _FLOATING * abs(item.high)
    if item.value == item.low < item.high:
        return item.low - floating, item.high - 10 * floating  # which it does not reach, whatever floats do
    slack = _SLACK * (item.high - item.low) / 2 + _SINGLE * abs(item.high) if item.low < item.high else floating
    return item.low - slack, item.high + slack


def overlap(one: Interval | None, other: Interval | None) -> bool:
    """Whether two figures can be the same; one of which nothing is known can be anything."""
    return one is None or other is None or (one[0] <= other[1] and other[0] <= one[1])


def contradiction(code: str, message: str, one: Measurement, other: Measurement) -> Diagnostic:
    """Say that two figures cannot both be right."""
    return Diagnostic(code=code, message=message, line=one.line, excerpt=f"{one.text} … {other.text}")
