"""Ratios of a comparison over record size and operation, or over file size and record size of each operation."""

from __future__ import annotations

import math
from typing import Final

import altair as alt
import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.metrics import instead
from fsbench_kit.charts.style import REFERENCE, captions, check_size, joined, nothing, panels
from fsbench_kit.model.errors import RequestError, check_given
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.tables import cell_text, metric_text, one_line, ordered, percent, ratio_text

_TILE: Final = 62
_TILE_HEIGHT: Final = 22
_LEAST_WIDTH: Final = 200
_PAGE: Final = 900
_LABELS: Final = 120
_LEAST_END: Final = 1.0
"""The least end of the scale, as a `_shade`: twice, either way round."""
_DARK_FROM: Final = 0.6
"""Of the way to the end of the scale, from where on a tile is so dark that its text is white."""


def ratio_map(
    comparison: pl.DataFrame, *, metric: str = "bandwidth", title: str | None = None
) -> alt.Chart | alt.LayerChart | alt.FacetChart:
    r"""Draw the ratios of a comparison as a map, with the ratio in each tile.

    Files of one size make one map over record size and operation; files of several sizes make one over file size
    and record size for each operation.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare` returned, or some rows of it; those without both sizes are left out.
    metric
        Of the rows to draw.
    title
        What the chart shows; by default it counts the tiles on both sides of 1.

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
    >>> chart.title.text
    ['Bandwidth: btrfs within 5\xa0% of ext4 in 3 of 10 cells, ahead in 5, behind in 2']
    """
    check_given(comparison, pl.DataFrame, "fsb.compare(dataset)", "level", "metric", "ratio", "verdict")
    if metric not in METRICS:
        raise RequestError(f"{metric!r} is not a metric", hint=instead(str(metric), comparison["metric"].unique()))
    rows = ordered(comparison).filter(
        pl.col("block_size").is_not_null(), pl.col("file_size").is_not_null(), metric=metric, statistic="value"
    )
    if rows["ratio"].count() == 0:
        return nothing([f"No ratio of {metric_text(metric, 'value')} has both a record size and a file size."])
    end = max(_LEAST_END, float(rows.select(_shade(pl.col("ratio")).abs().max()).item()))
    one_file = rows["file_size"].n_unique() == 1
    over = ("block_size", "operation") if one_file else ("file_size", "block_size")
    data = _tiles(
        rows.with_columns(
            shade=_shade(pl.col("ratio")),
            text=pl.Series([None if r is None else ratio_text(r) for r in rows["ratio"]], dtype=pl.String),
            short=pl.Series([None if r is None else _short(r) for r in rows["ratio"]], dtype=pl.String),
            dark=_shade(pl.col("ratio")).abs() > _DARK_FROM * end,
        ),
        *over,
    )
    ratios = rows["ratio"].drop_nulls()
    levels, against = joined(rows["level"]), joined(rows["baseline"])
    name = metric_text(metric, "value")
    margin = float(rows.select(pl.max("margin")).item())
    ahead, behind = int((ratios > margin).sum()), int((ratios < 1 / margin).sum())
    if rows["better"][0] == "lower":
        ahead, behind = behind, ahead
    alike = f"within {percent(margin - 1)} of {against} in {ratios.len() - ahead - behind} of {ratios.len()} cells"
    heading = title or f"{name}: {levels} {alike}, ahead in {ahead}, behind in {behind}"
    steps = [step for step in (1, 2, 4, 16, 64, 256, 1024) if math.sqrt(math.log2(step)) <= end]
    marked = [sign * math.sqrt(math.log2(step)) for step in steps for sign in ((-1, 1) if step > 1 else (1,))]
    colour = alt.Color(
        "shade:Q",
        title=f"{levels} as a multiple of {against}",
        scale=alt.Scale(scheme="blueorange", reverse=True, domain=[-end, end]),
        legend=alt.Legend(
            values=sorted(marked),
            labelExpr="(datum.value < 0 ? '1/' : '') + round(pow(2, datum.value * datum.value))",
            gradientLength=200,
        ),
    )
    single = rows["ci_low"].is_null().all()
    explained = (
        "Ratios of single runs: how much runs vary is unknown." if single else "The table has their intervals."
    )
    return _drawn(data, colour, heading, explained, over)


def ratio_maps(comparison: pl.DataFrame) -> list[alt.Chart | alt.LayerChart | alt.FacetChart]:
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
    check_given(comparison, pl.DataFrame, "fsb.compare(dataset)", "level", "metric", "ratio", "verdict")
    in_matrix = [name for name in settings.CELL if name not in ("operation", "block_size", "file_size")]
    rows = comparison.drop_nulls(["block_size", "file_size", "ratio"]).filter(metric="bandwidth")
    matrices = rows.group_by(*in_matrix, "baseline", "level", maintain_order=True)
    return [ratio_map(matrix) for _, matrix in matrices if matrix["block_size"].n_unique() > 1]


def _shade(ratio: pl.Expr) -> pl.Expr:
    """Return the place of a ratio on the scale: its size on a log scale, where small ones are spread out."""
    return ratio.log(2).sign() * ratio.log(2).abs().sqrt()


def _short(ratio: float) -> str:
    """Print a ratio with as many digits as four letters hold."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:.0f}"


def _tiles(rows: pl.DataFrame, across: str, down: str) -> pl.DataFrame:
    """Return every combination of what a map is over; those that were not measured have no figure."""
    operations = pl.Series("operation", [cell_text("operation", name) for name in rows["operation"]], pl.String)
    levels = pl.Series("level", [one_line(name) for name in rows["level"]], pl.String)
    rows = rows.with_columns(operations, levels)
    several = rows["level"].n_unique() > 1
    panel = pl.concat_str("operation", "level", separator=", ") if several else pl.col("operation")
    if down == "operation":
        panel = pl.col("level")
    known = rows.select("shade", "text", "short", "dark", panel=panel, across=across, down=down)
    if known.select("panel", "across", "down").is_duplicated().any():
        raise RequestError(
            "several figures of one operation have the same record size and file size",
            hint="Draw those of one study, one number of threads and one level.",
        )
    grid = known.select(pl.col("panel").unique(maintain_order=True))
    for name in ("across", "down"):
        values = known[name].unique(maintain_order=True)
        grid = grid.join(pl.DataFrame(values.sort() if values.dtype.is_numeric() else values), how="cross")
    tiles = grid.join(known, on=["panel", "across", "down"], how="left", maintain_order="left")
    check_size(tiles)
    shown = tiles.with_columns(
        _texts("across", tiles["across"], across),
        _texts("down", tiles["down"], down),
    )
    return shown.select(
        *("panel", "across", "down", "shade", "text", "short", "dark"),
        summary=pl.format(
            "{}, {} {}, {} {}: {}",
            "panel",
            pl.lit(_TITLES[across]),
            "across",
            pl.lit(_TITLES[down]),
            "down",
            pl.col("text").fill_null("not measured"),
        ),
    )


_TITLES: Final = {"block_size": "record size", "file_size": "file size", "operation": "operation"}


def _texts(name: str, values: pl.Series, of: str) -> pl.Series:
    return pl.Series(name, [cell_text(of, value) for value in values], pl.String)


def _drawn(
    data: pl.DataFrame, colour: alt.Color, heading: str, explained: str, over: tuple[str, str]
) -> alt.LayerChart | alt.FacetChart:
    names = {name: data[name].unique(maintain_order=True).to_list() for name in ("across", "down")}
    down = names["down"][::-1] if over[1] == "block_size" else names["down"]
    width = max(_LEAST_WIDTH, _TILE * len(names["across"]))
    base = alt.Chart().encode(
        x=alt.X(
            "across:N",
            title=_TITLES[over[0]],
            sort=names["across"],
            axis=alt.Axis(labelAngle=0, grid=False, labelOverlap="greedy"),
        ),
        y=alt.Y("down:N", title=_TITLES[over[1]], sort=down, axis=alt.Axis(grid=False)),
        tooltip="summary:N",
    )
    measured = base.transform_filter("isValid(datum.text)")
    layers = alt.layer(
        measured.mark_rect(stroke="white").encode(color=colour),
        measured.mark_text(fontSize=alt.ExprRef(_FITTING)).encode(
            text=alt.value(alt.ExprRef(f"bandwidth('x') < {_ROOMY} ? datum.short : datum.text")),
            color=alt.condition("datum.dark", alt.value(_ON_DARK_TILE), alt.value(_ON_TILE)),
        ),
        base.transform_filter("!isValid(datum.text)").mark_text(color=REFERENCE).encode(text=alt.value("×")),
        data=data,
    )
    missing = data["text"].null_count()
    if missing:
        explained += f" × marks what was not measured ({missing} of {data.height})."
    caption = captions("Map of ratios.", [heading], explained, data["summary"] + ".")
    panels_of = data["panel"].unique(maintain_order=True).to_list()
    step = alt.Step(_TILE_HEIGHT)
    if len(panels_of) == 1 and over[1] == "operation":
        return layers.properties(
            width=width, height=step, usermeta={"rows": {"labels": _LABELS, "right": 8}}, **caption
        )
    return panels(
        layers, panels_of, caption, height=step, width=width, columns=max(1, math.floor(_PAGE / (width + 90)))
    )


_FITTING: Final = "min(10.5, bandwidth('x') / 2.6)"
"""The size of letters with which four of them fit into a tile, however narrow a page is."""
_ROOMY: Final = 40
"""From this width on, a tile has room for a ratio with all its digits."""

_ON_TILE, _ON_DARK_TILE = "#1f2934", "#fefefe"
"""Ink that stays as it is on a dark page, as tiles do."""
