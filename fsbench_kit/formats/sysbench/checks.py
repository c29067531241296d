"""Checks the figures of a sysbench report against each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import chain
from operator import add, mul
from typing import Any, Final, NamedTuple

from fsbench_kit.formats.findings import Finding, either, whole
from fsbench_kit.model.records import Measurement, Run

_IDENTITIES: Final = (
    ("reads + writes + others", "requests"),
    ("reads + writes", "events"),
    ("bytes_read + bytes_written", "bytes_moved"),
    ("reads * block_size", "bytes_read"),
    ("writes * block_size", "bytes_written"),
    ("bandwidth * total_time", "bytes_moved"),
    ("request_rate * total_time", "reads + writes"),
    ("read_rate * block_size", "read_bandwidth"),
    ("write_rate * block_size", "write_bandwidth"),
    ("read_bandwidth", "read_bandwidth_again"),
    ("write_bandwidth", "write_bandwidth_again"),
    ("latency_mean * events", "event_time"),
    ("latency_mean * events", "latency_sum"),
    ("thread_events * threads", "events"),
    ("thread_time * threads", "event_time"),
    ("thread_time * threads", "latency_sum"),
    ("histogram", "events"),
    ("each_thread_events", "events"),
    ("each_thread_time", "event_time"),
    ("each_thread_time", "latency_sum"),
)
"""Pairs of equal quantities, as sums of products of figures."""

_WHILE_REPORTING: Final = 0.01
"""The relative tolerance at checkpoints, where counters continue while a report is printed."""

_IDLE_SHARE: Final = 0.5
"""A thread is idle if it provably made requests for less than this share of the threads' mean time."""


def checks(run: Run, *, is_interim: bool = False, lacks_bins: bool = False) -> Iterator[Finding]:
    """Check the figures of a run against each other, and report idle threads.

    Parameters
    ----------
    run
        The contents of the log; see `fsbench_kit.formats.findings`.
    is_interim
        Whether its report counts from a checkpoint on.
    lacks_bins
        Whether part of its histogram was not understood.
    """
    figures: dict[str, Measurement] = {}
    threads: dict[str, list[Measurement]] = {}
    for item in run.measurements:
        if item.how is not None and item.how.name is not None:
            if item.scope == "thread":
                threads.setdefault(item.how.name, []).append(item)
            else:
                figures.setdefault(item.how.name, item)
    settings = {item.key: item.value for item in run.settings}
    known, holds = _intervals(figures, settings, threads)
    if run.bins and not lacks_bins:
        counted = sum(each.count or 0 for each in run.bins)
        known["histogram"] = Interval(counted, counted)
    slack = _WHILE_REPORTING if is_interim else 0
    sides = {side: _evaluate(side, known) for side in dict.fromkeys(chain.from_iterable(_IDENTITIES))}
    for left_side, right_side in _IDENTITIES:
        if is_interim and re.search("time|thread|latency|histogram", f"{left_side} {right_side}"):
            continue  # times are of the whole run
        left, right = sides[left_side], sides[right_side]
        if left is not None and right is not None:
            disagree = (left.high < right.low * (1 - slack)) | (right.high < left.low * (1 - slack))
            disagree &= (left.low <= left.high) & (right.low <= right.high)  # unknown figures of a run are NaN
            for name, is_so in holds.items():
                if name in left_side:
                    disagree &= is_so
            message = f"{left_side} is {{}}, but {right_side} is {{}}.".replace("_", " ")
            yield Finding(disagree, "FIGURES_DISAGREE", message, (left, right), figures[right_side.split()[0]])
    if not is_interim and "sysbench.rate" not in settings:  # with a target rate, event times include queueing
        yield from _idle_thread(known, figures)


def _intervals(
    figures: Mapping[str, Measurement],
    settings: Mapping[str, str],
    threads: Mapping[str, Sequence[Measurement]],
) -> tuple[dict[str, Interval], dict[str, Any]]:
    """Return the intervals of figures and settings by name, and flags for names that do not always apply."""
    known = {
        name: Interval(item.low, item.high)
        for name, item in figures.items()
        if item.low is not None and item.high is not None
    }
    holds: dict[str, Any] = {}
    keys = "threads", "block_size", "file_size"
    number, block_size, file_size = (whole(settings[key]) if key in settings else None for key in keys)
    if number is not None:
        known["threads"] = Interval(number, number)
        for metric, name in (("each_thread_events", "one_events"), ("each_thread_time", "one_time")):
            each = threads.get(name, [])
            ends = [(0 if one.low is None else one.low, 0 if one.high is None else one.high) for one in each]
            known[metric] = Interval(sum(low for low, _ in ends), sum(high for _, high in ends))
            holds[metric] = number == len(each)
    # The last request of a file is shorter if its size is not a multiple of the block size; merged ones are
    # longer.
    is_merged = "sysbench.merged-size" in settings
    if block_size is not None and file_size is not None and not is_merged:
        known["block_size"] = Interval(block_size, block_size)
        holds["block_size"] = (block_size > 0) & (file_size % either(block_size > 0, block_size, 1) == 0)
    return known, holds


def _idle_thread(known: Mapping[str, Interval], figures: Mapping[str, Measurement]) -> Iterator[Finding]:
    """Report a thread that cannot have done its share.

    No thread makes requests for longer than the run, so that the mean and the deviation of the threads' times
    bound the smallest of them (Bhatia and Davis, 2000): deviation^2 <= (run - mean) * (mean - smallest).
    """
    if not {"threads", "total_time", "thread_time", "thread_time_stdev"} <= known.keys():
        return
    run, mean, deviation = known["total_time"].high, known["thread_time"], known["thread_time_stdev"].low
    spare = run - mean.low
    is_idle = (spare > 0) & (deviation**2 > (mean.high - _IDLE_SHARE * mean.low) * spare)
    least = mean.high - deviation**2 / either(is_idle, spare, 1)
    message = (
        "One of {:.0f} threads made requests for at most {:.3g} s of {:.4g} s, "
        "where the mean is {:.4g} s; the figures are those of the others."
    )
    words = known["threads"].high, either(least > 0, least, 0), run, mean.low
    yield Finding(is_idle, "IDLE_THREAD", message, words, figures["thread_time"])


class Interval(NamedTuple):
    """The possible true values of a figure, or of a column of figures; none is negative."""

    low: Any
    high: Any

    def __str__(self) -> str:
        return f"{self.low:.9g}" if self.low == self.high else f"{self.low:.6g} to {self.high:.6g}"


def _evaluate(side: str, known: Mapping[str, Interval]) -> Interval | None:
    """Return the value of a sum of products of figures, or ``None`` if one of them is not known."""
    products = _products(side)
    if not all(name in known for product in products for name in product):
        return None
    if products == [[side]]:
        return known[side]
    # Without the 0 and 1 that `sum` and `prod` start from, each of which would be one more operation on columns.
    ends = (
        reduce(add, (reduce(mul, (known[name][end] for name in product)) for product in products))
        for end in (0, 1)
    )
    return Interval(*ends)


@lru_cache
def _products(side: str) -> list[list[str]]:
    return [product.split(" * ") for product in side.split(" + ")]
