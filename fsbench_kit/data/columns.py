"""Records as frames: each attribute of many records becomes a column, which is typed once."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.model.records import Distributions
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fsbench_kit.model.records import Bin, Bins, Block, Diagnostic, Measurement, Setting

RUN: Final = "run"
"""The column that says by its number which run a row belongs to, before runs have their ids."""


class TooLarge(NamedTuple):
    """A whole number that is larger than its column can hold, and on which line it stands."""

    run: int
    column: str
    number: int
    line: int | None


def frame_of(name: str, of_runs: Iterable[Sequence[Measurement | Setting]]) -> tuple[pl.DataFrame, list[TooLarge]]:
    """Return the records of some runs as the frame of a name, in which `RUN` stands for the ``run_id``.

    A number that is too large for its column becomes null there, and is returned beside the frame.
    """
    groups = list(of_runs)
    records = list(chain.from_iterable(groups))
    runs = _numbers(groups)
    columns: dict[str, Any] = {RUN: runs}
    too_large: list[TooLarge] = []
    for column, kind in SCHEMAS[name].items():
        if column == "run_id":
            continue
        values = list(map(attrgetter(column), records))
        try:
            columns[column] = pl.Series(values, dtype=kind)
        except (OverflowError, TypeError):  # as Polars says of what fits 64 bits without a sign, or not even these
            too_large += (
                TooLarge(runs[index], column, value, records[index].line)
                for index, value in enumerate(values)
                if _is_too_large(value)
            )
            columns[column] = pl.Series([None if _is_too_large(value) else value for value in values], dtype=kind)
    return pl.DataFrame(columns), too_large


def _is_too_large(value: int | None) -> bool:
    return value is not None and value > _LARGEST


_LARGEST: Final = 2**63 - 1


def distributions_of(of_runs: Iterable[Sequence[Bin]]) -> tuple[pl.DataFrame, list[TooLarge]]:
    """Return the bins of some runs as a frame, as `frame_of` does with other records."""
    too_large: list[TooLarge] = []
    groups = [_columns_of(number, bins, too_large) for number, bins in enumerate(of_runs)]
    each = list(chain.from_iterable(groups))
    sizes = [len(bins) for bins in each]

    def column(name: str, unknown: float) -> pl.Series:
        known = (getattr(bins, name) for bins in each)
        arrays = (np.full(n, unknown) if array is None else array for n, array in zip(sizes, known, strict=True))
        return pl.Series(np.concatenate([np.array([], dtype=type(unknown)), *arrays]))

    schema = SCHEMAS["distributions"]
    places = {name: list(map(attrgetter(name), each)) for name in ("scope", "part", "operation", "metric")}
    frame = pl.DataFrame({RUN: _numbers(groups)} | {k: pl.Series(v, dtype=schema[k]) for k, v in places.items()})
    return (
        frame[np.repeat(np.arange(len(each)), sizes)].with_columns(
            column("lows", np.nan).fill_nan(None).alias("low"),
            column("highs", np.nan).fill_nan(None).alias("high"),
            column("counts", -1).cast(pl.Int64).replace(-1, None).alias("count"),
            column("shares", np.nan).fill_nan(None).alias("share"),
            column("lines", -1).cast(pl.Int64).replace(-1, None).alias("line"),
        ),
        too_large,
    )


def _columns_of(run: int, bins: Sequence[Bin], too_large: list[TooLarge]) -> Sequence[Bins]:
    """Return bins as columns; counts that no column holds are unknown."""
    if isinstance(bins, Distributions):
        return bins.columns
    large = [item for item in bins if _is_too_large(item.count)]
    too_large += (TooLarge(run, "count", item.count, item.line) for item in large if item.count is not None)
    held = (replace(item, count=None) if item in large else item for item in bins) if large else bins
    return Distributions.of(held).columns


def series_of(of_runs: Iterable[Sequence[Block]]) -> pl.DataFrame:
    """Return the series of some runs as a frame, in which `RUN` stands for the ``run_id``."""
    groups = list(of_runs)
    blocks = list(chain.from_iterable(groups))
    names = ("part", "operation", "metric", "statistic")
    columns = {name: pl.Series(list(map(attrgetter(name), blocks)), dtype=pl.String) for name in names}
    rows = pl.Series([len(block.times) for block in blocks], dtype=pl.Int64)
    return (
        pl.DataFrame({RUN: _numbers(groups), **columns})
        .select(pl.all().repeat_by(rows).explode())
        .with_columns(
            pl.concat([pl.Series(name, dtype=pl.Float64), *(_floats(getattr(block, source)) for block in blocks)])
            for name, source in (("time", "times"), ("value", "values"))
        )
    )


def _floats(values: Sequence[float]) -> pl.Series:
    return pl.Series(values).cast(pl.Float64)


def _numbers(groups: Sequence[Sequence[object]]) -> pl.Series:
    numbers = chain.from_iterable(repeat(number, len(group)) for number, group in enumerate(groups))
    return pl.Series(list(numbers), dtype=pl.Int64)


def diagnostics_of(said: Iterable[tuple[str, Diagnostic]]) -> pl.DataFrame:
    """Return diagnostics as a frame, each with the file that it is about."""
    pairs = list(said)
    diagnostics = [diagnostic for _, diagnostic in pairs]
    columns: dict[str, Any] = {"source": [source for source, _ in pairs]}
    for name in SCHEMAS["diagnostics"].names()[1:]:
        columns[name] = list(map(attrgetter(name), diagnostics))
    return pl.DataFrame(columns, schema=SCHEMAS["diagnostics"])
