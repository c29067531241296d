"""Common parts of the fio formats: names, bounds of bins, names of jobs.

fio sorts latencies into bins, 64 per octave (``plat_val_to_idx`` in its ``stat.c``), and prints the middle of a
bin, so that a percentile is known to 1/128. Its coarse buckets of latency and depth are named after one of their
bounds (``io_u_mark_*`` in its ``io_u.c``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import nan
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from fsbench_kit.formats.builder import Bounds
from fsbench_kit.formats.command_line import GOES_ON
from fsbench_kit.formats.dates import ctime
from fsbench_kit.formats.findings import either, least
from fsbench_kit.formats.lexer import UNREAD, Lexer, unread_figure
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Block, Diagnostic, Measurement
from fsbench_kit.model.units import Quantity, quantity

_T = TypeVar("_T")

LATENCIES: Final = {
    "slat": "submission_latency",
    "clat": "completion_latency",
    "lat": "latency",
    "sync": "latency",
}
DEPTHS: Final = {"IO depths": "depth", "submit": "submit_batch", "complete": "complete_batch"}

CPU: Final = {
    "cpu_user": "%",
    "cpu_system": "%",
    "context_switches": "",
    "major_faults": "",
    "minor_faults": "",
}
"""The processor usage of a job -> its unit. Shares are rounded; the others are counts."""

COMMAND: Final = (
    r"""(?<![\w./`-])(?:"[A-Z]:\\[^"\n]{0,200}\\fio(?:\.exe)?"|(?:[\w./-]{0,200}/)?fio(?:\.exe)?)\s+"""
    r"(?=-{1,2}[a-z]|\S{1,200}\.(?:fio|job|ini|cfg)\b|\\)"
)
"""The beginning of a fio command line; mails may break lines before its options."""

_DESCRIPTION: Final = re.compile(r'"desc(?:ription)?"\s*:\s*"(?:[^"\\\n]|\\.)*+"')

_BIN_BITS: Final = 6
LAST_BIN: Final = 2**33 + 127 * 2**26
"""The middle of the last bin, in ns, which also contains all values above it."""


def percentile_bounds(smallest: Any, largest: Any) -> tuple[Any, Any]:
    """Return the bounds of a percentile that is printed as the middle of a bin.

    Parameters
    ----------
    smallest, largest
        The printed value or, if it was rounded for printing, the range that it was rounded from. Both may be
        columns; the same applies to `has_bin`.

    Returns
    -------
    tuple
        The lowest value of the bin of `smallest` and the highest of the bin of `largest`. The latter is ``None``,
        or NaN in a column, for the last bin, which has no upper end.

    Examples
    --------
    >>> percentile_bounds(2448, 2448), percentile_bounds(100, 100), percentile_bounds(17112760320, 17112760320)
    ((2432, 2464), (100, 100), (17045651456, None))
    """
    width = bin_width(largest)
    low, high = smallest - smallest % bin_width(smallest), largest - largest % width + width * (width > 1)
    return low, either(largest >= LAST_BIN, None if isinstance(largest, int) else nan, high)


def bin_width(value: Any) -> Any:
    """Return the width of the bin that contains a value, or a column of widths."""
    return 1 << max(0, value.bit_length() - 1 - _BIN_BITS) if isinstance(value, int) else bin_widths(value)


def bin_widths(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the widths of the bins that contain the given values."""
    octaves = np.frexp(values.astype(float))[1].astype(np.int64)
    widths: NDArray[np.int64] = np.left_shift(np.int64(1), np.maximum(octaves - 1 - _BIN_BITS, 0))
    return widths


def has_bin(smallest: Any, largest: Any) -> Any:
    """Whether the middle of a bin is between two values, inclusive, so that fio can print it.

    >>> has_bin(127, 127), has_bin(3184, 3184), has_bin(3185, 3215), has_bin(3185, 3216)
    (True, True, False, True)
    """
    width = bin_width(smallest)
    start = smallest - smallest % width
    following = start + width
    middle, next_middle = start + width // 2, following + bin_width(following) // 2
    return either(middle >= smallest, middle <= largest, next_middle <= largest)


@dataclass(frozen=True)
class Percentile:
    """Computes the bounds of percentiles, or columns of them, that are printed as whole numbers of a unit.

    Attributes
    ----------
    per_unit
        The number of ticks of fio's clock in a unit.
    per_second
        The number of ticks in a second.
    is_cut
        Whether ticks were truncated for printing, instead of rounded up.
    """

    per_unit: int
    per_second: int
    is_cut: bool = False

    def __call__(self, printed: Any) -> tuple[Any, Any]:
        """Return the bounds in seconds; the lower one is NaN if fio cannot print the value."""
        spare = self.per_unit - 1
        largest = printed * self.per_unit + (spare if self.is_cut else 0)
        smallest = either(largest > spare, largest - spare, largest * 0)
        # fio 2.x, which measures µs, has printed values that are not the middles of its bins.
        is_possible = has_bin(smallest, largest) if self.per_second == 10**9 else True
        low, high = percentile_bounds(smallest, largest)
        high = high if high is None else high / self.per_second
        return either(is_possible, low / self.per_second, nan), high


def bin_value(index: int) -> int:
    """Return the middle of the bin with an index, as fio prints it.

    >>> bin_value(127), bin_value(128), bin_value(700)
    (127, 129, 63744)
    """
    per_octave = 1 << _BIN_BITS
    if index < 2 * per_octave:
        return index
    shift = (index >> _BIN_BITS) - 1
    return (1 << (shift + _BIN_BITS)) + (index % per_octave << shift) + (1 << shift >> 1)


LATENCY_LABELS: Final = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000")


@lru_cache
def latency_bounds(label: str, per_second: int, *, first: int = 0) -> tuple[float, float | None]:
    """Return the bounds of a latency bucket, in seconds.

    Parameters
    ----------
    label
        The name of the bucket: its upper end, or ``>=2000``.
    per_second
        The number of the name's units in a second.
    first
        The lower end of the bucket ``2``, in that unit.

    Raises
    ------
    ValueError
        If fio has no bucket of that name.
    """
    if label == ">=2000":
        return 2000 / per_second, None
    index = LATENCY_LABELS.index(label)
    return (int(LATENCY_LABELS[index - 1]) if index else first) / per_second, int(label) / per_second


DEPTH_LABELS: Final = tuple(f"{sign}{end}" for end in (0, 1, 2, 4, 8, 16, 32, 64) for sign in ("", ">="))


@lru_cache
def depth_bounds(metric: str, label: str) -> tuple[float | None, float | None]:
    """Return the bounds of a bucket of depths or batch sizes: the lower is exclusive, the upper inclusive.

    Depths are named after the lower end (``4`` is 4 to 7), batches after the upper end (``4`` is 1 to 4).

    Raises
    ------
    ValueError
        If fio has no bucket of that name.
    """
    if label not in DEPTH_LABELS:
        raise ValueError(f"fio has no bucket {label}")
    if label.startswith(">="):
        end = int(label[2:])
        return (end - 1, None) if metric == "depth" else (end, None)
    end = int(label)
    if metric == "depth":
        return end - 1, 2 * end - 1
    if end == 0:
        return None, 0
    return (0 if end <= 4 else end // 2), end


def known_quantity(text: str | None, unit: str) -> Quantity | None:
    """Return a printed quantity; ``None`` if it is missing or not a number."""
    try:
        return quantity(text, unit) if text is not None else None
    except ValueError:
        return None


def uncut_share(share: Quantity | None, mean: Quantity | None) -> Bounds | None:
    """Return the bounds of a job's share of its group's bandwidth, given that its numerator was truncated.

    fio truncates the mean bandwidth to whole KiB/s before dividing (``convert_agg_kbytes_percent`` in its
    ``stat.c``). Return ``None`` if one of the two is not known.
    """
    if share is None or share.high is None or mean is None or mean.low is None:
        return None
    return share.low, highest_share(share.high, mean.low)


def highest_share(high: Any, mean: Any) -> Any:
    """Return the upper end of such a share, given the upper end of its print and the lower end of the mean."""
    whole = mean // 1024
    return least((1.0, either(whole > 0, high * (whole + 1) / either(whole > 0, whole, 1), 1.0)))


_RATES: Final = {"bandwidth", "iops", *LATENCIES.values()}


def _statistic_so_far(item: Measurement) -> str | None:
    """Return the statistic of a figure of an interim report in the run's series, or ``None`` if it has none.

    fio's interim reports cover the run up to that point: amounts grow, and rates and latencies are those since the
    start, as opposed to those between two reports.
    """
    if not item.primary or item.value is None or item.scope not in {"all", "job", "client"}:
        return None
    if item.metric in {"bytes", "operations"}:
        return item.statistic
    return f"cumulative_{item.statistic}" if item.metric in _RATES else None


def series_so_far(reports: Iterable[Sequence[Measurement]]) -> Iterator[Block]:
    """Yield the series of figures over the run, from its interim reports and its last."""
    points: dict[tuple[str | None, str, str, str], dict[float, Measurement]] = {}
    for measurements in reports:
        times = {
            (m.part, m.operation): m.value for m in measurements if m.metric == "runtime" and m.scope != "group"
        }
        for item in measurements:
            time = times.get((item.part, item.operation))
            statistic = _statistic_so_far(item)
            if statistic is not None and time is not None:
                points.setdefault((item.part, item.operation, item.metric, statistic), {})[time] = item
    for (part, operation, metric, statistic), at in points.items():
        ends = sorted(at)
        yield Block(
            operation=operation,
            metric=metric,
            statistic=statistic,
            part=part,
            times=ends,
            values=[value for end in ends if (value := at[end].value) is not None],
            lines=[at[end].line for end in ends],
        )


def report_time(text: str) -> datetime:
    """Parse the time at which fio printed its report, which is the end of the run; it has no time zone.

    Raises
    ------
    ValueError
        If it is not a time.

    Examples
    --------
    >>> report_time("Mon Mar 23 00:29:37 2020")
    datetime.datetime(2020, 3, 23, 0, 29, 37)
    """
    if (time := ctime(text)) is None:
        raise ValueError(f"{text!r} is not a time as fio prints it")
    return time


def part_names(jobs: Iterable[str]) -> Iterator[str]:
    """Yield the name of each part of a run: that of its job, numbered from 0 if several jobs share it.

    >>> list(part_names(["warm-up", "load", "load"]))
    ['warm-up', 'load.0', 'load.1']
    """
    names = list(jobs)
    total, seen = Counter(names), Counter[str]()
    for name in names:
        yield name if total[name] == 1 else f"{name}.{seen[name]}"
        seen[name] += 1


def part_names_with_idle(jobs: Iterable[tuple[str, bool]]) -> Iterator[str]:
    """Yield the names of the parts of a report that includes idle jobs, given whether each job did anything.

    fio's normal output omits idle jobs, so that they must not affect the numbers of the others.

    >>> list(part_names_with_idle([("load", True), ("load", False), ("load", True), ("log", False)]))
    ['load.0', 'load.idle', 'load.1', 'log']
    """
    known = list(jobs)
    busy = {name for name, has_worked in known if has_worked}
    return part_names(f"{name}.idle" if name in busy and not has_worked else name for name, has_worked in known)


def split_where(items: Iterable[_T], begins: Callable[[list[_T], _T], bool]) -> Iterator[list[_T]]:
    """Yield lists of adjacent items, starting a new list wherever `begins` returns true."""
    current: list[_T] = []
    for item in items:
        if current and begins(current, item):
            yield current
            current = []
        current.append(item)
    if current:
        yield current


def undescribed(marks: Signatures, chars: str) -> Iterator[int]:
    """Yield the positions of marks, except those in JSON descriptions, which can contain any text."""
    if not (found := list(marks(chars))):
        return
    descriptions = [match.span() for match in _DESCRIPTION.finditer(chars)]
    starts = [start for start, _ in descriptions]
    for mark in found:
        index = bisect_right(starts, mark) - 1
        if index < 0 or descriptions[index][1] <= mark:
            yield mark


_AROUND: Final = Lexer(
    prefix=r"^[>+|#*/\s]+$",
    command=rf"{COMMAND}(?:{GOES_ON}|[^\n`])*",
    progress=r"(?:Jobs: \d+ \(f= [^)\n]*\)(?:[^\n]{0,400}?\[ eta [\ddhms:]+\]?)? )+",
    trouble=r"^[^\S\n]*(?:fio(?::|\s+exited)\s|error: (?:maximum number of jobs|failed to setup shm))[^\n]*",
    header=r"^[^\n:]{1,100}: \(g=\d+\): rw=[^\n]*|^\.\.\.$|^fio-\d[^\n]*|^Starting \d+ (?:process|thread)[^\n]*",
    layout=r"^[^\n:]{1,100}: Laying out IO file[^\n]*",
)
"""What fio prints around its machine-readable reports, and commands that were typed to get them."""


def beside(text: Text, start: int, end: int) -> Iterator[Diagnostic]:
    """Yield diagnostics about the text around machine-readable reports."""
    for token in _AROUND.tokens(text, start, end):
        if token.name == "progress":
            yield token.diagnostic("PROGRESS", "Momentary figures are not the run's result.")
        elif token.name == "trouble":
            yield token.diagnostic("OTHER_TEXT", "fio says more about the run than its report contains.")
        elif token.name == UNREAD and (diagnostic := unread_figure(token)) is not None:
            yield diagnostic


def holds_other_text(text: Text, start: int, end: int) -> bool:
    """Whether the text between two positions contains anything that fio does not print while it runs."""
    return any(token.name in {UNREAD, "command"} for token in _AROUND.tokens(text, start, end))
