"""Collects what a format reads of one run: one sink for measurements, settings, bins, series and remarks.

A format makes a `RunBuilder` for each run. For each number that the log prints it says once what the number is of
(a `Place`, and the metric and statistic), where it stands (a `Printed`), in which unit it is and how the tool
shortened it. The builder finds the value, the interval of true values, and the line::

    run = RunBuilder(text)
    run.set("engine", "libaio", position)
    reads = Place("read", scope="job", part="load", block_size=4096, threads=4)
    run.add(reads, "iops", token.printed("iops"), unit="1/s", rounding="down")
    run.add(reads, "completion_latency", token.printed("max"), "max", unit="us", rounding="down")
    run.add_unmeasured(reads, "cpu", token.printed("cpu"), state="missing")
    run.add_bin(reads, "depth", 0, 1, share=0.28, position=position)
    run.say("RUN_FAILED", "fio reports an error.", token.start, token.end)
    yield from run.records(TOOL, start, end, duration=1.5)

What a log does not print is ``None`` in place of a `Printed`, and is passed over. A format never makes a
measurement of its own, nor changes one that it holds: whatever is special about a print is an argument of
`RunBuilder.add` (`number`, `bounds`, `zero`, `factor`). What turns out later is told by the number that
`RunBuilder.add` returned, with `RunBuilder.amend`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fsbench_kit.formats.lexer import Token
from fsbench_kit.model.records import Bin, Block, Diagnostic, How, Measurement, Origin, Run, Scope, Setting, State
from fsbench_kit.model.units import Rounding, quantity
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fsbench_kit.formats.lexer import Printed
    from fsbench_kit.formats.text import Text
    from fsbench_kit.model.records import Record

Bounds = tuple[float | None, float | None]


class Place(NamedTuple):
    """What measurements are of.

    A place like another one, but for some of it, is ``place._replace(operation="write")``.
    """

    operation: str
    scope: Scope = "all"
    part: str | None = None
    block_size: int | None = None
    file_size: int | None = None
    threads: int | None = None


class RunBuilder:
    """What was read of one run so far.

    Parameters
    ----------
    text
        The text in which all positions are that it is given.

    Attributes
    ----------
    measurements, settings, bins, series, diagnostics
        What was kept, in its order. Settings, series and diagnostics that were made elsewhere are appended.
    """

    def __init__(self, text: Text) -> None:
        self.text = text
        self.measurements: list[Measurement] = []
        self.settings: list[Setting] = []
        self.bins: list[Bin] = []
        self.series: list[Block] = []
        self.diagnostics: list[Diagnostic] = []
        self._first: dict[tuple[Place, str, str], int] = {}

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
        samples: int | None = None,
        primary: bool = True,
    ) -> int | None:
        """Add a measurement.

        Parameters
        ----------
        place, metric, statistic
            What it is.
        printed
            How and where it is printed; ``None`` where it is not.
        unit, rounding, digits
            How the tool prints it; see `fsbench_kit.model.units.quantity`.
        name
            What the format calls it, for its cross-checks.
        number
            The number that the print stands for, where it is not the print itself: ``83.5`` for ``1:23.50``.
        factor
            By what the tool's unit is larger than `unit`.
        spread
            By what the smallest true value is smaller, and the largest one larger, than the print alone tells.
        bounds
            The smallest and largest true value that print like this, in the base unit, where `rounding` does not
            tell. With an end that is open the measurement is censored.
        zero
            What a 0 says: that it was measured; that it is below the last digit (``censored``); or nothing.
        samples
            How many values a mean or deviation was taken over.
        primary
            Whether this is the print to use.

        Returns
        -------
        int or None
            The measurement's number, for `amend` and ``measurements``; ``None`` if nothing was printed.

        Raises
        ------
        ValueError
            If what is printed is no number.
        """
        if printed is None:
            return None
        amount = quantity(printed.text if number is None else number, unit, rounding=rounding, digits=digits)
        ends = amount.value, amount.low, amount.high
        value, low, high = (end if end is None or factor is None else end * factor for end in ends)
        if spread is not None and low is not None and high is not None:
            low, high = low / spread, high * spread
        if bounds is not None:
            low, high = bounds
        is_plain = bounds is None and (number is None or printed.text.startswith(number))
        state: State = "measured"
        if value == 0 and zero != "measured":
            state, low = zero, None
            high = high if zero == "censored" else None
        elif bounds is not None and None in bounds:
            state = "censored"
        return self._keep(
            place,
            metric=metric,
            statistic=statistic,
            value=value if state == "measured" else None,
            unit=amount.unit,
            state=state,
            low=low,
            high=high,
            samples=samples,
            printed=printed,
            primary=primary,
            how=How(unit, rounding, name, digits, factor, spread) if is_plain else None,
        )

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
        primary: bool = True,
    ) -> int | None:
        """Add a measurement that has no value: a mark stands in place of a number, or what is not a number.

        `low` and `high` are what is known of it all the same, in the base unit.
        """
        if printed is None:
            return None
        return self._keep(
            place,
            metric=metric,
            statistic=statistic,
            value=None,
            unit=METRICS[metric].unit,
            state=state,
            low=low,
            high=high,
            samples=None,
            printed=printed,
            primary=primary,
        )

    def _keep(self, place: Place, *, metric: str, statistic: str, printed: Printed, **columns: Any) -> int:
        number = len(self.measurements)
        self.measurements.append(
            Measurement(
                **place._asdict(),
                metric=metric,
                statistic=statistic,
                text=printed.text,
                line=self.line(printed.position),
                start=self.text.byte(printed.position) if printed.position is not None else None,
                **columns,
            )
        )
        if columns["primary"]:
            self._first.setdefault((place, metric, statistic), number)
        return number

    def first(self, place: Place, metric: str, statistic: str = "value") -> int | None:
        """Return the number of the first primary measurement of something, if there is one.

        Whatever is printed once more is added with ``primary=False``.
        """
        return self._first.get((place, metric, statistic))

    def amend(self, numbers: Iterable[int], **columns: Any) -> None:
        """Change columns of measurements, by what the log tells later on."""
        for number in numbers:
            self.measurements[number] = replace(self.measurements[number], **columns)

    def rewind(self, measurements: int, bins: int) -> None:
        """Forget the measurements and bins that were added since there were so many."""
        del self.measurements[measurements:], self.bins[bins:]
        self._first = {key: number for key, number in self._first.items() if number < measurements}

    def add_bin(
        self,
        place: Place,
        metric: str,
        low: float | None,
        high: float | None,
        *,
        position: int,
        count: int | None = None,
        share: float | None = None,
    ) -> None:
        """Add one bin of a distribution; see `fsbench_kit.model.records.Bin`."""
        self.bins.append(
            Bin(
                operation=place.operation,
                metric=metric,
                low=low,
                high=high,
                count=count,
                share=share,
                line=self.line(position),
                scope=place.scope,
                part=place.part,
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
    ) -> None:
        """Add a setting, if the log tells its value and it is not known yet."""
        if value is None or any(
            (key, value, scope, part, origin) == (item.key, item.value, item.scope, item.part, item.origin)
            for item in self.settings
        ):
            return
        start = self.text.byte(position) if position is not None else None
        self.settings.append(
            Setting(
                key=key, value=value, scope=scope, part=part, origin=origin, line=self.line(position), start=start
            )
        )

    def say(self, code: str, message: str, start: int, end: int) -> None:
        """Say something about a stretch of the log."""
        self.diagnostics.append(Token("", self.text, start, end).diagnostic(code, message))

    def line(self, position: int | None) -> int | None:
        """Return the line of the file on which a position stands."""
        return self.text.line(position) if position is not None else None

    def records(self, tool: str, start: int, end: int, **facts: Any) -> Iterator[Record]:
        """Yield the run, its series and the diagnostics.

        `start` and `end` are the positions between which the run stands, `facts` the other columns of
        `fsbench_kit.model.records.Run`.
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
            bins=tuple(self.bins),
            **facts,
        )
