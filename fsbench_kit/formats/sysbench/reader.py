"""Reads the logs of sysbench's ``fileio`` test phrase by phrase, and assembles runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from fsbench_kit.formats.clean import Clean, Free
from fsbench_kit.formats.findings import diagnostics
from fsbench_kit.formats.lexer import UNREAD, Token, unread_figure
from fsbench_kit.formats.repairs import without_repeats
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.sysbench import series
from fsbench_kit.formats.sysbench.checks import checks
from fsbench_kit.formats.sysbench.command import COMMAND, TOOL
from fsbench_kit.formats.sysbench.figures import RATIO, FigureReader, Report, decimal
from fsbench_kit.formats.sysbench.histogram import add_histogram
from fsbench_kit.formats.sysbench.phrases import (
    LEXER,
    ONLY_FILEIO,
    PARTS,
    PREPARATION,
    RECURRING,
    REPORT,
    SKIPPED,
    UNDER_A_HEADING,
)
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Record, Setting

SIGN: Final = (
    r"ysbench\W*v?\d|following\W*options:|doing\W*(?:sequential|random)|\]\W*reads:|operations\W*performed"
    r"|requests/sec|total\W*transferred|writes/s:|iops="
)

signatures: Final = Signatures(
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


def parse(text: Text) -> Iterator[Record]:
    """Yield the runs of a text with their figures, settings and series, and diagnostics."""
    # Adjacent buckets of a histogram can be printed alike.
    text, repairs = without_repeats(text, lambda line: _BUCKET.fullmatch(line) is not None)
    yield from repairs
    log: _OpenLog | None = None
    for token in LEXER.tokens(text):
        if token.name in SKIPPED:
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


CLEAN: Final = Clean(
    checks=checks,
    free={
        **dict.fromkeys(("seed", "files", "request_limit", "fsync"), Free()),
        RATIO: Free(decimal),
        **dict.fromkeys(("file_size", "total_size"), Free(None)),
        "threads": Free(None, ("threads", "samples")),
        "block_size": Free(None, ("block_size",)),
    },
    zeros=frozenset(
        {
            *("others", "event_time", "latency_sum", "thread_events_stdev", "thread_time_stdev"),
            *("latency_min", "latency_mean", "latency_max", "percentile"),
        }
    ),
    duration="runtime",
)


_BUCKET: Final = re.compile(r"[\d.]+\s*\|[\s*]*\d+")
_LETTERS: Final = re.compile(r"[^\W\d_]{2}")


@dataclass
class _OpenLog:
    """A log that has not ended yet: the output of one start of sysbench, whether or not it is fileio."""

    first: Token
    last: Token = field(init=False)
    reader: FigureReader = field(init=False)
    command: Token | None = None
    stated: bool = False
    """Whether there is other text between the command and the log."""
    test: str | None = None
    interim: list[Report] = field(default_factory=list)
    intervals: list[Token] = field(default_factory=list)
    last_interval: int = 0
    buckets: list[Token] = field(default_factory=list)
    unread: list[Token] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.last = self.first
        self.reader = FigureReader(self.first.text)

    @property
    def phrases(self) -> set[str]:
        return self.reader.phrases

    @property
    def report(self) -> Report:
        return self.reader.report

    def is_over_before(self, token: Token) -> bool:
        """Whether a phrase belongs to another log than those read so far."""
        if token.name == "command":
            return True
        if token.name == "banner":
            return self.phrases != {"command"} or self.command is None or self.command["verb"] != "run"
        if token.name in PREPARATION:
            return bool(self.phrases & (ONLY_FILEIO | REPORT))
        if token.name == "checkpoint":
            return bool(self.report.phrases) and not self._has_checkpoints
        if token.name in ONLY_FILEIO and not self.phrases & ONLY_FILEIO:
            return bool(self.phrases & (REPORT | PREPARATION | {"other_test"}))
        if token.name == "other_test" and self.phrases & ONLY_FILEIO:
            return True
        if token.name in REPORT and self._has_checkpoints:
            return False
        return token.name in self.phrases - RECURRING - UNDER_A_HEADING

    @property
    def _has_checkpoints(self) -> bool:
        return bool(self.phrases & {"checkpoint", "report_checkpoints"})

    def pass_over(self, token: Token) -> None:
        """Store text that no phrase matches, to be reported once it is known what the log is."""
        if self.phrases == {"command"} and _LETTERS.search(token.text.chars, token.start, token.end):
            self.stated = True
        self.unread.append(token)

    def read(self, token: Token) -> None:
        if token.name in UNDER_A_HEADING and not self._has_heading(token):
            self.unread.append(token)
            return
        if token.name in REPORT - RECURRING and token.name in self.report.phrases:
            self._begin_report()
        self.last = token
        if token.name in REPORT:
            self.report.phrases.add(token.name)
        match token.name:
            case "command":
                self.command = token
                words, line = token["command"] or "", token.text.line(token.start_of("command"))
                self.reader.settings += COMMAND.read(words, origin="command", line=line)
            case "banner":
                self.reader.version = token["version"]
                if token["name"] != "sysbench":
                    self._say(token, "DAMAGED_MARK", "The tool's name lost a letter.")
            case "other_test":
                named = (token.match.lastgroup if token.match is not None else None) or "unnamed"
                self.test = self.test or {"unnamed": None, "threads_test": "threads"}.get(named, named)
            case "interval":
                self._read_interval(token)
            case "bucket":
                self.buckets.append(token)
            case "checkpoint":
                self._begin_report(token)
            case "fatal" | "unfinished":
                self._say(token, "RUN_FAILED", f"sysbench gave up: {(token['fatal'] or '').strip()}")
            case "inaccurate":
                self._say(token, "QUALIFIED", "sysbench says that its percentile is not accurate.")
        self.reader.read(token)

    def _say(self, token: Token, code: str, message: str) -> None:
        self.diagnostics.append(token.diagnostic(code, message))

    def _has_heading(self, token: Token) -> bool:
        """Whether a figure that is named by its heading follows it, for the first time."""
        seen = self.report.phrases
        return token.name not in seen and (
            "latency" in seen or ("response_time" in seen and token.name != "latency_sum")
        )

    def _begin_report(self, checkpoint: Token | None = None) -> None:
        """Begin another report of the same run, so that the previous one is an interim report."""
        if self.report.phrases:
            self.interim.append(self.report)
        self.reader.report = Report(self.first.text, checkpoint)

    def _read_interval(self, token: Token) -> None:
        """Store a line of the report interval, unless a checkpoint has reset its counters."""
        begin, self.last_interval = self.last_interval, int(token["time"] or "")
        checkpoint = self.report.checkpoint
        if checkpoint is None or int(checkpoint["time"] or "") <= begin:
            self.intervals.append(token)

    def close(self) -> Iterator[Record]:
        """Yield the run of a fileio log, or a diagnostic that says what else it is."""
        stretch = Token(UNREAD, self.first.text, self.first.start, self.last.end)
        if self.phrases & ONLY_FILEIO:
            yield from self._run()
        elif "other_test" in self.phrases or ("events" in self.phrases and self.phrases & {"banner", "options"}):
            name = self.test or self._test_of_the_command or "it does not say which"
            yield stretch.diagnostic("NOT_FILEIO", f"This is a log of another sysbench test: {name}.")
            yield from (
                token.diagnostic("OTHER_TEXT", "This text contains a figure but is not part of a log.")
                for token in self.unread
                if token.start >= stretch.end and unread_figure(token) is not None
            )
            self.unread = []
            self.diagnostics = []
        elif self.phrases & PREPARATION:
            yield stretch.diagnostic("PREPARATION", "Here sysbench makes or removes its files; this is not a run.")
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
        strange = list(add_histogram(report.run, self.buckets))
        self.diagnostics += strange
        report.run.settings += self._settings()
        self.reader.settle()
        run = report.run.build(
            TOOL.name,
            self.first.start,
            self.last.end,
            tool_version=self.reader.version,
            host=self.command["host"] if self.command is not None else None,
            duration=total_time.value if total_time is not None else None,
            status="failed" if self.phrases & {"fatal", "unfinished"} else "ok" if finished else "partial",
        )
        yield run
        yield from series.of_intervals(self.intervals)
        yield from series.of_checkpoints(self.interim, self.first)
        missing = [
            words
            for words, alternatives in PARTS.items()
            if not any(phrases <= self.phrases for phrases in alternatives)
        ]
        if missing and not self.phrases & {"fatal", "unfinished"}:
            yield self.first.diagnostic("INCOMPLETE_LOG", f"The report lacks {', '.join(missing)}.")
        for token in self.reader.undirected:
            yield token.diagnostic(
                "UNREAD_FIGURE", "It is unclear whether these figures are of reads or of writes."
            )
        yield from diagnostics(checks(run, is_interim=bool(self.interim), lacks_bins=bool(strange)), text)

    def _settings(self) -> Iterator[Setting]:
        """Yield the settings; those of a command without a prompt, apart from the log, are stated."""
        stated = self.stated and self.command is not None and self.command["prompt"] is None
        for setting in self.reader.settings:
            yield replace(setting, origin="stated") if stated and setting.origin == "command" else setting
