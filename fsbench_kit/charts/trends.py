"""The course of each effect over versions, commits or dates, with its changes."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from fsbench_kit.analysis.trend import MANY, Trend
from fsbench_kit.charts.style import (
    BAND,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    REFERENCE,
    captions,
    check_size,
    explained_by,
    nothing,
    one_lines,
    panels,
)
from fsbench_kit.model.errors import check_given
from fsbench_kit.tables import effect_names, one_line, trend_findings, with_interval

_COLOUR: Final = "#0072b2"


def trend_lines(found: Trend, *, most: int = 6, title: str | None = None) -> alt.Chart | alt.FacetChart:
    """Draw the ratio of each level to the first, effect by effect, and where it changed.

    Parameters
    ----------
    found
        What `fsbench_kit.analysis.trend.trend` returned.
    most
        How many effects to draw: those with the largest changes, then those that moved most.
    title
        What the chart shows; by default the largest change.

    Raises
    ------
    RequestError
        If there are too many figures.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.trend import trend
    >>> chart = fsb.charts.trend_lines(trend(fsb.read("raw_results/published/fio-nvme-2021"), "filesystem"))
    >>> chart.description
    'The factor has no order in time, or fewer than three levels.'
    """
    check_given(found, Trend, "fsbench_kit.analysis.trend.trend(dataset)")
    if not found.levels:
        return nothing(["The factor has no order in time, or fewer than three levels."])
    course = _drawn(found.course, found).drop_nulls("place")
    changes = _drawn(found.changes, found)
    moved = course.group_by("panel", maintain_order=True).agg(size=pl.col("place").log().abs().max())
    first = changes["panel"].unique(maintain_order=True).to_list()
    others = moved.sort("size", descending=True, maintain_order=True)["panel"].to_list()
    names = list(dict.fromkeys([*first, *others]))
    kept = names[:most]
    data = pl.concat(
        [
            course.select("panel", "at", "place", "low", "high", "summary"),
            changes.select("panel", "summary", "since", "earliest", "latest"),
        ],
        how="diagonal",
    ).filter(pl.col("panel").is_in(kept))
    check_size(data)
    axis = alt.X(
        "at:O",
        title=one_line(course["factor"][0]).replace("_", " "),
        scale=alt.Scale(type="band", domain=list(map(one_line, found.levels))),
        axis=alt.Axis(labelOverlap="greedy", labelSeparation=8, labelAngle=0, labelLimit=120, bandPosition=0.5),
    )
    ratios = alt.Y(
        "place:Q",
        title=None,
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(format="~g", tickCount=4, minExtent=36),
    )
    chart = alt.Chart()
    changed = chart.transform_filter("isValid(datum.since)")
    layers = alt.layer(
        changed.mark_rect(color=BAND).encode(x=_left_of("earliest", axis), x2=alt.X2("latest", bandPosition=0)),
        changed.mark_rule(color=REFERENCE, strokeDash=[4, 3]).encode(
            x=_left_of("since", axis), tooltip="summary:N"
        ),
        chart.mark_line(strokeWidth=1.2, color=_COLOUR, opacity=0.6).encode(x=axis, y=ratios),
        chart.mark_rule(color=_COLOUR, strokeWidth=1.6).encode(x=axis, y=alt.Y("low:Q"), y2="high:Q"),
        chart.mark_point(filled=True, size=45, opacity=1, color=_COLOUR).encode(
            x=axis, y=ratios, tooltip="summary:N"
        ),
        data=data,
    )
    explained = explained_by(
        (True, "Each level as a ratio to the first that has the effect; further up is better."),
        (bool(course["low"].is_not_null().any()), "Bars are confidence intervals."),
        (not changes.is_empty(), "A dashed line is a change; its band is where it may lie."),
        (len(found.levels) < MANY, "Each level is compared with the one before."),
        (
            len(found.levels) >= MANY,
            "Each level counts as one figure, so that what differs from boot to boot is noise.",
        ),
        (len(names) > len(kept), f"Shown: {len(kept)} of {len(names)} effects."),
    )
    caption = captions(
        "Course over levels.", [title] if title else trend_findings(found)[:1], explained, changes["summary"]
    )
    return panels(layers, kept, caption, height=PANEL_HEIGHT, width=PANEL_WIDTH)


def _left_of(field: str, levels: alt.X) -> alt.X:
    """Return the place between a level and the one before."""
    return alt.X(f"{field}:O", title=levels["title"], scale=levels["scale"], axis=levels["axis"], bandPosition=0)


def _drawn(rows: pl.DataFrame, found: Trend) -> pl.DataFrame:
    """Give rows their panel, their place, and their words; where lower is better, the ratio is inverted."""
    lower = pl.col("better") == "lower"
    at = "since" if "since" in rows.columns else "level"
    rows = rows.with_columns(
        pl.Series("panel", effect_names(rows, found.course), pl.String),
        *(one_lines(rows[name]) for name in ("level", "since", "earliest", "latest") if name in rows.columns),
        place=pl.when(lower).then(1 / pl.col("ratio")).otherwise("ratio"),
        low=pl.when(lower).then(1 / pl.col("ci_high")).otherwise("ci_low"),
        high=pl.when(lower).then(1 / pl.col("ci_low")).otherwise("ci_high"),
    )
    summaries = [
        f"{row['panel']}, {'since ' if at == 'since' else ''}{row[at]}: "
        f"{with_interval(row['place'], row['low'], row['high'])}."
        for row in rows.iter_rows(named=True)
    ]
    return rows.with_columns(pl.Series("summary", summaries, pl.String), at=at)
