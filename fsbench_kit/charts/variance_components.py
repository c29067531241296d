"""Variance components: how much of the variation lies within a run, between runs, between filesystems."""

from __future__ import annotations

import math
from typing import Final

import altair as alt
import polars as pl

from fsbench_kit.analysis.variance_components import BETWEEN, LEVELS, WITHIN
from fsbench_kit.charts.style import PLOT_WIDTH, by_rows, captions, explained_by, nothing, rows_axis
from fsbench_kit.model.errors import check_given
from fsbench_kit.tables import cell_names, counted, ordered, percent

_ROW_HEIGHT, _BAR = 26, 22
_LABEL_WIDTH: Final = 400
# Different in lightness, so that they stay apart on grey paper, and none is the colour of a filesystem.
_GREYS: Final = {WITHIN: "#d9d9d9", BETWEEN: "#969696", LEVELS: "#252525"}
_INK: Final = {WITHIN: "#1f2933", BETWEEN: "#1f2933", LEVELS: "white"}
_SHORTEST: Final = 0.12
"""Of the whole, the part from which on a bar has room for its text."""


def variance_shares(
    noise: pl.DataFrame, *, factor: str = "filesystem", most: int = 40, title: str | None = None
) -> alt.Chart | alt.LayerChart:
    """Draw the shares of the sources of variation of each cell.

    Parameters
    ----------
    noise
        What `fsbench_kit.analysis.variance_components.variance_components` returned.
    factor
        What its levels are.
    most
        How many cells to draw.
    title
        What the chart shows; by default it says where most of the variation lies.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.variance_components import variance_components
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> chart = fsb.charts.variance_shares(variance_components(data))
    >>> for line in chart.title.text:
    ...     print(line)
    Most of the variation lies between runs in 5, between groups in 4 of 9 cells
    """
    check_given(
        noise,
        pl.DataFrame,
        "fsbench_kit.analysis.variance_components.variance_components(dataset)",
        "source",
        "variance",
    )
    if noise.is_empty():
        return nothing(["No cell has two runs in each group, so the sources of variation are unknown."])
    every = _data(noise)
    kept = every["cell"].unique(maintain_order=True).head(most).to_list()
    data = every.filter(pl.col("cell").is_in(kept))
    sources = list(_GREYS)
    below = alt.ExprRef("narrow ? 8 : 0")
    base = alt.Chart().encode(
        y=rows_axis("cell:N", _LABEL_WIDTH, kept),
        tooltip=["cell:N", "summary:N"],
    )
    bars = base.mark_bar(stroke="white", height=_BAR, yOffset=below).encode(
        x=alt.X(
            "start:Q",
            title="share of the variance of logarithms",
            axis=alt.Axis(format="~%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        x2="end:Q",
        color=alt.Color(
            "source:N",
            title=None,
            sort=sources,
            scale=alt.Scale(domain=sources, range=list(_GREYS.values())),
            legend=alt.Legend(labelExpr=f"datum.label === '{LEVELS}' ? 'between groups' : datum.label"),
        ),
    )
    texts = base.mark_text(fontSize=11, yOffset=below).encode(
        x="middle:Q",
        text="text:N",
        color=alt.Color("source:N", scale=alt.Scale(domain=sources, range=list(_INK.values())), legend=None),
    )
    heading = [title or _finding(every)]
    explained = explained_by(
        (True, "In the bars: the CV that each source adds."),
        (LEVELS in set(data["source"]), f"Groups are levels of {factor.replace('_', ' ')}."),
        (
            WITHIN not in set(data["source"]),
            "Without figures over time, variation within runs is unknown.",
        ),
        (len(kept) < every["cell"].n_unique(), f"Shown: {len(kept)} of {every['cell'].n_unique()} cells."),
    )
    summaries = every.group_by("cell", maintain_order=True).agg(pl.col("summary").str.join(", "))
    chart: alt.LayerChart = (
        alt.layer(bars, texts, data=data)
        .resolve_scale(color="independent")
        .properties(
            width=PLOT_WIDTH,
            height=alt.Step(_ROW_HEIGHT),
            **by_rows(_LABEL_WIDTH),
            **captions(
                "Stacked bars.", heading, explained, [f"{cell}: {text}." for cell, text in summaries.rows()]
            ),
        )
    )
    return chart


def _data(noise: pl.DataFrame) -> pl.DataFrame:
    """Lay the shares of a cell end to end; a cell without any variation has none."""
    rows = ordered(noise.with_columns(level=pl.lit("")))
    cells = cell_names(rows)
    cv = [math.sqrt(math.exp(variance) - 1) for variance in rows["variance"]]
    place = pl.col("source").replace_strict(list(_GREYS), range(len(_GREYS)), return_dtype=pl.Int64)
    data = (
        rows.with_columns(
            pl.Series("cell", cells, pl.String),
            pl.Series("cv", [percent(value) for value in cv], pl.String),
        )
        .sort(place, maintain_order=True)
        .with_columns(end=pl.col("share").cum_sum().over("cell"))
        .with_columns(start=pl.col("end") - pl.col("share"))
    )
    order = pl.Series(cells).unique(maintain_order=True)
    return data.select(
        "cell",
        "source",
        "share",
        "start",
        "end",
        middle=(pl.col("start") + pl.col("end")) / 2,
        text=pl.when(pl.col("share") >= _SHORTEST).then("cv").otherwise(pl.lit("")),
        summary=pl.format("{} {}", "source", "cv"),
    ).sort(pl.col("cell").replace_strict(order, range(order.len()), return_dtype=pl.Int64), maintain_order=True)


def _finding(data: pl.DataFrame) -> str:
    widest = data.drop_nulls("share").sort("share", descending=True).group_by("cell", maintain_order=True).first()
    cells = data["cell"].n_unique()
    if widest.is_empty():
        return "Runs do not vary at all"
    counts = dict(widest.group_by("source").len().rows())
    shares = [f"{name.replace('levels', 'groups')} in {counts[name]}" for name in _GREYS if name in counts]
    return f"Most of the variation lies {', '.join(shares)} of {counted(cells, 'cell')}"
