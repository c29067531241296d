"""Sorts printings by the run that they print."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.data.deduplication.printing import Key, Printing, Remark, place
from fsbench_kit.data.deduplication.sheets import ENOUGH, ENOUGH_OF_COPIES, Sheet, have_same_figures
from fsbench_kit.model.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

FEW: Final = 0.1
"""Share of figures that may differ between printings that bear the same date."""


def same_runs(printings: Sequence[Printing]) -> tuple[list[list[Printing]], list[Remark]]:
    """Sort printings by the run that they print.

    Returns
    -------
    tuple
        For each run its printings, the most complete one first, in the order in which those were given; and
        warnings of runs that have the same figures and are said to be different ones.
    """
    sorter = _Sorter([Sheet(printing) for printing in printings])
    return sorter.runs(), sorter.remarks


class _Sorter:
    """Puts printings together; each set has a head, the printing that tells the most."""

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self.remarks: list[Remark] = []
        self._sheets = sheets
        self._heads = list(range(len(sheets)))
        self._known = [_Known(sheet.printing) for sheet in sheets]
        self._warned: set[tuple[int, int]] = set()
        for group in self._grouped(lambda printing: printing.names):
            self._join(group, lambda head, other: head.run == other.run)
        for group in (*_interleaved(sheets), *_failed_neighbours(sheets)):
            self._join(group, lambda head, other: have_same_figures(head, other, enough=0.0))
        telling = [index for index, sheet in enumerate(sheets) if sheet.bits >= ENOUGH_OF_COPIES]
        for group in self._grouped(lambda printing: [printing.sha256], telling):
            self._join(group, lambda head, other: have_same_figures(head, other, enough=ENOUGH_OF_COPIES))
        telling = [index for index in telling if sheets[index].bits >= ENOUGH]
        for group in self._grouped(_dates, telling):
            if len(group) > _MOST_OF_ONE_DATE:
                continue
            self._join(group, lambda head, other: have_same_figures(head, other, tolerance=FEW))
        for group in _neighbours(self._sheets, telling):
            self._join(group, have_same_figures)

    def runs(self) -> list[list[Printing]]:
        """Return the printings of each run, the most complete one first."""
        sets = defaultdict(list)
        for index in range(len(self._sheets)):
            sets[self._head(index)].append(index)
        ordered = [sorted(indices, key=self._incompleteness) for indices in sets.values()]
        ordered.sort(key=lambda indices: indices[0])
        return [[self._sheets[index].printing for index in indices] for indices in ordered]

    def _incompleteness(self, index: int) -> tuple[bool, int, int]:
        sheet = self._sheets[index]
        return sheet.run.status == "partial", -len(sheet.figures), index

    def _head(self, index: int) -> int:
        while self._heads[index] != index:
            index = self._heads[index]
        return index

    def _grouped(
        self, marks: Callable[[Printing], Iterable[Hashable]], indices: Iterable[int] | None = None
    ) -> Iterator[list[int]]:
        """Yield the printings of one tool that share a mark."""
        groups = defaultdict(list)
        for index in range(len(self._sheets)) if indices is None else indices:
            printing = self._sheets[index].printing
            for mark in marks(printing):
                groups[printing.run.tool, mark].append(index)
        return (group for group in groups.values() if len(group) > 1)

    def _join(self, group: Iterable[int], is_same: Callable[[Sheet, Sheet], bool]) -> None:
        """Put each printing to the first head that it is the same run as."""
        heads: list[int] = []
        for index in sorted(group, key=lambda index: (-self._sheets[index].bits, index)):
            if self._heads[index] != index:
                continue
            for head in heads:
                if is_same(self._sheets[head], self._sheets[index]) and self._may_be_one(head, index):
                    self._heads[index] = head
                    self._known[head].add(self._known[index])
                    break
            else:
                heads.append(index)

    def _may_be_one(self, head: int, index: int) -> bool:
        """Whether nothing known sets two printings apart; a remark says what does."""
        difference = self._known[head].difference(self._known[index])
        if difference is None:
            return True
        first, second = sorted((head, index))
        if self._sheets[index].bits >= ENOUGH_OF_COPIES and (first, second) not in self._warned:
            self._warned.add((first, second))
            here, there = self._sheets[second].printing, self._sheets[first].printing
            message = f"The run has the same figures as that at {place(there, here)}, and another {difference}."
            self.remarks.append(
                Remark(
                    source=here.source,
                    diagnostic=Diagnostic(
                        code="SAME_FIGURES",
                        message=message,
                        line=here.run.line,
                        start=here.run.start,
                        end=here.run.end,
                    ),
                )
            )
        return False


def _interleaved(sheets: Sequence[Sheet]) -> Iterator[list[int]]:
    """Yield the printings of which one stands between the beginning and the end of the other.

    So fio prints one run in several formats; however little such printings tell, only a contradiction sets them
    apart.
    """
    places = [(sheet.printing.source, sheet.run.start, -sheet.run.end) for sheet in sheets]
    order = sorted(range(len(sheets)), key=places.__getitem__)
    group: list[int] = []
    for index in order:
        outer, inner = (sheets[i] for i in (group[0] if group else index, index))
        is_inside = outer.printing.source == inner.printing.source and inner.run.end <= outer.run.end
        if group and is_inside and inner.run.format != outer.run.format:
            group.append(index)
            continue
        if len(group) > 1:
            yield group
        group = [index]
    if len(group) > 1:
        yield group


def _failed_neighbours(sheets: Sequence[Sheet]) -> Iterator[list[int]]:
    """Yield printings in several formats, one right after the other, of a run that came to nothing.

    Such printings hold no figures that could tell that they are of one run.
    """
    order = sorted(range(len(sheets)), key=lambda index: (sheets[index].printing.source, sheets[index].run.start))
    for first, second in pairwise(order):
        one, other = sheets[first], sheets[second]
        if (
            one.printing.source == other.printing.source
            and 0 <= other.run.start - one.run.end <= _LINE_END
            and one.run.format != other.run.format
            and one.run.status == other.run.status == "failed"
            and not one.bits
            and not other.bits
        ):
            yield [first, second]


_LINE_END: Final = 2
_MOST_OF_ONE_DATE: Final = 16
"""Of more printings than that, a common date says nothing."""


def _dates(printing: Printing) -> Iterator[Hashable]:
    run = printing.run
    if run.started_at is not None:
        yield "started", run.started_at
    if run.ended_at is not None:
        yield "ended", run.ended_at


class _Known:
    """What is known of the printings of one run, which grows with each of them."""

    def __init__(self, printing: Printing) -> None:
        run = printing.run
        facts = {
            **printing.facts,
            "filesystem": run.filesystem or printing.facts.get("filesystem"),
            "host": run.host or printing.facts.get("host"),
            "beginning": run.started_at,
            "end": run.ended_at,
        }
        self._facts = {name: value for name, value in facts.items() if value is not None}
        # What can have several values, of which some are known of a printing that is not whole.
        self._values: dict[str, set[str]] = defaultdict(set)
        for name, value in (*run.identity, *((item.key, item.value) for item in printing.settings)):
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


# Finding printings that may be the same, without comparing all with all


_LEAF: Final = 16
_KEYS: Final = 12
_SAMPLE: Final = 64
_SHRUNK: Final = 0.7
"""A cut that leaves a part with more than this share of the whole is none."""


def _neighbours(sheets: Sequence[Sheet], indices: Iterable[int]) -> Iterator[list[int]]:
    """Yield small groups of printings, such that any two that agree are in one of them.

    Printings that agree enough share a telling figure, and so what that figure is of. Among those that share it,
    cuts by value along the most telling figures keep together what overlaps. (That makes it a k-d tree of
    intervals; the time is linear in the number of printings, up to its logarithm.)
    """
    facets: dict[Key, set[int]] = defaultdict(set)
    for index in indices:
        for key in sheets[index].clues:
            facets[sheets[index].run.tool, *key[:3]].add(index)
    done: dict[int, list[set[int]]] = defaultdict(list)
    for members in sorted(facets.values(), key=len, reverse=True):
        if len(members) > 1 and not any(members <= earlier for earlier in done[min(members)]):
            for index in members:
                done[index].append(members)
            yield from _cut(sheets, sorted(members))


def _cut(sheets: Sequence[Sheet], members: list[int]) -> Iterator[list[int]]:
    """Cut printings in two by the value of a figure, and each part again; what overlaps the cut is in both."""
    told: dict[Key, float] = defaultdict(float)
    for index in members[:: max(1, len(members) // _SAMPLE)]:
        for key, clue in sheets[index].clues.items():
            told[key] += clue.bits
    keys = sorted(told, key=lambda key: -told[key])[:_KEYS]
    open_groups = [members]
    while open_groups:
        group = open_groups.pop()
        parts = (
            next(filter(None, (_halves(sheets, group, key) for key in keys)), None) if len(group) > _LEAF else None
        )
        if parts is None:
            yield group
        else:
            open_groups += parts


def _halves(sheets: Sequence[Sheet], group: Sequence[int], key: Key) -> tuple[list[int], list[int]] | None:
    clues = [sheets[index].clues.get(key) for index in group]
    lows = sorted(clue.reach[0] for clue in clues if clue is not None)
    if not lows:
        return None
    middle = lows[len(lows) // 2]
    parts = (
        [index for index, clue in zip(group, clues, strict=True) if clue is None or clue.reach[0] <= middle],
        [index for index, clue in zip(group, clues, strict=True) if clue is None or clue.reach[1] >= middle],
    )
    return parts if max(map(len, parts)) <= _SHRUNK * len(group) else None
