"""Whether the measurements of records agree, and how much that tells: of many pairs of records at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.data.columns import RUN
from fsbench_kit.formats import TOOLS
from fsbench_kit.model.schema import MEASUREMENT_KEY
from fsbench_kit.model.vocabulary import EITHER_LATENCY

Numbers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

ENOUGH: Final = 5
"""Digits, beyond the second of each rate or time, from which on an agreement is no chance."""

FEW: Final = 0.1
"""Share of measurements that may differ between records that bear the same date."""

_SIZES: Final = MEASUREMENT_KEY[-3:]
_OTHERS: Final = MEASUREMENT_KEY[:-3]

_FIRST: Final = (4, 16, 64)
"""By so many measurements, those with the longest prints, nearly all records are told apart."""

_WORTH_IT: Final = 2**12
"""Fewer measurements are held against others as fast as some of them would be first."""

_TOGETHER: Final = 2**20
"""So many measurements are held against others at once."""


def hashed(rows: pl.DataFrame, names: Sequence[str]) -> NDArray[np.uint64]:
    """Return a number for what rows have in some columns."""
    return rows.select(pl.struct(names).hash()).to_series().to_numpy()


class Figures:
    """Measurements as arrays, to be held against each other."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._rows = rows
        self._low, self._high = rows["low"].to_numpy(), rows["high"].to_numpy()
        self._is_measured = (rows["state"] == "measured").to_numpy()
        self._is_missing = ((rows["state"] == "missing") | rows["metric"].is_in(_CUT_BEFORE)).to_numpy()

    @cached_property
    def key(self) -> Numbers:
        """What measurements are of."""
        return self._numbers(MEASUREMENT_KEY)

    @cached_property
    def alike(self) -> Numbers:
        """The same without its sizes."""
        return self._numbers(_OTHERS)

    def _numbers(self, names: Sequence[str]) -> Numbers:
        return np.unique(hashed(self._rows, names), return_inverse=True)[1]

    @cached_property
    def sizes(self) -> Numbers:
        """What tells rows apart that are alike; below 0 where it is not known."""
        return self._rows.select(pl.col(_SIZES).fill_null(-1)).to_numpy()

    def agree(self, one: Numbers, other: Numbers) -> Flags:
        """Tell of pairs of rows whether they can be the same value.

        What is missing, or of unknown rounding, can be anything.
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
        # A censored value has one open end.
        reach = ~((low > other_high) | (other_low > high))
        agree = np.where(self._is_measured[one] & self._is_measured[other], agree, reach)
        return np.asarray(agree | self._is_missing[one] | self._is_missing[other])


class Lookup:
    """Finds the measurements of records.

    Parameters
    ----------
    figures, rows
        The rows among all figures that can be found.
    records
        The number of the record of each.
    """

    def __init__(self, figures: Figures, rows: Numbers, records: Numbers) -> None:
        self._figures = figures
        self._records = int(records.max(initial=0)) + 1
        self._key, self._alike = (
            self._sorted(rows, numbers[rows] * self._records + records) for numbers in (figures.key, figures.alike)
        )

    @staticmethod
    def _sorted(rows: Numbers, codes: Numbers) -> tuple[Numbers, Numbers]:
        order = np.argsort(codes, kind="stable")
        return codes[order], rows[order]

    def _found(self, codes: Numbers, wanted: Numbers) -> tuple[Numbers, Numbers]:
        start, end = (np.searchsorted(codes, wanted, side=side) for side in ("left", "right"))
        return start, end - start

    def partners(self, rows: Numbers, records: Numbers) -> tuple[Numbers, Numbers]:
        """Return which of some rows another record has as well, by their places, and its rows.

        A size that only one of the two knows is none.
        """
        figures = self._figures
        codes, known = self._key
        start, number = self._found(codes, figures.key[rows] * self._records + records)
        is_found = number > 0
        alone = np.flatnonzero(~is_found)
        exact = known[start[is_found]]
        codes, known = self._alike
        start, number = self._found(codes, figures.alike[rows[alone]] * self._records + records[alone])
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
    """The primary measurements of records, as arrays; of those that stand for the same thing the first counts.

    Parameters
    ----------
    measurements
        Those of the records, by the record's number in `RUN`.
    tools
        The tool of each record.
    """

    def __init__(self, measurements: pl.DataFrame, tools: pl.Series) -> None:
        main = measurements.filter("primary")
        key = hashed(main, MEASUREMENT_KEY)
        is_first = pl.DataFrame({RUN: main[RUN], "key": key}).select(pl.struct(pl.all()).is_first_distinct())
        is_only = is_first.to_series()
        if not is_only.all():
            main, key = main.filter(is_only), key[is_only.to_numpy()]
        self._main = main
        self._tools = tools
        runs = main[RUN].to_numpy()
        self._figures = Figures(main)
        self._start = np.searchsorted(runs, np.arange(len(tools) + 1))
        place = np.arange(len(runs)) - self._start[runs]
        self._layout = self._layouts(key * (2 * place + 1).astype(np.uint64), tools)
        # The row in the same place of the first record of each layout.
        self._like = self._start[np.unique(self._layout, return_index=True)[1][self._layout[runs]]] + place
        lengths = main["text"].str.len_bytes().to_numpy().astype(np.int64)
        self._order = np.lexsort((-lengths[self._like], runs))  # those with the longest prints tell most

    def _layouts(self, marks: NDArray[np.uint64], tools: pl.Series) -> Numbers:
        """Return for each record a number that stands for its tool, and what it measures in which order."""
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(marks, dtype=np.uint64)])[self._start]
        return np.unique(np.diff(sums) ^ tools.hash().to_numpy(), return_inverse=True)[1]

    @cached_property
    def _telling(self) -> tuple[Numbers, Numbers, Flags]:
        """The digits of each, its group (below 0 if it tells nothing), and whether it is a rate."""
        likes, like = np.unique(self._like, return_inverse=True)
        first = self._main[likes]
        known = first.select(group=_group(self._tools.gather(first[RUN])).rank("dense"), is_rate=_IS_RATE)
        group = known["group"].cast(pl.Int64).fill_null(-1).to_numpy()[like]
        digits, tells = np.zeros(len(group), dtype=np.int64), group >= 0
        digits[tells] = self._main["text"].filter(tells).to_frame().select(_digits(pl.col("text"))).to_series()
        group[~(self._main["value"] != 0).fill_null(value=False).to_numpy()] = -1
        return digits, group, known["is_rate"].to_numpy()[like]

    @cached_property
    def number(self) -> Numbers:
        """How many measurements each record has."""
        return np.diff(self._start)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self._figures, np.arange(self._main.height), self._main[RUN].to_numpy())

    def same(self, one: Numbers, other: Numbers, tolerance: NDArray[np.float64], enough: int) -> Flags:
        """Tell of pairs of records of one tool whether they are prints of one run.

        They agree in all but a share of the measurements that both have, by enough digits.
        """
        few, many = self._by_number(one, other)
        left = np.arange(len(one))
        if self.number[few].sum() > _WORTH_IT:
            left = np.flatnonzero(self.may_be_same(one, other, tolerance))
        is_same = np.zeros(len(one), dtype=np.bool_)
        for some in self._split(left, self.number[few[left]]):
            is_same[some] = self._are_same(few[some], many[some], tolerance[some], enough)
        return is_same

    def may_be_same(self, one: Numbers, other: Numbers, tolerance: NDArray[np.float64]) -> Flags:
        """Tell the same by few of the measurements, which is far faster."""
        few, many = self._by_number(one, other)
        left = np.arange(len(one))
        for number in _FIRST:
            parts = self._split(left, np.minimum(self.number[few[left]], number))
            left = np.concatenate(
                [some[self._may_be(few[some], many[some], tolerance[some], number)] for some in parts]
            )
        may_be = np.zeros(len(one), dtype=np.bool_)
        may_be[left] = True
        return may_be

    def _by_number(self, one: Numbers, other: Numbers) -> tuple[Numbers, Numbers]:
        is_less = self.number[one] <= self.number[other]
        return np.where(is_less, one, other), np.where(is_less, other, one)

    @staticmethod
    def _split(pairs: Numbers, sizes: Numbers) -> list[Numbers]:
        return np.array_split(pairs, 1 + sizes.sum() // _TOGETHER)

    def _may_be(self, few: Numbers, many: Numbers, tolerance: NDArray[np.float64], number: int) -> Flags:
        """Whether not too many of the first measurements of pairs differ."""
        pair, item, partner = self._partners(few, many, number)
        differing = np.bincount(pair[~self._figures.agree(item, partner)], minlength=len(few))
        return np.asarray(differing <= tolerance * self.number[few])

    def _are_same(self, few: Numbers, many: Numbers, tolerance: NDArray[np.float64], enough: int) -> Flags:
        pair, item, partner = self._partners(few, many)
        agree = self._figures.agree(item, partner)
        shared, differing = (np.bincount(of, minlength=len(few)) for of in (pair, pair[~agree]))
        digits = self._told(pair[agree], item[agree], partner[agree], len(few))
        return np.asarray((differing <= tolerance * shared) & (digits >= enough))

    def tells_enough(self, records: Numbers) -> Flags:
        """Whether records have so many digits that their like can only be copies."""
        pair, item = self._rows(records)
        return np.asarray(self._told(pair, item, item, len(records)) >= ENOUGH)

    def _rows(self, records: Numbers, most: int | None = None) -> tuple[Numbers, Numbers]:
        """Return the rows of records, some of which can be equal, and the place of each row's record."""
        pair, place = self._places(records, most)
        return pair, self._order[place]

    def _places(self, records: Numbers, most: int | None) -> tuple[Numbers, Numbers]:
        sizes = self.number[records]
        return _spread(self._start[records], sizes if most is None else np.minimum(sizes, most))

    def _partners(self, few: Numbers, many: Numbers, most: int | None = None) -> tuple[Numbers, Numbers, Numbers]:
        """Return rows of the one record of pairs which the other has as well: pair, row and row of the other."""
        is_alike = self._layout[few] == self._layout[many]
        if is_alike.all():  # as nearly always; then these are the rows in the same places
            pair, place = self._places(few, most)
            further = self._start[many] - self._start[few]
            return pair, self._order[place], self._order[place + further[pair]]
        if not is_alike.any():
            pair, item = self._rows(few, most)
            at, partner = self._lookup.partners(item, many[pair])
            return pair[at], item[at], partner
        parts = []
        for which in map(np.flatnonzero, (is_alike, ~is_alike)):
            pair, item, partner = self._partners(few[which], many[which], most)
            parts.append((which[pair], item, partner))
        pair, item, partner = map(np.concatenate, zip(*parts, strict=True))
        return pair, item, partner

    def _told(self, pair: Numbers, one: Numbers, other: Numbers, pairs: int) -> Numbers:
        """Count the digits beyond the second in which rates and times of pairs agree.

        What follows from each other counts once, by the shorter of the prints: IOPS, bandwidth and the mean
        latency of a job, a rate and the time it was taken over.
        """
        if not len(pair):
            return np.zeros(pairs, dtype=np.int64)
        all_digits, groups, are_rates = self._telling
        tells = groups[one] >= 0
        pair, one, other = pair[tells], one[tells], other[tells]
        order = np.lexsort((groups[one], pair))
        pair, one, other = pair[order], one[order], other[order]
        digits, group, is_rate = np.minimum(all_digits[one], all_digits[other]), groups[one], are_rates[one]
        starts = np.flatnonzero(np.diff(pair, prepend=-1) | np.diff(group, prepend=-1))
        if not len(starts):
            return np.zeros(pairs, dtype=np.int64)
        least, most = (ufunc.reduceat(digits, starts) for ufunc in (np.minimum, np.maximum))
        told = np.where(is_rate[starts], least, most)
        return np.bincount(pair[starts], told, minlength=pairs).astype(np.int64)


def _spread(starts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Return the numbers of ranges and, beside each, its members."""
    of = np.repeat(np.arange(len(starts)), sizes)
    return of, np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes - starts, sizes)


# How much a print tells

_THROUGHPUT: Final = ("bandwidth", "iops", "file_rate", "elapsed")
_LATENCY: Final = ("latency", "submission_latency", "completion_latency", EITHER_LATENCY, "phase_latency")
TELLING: Final = (*_THROUGHPUT, *_LATENCY, "thread_events", "thread_time")
"""What differs between runs of one workload; amounts of work and times may have been asked for."""
SCOPES: Final = ("all", "job", "client")
"""The measurements of other scopes are parts or sums of these."""
_CONCURRENT: Final = [name for name, tool in TOOLS.items() if tool.concurrent]
"""Tools whose operations are done at the same time, so that one rate determines the other."""
_IS_RATE: Final = pl.col("statistic").is_in(["value", "mean"]) & pl.col("metric").is_in([*_THROUGHPUT, *_LATENCY])


def _group(tools: pl.Series) -> pl.Expr:
    """Return which measurements follow from each other, or null where one tells nothing."""
    is_percentile = pl.col("statistic").str.starts_with("p")
    kind = pl.when(is_percentile).then(pl.lit("percentile")).otherwise("statistic")
    of_rate = pl.when(~tools.is_in(_CONCURRENT)).then("operation"), pl.lit(None, pl.Boolean), pl.lit("rate")
    of_other = pl.col("operation"), pl.col("metric").is_in(_LATENCY), kind
    what = (pl.when(_IS_RATE).then(a).otherwise(b) for a, b in zip(of_rate, of_other, strict=True))
    tells = pl.col("scope").is_in(SCOPES) & pl.col("metric").is_in(TELLING)
    return pl.when(tells).then(
        pl.struct("part", *_SIZES, *(each.alias(f"what{index}") for index, each in enumerate(what))).hash()
    )


def _digits(text: pl.Expr) -> pl.Expr:
    """Count the significant digits of a printed number beyond the second; zeros at its end may be round."""
    number = text.str.extract(r"(\d[\d.,]*)").str.replace_all("[.,]", "").str.strip_chars("0")
    return (number.str.len_bytes().cast(pl.Int64) - 2).clip(0).fill_null(0)


_SLACK: Final = 0.1
# fio cuts a quantity to a 1000th or 1024th of its unit before it rounds that to one or two decimals.
_FLOATING: Final = 1e-9
_SAME_STEP: Final = 0.01
_NEIGHBOUR: Final = 0.6
# Printed in steps of the same size, neighbours are different values; "down" and "nearest" are half a step apart.
_CUT_BEFORE: Final = ("group_share",)
"""fio's terse output divides by a bandwidth that was cut to KiB/s, and prints six decimals of the result."""
