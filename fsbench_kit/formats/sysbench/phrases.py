"""The phrases of sysbench's ``fileio`` reports, of its other tests, and of command lines before them."""

from __future__ import annotations

from typing import Final

from fsbench_kit.formats.lexer import Lexer

_COUNT: Final = r"(?<![\d.,])\d+(?![.,]?\d)"  # an integer: neither end of "1,024"
_N: Final = r"(?<![\d.,])\d+(?:\.\d+)?(?![.,]?\d)"
_SIZE: Final = r"(?<![\d.,])\d+(?:\.\d+)?[KMGT]?i?[bB]"


def _amount(figure: str) -> str:
    """Return the pattern of an amount of bytes as 0.4.12 and 0.5 print it: ``2.8437Gb``, ``0b``."""
    return rf"(?P<{figure}>{_N})(?P<{figure}_prefix>[KMGT]?)b"


def _both_rates(direction: str) -> str:
    """Return the pattern of the line of 1.1 with the rates of a direction."""
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

LEXER: Final = Lexer(**{name: pattern.replace(" ", r"[\s|]*") for name, pattern in _PHRASES.items()})
"""Where copies lose and gain white space, tables of web pages add bars."""

SKIPPED: Final = {
    *("prepared_file", "ignored_seed", "warming", "repeated", "deprecated", "endless"),
    *("opened", "worker", "request"),
}
RECURRING: Final = {"interval", "checkpoint", "fatal", "unfinished", "transferred", "request_rate"} | {
    *("thread", "histogram", "bucket", "other_test", "removal", "inaccurate")
}
"""Phrases that can recur in a log: people repeat the bandwidth and rate of a report below it."""
PREPARATION: Final = {"prepared_files", "prepared_bytes", "removal"}
_RATES: Final = (
    {"operations", "transferred", "request_rate"},  # of 0.4.12 and 0.5
    {"read_rate", "write_rate", "other_rate", "read_bandwidth", "write_bandwidth"},  # of 1.0
    {"read_rates", "write_rates", "other_rates"},  # of 1.1
)
REPORT: Final = set[str]().union(*_RATES) | {
    *("total_time", "event_time", "response_time", "events", "thread_events", "thread_time", "thread"),
    *("latency", "latency_min", "latency_mean", "latency_max", "latency_sum", "percentile"),
}
ONLY_FILEIO: Final = {"files", "total_size", "block_size", "engine", "pattern", "interval"}.union(*_RATES)
"""Phrases that no other test of sysbench prints."""
UNDER_A_HEADING: Final = {"latency_min", "latency_mean", "latency_max", "latency_sum"}

PARTS: Final[dict[str, tuple[set[str], ...]]] = {
    "its version": ({"banner"},),
    "the kind of test": ({"pattern"},),
    "its rates": _RATES,
    "its total time": ({"total_time", "events"}, {"read_rates"}),
    "its latency": ({"latency_min", "latency_mean", "latency_max"},),
    "the threads' fairness": ({"thread_events", "thread_time"}, {"read_rates"}),
}
"""The parts of a report, and the phrases that show them; 1.1 has no total time and no fairness."""
