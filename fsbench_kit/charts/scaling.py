"""How figures grow with a setting: threads, depth, request size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.metrics import PRIMARY
from fsbench_kit.charts.style import (
    PANEL_WIDTH,
    PLOT_WIDTH,
    chart_title,
    check_size,
    colour_scale,
    dash_scale,
    description,
    log_scale,
    panel_header,
    prefixed,
    shape_scale,
    unit_axis,
)
from fsbench_kit.data.dataset import UNMEASURED
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.stats import variance_components
from fsbench_kit.tables import CELL, cell_label, cell_text, metric_text, one_line, ordered, varying

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset

_HEIGHT: Final = 220
_SIZES: Final = ("block_size", "file_size", "total_size")


def scaling(
    dataset: Dataset,
    setting: str = "threads",
    metric: str | None = None,
    *,
    factor: str = "filesystem",
    most: int = 6,
    title: str | None = None,
) -> alt.Chart | alt.FacetChart:
    """Draw how a figure changes with a numeric setting: runs as dots, their geometric means as lines.

    Parameters
    ----------
    dataset
        The runs. Those that failed, and those before the first round, are left out.
    setting
        A numeric setting: ``threads``, ``iodepth``, ``block_size``, ...
    metric
        By default, the first of `fsbench_kit.analysis.metrics.PRIMARY` that a run has.
    factor
        A column of the runs or the key of a setting; decides the colours.
    most
        How many cells to draw.
    title
        What the chart shows; by default it says by how much the figures of the first cell grow.

    Raises
    ------
    RequestError
        If no run has such figures at two values of the setting, or there are too many.
    """
    runs = _figures(dataset, setting, metric, factor)
    check_size(runs)
    panels = runs["panel"].unique(maintain_order=True)
    data = runs.filter(pl.col("panel").is_in(panels.head(most).to_list()))
    means = _means(data)
    unit = METRICS[data["metric"][0]].unit
    first, last = data.select(pl.col("x").min(), pl.col("x").max().alias("last")).row(0)
    low, high = data.select(pl.col("value").min(), pl.col("value").max().alias("highest")).row(0)
    x = alt.X(
        "x:Q",
        title=setting.replace("_", " ") + " (log scale)",
        scale=log_scale(first, last),
        axis=alt.Axis(
            values=data["x"].unique().sort().to_list(),
            labelExpr=prefixed("B" if setting in _SIZES else "1"),
            labelOverlap="greedy",
            labelSeparation=6,
        ),
    )
    levels = data["level"]
    legend = alt.Legend(title=None)
    colour = alt.Color("level:N", scale=colour_scale(levels), legend=legend)
    base = alt.Chart()
    layers = alt.layer(
        base.mark_point(filled=True, size=36, opacity=0.6).encode(
            x=x,
            y=alt.Y("value:Q", title=None, scale=log_scale(low, high), axis=unit_axis(low, high, unit)),
            color=colour,
            shape=alt.Shape("level:N", scale=shape_scale(levels), legend=legend),
            tooltip=["level:N", "words:N", "source:N"],
        ),
        # a figure that is absent would break the line
        base.transform_filter("isValid(datum.mean)")
        .mark_line()
        .encode(
            x=x,
            y="mean:Q",
            color=colour,
            strokeDash=alt.StrokeDash("level:N", scale=dash_scale(levels), legend=legend),
        ),
        base.mark_rule(strokeWidth=1.5, clip=True).encode(x=x, y="low:Q", y2="high:Q", color=colour),
        data=pl.concat([data, means], how="diagonal"),
    )
    width = PLOT_WIDTH if panels.len() == 1 else PANEL_WIDTH
    words = _words(means, setting, unit)
    heading = [title or words[0]]
    explained = _explain(means, panels.len(), most)
    chart: alt.FacetChart = (
        layers.properties(width=width, height=_HEIGHT)
        .facet(alt.Facet("panel:N", sort=panels.to_list(), header=panel_header(width)), columns=2)
        .resolve_axis(x="independent")
        .properties(
            title=chart_title(heading, explained),
            description=description("Scaling curves.", heading, explained, words),
        )
    )
    return chart


def _figures(dataset: Dataset, setting: str, metric: str | None, factor: str) -> pl.DataFrame:
    """Return one row for each figure of a run, with its place on the axis and its panel."""
    figures = settings.cells(dataset, factor).filter(
        ~UNMEASURED, pl.col("value") > 0, pl.col("statistic").is_in(["value", "mean"]), status="ok"
    )
    if setting not in figures.columns:
        figures = figures.join(settings.wide(dataset.settings, [setting]), on="run_id", how="left")
    figures = figures.with_columns(x=pl.col(setting).cast(pl.Float64, strict=False)).filter(pl.col("x") > 0)
    wanted = list(PRIMARY) if metric is None else [metric]
    place = pl.col("metric").replace_strict(wanted, range(len(wanted)), default=None, return_dtype=pl.Int64)
    # one axis of figures: that of the metric that comes first; its mean over samples only where it has no value
    figures = figures.with_columns(place=2 * place + (pl.col("statistic") != "value").cast(pl.Int64))
    figures = figures.filter(pl.col("place") == pl.col("place").min())
    cell = [name for name in CELL if name != setting]
    figures = figures.filter(pl.col("x").n_unique().over(*cell) > 1)
    if figures.is_empty():
        raise RequestError(
            f"no run has a figure of {metric or 'its throughput'} at two values of {setting}",
            hint="Read runs of one workload that differ in that setting.",
        )
    blank = [pl.lit(None, figures.schema[name]).alias(name) for name in [setting] if name in CELL]
    rows = ordered(figures.with_columns(blank))
    names = varying(rows)
    metric_name = metric_text(rows["metric"][0], rows["statistic"][0])
    labels = [cell_label(row, names) or metric_name for row in rows.rows(named=True)]
    unit = METRICS[rows["metric"][0]].unit
    return rows.select(
        pl.Series("panel", labels, pl.String),
        "metric",
        pl.Series("level", [one_line(level) for level in rows["level"]], pl.String),
        "x",
        "value",
        pl.Series("source", [one_line(source) for source in rows["source"]], pl.String),
        words=pl.Series([humanise(value, unit) for value in rows["value"]], dtype=pl.String),
    )


def _means(runs: pl.DataFrame) -> pl.DataFrame:
    """Return geometric means, with Student's interval on logs where there is more than one run."""
    rows = []
    for (panel, level, x), figures in runs.group_by("panel", "level", "x", maintain_order=True):
        logs = figures["value"].log().to_numpy()
        row: dict[str, Any] = {"panel": panel, "level": level, "x": x, "mean": float(np.exp(logs.mean()))}
        if logs.size > 1:
            mean = variance_components(logs, levels=1).mean
            row |= {"low": float(np.exp(mean.low)), "high": float(np.exp(mean.high))}
        rows.append(row)
    known = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    schema = {"panel": pl.String, "level": pl.String, "x": pl.Float64, **known}
    return pl.DataFrame(rows, schema=schema).sort("x", maintain_order=True)


def _words(means: pl.DataFrame, setting: str, unit: str) -> pl.Series:
    """Say of each level of each cell how much it gives at the ends of the axis."""
    sentences = []
    for (panel, level), rows in means.group_by("panel", "level", maintain_order=True):
        first, last = rows.row(0, named=True), rows.row(-1, named=True)
        ends = [f"{humanise(row['mean'], unit)} at {cell_text(setting, int(row['x']))}" for row in (first, last)]
        grown = f"{last['mean'] / first['mean']:.3g} times as much"
        sentences.append(f"{panel}: {level} goes from {ends[0]} to {ends[1]} {setting.replace('_', ' ')}, {grown}")
    return pl.Series("words", sentences, pl.String)


def _explain(means: pl.DataFrame, panels: int, most: int) -> str:
    repeated = means["low"].count() > 0
    sentences = [
        (True, "Dots are runs, lines join their geometric means."),
        (repeated, "Bars are 95\N{NO-BREAK SPACE}% intervals of the mean, where there is more than one figure."),
        (not repeated, "One figure each: nothing is known of how runs vary."),
        (repeated and means["low"].null_count() > 0, "Without a bar: one figure."),
        (panels > most, f"Drawn: {most} of {panels} cells."),
    ]
    return " ".join(text for holds, text in sentences if holds)
