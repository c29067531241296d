r"""Logs of iozone 3.x in auto mode: the table, the Excel report (``-R``) and the CPU report (``-+u``).

Read against logs of 3.327 to 3.493 and the source of 3.4xx (``iozone.c``: ``main``, ``print_header``, ``begin``,
``write_perf_test`` and its like, ``dump_excel``).

- The table has a row for each file size and record size, in kB of 1024 bytes (3.3xx says KB). Its columns have
  fixed widths, and the tests that ``-i`` leaves out are blanks in the middle of a row, so a figure's column is
  known by its place alone. The names of the fifth to ninth column take two lines.
- A figure is kB/s, cut off to a whole number twice over (a cast, then ``>>= 10``); with ``-O`` operations per
  second; with ``-N`` the mean time of an operation in whole microseconds, cut off too.
- A 0 stands for a test that did not run (a retest under ``-+n``; in reports also every other gap), or else for
  a figure below 1.
- The Excel report prints the table's figures again, one matrix for each test: file size by record size.
- The CPU report gives 100 x CPU time / wall time with two decimals, never above 100. "Zero values should be
  ignored": they stand for less time than the clock can tell.
- ``O_DIRECT feature enabled`` stands among the options when ``-I`` was given. The tests through the C library
  (fwrite, frewrite, fread, freread) open the file without it all the same.
- Lines that only say that an option was given become that option: ``iozone.-e``, as in a command.

Not read yet: throughput mode (``-t``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.commands import command_settings
from fsbench_kit.formats.lexer import UNREAD, Lexer, Token, unread_figure
from fsbench_kit.records import Diagnostic, Measurement, Run, Setting, State, Status
from fsbench_kit.units import Rounding, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.formats.text import Text
    from fsbench_kit.records import Record

TOOL: Final = "iozone"

_COLUMNS: Final = {
    "write": "write",
    "rewrite": "rewrite",
    "read": "read",
    "reread": "reread",
    "random_read": "random read",
    "random_write": "random write",
    "backward_read": "bkwd read",
    "record_rewrite": "record rewrite",
    "stride_read": "stride read",
    "fwrite": "fwrite",
    "frewrite": "frewrite",
    "fread": "fread",
    "freread": "freread",
    "pwrite": "pwrite",
    "repwrite": "repwrite",
    "pread": "pread",
    "repread": "repread",
}
"""Operation -> its name in the heading. A log has these columns from the left, up to some column."""

_WIDTHS: Final = (
    (9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9, 9, 9, 8, 9),  # 3.4xx
    (8, 8, 9, 9, 8, 8, 8, 9, 9, 9, 9, 8, 9),  # 3.3xx
)
_RECORD_WIDTH: Final = 8

_REPORTS: Final = {
    "Writer": "write",
    "Re-writer": "rewrite",
    "Reader": "read",
    "Re-Reader": "reread",
    "Random read": "random_read",
    "Random write": "random_write",
    "Backward read": "backward_read",
    "Record rewrite": "record_rewrite",
    "Stride read": "stride_read",
    "Fwrite": "fwrite",
    "Re-Fwrite": "frewrite",
    "Fread": "fread",
    "Re-Fread": "freread",
    "Pwrite": "pwrite",
    "Re-Pwrite": "repwrite",
    "Pread": "pread",
    "Re-Pread": "repread",
}

_RETESTS: Final = frozenset({"rewrite", "reread", "frewrite", "freread", "repwrite", "repread"})
_THROUGH_LIBRARY: Final = frozenset({"fwrite", "frewrite", "fread", "freread"})

_NUMBERS: Final = {
    "file_size": (r"File size set to (?P<value>\d{1,12}) [kK]B\b", 1024),
    "block_size": (r"Record Size (?P<value>\d{1,12}) [kK]B\b", 1024),
    "iozone.-n": (r"Using minimum file size of (?P<value>\d{1,12}) kilobytes\.?", 1024),
    "iozone.-g": (r"Using maximum file size of (?P<value>\d{1,12}) kilobytes\.?", 1024),
    "iozone.-y": (r"Using Minimum Record Size (?P<value>\d{1,12}) [kK]B\b", 1024),
    "iozone.-q": (r"Using Maximum Record Size (?P<value>\d{1,12}) [kK]B\b", 1024),
    "iozone.-S": (r"Processor cache size set to (?P<value>\d{1,12}) [kK][bB]ytes\.?", 1024),
    "iozone.-L": (r"Processor cache line size set to (?P<value>\d{1,12}) bytes\.?", 1),
    "stride": (r"File stride size set to (?P<value>\d{1,12}) \* record size\.?", 1),
    "iozone.time_resolution": (r"Time Resolution = (?P<value>\d+\.\d+) seconds\.?", None),
    "iozone.cpu_time_resolution": (r"CPU utilization Resolution = (?P<value>\d+\.\d+) seconds\.?", None),
}
"""Setting -> the line that tells it, and what to multiply its number by."""

_OPTIONS: Final = {
    "direct": r"O_DIRECT(?:IO)? feature enabled|VxFS advanced feature SET_CACHE, VX_DIRECT enabled",
    "sync": r"SYNC Mode\.",
    "iozone.-a": r"Auto Mode(?! 2)",
    "iozone.-B": r"Using mmap files",
    "iozone.-c": r"Include close in write timing",
    "iozone.-e": r"Include fsync in write timing",
    "iozone.-K": r"Disrupted read patterns selected\.",
    "iozone.-N": r"Microseconds/op Mode\. Output is in microseconds per operation\.",
    "iozone.-O": r"OPS Mode\. Output is in operations per second\.",
    "iozone.-p": r"Purge Mode On",
    "iozone.-R": r"Excel chart generation enabled",
    "iozone.-w": r"Setting no_unlink",
    "iozone.-W": r"Lock file when reading/writing\.",
    "iozone.-z": r"Cross over of record size disabled\.",
    "iozone.-+D": r">>> O_DSYNC mode enabled\. <<<",
    "iozone.-+n": r"No retest option selected",
    "iozone.-+r": r"Read & Write sync mode active\.",
    "iozone.-+u": r"CPU utilization Excel chart enabled",
}
"""Setting that is true -> the line that tells it."""

_S: Final = r"[^\S\n]"  # white space within a line

_LEXER: Final = Lexer(
    command=rf"Command line used:{_S}*(?P<command>\S[^\n]*\S)",
    prompt=rf"^[^\n]*[#$%>]{_S}+(?P<command>(?:\S*/)?iozone{_S}+-[^\n]*\S)",
    banner=r"Iozone: Performance Test of File I/O",
    mode=r"Compiled for (?P<mode>\d+ bit) mode\.?",
    version=r"Version \$Revision: (?P<version>\d[\d.]*) \$",
    build=rf"Build:{_S}*(?P<build>\S[^\n]*\S)",
    began=rf"Run began:{_S}*(?P<date>\S[^\n]*\S)",
    machine=rf"Machine ={_S}*(?P<machine>\S[^\n]*\S)",
    **{key: pattern for key, (pattern, _) in _NUMBERS.items()},
    **_OPTIONS,
    kilobytes=r"Output is in [kK][bB]ytes/sec",
    heading=(
        rf"(?:(?P<tops>\brandom(?:{_S}+(?:random|bkwd|record|stride))*){_S}*\n)?"
        rf"^{_S}*[kK]B{_S}+reclen(?P<names>(?:{_S}+[a-z]+)+){_S}*$"
    ),
    row=rf"^{_S}*(?P<file>\d{{1,12}})(?P<record>{_S}+\d{{1,12}})(?P<cells>(?:{_S}+\d+)*){_S}*$",
    complete=r"iozone test complete\.",
    report=(
        rf'"(?P<report>{"|".join(_REPORTS).replace(" ", _S + "+")})(?P<cpu> CPU utilization)? report'
        r'(?: \(Zero values should be ignored\))?"'
    ),
    report_sizes=rf'^{_S}*(?P<sizes>"\d{{1,12}}"(?:{_S}+"\d{{1,12}}")*){_S}*$',
    report_row=rf'^{_S}*"(?P<file>\d{{1,12}})"(?P<cells>(?:{_S}+\d+(?:\.\d+)?)+){_S}*$',
    failure=(
        r"^[^\n]*(?:iozone: interrupted|No space left on device|Error (?:f|p)?(?:writ|read)ing block"
        r"|Can not f?d?open (?:temp )?file)[^\n]*$"
    ),
)

_STAGES: Final = {
    name: stage
    for stage, names in enumerate(
        (
            ("prompt",),
            ("banner",),
            ("version", "mode", "build"),
            ("began",),
            ("machine", "command", "kilobytes", *_OPTIONS, *_NUMBERS),
            ("heading",),
            ("report",),
        )
    )
    for name in names
}
"""The parts of a log in their order. Where a part comes too early, another run begins."""

_ONCE: Final = frozenset({"prompt", "banner", "began", "heading"})
"""Parts that a log has once. Where one comes a second time, another run begins."""


_MARKS: Final = re.compile(
    r"\bIozone: Performance Test of File I/O\s+Version \$Revision"
    r"|^\s*[kK]B\s+reclen\s+write\b"
    r'|^"(?:Re-)?[wW]riter report"\s+"\d+"'
    r"|\bCommand line used:\s*\S*\biozone\b",
    re.MULTILINE,
)


def marks(chars: str) -> Iterator[int]:
    """Yield where in a text something stands that only a log of this format has."""
    return (match.start() for match in _MARKS.finditer(chars))


def parse(text: Text) -> Iterator[Record]:
    """Yield the runs, and a diagnostic for whatever holds a figure and is not understood."""
    run: _OpenRun | None = None
    for token in _LEXER.tokens(text):
        stage = _STAGES.get(token.name)
        if stage is not None and (run is None or run.ends_before(token.name, stage)):
            if run is not None:
                yield from run.close()
            run = _OpenRun(token)
        if run is not None and token.name != UNREAD:
            yield from run.read(token)
        elif (diagnostic := unread_figure(token)) is not None:
            yield diagnostic
    if run is not None:
        yield from run.close()


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of a table.

    Attributes
    ----------
    operations
        What each column is of.
    edges
        Where each column ends, in characters after the end of the record size; ``None`` where the heading has
        lost its spacing.
    """

    operations: tuple[str, ...]
    edges: tuple[int, ...] | None

    @classmethod
    def from_heading(cls, heading: Token) -> _Table | None:
        """Return the table that a heading announces, or ``None`` where it is not one of iozone's."""
        words = list(re.finditer(r"\S+", heading["names"] or ""))
        names = [name.split() for name in _COLUMNS.values()][: len(words)]
        if [word[0] for word in words] != [name[-1] for name in names]:
            return None
        tops = heading["tops"]
        if tops is not None and tops.split() != [name[0] for name in names if len(name) > 1]:
            return None
        operations = tuple(_COLUMNS)[: len(words)]
        for widths in _WIDTHS:
            edges = tuple(sum(widths[: n + 1]) for n in range(min(len(words), len(widths))))
            # Names stand over their column's end, or one character before it.
            if len(edges) == len(words) and all(
                0 <= edge - word.end() <= 1 for edge, word in zip(edges, words, strict=True)
            ):
                return cls(operations, edges)
        return cls(operations, None)

    def figures(self, row: Token) -> list[tuple[str, str]] | None:
        """Return the operations and figures of a row, or ``None`` where it cannot be told which are which."""
        if self.has_place(row):
            return self._by_place(row["cells"] or "")
        # Without its spacing, a row that fills every column can be read by order, and no other.
        cells = (row["cells"] or "").split()
        return list(zip(self.operations, cells, strict=True)) if len(cells) == len(self.operations) else None

    def has_place(self, row: Token) -> bool:
        """Whether heading and row have kept the spacing that gives a figure its column."""
        return self.edges is not None and len(row["record"] or "") == _RECORD_WIDTH

    def _by_place(self, cells: str) -> list[tuple[str, str]] | None:
        figures = []
        start = 0
        for operation, end in zip(self.operations, self.edges or (), strict=True):
            cell = cells[start:end]
            if cell.strip():
                # A cell ends in a digit: one that does not was cut off, or pushed aside by a wider one.
                if len(cell) < end - start or not re.fullmatch(r" *\d+", cell):
                    return None
                figures.append((operation, cell.strip()))
            start = end
        return figures if not cells[start:].strip() else None


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a figure of a table or report is of."""

    metric: str
    statistic: str
    unit: str
    rounding: Rounding


_BANDWIDTH: Final = _Measure("bandwidth", "value", "KiB/s", "down")
_IOPS: Final = _Measure("iops", "value", "1/s", "down")
_LATENCY: Final = _Measure("latency", "mean", "us", "down")
_CPU: Final = _Measure("cpu", "value", "%", "nearest")


@dataclass
class _OpenRun:
    """A run whose log has not ended yet."""

    first: Token
    last: Token = field(init=False)
    stage: int = -1
    seen: set[str] = field(default_factory=set)
    version: str | None = None
    host: str | None = None
    started_at: datetime | None = None
    prompt: Token | None = None
    direct: Token | None = None
    header: dict[str, Setting] = field(default_factory=dict)
    command: tuple[Setting, ...] = ()
    table: _Table | None = None
    tabled: dict[tuple[str, int | None, int | None], Measurement] = field(default_factory=dict)
    report: Token | None = None
    record_sizes: tuple[int, ...] = ()
    repaired: bool = False
    measurements: list[Measurement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.last = self.first

    def ends_before(self, name: str, stage: int) -> bool:
        """Whether a part of this name and stage belongs to another run."""
        return stage < self.stage or (name in _ONCE and name in self.seen)

    def read(self, token: Token) -> Iterator[Diagnostic]:
        self.last = token
        self.seen.add(token.name)
        self.stage = max(self.stage, _STAGES.get(token.name, -1))
        if token.name in _NUMBERS:
            self._read_number(token)
            return
        if token.name in _OPTIONS:
            self._set(token.name, "true", token)
            self.direct = token if token.name == "direct" else self.direct
            return
        match token.name:
            case "prompt":
                self.prompt = token
            case "version":
                self.version = token["version"]
            case "mode":
                self._set("iozone.mode", token["mode"] or "", token)
            case "build":
                self._set("tool_build", token["build"] or "", token)
            case "machine":
                self._read_machine(token)
            case "began":
                yield from self._read_date(token)
            case "command":
                yield from self._read_command(token)
            case "heading":
                self.table = _Table.from_heading(token)
            case "row":
                yield from self._read_row(token)
            case "complete":
                self.table = None
            case "report":
                self.table, self.report, self.record_sizes = None, token, ()
            case "report_sizes":
                self.record_sizes = tuple(int(size) * 1024 for size in re.findall(r"\d+", token["sizes"] or ""))
            case "report_row":
                yield from self._read_report_row(token)
            case "failure":
                yield token.diagnostic("RUN_FAILED", "iozone reports an error, or was interrupted.")

    def _set(self, key: str, value: str, token: Token) -> None:
        # -s and -r can be given several times, and then all of them count.
        before = self.header.get(key)
        if before is None:
            self.header[key] = Setting(key=key, value=value, line=token.line)
        elif value not in before.value.split(","):
            self.header[key] = replace(before, value=f"{before.value},{value}")

    def _read_number(self, token: Token) -> None:
        factor = _NUMBERS[token.name][1]
        value = token["value"] or ""
        self._set(token.name, value if factor is None else str(int(value) * factor), token)

    def _read_machine(self, token: Token) -> None:
        machine = token["machine"] or ""
        self._set("iozone.machine", machine, token)
        words = machine.split()
        if len(words) > 2:  # uname -a: system, host, release of the kernel, ...
            self.host = words[1]
            self._set("kernel", words[2], token)

    def _read_date(self, token: Token) -> Iterator[Diagnostic]:
        self.started_at = _date(token["date"] or "")
        if self.started_at is None:
            yield token.diagnostic("UNREAD_FIGURE", "The date is not in the form in which iozone prints it.")

    def _read_command(self, token: Token) -> Iterator[Diagnostic]:
        self.command = _command(token)
        if self.prompt is not None and not _command(self.prompt)[0].value.startswith(self.command[0].value):
            message = "The command line at the prompt is not the one that iozone says was used."
            yield self.prompt.diagnostic("SETTINGS_DISAGREE", message)

    def _read_row(self, row: Token) -> Iterator[Diagnostic]:
        figures = self.table.figures(row) if self.table is not None else None
        if figures is None:
            yield row.diagnostic("UNREAD_FIGURE", "It cannot be told which columns these figures stand in.")
        elif not figures:
            yield row.diagnostic("INCOMPLETE_LOG", "The row stops after its sizes.")
        elif self.table is not None and not self.table.has_place(row) and not self.repaired:
            self.repaired = True
            message = "The table has lost its spacing; rows that fill all columns are read in their order."
            yield row.diagnostic("REPAIRED", message)
        for operation, text in figures or ():
            figure = _figure(
                self._measure(),
                text,
                operation=operation,
                file_size=int(row["file"] or "") * 1024,
                block_size=int(row["record"] or "") * 1024,
                line=row.line,
                ran=not (operation in _RETESTS and "iozone.-+n" in self._options()),
            )
            self.tabled.setdefault((operation, figure.file_size, figure.block_size), figure)
            self.measurements.append(figure)

    def _read_report_row(self, row: Token) -> Iterator[Diagnostic]:
        cells = (row["cells"] or "").split()
        if self.report is None or len(cells) > len(self.record_sizes):
            yield row.diagnostic("UNREAD_FIGURE", "It cannot be told which record sizes these figures are of.")
            return
        operation = _REPORTS[" ".join((self.report["report"] or "").split())]
        measure = _CPU if self.report["cpu"] is not None else self._measure()
        file_size = int(row["file"] or "") * 1024
        for text, block_size in zip(cells, self.record_sizes, strict=False):
            tabled = None if measure is _CPU else self.tabled.get((operation, file_size, block_size))
            figure = _figure(
                measure,
                text,
                operation=operation,
                file_size=file_size,
                block_size=block_size,
                line=row.line,
                ran=tabled is not None and tabled.state != "missing",
            )
            self.measurements.append(replace(figure, primary=tabled is None))
            if tabled is not None and tabled.text != text:
                message = f"The table says {tabled.text} on line {tabled.line}, and the report {text}."
                yield row.diagnostic("SECOND_PRINTING_DIFFERS", message)

    def _options(self) -> set[str]:
        return {s.key for s in (*self.header.values(), *self.command) if s.value == "true"}

    def _measure(self) -> _Measure:
        """Return what the figures of the table are of: kB/s, unless an option says otherwise."""
        options = self._options()
        if "iozone.-N" in options:
            return _LATENCY
        return _IOPS if "iozone.-O" in options else _BANDWIDTH

    def close(self) -> Iterator[Record]:
        if not self.command and self.prompt is not None:
            self.command = _command(self.prompt)
        # The options that were given stand between these two lines, so that the absence of one is knowledge.
        if {"began", "command"} <= self.seen and "direct" not in self._options():
            self.header["direct"] = Setting(key="direct", value="false", line=self.command[0].line)
        text = self.first.text
        yield Run(
            tool=TOOL,
            tool_version=self.version,
            start=text.byte(self.first.start),
            end=text.byte(self.last.end),
            line=self.first.line,
            host=self.host,
            started_at=self.started_at,
            status=self._status(),
            settings=(*self.header.values(), *self.command),
            measurements=tuple(self.measurements),
        )
        yield from self._remarks()

    def _complete(self) -> bool:
        # Reports come after the end of the test, so that they stand for its mark where a copy lost it.
        return bool({"complete", "report"} & self.seen)

    def _headed(self) -> bool:
        return bool({"banner", "began", "command"} & self.seen)

    def _status(self) -> Status:
        if "failure" in self.seen:
            return "failed"
        return "partial" if not self.measurements or (self._headed() and not self._complete()) else "ok"

    def _remarks(self) -> Iterator[Diagnostic]:
        if self._headed() and not self._complete():
            yield self.last.diagnostic(
                "INCOMPLETE_LOG", "The log stops before iozone says that its test is complete."
            )
        if self.measurements and "kilobytes" not in self.seen and self._measure() is _BANDWIDTH:
            message = "No line names the unit; the figures are taken for kBytes/sec, as without -O and -N."
            yield self.first.diagnostic("INCOMPLETE_LOG", message)
        if self.direct is not None and any(m.operation in _THROUGH_LIBRARY for m in self.measurements):
            message = "iozone opens the file without O_DIRECT for fwrite, frewrite, fread and freread."
            yield self.direct.diagnostic("NOT_DIRECT", message)


_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATE: Final = re.compile(rf"[A-Z][a-z]{{2}}\s+({'|'.join(_MONTHS)})\s+(\d\d?)\s+(\d\d):(\d\d):(\d\d)\s+(\d{{4}})")


def _date(text: str) -> datetime | None:
    """Read a date of C's ``ctime``: English in every locale, local time without its zone."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    day, hour, minute, second, year = (int(match[group]) for group in range(2, 7))
    try:
        return datetime(year, _MONTHS.index(match[1]) + 1, day, hour, minute, second)
    except ValueError:
        return None


def _figure(
    measure: _Measure, text: str, *, operation: str, file_size: int, block_size: int, line: int, ran: bool
) -> Measurement:
    """Return a figure; a 0 is none, but where the test ran it says that the figure is below 1."""
    amount = quantity(text, measure.unit, rounding=measure.rounding)
    state: State = "measured"
    if amount.value == 0:
        state = "censored" if ran else "missing"
    return Measurement(
        operation=operation,
        metric=measure.metric,
        statistic=measure.statistic,
        value=amount.value if state == "measured" else None,
        unit=amount.unit,
        state=state,
        low=amount.low if state == "measured" else None,
        high=amount.high if state != "missing" else None,
        text=text,
        line=line,
        block_size=block_size,
        file_size=file_size,
    )


def _command(token: Token) -> tuple[Setting, ...]:
    return tuple(command_settings(token["command"] or "", origin="command", line=token.line))
