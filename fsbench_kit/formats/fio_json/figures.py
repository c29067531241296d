"""Collects which figures a report has, and at which of its numbers each stands: their values are read later."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from fsbench_kit.formats.builder import RunBuilder
from fsbench_kit.formats.fio_json.columns import Shape
from fsbench_kit.model.records import Diagnostic, What, what
from fsbench_kit.model.units import exact_factor
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fsbench_kit.formats.builder import Bounds
    from fsbench_kit.formats.fio_json.contents import Gate, Report
    from fsbench_kit.formats.loose_json import Counts, Object
    from fsbench_kit.formats.text import Text
    from fsbench_kit.model.records import Place
    from fsbench_kit.model.units import Rounding


class Print(NamedTuple):
    """How fio prints a figure.

    Attributes
    ----------
    key
        Under which key.
    what
        Which figure it is.
    unit, factor, divisor
        Its unit, and which fraction that is of the base unit.
    whole, rounding
        How it was shortened if it is printed as a whole number, and if it has a fraction.
    """

    key: str
    what: What
    unit: str
    factor: int
    divisor: int
    whole: Rounding
    rounding: Rounding


def printed(
    key: str,
    metric: str,
    statistic: str = "value",
    *,
    unit: str = "",
    whole: Rounding = "exact",
    rounding: Rounding | None = None,
    primary: bool = True,
) -> Print:
    """Say how fio prints a figure: unless `rounding` says so, one with a fraction was rounded."""
    known = what(metric, statistic, METRICS[metric].unit, "measured", primary)
    return Print(key, known, unit, *exact_factor(unit), rounding or whole, rounding or "nearest")


class Row(NamedTuple):
    """A figure of a report.

    Attributes
    ----------
    number
        Which of the document's numbers it is.
    samples
        Which number counts the values of which it is the mean or deviation.
    order
        Where it stands among the figures and latencies.
    gate
        It is there where any of these numbers is not 0; always where there are none.
    mean
        Of a share of a group's bandwidth, the row of the mean that was divided.
    """

    place: Place
    printed: Print
    number: int
    samples: int | None
    order: int
    gate: Gate | None = None
    mean: int | None = None


class Bucket(NamedTuple):
    """A share of a distribution: its bounds, and which number it is."""

    place: Place
    metric: str
    low: float | None
    high: float | None
    number: int
    with_zeros: bool
    order: int


class Latencies(NamedTuple):
    """Latencies that are sorted into bins.

    Attributes
    ----------
    requests
        Which number counts them.
    percentiles
        The name of each, and which number it is.
    bins
        Which of the `Figures.bins` are theirs.
    order
        Where they stand among the figures and latencies.
    gate
        As in `Row`.
    """

    place: Place
    metric: str
    requests: int | None
    percentiles: tuple[tuple[str, int], ...]
    bins: int | None
    order: int
    gate: Gate


class Figures:
    """The figures of one report.

    Attributes
    ----------
    run
        Where its settings and series are collected.
    rows, latencies, buckets
        Its figures.
    bins
        The bins of the document, also those that are held as numbers.
    sampled
        For each kind of statistics over intervals, which number counts these, and which one the requests.
    """

    def __init__(self, text: Text, report: Report) -> None:
        self.text, self.report = text, report
        self.run = RunBuilder(text)
        self.rows: list[Row] = []
        self.latencies: list[Latencies] = []
        self.buckets: list[Bucket] = []
        self.bins: list[Counts] = list(report.document.bins)
        self.sampled: list[tuple[int, int | None]] = []
        self._order = 0

    @cached_property
    def shape(self) -> Shape:
        """The same as columns."""
        return Shape(self)

    def _next(self) -> int:
        self._order += 1
        return self._order

    def add(
        self,
        place: Place,
        block: Object,
        prints: Iterable[Print],
        samples: int | None = None,
        *,
        gate: Gate | None = None,
    ) -> None:
        """Add the figures that a block has."""
        if gate == ():
            return
        rows, order = self.rows, self._order
        for each in prints:
            number = block.get(each.key)
            if type(number) is int:
                order += 1
                rows.append(Row(place, each, number, samples, order, gate))
        self._order = order

    def add_share(self, place: Place, known: Print, number: int, mean: int | None, *, gate: Gate) -> None:
        """Add a share of the bandwidth of which one number is the mean."""
        if not gate:
            return
        row = next((row for row in reversed(range(len(self.rows))) if self.rows[row].number == mean), None)
        self.rows.append(Row(place, known, number, None, self._next(), gate, row))

    def add_latencies(
        self,
        place: Place,
        metric: str,
        requests: int | None,
        percentiles: Iterable[tuple[str, int]],
        bins: Counts | None,
        *,
        gate: Gate,
    ) -> None:
        """Add latencies by their percentiles and bins."""
        if not gate:
            return
        index = next((index for index, each in enumerate(self.bins) if each is bins), None)
        if bins is not None and index is None:
            index = len(self.bins)
            self.bins.append(bins)
        self.latencies.append(Latencies(place, metric, requests, tuple(percentiles), index, self._next(), gate))

    def add_shares(
        self, place: Place, metric: str, block: Object, bounds: Mapping[str, Bounds], *, with_zeros: bool = True
    ) -> None:
        """Add the shares that a block has of a distribution, by the names of its bins."""
        order = self._next()
        for label, number in block.items():
            if type(number) is int and label in bounds:
                self.buckets.append(Bucket(place, metric, *bounds[label], number, with_zeros, order))

    def diagnostic(self, code: str, message: str, line: int | None, excerpt: str | None = None) -> Diagnostic:
        """Say something about the document."""
        document = self.report.document
        start, end = self.text.byte(document.start), self.text.byte(document.end)
        return Diagnostic(code=code, message=message, line=line, start=start, end=end, excerpt=excerpt)
