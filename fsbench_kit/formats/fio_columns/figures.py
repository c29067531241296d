"""What is known of the figures of one report before their values: what each is of, and which number it is."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from fsbench_kit.formats.builder import RunBuilder
from fsbench_kit.formats.fio_columns.columns import Amounts, Shape
from fsbench_kit.model.records import Place, What, what
from fsbench_kit.model.units import Rounding, exact_factor
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fsbench_kit.formats.fio import Percentile
    from fsbench_kit.formats.loose_json import Counts
    from fsbench_kit.formats.text import Text

Gate = tuple[int, ...]
"""Numbers of a report: what they tell of is there where any of them is not 0."""


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
    rule
        What tells between which values it lies, where that is not its rounding.
    """

    key: str
    what: What
    unit: str
    factor: int
    divisor: int
    whole: Rounding
    rounding: Rounding
    rule: Percentile | None = None


def printed(
    key: str,
    metric: str,
    statistic: str = "value",
    *,
    unit: str = "",
    whole: Rounding = "exact",
    rounding: Rounding | None = None,
    primary: bool = True,
    rule: Percentile | None = None,
) -> Print:
    """Say how fio prints a figure: unless `rounding` says so, one with a fraction was rounded."""
    known = what(metric, statistic, METRICS[metric].unit, "measured", primary)
    return Print(key, known, unit, *exact_factor(unit), rounding or whole, rounding or "nearest", rule)


class Row(NamedTuple):
    """A figure of a report.

    Attributes
    ----------
    number
        Which of the report's numbers it is.
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
        The bins of the report.
    is_old
        Whether it is of fio 2.x, whose latencies are in µs.
    """

    def __init__(self, text: Text, bins: Iterable[Counts] = (), *, is_old: bool = False) -> None:
        self.text, self.is_old = text, is_old
        self.run = RunBuilder(text)
        self.rows: list[Row] = []
        self.latencies: list[Latencies] = []
        self.buckets: list[Bucket] = []
        self.bins = list(bins)
        self._order = 0

    @cached_property
    def shape(self) -> Shape:
        """The same as columns."""
        return Shape(self)

    def next(self) -> int:
        """Return the order of what is added next."""
        self._order += 1
        return self._order

    @staticmethod
    def shares(share: Amounts, mean: Amounts) -> Amounts:
        """Return shares of a group's bandwidth, by their prints and those of the means that were divided."""
        raise NotImplementedError
