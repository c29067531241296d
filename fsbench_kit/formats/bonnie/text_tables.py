"""The text tables of bonnie++ and of ``bon_csv2txt``.

Rates are printed in five characters and CPU shares in three, each after a blank; wider cells push the rest of the
row to the right. The cells of a phase that did not run are blank, so that blanks show which cells are missing: the
blanks before a cell or, if these were changed, its position under the headings.

*1.03 to 1.97* print ``K/sec``. *1.98 and 2.00* print a suffix after each rate: k for whole KiB/s, m and g for
MiB/s and GiB/s with up to one decimal. Their rates of files are wrong: a bug in ``print_stat`` passes a
floating-point number to ``%d``, which shows the number of files or whatever is in a register. ``bon_csv2txt``,
which takes its figures from the CSV line, is right; its heading for the files has no version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from fsbench_kit.formats.bonnie.phases import (
    FILE_PHASES,
    FILES,
    IO_PHASES,
    KIB,
    PHASES,
    SEEKS,
    Field,
    Phase,
    Row,
    Unit,
    files_settings,
    fit,
    size_settings,
)
from fsbench_kit.formats.lexer import Token
from fsbench_kit.model.records import Diagnostic

_RATE: Final = r"(?:-?\d+(?:\.\d+)?[kmg]?|-?nan|-?inf|\+{1,5})"
_CPU: Final = r"(?:-?\d+|-?nan|-?inf|\+{1,5})"
_END: Final = r"(?=\s*(?:\n|\Z|Latency|Version|-{4}))"
_CELLS: Final = (
    rf"(?P<cells>(?:\s+{_RATE}\s+{_CPU}){{6}}(?![\w.+])(?![^\S\n]+[\d+])"
    rf"|(?:[^\S\n]+{_RATE}[^\S\n]+{_CPU}){{1,5}}{_END})"
)
CELL: Final = re.compile(rf"(?<!\S)(?:{_RATE}|{_CPU}|\d+[:/][\d:/]*)(?!\S)")
_DURATION: Final = r"\d+[mu]?s\b"
_VERSION: Final = r"(?:(?:Version\s+|(?<!\S)(?=\d\.\d\d[a-z]?\s))(?P<version>[\w.]{1,12})\s+)?"
"""The version before the first heading; without the word “Version” it is recognized by its form."""


def _heading(*words: str) -> str:
    """Return the pattern of words between dashes."""
    return " ".join(rf"[-–—]{{0,9}}{word}[-–—]{{0,9}}" for word in words)


_PER_SECOND: Final = r"(?: [KM]?/sec %CP)"

PHRASES: Final = {
    "io_heading": (
        rf"{_VERSION}{_heading('Sequential Output', 'Sequential Input', 'Random')}"
        r"(?: Concurrency\s+(?P<threads>\d+))?"
        rf"(?: {_heading('Per Chr', 'Block', 'Rewrite', 'Per Chr', 'Block', 'Seeks')}"
        rf"(?: (?P<columns>(?:Machine )?Size(?::chnk)?|Name:Size etc)(?P<units>{_PER_SECOND}{{6}})?)?)?"
    ),
    "file_heading": (
        rf"{_VERSION}{_heading('Sequential Create', 'Random Create')} (?P<machine>[^\n]{{0,60}}?) "
        rf"{_heading('Create', 'Read', 'Delete', 'Create', 'Read', 'Delete')}"
        rf"(?: (?P<columns>files(?::max)?(?::min)?)(?P<units>{_PER_SECOND}{{6}}))?"
    ),
    "io_row": rf"(?<![^\s|>])(?P<glued>[^\s|,]{{1,40}}?)??(?<![.:/])(?P<size>\d+[MG](?::[\dkm]*){{0,4}}){_CELLS}",
    "file_row": rf"(?<![\w.:/+,-])(?P<files>\d+(?::(?:\d+|link|symlink)){{0,3}}(?:/\d+)?(?::\d+)?){_CELLS}",
    "latencies": rf"Latency(?P<latencies>(?:\s*{_DURATION}){{1,6}})",
}

_STRANGER: Final = re.compile(r"Latency|Sequential|-Create-|\n[^\S\n]*\n")
"""What cannot occur between a row and its latencies."""
_FAULTY_SINCE: Final = "1.98"

SUFFIXES: Final = {"k": KIB, "m": Unit("MiB/s", "nearest"), "g": Unit("GiB/s", "nearest")}

_CONVERTED: Final = f"Version{' ' * 4}"
"""How the headings of ``bon_csv2txt`` begin, which leave more space for the version."""
_MOST_CONCURRENCY: Final = "200"

_ROW_START: Final = 19
"""The column at which the first rate begins, with its blank."""
_RATE_WIDTH: Final = 6
_CPU_WIDTH: Final = 4
_PHASES: Final = {"io": IO_PHASES, "file": FILE_PHASES}
_MOST_SHIFT: Final = 1
"""The maximum number of characters by which a row can be shifted without its columns being in doubt."""


@dataclass(slots=True)
class Tables:
    """The tables of the I/O phases and of the file phases, which belong together.

    Their rows are matched to runs in the order of the machines, unless figures between them were not understood:
    these may have been a row.
    """

    headings: dict[str, Token] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=lambda: {"io": [], "file": []})
    passed_over: bool = False
    lacks_a_row: bool = False

    def takes(self, heading: Token) -> bool:
        """Whether a heading continues these tables, as that of the file phases follows that of the I/O phases."""
        return heading.name == "file_heading" and "io" in self.headings and "file" not in self.headings

    def pass_over(self, unread: Diagnostic) -> None:
        """Note figures that were not understood; they may have been a row if the tables continue."""
        self.passed_over = self.passed_over or (bool(self.headings) and unread.code == "UNREAD_FIGURE")

    def add_heading(self, heading: Token) -> None:
        """Begin a table."""
        self.lacks_a_row = self.passed_over
        self.headings[heading.name.removesuffix("_heading")] = heading

    def add_row(self, token: Token, machine: str) -> bool:
        """Add a row, unless no heading says what its figures are."""
        kind = token.name.removesuffix("_row")
        heading = self.headings.get(kind)
        if heading is None or heading.name != list(self.headings.values())[-1].name:
            return False
        self.lacks_a_row = self.passed_over
        row = _io_row(token, heading, machine) if kind == "io" else _file_row(token, heading, machine)
        _add_phases(row, token, heading, _PHASES[kind], is_doubtful=self.passed_over)
        self.passed_over = self.passed_over or not row.phases
        self.rows[kind].append(row)
        return True

    def add_latencies(self, token: Token) -> bool:
        """Add latencies to the row above, unless it has some."""
        kind = list(self.headings)[-1] if self.headings else "io"
        row = self.rows[kind][-1] if self.rows[kind] else None
        if row is None or row.has_latencies or _STRANGER.search(token.text.chars, row.end, token.start):
            return False
        _add_latencies(row, token, IO_PHASES if kind == "io" else FILE_PHASES)
        return True

    def runs(self) -> Iterator[Row]:
        """Yield the contents of the tables for each run."""
        io_rows, file_rows = self.rows["io"], self.rows["file"]
        if rows := io_rows or file_rows:
            rows[0].start = next(iter(self.headings.values())).start
        most = 1 if self.lacks_a_row else len(io_rows)  # rows whose order shows which belong together
        if len(io_rows) == len(file_rows) <= most:
            yield from map(_joined, io_rows, file_rows)
            return
        partners: dict[int, Row] = {}
        for machine in {row.machine for row in io_rows if row.machine}:
            namesakes = [index for index, row in enumerate(io_rows) if row.machine == machine]
            named = [row for row in file_rows if row.machine.startswith(machine)]
            if len(namesakes) == len(named) <= most:
                partners |= zip(namesakes, named, strict=True)
        for index, io_row in enumerate(io_rows):
            yield _joined(io_row, partners[index]) if index in partners else io_row
        for row in file_rows:
            if not any(row is partner for partner in partners.values()):
                if any(io_row.machine and row.machine.startswith(io_row.machine) for io_row in io_rows):
                    row.say("AMBIGUOUS_RUNS", "It is unclear which of the runs above these files belong to.")
                yield row


def _joined(io_row: Row, file_row: Row) -> Row:
    io_row.end = file_row.end
    io_row.part_glued(file_row.machine)
    io_row.machine = max(io_row.machine, file_row.machine, key=len)  # a long size leaves no space for the name
    io_row.settings |= file_row.settings
    io_row.phases |= file_row.phases
    io_row.diagnostics += file_row.diagnostics
    return io_row


def _io_row(token: Token, heading: Token, machine: str) -> Row:
    row = Row.of("text", token, heading["version"], machine)
    settings = _size_settings(_cell(token, "size"), heading)
    if token["glued"]:
        size = settings.pop("file_size")
        row.glued = size._replace(chars=f"{token['glued']}{size.chars}")
    row.settings = settings
    if row.glued is not None and re.fullmatch(r"\d[MG]", size.chars):
        row.part_glued(token["glued"] or "", size.chars)
    if heading["threads"]:
        row.settings["threads"] = _cell(heading, "threads")
    row.threads = row.number("threads")
    if row.threads is None and (heading["columns"] or "").startswith("Name"):
        row.threads = 1  # otherwise it would be printed after the size
    return row


def _size_settings(cell: Field, heading: Token) -> dict[str, Field]:
    """Return the settings in a size; ``bon_csv2txt`` omits the concurrency."""
    parts = cell.chars.split(":")
    converted = heading.text.chars[heading.start : heading.end].startswith(_CONVERTED)
    if converted or (len(parts) > 2 and len(parts[2]) > len(_MOST_CONCURRENCY)):
        parts.insert(2, "")
    return size_settings(cell._replace(chars=":".join(parts)))


def _file_row(token: Token, heading: Token, machine: str) -> Row:
    row = Row.of("text", token, heading["version"], machine or heading["machine"])
    row.settings = files_settings(_cell(token, "files"))
    return row


def _add_phases(row: Row, token: Token, heading: Token, phases: tuple[str, ...], *, is_doubtful: bool) -> None:
    """Add the cells of a row; a doubtful row may be the end of one that was split."""
    cells = list(_words(token, "cells"))
    pairs = list(zip(cells[::2], cells[1::2], strict=True))
    start = token.start_of("cells")
    if _is_cut(pairs, start):
        columns = []
    elif len(pairs) == len(phases):
        columns = list(range(len(phases)))
    else:
        columns = _columns(pairs, start, _under_headings(pairs, token, heading), is_doubtful=is_doubtful)
    version = heading["version"] or ""
    in_kib = "K/sec" in (heading["units"] or "") or "" < version < _FAULTY_SINCE
    found = {
        phases[column]: Phase(rate, cpu, _unit(phases[column], rate, in_kib=in_kib))
        for column, (rate, cpu) in zip(columns, pairs, strict=False)
    }
    if (
        not found
        or not all(fit(rate, cpu) for rate, cpu in pairs)
        or any("." in p.rate.chars and p.unit in {KIB, FILES} for p in found.values())
    ):
        row.say("UNREAD_FIGURE", "It is unclear which columns these figures belong to.")
        return
    in_files = phases == FILE_PHASES
    if in_files and version >= _FAULTY_SINCE:
        found = {name: phase._replace(unit=None) for name, phase in found.items()}
        if any(phase.rate.kind == "figure" for phase in found.values()):
            message = "This version of bonnie++ prints another number here, not the rates of files."
            row.say("WRONG_FIGURE", message)
    if any(phase.unit is None and phase.rate.kind == "figure" for phase in found.values()) and not in_files:
        row.say("UNREAD_FIGURE", "The unit of these rates is unclear.")
    row.phases = found


def _columns(
    pairs: Sequence[tuple[Field, Field]], start: int, under_headings: list[int] | None, *, is_doubtful: bool
) -> list[int]:
    """Return the columns of the cells of a row with blank cells; empty if they cannot be determined."""
    columns = _after_blanks(pairs, start) or under_headings or []
    if (under_headings and columns != under_headings) or any(column >= len(IO_PHASES) for column in columns):
        return []
    return columns if under_headings or not is_doubtful else []


def _unit(name: str, rate: Field, *, in_kib: bool) -> Unit | None:
    if PHASES[name] == "file_rate":
        return FILES
    if name == "seek":
        return SEEKS
    return SUFFIXES.get(rate.chars[-1], KIB if in_kib else None)


def _under_headings(pairs: Sequence[tuple[Field, Field]], token: Token, heading: Token) -> list[int] | None:
    """Return the columns of cells under their headings, possibly all shifted by the same distance."""
    line = token.text.chars.rfind("\n", 0, token.start) + 1
    if (heading["columns"] or "")[:4] in {"", "Size"} or line < heading.end or heading.match is None:
        return None  # without a name, the columns begin elsewhere
    top = heading.match.start("columns")
    indent = top - (token.text.chars.rfind("\n", 0, top) + 1)
    columns = []
    shifts = set()
    for rate, cpu in pairs:
        place = rate.end - line - indent - _ROW_START - _RATE_WIDTH
        column, shift = _column(place)
        if column < 0 or cpu.end != rate.end + _CPU_WIDTH:
            return None
        columns.append(column)
        shifts.add(shift)
    return columns if len(shifts) == 1 and abs(shifts.pop()) <= _MOST_SHIFT else None


def _is_cut(pairs: Sequence[tuple[Field, Field]], start: int) -> bool:
    """Whether a row is cut off inside its last cell: only there the blanks differ from what the tool prints."""
    *whole, (rate, cpu) = pairs
    is_intact = _after_blanks(whole, start) is not None and cpu.start - rate.end > 1
    return bool(whole) and is_intact and cpu.start - rate.end != max(1, _CPU_WIDTH - len(cpu.chars))


def _column(place: int) -> tuple[int, int]:
    """Return the column of a position, and the distance from the start of that column."""
    width = _RATE_WIDTH + _CPU_WIDTH
    column = (place + width // 2) // width
    return column, place - column * width


def _after_blanks(pairs: Sequence[tuple[Field, Field]], start: int) -> list[int] | None:
    """Return the columns of cells that follow as many blanks as the tool prints.

    The first cell may have one more or one less: a name that was edited shifts the whole row. Wide blanks
    elsewhere then show that none were lost.
    """
    columns: list[int] = []
    column = -1
    has_blanks = False
    shift = 0
    for rate, cpu in pairs:
        blanks = rate.start - start - max(1, _RATE_WIDTH - len(rate.chars))
        skipped, rest = _column(blanks)
        if not columns:
            shift, rest = rest, 0
        if rest or skipped < 0 or cpu.start - rate.end != max(1, _CPU_WIDTH - len(cpu.chars)):
            return None
        has_blanks = has_blanks or skipped > 0 or cpu.start - rate.end > 1
        column += 1 + skipped
        columns.append(column)
        start = cpu.end
    return columns if shift == 0 or (abs(shift) <= _MOST_SHIFT and has_blanks) else None


def _add_latencies(row: Row, token: Token, phases: tuple[str, ...]) -> None:
    latencies = list(_words(token, "latencies"))
    ran = [name for name in phases if name in row.phases]
    names: Sequence[str] | None = phases if len(latencies) == len(phases) else None
    if names is None:
        columns = _latency_columns(latencies, token.start + len("Latency"))
        names = [phases[column] for column in columns] if columns is not None else None
    if names is None and len(latencies) == len(ran):
        names = ran
    row.end = token.end
    if names is None or not set(names) <= set(ran):
        row.say("UNREAD_FIGURE", "It is unclear which columns these latencies belong to.", token.start, token.end)
        return
    for name, latency in zip(names, latencies, strict=True):
        row.phases[name] = row.phases[name]._replace(latency=latency)


def _latency_columns(latencies: Sequence[Field], start: int) -> list[int] | None:
    """Return the columns of latencies that follow as many blanks as the tool prints."""
    start += _ROW_START - len("Latency") - 2
    columns: list[int] = []
    column = -1
    for cell in latencies:
        skipped, shift = _column(cell.end - start)
        if abs(shift) > (0 if columns else _MOST_SHIFT) or skipped < 1 or cell.start < start:
            return None
        column += skipped
        columns.append(column)
        start = cell.end
    return columns if column < len(IO_PHASES) else None


def _words(token: Token, group: str) -> Iterator[Field]:
    start = token.start_of(group)
    for word in re.finditer(r"\S+", token[group] or ""):
        yield Field(word[0], start + word.start(), start + word.end())


def _cell(token: Token, group: str) -> Field:
    chars, start = token[group] or "", token.start_of(group)
    return Field(chars, start, start + len(chars))
