"""The rules that decide which records belong to one run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.data.columns import RUN
from fsbench_kit.data.deduplication.agreement import (
    ENOUGH,
    IS_WHOLE,
    TELLS,
    Hashes,
    Numbers,
    Prints,
    hashed,
    recur,
)
from fsbench_kit.data.deduplication.found import Found, Remark
from fsbench_kit.model.records import Setting
from fsbench_kit.model.rows import rows_of

PRINTED_ALIKE: Final = ("runtime", "context_switches", "major_faults", "minor_faults", "phase_latency")
"""The counts and times that a tool prints identically in all its formats."""

_AT_EITHER_END: Final = 4
"""The number of measurements at either end of a record that are used to find copies of it."""

_FEW: Final = 0.1
"""The share of measurements that may differ between records with the same date."""

_ENOUGH_BESIDE: Final = 3
"""The digits required of formats right after each other: a run of microseconds prints few, which all agree."""

_TRIES: Final = 16
"""The number of other records with the same mark to compare a record with, which bounds the time."""

_Pairs = Numbers
"""Two columns: the number of a record and that of a later one."""

_NONE: Final[_Pairs] = np.empty((0, 2), dtype=np.int64)


def same_runs(found: Found, known: Marks | None = None) -> tuple[list[list[int]], list[Remark]]:
    """Group records by the run that they belong to.

    Parameters
    ----------
    found
        The records.
    known
        The marks of the records, if they are already known.

    Returns
    -------
    tuple
        For each run the numbers of its records, the most complete one first, with runs in the order of their first
        records; and warnings about runs that have the same figures but are stated to be different.
    """
    marked = known or marks(found)
    *nested, beside = _formats_in_one_file(found, marked)
    steps = (
        (list(_of_one_mark(marked, _in_one_place(found))), None),
        (nested, 0),
        ([beside], _ENOUGH_BESIDE),
        (list(_of_one_mark(marked, marked.frame)), ENOUGH),
    )
    pairs = [each for several, _ in steps for each in several if len(each)]
    if not pairs:
        return [[number] for number in range(len(found))], []
    sets = _Sets(found, np.concatenate(pairs).ravel())
    for several, enough in steps:
        sets.join(several, enough, by_main=enough == ENOUGH)
    return sets.ordered(), sets.remarks


# What records can have in common


class Marks(NamedTuple):
    """What can identify records of one run wherever they are printed.

    Attributes
    ----------
    frame
        The number of each record with a ``mark``, and its ``format`` if the mark only links different formats.
    rates
        The first measurement of each record that differs between runs; NaN if there is none.
    """

    frame: pl.DataFrame
    rates: NDArray[np.float64]

    def of_files(self, found: Found) -> pl.DataFrame:
        """Return the marks with the file of each record."""
        sources = found.facts["source"].gather(self.frame[RUN])
        return pl.DataFrame([sources, self.frame["mark"], self.frame["format"]])


def marks(found: Found) -> Marks:
    """Return the marks of records; in different loose files, only records that share one can be of one run."""
    runs, every = found.columns.runs, np.arange(len(found))
    measurements, is_main = found.columns.measurements, pl.col("primary")
    is_alike = IS_WHOLE & pl.col("metric").is_in(PRINTED_ALIKE)
    flags = measurements.select_seq(telling=is_main & TELLS, alike=is_main & is_alike)
    telling, alike = (np.flatnonzero(flag) for flag in flags)
    of_measurements = measurements[RUN].to_numpy()
    starts, ends = np.searchsorted(of_measurements[telling], [every, every + 1])
    number = np.minimum(ends - starts, _AT_EITHER_END)
    has_any = np.flatnonzero(number)
    rates = np.full(len(found), np.nan)
    rates[has_any] = measurements["value"].to_numpy()[telling[starts[has_any]]]
    of_alike, first = np.unique(of_measurements[alike], return_index=True)
    sums = np.empty(0, np.uint64)
    if len(first):
        sums = np.add.reduceat(hashed(rows_of(measurements[list(_ALIKE)], alike), _ALIKE), first)
    at_ends = np.concatenate([from_[has_any] for from_ in (starts, ends - number)])
    sums_at_ends = _sums(measurements, telling, at_ends, np.tile(number[has_any], 2))
    hashes = runs.select_seq(pl.col(name).hash() for name in _OF_RUNS)
    known = [_known(runs[name]) for name in _OF_RUNS]
    each = [(of, hashes[name].to_numpy()[of], _OF_RUNS[name]) for of, name in zip(known, _OF_RUNS, strict=True)]
    each += [(of_alike, sums, True)]
    each += [(has_any, own, False) for own in np.split(sums_at_ends, 2)]
    return Marks(_marked(runs, each), rates)


_OF_RUNS: Final = {"sha256": False, "identity": False, "started_at": True, "ended_at": True}
"""Facts that serve as marks, and whether they only link different formats.

The bytes of a run, and what a tool prints for one run only, link any records. Many runs share a date by chance, so
it only links records in different formats.
"""
_ALIKE: Final = ("operation", "metric", "value")
_PRINTED: Final = ("operation", "metric", "statistic", "value")


def _known(values: pl.Series) -> Numbers:
    """Return the rows that are not null; mostly all or none are, which is known without a query."""
    if values.null_count() == len(values):
        return np.empty(0, np.int64)
    return np.flatnonzero(values.is_not_null()) if values.null_count() else np.arange(len(values))


def _sums(measurements: pl.DataFrame, rows: Numbers, starts: Numbers, numbers: Numbers) -> Hashes:
    """Return an ordered hash over the given number of rows from each start, up to `_AT_EITHER_END`."""
    places = np.arange(_AT_EITHER_END)
    are_there = places < numbers[:, None]
    hashes = np.zeros(are_there.shape, np.uint64)
    their_rows = rows[(starts[:, None] + places)[are_there]]
    hashes[are_there] = hashed(rows_of(measurements[list(_PRINTED)], their_rows), _PRINTED)
    sums = np.zeros(len(starts), np.uint64)
    for each in hashes.T:
        sums = (sums + each) * _MORE
    return sums


_MORE: Final = np.uint64(0xD6E8FEB86659FD93)


def _marked(runs: pl.DataFrame, each: Sequence[tuple[Numbers, Hashes, bool]]) -> pl.DataFrame:
    """Return hashes of facts about records as marks, distinct for each kind of fact and each tool."""
    numbers, hashes, are_formats = zip(*each, strict=True)
    lengths = list(map(len, numbers))
    kinds, records = np.repeat(np.arange(len(each)), lengths), np.concatenate(numbers)
    tools = runs["tool"].hash().to_numpy()[records]
    formats, nowhere = runs["format"][records], pl.Series([None], dtype=pl.String)
    is_format = pl.Series(np.repeat(are_formats, lengths))
    known = {
        RUN: records,
        "mark": np.concatenate(hashes) + tools * (2 * kinds + 1).astype(np.uint64),
        "format": formats.zip_with(is_format, nowhere),
    }
    return pl.DataFrame(known, schema=_MARKS)


_MARKS: Final = pl.Schema({RUN: pl.Int64(), "mark": pl.UInt64(), "format": pl.String()})


def _in_one_place(found: Found) -> pl.DataFrame:
    """Return marks of the same place in a file, or in the file of the same name in the same study.

    Rows of a table share the bytes of the table, so their figures are part of the mark.
    """
    if found.columns.runs["sha256"].n_unique() == len(found):
        return pl.DataFrame(schema=_MARKS)
    runs = found.columns.runs.select("tool", "format", "start", "sha256").with_row_index(RUN)
    several = runs.filter(pl.col("sha256").is_duplicated())
    facts = found.facts["source", "study", "name"][several[RUN]]
    measurements = found.columns.measurements
    of_several = measurements.filter(pl.col(RUN).is_in(several[RUN].implode()))
    figures = of_several.group_by(RUN).agg(figures=pl.struct(pl.exclude(RUN)).hash())
    own = several.hstack(facts).join(figures, on=RUN, how="left", maintain_order="left")
    place = ["start", "sha256", "figures"]
    each = []
    for names in (["source"], ["study", "name"]):
        known = own.drop_nulls(names)
        each.append((known[RUN].to_numpy(), hashed(known, [*names, *place]), False))
    return _marked(runs, each)


# Pairs that may belong to one run


def _of_one_mark(of_all: Marks, marked: pl.DataFrame) -> Iterator[_Pairs]:
    """Yield pairs of records that share a mark, sorted by rate: neighbours first, then pairs farther apart."""
    recurs = recur(marked["mark"].to_numpy())
    if not recurs.any():
        return
    runs, mark = (marked[name].to_numpy()[recurs] for name in (RUN, "mark"))
    # Marks without a format link all records: null becomes NaN, which is not even equal to itself.
    formats = marked["format"].cast(pl.Categorical).to_physical().to_numpy()[recurs]
    order = np.lexsort((runs, np.nan_to_num(of_all.rates[runs], nan=-np.inf), mark))
    runs, mark, formats = runs[order], mark[order], formats[order]
    for lag in range(1, _TRIES + 1):
        here, there = slice(None, -lag), slice(lag, None)
        is_pair = mark[here] == mark[there]
        if not is_pair.any():
            return
        is_pair &= formats[here] != formats[there]
        yield np.sort(np.stack([runs[here][is_pair], runs[there][is_pair]], axis=1), axis=1)


def _formats_in_one_file(found: Found, known: Marks) -> list[_Pairs]:
    """Return pairs in different formats: one inside the other, both inside a third, and one right after the other.

    If a run failed, formats that follow each other count as one inside the other, as there are no figures to
    compare.
    """
    in_other: list[tuple[int, int]] = []
    in_third: list[tuple[int, int]] = []
    beside: list[tuple[int, int]] = []
    if found.facts["source"].n_unique() < len(found):
        runs = found.columns.runs.with_columns(found.facts["source"]).with_row_index(RUN).select(_Place._fields)
        several = runs.filter(pl.col("source").is_duplicated()).sort("source", "start", -pl.col("end"), RUN)
        group: list[_Place] = []
        for each in map(_Place._make, several.iter_rows()):
            if group and (group[0].tool, group[0].source) == (each.tool, each.source):
                last = group[-1]
                is_next = each.format != last.format and 0 <= each.start - last.end <= _LINE_END
                beside += [(last.run, each.run)] * is_next
                have_failed = last.status == each.status == "failed"
                tell_nothing = have_failed and np.isnan(known.rates[[last.run, each.run]]).all()
                is_inside = each.end <= group[0].end or (tell_nothing and each.start <= last.end + _LINE_END)
                if is_inside and each.format not in {other.format for other in group}:
                    in_other.append((group[0].run, each.run))
                    in_third += [(other.run, each.run) for other in group[1:]]
                    group.append(each)
                    continue
            group = [each]
    return [np.array(pairs, dtype=np.int64).reshape(-1, 2) for pairs in (in_other, in_third, beside)]


class _Place(NamedTuple):
    """Where a record is printed."""

    run: int
    tool: str
    source: str
    format: str | None
    start: int
    end: int
    status: str


_LINE_END: Final = 2


# Sets of records that belong to one run


class _Sets:
    """Joins records into sets; a set has the number of its record with the most measurements.

    Parameters
    ----------
    found
        All records.
    candidates
        The records that may belong to one run with others.
    """

    def __init__(self, found: Found, candidates: Numbers) -> None:
        self.remarks: list[Remark] = []
        self._found = found
        self._runs = found.columns.runs
        self._set_of = np.arange(len(found))
        self._members: dict[int, list[int]] = {}
        self._known: dict[int, _Known] = {}
        self._remarked: set[int] = set()
        is_candidate = np.zeros(len(found), dtype=np.bool_)
        is_candidate[candidates] = True
        measurements = found.columns.measurements
        own = measurements["primary"].to_numpy() & is_candidate[measurements[RUN].to_numpy()]
        rows = np.flatnonzero(own)
        self._prints = Prints(measurements, rows, found.keys[rows], self._runs["tool"])
        # Unknown dates become NaN, which is not equal to any.
        self._dates = [self._runs[name].to_physical().to_numpy() for name in ("started_at", "ended_at")]

    def join(self, several: Sequence[_Pairs], enough: int | None, *, by_main: bool = False) -> None:
        """Join pairs whose measurements agree by enough digits, or all pairs if `enough` is ``None``.

        With `by_main`, the most complete record of a set is compared on behalf of its members, because a coarse
        print can agree with several runs that differ. Copies are among the first pairs, so that they need few
        comparisons.
        """
        apart: dict[int, tuple[int, str]] = {}
        for some in (several[:1], several[1:]):
            pairs = np.concatenate([*some, _NONE])
            done = pairs[:0, 0]
            while len(new := self._new(self._set_of[pairs] if by_main else pairs, done)):
                done = np.concatenate([done, self._codes(new)])
                one, other = new.T
                if enough is not None:
                    is_same = self._prints.same(one, other, self._tolerance(one, other), enough)
                    one, other = one[is_same], other[is_same]
                self._learn({*one.tolist(), *other.tolist()})
                for pair in zip(one.tolist(), other.tolist(), strict=True):
                    first, second = sets = tuple(self._set_of[[*pair]].tolist())
                    if first != second and (not by_main or sets == pair):
                        self._join(first, second, apart)
        self._remark(apart)

    def _codes(self, pairs: _Pairs) -> Numbers:
        """Return a number for each pair of records."""
        return np.asarray(pairs[:, 0] * len(self._set_of) + pairs[:, 1])

    def _new(self, pairs: _Pairs, done: Numbers) -> _Pairs:
        """Return the distinct pairs that are not in one set yet, except those already done."""
        sets = self._set_of[pairs]
        codes = np.sort(self._codes(np.sort(pairs[sets[:, 0] != sets[:, 1]], axis=1)))
        codes = codes[np.diff(codes, prepend=-1) > 0]  # `np.unique` hashes, which takes several times as long
        if len(done):
            codes = codes[np.isin(codes, done, assume_unique=True, invert=True, kind="sort")]
        return np.stack(np.divmod(codes, len(self._set_of)), axis=1)

    def _join(self, one: int, other: int, apart: dict[int, tuple[int, str]]) -> None:
        """Join two sets unless a known fact distinguishes them."""
        known, of_other = self._known[one], self._known[other]
        difference = known.difference(of_other)
        if difference is not None:
            apart.setdefault(other, (one, difference))
            return
        known.add(of_other)
        members = [*self._members.pop(one, [one]), *self._members.pop(other, [other])]
        main = other if self._prints.number[other] > self._prints.number[one] else one
        self._known[main], self._members[main], self._set_of[members] = known, members, main
        apart.pop(other, None)

    def _learn(self, records: set[int]) -> None:
        """Look up the known facts of records."""
        new = sorted(number for number in records - self._known.keys() if self._set_of[number] == number)
        if not new:
            return
        runs, facts = (
            frame[new].rows(named=True) for frame in (self._runs.select(_Known.OF_RUN), self._found.facts)
        )
        for number, run, known in zip(new, runs, facts, strict=True):
            self._known[number] = _Known(run, known, self._found.settings[number])

    def _remark(self, apart: dict[int, tuple[int, str]]) -> None:
        """Warn about records that have the same measurements but are stated to be of different runs."""
        seconds = np.array([number for number in apart if number not in self._remarked], dtype=np.int64)
        for second in seconds[self._prints.tells_enough(seconds)].tolist():
            first, difference = apart[second]
            here, there = self._found.places([second, first])
            message = (
                f"The run has the same figures as the one at {there.seen_from(here)}, but another {difference}."
            )
            self.remarks.append(here.remark("SAME_FIGURES", message))
            self._remarked.add(second)

    def _tolerance(self, one: Numbers, other: Numbers) -> NDArray[np.float64]:
        """Return the share of the measurements of pairs that may differ: some if their dates are equal."""
        of_date = np.zeros(len(one), dtype=np.bool_)
        for dates in self._dates:
            of_date |= dates[one] == dates[other]
        return np.where(of_date, _FEW, 0.0)

    def ordered(self) -> list[list[int]]:
        """Return the records of each run, the most complete one first."""
        number, is_partial = self._prints.number, (self._runs["status"] == "partial").to_numpy()
        are_main = np.flatnonzero(self._set_of == np.arange(len(self._set_of)))
        sets = sorted((self._members.get(main, [main]) for main in are_main.tolist()), key=min)
        return [sorted(members, key=lambda item: (is_partial[item], -number[item], item)) for members in sets]


class _Known:
    """The known facts about the records of one run, to which each record adds."""

    OF_RUN: Final = ("filesystem", "host", "started_at", "ended_at", "identity")

    def __init__(self, run: dict[str, Any], facts: dict[str, Any], settings: Iterable[Setting]) -> None:
        facts |= {name: run[name] for name in ("filesystem", "host") if run[name]}
        facts |= {"beginning": run["started_at"], "end": run["ended_at"], "source": None, "name": None}
        self._facts = {name: value for name, value in facts.items() if value is not None}
        # Facts that can have several values; an incomplete record may only have some of them.
        self._values: dict[str, set[str]] = defaultdict(set)
        words = run["identity"] or []
        of_outside = ((item.key, item.value) for item in settings)
        for name, value in (*zip(words[::2], words[1::2], strict=True), *of_outside):
            self._values[name].add(value)

    def add(self, other: _Known) -> None:
        self._facts = {**other._facts, **self._facts}
        for name, values in other._values.items():
            self._values[name] |= values

    def difference(self, other: _Known) -> str | None:
        """Return the name of a fact that is known for both and differs, or ``None``."""
        for name in self._facts:
            if name in other._facts and not _is_same_fact(name, self._facts[name], other._facts[name]):
                return name
        for name, values in self._values.items():
            if name in other._values and values.isdisjoint(other._values[name]):
                return name
        return None


_SAME_TIME: Final = timedelta(seconds=2)
"""A tool reads the clock again for each format in which it prints a run."""


def _is_same_fact(name: str, one: Any, other: Any) -> bool:
    if name == "host":  # tables truncate long names
        return bool(one.startswith(other) or other.startswith(one))
    if isinstance(one, datetime) and isinstance(other, datetime):
        return abs(one - other) <= _SAME_TIME
    return bool(one == other)
