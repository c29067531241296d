"""Reads the logs of iozone line by line, and assembles runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from fsbench_kit.formats.builder import RunBuilder
from fsbench_kit.formats.clean import Clean, Free
from fsbench_kit.formats.dates import ctime
from fsbench_kit.formats.findings import Finding, diagnostics
from fsbench_kit.formats.iozone import tables, throughput
from fsbench_kit.formats.iozone.command import COMMAND, TOOL, has_stray_words
from fsbench_kit.formats.iozone.measures import BANDWIDTH, table_measure
from fsbench_kit.formats.iozone.phrases import AFTER_TESTS, LEXER, NUMBERS, ONCE, OPTIONS, STAGES, starts
from fsbench_kit.formats.iozone.repairs import with_lines
from fsbench_kit.formats.iozone.tables import TableReader
from fsbench_kit.formats.iozone.throughput import ThroughputReader
from fsbench_kit.formats.lexer import UNREAD, Token, unread_figure
from fsbench_kit.formats.text import Edit, Text
from fsbench_kit.model.records import Diagnostic, Origin, Record, Run, Setting, Status

_HOST: Final = re.compile(r"^(?:[#>][^\S\n]?)*(?P<host>[\w.-]{1,64}):(?:[^\S\n]+|$)", re.MULTILINE)

_LOST_PREFIX: Final = re.compile(
    r"(?:(?<!\S)|(?<=/sec))(?P<host>[\w.-]{1,64}):\s+(?:Children|Parent)\s+sees?\s+throughput\b"
)
"""A prefix that is no longer at the start of its line."""


def parse(text: Text) -> Iterator[Record]:
    """Yield the runs, and a diagnostic for each figure that is not understood."""
    for host, lines in _by_host(text):
        if len({match["host"] for match in _LOST_PREFIX.finditer(lines.chars)}) > 1:
            whole = Token(UNREAD, lines, 0, len(lines.chars))
            yield whole.diagnostic("UNREAD_FIGURE", "Lines of several hosts are mixed, and broken apart.")
        else:
            yield from _parse(with_lines(lines), host)


def _by_host(text: Text) -> Iterator[tuple[str | None, Text]]:
    """Yield the lines of each host that pdsh has interleaved, without prefixes, and those without a host."""
    prefixes = {match.start(): match for match in _HOST.finditer(text.chars)}
    marked = {m["host"] for m in prefixes.values() if starts().match(text.chars, m.end())}
    if not marked:
        yield None, text
        return
    pieces: dict[str | None, list[Edit]] = {}
    ends: dict[str | None, int] = {}
    start = 0
    for line in text.chars.splitlines(keepends=True):
        prefix = prefixes.get(start)
        host = prefix["host"] if prefix is not None and prefix["host"] in marked else None
        kept = prefix.end() if prefix is not None and host is not None else start
        pieces.setdefault(host, []).append(Edit(ends.get(host, 0), kept, ""))
        start += len(line)
        ends[host] = start
    for host, edits in pieces.items():
        yield host, text.edited([*edits, Edit(ends[host], len(text.chars), "")])


def _parse(text: Text, host: str | None) -> Iterator[Record]:
    run: _OpenRun | None = None
    for token in map(_without_sentences, LEXER.tokens(text)):
        stage = STAGES.get(token.name)
        if (stage is not None and run is None) or (run is not None and run.ends_before(token, stage)):
            table = run.tables.table if run is not None and token.name == "row" else None
            if run is not None:
                yield from run.close()
            run = _OpenRun(token, host)
            run.tables.table = table
        if run is not None and token.name != UNREAD:
            yield from run.read(token)
            continue
        if run is not None:
            run.commented = run.commented or run.seen == {"prompt"}
        if (diagnostic := unread_figure(token)) is not None:
            yield diagnostic
    if run is not None:
        yield from run.close()


def _without_sentences(token: Token) -> Token:
    """Treat what merely looks like the beginning of a command line as other text."""
    if token.name == "prompt" and not COMMAND.parses(token["command"] or ""):
        return replace(token, name=UNREAD, match=None)
    return token


@dataclass
class _OpenRun:
    """A run whose log has not ended yet."""

    first: Token
    host: str | None
    last: Token = field(init=False)
    stage: int = -1
    seen: set[str] = field(default_factory=set)
    once: dict[str, str] = field(default_factory=dict)
    version: str | None = None
    started_at: datetime | None = None
    prompt: Token | None = None
    commented: bool = False
    direct: Token | None = None
    header: dict[str, Setting] = field(default_factory=dict)
    command: tuple[Setting, ...] = ()
    run: RunBuilder = field(init=False)
    tables: TableReader = field(init=False)
    throughput: ThroughputReader = field(init=False)

    def __post_init__(self) -> None:
        self.last = self.first
        self.run = RunBuilder(self.first.text)
        self.tables = TableReader(self.run)
        self.throughput = ThroughputReader(self.run)

    def ends_before(self, token: Token, stage: int | None) -> bool:
        """Whether a phrase belongs to another run."""
        if token.name in {"row", "piped_row"}:
            return self.tables.is_of_another_run(token)
        if stage is None:
            return False
        if stage < self.stage or ("complete" in self.seen and stage < AFTER_TESTS):
            return True
        if token.name in ONCE and token.name in self.once:
            return bool(self.run.measurements) or self.once[token.name] != _words(token)
        return token.name == "children" and self.throughput.is_of_another_run(token)

    def read(self, token: Token) -> Iterator[Diagnostic]:
        self.last = token
        self.seen.add(token.name)
        self.stage = max(self.stage, STAGES.get(token.name, -1))
        if token.name in ONCE:
            self.once[token.name] = _words(token)
        if token.name in NUMBERS:
            self._read_number(token)
        elif token.name in OPTIONS:
            self._set(token.name, "true", token)
            self.direct = token if token.name == "direct" else self.direct
        elif token.name in throughput.PHRASES:
            if token.name == "processes":
                self._read_processes(token)
            yield from self.throughput.read(token, self._given())
        elif token.name in tables.PHRASES:
            yield from self._read_table(token)
        else:
            yield from self._read_line(token)

    def _read_line(self, token: Token) -> Iterator[Diagnostic]:
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
            case "complete":
                self.tables.table = None
            case "poor_timer" | "too_quick":
                yield token.diagnostic("QUALIFIED", "iozone says that small transfers were too quick to be timed.")
            case "invalid":
                yield token.diagnostic("QUALIFIED", "iozone says that measurements are invalid in this mode.")
            case "read_error" if self._given().get("iozone.-N") == "true":
                yield token.diagnostic("QUALIFIED", "iozone takes a time below 1 µs for an error.")
            case "read_error" | "failure":
                self.seen.add("failure")
                yield token.diagnostic("RUN_FAILED", "iozone reports an error.")
            case "interrupted":
                yield token.diagnostic("INCOMPLETE_LOG", "iozone was interrupted.")

    def _read_table(self, token: Token) -> Iterator[Diagnostic]:
        match token.name:
            case "heading":
                if token["label"] is not None:
                    self._set("description", token["label"], token)
                self.tables.read_heading(token)
            case "row" | "piped_row":
                printed = {key: setting.value for key, setting in self.header.items()}
                yield from self.tables.read_row(token, self._given(), printed)
            case "report":
                self.tables.read_report(token)
            case "report_sizes":
                self.tables.read_sizes(token)
            case "report_row":
                yield from self.tables.read_report_row(token, self._given())

    def _set(self, key: str, value: str, token: Token) -> None:
        # -s and -r can be repeated, in which case all of them apply.
        before = self.header.get(key)
        if before is None:
            byte = token.text.byte(token.start_of("value")) if token.name in NUMBERS else None
            self.header[key] = Setting(key=key, value=value, line=token.line, start=byte)
        elif value not in before.value.split(","):
            self.header[key] = replace(before, value=f"{before.value},{value}")

    def _given(self) -> dict[str, str]:
        """Return all settings known so far; the log's own lines take precedence."""
        command = self.command or (_command(self.prompt, "command") if self.prompt is not None else ())
        return {setting.key: setting.value for setting in (*command, *self.header.values())}

    def _read_number(self, token: Token) -> None:
        factor = NUMBERS[token.name][1]
        value = token["value"] or ""
        self._set(token.name, value if factor is None else str(int(value) * factor), token)

    def _read_processes(self, token: Token) -> None:
        if "threads" not in self._given():
            self._set("threads", token["threads"] or "", token)
        if token["kind"] == "thread":
            self._set("iozone.-T", "true", token)

    def _read_machine(self, token: Token) -> None:
        machine = token["machine"] or ""
        self._set("iozone.machine", machine, token)
        words = machine.split()
        if len(words) > 2:  # uname -a: system, host, release of the kernel, ...
            self.host = words[1]
            self._set("kernel", words[2], token)

    def _read_date(self, token: Token) -> Iterator[Diagnostic]:
        self.started_at = ctime(token["date"] or "")
        if self.started_at is None:
            yield token.diagnostic("UNREAD_FIGURE", "The date is not in the form in which iozone prints it.")

    def _read_command(self, token: Token) -> Iterator[Diagnostic]:
        self.command = _command(token, "command")
        if "\n" in (token["command"] or "") and has_stray_words(token["command"] or ""):
            self.command = self.command[:1]
            yield token.diagnostic("UNREAD_FIGURE", "The command line was broken inside a word.")
        if self.prompt is not None and not _arguments(self.prompt).startswith(_arguments(token)):
            message = "The command line before the log is not the one that iozone says was used."
            yield self.prompt.diagnostic("SETTINGS_DISAGREE", message)

    def close(self) -> Iterator[Record]:
        if self.seen == {"prompt"}:
            return  # a command without output
        if not (self.run.measurements or self._headed() or {"failure", "interrupted"} & self.seen):
            yield self.first.diagnostic("UNREAD_FIGURE", "It is unclear which run this belongs to.")
            return
        if not self.command and self.prompt is not None:
            ran = self.prompt["shell"] is not None or not self.commented
            self.command = _command(self.prompt, "command" if ran else "stated")
        # All options are listed between these two lines, so that a missing one was not given.
        if {"began", "command"} <= self.seen and self._given().get("direct") != "true":
            self.header["direct"] = Setting(key="direct", value="false", line=self.command[0].line)
        self.run.settings += [*self.header.values(), *self.command]
        run = self.run.build(
            TOOL.name,
            self.first.start,
            self.last.end,
            tool_version=self.version,
            host=self.host,
            started_at=self.started_at,
            status=self._status(),
        )
        yield run
        yield from self._remarks()
        yield from diagnostics(_checks(run), self.first.text)

    def _complete(self) -> bool:
        # Reports follow the end of the tests, and therefore imply it if its line was lost.
        return bool({"complete", "report", "summary"} & self.seen) and "interrupted" not in self.seen

    def _headed(self) -> bool:
        return bool({"banner", "began", "command"} & self.seen)

    def _status(self) -> Status:
        if "failure" in self.seen:
            return "failed"
        cut_off = "interrupted" in self.seen or (self._headed() and not self._complete())
        return "partial" if not self.run.measurements or cut_off else "ok"

    def _remarks(self) -> Iterator[Diagnostic]:
        if self._headed() and not self._complete() and "interrupted" not in self.seen:
            yield self.last.diagnostic(
                "INCOMPLETE_LOG", "The log stops before iozone says that its test is complete."
            )
        if self._unit_is_assumed():
            message = "Neither a line nor a command states the unit; the figures are read as kBytes/sec."
            yield self.first.diagnostic("UNIT_ASSUMED", message)
        if self.direct is not None and any(m.operation in TOOL.buffered for m in self.run.measurements):
            message = "iozone opens the file without O_DIRECT for fwrite, frewrite, fread and freread."
            yield self.direct.diagnostic("NOT_DIRECT", message)

    def _unit_is_assumed(self) -> bool:
        given = self._given()
        in_table = any(m.metric == BANDWIDTH.metric and m.threads is None for m in self.run.measurements)
        return in_table and table_measure(given) is BANDWIDTH and not ("kilobytes" in self.seen or self.command)


def _command(token: Token, origin: Origin) -> tuple[Setting, ...]:
    return tuple(COMMAND.read(token["command"] or "", origin=origin, line=token.line))


def _arguments(token: Token) -> str:
    """Return a command line without the program name."""
    return " ".join((token["command"] or "").split()[1:])


def _words(token: Token) -> str:
    """Return the text of a part, regardless of its layout."""
    return (token["names"] if token.name == "heading" else None) or token.text.excerpt(token.start, token.end)


def _checks(run: Run) -> Iterator[Finding]:
    yield from tables.checks(run)
    yield from throughput.checks(run)


CLEAN: Final = Clean(
    checks=_checks,
    remarks=frozenset({"NOT_DIRECT"}),
    same_runs=throughput.is_plain,
    free={"iozone.time_resolution": Free(), "iozone.cpu_time_resolution": Free()},
    zeros=frozenset({"cpu"}),
    unplaced='"',  # which the labels of reports contain
    date=ctime,
)
