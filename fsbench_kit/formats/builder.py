"""Collects the contents of one run: measurements, settings, bins, series and diagnostics.

A format creates a `RunBuilder` for each run. For each number in the log it states what the number is (a `Place`, a
metric and a statistic), where it is printed (a `Printed`), its unit, and how the tool rounded it. The builder
determines the value, the interval of true values, and the line::

    run = RunBuilder(text)
    run.set("engine", "libaio", position)
    reads = Place("read", scope="job", part="load", block_size=4096, threads=4)
    run.add(reads, "iops", token.printed("iops"), unit="1/s", rounding="down")
    run.add(reads, "completion_latency", token.printed("max"), "max", unit="us", rounding="down")
    run.add_unmeasured(reads, "cpu", token.printed("cpu"), state="missing")
    run.add_bins(reads, "depth", [0, 1], [1, 3], shares=[0.28, 0.72], positions=positions)
    run.say("RUN_FAILED", "fio reports an error.", token.start, token.end)
    yield from run.records(TOOL, start, end, duration=1.5)

What a log does not print is passed as ``None`` instead of a `Printed`, and ignored. Formats neither create nor
modify measurements themselves: special properties of a print are arguments of `RunBuilder.add` (`number`,
`bounds`, `zero`, `factor`). What a log reveals only later is applied by `RunBuilder.amend`, to the numbers that
`RunBuilder.add` returned. Measurements are created when they are first requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import (
    Bins,
    Block,
    Diagnostic,
    Distributions,
    How,
    Measurement,
    Origin,
    Place,
    Record,
    Run,
    Scope,
    Setting,
    State,
)
from fsbench_kit.model.units import Rounding, quantity
from fsbench_kit.model.vocabulary import METRICS

__all__ = ["Bounds", "Column", "Place", "RunBuilder"]

Bounds = tuple[float | None, float | None]
_T = TypeVar("_T")
Column: TypeAlias = "Sequence[_T] | NDArray[Any]"


class _Row(NamedTuple):
    """A measurement as added; its place and its print are not yet expanded into columns."""

    place: Place
    metric: str
    statistic: str
    value: float | None
    unit: str
    state: State
    low: float | None
    high: float | None
    samples: int | Printed | None
    printed: Printed
    primary: bool
    how: How | None = None
    within: Token | None = None


class RunBuilder:
    """The contents of one run that have been read so far.

    Parameters
    ----------
    text
        The text that all positions refer to.

    Attributes
    ----------
    settings, series, diagnostics
        The collected items, in order. Items that were created elsewhere can be appended.
    """

    def __init__(self, text: Text) -> None:
        self.text = text
        self.settings: list[Setting] = []
        self.series: list[Block] = []
        self.diagnostics: list[Diagnostic] = []
        self._rows: list[_Row] = []
        self._made: list[Measurement] = []
        self._first: dict[tuple[Place, str, str], int] = {}
        self._indexed = 0
        self._given: set[tuple[str, str, Scope, str | None, Origin]] = set()
        self._bins: list[Bins] = []

    def add(
        self,
        place: Place,
        metric: str,
        printed: Printed | None,
        statistic: str = "value",
        *,
        unit: str = "",
        rounding: Rounding = "nearest",
        digits: int | None = None,
        name: str | None = None,
        number: str | None = None,
        factor: float | None = None,
        spread: float | None = None,
        bounds: Bounds | None = None,
        zero: State = "measured",
        samples: int | Printed | None = None,
        primary: bool = True,
        within: Token | None = None,
        rule: Callable[[Any], tuple[Any, Any]] | None = None,
        may_lack_carry: bool = False,
    ) -> int | None:
        """Add a measurement.

        Parameters
        ----------
        place, metric, statistic
            What is measured.
        printed
            The number as printed, with its position; ``None`` if it is not printed.
        unit, rounding, digits
            How the tool prints it; see `fsbench_kit.model.units.quantity`.
        name
            The name by which the cross-checks of the format refer to it.
        number
            The number that the print stands for, if it is not the print itself: ``83.5`` for ``1:23.50``.
        factor
            The ratio of the tool's unit to `unit`.
        spread
            The factor by which the interval of true values extends beyond what the print implies, on both sides.
        bounds
            The smallest and largest true value, in the base unit, if `rounding` does not determine them. If one
            end is open, the measurement is censored.
        zero
            What a 0 means: ``measured``; ``censored``, which is below the last digit; or ``missing``.
        samples
            The number of values behind a mean or deviation, or where it is printed.
        primary
            Whether this is the print to use.
        within
            The phrase to show if a cross-check fails.
        rule, may_lack_carry
            Properties of the print that also apply to other logs' prints in the same place; see
            `fsbench_kit.model.records.How`. `rule` computes the `bounds`.

        Returns
        -------
        int or None
            The number of the measurement, for `amend` and `measurements`; ``None`` if nothing was printed.

        Raises
        ------
        ValueError
            If the print is not a number.
        """
        if printed is None:
            return None
        amount = quantity(printed.text if number is None else number, unit, rounding=rounding, digits=digits)
        value: float | None
        value, base, low, high = amount
        if factor is not None:
            value, low, high = _scaled((value, low, high), factor)
        if spread is not None and low is not None and high is not None:
            low, high = low / spread, high * spread
        state: State = "measured"
        is_plain = (bounds is None or rule is not None) and (number is None or printed.text.startswith(number))
        if bounds is not None:
            low, high = bounds if factor is None else _scaled(bounds, factor)
            state = "censored" if None in bounds else "measured"
        if zero != "measured" and value == 0:
            state, low, high = zero, None, high if zero == "censored" else None
        if state != "measured":
            value = None
        how = None
        if is_plain:
            suffix = printed.text[-1] if number is None and printed.text[-1:].isalpha() else ""
            how = How(unit, rounding, name, digits, factor, spread, zero, suffix, rule, may_lack_carry)
        row = _Row(place, metric, statistic, value, base, state, low, high, samples, printed, primary, how, within)
        self._rows.append(row)
        return len(self._rows) - 1

    def add_unmeasured(
        self,
        place: Place,
        metric: str,
        printed: Printed | None,
        statistic: str = "value",
        *,
        state: Literal["censored", "missing"],
        low: float | None = None,
        high: float | None = None,
        how: How | None = None,
        primary: bool = True,
    ) -> int | None:
        """Add a measurement without a value: the log has a mark or something else in place of a number.

        `low` and `high` are the known bounds, in the base unit. With a `how`, the outcome would be the same for
        any other number in its place.
        """
        if printed is None:
            return None
        unit = METRICS[metric].unit
        self._rows.append(
            _Row(place, metric, statistic, None, unit, state, low, high, None, printed, primary, how)
        )
        return len(self._rows) - 1

    @property
    def measurements(self) -> Sequence[Measurement]:
        """The measurements that were added, indexed by number."""
        if new := self._rows[len(self._made) :]:
            positions = np.array([row.printed.position for row in new], np.intp)
            lines, starts = self.text.lines(positions), self.text.bytes(positions)
            self._made += map(_measurement, repeat(self.text), new, lines.tolist(), starts.tolist())
        return self._made

    def first(self, place: Place, metric: str, statistic: str = "value") -> int | None:
        """Return the number of the first primary measurement of something, or ``None``.

        Further prints of it should be added with ``primary=False``.
        """
        for number in range(self._indexed, len(self._rows)):
            row = self._rows[number]
            if row.primary:
                self._first.setdefault((row.place, row.metric, row.statistic), number)
        self._indexed = len(self._rows)
        return self._first.get((place, metric, statistic))

    def amend(
        self,
        numbers: Iterable[int],
        *,
        metric: str | None = None,
        factor: float | None = None,
        high: float | None = None,
        lacks_threads: bool = False,
        is_missing: bool = False,
    ) -> None:
        """Change measurements according to later parts of the log.

        Parameters
        ----------
        numbers
            The measurements to change.
        metric
            The actual metric.
        factor
            The ratio of their actual unit to the one that was assumed.
        high
            The largest true value, if other figures limit it more than the print does.
        lacks_threads
            Whether the number of their processes turned out to be unknown.
        is_missing
            Whether there was nothing to measure, although a number is printed.
        """
        for number in numbers:
            row = self._rows[number]
            if lacks_threads:
                row = row._replace(place=row.place._replace(threads=None))
            if factor is not None:
                value, low, high = _scaled((row.value, row.low, row.high), factor)
                row = row._replace(value=value, low=low, high=high)
            if high is not None:
                row = row._replace(high=high)
            if is_missing:
                row = row._replace(state="missing", value=None, low=None, high=None)
            self._rows[number] = row._replace(metric=metric or row.metric)
        self._forget()

    def drop(self, numbers: Iterable[int]) -> None:
        """Remove measurements according to later parts of the log; later ones are renumbered."""
        dropped = set(numbers)
        self._rows = [row for number, row in enumerate(self._rows) if number not in dropped]
        self._forget()

    def _forget(self) -> None:
        self._made, self._first, self._indexed = [], {}, 0

    def add_bins(
        self,
        place: Place,
        metric: str,
        lows: Column[float | None],
        highs: Column[float | None],
        *,
        positions: Column[int],
        counts: Column[int] | None = None,
        shares: Column[float] | None = None,
        printed_at: Column[int] | None = None,
    ) -> None:
        """Add bins of a distribution; see `fsbench_kit.model.records.Bins`.

        `positions` are those of the bins; `printed_at` are those of the shares only, if these are in percent.
        """
        self._bins.append(
            Bins(
                operation=place.operation,
                metric=metric,
                scope=place.scope,
                part=place.part,
                lows=np.asarray(lows, float),  # makes None NaN
                highs=np.asarray(highs, float),
                counts=np.asarray(counts, np.int64) if counts is not None else None,
                shares=np.asarray(shares, float) if shares is not None else None,
                lines=self.text.lines(np.asarray(positions, np.intp)),
                starts=self.text.bytes(np.asarray(printed_at, np.intp)) if printed_at is not None else None,
            )
        )

    def add_series(
        self,
        place: Place,
        metric: str,
        statistic: str = "value",
        *,
        times: Sequence[float],
        values: Sequence[float],
        lines: Sequence[int | None],
    ) -> None:
        """Add figures over time; see `fsbench_kit.model.records.Block`."""
        self.series.append(
            Block(
                operation=place.operation,
                metric=metric,
                statistic=statistic,
                part=place.part,
                times=times,
                values=values,
                lines=lines,
            )
        )

    def set(
        self,
        key: str,
        value: str | None,
        position: int | None = None,
        *,
        scope: Scope = "all",
        part: str | None = None,
        origin: Origin = "log",
        printed: Printed | None = None,
    ) -> None:
        """Add a setting, if it has a value and is not known yet; `printed` is the number in it."""
        if value is None or (key, value, scope, part, origin) in self._given:
            return
        self._given.add((key, value, scope, part, origin))
        at = printed.position if printed is not None else position
        start = self.text.byte(at) if at is not None else None
        self.settings.append(
            Setting(
                key=key, value=value, scope=scope, part=part, origin=origin, line=self.line(position), start=start
            )
        )

    def say(self, code: str, message: str, start: int, end: int) -> None:
        """Add a diagnostic about a part of the log."""
        self.diagnostics.append(Token("", self.text, start, end).diagnostic(code, message))

    def line(self, position: int | None) -> int | None:
        """Return the line of the file that contains a position."""
        return self.text.line(position) if position is not None else None

    def records(self, tool: str, start: int, end: int, **facts: Any) -> Iterator[Record]:
        """Yield the run, its series and the diagnostics.

        The run extends from `start` to `end`; `facts` are the other fields of `fsbench_kit.model.records.Run`.
        """
        yield self.build(tool, start, end, **facts)
        yield from self.series
        yield from self.diagnostics

    def build(self, tool: str, start: int, end: int, **facts: Any) -> Run:
        """Return the run alone; see `records`."""
        return Run(
            tool=tool,
            start=self.text.byte(start),
            end=self.text.byte(end),
            line=self.text.line(start),
            settings=tuple(self.settings),
            measurements=tuple(self.measurements),
            bins=Distributions(self._bins),
            **facts,
        )


def _scaled(ends: Iterable[float | None], factor: float) -> Iterator[float | None]:
    return (end if end is None else end * factor for end in ends)


def _measurement(text: Text, row: _Row, line: int, start: int) -> Measurement:
    place, metric, statistic, value, unit, state, low, high, samples, printed, primary, how, within = row
    operation, scope, part, block_size, file_size, threads = place
    return Measurement(
        operation=operation,
        metric=metric,
        statistic=statistic,
        value=value,
        unit=unit,
        state=state,
        low=low,
        high=high,
        samples=int(samples.text) if isinstance(samples, Printed) else samples,
        samples_start=text.byte(samples.position) if isinstance(samples, Printed) else None,
        text=printed.text,
        line=line,
        start=start,
        scope=scope,
        part=part,
        block_size=block_size,
        file_size=file_size,
        threads=threads,
        primary=primary,
        how=how,
        phrase=(within.text.byte(within.start), within.text.byte(within.end)) if within is not None else None,
    )
