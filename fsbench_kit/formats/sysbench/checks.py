"""Holds the figures of a sysbench report against each other."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.formats.sysbench.figures import FigureReader
    from fsbench_kit.model.records import Diagnostic, Measurement

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
"""Figures that determine each other, as sums of products."""

_WHILE_REPORTING: Final = 0.01
"""With checkpoints, counters went on while a report was made: by a share of what they had counted, at most."""

_IDLE_SHARE: Final = 0.5
"""A thread is called idle where it provably made requests for less than this share of the threads' mean time."""


def contradictions(reader: FigureReader, counted: int | None, *, is_interim: bool) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each pair of figures that cannot both be right, and for a thread that was idle.

    Parameters
    ----------
    reader
        What was read of the log.
    counted
        The events that its histogram has, if there is one.
    is_interim
        Whether the last report counts from another one on, at a checkpoint.
    """
    report, settings = reader.report, reader.in_force
    figures = {name: Interval(item.low, item.high) for name, item in report.figures.items() if _is_bounded(item)}
    known = intervals(figures, settings, of_threads(report.measurements), counted)
    for left_side, right_side, left, right, disagree in disagreements(known, is_interim=is_interim):
        if disagree:
            message = f"{left_side} is {left}, but {right_side} is {right}.".replace("_", " ")
            yield report.tokens[right_side.split()[0]].diagnostic("FIGURES_DISAGREE", message)
    if not is_interim and has_idle_thread(known, settings):
        threads, run = known["threads"].high, known["total_time"].high
        mean, deviation = known["thread_time"], known["thread_time_stdev"].low
        least = mean.high - deviation**2 / (run - mean.low)
        message = (
            f"One of {threads:.0f} threads made requests for at most {max(least, 0):.3g} s of {run:.1f} s, "
            f"where the mean is {mean.low:.1f} s; the figures are those of the others."
        )
        yield report.tokens["thread_time"].diagnostic("IDLE_THREAD", message)


def disagreements(
    known: Mapping[str, Interval], *, is_interim: bool
) -> Iterator[tuple[str, str, Interval, Interval, Any]]:
    """Yield both sides of each identity whose figures are known, what they come to, and whether they disagree.

    The ends of the intervals are numbers, or columns over many logs; then so is the answer.
    """
    slack = _WHILE_REPORTING if is_interim else 0
    for left_side, right_side in _IDENTITIES:
        if is_interim and re.search("time|thread|latency|histogram", f"{left_side} {right_side}"):
            continue  # times are of the whole run
        left, right = _evaluate(left_side, known), _evaluate(right_side, known)
        if left is not None and right is not None:
            disagree = (left.high < right.low * (1 - slack)) | (right.high < left.low * (1 - slack))
            yield left_side, right_side, left, right, disagree


def of_threads(measurements: Iterable[Measurement]) -> dict[str, list[Interval]]:
    """Return what is printed of each thread, by its name."""
    found: dict[str, list[Interval]] = {}
    for item in measurements:
        if item.scope == "thread" and item.how is not None and item.how.name is not None:
            found.setdefault(item.how.name, []).append(Interval(item.low or 0, item.high or 0))
    return found


def _is_bounded(item: Measurement) -> bool:
    return item.low is not None and item.high is not None


def intervals(
    figures: Mapping[str, Interval],
    settings: Mapping[str, str],
    threads: Mapping[str, Sequence[Interval]],
    counted: int | None,
) -> dict[str, Interval]:
    """Return what the printed figures allow, and the settings that figures are multiples of.

    Parameters
    ----------
    figures
        By their names.
    settings
        Of the log, and of the command before it.
    threads
        What is printed of each thread, by its name.
    counted
        The events that the histogram has, if there is one.
    """
    known = dict(figures)
    numbers = {key: int(value) for key, value in settings.items() if value.isdecimal()}
    block_size, file_size = numbers.get("block_size"), numbers.get("file_size")
    if "threads" in numbers:
        known["threads"] = Interval(numbers["threads"], numbers["threads"])
        for metric, name in (("thread_events", "one_events"), ("thread_time", "one_time")):
            each = threads.get(name, [])
            if len(each) == numbers["threads"]:
                known[f"each_{metric}"] = Interval(sum(one.low for one in each), sum(one.high for one in each))
    # A file's last request is shorter where blocks do not fill it, and merged requests are longer.
    is_merged = "sysbench.merged-size" in settings
    if block_size and file_size is not None and file_size % block_size == 0 and not is_merged:
        known["block_size"] = Interval(block_size, block_size)
    if counted is not None:
        known["histogram"] = Interval(counted, counted)
    return known


def has_idle_thread(known: Mapping[str, Interval], settings: Mapping[str, str]) -> Any:
    """Whether one thread cannot have done its share; a column for columns.

    No thread makes requests for longer than the run, so the mean and the deviation of the threads' times bound
    the least of them (Bhatia and Davis, 2000): deviation^2 <= (run - mean) * (mean - least).
    """
    if not {"threads", "total_time", "thread_time", "thread_time_stdev"} <= known.keys():
        return False
    if "sysbench.rate" in settings:  # waiting in the queue counts too
        return False
    run, mean, deviation = known["total_time"].high, known["thread_time"], known["thread_time_stdev"].low
    spare = run - mean.low
    return (spare > 0) & (deviation**2 > (mean.high - _IDLE_SHARE * mean.low) * spare)


class Interval(NamedTuple):
    """The true values that a figure allows, or a column of figures; none of them is negative."""

    low: Any
    high: Any

    def __str__(self) -> str:
        return f"{self.low:.9g}" if self.low == self.high else f"{self.low:.6g} to {self.high:.6g}"


def _evaluate(side: str, known: Mapping[str, Interval]) -> Interval | None:
    """Return the value of a sum of products of figures, or ``None`` where one of them is not known."""
    products = [[known.get(name) for name in product.split(" * ")] for product in side.split(" + ")]
    terms = [[factor for factor in product if factor is not None] for product in products]
    if terms != products:
        return None
    return Interval(*(sum(prod(factor[end] for factor in term) for term in terms) for end in (0, 1)))
