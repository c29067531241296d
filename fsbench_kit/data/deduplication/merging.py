"""Makes one record of those that are of one run."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fsbench_kit.data.deduplication.agreement import Sheet, agree, key_of
from fsbench_kit.data.deduplication.found import Remark, place
from fsbench_kit.model.records import Diagnostic
from fsbench_kit.model.vocabulary import EITHER_LATENCY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fsbench_kit.data.deduplication.agreement import Key
    from fsbench_kit.data.deduplication.found import FoundRun
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
        self._remark(other, "SAME_RUN", f"This is the run at {place(main, other)} once more; it counts once.")
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
            there = place(self._records[0], other)
            message = f"{what} of {item.operation} is printed as {item.text}, and as {best.text} at {there}."
            self._remark(other, "SECOND_PRINTING_DIFFERS", message, f"{item.text} … {best.text}")
        first, second = sorted((best, item), key=_vagueness)  # of equals the one that was there first
        details = {name: getattr(second, name) for name in _DETAILS if getattr(first, name) is None}
        known = {name: value for name, value in details.items() if value is not None}
        self._best[key_of(own)] = replace(first, **known) if known else first
        self._seconds.append(replace(second, primary=False))

    def _remark(self, record: FoundRun, code: str, message: str, excerpt: str | None = None) -> None:
        run = record.run
        diagnostic = Diagnostic(
            code=code, message=message, line=run.line, start=run.start, end=run.end, excerpt=excerpt
        )
        self.remarks.append(Remark(source=record.source, diagnostic=diagnostic))

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
