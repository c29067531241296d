"""Makes records of a report, and of all reports of a run."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.formats import totals
from fsbench_kit.formats.builder import Place
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.findings import diagnostics
from fsbench_kit.formats.fio import beside, part_names_with_idle, report_time, series_so_far
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_json.contents import is_amount, object_, objects
from fsbench_kit.formats.fio_json.figures import Figures, together
from fsbench_kit.formats.fio_json.jobs import read_job
from fsbench_kit.formats.fio_json.settings import settings, threads
from fsbench_kit.formats.fio_json.summary import read_disk, read_idleness
from fsbench_kit.formats.fio_requests import over_requests
from fsbench_kit.model.records import Diagnostic, Setting

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence
    from datetime import datetime

    from fsbench_kit.formats.findings import Finding
    from fsbench_kit.formats.fio_json.contents import Report
    from fsbench_kit.formats.loose_json import Counts, Object
    from fsbench_kit.formats.text import Text
    from fsbench_kit.formats.totals import Part
    from fsbench_kit.model.records import Measurement, Record


def records(runs: Sequence[tuple[Text, Sequence[Report]]]) -> list[list[Record]]:
    """Return the records of runs, each with its text and reports, of which the last one is its result.

    These are the run, its series, and the diagnostics. Runs of the same jobs are checked together.
    """
    readers = [[Reader(text, report) for report in reports] for text, reports in runs]
    found = contradictions([of_run[-1] for of_run in readers])
    return [list(_records(of_run, wrong)) for of_run, wrong in zip(readers, found, strict=True)]


def _records(readers: Sequence[Reader], wrong: Sequence[Diagnostic]) -> Iterator[Record]:
    *interim, result = readers
    yield from result.records(readers[0].report.document.start, wrong)
    for reader in interim:
        yield reader.diagnostic("INTERIM_REPORT", "The run went on after this report.")
        yield from reader.leftovers()
    if interim:
        yield from series_so_far(
            [item for item in reader.figures.columns() if item.part is not None] for reader in readers
        )


_MANY: Final = 4
"""So many reports are checked faster as columns than one by one."""


def contradictions(readers: Sequence[Reader]) -> list[list[Diagnostic]]:
    """Return what cross-checks find in some reports; those that have figures of the same are checked together."""
    found: list[list[Diagnostic]] = [[] for _ in readers]
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for number, reader in enumerate(readers):
        alike[reader.kind].append(number)
    for numbers in alike.values():
        several = [readers[number] for number in numbers]
        if len(several) < _MANY:
            for number, reader in zip(numbers, several, strict=True):
                found[number] += diagnostics(reader.checks(reader.figures.measurements))
            continue
        for finding in several[0].checks(together([reader.figures for reader in several])):
            for row in np.flatnonzero(np.broadcast_to(finding.fails, len(several))).tolist():
                message, excerpt = finding.message_of(row), finding.excerpt_of(row)
                line = several[row].text.line(finding.at.line[row])  # type: ignore[index]
                found[numbers[row]].append(
                    Diagnostic(code=finding.code, message=message, line=line, excerpt=excerpt)
                )
    return found


class Reader:
    """What one report says.

    Attributes
    ----------
    figures
        Its figures.
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
        run = self.figures.run
        self.depths: dict[str | None, int] = {}
        self.wholes: dict[Part, list[Part]] = {}
        self.failures: list[str] = []
        self._read_jobs()
        start = report.document.start
        line, byte = text.line(start), text.byte(start)
        run.settings += (
            Setting(key=key, value=value, scope="all" if name is None else "job", part=name, line=line, start=byte)
            for key, value, name in dict.fromkeys(settings(report))
        )
        for disk in objects(report.content.get("disk_util")):
            read_disk(self.figures, disk)
        read_idleness(self.figures, object_(report.content.get("cpu_idleness")))
        self.over_requests = over_requests(self.figures) if self.figures.may_be_of_requests else []

    @property
    def kind(self) -> Hashable:
        """What the cross-checks depend on, but for the figures themselves."""
        wholes = tuple((whole, tuple(parts)) for whole, parts in self.wholes.items())
        return self.figures.kind, tuple(self.depths.items()), wholes, self.report.document.is_whole

    def checks(self, measurements: Sequence[Measurement]) -> Iterator[Finding]:
        """Hold figures of this report, or columns of such of several reports, against each other."""
        yield from cross_checks(measurements, self.depths)
        yield from totals.checks(measurements, self.wholes, has_all_parts=self.report.document.is_whole)

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

    def records(self, start: int, wrong: Sequence[Diagnostic]) -> Iterator[Record]:
        """Yield the run, which has been told of since a position, and the diagnostics with what checks found."""
        document, builder = self.report.document, self.figures.run
        columns = self.figures.columns()
        if columns or self.failures:
            run = builder.build(
                TOOL.name,
                start,
                document.end,
                tool_version=self.report.version,
                ended_at=self._ended_at(),
                identity=self._identity(),
                duration=max(self.figures.values("runtime"), default=None),
                status="failed" if self.failures else "ok" if document.is_whole else "partial",
            )
            yield replace(run, measurements=columns, bins=self.figures.bins)
            yield from builder.series
        else:
            yield self.diagnostic("INCOMPLETE_LOG", "The document holds no figures.")
        for failure in self.failures:
            yield self.diagnostic("RUN_FAILED", failure)
        yield from self._gaps()
        for stretch in document.strange:
            yield from beside(self.text, *stretch)
        for number in document.repeated:
            message = f"A figure is printed twice, the second time as {document.number(number)}."
            yield self.diagnostic("DUPLICATE_FIGURE", message, document.starts[number])
        yield from self.figures.contradictions
        yield from self.over_requests
        yield from wrong
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
        unread = [*self._unread_numbers(), *map(_unread_counts, document.bins)]
        lost: dict[str, tuple[int, str]] = {}
        broken: dict[str, tuple[int, str]] = {}
        for figures in sorted(each for each in unread if each):  # by where they stand
            for position, key, text in figures:
                if not is_amount(text):
                    broken.setdefault(key, (position, text))
                elif key not in _NO_FIGURES:
                    lost.setdefault(key, (position, text))
        for numbers, words in (
            (lost, "There is no place for the figures"),
            (broken, "These values are not numbers:"),
        ):
            if numbers:
                (first, _), *_ = numbers.values()
                excerpt = ", ".join(f"{key}: {text}" for key, (_, text) in islice(numbers.items(), _EXCERPT))
                message = f"{words} {', '.join(numbers)}."
                yield self.figures.diagnostic("UNREAD_FIGURE", message, first, excerpt[:_EXCERPT])

    def _unread_numbers(self) -> Iterator[list[_Unread]]:
        document = self.report.document
        for number in np.flatnonzero(np.frombuffer(document.is_read, bool) == 0).tolist():
            text, position = document.number(number), document.starts[number]
            if text.strip("-0."):
                yield [(position, self._key_of(position), text)]

    def _key_of(self, position: int) -> str:
        """Return the key under which a number stands; in a list, that of the list."""
        chars = self.report.document.chars
        end = chars.rfind('"', 0, position)
        if chars[end + 1 : position].strip() == ":":
            return chars[chars.rfind('"', 0, end) + 1 : end]
        match = _KEY_BEFORE.search(chars, max(self.report.document.start, position - 200), position)
        return match[1] if match is not None else "?"


_Unread = tuple[int, str, str]
"""Position, key and text of a number that is not 0 and was not read."""


def _unread_counts(counts: Counts) -> list[_Unread]:
    lost = np.flatnonzero(~counts.is_read & (counts.counts > 0))
    starts, names, numbers = (column[lost].tolist() for column in (counts.starts, counts.names, counts.counts))
    return list(zip(starts, map(str, names), map(str, numbers), strict=True))


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
