"""Collects the figures of a report and the ordinals of their numbers, whose values are read later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsbench_kit.formats import fio_columns
from fsbench_kit.formats.fio import highest_share
from fsbench_kit.formats.fio_columns import Amounts, Bucket, Gate, Latencies, Print, Row
from fsbench_kit.model.records import Diagnostic, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fsbench_kit.formats.builder import Bounds
    from fsbench_kit.formats.fio_json.contents import Report
    from fsbench_kit.formats.loose_json import Counts, Object
    from fsbench_kit.formats.text import Text


class Figures(fio_columns.Figures):
    """The figures of one document, including those of bins that were decoded as numbers.

    Attributes
    ----------
    sampled
        The ordinals of the numbers of samples and of requests, for each kind of statistics over intervals.
    """

    def __init__(self, text: Text, report: Report) -> None:
        super().__init__(text, report.document.bins, is_old=report.is_old)
        self.report = report
        self.sampled: list[tuple[int, int | None]] = []

    @staticmethod
    def shares(share: Amounts, mean: Amounts) -> Amounts:
        """Return shares of a group's bandwidth, given their prints and the means that were divided."""
        return share._replace(high=highest_share(share.high, mean.low))

    def add(
        self,
        place: Place,
        block: Object,
        prints: Iterable[Print],
        samples: int | None = None,
        *,
        gate: Gate | None = None,
    ) -> None:
        """Add the figures in a block."""
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
        """Add a share of the group's bandwidth; `mean` is the number of the mean that was divided."""
        if not gate:
            return
        row = next((row for row in reversed(range(len(self.rows))) if self.rows[row].number == mean), None)
        self.rows.append(Row(place, known, number, None, self.next(), gate, row))

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
        """Add the percentiles and bins of latencies."""
        if not gate:
            return
        index = next((index for index, each in enumerate(self.bins) if each is bins), None)
        if bins is not None and index is None:
            index = len(self.bins)
            self.bins.append(bins)
        self.latencies.append(Latencies(place, metric, requests, tuple(percentiles), index, self.next(), gate))

    def add_shares(
        self, place: Place, metric: str, block: Object, bounds: Mapping[str, Bounds], *, with_zeros: bool = True
    ) -> None:
        """Add the shares of a distribution in a block, by the names of its bins."""
        order = self.next()
        for label, number in block.items():
            if type(number) is int and label in bounds:
                self.buckets.append(Bucket(place, metric, *bounds[label], number, with_zeros, order))

    def diagnostic(self, code: str, message: str, line: int | None, excerpt: str | None = None) -> Diagnostic:
        """Return a diagnostic about the document."""
        document = self.report.document
        start, end = self.text.byte(document.start), self.text.byte(document.end)
        return Diagnostic(code=code, message=message, line=line, start=start, end=end, excerpt=excerpt)
