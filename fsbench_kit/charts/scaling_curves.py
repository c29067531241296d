"""How throughput, and its cost in processor time, change with threads, queue depth or record size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import altair as alt
import numpy as np
import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.metrics import PRIMARY
from fsbench_kit.charts.style import (
    captions,
    check_size,
    distinguished,
    explained_by,
    log_scale,
    nothing,
    one_lines,
    one_word,
    panels,
    prefixed,
    unit_axis,
)
from fsbench_kit.data.dataset import UNMEASURED, Dataset
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.order import level_name
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.stats import variance_components
from fsbench_kit.tables import CELL, cell_names, cell_text, metric_text, ordered, ratio_text

if TYPE_CHECKING:
    from collections.abc import Iterable


_HEIGHT: Final = 220
_SIZES: Final = ("block_size", "file_size", "total_size")
SCALES: Final = ("threads", "iodepth", "block_size")
"""The settings that people vary to see how a system scales."""

_WORK: Final = {
    "bandwidth": (2.0**30, "GiB"),
    "iops": (1e3, "thousand requests"),
    "file_rate": (1e3, "thousand files"),
}
"""What is achieved -> the amount for which processor time is counted, and its name."""


class _Curves(NamedTuple):
    """Figures of one kind, by cell, level and run."""

    name: str
    unit: str
    factor: str
    runs: pl.DataFrame


def scaling(
    dataset: Dataset,
    setting: str = "threads",
    metric: str | None = None,
    *,
    factor: str = "filesystem",
    most: int = 16,
    title: str | None = None,
) -> alt.Chart | alt.FacetChart:
    """Draw how a metric changes with a numeric setting: runs as dots, their geometric means as lines.

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
        What the chart shows; by default it names the largest change.

    Raises
    ------
    RequestError
        If no run has the metric at two values of the setting, or there are too many figures.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/raid1-hdd-2020")
    >>> chart = fsb.charts.scaling(data, "block_size")
    >>> for line in chart.title.text:
    ...     print(line)
    File rate changes most with block size for zfs, read: from 29.8 k/s at 4 KiB to 182/s at
    128 KiB, 164 times less
    """
    return _drawn(_throughput(dataset, setting, metric, factor), setting, most, title)


def cpu_cost(
    dataset: Dataset,
    setting: str = "threads",
    *,
    factor: str = "filesystem",
    most: int = 16,
    title: str | None = None,
) -> alt.Chart | alt.FacetChart:
    """Draw how much processor time a unit of work takes, over a numeric setting.

    Where a tool measures the processor over all operations of a run together, as fio does, their sum is the work.

    Parameters
    ----------
    dataset, setting, factor, most, title
        As in `scaling`.

    Raises
    ------
    RequestError
        If there are too many figures.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")  # sysbench prints no processor time
    >>> chart = cpu_cost(data)
    >>> chart.description.split(" at two")[0]
    'No cell has a throughput and its processor time'
    """
    figures = _measured(dataset, factor).filter(statistic="value")
    costs = _costs(figures)
    varied = _varied(costs, dataset, setting)
    if varied.is_empty():
        return nothing(
            [
                f"No cell has a throughput and its processor time at two values of {setting.replace('_', ' ')}. "
                "fio and bonnie++ print processor time, and iozone does with -+u."
            ]
        )
    amount, name = _WORK[varied["metric"][0]]
    varied = varied.with_columns(value=pl.col("cpu") / pl.col("value") * amount)
    return _drawn(
        _Curves(f"Processor time per {name}", "s", factor, _named(varied, setting)), setting, most, title
    )


def varied_settings(dataset: Dataset, factor: str = "filesystem") -> list[str]:
    """Name those of `SCALES` of which some cell has two values.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> fsb.charts.varied_settings(fsb.read("raw_results/published/raid1-hdd-2020"))
    ['block_size']
    """
    figures = _measured(dataset, factor).filter(pl.col("metric").is_in(PRIMARY))
    return [setting for setting in SCALES if not _varied(figures, dataset, setting).is_empty()]


def scaling_finding(dataset: Dataset, settings: Iterable[str], *, factor: str = "filesystem") -> str:
    """Say what changes most with each of some settings.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")  # four threads in each run
    >>> scaling_finding(data, varied_settings(data))
    'These runs do not vary the number of threads, the queue depth or the record size.'
    """
    drawn = [(_throughput(dataset, setting, None, factor), setting) for setting in settings]
    headings = [_heading(curves, setting, _changes(curves, setting)) for curves, setting in drawn]
    return " ".join(f"{text}." for text in headings) or (
        "These runs do not vary the number of threads, the queue depth or the record size."
    )


# ---- figures


def _throughput(dataset: Dataset, setting: str, metric: str | None, factor: str) -> _Curves:
    wanted = list(PRIMARY) if metric is None else [metric]
    figures = _measured(dataset, factor)
    place = pl.col("metric").replace_strict(wanted, range(len(wanted)), default=None, return_dtype=pl.Int64)
    # one metric, the first that is there; its mean over samples only where it has no value
    figures = figures.with_columns(place=2 * place + (pl.col("statistic") != "value").cast(pl.Int64))
    varied = _varied(figures.drop_nulls("place"), dataset, setting).filter(
        pl.col("place") == pl.col("place").min()
    )
    if varied.is_empty():
        raise RequestError(
            f"no cell has {metric or 'a throughput'} at two values of {setting}",
            hint="Read runs of one workload that differ in that setting.",
        )
    first = varied.row(0, named=True)
    name = metric_text(first["metric"], first["statistic"])
    return _Curves(name, METRICS[first["metric"]].unit, factor, _named(varied, setting))


def _measured(dataset: Dataset, factor: str) -> pl.DataFrame:
    return settings.cells(dataset, factor).filter(
        ~UNMEASURED, pl.col("value") > 0, pl.col("statistic").is_in(["value", "mean"]), status="ok"
    )


def _costs(figures: pl.DataFrame) -> pl.DataFrame:
    """Return throughputs, each with the share of a processor that was used meanwhile."""
    key = ["run_id", "part", "operation", "block_size", "file_size", "threads"]
    parts = figures.filter(pl.col("metric").is_in(["cpu_user", "cpu_system"]))
    whole = figures.filter(metric="cpu").select(*key, cpu="value")
    both = parts.group_by(key).agg(cpu=pl.col("value").sum()).join(whole, on=key, how="anti", nulls_equal=True)
    cpu = pl.concat([whole, both]).unique(key, keep="first", maintain_order=True)
    place = pl.col("metric").replace_strict(list(_WORK), range(len(_WORK)), default=None, return_dtype=pl.Int64)
    done = figures.with_columns(place=place).drop_nulls("place")
    done = done.filter(pl.col("place") == pl.col("place").min())
    apart = done.join(cpu, on=key, nulls_equal=True)
    together = (
        done.filter(pl.col("operation") != "all")
        .join(apart.select("run_id", "part"), on=["run_id", "part"], how="anti", nulls_equal=True)
        .group_by("run_id", "part", maintain_order=True)
        .agg(pl.exclude("value", "operation").first(), pl.col("value").sum(), pl.lit("all").alias("operation"))
        .join(cpu.filter(operation="all").select("run_id", "part", "cpu"), on=["run_id", "part"], nulls_equal=True)
    )
    return pl.concat([apart, together.select(apart.columns)])


def _varied(figures: pl.DataFrame, dataset: Dataset, setting: str) -> pl.DataFrame:
    """Keep the cells that have several values of a setting, and place their figures along it as ``x``."""
    if setting not in figures.columns:
        figures = figures.join(settings.wide(dataset.settings, [setting]), on="run_id", how="left")
    cell = [*(name for name in CELL if name != setting), "metric", "statistic"]
    return figures.with_columns(x=pl.col(setting).cast(pl.Float64, strict=False)).filter(
        pl.col("x") > 0, pl.col("x").n_unique().over(*cell) > 1
    )


def _named(figures: pl.DataFrame, setting: str) -> pl.DataFrame:
    """Give each figure the name of its panel."""
    rows = ordered(figures.with_columns(pl.lit(None, figures.schema[setting]).alias(setting)))
    names = pl.Series("panel", cell_names(rows), pl.String)
    return rows.select(names, one_lines(rows["level"]), "x", "value", one_lines(rows["source"]))


def _means(runs: pl.DataFrame) -> pl.DataFrame:
    """Return geometric means, with Student's interval on logs where there is more than one run."""
    points = runs.group_by("panel", "level", "x", maintain_order=True).agg(logs=pl.col("value").log())
    n = points["logs"].list.len().to_numpy()
    low, high = np.full((2, n.size), np.nan)
    for size in np.unique(n[n > 1]):
        of_size = np.flatnonzero(n == size)
        mean = variance_components(points["logs"].gather(of_size).list.to_array(size).to_numpy(), levels=1).mean
        low[of_size], high[of_size] = np.exp(mean.low), np.exp(mean.high)
    return points.select(
        *("panel", "level", "x"),
        mean=pl.col("logs").list.mean().exp(),
        low=pl.Series(low, nan_to_null=True),
        high=pl.Series(high, nan_to_null=True),
    ).sort("x", maintain_order=True)


# ---- the chart


def _drawn(curves: _Curves, setting: str, most: int, title: str | None) -> alt.FacetChart:
    unit = curves.unit
    check_size(curves.runs)
    names = curves.runs["panel"].unique(maintain_order=True).to_list()
    kept = pl.col("panel").is_in(names[:most])
    data = curves.runs.filter(kept).with_columns(
        summary=pl.col("value").map_elements(lambda value: humanise(value, unit), return_dtype=pl.String)
    )
    means = _means(data)
    low, high = data.select(pl.col("value").min(), pl.col("value").max().alias("highest")).row(0)
    x = alt.X(
        "x:Q",
        title=setting.replace("_", " ") + " (log scale)",
        scale=log_scale(data["x"].min(), data["x"].max()),  # type: ignore[arg-type]
        axis=alt.Axis(
            values=data["x"].unique().sort().to_list(),
            labelExpr=prefixed("B" if setting in _SIZES else "1"),
            labelOverlap="greedy",
            labelSeparation=6,
        ),
    )
    encodings = distinguished(data["level"])
    base = alt.Chart()
    layers = alt.layer(
        base.mark_point(filled=True, size=36, opacity=0.6).encode(
            x=x,
            y=alt.Y("value:Q", title=None, scale=log_scale(low, high), axis=unit_axis(low, high, unit)),
            color=encodings["color"],
            shape=encodings["shape"],
            tooltip=["level:N", "summary:N", "source:N"],
        ),
        # a figure that is absent would break the line
        base.transform_filter("isValid(datum.mean)")
        .mark_line()
        .encode(x=x, y="mean:Q", color=encodings["color"]),  # a legend's symbol has either a shape or a dash
        base.mark_rule(strokeWidth=1.5, clip=True).encode(x=x, y="low:Q", y2="high:Q", color=encodings["color"]),
        data=pl.concat([data, means], how="diagonal"),
    )
    changes = _changes(curves, setting)
    heading = [title or _heading(curves, setting, changes)]
    details = [f"{text}." for text in changes]
    caption = captions("Scaling curves.", heading, _explain(means, len(names), most), details)
    return panels(layers, names, caption, height=_HEIGHT)


def _heading(curves: _Curves, setting: str, changes: list[str]) -> str:
    return f"{curves.name} changes most with {setting.replace('_', ' ')} for {changes[0]}"


def _changes(curves: _Curves, setting: str) -> list[str]:
    """Say for each cell and level what it gives at the ends of the axis, the largest change first."""
    found = []
    for (panel, level), rows in _means(curves.runs).group_by("panel", "level", maintain_order=True):
        first, last = rows.row(0, named=True), rows.row(-1, named=True)
        ends = " to ".join(
            f"{one_word(humanise(row['mean'], curves.unit))} at {one_word(cell_text(setting, int(row['x'])))}"
            for row in (first, last)
        )
        growth = math.log(last["mean"] / first["mean"])
        times = f"{ratio_text(math.exp(abs(growth)))} times {'as much' if growth >= 0 else 'less'}"
        name = level_name(str(level), curves.factor)
        cell = name if panel == curves.name else f"{name}, {panel}"  # an only cell is named after the metric
        found.append((abs(growth), f"{cell}: from {ends}, {times}"))
    return [text for _, text in sorted(found, key=lambda change: -change[0])]


def _explain(means: pl.DataFrame, panels: int, most: int) -> str:
    repeated = means["low"].count() > 0
    return explained_by(
        (True, "Dots are runs; lines join their geometric means."),
        (repeated, "Bars are 95\N{NO-BREAK SPACE}% confidence intervals of the mean."),
        (not repeated, "Each dot is a single run: how much runs vary is unknown."),
        (repeated and means["low"].null_count() > 0, "A mean without a bar is of one run."),
        (panels > most, f"Shown: {most} of {panels} cells."),
    )
