"""Percentile curves: how long requests take, and how long at worst; and the same as an empirical distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import altair as alt
import polars as pl

from fsbench_kit.charts.style import (
    MOST_ROWS,
    captions,
    check_size,
    distinguished,
    explained_by,
    log_scale,
    one_lines,
    one_word,
    panels,
    unit_axis,
)
from fsbench_kit.model.errors import check_given
from fsbench_kit.model.order import level_name
from fsbench_kit.model.units import humanise
from fsbench_kit.tables import cell_names, counted, ordered

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEIGHT: Final = 260
_RANKS: Final = {0.5: "50 %", 0.9: "90 %", 0.99: "99 %", 0.999: "99.9 %", 0.9999: "99.99 %", 0.99999: "99.999 %"}
_SAME: Final = 1e-9
_FEWEST: Final = 3
"""Curves of a group from which on it has a median and a band."""
_GRID: Final = 80
_ENOUGH: Final = 10
"""Requests that have to lie beyond a percentile before a title speaks of it."""


def percentiles(curves: pl.DataFrame, *, most: int = 6, title: str | None = None) -> alt.Chart | alt.FacetChart:
    """Draw which share of the requests took no longer than a time, with the slowest few spread out.

    Parameters
    ----------
    curves
        What `fsbench_kit.analysis.latency.curves` returned, or some rows of it.
    most
        How many cells to draw.
    title
        What the chart shows; by default it names a high percentile of each level.

    Raises
    ------
    RequestError
        If there are too many points.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.latency import curves
    >>> data = fsb.read("raw_results/published/fio-nvme-2021")
    >>> chart = fsb.charts.percentiles(curves(data))
    >>> for line in chart.title.text:
    ...     print(line)
    99.99 % of the requests took at most 180 ms on xfs (1 run), at most 39.3 ms on zfs (1 run)
    """
    data = _data(curves)
    deepest = max(2.0, data.select(pl.col("nines").max()).item())
    shares = alt.X(
        "nines:Q",
        title="share of the requests (the slowest are spread out)",
        scale=alt.Scale(domain=[0, deepest], nice=False),
        axis=alt.Axis(
            values=[_nines(rank) for rank in _RANKS],
            labelExpr=" : ".join(
                f"abs(datum.value - {_nines(rank):.6f}) < 0.01 ? '{text}'" for rank, text in _RANKS.items()
            )
            + " : ''",
            labelOverlap="greedy",
            labelSeparation=6,
        ),
    )
    ends = _ends(data)
    times = alt.Y("high:Q", title=None, scale=log_scale(*ends), axis=unit_axis(*ends, "s"))
    marks = {
        "ribbon": alt.Chart().mark_area(opacity=0.3).encode(x=shares, y=times, y2="low:Q"),
        "line": alt.Chart().mark_line(strokeWidth=1.3).encode(x=shares, y=times, order="share:Q"),
        "band": alt.Chart().mark_area(opacity=0.15).encode(x=shares, y=alt.Y("highest:Q"), y2="lowest:Q"),
        "median": alt.Chart().mark_line(strokeWidth=2.5).encode(x=shares, y=alt.Y("median:Q"), order="share:Q"),
        "point": alt.Chart().mark_point(filled=True, size=38).encode(x=shares, y=alt.Y("printed:Q")),
    }
    return _drawn("Percentile curves.", data, marks, title or _finding(data), most)


def ecdf(curves: pl.DataFrame, *, most: int = 6, title: str | None = None) -> alt.Chart | alt.FacetChart:
    """Draw the empirical distribution: up to each time, the share of the requests that were done.

    Parameters
    ----------
    curves, most, title
        As in `percentiles`; by default the title names the medians.

    Raises
    ------
    RequestError
        If there are too many points.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.latency import curves
    >>> data = fsb.read("raw_results/published/fio-nvme-2021")
    >>> chart = fsb.charts.ecdf(curves(data))
    >>> for line in chart.title.text:
    ...     print(line)
    50 % of the requests took at most 23 µs on xfs (1 run), at most 1.72 ms on zfs (1 run)
    """
    data = _data(curves)
    ends = _ends(data)
    times = alt.X("high:Q", title=None, scale=log_scale(*ends), axis=unit_axis(*ends, "s"))
    shares = alt.Y(
        "share:Q", title="requests done", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="~%", tickCount=5)
    )
    marks = {
        "ribbon": alt.Chart().mark_area(opacity=0.3, orient="horizontal").encode(x=times, x2="low:Q", y=shares),
        "line": alt.Chart().mark_line(strokeWidth=1.3).encode(x=times, y=shares, order="share:Q"),
        "band": alt.Chart()
        .mark_area(opacity=0.15, orient="horizontal")
        .encode(x=alt.X("highest:Q"), x2="lowest:Q", y=shares),
        "median": alt.Chart().mark_line(strokeWidth=2.5).encode(x=alt.X("median:Q"), y=shares, order="share:Q"),
        "point": alt.Chart().mark_point(filled=True, size=38).encode(x=alt.X("printed:Q"), y=shares),
    }
    return _drawn("Empirical distribution.", data, marks, title or _finding(data, 0.5), most)


def percentiles_finding(curves: pl.DataFrame) -> str:
    """Say within which time a high share of the requests was done, on each level.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.latency import curves
    >>> data = fsb.read("raw_results/published/fio-nvme-2021")
    >>> print(fsb.charts.percentiles_finding(curves(data)))
    99.99 % of the requests took at most 180 ms on xfs (1 run), at most 39.3 ms on zfs (1 run)
    """
    return _finding(_data(curves))


def _ends(data: pl.DataFrame) -> tuple[float, float]:
    low, high = data.select(pl.min_horizontal(pl.col("low", "high").min()), pl.col("high").max()).row(0)
    return float(low), float(high)


def _nines(share: float) -> float:
    return -math.log10(1 - share)


def _data(curves: pl.DataFrame) -> pl.DataFrame:
    check_given(curves, pl.DataFrame, "fsbench_kit.analysis.latency.curves(dataset)", "share", "low", "high")
    rows = ordered(curves.with_columns(statistic=pl.lit("value")))
    summaries = [
        f"{_share(share)} within {_time(low)} to {'an unknown time' if high is None else _time(high)}"
        for share, low, high in rows.select("share", "low", "high").rows()
    ]
    return rows.select(
        pl.Series("panel", cell_names(rows), pl.String),
        "factor",
        one_lines(rows["level"]),
        "curve",
        "runs",
        "requests",
        "known_from",
        "share",
        # a log axis has no 0
        low=pl.when(pl.col("low") > 0).then("low"),
        high=pl.when(pl.col("high") > 0).then("high"),
        printed=pl.when(pl.col("high") > 0, known_from="percentiles").then("high"),
        nines=-(1 - pl.col("share")).log10(),
        within=pl.Series(summaries, dtype=pl.String),
    )


def _finding(data: pl.DataFrame, rank: float | None = None) -> str:
    """Say what the runs of the first cell have at a rank; by default the last with enough requests beyond it."""
    cell = data.filter(pl.col("panel") == data["panel"][0])
    shares = cell["share"]
    if rank is None:
        least = cell["requests"].min()
        known = [rank for rank in _RANKS if ((shares - rank).abs() < _SAME).any()]
        enough = [rank for rank in known if least is None or (1 - rank) * least >= _ENOUGH]  # type: ignore[operator]
        rank = enough[-1] if enough else float(shares.max())  # type: ignore[arg-type]
    times: list[str] = []
    spans: dict[str, list[float]] = {}
    at_rank = cell.filter((shares - rank).abs() < _SAME)
    for (factor, value), rows in at_rank.group_by("factor", "level", maintain_order=True):
        level = level_name(str(value), str(factor))
        whose = f"{'on' if level == value else 'with'} {level}"
        ends = spans[whose] = rows["high"].drop_nulls().sort()[[0, -1]].to_list()
        low, high = map(_time, ends)
        runs = rows["runs"].sum()
        span = low if low == high else f"{low} to {high}"
        times.append(f"{span} {whose} ({counted(int(runs), 'run')})")
    where = f"{cell['panel'][0]}: " if data["panel"].n_unique() > 1 else ""
    runs_are_known = at_rank["curve"].n_unique() > len(spans) and at_rank["high"].null_count() == 0
    apart = _apart(spans) if runs_are_known else ""
    return f"{where}{_share(rank)} of the requests took at most {', at most '.join(times)}{apart}"


def _apart(spans: Mapping[str, list[float]]) -> str:
    """Say which of two levels was faster in every run, if one was."""
    if len(spans) != 2:
        return ""
    faster, slower = sorted(spans, key=lambda level: spans[level][0])
    return f": every run {faster} was faster" if spans[faster][1] < spans[slower][0] else ": the runs overlap"


def _time(seconds: float) -> str:
    return one_word(humanise(seconds, "s"))


def _share(rank: float) -> str:
    return f"{100 * rank:.7g}\N{NO-BREAK SPACE}%"


def _drawn(kind: str, every: pl.DataFrame, marks: dict[str, alt.Chart], heading: str, most: int) -> alt.FacetChart:
    names = every["panel"].unique(maintain_order=True).to_list()
    data = every.filter(pl.col("panel").is_in(names[:most])).drop("factor")  # which sentences alone name
    encodings = distinguished(data["level"], symbolType="stroke", symbolStrokeWidth=2)
    middle = _middle(data)
    data = _thinned(data, MOST_ROWS - middle.height)
    check_size(data)
    channels = {
        "ribbon": ("color",),
        "line": ("color", "strokeDash"),
        "point": ("color", "shape"),
        "band": ("color",),
        "median": ("color", "strokeDash"),
    }
    behind = middle.height > 0  # then runs are thin lines
    if behind:
        marks["line"] = marks["line"].mark_line(strokeWidth=0.6, opacity=0.6)
    known = {
        "point": data["printed"].is_not_null().any(),
        "ribbon": not behind,
        "band": behind,
        "median": behind,
    }
    if known["point"]:
        channels |= dict.fromkeys(("line", "median"), ("color",))  # a legend's symbol has either a shape or a dash
    counts = () if data["requests"].null_count() else ("requests",)  # printed percentiles tell none
    tips = {"band": (), "median": ("level", "within")}
    layers = alt.layer(
        *(
            mark.encode(
                detail="curve:N",
                tooltip=[alt.Tooltip(f"{tip}:N") for tip in tips.get(name, ("level", "within", *counts, "curve"))],
                **{channel: encodings[channel] for channel in channels[name]},
            )
            for name, mark in marks.items()
            if known.get(name, True)
        ),
        data=pl.concat([data, middle], how="diagonal"),
    )
    explained = _explain(data, every, middle=behind)
    summaries = every.group_by("panel", maintain_order=True).map_groups(
        lambda cell: pl.DataFrame({"summary": _finding(cell)})
    )
    return panels(layers, names, captions(kind, [heading], explained, summaries["summary"]), height=_HEIGHT)


def _thinned(data: pl.DataFrame, most: int) -> pl.DataFrame:
    """Where there are too many points, leave some out of the curves that are known from bins; never the last."""
    printed = data.filter(pl.col("known_from") != "bins").height
    step = math.ceil((data.height - printed) / max(1, most - printed))
    from_the_end = pl.int_range(pl.len(), 0, -1).over("panel", "level", "curve") - 1
    return data.filter((pl.col("known_from") != "bins") | (from_the_end % step == 0)) if step > 1 else data


def _middle(data: pl.DataFrame) -> pl.DataFrame:
    """Return the median of each group's curves at shares that lie evenly, and the fastest and slowest."""
    curves = data.filter(pl.col("high").is_not_null(), known_from="bins").sort("share")
    grouped = curves.group_by("panel", "level", maintain_order=True)
    parts = [
        _of_group(of).with_columns(panel=pl.lit(panel), level=pl.lit(level))
        for (panel, level), of in grouped
        if of["curve"].n_unique() >= _FEWEST
    ]
    return pl.concat(parts) if parts else pl.DataFrame()


def _of_group(curves: pl.DataFrame) -> pl.DataFrame:
    deepest = float(curves.group_by("curve").agg(pl.col("nines").max())["nines"].min())  # type: ignore[arg-type]
    nines = pl.DataFrame({"nines": [deepest * step / _GRID for step in range(1, _GRID + 1)]})
    grid = nines.select("nines", share=1 - pl.lit(10.0).pow(-pl.col("nines")) - _SAME)
    times = pl.concat(
        grid.join_asof(curve.select("share", "high"), on="share", strategy="forward")
        for (_,), curve in curves.group_by("curve", maintain_order=True)
    )
    middle = times.group_by("nines", "share").agg(
        median=pl.col("high").median(), lowest=pl.col("high").min(), highest=pl.col("high").max()
    )
    middle = middle.sort("share").drop_nulls()
    within = [
        f"{_share(round(share, 7))} within {_time(time)}, in the median run"
        for share, time in middle.select("share", "median").rows()
    ]
    return middle.with_columns(pl.Series("within", within, pl.String), curve=pl.lit("median"))


def _explain(data: pl.DataFrame, every: pl.DataFrame, *, middle: bool) -> str:
    """Say what a curve and its width are, and what was left out."""
    pooled = data["curve"].str.starts_with("pooled").any()
    shown, cells = (of["panel"].n_unique() for of in (data, every))
    bins, printed = ((data["known_from"] == source).any() for source in ("bins", "percentiles"))
    return explained_by(
        (bins and not pooled and not middle, "Each curve is one run; runs are not averaged."),
        (
            middle,
            "Thin lines are runs; the thick one is their median, the band goes from the fastest to the slowest.",
        ),
        (pooled, "The bins of all runs are added up: a run with more requests counts more."),
        (bins and not middle, "A curve is as wide as the tool's bins, within which times are unknown."),
        (printed, "Points are printed percentiles, each of one log; the lines only join them."),
        (shown < cells, f"Shown: {shown} of {cells} cells."),
    )
