"""Makes records of a report, and of all reports of a run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.formats import totals
from fsbench_kit.formats.builder import Place
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.findings import diagnostics
from fsbench_kit.formats.fio import beside, part_names_with_idle, report_time, series_so_far
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_json.contents import is_amount, object_, objects
from fsbench_kit.formats.fio_json.figures import Figures
from fsbench_kit.formats.fio_json.jobs import read_job
from fsbench_kit.formats.fio_json.settings import settings, threads
from fsbench_kit.formats.fio_json.summary import read_disk, read_idleness
from fsbench_kit.formats.fio_requests import over_requests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from fsbench_kit.formats.fio_json.contents import Report
    from fsbench_kit.formats.loose_json import Object
    from fsbench_kit.formats.text import Text
    from fsbench_kit.formats.totals import Part
    from fsbench_kit.model.records import Diagnostic, Record


def records(text: Text, reports: Sequence[Report]) -> Iterator[Record]:
    """Yield the run of some reports, of which the last one is its result, its series, and the diagnostics."""
    *interim, result = (Reader(text, report) for report in reports)
    yield from result.records(reports[0].document.start)
    for reader in interim:
        yield reader.diagnostic("INTERIM_REPORT", "The run went on after this report.")
        yield from reader.leftovers()
    if interim:
        yield from series_so_far(
            [item for item in reader.run.measurements if item.part is not None] for reader in (*interim, result)
        )


class Reader:
    """What one report says.

    Attributes
    ----------
    run
        Its figures and settings.
    depths
        How many requests each part may have in flight.
    wholes
        Of which parts each group, and the sum of all clients, is made.
    failures
        What it says went wrong.
    """

    def __init__(self, text: Text, report: Report) -> None:
        self.text, self.report = text, report
        self.figures = Figures(text, report)
        self.run = self.figures.run
        self.depths: dict[str | None, int] = {}
        self.wholes: dict[Part, list[Part]] = {}
        self.failures: list[str] = []
        self._read_jobs()
        for key, value, name in settings(report):
            self.run.set(key, value, report.document.start, scope="job" if name is not None else "all", part=name)
        for disk in objects(report.content.get("disk_util")):
            read_disk(self.figures, disk)
        read_idleness(self.figures, object_(report.content.get("cpu_idleness")))
        self.over_requests = over_requests(self.run)

    def _read_jobs(self) -> None:
        report = self.report
        names = [self._name(job) for job in report.jobs]
        parts = part_names_with_idle(zip(names, map(report.has_worked, report.jobs), strict=True))
        for job, name, part in zip(report.jobs, names, parts, strict=True):
            options = report.options(job)
            place = self._place(job, part, threads(report, options, names.count(name)))
            if not report.is_sum(job):
                self._add_to_wholes(job, (place.scope, place.part))
            if options.get("iodepth", "").isdecimal():
                self.depths[place.part] = int(options["iodepth"])
            read_job(self.figures, job, place, options)
            self._note_failure(job)

    def _name(self, job: Object) -> str:
        name = self.report.text(job.get("jobname"))
        return f"{self.report.text(job.get('hostname'))}/{name}" if self.report.is_client else name

    def _place(self, job: Object, part: str, processes: int | None) -> Place:
        if not self.report.is_client:
            return Place("all", scope="job", part=part, threads=processes)
        if self.report.is_sum(job):
            return Place("all", threads=processes)
        return Place("all", scope="client", part=part, threads=processes)

    def _add_to_wholes(self, job: Object, part: Part) -> None:
        host, group = self.report.text(job.get("hostname")), self.report.text(job.get("groupid"))
        for whole in (("group", f"{host}/{group}"), ("all", None)):
            self.wholes.setdefault(whole, []).append(part)

    def _note_failure(self, job: Object) -> None:
        text = self.report.text
        name, error, failed = text(job.get("jobname")), text(job.get("error")), text(job.get("total_err"))
        if error.strip("0"):
            self.failures.append(f"The job {name} ended with error {error}.")
        if failed.strip("0"):
            self.failures.append(f"{failed} requests of the job {name} failed.")

    def diagnostic(self, code: str, message: str, position: int | None = None) -> Diagnostic:
        """Say something about the document, at its start unless told otherwise."""
        start = self.report.document.start
        return self.figures.diagnostic(code, message, start if position is None else position)

    def records(self, start: int) -> Iterator[Record]:
        """Yield the run, which has been told of since a position, and the diagnostics."""
        document, measurements = self.report.document, self.run.measurements
        if measurements or self.failures:
            runtimes = [item.value for item in measurements if item.metric == "runtime" and item.value is not None]
            yield from self.run.records(
                TOOL.name,
                start,
                document.end,
                tool_version=self.report.version,
                ended_at=self._ended_at(),
                identity=self._identity(),
                duration=max(runtimes, default=None),
                status="failed" if self.failures else "ok" if document.is_whole else "partial",
            )
        else:
            yield self.diagnostic("INCOMPLETE_LOG", "The document holds no figures.")
        for failure in self.failures:
            yield self.diagnostic("RUN_FAILED", failure)
        yield from self._gaps()
        for stretch in document.strange:
            yield from beside(self.text, *stretch)
        for number in document.repeated:
            message = f"A figure is printed twice, the second time as {document.texts[number]}."
            yield self.diagnostic("DUPLICATE_FIGURE", message, document.positions[number])
        yield from self.figures.contradictions
        yield from self.over_requests
        yield from diagnostics(cross_checks(measurements, self.depths))
        wholes = totals.checks(measurements, self.wholes, has_all_parts=document.is_whole)
        yield from diagnostics(wholes)
        yield from self.leftovers()

    def _ended_at(self) -> datetime | None:
        try:
            return report_time(self.report.text(self.report.content.get("time")))
        except ValueError:
            return None

    def _identity(self) -> tuple[tuple[str, str], ...]:
        known = ((key, self.report.text(self.report.content.get(key))) for key in ("timestamp", "timestamp_ms"))
        return tuple((key, text) for key, text in known if text)

    def _gaps(self) -> Iterator[Diagnostic]:
        if not self.report.document.is_whole:
            message = "The document breaks off; what stands before is read."
            yield self.diagnostic("INCOMPLETE_LOG", message, self.report.document.end)
        if self.report.version is None:
            yield self.diagnostic("INCOMPLETE_LOG", "The document does not name fio's version.")

    def leftovers(self) -> Iterator[Diagnostic]:
        """Name the numbers that were not read, but for zeros and what is no figure."""
        document = self.report.document
        lost: dict[str, int] = {}
        broken: dict[str, int] = {}
        for number in np.flatnonzero(np.frombuffer(document.is_read, bool) == 0).tolist():
            if not document.texts[number].strip("-0."):
                continue
            position = document.positions[number]
            before = self.text.chars[max(document.start, position - 200) : position]
            match = _KEY_BEFORE.search(before)
            key = match[1] if match is not None else "?"
            if not is_amount(document.texts[number]):
                broken.setdefault(key, number)
            elif key not in _NO_FIGURES:
                lost.setdefault(key, number)
        for numbers, words in (
            (lost, "There is no place for the figures"),
            (broken, "These values are not numbers:"),
        ):
            if numbers:
                first = document.positions[next(iter(numbers.values()))]
                excerpt = ", ".join(f"{key}: {document.texts[number]}" for key, number in numbers.items())
                message = f"{words} {', '.join(numbers)}."
                yield self.figures.diagnostic("UNREAD_FIGURE", message, first, excerpt[:_EXCERPT])


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
