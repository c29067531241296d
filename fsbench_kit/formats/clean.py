r"""Reads many logs together: one of each kind as always, the others by their numbers alone.

A log is of the kind of another one where the two differ in nothing but their numbers, and in the blanks that fill
up a number's column. The first log of a kind is read by its format's `parse`. It is the example of its kind if it
is one run from its first to its last character, and nothing is to be said about it but what the format's
cross-checks find: then each figure says at which number it stands and how it is printed
(`fsbench_kit.model.records.How`), and in the other logs the number at that place is read in the same way, as a
column over all of them. So this module knows no format, and what it reads is what `parse` reads:

- A number that is no figure (a thread count, a version) has to be that of the example, but for a date and a seed.
- A figure that is 0 is 0 in the example, because a 0 can be a bound or a count.
- The figures of the example are read as a column too, and have to be what `parse` makes of them.
- The cross-checks (`Clean.checks`) are made over the columns, and have to find in the example what `parse` says.

What is left over is for `parse`, which says what is wrong with it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit import formats
from fsbench_kit.formats.findings import Finding, diagnostics
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Bin, Block, Diagnostic, How, Measurement, Run, Setting
from fsbench_kit.model.units import exact_factor, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Clean:
    """What a format says of its logs, so that they can be read together.

    Attributes
    ----------
    checks
        The cross-checks that `parse` makes last: of a run, whose measurements may be columns over many, and the
        text of the example. See `fsbench_kit.formats.findings`.
    same_runs
        Returns whether `parse` finds the same run in a log as in the example, where that depends on figures.
    duration
        The metric that is the duration of a run.
    place
        Returns the part of a log in which the place of a number in its line tells what it is.
    date
        Reads the date at which a run began, where C's ``ctime`` has printed it.
    """

    checks: Callable[[Run, Text], Iterable[Finding]]
    same_runs: Callable[[Run, Text], Any] | None = None
    duration: str | None = None
    place: Callable[[str], str] | None = None
    date: Callable[[str], datetime | None] | None = None


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
        Of whole files.

    Returns
    -------
    tuple
        The logs of each format, by its name, and the indexes of the texts that are left over.

    Examples
    --------
    >>> read(["XFS is fast."])
    ({}, [0])
    """
    kinds: dict[str, list[_Log]] = defaultdict(list)
    left: list[int] = []
    for index, chars in enumerate(texts):
        if chars.isascii():
            dateless, date = _without_date(chars)
            pieces = _NUMBER.split(dateless)
            kind = "\0".join([piece.rstrip(" ") for piece in pieces[::2]])
            kinds[kind].append(_Log(index, chars, pieces[1::2], date))
        else:
            left.append(index)
    groups: list[_Group] = []
    for alike in kinds.values():
        left += _examples(alike, groups)
    found: dict[str, _Collector] = defaultdict(_Collector)
    for group, read_as in zip(groups, _read_figures(groups), strict=True):
        left += group.collect(read_as, found[group.example.owner])
    return {name: collector.logs() for name, collector in found.items()}, sorted(left)


_NUMBER: Final = re.compile(r"(\d+(?:\.\d+)?)")
_DIGITS: Final = dict.fromkeys(map(ord, "0123456789"), " ")
_MOST_FAILURES: Final = 8
"""So many logs of a kind are tried as its example."""


class _Log(NamedTuple):
    at: int
    chars: str
    numbers: list[str]
    date: str | None


_CLOCK: Final = re.compile(r":\d\d:\d\d \d{4}")  # which is found faster than the whole
_DATE: Final = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}")


def _without_date(chars: str) -> tuple[str, str | None]:
    """Return a text in which its first date, which is of each run alone, holds no number; and that date."""
    date = _DATE.search(chars) if _CLOCK.search(chars) else None
    if date is None:
        return chars, None
    return f"{chars[: date.start()]}{'~' * len(date[0])}{chars[date.end() :]}", date[0]


def _examples(logs: list[_Log], groups: list[_Group]) -> Iterator[int]:
    """Find examples for logs of one kind, and yield the indexes of those that have none."""
    owners = {id(owner): owner for _, owner in formats.sniff(logs[0].chars)}.values()
    clean = next((getattr(owner, "CLEAN", None) for owner in owners), None)
    if len(owners) != 1 or clean is None:
        yield from (log.at for log in logs)
        return
    (owner,) = owners
    pending = [logs]
    if clean.place is not None:
        by_place: dict[str, list[_Log]] = defaultdict(list)
        for log in logs:
            by_place[clean.place(_without_date(log.chars)[0]).translate(_DIGITS)].append(log)
        pending = list(by_place.values())
    failures = 0
    while pending:
        some = pending.pop()
        example = _Example.of(owner, clean, some[0]) if failures < _MOST_FAILURES else None
        if example is None:
            failures += 1
            yield some[0].at
            pending += [some[1:]] * (len(some) > 1)
            continue
        alike, *others = example.sorted(some)
        groups.append(_Group(example, alike))
        pending += others


@dataclass
class _Example:
    """A log that was read by its format, and where in it the figures stand.

    Attributes
    ----------
    said
        What the cross-checks find in it.
    places, suffixes
        For each measurement the number that it is, or ``None`` where it is none and the same in all logs; and what
        else its text has.
    free
        Setting -> the number that it is, of those that may differ within a kind.
    points
        For each series the numbers that its values are.
    anchors
        Where the phrases begin and end that diagnostics can show: byte -> piece between or of numbers, and place
        in it.
    """

    owner: str
    clean: Clean
    log: _Log
    run: Run
    blocks: list[Block]
    said: list[Diagnostic]
    anchors: dict[int, tuple[int, int]]
    places: list[int | None]
    suffixes: list[str]
    free: dict[int, int]
    points: list[list[int]]

    @classmethod
    def of(cls, owner: formats.Format, clean: Clean, log: _Log) -> _Example | None:
        """Return a log as an example, or ``None`` where something is to be said about it."""
        text = Text(log.chars)
        records = list(owner.parse(text))
        runs = [record for record in records if isinstance(record, Run)]
        blocks = [record for record in records if isinstance(record, Block)]
        said = [record for record in records if isinstance(record, Diagnostic)]
        if len(runs) != 1 or said != list(diagnostics(clean.checks(runs[0], text), text)):
            return None
        (run,) = runs
        if log.chars[: run.start].strip() or log.chars[run.end :].strip():
            return None
        found = _NUMBER.finditer(_without_date(log.chars)[0])
        numbers = {match.start(): number for number, match in enumerate(found)}
        began = clean.date(log.date) if clean.date is not None and log.date is not None else None
        if run.started_at != began or run.ended_at is not None:
            return None
        places: list[int | None] = []
        suffixes: list[str] = []
        for item in run.measurements:
            place = numbers.get(item.start) if item.start is not None else None
            if place is not None and item.how is not None and item.text.startswith(log.numbers[place]):
                suffix = item.text.removeprefix(log.numbers[place])
            else:
                place, suffix = None, item.text
            if re.search(r"\d", suffix):
                return None
            places.append(place)
            suffixes.append(suffix)
        points = [[numbers.get(start, -1) for start in block.starts or ()] for block in blocks]
        if any(not each or -1 in each for each in points):
            return None
        phrases = (item.phrase for item in run.measurements if item.phrase is not None)
        anchors = _anchors(_pieces(log.chars), {end for phrase in phrases for end in phrase})
        if anchors is None:
            return None
        free = {
            position: number
            for position, setting in enumerate(run.settings)
            if setting.key in _FREE and setting.start is not None
            if (number := numbers.get(setting.start)) is not None and log.numbers[number] == setting.value
        }
        return cls(formats.name(owner), clean, log, run, blocks, said, anchors, places, suffixes, free, points)

    def sorted(self, logs: list[_Log]) -> list[list[_Log]]:
        """Return the logs of which this is the example, and the others in groups that may have their own."""
        if len(logs) == 1:
            return [logs]
        taken = {*self.places, *(number for each in self.points for number in each)} - {None}
        figures = np.array(sorted(number for number in taken if number is not None), dtype=np.int64)
        fixed = sorted(set(range(len(self.log.numbers))) - taken - set(self.free.values()))
        columns = list(zip(*(log.numbers for log in logs), strict=True))
        zeros = np.zeros((len(logs), len(figures)), dtype=np.bool_)
        for place, number in enumerate(figures):
            zeros[:, place] = [text[0] == "0" and not text.strip("0.") for text in columns[number]]
        others = list(zip(*(columns[number] for number in fixed), strict=True)) or [()] * len(logs)
        groups: dict[object, list[_Log]] = {}
        for log, other, zero in zip(logs, others, np.packbits(zeros, axis=1), strict=True):
            groups.setdefault((other, zero.tobytes()), []).append(log)
        return list(groups.values())


def _pieces(chars: str) -> list[str]:
    """Return the numbers of a text, and what stands between them, in turns."""
    return _NUMBER.split(_without_date(chars)[0])


def _anchors(pieces: Sequence[str], positions: Iterable[int]) -> dict[int, tuple[int, int]] | None:
    """Return by which piece positions stand, and how far behind its start; ``None`` if one is inside a number."""
    starts = list(accumulate(map(len, pieces), initial=0))
    anchors = {}
    for position in positions:
        piece = min(bisect_right(starts, position), len(pieces)) - 1
        offset = position - starts[piece]
        if offset > (0 if piece % 2 else len(pieces[piece].rstrip(" "))):
            return None
        anchors[position] = piece, offset
    return anchors


_FREE: Final = frozenset({"seed"})
"""Settings on which nothing depends, so that they may differ between logs that are read together."""


class _Read(NamedTuple):
    """All measurements of some logs: their texts, log by log, and their values and bounds, a row for each log."""

    texts: list[str]
    value: Floats
    low: Floats
    high: Floats

    def of(self, rows: Sequence[int]) -> _Read:
        """Return the measurements of some of the logs."""
        width = self.value.shape[1]
        texts = [text for row in rows for text in self.texts[row * width : (row + 1) * width]]
        return _Read(texts, self.value[rows], self.low[rows], self.high[rows])


class _Group(NamedTuple):
    """An example, and the logs that are read as it is, itself the first."""

    example: _Example
    logs: list[_Log]

    def columns(self) -> list[list[str]]:
        """Return the numbers of each measurement in all logs."""
        return [
            [""] * len(self.logs) if place is None else [log.numbers[place] for log in self.logs]
            for place in self.example.places
        ]

    def collect(self, read_as: _Read, collector: _Collector) -> Iterator[int]:
        """Hand over what was read, and yield the indexes of the logs that are left over."""
        ends = [[getattr(item, name) for item in self.example.run.measurements] for name in _ENDS]
        own = np.array(ends, dtype=np.float64)  # where None becomes NaN
        run, text = self._as_columns(read_as), Text(self.example.log.chars)
        if self.example.clean.same_runs is not None:
            is_same = np.broadcast_to(self.example.clean.same_runs(run, text), len(self.logs))
            if is_same[0] and not is_same.all():
                yield from (log.at for log, same in zip(self.logs, is_same, strict=True) if not same)
                same = np.flatnonzero(is_same).tolist()
                yield from self._replace(logs=[self.logs[row] for row in same]).collect(
                    read_as.of(same), collector
                )
                return
        found = list(self._findings(run, text))
        said = [diagnostic for row, diagnostic in found if row == 0]
        if said == self.example.said and np.array_equal(
            own, np.stack([end[0] for end in read_as[1:]]), equal_nan=True
        ):
            collector.add(self.example, self.logs, read_as)
            collector.said += [(self.logs[row].at, diagnostic) for row, diagnostic in found]
        else:
            yield from (log.at for log in self.logs)

    def _findings(self, run: Run, text: Text) -> Iterator[tuple[int, Diagnostic]]:
        """Yield what the cross-checks find, and in which of the logs; of each log in their order."""
        starts: dict[int, list[int]] = {}
        for finding in self.example.clean.checks(run, text):
            phrase = finding.at.phrase if finding.beside is None else None
            for row in np.flatnonzero(np.broadcast_to(finding.fails, len(self.logs))).tolist():
                line, excerpt = finding.at.line, finding.excerpt_of(row)
                start = end = None
                if phrase is not None:
                    chars = self.logs[row].chars
                    if row not in starts:
                        starts[row] = list(accumulate(map(len, _pieces(chars)), initial=0))
                    start, end = (
                        starts[row][piece] + offset
                        for piece, offset in (self.example.anchors[position] for position in phrase)
                    )
                    line, excerpt = text.line(phrase[0]), Text(chars[start:end]).excerpt(0, end - start)
                yield (
                    row,
                    Diagnostic(
                        code=finding.code,
                        message=finding.message_of(row),
                        line=line,
                        start=start,
                        end=end,
                        excerpt=excerpt,
                    ),
                )

    def _as_columns(self, read_as: _Read) -> Run:
        """Return the example's run with columns over the logs in its measurements."""
        items = self.example.run.measurements
        many = []
        for number, item in enumerate(items):
            columns = zip(_ENDS, read_as[1:], strict=True)
            known: dict[str, Any] = {
                name: column[:, number] for name, column in columns if getattr(item, name) is not None
            }
            known["text"] = read_as.texts[number :: len(items)]
            many.append(replace(item, **known))
        return replace(self.example.run, measurements=tuple(many))


_ENDS: Final = ("value", "low", "high")


def _read_figures(groups: Sequence[_Group]) -> Iterator[_Read]:
    """Yield the measurements of the logs of each group; all groups are read together."""
    columns = [group.columns() for group in groups]
    plain = [
        (text, how)
        for group, texts in zip(groups, columns, strict=True)
        for text, place, item in zip(texts, group.example.places, group.example.run.measurements, strict=True)
        if place is not None and (how := item.how) is not None
    ]
    if not groups:
        return
    amounts = _quantities([text for text, _ in plain], [how for _, how in plain])
    start = 0
    for group, texts in zip(groups, columns, strict=True):
        number, measurements = len(group.logs), group.example.run.measurements
        known = [column for column, place in enumerate(group.example.places) if place is not None]
        end = start + number * len(known)
        ends = [np.full((number, len(measurements)), np.nan) for _ in _ENDS]
        for name, whole, part in zip(_ENDS, ends, amounts, strict=True):
            whole[:, known] = part[start:end].reshape(len(known), number).T
            for column, item in enumerate(measurements):
                if (value := getattr(item, name)) is None or group.example.places[column] is None:
                    whole[:, column] = np.nan if value is None else value
        start = end
        whole_texts = [
            [f"{text}{suffix}" for text in column] if suffix else column
            for column, suffix in zip(texts, group.example.suffixes, strict=True)
        ]
        yield _Read([text for row in zip(*whole_texts, strict=True) for text in row], *ends)


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

    factors = [exact_factor(how.unit) for how in hows]
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
        amount = quantity(texts[at], how.unit, rounding=how.rounding, digits=how.digits)
        value[at], low[at], high[at] = amount.value, amount.low or 0, amount.high or 0
    if any(how.factor is not None for how in hows):
        by = tiled(1 if how.factor is None else how.factor for how in hows)
        value, low, high = value * by, low * by, high * by
    if any(how.spread is not None for how in hows):
        spread = tiled(1 if how.spread is None else how.spread for how in hows)
        low, high = low / spread, high * spread
    return value, low, high


_BELOW: Final = {"nearest": 1, "down": 0, "up": 2, "exact": 0, "unknown": 0}
_ABOVE: Final = {"nearest": 1, "down": 2, "up": 0, "exact": 0, "unknown": 0}
"""How far the true values reach below and above a print, in halves of its last place."""
_MOST_PLACES: Final = 15
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
_RUN: Final = _schema(Run, ("settings", "measurements", "bins"))
_SETTING: Final = _schema(Setting, ("start",)) | {"value": pl.String}
_MEASUREMENT: Final = _schema(Measurement, ("start", "how", "phrase"))
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

    def add(self, rows: Iterable[tuple[Any, ...]], logs: NDArray[np.int64], **own: Any) -> None:
        """Add the rows that each of some logs has; `own` are columns over all of these rows, log by log."""
        start = len(self.rows)
        self.rows += rows
        number = len(self.rows) - start
        self.picks.append(np.tile(np.arange(start, start + number), len(logs)))
        self.logs.append(np.repeat(logs, number))
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
        return picked.insert_column(0, pl.Series("log", np.concatenate(self.logs), pl.Int64))


@dataclass
class _Collector:
    """The rows of one format's logs."""

    runs: _Table = field(default_factory=lambda: _Table(_RUN))
    settings: _Table = field(default_factory=lambda: _Table(_SETTING))
    measurements: _Table = field(default_factory=lambda: _Table(_MEASUREMENT))
    distributions: _Table = field(default_factory=lambda: _Table(_BIN))
    series: _Table = field(default_factory=lambda: _Table(_POINT))
    said: list[tuple[int, Diagnostic]] = field(default_factory=list)

    def add(self, example: _Example, logs: Sequence[_Log], read: _Read) -> None:
        """Add logs of one kind."""
        texts, value, low, high = read
        run, indexes = example.run, np.array([log.at for log in logs], dtype=np.int64)
        durations = [run.duration] * len(logs)
        for column, item in enumerate(run.measurements):
            if example.clean.duration == item.metric and item.value == run.duration and item.primary:
                durations = value[:, column].tolist()
        ends = [len(log.chars.rstrip()) for log in logs]
        date = example.clean.date
        began = [date(log.date) if date is not None and log.date is not None else None for log in logs]
        settings = [setting.value for setting in run.settings] * len(logs)
        words = [word for pair in run.identity for word in pair]
        identity: list[list[str]] | list[None] = [words[:] for _ in logs] if words else [None] * len(logs)
        for position, number in example.free.items():
            settings[position :: len(run.settings)] = [log.numbers[number] for log in logs]
            for place in (
                2 * at + 1 for at, pair in enumerate(run.identity) if pair[0] == run.settings[position].key
            ):
                for of_log, log in zip(identity, logs, strict=True):
                    if of_log is not None:
                        of_log[place] = log.numbers[number]
        own = {"end": ends, "duration": durations, "started_at": began, "identity": identity}
        self.runs.add([_row(run, _RUN)], indexes, **own)
        self.settings.add([_row(item, _SETTING) for item in run.settings], indexes, value=settings)
        rows = [_row(item, _MEASUREMENT) for item in run.measurements]
        ends_of = {"value": value.ravel(), "low": low.ravel(), "high": high.ravel()}
        self.measurements.add(rows, indexes, text=texts, **ends_of)
        self.distributions.add([_row(item, _BIN) for item in run.bins], indexes)
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
        values = [float(log.numbers[number]) * by / over for log in logs for number, (by, over) in numbers]
        self.series.add(points, indexes, value=values)

    def logs(self) -> CleanLogs:
        """Return the frames."""
        return CleanLogs(
            self.runs.frame(),
            self.settings.frame(),
            self.measurements.frame(),
            self.distributions.frame(),
            self.series.frame(),
            pl.DataFrame(
                [(log, *_row(diagnostic, _DIAGNOSTIC)) for log, diagnostic in self.said],
                schema={"log": pl.Int64, **_DIAGNOSTIC},
                orient="row",
            ),
        )


def _row(item: Run | Setting | Measurement | Bin | Diagnostic, schema: Iterable[str]) -> tuple[Any, ...]:
    return tuple(getattr(item, name) if name != "identity" else None for name in schema)
