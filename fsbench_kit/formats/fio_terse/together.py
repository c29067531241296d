"""Reads the lines of many runs together, using that most differ in nothing but their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from fsbench_kit.formats import fio_columns
from fsbench_kit.formats.builder import Bounds, Place
from fsbench_kit.formats.clean import CleanLogs
from fsbench_kit.formats.findings import Finding
from fsbench_kit.formats.fio import Percentile
from fsbench_kit.formats.fio_columns import (
    NUMBER,
    Alike,
    Amounts,
    Bools,
    Bucket,
    Figures,
    Ints,
    IsRead,
    Learned,
    Log,
    Numbers,
    Row,
    ints,
    lots,
    printed,
)
from fsbench_kit.formats.fio_terse.lines import Line, lines
from fsbench_kit.formats.fio_terse.reader import TerseReader
from fsbench_kit.formats.fio_terse.reports import Report, by_time, runs_of
from fsbench_kit.formats.lexer import Printed
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Measurement, Setting


def together(
    texts: Mapping[int, bytes], which: Iterable[int], is_read: IsRead | None = None
) -> tuple[CleanLogs | None, list[int]]:
    """Read the texts, given by index, that consist of nothing but the lines of one run.

    Texts with any irregularity are left to `fsbench_kit.formats.fio_terse.parse`. `is_read` is called for each of
    the others as soon as its text is not needed any more.

    Returns
    -------
    tuple
        The runs, or ``None``, and the indices of the texts that were not read.
    """
    given = list(which)
    reports = (
        (_Printed(at, len(data), None, slice(0, 0), data.decode("ascii")), data)
        for at in given
        if (data := texts[at].rstrip(b"\n")).startswith(_LAYOUTS) and data.isascii()
    )
    return fio_columns.read(lots(reports, lambda item: item[0].end), _KINDS, given, is_read)


_LAYOUTS: Final = (b"2;", b"3;", b"4;", b"5;")
"""The possible beginnings of a line."""


@dataclass(frozen=True, slots=True)
class _Printed(fio_columns.Printed):
    """A text that may be the lines of a run."""

    chars: str


class _Figures(Figures):
    """The figures of the lines of one run."""

    @staticmethod
    def shares(share: Amounts, mean: Amounts) -> Amounts:
        """Return shares of a group's bandwidth, which fio truncates to whole KiB/s before dividing by it."""
        has_any = share.value > 0
        group = mean.value / 1024 / np.where(has_any, share.value, 1)
        return share._replace(low=np.where(has_any, share.low * group / (group + 1), share.low))


class _Sketch(TerseReader):
    """Records which number of the lines each figure is.

    Attributes
    ----------
    figures
        The figures.
    conditions
        Groups of numbers that determine which figures exist -> whether any number of the group is not 0.
    """

    def __init__(self, text: Text, report: Report, numbers: Mapping[int, int]) -> None:
        super().__init__(text, [report])
        self.figures = _Figures(text)
        self.conditions: dict[tuple[int, ...], bool] = {}
        self._numbers = numbers
        self.read()
        self.is_one_run()

    def _is_work(self, fields: Iterable[Printed]) -> bool:
        known = list(fields)
        answer = super()._is_work(known)
        self.conditions[tuple(self._numbers[field.position] for field in known)] = answer
        return answer

    def _add(self, place: Place, field: Printed | None, metric: str, statistic: str = "value", **how: Any) -> None:
        if field is not None:
            samples = how.pop("samples", None)
            of_samples = self._numbers[samples.position] if samples is not None else None
            known = printed("", metric, statistic, **{"rounding": "nearest"} | how)
            number, order = self._numbers[field.position], self.figures.next()
            self.figures.rows.append(Row(place, known, number, of_samples, order))

    def _read_group_share(self, place: Place, share: Printed, _: Printed) -> None:
        self._add(place, share, "group_share", unit="%")
        rows = self.figures.rows
        rows[-1] = rows[-1]._replace(mean=len(rows))  # the row that is added next

    def _read_percentile(self, place: Place, field: Printed, metric: str) -> None:
        rank, value = field.text.split("%=")
        (per_second,) = self.clocks
        rule = Percentile(per_second // 10**6, per_second, is_cut=True)
        at = Printed(value, field.position + len(rank) + 2)
        self._add(place, at, metric, f"p{float(rank):g}", unit="us", rounding="exact", rule=rule)

    def _add_shares(
        self, place: Place, metric: str, buckets: Iterable[tuple[Bounds, Printed]], *, with_zeros: bool
    ) -> None:
        order = self.figures.next()
        self.figures.buckets += (
            Bucket(place, metric, *bounds, self._numbers[field.position], with_zeros, order)
            for bounds, field in buckets
        )


class _Template(NamedTuple):
    """A line, and the ranges of its fields that belong to its directions and so on."""

    line: Line
    directions: dict[str, tuple[tuple[str, ...], slice]]
    cpu: slice
    disks: list[slice]

    @classmethod
    def of(cls, line: Line, chars: str) -> _Template:
        def fields(some: Sequence[Printed]) -> slice:
            first = chars.count(";", line.start, some[0].position) if some else 0
            return slice(first, first + len(some))

        directions = {name: (tuple(own), fields([*own.values()])) for name, own in line.directions.items()}
        return cls(line, directions, fields(line.cpu), list(map(fields, line.disks)))

    def like(self, chars: str, start: int) -> Line:
        """Return a line with the same layout."""
        words = [Printed(text, start) for text in chars.split(";")]
        return replace(
            self.line,
            start=start,
            end=start + len(chars),
            directions={
                name: dict(zip(names, words[part], strict=True)) for name, (names, part) in self.directions.items()
            },
            cpu=words[self.cpu],
            disks=[words[part] for part in self.disks],
        )


class _Kind(fio_columns.Kind[_Printed]):
    """Runs whose lines differ in nothing but their numbers."""

    def __init__(self, reader: _Sketch, chars: str, starts: Sequence[int]) -> None:
        self._reader, self.figures = reader, reader.figures
        self.facts = reader.version, reader.status
        groups = tuple((group, tuple(jobs)) for group, jobs in reader.groups().items())
        rows = tuple((row.place, row.printed.what) for row in self.figures.rows)
        self.checked = rows, groups, reader.is_one_run()
        self._templates = [_Template.of(line, chars) for line in reader.lines]
        self._answers = self._answered(reader.lines)
        self.conditions = [(ints(numbers), answer) for numbers, answer in reader.conditions.items()]
        self._lines = reader.text.lines(np.array(starts, np.intp))
        self._runtimes = ints(row.number for row in self.figures.rows if row.printed.what.metric == "runtime")
        self._has_remarks = any(True for _ in reader.remarks())

    def are_of(self, reports: Sequence[_Printed], numbers: Numbers, firsts: Ints) -> Bools:
        """Return whether runs whose lines differ in their numbers alone are of this kind."""
        are_of = super().are_of(reports, numbers, firsts)
        for index in np.flatnonzero(are_of).tolist():
            chars = reports[index].chars
            are_of[index] = self._answered(list(self._lines_of(chars))) == self._answers and not _ODD.search(chars)
        return are_of

    def _lines_of(self, chars: str) -> Iterator[Line]:
        start = 0
        for template, own in zip(self._templates, chars.split("\n"), strict=True):
            yield template.like(own, start)
            start += len(own) + 1

    def _answered(self, some: list[Line]) -> object:
        """Return what the figures determine about the lines."""
        return (
            len(by_time([], some)),
            [(line.disk_texts() == some[0].disk_texts(), line.has_worked()) for line in some],
            [self._reader.latency_of_percentiles(fields) for line in some for fields in line.directions.values()],
        )

    def log(self, _: _Printed, first: int) -> Log:
        """Return a run, given the index of its first number."""
        return Log(self.figures, self.figures.shape, first, self._lines, (), ())

    def line_ends(self, _: _Printed) -> int:
        """Return how many line ends the lines of a run have."""
        return len(self._templates) - 1

    def are_odd(self, numbers: Numbers, firsts: Ints) -> Bools:
        """Return whether nothing in a run took any time, so that its duration is unknown."""
        are_odd: Bools = ~numbers.is_any[firsts[:, None] + self._runtimes].any(axis=1)
        return are_odd

    def settings(self, _: Numbers, firsts: Ints) -> list[list[Setting]]:
        """Return the settings of runs, which are the same for all."""
        return [self._reader.run.settings] * len(firsts)

    def checks(self, measurements: Sequence[Measurement]) -> Iterator[Finding]:
        """Check columns of figures of several runs against each other."""
        return self._reader.checks(measurements)

    def remarks(self, report: _Printed) -> Iterable[Diagnostic]:
        """Return the diagnostics of a run that do not depend on its figures."""
        if not self._has_remarks:
            return ()
        return TerseReader(Text(report.chars), [list(self._lines_of(report.chars))]).remarks()


_ODD: Final = re.compile(r"[^0-9]\.|\.[^0-9]|\.[0-9]{10}|[0-9]{18}")
"""What numbers look like that fio cannot have printed."""


def _at_start(line: Line) -> Line:
    """Return a line like those of `_Template.like`, whose fields have no positions of their own."""

    def moved(fields: Iterable[Printed]) -> list[Printed]:
        return [Printed(field.text, line.start) for field in fields]

    directions = {name: dict(zip(own, moved(own.values()), strict=True)) for name, own in line.directions.items()}
    return replace(line, directions=directions, cpu=moved(line.cpu), disks=list(map(moved, line.disks)))


def _learned(first: _Printed) -> Learned | None:
    """Return the kind of some lines, and which of their numbers are not figures."""
    chars, text = first.chars, Text(first.chars)
    found = list(runs_of(text, lines(text)))
    if len(found) != 1 or len(found[0]) != 1:
        return None
    report = found[0][0]
    ends = [0, *(end for line in report for end in (line.start, line.end)), len(chars)]
    between = {chars[start:end] for start, end in list(pairwise(ends))[2:-1:2]}
    is_all = ends[1] == 0 and ends[-2] == len(chars) and between <= {"\n"}
    if not is_all or any(line.is_mended or not line.is_whole for line in report) or _ODD.search(chars):
        return None
    starts = [match.start() for match in NUMBER.finditer(chars)]
    numbers = {start: number for number, start in enumerate(starts)}
    try:
        reader = _Sketch(text, report, numbers)
        read = {row.number for row in reader.figures.rows} | {bucket.number for bucket in reader.figures.buckets}
        read |= {row.samples for row in reader.figures.rows if row.samples is not None}
        read |= {number for condition in reader.conditions for number in condition}
        read |= {numbers[field.position] for line in report for disk in line.disks for field in disk[1:]}
    except (KeyError, ValueError):  # a sign or "nan" instead of a number, or an unknown version
        return None
    kind = _Kind(reader, chars, starts)
    is_alike = list(kind._lines_of(chars)) == [_at_start(line) for line in report]
    return Learned(kind, sorted({*numbers.values()} - read)) if is_alike else None


_KINDS: Final = Alike("fio_terse", _learned)
