"""Reports of sysbench's ``fileio`` test: versions 0.4.12, 0.5 and 1.0, as printed or as mangled by a copy.

Sources: sysbench's ``sb_fileio.c``, ``sb_logger.c``, ``sb_options.c``, ``sb_histogram.c`` and ``sysbench.c``.

*0.4.12 and 0.5* print whole counts, and sizes and the bandwidth with ``%.5g``, so that ``152Gb`` is 152.00.
``Kb``, ``Mb`` and ``Gb`` are powers of 1024. ``Other`` are fsyncs; neither ``Requests/sec``, nor the number of
events, nor the response time has them in it.

*1.0* prints rates over the time until the report is made, which is a little longer than the ``total time``, so
these rates are not held against counts. An fsync is an event there, and is in the latency; the fsyncs at the end
of the run are in ``fsyncs/s`` and are no events.

Both print milliseconds with two decimals and seconds with four. Percentiles come from histograms, whose buckets
are 0.03 % wide before 1.0, and 1.8 % since, which widens their interval. Threads fairness is the spread between
the threads (of a population, not of a sample), and no measure of noise.

What the figures are called here, in all versions:

- The rates of a test that only reads are those of ``read``, of one that only writes those of ``write``. ``mixed``
  is both in one figure, which 0.4.12 and 0.5 print for ``rndrw``. ``all`` has the fsyncs in it.
- Where a test does not read, ``0 reads`` and ``reads/s: 0.00`` are both a count of 0. Where it does, a rate that
  prints as 0.00 is below its last digit, and is censored; so is a latency.
- The events of a test in one direction are its reads or writes once more: a second printing.

What ``prepare`` and ``cleanup`` print is skipped. Lines of ``--report-interval`` become series of bandwidth and
of fsyncs; their percentile is not kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from fsbench_kit.formats.commands import command_settings
from fsbench_kit.formats.lexer import UNREAD, Lexer, Token, unread_figure
from fsbench_kit.records import Block, Diagnostic, Measurement, Run, Setting, Status
from fsbench_kit.units import Rounding, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsbench_kit.formats.text import Text
    from fsbench_kit.records import Record

TOOL: Final = "sysbench"

_COUNT: Final = r"(?<![\d.,])\d+"  # whole: not the end of "1,024"
_N: Final = rf"{_COUNT}(?:\.\d+)?"
_SIZE: Final = rf"{_N}[KMGT]?i?[bB]"


def _amount(figure: str) -> str:
    """Return the expression for an amount of bytes as 0.4.12 and 0.5 print it: ``2.8437Gb``, ``0b``."""
    return rf"(?P<{figure}>{_N})(?P<{figure}_prefix>[KMGT]?)b"


_LEXER: Final = Lexer(
    # Who ran what
    command=(
        r"(?:\[?\w[\w.-]{0,63}@(?P<host>\w[\w.-]*)[\s:][^#$\n]{0,80}[#$] )?"
        r"(?P<command>sysbench (?:fileio )?--(?:(?!sysbench)[\s\S]){1,2000}?\b(?P<verb>run|prepare|cleanup)\b)"
    ),
    banner=(
        r"sysbench v?(?P<version>\d+\.\d+[\w.-]*)"
        r"(?:: multi-threaded system evaluation benchmark| \(using \w+ LuaJIT [\w.-]+\))"
    ),
    # prepare
    prepared_files=rf"{_COUNT} files, \d+Kb each, \d+Mb total",
    prepared_file=r"(?:Creating|Reusing existing|Extending existing) file test_file\.\d+",
    prepared_bytes=rf"{_COUNT} bytes written in {_N} seconds \({_N} Mi?B/sec\)",
    # The test's options
    threads=r"Number of threads: (?P<threads>\d+)",
    report_interval=r"Report intermediate results every (?P<report_interval>\d+) second\(s\)",
    target_rate=r"Target transaction rate: (?P<target_rate>\d+)/sec",
    ignored_seed=r"Random number generator seed is 0 and will be ignored",
    seed=r"Initializing random number generator from seed \((?P<seed>\d+)\)",
    open_flags=r"Extra file open flags: (?P<open_flags>\d+|\(none\)|(?:(?:sync|dsync|directio)\b )+)",
    files=rf"(?P<files>{_COUNT}) files, (?P<file_size>{_SIZE}) each",
    total_size=rf"(?P<total_size>{_SIZE}) total file size",
    block_size=rf"Block size (?P<block_size>{_SIZE})",
    merging=rf"Merging requests up to (?P<merging>{_SIZE}) for sequential IO",
    request_limit=r"Number of (?:IO requests|random requests for random IO): (?P<request_limit>\d+)",
    ratio=rf"Read/Write ratio for combined random IO test: (?P<ratio>{_N})",
    fsync=r"Periodic FSYNC enabled, calling fsync\(\) each (?P<fsync>\d+) requests",
    final_fsync=r"Calling fsync\(\) at the end of test, (?P<final_fsync>Enabled)",
    each_fsync=r"Calling fsync\(\) after (?P<each_fsync>each) write operation",
    engine=r"Using (?P<engine>synchronous|asynchronous|(?:slow|fast) mmaped) I/O mode",
    pattern=(
        r"Doing (?P<pattern>sequential write \(creation\)|sequential rewrite|sequential read"
        r"|random read|random write|random r/w) test"
    ),
    # While it runs
    interval=(
        rf"\[ (?P<time>\d+)s \] reads: (?P<read>{_N}) Mi?B/s writes: (?P<write>{_N}) Mi?B/s "
        rf"fsyncs: (?P<other>{_N})/s (?:response time: {_N}ms \(\d+%\)|latency \(ms,\d+%\): {_N})"
    ),
    repeated=r"\(last message repeated \d+ times\)",
    fatal=r"FATAL: (?P<fatal>(?:(?!FATAL:)[^\n]){1,200})",
    # Figures of 0.4.12 and 0.5
    operations=(
        r"Operations performed: (?P<reads>\d+) [Rr]eads?, (?P<writes>\d+) [Ww]rites?, (?P<others>\d+) Other "
        r"= (?P<requests>\d+) Total"
    ),
    transferred=(
        rf"Read {_amount('bytes_read')} Written {_amount('bytes_written')} "
        rf"Total transferred {_amount('bytes_moved')} \({_amount('bandwidth')}/sec\)"
    ),
    request_rate=rf"(?P<request_rate>{_N}) Requests/sec executed",
    event_time=rf"total time taken by event execution: (?P<event_time>{_N})s?",
    response_time=(
        rf"(?:response time|per-request statistics): min: (?P<latency_min>{_N})ms"
        rf"(?: avg: (?P<latency_mean>{_N})ms(?: max: (?P<latency_max>{_N})ms)?)?"
    ),
    approximate_percentile=rf"approx\. (?P<rank>\d+) percentile: (?P<percentile>{_N})ms",
    # Figures of 1.0
    file_operations=(
        rf"File operations: reads/s: (?P<read_rate>{_N})"
        rf"(?: writes/s: (?P<write_rate>{_N})(?: fsyncs/s: (?P<other_rate>{_N}))?)?"
    ),
    throughput=(
        rf"Throughput: read, MiB/s: (?P<read_bandwidth>{_N})(?: written, MiB/s: (?P<write_bandwidth>{_N}))?"
    ),
    latency=(
        rf"Latency \(ms\): min: (?P<latency_min>{_N})"
        rf"(?: avg: (?P<latency_mean>{_N})(?: max: (?P<latency_max>{_N}))?)?"
    ),
    percentile=rf"(?P<rank>{_COUNT})(?:st|nd|rd|th) percentile: (?P<percentile>{_N})",
    latency_sum=rf"\bsum: (?P<latency_sum>{_N})",
    # Figures of both
    total_time=rf"total time: (?P<total_time>{_N})s",
    events=r"total number of events: (?P<events>\d+)",
    thread_events=rf"events \(avg/stddev\): (?P<thread_events>{_N})/(?P<thread_events_stdev>{_N})",
    thread_time=rf"execution time \(avg/stddev\): (?P<thread_time>{_N})/(?P<thread_time_stdev>{_N})",
)

_SKIPPED: Final = {"prepared_files", "prepared_file", "prepared_bytes", "ignored_seed", "repeated"}
_RECURRING: Final = {"interval", "fatal", "transferred", "request_rate"}
"""Phrases that can stand in one report more than once: people quote the last two below it again."""
_ONLY_FILEIO: Final = {
    *("files", "total_size", "block_size", "engine", "pattern"),
    *("operations", "transferred", "request_rate", "file_operations", "throughput"),
}
"""Phrases that no other test of sysbench prints."""


def _words(text: str) -> str:
    return " ".join(text.split())


def _bytes(text: str) -> str:
    try:
        return str(size(text))
    except ValueError:
        return text  # rounded by %.5g: no whole number of bytes


_PATTERNS: Final = {
    "sequentialwrite(creation)": "seqwr",
    "sequentialrewrite": "seqrewr",
    "sequentialread": "seqrd",
    "randomread": "rndrd",
    "randomwrite": "rndwr",
    "randomr/w": "rndrw",
}
_DIRECTIONS: Final = {
    **dict.fromkeys(("seqrd", "rndrd"), "read"),
    **dict.fromkeys(("seqwr", "seqrewr", "rndwr"), "write"),
}
_ENGINES: Final = {"synchronous": "sync", "asynchronous": "async", "slowmmaped": "mmap", "fastmmaped": "mmap"}

_SETTINGS: Final[dict[str, tuple[str, Callable[[str], str]]]] = {
    "threads": ("threads", str),
    "report_interval": ("sysbench.report-interval", str),
    "target_rate": ("sysbench.rate", str),
    "seed": ("seed", str),
    "open_flags": ("open_flags", _words),
    "files": ("files", str),
    "file_size": ("file_size", _bytes),
    "total_size": ("total_size", _bytes),
    "block_size": ("block_size", _bytes),
    "merging": ("sysbench.merged-size", _bytes),
    "request_limit": ("request_limit", str),
    "ratio": ("sysbench.file-rw-ratio", lambda text: f"{float(text):g}"),
    "fsync": ("fsync", str),
    "final_fsync": ("final_fsync", lambda _: "true"),
    "each_fsync": ("fsync", lambda _: "1"),
    "engine": ("engine", lambda text: _ENGINES["".join(text.split())]),
    "pattern": ("pattern", lambda text: _PATTERNS["".join(text.split())]),
}
"""Group of a phrase -> setting, and how its value is written."""


class _Figure(NamedTuple):
    """What a group of a phrase is a figure of.

    The operation ``mixed`` is narrowed to a direction where the test has only one. `unit` follows a prefix that
    the phrase may have caught beside the figure.
    """

    operation: str
    metric: str
    statistic: str = "value"
    unit: str = ""
    rounding: Rounding = "nearest"
    digits: int | None = None


_FIGURES: Final = {
    "reads": _Figure("read", "operations", rounding="exact"),
    "writes": _Figure("write", "operations", rounding="exact"),
    "others": _Figure("other", "operations", rounding="exact"),
    "requests": _Figure("all", "operations", rounding="exact"),
    "events": _Figure("mixed", "operations", rounding="exact"),
    "bytes_read": _Figure("read", "bytes", unit="B", digits=5),
    "bytes_written": _Figure("write", "bytes", unit="B", digits=5),
    "bytes_moved": _Figure("all", "bytes", unit="B", digits=5),
    "bandwidth": _Figure("mixed", "bandwidth", unit="B/s", digits=5),
    "request_rate": _Figure("mixed", "iops", unit="1/s"),
    "read_rate": _Figure("read", "iops", unit="1/s"),
    "write_rate": _Figure("write", "iops", unit="1/s"),
    "other_rate": _Figure("other", "iops", unit="1/s"),
    "read_bandwidth": _Figure("read", "bandwidth", unit="MiB/s"),
    "write_bandwidth": _Figure("write", "bandwidth", unit="MiB/s"),
    "total_time": _Figure("all", "runtime", unit="s"),
    "event_time": _Figure("all", "event_time", unit="s"),
    "latency_min": _Figure("all", "latency", "min", unit="ms"),
    "latency_mean": _Figure("all", "latency", "mean", unit="ms"),
    "latency_max": _Figure("all", "latency", "max", unit="ms"),
    "percentile": _Figure("all", "latency", unit="ms"),
    "latency_sum": _Figure("all", "event_time", unit="ms"),
    "thread_events": _Figure("all", "thread_events", "mean"),
    "thread_events_stdev": _Figure("all", "thread_events", "stdev"),
    "thread_time": _Figure("all", "thread_time", "mean", unit="s"),
    "thread_time_stdev": _Figure("all", "thread_time", "stdev", unit="s"),
}

_PARTS: Final = {
    "its version": {"banner"},
    "the kind of test": {"pattern"},
    "its rates": {"request_rate", "file_operations"},
    "its total time": {"total_time"},
    "its latency": {"response_time", "latency"},
    "the threads' fairness": {"thread_time"},
}
"""What every report has, and the phrases that show it."""

_COUNTED_BY: Final = {"iops": ("operations", "1"), "bandwidth": ("bytes", "B")}

_HALF_BUCKET: Final = (1e5 / 1e-3) ** (0.5 / 1023)
"""Since 1.0, percentiles are the middles of 1024 buckets, evenly spread on a log scale from 0.001 to 10^5 ms."""

_IDENTITIES: Final = (
    ("reads + writes + others", "requests"),
    ("reads + writes", "events"),
    ("bytes_read + bytes_written", "bytes_moved"),
    ("reads * block_size", "bytes_read"),
    ("writes * block_size", "bytes_written"),
    ("bandwidth * total_time", "bytes_moved"),
    ("request_rate * total_time", "reads + writes"),
    ("read_rate * block_size", "read_bandwidth"),
    ("write_rate * block_size", "write_bandwidth"),
    ("latency_mean * events", "event_time"),
    ("latency_mean * events", "latency_sum"),
    ("thread_events * threads", "events"),
    ("thread_time * threads", "event_time"),
    ("thread_time * threads", "latency_sum"),
)
"""Figures that determine each other, as sums of products."""

_IDLE_SHARE: Final = 0.5
"""A thread is called idle where it provably made requests for less than this share of the threads' mean time."""


_MARKS: Final = re.compile(
    r"""Doing\s*(?:sequential|random)\s*(?:rewrite|write|read|r/w)\s*(?:\(creation\))?\s*test
    | Operations\s*performed:\s*\d+\s*reads?,
    | Requests/sec\s*executed
    | File\s*operations:\s*reads/s:""",
    re.IGNORECASE | re.VERBOSE,
)


def marks(chars: str) -> Iterator[int]:
    """Yield where in a text something stands that only a log of this format has."""
    return (match.start() for match in _MARKS.finditer(chars))


def parse(text: Text) -> Iterator[Record]:
    """Yield the runs of a text with their figures, settings and series, and what is to be said about them."""
    run: _OpenRun | None = None
    for token in _LEXER.tokens(text):
        if token.name == UNREAD:
            if (diagnostic := unread_figure(token)) is not None:
                yield diagnostic
        elif token.name not in _SKIPPED:
            if run is not None and run.is_over_before(token):
                yield from run.close()
                run = None
            if run is None:
                run = _OpenRun(token)
            run.read(token)
    if run is not None:
        yield from run.close()


@dataclass
class _OpenRun:
    """A run whose log has not ended yet."""

    first: Token
    last: Token = field(init=False)
    phrases: set[str] = field(default_factory=set)
    host: str | None = None
    version: str | None = None
    settings: list[Setting] = field(default_factory=list)
    figures: dict[str, Measurement] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    """The first printing of each figure, by the names in `_FIGURES`, and where it stands."""
    measurements: list[Measurement] = field(default_factory=list)
    intervals: list[Token] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def is_over_before(self, token: Token) -> bool:
        """Whether a phrase belongs to another run than what was read so far."""
        if token.name == "banner":
            return self.phrases != {"command"} or self.first["verb"] != "run"
        return token.name == "command" or token.name in self.phrases - _RECURRING

    def read(self, token: Token) -> None:
        self.last = token
        self.phrases.add(token.name)
        groups = token.match.groupdict() if token.match is not None else {}
        if token.name == "command":
            self.host = token["host"]
            self.settings += command_settings(
                token["command"] or "", origin="command", line=token.line_of("command")
            )
        elif token.name == "banner":
            self.version = token["version"]
        elif token.name == "interval":
            self.intervals.append(token)
        elif token.name == "fatal":
            self.diagnostics.append(token.diagnostic("RUN_FAILED", f"sysbench gave up: {token['fatal']}"))
        for group, text in groups.items():
            if text is not None and group in _SETTINGS:
                self._read_setting(token, group, text)
            elif text is not None and group in _FIGURES:
                self._read_figure(token, group)

    def _read_setting(self, token: Token, group: str, text: str) -> None:
        key, convert = _SETTINGS[group]
        self.settings.append(Setting(key=key, value=convert(text), line=token.line_of(group)))
        if key == "open_flags" and not text.isdecimal():  # 1.0 gives words; numbers differ between platforms
            flags = text.split()
            truth = {"direct": "directio" in flags, "sync": "sync" in flags or "dsync" in flags}
            self.settings += [Setting(key=k, value=str(v).lower(), line=token.line) for k, v in truth.items()]

    def _read_figure(self, token: Token, name: str) -> None:
        """Keep a figure; what the same report prints once more is no second figure."""
        figure = self._measurement(token, name)
        key = (figure.operation, figure.metric, figure.statistic)
        earlier = self.figures.get(name)
        if earlier is None:
            again = any(key == (m.operation, m.metric, m.statistic) for m in self.measurements)
        else:
            again = earlier.text == figure.text
        self.measurements.append(replace(figure, primary=not again))
        self.figures.setdefault(name, figure)
        self.tokens.setdefault(name, token)

    def _measurement(self, token: Token, name: str) -> Measurement:
        operation, metric, statistic, unit, rounding, digits = _FIGURES[name]
        if name == "events" and self._counts_fsyncs:
            operation = "all"
        if operation == "mixed":
            operation = self._direction
        if name == "percentile":
            statistic = f"p{token['rank']}"
        prefix = token[f"{name}_prefix"] if digits is not None else None
        block_size, threads = self._known("block_size"), self._known("threads")
        figure = token.measurement(
            name,
            operation=operation,
            metric=metric,
            statistic=statistic,
            unit=f"{prefix}i{unit}" if prefix else unit,
            rounding=rounding,
            digits=digits,
            block_size=block_size,
            threads=threads,
            samples=threads if metric in {"thread_events", "thread_time"} else None,
        )
        if name == "percentile" and self._counts_fsyncs and figure.low is not None and figure.high is not None:
            figure = replace(figure, low=figure.low / _HALF_BUCKET, high=figure.high * _HALF_BUCKET)
        return self._without_zero(figure)

    def _without_zero(self, figure: Measurement) -> Measurement:
        """Return what a rate or a latency that prints as zero says."""
        if figure.value != 0 or figure.metric not in {"bandwidth", "iops", "latency"}:
            return figure
        unused = {"read": {"write", "other"}, "write": {"read"}}.get(self._direction, set())
        if figure.operation in unused:
            metric, unit = _COUNTED_BY[figure.metric]
            return replace(figure, metric=metric, unit=unit, low=0.0, high=0.0)
        return replace(figure, value=None, state="censored", low=None)

    @property
    def _direction(self) -> str:
        """What the test does: ``read``, ``write``, or ``mixed`` where it does both or nobody knows."""
        pattern = self._setting("pattern")
        if pattern is not None:
            return _DIRECTIONS.get(pattern, "mixed")
        zero = {m.operation for m in self.figures.values() if m.value == 0 and m.metric in {"operations", "bytes"}}
        if "read" in zero and "write" not in zero:
            return "write"
        return "read" if "write" in zero and "read" not in zero else "mixed"

    @property
    def _counts_fsyncs(self) -> bool:
        """Whether this is 1.0 or later, where an fsync is an event."""
        if self.version is not None:
            return not self.version.startswith("0.")
        return bool(self.phrases & {"file_operations", "throughput", "latency"})

    def _setting(self, key: str) -> str | None:
        """Return a setting by the log's own words, or else by the command, which stands before them."""
        return next((s.value for s in reversed(self.settings) if s.key == key), None)

    def _known(self, key: str) -> int | None:
        value = self._setting(key)
        return int(value) if value is not None and value.isdecimal() else None

    def close(self) -> Iterator[Record]:
        text = self.first.text
        if not self.phrases & _ONLY_FILEIO:
            yield from self.diagnostics
            if self.measurements:
                stretch = Token(UNREAD, text, self.first.start, self.last.end)
                yield stretch.diagnostic("UNREAD_FIGURE", "Nothing here says that this is a report of fileio.")
            return
        status: Status = "failed" if "fatal" in self.phrases else "ok" if self.measurements else "partial"
        total_time = self.figures.get("total_time")
        yield Run(
            tool=TOOL,
            tool_version=self.version,
            start=text.byte(self.first.start),
            end=text.byte(self.last.end),
            line=self.first.line,
            host=self.host,
            duration=total_time.value if total_time is not None else None,
            status=status,
            settings=tuple(self.settings),
            measurements=tuple(self.measurements),
        )
        yield from self._series()
        yield from self.diagnostics
        missing = [words for words, phrases in _PARTS.items() if not self.phrases & phrases]
        if missing and status != "failed":
            yield self.first.diagnostic("INCOMPLETE_LOG", f"The report lacks {', '.join(missing)}.")
        yield from self._cross_checks()

    def _series(self) -> Iterator[Block]:
        times = [float(token["time"] or "") for token in self.intervals]
        lines = [token.line for token in self.intervals]
        for operation, metric, factor in (
            ("read", "bandwidth", 2**20),  # 0.5 says MB/s and means MiB/s
            ("write", "bandwidth", 2**20),
            ("other", "iops", 1),
        ):
            values = [float(token[operation] or "") * factor for token in self.intervals]
            if any(values):
                yield Block(operation=operation, metric=metric, times=times, values=values, lines=lines)

    def _cross_checks(self) -> Iterator[Diagnostic]:
        known = self._intervals()
        for left_side, right_side in _IDENTITIES:
            left, right = _evaluate(left_side, known), _evaluate(right_side, known)
            if left is not None and right is not None and (left.high < right.low or right.high < left.low):
                message = f"{left_side} is {left}, but {right_side} is {right}.".replace("_", " ")
                yield self.tokens[right_side.split()[0]].diagnostic("FIGURES_DISAGREE", message)
        yield from self._idle_thread(known)

    def _intervals(self) -> dict[str, _Interval]:
        """Return what the printed figures allow, and the settings that figures are multiples of."""
        known = {
            name: _Interval(figure.low, figure.high)
            for name, figure in self.figures.items()
            if figure.low is not None and figure.high is not None
        }
        threads, block_size, file_size = (self._known(key) for key in ("threads", "block_size", "file_size"))
        if threads is not None:
            known["threads"] = _Interval(threads, threads)
        # A file's last request is shorter where blocks do not fill it, and merged requests are longer.
        if block_size and file_size is not None and file_size % block_size == 0 and "merging" not in self.phrases:
            known["block_size"] = _Interval(block_size, block_size)
        return known

    def _idle_thread(self, known: dict[str, _Interval]) -> Iterator[Diagnostic]:
        """Say so where one thread cannot have done its share.

        No thread makes requests for longer than the run, so the mean and the deviation of the threads' times bound
        the least of them (Bhatia and Davis, 2000): deviation^2 <= (run - mean) * (mean - least).
        """
        if not {"threads", "total_time", "thread_time", "thread_time_stdev"} <= known.keys():
            return
        threads, run = known["threads"].high, known["total_time"].high
        mean, deviation = known["thread_time"], known["thread_time_stdev"].low
        if run <= mean.low or "target_rate" in self.phrases:  # with a target rate, waiting in the queue counts too
            return
        least = mean.high - deviation**2 / (run - mean.low)
        if least < _IDLE_SHARE * mean.low:
            message = (
                f"One of {threads:.0f} threads made requests for at most {max(least, 0):.3g} s of {run:.1f} s, "
                f"where the mean is {mean.low:.1f} s; the figures are those of the others."
            )
            yield self.tokens["thread_time"].diagnostic("IDLE_THREAD", message)


class _Interval(NamedTuple):
    """The true values that a figure allows; none of them is negative."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.9g}" if self.low == self.high else f"{self.low:.6g} to {self.high:.6g}"


def _evaluate(side: str, known: dict[str, _Interval]) -> _Interval | None:
    """Return the value of a sum of products of figures, or ``None`` where one of them is not known."""
    products = [[known.get(name) for name in product.split(" * ")] for product in side.split(" + ")]
    terms = [[factor for factor in product if factor is not None] for product in products]
    if terms != products:
        return None
    return _Interval(*(sum(prod(factor[end] for factor in term) for term in terms) for end in (0, 1)))
