"""Makes one record of those that are of one run."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fsbench_kit.model.schema import MEASUREMENT_KEY
from fsbench_kit.model.vocabulary import EITHER_LATENCY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fsbench_kit.data.deduplication.found import FoundRun, Remark
    from fsbench_kit.model.records import Bin, Block, Measurement, Run, Setting, Status


def merged(records: Sequence[FoundRun]) -> tuple[FoundRun, list[Remark]]:
    """Make one record of those of a run, of which the first is the main one.

    Of each measurement the narrowest print is primary. Settings are united; bins and series come from one record
    each. A measurement from another file than the main record's has no line.
    """
    main, *others = _with_latencies_named(records)
    merger = _Merger(main)
    for other in others:
        merger.add(other)
    return merger.merged(), merger.remarks


def _with_latencies_named(records: Sequence[FoundRun]) -> list[FoundRun]:
    """Let a latency that one record does not name be the one of which another has percentiles.

    Where there are both, it is the total one: fio's terse output has them if it was asked for.
    """
    named: dict[Key, str] = {}
    for item in chain.from_iterable(record.run.measurements for record in records):
        if item.metric in {"latency", "completion_latency"} and item.statistic.startswith("p"):
            key = item.scope, item.part, item.operation
            named[key] = "latency" if "latency" in {item.metric, named.get(key)} else item.metric

    def with_name(item: Measurement) -> Measurement:
        if item.metric != EITHER_LATENCY:
            return item
        return replace(item, metric=named.get((item.scope, item.part, item.operation), item.metric))

    return [
        replace(record, run=replace(record.run, measurements=tuple(map(with_name, record.run.measurements))))
        for record in records
    ]


class _Merger:
    """Adds the records of a run to the main one."""

    def __init__(self, main: FoundRun) -> None:
        self.remarks: list[Remark] = []
        self._records = [main]
        self._sheet = Sheet(main.run.measurements)
        self._best: dict[Key, Measurement] = {}
        self._added: list[Measurement] = []
        self._seconds: list[Measurement] = []

    def add(self, other: FoundRun) -> None:
        """Add what another record says."""
        main = self._records[0]
        self._records.append(other)
        there = main.place.seen_from(other.place)
        self.remarks.append(
            other.place.remark("SAME_RUN", f"This is the run at {there} once more; it counts once.")
        )
        if other.sha256 == main.sha256:
            return  # a copy, which repeats all of it
        for item in _in_file_of(main, other, other.run.measurements):
            own = self._sheet.partner(item) if item.primary else None
            if own is not None:
                self._compare(own, item, other)
            elif item.primary:
                self._sheet.add(item)
                self._added.append(item)
            else:
                self._seconds.append(item)

    def _compare(self, own: Measurement, item: Measurement, other: FoundRun) -> None:
        """Keep the narrower one of two prints of a measurement as primary."""
        best = self._best.get(key_of(own), own)
        if not agree(best, item):
            what = f"{item.statistic} {item.metric}".removeprefix("value ")
            there = self._records[0].place.seen_from(other.place)
            message = f"{what} of {item.operation} is printed as {item.text}, and as {best.text} at {there}."
            excerpt = f"{item.text} … {best.text}"
            self.remarks.append(other.place.remark("SECOND_PRINTING_DIFFERS", message, excerpt))
        first, second = sorted((best, item), key=_vagueness)  # of equals the one that was there first
        details = {name: getattr(second, name) for name in _DETAILS if getattr(first, name) is None}
        known = {name: value for name, value in details.items() if value is not None}
        self._best[key_of(own)] = replace(first, **known) if known else first
        self._seconds.append(replace(second, primary=False))

    def merged(self) -> FoundRun:
        """Return the one record."""
        main = self._records[0]
        runs = [record.run for record in self._records]
        best = [self._best.get(key_of(item), item) if item.primary else item for item in main.run.measurements]
        added = [self._best.get(key_of(item), item) for item in self._added]
        facts = {name: _first_known(runs, name) for name in _FACTS}
        run = replace(
            main.run,
            **facts,
            status=_status(runs),
            settings=self._settings(lambda record: record.run.settings),
            measurements=(*best, *added, *self._seconds),
            bins=tuple(self._bins()),
        )
        return replace(
            main,
            run=run,
            blocks=tuple(self._blocks()),
            facts={
                name: next((p.facts[name] for p in self._records if p.facts.get(name) is not None), None)
                for name in main.facts
            },
            settings=self._settings(lambda record: record.settings),
        )

    def _settings(self, of: Callable[[FoundRun], tuple[Setting, ...]]) -> tuple[Setting, ...]:
        """Unite the settings; where records differ in one, which they may in its spelling, the first counts."""
        main = self._records[0]
        settings = list(of(main))
        for other in self._records[1:]:
            known = {(item.key, item.scope, item.part, item.origin) for item in settings}
            settings += [
                item
                for item in _in_file_of(main, other, of(other))
                if (item.key, item.scope, item.part, item.origin) not in known
            ]
        return tuple(settings)

    def _bins(self) -> Iterator[Bin]:
        """Yield each distribution from the record that has it in the most bins."""
        main = self._records[0]
        finest: dict[Key, list[Bin]] = {}
        for record in self._records:
            found: dict[Key, list[Bin]] = defaultdict(list)
            for item in _in_file_of(main, record, record.run.bins):
                found[item.scope, item.part, item.operation, item.metric].append(item)
            finest |= {key: bins for key, bins in found.items() if len(bins) > len(finest.get(key, ()))}
        return chain.from_iterable(finest.values())

    def _blocks(self) -> Iterator[Block]:
        """Yield each series from the first record that has it."""
        taken: set[Key] = set()
        for record in self._records:
            new = [block for block in record.blocks if _series(block) not in taken]
            taken.update(map(_series, new))
            yield from new


_DETAILS: Final = ("block_size", "file_size", "threads", "samples")
_FACTS: Final = ("tool_version", "filesystem", "host", "started_at", "ended_at", "duration", "exit_code")


def _vagueness(item: Measurement) -> tuple[int, float]:
    """Order prints of a measurement: the narrower one first, then what is not known as well."""
    if item.low is not None and item.high is not None:
        return 0 if item.state == "measured" else 2, item.high - item.low
    return {"measured": 1, "censored": 2, "missing": 3}[item.state], math.inf


_Item = TypeVar("_Item", "Measurement", "Setting", "Bin")


def _in_file_of(main: FoundRun, other: FoundRun, items: Sequence[_Item]) -> Iterator[_Item]:
    """Yield what a record says; without lines if it stands in another file than the main record."""
    return iter(items) if other.source == main.source else (replace(item, line=None) for item in items)


def _first_known(runs: Iterable[Run], name: str) -> Any:
    return next((value for run in runs if (value := getattr(run, name)) is not None), None)


def _status(runs: Sequence[Run]) -> Status:
    """Return the worst that complete records say: a copy that was cut off says nothing against them."""
    of_complete = [run.status for run in runs if run.status != "partial"]
    return "partial" if not of_complete else "failed" if "failed" in of_complete else "ok"


def _series(block: Block) -> Key:
    return block.part, block.operation, block.metric, block.statistic


# Prints of one measurement


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
