r"""fio's report for people (``--output-format=normal``), of fio 2.x and 3.x.

Read as a stream of phrases, so that it makes no difference whether a copy kept its line breaks::

    randrw: (g=0): rw=randrw, bs=(R) 16.0KiB-16.0KiB, (W) ..., ioengine=libaio, iodepth=1
    fio-3.7
    Starting 8 processes
    randrw: (groupid=0, jobs=8): err= 0: pid=11169: Mon Mar 23 00:29:37 2020
       read: IOPS=115, BW=14.5MiB/s (15.2MB/s)(8671MiB/600062msec)
        slat (usec): min=554, max=610323, avg=68985.35, stdev=55557.33
        clat percentiles (nsec):
         |  1.00th=[ 2448],  5.00th=[ 3312], ...
    Run status group 0 (all jobs):
       READ: bw=14.5MiB/s (15.2MB/s), 14.5MiB/s-14.5MiB/s (...), io=8671MiB (9093MB), run=600062-600062msec
    Disk stats (read/write):
        md0: ios=69368/30275, merge=0/0, ticks=0/0, in_queue=0, util=0.00%, aggrios=34685/30086, ...

Rules of its printing, from fio's ``stat.c`` and ``lib/num2str.c``:

- A heading names the unit of its own figures, and of no others. A suffix (``max=2430.4k``) multiplies by a power
  of 1000. ``KiB/s`` is 1024, ``kB/s`` in parentheses is 1000; ``KB/s`` of the old layout (``bw=...KB/s``) is 1024.
- A figure with a suffix or prefix is rounded to its last digit. Up to fio 3.25 a fraction of .95 and above prints
  as ``.0`` without the carry, which shows when bytes and runtime are printed beside it. In the old layout the
  fraction is no decimal fraction at all: only the whole number holds.
- IOPS without a suffix are cut, not rounded; minimum and maximum of latencies are cut to the heading's unit, means
  and deviations rounded. Minimum and maximum of ``bw`` and ``iops`` lines are cut.
- A percentile is the middle of a bin, rounded up to whole µs or ms; see `fsbench_kit.formats.fio`.
- ``bw`` and ``iops`` lines are statistics over intervals (of 0.5 s). The rate of a job is ``BW=`` and ``IOPS=``.
- The buckets ``lat (usec)   : 2=28.10%`` are of completion latencies, of all directions together.
- The date on a job's line is when the report was made: the end of the run.
- ``aggr...`` figures of a disk are means over the disk's members (the utilisation: their maximum). They are given
  to the part ``<disk>/members``.

Counts of a direction in which nothing was done are left out, as fio's other lines leave that direction out.
Neither a job's line nor a status group's is needed: excerpts are read too, and a note says what they lack.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.commands import command_settings
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
from fsbench_kit.formats.lexer import UNREAD, Lexer, Token, unread_figure
from fsbench_kit.records import Bin, Diagnostic, Measurement, Run, Setting
from fsbench_kit.units import size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from fsbench_kit.formats.text import Text
    from fsbench_kit.records import Record, Scope
    from fsbench_kit.units import Rounding

__all__ = ["TOOL", "marks", "parse"]


def _amount(name: str, unit: str) -> str:
    """Match a quantity with its unit glued to it: groups ``<name>`` and ``<name>_unit``."""
    return rf"(?P<{name}>\d+(?:\.\d+)?)(?P<{name}_unit>[kKMGTP]?i?{unit})"


def _counts(name: str) -> str:
    """Match counts of reads, writes, trims and, in newer versions, syncs: groups ``<name>_read`` and so on."""
    read, write, trim, sync = (rf"(?P<{name}_{word}>\d+)" for word in ("read", "write", "trim", "sync"))
    return rf"(?:r= )?{read} [,/] (?:w= )?{write} [,/] (?:[td]= )?{trim}(?: [,/] {sync})?"


def _pair(name: str, word: str | None = None) -> str:
    word = word or name
    return rf"{word}= (?P<{name}_read>\d+)/(?P<{name}_write>\d+)"


_JOB: Final = r"(?P<indent>^[^\S\n]{0,80})?(?P<name>(?(indent)[^\s:][^\n:]{0,79}?|\S{1,100})): "
_SHARES: Final = r"(?P<shares>(?:>=)?\d+= [\d.]+%(?: , (?:>=)?\d+= [\d.]+%)*)"
_LATENCY_UNIT: Final = r"\( (?P<unit>nsec|usec|msec) \)"
_OPERATION: Final = r"(?P<operation>read|write|trim|mixed)"
_NUMBER: Final = r"\d+(?:\.\d+)?[kKMGTP]?"
_STATISTICS: Final = (
    rf"min= (?P<min>{_NUMBER}) , max= (?P<max>{_NUMBER}) ,(?: per= (?P<share>[\d.]+)% ,)? "
    r"avg= (?P<mean>\d+\.\d+) , stdev= (?P<stdev>\d+\.\d+)(?: , samples= (?P<samples>\d+))?"
)

_LEXER: Final = Lexer(
    command=(
        r"(?:^[^\n@]{0,60}@(?P<host>[\w.-]{1,64})[^\n#$]{0,200}[#$] )?"
        r"(?<![\w./`-])(?:[\w./-]{0,200}/)?fio\s+(?=-{1,2}[a-z]|\S{1,200}\.(?:fio|job|ini|cfg)\b|\\)"
        r"(?:\\ \n|(?!\S{1,100}: \(g(?:=|roupid)|fio-\d)[^\n])*"
    ),
    header=(
        _JOB + r"\(g= (?P<group>\d+)\): rw= (?P<pattern>\w+), bs= (?P<sizes>[^=\n]*?), "
        r"ioengine= (?P<engine>[\w-]+), iodepth= (?P<iodepth>\d+)(?: \.\.\.)?"
    ),
    banner=r"(?<![/\w]-)(?<!/)fio[-\s](?P<version>\d+\.\d+(?:\.\d+)*(?:-\d+-g[0-9a-f]+)?(?:-dirty)?)",
    started=r"Starting (?P<what>\d+ (?:process|thread)(?:es|s)?(?: and \d+ (?:process|thread)(?:es|s)?)?)",
    layout=_JOB + r"Laying out IO file[()s]* \(\d+ file[()s]* / (?:total )?(?P<size>\d+) Mi?B\)",
    progress=r"(?:Jobs: \d+ \(f= [^)\n]*\)(?:[^\n]{0,400}?\[ eta [\ddhms:]+\]?)? )+",
    trouble=(
        r"fio: (?:pid= \d+, err= -?\d+/[^,\n]{1,200}, func= [^,\n]{1,200}, "
        r"error= [A-Z][\w/]*(?:\s[A-Za-z/]+(?![\w:.-]))*|"
        r"io_u error on file [^\n]{1,500}?, buflen= \d+)"
    ),
    job=(
        _JOB
        + r"\(groupid= (?P<group>\d+), jobs= (?P<jobs>\d{1,9})\): err= (?P<error>-?\d+)(?: \([^\n]{1,500}?\))?: "
        r"pid= \d+(?:: (?P<date>[A-Z][a-z]{2} [A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d \d{4}))?"
    ),
    description=r"Description : \[(?P<description>[^\]\n]*)\]",
    rate=(
        rf"{_OPERATION} : IOPS= (?P<iops>{_NUMBER}), BW= {_amount('rate', 'B/s')} "
        rf"\( {_amount('rate_again', 'B/s')} \) "
        rf"\( {_amount('bytes', 'B')} / (?P<runtime>\d+) msec \)(?: ; (?P<resets>\d+) zone resets)?"
    ),
    old_rate=(
        rf"{_OPERATION} : io= {_amount('bytes', 'B')} , bw= {_amount('rate', 'B/s')} , "
        rf"(?:iops= (?P<iops>\d+) , )?runt= (?P<runtime>\d+) msec"
    ),
    latency=rf"(?P<kind>slat|clat|lat|sync) {_LATENCY_UNIT} : {_STATISTICS}",
    percentiles=(
        rf"(?P<kind>slat|clat|lat|sync) percentiles {_LATENCY_UNIT} : "
        r"(?P<cells>(?: \|? \d+(?:\.\d+)?th= \[ \d+ \] ,?)+)"
    ),
    sync=r"fsync/fdatasync/sync_file_range[/\w]* :",
    bandwidths=rf"bw \( (?P<unit>[kKMG]?i?B) /s \) : {_STATISTICS}",
    iops=rf"iops : {_STATISTICS}",
    buckets=rf"lat {_LATENCY_UNIT} : {_SHARES}",
    cpu=(
        r"cpu : usr= (?P<user>[\d.]+)%, sys= (?P<system>[\d.]+)%, ctx= (?P<switches>\d+), "
        r"majf= (?P<major>\d+), minf= (?P<minor>\d+)"
    ),
    depths=rf"(?P<name>IO\s+depths|submit|complete) : {_SHARES}",
    issued=(
        rf"issued (?:rwts?|r/w/d)? : total= {_counts('total')} ,? short= {_counts('short')}"
        rf"(?: ,? drop(?:ped)?= {_counts('dropped')})?"
    ),
    errors=r"errors : total= (?P<total>\d+), first_error= (?P<first>\d+)/<[^>\n]*>",
    target=(
        r"latency : target= (?P<target>[\d.]+)(?P<target_unit>[nmu]?s)?, "
        r"window= (?P<window>[\d.]+)(?P<window_unit>[nmu]?s)?, "
        r"percentile= (?P<percentile>[\d.]+)%, depth= (?P<depth>\d+)"
    ),
    group=r"Run status group (?P<group>\d+) \(all jobs\):",
    total=(
        r"(?P<operation>READ|WRITE|TRIM|MIXED) : "
        rf"bw= {_amount('rate', 'B/s')} \( {_amount('rate_again', 'B/s')} \), "
        rf"{_amount('min', 'B/s')}- {_amount('max', 'B/s')} "
        rf"\( {_amount('min_again', 'B/s')}- {_amount('max_again', 'B/s')} \), "
        rf"io= {_amount('bytes', 'B')} \( {_amount('bytes_again', 'B')} \), "
        r"run= (?P<shortest>\d+)- (?P<longest>\d+) msec"
    ),
    old_total=(
        rf"(?P<operation>READ|WRITE|TRIM|MIXED) : io= {_amount('bytes', 'B')}, aggrb= {_amount('rate', 'B/s')}, "
        rf"minb= {_amount('min', 'B/s')}, maxb= {_amount('max', 'B/s')}, "
        r"mint= (?P<shortest>\d+) msec, maxt= (?P<longest>\d+) msec"
    ),
    disks=r"Disk stats \(read/write\):",
    disk=(
        r"(?P<name>[\w.!-]{1,64}): "
        rf"{_pair('ios')}, (?:{_pair('sectors')}, )?{_pair('merge')}, {_pair('ticks')}, "
        r"in_queue= (?P<queue>\d+), util= (?P<util>[\d.]+)%"
        rf"(?P<members>, {_pair('all_ios', 'aggrios')}, (?:{_pair('all_sectors', 'aggsectors')}, )?"
        rf"{_pair('all_merge', 'aggrmerge')}, {_pair('all_ticks', 'aggrticks')}, "
        r"aggrin_queue= (?P<all_queue>\d+), aggrutil= (?P<all_util>[\d.]+)%)?"
    ),
)

_PREAMBLE: Final = {"command", "header", "banner", "started", "layout", "progress"}
_SUMMARY: Final = {"group", "total", "old_total", "disks", "disk"}

_ONLY_MARKS: Final = {"banner", "sync", "disks"}
"""Phrases that hold no figure of their own; the version is looked up beforehand."""

_MARKS: Final = re.compile(
    r"\(groupid=\d+,\s*jobs=\d+\):\s*err=|\bIOPS=[\d.]+[kMG]?,\s*BW=\s*\d|Run status group \d+|"
    r":\s*io=[\d.]+\w*,\s*bw=\s*\d|\(g=\d+\):\s*rw="
)


def marks(chars: str) -> Iterator[int]:
    """Yield where in a text something stands that only a log of this format has."""
    return (match.start() for match in _MARKS.finditer(chars))


def parse(text: Text) -> Iterator[Record]:
    """Yield each run of a text, and diagnostics for what is odd in it or was not understood."""
    for tokens in _runs(_LEXER.tokens(text)):
        yield from _Reader(tokens).records()


def _runs(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Split the phrases of a text into those of each run."""
    current: list[Token] = []
    seen: set[str] = set()
    for token in tokens:
        if _starts_run(token, seen):
            yield current
            current, seen = [], set()
        current.append(token)
        seen.add(token.name)
    if current:
        yield current


def _starts_run(token: Token, seen: set[str]) -> bool:
    if token.name == UNREAD or seen <= {UNREAD}:
        return False
    if token.name == "command":
        return True
    if token.name == "banner" and "banner" in seen:
        return True
    if token.name in {"header", "banner", "started"}:
        return not seen <= _PREAMBLE | {UNREAD, "trouble"}
    return token.name not in _SUMMARY and not seen.isdisjoint(_SUMMARY)


@dataclass
class _Place:
    """What the figures of a job belong to."""

    name: str | None = None
    part: str | None = None
    jobs: int | None = None
    operations: list[str] = field(default_factory=list)
    block_sizes: dict[str, int | None] = field(default_factory=dict)

    def of(self, operation: str) -> dict[str, Any]:
        """Return the columns of a measurement of this job."""
        return {
            "operation": operation,
            "scope": "job",
            "part": self.part,
            "threads": self.jobs,
            "block_size": self.block_sizes.get(operation),
        }


class _Reader:
    """Reads the phrases of one run."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.known = [token for token in tokens if token.name != UNREAD]
        self.settings: list[Setting] = []
        self.measurements: list[Measurement] = []
        self.bins: list[Bin] = []
        self.diagnostics: list[Diagnostic] = []
        self.failed = False
        self.ended_at: datetime | None = None
        self.group: str | None = None

        self.headers = [token for token in self.known if token.name == "header"]
        self.jobs = [token for token in self.known if token.name == "job"]
        self.parts = part_names(token["name"] or "" for token in self.jobs)
        self.has_several = len({token["name"] for token in (*self.headers, *self.jobs)}) > 1
        self.version = next((token["version"] for token in self.known if token.name == "banner"), None)
        # Since 3.0 latencies are taken in ns.
        self.ticks_per_second = 10**6 if self._is_old() else 10**9
        self.place = _Place(block_sizes=self._block_sizes(None))

    def _is_old(self) -> bool:
        if self.version is not None:
            return self.version.startswith(("1.", "2.")) and not self.version.startswith("2.99")
        return any(token.name == "old_rate" for token in self.known)

    def records(self) -> Iterator[Record]:
        """Yield the run, unless it has neither figures nor an error, and the diagnostics."""
        for token in self.tokens:
            try:
                if token.name not in _ONLY_MARKS:
                    getattr(self, f"_read_{token.name.lower()}")(token)
            except ValueError:
                self._not_understood(token)
        self._read_threads()
        if self.measurements or self.failed:
            yield self._run()
        if self.known:
            self._note_gaps()
            self.diagnostics += cross_checks(self.measurements)
        yield from self.diagnostics

    def _run(self) -> Run:
        first, last = self.known[0], self.known[-1]
        runtimes = [
            item.value for item in self.measurements if item.metric == "runtime" and item.value is not None
        ]
        return Run(
            tool=TOOL,
            tool_version=self.version,
            start=first.text.byte(first.start),
            end=last.text.byte(last.start + len(last.text.chars[last.start : last.end].rstrip())),
            line=first.line,
            host=next((token["host"] for token in self.known if token.name == "command"), None),
            ended_at=self.ended_at,
            duration=max(runtimes, default=None),
            status="failed" if self.failed else "ok",
            settings=tuple(self.settings),
            measurements=tuple(self.measurements),
            bins=tuple(self.bins),
        )

    def _note_gaps(self) -> None:
        present = {token.name for token in self.known}
        parts = {
            "the jobs' headers": {"header"},
            "fio's version": {"banner"},
            "the jobs' lines": {"job"},
            "the jobs' figures": {"rate", "old_rate"},
            "the jobs' counts": {"issued"},
            "the groups' status": {"total", "old_total"},
        }
        gaps = [name for name, tokens in parts.items() if present.isdisjoint(tokens)]
        if gaps:
            self.diagnostics.append(
                self.known[0].diagnostic("INCOMPLETE_LOG", f"The log lacks {', '.join(gaps)}.")
            )

    def _not_understood(self, token: Token) -> None:
        diagnostic = unread_figure(token)
        if diagnostic is not None:
            self.diagnostics.append(diagnostic)

    _read_unread = _not_understood

    # How figures are kept

    def _figure(
        self, token: Token, place: Mapping[str, Any], group: str, metric: str, statistic: str = "value", **how: Any
    ) -> None:
        """Keep a figure, if the phrase holds it."""
        if token[group] is not None:
            self.measurements.append(token.measurement(group, metric=metric, statistic=statistic, **place, **how))

    def _set(self, key: str, value: str | None, token: Token, name: str | None = None) -> None:
        """Keep a setting; one of a job belongs to the whole run where the run has no others."""
        if value is None:
            return
        scope: Scope = "job" if name is not None and self.has_several else "all"
        setting = Setting(
            key=key, value=value, scope=scope, part=name if scope == "job" else None, line=token.line
        )
        if setting not in (replace(item, line=setting.line) for item in self.settings):
            self.settings.append(setting)

    # What stands before the figures

    def _read_command(self, token: Token) -> None:
        words = token.text.chars[token.start : token.end]
        self.settings += command_settings(words, origin="command", line=token.line)

    def _read_header(self, token: Token) -> None:
        name = token["name"]
        self._set("job_name", name, token, name)
        self._set("pattern", token["pattern"], token, name)
        self._set("block_size", _canonical_sizes(token["sizes"] or ""), token, name)
        self._set("engine", token["engine"], token, name)
        self._set("iodepth", token["iodepth"], token, name)

    def _read_started(self, token: Token) -> None:
        self._set("fio.started", " ".join((token["what"] or "").split()), token)

    def _read_layout(self, token: Token) -> None:
        # Cut to MiB, so a command line that states the size knows it better.
        if not any((item.key, item.origin) == ("file_size", "command") for item in self.settings):
            self._set("file_size", str(int(token["size"] or "") * 2**20), token, token["name"])

    def _read_progress(self, token: Token) -> None:
        self.diagnostics.append(token.diagnostic("PROGRESS", "Momentary figures are not the run's result."))

    def _read_trouble(self, token: Token) -> None:
        self.failed = True
        self.diagnostics.append(token.diagnostic("RUN_FAILED", "fio reports an error."))

    def _read_threads(self) -> None:
        total = Counter[str]()
        for job in self.jobs:
            total[job["name"] or ""] += int(job["jobs"] or "")
        for name, jobs in total.items():
            self._set("threads", str(jobs), self.jobs[0], name)

    # A job

    def _read_job(self, token: Token) -> None:
        name = token["name"]
        self.place = _Place(
            name=name,
            part=next(self.parts),
            jobs=int(token["jobs"] or ""),
            block_sizes=self._block_sizes(token),
        )
        if int(token["error"] or "") != 0:
            self.failed = True
            self.diagnostics.append(token.diagnostic("RUN_FAILED", f"The job {name} ended with an error."))
        if token["date"] is not None:
            self.ended_at = report_time(token["date"] or "")

    def _block_sizes(self, job: Token | None) -> dict[str, int | None]:
        """Return the block size of each operation of a job, as far as the headers leave no doubt.

        A job's figures may be those of a whole group, in which case they go by the name of its first job.
        """
        headers = self.headers
        if job is not None:
            others = {other["name"] for other in self.jobs} - {job["name"]}
            headers = [h for h in headers if h["group"] == job["group"] and h["name"] not in others]
        known = [_one_size(header["sizes"] or "") for header in headers]
        return known[0] if known and all(sizes == known[0] for sizes in known) else {}

    def _read_description(self, token: Token) -> None:
        self._set("description", token["description"], token, self.place.name)

    def _read_rate(self, token: Token) -> None:
        self.place.operations.append(token["operation"] or "")
        job = partial(self._figure, token, self.place.of(self._operation()))
        job("iops", "iops", unit="1/s", rounding=_cut(token["iops"]))
        job("rate", "bandwidth", **_unit(token, "rate"))
        job("rate_again", "bandwidth", **_unit(token, "rate_again"), primary=False)
        job("bytes", "bytes", **_unit(token, "bytes"))
        job("runtime", "runtime", unit="ms", rounding="exact")
        job("resets", "zone_resets", rounding="exact")

    def _read_old_rate(self, token: Token) -> None:
        self.place.operations.append(token["operation"] or "")
        job = partial(self._figure, token, self.place.of(self._operation()))
        job("iops", "iops", unit="1/s", rounding="down")
        for group, metric in (("rate", "bandwidth"), ("bytes", "bytes")):
            job(group, metric, **_old_unit(token, group))
            self.measurements[-1] = _whole_number_only(self.measurements[-1])
        job("runtime", "runtime", unit="ms", rounding="exact")

    def _operation(self) -> str:
        """Return the operation whose lines are being read."""
        if not self.place.operations:
            raise ValueError("a figure of an operation that the log does not name")
        return self.place.operations[-1]

    def _read_latency(self, token: Token) -> None:
        kind = token["kind"] or ""
        operation = "sync" if kind == "sync" else self._operation()
        unit = {"nsec": "ns", "usec": "us", "msec": "ms"}[token["unit"] or ""]
        job = partial(self._figure, token, self.place.of(operation), unit=unit)
        for statistic in ("min", "max"):
            rounding = _cut(token[statistic])
            job(
                statistic,
                LATENCIES[kind],
                statistic,
                rounding="exact" if (unit, rounding) == ("ns", "down") else rounding,
            )
        for statistic in ("mean", "stdev"):
            job(statistic, LATENCIES[kind], statistic)

    def _read_percentiles(self, token: Token) -> None:
        kind = token["kind"] or ""
        operation = "sync" if kind == "sync" else self._operation()
        unit = {"nsec": "ns", "usec": "us", "msec": "ms"}[token["unit"] or ""]
        per_unit = self.ticks_per_second // {"ns": 10**9, "us": 10**6, "ms": 10**3}[unit]
        for cell in _cells(token, "cells", r"(?P<p>\d+(?:\.\d+)?)th=\s*\[\s*(?P<value>\d+)\s*\]"):
            item = cell.measurement(
                "value",
                metric=LATENCIES[kind],
                statistic=f"p{float(cell['p'] or ''):g}",
                unit=unit,
                **self.place.of(operation),
            )
            printed = int(item.text)
            low, high = percentile_bounds(max(0, (printed - 1) * per_unit + 1), printed * per_unit)
            self.measurements.append(
                replace(item, low=low / self.ticks_per_second, high=high / self.ticks_per_second)
                if high is not None
                else replace(item, state="censored", value=None, low=low / self.ticks_per_second, high=None)
            )

    def _read_bandwidths(self, token: Token) -> None:
        unit = f"{token['unit']}/s".replace("KB", "KiB")
        self._interval_statistics(token, "bandwidth", unit=unit)

    def _read_iops(self, token: Token) -> None:
        self._interval_statistics(token, "iops", unit="1/s")

    def _interval_statistics(self, token: Token, metric: str, unit: str) -> None:
        place = self.place.of(self._operation())
        samples = int(token["samples"]) if token["samples"] is not None else None
        job = partial(self._figure, token, place, unit=unit, samples=samples)
        for statistic in ("min", "max"):
            job(statistic, metric, statistic, rounding="down")
        for statistic in ("mean", "stdev"):
            job(statistic, metric, statistic)
        self._figure(token, place, "share", "group_share", unit="%")

    def _read_buckets(self, token: Token) -> None:
        unit = token["unit"] or ""
        per_second = {"nsec": 10**9, "usec": 10**6, "msec": 10**3}[unit]
        # Below 1000 of a unit the buckets of the next smaller one are used; fio before 3.0 had none of ns.
        first = 0 if unit == "nsec" or (unit == "usec" and self.ticks_per_second == 10**6) else 1
        for cell in _cells(token, "shares", _SHARE):
            bounds = latency_bounds(cell["label"] or "", per_second, first=first)
            self._share(cell, "completion_latency", bounds)

    def _read_depths(self, token: Token) -> None:
        metric = DEPTHS[" ".join((token["name"] or "").split())]
        for cell in _cells(token, "shares", _SHARE):
            self._share(cell, metric, depth_bounds(metric, cell["label"] or ""))

    def _share(self, cell: Token, metric: str, bounds: tuple[float | None, float | None]) -> None:
        share = cell.measurement("share", operation="all", metric=metric, unit="%").value
        self.bins.append(
            Bin(
                operation="all",
                metric=metric,
                low=bounds[0],
                high=bounds[1],
                share=share,
                line=cell.line,
                scope="job",
                part=self.place.part,
            )
        )

    def _read_cpu(self, token: Token) -> None:
        job = partial(self._figure, token, self.place.of("all"))
        job("user", "cpu_user", unit="%")
        job("system", "cpu_system", unit="%")
        job("switches", "context_switches", rounding="exact")
        job("major", "major_faults", rounding="exact")
        job("minor", "minor_faults", rounding="exact")

    def _read_issued(self, token: Token) -> None:
        # Where reads and writes are reported as one, all of them are counted as reads.
        first = "mixed" if self.place.operations == ["mixed"] else "read"
        for column, operation in (("read", first), ("write", "write"), ("trim", "trim")):
            counts = [token[f"{name}_{column}"] for name in ("total", "short", "dropped")]
            if any(int(count or "0") for count in counts):
                job = partial(self._figure, token, self.place.of(operation), rounding="exact")
                job(f"total_{column}", "operations")
                job(f"short_{column}", "short_operations")
                job(f"dropped_{column}", "dropped_operations")
        if int(token["total_sync"] or "0"):
            self._figure(token, self.place.of("sync"), "total_sync", "operations", rounding="exact")

    def _read_errors(self, token: Token) -> None:
        self._figure(token, self.place.of("all"), "total", "errors", rounding="exact")
        if int(token["total"] or ""):
            self.failed = True
            self.diagnostics.append(token.diagnostic("RUN_FAILED", f"{token['total']} requests failed."))

    def _read_target(self, token: Token) -> None:
        name = self.place.name
        for key in ("target", "window"):
            self._set(f"fio.latency_{key}", _seconds(token[key] or "", token[f"{key}_unit"]), token, name)
        self._set("fio.latency_percentile", str(float(token["percentile"] or "") / 100), token, name)
        self._set("fio.latency_depth", token["depth"], token, name)

    # The run's end

    def _read_group(self, token: Token) -> None:
        self.group = token["group"]

    def _group_place(self, token: Token) -> dict[str, Any]:
        jobs = [int(job["jobs"] or "") for job in self.jobs if job["group"] == self.group]
        return {
            "operation": (token["operation"] or "").lower(),
            "scope": "group",
            "part": self.group,
            "threads": sum(jobs) if jobs else None,
        }

    def _read_total(self, token: Token) -> None:
        group = partial(self._figure, token, self._group_place(token))
        for name, statistic in (("rate", "value"), ("min", "min"), ("max", "max")):
            group(name, "bandwidth", statistic, **_unit(token, name))
            again = f"{name}_again"
            group(again, "bandwidth", statistic, **_unit(token, again), primary=False)
        group("bytes", "bytes", **_unit(token, "bytes"))
        group("bytes_again", "bytes", **_unit(token, "bytes_again"), primary=False)
        group("shortest", "runtime", "min", unit="ms", rounding="exact")
        group("longest", "runtime", "max", unit="ms", rounding="exact")

    def _read_old_total(self, token: Token) -> None:
        group = partial(self._figure, token, self._group_place(token))
        for name, statistic in (("rate", "value"), ("min", "min"), ("max", "max")):
            how = _old_unit(token, name)
            group(name, "bandwidth", statistic, unit=how["unit"], rounding="down")
        group("bytes", "bytes", **_old_unit(token, "bytes"))
        self.measurements[-1] = _whole_number_only(self.measurements[-1])
        group("shortest", "runtime", "min", unit="ms", rounding="exact")
        group("longest", "runtime", "max", unit="ms", rounding="exact")

    def _read_disk(self, token: Token) -> None:
        name = token["name"] or ""
        self._disk(token, "", part=name, statistic="value", most="value", rounding="exact")
        if token["members"] is not None:
            self._disk(token, "all_", part=f"{name}/members", statistic="mean", most="max", rounding="down")

    def _disk(
        self, token: Token, prefix: str, *, part: str, statistic: str, most: str, rounding: Rounding
    ) -> None:
        def disk(operation: str, group: str, metric: str, **how: Any) -> None:
            place = {"scope": "disk", "part": part, "operation": operation}
            self._figure(token, place, prefix + group, metric, **how)

        how = {"statistic": statistic, "rounding": rounding}
        for operation in ("read", "write"):
            disk(operation, f"ios_{operation}", "disk_ios", **how)
            disk(operation, f"sectors_{operation}", "disk_sectors", **how)
            disk(operation, f"merge_{operation}", "disk_merges", **how)
            disk(operation, f"ticks_{operation}", "disk_ticks", unit="ms", **how)
        disk("all", "queue", "disk_queue_time", unit="ms", **how)
        disk("all", "util", "disk_utilisation", unit="%", statistic=most)


_SHARE: Final = r"(?P<label>(?:>=)?\d+)=\s*(?P<share>\d[\d.]*)%"


def _cells(token: Token, group: str, pattern: str) -> Iterator[Token]:
    """Yield what a pattern finds inside a group of a phrase."""
    if token.match is None or token[group] is None:
        return
    start, end = token.match.span(group)
    for match in re.compile(pattern).finditer(token.text.chars, start, end):
        yield Token(token.name, token.text, match.start(), match.end(), match)


def _cut(text: str | None) -> Rounding:
    """Return how fio shortened a number: with a suffix it is rounded, without one it was cut."""
    return "nearest" if (text or "")[-1:].isalpha() else "down"


def _unit(token: Token, group: str) -> dict[str, Any]:
    unit = token[f"{group}_unit"] or ""
    # Bytes without a prefix are whole.
    rounding: Rounding = {"B": "exact", "B/s": "down"}.get(unit, "nearest")  # type: ignore[assignment]
    return {"unit": unit.replace("KB", "kB"), "rounding": rounding}


def _old_unit(token: Token, group: str) -> dict[str, Any]:
    """Return the unit of the old layout, in which KB are 1024 bytes."""
    how = _unit(token, group)
    how["unit"] = re.sub(r"^([kKMGTP])B", lambda m: f"{m[1].upper()}iB", how["unit"])
    return how


def _whole_number_only(item: Measurement) -> Measurement:
    """Widen a figure of the old layout to what its whole number tells: 1305.02 was printed as ``1305.2``."""
    whole, point, _ = item.text.partition(".")
    if not point or item.value is None:
        return item
    unit = item.value / float(item.text)
    return replace(item, low=int(whole) * unit, high=(int(whole) + 1) * unit)


_SIZE_RANGE: Final = re.compile(r"(\d[\d.]*[kKMGT]?i?B?)-\s*(\d[\d.]*[kKMGT]?i?B?)")


def _ranges(sizes: str) -> list[tuple[str, str]]:
    """Return the smallest and largest block size of reads, writes and trims, in bytes where they are exact."""
    return [(_bytes(low), _bytes(high)) for low, high in _SIZE_RANGE.findall(sizes)]


def _bytes(text: str) -> str:
    try:
        return str(size(text))
    except ValueError:
        return text  # "16.2KiB" was rounded


def _canonical_sizes(sizes: str) -> str:
    """Write block sizes as fio's own option ``bs`` would have them, in bytes.

    >>> _canonical_sizes("(R) 128KiB-128KiB, (W) 128KiB-128KiB, (T) 128KiB-128KiB")
    '131072'
    >>> _canonical_sizes("4K-64K/8K-8K")
    '4096-65536,8192'
    """
    words = [low if low == high else f"{low}-{high}" for low, high in _ranges(sizes)]
    return words[0] if len(set(words)) == 1 else ",".join(words) or sizes.strip()


def _one_size(sizes: str) -> dict[str, int | None]:
    """Return the block size of each operation, or ``None`` where there are several."""
    one = [int(low) if low == high and low.isdigit() else None for low, high in _ranges(sizes)]
    if len(one) == 1:
        one *= 3
    known = dict(zip(("read", "write", "trim"), one, strict=False))
    known["mixed"] = one[0] if one and len(set(one)) == 1 else None
    return known


def _seconds(value: str, unit: str | None) -> str:
    """Return a time in seconds, or as printed where its unit is not printed and matters."""
    number = float(value)
    if number == 0:
        return "0"
    per_second = {"ns": 10**9, "us": 10**6, "ms": 10**3, "s": 1}
    return str(number / per_second[unit]) if unit is not None else value
