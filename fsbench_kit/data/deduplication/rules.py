"""The rules by which records are of one run."""

from __future__ import annotations

from collections import defaultdict, deque
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
import polars as pl

from fsbench_kit.data.columns import RUN
from fsbench_kit.data.deduplication.agreement import (
    ENOUGH,
    FEW,
    SCOPES,
    TELLING,
    Prints,
    Sheet,
    digits,
    have_same_measurements,
)
from fsbench_kit.data.deduplication.found import Remark, place
from fsbench_kit.model.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fsbench_kit.data.deduplication.found import Found, FoundRun
    from fsbench_kit.model.records import Status

PRINTED_ALIKE: Final = ("runtime", "context_switches", "major_faults", "minor_faults", "phase_latency")
"""The counts and times that a tool prints alike in all its formats."""

_AT_EITHER_END: Final = 4
"""So many measurements at the beginning or the end of a record find those that it is a copy of."""

_Made = TypeVar("_Made")

_TRIES: Final = 8
"""With so many others of its bucket a record is compared, which bounds the time."""


def same_runs(found: Found) -> tuple[list[list[int]], list[Remark]]:
    """Sort records by the run that they are of.

    Parameters
    ----------
    found
        The records.

    Returns
    -------
    tuple
        For each run the numbers of its records, the most complete one first, in the order in which those were
        given; and warnings of runs that have the same measurements and are said to be different ones.
    """
    if len(found) < 2:
        return [[number] for number in range(len(found))], []
    sets = _Sets(found)
    runs = found.columns.runs.with_columns(found.facts["source", "study", "name"]).with_row_index(RUN)
    for bucket in _in_one_place(runs):
        sets.join(bucket, lambda one, other: sets.record(one).run == sets.record(other).run)
    main = found.columns.measurements.lazy().filter("primary", pl.col("scope").is_in(SCOPES))
    figures = main.select(RUN, "operation", "metric", "statistic", "value").collect()
    telling = figures.filter(pl.col("value") != 0, pl.col("metric").is_in(TELLING))
    buckets = [
        *_buckets(runs.select(RUN, "tool", "sha256")),  # a table's bytes are those of all of its runs
        *_with_own_marks(runs),
        *_printed_alike(figures, telling, runs["tool"]),
        *_with_the_same_ends(telling, runs["tool"]),
    ]
    sets.hold_apart(buckets)
    for bucket in _formats_in_one_file(runs, sets):
        sets.join(bucket, partial(sets.agree, enough=0))
    for bucket in buckets:
        sets.join(bucket, sets.agree)
    return sets.ordered(), sets.remarks


# Buckets: records of one tool that may be of one run


def _buckets(marks: pl.DataFrame) -> Iterator[list[int]]:
    """Yield the numbers of the records that share a mark, which is all that a frame has beside them."""
    is_shared = marks.drop(RUN).is_duplicated()
    if is_shared.any():
        yield from marks.filter(is_shared).group_by(pl.exclude(RUN), maintain_order=True).agg(RUN)[RUN].to_list()


def _in_one_place(runs: pl.DataFrame) -> Iterator[list[int]]:
    """Yield records with the same bytes in the same place of a file, or of one of that name in the same study."""
    file = runs.select(RUN, "tool", "start", "sha256", study=pl.lit(None, pl.String), name="source")
    of_study = runs.select(RUN, "tool", "start", "sha256", "study", "name").drop_nulls()
    return _buckets(pl.concat([file, of_study]).sort(RUN, maintain_order=True))


def _with_own_marks(runs: pl.DataFrame) -> Iterator[list[int]]:
    """Yield records that have in common what a tool prints of one run alone."""
    marks = [
        runs.select(RUN, "tool", what=pl.lit(name), mark=mark).drop_nulls("mark")
        for name, mark in (
            ("identity", pl.col("identity").list.join("\0")),
            ("started", pl.col("started_at").cast(pl.String)),
            ("ended", pl.col("ended_at").cast(pl.String)),
        )
    ]
    return _buckets(pl.concat(marks).sort(RUN, maintain_order=True))


def _formats_in_one_file(runs: pl.DataFrame, sets: _Sets) -> Iterator[list[int]]:
    """Yield records in different formats that stand inside each other.

    So do those, one right after the other, of a run that failed: they have no figures that could tell.
    """
    several = runs.filter(pl.col("source").is_duplicated()).select(
        RUN, "source", "format", "start", "end", "status"
    )
    group: list[_Place] = []
    for row in several.sort("source", "start", -pl.col("end"), maintain_order=True).iter_rows():
        record = _Place(*row)
        if not group or not _is_another_format(record, group, sets):
            yield [each.run for each in group]
            group = []
        group.append(record)
    yield [each.run for each in group]


class _Place(NamedTuple):
    """Where a record stands."""

    run: int
    source: str
    format: str | None
    start: int
    end: int
    status: Status


def _is_another_format(record: _Place, group: Sequence[_Place], sets: _Sets) -> bool:
    """Whether a record is of the same run as a group of them, by where it stands."""
    first, last = group[0], group[-1]
    return (
        record.source == first.source
        and record.format not in {other.format for other in group}
        and (record.end <= first.end or _both_failed(last, record, sets))
    )


def _both_failed(one: _Place, other: _Place, sets: _Sets) -> bool:
    return (
        other.start <= one.end + _LINE_END
        and one.status == other.status == "failed"
        and not any(
            item.value and item.metric in TELLING
            for each in (one, other)
            for item in sets.record(each.run).run.measurements
        )
    )


_LINE_END: Final = 2


def _printed_alike(figures: pl.DataFrame, telling: pl.DataFrame, tools: pl.Series) -> Iterator[list[int]]:
    """Yield records of which the same is printed alike, those with like rates beside each other."""
    known = figures.filter(pl.col("metric").is_in(PRINTED_ALIKE))
    mark = pl.struct("operation", "metric", "value").hash().sort()
    marks = known.group_by(RUN, maintain_order=True).agg(mark=mark)
    buckets = list(_buckets(marks.with_columns(tool=tools.gather(marks[RUN]))))
    if buckets:
        rates = dict(telling.group_by(RUN).agg(pl.col("value").first()).rows())
        for bucket in buckets:
            yield sorted(bucket, key=lambda number: (rates.get(number, 0.0), number))


def _with_the_same_ends(telling: pl.DataFrame, tools: pl.Series) -> Iterator[list[int]]:
    """Yield records that begin or end with the same measurements."""
    mark = pl.struct("operation", "metric", "statistic", "value").hash()
    of_runs = telling.group_by(RUN, maintain_order=True)
    ends = of_runs.agg(first=mark.head(_AT_EITHER_END), last=mark.tail(_AT_EITHER_END))
    for end in ("first", "last"):
        yield from _buckets(ends.select(RUN, end, tool=tools.gather(ends[RUN])))


# Sets of records that are of one run


class _Sets:
    """Puts records together."""

    def __init__(self, found: Found) -> None:
        self.remarks: list[Remark] = []
        self._found = found
        self._agree: dict[tuple[int, int, int], bool] = {}
        self.record = cache(found.__getitem__)
        self._set_of = list(range(len(found)))
        self._members = {number: [number] for number in range(len(found))}
        self._known = _ByNumber(lambda number: _Known(self.record(number)))
        self._remarked: set[int] = set()
        self._sheets = _ByNumber(lambda number: Sheet(found.columns.measurements_of(number)))
        runs = found.columns.runs
        self._tools = runs["tool"].to_list()
        dates = zip(runs["started_at"], runs["ended_at"], strict=True)
        self._dates = [{(end, date) for end, date in enumerate(pair) if date is not None} for pair in dates]

    def hold_apart(self, buckets: Iterable[Sequence[int]]) -> None:
        """Find in buckets the pairs that differ, of those that can be compared; all at once."""
        pairs = list(
            {
                pair
                for bucket in buckets
                for lag in range(1, _TRIES + 1)
                for pair in zip(bucket[:-lag], bucket[lag:], strict=True)
            }
        )
        if not pairs:
            return
        one, other = np.array(pairs).T
        columns = self._found.columns
        bear_a_date = np.zeros(len(pairs), dtype=np.bool_)
        for name in ("started_at", "ended_at"):
            date, is_known = columns.runs[name].to_numpy(), columns.runs[name].is_not_null().to_numpy()
            bear_a_date |= (date[one] == date[other]) & is_known[one]
        prints = Prints(columns.measurements, columns.runs["tool"])
        differ = prints.differ(one, other, np.where(bear_a_date, FEW, 0.0))
        for pair in compress(pairs, differ):
            self._agree |= {(*pair, 0): False, (*pair, ENOUGH): False}

    def join(self, bucket: Iterable[int], is_same: Callable[[int, int], bool]) -> None:
        """Put each record of a bucket to one that was there before, if the two are of one run."""
        heads: deque[int] = deque(maxlen=_TRIES)
        for number in bucket:
            apart: int | None = None
            for head in heads:
                if self._set_of[head] == self._set_of[number]:
                    break
                if is_same(head, number):
                    if self._is_joined(head, number):
                        break
                    apart = head if apart is None else apart
            else:
                if apart is not None:
                    self._remark(apart, number)
                heads.append(number)

    def _is_joined(self, one: int, other: int) -> bool:
        """Put the sets of two records together, unless something known sets them apart."""
        into, out_of = self._set_of[one], self._set_of[other]
        if self._known[into].difference(self._known[out_of]) is not None:
            return False
        self._known[into].add(self._known.pop(out_of))
        for number in self._members[out_of]:
            self._set_of[number] = into
        self._members[into] += self._members.pop(out_of)
        return True

    def _remark(self, one: int, other: int) -> None:
        """Warn of records with the same measurements that are said to be of different runs."""
        first, second = sorted((one, other))
        difference = self._known[self._set_of[one]].difference(self._known[self._set_of[other]])
        if second in self._remarked or not self.tells_enough(second):
            return
        self._remarked.add(second)
        here, there = self.record(second), self.record(first)
        message = f"The run has the same figures as the one at {place(there, here)}, but another {difference}."
        run = here.run
        diagnostic = Diagnostic(code="SAME_FIGURES", message=message, line=run.line, start=run.start, end=run.end)
        self.remarks.append(Remark(source=here.source, diagnostic=diagnostic))

    def agree(self, one: int, other: int, enough: int = ENOUGH) -> bool:
        """Whether the measurements of two records agree; few may differ where both bear the same date."""
        known = self._agree.get((one, other, enough))
        if known is None:
            known = self._agree[one, other, enough] = have_same_measurements(
                self._tools[one],
                self._sheets[one],
                self._sheets[other],
                enough=enough,
                tolerance=0.0 if self._dates[one].isdisjoint(self._dates[other]) else FEW,
            )
        return known

    def tells_enough(self, number: int) -> bool:
        """Whether a record has so many digits that its like can only be a copy."""
        items = self._sheets[number].measurements.values()
        return digits(self._tools[number], zip(items, items, strict=True)) >= ENOUGH

    def ordered(self) -> list[list[int]]:
        """Return the records of each run, the most complete one first."""
        sets = sorted(self._members.values(), key=min)
        return [sorted(members, key=self._incompleteness) if members[1:] else members for members in sets]

    def _incompleteness(self, number: int) -> tuple[bool, int, int]:
        return self.record(number).run.status == "partial", -len(self._sheets[number].measurements), number


class _ByNumber(dict[int, _Made]):
    """What is made of each record when it is needed."""

    def __init__(self, make: Callable[[int], _Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> _Made:
        return self.setdefault(number, self._make(number))


class _Known:
    """What is known of the records of one run, which grows with each of them."""

    def __init__(self, found: FoundRun) -> None:
        run = found.run
        facts = {
            **found.facts,
            "filesystem": run.filesystem or found.facts.get("filesystem"),
            "host": run.host or found.facts.get("host"),
            "beginning": run.started_at,
            "end": run.ended_at,
        }
        self._facts = {name: value for name, value in facts.items() if value is not None}
        # What can have several values, of which some are known of a record that is not whole.
        self._values: dict[str, set[str]] = defaultdict(set)
        for name, value in (*run.identity, *((item.key, item.value) for item in found.settings)):
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
