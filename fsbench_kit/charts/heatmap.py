"""Ratios of a comparison over file size and record size, one panel for each operation."""

from __future__ import annotations

import math
from typing import Final

import altair as alt
import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.charts.style import REFERENCE, captions, check_size, joined, nothing, panels
from fsbench_kit.model.errors import RequestError
from fsbench_kit.tables import cell_text, metric_text, one_line, ordered, ratio_text

_TILE: Final = 62
_TILE_HEIGHT: Final = 20
_LEAST_WIDTH: Final = 200
_PAGE: Final = 900
_FURTHEST: Final = 3.0
"""The largest log2 ratio with a colour of its own: 8 times, either way round."""


def ratio_map(
    comparison: pl.DataFrame, *, metric: str = "bandwidth", title: str | None = None
) -> alt.Chart | alt.FacetChart:
    """Draw the ratios of a comparison over file size and record size.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare` returned, or some rows of it; those without both sizes are left out.
    metric
        Of the rows to draw.
    title
        What the chart shows; by default it counts the ratios on both sides of 1.

    Raises
    ------
    RequestError
        If there are too many tiles, or several figures for one.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/iozone-ssd-2015")
    >>> found = fsb.compare(data, baseline="ext4", metrics=["bandwidth"], where={"operation": ["write"]})
    >>> chart = fsb.charts.ratio_map(found.filter(level="btrfs"))
    >>> for line in chart.title.text:
    ...     print(line)
    Bandwidth of btrfs against ext4: above 1 in 6, below in 4 of 10 tiles
    """
    rows = ordered(comparison).filter(
        pl.col("block_size").is_not_null(), pl.col("file_size").is_not_null(), metric=metric, statistic="value"
    )
    if rows["ratio"].count() == 0:
        return nothing([f"No ratio of {metric_text(metric, 'value')} has both a record size and a file size."])
    data = _tiles(
        rows.with_columns(
            shade=pl.col("ratio").log(2).clip(-_FURTHEST, _FURTHEST),
            text=pl.Series([None if r is None else ratio_text(r) for r in rows["ratio"]], dtype=pl.String),
            dark=pl.col("ratio").log(2).abs() > 0.6 * _FURTHEST,
        )
    )
    ratios = rows["ratio"].drop_nulls()
    levels, against = joined(rows["level"]), joined(rows["baseline"])
    name = metric_text(metric, "value")
    above = f"above 1 in {(ratios > 1).sum()}, below in {(ratios < 1).sum()}"
    heading = title or f"{name} of {levels} against {against}: {above} of {ratios.len()} tiles"
    colour = alt.Color(
        "shade:Q",
        title=f"ratio to {against}",
        scale=alt.Scale(scheme="blueorange", reverse=True, domain=[-_FURTHEST, _FURTHEST]),
        legend=alt.Legend(
            values=[-3, -2, -1, 0, 1, 2, 3],
            labelExpr="datum.value < 0 ? '1/' + pow(2, -datum.value) : pow(2, datum.value)",
            gradientLength=200,
        ),
    )
    single = "single runs" in set(rows["verdict"])
    explained = (
        "Ratios of single runs: how much runs vary is unknown." if single else "The table has their intervals."
    )
    return _drawn(data, colour, heading, explained)


def ratio_maps(comparison: pl.DataFrame) -> list[alt.Chart | alt.FacetChart]:
    """Draw a map for each part of a comparison that is a matrix: of several record sizes for a file size.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare` returned, or some rows of it.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/iozone-ssd-2015")
    >>> found = fsb.compare(data, baseline="ext4", metrics=["bandwidth"])
    >>> len(fsb.charts.ratio_maps(found))  # btrfs and ZFS, each against ext4
    2
    """
    in_matrix = [name for name in settings.CELL if name not in ("operation", "block_size", "file_size")]
    rows = comparison.drop_nulls(["block_size", "file_size", "ratio"]).filter(metric="bandwidth")
    matrices = rows.group_by(*in_matrix, "baseline", "level", maintain_order=True)
    return [ratio_map(matrix) for _, matrix in matrices if matrix["block_size"].n_unique() > 1]


def _tiles(rows: pl.DataFrame) -> pl.DataFrame:
    """Return every combination of the sizes for each panel; those that were not measured have no figure."""
    several = rows["level"].n_unique() > 1
    names = [
        cell_text("operation", row["operation"]) + (f", {one_line(row['level'])}" if several else "")
        for row in rows.rows(named=True)
    ]
    known = rows.select(pl.Series("panel", names, pl.String), "block_size", "file_size", "shade", "text", "dark")
    if known.select("panel", "block_size", "file_size").is_duplicated().any():
        raise RequestError(
            "several figures of one operation have the same record size and file size",
            hint="Draw those of one study, one number of threads and one level.",
        )
    grid = known.select(pl.col("panel").unique(maintain_order=True))
    for name in ("block_size", "file_size"):
        grid = grid.join(known.select(pl.col(name).unique().sort()), how="cross")
    tiles = grid.join(known, on=["panel", "block_size", "file_size"], how="left", maintain_order="left")
    check_size(tiles)
    return tiles.with_columns(
        *(
            pl.Series(name, [cell_text(size, value) for value in tiles[size]], pl.String)
            for name, size in (("record", "block_size"), ("file", "file_size"))
        ),
    ).with_columns(
        summary=pl.format(
            "{}, file {}, record {}: {}", "panel", "file", "record", pl.col("text").fill_null("not measured")
        )
    )


def _drawn(data: pl.DataFrame, colour: alt.Color, heading: str, explained: str) -> alt.FacetChart:
    sizes = {
        name: data.select(name, size).unique().sort(size)[name].to_list()
        for name, size in (("record", "block_size"), ("file", "file_size"))
    }
    width = max(_LEAST_WIDTH, _TILE * len(sizes["file"]))
    base = alt.Chart().encode(
        x=alt.X("file:N", title="file size", sort=sizes["file"], axis=alt.Axis(labelAngle=0, grid=False)),
        y=alt.Y("record:N", title="record size", sort=sizes["record"][::-1], axis=alt.Axis(grid=False)),
        tooltip="summary:N",
    )
    measured = base.transform_filter("isValid(datum.text)")
    layers = alt.layer(
        measured.mark_rect(stroke="white").encode(color=colour),
        measured.mark_text(fontSize=10.5).encode(
            text="text:N",
            color=alt.condition("datum.dark", alt.value("white"), alt.value("#1f2933")),
        ),
        base.transform_filter("!isValid(datum.text)").mark_text(color=REFERENCE).encode(text=alt.value("×")),
        data=data,
    )
    missing = data["text"].null_count()
    if missing:
        explained += f" × marks what was not measured ({missing} of {data.height})."
    return panels(
        layers,
        data["panel"].unique(maintain_order=True).to_list(),
        captions("Map of ratios.", [heading], explained, data["summary"] + "."),
        height=alt.Step(_TILE_HEIGHT),
        width=width,
        columns=max(1, math.floor(_PAGE / (width + 90))),
    )
