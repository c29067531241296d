"""fio's report for programs: ``--output-format=json`` and ``json+``, of fio 2.x and 3.x.

A document is an object with ``"jobs"`` (or, in client mode, ``"client_stats"``). A file can hold several, with
text before, between and after them; each is a run. Figures have the same names as those of
`fsbench_kit.formats.fio_normal`, so that the two can be held against each other, and there are fewer roundings:

- Counts, bytes, milliseconds and the minimum and maximum of latencies are exact. ``iops``, means and deviations
  are rounded to their last digit.
- Other rates are whole numbers that were cut: ``bw_bytes`` to B/s; ``bw``, which is a second printing of it,
  ``bw_min`` and ``bw_max`` to KiB/s.
- Percentiles and ``bins`` (of ``json+``) are the middles of bins; see `fsbench_kit.formats.fio`.
- fio 2.x has latencies in µs (``clat`` for ``clat_ns``), bandwidth as ``bw`` only, and ``io_bytes`` in KiB.

Blocks of a direction in which nothing was done are filled with zeros, and are left out here. So are statistics
over no samples. Numbers for which there is no place are named in one diagnostic for each run.

A job's ``threads`` are its option ``numjobs`` where it appears once, since its figures are then those of all its
processes, and 1 where it appears several times. (Sections of a job file that are reported as one group cannot be
told from a single one.)
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.commands import job_option
from fsbench_kit.formats.fio import (
    DEPTHS,
    LATENCIES,
    TOOL,
    depth_bounds,
    latency_bounds,
    part_names,
    percentile_bounds,
    report_time,
)
from fsbench_kit.formats.lexer import UNREAD, Token, unread_figure
from fsbench_kit.records import Bin, Diagnostic, Measurement, Run, Setting
from fsbench_kit.units import quantity, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from fsbench_kit.formats.text import Text
    from fsbench_kit.records import Record
    from fsbench_kit.units import Rounding

__all__ = ["TOOL", "marks", "parse"]

_DOCUMENT: Final = re.compile(r'"(?:jobs|client_stats)"\s*:\s*\[')
_STRING_OR_NUMBER: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|NaN|-?Infinity)'
)
_KEY_BEFORE: Final = re.compile(r'"([^"\n]*)"\s*:\s*\Z')


@dataclass(slots=True, eq=False)
class _Number:
    """A number of a document: its text, where that stands, and whether it found its place."""

    text: str
    position: int
    is_read: bool = False


Object = dict[str, Any]
Bounds = tuple[float | None, float | None]


_MARKS: Final = re.compile(r'"fio version"\s*:|"client_stats"\s*:\s*\[')
_TOP_BRACE: Final = re.compile(r"^[\[{]", re.MULTILINE)


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
    for start, stop, document, numbers in _documents(text):
        yield from _outside(text, end, start)
        yield from _Reader(text, start, stop, document, numbers).records()
        end = stop
    yield from _outside(text, end, len(text.chars))


def _outside(text: Text, start: int, end: int) -> Iterator[Diagnostic]:
    stretch = text.chars[start:end]
    token = Token(UNREAD, text, end - len(stretch.lstrip()), start + len(stretch.rstrip()))
    if stretch.strip() and (diagnostic := unread_figure(token)) is not None:
        yield diagnostic


def _documents(text: Text) -> Iterator[tuple[int, int, Object, list[_Number]]]:
    """Yield where each of fio's documents starts and ends, what it says, and its numbers."""
    position = 0
    mark = _DOCUMENT.search(text.chars)
    while mark is not None:
        start = text.chars.find("{", position)
        if start < 0:
            return
        found = _decode(text, start)
        if found is not None and _is_report(found[1]):
            position, document, numbers = found
            yield start, position, document, numbers
        else:
            position = start + 1  # it may be wrapped in an object of somebody else's
        if mark.start() < position:
            mark = _DOCUMENT.search(text.chars, position)


def _decode(text: Text, start: int) -> tuple[int, Object, list[_Number]] | None:
    """Decode the object at a position; its numbers remember where they stand."""
    # The decoder asks for each number in the order of the text, which is also the order of this search.
    matches = (m for m in _STRING_OR_NUMBER.finditer(text.chars, start) if m["number"] is not None)
    numbers: list[_Number] = []

    def number(digits: str) -> _Number:
        numbers.append(_Number(digits, next(matches).start()))
        return numbers[-1]

    decoder = json.JSONDecoder(parse_float=number, parse_int=number, parse_constant=number, strict=False)
    try:
        document, end = decoder.raw_decode(text.chars, start)
    except (ValueError, RecursionError, StopIteration):
        return None
    return end, document, numbers


class _Reader:
    """Reads one document."""

    def __init__(self, text: Text, start: int, end: int, document: Object, numbers: list[_Number]) -> None:
        self.text, self.start, self.end, self.document, self.numbers = text, start, end, document, numbers
        self.settings: list[Setting] = []
        self.measurements: list[Measurement] = []
        self.bins: list[Bin] = []
        self.failed = False
        self.is_client = not isinstance(document.get("jobs"), list)
        self.jobs = _objects(document.get("client_stats" if self.is_client else "jobs"))
        self.version = _text(document.get("fio version")).removeprefix("fio-") or None
        self.is_old = (self.version or "").startswith(("1.", "2.")) and self.version != "2.99"

    def records(self) -> Iterator[Record]:
        """Yield the run and the diagnostics."""
        names = [_text(job.get("jobname")) for job in self.jobs]
        for job, name, part in zip(self.jobs, names, part_names(names), strict=True):
            self._read_job(job, part, _threads(self._options(job), names.count(name)))
        self._read_settings()
        for disk in _objects(self.document.get("disk_util")):
            self._read_disk(disk)
        if self.measurements or self.failed:
            yield self._run()
        else:
            yield self._diagnostic("INCOMPLETE_LOG", "The document holds no figures.", self.start)
        if self.failed:
            yield self._diagnostic("RUN_FAILED", "A job ended with an error.", self.start)
        yield from cross_checks(self.measurements)
        yield from self._leftovers()

    def _run(self) -> Run:
        runtimes = [
            item.value for item in self.measurements if item.metric == "runtime" and item.value is not None
        ]
        return Run(
            tool=TOOL,
            tool_version=self.version,
            start=self.text.byte(self.start),
            end=self.text.byte(self.end),
            line=self.text.line(self.start),
            ended_at=self._ended_at(),
            duration=max(runtimes, default=None),
            status="failed" if self.failed else "ok",
            settings=tuple(self.settings),
            measurements=tuple(self.measurements),
            bins=tuple(self.bins),
        )

    def _ended_at(self) -> datetime | None:
        try:
            return report_time(_text(self.document.get("time")))
        except ValueError:
            return None

    def _diagnostic(self, code: str, message: str, position: int) -> Diagnostic:
        return Diagnostic(
            code=code,
            message=message,
            line=self.text.line(position),
            start=self.text.byte(self.start),
            end=self.text.byte(self.end),
        )

    def _leftovers(self) -> Iterator[Diagnostic]:
        """Name the numbers that found no place, but for zeros and what is no figure."""
        lost: dict[str, _Number] = {}
        for number in self.numbers:
            if number.is_read or not number.text.strip("-0."):
                continue
            before = self.text.chars[max(self.start, number.position - 200) : number.position]
            match = _KEY_BEFORE.search(before)
            key = match[1] if match is not None else "?"
            if key not in _NO_FIGURES:
                lost.setdefault(key, number)
        if lost:
            message = f"There is no place for the figures {', '.join(lost)}."
            yield self._diagnostic("UNREAD_FIGURE", message, next(iter(lost.values())).position)

    # How figures are kept

    def _figure(
        self, place: Mapping[str, Any], block: Object, key: str, metric: str, statistic: str = "value", **how: Any
    ) -> None:
        """Keep a figure, if the block holds it."""
        number = block.get(key)
        if not isinstance(number, _Number):
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
        options = {**_object(self.document.get("global options")), **_object(job.get("job options"))}
        return {name: _text(value) for name, value in options.items()}

    def _read_settings(self) -> None:
        """Keep the options: what all jobs share is the run's, the rest is theirs."""
        by_job: dict[str, dict[str, str]] = {}
        for job in self.jobs:
            name = _text(job.get("jobname"))
            options = {"name": name} | self._options(job)
            known = dict(job_option(option, value) for option, value in options.items())
            if "desc" in job:
                known["description"] = _text(job["desc"])
            known |= _latency_target(job)
            by_job.setdefault(name, known)
        shared = set.intersection(*(set(known.items()) for known in by_job.values())) if by_job else set()
        line = self.text.line(self.start)
        for index, (name, known) in enumerate(by_job.items()):
            for key, value in known.items():
                if (key, value) not in shared:
                    self.settings.append(Setting(key=key, value=value, scope="job", part=name, line=line))
                elif index == 0:
                    self.settings.append(Setting(key=key, value=value, line=line))

    # A job

    def _read_job(self, job: Object, part: str, threads: int | None) -> None:
        place: dict[str, Any] = {"scope": "job", "part": part, "threads": threads, "block_size": None}
        if self.is_client:
            is_sum = _text(job.get("jobname")) == "All clients"
            client = f"{_text(job.get('hostname'))}/{part}"
            place |= {"scope": "all", "part": None} if is_sum else {"scope": "client", "part": client}
        sizes = _block_sizes(self._options(job))
        for operation in ("read", "write", "trim", "mixed"):
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
        self.failed |= any(
            isinstance(job.get(key), _Number) and job[key].text != "0" for key in ("error", "total_err")
        )
        place = {"scope": place["scope"], "part": place["part"], "operation": "all"}
        for key, metric in _DEPTH_KEYS.items():
            self._read_shares(place | {"metric": metric}, _object(job.get(key)), partial(depth_bounds, metric))
        for key, per_second in (("latency_ns", 10**9), ("latency_us", 10**6), ("latency_ms", 10**3)):
            first = 0 if key == "latency_ns" or (key == "latency_us" and self.is_old) else 1
            buckets = {label: share for label, share in _object(job.get(key)).items() if _is_work({"": share})}
            bounds = partial(latency_bounds, per_second=per_second, first=first)
            self._read_shares(place | {"metric": "completion_latency"}, buckets, bounds)

    def _read_shares(self, place: Object, block: Object, bounds: Callable[[str], Bounds]) -> None:
        for label, number in block.items():
            if not isinstance(number, _Number):
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
        if not _is_work(block):
            return
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
        for kind in ("slat", "clat", "lat"):
            self._read_latency(_object(block.get(f"{kind}_ns", block.get(kind))), place, kind)
        self._read_intervals(block, place, "bandwidth", "KiB/s", ("bw_min", "bw_max", "bw_mean", "bw_dev"))
        self._read_intervals(block, place, "iops", "1/s", ("iops_min", "iops_max", "iops_mean", "iops_stddev"))

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
        per_second = 10**6 if self.is_old else 10**9
        for rank, number in _object(block.get("percentile")).items():
            value = _count(number)
            # Old versions fill their list of percentiles up with 0.00.
            if value is not None and re.fullmatch(r"\d{1,3}(\.\d+)?", rank) and float(rank) > 0:
                number.is_read = True
                low, high = _bin_bounds(value, per_second)
                self.measurements.append(
                    Measurement(
                        metric=metric,
                        statistic=f"p{float(rank):g}",
                        value=value / per_second if high is not None else None,
                        unit="s",
                        state="measured" if high is not None else "censored",
                        low=low,
                        high=high,
                        text=number.text,
                        line=self.text.line(number.position),
                        **place,
                    )
                )
        bins = _object(block.get("bins"))
        if "FIO_IO_U_PLAT_BITS" in bins:
            return  # up to 3.0 the bins go by their indices
        for name, number in bins.items():
            count = _count(number)
            if count is not None and re.fullmatch(r"[0-9]{1,19}", name):
                number.is_read = True
                low, high = _bin_bounds(int(name), per_second)
                of = {key: place[key] for key in ("scope", "part", "operation")}
                line = self.text.line(number.position)
                self.bins.append(Bin(metric=metric, low=low, high=high, count=count, line=line, **of))

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


_DEPTH_KEYS: Final = {
    "iodepth_level": DEPTHS["IO depths"],
    "iodepth_submit": DEPTHS["submit"],
    "iodepth_complete": DEPTHS["complete"],
}
_NO_FIGURES: Final = {
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
    "latency_window",
    "port",
    "timestamp",
    "timestamp_ms",
}
"""Keys of numbers that are settings, names and times, or are read as part of another figure."""


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
    return value.text if isinstance(value, _Number) else value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return int(value.text) if isinstance(value, _Number) and re.fullmatch(r"\d{1,19}", value.text) else None


def _bin_bounds(value: int, per_second: int) -> tuple[float, float | None]:
    low, high = percentile_bounds(value, value)
    return low / per_second, high / per_second if high is not None else None


def _is_work(block: Object) -> bool:
    """Whether a block holds anything but zeros."""
    return any(isinstance(value, _Number) and value.text.strip("-0.") for value in block.values())


def _rounding(value: object, whole: Rounding = "exact") -> Rounding:
    """Return how a number was shortened: one with a fraction was rounded, a whole one is as its key has it."""
    return "nearest" if re.search(r"[.eE]", _text(value)) else whole


def _threads(options: Mapping[str, str], times: int) -> int | None:
    """Return how many processes a job's figures are of; `times` is how often its name appears."""
    if times > 1:
        return 1
    numjobs = options.get("numjobs", "1") if options else ""
    return int(numjobs) if re.fullmatch(r"[0-9]{1,9}", numjobs) else None


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


def _latency_target(job: Object) -> dict[str, str]:
    """Return the settings of fio's search for a depth that meets a latency, as its report for people has them."""
    known = {f"fio.latency_{key}": _text(job.get(f"latency_{key}")) for key in ("target", "window", "depth")}
    percentile = job.get("latency_percentile")
    if isinstance(percentile, _Number):
        known["fio.latency_percentile"] = str(float(percentile.text) / 100)
    return {key: value for key, value in known.items() if value}
