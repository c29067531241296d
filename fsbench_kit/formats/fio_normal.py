r"""fio's report for people (``--output-format=normal``), of fio 1.x, 2.x and 3.x.

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

The old layout, up to fio 2.16, has ``read : io=8671MB, bw=14796KB/s, iops=115, runt=600062msec`` and
``READ: io=8671MB, aggrb=14796KB/s, minb=..., maxb=..., mint=600062msec, maxt=600062msec``.

Rules of its printing, from fio's ``stat.c``, ``client.c`` and ``lib/num2str.c``:

- A heading names the unit of its own figures, and of no others. A suffix (``max=2430.4k``) multiplies by a power
  of 1000. ``KiB/s`` is 1024, ``kB/s`` in parentheses is 1000 (with ``kb_base=1000`` it is the other way round);
  ``Mibit/s`` (``unit_base=1``) is an eighth. In the old layout ``KB`` and ``Kbit`` are 1024, and there is no T:
  after G comes P.
- A figure with a suffix or prefix is rounded to its last digit. Up to fio 3.25 a fraction of .95 and above prints
  as ``.0`` without the carry, so that ``27.0MiB/s`` may have been 27.99: it is given as 27 to 28, unless its
  second printing shows that it was not. In the old
  layout the fraction is no decimal fraction at all (1305.02 prints as ``1305.2``): only the whole number holds.
- IOPS without a suffix are cut, not rounded; minimum and maximum of latencies are cut to the heading's unit, means
  and deviations rounded. Minimum and maximum of ``bw`` and ``iops`` lines are cut.
- A percentile is the middle of a bin, rounded up to whole µs or ms; see `fsbench_kit.formats.fio`.
- ``bw`` and ``iops`` lines are statistics over intervals (of 0.5 s). The rate of a job is ``BW=`` and ``IOPS=``.
  A ``bw`` line is in KiB/s even where ``kb_base=1000`` makes its heading ``kB/s``; what it calls ``MiB/s`` then
  is 1000 KiB/s.
- ``minb`` and ``maxb`` are bytes per ms in fio 1.x (their ``KB/s`` is 1000) and KiB/s in fio 2.1; between the two,
  both are possible. Where 1.x prints ``KiB/s``, all its rates are bytes per ms.
- The buckets ``lat (usec)   : 2=28.10%`` are of completion latencies, of all directions together.
- The date on a job's line is when the report was made: the end of the run.
- ``aggr...`` figures of a disk are means over the disk's members (the utilisation: their maximum). They are given
  to the part ``<disk>/members``, as latencies of one priority are to ``<job>/prio 1/0/0`` or ``<job>/high prio``.
- With ``unified_rw_reporting=both`` fio 3.33 sums no bytes for ``mixed: IOPS=0, BW=0 (0)``: they are missing.
- What a ``steadystate`` line has in parentheses is scaled twice, and is left out.

Counts of a direction in which nothing was done are left out, as fio's other lines leave that direction out.
Neither a job's line nor a status group's is needed: excerpts are read too, and a note says what they lack.

With ``--status-interval`` fio reports over and over on one run: same jobs, same pids, more bytes. The last
complete report is the run's; how the bytes and operations grew is a series.

In client mode a job's figures are those of a client (``<host>/<job>``), and ``All clients`` is their sum.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.formats import totals
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.commands import command_settings
from fsbench_kit.formats.fio import (
    COMMAND,
    DEPTHS,
    LATENCIES,
    TOOL,
    depth_bounds,
    has_bin,
    latency_bounds,
    part_names,
    percentile_bounds,
    report_time,
    undescribed,
)
from fsbench_kit.formats.fio_requests import over_requests
from fsbench_kit.formats.lexer import UNREAD, Lexer, Token, unread_figure
from fsbench_kit.records import Bin, Block, Diagnostic, Measurement, Run, Setting
from fsbench_kit.units import quantity, size
from fsbench_kit.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from fsbench_kit.formats.text import Text
    from fsbench_kit.formats.totals import Place
    from fsbench_kit.records import Origin, Record, Scope, Status
    from fsbench_kit.units import Rounding

__all__ = ["TOOL", "marks", "parse"]


def _bytes_moved(name: str) -> str:
    """Match a number of bytes with its unit glued to it: groups ``<name>`` and ``<name>_unit``."""
    return rf"(?P<{name}>-?\d+(?:\.\d+)?) (?P<{name}_unit>[kKMGTPE]?i?B)"


def _rate(name: str) -> str:
    """Match a bandwidth with its unit, which fio forgets in some sums: groups ``<name>`` and ``<name>_unit``."""
    return rf"(?P<{name}>-?\d+(?:\.\d+)?) (?P<{name}_unit>(?:[kKMGTPE]i?)?(?:(?:B|bit) /s)?)"


def _counts(name: str) -> str:
    """Match counts of reads, writes and, in newer versions, trims and syncs: groups ``<name>_read`` and so on."""
    read, write, trim, sync = (rf"(?P<{name}_{word}>\d+)" for word in ("read", "write", "trim", "sync"))
    return rf"(?:r= )?{read} [,/] (?:w= )?{write}(?: [,/] (?:[td]= )?{trim}(?: [,/] {sync})?)?"


def _pair(name: str, word: str | None = None) -> str:
    word = word or name
    return rf"{word}= (?P<{name}_read>\d+)/(?P<{name}_write>\d+)"


_JOB: Final = r"(?P<name>(?:^[^\S\n]{0,80}+|(?<=>\s))[^\s:<][^\n<]{0,79}?|All\s+clients|\S{1,100}): "
_SHARES: Final = r"(?P<shares>(?:>=)?\d+= [\d.]+%(?: , (?:>=)?\d+= [\d.]+%)*)"
_LATENCY_UNIT: Final = r"\( (?P<unit>nsec|usec|msec) \)"
_OPERATION: Final = r"(?P<operation>read|write|trim|mixed)"
_NUMBER: Final = r"\d+(?:\.\d+)?[kKMGTPE]?"
_MEAN: Final = r"(?:-?\d+\.\d\d|-?nan|-?inf)"
_STATISTICS: Final = (
    rf"min= (?P<min>{_NUMBER}) , max= (?P<max>{_NUMBER}) ,(?: per= (?P<share>{_MEAN})% ,)? "
    rf"avg= (?P<mean>{_MEAN}) , (?:st)?dev= (?P<stdev>{_MEAN})(?: , samples= (?P<samples>\d+))?"
)
_TO: Final = "[-–]"

_LEXER: Final = Lexer(
    command=(
        r"(?:^[^\n@]{0,60}@(?P<host>[\w.-]{1,64})[^\n#$]{0,200}[#$] )?"
        rf"{COMMAND}(?:\\[^\S\n]*\n|\n(?=[^\S\n]*--[a-z])|(?!\S{{1,100}}: \(g(?:=|roupid)|fio-\d)[^\n])*"
    ),
    hello=(
        r"hostname= (?P<host>[^,\s]{1,64}), be= \d+, \d+-bit, os= (?P<os>[^,\n]{1,40}), "
        r"arch= [^,\n]{1,40}, fio= (?:fio-)?(?P<version>\d[\w.-]{0,40})(?:, flags= \d+)?"
    ),
    client=r"<(?P<host>[\w.:-]{1,64})>(?=\s)(?: \.\.\.)?",
    header=(
        _JOB + r"\(g= (?P<group>\d+)\): rw= (?P<pattern>\w+), bs= (?P<sizes>[^=]{0,160}?), "
        r"ioengine= (?P<engine>[\w-]+), iodepth= (?P<iodepth>\d+)(?: \.\.\.)?"
    ),
    banner=r"(?<![/\w]-)(?<![/;])fio[-\s](?P<version>\d+\.\d+(?:\.\d+)*(?:-\d+-g[0-9a-f]+)?(?:-dirty)?)",
    started=r"Starting (?P<what>\d+ (?:process|thread)(?:es|s)?(?: and \d+ (?:process|thread)(?:es|s)?)?)",
    layout=_JOB + r"Laying out IO file[()s]* \(\d+ file[()s]* / (?:total )?(?P<size>\d+) Mi?B\)",
    progress=(
        r"(?:(?:Jobs|\^Cbs): \d+ \(f= [^)\n]*\)"
        r"(?:[^\n]{0,400}?\[ eta [\ddhms:]+\]?|, [\d.]+[kMG]?-[\d.]+[kMG]? IOPS)? )+"
    ),
    trouble=(
        r"fio: (?:pid= \d+, err= -?\d+/[^,\n]{1,200}, func= [^,\n]{1,200}, "
        r"error= (?:Unknown\s+error\s+-?\d+|[A-Z][\w/]*(?:\s(?!Run\s)[A-Za-z/]+(?![\w:.-]))*)|"
        r"io_u error on file [^\n]{1,500}?, buflen= \d+|"
        r"pid= \d+, got signal= \d+)|"
        r"client <[^>\n]{1,100}>: exited with (?:error|signal) \d+|"
        r"\S{1,100}: you need to specify size=|"
        r"(?:^[^\S\n]*[\w-]{1,20}:\s(?:bad\s(?:magic\s)?header|verify\sfailed)[^\n]{1,1000}$\s*)+"
    ),
    stopped=r"fio: terminating on signal \d+",
    capped=r"note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1",
    job=(
        _JOB
        + r"\(groupid= (?P<group>\d+)(?:, jobs= (?P<jobs>\d{1,9}))?\): "
        + r"err= (?P<error>-?\d{1,15})(?: \([^\n]{0,500}?\))?:(?: pid= (?P<pid>\d+))?"
        r"(?:: (?P<date>[A-Z][a-z]{2} [A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d \d{4}))?"
    ),
    description=r"Description : \[(?P<description>[^\]\n]*)\]",
    rate=(
        rf"{_OPERATION} : IOPS= (?P<iops>{_NUMBER}), BW= {_rate('rate')} "
        rf"\( {_rate('rate_again')} \) "
        rf"\( {_bytes_moved('bytes')} / (?P<runtime>\d{{1,15}}) msec \)(?: ; (?P<resets>\d+) zone resets)?"
    ),
    old_rate=(
        rf"{_OPERATION} : io= {_bytes_moved('bytes')} , bw= {_rate('rate')} , "
        rf"(?:iops= (?P<iops>{_NUMBER}) , )?runt= (?P<runtime>\d{{1,15}}) msec"
    ),
    latency=(
        r"(?:(?P<level>high|low) prio_)?(?P<kind>slat|clat|lat|sync)(?: prio (?P<priority>\d+/\d+(?:/\d+)?))? "
        rf"{_LATENCY_UNIT} : {_STATISTICS}"
    ),
    percentiles=(
        rf"(?:(?P<level>high|low) prio \( (?P<level_share>{_MEAN})% \) )?(?P<kind>slat|clat|lat|sync)"
        rf"(?: prio (?P<priority>\d+/\d+(?:/\d+)?) \( (?P<priority_share>{_MEAN})% of IOs \))? "
        rf"percentiles {_LATENCY_UNIT} : "
        r"(?P<cells>(?:[|\s]*+\d+(?:\.\d+)?th= \[ \d+ \] ,?)+)"
    ),
    sync=r"fsync/fdatasync/sync_file_range[/\w]* :",
    bandwidths=rf"bw \( (?P<unit>[kKMG]?i?(?:B|bit)) /s \) : {_STATISTICS}",
    iops=rf"iops : {_STATISTICS}",
    buckets=rf"lat {_LATENCY_UNIT} : {_SHARES}",
    cpu=(
        r"cpu : usr= (?P<user>[\d.]+)%, sys= (?P<system>[\d.]+)%, ctx= (?P<switches>\d+)"
        r"(?:, majf= (?P<major>\d+), minf= (?P<minor>\d+))?"
    ),
    depths=rf"(?P<name>IO\s+depths|submit|complete) : {_SHARES}",
    issued=(
        rf"issued (?:rwts?|r/w(?:/d)?)? : total= {_counts('total')} ,? short= {_counts('short')}"
        rf"(?: ,? drop(?:ped)?= {_counts('dropped')})?"
    ),
    errors=r"errors : total= (?P<total>\d+), first_error= (?P<first>\d+)/<[^>]{0,200}>",
    target=(
        r"latency : target= (?P<target>[\d.]+)(?P<target_unit>[nmu]?s)?, "
        r"window= (?P<window>[\d.]+)(?P<window_unit>[nmu]?s)?, "
        r"percentile= (?P<percentile>[\d.]+)%, depth= (?P<depth>\d+)"
    ),
    steady=(
        rf"steadystate : attained= (?P<attained>yes|no), bw= {_rate('rate')}(?: \( [^)\n]{{1,40}} \))?, "
        rf"iops= (?P<iops>{_NUMBER}),(?: lat= (?P<latency>{_NUMBER}) (?P<unit>nsec|usec|msec),)? "
        r"(?P<criterion>(?:iops|bw|lat) (?:slope|mean dev)= (?:-?\d+\.\d+|-?nan|-?inf) %?)"
    ),
    group=r"Run status group (?P<group>\d+) \(all jobs\):",
    total=(
        r"(?P<operation>READ|WRITE|TRIM|MIXED) : "
        rf"bw= {_rate('rate')} \( {_rate('rate_again')} \), {_rate('min')} {_TO} {_rate('max')} "
        rf"\( {_rate('min_again')} {_TO} {_rate('max_again')} \), "
        rf"io= {_bytes_moved('bytes')} \( {_bytes_moved('bytes_again')} \), "
        rf"run= (?P<shortest>\d+) {_TO} (?P<longest>\d+) msec"
    ),
    old_total=(
        rf"(?P<operation>READ|WRITE|TRIM|MIXED) : io= {_bytes_moved('bytes')}, aggrb= {_rate('rate')}, "
        rf"minb= {_rate('min')}, maxb= {_rate('max')}, "
        r"mint= (?P<shortest>\d+) msec, maxt= (?P<longest>\d+) msec"
    ),
    disks=r"Disk stats \(read/write\):",
    disk=(
        r"(?P<name>[\w.!-]{1,64}): "
        rf"{_pair('ios')}, (?:{_pair('sectors')}, )?{_pair('merge')}, {_pair('ticks')}, "
        r"in_queue= (?P<queue>\d+), util= (?P<util>[\d.]+)%"
        rf"(?P<members>, {_pair('all_ios', 'aggrios')}, (?:{_pair('all_sectors', 'aggr?sectors')}, )?"
        rf"{_pair('all_merge', 'aggrmerge')}, {_pair('all_ticks', 'aggrticks')}, "
        r"aggrin_queue= (?P<all_queue>\d+), aggrutil= (?P<all_util>[\d.]+)%)?"
    ),
    idleness=(
        r"CPU idleness:|(?<!\w)system: (?P<system>\d+\.\d\d)%(?=[\s|]{1,20}(?:percpu|unit\s+work):)|"
        r"percpu: (?P<each>\d+\.\d\d%(?:, \d+\.\d\d%)*)|"
        r"unit\s+work: mean= (?P<mean>[\d.]+) us, stddev= (?P<stdev>[\d.]+)"
    ),
    lifetimes=(
        r"block lifetime percentiles :(?:[|\s]*+\d+(?:\.\d+)?th= \d+ ,?)+ states :(?:[a-z\s]{1,20}= \d+,?)+"
    ),
    said=r"(?<![\w./-])fio: [^\n]{1,300}$",
)

_SET_UP: Final = {"command", "hello", "header", "banner", "started"}
_PREAMBLE: Final = {*_SET_UP, "client", "layout", "progress", "capped"}
_SUMMARY: Final = {"group", "total", "old_total", "disks", "disk", "idleness"}
_BESIDE: Final = {UNREAD, "said"}

_ONLY_MARKS: Final = {"banner", "sync", "disks"}
"""Phrases that hold no figure of their own; the version is looked up beforehand."""

_MARKS: Final = re.compile(
    r"\(groupid=\s*\d+(?:,\s*jobs=\s*\d+)?\):\s*err=|\bIOPS=\s*[\d.]+[kMG]?,\s*BW=\s*-?\d|Run status group \d+|"
    r":\s*io=\s*[\d.]+\s*\w*\s?,\s*(?:bw|aggrb)=\s*-?\d|\b(?:READ|WRITE|TRIM|MIXED):\s*bw=\s*-?\d|"
    r"\(g=\s*\d+\):\s*rw=|\bhostname=[^,\s]{1,64}, be=\d"
)

_ALL_CLIENTS: Final = "All clients"


class _Report:
    """The phrases of one report, and of what stands before it.

    Attributes
    ----------
    result
        The report that counts of all those on the same jobs: this one, or a later one.
    is_one_of_many
        Whether there are others.
    client, label
        The host whose report it is, in client mode, and what tells it from others of that name.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.names = {token.name for token in tokens}
        self.jobs = [token for token in tokens if token.name == "job"]
        self.rates = [token for token in tokens if token.name in {"rate", "old_rate"}]
        self.is_complete = not self.names.isdisjoint({"group", "total", "old_total"})
        self.runtime = max((int(rate["runtime"] or "") for rate in self.rates), default=0)
        self.result = self
        self.is_one_of_many = False
        self.client: str | None = None
        self.label: str | None = None

    @cached_property
    def identity(self) -> set[tuple[str, str]]:
        """The names and process ids of the jobs, which no two runs have in common."""
        return {(_job_name(job), pid) for job in self.jobs if (pid := job["pid"]) is not None and pid != "0"}

    @property
    def printed_rates(self) -> list[str]:
        return [rate.match[0] for rate in self.rates if rate.match is not None]

    @property
    def is_cut(self) -> bool:
        """Whether it stops inside the figures of a job."""
        if self.is_complete or not self.jobs or int(self.jobs[-1]["error"] or ""):
            return False
        return not any(token.name == "issued" and token.start > self.jobs[-1].start for token in self.tokens)

    @cached_property
    def has_clients(self) -> bool:
        """Whether it is one of client mode, and not of a text with something in angle brackets."""
        return "hello" in self.names or any(
            one.name == "client" and other.name in _SET_UP | {"job"} for one, other in pairwise(self.tokens)
        )

    @property
    def is_sum_of_clients(self) -> bool:
        return any(_job_name(job) == _ALL_CLIENTS for job in self.jobs)


def marks(chars: str) -> Iterator[int]:
    """Yield where in a text something stands that only a log of this format has."""
    return undescribed(_MARKS, chars)


def parse(text: Text) -> Iterator[Record]:
    """Yield each run of a text, and diagnostics for what is odd in it or was not understood."""
    for reports in _runs(_reports(_LEXER.tokens(text))):
        yield from _Reader(reports).records()


def _reports(tokens: Iterable[Token]) -> Iterator[_Report]:
    """Split the phrases of a text into reports."""
    current: list[Token] = []
    seen: set[str] = set()
    printed: set[str] = set()
    for token in tokens:
        figures = _printed_once(token, current, seen)
        if _starts_report(token, seen) or (figures is not None and figures in printed):
            yield _Report(current)
            current, seen, printed = [], set(), set()
        current.append(token)
        seen.add(token.name)
        if figures is not None:
            printed.add(figures)
    if current:
        yield _Report(current)


def _starts_report(token: Token, seen: set[str]) -> bool:
    if token.name in _BESIDE or seen <= _BESIDE:
        return False
    if token.name == "command":
        return True
    if token.name == "banner" and "banner" in seen:
        return True
    if token.name in _SET_UP:
        return not seen <= _PREAMBLE | _BESIDE | {"trouble"}
    return token.name not in _SUMMARY and not seen.isdisjoint(_SUMMARY)


def _printed_once(token: Token, current: Sequence[Token], seen: set[str]) -> str | None:
    """Name the figures that no report has twice: excerpts of several reports can stand one after another.

    Directly after itself a line is a copy's double.
    """
    if token.name in {"rate", "old_rate"} and "job" not in seen:
        return f"rate {token['operation']}"
    if token.name in {"total", "old_total"} and "group" not in seen:
        return f"total {token['operation']}"
    if token.name == "group" and not (current and current[-1].name == "group"):
        return f"group {token['group']}"
    return None


def _runs(reports: Iterable[_Report]) -> Iterator[list[_Report]]:
    """Join the reports of each run: what fio says of it again and again, or of one client after the other."""
    current: list[_Report] = []
    for report in reports:
        if current and not _continues(current, report):
            yield current
            current = []
        current.append(report)
    if current:
        yield current


def _continues(run: Sequence[_Report], report: _Report) -> bool:
    if not report.names.isdisjoint(_SET_UP):
        return False
    is_of_client = "client" in report.names or report.is_sum_of_clients
    return bool(run[-1].identity & report.identity) or (is_of_client and run[0].has_clients)


def _choose_results(reports: Sequence[_Report]) -> None:
    """Find out which of the reports on the same jobs counts: the last one that is complete.

    What a copy put into another order is told by the runtime.
    """
    chains: list[list[_Report]] = []
    chain_of: dict[tuple[str, str], list[_Report]] = {}
    for report in reports:
        chain = next((chain_of[key] for key in report.identity if key in chain_of), None)
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(report)
        chain_of |= dict.fromkeys(report.identity, chain)
    for chain in chains:
        result = sorted(chain, key=lambda report: (report.is_complete, report.runtime))[-1]
        for report in chain:
            report.result = result
            report.is_one_of_many = len(chain) > 1


@dataclass
class _Place:
    """What the figures of a job belong to."""

    name: str | None = None
    scope: Scope = "job"
    part: str | None = None
    jobs: int | None = None
    operations: list[str] = field(default_factory=list)
    block_sizes: dict[str, int | None] = field(default_factory=dict)
    kb_base: int = 1024

    def of(self, operation: str, level: str | None = None) -> dict[str, Any]:
        """Return the columns of a measurement of this job, or of one priority level of it."""
        names = [name for name in (self.part, level) if name is not None]
        return {
            "operation": operation,
            "scope": self.scope,
            "part": "/".join(names) or None,
            "threads": self.jobs,
            "block_size": self.block_sizes.get(operation),
        }


class _Reader:
    """Reads the reports of one run."""

    def __init__(self, reports: list[_Report]) -> None:
        self.reports = reports
        _choose_results(reports)
        self.results = [report for report in reports if report.result is report]
        self.known = [token for report in reports for token in report.tokens if token.name != UNREAD]
        self.settings: list[Setting] = []
        self.given: set[tuple[str, str, str | None]] = set()
        self.measurements: list[Measurement] = []
        self.bins: list[Bin] = []
        self.series: dict[tuple[str | None, str, str], dict[float, tuple[float, int]]] = {}
        self.diagnostics: list[Diagnostic] = []
        self.failed = False
        self.stopped = False
        self.ended_at: datetime | None = None
        self.group: str | None = None
        self.wholes: dict[Place, dict[Place, None]] = defaultdict(dict)

        self.headers = [token for token in self.known if token.name == "header"]
        self.jobs = [job for report in self.results for job in report.jobs]
        names = list(part_names(map(_job_name, self.jobs)))
        self.parts = {job.start: name for job, name in zip(self.jobs, names, strict=True)}
        self.parts_of_processes = {
            (_job_name(job), job["pid"]): name for job, name in zip(self.jobs, names, strict=True)
        }
        self.names_of_jobs = set(map(_job_name, self.jobs))
        self.has_several = len((self.names_of_jobs | set(map(_job_name, self.headers))) - {_ALL_CLIENTS}) > 1
        self.sizes: dict[tuple[str | None, str | None], dict[str, int | None]] = {}

        hosts = {token["host"] for token in self.known if token.name == "hello"}
        self.host = hosts.pop() if len(hosts) == 1 else None
        self.has_clients = reports[0].has_clients
        if self.has_clients:
            self._name_clients()

        self.version = next((t["version"] for t in self.known if t.name in {"banner", "hello"}), None)
        number = _VERSION.match(self.version or "")
        self.version_number = (int(number[1]), int(number[2])) if number else None
        self.is_old_layout = any(token.name in {"old_rate", "old_total"} for token in self.known)
        is_old = self.version_number < (2, 99) if self.version_number is not None else self.is_old_layout
        # Since 3.0 latencies are taken in ns.
        self.ticks_per_second = 10**6 if is_old else 10**9
        self.counts_bytes_per_ms = False
        self.is_decimal = False
        self.report = reports[0]
        self.place = _Place()

    def _name_clients(self) -> None:
        for report in self.results:
            start = report.jobs[0].start if report.jobs else 0
            before = [t["host"] for t in report.tokens if t.name == "client" and t.start < start]
            report.client = None if report.is_sum_of_clients else before[-1] if before else self.host
        of_clients = [report for report in self.results if report.client is not None]
        for report, label in zip(
            of_clients, part_names(report.client or "" for report in of_clients), strict=True
        ):
            report.label = label

    def records(self) -> Iterator[Record]:
        """Yield the run, unless it has neither figures nor an error, its series, and the diagnostics."""
        for report in self.reports:
            self._read_report(report)
        self._read_threads()
        self.measurements, said = over_requests(self.measurements)
        self.diagnostics += said
        if self.measurements or self.failed:
            yield self._run()
            yield from self._blocks()
        if self.known:
            self._note_gaps()
            self.diagnostics += cross_checks(self.measurements)
            self.diagnostics += totals.checks(
                self.measurements,
                {whole: list(parts) for whole, parts in self.wholes.items()},
                has_all_parts=self._has_all_jobs(),
            )
        yield from self.diagnostics

    def _read_report(self, report: _Report) -> None:
        self.report = report
        self.place = _Place(block_sizes=self._block_sizes())
        known, binned, ended_at = len(self.measurements), len(self.bins), self.ended_at
        for token in report.tokens:
            try:
                if token.name not in _ONLY_MARKS:
                    getattr(self, f"_read_{token.name.lower()}")(token)
            except ValueError:
                self._not_understood(token)
        if report.is_one_of_many:
            self._add_to_series(self.measurements[known:])
        if report.result is not report:
            del self.measurements[known:], self.bins[binned:]
            self.ended_at = ended_at
            self._note_interim(report)

    def _add_to_series(self, measurements: Sequence[Measurement]) -> None:
        runtimes = {
            (m.part, m.operation): m.value for m in measurements if m.metric == "runtime" and m.scope != "group"
        }
        for item in measurements:
            time = runtimes.get((item.part, item.operation))
            if item.metric in {"bytes", "operations"} and item.scope != "group" and None not in (time, item.value):
                points = self.series.setdefault((item.part, item.operation, item.metric), {})
                points[time] = (item.value, item.line)  # type: ignore[index,assignment]

    def _note_interim(self, report: _Report) -> None:
        if report.printed_rates == report.result.printed_rates:
            code, message = "SAME_RUN", "This report stands in the log twice, and counts once."
        else:
            code, message = "INTERIM_REPORT", "The run was still going on."
        self.diagnostics.append(report.jobs[0].diagnostic(code, message))

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
            host=self.host or next((token["host"] for token in self.known if token.name == "command"), None),
            ended_at=self.ended_at,
            duration=max(runtimes, default=None),
            status=self._status(),
            settings=tuple(self.settings),
            measurements=tuple(self.measurements),
            bins=tuple(self.bins),
        )

    def _status(self) -> Status:
        if self.failed:
            return "failed"
        last = self.reports[-1]
        groups = {token["group"] for token in self.jobs if token["group"] is not None}
        unreported = {header["group"] for header in self.headers} - groups if groups else set()
        is_cut = not last.is_complete and (last.result is not last or bool(unreported) or self._lacks_jobs())
        return "partial" if self.stopped or is_cut or last.is_cut else "ok"

    def _lacks_jobs(self) -> bool:
        """Whether fio started more processes than the jobs' lines account for."""
        started, told = self._processes()
        return bool(started and told) and started > told

    def _has_all_jobs(self) -> bool:
        """Whether the jobs' lines account for all the processes that fio started."""
        started, told = self._processes()
        return 0 < started == told and not self.has_clients

    def _processes(self) -> tuple[int, int]:
        """Return how many processes fio started, or 0 if it does not say, and how many the jobs' lines are of."""
        started = [token["what"] or "" for token in self.known if token.name == "started"]
        counts = [int(job["jobs"] or "1") for job in self.jobs]
        return sum(map(int, re.findall(r"\d+", started[0]))) if started else 0, sum(counts)

    def _blocks(self) -> Iterator[Block]:
        for (part, operation, metric), points in self.series.items():
            times = sorted(points)
            yield Block(
                operation=operation,
                metric=metric,
                part=part,
                times=times,
                values=[points[time][0] for time in times],
                lines=[points[time][1] for time in times],
            )

    def _note_gaps(self) -> None:
        present = {token.name for token in self.known}
        parts = {
            "the jobs' headers": {"header"},
            "fio's version": {"banner", "hello"},
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
        """Keep a figure, if the phrase holds it. A deviation of a single value is none, and may be below 0."""
        text = token[group]
        if text is None:
            return
        if text.lstrip("-") in {"nan", "inf"} or (statistic == "stdev" and text.startswith("-")):
            item = Measurement(
                metric=metric,
                statistic=statistic,
                value=None,
                unit=METRICS[metric].unit,
                state="missing",
                text=text,
                line=token.line_of(group),
                **place,
            )
        else:
            item = token.measurement(group, metric=metric, statistic=statistic, **place, **how)
        self.measurements.append(item)

    def _short_figure(
        self,
        token: Token,
        place: Mapping[str, Any],
        group: str,
        metric: str,
        statistic: str = "value",
        *,
        unit: str,
        rounding: Rounding,
        **how: Any,
    ) -> None:
        """Keep a figure that fio shortened to a few digits; `rounding` is that of one without a suffix."""
        text = token[group]
        if text is None:
            return
        if text[-1:].isalpha():
            rounding = "nearest"
        self._figure(token, place, group, metric, statistic, unit=unit, rounding=rounding, **how)
        number = _FRACTION.fullmatch(text)
        if number is not None and (self.is_old_layout or self._may_lack_carry(number)):
            item = self.measurements[-1]
            ends = (int(number["whole"]), int(number["whole"]) + 1)
            low, high = (quantity(f"{end}{number['suffix']}", unit, rounding="exact").value for end in ends)
            # Rounded up to .0 it can be only where the carry is not lost, which an unknown version may do.
            is_known = self.is_old_layout or self.version_number is not None
            self.measurements[-1] = replace(item, low=low if is_known else item.low, high=high)

    def _may_lack_carry(self, number: re.Match[str]) -> bool:
        """Whether this fio may have printed 27.99 as 27.0."""
        has_carry = self.version_number is not None and self.version_number > (3, 25)
        return not has_carry and not int(number["fraction"])

    def _amount_twice(self, token: Token, place: Mapping[str, Any], group: str, statistic: str = "value") -> None:
        """Keep an amount and its second printing, which tells whether the first one lacks its carry."""
        self._amount(token, place, group, statistic)
        first = self.measurements[-1]
        self._amount(token, place, f"{group}_again", statistic, primary=False)
        number = _FRACTION.fullmatch(first.text)
        if self.is_old_layout or number is None or not self._may_lack_carry(number) or not first.value:
            return
        step = first.value / float(first.text) * 10.0 ** -len(number["fraction"])
        carried = replace(first, high=first.value + step / 2)
        if _overlap(carried, self.measurements[-1]):
            self.measurements[-2] = carried
        elif _overlap(first, self.measurements[-1]):
            self.diagnostics.append(
                token.diagnostic("CARRY_LOST", f"{first.text} stands for almost {int(number['whole']) + 1}.")
            )

    def _amount(
        self,
        token: Token,
        place: Mapping[str, Any],
        group: str,
        statistic: str = "value",
        *,
        counted_in: str = "",
        primary: bool = True,
    ) -> None:
        """Keep a number of bytes, or of bytes per second, that has its unit beside it.

        With the prefix in which fio counts it is cut, with a larger one rounded.
        """
        prefix, is_binary, unit, is_rate = _unit(token, group)
        rounding: Rounding = "nearest"
        if prefix in {"", counted_in}:
            rounding = "down" if is_rate or counted_in else "exact"
        if self.is_old_layout:
            prefix = {"P": "T", "E": "P"}.get(prefix, prefix)
            is_binary = not self.is_decimal
        name = f"{prefix.upper()}i" if prefix and is_binary else prefix.replace("K", "k")
        metric, per_second = ("bandwidth", "/s") if is_rate else ("bytes", "")
        unit = f"{name}{unit}{per_second}"
        self._short_figure(token, place, group, metric, statistic, unit=unit, rounding=rounding, primary=primary)
        if is_rate and self.counts_bytes_per_ms:
            self.measurements[-1] = _scaled(self.measurements[-1], 1000 / 1024)

    def _set(self, key: str, value: str | None, token: Token, name: str | None = None) -> None:
        """Keep a setting; one of a job belongs to the whole run where the run has no others."""
        if value is None:
            return
        scope: Scope
        scope, part = ("job", name) if name is not None and self.has_several else ("all", None)
        if (key, value, part) not in self.given:
            self.given.add((key, value, part))
            self.settings.append(Setting(key=key, value=value, scope=scope, part=part, line=token.line))

    # What stands before the figures

    def _read_command(self, token: Token) -> None:
        words = token.text.chars[token.start : token.end]
        made = list(command_settings(words, origin=self._origin(token), line=token.line))
        self.is_decimal = any((item.key, item.value) == ("fio.kb_base", "1000") for item in made)
        self.settings += made

    def _origin(self, command: Token) -> Origin:
        """Tell what was typed at a prompt, or stands right before the report, from what a text says was run."""
        chars = command.text.chars
        before = chars[chars.rfind("\n", 0, command.start) + 1 : command.start]
        tokens = self.report.tokens
        follower = tokens[tokens.index(command) + 1 :][:1]
        has_prompt = command["host"] is not None or _PROMPT.search(before) is not None
        return "command" if has_prompt or not follower or follower[0].name != UNREAD else "stated"

    def _read_hello(self, token: Token) -> None:
        self._set("os", token["os"], token)

    def _read_client(self, token: Token) -> None:
        if not self.has_clients:
            self._not_understood(token)

    def _read_header(self, token: Token) -> None:
        name = _job_name(token)
        self._set("job_name", name, token, name)
        self._set("pattern", token["pattern"], token, name)
        self._set("block_size", _canonical_sizes(token["sizes"] or ""), token, name)
        self._set("engine", token["engine"], token, name)
        self._set("iodepth", token["iodepth"], token, name)

    def _read_capped(self, token: Token) -> None:
        self.diagnostics.append(
            token.diagnostic("QUALIFIED", "The engine is synchronous: it keeps one request in flight.")
        )

    def _read_started(self, token: Token) -> None:
        self._set("fio.started", " ".join((token["what"] or "").split()), token)

    def _read_layout(self, token: Token) -> None:
        # Cut to MiB, so a command line that states the size knows it better.
        if not any((item.key, item.origin) == ("file_size", "command") for item in self.settings):
            self._set("file_size", str(int(token["size"] or "") * 2**20), token, _job_name(token))

    def _read_progress(self, token: Token) -> None:
        self.diagnostics.append(token.diagnostic("PROGRESS", "Momentary figures are not the run's result."))

    def _read_trouble(self, token: Token) -> None:
        self.failed = True
        self.diagnostics.append(token.diagnostic("RUN_FAILED", "fio reports an error."))

    def _read_said(self, token: Token) -> None:
        if unread_figure(token) is not None:
            self.diagnostics.append(
                token.diagnostic("OTHER_TEXT", "fio says more of the run than its report has.")
            )

    def _read_stopped(self, token: Token) -> None:
        self.stopped = True
        self.diagnostics.append(token.diagnostic("RUN_STOPPED", "fio was stopped before the run's end."))

    def _read_threads(self) -> None:
        total = Counter[str]()
        for job in self.jobs:
            if job["jobs"] is not None and _job_name(job) != _ALL_CLIENTS:
                total[_job_name(job)] += int(job["jobs"])
        for name, jobs in total.items():
            self._set("threads", str(jobs), self.jobs[0], name)

    # A job

    def _read_job(self, token: Token) -> None:
        name = _job_name(token)
        is_sum = self.has_clients and name == _ALL_CLIENTS
        part = self.parts.get(token.start) or self.parts_of_processes.get((name, token["pid"])) or name
        self.place = _Place(
            name=None if is_sum else name,
            scope="all" if is_sum else "client" if self.has_clients else "job",
            part=None if is_sum else self._of_client(part),
            jobs=int(token["jobs"]) if token["jobs"] is not None else None,
            block_sizes=self._block_sizes() if is_sum else self._block_sizes(token["group"], name),
        )
        if not is_sum:
            self.wholes["group", self._of_client(token["group"])][self.place.scope, self.place.part] = None
            self.wholes["all", None][self.place.scope, self.place.part] = None
        if int(token["error"] or "") != 0:
            self.failed = True
            self.diagnostics.append(token.diagnostic("RUN_FAILED", f"The job {name} ended with an error."))
        if token["date"] is not None:
            self.ended_at = report_time(token["date"] or "")

    def _of_client(self, part: str | None) -> str | None:
        names = [name for name in (self.report.result.label, part) if name is not None]
        return "/".join(names) or None

    def _block_sizes(self, group: str | None = None, name: str | None = None) -> dict[str, int | None]:
        """Return the block size of each operation of a job, as far as the headers leave no doubt.

        A job's figures may be those of a whole group, in which case they go by the name of its first job.
        """
        if (group, name) not in self.sizes:
            headers = self.headers
            if name is not None:
                others = self.names_of_jobs - {name}
                headers = [h for h in headers if h["group"] == group and _job_name(h) not in others]
            known = [_one_size(header["sizes"] or "") for header in headers]
            is_clear = bool(known) and all(sizes == known[0] for sizes in known)
            self.sizes[group, name] = known[0] if is_clear else {}
        return self.sizes[group, name]

    def _read_description(self, token: Token) -> None:
        self._set("description", token["description"], token, self.place.name)

    def _read_rate(self, token: Token) -> None:
        operation = token["operation"] or ""
        self.place.operations.append(operation)
        self.place.kb_base = 1024 if _unit(token, "rate")[1] or not _unit(token, "rate")[0] else 1000
        place = self.place.of(operation)
        if operation == "mixed" and token["bytes"] == "0" and len(self.place.operations) > 1:
            self.diagnostics.append(
                token.diagnostic("FIGURES_DISAGREE", "The sum of the reads and writes is printed as 0.")
            )
        else:
            self._short_figure(token, place, "iops", "iops", unit="1/s", rounding="down")
            self._amount_twice(token, place, "rate")
            self._amount(token, place, "bytes")
        self._figure(token, place, "runtime", "runtime", unit="ms", rounding="exact")
        self._figure(token, place, "resets", "zone_resets", rounding="exact")

    def _read_old_rate(self, token: Token) -> None:
        operation = token["operation"] or ""
        self.place.operations.append(operation)
        place = self.place.of(operation)
        self._short_figure(token, place, "iops", "iops", unit="1/s", rounding="down")
        self._amount(token, place, "bytes")
        self._figure(token, place, "runtime", "runtime", unit="ms", rounding="exact")
        moved, runtime = (item.value or 0 for item in self.measurements[-2:])
        self.counts_bytes_per_ms = False
        self._amount(token, place, "rate")
        if (
            _unit(token, "rate")[1]
            and moved
            and abs((self.measurements[-1].value or 0) * runtime / moved - 1.024) < 0.01
        ):
            self.counts_bytes_per_ms = True
            self.measurements[-1] = _scaled(self.measurements[-1], 1000 / 1024)

    def _operation(self) -> str:
        """Return the operation whose lines are being read."""
        if not self.place.operations:
            raise ValueError("a figure of an operation that the log does not name")
        return self.place.operations[-1]

    def _latency_place(self, token: Token) -> dict[str, Any]:
        operation = "sync" if token["kind"] == "sync" else self._operation()
        if token["priority"] is not None:
            return self.place.of(operation, f"prio {token['priority']}")
        return self.place.of(operation, f"{token['level']} prio" if token["level"] is not None else None)

    def _read_latency(self, token: Token) -> None:
        metric = LATENCIES[token["kind"] or ""]
        place = self._latency_place(token)
        unit = _LATENCY_UNITS[token["unit"] or ""]
        for statistic in ("min", "max"):
            self._short_figure(
                token, place, statistic, metric, statistic, unit=unit, rounding="exact" if unit == "ns" else "down"
            )
        for statistic in ("mean", "stdev"):
            self._figure(token, place, statistic, metric, statistic, unit=unit)

    def _read_percentiles(self, token: Token) -> None:
        place = self._latency_place(token)
        unit = _LATENCY_UNITS[token["unit"] or ""]
        ticks_per_second = 10**9 if unit == "ns" else self.ticks_per_second
        per_unit = ticks_per_second // {"ns": 10**9, "us": 10**6, "ms": 10**3}[unit]
        for share in ("level_share", "priority_share"):
            self._figure(token, place, share, "operation_share", unit="%")
        for cell in _cells(token, "cells", r"(?P<p>\d+(?:\.\d+)?)th=\s*\[\s*(?P<value>\d+)\s*\]"):
            printed = int(cell["value"] or "")
            smallest, largest = max(0, (printed - 1) * per_unit + 1), printed * per_unit
            if ticks_per_second == 10**9 and not has_bin(smallest, largest):  # fio 2.x has printed others
                self._not_understood(cell)
                continue
            item = cell.measurement(
                "value",
                metric=LATENCIES[token["kind"] or ""],
                statistic=f"p{float(cell['p'] or ''):g}",
                unit=unit,
                **place,
            )
            low, high = percentile_bounds(smallest, largest)
            self.measurements.append(
                replace(item, low=low / ticks_per_second, high=high / ticks_per_second)
                if high is not None
                else replace(item, state="censored", value=None, low=low / ticks_per_second, high=None)
            )

    def _read_bandwidths(self, token: Token) -> None:
        prefix, is_binary, unit, _ = _unit(token, "unit")
        known = len(self.measurements)
        self._interval_statistics(token, "bandwidth", unit=f"{prefix.upper()}i{unit}/s" if prefix else f"{unit}/s")
        if self.counts_bytes_per_ms or (self.place.kb_base == 1000 and prefix == "M"):
            rates = [item for item in self.measurements[known:] if item.metric == "bandwidth"]
            self.measurements[known : known + len(rates)] = [_scaled(item, 1000 / 1024) for item in rates]
        if prefix == "k" and not is_binary:
            self.diagnostics.append(
                token.diagnostic("WRONG_HEADING", "fio samples bandwidths in KiB/s, whatever it calls them.")
            )

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
                scope=self.place.scope,
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

    def _read_steady(self, token: Token) -> None:
        name = self.place.name
        self._set("fio.steadystate_attained", "true" if token["attained"] == "yes" else "false", token, name)
        self._set("fio.steadystate_criterion", " ".join((token["criterion"] or "").split()), token, name)
        place = self.place.of("all")
        self._amount(token, place, "rate", "steady_mean")
        self._short_figure(token, place, "iops", "iops", "steady_mean", unit="1/s", rounding="down")
        if token["latency"] is not None:
            unit = _LATENCY_UNITS[token["unit"] or ""]
            self._short_figure(token, place, "latency", "latency", "steady_mean", unit=unit, rounding="down")

    # The run's end

    def _read_group(self, token: Token) -> None:
        self.group = token["group"]

    def _group_place(self, token: Token) -> dict[str, Any]:
        if not self.jobs:
            self.wholes["group", self._of_client(self.group)]["job", None] = None
        jobs = [job["jobs"] for job in self.jobs if job["group"] == self.group and _job_name(job) != _ALL_CLIENTS]
        is_known = jobs and None not in jobs and len(self.results) == 1
        return {
            "operation": (token["operation"] or "").lower(),
            "scope": "group",
            "part": self._of_client(self.group),
            "threads": sum(int(count or "") for count in jobs) if is_known else None,
        }

    def _read_total(self, token: Token) -> None:
        place = self._group_place(token)
        for name, statistic in (("rate", "value"), ("min", "min"), ("max", "max")):
            self._amount_twice(token, place, name, statistic)
        self._amount_twice(token, place, "bytes")
        self._figure(token, place, "shortest", "runtime", "min", unit="ms", rounding="exact")
        self._figure(token, place, "longest", "runtime", "max", unit="ms", rounding="exact")

    def _read_old_total(self, token: Token) -> None:
        place = self._group_place(token)
        self._amount(token, place, "rate", counted_in="K")
        for name in ("min", "max"):
            self._amount(token, place, name, name, counted_in="K")
            item = self.measurements[-1]
            in_thousands = _scaled(item, 1000 / 1024)
            if self.version_number is not None and self.version_number < (2, 0) and not self.counts_bytes_per_ms:
                self.measurements[-1] = in_thousands
            elif not self._min_is_in_kib(token):
                self.measurements[-1] = replace(item, low=in_thousands.low)
        self._amount(token, place, "bytes", counted_in="K")
        self._figure(token, place, "shortest", "runtime", "min", unit="ms", rounding="exact")
        self._figure(token, place, "longest", "runtime", "max", unit="ms", rounding="exact")

    def _min_is_in_kib(self, total: Token) -> bool:
        """Whether ``minb`` and ``maxb`` are surely of the unit of ``aggrb``: a lone job's are equal to it."""
        is_new = self.version_number is not None and self.version_number >= (2, 1)
        return is_new or total["rate"] in {total["min"], total["max"]}

    def _read_disk(self, token: Token) -> None:
        name = self._of_client(token["name"]) or ""
        self._disk(token, "", part=name, statistic="value", most="value", rounding="exact")
        if token["members"] is not None:
            self._disk(token, "all_", part=f"{name}/members", statistic="mean", most="max", rounding="down")

    def _read_idleness(self, token: Token) -> None:
        place: dict[str, Any] = {"operation": "all"}
        self._figure(token, place, "system", "cpu_idle", unit="%")
        for number, cell in enumerate(_cells(token, "each", r"(?P<share>[\d.]+)%")):
            self._figure(cell, place | {"part": f"cpu-{number}"}, "share", "cpu_idle", unit="%")
        for statistic in ("mean", "stdev"):
            self._figure(token, place, statistic, "idle_unit_time", statistic, unit="us")

    def _read_lifetimes(self, token: Token) -> None:
        self.diagnostics.append(
            token.diagnostic("OTHER_TEXT", "How often blocks were trimmed is no figure of speed, and is not kept.")
        )

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


def _job_name(token: Token) -> str:
    """Return a job's name, without what a copy put before it."""
    return " ".join((token["name"] or "").lstrip("|>`").split())


_PROMPT: Final = re.compile(r"[#$%>❯»]\s*$")
_VERSION: Final = re.compile(r"(\d+)\.(\d+)")
_FRACTION: Final = re.compile(r"(?P<whole>\d+)\.(?P<fraction>\d+)(?P<suffix>[a-zA-Z]?)")
_LATENCY_UNITS: Final = {"nsec": "ns", "usec": "us", "msec": "ms"}
_SHARE: Final = r"(?P<label>(?:>=)?\d+)=\s*(?P<share>\d[\d.]*)%"


def _cells(token: Token, group: str, pattern: str) -> Iterator[Token]:
    """Yield what a pattern finds inside a group of a phrase."""
    if token.match is None or token[group] is None:
        return
    start, end = token.match.span(group)
    for match in re.compile(pattern).finditer(token.text.chars, start, end):
        yield Token(token.name, token.text, match.start(), match.end(), match)


_UNIT: Final = re.compile(r"(?P<prefix>[kKMGTPE]?)(?P<binary>i?)(?P<unit>B|bit)?(?P<per_second>/s)?")


def _unit(token: Token, group: str) -> tuple[str, bool, str, bool]:
    """Return the parts of a unit: its prefix, whether that is binary, ``B`` or ``bit``, whether it is a rate."""
    name = group if group == "unit" else f"{group}_unit"
    match = _UNIT.fullmatch("".join((token[name] or "").split()))
    if match is None:
        raise ValueError(f"{token[name]!r} is not a unit")
    is_rate = match["per_second"] is not None or match["unit"] is None
    return match["prefix"], match["binary"] != "", match["unit"] or "B", is_rate


def _overlap(one: Measurement, other: Measurement) -> bool:
    if None in (one.low, one.high, other.low, other.high):
        return True
    return one.low <= other.high and other.low <= one.high  # type: ignore[operator]


def _scaled(item: Measurement, factor: float) -> Measurement:
    """Return a figure that was printed in another unit than its name says."""
    value, low, high = (end * factor if end is not None else None for end in (item.value, item.low, item.high))
    return replace(item, value=value, low=low, high=high)


_SIZE_RANGE: Final = re.compile(r"(\d[\d.]*[kKMGT]?i?B?)-\s*(\d[\d.]*[kKMGT]?i?B?)")
_DECIMAL_SIZE: Final = re.compile(r"[\d.]+[kMGT]B")


def _ranges(sizes: str) -> list[tuple[str, str]]:
    """Return the smallest and largest block size of reads, writes and trims, in bytes where they are exact."""
    return [(_bytes(low), _bytes(high)) for low, high in _SIZE_RANGE.findall(sizes)]


def _bytes(text: str) -> str:
    try:
        return text if _DECIMAL_SIZE.fullmatch(text) else str(size(text))
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
