"""Assembles the prints of bonnie++ into runs, and reports irregularities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fsbench_kit.formats.bonnie import csv_lines, html_tables, text_tables
from fsbench_kit.formats.bonnie.command import TOOL
from fsbench_kit.formats.bonnie.phases import Row
from fsbench_kit.formats.bonnie.prints import ENOUGH, FORMS, Prints, checks, is_one_run
from fsbench_kit.formats.clean import Clean, Free
from fsbench_kit.formats.lexer import Lexer, Token, unread_figure
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Edit, Text
from fsbench_kit.model.records import Diagnostic, Record, Run

SIGN: Final = (
    r"(?:putc\(\)|time|intelligently)\.\.\.|sequential\W+(?:output|create)|bonnie_version|file_size,putc"
    r"|(?:2|1\.9[678]),[12]\.\d\d|\d[mg](?::\d{1,9}k?)?,[\d,+]|,{14}"
)

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
"""The progress messages of the tool, in order."""
_NOT_TIMED: Final = r"(?!\s{0,20}done:)"
"""Excludes the original bonnie, which prints rates in these places; its seekers have numbers."""

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
"""Excludes the original bonnie, whose headings are spelled differently."""
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
    """Yield a run for each run in the text, however often it is printed, and diagnostics."""
    repaired, edits = _without_markup(text)
    if edits:
        first = Token("emphasis", text, edits[0].start, edits[1].end)
        yield first.diagnostic("REPAIRED", f"Markup was removed from {len(edits) // 2} figures.")
    yield from _read(repaired).records()


def _read(text: Text) -> _Reader:
    reader = _Reader()
    for token in _LEXER.tokens(text):
        reader.read(token)
    reader.close()
    return reader


_TOOLS_WORDS: Final = re.compile(r"^(?:Can't process: |Expected \S{0,9}, got \S{0,80} from )", re.MULTILINE)
"""What ``bon_csv2html`` and ``bon_csv2txt`` print before lines that they do not understand."""
_TAG: Final = r"(?:b|i|u|em|strong|mark|span|font|code)\b"
_EMPHASIS: Final = re.compile(
    rf"(?P<before><{_TAG}[^<>\n]{{0,200}}>|\*{{1,3}})[\d.+]{{1,15}}[kmg]?(?P<after></{_TAG}>|\*{{1,3}})"
)


def _without_markup(text: Text) -> tuple[Text, list[Edit]]:
    """Return the text without markup that people put around figures, and the edits that removed it."""
    words = [Edit(*match.span(), "") for match in _TOOLS_WORDS.finditer(text.chars)]
    emphasis = [
        Edit(*match.span(side), "") for match in _EMPHASIS.finditer(text.chars) for side in ("before", "after")
    ]
    return text.edited(sorted([*words, *emphasis], key=lambda edit: edit.start)), emphasis


class _Reader:
    """Assembles the phrases of a text into runs."""

    def __init__(self) -> None:
        self._said: list[tuple[int, Diagnostic]] = []
        self.runs: list[Prints] = []
        # Runs that lack a print of a form; a file can have thousands of runs, all in the same form.
        self._lacking: dict[str, dict[int, Prints]] = {form: {} for form in FORMS}
        self._broken_off: list[Run] = []
        self._name: Token | None = None  # unmatched text: the name of a machine, if a row follows
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
        """Process the next phrase."""
        if token.name in {"io_row", "file_row"}:
            machine = self._machine(token)
            if machine is None:
                self._say(token, "UNREAD_FIGURE", "Other figures precede these on the line.")
            elif not self._tables.add_row(token, machine):
                self._say(token, "UNREAD_FIGURE", "No headings say what the figures of this row are.")
            return
        self._no_machine()
        match token.name:
            case "UNREAD":
                self._name = token
            case "command" | "converter":
                pass  # found and read by `documents`
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
                    self._say(token, "UNREAD_FIGURE", "There is no row above these that lacks latencies.")
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
                    self._say(token, "UNREAD_FIGURE", "There is no row of figures above these latencies.")
                else:
                    html_tables.add_latencies(self._html_row, token)
                    self._html_row = None
            case _:
                self._close_tables()
                self._add(csv_lines.row(token))

    def close(self) -> None:
        """Process the end of the text."""
        self._no_machine()
        self._close_tables()
        if (self._failure is not None and (self._started or self.runs)) or (
            self._started > len(self.runs) + len(self._broken_off)
        ):
            self._break_off()

    def records(self) -> Iterator[Record]:
        """Yield the records in the order of the text."""
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
        """Return the name before a row on its line, or ``None`` if there are cells: the row begins earlier."""
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
        """Process a line of progress; a new run begins when the steps start over."""
        self._close_tables()
        number = next(i for i, words in enumerate(_STEPS) if re.fullmatch(words, token["step"] or ""))
        if self._step_number is None or number <= self._step_number:
            if self._failure is not None:
                self._break_off()
            self._started += 1
            self._opening = self._user or token
        self._user, self._step_number, self._last = None, number, token

    def _break_off(self) -> None:
        """End a run without a result."""
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
            self._say(last, "RUN_FAILED", "bonnie++ stopped with an error.")
        else:
            self._say(whole, "INCOMPLETE_LOG", "The log shows the run's progress, but no result.")
        self._failure = self._opening = self._step_number = None

    def _close_tables(self) -> None:
        for row in self._tables.runs():
            self._add(row)
        self._tables = text_tables.Tables()

    def _add(self, row: Row) -> None:
        """Add a print to the run that it belongs to, or to a new one."""
        lacking = self._lacking[row.form]
        figures = row.measurements() if lacking else ()
        agreements = {key: printed.agreement(row, figures) for key, printed in lacking.items()}
        best = max(agreements, key=lambda key: agreements[key], default=None)
        above = self.runs[-1] if self.runs and self.runs[-1].is_over(row) else None
        if best is not None and agreements[best] >= ENOUGH:
            lacking.pop(best).rows.append(row)
        elif above is not None and above.has_name_and_size_of(row):
            above.rows.append(row)
            del lacking[id(above)]
        else:
            if above is not None:
                row.say(
                    "SECOND_PRINTING_DIFFERS", "This does not match the table right above it: it is another run."
                )
            begun = self._opening is not None and self._opening.start < row.start
            new = Prints(self._opening.start if self._opening and begun else row.start, [row])
            self.runs.append(new)
            for form in FORMS:
                if form != row.form:
                    self._lacking[form][id(new)] = new
        self._opening = self._step_number = None


CLEAN: Final = Clean(
    checks=checks,
    remarks=frozenset({"WRONG_FIGURE", "DAMAGED_MARK", "SETTINGS_DISAGREE"}),
    same_runs=is_one_run,
    free={"seed": Free()},
    zeros=frozenset({"cpu", "latency"}),
    units={**{unit: (unit, "down") for unit in ("us", "ms", "s")}, **text_tables.SUFFIXES},
    unplaced=",",  # which all CSV lines contain
)
