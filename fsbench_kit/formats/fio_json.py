"""fio's report for programs: ``--output-format=json`` and ``json+``, of fio 2.x and 3.x.

A document is an object with ``"jobs"`` (or, in client mode, ``"client_stats"``). A file can hold several, with
text before, between and after them, and each can stand inside of somebody else's object; jobs without a document
around them, with commas between them, are those of one run. Figures have the same names as those of
`fsbench_kit.formats.fio_normal`, so that the two can be held against each other, and there are fewer roundings:

- Counts, bytes, milliseconds and the minimum and maximum of latencies are exact. ``iops``, means and deviations
  are rounded to their last digit.
- Other rates are whole numbers that were cut: ``bw_bytes`` to B/s; ``bw``, which is a second printing of it,
  ``bw_min`` and ``bw_max`` to KiB/s.
- Percentiles and ``bins`` (of ``json+``) are the middles of bins, which fio 3.0 and before names by their index;
  see `fsbench_kit.formats.fio`. The bins make the percentiles once more, or the first time where none are printed.
- fio 2.x has latencies in µs (``clat`` for ``clat_ns``), bandwidth as ``bw`` only, and ``io_bytes`` in KiB. In
  2.1 ``bw_agg`` is no share of the group, but ``bw_mean`` once more.

Blocks of a direction in which nothing was done are filled with zeros, and are left out here. So are statistics
over no samples. Numbers for which there is no place are named in one diagnostic for each run.

Each document is a run. But documents of the same jobs whose counts grow from one to the next by as much as time
passed between them are reports of one run (``--status-interval``): the last one is its result, and the others are
its series.

A document that breaks off, or has lines missing, is read up to there: a number counts when the comma or bracket
after it has been seen. Lines of fio, the kernel or a shell inside of a document are passed over.

A job's ``threads`` are its option ``numjobs`` where it appears once, since its figures are then those of all its
processes, and 1 where it appears several times. (Sections of a job file that are reported as one group cannot be
told from a single one.)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.formats import totals
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.commands import job_option
from fsbench_kit.formats.fio import (
    DEPTHS,
    LATENCIES,
    TOOL,
    beside,
    bin_value,
    depth_bounds,
    has_bin,
    latency_bounds,
    part_names_with_idle,
    percentile_bounds,
    report_time,
)
from fsbench_kit.formats.fio_requests import over_requests
from fsbench_kit.formats.loose_json import Decoded, Number, Object, decode
from fsbench_kit.records import Bin, Block, Diagnostic, Measurement, Run, Setting
from fsbench_kit.units import quantity, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from fsbench_kit.formats.text import Text
    from fsbench_kit.formats.totals import Place
    from fsbench_kit.records import Record
    from fsbench_kit.units import Rounding

__all__ = ["TOOL", "marks", "parse"]

_MARKS: Final = re.compile(r'"fio version"\s*:|"client_stats"\s*:\s*\[|"jobname"\s*:')
_TOP_BRACE: Final = re.compile(r"^[\[{]", re.MULTILINE)

Bounds = tuple[float | None, float | None]


def marks(chars: str) -> Iterator[int]:
    """Yield where in a text something stands that only a log of this format has."""
    braces = [match.start() for match in _TOP_BRACE.finditer(chars)]
    for match in _MARKS.finditer(chars):
        # A document starts with the brace around the mark, which need not be the next one before it.
        index = bisect_right(braces, match.start()) - 1
        yield braces[index] if index >= 0 else match.start()


def parse(text: Text) -> Iterator[Record]:
    """Yield the run of each document in a text, and diagnostics for figures that have no place in one."""
    end = 0
    for documents in _runs(_documents(text)):
        for document in documents:
            yield from _beside(text, end, document.start)
            end = document.end
        yield from _Reader(text, documents[-1], documents[0].start).records()
        yield from _series(text, documents)
    yield from _beside(text, end, len(text.chars))


_WRAPPING: Final = re.compile(
    r"""(?:"(?!(?:fio version|jobs|jobname|io_\w+|bw\w*|iops\w*|runtime|total_ios|min|max|mean|percentile|ctx)")"""
    r"""[^"\n]{0,200}"|[\s{}\[\]:,]|-?\d[\d.eE+-]*+|true|false|null)*+"""
)
"""Keys and values of an object that holds a document, none of which is fio's."""


def _beside(text: Text, start: int, end: int) -> Iterator[Diagnostic]:
    """Yield what is to be said about the text around documents, which can be an object that holds them."""
    is_wrapping = re.search("[{}]", text.chars[start:end]) and _WRAPPING.fullmatch(text.chars, start, end)
    for diagnostic in beside(text, start, end):
        yield replace(diagnostic, code="OTHER_TEXT") if is_wrapping else diagnostic


def _documents(text: Text) -> Iterator[Decoded]:
    """Yield each of fio's documents in a text, also where it stands inside of somebody else's."""
    position = 0
    mark = _MARKS.search(text.chars)
    while mark is not None:
        start = text.chars.find("{", position)
        if start < 0:
            return
        found = decode(text.chars, start)
        if _is_job(found.content):
            found = _bare_jobs(text.chars, found)
        if _is_report(found.content):
            yield found
            position = found.end
        else:
            position = found.end if found.end <= mark.start() else start + 1
        if mark.start() < position:
            mark = _MARKS.search(text.chars, position)


def _is_job(content: Object) -> bool:
    return "jobname" in content and any(isinstance(content.get(name), dict) for name in _DIRECTIONS)


_BETWEEN_JOBS: Final = re.compile(r"\s*,\s*(?=\{)")


def _bare_jobs(chars: str, first: Decoded) -> Decoded:
    """Collect jobs that follow each other without the document around them."""
    jobs = [first]
    while jobs[-1].is_whole and (comma := _BETWEEN_JOBS.match(chars, jobs[-1].end)):
        job = decode(chars, comma.end())
        if not _is_job(job.content):
            break
        jobs.append(job)
    return Decoded(
        first.start,
        jobs[-1].end,
        {"jobs": [job.content for job in jobs]},
        numbers=[number for job in jobs for number in job.numbers],
        is_whole=jobs[-1].is_whole,
        repeated=[number for job in jobs for number in job.repeated],
        strange=[span for job in jobs for span in job.strange],
    )


# Reports of a run that is still going on (``--status-interval``)


def _runs(documents: Iterable[Decoded]) -> Iterator[list[Decoded]]:
    """Yield the documents of each run: its result, and before it what it reported while it was going on."""
    run: list[Decoded] = []
    for document in documents:
        if run and not _continues(run, document):
            yield run
            run = []
        run.append(document)
    if run:
        yield run


_LATENESS: Final = 500
"""In ms: how far the times of a report can be from each other, which are rounded or taken a little later."""


def _continues(run: list[Decoded], later: Decoded) -> bool:
    """Whether a document is the next report of a run.

    Its counts are those of the one before or larger, and the longest of its runtimes grew by the time that passed
    between the two. Of separate runs each starts from nothing.
    """
    earlier = run[-1]
    pairs = list(zip(_jobs(earlier.content), _jobs(later.content), strict=False))
    same_jobs = len(_jobs(earlier.content)) == len(_jobs(later.content)) or not later.is_whole
    versions = {version for document in (earlier, later) if (version := _version(document.content))}
    if not pairs or not same_jobs or len(versions) > 1:
        return False
    growth = [_growth(one, other) for one, other in pairs]
    known = [item for item in growth if item is not None]
    grown = max(known, default=0)
    if len(known) < len(growth) or grown <= 0:
        return False
    passed = _passed(earlier.content, later.content)
    if passed is None:
        return len(run) > 1 or grown > _LATENESS
    elapsed = [_count(job.get("elapsed")) for job in pairs[0]]
    if None not in elapsed and elapsed[1] > elapsed[0]:  # type: ignore[operator]
        # A job can begin between two reports, so that no runtime grew for all of the time.
        since_start = 1000 * (elapsed[1] - elapsed[0])  # type: ignore[operator]
        return abs(passed - since_start) <= 1000 + _LATENESS and sum(known) >= passed / 4
    return abs(passed - grown) <= _LATENESS


def _passed(earlier: Object, later: Object) -> float | None:
    """Return how many ms passed between two documents, as far as they say."""
    for key, scale in (("timestamp_ms", 1), ("timestamp", 1000)):
        before, after = _count(earlier.get(key)), _count(later.get(key))
        if before is not None and after is not None:
            return (after - before) * scale
    return None


def _growth(one: Object, other: Object) -> float | None:
    """Return by how many ms a job's runtime grew, or ``None`` where the two are no reports of one job."""
    keys = ("jobname", "groupid", "hostname", "job options")
    if [_plain(one.get(key)) for key in keys] != [_plain(other.get(key)) for key in keys]:
        return None
    growth = [0]
    for name in _DIRECTIONS:
        before, after = _object(one.get(name)), _object(other.get(name))
        for key in ("io_bytes", "io_kbytes", "total_ios", "runtime"):
            counts = _count(before.get(key)), _count(after.get(key))
            if None in counts:
                continue
            if counts[0] > counts[1]:  # type: ignore[operator]
                return None
            if key == "runtime":
                growth.append(counts[1] - counts[0])  # type: ignore[operator]
    return max(growth)


def _plain(value: object) -> object:
    """Return a value with its numbers as text, so that it can be compared."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return _text(value) if isinstance(value, Number) else value


def _series(text: Text, documents: list[Decoded]) -> Iterator[Record]:
    """Yield what had been done by when, as the reports of a run have it."""
    if len(documents) == 1:
        return
    series: dict[tuple[str | None, str, str], dict[float, Measurement]] = {}
    for document in documents:
        reader = _Reader(text, document)
        if document is not documents[-1]:
            yield reader.diagnostic("INTERIM_REPORT", "The run went on after this report.", document.start)
        reader.read()
        times = {(m.part, m.operation): m.value for m in reader.measurements if m.metric == "runtime"}
        for item in reader.measurements:
            time = times.get((item.part, item.operation))
            if (
                item.metric in {"bytes", "operations"}
                and item.primary
                and item.scope in {"job", "client"}
                and time
            ):
                series.setdefault((item.part, item.operation, item.metric), {})[time] = item
    for (part, operation, metric), points in series.items():
        yield Block(
            operation=operation,
            metric=metric,
            part=part,
            times=list(points),
            values=[item.value or 0.0 for item in points.values()],
            lines=[item.line for item in points.values()],
        )


class _Reader:
    """Reads one document."""

    def __init__(self, text: Text, document: Decoded, start: int | None = None) -> None:
        self.text, self.document = text, document
        self.start = document.start if start is None else start
        self.content = document.content
        self.settings: list[Setting] = []
        self.measurements: list[Measurement] = []
        self.bins: list[Bin] = []
        self.blocks: list[Block] = []
        self.over_requests: list[Diagnostic] = []
        self.failures: list[str] = []
        self.depths: dict[str | None, int] = {}
        self.wholes: dict[Place, list[Place]] = defaultdict(list)
        self.is_client = not isinstance(self.content.get("jobs"), list)
        self.jobs = _jobs(self.content)
        self.version = _version(self.content)
        self.is_old = self._is_old()

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
        yield from self.over_requests
        yield from cross_checks(self.measurements, self.depths)
        yield from totals.checks(self.measurements, self.wholes, has_all_parts=self.document.is_whole)
        yield from self._leftovers()

    def _is_old(self) -> bool:
        """Whether it is fio 2.x, whose latencies are in µs and have keys that do not name their unit."""
        if self.version is not None:
            return self.version.startswith(("1.", "2.")) and not self.version.startswith("2.99")
        directions = (_object(job.get(operation)) for job in self.jobs for operation in _DIRECTIONS)
        return not any(key.endswith("_ns") for block in directions for key in block)

    def read(self) -> None:
        """Read the figures and settings of the document."""
        names = [self._name(job) for job in self.jobs]
        parts = part_names_with_idle(zip(names, map(_has_worked, self.jobs), strict=True))
        for job, name, part in zip(self.jobs, names, parts, strict=True):
            self._read_job(job, part, self._threads(job, names.count(name)))
        self._read_settings()
        for disk in _objects(self.content.get("disk_util")):
            self._read_disk(disk)
        self._read_idleness(_object(self.content.get("cpu_idleness")))
        self.measurements, self.over_requests = over_requests(self.measurements)

    def _name(self, job: Object) -> str:
        name = _text(job.get("jobname"))
        return f"{_text(job.get('hostname'))}/{name}" if self.is_client else name

    def _threads(self, job: Object, times: int) -> int | None:
        """Return how many processes a job's figures are of; `times` is how often its name appears."""
        options = self._options(job)
        numjobs = _numjobs(options)
        is_last = job is self.jobs[-1]
        if not self.document.is_whole and is_last and numjobs != 1 and "group_reporting" not in options:
            return None  # its other processes may be cut off
        return 1 if times > 1 else numjobs

    def _run(self) -> Run:
        runtimes = [
            item.value for item in self.measurements if item.metric == "runtime" and item.value is not None
        ]
        return Run(
            tool=TOOL,
            tool_version=self.version,
            start=self.text.byte(self.start),
            end=self.text.byte(self.document.end),
            line=self.text.line(self.start),
            ended_at=self._ended_at(),
            duration=max(runtimes, default=None),
            status="failed" if self.failures else "ok" if self.document.is_whole else "partial",
            settings=tuple(self.settings),
            measurements=tuple(self.measurements),
            bins=tuple(self.bins),
        )

    def _ended_at(self) -> datetime | None:
        try:
            return report_time(_text(self.content.get("time")))
        except ValueError:
            return None

    def diagnostic(self, code: str, message: str, position: int) -> Diagnostic:
        """Say something about the document."""
        return Diagnostic(
            code=code,
            message=message,
            line=self.text.line(position),
            start=self.text.byte(self.document.start),
            end=self.text.byte(self.document.end),
        )

    def _leftovers(self) -> Iterator[Diagnostic]:
        """Name the numbers that found no place, but for zeros and what is no figure."""
        lost: dict[str, Number] = {}
        for number in self.document.numbers:
            if number.is_read or not number.text.strip("-0."):
                continue
            before = self.text.chars[max(self.document.start, number.position - 200) : number.position]
            match = _KEY_BEFORE.search(before)
            key = match[1] if match is not None else "?"
            if key not in _NO_FIGURES:
                lost.setdefault(key, number)
        if lost:
            message = f"There is no place for the figures {', '.join(lost)}."
            yield self.diagnostic("UNREAD_FIGURE", message, next(iter(lost.values())).position)

    # How figures are kept

    def _figure(
        self, place: Mapping[str, Any], block: Object, key: str, metric: str, statistic: str = "value", **how: Any
    ) -> None:
        """Keep a figure, if the block holds it."""
        number = block.get(key)
        if not isinstance(number, Number):
            return
        how = {"unit": "", "rounding": _rounding(number), "samples": None, "primary": True} | how
        try:
            amount = quantity(number.text, how["unit"], rounding=how["rounding"])
        except (ValueError, ArithmeticError):
            return  # NaN, or beyond all bounds; it is named with the numbers that found no place
        number.is_read = True
        self.measurements.append(
            Measurement(
                metric=metric,
                statistic=statistic,
                value=amount.value,
                unit=amount.unit,
                low=amount.low,
                high=amount.high,
                samples=how["samples"],
                text=number.text,
                line=self.text.line(number.position),
                primary=how["primary"],
                **place,
            )
        )

    def _options(self, job: Object) -> dict[str, str]:
        """Return the options of a job; those of its own go before the global ones."""
        options = {**_object(self.content.get("global options")), **_object(job.get("job options"))}
        for value in options.values():
            if isinstance(value, Number):
                value.is_read = True
        return {name: _text(value) for name, value in options.items()}

    def _read_settings(self) -> None:
        """Keep the options: what all jobs share is the run's, the rest is theirs."""
        by_job: dict[str, dict[str, str]] = {}
        names = [_text(job.get("jobname")) for job in self.jobs]
        for job, name in zip(self.jobs, names, strict=True):
            if name not in by_job and not _is_sum(job):
                by_job[name] = self._job_settings(job, name, names.count(name))
        shared = set.intersection(*(set(known.items()) for known in by_job.values())) if by_job else set()
        line = self.text.line(self.document.start)
        for index, (name, known) in enumerate(by_job.items()):
            for key, value in known.items():
                if (key, value) not in shared:
                    self.settings.append(Setting(key=key, value=value, scope="job", part=name, line=line))
                elif index == 0:
                    self.settings.append(Setting(key=key, value=value, line=line))

    def _job_settings(self, job: Object, name: str, times: int) -> dict[str, str]:
        options = self._options(job)
        known = dict(job_option(option, value) for option, value in ({"name": name} | options).items())
        sizes = _block_sizes(options)
        if sizes and "block_size" in known:
            each = [str(sizes[operation]) for operation in ("read", "write", "trim")]
            known["block_size"] = each[0] if len(set(each)) == 1 else ",".join(each)
        threads = self._threads(job, times)
        if threads is not None and options:
            known["threads"] = str(threads * times)
        if "desc" in job:
            known["description"] = _text(job["desc"])
        steady = _object(job.get("steadystate"))
        if steady:
            known["fio.steadystate_attained"] = "true" if _count(steady.get("attained")) else "false"
            known["fio.steadystate_criterion"] = _text(steady.get("criterion"))
        return known | self._latency_target(job)

    def _latency_target(self, job: Object) -> dict[str, str]:
        """Return the settings of fio's search for a depth that meets a latency."""
        known = {}
        depth, percentile = job.get("latency_depth"), job.get("latency_percentile")
        for key, per_second in (("target", 10**6 if self.is_old else 10**9), ("window", 10**6)):
            value = _count(job.get(f"latency_{key}"))
            if value is not None:
                known[f"fio.latency_{key}"] = str(value / per_second) if value else "0"
        if isinstance(percentile, Number):
            known["fio.latency_percentile"] = str(float(percentile.text) / 100)
        if isinstance(depth, Number):
            known["fio.latency_depth"] = depth.text
        return known

    # A job

    def _read_job(self, job: Object, part: str, threads: int | None) -> None:
        place: dict[str, Any] = {"scope": "job", "part": part, "threads": threads, "block_size": None}
        if self.is_client:
            place |= {"scope": "all", "part": None} if _is_sum(job) else {"scope": "client"}
        if not _is_sum(job):
            self._add_to_wholes(job, (place["scope"], place["part"]))
        options = self._options(job)
        if options.get("iodepth", "").isdecimal():
            self.depths[place["part"]] = int(options["iodepth"])
        sizes = _block_sizes(options)
        for operation in _DIRECTIONS:
            self._read_direction(
                _object(job.get(operation)),
                place | {"operation": operation, "block_size": sizes.get(operation)},
            )
        sync = _object(job.get("sync"))
        if _is_work(sync):
            self._figure(place | {"operation": "sync"}, sync, "total_ios", "operations")
            self._read_latency(_object(sync.get("lat_ns")), place | {"operation": "sync"}, "sync")
        whole = partial(self._figure, place | {"operation": "all"}, job)
        whole("usr_cpu", "cpu_user", unit="%")
        whole("sys_cpu", "cpu_system", unit="%")
        whole("ctx", "context_switches")
        whole("majf", "major_faults")
        whole("minf", "minor_faults")
        whole("total_err", "errors")
        whole("zone_resets", "zone_resets")
        self._note_failure(job)
        self._read_steady_state(_object(job.get("steadystate")), place | {"operation": "all"})
        place = {"scope": place["scope"], "part": place["part"], "operation": "all"}
        for key, metric in _DEPTH_KEYS.items():
            self._read_shares(place | {"metric": metric}, _object(job.get(key)), partial(depth_bounds, metric))
        for key, per_second in (("latency_ns", 10**9), ("latency_us", 10**6), ("latency_ms", 10**3)):
            first = 0 if key == "latency_ns" or (key == "latency_us" and self.is_old) else 1
            buckets = {label: share for label, share in _object(job.get(key)).items() if _is_work({"": share})}
            bounds = partial(latency_bounds, per_second=per_second, first=first)
            self._read_shares(place | {"metric": "completion_latency"}, buckets, bounds)

    def _add_to_wholes(self, job: Object, place: Place) -> None:
        host, group = _text(job.get("hostname")), _text(job.get("groupid"))
        self.wholes["group", f"{host}/{group}"].append(place)
        self.wholes["all", None].append(place)

    def _note_failure(self, job: Object) -> None:
        name = _text(job.get("jobname"))
        if _text(job.get("error")).strip("0"):
            self.failures.append(f"The job {name} ended with error {_text(job['error'])}.")
        if _text(job.get("total_err")).strip("0"):
            self.failures.append(f"{_text(job['total_err'])} requests of the job {name} failed.")

    def _read_idleness(self, block: Object) -> None:
        """Keep which share of the processors' time was left, by ``--idle-prof``."""
        for key in block:
            place = {"operation": "all", "part": None if key == "system" else key}
            if key == "system" or key.startswith("cpu-"):
                self._figure(place, block, key, "cpu_idle", unit="%")
        place = {"operation": "all"}
        self._figure(place, block, "unit_mean", "idle_unit_time", "mean", unit="us")
        self._figure(place, block, "unit_stddev", "idle_unit_time", "stdev", unit="us")

    def _read_steady_state(self, block: Object, place: Object) -> None:
        """Keep the means over the last intervals, one second each, and those intervals as series."""
        data = _object(block.get("data"))
        for key, metric, unit in (
            ("bw", "bandwidth", "B/s"),
            ("iops", "iops", "1/s"),
            ("lat", "latency", "ns"),
        ):
            self._figure(place, data, f"{key}_mean", metric, "steady_mean", unit=unit, rounding="down")
            points = data.get("lat_ns" if key == "lat" else key)
            numbers = [item for item in points if isinstance(item, Number)] if isinstance(points, list) else []
            if not numbers:
                continue
            for number in numbers:
                number.is_read = True
            self.blocks.append(
                Block(
                    operation="all",
                    metric=metric,
                    statistic="steady",
                    part=place["part"],
                    times=[float(second) for second in range(1, len(numbers) + 1)],
                    values=[quantity(number.text, unit).value for number in numbers],
                    lines=[self.text.line(number.position) for number in numbers],
                )
            )
        for number in block.values():
            if isinstance(number, Number):
                number.is_read = True  # how the search went; what it found is kept

    def _read_shares(self, place: Object, block: Object, bounds: Callable[[str], Bounds]) -> None:
        for label, number in block.items():
            if not isinstance(number, Number):
                continue
            try:
                low, high = bounds(label)
                share = quantity(number.text, "%").value
            except (ValueError, ArithmeticError):
                continue  # it is named with the numbers that found no place
            number.is_read = True
            line = self.text.line(number.position)
            self.bins.append(Bin(low=low, high=high, share=share, line=line, **place))

    def _read_direction(self, block: Object, place: Object) -> None:
        if _is_work(_work(block)):
            self._read_rates(block, place)
        elif isinstance(block.get("runtime"), Number):
            block["runtime"].is_read = True  # for how long nothing was done
        for kind in ("slat", "clat", "lat"):
            self._read_latency(_object(block.get(f"{kind}_ns", block.get(kind))), place, kind)
        self._read_intervals(block, place, "bandwidth", "KiB/s", ("bw_min", "bw_max", "bw_mean", "bw_dev"))
        self._read_intervals(block, place, "iops", "1/s", ("iops_min", "iops_max", "iops_mean", "iops_stddev"))
        for priority in _objects(block.get("prios")):
            self._read_priority(priority, place)

    def _read_rates(self, block: Object, place: Object) -> None:
        figure = partial(self._figure, place, block)
        figure("iops", "iops", unit="1/s", rounding=_rounding(block.get("iops"), whole="down"))
        has_bytes = "bw_bytes" in block
        figure("bw_bytes", "bandwidth", unit="B/s", rounding="down")
        figure("bw", "bandwidth", unit="KiB/s", rounding="down", primary=not has_bytes)
        if self.is_old and "io_kbytes" not in block:
            figure("io_bytes", "bytes", unit="KiB", rounding="down")
        else:
            figure("io_bytes", "bytes", unit="B")
            figure("io_kbytes", "bytes", unit="KiB", rounding="down", primary=False)
        figure("runtime", "runtime", unit="ms")
        figure("total_ios", "operations")
        figure("short_ios", "short_operations")
        figure("drop_ios", "dropped_operations")

    def _read_priority(self, block: Object, place: Object) -> None:
        """Keep the latencies of the requests of one priority."""
        numbers = [block[key] for key in ("prioclass", "prio", "priohint") if isinstance(block.get(key), Number)]
        for number in numbers:
            number.is_read = True
        place = place | {"part": f"{place['part']}/prio {'/'.join(number.text for number in numbers)}"}
        for kind in ("clat", "lat"):
            self._read_latency(_object(block.get(f"{kind}_ns")), place, kind)

    def _read_intervals(
        self, block: Object, place: Object, metric: str, unit: str, keys: tuple[str, str, str, str]
    ) -> None:
        """Keep the statistics over intervals, if there were any."""
        prefix = keys[0].removesuffix("min")
        if not _is_work({key: block.get(key) for key in (*keys, f"{prefix}samples")}):
            return
        samples = _count(block.get(f"{prefix}samples"))
        for key, statistic in zip(keys, ("min", "max", "mean", "stdev"), strict=True):
            rounding = _rounding(block.get(key), whole="down")
            self._figure(place, block, key, metric, statistic, unit=unit, rounding=rounding, samples=samples)
        if _text(block.get("bw_agg")) == _text(block.get("bw_mean")) and self.is_old:
            self._figure(place, block, f"{prefix}agg", metric, "mean", unit=unit, samples=samples, primary=False)
        else:
            self._figure(place, block, f"{prefix}agg", "group_share", unit="%")

    def _read_latency(self, block: Object, place: Object, kind: str) -> None:
        if not _is_work(block):
            return
        metric, unit = LATENCIES[kind], "us" if self.is_old else "ns"
        samples = _count(block.get("N"))
        for key, statistic in (("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "stdev")):
            # µs were cut from a finer clock, ns are the clock's own
            rounding = _rounding(block.get(key), whole="down" if self.is_old else "exact")
            self._figure(place, block, key, metric, statistic, unit=unit, rounding=rounding, samples=samples)
        for rank, number in _object(block.get("percentile")).items():
            value = _count(number)
            if value is not None and self._is_bin(value) and (known := _rank(rank)) is not None:
                number.is_read = True
                self._percentile(place, metric, known, self._bin_bounds(value), number)
        self._read_bins(block, place, metric)

    def _percentile(
        self, place: Object, metric: str, rank: float, bounds: Bounds, number: Number, *, primary: bool = True
    ) -> None:
        low, high = bounds
        per_second = 10**6 if self.is_old else 10**9
        self.measurements.append(
            Measurement(
                metric=metric,
                statistic=f"p{rank:g}",
                value=int(number.text) / per_second if high is not None else None,
                unit="s",
                state="measured" if high is not None else "censored",
                low=low,
                high=high,
                text=number.text,
                line=self.text.line(number.position),
                primary=primary,
                **place,
            )
        )

    def _is_bin(self, value: int) -> bool:
        """Whether a bin has this value in the middle; fio 2.x has printed others."""
        return self.is_old or has_bin(value, value)

    def _bin_bounds(self, value: int) -> Bounds:
        per_second = 10**6 if self.is_old else 10**9
        low, high = percentile_bounds(value, value)
        return low / per_second, high / per_second if high is not None else None

    def _read_bins(self, block: Object, place: Object, metric: str) -> None:
        """Keep the bins, and the percentiles that they make: for figures of their own where fio printed none."""
        bins: list[tuple[int, int, Number]] = []
        named = _object(block.get("bins"))
        goes_by_index = "FIO_IO_U_PLAT_BITS" in named  # up to fio 3.0
        for name, number in named.items():
            count = _count(number)
            if count is None or not re.fullmatch(r"[0-9]{1,19}", name):
                continue
            value = bin_value(int(name)) if goes_by_index else int(name)
            if not self._is_bin(value):
                continue  # it is named with the numbers that found no place
            number.is_read = True
            if count:
                bins.append((value, count, number))
        of = {key: place[key] for key in ("scope", "part", "operation")}
        for value, count, number in bins:
            low, high = self._bin_bounds(value)
            line = self.text.line(number.position)
            self.bins.append(Bin(metric=metric, low=low, high=high, count=count, line=line, **of))
        total = sum(count for _, count, _ in bins)
        if not bins or total != _count(block.get("N")):
            return
        printed = [rank for rank in map(_rank, _object(block.get("percentile"))) if rank is not None]
        for rank in printed or _RANKS:
            value, number = _at_rank(bins, Fraction(rank) / 100 * total)
            text = Number(str(value), number.position)
            self._percentile(place, metric, rank, self._bin_bounds(value), text, primary=not printed)

    # The run's end

    def _read_disk(self, disk: Object) -> None:
        name = _text(disk.get("name"))
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


_DIRECTIONS: Final = ("read", "write", "trim", "mixed")
_RANKS: Final = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""The percentiles that fio prints if none are asked for."""

_KEY_BEFORE: Final = re.compile(r'"([^"\n]*)"\s*:\s*\Z')
_DEPTH_KEYS: Final = {
    "iodepth_level": DEPTHS["IO depths"],
    "iodepth_submit": DEPTHS["submit"],
    "iodepth_complete": DEPTHS["complete"],
}
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


def _jobs(document: Object) -> list[Object]:
    return _objects(document.get("jobs", document.get("client_stats")))


def _has_worked(job: Object) -> bool:
    """Whether a job made a request."""
    return any(_is_work(_work(_object(job.get(operation)))) for operation in _DIRECTIONS)


def _version(document: Object) -> str | None:
    return _text(document.get("fio version")).removeprefix("fio-") or None


def _is_sum(job: Object) -> bool:
    """Whether the figures are those of all clients together, which client mode adds to them."""
    return _text(job.get("jobname")) == "All clients"


def _is_report(document: Object) -> bool:
    jobs = document.get("jobs", document.get("client_stats"))
    return isinstance(jobs, list) and (
        "fio version" in document or any("jobname" in job for job in _objects(jobs))
    )


def _object(value: object) -> Object:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value.text if isinstance(value, Number) else value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return int(value.text) if isinstance(value, Number) and re.fullmatch(r"\d{1,19}", value.text) else None


def _is_work(block: Object) -> bool:
    """Whether a block holds anything but zeros."""
    return any(isinstance(value, Number) and value.text.strip("-0.") for value in block.values())


def _work(direction: Object) -> Object:
    """Return what tells whether there were requests."""
    return {key: direction.get(key) for key in ("io_bytes", "io_kbytes", "total_ios", "iops", "bw")}


def _rounding(value: object, whole: Rounding = "exact") -> Rounding:
    """Return how a number was shortened: one with a fraction was rounded, a whole one is as its key has it."""
    return "nearest" if re.search(r"[.eE]", _text(value)) else whole


def _numjobs(options: Mapping[str, str]) -> int | None:
    """Return how many processes a job was asked to have."""
    numjobs = options.get("numjobs", "1") if options else ""
    return int(numjobs) if re.fullmatch(r"[0-9]{1,9}", numjobs) else None


def _rank(text: str) -> float | None:
    """Return the rank that a percentile's key names; old versions fill their list of percentiles up with 0.00."""
    rank = float(text) if re.fullmatch(r"\d{1,3}(\.\d{1,9})?", text) else 0.0
    return rank if 0 < rank <= 100 else None


def _at_rank(bins: list[tuple[int, int, Number]], rank: Fraction) -> tuple[int, Number]:
    """Return the value of the bin that holds the request of a rank, as fio finds it, and where the bin stands."""
    ordered = sorted(bins, key=lambda item: item[0])
    seen = accumulate(count for _, count, _ in ordered)
    return next(
        (value, number) for (value, _, number), reached in zip(ordered, seen, strict=True) if reached >= rank
    )


def _block_sizes(options: Mapping[str, str]) -> dict[str, int]:
    """Return the block size of each operation, where the options give exactly one.

    >>> _block_sizes({"bs": "4k,8k"})
    {'read': 4096, 'write': 8192, 'trim': 8192}
    """
    if options.keys() & {"bssplit", "bsrange", "blocksize_range"}:
        return {}
    words = options.get("bs", options.get("blocksize", "")).split(",")
    try:
        given = [size(word) for word in words]
    except ValueError:
        return {}
    filled = (given + [given[-1]] * 2)[:3]
    known = dict(zip(("read", "write", "trim"), filled, strict=True))
    return known | {"mixed": given[0]} if len(set(filled)) == 1 else known
