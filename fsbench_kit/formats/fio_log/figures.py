"""Computes statistics, distributions and series from the log files of one fio run.

Files are read in pieces. For a log of single requests, the latency bins are held in memory, and the values of up
to `totals.HELD` requests; longer logs are read twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from fsbench_kit.formats.fio import LATENCIES
from fsbench_kit.formats.fio_log.files import LogFile
from fsbench_kit.formats.fio_log.histograms import (
    Bins,
    merged_histogram,
    percentile_bins,
    scan_counts,
    why_unread,
)
from fsbench_kit.formats.fio_log.layout import (
    LATENCY_KINDS,
    OPERATIONS,
    Kind,
    LatencyUnit,
    Layout,
    base_units,
    latency_unit,
)
from fsbench_kit.formats.fio_log.rows import Piece, pieces
from fsbench_kit.formats.fio_log.totals import LINES_NAMED, Percentiles, Total, Totals, add_up, requests
from fsbench_kit.formats.text import Text
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.records import Bin, Block, Diagnostic, Measurement, Scope

SERIES_LIMIT: Final = 100_000
"""The largest number of rows of a log that becomes a series of the run; longer logs are left to `scan_fio_log`."""

PERCENTILES: Final = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""The percentiles that fio prints by default."""

_METRICS: Final[dict[Kind, tuple[str, str]]] = {
    "bw": ("bandwidth", "B/s"),
    "iops": ("iops", "1/s"),
    "lat": (LATENCIES["lat"], "s"),
    "clat": (LATENCIES["clat"], "s"),
    "slat": (LATENCIES["slat"], "s"),
}

Place = tuple[Scope, str | None]
"""Scope and part of figures."""
PlaceOf = Callable[[int | None], Place]
"""Returns the place of a job's figures, given the number in the names of its logs."""


@dataclass(slots=True)
class Figures:
    """The results of reading log files.

    Attributes
    ----------
    diagnostics
        Diagnostics by file.
    checks
        Diagnostics about the run.
    """

    measurements: list[Measurement] = field(default_factory=list)
    bins: list[Bin] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    diagnostics: dict[Path, list[Diagnostic]] = field(default_factory=lambda: defaultdict(list))
    checks: list[Diagnostic] = field(default_factory=list)


def read_figures(files: Sequence[LogFile], version: str | None, place_of: PlaceOf) -> Figures:
    """Read the log files of one run.

    Parameters
    ----------
    files
        All log files of the run: one can show what others do not, such as the version that wrote them.
    version
        The version of fio, if it is known from elsewhere.
    place_of
        A function that returns the scope and part of a job's figures.
    """
    unit = latency_unit(version) or next((file.unit for file in files if file.unit is not None), None)
    figures = Figures()
    for file in files:
        reader = _Reader(file, files, unit, place_of(file.name.job), figures)
        if file.bins is not None:
            reader.read_histograms(file.bins)
        elif file.layout is not None:
            reader.read_rows(file.layout)
    figures.measurements = list(_without_repeats(figures.measurements))
    return figures


def _without_repeats(measurements: Iterable[Measurement]) -> Iterator[Measurement]:
    """Remove figures that several logs have; where they differ, the first one is primary."""
    firsts: dict[tuple[object, ...], Measurement] = {}
    for item in measurements:
        first = firsts.setdefault((item.scope, item.part, item.operation, item.metric, item.statistic), item)
        if first is item:
            yield item
        elif first.value != item.value:
            yield replace(item, primary=False)


class _Reader:
    """Reads one file into the figures of its run."""

    def __init__(
        self,
        file: LogFile,
        others: Sequence[LogFile],
        unit: LatencyUnit | None,
        place: Place,
        figures: Figures,
    ) -> None:
        self.file, self.others, self.unit, self.figures = file, others, unit, figures
        self.scope, self.part = place

    def read_rows(self, layout: Layout) -> None:
        """Read a log of bandwidth, IOPS or latencies."""
        kind = self._known_kind()
        found = add_up(self._pieces(layout), binned=kind in LATENCY_KINDS)
        self._say_unread(found.unread, found.first_unread)
        if found.falls:
            message = f"Times go back {found.falls} times: the rows of several jobs or runs follow each other."
            self._say("TIME_FALLS_BACK", message)
        for (direction, windowed), total in sorted(found.totals.items()):
            if not windowed:
                self._read_requests(OPERATIONS[direction], kind, total)
            elif kind is not None:
                self._read_windows(OPERATIONS[direction], kind, total)
        if kind in LATENCY_KINDS:
            self._read_distribution(kind, layout, found)
        if kind is not None and found.totals:
            self._read_series(kind, layout, found.rows)
        if layout.doubled:
            self._say("DOUBLED_ROWS", "Each row appears twice, so counts and sums are too large.")
        if not found.ends:
            self._say("INCOMPLETE_LOG", "The last line has no line end, so its row may be truncated.")

    def _pieces(self, layout: Layout) -> Iterator[Piece]:
        if self.file.rows is not None:
            yield self.file.rows
            return
        with self.file.open() as file:
            yield from pieces(file, layout)

    def _known_kind(self) -> Kind | None:
        """Return the kind of the rows, if their values can be interpreted."""
        kind = self.file.kind
        if kind is None:
            self._say(
                "UNKNOWN_KIND",
                "Nothing says whether this fio log contains bandwidth, IOPS or latencies: name it like "
                "name_clat.1.log, or pass its kind to scan_fio_log.",
            )
        elif kind in LATENCY_KINDS and self.unit is None:
            self._say(
                "UNKNOWN_UNIT",
                "Nothing says whether these latencies are in ns (since fio 3.0) or in µs (before): "
                "read it with --assume fio_version=3.1, for example.",
            )
            return None
        return kind

    def _read_windows(self, operation: str, kind: Kind, total: Total) -> None:
        """Add the statistics over windows, as distinct from those over requests."""
        metric, unit = _METRICS[kind]
        factor = base_units(kind, self.unit, windowed=True)
        for statistic, value in total.statistics():
            self._measure(operation, metric, f"window_{statistic}", value * factor, unit, samples=total.rows)
        if total.largest is not None and kind in LATENCY_KINDS:
            self._measure(operation, metric, "max", total.largest * factor, unit, exact=True)

    def _read_requests(self, operation: str, kind: Kind | None, total: Total) -> None:
        """Add the counts and the statistics over single requests."""
        same_size = total.smallest_block == total.largest_block
        block_size = total.smallest_block if same_size else None
        self._measure(operation, "operations", "value", total.rows, "1", exact=True, block_size=block_size)
        self._measure(operation, "bytes", "value", total.bytes, "B", exact=True, block_size=block_size)
        if kind is None or kind == "iops":
            return  # the value of each request is 1
        metric, unit = _METRICS[kind] if kind != "bw" else ("request_bandwidth", "B/s")
        factor = base_units(kind, self.unit, windowed=False)
        for statistic, value in total.statistics():
            self._measure(
                operation,
                metric,
                statistic,
                value * factor,
                unit,
                exact=self._is_exact(kind),
                samples=total.rows,
                block_size=block_size,
            )

    def _is_exact(self, kind: Kind) -> bool:
        """Whether values are exact readings of fio's clock; rates, and latencies of fio 2 in µs, are truncated."""
        return kind in LATENCY_KINDS and self.unit == "ns"

    def _read_distribution(self, kind: Kind, layout: Layout, found: Totals) -> None:
        """Add the bins of latencies, and their exact percentiles."""
        metric, unit = _METRICS[kind]
        factor = base_units(kind, self.unit, windowed=False)
        totals = {
            direction: total for (direction, windowed), total in sorted(found.totals.items()) if not windowed
        }
        for direction, total in totals.items():
            bins = ((low * factor, high * factor, count) for low, high, count in total.bins())
            self._add_bins(OPERATIONS[direction], metric, bins)
        percentiles = {direction: Percentiles(total.counts, PERCENTILES) for direction, total in totals.items()}
        for direction, values in requests(self._pieces(layout)) if found.held is None else found.held:
            percentiles[direction].add(values)
        for direction, total in totals.items():
            for percentile, value in zip(PERCENTILES, percentiles[direction].values(), strict=True):
                self._measure(
                    OPERATIONS[direction],
                    metric,
                    f"p{percentile:g}",
                    value * factor,
                    unit,
                    exact=self._is_exact(kind),
                    samples=total.rows,
                )

    def _read_series(self, kind: Kind, layout: Layout, number: int) -> None:
        if number > SERIES_LIMIT:
            message = (
                f"The log has {number} rows, more than the {SERIES_LIMIT} that are kept as a series: "
                "scan_fio_log reads them."
            )
            self._say("SERIES_LEFT", message)
            return
        found = list(self._pieces(layout))
        columns = {name: np.concatenate([piece.columns[name] for piece in found]) for name in layout.columns}
        lines = np.concatenate([piece.lines for piece in found])
        groups = 2 * columns["direction"] + (columns["block_size"] == 0)
        present, first = np.unique(groups, return_index=True)
        for group in present[np.argsort(first)].tolist():
            direction, windowed = divmod(group, 2)
            if kind == "iops" and not windowed:
                continue  # the value of each request is 1
            chosen = groups == group
            metric = "request_bandwidth" if kind == "bw" and not windowed else _METRICS[kind][0]
            factor = base_units(kind, self.unit, windowed=bool(windowed))
            for statistic, column in (("value", "value"), ("max", "largest")):
                if column == "value" or (windowed and column in columns):
                    self.figures.blocks.append(
                        Block(
                            operation=OPERATIONS[direction],
                            metric=metric,
                            statistic=statistic,
                            part=self.part,
                            times=columns["time"][chosen] * (1 / 1000),
                            values=columns[column][chosen] * factor,
                            lines=lines[chosen],
                        )
                    )

    def read_histograms(self, bins: Bins) -> None:
        """Read a histogram log."""
        counts = scan_counts(self.file.path, bins)
        unread = counts.filter(pl.col("unread").is_not_null()).select("line", "unread").collect(engine="streaming")
        self._say_unread(unread.height, unread.head(LINES_NAMED).rows(), lambda line: why_unread(line, bins))
        metric, unit = _METRICS["clat"]
        try:
            merged = merged_histogram(counts)
        except InputError as error:
            self._say("UNREAD_FIGURE", f"{error.what[0].upper()}{error.what[1:]}.")
            return
        self._hold_against_requests(counts, merged)
        for (name,), histogram in merged.group_by("operation", maintain_order=True):
            operation = str(name)
            if self._has_bins(operation, metric):
                continue
            self._add_bins(operation, metric, histogram.select("low", "high", "count").rows())
            number = int(histogram["count"].sum())
            for percentile, index in percentile_bins(histogram["count"].to_list(), PERCENTILES):
                low, high = histogram.select("low", "high").row(index)
                self._measure(
                    operation,
                    metric,
                    f"p{percentile:g}",
                    (low + high) / 2 if high is not None else None,
                    unit,
                    bounds=(low, high),
                    samples=number,
                )

    def _hold_against_requests(self, counts: pl.LazyFrame, merged: pl.DataFrame) -> None:
        """Check the number of requests against the log of the job's single requests, up to the same time."""
        log = next((file for file in self.others if file.is_of_requests(self.file.name.job)), None)
        if log is None or log.layout is None:
            return
        ends = counts.filter(pl.col("unread").is_null()).group_by("operation").agg(pl.col("time").max())
        counted = dict(merged.group_by("operation").agg(pl.col("count").sum()).rows())
        for operation, seconds in sorted(ends.collect(engine="streaming").rows()):
            # Times are truncated to ms, so that the window's last requests can be in this window or the next.
            end = seconds * 1000
            direction = OPERATIONS.index(operation)
            fewest = most = 0
            with log.open() as file:
                for piece in pieces(file, log.layout):
                    times = piece.columns["time"][piece.columns["direction"] == direction]
                    fewest += int((times < end - 1).sum())
                    most += int((times <= end + 1).sum())
            if not fewest <= counted[operation] <= most:
                self._say(
                    "FIGURES_DISAGREE",
                    f"The histogram counts {counted[operation]} requests of {operation}, "
                    f"but {log.path.name} has only {most} by then.",
                )

    def _has_bins(self, operation: str, metric: str) -> bool:
        """Whether a log of single requests has provided the distribution already, more exactly."""
        place = (self.scope, self.part, operation, metric)
        return any((bin_.scope, bin_.part, bin_.operation, bin_.metric) == place for bin_ in self.figures.bins)

    # Adding to the figures

    def _add_bins(self, operation: str, metric: str, bins: Iterable[tuple[float, float | None, int]]) -> None:
        self.figures.bins += (
            Bin(
                operation=operation,
                metric=metric,
                low=low,
                high=high,
                count=count,
                line=1,
                scope=self.scope,
                part=self.part,
            )
            for low, high, count in bins
        )

    def _measure(
        self,
        operation: str,
        metric: str,
        statistic: str,
        value: float | None,
        unit: str,
        *,
        exact: bool = False,
        bounds: tuple[float, float | None] | None = None,
        samples: int | None = None,
        block_size: int | None = None,
    ) -> None:
        low, high = bounds or ((value, value) if exact else (None, None))
        self.figures.measurements.append(
            Measurement(
                operation=operation,
                metric=metric,
                statistic=statistic,
                value=value,
                unit=unit,
                state="measured" if value is not None else "censored",
                low=low,
                high=high,
                samples=samples,
                text=f"{value:.9g} {unit}" if value is not None else f"above {low:.9g} {unit}",
                line=1,
                scope=self.scope,
                part=self.part,
                block_size=block_size,
            )
        )

    def _say(self, code: str, message: str, line: int | None = None, text: str = "") -> None:
        excerpt = Text(text).excerpt(0, len(text)) or None
        item = Diagnostic(code=code, message=message, line=line, excerpt=excerpt)
        self.figures.diagnostics[self.file.path].append(item)

    def _say_unread(
        self,
        number: int,
        lines: Sequence[tuple[int, str]],
        why: Callable[[str], str] = lambda _: "This line is not a row of the log.",
    ) -> None:
        for line, text in lines:
            self._say("UNREAD_FIGURE", why(text), line, text)
        if number > len(lines):
            self._say(
                "UNREAD_FIGURE", f"{number} lines are not rows of the log; the first {len(lines)} are listed."
            )
