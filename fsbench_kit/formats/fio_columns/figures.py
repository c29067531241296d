"""The figures of a report without their values: what each measures, and which number of the report it is."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

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
"""Numbers of a report that guard a figure, which exists if any of them is not 0."""


class Print(NamedTuple):
    """How fio prints a figure.

    Attributes
    ----------
    key
        Its key.
    what
        Which figure it is.
    unit, factor, divisor
        Its unit, and the fraction of it and the base unit.
    whole, rounding
        How it is rounded if it is printed as an integer, and if it has a fraction.
    rule
        A function that returns its bounds, if they are not those of its rounding.
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
    """Return how fio prints a figure. By default, figures with a fraction are rounded to nearest."""
    known = what(metric, statistic, METRICS[metric].unit, "measured", primary)
    return Print(key, known, unit, *exact_factor(unit), rounding or whole, rounding or "nearest", rule)


class Row(NamedTuple):
    """A figure of a report.

    Attributes
    ----------
    number
        The ordinal of its number in the report.
    samples
        The ordinal of the number of samples, for means and deviations.
    order
        Its rank among the figures and latencies.
    gate
        The figure exists if any of these numbers is not 0; always if there are none.
    mean
        For a share of a group's bandwidth, the row of the mean that was divided.
    """

    place: Place
    printed: Print
    number: int
    samples: int | None
    order: int
    gate: Gate | None = None
    mean: int | None = None


class Bucket(NamedTuple):
    """A share of a distribution: its bounds, and the ordinal of its number."""

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
        The ordinal of the number of requests.
    percentiles
        The name of each, and the ordinal of its number.
    bins
        The index of their bins in `Figures.bins`.
    order
        Their rank among the figures and latencies.
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
        Collects settings and series.
    rows, latencies, buckets
        The figures.
    bins
        The bins of the report.
    is_old
        Whether it is from fio 2.x, whose latencies are in µs.
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
        """The figures as columns."""
        return Shape(self)

    @cached_property
    def fields(self) -> list[dict[str, Any]]:
        """The fields of the measurement of each row that are the same in all reports, by name."""
        return [row.place._asdict() | asdict(row.printed.what) for row in self.rows]

    def next(self) -> int:
        """Return the rank of the figure that is added next."""
        self._order += 1
        return self._order

    @staticmethod
    def shares(share: Amounts, mean: Amounts) -> Amounts:
        """Return shares of a group's bandwidth, given their prints and the means that were divided."""
        raise NotImplementedError
