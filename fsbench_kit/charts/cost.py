"""What throughput costs: processor time against figures, each run a dot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.charts.style import (
    PANEL_WIDTH,
    PLOT_WIDTH,
    chart_title,
    check_size,
    colour_scale,
    description,
    panel_header,
    shape_scale,
)
from fsbench_kit.data.dataset import UNMEASURED
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.tables import cell_label, metric_text, one_line, ordered, percent, prefix, varying

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset

_HEIGHT: Final = 200
_DONE: Final = ("bandwidth", "iops", "file_rate")
_PER: Final = {"B/s": (2.0**30, "GiB"), "1/s": (1e3, "thousand requests")}


def cpu_cost(
    dataset: Dataset, *, factor: str = "filesystem", most: int = 6, title: str | None = None
) -> alt.Chart | alt.FacetChart:
    """Draw the share of a processor that runs took against what they achieved.

    Parameters
    ----------
    dataset
        The runs. Those that failed, and those before the first round, are left out.
    factor
        A column of the runs or the key of a setting; decides colours and shapes.
    most
        How many cells to draw.
    title
        What the chart shows; by default it names the processor time per GiB, or per thousand requests.

    Raises
    ------
    RequestError
        If no run has both figures, or there are too many.
    """
    runs = _figures(dataset, factor)
    check_size(runs)
    panels = runs["panel"].unique(maintain_order=True)
    data = runs.filter(pl.col("panel").is_in(panels.head(most).to_list()))
    unit = METRICS[data["metric"][0]].unit
    scale = prefix(data["done"], data["metric"][0])
    words = _words(runs, unit)
    heading = [title or words[0]]
    explained = " ".join(
        text
        for holds, text in (
            (
                True,
                "Dots are runs; lower and further right is cheaper. 100\N{NO-BREAK SPACE}% is one processor.",
            ),
            (panels.len() > most, f"Drawn: {most} of {panels.len()} cells."),
        )
        if holds
    )
    width = PLOT_WIDTH if panels.len() == 1 else PANEL_WIDTH
    dots = (
        alt.Chart(data.with_columns(place=pl.col("done") / scale.factor))
        .mark_point(filled=True, size=55, opacity=0.85)
        .encode(
            x=alt.X(
                "place:Q",
                title=f"{metric_text(data['metric'][0], 'value')}, in {scale.unit}",
                axis=alt.Axis(tickCount=5),
            ),
            y=alt.Y("cpu:Q", title="processor time", axis=alt.Axis(format="~%", tickCount=5)),
            color=alt.Color("level:N", title=None, scale=colour_scale(data["level"])),
            shape=alt.Shape("level:N", title=None, scale=shape_scale(data["level"])),
            tooltip=["level:N", "words:N", "source:N"],
        )
        .properties(width=width, height=_HEIGHT)
    )
    chart: alt.FacetChart = (
        dots.facet(alt.Facet("panel:N", sort=panels.to_list(), header=panel_header(width)), columns=2)
        .resolve_scale(x="independent", y="independent")
        .properties(
            title=chart_title(heading, explained),
            description=description("Processor time against throughput.", heading, explained, words),
        )
    )
    return chart


def _figures(dataset: Dataset, factor: str) -> pl.DataFrame:
    """Return for each run and cell what was achieved, and the share of a processor it took.

    A tool that measures processors over all operations of a run together (fio) is held against their sum.
    """
    figures = settings.cells(dataset, factor).filter(
        ~UNMEASURED, pl.col("value") > 0, statistic="value", status="ok"
    )
    key = ["run_id", "part", "operation"]
    parts = figures.filter(pl.col("metric").is_in(["cpu_user", "cpu_system"]))
    whole = figures.filter(metric="cpu").select(*key, cpu="value")
    both = parts.group_by(key).agg(cpu=pl.col("value").sum()).join(whole, on=key, how="anti", nulls_equal=True)
    cpu = pl.concat([whole, both]).unique(key, keep="first", maintain_order=True)
    place = pl.col("metric").replace_strict(_DONE, range(len(_DONE)), default=None, return_dtype=pl.Int64)
    done = figures.with_columns(place=place).drop_nulls("place")
    done = done.filter(pl.col("place") == pl.col("place").min())
    apart = done.join(cpu, on=key, nulls_equal=True)
    together = (
        done.filter(pl.col("operation") != "all")
        .join(apart.select(key), on=key, how="anti", nulls_equal=True)
        .group_by("run_id", "part", maintain_order=True)
        .agg(pl.exclude("value", "operation").first(), pl.col("value").sum(), pl.lit("all").alias("operation"))
        .join(cpu, on=key, nulls_equal=True)
    )
    known = pl.concat([apart, together.select(apart.columns)])
    if known.is_empty():
        raise RequestError(
            f"no run has both a throughput and its processor time, and a {factor}",
            hint="fio and bonnie++ print both, iozone with -+u.",
        )
    rows = ordered(known)
    names = varying(rows)
    unit = METRICS[rows["metric"][0]].unit
    name = metric_text(rows["metric"][0], "value")
    return rows.select(
        pl.Series("panel", [cell_label(row, names) or name for row in rows.rows(named=True)], pl.String),
        "metric",
        pl.Series("level", [one_line(level) for level in rows["level"]], pl.String),
        pl.Series("source", [one_line(source) for source in rows["source"]], pl.String),
        "cpu",
        done="value",
        words=pl.Series(
            [f"{humanise(value, unit)} for {percent(cpu)}" for value, cpu in rows.select("value", "cpu").rows()],
            dtype=pl.String,
        ),
    )


def _words(runs: pl.DataFrame, unit: str) -> pl.Series:
    """Say of each cell what a unit of work costs on each level, by the median over runs."""
    amount, name = _PER[unit]
    sentences = []
    for (panel,), cell in runs.group_by("panel", maintain_order=True):
        costs = cell.group_by("level", maintain_order=True).agg(
            cost=(pl.col("cpu") / pl.col("done") * amount).median(), runs=pl.len()
        )
        told = [
            f"{humanise(cost, 's')} on {level} ({count} run{'s' if count > 1 else ''})"
            for level, cost, count in costs.sort("level").rows()
        ]
        sentences.append(f"{panel}: one {name} takes {', '.join(told)} of processor time")
    return pl.Series("words", sentences, pl.String)
