"""Identifies the columns and units of fio's log files by their names and first bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from fsbench_kit.formats.fio_log.strict import Column, strict_columns
from fsbench_kit.model.schema import LARGEST

Kind = Literal["bw", "iops", "lat", "clat", "slat"]
LatencyUnit = Literal["ns", "us"]

LATENCY_KINDS: Final = ("lat", "clat", "slat")
OPERATIONS: Final = ("read", "write", "trim", "sync")
"""The names of directions 0 to 3."""

HEAD_SIZE: Final = 2**16
"""The number of bytes at the beginning of a file by which it is identified."""

_PER_SECOND: Final[dict[LatencyUnit, int]] = {"ns": 10**9, "us": 10**6}
_SECTOR: Final = 512
_KIB: Final = 1024
_KB: Final = 1000

# Names of 2.x, of copies, and chosen by people: x_bw.log, x_bw.1.log, agg-read_bw.log, x_bw.1_vm2.log
_NAME: Final = re.compile(
    r"(?:^|[_.-])(?P<kind>clat_hist|hist|bw|iops|clat|slat|lat)(?:\.(?P<job>\d{1,6}))?(?=[._-]|$)"
)
_ROW: Final = re.compile(
    r"(?P<prefix>[^\n,]*?)(?<![0-9.-])(?P<cells>-?[0-9]{1,20}(?:[^\S\n]*,[^\S\n]*(?:0x[0-9a-fA-F]{1,4}|-?[0-9]{1,20})){3,7})\s*"
)
_COLUMNS: Final = range(4, 9)
_HEXADECIMAL: Final = -1
_OTHER: Final = -2
_ROWS_OF_HEAD: Final = 4096
_LEAST_SHARE: Final = 0.5
"""The share of lines at the head of a log that must be rows; the others are foreign text."""
_NO_CHANCE: Final = 10
"""The number of times at which an even number of requests must have ended to rule out chance."""


class LogName(NamedTuple):
    """The parts of a log file's name.

    Attributes
    ----------
    prefix
        The text before the kind: the value of ``write_bw_log``, or the job name.
    kind
        ``None`` if the name does not contain it, and for histogram logs.
    job
        The number of the job, counted from 1 across all jobs of the run.
    rest
        The text after the kind and number.
    """

    prefix: str
    kind: Kind | None
    job: int | None
    rest: str

    @classmethod
    def of(cls, name: str) -> LogName:
        """Split the name of a file.

        >>> LogName.of("nightly_clat.2.log")
        LogName(prefix='nightly', kind='clat', job=2, rest='.log')
        """
        if _NAME.search(name) is None:
            return cls(prefix=name, kind=None, job=None, rest="")
        *_, last = _NAME.finditer(name)
        kind = next((kind for kind in get_args(Kind) if kind == last["kind"]), None)
        job = int(last["job"]) if last["job"] is not None else None
        return cls(prefix=name[: last.start()], kind=kind, job=job, rest=name[last.end() :])


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a log's rows.

    Attributes
    ----------
    columns
        Their names, in order.
    prefix
        Text that copies have at the beginning of each line (``"> "``).
    is_new
        Whether only fio 3 writes these columns.
    too_long_in_us
        Whether most requests would have taken longer than the run so far, if the values were latencies in µs.
    windowed
        Whether rows are windows, as opposed to single requests, as far as the head shows.
    counts_requests
        Whether rows are single requests with the value 1, as in an IOPS log without windows.
    doubled
        Whether each row is printed twice, while not all rows are equal.
    in_sectors
        Whether all block sizes are multiples of a sector, which is almost always true.
    """

    columns: tuple[str, ...]
    prefix: str
    is_new: bool
    too_long_in_us: bool
    windowed: bool
    counts_requests: bool
    doubled: bool
    in_sectors: bool

    @property
    def pattern(self) -> str:
        """A regular expression for a whole row, with a group for each column.

        It never has to backtrack, which makes it several times faster than an expression with alternatives.
        """
        cells = (f"(?P<{name}>{_CELLS.get(name, _WHOLE)})" for name in self.columns)
        prefix = f"(?:{re.escape(self.prefix)})?[ \t]*" if self.prefix else ""
        return rf"^[ \t]*{prefix}" + r"[ \t]*,[ \t]*".join(cells) + r"[ \t\r]*$"

    def unit(self, kind: Kind | None) -> LatencyUnit | None:
        """Return the unit in which the fio that wrote it logs latencies, if the rows show it."""
        return "ns" if self.is_new or (kind in LATENCY_KINDS and self.too_long_in_us) else None


_WHOLE: Final = "[0-9]+"
_CELLS: Final = {"direction": "[0-3]", "priority": "[0-9]+(?:x[0-9a-fA-F]+)?"}

_HEAD: Final = ("time", "value", "direction", "block_size")
_HEAD_OF_BOTH: Final = ("time", "value", "largest", "direction", "block_size")


def recognise(head: bytes, *, is_whole: bool) -> tuple[Layout | None, list[Column] | None]:
    """Return the layout of a log of fio, given the first `HEAD_SIZE` bytes of a file; ``None`` for other files.

    The second item is what `strict_columns` returns for the whole lines.

    Notes
    -----
    At least half of the lines must be rows. All rows have the same number of columns; others are damaged. The
    columns after the block size are identified by their values: a priority is 0, 1 or hexadecimal; an offset is
    not always 0 or 1, except in windows, where it is 0.
    """
    if b"\0" in head or b"," not in head:
        return None, None
    lines = head if is_whole else head[: head.rfind(b"\n") + 1]
    table = strict_columns(lines)
    cells, prefix = _found(lines) if table is None else ([column[:_ROWS_OF_HEAD] for column in table], "")
    number = len(cells)
    first, fitting = _first_columns(cells) if number in _COLUMNS else ((), None)
    if not first:
        return None, table
    cells = [column[fitting] for column in cells]
    columns = first + _tail(cells[len(first) :])
    values = dict(zip(columns, cells, strict=False))
    windowed = not values["block_size"].any()
    # The offset of a window is 0 as well, so that a column of zeros may be either.
    is_new = "priority" in columns and not (windowed and number == len(_HEAD) + 1)
    layout = Layout(
        columns,
        prefix,
        is_new=is_new or "largest" in columns,
        too_long_in_us=_takes_too_long(values["time"], values["value"]),
        windowed=windowed,
        counts_requests=not windowed and bool((values["value"] == 1).all()),
        in_sectors=not (values["block_size"] % _SECTOR).any(),
        doubled=_are_doubled(cells),
    )
    return layout, table


def _found(head: bytes) -> tuple[list[Column], str]:
    """Return the columns of the rows among the first lines of a file, and their common prefix.

    The columns are empty if too few lines are rows. A hexadecimal cell is `_HEXADECIMAL`, one that is not a number
    `_OTHER`.
    """
    lines = [line for line in head.decode("utf-8-sig", errors="replace").split("\n") if line.strip()]
    if head.count(b",") <= (_COLUMNS[0] - 1) * _LEAST_SHARE * len(lines):
        return [], ""
    matches = [match for match in map(_ROW.fullmatch, lines) if match is not None]
    if len(matches) <= _LEAST_SHARE * len(lines):
        return [], ""
    cells = [re.split(r"\s*,\s*", match["cells"]) for match in matches[:_ROWS_OF_HEAD]]
    number = Counter(map(len, cells)).most_common(1)[0][0]
    prefix = Counter(match["prefix"].strip() for match in matches).most_common(1)[0][0]
    rows = np.array([list(map(_number, row)) for row in cells if len(row) == number], np.int64)
    return list(rows.T), prefix


def _number(cell: str) -> int:
    if "x" in cell:
        return _HEXADECIMAL
    return int(cell) if cell.isdecimal() and int(cell) <= LARGEST else _OTHER


def _are_doubled(table: Sequence[Column]) -> bool:
    """Whether each row is printed twice, and not by chance: requests that end at the same time can be equal."""
    number = len(table[0])
    if any((column[0 : number - 1 : 2] != column[1::2]).any() for column in table):
        return False
    is_constant = all((column == column[0]).all() for column in table[1:])
    least = _NO_CHANCE if is_constant else 2
    return len(np.unique(np.stack(table), axis=1).T) >= least


def _first_columns(table: Sequence[Column]) -> tuple[tuple[str, ...], NDArray[np.bool_]]:
    """Return the first columns of rows, and a mask of the rows that fit; empty if the rows are not fio's."""
    for first in (_HEAD, _HEAD_OF_BOTH):
        if len(table) >= len(first):
            fitting = _fits(dict(zip(first, table, strict=False)))
            # A row that was damaged in the middle may look like one of another layout.
            if fitting.sum() > _LEAST_SHARE * len(fitting):
                return first, fitting
    return (), np.array([], bool)


def _fits(columns: Mapping[str, Column]) -> NDArray[np.bool_]:
    """Return a mask of the rows that can begin with the given columns."""
    size = columns["block_size"]
    fitting: NDArray[np.bool_] = (columns["direction"] < len(OPERATIONS)) & (
        (size == 0) | (size >= len(OPERATIONS))
    )
    for column in columns.values():
        fitting &= column >= 0
    if "largest" in columns:
        fitting &= (columns["largest"] == 0) | (columns["largest"] >= columns["value"])
    return fitting


def _tail(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of the columns after the block size."""
    match len(columns):
        case 0:
            return ()
        case 1:
            return ("priority",) if _is_priority(columns[0]) else ("offset",)
        case 2:
            return ("offset", "priority") if _is_priority(columns[1]) else ("priority", "issue_time")
        case _:
            return ("offset", "priority", "issue_time")


def _is_priority(cells: Column) -> bool:
    return bool(((cells == _HEXADECIMAL) | (cells == 0) | (cells == 1)).all())


def _takes_too_long(time: Column, value: Column) -> bool:
    """Return `Layout.too_long_in_us`."""
    return bool((value > 1000.0 * (time + 2.0)).sum() > len(time) / 2)


def latency_unit(version: str | None) -> LatencyUnit | None:
    """Return the unit in which a version of fio logs latencies; ``None`` if the version is not known.

    >>> latency_unit("fio-3.33"), latency_unit("2.17"), latency_unit(None)
    ('ns', 'us', None)
    """
    match = re.match(r"(?:fio-)?(\d+)\.(\d+)", version or "")
    if match is None:
        return None
    return "ns" if (int(match[1]), int(match[2])) >= (2, 99) else "us"


def base_units(kind: Kind, unit: LatencyUnit | None, *, windowed: bool) -> float:
    """Return the number of base units (s, B/s, 1/s) in a log's own unit.

    Raises
    ------
    ValueError
        If the unit of latencies is unknown.
    """
    if kind == "iops":
        return 1.0
    if kind == "bw":
        return float(_KIB if windowed else _KB)
    if unit is None:
        raise ValueError("the unit of latencies is not known")
    return 1 / _PER_SECOND[unit]
