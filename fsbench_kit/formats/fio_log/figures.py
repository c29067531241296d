"""What the log files of one run of fio come to: statistics, distributions, series.

A file is read a piece at a time, twice where it has percentiles. Of a log of single requests, only the bins of
its latencies are held in memory, and the values that share a bin with a percentile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.formats.fio import LATENCIES
from fsbench_kit.formats.fio_log.histograms import (
    Bins,
    bin_of_rank,
    merged_histogram,
    recognise_histograms,
    scan_counts,
    why_unread,
)
from fsbench_kit.formats.fio_log.rows import (
    LATENCY_KINDS,
    OPERATIONS,
    Kind,
    Layout,
    LogName,
    base_units,
    latency_unit,
    operation_of,
    pieces,
    read_head,
    recognise,
    scaled_rows,
    scan_rows,
)
from fsbench_kit.formats.text import Text
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.records import Bin, Block, Diagnostic, Measurement, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from fsbench_kit.formats.fio_log.rows import LatencyUnit

SERIES_LIMIT: Final = 100_000
"""The rows of a log that has no more of them are a series of the run; more are left to `scan_fio_log`."""

PERCENTILES: Final = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""Those that fio prints by default."""

_METRICS: Final[dict[Kind, tuple[str, str]]] = {
    "bw": ("bandwidth", "B/s"),
    "iops": ("iops", "1/s"),
    "lat": (LATENCIES["lat"], "s"),
    "clat": (LATENCIES["clat"], "s"),
    "slat": (LATENCIES["slat"], "s"),
}
_BIN_BITS: Final = 6
_FALL: Final = 100
"""Milliseconds by which times have to fall back to show that rows of another job or run begin."""
_LINES_NAMED: Final = 5

Place = tuple[Scope, str | None]
"""Scope and part of figures."""
PlaceOf = Callable[[int | None], Place]
"""Tells the place of a job's figures by the number in its logs' names."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file of fio: its name's parts, and its rows' columns or its histograms' bins."""

    path: Path
    name: LogName
    layout: Layout | None = None
    bins: Bins | None = None

    @property
    def kind(self) -> Kind | None:
        """What its rows hold; ``None`` for histograms, and where nothing tells."""
        if self.name.kind is None and self.layout is not None and self.layout.counts_requests:
            return "iops"
        return self.name.kind

    @property
    def unit(self) -> LatencyUnit | None:
        """The unit in which the fio that wrote it logs latencies, if the file tells it."""
        if self.bins is not None:
            return self.bins.unit
        return self.layout.unit(self.kind) if self.layout is not None else None

    def is_of_requests(self, job: int | None) -> bool:
        """Whether it is a log of all single requests of a job."""
        return self.layout is not None and not self.layout.windowed and self.name.job == job


def log_file(path: Path) -> LogFile | None:
    """Look at a file's head, and return what kind of log of fio it is, or ``None`` where it is none."""
    try:
        head, is_whole = read_head(path)
    except OSError:
        return None
    layout = recognise(head, is_whole=is_whole)
    bins = recognise_histograms(head) if layout is None else None
    if layout is None and bins is None:
        return None
    name = LogName.of(path.name)
    if name.kind is None and layout is not None and not layout.in_sectors:
        return None  # whole numbers of something else
    return LogFile(path, name, layout, bins)


@dataclass(slots=True)
class Figures:
    """What log files come to.

    Attributes
    ----------
    diagnostics
        By file, what is to be said about it.
    checks
        What is to be said about the run.
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
        All of them, since one can tell what another does not: the version that wrote them.
    version
        fio's version, if it is known from elsewhere.
    place_of
        Tells which scope and part the figures of a job have.
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
    """Leave out what several logs say alike; where they do not, the first one counts."""
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
        groups, unread = _groups(pieces(self.file.path, layout), binned=kind in LATENCY_KINDS)
        self._say_unread(int(groups.filter(pl.col("direction").is_null())["rows"].sum()), unread)
        groups = groups.filter(pl.col("direction").is_not_null())
        falls = groups["falls"].sum()
        if falls:
            message = f"Times fall back {falls} times: rows of several jobs or runs stand one after the other."
            self._say("TIME_FALLS_BACK", message)
        for (direction, windowed), group in groups.group_by("direction", "windowed", maintain_order=True):
            operation = OPERATIONS[int(str(direction))]
            if not windowed:
                self._read_requests(operation, kind, group)
            elif kind is not None:
                self._read_windows(operation, kind, group)
        if kind in LATENCY_KINDS:
            self._read_distribution(kind, layout, groups.filter(~pl.col("windowed")))
        if kind is not None and groups.height:
            self._read_series(kind, scan_rows(self.file.path, layout), groups)
        if layout.doubled:
            self._say("DOUBLED_ROWS", "Each row stands twice, so that counts and sums are too large.")
        if not _ends_with_newline(self.file.path):
            self._say("INCOMPLETE_LOG", "The last line has no end, so that its row may be cut.")

    def _known_kind(self) -> Kind | None:
        """Return what the rows hold, if their values can be read."""
        kind = self.file.kind
        if kind is None:
            self._say(
                "UNKNOWN_KIND",
                "Nothing tells whether this log of fio holds bandwidth, IOPS or latencies: name it like "
                "name_clat.1.log, or give it to scan_fio_log with its kind.",
            )
        elif kind in LATENCY_KINDS and self.unit is None:
            self._say(
                "UNKNOWN_UNIT",
                "Nothing tells whether these latencies are in ns (since fio 3.0) or in µs (before): "
                "give the log to scan_fio_log with fio_version.",
            )
            return None
        return kind

    def _read_windows(self, operation: str, kind: Kind, group: pl.DataFrame) -> None:
        """Keep the statistics over windows, which are not those over requests."""
        metric, unit = _METRICS[kind]
        factor = base_units(kind, self.unit, windowed=True)
        number, mean, deviation = _moments(group)
        extent: dict[str, Any] = {
            "window_mean": mean,
            "window_min": group["smallest"].min(),
            "window_max": group["greatest"].max(),
            "window_stdev": deviation,
        }
        for statistic, value in extent.items():
            if value is not None:
                self._measure(operation, metric, statistic, value * factor, unit, samples=number)
        largest: Any = group["largest"].max()
        if largest is not None and kind in LATENCY_KINDS:
            self._measure(operation, metric, "max", largest * factor, unit, exact=True)

    def _read_requests(self, operation: str, kind: Kind | None, group: pl.DataFrame) -> None:
        """Keep the counts and the statistics over single requests."""
        number, mean, deviation = _moments(group)
        sizes = {group["smallest_block"].min(), group["largest_block"].max()}
        block_size: Any = sizes.pop() if len(sizes) == 1 else None
        self._measure(operation, "operations", "value", number, "1", exact=True, block_size=block_size)
        moved = int(group["bytes"].sum())
        self._measure(operation, "bytes", "value", moved, "B", exact=True, block_size=block_size)
        if kind is None or kind == "iops":
            return  # the value is 1 for each request
        metric, unit = _METRICS[kind] if kind != "bw" else ("request_bandwidth", "B/s")
        factor = base_units(kind, self.unit, windowed=False)
        extent: dict[str, Any] = {
            "mean": mean,
            "min": group["smallest"].min(),
            "max": group["greatest"].max(),
            "stdev": deviation,
        }
        for statistic, value in extent.items():
            if value is not None:
                exact = self._is_exact(kind)
                self._measure(
                    operation,
                    metric,
                    statistic,
                    value * factor,
                    unit,
                    exact=exact,
                    samples=number,
                    block_size=block_size,
                )

    def _is_exact(self, kind: Kind) -> bool:
        """Whether values are those of fio's clock: rates, and latencies of fio 2 in µs, were cut."""
        return kind in LATENCY_KINDS and self.unit == "ns"

    def _read_distribution(self, kind: Kind, layout: Layout, groups: pl.DataFrame) -> None:
        """Keep the bins of latencies, and their exact percentiles."""
        if groups.is_empty():
            return
        metric, unit = _METRICS[kind]
        factor = base_units(kind, self.unit, windowed=False)
        bins = groups.group_by("direction", "low").agg(pl.col("rows").sum()).sort("direction", "low")
        for direction, low, count in bins.rows():
            self.figures.bins.append(
                Bin(
                    operation=OPERATIONS[direction],
                    metric=metric,
                    low=low * factor,
                    high=_bin_end(low) * factor,
                    count=count,
                    line=1,
                    scope=self.scope,
                    part=self.part,
                )
            )
        number = dict(bins.group_by("direction").agg(pl.col("rows").sum()).rows())
        for direction, statistic, value in _percentiles(pieces(self.file.path, layout), bins):
            self._measure(
                OPERATIONS[direction],
                metric,
                statistic,
                value * factor,
                unit,
                exact=self._is_exact(kind),
                samples=number[direction],
            )

    def _read_series(self, kind: Kind, rows: pl.LazyFrame, groups: pl.DataFrame) -> None:
        number = groups["rows"].sum()
        if number > SERIES_LIMIT:
            message = (
                f"The log has {number} rows, more than the {SERIES_LIMIT} that are kept as a series: "
                "scan_fio_log reads them."
            )
            self._say("SERIES_LEFT", message)
            return
        if kind == "iops":
            rows = rows.filter(pl.col("block_size") == 0)  # of a request the value is 1
        known = scaled_rows(rows.filter(pl.col("unread").is_null()), kind, self.unit)
        series = known.with_columns(windowed=pl.col("block_size") == 0).collect(engine="streaming")
        for (operation, windowed), part in series.group_by("operation", "windowed", maintain_order=True):
            metric = "request_bandwidth" if kind == "bw" and not windowed else _METRICS[kind][0]
            for statistic, column in (("value", "value"), ("max", "largest")):
                if column == "value" or (windowed and part[column].count()):
                    self.figures.blocks.append(
                        Block(
                            operation=str(operation),
                            metric=metric,
                            statistic=statistic,
                            part=self.part,
                            times=part["time"].to_list(),
                            values=part[column].to_list(),
                            lines=part["line"].to_list(),
                        )
                    )

    def read_histograms(self, bins: Bins) -> None:
        """Read a histogram log."""
        counts = scan_counts(self.file.path, bins)
        unread = counts.filter(pl.col("unread").is_not_null()).select("line", "unread").collect(engine="streaming")
        self._say_unread(unread.height, unread.head(_LINES_NAMED), lambda line: why_unread(line, bins))
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
            for low, high, count in histogram.select("low", "high", "count").rows():
                self.figures.bins.append(
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
                )
            number = int(histogram["count"].sum())
            for percentile in PERCENTILES:
                index, _ = bin_of_rank(histogram["count"].to_list(), percentile)
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
        """Compare the number of requests with that in a log of the job's single requests, up to the same time."""
        requests = next((file for file in self.others if file.is_of_requests(self.file.name.job)), None)
        if requests is None or requests.layout is None:
            return
        ends = counts.filter(pl.col("unread").is_null()).group_by("operation").agg(pl.col("time").max())
        # A time is cut to ms, so that requests of the window's last one can be in this window or in the next.
        end = pl.col("time_of_window") * 1000
        logged = (
            scan_rows(requests.path, requests.layout)
            .filter(pl.col("unread").is_null())
            .select(pl.col("time"), operation=operation_of(pl.col("direction")))
            .join(ends, on="operation", suffix="_of_window")
            .group_by("operation")
            .agg(fewest=(pl.col("time") < end - 1).sum(), most=(pl.col("time") <= end + 1).sum())
            .collect(engine="streaming")
        )
        counted = dict(merged.group_by("operation").agg(pl.col("count").sum()).rows())
        for operation, fewest, most in logged.sort("operation").rows():
            if not fewest <= counted[operation] <= most:
                self._say(
                    "FIGURES_DISAGREE",
                    f"The histogram counts {counted[operation]} requests of {operation}, "
                    f"and {requests.path.name} has {most} until then.",
                )

    def _has_bins(self, operation: str, metric: str) -> bool:
        """Whether a log of single requests has told the distribution already, and more exactly."""
        place = (self.scope, self.part, operation, metric)
        return any((bin_.scope, bin_.part, bin_.operation, bin_.metric) == place for bin_ in self.figures.bins)

    # What is kept

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
        lines: pl.DataFrame,
        why: Callable[[str], str] = lambda _: "This line is no row of the log.",
    ) -> None:
        for line, text in lines.rows():
            self._say("UNREAD_FIGURE", why(text), line, text)
        if number > lines.height:
            self._say(
                "UNREAD_FIGURE", f"{number} lines are no rows of the log; the first {lines.height} are named."
            )


def _groups(pieces: Iterable[pl.DataFrame], *, binned: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Add up the rows of each piece by direction, by whether they are windows, and, if asked, by their bins.

    Returns
    -------
    tuple
        The groups, of which those of lines that are no rows have no direction; the first of these lines.
    """
    value = pl.col("value")
    windowed = pl.col("block_size") == 0
    before: int | None = None
    groups = []
    unread = pl.DataFrame(schema={"line": pl.UInt32, "unread": pl.String})
    for rows in pieces:
        times = rows["time"].drop_nulls()
        lines = rows.filter(pl.col("unread").is_not_null()).select("line", "unread")
        unread = pl.concat([unread, lines], how="vertical_relaxed").head(_LINES_NAMED)
        groups.append(
            rows.lazy()
            .select(
                "direction",
                "value",
                "largest",
                "block_size",
                windowed=windowed,
                fell=pl.col("time") < pl.col("time").shift(1, fill_value=before) - _FALL,
                low=pl.when(~windowed).then(_bin_start(value)) if binned else pl.lit(None, pl.Int64),
            )
            .group_by("direction", "windowed", "low")
            .agg(
                rows=pl.len(),
                sum=value.cast(pl.Float64).sum(),
                variance=value.var(ddof=0),
                smallest=value.min(),
                greatest=value.max(),
                largest=pl.col("largest").max(),
                bytes=pl.col("block_size").cast(pl.Float64).sum(),
                smallest_block=pl.col("block_size").min(),
                largest_block=pl.col("block_size").max(),
                falls=pl.col("fell").sum(),
            )
            .collect()
        )
        before = times[-1] if times.len() else before
    return pl.concat(groups).sort("direction", "windowed", "low"), unread


def _bin_start(value: pl.Expr) -> pl.Expr:
    """Return the smallest value in the bin of fio's in which each value lies: 64 bins to an octave."""
    octave = 63 - value.cast(pl.UInt64, strict=False).bitwise_leading_zeros().cast(pl.Int64)
    return value - value % pl.lit(2, pl.Int64).pow((octave - _BIN_BITS).clip(0))


def _bin_end(start: int) -> int:
    width = 1 << max(0, start.bit_length() - 1 - _BIN_BITS)
    return start + width if width > 1 else start


def _moments(groups: pl.DataFrame) -> tuple[int, float, float | None]:
    """Return the number, the mean and the standard deviation of all values of some groups."""
    number = int(groups["rows"].sum())
    mean = float(groups["sum"].sum()) / number
    squares = sum(
        rows * (variance + (total / rows - mean) ** 2)
        for rows, total, variance in groups.select("rows", "sum", "variance").rows()
    )
    return number, mean, sqrt(squares / (number - 1)) if number > 1 else None


def _percentiles(pieces: Iterable[pl.DataFrame], bins: pl.DataFrame) -> Iterator[tuple[int, str, int]]:
    """Yield direction, name and value of each percentile: the smallest value with so many at or below it.

    The bins tell in which of them a percentile lies, so that only the values of those bins are sorted.
    """
    wanted: dict[tuple[int, int], list[tuple[str, int]]] = defaultdict(list)
    for (direction,), group in bins.group_by("direction", maintain_order=True):
        counts = group["rows"].to_list()
        for percentile in PERCENTILES:
            index, rank = bin_of_rank(counts, percentile)
            wanted[int(str(direction)), group["low"][index]].append((f"p{percentile:g}", rank))
    chosen = pl.LazyFrame(list(wanted), schema={"direction": pl.Int64, "low": pl.Int64}, orient="row")
    key = ("direction", "low", "value")
    counted = (
        rows.lazy()
        .filter(pl.col("block_size") > 0)
        .select("direction", "value", low=_bin_start(pl.col("value")))
        .join(chosen, on=["direction", "low"], how="semi")
        .group_by(key)
        .len()
        .collect()
        for rows in pieces
    )
    values = pl.concat(counted).group_by(key).agg(pl.col("len").sum()).sort(key)
    for (direction, low), part in values.group_by("direction", "low", maintain_order=True):
        reached = part["len"].cum_sum()
        for name, rank in wanted[int(str(direction)), int(str(low))]:
            yield int(str(direction)), name, part["value"][int(reached.search_sorted(rank))]


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"
