"""The HTML tables of ``bon_csv2html``, after conversion to text with ``|`` between cells.

The version in a table is that of ``bon_csv2html``, which is a script up to 1.93 and a program since. 1.0x has it
in the page title, if at all.

*Up to 1.97* the figures are those of the CSV line. *1.98 and 2.00* convert KiB/s to MiB/s, rounded to the nearest
integer, but only for *Block* and *Rewrite*: **the two "Per Char" columns stay in KiB/s, although their heading is
"M/sec".** (That test moves 3 MiB by default; above 6144 KiB/s it would end in under 0.5 s and have no figure.) In
these versions, *Block* and *Rewrite* show ``0`` instead of ``+++++``, and also when the phase did not run; the CPU
share is empty then.

The columns for concurrency, chunk size, file sizes and directories are present if a row has a value in them. The
second *Chunk Size* contains the number of directories: bonnie++ writes it to that field.
"""

from __future__ import annotations

from typing import Final

from fsbench_kit.formats.bonnie.phases import (
    FILE_PHASES,
    IO_PHASES,
    UNITS,
    Field,
    Row,
    Unit,
    all_fit,
    can_hold,
    cell_names,
    cells_of,
)
from fsbench_kit.formats.lexer import Token

_BLOCK: Final = ("write", "rewrite", "read")
_IN_MIB_SINCE: Final = "1.98"
_MIB: Final = Unit("MiB/s", "nearest")

_GAP: Final = r"[\s|]*"

_COLUMNS: Final = {
    "concurrency": ("Concurrency", "threads"),
    "chunk": ("Chunk Size", "block_size"),
    "largest": ("Max Size", "bonnie++.largest-file"),
    "smallest": ("Min Size", "bonnie++.smallest-file"),
    "directories": ("Num Dirs", "bonnie++.directories"),
    "file_chunk": ("Chunk Size", "bonnie++.directories"),
}
"""The optional columns: the heading of each, and the setting that it contains."""


def _optional(column: str) -> str:
    return rf"(?:(?P<{column}>{_COLUMNS[column][0]}){_GAP})?"


_HEADING: Final = [
    r"(?:(?:Version|Bonnie\+\+ V) (?P<version>[\w.]{1,12})(?: Benchmark results)?[\s|]+)?Sequential Output",
    *("Sequential Input", r"Random[\s|]*Seeks"),
    *("Sequential Create", "Random Create", rf"{_optional('concurrency')}Size(?::Chunk Size)?"),
    *(rf"{_optional('chunk')}Per Char", "Block", "Rewrite", "Per Char", "Block", "Num Files"),
    "".join(_optional(column) for column in ("largest", "smallest", "directories", "file_chunk")) + "Create",
    *("Read", "Delete", "Create", "Read", "Delete", r"(?P<unit>[KM])/sec", "% CPU"),
    *(("[KM]/sec", "% CPU") * 4),
    *(("/ sec", "% CPU") * 7),
]

_CELL: Final = (
    r"(?:\d[\d.]{0,12}(?:[MG](?::\d{1,8}k?)?|[km])?|-?nan|-\d{1,12}|\+{1,9}|link|symlink|\d{1,9}:[\d:a-z/]{1,30})"
)
# The last cell can be empty; text on the next line does not belong to it.
_EMPTY: Final = r"[^\S\n]*+(?=[\n|]|\Z)"
_IN_CELL: Final = rf"\|(?:\s*+{_CELL}(?![\w.+])|{_EMPTY})"
_LATENCIES: Final = rf"(?:\s*+\|(?:\s*+\d+[mu]?s\b|{_EMPTY})){{6,12}}"

PHRASES: Final = {
    "html_heading": _GAP.join(_HEADING),
    "html_row": rf"(?P<machine>[^|\n]{{0,100}})(?P<cells>{_IN_CELL}(?:\s*+{_IN_CELL}){{25,39}})",
    "html_latencies": rf"Latency(?P<io>{_LATENCIES})[\s|]*+Latency(?P<files>{_LATENCIES})(?![\w.+])",
}


def row(token: Token, heading: Token) -> Row | None:
    """Parse a row; return None if its cells do not match the headings."""
    shown = {column: key for column, (_, key) in _COLUMNS.items() if heading[column]}
    names = [
        *(shown[column] for column in ("concurrency",) if column in shown),
        "size",
        *(shown[column] for column in ("chunk",) if column in shown),
        *cell_names(IO_PHASES),
        "files",
        *(shown[column] for column in ("largest", "smallest", "directories", "file_chunk") if column in shown),
        *cell_names(FILE_PHASES),
    ]
    cells = list(cells_of(token, "cells", "|"))[1:]
    if len(cells) < len(names) or any(cell.chars for cell in cells[len(names) :]):
        return None
    in_mib = heading["unit"] == "M"
    if in_mib != ((heading["version"] or "") >= _IN_MIB_SINCE):
        return None
    values = {name: cell for name, cell in zip(names, cells, strict=False) if cell.chars}
    for name in _BLOCK if in_mib else ():
        if f"{name} cpu" not in values and name in values and values[name].chars == "0":
            del values[name]
    if not all(can_hold(name, cell.chars) for name, cell in values.items()) or not all_fit(values):
        return None
    found = Row.of("HTML", token, heading["version"], token["machine"])
    found.take(values, UNITS | (dict.fromkeys(_BLOCK, _MIB) if in_mib else {}))
    if found.threads is None and not (heading["version"] or "1.0").startswith("1.0"):
        found.threads = 1  # otherwise there would be a column for it
    if in_mib and "write_char" in found.phases:
        message = "M/sec is the heading of the per-character rates, which bon_csv2html prints in KiB/s."
        cell = values["write_char"]
        found.say("WRONG_HEADING", message, cell.start, cell.end)
    return found


def add_latencies(found: Row, token: Token) -> None:
    """Add the latencies below a row, unless they do not match the phases that ran."""
    found.end = token.end
    latencies: dict[str, Field] = {}
    for group, phases in (("io", IO_PHASES), ("files", FILE_PHASES)):
        cells = list(cells_of(token, group, "|"))[1:]
        if any(cell.chars for cell in cells[len(phases) :]):
            cells = []
        latencies |= {name: cell for name, cell in zip(phases, cells, strict=False) if cell.chars}
    if latencies.keys() != found.phases.keys():
        message = "The cells of this row do not fit the phases above them."
        found.say("UNREAD_FIGURE", message, token.start, token.end)
        return
    for name, latency in latencies.items():
        found.phases[name] = found.phases[name]._replace(latency=latency)
