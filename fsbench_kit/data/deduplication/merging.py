"""Merges the records of each run, for many runs at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.data.columns import RUN, Columns
from fsbench_kit.data.deduplication.agreement import Figures, Flags, Lookup, Numbers, hashed, of_records
from fsbench_kit.data.deduplication.found import Found, Remark
from fsbench_kit.model.records import Setting
from fsbench_kit.model.schema import MEASUREMENT_KEY
from fsbench_kit.model.vocabulary import EITHER_LATENCY

_SET: Final = "set"
_ORDER: Final = "order"
"""The index of a record among those of its run; that of the main record is 0."""


def merged(found: Found, sets: Sequence[Sequence[int]]) -> tuple[Found, list[Remark]]:
    """Merge the records of each run; the first one is the main record.

    The most precise print of each measurement is primary. Settings are combined; bins and series are taken from
    one record each. Whatever is from another file than the main record has no line.
    """
    numbers = list(chain.from_iterable(sets))
    of_set = np.repeat(np.arange(len(sets)), list(map(len, sets)))
    order = np.concatenate([np.arange(len(members)) for members in sets])
    main = np.flatnonzero(order == 0)[of_set]
    records = found.columns.picked(numbers)
    sources, hashes = found.facts["source"].gather(numbers), records.runs["sha256"]
    is_away, is_other = ((each != each.gather(main)).to_numpy() for each in (sources, hashes))

    def own(frame: pl.DataFrame) -> pl.DataFrame:
        """Replace the number of the record by that of its run, and add its order among the run's records."""
        run = frame[RUN].to_numpy()
        frame = frame.with_columns(pl.Series(RUN, of_set[run]), pl.Series(_ORDER, order[run]))
        if "line" not in frame.columns:
            return frame
        return frame.with_columns(line=pl.when(~pl.Series(is_away[run])).then("line"))

    rows = _with_latencies_named(own(records.measurements))
    record = records.measurements[RUN].to_numpy()
    prints = _Prints(rows, is_other[record])
    places = found.places(numbers)
    differing: dict[int, list[tuple[_Print, _Print]]] = defaultdict(list)
    for item, two in zip(record[prints.differing[:, 0]].tolist(), _printed(rows, prints.differing), strict=True):
        differing[item].append(two)
    remarks = []
    for number, at in enumerate(main.tolist()):
        if number == at:
            continue
        there = places[at].seen_from(places[number])
        remarks.append(places[number].remark("SAME_RUN", f"This is the run at {there} again; it counts once."))
        for item, best in differing[number]:
            what = f"{item.statistic} {item.metric}".removeprefix("value ")
            message = f"{what} of {item.operation} is printed as {item.text}, and as {best.text} at {there}."
            excerpt = f"{item.text} … {best.text}"
            remarks.append(places[number].remark("SECOND_PRINTING_DIFFERS", message, excerpt))
    columns = Columns(
        runs=_runs(records.runs, of_set),
        settings=_first(own(records.settings), "scope", "part", "key", "origin"),
        measurements=prints.measurements(),
        distributions=_finest(own(records.distributions)),
        series=_first(own(records.series), "part", "operation", "metric", "statistic"),
        too_large=own(records.too_large).drop(_ORDER),
        diagnostics=records.diagnostics.clear(),
    )
    facts = _first_known(found.facts[numbers], of_set).with_columns(
        source=sources.gather(np.flatnonzero(order == 0)), name=pl.lit(None, pl.String)
    )
    return Found(
        columns, facts, [_united([found.settings[each] for each in members]) for members in sets]
    ), remarks


def _first_known(frame: pl.DataFrame, of_set: Numbers) -> pl.DataFrame:
    """Return for each run and column the first known value."""
    known = frame.with_columns(pl.Series(_SET, of_set)).group_by(_SET, maintain_order=True)
    return known.agg(pl.all().drop_nulls().first()).drop(_SET)


def _runs(runs: pl.DataFrame, of_set: Numbers) -> pl.DataFrame:
    """Return a run for each set: the main record, completed by the others.

    The status is the worst of the complete records: a copy that was cut off does not count against them.
    """
    is_partial, is_failed = ((pl.col("status") == status) for status in ("partial", "failed"))
    status = pl.when(is_partial.all()).then(pl.lit("partial")).when(is_failed.any()).then(pl.lit("failed"))
    of_runs = runs.with_columns(pl.Series(_SET, of_set)).group_by(_SET, maintain_order=True)
    main = of_runs.agg(pl.exclude("status").first(), status=status.otherwise(pl.lit("ok")))
    return main.select(runs.columns).with_columns(_first_known(runs.select(_FACTS), of_set))


_FACTS: Final = ("tool_version", "filesystem", "host", "started_at", "ended_at", "duration", "exit_code")


def _first(rows: pl.DataFrame, *key: str) -> pl.DataFrame:
    """Return the rows of each key from the first record that has it."""
    return rows.filter(pl.col(_ORDER) == pl.col(_ORDER).min().over(RUN, *key)).drop(_ORDER)


def _finest(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each distribution from the record that has the most bins for it."""
    if rows.is_empty():
        return rows.drop(_ORDER)
    key = (RUN, "scope", "part", "operation", "metric")
    sized = rows.with_row_index("row").with_columns(size=pl.len().over(*key, _ORDER))
    sized = sized.with_columns(place=pl.col("row").min().over(key), most=pl.col("size").max().over(key))
    finest = _first(sized.filter(pl.col("size") == pl.col("most")), *key[1:])
    return finest.sort(RUN, "place", maintain_order=True).drop("row", "size", "place", "most")


def _united(several: Sequence[tuple[Setting, ...]]) -> tuple[Setting, ...]:
    """Combine settings; if records differ in one (they may only differ in spelling), the first counts."""
    united: list[Setting] = []
    for settings in several:
        known = {(item.key, item.scope, item.part, item.origin) for item in united}
        united += (item for item in settings if (item.key, item.scope, item.part, item.origin) not in known)
    return tuple(united)


# Measurements


class _Print(NamedTuple):
    """The fields of a print that messages about different prints need."""

    statistic: str
    metric: str
    operation: str
    text: str


def _printed(rows: pl.DataFrame, pairs: Numbers) -> Iterator[tuple[_Print, _Print]]:
    """Yield the prints of pairs of rows."""
    prints = map(_Print._make, rows.select(_Print._fields)[pairs.ravel()].iter_rows())
    return zip(prints, prints, strict=True)


def _with_latencies_named(rows: pl.DataFrame) -> pl.DataFrame:
    """Give a latency that one record leaves unnamed the name of the one of which another record has percentiles.

    If it has both, the name is the total latency: fio's terse output has its percentiles if they were requested.
    """
    is_unnamed = pl.col("metric") == EITHER_LATENCY
    if not rows.select(is_unnamed.any()).item():
        return rows
    place = (RUN, "scope", "part", "operation")
    is_percentile = pl.col("statistic").str.starts_with("p")
    name = pl.lit(EITHER_LATENCY)
    for metric in ("completion_latency", "latency"):
        has = ((pl.col("metric") == metric) & is_percentile).any().over(place)
        name = pl.when(has).then(pl.lit(metric)).otherwise(name)
    return rows.with_columns(metric=pl.when(is_unnamed).then(name).otherwise("metric"))


class _Prints:
    """All prints of the measurements of runs; the most precise one becomes primary.

    Parameters
    ----------
    rows
        The measurements of all records, sorted by run and by the order of its records.
    is_other
        Whether a row is of a record that differs from the main one; records that merely copy it do not count.

    Attributes
    ----------
    differing
        Pairs of rows that cannot be prints of one value: the later one, and the one that was primary before.
    """

    def __init__(self, rows: pl.DataFrame, is_other: Flags) -> None:
        self.differing = np.empty((0, 2), dtype=np.int64)
        self._rows = rows
        self._figures = Figures(rows, np.arange(rows.height), hashed(rows, MEASUREMENT_KEY))
        self._set, self._order = rows[RUN].to_numpy(), rows[_ORDER].to_numpy()
        self._best = np.arange(rows.height)
        self._is_touched = np.zeros(rows.height, dtype=np.bool_)
        self._details = rows.select(pl.col(_DETAILS).fill_null(-1)).to_numpy().copy()
        is_measured = pl.col("state") == "measured"
        has_bounds = pl.col("low").is_not_null() & pl.col("high").is_not_null()
        known = pl.when(has_bounds & is_measured).then(0).when(is_measured).then(1)
        rank = known.when(has_bounds | (pl.col("state") == "censored")).then(2).otherwise(3)
        width = pl.when(has_bounds).then(pl.col("high") - pl.col("low")).otherwise(np.inf)
        self._rank, self._width = (
            column.to_numpy() for column in rows.select(rank.alias("rank"), width.alias("width"))
        )
        is_primary = rows["primary"].to_numpy()
        self._is_main = self._order == 0
        # The first print of each measurement represents all of them.
        self._stands_for = np.full(rows.height, -1)
        self._sheet = np.array([], dtype=np.int64)
        self._add(np.flatnonzero(self._is_main & is_primary))
        self._seconds: list[tuple[Numbers, Numbers]] = []
        for order in range(1, int(self._order.max(initial=0)) + 1):
            items = np.flatnonzero(is_other & is_primary & (self._order == order))
            if len(items):
                self._hold_against(items)
        also = np.flatnonzero(is_other & ~is_primary)
        self._seconds.append((also, also))

    def _add(self, items: Numbers) -> Numbers:
        """Add prints of measurements that have none yet, and return those that repeat another one of these."""
        keys = of_records(self._figures.key[items], self._set[items])
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        self._stands_for[items] = items[first[number]]
        is_new = self._stands_for[items] == items
        self._sheet = np.concatenate([self._sheet, items[is_new]])
        return np.asarray(items[~is_new])

    def _hold_against(self, items: Numbers) -> None:
        """Compare the prints of one record of each run with the previous ones."""
        has_record = np.zeros(self._set.max() + 1, dtype=np.bool_)
        has_record[self._set[items]] = True
        sheet = self._sheet[has_record[self._set[self._sheet]]]
        lookup = Lookup(self._figures, sheet, self._set[sheet])
        at, partner = lookup.partners(items, self._set[items])
        self._stands_for[items[at]] = partner
        is_known = np.zeros(len(items), dtype=np.bool_)
        is_known[at] = True
        again = np.sort(np.concatenate([items[is_known], self._add(items[~is_known])]))
        while len(again):  # one print of each measurement at a time
            _, first = np.unique(self._stands_for[again], return_index=True)
            self._compare(again[first])
            again = np.delete(again, first)

    def _compare(self, items: Numbers) -> None:
        """Make the more precise of two prints primary, or the earlier one if they are equal."""
        of = self._stands_for[items]
        best = self._best[of]
        differ = ~self._figures.agree(best, items)
        self.differing = np.concatenate([self.differing, np.stack([items[differ], best[differ]], axis=1)])
        is_narrower = (self._rank[items] < self._rank[best]) | (
            (self._rank[items] == self._rank[best]) & (self._width[items] < self._width[best])
        )
        first, second = np.where(is_narrower, (items, best), (best, items))
        self._details[first] = np.where(self._details[first] < 0, self._details[second], self._details[first])
        self._best[of], self._is_touched[of] = first, True
        self._seconds.append((items, second))

    def measurements(self) -> pl.DataFrame:
        """Return the measurements of each run: those of the main record, those others add, and second prints."""
        main = np.flatnonzero(self._is_main)
        of = np.where(self._stands_for[main] < 0, main, self._stands_for[main])
        own = np.where(self._is_touched[of], self._best[of], main)
        added = self._sheet[~self._is_main[self._sheet]]
        places, seconds = map(np.concatenate, zip(*self._seconds, strict=True))
        rows = np.concatenate([own, self._best[added], seconds])
        place = np.concatenate([main, added, places])
        kind = np.repeat([0, 1, 2], [len(own), len(added), len(seconds)])
        order = np.lexsort((place, kind, self._set[place]))
        details = pl.DataFrame(self._details, schema=dict.fromkeys(_DETAILS, pl.Int64())).select(
            pl.when(pl.all() >= 0).then(pl.all())
        )
        chosen = self._rows.drop(_ORDER).with_columns(details)[rows[order]]
        return chosen.with_columns(primary=pl.col("primary") & pl.Series(kind[order] < 2))


_DETAILS: Final = ("block_size", "file_size", "threads", "samples")
