"""Frames as charts. All is computed in Polars before a chart is made; a chart only places it.

Text from logs enters a chart as data, where it is drawn and never interpreted.
"""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from fsbench_kit import settings
from fsbench_kit.dataset import UNMEASURED
from fsbench_kit.errors import RequestError
from fsbench_kit.tables import (
    CELL,
    cell_label,
    interval_text,
    metric_text,
    one_line,
    ordered,
    percent,
    prefix,
    sentence,
    summary,
    varying,
)
from fsbench_kit.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fsbench_kit.dataset import Dataset

MOST_ROWS: Final = 5000
"""More rows than this are not a chart but a table of points: they have to be summarised first."""

COLOURS: Final = {
    "ext4": "#0072b2",
    "xfs": "#d55e00",
    "zfs": "#7b3294",
    "btrfs": "#009e73",
    "ext3": "#56b4e9",
    "ext2": "#8c9eae",
    "f2fs": "#e69f00",
    "jfs": "#cc79a7",
    "nilfs2": "#8c510a",
}
"""The colours of filesystems, the same in every chart: those of Okabe and Ito, who chose them so that people tell
them apart whatever they see of red and green, and three more of different lightness."""
_OTHER_COLOURS: Final = ("#333333", "#117733", "#882255", "#44aa99", "#999933", "#aa4499", "#6699cc", "#661100")

_PLOT_WIDTH: Final = 520
_PANEL_WIDTH: Final = 330
_PANEL_HEIGHT: Final = 130
_LABEL_WIDTH: Final = 400
_ROW_HEIGHT: Final = 15
_TITLE_CHARACTERS: Final = 92
_SUBTITLE_CHARACTERS: Final = 112
_MOST_LINES: Final = 4
_MOST_DESCRIBED: Final = 12

_BAND: Final = "#e4e7eb"
_REFERENCE: Final = "#52606d"
# The span of a ratio axis up to which its ticks are these multiples of powers of ten.
_TICKS: Final = {
    4.0: (1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
    20.0: (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0),
    1e3: (1.0, 2.0, 5.0),
    1e5: (1.0, 3.0),
    math.inf: (1.0,),
}
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


def colour_scale(levels: Iterable[str]) -> alt.Scale:
    """Give each level its colour: a filesystem's own, or one of the others in the order of their names."""
    names = sorted(set(levels))
    others = [name for name in names if name.lower() not in COLOURS]
    spare = {name: _OTHER_COLOURS[i % len(_OTHER_COLOURS)] for i, name in enumerate(others)}
    return alt.Scale(domain=names, range=[spare.get(name) or COLOURS[name.lower()] for name in names])


def forest(
    comparison: pl.DataFrame, *, margin: float = 1.05, most: int = 80, title: str | None = None
) -> alt.Chart | alt.FacetChart:
    """Draw the ratios of a comparison on a log axis, with an interval where the data allow one.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare.compare` returned, or some rows of it.
    margin
        The largest ratio that counts as equal, either way round; drawn as a band.
    most
        How many rows to draw: first those with an interval, then those furthest from 1.
    title
        What the chart shows; by default it counts the verdicts of all rows.

    Raises
    ------
    RequestError
        If there are too many rows.
    """
    _check_size(comparison)
    rows = ordered(comparison)
    every = _forest_data(rows)
    if every.is_empty():
        return _nothing(["No row of this comparison has a ratio or a bound."] if rows.height else summary(rows))
    data = _most_telling(every, most)
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
    places = alt.X(
        "filled:Q",
        title=f"ratio to {_joined(rows['baseline'])} (log scale)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=_ratio_ticks(low, high), format="~g", labelOverlap="greedy"),
    )
    shape = alt.Shape(
        "evidence:N", legend=None, scale=alt.Scale(domain=list(_EVIDENCE), range=list(_EVIDENCE.values()))
    )
    once_a_panel = alt.Chart().transform_aggregate(rows="count()")
    cells = alt.Chart().encode(
        y=alt.Y(
            "cell:N", sort=None, title=None, axis=alt.Axis(labelLimit=_LABEL_WIDTH, labelPadding=10, ticks=False)
        ),
        yOffset=alt.YOffset("level:N", sort=None),
        color=alt.Color("level:N", title=None, scale=colour_scale(data["level"])),
        opacity=alt.condition("datum.evidence === 'verdict withheld'", alt.value(0.5), alt.value(1.0)),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("words", "cell", "ratio", "verdict", "reasons")],
    )
    layers = alt.layer(
        once_a_panel.mark_rect(color=_BAND).encode(x=alt.XDatum(1 / margin), x2=alt.X2Datum(margin)),
        once_a_panel.mark_rule(color=_REFERENCE, strokeDash=[4, 3]).encode(x=alt.XDatum(1.0)),
        cells.mark_rule(strokeWidth=2).encode(x="ci_low:Q", x2="ci_high:Q"),
        cells.mark_text(text="◂", dx=-4).encode(x="cut_low:Q"),
        cells.mark_text(text="▸", dx=4).encode(x="cut_high:Q"),
        cells.mark_point(size=80, filled=True).encode(x=places, shape=shape),
        cells.mark_point(size=80, strokeWidth=1.8).encode(x="hollow:Q", shape=shape),
        data=data,
    )
    heading = [title] if title else summary(rows)
    explained = _explain_forest(rows, every, data, margin)
    groups = data["group"].unique(maintain_order=True).to_list()
    chart: alt.FacetChart = (
        layers.properties(width=_PLOT_WIDTH, height=alt.Step(_ROW_HEIGHT))
        .facet(row=alt.Row("group:N", sort=groups, header=_panel_header(_PLOT_WIDTH)))
        .resolve_scale(y="independent")
        .properties(
            title=_title(heading, explained),
            description=_description("Forest plot.", heading, explained, data["words"]),
        )
    )
    return chart


def _nothing(why: list[str]) -> alt.Chart:
    """Draw a chart that says why there is nothing to draw."""
    chart: alt.Chart = (
        alt.Chart(pl.DataFrame({"why": why}), description=" ".join(why))
        .mark_text(align="left", fontSize=13)
        .encode(text="why:N")
    )
    return chart


def _forest_data(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what a forest plot draws of each row; rows without a ratio or a bound are left out."""
    names = varying(rows)
    drawn = [
        {
            "group": _group_text(row),
            "cell": cell_label(row, names) or "the only cell",
            "level": one_line(row["level"]),
            "place": place,
            "ci_low": row["ci_low"],
            "ci_high": row["ci_high"],
            "evidence": _evidence(row),
            "words": sentence(row),
            "ratio": interval_text(row),
            "verdict": row["verdict"],
            "reasons": " ".join([*row["reasons"], *map(one_line, row["footnotes"])]),
        }
        for row in rows.iter_rows(named=True)
        if (place := _place(row)) is not None
    ]
    texts = ("group", "cell", "level", "evidence", "words", "ratio", "verdict", "reasons")
    figures = ("place", "ci_low", "ci_high")
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(figures, pl.Float64)
    return pl.DataFrame(drawn, schema=schema)


def _place(row: dict[str, Any]) -> float | None:
    """Return where a row's point stands: at its ratio, or at the bound that is known."""
    if row["ratio"] is not None:
        return float(row["ratio"])
    bounds = [row["rounding_low"], row["rounding_high"]]
    return next((float(bound) for bound in bounds if bound is not None and 0 < bound < math.inf), None)


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
    return f"{name}: {better} is better, so {side} of 1" if side else name


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


def _ratio_ticks(low: float, high: float) -> list[float]:
    multiples = next(multiples for span, multiples in _TICKS.items() if high / low <= span)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    return [tick for decade in decades for m in multiples if low <= (tick := m * 10.0**decade) <= high]


def _most_telling(data: pl.DataFrame, most: int) -> pl.DataFrame:
    """Keep the rows with an interval, and then those furthest from 1, in the order in which they are."""
    order = data.select(pl.col("ci_low").is_null(), distance=-pl.col("place").log().abs())
    places = order.with_row_index().sort("ci_low", "distance", maintain_order=True)["index"].head(most)
    return data[places.sort().to_list()]


def _explain_forest(rows: pl.DataFrame, every: pl.DataFrame, data: pl.DataFrame, margin: float) -> str:
    """Say how the marks of a forest plot are to be read, as far as it has them."""
    seen = set(data["evidence"])
    confidences = rows["confidence"].drop_nulls().unique().to_list()
    level = f"{percent(confidences[0])} " if len(confidences) == 1 else ""
    sentences = [
        (
            bool(confidences),
            f"Bars are {level}confidence intervals, each for its own row; verdicts allow for the number of rows.",
        ),
        ("no interval" in seen, "A hollow point without a bar has no interval; its notes say why."),
        ("verdict withheld" in seen, "A pale diamond has an interval and no verdict; its notes say why."),
        (any("bound" in evidence for evidence in seen), "A hollow triangle is a bound: the ratio lies beyond it."),
        (True, f"The dashed line is equality, the band ±{percent(margin - 1)}."),
        (rows.height > every.height, f"Without a ratio to draw: {rows.height - every.height}."),
        (
            every.height > data.height,
            f"Of {every.height} rows, {data.height} are drawn: those with an interval, and those furthest from 1.",
        ),
    ]
    return " ".join(text for holds, text in sentences if holds)


def run_order(
    dataset: Dataset,
    metric: str | None = None,
    *,
    factor: str = "filesystem",
    where: settings.Where | None = None,
    most: int = 12,
    title: str | None = None,
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
        Which cells to draw, as in `fsbench_kit.compare.compare`.
    most
        How many cells to draw: those whose runs vary most.
    title
        What the chart shows; by default it names the cell whose runs vary most.

    Raises
    ------
    RequestError
        If no run has such a figure, or there are too many.
    """
    figures = _figures_of_runs(dataset, metric, factor, where)
    _check_size(figures)
    names = varying(figures)
    metrics = figures["metric"].n_unique()
    every = pl.concat(
        _panel(cell, names, named=metrics > 1)
        for _, cell in ordered(figures).group_by("metric", *CELL, maintain_order=True)
    )
    spread = _spread(every)
    kept = spread["panel"].unique(maintain_order=True).head(most)
    data = every.filter(pl.col("panel").is_in(kept.to_list()))
    timed = bool(data["timed"].all())
    heading = [title or _spread_sentence(spread)]
    explained = " ".join(
        text
        for holds, text in (
            (True, "Each dot is one run; the vertical axes do not start at 0."),
            (not timed, "When the runs were made is not known: they stand in the order of their files."),
            (len(kept) < every["panel"].n_unique(), f"Drawn: {len(kept)} of {every['panel'].n_unique()} cells."),
            (not dataset.runs.filter(_FAILED).is_empty(), "Left out: runs that failed or are partial."),
            (not dataset.runs.filter(UNMEASURED).is_empty(), "Left out: runs before the first round."),
        )
        if holds
    )
    levels = colour_scale(data["level"])
    dots = (
        alt.Chart(data)
        .mark_point(filled=True, size=55, opacity=0.85)
        .encode(
            x=alt.X(
                "place:Q",
                title="order of execution" if timed else "order in the files",
                axis=alt.Axis(format="d", tickMinStep=1, grid=False),
                scale=alt.Scale(domain=[0.5, data.select(pl.col("place").max()).item() + 0.5], nice=False),
            ),
            y=alt.Y(
                "value:Q",
                title=None,
                scale=alt.Scale(zero=False, padding=8),
                axis=alt.Axis(tickCount=4, minExtent=44),
            ),
            color=alt.Color("level:N", title=None, scale=levels),
            shape=alt.Shape("level:N", title=None, scale=alt.Scale(domain=levels.domain)),
            tooltip=[alt.Tooltip(f"{name}:N") for name in ("level", "figure", "place", "round", "source")],
        )
        .properties(width=_PANEL_WIDTH, height=_PANEL_HEIGHT)
    )
    panels = data["panel"].unique(maintain_order=True).to_list()
    chart: alt.FacetChart = (
        dots.facet(alt.Facet("panel:N", sort=panels, header=_panel_header(_PANEL_WIDTH)), columns=2)
        .resolve_scale(y="independent")
        .resolve_axis(x="independent")
        .properties(
            title=_title(heading, explained),
            description=_description("Runs in order of execution.", heading, explained, spread["words"]),
        )
    )
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
            f"no run has a figure of {metric or 'any metric'} and a {factor}", hint=f"These runs have: {known}."
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
        pl.Series("level", [one_line(level) for level in cell["level"]], pl.String),
        "place",
        "timed",
        "round",
        pl.Series("source", [one_line(source) for source in cell["source"]], pl.String),
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
    words = [
        f"{level}, {cell}: {f'CV {percent(cv)} over {runs} runs' if cv is not None else 'one run'}."
        for _, cell, level, runs, cv in spread.rows()
    ]
    return spread.with_columns(pl.Series("words", words, pl.String))


def _spread_sentence(spread: pl.DataFrame) -> str:
    widest = spread.row(0, named=True)
    if widest["cv"] is None:
        return "One run of each kind: nothing is known of how runs vary"
    return f"Runs vary most for {widest['level']} in {widest['cell']} (CV {percent(widest['cv'])})"


def runs_needed(widths: pl.DataFrame, *, half_width: float = 0.05) -> alt.LayerChart | alt.FacetChart:
    """Draw how narrow an interval becomes with more runs, one curve for each variation between runs.

    Parameters
    ----------
    widths
        What `fsbench_kit.repeats.widths` returned.
    half_width
        What is aimed at, drawn as a line.
    """
    _check_size(widths)
    curves = widths.with_columns(words=pl.col("cv").map_elements(percent, return_dtype=pl.String))
    enough = (
        curves.filter(pl.col("half_width") <= half_width)
        .group_by("cv", "words", maintain_order=True)
        .agg(pl.col("runs").min())
        .sort("cv")
    )
    told = [f"{runs} runs a side where runs vary by {words}" for _, words, runs in enough.rows()]
    heading = [f"An interval of ±{percent(half_width)} takes {', '.join(told) or 'more runs than are drawn'}"]
    explained = "How far the 95 % interval of a ratio typically reaches, by the number of runs on each side."
    base = alt.Chart(curves).encode(
        x=alt.X("runs:Q", title="runs on each side (log scale)", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y(
            "half_width:Q",
            title="half-width of the interval (log scale)",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(format="~%"),
        ),
        color=alt.Color(
            "words:N", title="runs vary by", sort=curves["words"].unique(maintain_order=True).to_list()
        ),
        tooltip=["words:N", "runs:Q", alt.Tooltip("half_width:Q", format=".1%")],
    )
    aim = alt.Chart().mark_rule(color=_REFERENCE, strokeDash=[4, 3]).encode(y=alt.YDatum(half_width))
    return alt.layer(base.mark_line(), aim, data=curves).properties(
        width=_PLOT_WIDTH,
        title=_title(heading, explained),
        description=_description("Line chart.", heading, explained, pl.Series([], dtype=pl.String)),
    )


def _check_size(frame: pl.DataFrame) -> None:
    if frame.height > MOST_ROWS:
        raise RequestError(
            f"{frame.height:,} rows are too many for a chart, which takes {MOST_ROWS:,}",
            hint="Summarise them in Polars first, or keep the cells that your question is about.",
        )


def _panel_header(width: int) -> alt.Header:
    return alt.Header(title=None, labelOrient="top", labelAnchor="start", labelLimit=width)


def _joined(names: pl.Series) -> str:
    return ", ".join(map(one_line, names.unique().sort()))


def _title(heading: Sequence[str], explained: str) -> alt.TitleParams:
    lines = [line for text in heading for line in _lines(text, _TITLE_CHARACTERS)]
    return alt.TitleParams(text=lines, subtitle=_lines(explained, _SUBTITLE_CHARACTERS))


def _lines(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, max_lines=_MOST_LINES, placeholder=" …")


def _description(kind: str, heading: Sequence[str], explained: str, rows: pl.Series) -> str:
    """Say in words what a chart shows, for those who do not see it."""
    more = f" And {len(rows) - _MOST_DESCRIBED} more." if len(rows) > _MOST_DESCRIBED else ""
    return " ".join([kind, *heading, explained, *rows.head(_MOST_DESCRIBED)]) + more
