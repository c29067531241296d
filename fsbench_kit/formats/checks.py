"""Checks the figures of a run against each other, within the precision of their prints.

The checks do not depend on a tool: they work on measurements of one part and operation, of one run or of many (see
`fsbench_kit.formats.findings`), and report pairs of dependent figures that cannot both be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import inf, nan
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fsbench_kit.formats.findings import Finding, either
from fsbench_kit.model.records import Measurement

Interval = tuple[float, float]
Part = tuple[str, str | None, str]
"""Scope, part and operation of figures."""
Figures = dict[tuple[str, str], Measurement]
"""The primary measurements of one part and operation, by metric and statistic."""

# fio truncates a quantity to 1/1000 or 1/1024 of its unit before rounding it to one or two decimals.
_SLACK: Final = 0.1
# fio 2.x computes some rates in single precision.
_SINGLE: Final = 2**-23
_FLOATING: Final = 1e-14
# At the end of a ramp time fio counts the bytes of requests in flight, but not the requests.
_IN_FLIGHT: Final = 0.01

# fio reads the clock again between the end of a submission and the end of a request.
_LATENCY_SLACK: Final = 0.02
_CLOCK: Final = 2e-6

_PERCENTILE: Final = re.compile(r"p(\d+(?:\.\d+)?)")


def cross_checks(
    measurements: Iterable[Measurement], depths: Mapping[str | None, int] | None = None
) -> Iterator[Finding]:
    """Yield a finding for each pair of figures of a run that may not both be right.

    The following are checked: figures against their other prints; bandwidth against bytes over runtime and against
    IOPS times block size; IOPS against operations over runtime; the order of minimum, mean and maximum, and of
    percentiles; and latencies against the sums of their parts. `depths` has the maximum number of requests in
    flight per process of a part, where known.
    """
    parts, repeats = _grouped(measurements)
    yield from _contradicting(repeats, parts)
    for (_, part, _), figures in parts.items():
        yield from _rates(figures, (depths or {}).get(part))
        yield from _order(figures)
        yield from _sums_of_latencies(figures)


def second_printings(measurements: Iterable[Measurement]) -> Iterator[Finding]:
    """Yield a finding for each second print that may differ from the first."""
    parts, repeats = _grouped(measurements)
    yield from _contradicting(repeats, parts)


def _contradicting(repeats: Iterable[Measurement], parts: Mapping[Part, Figures]) -> Iterator[Finding]:
    pairs = [
        (first, repeat)
        for repeat in repeats
        if (first := parts[part_of(repeat)].get((repeat.metric, repeat.statistic))) is not None
        and not any(end is None for end in (first.low, first.high, repeat.low, repeat.high))
    ]
    fails = _each_differs(pairs) if pairs else np.array([])
    for index in _rows_with_any(fails):
        first, repeat = pairs[index]
        message = f"{name_of(first)} is printed as {{}}, and again as {{}}."
        words = first.text, repeat.text
        yield Finding(fails[index], "SECOND_PRINTING_DIFFERS", message, words, first, repeat)


def _rows_with_any(fails: NDArray[np.bool_]) -> list[int]:
    """Return the rows, which are flags or columns of flags, in which any is set; hardly ever there are any."""
    rows: list[int] = np.flatnonzero(fails.any(axis=-1) if fails.ndim > 1 else fails).tolist()
    return rows


@dataclass(slots=True, kw_only=True)
class MeasurementWithReach(Measurement):
    """A figure whose `reach` is known: for many figures of many runs, it is computed for all of them at once."""

    reach: Interval


class _Ends(NamedTuple):
    """The values and ends of several figures, one row each."""

    value: Any
    low: Any
    high: Any

    @classmethod
    def of(cls, figures: Iterable[Measurement]) -> _Ends:
        ends: Iterable[Any] = ((item.value, item.low, item.high) for item in figures)
        known = [(nan * low if value is None else value, low, high) for value, low, high in ends]
        return cls(*map(np.stack, zip(*known, strict=True)))


def _each_differs(pairs: Iterable[tuple[Measurement, Measurement]]) -> Any:
    """Return `differ` for each pair; there can be many, so that they are compared together."""
    return differ(*map(_Ends.of, zip(*pairs, strict=True)))


def differ(one: Measurement | _Ends, other: Measurement | _Ends) -> Any:
    """Whether two prints cannot show the same figure. Prints of equal precision must have equal digits."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    width, again, step = one.high - one.low, other.high - other.low, abs(one.low - other.low)
    gap = abs(width - again)
    is_as_precise = (width > 0) & ((gap <= _SINGLE * width) | (gap <= _SINGLE * again))
    return either(is_as_precise, (step > width / 2) & (step > _SINGLE * one.high), apart(reach(one), reach(other)))


def part_of(item: Measurement) -> Part:
    """Return the scope, part and operation of a figure."""
    return item.scope, item.part, item.operation


def figures_by_part(measurements: Iterable[Measurement]) -> dict[Part, Figures]:
    """Return the primary figures of each part, in order."""
    return _grouped(measurements)[0]


def _grouped(measurements: Iterable[Measurement]) -> tuple[dict[Part, Figures], list[Measurement]]:
    """Return the primary figures of each part, and all other figures."""
    parts: dict[Part, Figures] = {}
    repeats: list[Measurement] = []
    last, figures = None, {}
    for item in measurements:
        part = item.scope, item.part, item.operation
        if part != last:  # those of one part are adjacent
            last, figures = part, parts.setdefault(part, {})
        if not item.primary or figures.setdefault((item.metric, item.statistic), item) is not item:
            repeats.append(item)
    return parts, repeats


def _rates(figures: Figures, depth: int | None) -> Iterator[Finding]:
    runtime = figures.get(("runtime", "value")) or figures.get(("runtime", "max"))
    bandwidth = figures.get(("bandwidth", "value"))
    iops = figures.get(("iops", "value"))
    time = None if runtime is None else reach(runtime)
    for rate, name in ((bandwidth, "bytes"), (iops, "operations")):
        work = figures.get((name, "value"))
        if rate is None or work is None or runtime is None or time is None:
            continue
        done, printed = reach(work), reach(rate)
        if done and printed:
            disagree = (time[0] > 0) & apart(done, (printed[0] * time[0], printed[1] * time[1]))
            message = f"{{}} ({name}) over {{}} (runtime) is not the {name_of(rate)}, {{}}."
            words = work.text, runtime.text, rate.text
            yield Finding(disagree, "FIGURES_DISAGREE", message, words, rate, work)
    if bandwidth is not None and iops is not None and iops.block_size is not None:
        yield from _requests(bandwidth, iops, _in_flight(iops, depth, runtime))


def _requests(bandwidth: Measurement, iops: Measurement, in_flight: float) -> Iterator[Finding]:
    """Check requests per second times their size against the bandwidth."""
    requests, moved, size = reach(iops), reach(bandwidth), iops.block_size
    if requests and moved and size is not None:
        too_large = moved[0] > requests[1] * (1 + _IN_FLIGHT) * size
        too_large &= moved[0] > (requests[1] + in_flight) * size
        too_small = requests[0] * size * (1 - _IN_FLIGHT) > moved[1]
        message = f"{{}} requests per second of {{}} bytes are not the {name_of(bandwidth)}, {{}}."
        words = iops.text, size, bandwidth.text
        yield Finding(too_large | too_small, "FIGURES_DISAGREE", message, words, iops, bandwidth)


def _in_flight(iops: Measurement, depth: int | None, runtime: Measurement | None) -> float:
    """Return the rate that requests in flight at the end of a ramp time can at most account for."""
    if depth is None or iops.threads is None or runtime is None or runtime.value is None:
        return 0
    is_known = runtime.value > 0
    value: float = either(is_known, depth * iops.threads / either(is_known, runtime.value, 1), 0)
    return value


def _sums_of_latencies(figures: Figures) -> Iterator[Finding]:
    """Check latencies against those of submission and completion, of which they are the sums."""
    for statistic in ("min", "mean", "max"):
        whole = figures.get(("latency", statistic))
        known = [figures.get((f"{part}_latency", statistic)) for part in ("submission", "completion")]
        parts = [item for item in known if item is not None]
        if whole is None or whole.high is None or not parts or whole.operation == "sync":
            continue
        least = sum(part.low for part in parts if part.low is not None)
        ends = [part.high for part in parts if part.high is not None]
        most = sum(ends) if len(ends) == len(known) else inf
        tolerance = _LATENCY_SLACK * whole.high + _CLOCK
        disagree = False
        if statistic != "max":
            disagree |= whole.high + tolerance < least
        for part in parts:
            if part.low is not None:
                disagree |= whole.high + tolerance < part.low
        if statistic != "min" and whole.low is not None:
            disagree |= whole.low - tolerance > most
        of_parts = " and ".join(f"{name_of(part)}, {{}}," for part in parts)
        message = f"{name_of(whole)}, {{}}, is not that of {of_parts} together."
        words = whole.text, *(part.text for part in parts)
        yield Finding(disagree, "FIGURES_DISAGREE", message, words, whole, parts[-1])


def _order(figures: Figures) -> Iterator[Finding]:
    pairs = [
        (smaller, larger)
        for smaller, larger in ((figures[one], figures[other]) for one, other in _ascending(tuple(figures)))
        if not any(end is None for end in (smaller.low, smaller.high, larger.low, larger.high))
    ]
    lows, highs = np.array([smaller.low for smaller, _ in pairs]), np.array([larger.high for _, larger in pairs])
    fall = lows > highs
    for index in _rows_with_any(fall):
        smaller, larger = pairs[index]
        message = f"{name_of(smaller)} {{}} is above {name_of(larger)} {{}}."
        words = smaller.text, larger.text
        yield Finding(fall[index], "FIGURES_DISAGREE", message, words, smaller, larger)


_Key = tuple[str, str]
"""Metric and statistic."""


@lru_cache(maxsize=2**10)
def _ascending(keys: tuple[_Key, ...]) -> list[tuple[_Key, _Key]]:
    """Return the pairs of figures of which the second cannot be smaller than the first."""
    by_metric: dict[str, list[str]] = {}
    for metric, statistic in keys:
        by_metric.setdefault(metric, []).append(statistic)
    pairs: list[tuple[_Key, _Key]] = []
    for metric, statistics in by_metric.items():
        ranks = {rank: statistic for statistic in statistics if (rank := _rank(statistic)) is not None}
        extent = [statistic for statistic in ("min", "mean", "max") if statistic in statistics]
        for chain in (extent, [ranks[rank] for rank in sorted(ranks)]):
            pairs += (((metric, smaller), (metric, larger)) for smaller, larger in pairwise(chain))
    return pairs


def _rank(statistic: str) -> float | None:
    """Return the rank of a percentile, or ``None`` for any other statistic."""
    match = _PERCENTILE.fullmatch(statistic)
    return float(match[1]) if match is not None else None


def name_of(item: Measurement) -> str:
    """Return the name of a figure for messages."""
    statistic = "" if item.statistic == "value" else f"{item.statistic} "
    return f"{statistic}{item.metric} of {item.operation}"


def reach(item: Measurement | _Ends) -> Interval | None:
    """Return the values that a figure may have been computed from."""
    if isinstance(item, MeasurementWithReach):
        return item.reach
    if item.low is None or item.high is None:
        return None
    return reach_of(item.value, item.low, item.high)


def reach_of(value: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the `reach` of a figure, given its value and ends.

    A rounded figure may have been truncated before; a truncated figure is below its upper end.
    """
    size, width = abs(high), high - low
    floating = _FLOATING * size
    # With 16 digits, the ends of the interval are no more exact than floats.
    is_wide = width > 10 * floating
    slack = either(is_wide, _SLACK * width / 2 + _SINGLE * size, floating)
    is_cut = (value == low) & is_wide
    # A truncated figure does not reach its upper end, despite floating-point errors.
    return low - either(is_cut, floating, slack), high + either(is_cut, -10 * floating, slack)


def apart(one: Interval | None, other: Interval | None) -> Any:
    """Whether two figures cannot be equal; an unknown figure can be anything."""
    return one is not None and other is not None and ((one[0] > other[1]) | (other[0] > one[1]))
