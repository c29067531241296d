"""Puts the prints of bonnie++ together to runs, and says what is odd about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from fsbench_kit.formats.bonnie import csv_lines, html_tables, text_tables
from fsbench_kit.formats.bonnie.command import TOOL
from fsbench_kit.formats.bonnie.phases import Row
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.clean import Clean, Free
from fsbench_kit.formats.findings import Finding, diagnostics
from fsbench_kit.formats.lexer import Lexer, Token, unread_figure
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Edit, Text
from fsbench_kit.model.records import Diagnostic, Measurement, Record, Run, Setting

SIGN: Final = (
    r"(?:putc\(\)|time|intelligently)\.\.\.|sequential\W+(?:output|create)|bonnie_version|file_size,putc"
    r"|(?:2|1\.9[678]),[12]\.\d\d|\d[mg](?::\d{1,9}k?)?,[\d,+]|,{14}"
)

_FORMS: Final = ("CSV", "text", "HTML")
"""The most precise first."""

_STEPS: Final = (
    r"Writing\s+(?:a\s+byte\s+at\s+a\s+time|with\s+putc\(\))",
    r"Writing\s+intelligently",
    r"Rewriting",
    r"Reading\s+(?:a\s+byte\s+at\s+a\s+time|with\s+getc\(\))",
    r"Reading\s+intelligently",
    r"(?<![1-9]\.\.\.)start\s+['’]?em",
    *(
        rf"{step}\s+files\s+in\s+{order}\s+order"
        for order in ("sequential", "random")
        for step in ("Create", "Stat", "Delete")
    ),
)
"""What is shown while the tool works, in this order."""
_NOT_TIMED: Final = r"(?!\s{0,20}done:)"
"""The tool that bonnie++ comes from shows the rates here; its seekers have numbers."""

_LONGEST_NAME: Final = 40

_LEXER: Final = Lexer(
    converter=r"\bbon_csv2(?:html|txt)\b|Bonnie\+\+ Benchmark results",
    command=r"(?:^[^\n]{0,120}?)?\bbonnie\+\+\s+-(?:\\\n|(?!Using\suid|Writing|Version|\s\d\.\d\d,)[^\n])*",
    user=r"Using uid:\d+, gid:\d+\.",
    step=rf"(?P<step>{'|'.join(_STEPS)})\.\.\.{_NOT_TIMED}(?: done\.{{0,3}}){{0,9}}",
    failure=(
        r"Bonnie: drastic I/O error[^\n]{0,200}"
        r"|Can't (?:write|read|open|create|delete|stat|make|sync file|get directory)\b[^\n]{0,200}"
        r"|Expected \d+ files but only got \d+|[Ee]xceeded (?:CPU usage|file storage limits)\."
    ),
    **csv_lines.PHRASES,
    **text_tables.PHRASES,
    **html_tables.PHRASES,
)

_NOT_BONNIE: Final = r"(?!-{0,9}\s{1,9}-{0,9}Random-{0,9}\s{1,99}-{1,9}Per\s+Char)"
"""The tool that bonnie++ comes from spells its headings differently."""
_CSV_2: Final = r"\d\d\w?,[^,\n\"]{0,80},(?:[^,]{0,20},){6}"
_CSV_NAME: Final = r"(?<![^\s\"'`>])[^\s,\"'`|<>]{0,64},"
_CSV_CELLS: Final = r"(?:(?:\d+|\+{5})?,\s?(?:\d+|\+{3})?,\s?){5}"
signatures: Final = Signatures(
    {
        "Writing": rf"Writing\s+(?:a\s+byte\s+at\s+a\s+time|with\s+putc\(\)|intelligently)\.\.\.{_NOT_TIMED}",
        "Sequential": (
            r"(?:(?:Version\s{0,9}[\w.]{1,12}|Bonnie\+\+\s+V[\w.]{1,12}\s+Benchmark\s+results)[\s|]{1,19})?"
            r"[-–—]{0,9}Sequential\s+(?:Output|Create)[-–—]{0,9}[\s|]{1,9}"
            rf"[-–—]{{0,9}}(?:Sequential\s+Input{_NOT_BONNIE}|Random\s+Create)"
        ),
        "bonnie_version": "format_version,bonnie_version,name",
        "file_size": "name,file_size,putc",
        **{f",{major}.": rf"(?<![\w.,+-])(?:2|1\.9[678]),{major}\.{_CSV_2}" for major in "12"},
        **{f"{unit},": rf"{_CSV_NAME}\d+{unit},{_CSV_CELLS}" for unit in "MG"},
        **{f"{unit}:": rf"{_CSV_NAME}\d+{unit}:\d+k?,{_CSV_CELLS}" for unit in "MG"},
        "," * 14: rf"{_CSV_NAME}{',' * 13}\d+[,:]",
    }
)


def parse(text: Text) -> Iterator[Record]:
    """Yield a run for each run that is printed, once or several times, and what is to be said about it."""
    repaired, edits = _without_markup(text)
    if edits:
        first = Token("emphasis", text, edits[0].start, edits[1].end)
        yield first.diagnostic("REPAIRED", f"Markup was taken away from {len(edits) // 2} figures.")
    yield from _read(repaired).records()


def _read(text: Text) -> _Reader:
    reader = _Reader()
    for token in _LEXER.tokens(text):
        reader.read(token)
    reader.close()
    return reader


_TOOLS_WORDS: Final = re.compile(r"^(?:Can't process: |Expected \S{0,9}, got \S{0,80} from )", re.MULTILINE)
"""What ``bon_csv2html`` and ``bon_csv2txt`` put before a line that is not of their layout."""
_TAG: Final = r"(?:b|i|u|em|strong|mark|span|font|code)\b"
_EMPHASIS: Final = re.compile(
    rf"(?P<before><{_TAG}[^<>\n]{{0,200}}>|\*{{1,3}})[\d.+]{{1,15}}[kmg]?(?P<after></{_TAG}>|\*{{1,3}})"
)


def _without_markup(text: Text) -> tuple[Text, list[Edit]]:
    """Return the text without what people put around figures to show them, and where that was."""
    words = [Edit(*match.span(), "") for match in _TOOLS_WORDS.finditer(text.chars)]
    emphasis = [
        Edit(*match.span(side), "") for match in _EMPHASIS.finditer(text.chars) for side in ("before", "after")
    ]
    return text.edited(sorted([*words, *emphasis], key=lambda edit: edit.start)), emphasis


_ENOUGH: Final = 0.5
"""The share of figures from which on two prints are of one run; the others contradict each other."""


@dataclass(slots=True)
class _Printed:
    """A run and its prints."""

    start: int
    rows: list[Row]

    def agreement(self, row: Row, figures: Sequence[Measurement]) -> float:
        """Return the share of the figures of a print in another form that agree; 0 where it is of another run."""
        known = self.rows[0]
        sizes = {known.number("file_size"), row.number("file_size")} - {None}
        if len(sizes) > 1:
            return 0
        shares: list[float] = [_agreement(_pairs(known.measurements(), figures)) for known in self.rows]
        return max(shares)

    def is_over(self, row: Row) -> bool:
        """Whether the run's table stands right over a CSV line, as in the tool's own output."""
        known = self.rows[-1]
        return (
            (known.form, row.form) == ("text", "CSV")
            and len(self.rows) == 1
            and not row.text.chars[known.end : row.start].strip()
        )

    def has_name_and_size_of(self, row: Row) -> bool:
        known = self.rows[0]
        sizes = known.number("file_size"), row.number("file_size")
        return sizes[0] == sizes[1] and known.machine != "" and row.machine.startswith(known.machine)

    @property
    def _is_whole(self) -> bool:
        """Whether the run has figures, and one of its prints was not cut off."""
        return any(row.phases for row in self.rows) and not all(
            any(diagnostic.code == "INCOMPLETE_LOG" for diagnostic in row.diagnostics) for row in self.rows
        )

    def _is_one_run(self) -> bool | None:
        """Whether its prints are of one run whatever their figures are; ``None`` where these decide."""
        known, *others = self.rows
        if len(others) > 1:
            return False
        is_sure = all(
            _Printed(self.start, [known]).is_over(row) and self.has_name_and_size_of(row) for row in others
        )
        return is_sure or None

    def run(self) -> tuple[Run, list[Diagnostic]]:
        rows = sorted(self.rows, key=lambda row: _FORMS.index(row.form))
        text = rows[0].text
        for row in rows:
            if rows[0].form == "CSV" and "file_size" in rows[0].settings:
                row.part_glued(rows[0].machine, rows[0].settings["file_size"].chars)
            if row.glued is not None:
                row.say("UNREAD_FIGURE", "Where the machine's name ends and the size begins cannot be told.")
        by_key: dict[tuple[str, str, str], Measurement] = {}
        repeats: list[Measurement] = []
        for figure in (figure for row in rows for figure in row.measurements()):
            key = (figure.operation, figure.metric, figure.statistic)
            first = by_key.setdefault(key, figure)
            if first.state == "missing" != figure.state:
                by_key[key] = figure
                repeats.append(replace(first, primary=False))
            elif first is not figure:
                repeats.append(replace(figure, primary=False))
        settings, disagreements = _settings(rows)
        said = [d for row in rows for d in (*row.diagnostics, *row.damaged_marks())]
        versions = [row.version for row in rows if row.version is not None]
        hosts = [row.host for row in rows if row.host is not None]
        measurements = (*by_key.values(), *repeats)
        run = Run(
            tool=TOOL.name,
            tool_version=versions[0] if versions else None,
            start=text.byte(self.start),
            end=text.byte(max(row.end for row in rows)),
            line=text.line(self.start),
            host=hosts[0] if hosts else None,
            status="ok" if self._is_whole else "partial",
            identity=tuple(("seed", row.seed) for row in rows if row.seed is not None),
            jobs=self._is_one_run(),
            settings=settings,
            measurements=measurements,
        )
        return run, [*said, *disagreements, *diagnostics(_checks(run))]


def _settings(rows: Sequence[Row]) -> tuple[tuple[Setting, ...], list[Diagnostic]]:
    """Return what the prints of a run state, and where two of them state different things."""
    settings: dict[str, Setting] = {}
    disagreements = []
    for setting in (setting for row in rows for setting in row.stated()):
        first = settings.setdefault(setting.key, setting)
        if first.value != setting.value:
            message = f"{setting.key} is {first.value} on line {first.line}, and {setting.value} here."
            disagreements.append(
                Diagnostic(code="SETTINGS_DISAGREE", message=message, line=setting.line, excerpt=setting.value)
            )
    return tuple(settings.values()), disagreements


def _pairs(one: Sequence[Measurement], other: Sequence[Measurement]) -> list[tuple[Measurement, Measurement]]:
    """Return the figures that stand in both of two prints."""
    figures = {(m.operation, m.metric): m for m in one}
    return [(figures[key], m) for m in other if (key := (m.operation, m.metric)) in figures]


def _agreement(pairs: Sequence[tuple[Measurement, Measurement]]) -> Any:
    """Return the share of pairs of figures that can be the same; a column for columns."""
    measured = [pair for pair in pairs if any(m.state == "measured" for m in pair)]
    alike = [_alike(*pair) for pair in measured or pairs]
    return sum(alike) / len(alike) if alike else _ENOUGH


def _alike(one: Measurement, other: Measurement) -> Any:
    if one.state != other.state:
        return False
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return one.state != "measured"
    return (one.low <= other.high) & (other.low <= one.high)


def _checks(run: Run) -> Iterator[Finding]:
    """Hold the prints of a run against each other; where one has a figure, another may have a mark."""
    yield from cross_checks(run.measurements)
    for first, repeat in _printed_twice(run):
        if first.state != repeat.state and any("+" in text for item in (first, repeat) for text in item.text):
            message = f"{first.metric} of {first.operation} is printed as {{}}, and again as {{}}."
            yield Finding(True, "SECOND_PRINTING_DIFFERS", message, (first.text, repeat.text), first, repeat)


def _printed_twice(run: Run) -> Iterator[tuple[Measurement, Measurement]]:
    """Yield each figure of a run that is printed once more, and its other print."""
    first: dict[tuple[str, str, str], Measurement] = {}
    for item in run.measurements:
        known = first.setdefault((item.operation, item.metric, item.statistic), item)
        if known is not item:
            yield known, item


class _Reader:
    """Puts the phrases of a text together to runs."""

    def __init__(self) -> None:
        self._said: list[tuple[int, Diagnostic]] = []
        self.runs: list[_Printed] = []
        # Those without a print of a form; a file can hold thousands of runs, and all in one form.
        self._lacking: dict[str, dict[int, _Printed]] = {form: {} for form in _FORMS}
        self._broken_off: list[Run] = []
        self._name: Token | None = None  # text without a phrase: the name of a machine, if a row follows
        self._tables = text_tables.Tables()
        self._html_heading: Token | None = None
        self._html_row: Row | None = None
        self._user: Token | None = None
        self._opening: Token | None = None
        self._step_number: int | None = None
        self._last: Token | None = None  # step
        self._started = 0
        self._failure: Token | None = None

    def read(self, token: Token) -> None:
        """Take the next phrase."""
        if token.name in {"io_row", "file_row"}:
            machine = self._machine(token)
            if machine is None:
                self._say(token, "UNREAD_FIGURE", "Other figures stand before these on their line.")
            elif not self._tables.add_row(token, machine):
                self._say(token, "UNREAD_FIGURE", "No headings say what the figures of this row are.")
            return
        self._no_machine()
        match token.name:
            case "UNREAD":
                self._name = token
            case "command" | "converter":
                pass  # it is found and read where documents are cut
            case "user":
                self._user = token
            case "step":
                self._step(token)
            case "failure":
                self._failure = self._failure or token
            case "io_heading" | "file_heading":
                if not self._tables.takes(token):
                    self._close_tables()
                self._tables.add_heading(token)
            case "latencies":
                if not self._tables.add_latencies(token) and token["latencies"]:
                    self._say(token, "UNREAD_FIGURE", "No row that lacks latencies stands above these.")
            case "csv_heading":
                self._close_tables()
            case "html_heading":
                self._close_tables()
                self._html_heading = token
            case "html_row":
                self._html_row = html_tables.row(token, self._html_heading) if self._html_heading else None
                if self._html_row is None:
                    self._say(token, "UNREAD_FIGURE", "No headings fit the cells of this row.")
                else:
                    self._add(self._html_row)
            case "html_latencies":
                if self._html_row is None:
                    self._say(token, "UNREAD_FIGURE", "No row of figures stands above these latencies.")
                else:
                    html_tables.add_latencies(self._html_row, token)
                    self._html_row = None
            case _:
                self._close_tables()
                self._add(csv_lines.row(token))

    def close(self) -> None:
        """Take the end of the text."""
        self._no_machine()
        self._close_tables()
        if (self._failure is not None and (self._started or self.runs)) or (
            self._started > len(self.runs) + len(self._broken_off)
        ):
            self._break_off()

    def records(self) -> Iterator[Record]:
        """Yield what was read, in the order of the text."""
        found: list[tuple[int, Record]] = [*self._said]
        for printed in self.runs:
            run, diagnostics = printed.run()
            found += [(run.start, run), *((run.start, diagnostic) for diagnostic in diagnostics)]
        found += [(run.start, run) for run in self._broken_off]
        yield from (record for _, record in sorted(found, key=lambda item: item[0]))

    def _say(self, token: Token, code: str, message: str) -> None:
        diagnostic = token.diagnostic(code, message)
        self._said.append((diagnostic.start or 0, diagnostic))

    def _machine(self, row: Token) -> str | None:
        """Return the name that stands before a row, on its line, or ``None`` if cells do: it begins elsewhere."""
        name, self._name = self._name, None
        if name is None:
            return ""
        start = max(name.start, row.text.chars.rfind("\n", 0, row.start) + 1)
        machine = row.text.chars[start : row.start].strip()
        if text_tables.CELL.search(machine):
            self._unread(name)
            return None
        if len(machine) > _LONGEST_NAME or (start > name.start and row.text.chars[name.start : start].strip()):
            before = name.end if len(machine) > _LONGEST_NAME else start
            self._unread(replace(name, end=before))
        return machine if len(machine) <= _LONGEST_NAME else ""

    def _no_machine(self) -> None:
        if self._name is not None:
            self._unread(self._name)
        self._name = None

    def _unread(self, token: Token) -> None:
        diagnostic = unread_figure(token)
        if diagnostic is not None:
            self._tables.pass_over(diagnostic)
            self._said.append((diagnostic.start or 0, diagnostic))

    def _step(self, token: Token) -> None:
        """Take a line of progress; where the steps start over, a run begins."""
        self._close_tables()
        number = next(i for i, words in enumerate(_STEPS) if re.fullmatch(words, token["step"] or ""))
        if self._step_number is None or number <= self._step_number:
            if self._failure is not None:
                self._break_off()
            self._started += 1
            self._opening = self._user or token
        self._user, self._step_number, self._last = None, number, token

    def _break_off(self) -> None:
        """Take the end of a run that gave no result."""
        last = self._failure or self._last
        if last is None:
            return
        whole = replace(last, start=self._opening.start if self._opening is not None else last.start)
        failed = self._failure is not None
        self._broken_off.append(
            Run(
                tool=TOOL.name,
                start=last.text.byte(whole.start),
                end=last.text.byte(whole.end),
                line=whole.line,
                status="failed" if failed else "partial",
            )
        )
        if failed:
            self._say(last, "RUN_FAILED", "bonnie++ broke off with an error.")
        else:
            self._say(whole, "INCOMPLETE_LOG", "The run's progress is shown, and no result.")
        self._failure = self._opening = self._step_number = None

    def _close_tables(self) -> None:
        for row in self._tables.runs():
            self._add(row)
        self._tables = text_tables.Tables()

    def _add(self, row: Row) -> None:
        """Take a print: of a run that is known, or of another one."""
        lacking = self._lacking[row.form]
        figures = row.measurements() if lacking else ()
        agreements = {key: printed.agreement(row, figures) for key, printed in lacking.items()}
        best = max(agreements, key=lambda key: agreements[key], default=None)
        above = self.runs[-1] if self.runs and self.runs[-1].is_over(row) else None
        if best is not None and agreements[best] >= _ENOUGH:
            lacking.pop(best).rows.append(row)
        elif above is not None and above.has_name_and_size_of(row):
            above.rows.append(row)
            del lacking[id(above)]
        else:
            if above is not None:
                row.say("SECOND_PRINTING_DIFFERS", "This is not what the table right above it says: another run.")
            begun = self._opening is not None and self._opening.start < row.start
            new = _Printed(self._opening.start if self._opening and begun else row.start, [row])
            self.runs.append(new)
            for form in _FORMS:
                if form != row.form:
                    self._lacking[form][id(new)] = new
        self._opening = self._step_number = None


def _is_one_run(run: Run) -> Any:
    """Whether two prints that the example has of its run are of one run in the others, too."""
    return run.jobs if run.jobs is not None else _agreement(list(_printed_twice(run))) >= _ENOUGH


CLEAN: Final = Clean(
    checks=lambda run, _: _checks(run),
    remarks=frozenset({"WRONG_FIGURE", "DAMAGED_MARK", "SETTINGS_DISAGREE"}),
    same_runs=lambda run, _: _is_one_run(run),
    free={"seed": Free()},
    zeros=frozenset({"cpu", "latency"}),
    units={**{unit: (unit, "down") for unit in ("us", "ms", "s")}, **text_tables.SUFFIXES},
    unplaced=",",  # as all lines of CSV have
)
