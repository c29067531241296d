"""Reads logs like their example: their figures as columns, and the cross-checks over these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats.clean.examples import ENDS, Example, span_of
from fsbench_kit.formats.clean.lines import KnownLines, Printed
from fsbench_kit.formats.clean.logs import Log, places, units
from fsbench_kit.formats.clean.numbers import Floats, Indexes, Numbers
from fsbench_kit.formats.findings import TextColumn
from fsbench_kit.formats.text import shortened
from fsbench_kit.model.records import Bin, Diagnostic, How, Measurement, Run, Setting
from fsbench_kit.model.units import Rounding

if TYPE_CHECKING:
    from fsbench_kit import formats


@dataclass(eq=False)
class Group:
    """Examples that differ in settings only, and logs that are read like them; `which` is the example of each."""

    examples: list[Example]
    known_lines: KnownLines
    numbers: Numbers
    logs: list[Log] = field(default_factory=list)
    which: list[int] = field(default_factory=list)

    def fill(self, logs: Iterable[Log], owner: formats.Format) -> Iterator[int]:
        """Add the logs whose lines are all known or can be learned; yield the indices of the others."""
        for log in logs:
            number = 0
            if log.layout is not None and not self.known_lines.knows(log.layout, log.labels(self.numbers)):
                example = Example.of(owner, self.example.clean, log)
                if example is None or example.figures_alone() != self.example.figures_alone():
                    yield log.at
                    continue
                if not example.extends(self.known_lines, self.numbers):
                    yield log.at
                    continue
                number = len(self.examples)
                self.examples.append(example)
            self.logs.append(log)
            self.which.append(number)

    @property
    def example(self) -> Example:
        """One of the examples."""
        return self.examples[0]

    @cached_property
    def at(self) -> Indexes:
        """The positions of each log's numbers in the column of all numbers."""
        return places(self.logs)

    def words(self, places: Iterable[int]) -> list[list[str]]:
        """Return the numbers at some places of the logs, as a list over all logs for each place."""
        return [self._words[place] for place in places]

    @cached_property
    def _words(self) -> dict[int, list[str]]:
        """All numbers that are not figures, by their places."""
        places = self.example.words
        words, number = self.numbers.words(self.at.T[places].ravel()), len(self.logs)
        return {place: words[at * number : (at + 1) * number] for at, place in enumerate(places)}

    def lines(self, items: Sequence[Measurement | Setting | Bin]) -> Floats | None:
        """Return the lines of items, one row per log; ``None`` if they are the same in all logs."""
        if self.example.log.layout is None:
            return None
        columns = np.tile(np.array([item.line for item in items], dtype=np.float64), (len(self.logs), 1))
        places = [self.example.log.line_of(item.line) for item in items]
        known = [column for column, place in enumerate(places) if place is not None]
        columns[:, known] = self._lines[:, [place for place in places if place is not None]]
        return columns

    @cached_property
    def _lines(self) -> Floats:
        """The line numbers of each log's common lines."""
        return np.array([log.layout.lines for log in self.logs if log.layout is not None], dtype=np.float64)

    @cached_property
    def settings(self) -> dict[int, list[str]]:
        """The settings that may differ, by their indices, with one value per log."""
        found = {}
        printed = self.words(number for number, _ in self.example.free.values())
        for (position, (_, factor)), texts in zip(self.example.free.items(), printed, strict=True):
            write = self.example.clean.free[self.example.run.settings[position].key].written
            known = {text: str(int(text) * (factor or 1)) if write is None else write(text) for text in {*texts}}
            found[position] = [known[text] for text in texts]
        return found

    @cached_property
    def repeated(self) -> dict[str, list[int]]:
        """The columns of measurements that repeat these settings."""
        keys, free = [item.key for item in self.example.run.settings], self.example.clean.free
        return {
            name: list(map(int, texts)) for at, texts in self.settings.items() for name in free[keys[at]].columns
        }

    def figures(self) -> tuple[Indexes, list[Printed], Indexes]:
        """Return the positions of figures and shares, the ways in which they are printed, and the way of each."""
        example, logs = self.example, self.logs
        ways: dict[Printed, int] = {}
        of_numbers = [-1 if figure.place is None else figure.place for figure in example.figures]
        of_numbers += example.shares.values()
        usual = [ways.setdefault(printed, len(ways)) for _, printed, _ in example.figures]
        usual += [ways.setdefault(SHARE, len(ways))] * len(example.shares)
        which = np.tile(np.array(usual, dtype=np.int64), (len(logs), 1))
        layouts = [log.layout for log in logs if log.layout is not None]
        units_at = list(zip(*(units(log.kind) for log in logs), strict=True)) if example.clean.units else []
        of_lines: dict[int, tuple[list[str], Indexes]] = {}  # most have several figures
        for column, (place, printed, has_unit) in enumerate(example.figures):
            if place is not None and has_unit:
                shown, codes = _coded(units_at[place])
                known = [_in_unit(printed, unit, example.clean.units) for unit in shown]
            elif place is not None and example.log.head(place):
                line = layouts[0].numbers[place]
                if line not in of_lines:
                    of_lines[line] = _coded(layout.heads[line] for layout in layouts)
                shown, codes = of_lines[line]
                known = [self.known_lines.printed[place, head] for head in shown]
            else:
                continue
            which[:, column] = np.array([ways.setdefault(way, len(ways)) for way in known])[codes]
        at = self.at[:, np.maximum(of_numbers, 0)]
        at[:, np.array(of_numbers) < 0] = -1
        return at, list(ways), which


def _coded(texts: Iterable[str]) -> tuple[list[str], Indexes]:
    """Return the different texts, and for each text which of them it is."""
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(text, len(known)) for text in texts])
    return list(known), codes


def _in_unit(printed: Printed, suffix: str, units: Mapping[str, tuple[str, Rounding]]) -> Printed:
    unit, rounding = units[suffix]
    return Printed(printed.how._replace(unit=unit, rounding=rounding), suffix)


SHARE: Final = Printed(How("%", "nearest"))
"""How shares of bins are printed."""


@dataclass(eq=False)
class Read:
    """All figures of the logs of a group, one row per log.

    The texts are a single column, log by log.
    """

    group: Group
    texts: pl.Series
    value: Floats
    low: Floats
    high: Floats
    shares: Floats

    def of(self, rows: NDArray[np.intp]) -> Read:
        """Return the figures of some of the logs."""
        group = self.group
        some = replace(
            group, logs=[group.logs[row] for row in rows], which=[group.which[row] for row in rows.tolist()]
        )
        ends = (self.value, self.low, self.high, self.shares)
        width = self.value.shape[1]
        of_rows = np.add.outer(width * rows, np.arange(width)).ravel()
        return Read(some, self.texts[of_rows], *(end[rows] for end in ends))

    def as_examples(self) -> tuple[Read | None, list[LogDiagnostic], list[int]]:
        """Return what can be read like the examples, its diagnostics, and the indices of all other logs."""
        group, example = self.group, self.group.example
        run = self._run()
        if example.clean.settle is not None:
            example.clean.settle(run)
        all_logs = [log.at for log in group.logs]
        firsts = [group.which.index(number) for number in range(len(group.examples))]
        for row, each in zip(firsts, group.examples, strict=True):
            ends = [end[row] for end in (self.value, self.low, self.high, self.shares)]
            if not np.array_equal(np.concatenate(ends), np.concatenate(each.ends), equal_nan=True):
                return None, [], all_logs
        no_zeros = [column for column, zero in enumerate(example.zeros) if zero is None]
        unlike = [np.isnan(end) != np.isnan(end[0]) for end in (self.value, self.low, self.high)]
        is_same = ~np.any(unlike, axis=0)[:, no_zeros].any(axis=1)
        if example.clean.same_runs is not None:
            is_same &= example.clean.same_runs(run)
        if is_same[firsts].all() and not is_same.all():
            others = [log.at for log, same in zip(group.logs, is_same, strict=True) if not same]
            read, diagnostics, left = self.of(np.flatnonzero(is_same)).as_examples()
            return read, diagnostics, others + left
        diagnostics = list(self._diagnostics(run))
        of_firsts: dict[int, list[Diagnostic]] = {all_logs[row]: [] for row in firsts}
        for item in diagnostics:
            if item.log in of_firsts:
                of_firsts[item.log].append(item.diagnostic())
        if list(of_firsts.values()) != [each.remarks + each.disagreements for each in group.examples]:
            return None, [], all_logs
        return self, diagnostics, []

    def _run(self) -> Run:
        """Return the run of the example with columns over the logs in its measurements and settings."""
        group, example = self.group, self.group.example
        columns = {name: np.array(values) for name, values in group.repeated.items()}
        lines = group.lines(example.run.measurements)
        ends = {name: getattr(self, name).T for name in ENDS}
        rows = np.arange(len(self.texts)).reshape(len(group.logs), -1).T
        samples = dict(zip(example.samples, group.words(example.samples.values()), strict=True))
        many = []
        for number, (known, zero) in enumerate(zip(example.fields, example.zeros, strict=True)):
            own: dict[str, Any] = {"text": TextColumn(self.texts, rows[number])}
            own |= {name: column for name, column in columns.items() if known[name] is not None}
            own |= {name: end[number] for name, end in ends.items() if known[name] is not None or zero is not None}
            if lines is not None and known["line"] is not None:
                own["line"] = lines[:, number].astype(np.int64)
            if number in samples:
                own["samples"] = np.array(list(map(int, samples[number])))
            many.append(Measurement(**known | own))  # `replace` takes twice as long
        settings = list(example.run.settings)
        for position, values in group.settings.items():
            settings[position] = replace(settings[position], value=values)  # type: ignore[arg-type]
        return replace(example.run, measurements=tuple(many), settings=tuple(settings))

    def _diagnostics(self, run: Run) -> Iterator[LogDiagnostic]:
        """Yield the diagnostics of the logs, in order for each log."""
        example = self.group.example
        every = np.arange(len(self.group.logs))
        ats = np.array([log.at for log in self.group.logs])
        for remark in example.remarks:
            code, message, *constant = (
                remark.code,
                remark.message,
                remark.line,
                remark.start,
                remark.end,
                remark.excerpt,
            )
            phrase = span_of(remark)
            shown: Iterable[Iterable[Any]] = (
                map(repeat, constant) if phrase is None else self._shown(every, phrase)
            )
            yield from map(LogDiagnostic, ats.tolist(), repeat(code), repeat(message), *shown)
        for finding in example.clean.checks(run):
            if not np.count_nonzero(finding.fails):
                continue
            rows = every[np.broadcast_to(finding.fails, len(every))]
            messages, lines, excerpts = zip(*finding.of(rows), strict=True)
            shown = (lines, repeat(None), repeat(None), excerpts)
            if finding.beside is None and finding.at.phrase is not None:
                shown = self._shown(rows, finding.at.phrase)
            yield from map(LogDiagnostic, ats[rows].tolist(), repeat(finding.code), messages, *shown)

    def _shown(self, rows: NDArray[np.intp], phrase: tuple[int, int]) -> Iterable[Iterable[Any]]:
        """Return where a phrase of the example is in some of the logs: lines, starts, ends and excerpts."""
        group, example = self.group, self.group.example
        starts, ends = (
            (self._starts[rows, piece] + behind).tolist()
            for piece, behind in (example.anchors[at] for at in phrase)
        )
        logs = [group.logs[row] for row in rows.tolist()]
        line = example.text.line(example.text.position(phrase[0]))
        place = example.log.line_of(line)
        lines = [line if log.layout is None or place is None else log.layout.lines[place] for log in logs]
        return (
            lines,
            [log.byte(start) for log, start in zip(logs, starts, strict=True)],
            [log.byte(end) for log, end in zip(logs, ends, strict=True)],
            [shortened(log.chars[start:end]) for log, start, end in zip(logs, starts, ends, strict=True)],
        )

    @cached_property
    def _starts(self) -> Indexes:
        """Where the pieces of each log start, which are alternately text and numbers."""
        group = self.group
        kinds = {log.kind for log in group.logs}
        of_kinds = {kind: [len(piece) for piece in kind.split("\0")[:-1]] for kind in kinds}
        between = np.array([of_kinds[log.kind] for log in group.logs])
        all_numbers = np.array([[log.first] for log in group.logs]) + np.arange(between.shape[1])
        starts = np.zeros((len(group.logs), 2 * between.shape[1] + 1), dtype=np.int64)
        starts[:, 2::2] = np.cumsum(between + group.numbers.widths[all_numbers], axis=1)
        starts[:, 1::2] = starts[:, 2::2] - group.numbers.lengths[all_numbers]
        return starts


class LogDiagnostic(NamedTuple):
    """A diagnostic of a log: the columns of a `fsbench_kit.model.records.Diagnostic`."""

    log: int
    code: str
    message: str
    line: int | None
    start: int | None
    end: int | None
    excerpt: str | None

    def diagnostic(self) -> Diagnostic:
        """Return it as a record."""
        return Diagnostic(**dict(zip(self._fields[1:], self[1:], strict=True)))  # type: ignore[arg-type]


def read_figures(groups: Sequence[Group], numbers: Numbers) -> Iterator[Read]:
    """Yield the figures of the logs of each group, which are read together for all groups."""
    found = [group.figures() for group in groups]
    starts = np.cumsum([0, *(len(hows) for _, hows, _ in found)])
    read = numbers.quantities(
        np.concatenate([at.ravel() for at, _, _ in found]),
        [printed.how for _, hows, _ in found for printed in hows],
        np.concatenate([start + which.ravel() for start, (_, _, which) in zip(starts, found, strict=False)]),
    )
    ends = np.cumsum([at.size for at, _, _ in found])[:-1]
    parts = (np.split(column, ends) for column in read)
    for group, (at, _, _), texts, *columns in zip(
        groups, found, _texts(groups, found, numbers), *parts, strict=True
    ):
        yield _read(group, at, texts, columns)


def _texts(
    groups: Sequence[Group], found: Sequence[tuple[Indexes, list[Printed], Indexes]], numbers: Numbers
) -> Iterator[pl.Series]:
    """Yield the texts of the figures of each group, given its `Group.figures`."""
    widths = [len(group.example.figures) for group in groups]
    places = [at[:, :width].ravel() for width, (at, _, _) in zip(widths, found, strict=True)]
    every, start = numbers.text[np.concatenate(places)], 0
    for width, own, (_, hows, which) in zip(widths, places, found, strict=True):
        texts = every.slice(start, len(own))
        start += len(own)
        if any(printed.suffix for printed in hows):
            texts += pl.Series([printed.suffix for printed in hows])[which[:, :width].ravel()]
        yield texts


def _read(group: Group, at: Indexes, texts: pl.Series, columns: Sequence[Floats]) -> Read:
    """Replace the values of a group's example by the values of its logs."""
    example, width = group.example, len(group.example.figures)
    may_be_zero = np.array([zero is not None for zero in example.zeros])
    ends, own = [column.reshape(at.shape) for column in columns], example.ends
    value, low, high = (
        np.where((at[:1, :width] >= 0) & (may_be_zero | ~np.isnan(known)), end[:, :width], known)
        for end, known in zip(ends, own, strict=False)
    )
    is_zero = may_be_zero & (value == 0)
    value[is_zero] = low[is_zero] = np.nan
    high[is_zero & np.array([zero == "missing" for zero in example.zeros])] = np.nan
    shares = np.repeat(own[-1][None], len(group.logs), axis=0)
    shares[:, list(example.shares)] = ends[0][:, width:]
    return Read(group, texts, value, low, high, shares)
