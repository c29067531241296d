"""Figures over time: one panel for each run, with its levels, its stalls, and the time until it was steady."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from fsbench_kit.analysis.time_series import OF_SERIES, STALL, TimeSeries
from fsbench_kit.charts.style import (
    BAND,
    PANEL_HEIGHT,
    REFERENCE,
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
from fsbench_kit.model.errors import RequestError, check_given
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.tables import cell_label, metric_text, one_line, run_numbers, varying_series

_LOG_FROM: Final = 20.0
"""How many times the lowest figure the highest is, from which on the axis is logarithmic."""

_HOW: Final = "A plan's fio workload gives them with log_interval = 0.1, sysbench with --report-interval."


def over_time(found: TimeSeries, *, most: int = 10, title: str | None = None) -> alt.Chart | alt.FacetChart:
    """Draw the figures of each run over time.

    Parameters
    ----------
    found
        What `fsbench_kit.analysis.time_series.time_series` returned.
    most
        How many series to draw: as many of each group and cell, the first ones.
    title
        What the chart shows; by default it counts stalls, changes of level, and runs that are steady.

    Raises
    ------
    RequestError
        If there are too many figures, or no series is to be drawn.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.time_series import time_series
    >>> data = fsb.read("raw_results/recorded/latency-loop-2026")
    >>> chart = fsb.charts.over_time(time_series(data), most=2)
    >>> for line in chart.title.text:
    ...     print(line)
    Completion latency over time: the level changes in 5 of 10 runs; 2 of 10 are steady at their
    end; none stalls
    """
    check_given(found, TimeSeries, "fsbench_kit.analysis.time_series.time_series(dataset)")
    if most < 1:
        raise RequestError(f"at least 1 run has to be drawn over time, not {most}")
    if found.runs.is_empty():
        return nothing([over_time_finding(found), _HOW])
    runs = _named(found.runs)
    of_its_kind = pl.int_range(pl.len()).over("level", *OF_SERIES)
    kept = runs.filter(of_its_kind.rank("ordinal") <= most)
    names = kept.select("series", "panel", "level")
    metric = runs["metric"][0]
    unit = METRICS[metric].unit
    points, batches, stretches, stalls = (
        frame.join(names, on="series", maintain_order="left")
        for frame in (found.points, found.batches, found.stretches, found.stalls)
    )
    low, high = points.select(pl.col("lowest").filter(pl.col("lowest") > 0).min(), pl.col("highest").max()).row(0)
    logarithmic = low is not None and high / low >= _LOG_FROM and (points["lowest"] > 0).all()
    data = pl.concat(
        [
            points.select("panel", "level", "end", "value", "lowest", "highest", summary=_summaries(points, unit)),
            batches.select("panel", "level", batch_start="start", batch_end="end", batch="value"),
            # the first stretch begins with the run, which is no change
            stretches.filter(pl.col("start") > pl.col("start").min().over("series")).select(
                "panel", "level", change="start"
            ),
            stalls.select(
                "panel", "level", stall=(pl.col("start") + pl.col("end")) / 2, summary=_stall_summaries(stalls)
            ),
            kept.select(
                "panel",
                "level",
                start=pl.lit(0.0),
                restless=pl.when("steady").then("steady_since").otherwise(_ends(kept, points)),
            ).filter(kept["steady"].is_not_null()),
        ],
        how="diagonal",
    )
    check_size(data)
    scale = log_scale(low, high) if logarithmic else alt.Scale(domainMin=0)
    axis = unit_axis(low, high, unit) if logarithmic else alt.Axis(labelExpr=prefixed(unit), tickCount=4)
    times = alt.X("end:Q", title="time since the run's start, in s", scale=alt.Scale(nice=False, zero=True))
    values = alt.Y("value:Q", title=None, scale=scale, axis=axis)
    colour = distinguished(data["level"], symbolType="stroke", symbolStrokeWidth=3)["color"]
    chart = alt.Chart()
    layers = alt.layer(
        chart.mark_rect(color=BAND, opacity=0.7).encode(x="start:Q", x2="restless:Q"),
        chart.mark_rule(color=REFERENCE, strokeDash=[4, 3]).encode(x="change:Q"),
        chart.mark_area(opacity=0.25).encode(x=times, y=alt.Y("lowest:Q"), y2="highest:Q", color=colour),
        chart.mark_line(strokeWidth=1, opacity=0.75).encode(x=times, y=values, color=colour, tooltip="summary:N"),
        chart.mark_rule(strokeWidth=3).encode(
            x="batch_start:Q", x2="batch_end:Q", y=alt.Y("batch:Q"), color=colour
        ),
        chart.mark_point(shape="triangle-down", size=60, filled=True, color="#1f2933", yOffset=-5).encode(
            x="stall:Q", y=alt.value(4), tooltip="summary:N"
        ),
        data=data,
    )
    heading = [title or over_time_finding(found)]
    caption = captions("Time series.", heading, _explain(kept, runs, data), runs["summary"])
    return panels(layers, kept["panel"].to_list(), caption, height=PANEL_HEIGHT)


def _named(runs: pl.DataFrame) -> pl.DataFrame:
    """Give each series the head of its panel, and a sentence."""
    cells = runs.with_columns(scope=pl.lit("all"))
    names = varying_series(runs)
    metrics = cells.select(pl.struct("metric", "statistic").n_unique()).item()
    heads, sentences = [], []
    for number, row in zip(run_numbers(runs), cells.iter_rows(named=True), strict=True):
        metric = metric_text(row["metric"], row["statistic"]) if metrics > 1 or cells.height == 1 else ""
        parts = (one_line(row["level"]), f"run {number}", cell_label(row, names), metric)
        head = ", ".join(filter(None, parts))
        heads.append(head)
        sentences.append(_sentence(head, row))
    place = pl.int_range(1, pl.len() + 1).over("panel").cast(pl.String)
    return runs.with_columns(
        one_lines(runs["level"]),
        pl.Series("panel", heads, pl.String),
        pl.Series("summary", sentences, pl.String),
    ).with_columns(
        # panels of one name would be one
        panel=pl.when(pl.len().over("panel") > 1).then(pl.col("panel") + " (" + place + ")").otherwise("panel")
    )


def _sentence(head: str, row: dict[str, object]) -> str:
    unit = METRICS[str(row["metric"])].unit
    parts = [f"median {_text(row['median'], unit)}"]
    if row["changes"] is not None:
        parts.append(f"changes of level {row['changes']}")
    if row["steady"] is not None:
        parts.append("steady at its end" if row["steady"] else "not steady at its end")
    parts.append(f"stalls {row['stalls']}")
    return f"{head}: {', '.join(parts)}."


def _text(value: object, unit: str) -> str:
    return "" if value is None else one_word(humanise(float(str(value)), unit))


def _summaries(points: pl.DataFrame, unit: str) -> pl.Series:
    texts = [f"{_text(value, unit)} until {end:.4g} s" for value, end in points.select("value", "end").rows()]
    return pl.Series("summary", texts, pl.String)


def _stall_summaries(stalls: pl.DataFrame) -> pl.Series:
    texts = [
        f"{'no figure' if value is None else 'far from the median'} from {start:.4g} to {end:.4g} s"
        for start, end, value in stalls.select("start", "end", "value").rows()
    ]
    return pl.Series("summary", texts, pl.String)


def _ends(kept: pl.DataFrame, points: pl.DataFrame) -> pl.Series:
    return kept.join(points.group_by("series").agg(pl.col("end").max()), on="series", maintain_order="left")["end"]


def over_time_finding(found: TimeSeries) -> str:
    """Say in how many runs the level changes, how many are steady at their end, and how many stall.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.time_series import time_series
    >>> fsb.charts.over_time_finding(time_series(fsb.read("raw_results/published/fio-nvme-2021")))
    'No run that succeeded has figures over time'
    """
    runs = found.runs
    if runs.is_empty():
        return "No run that succeeded has figures over time"
    what = _counted_as(runs)
    judged, cut = runs.drop_nulls("steady"), runs.drop_nulls("changes")
    stalled = runs.filter(pl.col("stalls") > 0)
    parts = []
    if cut.height:
        parts.append(f"the level changes in {cut.filter(pl.col('changes') > 0).height} of {cut.height} {what}")
    if judged.height:
        parts.append(f"{judged['steady'].sum()} of {judged.height} are steady at their end")
    if stalled.is_empty():
        parts.append("none stalls")
    else:
        longest = _text(stalled["longest"].max(), "s")
        parts.append(f"{stalled.height} of {runs.height} stall, for up to {longest}")
    name = metric_text(runs["metric"][0], runs["statistic"][0])
    return f"{name} over time: {'; '.join(parts)}"


def _counted_as(runs: pl.DataFrame) -> str:
    """Name what is counted: a run can have several series, such as one for each device."""
    return "series" if runs["run_id"].is_duplicated().any() else "runs"


def _explain(kept: pl.DataFrame, runs: pl.DataFrame, data: pl.DataFrame) -> str:
    seen = {name for name in ("batch", "change", "stall", "restless") if name in data and data[name].count()}
    return explained_by(
        (True, "Thin: figures as logged."),
        ("batch" in seen, "Thick: the means of tenths of the run."),
        ("change" in seen, "Dashed: the level changes."),
        (
            "restless" in seen,
            "Grey: until the run was steady to its end (five tenths within 20 %, slope within 10 %).",
        ),
        (
            "stall" in seen,
            f"Triangle: a stall, {STALL:.0f} times worse than the run's median or without any figure.",
        ),
        (
            runs.height > kept.height,
            f"Shown: {kept.height} of {runs.height} {_counted_as(runs)}, the first of each kind.",
        ),
    )
