"""Turns the reports of a run into records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import isnan
from typing import Any, Final

from fsbench_kit.formats import totals
from fsbench_kit.formats.builder import Bounds, Place, RunBuilder
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.findings import Finding, diagnostics
from fsbench_kit.formats.fio import (
    CPU,
    LATENCIES,
    Percentile,
    depth_bounds,
    known_quantity,
    latency_bounds,
    part_names_with_idle,
)
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_terse.lines import (
    INTERVAL_STATISTICS,
    PERCENTILES,
    RATES,
    Line,
    count,
    is_work,
    split,
    statistics,
)
from fsbench_kit.formats.fio_terse.reports import Report
from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.formats.text import Text
from fsbench_kit.formats.totals import Part
from fsbench_kit.model.records import Block, Diagnostic, Measurement, Record, Run, Status
from fsbench_kit.model.units import Rounding
from fsbench_kit.model.vocabulary import EITHER_LATENCY


class TerseReader:
    """Reads the reports of one run; the last one is its result."""

    def __init__(self, text: Text, reports: list[Report]) -> None:
        self.text = text
        self.reports = reports
        self.lines = reports[-1]
        self.parts = list(part_names_with_idle((line.name, line.has_worked()) for line in self.lines))
        self.has_several = len({line.name for line in self.lines}) > 1
        self.run = RunBuilder(text)
        version = self.lines[0].version
        self.version = version
        # Since 3.0 latencies are measured in ns. Layout 2 does not show the version.
        is_old = (version or "").startswith(("1.", "2.")) and not (version or "").startswith("2.99")
        self.clocks: tuple[int, ...] = (10**6, 10**9) if version is None else (10**6,) if is_old else (10**9,)
        self.has_total_percentiles = _LAT_PERCENTILES.search(text.chars) is not None

    def records(self) -> Iterator[Record]:
        """Yield the run, its series and the diagnostics."""
        self.read()
        yield self._run()
        yield from self._series()
        yield from self.remarks()
        yield from self.run.diagnostics
        yield from diagnostics(self.checks(self.run.measurements))

    def read(self) -> None:
        """Read all figures and settings."""
        for line, part in zip(self.lines, self.parts, strict=True):
            self._read_line(line, part)
        self._read_disks(self.lines[0].disks)

    def checks(self, measurements: Sequence[Measurement]) -> Iterator[Finding]:
        """Check figures of this run, or columns of figures of several runs, against each other."""
        yield from cross_checks(measurements)
        yield from totals.checks(measurements, self.groups(), has_all_parts=self.is_one_run())

    @property
    def status(self) -> Status:
        """How the run ended."""
        if any(line.error or count(line.errors) for line in self.lines):
            return "failed"
        return "ok" if all(line.is_whole for line in self.lines) else "partial"

    def _run(self) -> Run:
        runtimes = [item.value for item in self.run.measurements if item.metric == "runtime" and item.value]
        return self.run.build(
            TOOL.name,
            self.reports[0][0].start,
            self.lines[-1].end,
            tool_version=self.version,
            duration=max(runtimes, default=None),
            status=self.status,
        )

    def _series(self) -> Iterator[Record]:
        """Yield the series of work done, from the earlier reports of the run."""
        for report in self.reports[:-1]:
            yield self._diagnostic("INTERIM_REPORT", "The run went on after this report.", report)
        if len(self.reports) == 1:
            return
        for index, part in enumerate(self.parts):
            for operation in self.lines[index].directions:
                points = [report[index].directions[operation] for report in self.reports]
                if not is_work([points[-1]["bytes"]]):
                    continue
                yield Block(
                    operation=operation,
                    metric="bytes",
                    part=part,
                    times=[int(fields["runtime"].text) / 1000 for fields in points],
                    values=[float(int(fields["bytes"].text) * 1024) for fields in points],
                    lines=[self.text.line(fields["bytes"].position) for fields in points],
                )

    def groups(self) -> dict[Part, list[Part]]:
        """Return the jobs of each group."""
        groups: dict[Part, list[Part]] = {}
        for line, part in zip(self.lines, self.parts, strict=True):
            groups.setdefault(("group", str(line.group)), []).append(("job", part))
        return groups

    def is_one_run(self) -> bool:
        """Whether the lines are certainly of one run: there is one per group, or they have figures of disks."""
        disks = (field for disk in self.lines[0].disks for field in disk[1:])
        return len(self.lines) == len({line.group for line in self.lines}) or self._is_work(disks)

    def remarks(self) -> Iterator[Diagnostic]:
        """Yield the diagnostics that do not depend on the figures."""
        for line in self.lines:
            if not line.is_whole:
                yield self._diagnostic(
                    "INCOMPLETE_LOG", "The line breaks off; the part before that was read.", [line]
                )
            elif line.is_mended:
                yield self._diagnostic("REPAIRED", "The line was joined from several.", [line])
            if line.error:
                yield self._diagnostic("RUN_FAILED", f"The job {line.name} ended with error {line.error}.", [line])
            if count(line.errors):
                message = f"{line.errors[0].text} requests of the job {line.name} failed."
                yield self._diagnostic("RUN_FAILED", message, [line])
        if len(self.reports) == 1 and not self.is_one_run():
            message = "The lines may belong to several jobs or to several runs; they are read as jobs of one run."
            yield self._diagnostic("AMBIGUOUS_RUNS", message, self.lines)

    def _diagnostic(self, code: str, message: str, lines: Sequence[Line]) -> Diagnostic:
        return Token("", self.text, lines[0].start, lines[-1].end).diagnostic(code, message)

    # Adding figures

    def _is_work(self, fields: Iterable[Printed]) -> bool:
        """Whether there are figures, which is the case if any of some fields is not zero."""
        return is_work(fields)

    def _add(self, place: Place, field: Printed | None, metric: str, statistic: str = "value", **how: Any) -> None:
        """Add a figure, if the line contains it; `how` is passed to `RunBuilder.add`."""
        if field is None:
            return
        number = Printed(field.text[:-1], field.position) if field.text.endswith("%") else field
        try:
            self.run.add(place, metric, number, statistic, **how)
        except ValueError:
            self._not_understood(field, f"{field.text} is not a figure.")

    def _not_understood(self, field: Printed, message: str) -> None:
        self.run.say("UNREAD_FIGURE", message, field.position, field.position + len(field.text))

    def _set(self, key: str, value: str, line: Line) -> None:
        """Add a setting; that of a job applies to the whole run if it is the only job."""
        is_of_job = self.has_several
        part = line.name if is_of_job else None
        self.run.set(key, value, line.start, scope="job" if is_of_job else "all", part=part)

    # A job

    def _read_line(self, line: Line, part: str) -> None:
        self._set("job_name", line.name, line)
        if line.description is not None:
            self._set("description", line.description, line)
        place = Place("all", scope="job", part=part)
        named = [self.latency_of_percentiles(fields) for fields in line.directions.values()]
        percentiles = next(filter(None, named), EITHER_LATENCY)
        for operation, fields in line.directions.items():
            self._read_direction(place._replace(operation=operation), fields, percentiles)
        if line.cpu:
            self._read_cpu(place, line)
        if line.errors:
            self._add(place, line.errors[0], "errors", rounding="exact")
        self._read_shares(place, line)

    def _read_direction(self, place: Place, fields: dict[str, Printed], percentiles: str) -> None:
        if self._is_work(fields[name] for name in RATES[:3] if name in fields):
            # The oldest layout divides bytes by ms.
            unit = "KiB/s" if "iops" in fields else "kB/s"
            self._add(place, fields["bytes"], "bytes", unit="KiB", rounding="down")
            self._add(place, fields["bandwidth"], "bandwidth", unit=unit, rounding="down")
            self._add(place, fields.get("iops"), "iops", unit="1/s", rounding="down")
            self._add(place, fields["runtime"], "runtime", unit="ms", rounding="exact")
        for kind in ("slat", "clat", "lat"):
            self._read_statistics(place, fields, kind, LATENCIES[kind], "us")
        self._read_percentiles(place, fields, percentiles)
        self._read_statistics(place, fields, "bw", "bandwidth", "KiB/s")
        self._read_statistics(place, fields, "iops", "iops", "1/s")

    def _read_statistics(
        self, place: Place, fields: dict[str, Printed], kind: str, metric: str, unit: str
    ) -> None:
        """Add the statistics over requests or intervals, if there were any."""
        named = {word: fields[f"{kind}_{word}"] for word in INTERVAL_STATISTICS if f"{kind}_{word}" in fields}
        if not self._is_work(named.values()):
            return
        samples = fields.get(f"{kind}_samples")
        for word, field in named.items():
            rounding: Rounding = "down" if word in {"min", "max"} else "nearest"
            if word == "share":
                self._read_group_share(place, field, named["mean"])
            else:
                self._add(place, field, metric, word, unit=unit, rounding=rounding, samples=samples)

    def _read_group_share(self, place: Place, share: Printed, mean: Printed) -> None:
        """Read the share of the group's bandwidth, which fio truncated to whole KiB/s before dividing by it."""
        bounds: Bounds | None = None
        part = known_quantity(share.text.removesuffix("%"), "%")
        if part is not None and part.value and part.low is not None:
            group = float(mean.text) / part.value
            bounds = part.low * group / (group + 1), part.high
        self._add(place, share, "group_share", unit="%", bounds=bounds)

    def _read_percentiles(self, place: Place, fields: dict[str, Printed], metric: str) -> None:
        kinds = [kind for kind in ("clat", "lat") if metric in {LATENCIES[kind], EITHER_LATENCY}]
        if not self._is_work(fields[name] for kind in kinds for name in statistics(kind)):
            return  # without samples
        for name in PERCENTILES:
            if name in fields and float(fields[name].text.partition("%")[0]):
                self._read_percentile(place, fields[name], metric)

    def _read_percentile(self, place: Place, field: Printed, metric: str) -> None:
        rank, value = field.text.split("%=")
        bounds = _percentile_bounds(value, self.clocks)
        if bounds is None:
            self._not_understood(field, f"{field.text} is not a percentile that fio can print.")
            return
        printed = Printed(value, field.position)
        self.run.add(place, metric, printed, f"p{float(rank):g}", unit="us", rounding="exact", bounds=bounds)

    def latency_of_percentiles(self, fields: dict[str, Printed]) -> str | None:
        """Return the latency that the percentiles are of, or ``None`` if it is uncertain.

        They are of the total latency if ``lat_percentiles`` was on, which fio 2.x does not have.
        """
        has = {kind: is_work(fields[name] for name in statistics(kind)) for kind in ("clat", "lat")}
        if self.has_total_percentiles or has == {"clat": False, "lat": True}:
            return LATENCIES["lat"]
        if self.clocks == (10**6,) or has == {"clat": True, "lat": False}:
            return LATENCIES["clat"]
        values = (fields[name].text.split("%=")[1] for name in PERCENTILES if name in fields)
        spans = list(filter(None, (_percentile_bounds(value, self.clocks) for value in values if int(value))))
        possible = [kind for kind in ("clat", "lat") if _lie_between(spans, fields, kind)]
        return LATENCIES[possible[0]] if len(possible) == 1 else None

    def _read_cpu(self, place: Place, line: Line) -> None:
        for field, (metric, unit) in zip(line.cpu, CPU.items(), strict=True):
            self._add(place, field, metric, unit=unit, rounding="nearest" if unit else "exact")

    def _read_shares(self, place: Place, line: Line) -> None:
        depths = [depth_bounds("depth", label) for label in _DEPTH_LABELS]
        self._add_shares(place, "depth", zip(depths, line.depths, strict=False), with_zeros=True)
        for labels, fields, per_second, first in (
            (_US_LABELS, line.us, 10**6, 0),  # the first bucket includes everything below it
            (_MS_LABELS, line.ms, 10**3, 1),
        ):
            latencies = [latency_bounds(label, per_second, first=first) for label in labels]
            buckets = zip(latencies, fields, strict=False)
            self._add_shares(place, "completion_latency", buckets, with_zeros=False)

    def _add_shares(
        self, place: Place, metric: str, buckets: Iterable[tuple[Bounds, Printed]], *, with_zeros: bool
    ) -> None:
        known = [
            (*bounds, amount.value, field.position)
            for bounds, field in buckets
            if (with_zeros or is_work([field]))
            and (amount := known_quantity(field.text.removesuffix("%"), "%")) is not None  # NaN without requests
        ]
        if known:
            lows, highs, shares, positions = zip(*known, strict=True)
            self.run.add_bins(place, metric, lows, highs, shares=shares, positions=positions)

    # Disks

    def _read_disks(self, disks: list[list[Printed]]) -> None:
        part = ""
        for name, *fields in disks:
            if name.text == "slaves" and part:
                # Means over the members of the previous disk, and the largest utilisation.
                self._read_disk(f"{part}/members", fields, "mean", "max", "down")
            else:
                part = name.text
                self._read_disk(part, fields, "value", "value", "exact")

    def _read_disk(self, part: str, fields: list[Printed], statistic: str, most: str, rounding: Rounding) -> None:
        *counts, queue, utilisation = fields
        metrics = (("disk_ios", ""), ("disk_merges", ""), ("disk_ticks", "ms"))
        for (metric, unit), pair in zip(metrics, split(counts, 2), strict=True):
            for operation, field in zip(("read", "write"), pair, strict=True):
                place = Place(operation, scope="disk", part=part)
                self._add(place, field, metric, statistic, unit=unit, rounding=rounding)
        place = Place("all", scope="disk", part=part)
        self._add(place, queue, "disk_queue_time", statistic, unit="ms", rounding=rounding)
        self._add(place, utilisation, "disk_utilisation", most, unit="%")


_LAT_PERCENTILES: Final = re.compile(r"\blat_percentiles(?:=(?:1|true|yes|on)\b|(?![\w=]))")
"""The option in a command line or a job file that is part of the same text."""

_DEPTH_LABELS: Final = ("1", "2", "4", "8", "16", "32", ">=64")
_US_LABELS: Final = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000")
_MS_LABELS: Final = (*_US_LABELS, "2000", ">=2000")


def _lie_between(percentiles: Iterable[tuple[float, float | None]], fields: dict[str, Printed], kind: str) -> bool:
    """Whether percentiles can be of a latency with this minimum and maximum, which were truncated to µs."""
    least, most = int(fields[f"{kind}_min"].text) / 10**6, (int(fields[f"{kind}_max"].text) + 1) / 10**6
    return all(low <= most and (high is None or high >= least) for low, high in percentiles)


@lru_cache(maxsize=2**12)
def _percentile_bounds(printed: str, clocks: tuple[int, ...]) -> tuple[float, float | None] | None:
    """Return the bounds of a percentile, allowing for all of the clocks.

    Return ``None`` if fio cannot print the value.
    """
    bounds = [Percentile(per_second // 10**6, per_second, is_cut=True)(int(printed)) for per_second in clocks]
    possible = [(low, high) for low, high in bounds if not isnan(low)]
    if not possible:
        return None
    highs = [high for _, high in possible]
    return min(low for low, _ in possible), None if None in highs else max(highs)
