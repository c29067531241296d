"""Runs in the order in which they were made: what drifts, and what has two modes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import altair as alt
import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.charts.style import (
    MOST_ROWS,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    captions,
    distinguished,
    explained_by,
    nothing,
    one_lines,
    panels,
)
from fsbench_kit.data.dataset import UNMEASURED, Dataset
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.suggestions import a
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.tables import CELL, cell_label, metric_text, ordered, percent, prefix, varying

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_order(
    dataset: Dataset,
    metric: str | None = None,
    *,
    factor: str = "filesystem",
    where: settings.Where | None = None,
    most: int = 12,
    title: str | None = None,
    columns: int = 2,
) -> alt.Chart | alt.FacetChart:
    """Draw every run as a dot, in the order in which the runs were made: what drifts, and what has two modes.

    Parameters
    ----------
    dataset
        The runs. Those that failed are left out.
    metric
        The figure that stands for a run; by default, for each tool, the first of the vocabulary that it gives.
    factor
        A column of the runs or the key of a setting; decides the colours.
    where
        Which cells to draw, as in `fsbench_kit.compare`.
    most
        How many cells to draw: those whose runs vary most.
    title
        What the chart shows; by default it names the cell whose runs vary most.
    columns
        How many panels stand side by side.

    Raises
    ------
    RequestError
        If no run has such a figure.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/recorded/latency-loop-2026")
    >>> chart = fsb.charts.run_order(data, "iops")
    >>> for line in chart.title.text:
    ...     print(line)
    Runs vary most for xfs: IOPS, mean (CV 21 %)
    """
    figures = _figures_of_runs(dataset, metric, factor, where)
    names = varying(figures)
    metrics = figures["metric"].n_unique()
    every = pl.concat(
        _panel(cell, names, named=metrics > 1)
        for _, cell in ordered(figures).group_by("metric", *CELL, maintain_order=True)
    )
    spread = _spread(every)
    kept = spread["panel"].unique(maintain_order=True).head(most)
    if spread["cv"].null_count() == spread.height and len(kept) < spread["panel"].n_unique():
        return nothing([f"{_ONE_OF_EACH}."])  # which cells to draw is decided by how much they vary
    data = every.filter(pl.col("panel").is_in(kept.to_list()))
    step = math.ceil(data.height / MOST_ROWS)
    in_turn = pl.int_range(pl.len()).over("panel", "level", order_by="place")
    data = data.filter(in_turn % step == 0)
    timed = bool(data["timed"].all())
    heading = [title or _spread_sentence(spread)]
    explained = explained_by(
        (timed, "Each dot is one run, from left to right in order of execution."),
        (not timed, "Each dot is one run, in the order of the files, as the times of the runs are unknown."),
        (True, "The vertical axes need not start at 0."),
        (len(kept) < every["panel"].n_unique(), f"Shown: {len(kept)} of {every['panel'].n_unique()} cells."),
        (step > 1, f"Shown: one in {step} runs of each cell and group."),
        (not dataset.runs.filter(_FAILED).is_empty(), "Left out: runs that failed or are partial."),
        (not dataset.runs.filter(UNMEASURED).is_empty(), "Left out: runs before the first round."),
    )
    encodings = distinguished(data["level"])
    dots = (
        alt.Chart(data)
        .mark_point(filled=True, size=55, opacity=1)
        .encode(
            x=alt.X(
                "place:Q",
                title=None,  # which would stand below each panel
                axis=alt.Axis(format="d", tickMinStep=1, grid=False),
                scale=alt.Scale(domain=[0.5, data.select(pl.col("place").max()).item() + 0.5], nice=False),
            ),
            y=alt.Y(
                "value:Q",
                title=None,
                scale=alt.Scale(zero=False, padding=8),
                axis=alt.Axis(tickCount=4, minExtent=44),
            ),
            color=encodings["color"],
            shape=encodings["shape"],
            tooltip=[
                alt.Tooltip(f"{name}:N")
                for name in ("level", "figure", "place", "round", "source")
                if data[name].null_count() == 0
            ],
        )
    )
    room = {"width": PANEL_WIDTH} if columns == 1 else {}
    caption = captions("Runs in order of execution.", heading, explained, spread["summary"], **room)
    names = data["panel"].unique(maintain_order=True).to_list()
    faceted = panels(dots, names, caption, height=PANEL_HEIGHT, width=PANEL_WIDTH, columns=columns)
    chart: alt.FacetChart = faceted.resolve_scale(y="independent")
    return chart


_FAILED: Final = pl.col("status") != "ok"


def _figures_of_runs(
    dataset: Dataset, metric: str | None, factor: str, where: settings.Where | None
) -> pl.DataFrame:
    """Return one row for each run and cell, with the run's place in the order of its study."""
    figures = settings.cells(dataset, factor, where).filter(
        ~_FAILED, ~UNMEASURED, pl.col("metric").is_in(METRICS), state="measured"
    )
    statistic = pl.col("statistic") == "value"
    if metric is None:
        rank = pl.col("metric").replace_strict(list(METRICS), range(len(METRICS)))
        figures = figures.filter(statistic).filter(rank == rank.min().over("tool"))
    else:
        figures = figures.filter(statistic | (pl.col("statistic") == "mean"), metric=metric)
    if figures.is_empty():
        known = ", ".join(dataset.measurements["metric"].unique().sort())
        raise RequestError(
            f"no run has both a {metric or 'measured metric'} and {a(factor)}", hint=f"These runs have: {known}."
        )
    runs = figures.unique("run_id").sort("study", "order", "started_at", "source", "start", nulls_last=True)
    places = runs.select(
        "run_id",
        place=pl.int_range(1, pl.len() + 1).over("study"),
        timed=pl.col("order").is_not_null() | pl.col("started_at").is_not_null(),
    )
    return figures.join(places, on="run_id")


def _panel(cell: pl.DataFrame, names: Sequence[str], *, named: bool) -> pl.DataFrame:
    """Give the figures of one cell in the unit that suits them, which the panel's head names."""
    first = cell.row(0, named=True)
    scale = prefix(cell["value"], first["metric"])
    metric = metric_text(first["metric"], first["statistic"])
    parts = [metric if named else "", cell_label(first, names)]
    name = ", ".join(part for part in parts if part) or metric
    return cell.select(
        pl.lit(name).alias("cell"),
        pl.lit(f"{name}, in {scale.unit}" if scale.unit else name).alias("panel"),
        one_lines(cell["level"]),
        "place",
        "timed",
        "round",
        one_lines(cell["source"]),
        pl.col("value") / scale.factor,
        pl.Series("figure", [f"{value / scale.factor:.4g} {scale.unit}" for value in cell["value"]], pl.String),
    )


def _spread(data: pl.DataFrame) -> pl.DataFrame:
    """Return the coefficient of variation of the runs of each panel and level, the largest first."""
    spread = (
        data.group_by("panel", "cell", "level", maintain_order=True)
        .agg(
            runs=pl.len(),
            # of lognormal figures; a zero has no logarithm and says nothing of a spread
            cv=(pl.col("value").filter(pl.col("value") > 0).log().var().exp() - 1).sqrt(),
        )
        .sort("cv", descending=True, nulls_last=True, maintain_order=True)
    )
    summaries = [
        f"{level}, {cell}: {f'CV {percent(cv)} over {runs} runs' if cv is not None else 'one run'}."
        for _, cell, level, runs, cv in spread.rows()
    ]
    return spread.with_columns(pl.Series("summary", summaries, pl.String))


_ONE_OF_EACH: Final = "There is one run of each kind: how runs vary is unknown"


def _spread_sentence(spread: pl.DataFrame) -> str:
    widest = spread.row(0, named=True)
    if widest["cv"] is None:
        return _ONE_OF_EACH
    return f"Runs vary most for {widest['level']}: {widest['cell']} (CV {percent(widest['cv'])})"
