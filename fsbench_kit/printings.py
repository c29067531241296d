"""Finds out which run records are printings of one and the same run, and makes one record of them.

A run can be printed several times: fio prints one run as text, JSON and terse into one file; a log stands in an
article and beside it as a file; a page is made of bonnie++'s CSV. Such printings are one run, never replicates.

Two records are taken for one run if all figures that both have agree within what their prints allow, if nothing
that is known of them sets them apart, and if the agreement could not have come about by chance. That is counted
in bits. Two runs of one workload whose figures have a standard deviation of `NOISE` print a figure of relative
resolution `r` alike with probability ``r / (2 * sqrt(pi) * NOISE)``; the figures tell ``-log2`` of it. Only what
is independent adds up: IOPS, bandwidth and the mean latency of a job are one piece of information, which tells
no more than the time and the amount of work that it was made of; the maxima of its latencies, which vary more,
are another one. Times, counts and sizes by themselves tell nothing, since they may have been asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from fsbench_kit.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.records import Bin, Block, Measurement, Run, Setting, Status

NOISE: Final = 0.01
"""Relative standard deviation between runs of one workload."""

NOISE_OF_MAXIMA: Final = 0.1
"""The same of the longest of many requests."""

ENOUGH: Final = 20.0
"""Bits from which on an agreement is no chance: one in a million."""

ENOUGH_OF_COPIES: Final = 15.0
"""Bits that do where the two have the same bytes: then all figures agree that tell too little to be counted."""

FEW: Final = 0.1
"""Share of figures that may differ between printings that bear the same date."""

Key = tuple[object, ...]
"""What a figure is of: scope, part, operation, metric, statistic, and its sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    """A run as one place prints it.

    Attributes
    ----------
    run, blocks
        Its records.
    source
        The file in which they stand.
    sha256
        Hash of its own bytes.
    names
        Names of the run, any of which is borne by this run alone: its place in a file, for instance.
    facts
        What is known of it, by name. Two runs with different facts are not the same one.
    settings
        Settings that are known from outside the file; the same holds for them.
    """

    run: Run
    blocks: tuple[Block, ...] = ()
    source: str
    sha256: str
    names: frozenset[Hashable] = frozenset()
    facts: Mapping[str, Any] = field(default_factory=dict)
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something to say about a run that is printed several times, and in which file."""

    source: str
    diagnostic: Diagnostic


def same_runs(printings: Sequence[Printing]) -> tuple[list[list[Printing]], list[Remark]]:
    """Sort printings by the run that they print.

    Returns
    -------
    tuple
        For each run its printings, the most complete one first, in the order in which those were given; and
        warnings of runs that have the same figures and are said to be different ones.
    """
    sorter = _Sorter([_Sheet(printing) for printing in printings])
    return sorter.runs(), sorter.remarks


def fold(printings: Sequence[Printing]) -> tuple[Printing, list[Remark]]:
    """Make one record of the printings of a run, of which the first is the main one.

    Of each figure the narrowest print is primary. Settings are united; bins and series come from one printing
    each. A figure from another file than the main printing's has no line.
    """
    main, *others = printings
    if not others:
        return main, []
    folder = _Folder(main)
    for other in others:
        folder.add(other)
    return folder.folded(), folder.remarks


# What a figure tells


_THROUGHPUT: Final = {"bandwidth", "iops", "file_rate", "elapsed"}
_RATES: Final = {"bandwidth", "iops", "file_rate"}
_WORK: Final = {"runtime", "elapsed", "operations", "bytes"}
_LATENCY: Final = {"latency", "submission_latency", "completion_latency", "phase_latency"}
_THREADS: Final = {"thread_events", "thread_time"}
_TELLING: Final = _THROUGHPUT | _LATENCY | _THREADS
_LITTLE: Final = 2.0
"""Bits from which on a figure is counted."""

_SCOPES: Final = {"all", "job", "client"}
"""The figures of other scopes are parts or sums of these."""

_CONCURRENT: Final = {"fio", "sysbench"}
"""Tools whose operations are done at the same time, so that one rate determines the other."""

_CLOCK: Final = 1e-6
"""Seconds: the finest time that iozone and bonnie++ measure rates with."""

_DIGITS: Final = re.compile(r"\d[\d.,]*")


def _piece(tool: str, item: Measurement) -> Key | None:
    """Return which piece of information a figure belongs to, or ``None`` if it tells nothing."""
    if item.scope not in _SCOPES:
        return None
    metric, statistic = item.metric, item.statistic
    if metric in _THROUGHPUT or metric in _LATENCY:
        if statistic in ("value", "mean"):
            operation = None if tool in _CONCURRENT else item.operation
            return item.part, operation, "rate", *_sizes(item)
        kind = "percentile" if statistic[0] == "p" else statistic
        return item.part, item.operation, metric in _LATENCY, kind, *_sizes(item)
    return (item.part, item.operation, "threads") if statistic == "stdev" else None


def _sizes(item: Measurement) -> Key:
    return item.block_size, item.file_size, item.threads


def _own_bits(item: Measurement) -> float:
    if not item.value or item.low is None or item.high is None:
        return 0.0
    width = item.high - item.low
    if not width:  # an exact figure is as fine as its digits
        digits = _DIGITS.search(item.text)
        number = int(re.sub(r"\D", "", digits[0])) if digits else 0
        width = abs(item.value) / number if number else 0.0
    if item.metric == "bandwidth" and item.file_size:
        width = max(width, _CLOCK * item.value**2 / item.file_size)
    if width <= 0:
        return 0.0
    noise = NOISE_OF_MAXIMA if item.statistic == "max" else NOISE
    return max(0.0, math.log2(2 * math.sqrt(math.pi) * noise * abs(item.value) / width))


Span = tuple[float, float]


class _Clue(NamedTuple):
    """A figure that tells something: which values it allows, how many bits, and for which piece of information."""

    span: Span
    reach: Span
    bits: float
    piece: Key


class _Sheet:
    """A printing with its primary figures at hand."""

    def __init__(self, printing: Printing) -> None:
        self.printing = printing
        self.run = printing.run
        self.figures: dict[Key, Measurement] = {}
        self._alike: dict[Key, list[Measurement]] | None = None
        for item in self.run.measurements:
            if item.primary:
                self.add(item)
        self.clues = dict(self._clues())
        self.bits = _total((clue.piece, clue.bits) for clue in self.clues.values())

    def add(self, item: Measurement) -> None:
        """Take in a figure; of two that stand for the same thing the first one counts."""
        self.figures.setdefault(figure_key(item), item)
        self._alike = None

    def partner(self, item: Measurement) -> Measurement | None:
        """Return the same figure of this printing; a size that only one of the two knows makes no difference."""
        found = self.figures.get(figure_key(item))
        if found is not None:
            return found
        if self._alike is None:
            self._alike = defaultdict(list)
            for own in self.figures.values():
                self._alike[figure_key(own)[:_NAME]].append(own)
        alike = [own for own in self._alike.get(figure_key(item)[:_NAME], ()) if _sizes_agree(own, item)]
        return alike[0] if len(alike) == 1 else None

    def _clues(self) -> Iterator[tuple[Key, _Clue]]:
        limits = self._limits()
        names = Counter(key[:_NAME] for key in self.figures)
        for key, item in self.figures.items():
            if item.metric not in _TELLING or item.low is None or item.high is None:
                continue
            bits = _own_bits(item)
            if item.metric in _RATES and item.statistic in ("value", "mean"):
                bits = min(
                    bits, limits.get((item.part, item.operation), bits), limits.get((item.part, "all"), bits)
                )
            if bits >= _LITTLE and (piece := _piece(self.run.tool, item)) is not None:
                clue = _Clue((item.low, item.high), _reach(item.low, item.high), bits, piece)
                yield key, clue
                if names[key[:_NAME]] == 1:  # a printing that does not know the sizes has it as well
                    yield key[:_NAME], clue

    def _limits(self) -> dict[Key, float]:
        """Return how much a rate can tell, by part and operation: as little as its time, or its amount of work.

        A round amount of work was asked for, and has no effect on how exact a rate is.
        """
        limits: dict[Key, float] = {}
        for item in self.figures.values():
            if item.statistic != "value" or not item.value or item.metric not in _WORK:
                continue
            if item.unit == "s" or (item.value % 1000 and item.value % 1024):
                key = item.part, item.operation
                limits[key] = min(_own_bits(item), limits.get(key, math.inf))
        return limits


def figure_key(item: Measurement) -> Key:
    """Return what a figure is of: what is unique among the primary figures of a run."""
    return (
        item.scope,
        item.part,
        item.operation,
        item.metric,
        item.statistic,
        item.block_size,
        item.file_size,
        item.threads,
    )


_NAME: Final = 5
"""How many members of a key stand before the sizes."""


def _sizes_agree(one: Measurement, other: Measurement) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(_sizes(one), _sizes(other), strict=True))


def _total(told: Iterable[tuple[Key, float]]) -> float:
    """Add up bits, those of each piece of information once."""
    pieces: dict[Key, float] = {}
    for piece, bits in told:
        pieces[piece] = max(bits, pieces.get(piece, 0.0))
    return sum(pieces.values())


# Whether two printings agree


_SLACK: Final = 0.1
# fio cuts a quantity to a 1000th or 1024th of its unit before it rounds that to one or two decimals.
_FLOATING: Final = 1e-9
_CUT_BEFORE: Final = {"group_share"}
"""fio's terse output divides by a bandwidth that was cut to KiB/s, and prints six decimals of the result."""


def _overlap(one: Span, other: Span) -> bool:
    """Whether two figures can be prints of one value."""
    width, other_width = one[1] - one[0], other[1] - other[0]
    floating = _FLOATING * max(abs(one[1]), abs(other[1]))
    if abs(width - other_width) <= floating + 0.01 * width:
        # Printed in steps of the same size, neighbours are different figures; "down" and "nearest" are half a
        # step apart.
        return abs(one[0] - other[0]) <= 0.6 * width + floating
    slack = _SLACK * (width + other_width) / 2 + floating
    return one[0] <= other[1] + slack and other[0] <= one[1] + slack


def _reach(low: float, high: float) -> Span:
    """Return a figure's span with its part of the slack, so that figures that agree reach one another."""
    slack = _SLACK * (high - low) / 2 + _FLOATING * max(abs(low), abs(high))
    return low - slack, high + slack


def _agree(one: Measurement, other: Measurement) -> bool:
    """Whether two figures can be the same; what is missing, or known without its rounding, can be anything."""
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


def _have_same_figures(one: _Sheet, other: _Sheet, *, enough: float = ENOUGH, tolerance: float = 0.0) -> bool:
    """Whether two printings share enough information to be one run's, with a share of figures that may differ."""
    few, many = sorted((one, other), key=lambda sheet: len(sheet.clues))
    told = []
    for key, clue in few.clues.items():
        partner = many.clues.get(key)
        if partner is None:
            continue
        if _overlap(clue.span, partner.span):
            told.append((clue.piece, min(clue.bits, partner.bits)))
        elif not tolerance:
            return False
    if _total(told) < enough:
        return False
    pairs = [(item, many.partner(item)) for item in few.figures.values()]
    agreeing = [_agree(item, partner) for item, partner in pairs if partner is not None]
    return agreeing.count(False) <= tolerance * len(agreeing)


# Sorting printings by their runs


class _Sorter:
    """Puts printings together; each set has a head, the printing that tells the most."""

    def __init__(self, sheets: Sequence[_Sheet]) -> None:
        self.remarks: list[Remark] = []
        self._sheets = sheets
        self._heads = list(range(len(sheets)))
        self._known = [_Known(sheet.printing) for sheet in sheets]
        self._warned: set[tuple[int, int]] = set()
        for group in self._grouped(lambda printing: printing.names):
            self._join(group, lambda head, other: head.run == other.run)
        for group in _interleaved(sheets):
            self._join(group, lambda head, other: _have_same_figures(head, other, enough=0.0))
        telling = [index for index, sheet in enumerate(sheets) if sheet.bits >= ENOUGH_OF_COPIES]
        for group in self._grouped(lambda printing: [printing.sha256], telling):
            self._join(group, lambda head, other: _have_same_figures(head, other, enough=ENOUGH_OF_COPIES))
        telling = [index for index in telling if sheets[index].bits >= ENOUGH]
        for group in self._grouped(_dates, telling):
            if len(group) > _MOST_OF_ONE_DATE:
                continue
            self._join(group, lambda head, other: _have_same_figures(head, other, tolerance=FEW))
        for group in _neighbours(self._sheets, telling):
            self._join(group, _have_same_figures)

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

    def _join(self, group: Iterable[int], is_same: Callable[[_Sheet, _Sheet], bool]) -> None:
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
            message = f"The run has the same figures as that at {_place(there, here)}, and another {difference}."
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


def _interleaved(sheets: Sequence[_Sheet]) -> Iterator[list[int]]:
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
        self._settings: dict[str, set[str]] = defaultdict(set)
        for setting in printing.settings:
            self._settings[setting.key].add(setting.value)

    def add(self, other: _Known) -> None:
        self._facts = {**other._facts, **self._facts}
        for key, values in other._settings.items():
            self._settings[key] |= values

    def difference(self, other: _Known) -> str | None:
        """Name what is known of both and differs."""
        for name in self._facts:
            if name in other._facts and not _is_same_fact(name, self._facts[name], other._facts[name]):
                return name
        for key in self._settings:
            if key in other._settings and self._settings[key].isdisjoint(other._settings[key]):
                return key
        return None


_SAME_TIME: Final = timedelta(seconds=2)
"""A tool takes the time anew for each format in which it prints a run."""


def _is_same_fact(name: str, one: Any, other: Any) -> bool:
    if name == "host":  # tables cut long names off
        return bool(one.startswith(other) or other.startswith(one))
    if isinstance(one, datetime) and isinstance(other, datetime):
        return abs(one - other) <= _SAME_TIME
    return bool(one == other)


def _place(printing: Printing, seen_from: Printing) -> str:
    line = f"line {printing.run.line}" + (f" ({printing.run.format})" if printing.run.format else "")
    return line if printing.source == seen_from.source else f"{printing.source}, {line}"


# Finding printings that may be the same, without comparing all with all


_LEAF: Final = 16
_KEYS: Final = 12
_SAMPLE: Final = 64
_SHRUNK: Final = 0.7
"""A cut that leaves a part with more than this share of the whole is none."""


def _neighbours(sheets: Sequence[_Sheet], indices: Iterable[int]) -> Iterator[list[int]]:
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


def _cut(sheets: Sequence[_Sheet], members: list[int]) -> Iterator[list[int]]:
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


def _halves(sheets: Sequence[_Sheet], group: Sequence[int], key: Key) -> tuple[list[int], list[int]] | None:
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


# Making one record of a run's printings


class _Folder:
    """Adds printings of a run to the main one."""

    def __init__(self, main: Printing) -> None:
        self.remarks: list[Remark] = []
        self._printings = [main]
        self._figures = _Sheet(main)
        self._best: dict[Key, Measurement] = {}
        self._added: list[Measurement] = []
        self._seconds: list[Measurement] = []

    def add(self, other: Printing) -> None:
        """Add what another printing says."""
        main = self._printings[0]
        self._printings.append(other)
        self._remark(other, "SAME_RUN", f"This is the run at {_place(main, other)} once more; it counts once.")
        if other.sha256 == main.sha256:
            return  # a copy, which repeats every figure
        for item in _in_file_of(main, other, other.run.measurements):
            own = self._figures.partner(item) if item.primary else None
            if own is not None:
                self._compare(own, item, other)
            elif item.primary:
                self._figures.add(item)
                self._added.append(item)
            else:
                self._seconds.append(item)

    def _compare(self, own: Measurement, item: Measurement, other: Printing) -> None:
        """Keep the narrower one of two prints of a figure as primary."""
        best = self._best.get(figure_key(own), own)
        if not _agree(best, item):
            what = f"{item.statistic} {item.metric}".removeprefix("value ")
            place = _place(self._printings[0], other)
            message = f"{what} of {item.operation} is printed as {item.text}, and as {best.text} at {place}."
            self._remark(other, "SECOND_PRINTING_DIFFERS", message, f"{item.text} … {best.text}")
        first, second = sorted((best, item), key=_vagueness)  # of equals the one that was there first
        details = {name: getattr(second, name) for name in _DETAILS if getattr(first, name) is None}
        known = {name: value for name, value in details.items() if value is not None}
        self._best[figure_key(own)] = replace(first, **known) if known else first
        self._seconds.append(replace(second, primary=False))

    def _remark(self, printing: Printing, code: str, message: str, excerpt: str | None = None) -> None:
        run = printing.run
        diagnostic = Diagnostic(
            code=code, message=message, line=run.line, start=run.start, end=run.end, excerpt=excerpt
        )
        self.remarks.append(Remark(source=printing.source, diagnostic=diagnostic))

    def folded(self) -> Printing:
        """Return the one record."""
        main = self._printings[0]
        runs = [printing.run for printing in self._printings]
        best = [self._best.get(figure_key(item), item) if item.primary else item for item in main.run.measurements]
        added = [self._best.get(figure_key(item), item) for item in self._added]
        facts = {name: _first_known(runs, name) for name in _FACTS}
        run = replace(
            main.run,
            **facts,
            status=_status(runs),
            settings=self._settings(lambda printing: printing.run.settings),
            measurements=(*best, *added, *self._seconds),
            bins=tuple(self._bins()),
        )
        return replace(
            main,
            run=run,
            blocks=tuple(self._blocks()),
            facts={
                name: next((p.facts[name] for p in self._printings if p.facts.get(name) is not None), None)
                for name in main.facts
            },
            settings=self._settings(lambda printing: printing.settings),
        )

    def _settings(self, of: Callable[[Printing], tuple[Setting, ...]]) -> tuple[Setting, ...]:
        """Unite the settings; where printings differ in one, which they may in its spelling, the first counts."""
        main = self._printings[0]
        settings = list(of(main))
        for other in self._printings[1:]:
            known = {(item.key, item.scope, item.part, item.origin) for item in settings}
            settings += [
                item
                for item in _in_file_of(main, other, of(other))
                if (item.key, item.scope, item.part, item.origin) not in known
            ]
        return tuple(settings)

    def _bins(self) -> Iterator[Bin]:
        """Yield each distribution from the printing that has it in the most bins."""
        main = self._printings[0]
        finest: dict[Key, list[Bin]] = {}
        for printing in self._printings:
            found: dict[Key, list[Bin]] = defaultdict(list)
            for item in _in_file_of(main, printing, printing.run.bins):
                found[item.scope, item.part, item.operation, item.metric].append(item)
            finest |= {key: bins for key, bins in found.items() if len(bins) > len(finest.get(key, ()))}
        return chain.from_iterable(finest.values())

    def _blocks(self) -> Iterator[Block]:
        """Yield each series from the first printing that has it."""
        taken: set[Key] = set()
        for printing in self._printings:
            new = [block for block in printing.blocks if _series(block) not in taken]
            taken.update(map(_series, new))
            yield from new


_DETAILS: Final = ("block_size", "file_size", "threads", "samples")
_FACTS: Final = ("tool_version", "filesystem", "host", "started_at", "ended_at", "duration", "exit_code")


def _vagueness(item: Measurement) -> tuple[int, float]:
    """Order prints of a figure: the narrower one first, then what is not known as well."""
    if item.low is not None and item.high is not None:
        return 0 if item.state == "measured" else 2, item.high - item.low
    return {"measured": 1, "censored": 2, "missing": 3}[item.state], math.inf


_Item = TypeVar("_Item", "Measurement", "Setting", "Bin")


def _in_file_of(main: Printing, other: Printing, items: Sequence[_Item]) -> Iterator[_Item]:
    """Yield what a printing says; without lines if its file is not the main printing's, whose lines others are."""
    return iter(items) if other.source == main.source else (replace(item, line=None) for item in items)


def _first_known(runs: Iterable[Run], name: str) -> Any:
    return next((value for run in runs if (value := getattr(run, name)) is not None), None)


def _status(runs: Sequence[Run]) -> Status:
    """Return the worst that complete printings say: a copy that was cut off says nothing against them."""
    of_complete = [run.status for run in runs if run.status != "partial"]
    return "partial" if not of_complete else "failed" if "failed" in of_complete else "ok"


def _series(block: Block) -> Key:
    return block.part, block.operation, block.metric, block.statistic
