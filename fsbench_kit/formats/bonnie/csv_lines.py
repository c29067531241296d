"""The CSV lines of bonnie++.

The first field identifies the layout, except in 1.03, whose lines begin with the machine name. The later layouts
are ``2`` (1.93), ``1.96``, ``1.97`` and ``1.98``, which 2.00a writes, too.
"""

from __future__ import annotations

import re
from typing import Final

from fsbench_kit.formats.bonnie.phases import (
    FILE_PHASES,
    IO_PHASES,
    PHASES,
    UNITS,
    Field,
    Row,
    all_fit,
    can_hold,
    cell_names,
    cells_of,
)
from fsbench_kit.formats.lexer import Token

_FILES: Final = ["files", "bonnie++.largest-file", "bonnie++.smallest-file"]


_LATENCIES: Final = [f"{name} latency" for name in PHASES]

# The two fields after the smallest size are named num_dirs and file_chunk_size; bonnie++ leaves the first empty,
# and writes the number of directories to the second.
_SINCE_1_96: Final = [*_FILES, "", "bonnie++.directories", *cell_names(FILE_PHASES), *_LATENCIES]
_LAYOUTS: Final[dict[str | None, list[str]]] = {
    None: ["size", *cell_names(IO_PHASES), "files", *cell_names(FILE_PHASES)],
    "2": [
        *("file_size", "block_size", *cell_names(IO_PHASES)),
        *(*_FILES, "bonnie++.directories", *cell_names(FILE_PHASES), *_LATENCIES),
    ],
    "1.97": [
        *("threads", "seed", "file_size", "block_size"),
        *(*cell_names(IO_PHASES), *_SINCE_1_96),
    ],
    "1.98": [
        *("threads", "seed", "file_size", "block_size"),
        *("bonnie++.seeks", "bonnie++.seekers", *cell_names(IO_PHASES), *_SINCE_1_96),
    ],
}
"""The fields of each layout after the machine name; 1.96 has those of 1.97."""

# A field may be broken across two lines, but must not extend into the next line of figures.
_BREAK: Final = r"\s{1,3}(?!\d\.\d\d,|2,\d)"
_FIELD: Final = rf"(?:{_BREAK})?[\w.+:/-]{{0,40}}(?:{_BREAK}[\w.+:/-]{{1,40}})?(?:{_BREAK})?,"
_FIGURE: Final = rf"(?:{_BREAK})?(?:\d[\d.]{{0,12}}|-?nan|\+{{0,5}})(?:{_BREAK}[\d.+]{{1,12}})?(?:{_BREAK})?,"
_LAST: Final = r"[\w.+-]{0,40}"


def _line(layout: str, fields: int) -> str:
    """Return the pattern of a line, possibly cut off, in a layout with a layout number."""
    head = rf"(?<![\w.,+-])(?P<layout>{layout}),(?P<version>\d\.\d\d\w?),(?P<machine>[^,\n\"]{{0,80}}),"
    return rf"{head}(?P<fields>(?:{_FIELD}){{6,{fields - 1}}}{_LAST})"


PHRASES: Final = {
    "csv_heading": r"(?:format_version,bonnie_version|name,file_size),[a-z_]+(?:,[a-z_]*(?:\s[a-z_]+(?=,))?)+",
    "csv_2": _line("2", len(_LAYOUTS["2"])),
    "csv_1_97": _line(r"1\.9[67]", len(_LAYOUTS["1.97"])),
    "csv_1_98": _line(r"1\.98", len(_LAYOUTS["1.98"])),
    "csv_1_03": (
        r"(?<![^\s\"'`>])(?P<machine>[^\s,\"'`|<>]{0,64}),(?P<fields>"
        rf"(?:\d+[MG](?::\d+k?)?,(?:{_FIGURE}){{12}}|,{{13}})(?:{_FIELD}){{0,12}}{_LAST})"
    ),
}


def row(token: Token) -> Row:
    """Parse a line."""
    layout = token["layout"] if token.name != "csv_1_03" else None
    found = Row.of("CSV", token, token["version"] if layout else None, token["machine"])
    names = _LAYOUTS["1.97" if layout == "1.96" else layout]
    values = {name: cell for name, cell in _values(token, names, found).items() if cell.chars}
    found.take(values, UNITS)
    found.seed = values.get("seed", Field()).chars or None
    return found


def _lacks_a_field(cells: list[Field]) -> bool:
    """Whether a line is of a run without a file, for which 1.96 prints one empty field too few."""
    names = _LAYOUTS["1.97"]
    size, files = names.index("file_size"), names.index("files")
    return (
        len(cells) >= files and bool(cells[files - 1].chars) and not any(c.chars for c in cells[size : files - 1])
    )


def _values(token: Token, names: list[str], found: Row) -> dict[str, Field]:
    """Return the fields of a line by name, or nothing if some cannot be what their names say."""
    cells = list(cells_of(token, "fields", ","))
    if names is _LAYOUTS["1.97"] and _lacks_a_field(cells):
        cells.insert(names.index("file_size"), Field())
    if re.search(r"\s", (token["fields"] or "").strip()):
        found.say("REPAIRED", "The line was broken; its fields were joined.")
    last = cells[-1]
    if len(cells) < len(names) or not can_hold(names[-1], last.chars):
        found.say(
            "INCOMPLETE_LOG", "The line is cut off, maybe inside its last field, which is not used.", last.start
        )
        cells.pop()
    values = dict(zip(names, cells, strict=False))
    whole = {name: cell for name, cell in values.items() if name not in PHASES or f"{name} cpu" in values}
    if not all(can_hold(name, cell.chars) for name, cell in values.items()) or not all_fit(whole):
        found.say("UNREAD_FIGURE", "The fields of this line are not what they should be; one may be missing.")
        return {}
    return whole
