"""The example of a kind of logs: a log that was read by its format, with the positions of its figures."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from fsbench_kit import formats
from fsbench_kit.formats.clean.declared import Clean
from fsbench_kit.formats.clean.lines import KnownLines, Printed
from fsbench_kit.formats.clean.logs import Log, places, units
from fsbench_kit.formats.clean.numbers import DATE, NUMBER, Floats, Numbers
from fsbench_kit.formats.findings import diagnostics
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Bin, Block, Diagnostic, Distributions, How, Measurement, Run, State


class Figure(NamedTuple):
    """The position of a measurement in an example.

    Attributes
    ----------
    place
        Its number in the log, or ``None`` if it is not a number and the same in all logs.
    printed
        How it is printed; its whole text if it is not a number.
    has_unit
        Whether the text after the number is a unit that may be replaced by another one.
    """

    place: int | None
    printed: Printed
    has_unit: bool = False


class NotOneRunError(Exception):
    """A log is not a single run and nothing else; the others of its kind are most likely not either."""


@dataclass
class Example:
    """A log that was read by its format.

    Attributes
    ----------
    owner, clean
        Its format, and what that declares about its logs.
    remarks, disagreements
        The diagnostics before the cross-checks, and those of the cross-checks.
    free
        Setting -> its number, for those that may differ within a kind, and the factor that the number is
        multiplied by, if any.
    points
        The numbers of each series.
    samples
        Measurement -> the number of its samples.
    bins
        The bins that all logs of the kind have.
    shares
        Bin -> the number of its share.
    identity
        What each value of the run's identity is: a number or, below 0, a date counted from the last one.
    anchors
        The start and end of phrases that diagnostics show: byte -> piece of the text, and offset in it.
    """

    owner: formats.Format
    clean: Clean
    log: Log
    run: Run
    blocks: list[Block]
    remarks: list[Diagnostic]
    disagreements: list[Diagnostic]
    figures: list[Figure]
    free: dict[int, tuple[int, int | None]]
    points: list[list[int]]
    samples: dict[int, int]
    bins: list[Bin]
    shares: dict[int, int]
    identity: list[int]
    anchors: dict[int, tuple[int, int]]

    @classmethod
    def of(cls, owner: formats.Format, clean: Clean, log: Log) -> Example | None:
        """Return a log as an example, or ``None`` if it cannot be one.

        Raises
        ------
        NotOneRunError
            If it is not a single run and nothing else.
        """
        if log.example is not None:
            (example := copy(log.example)).log = log  # keeps what was computed for it
            return example
        text = log.text
        records = list(owner.parse(text))
        runs = [record for record in records if isinstance(record, Run)]
        blocks = [record for record in records if isinstance(record, Block)]
        if len(runs) != 1 or (runs[0].start, runs[0].end) != log.span:
            raise NotOneRunError
        (run,) = runs
        diagnosed = [record for record in records if isinstance(record, Diagnostic)]
        disagreements = list(diagnostics(clean.checks(run), text))
        remarks = diagnosed[: len(diagnosed) - len(disagreements)]
        if diagnosed != remarks + disagreements or any(item.code not in clean.remarks for item in remarks):
            return None
        if clean.clock(log.dates) != {"started_at": run.started_at, "ended_at": run.ended_at}:
            return None
        found = list(re.finditer(NUMBER, log.dateless))
        kept = range(len(found)) if log.layout is None else log.layout.kept.tolist()
        words = [found[number][0] for number in kept]
        numbers = {log.byte(found[number].start()): place for place, number in enumerate(kept)}
        figures = [_figure(item, numbers, words, log, clean) for item in run.measurements]
        points = [[numbers.get(start, -1) for start in block.starts or ()] for block in blocks]
        phrases = [item.phrase for item in run.measurements if item.phrase is not None]
        phrases += [span for item in remarks if (span := span_of(item)) is not None]
        edges = [edge for match in found for edge in match.span()]
        anchors = dict(_anchors(log.chars, edges, text, chain(*phrases)))
        samples = {
            column: numbers[item.samples_start]
            for column, item in enumerate(run.measurements)
            if item.samples_start in numbers
        }
        bins = [item for item in run.bins if log.line_of(item.line) is not None]
        shares, identity = _shares(run, bins, numbers), _identity(log, run, numbers)
        is_vouched = all(re.search(r"\d", figure.printed.suffix) is None for figure in figures)
        is_vouched &= not any(_repeats_figure(item, figure) for figure in run.measurements for item in remarks)
        is_vouched &= None not in shares.values() and None not in identity
        if not is_vouched or any(not each or -1 in each for each in points) or None in anchors.values():
            return None
        return cls(
            owner,
            clean,
            log,
            run,
            blocks,
            remarks,
            disagreements,
            figures,
            dict(_free(clean, words, run, numbers)),
            points,
            samples,
            bins,
            {place: number for place, number in shares.items() if number is not None},
            [place for place in identity if place is not None],
            {offset: anchor for offset, anchor in anchors.items() if anchor is not None},
        )

    @cached_property
    def text(self) -> Text:
        """The text that was read."""
        return self.log.text

    @cached_property
    def ends(self) -> list[Floats]:
        """The values, lower and upper ends of its measurements, and the shares of its bins; NaN for ``None``."""
        items = self.run.measurements
        ends = [np.array([getattr(item, name) for item in items], np.float64) for name in ENDS]
        return [*ends, np.array([item.share for item in self.bins], np.float64)]

    @cached_property
    def fields(self) -> list[dict[str, Any]]:
        """The fields of its measurements, by name."""
        of_each = map(attrgetter(*Measurement.__slots__), self.run.measurements)
        return [dict(zip(Measurement.__slots__, fields, strict=True)) for fields in of_each]

    @cached_property
    def words(self) -> list[int]:
        """The numbers that are read as they are printed: settings, samples, points of series, and the identity."""
        free = (number for number, _ in self.free.values())
        of_run = (number for number in self.identity if number >= 0)
        return [*dict.fromkeys(chain(free, self.samples.values(), *self.points, of_run))]

    def figures_alone(self) -> object:
        """Return everything relevant about it except its settings and the values of its figures."""
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
            *(*self.anchors.values(), self._gaps(self.log)),
            *(run.tool_version, run.host, run.status, run.exit_code, repr(run.jobs), repr(self.blocks)),
        )

    def _gaps(self, log: Log) -> tuple[int, ...]:
        """Return where a log has optional lines, if the phrases of diagnostics depend on that."""
        return tuple(cell.gap for cell in log.layout.cells) if log.layout is not None and self.anchors else ()

    def _figure_alone(self, item: Measurement, figure: Figure) -> object:
        printed = (item.how, figure) if not self.log.head(figure.place) else figure.place
        line = self.log.line_of(item.line)
        return _figure_of(item), printed, line, item.value is None, item.low is None, item.high is None

    def extends(self, known_lines: KnownLines, numbers: Numbers) -> bool:
        """Add what its lines show to the known lines; return whether that agrees with earlier logs."""
        layout = self.log.layout
        if layout is None:
            return True
        for place, printed, _ in self.figures:
            if place is None:
                continue
            if known_lines.printed.setdefault((place, self.log.head(place)), printed) != printed:
                return False
        loose = [item for item in self.run.bins if self.log.line_of(item.line) is None]
        known_lines.heads |= set(enumerate(layout.heads))
        return known_lines.learn_bins(layout, self.log.labels(numbers), loose)

    @cached_property
    def zeros(self) -> list[State | None]:
        """The state of each measurement if it is 0; ``None`` if it must not be 0 or 0 is an ordinary value."""
        hows = [item.how for item in self.run.measurements]
        return [
            how.zero
            if how is not None
            and how.name in self.clean.zeros
            and figure.place is not None
            and how.zero != "measured"
            else None
            for how, figure in zip(hows, self.figures, strict=True)
        ]

    def sorted(self, logs: list[Log], numbers: Numbers) -> list[list[Log]]:
        """Return the logs that can be read like this example, and groups of others that need their own."""
        if len(logs) == 1:
            return [logs]
        at = places(logs)
        codes = numbers.codes[at]
        measured = zip(self.figures, self.run.measurements, strict=True)
        items = {figure.place: item.how for figure, item in measured if figure.place is not None and item.how}
        points = set(chain(*self.points))
        free = dict(self.free.values())
        of_runs = [number for number in self.identity if number >= 0]
        zeros = {place for place, how in items.items() if how.name in self.clean.zeros}
        written = at[:, [*(number for number, factor in free.items() if factor), *of_runs]]
        odd = [
            numbers.whole[at[:, list((items.keys() | points) - zeros)]] == 0,
            numbers.has_leading_zero[written] | (numbers.places[written] > 0),
        ]
        if cut := [place for place, how in items.items() if how.may_lack_carry]:
            odd.append(numbers.is_round[at[:, cut]])
        flags = np.packbits(np.concatenate(odd, axis=1), axis=1)
        known = items.keys() | points | {*free, *of_runs, *self.samples.values(), *self.shares.values()}
        others = codes[:, sorted(set(range(at.shape[1])) - known)].copy()
        any_unit = {figure.place for figure in self.figures if figure.has_unit}
        of_kinds = {
            kind: tuple(unit for number, unit in enumerate(units(kind)) if number not in any_unit)
            for kind in {log.kind for log in logs if log.layout is None}
        }
        date = self.clean.date
        groups: dict[object, list[Log]] = {}
        which_are_same = (tuple(map(own.index, own)) for own in codes[:, of_runs].tolist())  # distinguishes jobs
        rows = np.concatenate([others.view(np.uint8), flags], axis=1)
        for log, same, row in zip(logs, which_are_same, rows, strict=True):
            is_dated = date is None or None not in map(date, log.dates)
            alike = row.tobytes(), of_kinds.get(log.kind), same, self._gaps(log), is_dated
            groups.setdefault(alike, []).append(log)
        return list(groups.values())


ENDS: Final = ("value", "low", "high")
_figure_of: Final = attrgetter(
    *("operation", "metric", "statistic", "unit", "state"),
    *("scope", "part", "block_size", "file_size", "threads", "primary"),
)
_NO_NUMBER: Final = How("1", "exact")


def _figure(item: Measurement, numbers: Mapping[int, int], words: Sequence[str], log: Log, clean: Clean) -> Figure:
    place = numbers.get(item.start) if item.start is not None else None
    if place is None or item.how is None or not item.text.startswith(words[place]):
        return Figure(None, Printed(_NO_NUMBER, item.text))
    suffix = item.text.removeprefix(words[place])
    is_unit = clean.units.get(suffix) == (item.how.unit, item.how.rounding)
    return Figure(place, Printed(item.how, suffix), is_unit and suffix == units(log.kind)[place])


def _repeats_figure(remark: Diagnostic, item: Measurement) -> bool:
    """Whether the message of a remark may contain a figure that is in the phrase that it shows."""
    is_shown = remark.start is None or remark.end is None or remark.start <= (item.start or 0) < remark.end
    return is_shown and item.text in re.findall(NUMBER, remark.message)


def _shares(run: Run, bins: Sequence[Bin], numbers: Mapping[int, int]) -> dict[int, int | None]:
    """Return the number of each bin's share, by the index of the bin; ``None`` if it is unknown."""
    starts: list[int | None] = []
    for each in Distributions.of(run.bins).columns:
        starts += each.starts.tolist() if each.starts is not None else [None] * len(each)
    known = [start for item, start in zip(run.bins, starts, strict=True) if item in bins]
    return {place: numbers.get(start) for place, start in enumerate(known) if start is not None}


def _identity(log: Log, run: Run, numbers: Mapping[int, int]) -> list[int | None]:
    """Return what each value of a run's identity is; see `Example`."""
    dates = [log.byte(date.start()) for date in re.finditer(DATE, log.chars)]
    return [
        dates.index(start) - len(dates) if start in dates else numbers.get(start) for start in run.identity_starts
    ]


def _free(
    clean: Clean, words: Sequence[str], run: Run, numbers: Mapping[int, int]
) -> Iterator[tuple[int, tuple[int, int | None]]]:
    """Yield the settings that may differ between logs: the number of each, and the factor it is multiplied by."""
    keys = [setting.key for setting in run.settings]
    for position, setting in enumerate(run.settings):
        number = numbers.get(setting.start) if setting.start is not None else None
        if number is None or setting.key not in clean.free or keys.count(setting.key) > 1:
            continue
        printed, (written, columns) = words[number], clean.free[setting.key]
        if written is not None:
            if written(printed) == setting.value:
                yield position, (number, None)
        elif printed.isdecimal() and printed[0] != "0" and setting.value.isdecimal():
            factor, rest = divmod(int(setting.value), int(printed))
            repeated = {getattr(item, name) for name in columns for item in run.measurements}
            if not rest and repeated <= {None, int(setting.value)}:
                yield position, (number, factor)


def _anchors(
    chars: str, edges: Sequence[int], text: Text, offsets: Iterable[int]
) -> Iterator[tuple[int, tuple[int, int] | None]]:
    """Yield bytes with their piece of the text and their offset in it; ``None`` for bytes inside numbers.

    Pieces are alternately text and numbers; `edges` are the boundaries between them.
    """
    starts = [0, *edges]
    for offset in sorted(set(offsets)):
        position = text.position(offset)
        piece = bisect_right(starts, position) - 1
        behind = position - starts[piece]
        end = len(chars[starts[piece] : (*edges, len(chars))[piece]].rstrip(" "))
        yield offset, None if behind > (0 if piece % 2 else end) else (piece, behind)


def span_of(item: Diagnostic) -> tuple[int, int] | None:
    """Return the first and last byte of a diagnostic's phrase, if it shows one."""
    return (item.start, item.end) if item.start is not None and item.end is not None else None
