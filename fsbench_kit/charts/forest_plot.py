"""Ratios of a comparison on a log axis: the forest plot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from fsbench_kit.charts.style import (
    BAND,
    PLOT_WIDTH,
    REFERENCE,
    captions,
    check_size,
    colour_scale,
    explained_by,
    joined,
    nothing,
    panel_header,
    ratio_axis,
    rows_axis,
)
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.tables import (
    CELL,
    cell_label,
    effects,
    findings,
    groups_text,
    interval_text,
    metric_text,
    one_line,
    ordered,
    percent,
    ratio_text,
    sentence,
    summary,
    varying,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_LABEL_WIDTH: Final = 400
_ROW_HEIGHT: Final = 15

_LONGEST_RULE: Final = 4.0
"""How far, as a factor, an interval's end may lie from its point before the axis cuts it off."""
_EDGE: Final = 1.06

# How well a point is supported -> the shape that says so.
_EVIDENCE: Final = {
    "confidence interval": "circle",
    "no interval": "circle",
    "verdict withheld": "diamond",
    "only a lower bound": "triangle-right",
    "only an upper bound": "triangle-left",
}


def forest(
    comparison: pl.DataFrame, *, margin: float = 1.05, most: int = 80, title: str | None = None
) -> alt.Chart | alt.FacetChart:
    """Draw the ratios of a comparison on a log axis, with an interval where the data allow one.

    Rows that say the same in several metrics are one effect, and are drawn once.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare` returned, or some rows of it.
    margin
        The largest ratio that counts as equal, either way round; drawn as a band.
    most
        How many rows to draw: first those with an interval, then those furthest from 1.
    title
        What the chart shows; by default the first of its findings.

    Raises
    ------
    RequestError
        If there are too many rows.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> chart = fsb.charts.forest(fsb.compare(data, metrics=["bandwidth"]))
    >>> for line in chart.title.text:
    ...     print(line)
    seqwr, write: xfs was 2.42 times as fast as ext4 (1 run each). There is no verdict: the
    groups differ in a setting that is not the factor.
    """
    check_size(comparison)
    rows = ordered(effects(comparison))
    every = rows.with_columns(place=_PLACE).drop_nulls("place")
    if every.is_empty():
        return nothing(["No row of this comparison has a ratio or a bound."] if rows.height else summary(rows))
    data = _forest_data(_most_telling(every, most), varying(rows))
    low, high = _ratio_domain(data, margin)
    known = pl.col("ci_low").is_not_null()
    # A mark is not drawn where its place is null, so that each kind of mark has a column of its own.
    data = data.with_columns(
        pl.col("ci_low", "ci_high").clip(low, high),
        filled=pl.when(known).then("place"),
        hollow=pl.when(~known).then("place"),
        cut_low=pl.when(pl.col("ci_low") < low).then(low),
        cut_high=pl.when(pl.col("ci_high") > high).then(high),
    )
    places = ratio_axis("filled:Q", f"ratio to {joined(rows['baseline'])}", low, high)
    shape = alt.Shape(
        "evidence:N", legend=None, scale=alt.Scale(domain=list(_EVIDENCE), range=list(_EVIDENCE.values()))
    )
    # Altair copies a chart whole at each step that changes it: so this one is put together from finished parts.
    once_a_panel = [{"aggregate": [{"op": "count", "as": "rows"}]}]
    of_panels: list[tuple[alt.MarkDef, dict[str, Any]]] = [
        (alt.MarkDef("rect", color=BAND), {"x": alt.XDatum(1 / margin), "x2": alt.X2Datum(margin)}),
        (alt.MarkDef("rule", color=REFERENCE, strokeDash=[4, 3]), {"x": alt.XDatum(1.0)}),
    ]
    of_cells: list[tuple[alt.MarkDef, dict[str, Any]]] = [
        (alt.MarkDef("rule", strokeWidth=2), {"x": alt.X("ci_low:Q"), "x2": alt.X2("ci_high:Q")}),
        (alt.MarkDef("text", text="◂", dx=-4), {"x": alt.X("cut_low:Q")}),
        (alt.MarkDef("text", text="▸", dx=4), {"x": alt.X("cut_high:Q")}),
        (alt.MarkDef("point", size=80, filled=True), {"x": places, "shape": shape}),
        (alt.MarkDef("point", size=80, strokeWidth=1.8), {"x": alt.X("hollow:Q"), "shape": shape}),
        (
            alt.MarkDef("text", align="left", fontSize=11, opacity=1),
            {"x": alt.value(PLOT_WIDTH + _ROW_HEIGHT), "text": alt.Text("text:N")},
        ),
    ]
    cell: dict[str, Any] = {
        "y": rows_axis("cell:N", _LABEL_WIDTH, labelPadding=10),
        "yOffset": alt.YOffset("level:N", sort=None),
        "color": alt.Color("level:N", title=None, scale=colour_scale(data["level"])),
        "opacity": alt.condition("datum.evidence === 'verdict withheld'", alt.value(0.5), alt.value(1.0)),
        "tooltip": [alt.Tooltip(f"{name}:N") for name in ("summary", "cell", "ratio", "verdict", "reasons")],
    }
    layers = [
        *({"mark": mark, "encoding": ends, "transform": once_a_panel} for mark, ends in of_panels),
        *({"mark": mark, "encoding": cell | ends} for mark, ends in of_cells),
    ]
    heading = [title] if title else findings(rows)[:1]
    explained = _explain_forest(rows, every, data, margin)
    groups = data["group"].unique(maintain_order=True).to_list()
    return alt.FacetChart(
        data,
        alt.LayerSpec(layer=layers, width=PLOT_WIDTH, height=alt.Step(_ROW_HEIGHT)),
        alt.FacetMapping(row=alt.Row("group:N", sort=groups, header=panel_header(PLOT_WIDTH))),
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(y="independent")),
        **captions("Forest plot.", heading, explained, data["summary"]),
    )


def _bound(name: str) -> pl.Expr:
    return pl.when(pl.col(name).is_between(0, math.inf, closed="none")).then(name)


_PLACE: Final = pl.coalesce("ratio", _bound("rounding_low"), _bound("rounding_high"))
"""Where a row's point stands: at its ratio, or at the bound that is known."""


def _forest_data(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return what a forest plot draws of each row."""
    in_pairs = rows.select(*CELL, "metric", "statistic", "level").is_duplicated().any()
    drawn = [
        {
            "group": _group_text(row),
            "cell": cell_label(row, names) or "the only cell",
            "level": groups_text(row) if in_pairs else one_line(row["level"]),
            "place": row["place"],
            "ci_low": row["ci_low"],
            "ci_high": row["ci_high"],
            "evidence": _evidence(row),
            "summary": sentence(row),
            "ratio": interval_text(row),
            "text": ratio_text(row["ratio"]) if row["ci_low"] is None and row["ratio"] else interval_text(row),
            "verdict": row["verdict"],
            "reasons": " ".join([*row["reasons"], *map(one_line, row["footnotes"])]),
        }
        for row in rows.iter_rows(named=True)
    ]
    texts = ("group", "cell", "level", "evidence", "summary", "ratio", "text", "verdict", "reasons")
    figures = ("place", "ci_low", "ci_high")
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(figures, pl.Float64)
    return pl.DataFrame(drawn, schema=schema)


def _evidence(row: dict[str, Any]) -> str:
    if row["ratio"] is None:
        return "only a lower bound" if row["rounding_low"] else "only an upper bound"
    if row["ci_low"] is None:
        return "no interval"
    return "verdict withheld" if row["verdict"] == "not comparable" else "confidence interval"


def _group_text(row: dict[str, Any]) -> str:
    """Head a panel with its metric, and with the side of 1 on which a candidate is better."""
    better = METRICS[row["metric"]].better
    side = {"higher": "right", "lower": "left", None: None}[better]
    name = metric_text(row["metric"], row["statistic"])
    return f"{name}: {better} is better ({side} of 1)" if side else name


def _ratio_domain(data: pl.DataFrame, margin: float) -> tuple[float, float]:
    """Return the ends of the ratio axis: all points, the band, and intervals as far as they are bearable."""
    place = pl.col("place")
    least = pl.max_horizontal(pl.col("ci_low").fill_null(place), place / _LONGEST_RULE)
    most = pl.min_horizontal(pl.col("ci_high").fill_null(place), place * _LONGEST_RULE)
    ends = data.select(
        low=pl.min_horizontal("place", least).min(),
        high=pl.max_horizontal("place", most).max(),
    ).row(0)
    return min(ends[0], 1 / margin**2) / _EDGE, max(ends[1], margin**2) * _EDGE


def _most_telling(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """Keep the rows with an interval, and then those furthest from 1, in the order in which they are."""
    order = rows.select(pl.col("ci_low").is_null(), distance=-pl.col("place").log().abs())
    places = order.with_row_index().sort("ci_low", "distance", maintain_order=True)["index"].head(most)
    return rows[places.sort().to_list()]


def _explain_forest(rows: pl.DataFrame, every: pl.DataFrame, data: pl.DataFrame, margin: float) -> str:
    """Say how the marks of a forest plot are to be read, as far as it has them."""
    seen = set(data["evidence"])
    confidences = rows["confidence"].drop_nulls().unique().to_list()
    level = f"{percent(confidences[0])} " if len(confidences) == 1 else ""
    return explained_by(
        (
            bool(confidences),
            f"Bars are {level}confidence intervals, row by row; verdicts are corrected for the number of effects.",
        ),
        ("no interval" in seen, "A hollow point without a bar has no interval; its notes say why."),
        ("verdict withheld" in seen, "A pale diamond has an interval but no verdict; its notes say why."),
        (any("bound" in evidence for evidence in seen), "A hollow triangle is a bound: the ratio lies beyond it."),
        (True, f"The dashed line marks equality, the band ±{percent(margin - 1)}."),
        (rows.height > every.height, f"Rows without a ratio: {rows.height - every.height}."),
        (
            every.height > data.height,
            f"Shown: {data.height} of {every.height} rows, those with an interval, then those furthest from 1.",
        ),
    )
