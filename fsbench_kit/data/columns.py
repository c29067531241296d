"""What was read of files, as columns: runs, what belongs to them, and diagnostics.

Every way of reading a file produces these columns. Those of many files are concatenated, sent to other processes
and cached, without creating an object per figure. The records of a run are rebuilt on request.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, groupby, pairwise, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.model.records import (
    Bin,
    Block,
    Diagnostic,
    Distributions,
    Figure,
    Measurement,
    Measurements,
    Place,
    Run,
    Setting,
    What,
)
from fsbench_kit.model.rows import rows_of
from fsbench_kit.model.schema import LARGEST, SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fsbench_kit.documents import Contents
    from fsbench_kit.model.records import Bins, Record


RUN: Final = "run"
"""The column with the number of the run that a row belongs to, before runs have ids."""

FILE: Final = "file"
"""The column with the number of the file that a run or a diagnostic is from."""

RUNS: Final = pl.Schema(
    {FILE: pl.Int64(), "format": pl.String(), "last_line": pl.Int64(), "identity": pl.List(pl.String())}
    | {
        name: kind if name != "status" else pl.String()
        for name, kind in SCHEMAS["runs"].items()
        if name in {*Run.__slots__, "sha256"}
    }
)
"""What a log says about a run. The identity is a list that alternates names and values."""


def _belonging(name: str) -> pl.Schema:
    return pl.Schema({RUN: pl.Int64()} | {key: kind for key, kind in SCHEMAS[name].items() if key != "run_id"})


BELONGING: Final = {name: _belonging(name) for name in ("settings", "measurements", "distributions", "series")} | {
    "too_large": pl.Schema({RUN: pl.Int64(), "column": pl.String(), "number": pl.String(), "line": pl.Int64()})
}
DIAGNOSTICS: Final = pl.Schema(
    {FILE: pl.Int64()}
    | {name: kind for name, kind in SCHEMAS["diagnostics"].items() if name not in {"source", "severity"}}
)

_NOTHING: Final = {
    name: pl.DataFrame(schema=schema) for name, schema in [*BELONGING.items(), ("diagnostics", DIAGNOSTICS)]
}
"""Frames without rows, which most logs have some of, and which take as long to make as others."""


def with_column(frame: pl.DataFrame, column: pl.Series) -> pl.DataFrame:
    """Replace a column of a frame; faster than a Polars query."""
    return frame.clone().replace_column(frame.get_column_index(column.name), column)


class FileRecords(NamedTuple):
    """What a format's `parse` yields for a file: its number, its records, and the bytes that identify its runs.

    If the bytes are not available, their hash is given instead.
    """

    file: int
    records: Sequence[Record]
    data: bytes | Contents | str


@dataclass(frozen=True, eq=False)
class Columns:
    """What was read of files.

    Attributes
    ----------
    runs
        The runs, in the order of their files, whose numbers are in `FILE`. The number of a run is that of its row.
    settings, measurements, distributions, series
        What belongs to runs, in the order of these; `RUN` stands for the ``run_id``.
    too_large
        The integers that are too large for their column, where they are null.
    diagnostics
        The diagnostics of files, in the order of these.
    """

    runs: pl.DataFrame
    settings: pl.DataFrame
    measurements: pl.DataFrame
    distributions: pl.DataFrame
    series: pl.DataFrame
    too_large: pl.DataFrame
    diagnostics: pl.DataFrame

    @classmethod
    def of(cls, files: Iterable[FileRecords]) -> Columns:
        """Convert the records of files to columns."""
        given = list(files)
        runs = [run for each in given for run in _runs_of(each)]
        own = [run for _, run, _, _ in runs]
        made = {
            "settings": _frame_of("settings", [run.settings for run in own]),
            "measurements": _frame_of("measurements", [run.measurements for run in own]),
            "distributions": _distributions_of(run.bins for run in own),
        }
        too_large = [item for _, found in made.values() for item in found]
        diagnostics = (
            (each.file, item) for each in given for item in each.records if isinstance(item, Diagnostic)
        )
        return cls(
            runs=_runs_frame(runs),
            **{name: frame for name, (frame, _) in made.items()},
            series=series_of([blocks for _, _, blocks, _ in runs]),
            too_large=_too_large_of(too_large),
            diagnostics=diagnostics_in(diagnostics),
        )

    @classmethod
    def stacked(cls, several: Sequence[Columns]) -> Columns:
        """Concatenate columns; files keep their numbers, and runs are renumbered."""
        if len(several) == 1:
            return several[0]
        if not several:
            return cls.of(())
        starts = list(accumulate((each.runs.height for each in several), initial=0))
        return cls(
            runs=pl.concat([each.runs for each in several]),
            diagnostics=pl.concat([each.diagnostics for each in several]),
            **{
                name: pl.concat(
                    [
                        with_column(frame := getattr(each, name), frame[RUN] + start)
                        for each, start in zip(several, starts, strict=False)
                    ]
                )
                for name in BELONGING
            },
        )

    @classmethod
    def gathered(cls, parts: Sequence[Part]) -> Columns:
        """Concatenate parts, each of which becomes the file with its index."""
        several = {id(part.columns): part.columns for part in parts}
        whole = cls.stacked(list(several.values()))
        starts = accumulate(
            ((each.runs.height, each.diagnostics.height) for each in several.values()),
            lambda start, heights: (start[0] + heights[0], start[1] + heights[1]),
            initial=(0, 0),
        )
        start = dict(zip(several, starts, strict=False))

        def numbers(of: Iterable[Sequence[int]], which: int) -> tuple[NDArray[np.int64], pl.Series]:
            """Return the numbers of rows in the whole, and their files."""
            own = list(of)
            lengths = list(map(len, own))
            rows = np.fromiter(chain.from_iterable(own), np.int64, sum(lengths))
            if len(start) > 1:
                before = [start[id(part.columns)][which] for part in parts]
                rows += np.repeat(np.array(before, dtype=np.int64), lengths)
            return rows, pl.Series(FILE, np.repeat(np.arange(len(parts)), lengths))

        runs, of_runs = numbers((part.runs for part in parts), 0)
        diagnostics, of_diagnostics = numbers((part.diagnostics for part in parts), 1)
        picked = whole.picked(runs)
        return replace(
            picked,
            runs=with_column(picked.runs, of_runs),
            diagnostics=with_column(rows_of(whole.diagnostics, diagnostics), of_diagnostics),
        )

    def picked(self, numbers: Sequence[int] | NDArray[np.int64]) -> Columns:
        """Return the given runs in the given order, with what belongs to them; and all diagnostics."""
        order = np.asarray(numbers, dtype=np.int64)
        if np.array_equal(order, np.arange(self.runs.height)):
            return self
        new = np.full(self.runs.height, -1)
        new[order] = np.arange(len(order))
        frames = {}
        for name in BELONGING:
            frame = getattr(self, name)
            of_rows = new[frame[RUN].to_numpy()]
            rows = np.argsort(of_rows, kind="stable")
            rows = rows[np.searchsorted(of_rows[rows], 0) :]
            frames[name] = with_column(frame[rows], pl.Series(RUN, of_rows[rows]))
        return replace(self, runs=self.runs[order], **frames)

    def by_file(self) -> Columns:
        """Return the same, sorted by file and by position in the file."""
        order = np.lexsort((self.runs["start"].to_numpy(), self.runs[FILE].to_numpy()))
        if (order == np.arange(len(order))).all() and self.diagnostics[FILE].is_sorted():
            return self
        of_files = np.argsort(self.diagnostics[FILE].to_numpy(), kind="stable")
        return replace(self.picked(order), diagnostics=rows_of(self.diagnostics, of_files))

    def files(self, number: int) -> list[Part]:
        """Return what was read of each file, given how many there are."""
        edges = np.arange(number + 1)
        runs, diagnostics = (
            np.searchsorted(frame[FILE].to_numpy(), edges).tolist() for frame in (self.runs, self.diagnostics)
        )
        return [
            Part(self, range(*of_runs), range(*of_diagnostics))
            for of_runs, of_diagnostics in zip(pairwise(runs), pairwise(diagnostics), strict=True)
        ]

    # Records

    def run(self, number: int) -> Run:
        """Return a run as a record."""
        row = self.runs.row(number, named=True)
        words = row["identity"] or []
        return Run(
            **{name: row[name] for name in Run.__slots__ if name in row and name != "identity"},
            identity=tuple(zip(words[::2], words[1::2], strict=True)),
            settings=tuple(Setting(**item) for item in self._rows("settings", number)),
            measurements=tuple(Measurement(**item) for item in self._rows("measurements", number)),
            bins=Distributions.of([Bin(**item) for item in self._rows("distributions", number)]),
        )

    def blocks(self, number: int) -> tuple[Block, ...]:
        """Return the series of a run as records."""
        return tuple(_blocks(self._rows("series", number)))

    def _rows(self, name: str, number: int) -> Iterator[dict[str, Any]]:
        frame, edges = self._of_runs[name]
        start, end = edges[number : number + 2]
        names = frame.columns
        return (dict(zip(names, row, strict=True)) for row in frame.slice(start, end - start).rows())

    @cached_property
    def _of_runs(self) -> dict[str, tuple[pl.DataFrame, list[int]]]:
        """The frames of what belongs to runs, with the offsets of each run's rows."""
        numbers = np.arange(self.runs.height + 1)
        frames = {name: getattr(self, name) for name in BELONGING}
        return {
            name: (frame.drop(RUN), np.searchsorted(frame[RUN].to_numpy(), numbers).tolist())
            for name, frame in frames.items()
        }

    # Bytes

    def frames(self) -> list[pl.DataFrame]:
        """Return the frames in a fixed order."""
        return [getattr(self, name) for name in _FRAMES]

    @classmethod
    def from_bytes(cls, data: bytes) -> Columns:
        """Return columns from their packed frames."""
        return cls(**dict(zip(_FRAMES, Unpacked(data), strict=True)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Columns.from_bytes, (b"".join(packed(self.frames())),)


def packed(frames: Iterable[pl.DataFrame], known: Sequence[pl.DataFrame] = ()) -> list[bytes]:
    """Return frames as pieces of bytes.

    For each, these are how many groups of its columns and rows follow as streams of Arrow; for one of the known
    frames, no groups, and its index among these.
    """
    indexes = {id(frame): index for index, frame in enumerate(known)}
    pieces = (
        _packed(frame) if (index := indexes.get(id(frame))) is None else [_numbered(0, index)] for frame in frames
    )
    return list(chain.from_iterable(pieces))


def _packed(frame: pl.DataFrame) -> list[bytes]:
    """Return a frame as pieces of bytes; it is packed in parts because that takes its memory once more."""
    groups = [frame]
    if _VARIED.issubset(frame.columns):
        columns = groupby(frame.iter_columns(), lambda column: column.name in _VARIED)
        groups = [pl.DataFrame(list(some)) for _, some in columns]
    starts = range(0, frame.height or 1, _PART)
    streams = (_stream(group.slice(start, _PART)) for group in groups for start in starts)
    return [_numbered(len(groups), len(starts)), *streams]


def _numbered(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(_LENGTH, "little") for number in numbers)


def _stream(frame: pl.DataFrame) -> bytes:
    """Return a frame as a stream, preceded by its length."""
    piece = io.BytesIO(bytes(_LENGTH))
    piece.seek(_LENGTH)
    is_worth_it = frame.height >= _MANY and not _VARIED.issuperset(frame.columns)
    frame.write_ipc_stream(piece, compression="zstd" if is_worth_it else "uncompressed")
    length = piece.tell() - _LENGTH
    piece.seek(0)
    piece.write(length.to_bytes(_LENGTH, "little"))
    return piece.getvalue()


class Unpacked(Sequence[pl.DataFrame]):
    """The frames of packed bytes, each made when it is first needed.

    Parameters
    ----------
    data
        The packed bytes.
    known
        The frames that were known when they were packed.
    """

    def __init__(self, data: bytes, known: Sequence[pl.DataFrame] = ()) -> None:
        self._known = known
        self._frames: dict[int, pl.DataFrame] = {}
        self._packed: list[tuple[int, int, list[memoryview]]] = []
        view = memoryview(data)
        while view:
            groups, parts = (_number(view[start : start + _LENGTH]) for start in (0, _LENGTH))
            streams, end = [], 2 * _LENGTH
            for _ in range(groups * parts):
                start = end + _LENGTH
                end = start + _number(view[end:start])
                streams.append(view[start:end])
            self._packed.append((groups, parts, streams))
            view = view[end:]

    def __len__(self) -> int:
        return len(self._packed)

    def __getitem__(self, index: int) -> pl.DataFrame:  # type: ignore[override]  # no slice of it is needed
        if index not in self._frames:
            self._frames[index] = self._made(*self._packed[index])
        return self._frames[index]

    def _made(self, groups: int, parts: int, streams: Sequence[memoryview]) -> pl.DataFrame:
        if not groups:
            return self._known[parts]
        pieces = [pl.read_ipc_stream(io.BytesIO(stream)) for stream in streams]
        frame, *more = (_whole(pieces[first : first + parts]) for first in range(0, len(pieces), parts))
        return frame.hstack(list(chain.from_iterable(more)))


def _number(data: memoryview) -> int:
    return int.from_bytes(data, "little")


def _whole(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of several frames as one frame."""
    return pl.concat(parts, rechunk=True) if len(parts) > 1 else parts[0]


_VARIED: Final = frozenset({"value", "low", "high", "text"})
"""Columns of measurements that hardly repeat: compressing them takes long, and saves about half of their size."""
_MANY: Final = 2**12
"""Fewer rows are not compressed, since preparing that for each column takes longer than writing them."""
_PART: Final = 2**16
"""The number of rows in a part of a packed frame."""
_LENGTH: Final = 8
_FRAMES: Final = ("runs", *BELONGING, "diagnostics")


class Part(NamedTuple):
    """What was read of one file, or a part of it: columns, and the numbers of its runs and diagnostics in them."""

    columns: Columns
    runs: Sequence[int]
    diagnostics: Sequence[int]


_Found = tuple[int, Run, list[Block], bytes | str]
"""The number of a file, a run in it, the blocks that follow it, and the run's bytes or their hash."""


def _runs_of(file: FileRecords) -> Iterator[_Found]:
    runs: list[_Found] = []
    for record in file.records:
        match record:
            case Run():
                data = file.data if isinstance(file.data, str) else file.data[record.start : record.end]
                runs.append((file.file, record, [], data))
            case Block() if runs:
                runs[-1][2].append(record)
    yield from runs


def _runs_frame(found: Sequence[_Found]) -> pl.DataFrame:
    runs = [run for _, run, _, _ in found]
    data = [own for _, _, _, own in found]
    # Lists of text are made from text far faster than from Python's lists.
    identities = pl.Series(["\0".join(chain.from_iterable(run.identity)) or None for run in runs], dtype=pl.String)
    of_bytes = {
        FILE: [file for file, _, _, _ in found],
        "sha256": [own if isinstance(own, str) else hashlib.sha256(own).hexdigest() for own in data],
        "last_line": [
            run.line if isinstance(own, str) else run.line + own.count(b"\n")
            for run, own in zip(runs, data, strict=True)
        ],
        "identity": identities if identities.null_count() == len(runs) else identities.str.split("\0"),
    }
    attributes = [name for name in RUNS if name not in of_bytes]
    known: dict[str, Any] = of_bytes | _attributes(runs, attributes)
    return pl.DataFrame([pl.Series(name, known[name], kind) for name, kind in RUNS.items()])


def _attributes(records: Sequence[Run | Diagnostic], names: Iterable[str]) -> dict[str, list[Any]]:
    return {name: list(map(attrgetter(name), records)) for name in names if name != FILE}


def _blocks(rows: Iterable[dict[str, Any]]) -> Iterator[Block]:
    places = ("part", "operation", "metric", "statistic")
    for place, alike in groupby(rows, lambda row: tuple(row[name] for name in places)):
        points = list(alike)
        yield Block(
            **dict(zip(places, place, strict=True)),
            times=[point["time"] for point in points],
            values=[point["value"] for point in points],
            lines=[None] * len(points),
        )


class TooLarge(NamedTuple):
    """An integer that is too large for its column, and its line."""

    run: int
    column: str
    number: str
    line: int | None


def _too_large_of(numbers: Sequence[TooLarge]) -> pl.DataFrame:
    if not numbers:
        return _NOTHING["too_large"]
    return pl.DataFrame(sorted(numbers, key=attrgetter(RUN)), schema=BELONGING["too_large"], orient="row")


def _frame_of(
    name: str, of_runs: Iterable[Sequence[Measurement | Setting]]
) -> tuple[pl.DataFrame, list[TooLarge]]:
    """Return the records of runs as the frame with the given name, in which `RUN` stands for the ``run_id``.

    Numbers that are too large for their column become null and are returned separately.
    """
    groups = list(of_runs)
    runs = _numbers(groups)
    figures = [group for group in groups if isinstance(group, Measurements)]
    if figures and len(figures) == len(groups):
        try:
            return _figures_of(figures, runs), []
        except (OverflowError, TypeError):  # some number is too large
            pass
    records = list(chain.from_iterable(groups))
    columns: dict[str, Any] = {RUN: runs}
    too_large: list[TooLarge] = []
    for column, kind in SCHEMAS[name].items():
        if column == "run_id":
            continue
        values = list(map(attrgetter(column), records))
        try:
            columns[column] = pl.Series(values, dtype=kind)
        except (
            OverflowError,
            TypeError,
        ):  # Polars raises either, depending on whether an unsigned type would hold it
            too_large += (
                TooLarge(runs[index], column, str(value), records[index].line)
                for index, value in enumerate(values)
                if _is_too_large(value)
            )
            columns[column] = pl.Series([None if _is_too_large(value) else value for value in values], dtype=kind)
    return pl.DataFrame(columns), too_large


def _figures_of(groups: Iterable[Measurements], runs: pl.Series) -> pl.DataFrame:
    """Return measurements that are already columns; attributes that they share are extracted once."""
    columns = zip(*(group.columns for group in groups), strict=True)
    figures: Any = Figure._make(list(chain.from_iterable(column)) for column in columns)
    known: dict[str, Any] = {RUN: runs}
    shared: Sequence[Any]
    for shared, names in ((figures.place, _OF_PLACE), (figures.what, _OF_WHAT)):
        distinct = dict(zip(map(id, shared), shared, strict=True))
        number = dict(zip(distinct, range(len(distinct)), strict=True))
        numbers = pl.Series(list(map(number.__getitem__, map(id, shared))), dtype=pl.UInt32)
        for name in names:
            of_distinct = pl.Series(list(map(attrgetter(name), distinct.values())), dtype=_FIGURE[name])
            known[name] = of_distinct.gather(numbers)
    for name in ("value", "low", "high", "samples", "text", "line"):
        known[name] = pl.Series(getattr(figures, name), dtype=_FIGURE[name])
    return pl.DataFrame({name: known[name] for name in (RUN, *_FIGURE) if name in known})


_FIGURE: Final = SCHEMAS["measurements"]
_OF_PLACE: Final = Place._fields
_OF_WHAT: Final = tuple(name for name in What.__slots__ if name in _FIGURE)


def _is_too_large(value: int | None) -> bool:
    return value is not None and value > LARGEST


def _distributions_of(of_runs: Iterable[Sequence[Bin]]) -> tuple[pl.DataFrame, list[TooLarge]]:
    """Return the bins of runs as a frame, as `_frame_of` does for other records."""
    too_large: list[TooLarge] = []
    groups = [_columns_of(number, bins, too_large) for number, bins in enumerate(of_runs)]
    each = list(chain.from_iterable(groups))
    if not each:
        return _NOTHING["distributions"], too_large
    sizes = [len(bins) for bins in each]

    def column(name: str, unknown: float) -> pl.Series:
        known = (getattr(bins, name) for bins in each)
        arrays = (np.full(n, unknown) if array is None else array for n, array in zip(sizes, known, strict=True))
        values = pl.Series(np.concatenate(list(arrays)), nan_to_null=True)
        return values if np.isnan(unknown) else values.set(values == unknown, None)

    schema = SCHEMAS["distributions"]
    places = {name: list(map(attrgetter(name), each)) for name in ("scope", "part", "operation", "metric")}
    frame = pl.DataFrame({RUN: _numbers(groups)} | {k: pl.Series(v, dtype=schema[k]) for k, v in places.items()})
    frame = frame[np.repeat(np.arange(len(each)), sizes)]
    return (
        frame.hstack(
            [
                column("lows", np.nan).alias("low"),
                column("highs", np.nan).alias("high"),
                column("counts", -1).alias("count"),
                column("shares", np.nan).alias("share"),
                column("lines", -1).alias("line"),
            ]
        ),
        too_large,
    )


def _columns_of(run: int, bins: Sequence[Bin], too_large: list[TooLarge]) -> Sequence[Bins]:
    """Return bins as columns; counts that are too large become unknown."""
    if isinstance(bins, Distributions):
        return bins.columns
    large = [item for item in bins if _is_too_large(item.count)]
    too_large += (TooLarge(run, "count", str(item.count), item.line) for item in large if item.count is not None)
    held = (replace(item, count=None) if item in large else item for item in bins) if large else bins
    return Distributions.of(held).columns


def series_of(of_runs: Iterable[Sequence[Block]]) -> pl.DataFrame:
    """Return the series of runs as a frame, in which `RUN` stands for the ``run_id``."""
    groups = list(of_runs)
    blocks = list(chain.from_iterable(groups))
    if not blocks:
        return _NOTHING["series"]
    names = ("part", "operation", "metric", "statistic")
    columns = {name: pl.Series(list(map(attrgetter(name), blocks)), dtype=pl.String) for name in names}
    rows = pl.Series([len(block.times) for block in blocks], dtype=pl.Int64)
    return (
        pl.DataFrame({RUN: _numbers(groups), **columns})
        .select(pl.all().repeat_by(rows).explode())
        .with_columns(
            pl.Series(name, np.concatenate([np.array([]), *(getattr(block, source) for block in blocks)]))
            for name, source in (("time", "times"), ("value", "values"))
        )
    )


def _numbers(groups: Sequence[Sequence[object]]) -> pl.Series:
    numbers = chain.from_iterable(repeat(number, len(group)) for number, group in enumerate(groups))
    return pl.Series(list(numbers), dtype=pl.Int64)


def settings_of(of_runs: Iterable[Sequence[Setting]]) -> pl.DataFrame:
    """Return the settings of runs as a frame, in which `RUN` stands for the ``run_id``."""
    return _frame_of("settings", of_runs)[0]


def diagnostics_in(of_files: Iterable[tuple[int, Diagnostic]]) -> pl.DataFrame:
    """Return diagnostics as a frame, each with the number of its file."""
    pairs = list(of_files)
    if not pairs:
        return _NOTHING["diagnostics"]
    own = _attributes([item for _, item in pairs], DIAGNOSTICS)
    return pl.DataFrame({FILE: [file for file, _ in pairs]} | own, schema=DIAGNOSTICS)


def diagnostics_of(of_files: Iterable[tuple[str, Diagnostic]]) -> pl.DataFrame:
    """Return diagnostics as a frame, each with the file that it concerns."""
    pairs = list(of_files)
    if not pairs:
        return _NO_DIAGNOSTICS
    columns: dict[str, Any] = {"source": [source for source, _ in pairs]}
    for name in SCHEMAS["diagnostics"].names()[1:]:
        columns[name] = [getattr(diagnostic, name) for _, diagnostic in pairs]
    return pl.DataFrame(columns, schema=SCHEMAS["diagnostics"])


_NO_DIAGNOSTICS: Final = pl.DataFrame(schema=SCHEMAS["diagnostics"])
