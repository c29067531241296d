"""Decides for many pairs of records at once whether their measurements agree, and how much evidence that is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.data.columns import RUN
from fsbench_kit.formats import TOOLS
from fsbench_kit.model.rows import rows_of
from fsbench_kit.model.schema import MEASUREMENT_KEY
from fsbench_kit.model.vocabulary import EITHER_LATENCY

Numbers: TypeAlias = NDArray[np.int64]
Hashes: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]

ENOUGH: Final = 5
"""The number of agreeing digits, beyond the second of each rate or time, that rules out chance."""

_SIZES: Final = MEASUREMENT_KEY[-3:]
_OTHERS: Final = MEASUREMENT_KEY[:-3]

_SAMPLES: Final = (4, 16)
"""The numbers of measurements that suffice to distinguish most records, and nearly all of them."""

_TOGETHER: Final = 2**20
"""The maximum number of measurements to compare at once."""

_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


def hashed(rows: pl.DataFrame, names: Sequence[str]) -> Hashes:
    """Return a hash of each row over some columns."""
    return rows[list(names)].hash_rows().to_numpy()


def recur(hashes: Hashes) -> Flags:
    """Return which numbers occur more than once; sorting detects the usual case of no duplicates fastest."""
    ordered = np.sort(hashes)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.zeros(len(hashes), dtype=np.bool_)
    return pl.Series(hashes).is_duplicated().to_numpy()


def distinct(hashes: Hashes) -> int:
    """Return the number of distinct values."""
    return min(len(hashes), 1) + int(np.count_nonzero(np.diff(np.sort(hashes))))


def of_records(hashes: Hashes, records: Numbers) -> Hashes:
    """Combine the hashes of rows with the numbers of their records."""
    return hashes + records.astype(np.uint64) * _ODD


class Figures:
    """Measurements as arrays, for comparing them with each other.

    Parameters
    ----------
    measurements, rows
        The measurements, and which of them are compared. Most of their columns are needed for few of them only.
    keys
        Hashes of what each of these is of.

    Attributes
    ----------
    key
        These hashes.
    """

    def __init__(self, measurements: pl.DataFrame, rows: Numbers, keys: Hashes) -> None:
        self._measurements, self._rows, self.key = measurements, rows, keys
        low, high, state, metric = self.of(("low", "high", "state", "metric"))
        self._low, self._high = low.to_numpy(), high.to_numpy()
        self._is_measured = (state == "measured").to_numpy()
        self._is_missing = ((state == "missing") | metric.is_in(_CUT_BEFORE)).to_numpy()

    def of(self, names: Sequence[str], which: Numbers | slice = slice(None)) -> pl.DataFrame:
        """Return columns of the measurements that are compared, or of some of these."""
        return rows_of(self._measurements[list(names)], self._rows[which])

    @cached_property
    def alike(self) -> Hashes:
        """Hashes of what the measurements are of, without sizes."""
        return hashed(self.of(_OTHERS), _OTHERS)

    @cached_property
    def sizes(self) -> Numbers:
        """The sizes that distinguish rows that are otherwise alike; negative if unknown."""
        return self.of(_SIZES).select(pl.all().fill_null(-1)).to_numpy()

    def agree(self, one: Numbers, other: Numbers) -> Flags:
        """Return for pairs of rows whether they can be prints of the same value.

        Missing values, and values of unknown rounding, agree with any other.
        """
        agree = (self._low[one] == self._low[other]) & (
            self._high[one] == self._high[other]
        )  # as most are printed
        rest = np.flatnonzero(~agree)
        agree[rest] = self._can_agree(one[rest], other[rest])
        return np.asarray(agree)

    def _can_agree(self, one: Numbers, other: Numbers) -> Flags:
        low, high, other_low, other_high = self._low[one], self._high[one], self._low[other], self._high[other]
        width, other_width = high - low, other_high - other_low
        floating = _FLOATING * np.maximum(np.abs(high), np.abs(other_high))
        is_one_step = np.abs(width - other_width) <= floating + _SAME_STEP * width
        slack = _SLACK * (width + other_width) / 2 + floating
        overlap = (low <= other_high + slack) & (other_low <= high + slack)
        agree = np.where(is_one_step, np.abs(low - other_low) <= _NEIGHBOUR * width + floating, overlap)
        agree |= np.isnan(width) | np.isnan(other_width)
        # A censored value is unbounded on one side.
        reach = ~((low > other_high) | (other_low > high))
        agree = np.where(self._is_measured[one] & self._is_measured[other], agree, reach)
        return np.asarray(agree | self._is_missing[one] | self._is_missing[other])


class Lookup:
    """Finds measurements of records.

    Parameters
    ----------
    figures, rows
        The figures, and the rows among them to search.
    records
        The number of the record of each row.
    """

    def __init__(self, figures: Figures, rows: Numbers, records: Numbers) -> None:
        self._figures = figures
        self._key, self._alike = (
            self._sorted(rows, of_records(numbers[rows], records)) for numbers in (figures.key, figures.alike)
        )

    @staticmethod
    def _sorted(rows: Numbers, codes: Hashes) -> tuple[Hashes, Numbers]:
        order = np.argsort(codes, kind="stable")
        return codes[order], rows[order]

    @staticmethod
    def _found(codes: Hashes, wanted: Hashes) -> tuple[Numbers, Numbers]:
        start, end = (np.searchsorted(codes, wanted, side=side) for side in ("left", "right"))
        return start, end - start

    def partners(self, rows: Numbers, records: Numbers) -> tuple[Numbers, Numbers]:
        """Return the indices of the rows that another record has as well, and the rows of that record.

        A size that only one of the two records knows is ignored.
        """
        figures = self._figures
        codes, known = self._key
        start, number = self._found(codes, of_records(figures.key[rows], records))
        is_found = number > 0
        alone = np.flatnonzero(~is_found)
        exact = known[start[is_found]]
        codes, known = self._alike
        start, number = self._found(codes, of_records(figures.alike[rows[alone]], records[alone]))
        of, place = _spread(start, number)
        other = known[place]
        sizes, other_sizes = figures.sizes[rows[alone[of]]], figures.sizes[other]
        fits = ((sizes == other_sizes) | (sizes < 0) | (other_sizes < 0)).all(axis=1)
        of, other = of[fits], other[fits]
        is_only = np.bincount(of, minlength=len(alone))[of] == 1
        return (
            np.concatenate([np.flatnonzero(is_found), alone[of[is_only]]]),
            np.concatenate([exact, other[is_only]]),
        )


class Prints:
    """The primary measurements of records as arrays; only the first of those with the same key counts.

    Parameters
    ----------
    measurements, rows, keys
        Measurements, by the number of the record in `RUN`; which of them are primary ones of the records; and
        hashes of what each of these is of.
    tools
        The tool of each record.
    """

    def __init__(self, measurements: pl.DataFrame, rows: Numbers, keys: Hashes, tools: pl.Series) -> None:
        runs = measurements[RUN].to_numpy()[rows]
        own = of_records(keys, runs)
        if recur(own).any():
            is_first = pl.Series(own).is_first_distinct().to_numpy()
            rows, keys, runs = rows[is_first], keys[is_first], runs[is_first]
        self._tools, self._runs = tools, runs
        self._figures = Figures(measurements, rows, keys)
        self._start = np.searchsorted(runs, np.arange(len(tools) + 1))
        self.number = np.diff(self._start)
        """The number of measurements of each record."""
        place = np.arange(len(runs)) - self._start[runs]
        sums = np.cumsum(keys * (2 * place + 1).astype(np.uint64), dtype=np.uint64)
        # Identifies what a record measures, and in which order.
        self._layout = np.diff(np.concatenate([np.zeros(1, np.uint64), sums])[self._start])
        self._places: dict[tuple[int, int], Numbers] = {}

    def same(self, one: Numbers, other: Numbers, tolerance: NDArray[np.float64], enough: int) -> Flags:
        """Return for pairs of records of one tool whether they are prints of one run.

        They must agree in all but a given share of the measurements that both have, and by enough digits.
        """
        is_less = self.number[one] <= self.number[other]
        few, many = np.where(is_less, one, other), np.where(is_less, other, one)
        left = np.arange(len(one))
        for most, least in (*((sample, 0) for sample in _SAMPLES), (None, enough)):
            sizes = self.number[few[left]] if most is None else np.minimum(self.number[few[left]], most)
            parts = np.array_split(left, 1 + sizes.sum() // _TOGETHER)
            left = np.concatenate([at[self._agree(few[at], many[at], tolerance[at], most, least)] for at in parts])
        is_same = np.zeros(len(one), dtype=np.bool_)
        is_same[left] = True
        return is_same

    def _agree(
        self, few: Numbers, many: Numbers, tolerance: NDArray[np.float64], most: int | None, enough: int
    ) -> Flags:
        """Compare at most a number of measurements of each pair, of which a share may differ."""
        pair, item, partner = self._partners(few, many, most)
        agree = self._figures.agree(item, partner)
        differing = np.bincount(pair[~agree], minlength=len(few))
        of = self.number[few] if most is not None else np.bincount(pair, minlength=len(few))
        is_same = differing <= tolerance * of
        if enough:
            agree &= is_same[pair]
            is_same &= self._told(pair[agree], item[agree], partner[agree], len(few)) >= enough
        return np.asarray(is_same)

    def tells_enough(self, records: Numbers) -> Flags:
        """Whether records have so many digits that others with the same ones can only be copies."""
        pair, item = self._rows(records)
        return np.asarray(self._told(pair, item, item, len(records)) >= ENOUGH)

    def _rows(self, records: Numbers, most: int | None = None) -> tuple[Numbers, Numbers]:
        """Return the index of the record and the row, for all or some evenly spaced rows of records."""
        sizes = self.number[records]
        taken = sizes if most is None else np.minimum(sizes, most)
        pair, place = _spread(np.zeros_like(taken), taken)
        return pair, self._start[records][pair] + (place * sizes[pair] // taken[pair])

    def _partners(self, few: Numbers, many: Numbers, most: int | None) -> tuple[Numbers, Numbers, Numbers]:
        """Return the rows of each pair's first record that the other has as well: pair, row, row of the other."""
        pair, item = self._rows(few, most)
        partner = item + (self._start[many] - self._start[few])[pair]
        layouts = self._layout[few], self._layout[many]
        if (layouts[0] == layouts[1]).all():  # the usual case, in which corresponding rows have the same places
            return pair, item, partner
        _, first, which = np.unique(layouts[0] * _ODD + layouts[1], return_index=True, return_inverse=True)
        places = [self._places_of(few[at].item(), many[at].item()) for at in first.tolist()]
        begins = np.cumsum([0, *map(len, places)])[which]
        place = np.concatenate(places)[begins[pair] + item - self._start[few][pair]]
        known = np.flatnonzero(place >= 0)
        pair = pair[known]
        return pair, item[known], self._start[many][pair] + place[known]

    def _places_of(self, one: int, other: int) -> Numbers:
        """Return the place in another record of each measurement of a record, or -1; cached by their layouts."""
        layouts = self._layout[one].item(), self._layout[other].item()
        if layouts not in self._places:
            rows, others = (np.arange(self._start[each], self._start[each + 1]) for each in (one, other))
            at, partner = Lookup(self._figures, others, np.zeros_like(others)).partners(rows, np.zeros_like(rows))
            self._places[layouts] = np.full(len(rows), -1)
            self._places[layouts][at] = partner - self._start[other]
        return self._places[layouts]

    def _told(self, pair: Numbers, one: Numbers, other: Numbers, pairs: int) -> Numbers:
        """Count the digits beyond the second in which rates and times of pairs agree.

        Figures that determine each other count once, with the digits of the shorter print: IOPS, bandwidth and
        mean latency of a job, or a rate and the time that it was computed from.
        """
        if not len(pair):
            return np.zeros(pairs, dtype=np.int64)
        is_meant = np.zeros(len(self._runs), dtype=np.bool_)
        is_meant[one] = is_meant[other] = True
        meant, at = np.flatnonzero(is_meant), np.cumsum(is_meant) - 1
        group_of = _group(self._tools[self._runs[meant]])
        known = self._figures.of(_EVIDENCE, meant).select(_digits(pl.col("text")), group_of, is_rate=_IS_RATE)
        all_digits, group, is_rate = (column.to_numpy() for column in known)
        at_one, at_other = at[one], at[other]
        order = np.lexsort((group[at_one], pair))
        order = order[group[at_one[order]] > 0]
        pair, at_one, at_other = pair[order], at_one[order], at_other[order]
        digits, group = np.minimum(all_digits[at_one], all_digits[at_other]), group[at_one]
        starts = np.flatnonzero(np.diff(pair, prepend=-1) | (group != np.roll(group, 1)))
        if not len(starts):
            return np.zeros(pairs, dtype=np.int64)
        least, most = (ufunc.reduceat(digits, starts) for ufunc in (np.minimum, np.maximum))
        counted = np.where(is_rate[at_one[starts]], least, most)
        return np.bincount(pair[starts], counted, minlength=pairs).astype(np.int64)


def _spread(starts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Return the members of ranges, preceded by the index of the range of each."""
    of = np.repeat(np.arange(len(starts)), sizes)
    return of, np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes - starts, sizes)


# How much evidence a print provides

_THROUGHPUT: Final = ("bandwidth", "iops", "file_rate", "elapsed")
_LATENCY: Final = ("latency", "submission_latency", "completion_latency", EITHER_LATENCY, "phase_latency")
_TELLING: Final = (*_THROUGHPUT, *_LATENCY, "thread_events", "thread_time")
"""Metrics that differ between runs of one workload; amounts of work and times may have been requested."""
IS_WHOLE: Final = pl.col("scope").is_in(["all", "job", "client"])
"""The measurements of all other scopes are parts or sums of these."""
TELLS: Final = IS_WHOLE & pl.col("metric").is_in(_TELLING) & (pl.col("value") != 0).fill_null(value=False)
_CONCURRENT: Final = [name for name, tool in TOOLS.items() if tool.concurrent]
"""Tools whose operations run concurrently, so that one rate determines the other."""
_IS_RATE: Final = pl.col("statistic").is_in(["value", "mean"]) & pl.col("metric").is_in([*_THROUGHPUT, *_LATENCY])


_EVIDENCE: Final = ("text", "value", *MEASUREMENT_KEY)
"""The columns that show how much evidence a print provides."""


def _group(tools: pl.Series) -> pl.Expr:
    """Return a number that is equal for measurements that determine each other, and 0 without evidence."""
    is_percentile = pl.col("statistic").str.starts_with("p")
    kind = pl.when(is_percentile).then(pl.lit("percentile")).otherwise("statistic")
    of_rate = pl.when(~tools.is_in(_CONCURRENT)).then("operation"), pl.lit(None, pl.Boolean), pl.lit("rate")
    of_other = pl.col("operation"), pl.col("metric").is_in(_LATENCY), kind
    what = (pl.when(_IS_RATE).then(a).otherwise(b) for a, b in zip(of_rate, of_other, strict=True))
    group = pl.struct("part", *_SIZES, *(each.alias(f"what{index}") for index, each in enumerate(what))).hash()
    return pl.when(TELLS).then(group).otherwise(pl.lit(0, pl.UInt64)).alias("group")


def _digits(text: pl.Expr) -> pl.Expr:
    """Count the significant digits of a printed number beyond the second, without trailing zeros."""
    number = text.str.extract(r"(\d[\d.,]*)").str.replace_all("[.,]", "").str.strip_chars("0")
    return (number.str.len_bytes().cast(pl.Int64) - 2).clip(0).fill_null(0)


_SLACK: Final = 0.1
# fio truncates a quantity to a 1000th or 1024th of its unit before rounding it to one or two decimals.
_FLOATING: Final = 1e-9
_SAME_STEP: Final = 0.01
_NEIGHBOUR: Final = 0.6
# In steps of the same size, neighbours are different values; "down" and "nearest" differ by half a step.
_CUT_BEFORE: Final = ("group_share",)
"""fio's terse output divides by a bandwidth that was truncated to KiB/s, and prints six decimals of the result."""
