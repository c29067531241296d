"""At which version, commit or date figures changed: as sentences, and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.settings import DATE
from fsbench_kit.tables.cells import cell_label, metric_within, varying
from fsbench_kit.tables.layout import Column, Group, Table
from fsbench_kit.tables.messages import counted, one_line, with_interval
from fsbench_kit.tables.verdicts import changed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.analysis.trend import Trend


_RATES: Final = ("bandwidth", "iops", "file_rate")
"""Of these it goes without saying that an operation is faster or slower."""


def effect_names(rows: pl.DataFrame, among: pl.DataFrame) -> list[str]:
    """Name the effects of rows by what tells the cells of a frame apart, and by a metric that is no rate.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> rows = fsb.compare(fsb.read("raw_results/published/sysbench-rhel72"), metrics=["bandwidth"])
    >>> effect_names(rows.head(1), rows)
    ['seqwr, write']
    """
    names = varying(among)
    several = among.select(pl.struct("metric", "statistic").n_unique()).item() > 1

    def parts(row: dict[str, object]) -> Iterator[str]:
        label = cell_label(row, names)
        is_rate = row["metric"] in _RATES
        if label:
            yield label
        if not label and is_rate and row["operation"]:
            yield str(row["operation"])  # which is faster; a rate is not
        elif not label or (several and not is_rate):
            yield metric_within(str(row["metric"]), str(row["statistic"]))

    return [", ".join(parts(row)) for row in rows.iter_rows(named=True)]


def trend_findings(found: Trend, most: int = 5) -> list[str]:
    """Say when figures changed, the largest change first.

    Parameters
    ----------
    found
        What `fsbench_kit.analysis.trend.trend` returned.
    most
        How many changes to name.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.trend import trend
    >>> trend_findings(trend(fsb.read("raw_results/published/fio-nvme-2021"), "filesystem"))
    []
    """
    if not found.levels:
        return []
    rows = found.changes.head(most)
    factor = one_line(found.course["factor"][0]).replace("_", " ")
    of = "" if factor == DATE else f"{factor} "
    sentences = [
        f"Since {of}{one_line(row['since'])}, {name} {changed(row)}"
        for name, row in zip(effect_names(rows, found.course), rows.iter_rows(named=True), strict=True)
    ]
    if (more := found.changes.height - rows.height) > 0:
        sentences.append(f"The runs show {counted(more, 'more change')}.")
    return sentences or [
        f"The runs show no change from {of}{one_line(found.levels[0])} to {one_line(found.levels[-1])}."
    ]


def trend_table(found: Trend) -> Table:
    """Make the table of all changes, the largest first.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.trend import trend
    >>> trend_table(trend(fsb.read("raw_results/published/fio-nvme-2021"), "filesystem")).caption
    'There is no change.'
    """
    columns = ("effect", "since", "at the earliest", "at the latest", "ratio to before [CI]", "verdict")
    rows = (
        tuple(
            (
                name,
                *(one_line(row[column]) for column in ("since", "earliest", "latest")),
                with_interval(row["ratio"], row["ci_low"], row["ci_high"]),
                row["verdict"],
            )
            for name, row in zip(
                effect_names(found.changes, found.course), found.changes.iter_rows(named=True), strict=True
            )
        )
        if found.levels
        else ()
    )
    return Table("Changes" if rows else "There is no change.", tuple(map(Column, columns)), (Group(None, rows),))
