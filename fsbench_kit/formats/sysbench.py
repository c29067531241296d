"""Reports of sysbench's ``fileio`` test: versions 0.4.12, 0.5, 1.0 and 1.1, as printed or as mangled by a copy.

Sources: sysbench's ``sb_fileio.c``, ``sb_logger.c``, ``sb_options.c``, ``sb_histogram.c`` and ``sysbench.c``.

*0.4.12 and 0.5* print whole counts, and sizes and the bandwidth with ``%.5g``, so that ``152Gb`` is 152.00.
``Kb``, ``Mb`` and ``Gb`` are powers of 1024. ``Other`` are fsyncs; neither ``Requests/sec``, nor the number of
events, nor the response time has them in it.

*1.0* prints rates over the time until the report is made, which is a little longer than the ``total time``, so
these rates are not held against counts. An fsync is an event there, and is in the latency; the fsyncs at the end
of the run are in ``fsyncs/s`` and are no events.

*1.1* has the rates of a direction on one line, ``read: IOPS=12.00 0.19 MiB/s (0.20 MB/s)``, where MB are 10^6
bytes and a second printing. It prints neither a total time, nor events, nor the threads' fairness. Its first
builds still print the report of 1.0.

All print milliseconds with two decimals and seconds with four; the oldest print latencies in seconds.
Percentiles come from histograms, whose buckets are 0.03 % wide before 1.0, and 1.8 % since, which widens their
interval. Threads fairness is the spread between the threads (of a population, not of a sample), and no measure of
noise. Where nothing was done, the latencies that are printed are those of no request, and are missing.

What the figures are called here, in all versions:

- The rates of a test that only reads are those of ``read``, of one that only writes those of ``write``. ``mixed``
  is both in one figure, which 0.4.12 and 0.5 print for ``rndrw``. ``all`` has the fsyncs in it.
- Where a test does not read, ``0 reads`` and ``reads/s: 0.00`` are both a count of 0. Where it does, a rate that
  prints as 0.00 is below its last digit, and is censored; so is a latency.
- The events of a test in one direction are its reads or writes once more: a second printing.

``--report-interval`` gives series of bandwidth, of fsyncs and of the latency's percentile. At each of
``--report-checkpoints`` sysbench prints a whole report and starts its counters again: these reports are points of
series (part ``checkpoints``), and the last report of the run is of what was done since the last of them.

``--histogram`` prints the middles of its buckets with three decimals, so that neighbours print alike below
0.03 ms; those are one bin.

What ``prepare`` and ``cleanup`` print is named and is no run, and neither is a report of sysbench's other tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from fsbench_kit.formats.commands import command_settings
from fsbench_kit.formats.lexer import UNREAD, Lexer, Token, unread_figure
from fsbench_kit.formats.marks import Marks
from fsbench_kit.formats.repairs import without_repeats
from fsbench_kit.records import Bin, Block, Diagnostic, Measurement, Run, Setting
from fsbench_kit.units import Rounding, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsbench_kit.formats.text import Text
    from fsbench_kit.records import Record

TOOL: Final = "sysbench"

_COUNT: Final = r"(?<![\d.,])\d+(?![.,]?\d)"  # whole: neither end of "1,024"
_N: Final = r"(?<![\d.,])\d+(?:\.\d+)?(?![.,]?\d)"
_SIZE: Final = r"(?<![\d.,])\d+(?:\.\d+)?[KMGT]?i?[bB]"


def _amount(figure: str) -> str:
    """Return the expression for an amount of bytes as 0.4.12 and 0.5 print it: ``2.8437Gb``, ``0b``."""
    return rf"(?P<{figure}>{_N})(?P<{figure}_prefix>[KMGT]?)b"


def _both_rates(direction: str) -> str:
    """Return the expression for the line of 1.1 with a direction's rates."""
    return (
        rf"\b{direction}: IOPS=(?P<{direction}_rate>{_N}) (?P<{direction}_bandwidth>{_N}) MiB/s "
        rf"\((?P<{direction}_bandwidth_again>{_N}) MB/s\)"
    )


_TEST: Final = r"(?:fileio|cpu|memory|threads|mutex|[\w./-]{0,100}oltp\w{0,40}(?:\.lua)?)\b"
_OPTION: Final = r"[\s\\]*--[a-z][\w-]*(?:=(?:(?!--)[^\s\\])*)?"
_PROMPT: Final = (
    r"(?:\[?\w[\w.-]{0,63}@(?P<host>\w[\w.-]*)[\s:][^#$\n]{0,80})?(?P<prompt>[#$%>❯»])\s*"
    r"(?:(?:sudo|time|docker|podman|kubectl)\s[^\n]{0,120}?)?[\w./~-]{0,60}?"
)

_PHRASES: Final = {
    # Who ran what
    "command": (
        rf"(?:{_PROMPT})?(?P<command>\bsysbench(?:{_OPTION}|\s+{_TEST})+[\s\\]+"
        rf"(?P<verb>run|prepare|cleanup)\b(?!-\w)(?:{_OPTION})*)"
    ),
    "banner": (
        r"\b(?P<name>s?ysbench) v?(?P<version>\d+\.\d+[\w.-]*)"
        r"(?:: multi-threaded system evaluation benchmark| \(using [^()\n]{0,60}LuaJIT [\w.-]+\))"
    ),
    # prepare and cleanup
    "prepared_files": rf"{_COUNT} files, \d+Kb each, \d+Mb total",
    "prepared_file": r"(?:Creating|Reusing existing|Extending existing) file test_file\.\d+",
    "prepared_bytes": rf"{_COUNT} bytes written in {_N} seconds \({_N} Mi?B/sec\)",
    "removal": r"Removing test files\.\.\.",
    # Other tests
    "other_test": (
        r"(?P<cpu>Prime numbers limit: \d+|Maximum prime number checked in CPU test: \d+|CPU speed:)"
        r"|(?P<memory>Running memory speed test|Doing memory operations speed test)"
        r"|(?P<threads_test>Doing thread subsystem performance test)"
        r"|(?P<mutex>Doing mutex performance test)"
        r"|(?P<oltp>OLTP test statistics:|SQL statistics:|queries performed:|Doing OLTP test"
        r"|\[ \d+s \] (?:threads|thds): \d+,? tps: (?:(?!\[|General statistics)[^\n]){0,300})"
        rf"|(?P<unnamed>events/s \(eps\): {_N} time elapsed: {_N}s)"
    ),
    # The test's options
    "options": r"Running the test with following options:",
    "threads": rf"Number of threads: (?P<threads>{_COUNT})",
    "warmup": rf"Warmup time: (?P<warmup>{_COUNT})s",
    "warming": r"Warming up for \d+ seconds",
    "report_interval": rf"Report intermediate results every (?P<report_interval>{_COUNT}) second\(s\)",
    "report_checkpoints": r"Report checkpoint\(s\) at (?P<report_checkpoints>\d+(?:, \d+)*) seconds",
    "target_rate": rf"Target transaction rate: (?P<target_rate>{_COUNT})/sec",
    "debug": r"(?P<debug>Debug mode enabled)",
    "validate": r"(?P<validate>Validation checks: on)",
    "checksums": r"(?P<checksums>Using checksums validation)",
    "ignored_seed": r"Random number generator seed is 0 and will be ignored",
    "seed": r"Initializing random number generator from seed \((?P<seed>\d+)\)",
    "shutdown": rf"Forcing shutdown in (?P<shutdown>{_COUNT}) seconds",
    "open_flags": r"Extra file open flags: (?P<open_flags>[\da-f]+\b|\(none\)|(?:(?:sync|dsync|directio)\b )+)",
    "files": rf"(?P<files>{_COUNT}) files, (?P<file_size>{_SIZE}) each",
    "total_size": rf"(?P<total_size>{_SIZE}) total file size",
    "block_size": rf"Block size (?P<block_size>{_SIZE})",
    "merging": rf"Merging requests up to (?P<merging>{_SIZE}) for sequential IO",
    "request_limit": (rf"Number of (?:IO requests|random requests for random IO): (?P<request_limit>{_COUNT})"),
    "ratio": rf"Read/Write ratio for combined random IO test: (?P<ratio>{_N})",
    "fsync": rf"Periodic FSYNC enabled, calling fsync\(\) each (?P<fsync>{_COUNT}) requests",
    "final_fsync": r"Calling fsync\(\) at the end of test, (?P<final_fsync>Enabled)",
    "each_fsync": r"Calling fsync\(\) after (?P<each_fsync>each) write operation",
    "engine": r"Using (?P<engine>synchronous|asynchronous|(?:slow|fast) mmaped) I/O mode",
    "pattern": (
        r"Doing (?P<pattern>sequential write \(creation\)|sequential rewrite|sequential read"
        r"|random read|random write|random r/w) test"
    ),
    # While it runs
    "interval": (
        rf"\[ (?P<time>\d+)s \] reads: (?P<read>{_N}) Mi?B/s writes: (?P<write>{_N}) Mi?B/s "
        rf"fsyncs: (?P<other>{_N})/s "
        rf"(?:response time: (?P<response>{_N})ms \((?P<response_rank>\d+)%\)"
        rf"|latency \(ms,(?P<rank>\d+)%\): (?P<latency>{_N}))"
    ),
    "checkpoint": r"\[ (?P<time>\d+)s \] Checkpoint report:",
    "repeated": r"\(last message repeated \d+ times\)",
    "deprecated": (
        r"WARNING: (?:the --test option is deprecated\."
        r"(?: You can pass a script name or path on the command line without any options\.)?"
        r"|--[\w-]+ is deprecated, use --[\w-]+ instead)"
    ),
    "endless": r"Both max-requests and max-time are 0, running endless test",
    "inaccurate": (
        rf"(?P<inaccurate>Operation time \({_N}\) is (?:less than minimal|greater than maximal) counted value, "
        rf"counting as {_N})"
    ),
    "opened": r"Opening file: test_file\.\d+",
    "worker": (
        r"(?:Worker thread \(#\d+\) (?:started|initialized|failed to initialize!)"
        r"|Runner thread (?:started|has no more queries to execute) \(\d+\)!)"
    ),
    "thread": (
        rf"thread #\s*(?P<thread>\d+): min: (?P<one_min>{_N})s avg: (?P<one_mean>{_N})s max: (?P<one_max>{_N})s "
        rf"events: (?P<one_events>{_COUNT}) (?:DEBUG: )?total time taken by event? execution: (?P<one_time>{_N})s"
    ),
    "request": r"Executing request, operation: \d+, file_id: \d+, pos: -?\d+, size: \d+",
    "fatal": (
        r"FATAL: (?P<fatal>(?:(?!FATAL:|WARNING:|DEBUG:|Done\.|Operations performed|File operations|Throughput:"
        r"|\(last message|sysbench )[^\n]){1,200})"
    ),
    "unfinished": rf"(?P<fatal>Number of unfinished transactions on forced shutdown: {_COUNT})",
    "histogram": r"Latency histogram \(values are in milliseconds\)|value -+ distribution -+ count",
    "bucket": (
        r"(?<![\d.,])(?P<bucket>\d{1,6}\.\d{3})(?:\s*\|\s*\*{0,40}|\s*\*{1,40})\s*(?P<count>\d+)(?![\d.,]\d|\d)"
    ),
    # Figures of 0.4.12 and 0.5
    "operations": (
        rf"Operations performed: (?P<reads>{_COUNT}) [Rr]eads?, (?P<writes>{_COUNT}) [Ww]rites?, "
        rf"(?P<others>{_COUNT}) Other = (?P<requests>{_COUNT}) Total"
    ),
    "transferred": (
        rf"Read {_amount('bytes_read')} Written {_amount('bytes_written')} "
        rf"Total transferred {_amount('bytes_moved')} \({_amount('bandwidth')}/sec\)"
    ),
    "request_rate": rf"(?P<request_rate>{_N}) Requests/sec executed",
    "event_time": rf"total time taken by event execution: (?P<event_time>{_N})s?",
    "response_time": r"(?:response time|per-request statistics):",
    # Figures of 1.0
    "read_rate": rf"(?<![,\w])(?<!,\s)reads/s: (?P<read_rate>{_N})",
    "write_rate": rf"(?<![,\w])(?<!,\s)writes/s: (?P<write_rate>{_N})",
    "other_rate": rf"(?<![,\w])fsyncs/s: (?P<other_rate>{_N})",
    "read_bandwidth": rf"\bread, MiB/s: (?P<read_bandwidth>{_N})",
    "write_bandwidth": rf"\bwritten, MiB/s: (?P<write_bandwidth>{_N})",
    "latency": r"Latency \(ms\):",
    # Figures of 1.1
    "read_rates": _both_rates("read"),
    "write_rates": _both_rates("write"),
    "other_rates": rf"\bfsync: IOPS=(?P<other_rate>{_N})(?! [\d.]+ MiB)",
    # Figures of all
    "latency_min": rf"\bmin: (?P<latency_min>{_N})(?P<unit>m?s)?",
    "latency_mean": rf"\bavg: (?P<latency_mean>{_N})(?P<unit>m?s)?",
    "latency_max": rf"\bmax: (?P<latency_max>{_N})(?P<unit>m?s)?",
    "latency_sum": rf"\bsum: (?P<latency_sum>{_N})",
    "percentile": (
        rf"(?:approx\. (?P<old_rank>\d+)|(?P<rank>{_COUNT})(?:st|nd|rd|th)) percentile: "
        rf"(?P<percentile>{_N})(?P<unit>m?s)?"
    ),
    "total_time": rf"total time: (?P<total_time>{_N})s",
    "events": rf"total number of events: (?P<events>{_COUNT})",
    "thread_events": rf"events \(avg/stddev\): (?P<thread_events>{_N})/(?P<thread_events_stdev>{_N})",
    "thread_time": rf"execution time \(avg/stddev\): (?P<thread_time>{_N})/(?P<thread_time_stdev>{_N})",
}

_LEXER: Final = Lexer(**{name: pattern.replace(" ", r"[\s|]*") for name, pattern in _PHRASES.items()})
"""Where copies lose and gain white space, tables of web pages leave bars."""

_SKIPPED: Final = {
    "prepared_file",
    "ignored_seed",
    "warming",
    "repeated",
    "deprecated",
    "endless",
    "opened",
    "worker",
    "request",
}
_RECURRING: Final = {"interval", "checkpoint", "fatal", "unfinished", "transferred", "request_rate"} | {
    *("thread", "histogram", "bucket", "other_test", "removal", "inaccurate")
}
"""Phrases that can stand in one log more than once: people quote a report's bandwidth and rate again below it."""
_PREPARATION: Final = {"prepared_files", "prepared_bytes", "removal"}
_REPORT: Final = {
    *("operations", "transferred", "request_rate", "event_time", "response_time", "total_time", "events"),
    *("read_rate", "write_rate", "other_rate", "read_bandwidth", "write_bandwidth", "latency"),
    *("read_rates", "write_rates", "other_rates", "latency_min", "latency_mean", "latency_max", "latency_sum"),
    *("percentile", "thread_events", "thread_time", "thread"),
}
_ONLY_FILEIO: Final = {
    *("files", "total_size", "block_size", "engine", "pattern", "interval"),
    *("operations", "transferred", "request_rate"),
    *("read_rate", "write_rate", "other_rate", "read_bandwidth", "write_bandwidth"),
    *("read_rates", "write_rates", "other_rates"),
}
"""Phrases that no other test of sysbench prints."""
_UNDER_A_HEADING: Final = {"latency_min", "latency_mean", "latency_max", "latency_sum"}


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
    "report_checkpoints": ("sysbench.report-checkpoints", lambda text: "".join(text.split())),
    "target_rate": ("sysbench.rate", str),
    "debug": ("sysbench.debug", lambda _: "true"),
    "validate": ("sysbench.validate", lambda _: "true"),
    "checksums": ("sysbench.validate", lambda _: "true"),
    "seed": ("seed", str),
    "shutdown": ("sysbench.forced-shutdown", str),
    "warmup": ("sysbench.warmup-time", str),
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
    "read_bandwidth_again": _Figure("read", "bandwidth", unit="MB/s"),
    "write_bandwidth_again": _Figure("write", "bandwidth", unit="MB/s"),
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
_THREAD_FIGURES: Final = {
    "one_min": _Figure("all", "latency", "min", unit="s"),
    "one_mean": _Figure("all", "latency", "mean", unit="s"),
    "one_max": _Figure("all", "latency", "max", unit="s"),
    "one_events": _Figure("all", "thread_events", rounding="exact"),
    "one_time": _Figure("all", "thread_time", unit="s"),
}
"""What ``--debug`` prints of each thread."""

_PARTS: Final[dict[str, tuple[set[str], ...]]] = {
    "its version": ({"banner"},),
    "the kind of test": ({"pattern"},),
    "its rates": (
        {"operations", "transferred", "request_rate"},
        {"read_rate", "write_rate", "other_rate", "read_bandwidth", "write_bandwidth"},
        {"read_rates", "write_rates", "other_rates"},
    ),
    "its total time": ({"total_time", "events"}, {"read_rates"}),
    "its latency": ({"latency_min", "latency_mean", "latency_max"},),
    "the threads' fairness": ({"thread_events", "thread_time"}, {"read_rates"}),
}
"""What every report has, and the phrases that show it; those of 1.1 have no total time and no fairness."""

_COUNTED_BY: Final = {"iops": ("operations", "1"), "bandwidth": ("bytes", "B")}

_BUCKETS: Final = 1024
_LEAST, _MOST = 1e-3, 1e5
_HALF_BUCKET: Final = (_MOST / _LEAST) ** (0.5 / (_BUCKETS - 1))
"""Since 1.0, percentiles are the middles of buckets, evenly spread on a log scale from 0.001 to 10^5 ms."""
_MIDDLES: Final = [_LEAST * _HALF_BUCKET ** (2 * index) for index in range(_BUCKETS)]
_PRINTED: Final = {
    printed: list(alike) for printed, alike in groupby(range(_BUCKETS), key=lambda index: f"{_MIDDLES[index]:.3f}")
}
"""A middle as the histogram prints it -> the buckets that print so."""

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
    ("read_bandwidth", "read_bandwidth_again"),
    ("write_bandwidth", "write_bandwidth_again"),
    ("latency_mean * events", "event_time"),
    ("latency_mean * events", "latency_sum"),
    ("thread_events * threads", "events"),
    ("thread_time * threads", "event_time"),
    ("thread_time * threads", "latency_sum"),
    ("histogram", "events"),
)
"""Figures that determine each other, as sums of products."""

_WHILE_REPORTING: Final = 0.01
"""With checkpoints, counters went on while a report was made: by a share of what they had counted, at most."""

_IDLE_SHARE: Final = 0.5
"""A thread is called idle where it provably made requests for less than this share of the threads' mean time."""


_MARKS: Final = Marks(
    {
        "ysbench": r"""\bs?ysbench\s*v?\d+\.\d+[\w.-]*
            (?::\s*multi-threaded\s*system\s*evaluation\s*benchmark|\s*\(using\s[^()\n]{0,60}LuaJIT\s[\w.-]{1,40}\))
            \s*(?:Running\s*the\s*test|\d+\s*files,|Removing\s*test\s*files)""",
        "following": r"Running\s*the\s*test\s*with\s*following\s*options:",
        "doing": r"Doing\s*(?:sequential|random)\s*(?:rewrite|write|read|r/w)\s*(?:\(creation\))?\s*test",
        "writes:": r"\[\s*\d+s\s*\]\s*reads:\s*[\d.]+\s*Mi?B/s\s*writes:",
        "performed:": r"Operations\s*performed:\s*\d+\s*reads?,",
        "requests/sec": r"Requests/sec\s*executed",
        "transferred": r"\bRead\s*[\d.]+[KMGT]?b\s*Written\s*[\d.]+[KMGT]?b\s*Total\s*transferred",
        "operations:": r"File\s*operations:[\s|]*reads/s:",
        "writes/s:": r"\breads/s:[\s|]*[\d.]+[\s|]+writes/s:",
        "iops=": r"\bread:\s*IOPS=[\d.]+\s+[\d.]+\s*MiB/s\s*\(",
    },
    re.IGNORECASE | re.VERBOSE,
)


def marks(chars: str) -> Iterator[int]:
    """Yield where in a text something stands that only a log of this format has."""
    return _MARKS(chars)


def parse(text: Text) -> Iterator[Record]:
    """Yield the runs of a text with their figures, settings and series, and what is to be said about them."""
    text, repairs = _repaired(text)
    yield from repairs
    log: _OpenLog | None = None
    for token in _LEXER.tokens(text):
        if token.name in _SKIPPED:
            continue
        if token.name == UNREAD:
            if log is not None:
                log.pass_over(token)
            elif (diagnostic := unread_figure(token)) is not None:
                yield diagnostic
            continue
        if log is not None and log.is_over_before(token):
            yield from log.close()
            log = None
        if log is None:
            log = _OpenLog(token)
        log.read(token)
    if log is not None:
        yield from log.close()


_BUCKET: Final = re.compile(r"[\d.]+\s*\|[\s*]*\d+")
_LETTERS: Final = re.compile(r"[^\W\d_]{2}")


def _repaired(text: Text) -> tuple[Text, list[Diagnostic]]:
    """Return a text without lines that stand twice, and what was done to it."""
    # Neighbouring buckets of a histogram can print alike.
    text, repairs = without_repeats(text, lambda line: _BUCKET.fullmatch(line) is not None)
    return text, repairs


@dataclass
class _Report:
    """The figures of one report."""

    checkpoint: Token | None = None
    phrases: set[str] = field(default_factory=set)
    figures: dict[str, Measurement] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    """The first printing of each figure, by the names in `_FIGURES`, and where it stands."""
    measurements: list[Measurement] = field(default_factory=list)


@dataclass
class _OpenLog:
    """A log that has not ended yet: what one start of sysbench printed, as it turns out of fileio or not."""

    first: Token
    last: Token = field(init=False)
    phrases: set[str] = field(default_factory=set)
    command: Token | None = None
    stated: bool = False
    """Whether other words stand between the command and the log."""
    version: str | None = None
    test: str | None = None
    settings: list[Setting] = field(default_factory=list)
    report: _Report = field(default_factory=_Report)
    interim: list[_Report] = field(default_factory=list)
    intervals: list[Token] = field(default_factory=list)
    last_interval: int = 0
    buckets: list[Token] = field(default_factory=list)
    unread: list[Token] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.last = self.first

    def is_over_before(self, token: Token) -> bool:
        """Whether a phrase belongs to another log than what was read so far."""
        if token.name == "command":
            return True
        if token.name == "banner":
            return self.phrases != {"command"} or self.command is None or self.command["verb"] != "run"
        if token.name in _PREPARATION:
            return bool(self.phrases & (_ONLY_FILEIO | _REPORT))
        if token.name == "checkpoint":
            return bool(self.report.phrases) and not self._has_checkpoints
        if token.name in _ONLY_FILEIO and not self.phrases & _ONLY_FILEIO:
            return bool(self.phrases & (_REPORT | _PREPARATION | {"other_test"}))
        if token.name == "other_test" and self.phrases & _ONLY_FILEIO:
            return True
        if token.name in _REPORT and self._has_checkpoints:
            return False
        return token.name in self.phrases - _RECURRING - _UNDER_A_HEADING

    @property
    def _has_checkpoints(self) -> bool:
        return bool(self.phrases & {"checkpoint", "report_checkpoints"})

    def pass_over(self, token: Token) -> None:
        """Keep what no phrase covers, to be told when it is known what the log is of."""
        if self.phrases == {"command"} and _LETTERS.search(token.text.chars, token.start, token.end):
            self.stated = True
        self.unread.append(token)

    def read(self, token: Token) -> None:
        if token.name in _UNDER_A_HEADING and not self._has_heading(token):
            self.unread.append(token)
            return
        if token.name in _REPORT - _RECURRING and token.name in self.report.phrases:
            self._begin_report()
        self.last = token
        self.phrases.add(token.name)
        if token.name in _REPORT:
            self.report.phrases.add(token.name)
        groups = token.match.groupdict() if token.match is not None else {}
        match token.name:
            case "command":
                self.command = token
                words, line = token["command"] or "", token.line_of("command")
                self.settings += command_settings(words, origin="command", line=line)
            case "banner":
                self.version = token["version"]
                if token["name"] != "sysbench":
                    self._say(token, "DAMAGED_MARK", "The tool's name lost a letter.")
            case "other_test":
                named = next(name for name, found in groups.items() if found is not None)
                self.test = self.test or {"unnamed": None, "threads_test": "threads"}.get(named, named)
            case "interval":
                self._read_interval(token)
            case "bucket":
                self.buckets.append(token)
            case "checkpoint":
                self._begin_report(token)
            case "thread":
                self._read_thread(token)
            case "fatal" | "unfinished":
                self._say(token, "RUN_FAILED", f"sysbench gave up: {(token['fatal'] or '').strip()}")
            case "inaccurate":
                self._say(token, "QUALIFIED", "sysbench says that its percentile is not accurate.")
        for group, found in groups.items():
            if found is not None and group in _SETTINGS:
                self._read_setting(token, group, found)
            elif found is not None and group in _FIGURES:
                self._read_figure(token, group)

    def _say(self, token: Token, code: str, message: str) -> None:
        self.diagnostics.append(token.diagnostic(code, message))

    def _has_heading(self, token: Token) -> bool:
        """Whether a figure that does not name itself stands below its heading, for the first time."""
        seen = self.report.phrases
        return token.name not in seen and (
            "latency" in seen or ("response_time" in seen and token.name != "latency_sum")
        )

    def _begin_report(self, checkpoint: Token | None = None) -> None:
        """Begin another report of the same run; the one before it was no more than interim."""
        if self.report.phrases:
            self.interim.append(self.report)
        self.report = _Report(checkpoint)

    def _read_setting(self, token: Token, group: str, text: str) -> None:
        key, convert = _SETTINGS[group]
        value = convert(text)
        if not any((s.key, s.value, s.origin) == (key, value, "log") for s in self.settings):
            self.settings.append(Setting(key=key, value=value, line=token.line_of(group)))
        flags = text.split()
        if key == "open_flags" and set(flags) & {"(none)", "sync", "dsync", "directio"}:
            # 1.0 gives words; the numbers of earlier versions differ between platforms.
            truth = {"direct": "directio" in flags, "sync": "sync" in flags or "dsync" in flags}
            self.settings += [Setting(key=k, value=str(v).lower(), line=token.line) for k, v in truth.items()]

    def _read_figure(self, token: Token, name: str) -> None:
        """Keep a figure; what the same report prints once more is no second figure."""
        report = self.report
        figure = self._measurement(token, name)
        key = (figure.operation, figure.metric, figure.statistic)
        earlier = report.figures.get(name)
        if earlier is None:
            again = any(
                key == (m.operation, m.metric, m.statistic) for m in report.measurements if m.scope == "all"
            )
        else:
            again = earlier.text == figure.text
        report.measurements.append(replace(figure, primary=not again))
        report.figures.setdefault(name, figure)
        report.tokens.setdefault(name, token)

    def _read_thread(self, token: Token) -> None:
        for name, (operation, metric, statistic, unit, rounding, _) in _THREAD_FIGURES.items():
            figure = token.measurement(
                name,
                operation=operation,
                metric=metric,
                statistic=statistic,
                unit=unit,
                rounding=rounding,
                scope="thread",
                part=token["thread"],
                block_size=self._known("block_size"),
                threads=self._known("threads"),
            )
            idle = metric == "latency" and int(token["one_events"] or "") == 0
            self.report.measurements.append(_missing(figure) if idle else self._without_zero(figure))

    def _measurement(self, token: Token, name: str) -> Measurement:
        operation, metric, statistic, unit, rounding, digits = _FIGURES[name]
        if name == "events" and self._counts_fsyncs:
            operation = "all"
        if operation == "mixed":
            operation = self._direction
        if name == "percentile":
            statistic = f"p{token['rank'] or token['old_rank']}"
        if metric == "latency":
            unit = token["unit"] or unit
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
        if figure.operation in self._unused:
            metric, unit = _COUNTED_BY[figure.metric]
            return replace(figure, metric=metric, unit=unit, low=0.0, high=0.0)
        return replace(figure, value=None, state="censored", low=None)

    @property
    def _direction(self) -> str:
        """What the test does: ``read``, ``write``, or ``mixed`` where it does both or nobody knows."""
        pattern = self._setting("pattern")
        if pattern is not None:
            return _DIRECTIONS.get(pattern, "mixed")
        zero = {
            m.operation
            for m in self.report.figures.values()
            if m.value == 0 and m.metric in {"operations", "bytes"}
        }
        if "read" in zero and "write" not in zero:
            return "write"
        return "read" if "write" in zero and "read" not in zero else "mixed"

    @property
    def _unused(self) -> set[str]:
        """What the test does not do."""
        return {"read": {"write", "other"}, "write": {"read"}}.get(self._direction, set())

    @property
    def _counts_fsyncs(self) -> bool:
        """Whether this is 1.0 or later, where an fsync is an event."""
        if self.version is not None:
            return not self.version.startswith("0.")
        return bool(self.phrases & {"read_rate", "write_rate", "read_rates", "write_rates", "latency"})

    def _setting(self, key: str) -> str | None:
        """Return a setting by the log's own words, or else by the command, which stands before them."""
        return next((s.value for s in reversed(self.settings) if s.key == key), None)

    def _known(self, key: str) -> int | None:
        value = self._setting(key)
        return int(value) if value is not None and value.isdecimal() else None

    def close(self) -> Iterator[Record]:
        """Yield what the log is: a run of fileio, or a remark on what else."""
        stretch = Token(UNREAD, self.first.text, self.first.start, self.last.end)
        if self.phrases & _ONLY_FILEIO:
            yield from self._run()
        elif "other_test" in self.phrases or ("events" in self.phrases and self.phrases & {"banner", "options"}):
            name = self.test or self._test_of_the_command or "which one it does not say"
            yield stretch.diagnostic("NOT_FILEIO", f"This is a log of another of sysbench's tests: {name}.")
            yield from (
                token.diagnostic("OTHER_TEXT", "This text holds a figure and is no part of a log.")
                for token in self.unread
                if token.start >= stretch.end and unread_figure(token) is not None
            )
            self.unread = []
            self.diagnostics = []
        elif self.phrases & _PREPARATION:
            yield stretch.diagnostic("PREPARATION", "Here sysbench makes or removes its files, which is no run.")
        elif self.phrases & {"banner", "options"} and not self.report.phrases:
            if "fatal" not in self.phrases:
                yield stretch.diagnostic("INCOMPLETE_LOG", "The log ends before it says which test it is of.")
        elif self.phrases - {"command", "fatal"} and unread_figure(stretch) is not None:
            yield stretch.diagnostic("UNREAD_FIGURE", "Nothing here says that this is a report of fileio.")
        yield from filter(None, map(unread_figure, self.unread))
        yield from self.diagnostics

    @property
    def _test_of_the_command(self) -> str | None:
        words = self.command["command"] if self.command is not None else None
        found = re.search(r"--test=(\S+)|\s(cpu|memory|threads|mutex|\S*oltp\S*)\s", words or "")
        return next(filter(None, found.groups())) if found is not None else None

    def _run(self) -> Iterator[Record]:
        text = self.first.text
        if self.report.checkpoint is not None:
            self._begin_report()
        report = self.report
        figures = report.figures
        total_time = figures.get("total_time")
        finished = bool(report.measurements)
        yield Run(
            tool=TOOL,
            tool_version=self.version,
            start=text.byte(self.first.start),
            end=text.byte(self.last.end),
            line=self.first.line,
            host=self.command["host"] if self.command is not None else None,
            duration=total_time.value if total_time is not None else None,
            status="failed" if self.phrases & {"fatal", "unfinished"} else "ok" if finished else "partial",
            settings=tuple(self._settings()),
            measurements=tuple(self._of_requests(report.measurements)),
            bins=tuple(self._bins()),
        )
        yield from self._series()
        yield from self._checkpoint_series()
        missing = [
            words
            for words, alternatives in _PARTS.items()
            if not any(phrases <= self.phrases for phrases in alternatives)
        ]
        if missing and not self.phrases & {"fatal", "unfinished"}:
            yield self.first.diagnostic("INCOMPLETE_LOG", f"The report lacks {', '.join(missing)}.")
        yield from self._cross_checks()

    def _settings(self) -> Iterator[Setting]:
        """Yield the settings; a command without a prompt, and apart from the log, is what somebody says ran."""
        stated = self.stated and self.command is not None and self.command["prompt"] is None
        for setting in self.settings:
            yield replace(setting, origin="stated") if stated and setting.origin == "command" else setting

    def _of_requests(self, measurements: list[Measurement]) -> Iterator[Measurement]:
        """Yield the figures, without latencies where there was no request."""
        events = self.report.figures.get("events")
        for figure in measurements:
            if figure.metric == "latency" and figure.scope == "all" and events is not None and events.value == 0:
                yield _missing(figure)
            else:
                yield figure

    def _bins(self) -> Iterator[Bin]:
        """Yield the histogram, in which buckets that print alike are one bin."""
        counts: dict[str, int] = {}
        lines: dict[str, int] = {}
        for token in self.buckets:
            printed = token["bucket"] or ""
            if printed in _PRINTED:
                counts[printed] = counts.get(printed, 0) + int(token["count"] or "")
                lines.setdefault(printed, token.line)
            else:
                self._say(token, "UNREAD_FIGURE", "sysbench has no such bucket.")
        for printed, count in counts.items():
            first, last = _PRINTED[printed][0], _PRINTED[printed][-1]
            yield Bin(
                operation="all",
                metric="latency",
                low=_MIDDLES[first] / _HALF_BUCKET / 1e3 if first > 0 else None,
                high=_MIDDLES[last] * _HALF_BUCKET / 1e3 if last < _BUCKETS - 1 else None,
                count=count,
                line=lines[printed],
            )

    def _read_interval(self, token: Token) -> None:
        """Keep a line of the report interval, unless a checkpoint set back what it counts."""
        begin, self.last_interval = self.last_interval, int(token["time"] or "")
        checkpoint = self.report.checkpoint
        if checkpoint is None or int(checkpoint["time"] or "") <= begin:
            self.intervals.append(token)

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
        ranks = [token["rank"] or token["response_rank"] or "" for token in self.intervals]
        latencies = [float(token["latency"] or token["response"] or "") / 1e3 for token in self.intervals]
        for rank in sorted(set(ranks) - {"0"}):
            points = [
                point
                for point in zip(times, latencies, lines, ranks, strict=True)
                if point[1] and point[3] == rank
            ]
            if points:
                yield Block(
                    operation="all",
                    metric="latency",
                    statistic=f"p{rank}",
                    times=[point[0] for point in points],
                    values=[point[1] for point in points],
                    lines=[point[2] for point in points],
                )

    def _checkpoint_series(self) -> Iterator[Block | Diagnostic]:
        """Yield the rates and latencies of the interim reports, each at the time of its report."""
        points: dict[tuple[str, str, str], list[tuple[float, float, int | None]]] = {}
        for report in self.interim:
            where = report.checkpoint or next(iter(report.tokens.values()), self.first)
            yield where.diagnostic(
                "INTERIM_REPORT",
                "sysbench starts its counters again after this report; the last one is of what follows it.",
            )
            total_time = report.figures.get("total_time")
            printed = report.checkpoint["time"] if report.checkpoint is not None else None
            time = float(printed) if printed is not None else total_time.value if total_time is not None else None
            for figure in report.measurements:
                rate = figure.primary and figure.metric in {"bandwidth", "iops", "latency"}
                if rate and figure.scope == "all" and figure.value is not None and time is not None:
                    key = (figure.operation, figure.metric, figure.statistic)
                    points.setdefault(key, []).append((time, figure.value, figure.line))
        for (operation, metric, statistic), found in points.items():
            yield Block(
                operation=operation,
                metric=metric,
                statistic=statistic,
                part="checkpoints",
                times=[point[0] for point in found],
                values=[point[1] for point in found],
                lines=[point[2] for point in found],
            )

    def _cross_checks(self) -> Iterator[Diagnostic]:
        known = self._intervals()
        slack = _WHILE_REPORTING if self.interim else 0
        for left_side, right_side in _IDENTITIES:
            if self.interim and re.search("time|thread|latency|histogram", f"{left_side} {right_side}"):
                continue  # times are of the whole run
            left, right = _evaluate(left_side, known), _evaluate(right_side, known)
            if (
                left is not None
                and right is not None
                and (left.high < right.low * (1 - slack) or right.high < left.low * (1 - slack))
            ):
                message = f"{left_side} is {left}, but {right_side} is {right}.".replace("_", " ")
                yield self.report.tokens[right_side.split()[0]].diagnostic("FIGURES_DISAGREE", message)
        if not self.interim:
            yield from self._idle_thread(known)

    def _intervals(self) -> dict[str, _Interval]:
        """Return what the printed figures allow, and the settings that figures are multiples of."""
        known = {
            name: _Interval(figure.low, figure.high)
            for name, figure in self.report.figures.items()
            if figure.low is not None and figure.high is not None
        }
        threads, block_size, file_size = (self._known(key) for key in ("threads", "block_size", "file_size"))
        if threads is not None:
            known["threads"] = _Interval(threads, threads)
        # A file's last request is shorter where blocks do not fill it, and merged requests are longer.
        if block_size and file_size is not None and file_size % block_size == 0 and "merging" not in self.phrases:
            known["block_size"] = _Interval(block_size, block_size)
        if self.buckets:
            counted = sum(int(token["count"] or "") for token in self.buckets)
            known["histogram"] = _Interval(counted, counted)
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
            yield self.report.tokens["thread_time"].diagnostic("IDLE_THREAD", message)


def _missing(figure: Measurement) -> Measurement:
    """Return a latency of no request, which is printed all the same."""
    return replace(figure, state="missing", value=None, low=None, high=None)


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
