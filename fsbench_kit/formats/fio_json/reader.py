"""Turns a report, or all reports of a run, into records."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain, count, islice
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.formats import totals
from fsbench_kit.formats.builder import Place
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.findings import diagnostics
from fsbench_kit.formats.fio import beside, part_names, part_names_with_idle, report_time, series_so_far
from fsbench_kit.formats.fio_columns import Known, Log, Numbers, Sheet
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_json.contents import is_amount, object_, objects
from fsbench_kit.formats.fio_json.figures import Figures
from fsbench_kit.formats.fio_json.jobs import read_job
from fsbench_kit.formats.fio_json.settings import settings, threads
from fsbench_kit.formats.fio_json.summary import read_disk, read_idleness
from fsbench_kit.formats.fio_requests import over_requests
from fsbench_kit.model.records import Measurements, Setting

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from fsbench_kit.formats.findings import Finding
    from fsbench_kit.formats.fio_json.contents import Report
    from fsbench_kit.formats.loose_json import Counts, Document, Object
    from fsbench_kit.formats.text import Text
    from fsbench_kit.formats.totals import Part
    from fsbench_kit.model.records import Diagnostic, Measurement, Record, Status


def records(runs: Sequence[tuple[Text, Sequence[Report]]]) -> list[list[Record]]:
    """Return the records of runs, given the text and reports of each; the last report is the run's result.

    The records are the run, its series, and the diagnostics.
    """
    readers = [[JsonReader(text, report) for report in reports] for text, reports in runs]
    every = [reader for of_run in readers for reader in of_run]
    words = [reader.numbers for reader in every]
    firsts = accumulate(map(len, words), initial=0)
    logs = [reader.log(first) for reader, first in zip(every, firsts, strict=False)]
    sheet = Sheet(logs, Numbers.of([*chain.from_iterable(words)]), Known.new())
    numbers = count()
    return [list(_records([_Read(reader, sheet, next(numbers)) for reader in of_run])) for of_run in readers]


def _records(reads: Sequence[_Read]) -> Iterator[Record]:
    *interim, result = reads
    yield from result.records(reads[0].reader.report.document.start)
    for each in interim:
        yield each.reader.diagnostic("INTERIM_REPORT", "The run went on after this report.")
        yield from each.leftovers()
    if interim:
        yield from series_so_far([item for item in each.columns() if item.part is not None] for each in reads)


class JsonReader:
    """The structure of one report.

    Attributes
    ----------
    figures
        Its figures.
    depths
        The maximum number of requests in flight for each part.
    wholes
        The parts of each group and of the sum of all clients.
    failures
        The failures that it reports.
    numbers_of_settings
        The numbers of the document that determine its settings.
    """

    def __init__(self, text: Text, report: Report) -> None:
        self.text, self.report = text, report
        self.figures = Figures(text, report)
        run = self.figures.run
        self.depths: dict[str | None, int] = {}
        self.wholes: dict[Part, list[Part]] = {}
        self.failures: list[str] = []
        self._read_jobs()
        consulted, report.consulted = report.consulted, set()
        run.settings += self.settings(report)
        self.numbers_of_settings, report.consulted = report.consulted, consulted
        disks = objects(report.content.get("disk_util"))
        names = [self._of_host(disk, "name") for disk in disks]
        for disk, name in zip(disks, part_names(names) if report.is_client else names, strict=True):
            read_disk(self.figures, disk, name)
        read_idleness(self.figures, object_(report.content.get("cpu_idleness")))

    def settings(self, report: Report) -> list[Setting]:
        """Return the settings of this report, or of one with the same layout."""
        start = report.document.start
        line, byte = self.text.line(start), self.text.byte(start)
        return [
            Setting(key=key, value=value, scope="all" if name is None else "job", part=name, line=line, start=byte)
            for key, value, name in dict.fromkeys(settings(report))
        ]

    @property
    def numbers(self) -> list[str]:
        """The numbers of the report."""
        document = self.report.document
        return list(map(document.number, range(len(document.starts))))

    def log(self, first: int) -> Log:
        """Return the report, given the index of its first number."""
        document, figures = self.report.document, self.figures
        return Log(
            figures,
            figures.shape,
            first,
            self.text.lines(np.array(document.starts, np.intp)),
            figures.bins,
            [self.text.lines(bins.starts) for bins in figures.bins],
        )

    @cached_property
    def kind(self) -> Hashable:
        """What the cross-checks depend on, apart from the figures themselves."""
        wholes = tuple((whole, tuple(parts)) for whole, parts in self.wholes.items())
        rows = tuple((row.place, row.printed.what) for row in self.figures.rows)
        return rows, tuple(self.depths.items()), wholes, self.report.document.is_whole

    def checks(self, measurements: Sequence[Measurement]) -> Iterator[Finding]:
        """Check figures of this report, or columns of figures of several reports, against each other."""
        yield from cross_checks(measurements, self.depths)
        yield from totals.checks(measurements, self.wholes, has_all_parts=self.report.document.is_whole)

    def _read_jobs(self) -> None:
        report = self.report
        names = [self._name(job) for job in report.jobs]
        times = Counter(names)
        parts = part_names_with_idle(zip(names, map(report.has_worked, report.jobs), strict=True))
        for job, name, part in zip(report.jobs, names, parts, strict=True):
            options = report.options(job)
            place = self._place(job, part, threads(report, options, times[name]))
            if not report.is_sum(job):
                self._add_to_wholes(job, (place.scope, place.part))
            if options.get("iodepth", "").isdecimal():
                self.depths[place.part] = int(options["iodepth"])
            read_job(self.figures, job, place, options)
            self._note_failure(job)

    def _name(self, job: Object) -> str:
        return self._of_host(job, "jobname")

    def _of_host(self, item: Object, key: str) -> str:
        """Return the name of a job or disk, prefixed by its host in client mode."""
        name = self.report.text(item.get(key))
        return f"{self.report.text(item.get('hostname'))}/{name}" if self.report.is_client else name

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
        """Return a diagnostic about the document, by default at its start."""
        start = self.report.document.start
        return self.figures.diagnostic(code, message, self.text.line(start if position is None else position))

    def facts(self) -> tuple[str | None, Status]:
        """Return fio's version, and how the run ended."""
        is_whole = self.report.document.is_whole
        return self.report.version, "failed" if self.failures else "ok" if is_whole else "partial"

    def remarks(self) -> Iterator[Diagnostic]:
        """Yield the diagnostics that do not depend on the figures."""
        document = self.report.document
        for failure in self.failures:
            yield self.diagnostic("RUN_FAILED", failure)
        if not document.is_whole:
            message = "The document breaks off; the part before that was read."
            yield self.diagnostic("INCOMPLETE_LOG", message, document.end)
        if self.report.version is None:
            yield self.diagnostic("INCOMPLETE_LOG", "The document does not name fio's version.")
        for stretch in document.strange:
            yield from beside(self.text, *stretch)
        for number in document.repeated:
            message = f"A figure is printed twice, the second time as {document.number(number)}."
            yield self.diagnostic("DUPLICATE_FIGURE", message, document.starts[number])


def ended_at(time: str) -> datetime | None:
    """Return the time at which a report was printed, if it is valid."""
    try:
        return report_time(time)
    except ValueError:
        return None


IDENTITY: Final = ("timestamp", "timestamp_ms")


class _Read:
    """The contents of one report that is read by itself, with figures as rows that can be changed."""

    def __init__(self, reader: JsonReader, sheet: Sheet, number: int) -> None:
        self.reader, self._sheet, self._number = reader, sheet, number
        rows = sheet.figures_of(number)
        self._rows = list(zip(rows, sheet.agreeing(number), strict=True))
        may_be = any(_are_as_many(reader.report, *pair) for pair in reader.figures.sampled)
        self.over_requests = over_requests(self) if may_be else []

    def columns(self) -> Measurements:
        """Return the figures."""
        return Measurements(zip(*(row for row, _ in self._rows), strict=True))

    @cached_property
    def measurements(self) -> list[Measurement]:
        """The figures for cross-checks. Percentiles that agree are omitted: they are not related to others."""
        return [row.measurement() for row, is_agreeing in self._rows if not is_agreeing]

    def amend(self, numbers: Iterable[int], *, metric: str, factor: float) -> None:
        """Change the metric of some of the `measurements`, and multiply their values by a factor."""
        checked = self._checked()
        for number in numbers:
            row, _ = self._rows[checked[number]]
            value, low, high = (end if end is None else end * factor for end in row[2:5])
            known = replace(row.what, metric=metric)
            self._rows[checked[number]] = row._replace(what=known, value=value, low=low, high=high), False
        self.__dict__.pop("measurements", None)

    def drop(self, numbers: Iterable[int]) -> None:
        """Remove some of the `measurements`; later ones are renumbered."""
        checked = self._checked()
        dropped = {checked[number] for number in numbers}
        self._rows = [row for number, row in enumerate(self._rows) if number not in dropped]
        self.__dict__.pop("measurements", None)

    def _checked(self) -> list[int]:
        return [number for number, (_, is_agreeing) in enumerate(self._rows) if not is_agreeing]

    def records(self, start: int) -> Iterator[Record]:
        """Yield the run, which begins at a position, and the diagnostics."""
        reader, builder = self.reader, self.reader.figures.run
        report = reader.report
        columns = self.columns()
        version, status = reader.facts()
        runtimes = [row.value for row, _ in self._rows if row.what.metric == "runtime" and row.value is not None]
        if columns or reader.failures:
            run = builder.build(
                TOOL.name,
                start,
                report.document.end,
                ended_at=ended_at(report.text(report.content.get("time"))),
                identity=tuple((key, text) for key in IDENTITY if (text := report.text(report.content.get(key)))),
                duration=max(runtimes, default=None),
                tool_version=version,
                status=status,
            )
            yield replace(run, measurements=columns, bins=self._sheet.bins_of(self._number))
            yield from builder.series
        else:
            yield reader.diagnostic("INCOMPLETE_LOG", "The document contains no figures.")
        yield from reader.remarks()
        for item in self._sheet.wrong:
            if item.log == self._number:
                yield reader.figures.diagnostic(item.code, item.message, item.line, item.excerpt)
        yield from self.over_requests
        yield from diagnostics(reader.checks(self.measurements))
        yield from self.leftovers()

    def leftovers(self) -> Iterator[Diagnostic]:
        """Report the numbers that were not read, except for zeros and keys that are not figures."""
        figures = self.reader.figures
        unread = [*self._unread_numbers(), *(unread_counts(bins) for bins in figures.bins if bins.numbers is None)]
        for message, position, excerpt in leftovers(sorted(each for each in unread if each)):
            line = self.reader.text.line(position)
            yield figures.diagnostic("UNREAD_FIGURE", message, line, excerpt)

    def _unread_numbers(self) -> Iterator[list[Unread]]:
        document = self.reader.report.document
        is_read = np.frombuffer(document.is_read, bool).copy()
        is_read[self._sheet.read_numbers(self._number)] = True
        for number in np.flatnonzero(~is_read).tolist():
            text, position = document.number(number), document.starts[number]
            if text.strip("-0."):
                yield [(position, key_of(document, position), text)]


def _are_as_many(report: Report, samples: int, requests: int | None) -> bool:
    """Whether statistics are over as many samples as there were requests."""
    number = report.count(samples)
    return bool(number) and report.count(requests) in {number, None}


def leftovers(unread: Iterable[Sequence[Unread]]) -> Iterator[tuple[str, int, str]]:
    """Yield messages about numbers that were not read, the position of the first, and an excerpt."""
    lost: dict[str, tuple[int, str]] = {}
    broken: dict[str, tuple[int, str]] = {}
    for position, key, text in chain.from_iterable(unread):
        if not is_amount(text):
            broken.setdefault(key, (position, text))
        elif key not in NO_FIGURES:
            lost.setdefault(key, (position, text))
    for numbers, words in (
        (lost, "These figures were not understood:"),
        (broken, "These values are not numbers:"),
    ):
        if numbers:
            (first, _), *_ = numbers.values()
            excerpt = ", ".join(f"{key}: {text}" for key, (_, text) in islice(numbers.items(), _EXCERPT))
            yield f"{words} {', '.join(numbers)}.", first, excerpt[:_EXCERPT]


def key_of(document: Document, position: int) -> str:
    """Return the key of a number; in a list, that of the list."""
    chars = document.chars
    end = chars.rfind('"', 0, position)
    if chars[end + 1 : position].strip() == ":":
        return chars[chars.rfind('"', 0, end) + 1 : end]
    match = _KEY_BEFORE.search(chars, max(document.start, position - 200), position)
    return match[1] if match is not None else "?"


Unread = tuple[int, str, str]
"""Position, key and text of a nonzero number that was not read."""


def unread_counts(counts: Counts, places: NDArray[np.int64] | None = None) -> list[Unread]:
    """Return the counts that were not read, with their positions in the text, or with the given places."""
    if counts.is_read.all():
        return []
    lost = np.flatnonzero(~counts.is_read & (counts.counts > 0))
    starts, names, numbers = (
        column[lost].tolist()
        for column in (counts.starts if places is None else places, counts.names, counts.counts)
    )
    return list(zip(starts, map(str, names), map(str, numbers), strict=True))


_EXCERPT: Final = 120
_KEY_BEFORE: Final = re.compile(r'"([^"\n]*)"\s*:\s*(?:\[[^"\]]*)?\Z')
NO_FIGURES: Final = {
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
