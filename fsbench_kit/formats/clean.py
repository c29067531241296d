r"""Reads many logs together: one of each kind as always, the others by their numbers alone.

A log is of the kind of another one where the two differ in nothing but their numbers, and in the blanks that fill
up a number's column. The first log of a kind is read by its format's `parse`. It is the example of its kind if it
is one run from its first to its last character, and nothing is to be said about it but what the format's
cross-checks find: then each figure says at which number it stands and how it is printed
(`fsbench_kit.model.records.How`), and in the other logs the number at that place is read in the same way, as a
column over all of them. So this module knows no format, and what it reads is what `parse` reads:

- A number that is no figure (a version, a rank) has to be that of the example, but for a date, and for settings of
  which the format says what depends on them (`Clean.free`).
- A figure that is 0 is 0 in the example, because much may depend on that (but for `Clean.zeros`).
- A figure has the unit that it has in the example, unless the format says what others mean (`Clean.units`), or
  another log has that line (`Clean.lines`).
- The figures of the example are read as a column too, and have to be what `parse` makes of them.
- The cross-checks (`Clean.checks`) are made over the columns, and have to find in the example what `parse` says.

What is left over is for `parse`, which says what is wrong with it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import accumulate, chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit import formats
from fsbench_kit.formats.findings import Finding, diagnostics
from fsbench_kit.formats.loose_lines import Layout, Lines, Lore
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Bin, Block, Diagnostic, Distributions, How, Measurement, Run, Setting, State
from fsbench_kit.model.units import COUNT_SUFFIXES, Rounding, exact_factor, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

Floats = NDArray[np.float64]


class Free(NamedTuple):
    """How a setting may differ between logs that are read together; only `Clean.checks` may depend on it.

    Attributes
    ----------
    written
        Returns its value, by the number that is printed; ``None`` for a whole number of something.
    columns
        Those of measurements that repeat it, where it is such a number.
    """

    written: Callable[[str], str] | None = str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Clean:
    """What a format says of its logs, so that they can be read together.

    Attributes
    ----------
    checks
        The cross-checks that `parse` makes last: of a run, whose measurements may be columns over many, and the
        text of the example. See `fsbench_kit.formats.findings`.
    remarks
        Codes of other diagnostics, which come before those and depend on no figure but those that they show.
    same_runs
        Returns whether `parse` finds the same run in a log as in the example, where that depends on figures.
    free
        Settings that may differ between logs that are read together.
    zeros
        Figures, by `fsbench_kit.model.records.How.name`, of which nothing depends on whether they are 0.
    units
        What may stand behind a figure -> its unit, and how it was shortened.
    duration
        The metric that is the duration of a run.
    place
        Returns the part of a log in which the place of a number in its line tells what it is.
    date
        Reads the date at which a run began, where C's ``ctime`` has printed it.
    is_date_of_end
        Whether that is when it ended; the last one, if there are several.
    settle
        Sets the ends of figures, in their columns, that depend on other figures.
    are_settings_apart
        Whether the cross-checks depend on no setting, so that they can be made over logs with different ones.
    lines
        In which of their lines logs may differ and yet be of one kind.
    """

    checks: Callable[[Run, Text], Iterable[Finding]]
    remarks: frozenset[str] = frozenset()
    same_runs: Callable[[Run, Text], Any] | None = None
    free: Mapping[str, Free] = field(default_factory=dict)
    zeros: frozenset[str] = frozenset()
    units: Mapping[str, tuple[str, Rounding]] = field(default_factory=dict)
    duration: str | None = None
    place: Callable[[str], str] | None = None
    date: Callable[[str], datetime | None] | None = None
    is_date_of_end: bool = False
    settle: Callable[[Run], None] | None = None
    are_settings_apart: bool = False
    lines: Lines | None = None

    def clock(self, dates: Sequence[str]) -> dict[str, datetime | None]:
        """Return when a run began and when it ended, by the dates that are printed."""
        which, name = (-1, "ended_at") if self.is_date_of_end else (0, "started_at")
        found = self.date(dates[which]) if self.date is not None and dates else None
        return {"started_at": None, "ended_at": None} | {name: found}


@dataclass(frozen=True)
class CleanLogs:
    """Columns of `fsbench_kit.model.records` for many logs; ``log`` is the index of each row's log.

    A run's identity is null or a list of words: what it is and its value, in turns.
    """

    runs: pl.DataFrame
    settings: pl.DataFrame
    measurements: pl.DataFrame
    distributions: pl.DataFrame
    series: pl.DataFrame
    diagnostics: pl.DataFrame


def read(texts: Sequence[str]) -> tuple[dict[str, CleanLogs], list[int]]:
    """Read the logs among some texts that are printed alike.

    Parameters
    ----------
    texts
        Of whole files in UTF-8.

    Returns
    -------
    tuple
        The logs of each format, by its name, and the indexes of the texts that are left over.

    Examples
    --------
    >>> read(["XFS is fast."])
    ({}, [0])
    """
    loose = [clean.lines for each in formats.FORMATS if (clean := _clean(each)) is not None and clean.lines]
    kinds: dict[str, list[_Log]] = defaultdict(list)
    left: list[int] = []
    for index, raw in enumerate(texts):
        chars = raw if raw.isascii() else raw.replace(_HARD_BLANK, " ")
        if not chars.isascii():
            left.append(index)
            continue
        dateless, dates = _without_dates(chars)
        pieces = _NUMBER.split(dateless)
        kind = "\0".join([piece.rstrip(" ") for piece in pieces[::2]])
        kinds[kind].append(_Log(index, raw, chars, pieces, pieces[1::2], dates, kind))
    alike: dict[str, list[list[_Log]]] = defaultdict(list)
    for kind, logs in kinds.items():
        lines = next((each for each in loose if each.sign in kind), None)
        if lines is None:
            alike[_UNIT.sub("\0", kind)].append(logs)
        else:
            layout = Layout.of(kind, lines)
            alike[layout.plain].append([log.laid_out(layout) for log in logs])
    groups: list[_Group] = []
    for some in alike.values():
        left += _examples(some, groups)
    found: dict[str, _Collector] = defaultdict(_Collector)
    for group, read_as in zip(groups, _read_figures(groups), strict=True):
        left += group.collect(read_as, found[group.example.owner])
    return {name: collector.logs() for name, collector in found.items()}, sorted(left)


_NUMBER: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)")
_UNIT: Final = re.compile(r"\0(?:[mu]?s|[kmg])(?!\w)")
"""A unit right behind a number, where numbers are left out, and a ``\\0`` stands in the place of each."""
_UNIT_IN_PLACE: Final = re.compile(r"(?<=\d)(?:[mu]?s|[kmg])(?!\w)")
_DIGITS: Final = dict.fromkeys(map(ord, "0123456789"), " ")
_HARD_BLANK: Final = "\N{NO-BREAK SPACE}"
"""What web pages have for a blank; where documents are read, it is one."""
_MOST_FAILURES: Final = 8
"""So many logs of a kind are tried as its example."""


class _Log(NamedTuple):
    """A log: as it is, and with blanks for hard ones; its numbers, and what stands between these, in turns.

    `kind` is what stands between them, without the blanks before a number.
    """

    at: int
    raw: str
    chars: str
    pieces: list[str]
    numbers: list[str]
    dates: list[str]
    kind: str
    layout: Layout | None = None

    def laid_out(self, layout: Layout) -> _Log:
        """Return it with the numbers alone of those lines that have to be there."""
        return self._replace(numbers=[self.numbers[number] for number in layout.kept], layout=layout)

    def head(self, number: int | None) -> str:
        """Return the line that tells the unit of a number, or nothing where it is the same in all logs."""
        return (
            self.layout.heads[self.layout.numbers[number]]
            if self.layout is not None and number is not None
            else ""
        )

    def line_of(self, line: int | None) -> int | None:
        """Return which of the lines that have to be there one is; ``None`` for others."""
        if self.layout is None or line is None:
            return line
        place = bisect_left(self.layout.lines, line)
        return place if self.layout.lines[place : place + 1] == (line,) else None

    @property
    def all_numbers(self) -> list[str]:
        """Its numbers, also those on lines that might be missing."""
        return self.pieces[1::2]

    @property
    def text(self) -> Text:
        return Text(self.raw).replaced(self.chars)

    def byte(self, position: int) -> int:
        """Return the offset of a character in the file, where a hard blank is two bytes."""
        return position + (0 if self.raw is self.chars else self.raw.count(_HARD_BLANK, 0, position))

    @property
    def span(self) -> tuple[int, int]:
        """From where to where it stands in the file, without the blanks around it."""
        return self.byte(len(self.chars) - len(self.chars.lstrip())), self.byte(len(self.chars.rstrip()))


@lru_cache(maxsize=2**12)
def _units(kind: str) -> tuple[str, ...]:
    """Return the unit behind each number of a kind, or nothing."""
    found = (_UNIT.match(f"\0{piece}") for piece in kind.split("\0")[1:])
    return tuple(match[0][1:] if match is not None else "" for match in found)


_CLOCK: Final = re.compile(r":\d\d:\d\d \d{4}")  # which is found faster than the whole
_DATE: Final = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}")


def _without_dates(chars: str) -> tuple[str, list[str]]:
    """Return a text in which its dates, which are of each run alone, hold no number; and these dates."""
    dates = _DATE.findall(chars) if _CLOCK.search(chars) else []
    return _DATE.sub(lambda date: "~" * len(date[0]), chars) if dates else chars, dates


def _examples(kinds: list[list[_Log]], groups: list[_Group]) -> Iterator[int]:
    """Find examples for logs that are alike but for units, and yield the indexes of those that have none."""
    owners = {id(owner): owner for _, owner in formats.sniff(kinds[0][0].chars)}.values()
    clean = next(map(_clean, owners), None)
    if len(owners) != 1 or clean is None:
        yield from (log.at for logs in kinds for log in logs)
        return
    (owner,) = owners
    pending = [list(chain(*kinds))] if clean.units or clean.lines else kinds
    if clean.place is not None:
        by_place: dict[tuple[int, str], list[_Log]] = defaultdict(list)
        for number, logs in enumerate(pending):
            for log in logs:
                by_place[number, _places(clean.place(_without_dates(log.chars)[0]))].append(log)
        pending = list(by_place.values())
    failures, start = 0, len(groups)
    lores: dict[str | None, Lore] = defaultdict(Lore)
    while pending:
        some = pending.pop()
        example = _Example.of(owner, clean, some[0]) if failures < _MOST_FAILURES else None
        if example is None:
            failures += 1
            yield some[0].at
            pending += [some[1:]] * (len(some) > 1)
            continue
        alike, *others = example.sorted(some)
        lore = lores[example.run.tool_version]
        if example.teaches(lore):
            groups.append(_Group([example], [], [], lore))
            yield from groups[-1].fill(alike, owner)
        else:
            yield from (log.at for log in alike)
        pending += others
    if clean.are_settings_apart:
        groups[start:] = _joined(groups[start:])


def _clean(owner: formats.Format) -> Clean | None:
    return getattr(owner, "CLEAN", None)


def _joined(groups: Iterable[_Group]) -> Iterator[_Group]:
    """Join groups of logs that differ in settings alone."""
    alike: dict[object, list[_Group]] = defaultdict(list)
    for group in groups:
        alike[group.examples[0].figures_alone()].append(group)
    for some in alike.values():
        examples = [example for group in some for example in group.examples]
        starts = accumulate((len(group.examples) for group in some), initial=0)
        which = [start + number for start, group in zip(starts, some, strict=False) for number in group.which]
        yield _Group(examples, [log for group in some for log in group.logs], which, some[0].lore)


def _places(chars: str) -> str:
    """Return a text in which a figure of any length and unit that ends at a place is the same."""
    return _UNIT_IN_PLACE.sub(lambda unit: f"{'~':>{len(unit[0])}}", chars).translate(_DIGITS)


class _Figure(NamedTuple):
    """Where a measurement of an example stands.

    Attributes
    ----------
    place
        The number that it is, or ``None`` where it is none and the same in all logs.
    suffix
        What else its text has.
    has_unit
        Whether that is a unit in whose place another one may stand.
    """

    place: int | None
    suffix: str
    has_unit: bool = False


@dataclass
class _Example:
    """A log that was read by its format, and where in it the figures stand.

    Attributes
    ----------
    remarks, said
        What is said of it before the cross-checks, and what these find.
    free
        Setting -> the number that it is, of those that may differ within a kind, and what that is multiplied with,
        if it is.
    points
        For each series the numbers that its values are.
    samples
        Measurement -> the number that tells over how many samples it is taken.
    bins
        Those that all logs have.
    shares
        Bin -> the number that its share is.
    identity
        What each word of the run's identity is: a number, or a date, which is counted from the last one, below 0.
    anchors
        Where the phrases begin and end that diagnostics show: byte -> piece of the text, and place in it.
    """

    owner: str
    clean: Clean
    log: _Log
    run: Run
    blocks: list[Block]
    remarks: list[Diagnostic]
    said: list[Diagnostic]
    figures: list[_Figure]
    free: dict[int, tuple[int, int | None]]
    points: list[list[int]]
    samples: dict[int, int]
    bins: list[Bin]
    shares: dict[int, int]
    identity: list[int]
    anchors: dict[int, tuple[int, int]]

    @classmethod
    def of(cls, owner: formats.Format, clean: Clean, log: _Log) -> _Example | None:
        """Return a log as an example, or ``None`` where it cannot vouch for others."""
        text = log.text
        records = list(owner.parse(text))
        runs = [record for record in records if isinstance(record, Run)]
        blocks = [record for record in records if isinstance(record, Block)]
        if len(runs) != 1 or (runs[0].start, runs[0].end) != log.span:
            return None
        (run,) = runs
        all_said = [record for record in records if isinstance(record, Diagnostic)]
        said = list(diagnostics(clean.checks(run, text), text))
        remarks = all_said[: len(all_said) - len(said)]
        if all_said != remarks + said or any(item.code not in clean.remarks for item in remarks):
            return None
        if clean.clock(log.dates) != {"started_at": run.started_at, "ended_at": run.ended_at}:
            return None
        found = _NUMBER.finditer(_without_dates(log.chars)[0])
        numbers = {log.byte(match.start()): number for number, match in enumerate(found)}
        if log.layout is not None:
            of_kept = {number: place for place, number in enumerate(log.layout.kept)}
            numbers = {start: of_kept[number] for start, number in numbers.items() if number in of_kept}
        figures = [_figure(item, numbers, log, clean) for item in run.measurements]
        points = [[numbers.get(start, -1) for start in block.starts or ()] for block in blocks]
        phrases = [item.phrase for item in run.measurements if item.phrase is not None]
        phrases += [span for item in remarks if (span := _span(item)) is not None]
        anchors = dict(_anchors(log, text, chain(*phrases)))
        samples = {
            column: numbers[item.samples_start]
            for column, item in enumerate(run.measurements)
            if item.samples_start in numbers
        }
        bins = [item for item in run.bins if log.line_of(item.line) is not None]
        shares, identity = _shares(run, bins, numbers), _identity(log, run, numbers)
        is_vouched = all(re.search(r"\d", figure.suffix) is None for figure in figures)
        is_vouched &= not any(_is_told(item, figure) for figure in run.measurements for item in remarks)
        is_vouched &= None not in shares.values() and None not in identity
        if not is_vouched or any(not each or -1 in each for each in points) or None in anchors.values():
            return None
        return cls(
            formats.name(owner),
            clean,
            log,
            run,
            blocks,
            remarks,
            said,
            figures,
            dict(_free(clean, log, run, numbers)),
            points,
            samples,
            bins,
            {place: number for place, number in shares.items() if number is not None},
            [place for place in identity if place is not None],
            {offset: anchor for offset, anchor in anchors.items() if anchor is not None},
        )

    def figures_alone(self) -> object:
        """Return all that matters of it but its settings and what its figures are."""
        run = self.run
        return (
            *map(self._figure_alone, run.measurements, self.figures),
            *(
                (item.key, item.scope, item.part, item.origin, self.log.line_of(item.line))
                for item in run.settings
            ),
            *((item.operation, item.metric, item.low, item.high, item.scope, item.part) for item in self.bins),
            *((item.code, item.message) for item in self.remarks),
            *(name for name, _ in run.identity),
            *(run.tool_version, run.host, run.status, run.exit_code, repr(run.jobs), repr(self.blocks)),
        )

    def _figure_alone(self, item: Measurement, figure: _Figure) -> object:
        printed = (item.how, figure) if not self.log.head(figure.place) else figure.place
        line = self.log.line_of(item.line)
        return _figure_of(item), printed, line, item.value is None, item.low is None, item.high is None

    def teaches(self, lore: Lore) -> bool:
        """Keep what can be seen on its lines; return whether that agrees with what others have shown."""
        layout = self.log.layout
        if layout is None:
            return True
        for item, figure in zip(self.run.measurements, self.figures, strict=True):
            known = item.how, figure.suffix
            if lore.hows.setdefault((figure.place, self.log.head(figure.place)), known) != known:
                return figure.place is None
        loose = [item for item in self.run.bins if self.log.line_of(item.line) is None]
        lore.heads |= set(enumerate(layout.heads))
        return lore.learn_bins(layout, self.log.all_numbers, loose)

    def zero_of(self, column: int) -> State | None:
        """Return what a 0 is in the place of a measurement, if it may be one and is no figure like any other."""
        how = self.run.measurements[column].how
        is_known = how is not None and how.name in self.clean.zeros and self.figures[column].place is not None
        return how.zero if how is not None and is_known and how.zero != "measured" else None

    def sorted(self, logs: list[_Log]) -> list[list[_Log]]:
        """Return the logs of which this is the example, and the others in groups that may have their own."""
        if len(logs) == 1:
            return [logs]
        measured = zip(self.figures, self.run.measurements, strict=True)
        items = {figure.place: item for figure, item in measured if figure.place is not None}
        points = set(chain(*self.points))
        free = dict(self.free.values())
        of_runs = [number for number in self.identity if number >= 0]
        zeros = {
            place for place, item in items.items() if item.how is not None and item.how.name in self.clean.zeros
        }
        columns = list(zip(*(log.numbers for log in logs), strict=True))
        odd = [
            [text[0] == "0" and not text.strip("0.") for text in columns[n]]
            for n in (items.keys() | points) - zeros
        ]
        written = [*(number for number, factor in free.items() if factor), *of_runs]
        odd += [[text[0] == "0" or "." in text for text in columns[number]] for number in written]
        odd += [
            [text.partition(".")[2].strip("0") == "" != text.partition(".")[2] for text in columns[place]]
            for place, item in items.items()
            if item.how is not None and item.how.may_lack_carry
        ]
        flags = np.packbits(np.array(odd, np.bool_).reshape(len(odd), len(logs)), axis=0).T
        known = items.keys() | points | {*free, *of_runs, *self.samples.values(), *self.shares.values()}
        fixed = sorted(set(range(len(columns))) - known)
        others = list(zip(*(columns[number] for number in fixed), strict=True)) or [()] * len(logs)
        any_unit = {figure.place for figure in self.figures if figure.has_unit}
        units = {
            kind: tuple(unit for number, unit in enumerate(_units(kind)) if number not in any_unit)
            for kind in {log.kind for log in logs if log.layout is None}
        }
        groups: dict[object, list[_Log]] = {}
        for log, other, flag in zip(logs, others, flags, strict=True):
            own = [log.numbers[number] for number in of_runs]
            which_are_same = tuple(map(own.index, own))  # by which jobs are told apart
            bins = [cell.gap for cell in log.layout.cells] if log.layout is not None and self.anchors else []
            date = self.clean.date
            is_dated = date is None or all(date(each) is not None for each in log.dates)
            others_alike = units.get(log.kind), which_are_same, tuple(bins), is_dated
            groups.setdefault((other, flag.tobytes(), others_alike), []).append(log)
        return list(groups.values())


def _figure(item: Measurement, numbers: Mapping[int, int], log: _Log, clean: Clean) -> _Figure:
    place = numbers.get(item.start) if item.start is not None else None
    if place is None or item.how is None or not item.text.startswith(log.numbers[place]):
        return _Figure(None, item.text)
    suffix = item.text.removeprefix(log.numbers[place])
    is_unit = clean.units.get(suffix) == (item.how.unit, item.how.rounding)
    return _Figure(place, suffix, is_unit and suffix == _units(log.kind)[place])


def _is_told(remark: Diagnostic, item: Measurement) -> bool:
    """Whether a remark can have a figure in its message, which stands in the phrase that it shows."""
    is_shown = remark.start is None or remark.end is None or remark.start <= (item.start or 0) < remark.end
    return is_shown and item.text in _NUMBER.findall(remark.message)


def _shares(run: Run, bins: Sequence[Bin], numbers: Mapping[int, int]) -> dict[int, int | None]:
    """Return which numbers the shares of some bins are, by the places of these; ``None`` where it is not known."""
    starts: list[int | None] = []
    for each in Distributions.of(run.bins).columns:
        starts += each.starts.tolist() if each.starts is not None else [None] * len(each)
    known = [start for item, start in zip(run.bins, starts, strict=True) if item in bins]
    return {place: numbers.get(start) for place, start in enumerate(known) if start is not None}


def _identity(log: _Log, run: Run, numbers: Mapping[int, int]) -> list[int | None]:
    """Return what each word of a run's identity is; see `_Example`."""
    dates = [log.byte(date.start()) for date in _DATE.finditer(log.chars)]
    return [
        dates.index(start) - len(dates) if start in dates else numbers.get(start) for start in run.identity_starts
    ]


def _free(
    clean: Clean, log: _Log, run: Run, numbers: Mapping[int, int]
) -> Iterator[tuple[int, tuple[int, int | None]]]:
    """Yield the settings that may differ between logs: which number each is, and what that is multiplied with."""
    keys = [setting.key for setting in run.settings]
    for position, setting in enumerate(run.settings):
        number = numbers.get(setting.start) if setting.start is not None else None
        if number is None or setting.key not in clean.free or keys.count(setting.key) > 1:
            continue
        printed, (written, columns) = log.numbers[number], clean.free[setting.key]
        if written is not None:
            if written(printed) == setting.value:
                yield position, (number, None)
        elif printed.isdecimal() and printed[0] != "0" and setting.value.isdecimal():
            factor, rest = divmod(int(setting.value), int(printed))
            repeated = {getattr(item, name) for name in columns for item in run.measurements}
            if not rest and repeated <= {None, int(setting.value)}:
                yield position, (number, factor)


def _anchors(log: _Log, text: Text, offsets: Iterable[int]) -> Iterator[tuple[int, tuple[int, int] | None]]:
    """Yield some bytes, and by which piece they stand, and how far behind its start; ``None`` inside a number."""
    pieces = log.pieces
    starts = list(accumulate(map(len, pieces), initial=0))
    for offset in set(offsets):
        position = text.position(offset)
        piece = min(bisect_right(starts, position), len(pieces)) - 1
        behind = position - starts[piece]
        is_inside = behind > (0 if piece % 2 else len(pieces[piece].rstrip(" ")))
        yield offset, None if is_inside else (piece, behind)


class _Read(NamedTuple):
    """All figures of some logs: the texts of measurements, log by log; and what they are, a row for each log."""

    texts: list[str]
    value: Floats
    low: Floats
    high: Floats
    shares: Floats

    def of(self, rows: Sequence[int]) -> _Read:
        """Return the measurements of some of the logs."""
        width = self.value.shape[1]
        texts = [text for row in rows for text in self.texts[row * width : (row + 1) * width]]
        return _Read(texts, *(column[rows] for column in self[1:]))


class _Group(NamedTuple):
    """Examples that differ in settings alone, and the logs that are read as they are; `which` of them each log."""

    examples: list[_Example]
    logs: list[_Log]
    which: list[int]
    lore: Lore

    def fill(self, logs: Iterable[_Log], owner: formats.Format) -> Iterator[int]:
        """Take logs of which all lines are known, or can be learned; yield the indexes of the others."""
        for log in logs:
            number = 0
            if log.layout is not None and not self.lore.knows(log.layout, log.all_numbers):
                example = _Example.of(owner, self.example.clean, log)
                if example is None or example.figures_alone() != self.example.figures_alone():
                    yield log.at
                    continue
                if not example.teaches(self.lore):
                    yield log.at
                    continue
                number = len(self.examples)
                self.examples.append(example)
            self.logs.append(log)
            self.which.append(number)

    @property
    def example(self) -> _Example:
        """One of the examples."""
        return self.examples[0]

    def of(self, rows: Sequence[int]) -> _Group:
        """Return some of the logs."""
        return self._replace(logs=[self.logs[row] for row in rows], which=[self.which[row] for row in rows])

    def known(self) -> _Read:
        """Return what is known before figures are read: those of the example, in all logs."""
        items, number = self.example.run.measurements, len(self.logs)
        ends = [np.array([[getattr(item, name) for item in items]], np.float64) for name in _ENDS]  # None is NaN
        texts: list[str] = []
        columns = [self._texts(figure) for figure in self.example.figures]
        for row in zip(*columns, strict=True):
            texts += row
        shares = np.array([[item.share for item in self.example.bins]], np.float64)
        return _Read(texts, *(np.repeat(column, number, axis=0) for column in (*ends, shares)))

    def _texts(self, figure: _Figure) -> list[str]:
        place, suffix, has_unit = figure
        if place is None:
            return [suffix] * len(self.logs)
        if self.logs[0].head(place):
            return [f"{log.numbers[place]}{self.lore.hows[place, log.head(place)][1]}" for log in self.logs]
        if has_unit:
            return [f"{log.numbers[place]}{_units(log.kind)[place]}" for log in self.logs]
        return [f"{log.numbers[place]}{suffix}" for log in self.logs] if suffix else self.numbers(place)

    def lines(self, items: Sequence[Measurement | Setting | Bin | Diagnostic]) -> list[int | None]:
        """Return the lines of what is on lines that all logs have, log by log."""
        known = [item.line for item in items]
        places = [self.example.log.line_of(line) for line in known]
        return [
            line if log.layout is None or place is None else log.layout.lines[place]
            for log in self.logs
            for line, place in zip(known, places, strict=True)
        ]

    def numbers(self, place: int) -> list[str]:
        """Return the number at a place of each log."""
        return [log.numbers[place] for log in self.logs]

    def settings(self) -> dict[int, list[str]]:
        """Return those settings of the logs that may differ, by their places among all."""
        found = {}
        for position, (number, factor) in self.example.free.items():
            write = self.example.clean.free[self.example.run.settings[position].key].written
            texts = self.numbers(number)
            found[position] = [str(int(text) * (factor or 1)) if write is None else write(text) for text in texts]
        return found

    def repeated(self, settings: Mapping[int, list[str]]) -> dict[str, list[int]]:
        """Return the columns of measurements that repeat such settings."""
        keys, free = [item.key for item in self.example.run.settings], self.example.clean.free
        return {name: list(map(int, texts)) for at, texts in settings.items() for name in free[keys[at]].columns}

    def collect(self, read_as: _Read, collector: _Collector) -> Iterator[int]:
        """Hand over what was read, and yield the indexes of the logs that are left over."""
        example = self.example
        run = self._as_columns(read_as)
        if example.clean.settle is not None:
            example.clean.settle(run)
        firsts = [self.which.index(number) for number in range(len(self.examples))]
        for row, each in zip(firsts, self.examples, strict=True):
            own = _Group([each], [each.log], [0], self.lore).known()
            if not all(
                np.array_equal(column[row], known[0], equal_nan=True)
                for column, known in zip(read_as[1:], own[1:], strict=True)
            ):
                yield from (log.at for log in self.logs)
                return
        unlike = [np.isnan(each) != np.isnan(each[0]) for each in read_as[1:4]]
        unlike_zeros = [column for column in range(len(example.figures)) if example.zero_of(column) is None]
        is_same = ~np.any(unlike, axis=0)[:, unlike_zeros].any(axis=1)
        if example.clean.same_runs is not None:
            is_same &= example.clean.same_runs(run, example.log.text)
        if is_same[firsts].all() and not is_same.all():
            yield from (log.at for log, same in zip(self.logs, is_same, strict=True) if not same)
            rows = np.flatnonzero(is_same).tolist()
            yield from self.of(rows).collect(read_as.of(rows), collector)
            return
        said = list(self._said(run))
        of_firsts: dict[int, list[Diagnostic]] = {row: [] for row in firsts}
        for row, diagnostic in said:
            if row in of_firsts:
                of_firsts[row].append(diagnostic)
        if list(of_firsts.values()) == [each.remarks + each.said for each in self.examples]:
            collector.add(self, read_as)
            collector.said += [(self.logs[row].at, diagnostic) for row, diagnostic in said]
        else:
            yield from (log.at for log in self.logs)

    def _said(self, run: Run) -> Iterator[tuple[int, Diagnostic]]:
        """Yield what is to be said, and of which of the logs; of each log in its order."""
        starts: dict[int, list[int]] = {}

        def shown(item: Diagnostic, row: int, phrase: tuple[int, int] | None) -> Diagnostic:
            if phrase is None:
                return item
            log = self.logs[row]
            if row not in starts:
                starts[row] = list(accumulate(map(len, log.pieces), initial=0))
            anchors = (self.example.anchors[offset] for offset in phrase)
            start, end = (starts[row][piece] + behind for piece, behind in anchors)
            excerpt = Text(log.chars[start:end]).excerpt(0, end - start)
            line = self._replace(logs=[log]).lines([item])[0]
            return replace(item, line=line, start=log.byte(start), end=log.byte(end), excerpt=excerpt)

        for remark in self.example.remarks:
            for row in range(len(self.logs)):
                yield row, shown(remark, row, _span(remark))
        text = self.example.log.text
        for finding in self.example.clean.checks(run, text):
            phrase = finding.at.phrase if finding.beside is None else None
            line = None if phrase is None else text.line(text.position(phrase[0]))
            for row in np.flatnonzero(np.broadcast_to(finding.fails, len(self.logs))).tolist():
                item = Diagnostic(
                    code=finding.code,
                    message=finding.message_of(row),
                    line=finding.line_of(row) if phrase is None else line,
                    excerpt=finding.excerpt_of(row),
                )
                yield row, shown(item, row, phrase)

    def _as_columns(self, read_as: _Read) -> Run:
        """Return the example's run with columns over the logs in its measurements and settings."""
        run, items = self.example.run, self.example.run.measurements
        free = self.settings()
        columns = {name: np.array(values) for name, values in self.repeated(free).items()}
        lines = self.lines(items)
        many = []
        for number, item in enumerate(items):
            own: dict[str, Any] = {
                name: column for name, column in columns.items() if getattr(item, name) is not None
            }
            for name, ends in zip(_ENDS, read_as[1:4], strict=True):
                if getattr(item, name) is not None or self.example.zero_of(number) is not None:
                    own[name] = ends[:, number]
            if self.example.log.layout is not None:
                own["line"] = lines[number :: len(items)]
            if number in self.example.samples:
                own["samples"] = np.array(list(map(int, self.numbers(self.example.samples[number]))))
            many.append(replace(item, text=read_as.texts[number :: len(items)], **own))  # type: ignore[arg-type]
        settings = list(run.settings)
        for position, values in free.items():
            settings[position] = replace(settings[position], value=values)  # type: ignore[arg-type]
        return replace(run, measurements=tuple(many), settings=tuple(settings))


def _span(item: Diagnostic) -> tuple[int, int] | None:
    return (item.start, item.end) if item.start is not None and item.end is not None else None


_ENDS: Final = ("value", "low", "high")
_figure_of: Final = attrgetter(
    *("operation", "metric", "statistic", "unit", "state"),
    *("scope", "part", "block_size", "file_size", "threads", "primary"),
)


def _read_figures(groups: Sequence[_Group]) -> Iterator[_Read]:
    """Yield the measurements of the logs of each group; all groups are read together."""
    several = [group.known() for group in groups]
    spots: list[tuple[Sequence[Floats], int, Any, State | None]] = []
    printed: list[list[str]] = []
    hows: list[How] = []
    for group, read_as in zip(groups, several, strict=True):
        measured = zip(group.example.figures, group.example.run.measurements, strict=True)
        for column, (figure, item) in enumerate(measured):
            if figure.place is None or item.how is None:
                continue
            numbers = group.numbers(figure.place)
            for how, rows in _in_units(group, figure, item.how):
                spots.append((read_as[1:4], column, rows, group.example.zero_of(column)))
                printed.append(numbers if isinstance(rows, slice) else [numbers[row] for row in rows])
                hows.append(how)
        for column, place in group.example.shares.items():
            spots.append(([read_as.shares], column, slice(None), None))
            printed.append(group.numbers(place))
            hows.append(_SHARE)
    if printed:
        ends = np.cumsum([len(column) for column in printed])[:-1]
        amounts = [np.split(end, ends) for end in _quantities(printed, hows)]
        for (columns, column, rows, zero), *parts in zip(spots, *amounts, strict=True):
            for whole, part in zip(columns, parts, strict=False):
                if zero is not None or not np.isnan(whole[0, column]):
                    whole[rows, column] = part
            if zero is not None:
                value, low, high = columns
                is_zero = value[:, column] == 0
                value[is_zero, column] = low[is_zero, column] = np.nan
                if zero == "missing":
                    high[is_zero, column] = np.nan
    yield from several


def _in_units(group: _Group, figure: _Figure, how: How) -> Iterator[tuple[How, Any]]:
    """Yield how a figure is printed in the logs of a group, and in which of them."""
    if figure.place is not None and group.logs[0].head(figure.place):
        of_head: dict[str, list[int]] = defaultdict(list)
        for row, log in enumerate(group.logs):
            of_head[log.head(figure.place)].append(row)
        for head, of_line in of_head.items():
            found, _ = group.lore.hows[figure.place, head]
            yield found or how, of_line
        return
    if figure.place is None or not figure.has_unit:
        yield how, slice(None)
        return
    rows: dict[str, list[int]] = defaultdict(list)
    for row, log in enumerate(group.logs):
        rows[_units(log.kind)[figure.place]].append(row)
    for suffix, of_suffix in rows.items():
        unit, rounding = group.example.clean.units[suffix]
        yield how._replace(unit=unit, rounding=rounding), of_suffix


_SHARE: Final = How("%", "nearest")


# Numbers as columns


def _quantities(columns: Sequence[list[str]], hows: Sequence[How]) -> tuple[Floats, Floats, Floats]:
    """Return the values and bounds of figures, of which those of each column are printed in one way.

    This is `fsbench_kit.model.units.quantity` for columns. As there, a figure is the float that is nearest to the
    true product: whole numbers below 2^53 are multiplied, and divided once.
    """
    texts = [text for column in columns for text in column]
    numbers = [len(column) for column in columns]
    printed = pl.Series(texts, dtype=pl.String)
    decimals = (printed.str.len_bytes() - 1 - printed.str.find(".", literal=True)).fill_null(0)
    digits = printed.str.replace(".", "", literal=True).cast(pl.UInt64, strict=False)
    whole = digits.fill_null(2**63).to_numpy().astype(np.float64)
    places = decimals.to_numpy().astype(np.int64)

    def tiled(values: Iterable[float]) -> Floats:
        return np.repeat(np.array(list(values), dtype=np.float64), numbers)

    factors = [
        (above * COUNT_SUFFIXES[how.suffix], below) for how in hows for above, below in [exact_factor(how.unit)]
    ]
    above, below = tiled(each for each, _ in factors), tiled(each for _, each in factors)
    odd = tiled(each // (each & -each) for each, _ in factors)
    kept = tiled(how.digits or 0 for how in hows).astype(np.int64)
    last = places
    if kept.any():
        lengths = digits.fill_null(0).cast(pl.String).str.len_bytes().to_numpy().astype(np.int64)
        last = np.where((kept > 0) & (whole > 0), np.maximum(places, places + kept - lengths), places)
    is_exact = (places <= _MOST_PLACES) & (last <= _MOST_PLACES)
    power, scale = _POWERS[np.minimum(places, _MOST_PLACES)], _POWERS[np.minimum(last, _MOST_PLACES)]
    doubled = 2 * whole * (scale / power)
    is_exact &= (doubled + 2) * odd < 2**53
    value = whole * above / (power * below)
    low = np.maximum(doubled - tiled(_BELOW[how.rounding] for how in hows), 0) * above / (2 * scale * below)
    high = (doubled + tiled(_ABOVE[how.rounding] for how in hows)) * above / (2 * scale * below)
    column_of = np.repeat(np.arange(len(hows)), numbers)
    for at in np.flatnonzero(~is_exact).tolist():
        how = hows[int(column_of[at])]
        amount = quantity(f"{texts[at]}{how.suffix}", how.unit, rounding=how.rounding, digits=how.digits)
        value[at], low[at], high[at] = amount.value, amount.low or 0, amount.high or 0
    if any(how.factor is not None for how in hows):
        by = tiled(1 if how.factor is None else how.factor for how in hows)
        value, low, high = value * by, low * by, high * by
    if any(how.spread is not None for how in hows):
        spread = tiled(1 if how.spread is None else how.spread for how in hows)
        low, high = low / spread, high * spread
    for rule in dict.fromkeys(how.rule for how in hows if how.rule is not None):
        ruled = np.repeat(np.array([how.rule == rule for how in hows]), numbers)
        is_whole = (places[ruled] == 0) & (whole[ruled] < _MOST_BY_RULE)
        ends = rule(np.where(is_whole, whole[ruled], 0).astype(np.int64))
        low[ruled], high[ruled] = (np.where(is_whole, end, np.nan) for end in ends)
    return value, low, high


_BELOW: Final = {"nearest": 1, "down": 0, "up": 2, "exact": 0, "unknown": 0}
_ABOVE: Final = {"nearest": 1, "down": 2, "up": 0, "exact": 0, "unknown": 0}
"""How far the true values reach below and above a print, in halves of its last place."""
_MOST_PLACES: Final = 15
_MOST_BY_RULE: Final = 2**43
_POWERS: Final = np.array([10.0**place for place in range(_MOST_PLACES + 1)])


# Frames


def _schema(record: type, left_out: Iterable[str] = ()) -> dict[str, Any]:
    """Return the columns of a record."""
    return {each.name: _TYPES.get(each.name, pl.String) for each in fields(record) if each.name not in left_out}


_TYPES: Final[dict[str, Any]] = {
    **dict.fromkeys(("value", "low", "high", "share", "duration", "time"), pl.Float64),
    **dict.fromkeys(("line", "start", "end", "exit_code", "count"), pl.Int64),
    **dict.fromkeys(("block_size", "file_size", "threads", "samples"), pl.Int64),
    **dict.fromkeys(("started_at", "ended_at"), pl.Datetime("us")),
    "primary": pl.Boolean,
    "identity": pl.List(pl.String),
}
_RUN: Final = _schema(Run, ("settings", "measurements", "bins", "identity_starts", "jobs"))
_SETTING: Final = _schema(Setting, ("start",)) | {"value": pl.String}
_MEASUREMENT: Final = _schema(Measurement, ("start", "how", "phrase", "samples_start"))
_BIN: Final = _schema(Bin)
_DIAGNOSTIC: Final = _schema(Diagnostic)
_POINT: Final = {
    **dict.fromkeys(("part", "operation", "metric", "statistic"), pl.String),
    **dict.fromkeys(("time", "value"), pl.Float64),
}


@dataclass
class _Table:
    """Rows of examples, and which of them each log has, with the columns that differ between logs."""

    schema: dict[str, Any]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    picks: list[NDArray[np.int64]] = field(default_factory=list)
    logs: list[NDArray[np.int64]] = field(default_factory=list)
    own: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))

    def add(
        self,
        rows: Sequence[tuple[Any, ...]],
        logs: NDArray[np.int64],
        picks: NDArray[np.int64] | None = None,
        /,
        **own: Any,
    ) -> None:
        """Add rows of some logs.

        Parameters
        ----------
        rows
            Those of each log, or all of which each has some.
        logs
            The logs.
        picks
            Which these are, a row for each log.
        own
            Columns over all of these rows, log by log.
        """
        picks = np.tile(np.arange(len(rows)), (len(logs), 1)) if picks is None else picks
        self.picks.append(len(self.rows) + picks.ravel())
        self.rows += rows
        self.logs.append(np.repeat(logs, picks.shape[1]))
        for name, values in own.items():
            self.own[name].append(values)

    def frame(self) -> pl.DataFrame:
        examples = pl.DataFrame(self.rows, schema=self.schema, orient="row")
        if not self.picks:
            return examples.insert_column(0, pl.Series("log", [], pl.Int64))
        own = [
            pl.concat([pl.Series(name, each, dtype=self.schema[name], nan_to_null=True) for each in values])
            for name, values in self.own.items()
        ]
        picked = examples[np.concatenate(self.picks)].with_columns(own)
        picked.insert_column(0, pl.Series("log", np.concatenate(self.logs), pl.Int64))
        return picked.sort("log", maintain_order=True)


@dataclass
class _Collector:
    """The rows of one format's logs."""

    runs: _Table = field(default_factory=lambda: _Table(_RUN))
    settings: _Table = field(default_factory=lambda: _Table(_SETTING))
    measurements: _Table = field(default_factory=lambda: _Table(_MEASUREMENT))
    distributions: _Table = field(default_factory=lambda: _Table(_BIN))
    series: _Table = field(default_factory=lambda: _Table(_POINT))
    said: list[tuple[int, Diagnostic]] = field(default_factory=list)

    def add(self, group: _Group, read: _Read) -> None:
        """Add logs of one kind."""
        example, logs = group.example, group.logs
        texts, value, low, high, shares = read
        run, indexes = example.run, np.array([log.at for log in logs], dtype=np.int64)
        durations = [run.duration] * len(logs)
        items = list(enumerate(run.measurements))
        timed = [column for column, item in items if example.clean.duration == item.metric and item.value]
        if timed and run.duration == value[0, timed].max():
            durations = value[:, timed].max(axis=1).tolist()
        starts, ends = zip(*(log.span for log in logs), strict=True)
        clocks = [example.clean.clock(log.dates) for log in logs]
        settings = [setting.value for number in group.which for setting in group.examples[number].run.settings]
        words = [word for pair in run.identity for word in pair]
        identity: list[list[str]] | list[None] = [words[:] for _ in logs] if words else [None] * len(logs)
        free = group.settings()
        for position, values in free.items():
            key = run.settings[position].key
            settings[position :: len(run.settings)] = values
            for place in (2 * at + 1 for at, pair in enumerate(run.identity) if pair[0] == key):
                for of_log, number in zip(identity, values, strict=True):
                    if of_log is not None:
                        of_log[place] = number
        for at_word, place in enumerate(example.identity):
            for of_log, log in zip(identity, logs, strict=True):
                if of_log is not None:
                    of_log[2 * at_word + 1] = log.numbers[place] if place >= 0 else log.dates[place]
        own: dict[str, Any] = {"start": starts, "end": ends, "duration": durations, "identity": identity}
        own |= {name: [clock[name] for clock in clocks] for name in ("started_at", "ended_at")}
        which = np.array(group.which)[:, None]
        self.runs.add([_row(each.run, _RUN) for each in group.examples], indexes, which, **own)
        of_examples = [_row(item, _SETTING) for each in group.examples for item in each.run.settings]
        width = len(run.settings)
        lines = group.lines(run.settings)
        self.settings.add(of_examples, indexes, width * which + np.arange(width), value=settings, line=lines)
        rows, picks = _picked(group, value)
        at_samples = list(_MEASUREMENT).index("samples")
        samples = [rows[pick][at_samples] for pick in picks.ravel().tolist()]
        for column, place in example.samples.items():
            samples[column :: len(items)] = map(int, group.numbers(place))
        ends_of = {"value": value.ravel(), "low": low.ravel(), "high": high.ravel()}
        lines = group.lines(run.measurements)
        self.measurements.add(rows, indexes, picks, text=texts, samples=samples, line=lines, **ends_of)
        lines = group.lines(example.bins)
        self.distributions.add(
            [_row(item, _BIN) for item in example.bins], indexes, share=shares.ravel(), line=lines
        )
        self._add_loose_bins(group)
        points = [
            (block.part, block.operation, block.metric, block.statistic, time, None)
            for block in example.blocks
            for time in block.times
        ]
        numbers = [
            (number, block.unit)
            for block, each in zip(example.blocks, example.points, strict=True)
            for number in each
        ]
        of_series = [float(log.numbers[number]) * by / over for log in logs for number, (by, over) in numbers]
        self.series.add(points, indexes, value=of_series)

    def _add_loose_bins(self, group: _Group) -> None:
        """Add the bins on lines that not all logs have."""
        rows: dict[tuple[object, ...], int] = {}
        found = [
            (rows.setdefault(known, len(rows)), log.at, line, quantity(share, "%").value)
            for log in group.logs
            if log.layout is not None
            for known, line, share in group.lore.bins_of(log.layout, log.all_numbers)
        ]
        if found:
            picks, logs, lines, shares = zip(*found, strict=True)
            names = "operation", "scope", "part", "metric", "low", "high"
            bins = [tuple(dict(zip(names, known, strict=True)).get(name) for name in _BIN) for known in rows]
            own = {"share": shares, "line": lines}
            self.distributions.add(bins, np.array(logs, np.int64), np.array(picks)[:, None], **own)

    def logs(self) -> CleanLogs:
        """Return the frames."""
        return CleanLogs(
            self.runs.frame(),
            self.settings.frame(),
            self.measurements.frame(),
            self.distributions.frame().sort("log", "line", maintain_order=True),
            self.series.frame(),
            pl.DataFrame(
                [(log, *_row(diagnostic, _DIAGNOSTIC)) for log, diagnostic in self.said],
                schema={"log": pl.Int64, **_DIAGNOSTIC},
                orient="row",
            ),
        )


def _row(item: Run | Setting | Measurement | Bin | Diagnostic, schema: Iterable[str]) -> tuple[Any, ...]:
    return tuple(getattr(item, name) if name != "identity" else None for name in schema)


def _picked(group: _Group, value: Floats) -> tuple[list[tuple[Any, ...]], NDArray[np.int64]]:
    """Return the rows that measurements can be, by the settings that they repeat, or as a 0; and which are had."""
    items = group.example.run.measurements
    repeated = group.repeated(group.settings())
    sets: dict[tuple[int, ...], int] = {}
    which = [sets.setdefault(row, len(sets)) for row in zip(*repeated.values(), strict=True)] or [0] * len(
        group.logs
    )
    zeros = {column: zero for column in range(len(items)) if (zero := group.example.zero_of(column)) is not None}
    rows = []
    for states in (dict.fromkeys(zeros, "measured"), zeros):
        for row in sets or [()]:
            of_settings = dict(zip(repeated, row, strict=True))
            for column, item in enumerate(items):
                changes: dict[str, Any] = {
                    n: number for n, number in of_settings.items() if getattr(item, n) is not None
                }
                changes |= {"state": states[column]} if column in states else {}
                rows.append(_row(replace(item, **changes) if changes else item, _MEASUREMENT))
    picks = len(items) * np.array(which)[:, None] + np.arange(len(items))
    for column in zeros:
        picks[np.isnan(value[:, column]), column] += len(rows) // 2
    return rows, picks
