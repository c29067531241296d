"""iozone's auto mode: the table, and the Excel report that repeats its figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.findings import Finding, unequal
from fsbench_kit.formats.iozone.measures import CPU, TESTS, TESTS_BY_NUMBER, add, by_name, spelled, table_measure
from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.model.records import Diagnostic, Measurement, Run

_WIDTHS: Final = (
    (10, 10, 10, 10, 10, 10, 10, 11, 11, 10, 10, 10, 10),  # 3.506
    (9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9, 9, 9, 8, 9),  # 3.430 to 3.493
    (8, 8, 9, 9, 8, 8, 8, 9, 9, 9, 9, 8, 9),  # up to 3.424
)
_RECORD_WIDTH: Final = 8
_OFF_ITS_NAME: Final = 2
"""The maximum distance between the ends of a figure and its column's name, if the widths are not iozone's."""

_COLUMNS: Final = {operation: test.heading for operation, test in TESTS.items() if test.heading}
"""The columns of a table from left to right; a log may end at any of them."""
_REPORTS: Final = by_name("report")
_RETESTS: Final = frozenset({"rewrite", "reread", "frewrite", "freread", "repwrite", "repread"})

S: Final = r"[^\S\n]"  # white space within a line
GAP: Final = r"(?:[^\S\n]|\|)"  # separates the cells of a table
_PREFIX: Final = r"^(?:[^\S\n]|[#>|])*"  # indentation, or comment or quotation marks
_TITLES: Final = spelled(_REPORTS)
_NAMES: Final = "|".join(dict.fromkeys(name.split()[-1] for name in _COLUMNS.values()))

# A heading can be broken between its names; the line that continues it has only names.
_ONLY_NAMES: Final = rf"(?={GAP}*(?:(?:{_NAMES})\b{GAP}*)+(?:\n|\Z))"
_NEXT_NAME: Final = rf"(?:{GAP}{{1,99}}|{GAP}{{0,99}}\n{_ONLY_NAMES}{GAP}{{0,99}})(?:{_NAMES})\b"
HEADING: Final = rf"\b[kK]B{GAP}{{1,99}}reclen(?P<names>(?:{_NEXT_NAME}){{1,17}})"
REPORT_TITLE: Final = rf'"(?P<report>{_TITLES})(?P<cpu>\s+CPU\s+utilization)?\s+report'

PHRASES: Final = {
    "heading": (
        rf"(?:(?:{_PREFIX}(?P<label>(?!random\b)\w\S{{0,80}}(?:{S}\S{{1,80}}){{0,12}}){S}{{2,}})?"
        rf"(?P<tops>\brandom(?:[|\s]{{1,99}}(?:random|bkwd|record|stride)){{0,4}}\b)[|\s>#]{{0,299}})?{HEADING}"
    ),
    "row": (rf'{_PREFIX}\b(?P<file>\d{{1,12}})(?P<record>{S}+\d{{1,12}})(?P<cells>(?:{S}+\d+)*)(?={S}*(?:$|"))'),
    "piped_row": (
        rf"{_PREFIX}\b(?P<file>\d{{1,12}}){S}*\|{S}*(?P<record>\d{{1,12}}){S}*(?P<cells>\|(?:\d|{GAP})*)$"
    ),
    "report": rf'{REPORT_TITLE}(?: \(Zero values should be ignored\))?"',
    # In a copy without line breaks, the last of several quoted sizes is the file size of the first row.
    "report_sizes": r'(?P<sizes>"\d{1,12}"(?:\s+"\d{1,12}")*)(?!\s+\d)',
    "report_row": rf'"(?P<file>\d{{1,12}})"(?P<cells>(?:{S}+\d+(?:\.\d+)?(?![^\s"]))+)',
}

BREAK: Final = "\f"
"""Marks where a row was broken."""


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """The columns of a table.

    Attributes
    ----------
    operations
        The operation of each column.
    ends
        Where the names of the columns end, in characters after the end of ``reclen``; ``None`` if the heading has
        lost its spacing.
    """

    operations: tuple[str, ...]
    ends: tuple[int, ...] | None

    @classmethod
    def from_heading(cls, heading: Token) -> PrintedTable | None:
        """Return the table with a given heading, or ``None`` if the heading is not iozone's."""
        names = heading["names"] or ""
        words = list(re.finditer(r"[a-z]+", names))
        columns = [name.split() for name in _COLUMNS.values()][: len(words)]
        if [word[0] for word in words] != [column[-1] for column in columns]:
            return None
        tops = heading["tops"]
        if tops is not None and re.findall(r"[a-z]+", tops) != [c[0] for c in columns if len(c) > 1]:
            return None
        has_place = "  " in names and not re.search(r"[|\n]", names)
        return cls(tuple(_COLUMNS)[: len(words)], tuple(word.end() for word in words) if has_place else None)

    def columns(self, row: Token, asked: frozenset[str] | None) -> tuple[list[tuple[str, str]] | None, bool]:
        """Return the operations and figures of a row, and whether it had lost its spacing."""
        if row.name == "piped_row":
            return self._by_pipe(row), False
        if BREAK in (row["cells"] or ""):
            return self._by_pieces(row, asked), True
        figures = self._by_place(row, asked)
        if figures is not None and (asked is None or {operation for operation, _ in figures} <= asked):
            return figures, False
        if len(row["record"] or "") == _RECORD_WIDTH and self.ends is not None and figures is None:
            return None, False  # in its position, but cut off or shifted
        return self._by_order(row, asked), True

    def _by_place(self, row: Token, asked: frozenset[str] | None) -> list[tuple[str, str]] | None:
        """Return the operations and figures of a row whose spacing identifies the columns, else ``None``."""
        cells = row["cells"] or ""
        if len(row["record"] or "") != _RECORD_WIDTH or BREAK in cells:
            return None
        readings = self._by_widths(cells, self._layouts)
        if not readings and self._is_cut(cells, asked):
            return None
        readings = readings or self._by_widths(cells, _WIDTHS)
        if not readings:
            return self._by_name(cells)
        return readings[0] if len(readings) == 1 else None

    def _by_widths(self, cells: str, layouts: Sequence[tuple[int, ...]]) -> list[list[tuple[str, str]]]:
        """Return the distinct readings of a row with the given column widths."""
        readings: list[list[tuple[str, str]]] = []
        for widths in layouts:
            reading = self._by_width(cells, widths) if len(widths) >= len(self.operations) else None
            if reading is not None and reading not in readings:
                readings.append(reading)
        return readings

    def _by_width(self, cells: str, widths: tuple[int, ...]) -> list[tuple[str, str]] | None:
        figures = []
        start = 0
        for operation, width in zip(self.operations, widths, strict=False):
            cell = cells[start : start + width]
            if cell.strip():
                # A cell ends in a digit; otherwise it was cut off, or shifted by a wider one.
                if len(cell) < width or not re.fullmatch(r" *\d+", cell):
                    return None
                figures.append((operation, cell.strip()))
            start += width
        return figures if not cells[start:].strip() else None

    def _is_cut(self, cells: str, asked: frozenset[str] | None) -> bool:
        """Whether a row was cut off or shifted inside its last figure: all others are in their positions."""
        before = cells.rstrip("0123456789").rstrip(" ")
        for widths in self._layouts:
            others = self._by_width(before, widths)
            are_asked = others is not None and (asked is None or {name for name, _ in others} <= asked)
            if are_asked and len(cells) not in accumulate(widths):
                return True
        return False

    @property
    def _layouts(self) -> list[tuple[int, ...]]:
        """The column widths that match the names in the heading."""
        return [
            widths
            for widths in _WIDTHS
            if self.ends is not None
            and all(abs(name - end) <= 1 for name, end in zip(self.ends, accumulate(widths), strict=False))
        ]

    def _by_name(self, cells: str) -> list[tuple[str, str]] | None:
        """Read figures that end under the names of their columns, and begin after the previous name."""
        figures: dict[str, str] = {}
        ends = self.ends or ()
        for cell in re.finditer(r"\d+", cells):
            above = [
                operation
                for operation, before, end in zip(self.operations, (0, *ends), ends, strict=False)
                if before <= cell.start() and abs(cell.end() - end) <= _OFF_ITS_NAME
            ]
            if len(above) != 1 or above[0] in figures:
                return None
            figures[above[0]] = cell[0]
        return list(figures.items())

    def _by_order(self, row: Token, asked: frozenset[str] | None) -> list[tuple[str, str]] | None:
        """Return the operations and figures of a row that fills all columns, or all that were requested."""
        cells = (row["cells"] or "").split()
        for operations in (self.operations, [o for o in self.operations if asked is not None and o in asked]):
            if len(operations) == len(cells):
                return list(zip(operations, cells, strict=True))
        return None

    def _by_pieces(self, row: Token, asked: frozenset[str] | None) -> list[tuple[str, str]] | None:
        """Return the operations and figures of a row that was broken, unless it was broken inside a figure.

        In each piece the figures are as far apart as their columns, or all separated by a single blank.
        """
        pieces = (row["cells"] or "").split(BREAK)
        cells = [cell for piece in pieces for cell in piece.split()]
        operations = [operation for operation in self.operations if asked is None or operation in asked]
        if len(cells) != len(operations):
            return None
        layouts = [list(accumulate(widths)) for widths in _WIDTHS if len(widths) >= len(self.operations)]
        ends = [[layout[self.operations.index(operation)] for operation in operations] for layout in layouts]
        if re.search(r"\s\s", f"{row['record']}{row['cells']}") and not any(_fit(pieces, of) for of in ends):
            return None
        return list(zip(operations, cells, strict=True))

    def _by_pipe(self, row: Token) -> list[tuple[str, str]] | None:
        """Return the operations and figures of a row whose cells are separated by pipes."""
        cells = [cell.strip() for cell in (row["cells"] or "").strip()[1:].rstrip("|").split("|")]
        if len(cells) > len(self.operations) or not all(re.fullmatch(r"\d*", cell) for cell in cells):
            return None
        return [(operation, cell) for operation, cell in zip(self.operations, cells, strict=False) if cell]


def _fit(pieces: Sequence[str], ends: Sequence[int]) -> bool:
    """Whether figures are as far apart as their columns; in the first piece also relative to its start."""
    ends = [0, *ends]
    for number, piece in enumerate(pieces):
        places = [*([0] if number == 0 else []), *(cell.end() for cell in re.finditer(r"\d+", piece))]
        columns, ends = ends[: len(places)], ends[len(places) :]
        if [place - places[0] for place in places] != [end - columns[0] for end in columns]:
            return False
    return True


def _asked(given: Mapping[str, str]) -> frozenset[str] | None:
    """Return the operations that the options of a run request, or ``None`` if that is uncertain."""
    tests = given.get("iozone.-i", "").split(",")
    if not all(test.isdecimal() and int(test) < len(TESTS_BY_NUMBER) for test in tests):
        return None
    return frozenset(operation for test in tests for operation in TESTS_BY_NUMBER[int(test)])


def _can_be_sizes(file: int, record: int, given: Mapping[str, str], printed: Mapping[str, str]) -> bool:
    """Whether two numbers of bytes can be the sizes of a row.

    A record is not larger than its file, and its size is a power of two unless it was requested. The sizes that
    iozone itself reports as options apply to all rows.
    """
    if not 0 < record <= file:
        return False
    for size, key, least, most in (
        (file, "file_size", "iozone.-n", "iozone.-g"),
        (record, "block_size", "iozone.-y", "iozone.-q"),
    ):
        if key in printed:
            if str(size) not in printed[key].split(","):
                return False
        elif not int(printed.get(least, "0")) <= size <= int(printed.get(most, str(size))):
            return False
    return _is_asked(record, given) or record.bit_count() == 1


def _is_asked(record: int, given: Mapping[str, str]) -> bool:
    """Whether a record size was requested: explicitly, or by doubling the smallest one repeatedly."""
    smallest = given.get("iozone.-y", "")
    doubled = smallest.isdecimal() and int(smallest) > 0 and record % int(smallest) == 0
    return str(record) in given.get("block_size", "").split(",") or (
        doubled and (record // int(smallest)).bit_count() == 1
    )


def _has_run(operation: str, given: Mapping[str, str]) -> bool:
    """Whether the run performed an operation, as far as is known: retests may have been skipped."""
    return operation not in _RETESTS or ("command" in given and given.get("iozone.-+n") != "true")


def cells_of(row: Token, texts: Sequence[str]) -> Iterator[Printed]:
    """Yield the cells of a row with their positions, given their texts in order."""
    cells, start, end = row["cells"] or "", row.start_of("cells"), 0
    for text in texts:
        end = cells.index(text, end) + len(text)
        yield Printed(text, start + end - len(text))


@dataclass
class TableReader:
    """Reads the tables and reports of one run."""

    run: RunBuilder
    table: PrintedTable | None = None
    report: Token | None = None
    record_sizes: tuple[int, ...] = ()
    repaired: bool = False
    rows: dict[tuple[str, str], str] = field(default_factory=dict)

    def is_of_another_run(self, row: Token) -> bool:
        """Whether a row has the sizes of an earlier row, but other figures."""
        sizes = row["file"] or "", (row["record"] or "").strip()
        return self.rows.get(sizes, row["cells"] or "").split() != (row["cells"] or "").split()

    def read_heading(self, heading: Token) -> None:
        """Set the columns of the rows that follow."""
        self.table, self.report = PrintedTable.from_heading(heading), None

    def read_report(self, report: Token) -> None:
        """Set what the matrix that follows contains."""
        self.table, self.report, self.record_sizes = None, report, ()

    def read_sizes(self, sizes: Token) -> None:
        """Set the record sizes of a matrix."""
        self.record_sizes = tuple(int(size) * 1024 for size in re.findall(r"\d+", sizes["sizes"] or ""))

    def read_row(self, row: Token, given: Mapping[str, str], printed: Mapping[str, str]) -> Iterator[Diagnostic]:
        """Read a row of the table, given the options of the run and those that iozone itself reports."""
        cells = row["cells"] or ""
        if self.table is None:
            yield row.diagnostic("UNREAD_FIGURE", "It is unclear which columns these figures belong to.")
            return
        if not cells.strip("| \t"):
            yield row.diagnostic("INCOMPLETE_LOG", "The row stops after its sizes.")
            return
        sizes = row["file"] or "", (row["record"] or "").strip()
        if sizes in self.rows:
            yield row.diagnostic("DUPLICATE_FIGURE", "The row appears twice.")
            return
        file_size, block_size = (int(size) * 1024 for size in sizes)
        if not _can_be_sizes(file_size, block_size, given, printed):
            yield row.diagnostic("UNREAD_FIGURE", "The run cannot have had the sizes of this row.")
            return
        figures, repaired = self.table.columns(row, _asked(given))
        if figures is None:
            yield row.diagnostic("UNREAD_FIGURE", "It is unclear which columns these figures belong to.")
            return
        if repaired and not self.repaired:
            self.repaired = True
            message = "Blanks or line ends of the table were lost; rows that fill all columns are read in order."
            yield row.diagnostic("REPAIRED", message)
        self.rows[sizes] = cells
        measure = table_measure(given)
        operations, texts = zip(*figures, strict=True)
        for operation, cell in zip(operations, cells_of(row, texts), strict=True):
            place = Place(operation, file_size=file_size, block_size=block_size)
            add(self.run, place, measure, cell, ran=_has_run(operation, given))

    def read_report_row(self, row: Token, given: Mapping[str, str]) -> Iterator[Diagnostic]:
        """Read a row of a matrix, which repeats figures of the table."""
        cells = (row["cells"] or "").split()
        if self.report is None or len(cells) > len(self.record_sizes):
            yield row.diagnostic("UNREAD_FIGURE", "It is unclear which record sizes these figures belong to.")
            return
        file_size = int(row["file"] or "") * 1024
        sizes = [size for size, text in zip(self.record_sizes, cells, strict=False) if float(text)]
        if not all(0 < size <= file_size for size in sizes):
            yield row.diagnostic("UNREAD_FIGURE", "A record is larger than its file; one of the sizes is wrong.")
            return
        operation = _REPORTS[" ".join((self.report["report"] or "").split())]
        measure = CPU if self.report["cpu"] is not None else table_measure(given)
        for printed, block_size in zip(cells_of(row, cells), self.record_sizes, strict=False):
            place = Place(operation, file_size=file_size, block_size=block_size)
            # If the table has no figure, either, a 0 fills a gap.
            has_run = self.run.first(place, measure.metric, measure.statistic) is not None and _has_run(
                operation, given
            )
            add(self.run, place, measure, printed, ran=has_run, within=row)


def checks(run: Run) -> Iterator[Finding]:
    """Check the reports of a run against its table, whose figures they repeat."""
    first: dict[tuple[object, ...], Measurement] = {}
    tabled = {(item.operation, item.metric) for item in run.measurements if item.phrase is None}
    lost = []
    for item in run.measurements:
        of = item.operation, item.metric, item.statistic, item.file_size, item.block_size
        known = first.setdefault(of, item)
        if item.phrase is None or item.threads is not None:
            continue
        if known is not item:
            message = f"The table says {{}} on line {known.line}, but the report says {{}}."
            words = known.text, item.text
            yield Finding(unequal(*words), "SECOND_PRINTING_DIFFERS", message, words, item)
        elif item.state == "measured" and (item.operation, item.metric) in tabled:
            lost.append(item)
    if lost:
        message = (
            "The reports have {} figures that the table lacks, the first for files of {} and records of {} bytes."
        )
        sizes = lost[0].file_size, lost[0].block_size
        yield Finding(True, "SECOND_PRINTING_DIFFERS", message, (len(lost), *sizes), lost[0])
