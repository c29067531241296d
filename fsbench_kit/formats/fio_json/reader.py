"""Makes records of a document, and of the reports of a run."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats import totals
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.fio import beside, part_names_with_idle, report_time, statistic_so_far
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_json.contents import amount_of, has_worked, object_, objects, text_of
from fsbench_kit.formats.fio_json.jobs import JobReader
from fsbench_kit.formats.fio_requests import over_requests
from fsbench_kit.model.records import Block, Diagnostic, Run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from fsbench_kit.formats.loose_json import Decoded, Number, Object
    from fsbench_kit.formats.text import Text
    from fsbench_kit.model.records import Measurement, Record
    from fsbench_kit.model.units import Rounding


def series(text: Text, documents: list[Decoded]) -> Iterator[Record]:
    """Yield what had been done by when, as the reports of a run have it."""
    if len(documents) == 1:
        return
    points: dict[tuple[str | None, str, str, str], dict[float, Measurement]] = {}
    for document in documents:
        reader = Reader(text, document)
        if document is not documents[-1]:
            yield reader.diagnostic("INTERIM_REPORT", "The run went on after this report.", document.start)
        reader.read()
        if document is not documents[-1]:
            yield from reader.leftovers()
        times = {(m.part, m.operation): m.value for m in reader.measurements if m.metric == "runtime"}
        for item in reader.measurements:
            time = times.get((item.part, item.operation))
            statistic = statistic_so_far(item)
            if statistic is not None and item.part is not None and time:
                points.setdefault((item.part, item.operation, item.metric, statistic), {})[time] = item
    for (part, operation, metric, statistic), at in points.items():
        yield Block(
            operation=operation,
            metric=metric,
            statistic=statistic,
            part=part,
            times=list(at),
            values=[item.value for item in at.values() if item.value is not None],
            lines=[item.line for item in at.values()],
        )


class Reader(JobReader):
    """Reads one document."""

    def records(self) -> Iterator[Record]:
        """Yield the run and the diagnostics."""
        self.read()
        if self.measurements or self.failures:
            yield self._run()
            yield from self.blocks
        else:
            yield self.diagnostic("INCOMPLETE_LOG", "The document holds no figures.", self.document.start)
        for failure in self.failures:
            yield self.diagnostic("RUN_FAILED", failure, self.document.start)
        if not self.document.is_whole:
            yield self.diagnostic(
                "INCOMPLETE_LOG", "The document breaks off; what stands before is read.", self.document.end
            )
        if self.version is None:
            yield self.diagnostic(
                "INCOMPLETE_LOG", "The document does not name fio's version.", self.document.start
            )
        for start, end in self.document.strange:
            yield from beside(self.text, start, end)
        for number in self.document.repeated:
            message = f"A figure is printed twice, the second time as {number.text}."
            yield self.diagnostic("DUPLICATE_FIGURE", message, number.position)
        yield from self.contradictions
        yield from self.over_requests
        yield from cross_checks(self.measurements, self.depths)
        yield from totals.checks(self.measurements, self.wholes, has_all_parts=self.document.is_whole)
        yield from self.leftovers()

    def read(self) -> None:
        """Read the figures and settings of the document."""
        names = [self._name(job) for job in self.jobs]
        parts = part_names_with_idle(zip(names, map(has_worked, self.jobs), strict=True))
        for job, name, part in zip(self.jobs, names, parts, strict=True):
            self._read_job(job, part, self._threads(job, names.count(name)))
        self._read_settings()
        for disk in objects(self.content.get("disk_util")):
            self._read_disk(disk)
        self._read_idleness(object_(self.content.get("cpu_idleness")))
        self.measurements, self.over_requests = over_requests(self.measurements)

    def _name(self, job: Object) -> str:
        name = text_of(job.get("jobname"))
        return f"{text_of(job.get('hostname'))}/{name}" if self.is_client else name

    def _run(self) -> Run:
        runtimes = [
            item.value for item in self.measurements if item.metric == "runtime" and item.value is not None
        ]
        return Run(
            tool=TOOL.name,
            tool_version=self.version,
            start=self.text.byte(self.start),
            end=self.text.byte(self.document.end),
            line=self.text.line(self.start),
            ended_at=self._ended_at(),
            identity=tuple(
                (key, text) for key in ("timestamp", "timestamp_ms") if (text := text_of(self.content.get(key)))
            ),
            duration=max(runtimes, default=None),
            status="failed" if self.failures else "ok" if self.document.is_whole else "partial",
            settings=tuple(self.settings),
            measurements=tuple(self.measurements),
            bins=tuple(self.bins),
        )

    def _ended_at(self) -> datetime | None:
        try:
            return report_time(text_of(self.content.get("time")))
        except ValueError:
            return None

    def leftovers(self) -> Iterator[Diagnostic]:
        """Name the numbers that were not read, but for zeros and what is no figure."""
        lost: dict[str, Number] = {}
        broken: dict[str, Number] = {}
        for number in self.document.numbers:
            if number.is_read or not number.text.strip("-0."):
                continue
            before = self.text.chars[max(self.document.start, number.position - 200) : number.position]
            match = _KEY_BEFORE.search(before)
            key = match[1] if match is not None else "?"
            if amount_of(number) is None:
                broken.setdefault(key, number)
            elif key not in _NO_FIGURES:
                lost.setdefault(key, number)
        for numbers, words in (
            (lost, "There is no place for the figures"),
            (broken, "These values are not numbers:"),
        ):
            if numbers:
                first = next(iter(numbers.values())).position
                excerpt = ", ".join(f"{key}: {number.text}" for key, number in numbers.items())
                yield self.diagnostic("UNREAD_FIGURE", f"{words} {', '.join(numbers)}.", first, excerpt[:_EXCERPT])

    def _read_idleness(self, block: Object) -> None:
        """Keep which share of the processors' time was left, by ``--idle-prof``."""
        for key in block:
            place = {"operation": "all", "part": None if key == "system" else key}
            if key == "system" or key.startswith("cpu-"):
                self._figure(place, block, key, "cpu_idle", unit="%")
        place = {"operation": "all"}
        self._figure(place, block, "unit_mean", "idle_unit_time", "mean", unit="us")
        self._figure(place, block, "unit_stddev", "idle_unit_time", "stdev", unit="us")

    def _read_disk(self, disk: Object) -> None:
        name = text_of(disk.get("name"))
        for prefix, part, statistic, most in (
            ("", name, "value", "value"),
            ("aggr_", f"{name}/members", "mean", "max"),
        ):
            rounding: Rounding = "down" if prefix else "exact"
            for operation in ("read", "write"):
                place = {"scope": "disk", "part": part, "operation": operation}
                each = partial(self._figure, place, disk, statistic=statistic, rounding=rounding)
                each(f"{prefix}{operation}_ios", "disk_ios")
                each(f"{prefix}{operation}_sectors", "disk_sectors")
                each(f"{prefix}{operation}_merges", "disk_merges")
                each(f"{prefix}{operation}_merge", "disk_merges")  # fio's own slip, in aggr_write_merge
                each(f"{prefix}{operation}_ticks", "disk_ticks", unit="ms")
            whole = partial(self._figure, {"scope": "disk", "part": part, "operation": "all"}, disk)
            whole(f"{prefix}in_queue", "disk_queue_time", statistic, unit="ms", rounding=rounding)
            whole(f"{prefix}util", "disk_utilisation", most, unit="%")


_EXCERPT: Final = 120
_KEY_BEFORE: Final = re.compile(r'"([^"\n]*)"\s*:\s*(?:\[[^"\]]*)?\Z')
_NO_FIGURES: Final = {
    "FIO_IO_U_PLAT_BITS",
    "FIO_IO_U_PLAT_NR",
    "FIO_IO_U_PLAT_VAL",
    "N",
    "bw_samples",
    "elapsed",
    "error",
    "eta",
    "first_error",
    "groupid",
    "iops_samples",
    "job_runtime",
    "job_start",
    "latency_depth",
    "latency_percentile",
    "latency_target",
    "latency_target_ns",
    "latency_window",
    "latency_window_us",
    "port",
    "timestamp",
    "timestamp_ms",
}
"""Keys of numbers that are settings, names and times, or are read as part of another figure."""
