"""Rows of fio's log files, by path and lazily: which columns they have, and in which units."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

import polars as pl

from fsbench_kit.model.errors import InputError, RequestError
from fsbench_kit.model.files import opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["bw", "iops", "lat", "clat", "slat"]
LatencyUnit = Literal["ns", "us"]

LATENCY_KINDS: Final = ("lat", "clat", "slat")
OPERATIONS: Final = ("read", "write", "trim", "sync")
"""Names of the directions 0 to 3."""

HEAD_SIZE: Final = 2**16
"""So many bytes at a file's start tell what it is."""

PIECE_SIZE: Final = 2**23
"""So many bytes of a log are held in memory at a time."""

_PER_SECOND: Final[dict[LatencyUnit, int]] = {"ns": 10**9, "us": 10**6}
_SECTOR: Final = 512
_KIB: Final = 1024
_KB: Final = 1000

# Names of 2.x, of copies and of people: x_bw.log, x_bw.1.log, agg-read_bw.log, x_bw.1_vm2.log
_NAME: Final = re.compile(
    r"(?:^|[_.-])(?P<kind>clat_hist|hist|bw|iops|clat|slat|lat)(?:\.(?P<job>\d{1,6}))?(?=[._-]|$)"
)
_ROW: Final = re.compile(
    r"(?P<prefix>[^\n,]*?)(?<![0-9.-])(?P<cells>-?[0-9]{1,20}(?:[^\S\n]*,[^\S\n]*(?:0x[0-9a-fA-F]{1,4}|-?[0-9]{1,20})){3,7})\s*"
)
_ROWS_OF_HEAD: Final = 4096
_LEAST_SHARE: Final = 0.5
"""Of the lines at a log's head, so many are its rows; the others are text of somebody else's."""


@dataclass(frozen=True, slots=True)
class LogName:
    """What the name of a log file says.

    Attributes
    ----------
    prefix
        The text before the kind: what ``write_bw_log`` was given, or the job's name.
    kind
        ``None`` where the name does not tell it, or it is a histogram log.
    job
        The number of the job, counted from 1 over all jobs of the run.
    rest
        The text after kind and number.
    """

    prefix: str
    kind: Kind | None
    job: int | None
    rest: str

    @classmethod
    def of(cls, name: str) -> LogName:
        """Take a file's name apart.

        >>> LogName.of("nightly_clat.2.log")
        LogName(prefix='nightly', kind='clat', job=2, rest='.log')
        """
        matches = list(_NAME.finditer(name))
        if not matches:
            return cls(prefix=name, kind=None, job=None, rest="")
        last = matches[-1]
        kind = next((kind for kind in get_args(Kind) if kind == last["kind"]), None)
        job = int(last["job"]) if last["job"] is not None else None
        return cls(prefix=name[: last.start()], kind=kind, job=job, rest=name[last.end() :])


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns the rows of a log have.

    Attributes
    ----------
    columns
        Their names, in the order of the row.
    prefix
        Text with which copies begin each line (``"> "``).
    is_new
        Whether only fio 3 writes such columns.
    too_long_in_us
        Whether, if the values were latencies in µs, most requests had taken longer than the run had lasted.
    windowed
        Whether rows are windows, as far as the head shows, and not single requests.
    counts_requests
        Whether rows are single requests of value 1, as in an IOPS log without windows.
    doubled
        Whether each row stands twice, though not all rows are alike.
    in_sectors
        Whether all block sizes are whole sectors, as they nearly always are.
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

        Each of its characters tells the next step, which makes it several times faster than one with choices.
        """
        cells = (f"(?P<{name}>{_CELLS.get(name, _WHOLE)})" for name in self.columns)
        prefix = f"(?:{re.escape(self.prefix)})?[ \t]*" if self.prefix else ""
        return rf"^[ \t]*{prefix}" + r"[ \t]*,[ \t]*".join(cells) + r"[ \t\r]*$"

    def unit(self, kind: Kind | None) -> LatencyUnit | None:
        """Return the unit in which the fio that wrote it logs latencies, if the rows tell it."""
        return "ns" if self.is_new or (kind in LATENCY_KINDS and self.too_long_in_us) else None


_WHOLE: Final = "[0-9]+"
_CELLS: Final = {"direction": "[0-3]", "priority": "[0-9]+(?:x[0-9a-fA-F]+)?"}

_HEAD: Final = ("time", "value", "direction", "block_size")
_HEAD_OF_BOTH: Final = ("time", "value", "largest", "direction", "block_size")
_OPTIONAL: Final = ("largest", "offset", "priority", "issue_time")


def recognise(head: bytes, *, is_whole: bool) -> Layout | None:
    """Tell by the bytes at a file's start whether it is a log of fio, and which columns it has.

    Parameters
    ----------
    head
        The first `HEAD_SIZE` bytes.
    is_whole
        Whether they are all of the file.

    Notes
    -----
    At least half of the lines are rows. All rows have one number of columns; those of another are damaged.
    What stands after the block size is told by the values: a priority is 0, 1 or hexadecimal, an offset is not
    0 or 1 throughout (unless the rows are windows, whose offset is 0).
    """
    if b"\0" in head:
        return None
    lines = head.decode("utf-8-sig", errors="replace").split("\n")
    if not is_whole:
        lines.pop()
    lines = [line for line in lines if line.strip()]
    matches = [match for match in map(_ROW.fullmatch, lines) if match is not None]
    if len(matches) <= _LEAST_SHARE * len(lines):
        return None
    cells = [re.split(r"\s*,\s*", match["cells"]) for match in matches[:_ROWS_OF_HEAD]]
    number = Counter(map(len, cells)).most_common(1)[0][0]
    prefix = Counter(match["prefix"].strip() for match in matches).most_common(1)[0][0]
    first, rows = _head([row for row in cells if len(row) == number])
    if not rows:
        return None
    columns = first + _tail([[row[index] for row in rows] for index in range(len(first), number)])
    values = {name: [row[index] for row in rows] for index, name in enumerate(columns)}
    windowed = not any(map(int, values["block_size"]))
    # A window's offset is 0 as well, and one column of zeros may be either.
    is_new = "priority" in columns and not (windowed and number == len(_HEAD) + 1)
    return Layout(
        columns,
        prefix,
        is_new=is_new or "largest" in columns,
        too_long_in_us=_takes_too_long(values),
        windowed=windowed,
        counts_requests=not windowed and set(values["value"]) == {"1"},
        in_sectors=all(int(size) % _SECTOR == 0 for size in values["block_size"]),
        doubled=_are_doubled(rows),
    )


_NO_CHANCE: Final = 10
"""So many times at which an even number of requests ended do not come by chance."""


def _are_doubled(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row stands twice, and that by more than chance: many requests of one time can be alike."""
    is_constant = len({tuple(row[1:]) for row in rows}) == 1
    least = _NO_CHANCE if is_constant else 2
    return len(set(map(tuple, rows))) >= least and rows[0::2][: len(rows) // 2] == rows[1::2]


def _head(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], Sequence[Sequence[str]]]:
    """Return the first columns of rows, and the rows that can have them, which are none if they are not fio's."""
    for head in (_HEAD, _HEAD_OF_BOTH):
        fitting = [row for row in rows if len(row) >= len(head) and _fits(row, head)]
        # A row that was damaged inside may look like one of another kind.
        if len(fitting) > _LEAST_SHARE * len(rows):
            return head, fitting
    return (), ()


def _fits(row: Sequence[str], head: Sequence[str]) -> bool:
    """Whether a row can start with these columns."""
    if not all(cell.isdecimal() for cell in row[: len(head)]):
        return False
    cells = {name: int(cell) for name, cell in zip(head, row, strict=False)}
    if cells["direction"] >= len(OPERATIONS) or 0 < cells["block_size"] < len(OPERATIONS):
        return False
    largest = cells.get("largest", 0)
    return largest == 0 or largest >= cells["value"]


def _tail(columns: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Name the columns after the block size."""
    match len(columns):
        case 0:
            return ()
        case 1:
            return ("priority",) if _is_priority(columns[0]) else ("offset",)
        case 2:
            return ("offset", "priority") if _is_priority(columns[1]) else ("priority", "issue_time")
        case _:
            return ("offset", "priority", "issue_time")


def _is_priority(cells: Sequence[str]) -> bool:
    return all("x" in cell or cell in {"0", "1"} for cell in cells)


def _takes_too_long(values: dict[str, list[str]]) -> bool:
    """See `Layout.too_long_in_us`."""
    pairs = zip(values["time"], values["value"], strict=True)
    return sum(int(value) > 1000 * (int(time) + 2) for time, value in pairs) > len(values["time"]) / 2


def read_head(path: Path) -> tuple[bytes, bool]:
    """Return the bytes at a file's start, and whether they are all of it.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    with opened(path) as file:
        head = file.read(HEAD_SIZE)
        return head, os.fstat(file.fileno()).st_size <= len(head)


def pieces(path: Path, layout: Layout) -> Iterator[pl.DataFrame]:
    """Yield all rows of a log, a piece of the file at a time; see `scan_rows`."""
    line = 1
    with path.open("rb") as file:
        while lines := file.read(PIECE_SIZE) + file.readline():
            yield scan_rows(lines, layout, line).collect()
            line += lines.count(b"\n")


def latency_unit(version: str | None) -> LatencyUnit | None:
    """Return the unit in which a version of fio logs latencies; ``None`` where the version is not known.

    >>> latency_unit("fio-3.33"), latency_unit("2.17"), latency_unit(None)
    ('ns', 'us', None)
    """
    match = re.match(r"(?:fio-)?(\d+)\.(\d+)", version or "")
    if match is None:
        return None
    return "ns" if (int(match[1]), int(match[2])) >= (2, 99) else "us"


def scan_lines(source: Path | bytes, first_line: int = 1) -> pl.LazyFrame:
    """Return the lines of a file lazily: their number and their text, which is null where a line is empty."""
    return pl.scan_csv(
        source,
        has_header=False,
        quote_char=None,
        separator="\0",
        schema={"text": pl.String},
        encoding="utf8-lossy",
        truncate_ragged_lines=True,
        row_index_name="line",
        row_index_offset=first_line,
    )


def scan_rows(source: Path | bytes, layout: Layout, first_line: int = 1) -> pl.LazyFrame:
    """Return a log's rows lazily, as whole numbers in fio's own units.

    A line that is no row has nulls and its text in ``unread``. Empty lines are left out.

    Parameters
    ----------
    source
        The log, or the lines of it that begin with `first_line`.
    layout
        Its columns.
    first_line
        The number of the first line.
    """
    whole = [pl.col(name).cast(pl.Int64, strict=False) for name in layout.columns if name != "priority"]
    if "priority" in layout.columns:
        words = pl.col("priority")
        hexadecimal = words.str.strip_prefix("0x").str.to_integer(base=16, strict=False)
        whole.append(
            pl.when(words.str.starts_with("0x")).then(hexadecimal).otherwise(words.cast(pl.Int64, strict=False))
        )
    read = pl.all_horizontal(pl.col(layout.columns).is_not_null())
    return (
        scan_lines(source, first_line)
        .filter(pl.col("text").str.strip_chars() != "")
        .with_columns(pl.col("text").str.extract_groups(layout.pattern).alias("cells"))
        .unnest("cells")
        .with_columns(whole)
        .with_columns(unread=pl.when(~read).then("text"))
        .with_columns(pl.when(read).then(pl.col(layout.columns)))
        .with_columns(pl.lit(None, pl.Int64).alias(name) for name in _OPTIONAL if name not in layout.columns)
        .drop("text")
    )


def base_units(kind: Kind, unit: LatencyUnit | None, *, windowed: bool) -> float:
    """Return how many base units (s, B/s, 1/s) one of a log's own is.

    Raises
    ------
    ValueError
        If the unit of latencies is not given.
    """
    if kind == "iops":
        return 1.0
    if kind == "bw":
        return float(_KIB if windowed else _KB)
    if unit is None:
        raise ValueError("the unit of latencies is not known")
    return 1 / _PER_SECOND[unit]


def scaled_rows(rows: pl.LazyFrame, kind: Kind, unit: LatencyUnit | None) -> pl.LazyFrame:
    """Return rows with their values in base units, times in seconds, and the operations' names."""
    factor = (
        pl.when(pl.col("block_size") == 0)
        .then(base_units(kind, unit, windowed=True))
        .otherwise(base_units(kind, unit, windowed=False))
    )
    return rows.with_columns(
        pl.col("time") / 1000,
        pl.col("value") * factor,
        pl.col("largest") * factor,
        pl.col("issue_time") / 10**9,
        operation=operation_of(pl.col("direction")),
    )


def operation_of(direction: pl.Expr) -> pl.Expr:
    """Return the names of directions."""
    return direction.replace_strict(range(len(OPERATIONS)), OPERATIONS, return_dtype=pl.Enum(OPERATIONS))


def scan_fio_log(path: str | Path, kind: Kind | None = None, *, fio_version: str | None = None) -> pl.LazyFrame:
    """Read a log that fio wrote with ``write_bw_log``, ``write_iops_log`` or ``write_lat_log``, lazily.

    Parameters
    ----------
    path
        The log, of any size.
    kind
        What it holds: ``bw``, ``iops``, ``lat``, ``clat`` or ``slat``. It is needed where the file's name does
        not tell.
    fio_version
        The version that wrote it (``3.33``), which decides the unit of latencies. It is needed where the rows
        do not tell: they do if they have a priority, or if in µs they had taken longer than the run.

    Returns
    -------
    polars.LazyFrame
        ``line``; ``time`` (s); ``value`` (s, B/s or 1/s; 1 in an IOPS log of single requests); ``largest`` (that
        of a window, with ``log_window_value=both``); ``operation``; ``block_size`` (0 in a window); ``offset``,
        ``priority``, ``issue_time`` (s), which are null where fio did not log them. A line that is no row has
        nulls, and its text in ``unread``.

    Raises
    ------
    InputError
        If the file is no such log.
    RequestError
        If what it holds has to be given.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> rows = fsb.scan_fio_log("nightly_clat.1.log")  # doctest: +SKIP
    >>> rows.group_by("operation").agg(pl.col("value").max()).collect(engine="streaming")  # doctest: +SKIP
    """
    path = Path(path)
    try:
        head, is_whole = read_head(path)
    except OSError as error:
        raise InputError(f"the log cannot be read: {error.strerror or error}", file=path) from error
    layout = recognise(head, is_whole=is_whole)
    if layout is None:
        raise InputError(
            "this is no log of fio's bandwidth, IOPS or latency",
            file=path,
            hint="Histogram logs are read by scan_fio_histograms, reports by read.",
        )
    kind = kind or LogName.of(path.name).kind
    if kind is None:
        raise RequestError(
            "the name of the log does not tell what it holds",
            file=path,
            hint=f"Give kind: {', '.join(get_args(Kind))}.",
        )
    unit = latency_unit(fio_version) or layout.unit(kind)
    if kind in LATENCY_KINDS and unit is None:
        raise RequestError(
            "nothing in the log tells whether its latencies are in ns or in µs",
            file=path,
            hint='Give fio_version, for example fio_version="3.33": ns since fio 3.0, µs before.',
        )
    return scaled_rows(scan_rows(path, layout), kind, unit).select(
        "line",
        "time",
        "value",
        "largest",
        "operation",
        "block_size",
        "offset",
        "priority",
        "issue_time",
        "unread",
    )
