"""Whether the measurements of two records agree, and how much that tells."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from fsbench_kit.data.columns import RUN
from fsbench_kit.formats import TOOLS
from fsbench_kit.model.schema import MEASUREMENT_KEY
from fsbench_kit.model.vocabulary import EITHER_LATENCY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fsbench_kit.model.records import Measurement

    Numbers = NDArray[np.int64]

ENOUGH: Final = 5
"""Digits, beyond the second of each rate or time, from which on an agreement is no chance."""

FEW: Final = 0.1
"""Share of measurements that may differ between records that bear the same date."""

Key = tuple[object, ...]
"""What a measurement is of: `MEASUREMENT_KEY`."""

key_of = attrgetter(*MEASUREMENT_KEY)
_SIZES: Final = 3
"""How many members of a key are sizes, which stand at its end."""


class Sheet:
    """The primary measurements of a record, to be looked up."""

    def __init__(self, measurements: Iterable[Measurement]) -> None:
        self.measurements: dict[Key, Measurement] = {}
        self._alike: dict[Key, list[Measurement]] | None = None
        for item in measurements:
            if item.primary:
                self.add(item)

    def add(self, item: Measurement) -> None:
        """Take in a measurement; of two that stand for the same thing the first one counts."""
        self.measurements.setdefault(key_of(item), item)
        self._alike = None

    @cached_property
    def longest_first(self) -> list[Measurement]:
        """The measurements, first those of which other runs have hardly the same."""
        return sorted(self.measurements.values(), key=lambda item: -len(item.text))

    def partner(self, item: Measurement) -> Measurement | None:
        """Return the same measurement of this record; a size that only one of the two knows is none."""
        key = key_of(item)
        found = self.measurements.get(key)
        if found is not None:
            return found
        if self._alike is None:
            self._alike = defaultdict(list)
            for own_key, own in self.measurements.items():
                self._alike[own_key[:-_SIZES]].append(own)
        alike = [own for own in self._alike.get(key[:-_SIZES], ()) if _sizes_agree(own, item)]
        return alike[0] if len(alike) == 1 else None


def _sizes_agree(one: Measurement, other: Measurement) -> bool:
    sizes = zip(key_of(one)[-_SIZES:], key_of(other)[-_SIZES:], strict=True)
    return all(a is None or b is None or a == b for a, b in sizes)


class Prints:
    """What the prints of the primary measurements of records allow, as arrays: pairs are held apart by thousands.

    Parameters
    ----------
    measurements
        Those of the records, by the record's number in `RUN`. Of each tool the most frequent ones count.
    tools
        The tool of each record.
    """

    def __init__(self, measurements: pl.DataFrame, tools: pl.Series) -> None:
        main = measurements.lazy().filter("primary").filter(pl.struct(RUN, *MEASUREMENT_KEY).is_first_distinct())
        exact = main.filter(
            pl.col("state") == "measured",
            ~pl.col("metric").is_in(_CUT_BEFORE),
            pl.col("low").is_not_null(),
            pl.col("high").is_not_null(),
        )
        bounds = exact.select(RUN, "low", "high", of=pl.struct(MEASUREMENT_KEY).hash())
        numbers, rows = pl.collect_all([main.group_by(RUN).len(), bounds])
        rows = rows.with_columns(tool=tools.gather(rows[RUN]))
        common = rows.group_by("tool", "of").len().sort("len", "of", descending=True)
        columns = common.with_columns(column=pl.int_range(pl.len()).over("tool")).filter(pl.col("column") < _MOST)
        rows = rows.join(columns, on=["tool", "of"])
        place = rows[RUN].to_numpy(), rows["column"].to_numpy()
        self._low, self._high = (np.full((len(tools), _MOST), np.nan) for _ in range(2))
        self._low[place], self._high[place] = rows["low"].to_numpy(), rows["high"].to_numpy()
        self._number = np.zeros(len(tools))
        self._number[numbers[RUN].to_numpy()] = numbers["len"].to_numpy()

    def differ(self, one: Numbers, other: Numbers, tolerance: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell of pairs of records of one tool which are known to differ in more than a share of measurements."""
        differ = np.zeros(len(one), dtype=np.bool_)
        most = tolerance * np.minimum(self._number[one], self._number[other])
        for start in range(0, len(one), _TOGETHER):
            some = slice(start, start + _TOGETHER)
            differ[some] = self._differing(one[some], other[some]) > most[some]
        return differ

    def _differing(self, one: Numbers, other: Numbers) -> NDArray[np.int64]:
        """Count the measurements of pairs that do not agree, whichever is held against the other."""
        low, high, other_low, other_high = self._low[one], self._high[one], self._low[other], self._high[other]
        width, other_width = high - low, other_high - other_low
        floating = _FLOATING * np.maximum(np.abs(high), np.abs(other_high))
        slack = _SLACK * (width + other_width) / 2 + floating
        overlap = (low <= other_high + slack) & (other_low <= high + slack)
        agree = np.isnan(low) | np.isnan(other_low)
        for step in (width, other_width):
            is_one_step = np.abs(width - other_width) <= floating + _SAME_STEP * step
            agree |= np.where(is_one_step, np.abs(low - other_low) <= _NEIGHBOUR * step + floating, overlap)
        return np.asarray((~agree).sum(axis=1))


_MOST: Final = 256
"""So many measurements of a record are held against those of others at once."""
_TOGETHER: Final = 2**11


def have_same_measurements(tool: str, one: Sheet, other: Sheet, *, enough: int, tolerance: float) -> bool:
    """Whether two records agree, by enough digits, in all but a share of the measurements that both have."""
    few, many = sorted((one, other), key=lambda sheet: len(sheet.measurements))
    pairs: list[tuple[Measurement, Measurement]] = []
    differing = 0
    most = tolerance * len(few.measurements)
    for item in few.longest_first:
        partner = many.partner(item)
        if partner is None:
            continue
        pairs.append((item, partner))
        if not agree(item, partner):
            differing += 1
            if differing > most:
                return False
    return differing <= tolerance * len(pairs) and (not enough or digits(tool, pairs) >= enough)


def digits(tool: str, pairs: Iterable[tuple[Measurement, Measurement]]) -> int:
    """Count the digits beyond the second in which rates and times agree.

    What follows from each other counts once, by the shorter of the prints: IOPS, bandwidth and the mean latency of
    a job, a rate and the time it was taken over.
    """
    told: dict[Key, int] = {}
    for item, partner in pairs:
        group = _group(tool, item)
        if group is not None and agree(item, partner):
            number = min(_digits(item), _digits(partner))
            is_rate = group[-1] == "rate"
            told[group] = (min if is_rate else max)(told.get(group, number), number)
    return sum(told.values())


_THROUGHPUT: Final = {"bandwidth", "iops", "file_rate", "elapsed"}
_LATENCY: Final = {"latency", "submission_latency", "completion_latency", EITHER_LATENCY, "phase_latency"}
TELLING: Final = _THROUGHPUT | _LATENCY | {"thread_events", "thread_time"}
"""What differs between runs of one workload; amounts of work and times may have been asked for."""
SCOPES: Final = ("all", "job", "client")
"""The measurements of other scopes are parts or sums of these."""
_CONCURRENT: Final = {name for name, tool in TOOLS.items() if tool.concurrent}
"""Tools whose operations are done at the same time, so that one rate determines the other."""


def _group(tool: str, item: Measurement) -> Key | None:
    """Return which measurements follow from each other with this one, or ``None`` if it tells nothing."""
    if item.scope not in SCOPES or item.metric not in TELLING or not item.value:
        return None
    part, *sizes = item.part, item.block_size, item.file_size, item.threads
    if item.statistic in ("value", "mean") and item.metric in _THROUGHPUT | _LATENCY:
        return part, *sizes, None if tool in _CONCURRENT else item.operation, "rate"
    kind = "percentile" if item.statistic[0] == "p" else item.statistic
    return part, *sizes, item.operation, item.metric in _LATENCY, kind


_NUMBER: Final = re.compile(r"\d[\d.,]*")


def _digits(item: Measurement) -> int:
    """Count the significant digits of a printed number beyond the second; zeros at its end may be round."""
    number = _NUMBER.search(item.text)
    return max(0, len(re.sub(r"\D", "", number[0]).strip("0")) - 2) if number else 0


_SLACK: Final = 0.1
# fio cuts a quantity to a 1000th or 1024th of its unit before it rounds that to one or two decimals.
_FLOATING: Final = 1e-9
_SAME_STEP: Final = 0.01
_NEIGHBOUR: Final = 0.6
# Printed in steps of the same size, neighbours are different values; "down" and "nearest" are half a step apart.
_CUT_BEFORE: Final = {"group_share"}
"""fio's terse output divides by a bandwidth that was cut to KiB/s, and prints six decimals of the result."""


def agree(one: Measurement, other: Measurement) -> bool:
    """Whether two measurements can be the same; what is missing, or of unknown rounding, can be anything."""
    if one.metric in _CUT_BEFORE:
        return True
    if "measured" == one.state == other.state:
        if one.low is None or one.high is None or other.low is None or other.high is None:
            return True
        return _overlap((one.low, one.high), (other.low, other.high))
    if "missing" in (one.state, other.state):
        return True
    low, other_low = (-math.inf if item.low is None else item.low for item in (one, other))
    high, other_high = (math.inf if item.high is None else item.high for item in (one, other))
    return low <= other_high and other_low <= high


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two intervals can be prints of one value."""
    width, other_width = one[1] - one[0], other[1] - other[0]
    floating = _FLOATING * max(abs(one[1]), abs(other[1]))
    if abs(width - other_width) <= floating + _SAME_STEP * width:
        return abs(one[0] - other[0]) <= _NEIGHBOUR * width + floating
    slack = _SLACK * (width + other_width) / 2 + floating
    return one[0] <= other[1] + slack and other[0] <= one[1] + slack
