"""The rules by which records are of one run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.data.columns import RUN
from fsbench_kit.data.deduplication.agreement import (
    ENOUGH,
    FEW,
    SCOPES,
    TELLING,
    Flags,
    Numbers,
    Prints,
    hashed,
)
from fsbench_kit.data.deduplication.found import Found, Remark
from fsbench_kit.model.records import Setting, Status

PRINTED_ALIKE: Final = ("runtime", "context_switches", "major_faults", "minor_faults", "phase_latency")
"""The counts and times that a tool prints alike in all its formats."""

_AT_EITHER_END: Final = 4
"""So many measurements at the beginning or the end of a record find those that it is a copy of."""

_ENOUGH_BESIDE: Final = 3
"""So many digits tell of formats right after each other: a run of microseconds prints few, all of which agree."""

_TRIES: Final = 16
"""With so many others of its bucket a record is compared, which bounds the time."""


def same_runs(found: Found, known: Marks | None = None) -> tuple[list[list[int]], list[Remark]]:
    """Sort records by the run that they are of.

    Parameters
    ----------
    found
        The records.
    known
        What brings them together wherever they stand, if that is known already.

    Returns
    -------
    tuple
        For each run the numbers of its records, the most complete one first, in the order in which those were
        given; and warnings of runs that have the same measurements and are said to be different ones.
    """
    if len(found) < 2:
        return [[number] for number in range(len(found))], []
    known = known or marks(found)
    runs = found.columns.runs.with_columns(found.facts["source", "study", "name"]).with_row_index(RUN)
    in_one_place = _buckets(known, _marked(runs, *_places(runs, found.columns.measurements)))
    nested = beside = _NONE
    if runs["source"].is_duplicated().any():
        nested = _formats_in_one_file(runs, set(np.flatnonzero(~np.isnan(known.rates)).tolist()))
        beside = _formats_beside_each_other(runs)
    alike = _buckets(known, known.frame)
    each = (in_one_place, nested, beside, alike)
    candidates = np.concatenate([buckets.runs for buckets in each])
    if not len(candidates):
        return [[number] for number in range(len(found))], []
    sets = _Sets(found, candidates)
    sets.join(in_one_place, None)
    sets.join(nested, 0)
    sets.join(beside, _ENOUGH_BESIDE)
    sets.join(alike, ENOUGH)
    return sets.ordered(), sets.remarks


class Marks(NamedTuple):
    """What brings records together wherever they stand.

    Attributes
    ----------
    frame
        By the record's number a ``mark`` of it, and where that tells only of other formats, its ``format``.
    rates
        The first measurement of each record that tells much; NaN where there is none.
    """

    frame: pl.DataFrame
    rates: NDArray[np.float64]

    def of_files(self, found: Found) -> pl.DataFrame:
        """Return the marks with the file of each record."""
        return self.frame.select(found.facts["source"].gather(self.frame[RUN]), "mark", "format")


def marks(found: Found) -> Marks:
    """Return the marks without which no records of several loose files are of one run."""
    runs = found.columns.runs.select("tool", "format", "sha256", "identity", "started_at", "ended_at")
    runs = runs.with_row_index(RUN)
    main = found.columns.measurements.select(*_TELLING, "primary", "scope").filter(
        "primary", pl.col("scope").is_in(SCOPES)
    )
    telling = _Telling(main.filter(pl.col("value") != 0, pl.col("metric").is_in(TELLING)), len(found))
    return Marks(_marked(runs, *_marks(runs), _printed_alike(main), *telling.ends()), telling.rates)


_TELLING: Final = (RUN, "operation", "metric", "statistic", "value")


class _Telling:
    """The measurements of so many records that tell much, and are neither parts nor sums of others."""

    def __init__(self, rows: pl.DataFrame, records: int) -> None:
        self._starts = np.searchsorted(rows[RUN].to_numpy(), np.arange(records + 1))
        self._marks = hashed(rows, _TELLING[1:])
        self._values = rows["value"].to_numpy()

    @property
    def rates(self) -> NDArray[np.float64]:
        """The first one of each record."""
        known = np.full(len(self._starts) - 1, np.nan)
        has = self._starts[:-1] < self._starts[1:]
        known[has] = self._values[self._starts[:-1][has]]
        return known

    def ends(self) -> Iterator[pl.DataFrame]:
        """Yield marks of records that begin or end with the same measurements."""
        starts, ends = self._starts[:-1], self._starts[1:]
        number = np.minimum(ends - starts, _AT_EITHER_END)
        records = np.flatnonzero(number)
        for name, first in (("first", starts), ("last", ends - number)):
            places = first[records, None] + np.arange(_AT_EITHER_END)
            is_own = np.arange(_AT_EITHER_END) < number[records, None]
            own = np.where(is_own, self._marks[np.minimum(places, ends[records, None] - 1)], 0)
            yield pl.DataFrame({RUN: records, **{f"{name}{at}": own[:, at] for at in range(_AT_EITHER_END)}})


# Buckets: records of one tool that may be of one run


class _Buckets(NamedTuple):
    """Records that share a mark: the mark of each, their numbers, and what a pair must not have in common.

    Those of one mark stand together, and of these the ones beside each other that are most alike.
    """

    marks: Numbers
    runs: Numbers
    kinds: Numbers

    def pairs(self, lag: int) -> Numbers:
        """Return the places of those that have the same mark as another one so many places further."""
        here, there = slice(None, -lag), slice(lag, None)
        is_pair = self.marks[here] == self.marks[there]
        is_pair &= (self.kinds[here] != self.kinds[there]) | (self.kinds[here] < 0)
        return np.flatnonzero(is_pair)


_NONE: Final = _Buckets(*np.empty((3, 0), dtype=np.int64))


def _buckets(of_all: Marks, marked: pl.DataFrame) -> _Buckets:
    """Put records together that share a mark."""
    known = marked.filter(marked["mark"].is_duplicated())
    if known.is_empty():
        return _NONE
    known = known.with_columns(
        pl.Series("rate", of_all.rates[known[RUN].to_numpy()]).fill_nan(None),
        kind=pl.col("format").rank("dense").cast(pl.Int64).fill_null(-1),
    )
    can_meet = (pl.col("kind").min() < 0) | (pl.col("kind").n_unique() > 1)
    known = known.filter(can_meet.over("mark")).sort("mark", "rate", RUN)
    numbers = known["mark"].rank("dense").cast(pl.Int64)
    return _Buckets(numbers.to_numpy(), known[RUN].to_numpy(), known["kind"].to_numpy())


def _marked(runs: pl.DataFrame, *several: pl.DataFrame) -> pl.DataFrame:
    """Return a number for the tool of records with all that frames have beside their numbers.

    What many share by chance, such as a date, tells only of records in different formats: theirs stand beside it.
    """
    nowhere = pl.lit(None, pl.String)
    return pl.concat(
        frame.select(
            pl.col(RUN).cast(pl.Int64),
            mark=pl.struct(runs["tool"].gather(frame[RUN]), pl.lit(number), pl.exclude(RUN)).hash(),
            format=runs["format"].gather(frame[RUN]) if "of_formats" in frame.columns else nowhere,
        )
        for number, frame in enumerate(several)
    )


def _places(runs: pl.DataFrame, measurements: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield marks of what stands in the same place of a file, or of one of that name in the same study.

    The bytes of a row of a table are those of the table; so its figures count as well.
    """
    several = runs.filter(pl.struct("tool", "start", "sha256").is_duplicated())
    of_several = measurements.filter(pl.col(RUN).is_in(several[RUN].implode()))
    figures = of_several.group_by(RUN).agg(figures=pl.struct(pl.exclude(RUN)).hash())
    own = several.select(RUN, "start", "sha256", "source", "study", "name").join(figures, on=RUN, how="left")
    yield own.drop("study", "name")
    yield own.drop("source").drop_nulls(["study", "name"])


def _marks(runs: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield marks of records with the same bytes, or with what a tool prints of one run alone."""
    yield runs.select(RUN, "sha256")
    yield runs.select(RUN, mark=pl.col("identity").list.join("\0")).drop_nulls()
    for end in ("started_at", "ended_at"):
        yield runs.select(RUN, end=pl.lit(end), of_formats=end).drop_nulls()


def _printed_alike(main: pl.DataFrame) -> pl.DataFrame:
    """Return marks of records of which the same is printed alike."""
    known = main.filter(pl.col("metric").is_in(PRINTED_ALIKE))
    return known.group_by(RUN).agg(of_formats=pl.struct("operation", "metric", "value").hash().sort())


def _formats_in_one_file(runs: pl.DataFrame, telling: set[int]) -> _Buckets:
    """Put records in different formats together that stand inside each other.

    So do those, one right after the other, of a run that failed: they have no figures that could tell.
    """
    several = runs.filter(pl.col("source").is_duplicated()).select(
        RUN, "tool", "source", "format", "start", "end", "status"
    )
    groups: list[list[_Place]] = []
    for row in several.sort("source", "start", -pl.col("end"), maintain_order=True).iter_rows():
        record = _Place(*row)
        if groups and _is_another_format(record, groups[-1], telling):
            groups[-1].append(record)
        else:
            groups.append([record])
    numbers = [(mark, each.run, -1) for mark, group in enumerate(groups) if group[1:] for each in group]
    return _Buckets(*np.array(numbers, dtype=np.int64).reshape(-1, 3).T)


class _Place(NamedTuple):
    """Where a record stands."""

    run: int
    tool: str
    source: str
    format: str | None
    start: int
    end: int
    status: Status


def _is_another_format(record: _Place, group: Sequence[_Place], telling: set[int]) -> bool:
    """Whether a record is of the same run as a group of them, by where it stands."""
    first, last = group[0], group[-1]
    both_failed = last.status == record.status == "failed" and telling.isdisjoint((last.run, record.run))
    return (
        (record.tool, record.source) == (first.tool, first.source)
        and record.format not in {other.format for other in group}
        and (record.end <= first.end or (both_failed and record.start <= last.end + _LINE_END))
    )


_LINE_END: Final = 2


def _formats_beside_each_other(runs: pl.DataFrame) -> _Buckets:
    """Put each record together with the one right after it, if that is in another format."""
    places = runs.select(RUN, "tool", "source", "format", "start", "end").sort("source", "start", "end")
    after = places.shift(-1)
    is_beside = (
        (places["source"] == after["source"])
        & (places["tool"] == after["tool"])
        & (places["format"] != after["format"])
        & (after["start"] - places["end"]).is_between(0, _LINE_END)
    )
    pairs = np.stack([places.filter(is_beside)[RUN].to_numpy(), after.filter(is_beside)[RUN].to_numpy()], axis=1)
    numbers = pairs.astype(np.int64).ravel()
    return _Buckets(np.repeat(np.arange(len(pairs)), 2), numbers, np.full(len(numbers), -1))


# Sets of records that are of one run


def _is_in(numbers: Numbers, known: Numbers) -> Flags:
    """Whether numbers are among others, which are sorted."""
    if not len(known):
        return np.zeros(len(numbers), dtype=np.bool_)
    return np.asarray(known.take(np.searchsorted(known, numbers), mode="clip") == numbers)


def _distinct(numbers: Numbers) -> Numbers:
    """Return numbers sorted and each once; `np.unique` hashes them, which takes several times as long."""
    ordered = np.sort(numbers)
    return np.asarray(ordered[np.flatnonzero(np.diff(ordered, prepend=-1))])


class _Pairs:
    """What is known of pairs of records: whether they are prints of one run."""

    def __init__(self, compared: Callable[[Numbers], Flags]) -> None:
        self._compared = compared
        self._same = self._differ = np.array([], dtype=np.int64)

    def are_same(self, codes: Numbers) -> Flags:
        """Tell of pairs, in the order of their numbers, whether they are of one run."""
        new = codes[~(_is_in(codes, self._differ) | _is_in(codes, self._same))]
        if len(new):
            is_same = self._compared(new)
            self._same, self._differ = (
                np.sort(np.concatenate([known, more]), kind="stable")
                for known, more in ((self._same, new[is_same]), (self._differ, new[~is_same]))
            )
        return _is_in(codes, self._same)


class _Sets:
    """Puts records together; a set bears the number of its first record.

    Parameters
    ----------
    found
        All records.
    candidates
        Those that share a mark with others.
    """

    def __init__(self, found: Found, candidates: Numbers) -> None:
        self.remarks: list[Remark] = []
        self._found = found
        self._runs = found.columns.runs
        self._set_of = np.arange(len(found))
        self._known: dict[int, _Known] = {}
        self._remarked: set[int] = set()
        is_candidate = np.zeros(len(found), dtype=np.bool_)
        is_candidate[candidates] = True
        self._members = {number: [number] for number in np.flatnonzero(is_candidate).tolist()}
        measurements = found.columns.measurements
        own = measurements.filter(pl.Series(is_candidate[measurements[RUN].to_numpy()]))
        self._prints = Prints(own, self._runs["tool"])
        dates = self._runs.select(pl.col("started_at", "ended_at").to_physical().fill_null(-1))
        self._dates = [date.to_numpy() for date in dates]

    def join(self, buckets: _Buckets, enough: int | None) -> None:
        """Put the records of buckets together that are of one run: whose measurements agree by so many digits.

        Each is compared with some that stand before it; of those that are together already, the first one counts.
        """
        if not len(buckets.runs):
            return
        apart: dict[int, tuple[int, str]] = {}
        pairs = _Pairs(lambda codes: self._are_same(codes, enough))
        first = self._first_of_set(buckets)
        lags = [(lag, buckets.pairs(lag)) for lag in range(1, _TRIES + 1)]
        for some in (
            lags[:1],
            lags[1:],
        ):  # copies stand beside each other, and then need not be compared with more
            known = [self._codes(first[here], first[here + lag]) for lag, here in some]
            pairs.are_same(self._apart(_distinct(np.concatenate(known))))
            for lag, all_places in some:
                places, done = all_places, all_places[:0]
                while len(places):
                    codes = self._codes(first[places], first[places + lag])
                    one, other = np.divmod(codes, len(self._set_of))
                    is_open = (self._set_of[one] != self._set_of[other]) & ~_is_in(codes, done)
                    places, codes = places[is_open], _distinct(codes[is_open])
                    is_same = pairs.are_same(codes)
                    if not is_same.any():  # then nothing has changed of what is compared
                        break
                    done = np.sort(np.concatenate([done, codes[~is_same], self._joined(codes[is_same], apart)]))
                    first = self._first_of_set(buckets)
        self._remark(apart)

    def _codes(self, one: Numbers, other: Numbers) -> Numbers:
        """Return a number for each pair of records."""
        return np.minimum(one, other) * len(self._set_of) + np.maximum(one, other)

    def _apart(self, codes: Numbers) -> Numbers:
        """Return those pairs that are not together."""
        one, other = np.divmod(codes, len(self._set_of))
        return np.asarray(codes[self._set_of[one] != self._set_of[other]])

    def _first_of_set(self, buckets: _Buckets) -> Numbers:
        """Return for each record of buckets the first one there of its set."""
        codes = buckets.marks * len(self._set_of) + self._set_of[buckets.runs]
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        return np.asarray(buckets.runs[first[number]])

    def _joined(self, codes: Numbers, apart: dict[int, tuple[int, str]]) -> Numbers:
        """Put pairs of records together, but for those that something known sets apart, which are returned.

        A pair that has changed its set meanwhile is left, because another one stands for it now.
        """
        self._learn(np.concatenate(np.divmod(codes, len(self._set_of))))
        before, differ = self._set_of.copy(), []
        for code in codes.tolist():
            pair = divmod(code, len(before))
            into, out_of = sorted(self._set_of[number].item() for number in pair)
            if [into, out_of] != sorted(before[number] for number in pair):
                continue
            difference = self._known[into].difference(self._known[out_of])
            if difference is not None:
                differ.append(code)
                apart.setdefault(pair[1], (pair[0], difference))
                continue
            self._known[into].add(self._known.pop(out_of))
            self._set_of[self._members[out_of]] = into
            self._members[into] += self._members.pop(out_of)
            apart.pop(pair[1], None)
        return np.array(differ, dtype=np.int64)

    def _learn(self, numbers: Numbers) -> None:
        """Look up what is known of some sets."""
        new = [number for number in _distinct(self._set_of[numbers]).tolist() if number not in self._known]
        runs, facts = (
            frame[new].rows(named=True) for frame in (self._runs.select(_Known.OF_RUN), self._found.facts)
        )
        for number, run, known in zip(new, runs, facts, strict=True):
            self._known[number] = _Known(run, known, self._found.settings[number])

    def _remark(self, apart: dict[int, tuple[int, str]]) -> None:
        """Warn of records with the same measurements that are said to be of different runs."""
        seconds = np.array([number for number in apart if number not in self._remarked], dtype=np.int64)
        for second in seconds[self._prints.tells_enough(seconds)].tolist():
            first, difference = apart[second]
            here, there = self._found.places([second, first])
            message = (
                f"The run has the same figures as the one at {there.seen_from(here)}, but another {difference}."
            )
            self.remarks.append(here.remark("SAME_FIGURES", message))
            self._remarked.add(second)

    def _are_same(self, codes: Numbers, enough: int | None) -> Flags:
        """Tell of pairs whether they are prints of one run; where nothing has to agree, all are."""
        if enough is None or not len(codes):
            return np.ones(len(codes), dtype=np.bool_)
        one, other = np.divmod(codes, len(self._set_of))
        return self._prints.same(one, other, self._tolerance(one, other), enough)

    def _tolerance(self, one: Numbers, other: Numbers) -> NDArray[np.float64]:
        """Return which share of the measurements of pairs may differ: few where both bear the same date."""
        of_date = np.zeros(len(one), dtype=np.bool_)
        for dates in self._dates:
            of_date |= (dates[one] == dates[other]) & (dates[one] >= 0)
        return np.where(of_date, FEW, 0.0)

    def ordered(self) -> list[list[int]]:
        """Return the records of each run, the most complete one first."""
        number, is_partial = self._prints.number, (self._runs["status"] == "partial").to_numpy()
        sets = []
        for first in np.flatnonzero(self._set_of == np.arange(len(self._set_of))).tolist():
            members = self._members.get(first, [first])
            if members[1:]:
                members = sorted(members, key=lambda item: (is_partial[item], -number[item], item))
            sets.append(members)
        return sets


class _Known:
    """What is known of the records of one run, which grows with each of them."""

    OF_RUN: Final = ("filesystem", "host", "started_at", "ended_at", "identity")

    def __init__(self, run: dict[str, Any], facts: dict[str, Any], settings: Iterable[Setting]) -> None:
        facts |= {name: run[name] for name in ("filesystem", "host") if run[name]}
        facts |= {"beginning": run["started_at"], "end": run["ended_at"], "source": None, "name": None}
        self._facts = {name: value for name, value in facts.items() if value is not None}
        # What can have several values, of which some are known of a record that is not whole.
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
        """Name what is known of both and differs."""
        for name in self._facts:
            if name in other._facts and not _is_same_fact(name, self._facts[name], other._facts[name]):
                return name
        for name, values in self._values.items():
            if name in other._values and values.isdisjoint(other._values[name]):
                return name
        return None


_SAME_TIME: Final = timedelta(seconds=2)
"""A tool takes the time anew for each format in which it prints a run."""


def _is_same_fact(name: str, one: Any, other: Any) -> bool:
    if name == "host":  # tables cut long names off
        return bool(one.startswith(other) or other.startswith(one))
    if isinstance(one, datetime) and isinstance(other, datetime):
        return abs(one - other) <= _SAME_TIME
    return bool(one == other)
