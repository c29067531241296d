"""Holds the figures of a sysbench report against each other."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.formats.sysbench.figures import FigureReader
    from fsbench_kit.model.records import Diagnostic

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
    report, known = reader.report, _intervals(reader, counted)
    slack = _WHILE_REPORTING if is_interim else 0
    for left_side, right_side in _IDENTITIES:
        if is_interim and re.search("time|thread|latency|histogram", f"{left_side} {right_side}"):
            continue  # times are of the whole run
        left, right = _evaluate(left_side, known), _evaluate(right_side, known)
        if (
            left is not None
            and right is not None
            and (left.high < right.low * (1 - slack) or right.high < left.low * (1 - slack))
        ):
            message = f"{left_side} is {left}, but {right_side} is {right}.".replace("_", " ")
            yield report.tokens[right_side.split()[0]].diagnostic("FIGURES_DISAGREE", message)
    if not is_interim:
        yield from _idle_thread(reader, known)


def _intervals(reader: FigureReader, counted: int | None) -> dict[str, _Interval]:
    """Return what the printed figures allow, and the settings that figures are multiples of."""
    known = {
        name: _Interval(figure.low, figure.high)
        for name, figure in reader.report.figures.items()
        if figure.low is not None and figure.high is not None
    }
    threads, block_size, file_size = (reader.known(key) for key in ("threads", "block_size", "file_size"))
    if threads is not None:
        known["threads"] = _Interval(threads, threads)
        for metric in ("thread_events", "thread_time"):
            each = [m for m in reader.report.measurements if m.scope == "thread" and m.metric == metric]
            if len(each) == threads:
                known[f"each_{metric}"] = _Interval(sum(m.low or 0 for m in each), sum(m.high or 0 for m in each))
    # A file's last request is shorter where blocks do not fill it, and merged requests are longer.
    if block_size and file_size is not None and file_size % block_size == 0 and "merging" not in reader.phrases:
        known["block_size"] = _Interval(block_size, block_size)
    if counted is not None:
        known["histogram"] = _Interval(counted, counted)
    return known


def _idle_thread(reader: FigureReader, known: dict[str, _Interval]) -> Iterator[Diagnostic]:
    """Say so where one thread cannot have done its share.

    No thread makes requests for longer than the run, so the mean and the deviation of the threads' times bound
    the least of them (Bhatia and Davis, 2000): deviation^2 <= (run - mean) * (mean - least).
    """
    if not {"threads", "total_time", "thread_time", "thread_time_stdev"} <= known.keys():
        return
    threads, run = known["threads"].high, known["total_time"].high
    mean, deviation = known["thread_time"], known["thread_time_stdev"].low
    if run <= mean.low or "target_rate" in reader.phrases:  # with a target rate, waiting in the queue counts too
        return
    least = mean.high - deviation**2 / (run - mean.low)
    if least < _IDLE_SHARE * mean.low:
        message = (
            f"One of {threads:.0f} threads made requests for at most {max(least, 0):.3g} s of {run:.1f} s, "
            f"where the mean is {mean.low:.1f} s; the figures are those of the others."
        )
        yield reader.report.tokens["thread_time"].diagnostic("IDLE_THREAD", message)


class _Interval(NamedTuple):
    """The true values that a figure allows; none of them is negative."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.9g}" if self.low == self.high else f"{self.low:.6g} to {self.high:.6g}"


def _evaluate(side: str, known: dict[str, _Interval]) -> _Interval | None:
    """Return the value of a sum of products of figures, or ``None`` where one of them is not known."""
    products = [[known.get(name) for name in product.split(" * ")] for product in side.split(" + ")]
    terms = [[factor for factor in product if factor is not None] for product in products]
    if terms != products:
        return None
    return _Interval(*(sum(prod(factor[end] for factor in term) for term in terms) for end in (0, 1)))
