"""A comparison with what one chooses in rows and columns, as benchstat's tables have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.order import in_order
from fsbench_kit.model.suggestions import known_instead
from fsbench_kit.tables.cells import CELL, cell_text, metric_text, ordered, varying
from fsbench_kit.tables.comparisons import comparison_table, interval_text, verdict_text
from fsbench_kit.tables.layout import Column, Group, Table
from fsbench_kit.tables.messages import NOTHING, Footnotes, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_GROUPS: Final = ("baseline", "level")


def pivot_table(
    comparison: pl.DataFrame, *, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> Table:
    """Make the table of a comparison with chosen rows and columns; each of its cells is a ratio and its verdict.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare` returned, or some rows of it.
    rows, columns
        What stands at the left of rows, and over columns: names of `CELL`, ``metric``, ``level`` or the factor. By
        default columns are levels, and rows what else tells comparisons apart. What is in neither is over a
        block of rows.

    Raises
    ------
    RequestError
        If a name is none of these, or stands in both.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> found = pivot_table(fsb.compare(data, metrics=["bandwidth"])).frame()
    >>> found.select("pattern", pl.col("xfs").str.head(4)).rows()
    [('rndrd', '0.79'), ('rndwr', '0.96'), ('seqrd', '1.03'), ('seqwr', '2.42')]
    """
    frame = ordered(comparison)
    metrics = [metric_text(*names) for names in frame.select("metric", "statistic").rows()]
    frame = frame.with_columns(metric=pl.Series(metrics, dtype=pl.String))
    known = ["metric", *varying(frame), *(name for name in _GROUPS if frame[name].n_unique() > 1)]
    across = _named(columns or ["level"], frame)
    down = _named(rows, frame) if rows else [name for name in known if name not in {*across, "metric"}]
    both = [name for name in down if name in across]
    if both:
        asked = frame["factor"][0] if both[0] == "level" else both[0]
        raise RequestError(f"{asked!r} cannot be in both rows and columns", hint="Name it in one of them.")
    over = [name for name in known if name not in {*across, *down}]
    heads = _values(frame, across)
    footnotes = Footnotes(frame["footnotes"])

    def cell(row: dict[str, Any]) -> str:
        parts = (interval_text(row), verdict_text(row["verdict"]), footnotes.marks(row["footnotes"]))
        return " ".join(filter(None, parts))

    blocks = []
    for head, block in _split(frame, over):
        lines = []
        for at, line in _split(block, down):
            cells = {
                values: "; ".join(map(cell, each.iter_rows(named=True))) for values, each in _split(line, across)
            }
            lines.append((*at, *(cells.get(values, NOTHING) for values in heads)))
        blocks.append(Group(", ".join(head) or None, tuple(lines)))
    plain = comparison_table(comparison)
    return Table(
        f"{plain.caption}: ratios to {' or '.join(map(one_line, in_order(frame['baseline'])))}",
        (
            *(Column(_head(name, frame)) for name in down),
            *(Column(", ".join(values)) for values in heads),
        ),
        tuple(blocks),
        footnotes.texts,
        plain.legend,
    )


def _named(names: Sequence[str], frame: pl.DataFrame) -> list[str]:
    factor = frame["factor"][0]
    known = list(dict.fromkeys([factor, *CELL, "metric", *_GROUPS]))
    for name in names:
        if name not in known:
            raise RequestError(
                f"{name!r} names no part of a comparison",
                hint=known_instead(name, known),
            )
    return ["level" if name == factor else name for name in names]


def _head(name: str, frame: pl.DataFrame) -> str:
    return one_line(str(frame["factor"][0] if name == "level" else name)).replace("_", " ")


def _texts(row: dict[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell_text(name, row[name]) or NOTHING for name in names)


def _values(frame: pl.DataFrame, names: Sequence[str]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(_texts(row, names) for row in frame.select(names).iter_rows(named=True)))


def _split(frame: pl.DataFrame, names: Sequence[str]) -> list[tuple[tuple[str, ...], pl.DataFrame]]:
    """Return the rows that have each of the values of some columns, with the values as text."""
    if not names:
        return [((), frame)]
    parts = frame.partition_by(names, maintain_order=True)
    return [(_texts(part.row(0, named=True), names), part) for part in parts]
