"""Ratios of a comparison on a log axis: the forest plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import altair as alt
import polars as pl

from fsbench_kit.charts.forest_rows import HEAD_LINE, LABEL_CHARACTERS, STEP, Rows, forest_rows
from fsbench_kit.charts.style import (
    BAND,
    FEW_LEVELS,
    LABEL_LINE,
    REFERENCE,
    TIMES,
    by_rows,
    captions,
    distinguished,
    explained_by,
    in_columns,
    legible,
    nothing,
    ratio_domain,
    rows_axis,
    sides,
    sides_axis,
)
from fsbench_kit.charts.theme import INK, PAPER
from fsbench_kit.model.errors import RequestError, check_given
from fsbench_kit.model.suggestions import known_instead
from fsbench_kit.stats.values import checked_log
from fsbench_kit.tables import findings, names_of, percent, summary

if TYPE_CHECKING:
    from collections.abc import Sequence


_TEXT, _CHARACTER = 132, 6.3
_WIDTHS: Final = {"page": 460, "column": 190}
_MANY: Final = 12
"""Among so many effects a reader can look for some by typing."""
_CSV: Final = {
    "row": "effect",
    "level": "group",
    "place": "ratio",
    "ci_low": "low",
    "ci_high": "high",
    "text": "times as good",
    "summary": "finding",
}
"""The columns of the chart's file: those of its data that say something by themselves -> their heads."""
_FOUND: Final = (
    "find === '' || (datum.kind === 'effect' && indexof(lower(replace(datum.row, /\\n/g, ' ')), lower(find)) >= 0)"
)


def forest(
    comparison: pl.DataFrame,
    *,
    margin: float = 1.05,
    most: int = 40,
    title: str | None = None,
    style: Literal["page", "paper"] = "page",
    width: Literal["page", "column"] = "page",
) -> alt.Chart | alt.LayerChart | alt.FacetChart:
    """Draw the ratios of a comparison on a log axis, with an interval where the data allow one.

    Rows that say the same in several metrics are one effect, and one row. Both groups have a side of the axis, and
    each figure says how many times as good the better one is, as headlines do: half the latency is twice as good.
    Rows are grouped by what is decided, and follow the headlines, the largest effect first.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare` returned, or some rows of it.
    margin
        The largest ratio that counts as equal, either way round; drawn as a band.
    most
        More effects than these are summarised by operation, each of which can be chosen to see its rows.
    title
        What the chart shows; by default the first of its findings.
    style
        ``paper`` is for journals: without a title, in black on white.
    width
        ``column`` is as narrow as one of two columns, with names above the rows.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> chart = fsb.charts.forest(fsb.compare(data, metrics=["iops"]))
    >>> chart.title.text[0].partition(" of ")[0]
    'ext4 writes as fast as xfs, within the margin'
    """
    check_given(comparison, pl.DataFrame, "fsb.compare(dataset)", "level", "metric", "ratio", "verdict")
    checked_log(margin)
    if not isinstance(most, int):
        raise RequestError(f"{most!r} is not a number of effects", hint="Write for example most=40.")
    for what, asked, known in (("style", style, ("page", "paper")), ("width", width, _WIDTHS)):
        if asked not in known:
            raise RequestError(f"{asked!r} is not a {what} of this chart", hint=known_instead(str(asked), known))
    rows = forest_rows(comparison, most)
    if rows.effects.is_empty():
        none = ["No row of this comparison has a ratio or a bound."]
        return nothing(none if comparison.height else summary(comparison))
    data = _placed(rows.drawn, *(ends := ratio_domain(rows.drawn, "ci_low", "ci_high", margin)))
    heading = [title] if title else findings(comparison)[:1]
    summaries = data["summary"].drop_nulls().unique(maintain_order=True)
    fitted = {"width": _WIDTHS["column"] + _TEXT} if width == "column" else {}
    caption = captions("Forest plot.", heading, _explain(rows, margin), summaries, **fitted)
    names = [name.partition("|")[2] for name in data["row"]]
    longest = max(len(line) for name in names for line in name.split("\n"))
    lines = max(rows.lines.values())
    room = by_rows(
        round(min(longest, LABEL_CHARACTERS) * _CHARACTER) + 12,
        right=_TEXT,
        lines=lines,
        narrow=width == "column",
    )
    transform: list[Any] = [alt.FilterTransform("narrow ? datum.kind !== 'gap' : datum.kind !== 'fold'")]
    if len(rows.views) > 1:
        room["usermeta"]["rows"]["spare"] = {view: LABEL_LINE * (lines - of) for view, of in rows.lines.items()}
        bound = alt.BindRadioSelect(input="select", options=rows.views, name="Effects: ")
        room["params"].append(alt.VariableParameter("view", value=rows.views[0], bind=bound))
        transform.append(alt.FilterTransform("datum.view === view"))
    room["usermeta"]["csv"] = ({"view": "effects"} if len(rows.views) > 1 else {}) | _CSV
    if rows.effects.height >= _MANY and style == "page":
        words = alt.BindInput(input="search", name="Rows with ")
        room["params"].append(alt.VariableParameter("find", value="", bind=words))
        transform.append(alt.FilterTransform(_FOUND))
    groups = sides(names_of(row)[::-1] for row in rows.effects.iter_rows(named=True))
    chart = alt.layer(
        *_layers(data, groups, *ends, margin, lines=lines),
        data=data,
        transform=transform,
        width=_WIDTHS[width],
        height=alt.Step(_step(lines, narrow=width == "column")),
        resolve=alt.Resolve(axis=alt.AxisResolveMap(x="independent")),
        **room | caption,
    )
    if style == "paper":
        chart.title = alt.Undefined
        chart.config = PAPER
    return chart


def _step(lines: int, *, narrow: bool) -> int:
    return STEP + LABEL_LINE * (lines if narrow else lines - 1)


def _layers(
    data: pl.DataFrame, groups: str, low: float, high: float, margin: float, *, lines: int
) -> list[alt.Chart]:
    """Return the marks. None is drawn where its place is null: each kind has a column of its own."""
    # Altair copies a chart whole at each step that changes it: so this one is put together from finished parts.
    hair = (high / low) ** (0.5 / _WIDTHS["page"])
    drop = alt.ExprRef("narrow ? 4 : 0")
    # In a narrow chart the last line of a name stands above its row, however many the others have. The lines above
    # it have a letter without width: in SVG an empty line has no height.
    above = f"(narrow ? slice('{'n' * (lines - 1)}', length(split(datum.label, '\\n')) - 1) : '')"
    label = f"replace({above}, /n/g, '\\u200b\\n') + slice(datum.label, 6)"
    row = rows_axis("row:N", 400, lines=lines, labelExpr=f"split({label}, '\\n')")
    encodings = distinguished(data["level"].drop_nulls(), symbolType="circle")
    levels = data["level"].drop_nulls().unique().to_list()
    has_legend = 1 < len(levels) <= FEW_LEVELS  # rows name more of them
    legend: Any = alt.Legend(title=None, **in_columns(levels)) if has_legend else None
    colour = alt.Color("level:N", scale=encodings["color"]["scale"], legend=legend)
    shape = alt.Shape("level:N", scale=encodings["shape"]["scale"], legend=legend)
    of_level = alt.condition("datum.tone === 'shown' || datum.tone === 'open'", colour, alt.value(REFERENCE))
    bottom, top = sides_axis("filled:Q", low, high), sides_axis("one:Q", low, high)
    top["title"] = ["times as good, log scale", groups]  # in two lines, which fit on a phone
    ticks, widths = top["axis"]["values"], (_WIDTHS["column"], _WIDTHS["page"])
    narrow, wide = ([tick for tick in ticks if tick not in legible(ticks, low, high, width)] for width in widths)
    hidden = f"indexof(narrow ? {narrow} : {wide}, datum.value) >= 0 ? '' : {TIMES}"
    for shown in (bottom, top):
        shown["axis"]["labelExpr"] = hidden
    top["axis"]["orient"], top["axis"]["offset"] = "top", 4
    of_band = [{"filter": "datum.kind === 'effect'"}]

    def layer(mark: alt.MarkDef, encoding: dict[str, Any], transform: Sequence[Any] = ()) -> alt.Chart:
        channels = (
            alt.FacetedEncoding(y=alt.Y("row:N"), **encoding)
            if "y" not in encoding
            else alt.FacetedEncoding(**encoding)
        )
        return alt.Chart(mark=mark, encoding=channels, transform=list(transform) or alt.Undefined)

    place = {"color": of_level, "tooltip": alt.Tooltip("summary:N")}
    return [
        layer(alt.MarkDef("text", text="", align="left"), {"y": row, "x": alt.value(0)}),
        layer(
            alt.MarkDef("rect", color=BAND),
            {"x": alt.XDatum(1 / margin, axis=None), "x2": alt.X2Datum(margin)},
            of_band,
        ),
        layer(
            alt.MarkDef("rect", color=REFERENCE),
            {"x": top, "x2": alt.X2Datum(hair)},
            [*of_band, {"calculate": str(1 / hair), "as": "one"}],
        ),
        layer(
            alt.MarkDef(
                "text",
                align="left",
                baseline="top",
                dy=2 - STEP / 2,
                lineHeight=HEAD_LINE,
                fontWeight=600,
                fontSize=13,
                color=INK,
                lineBreak="\n",
            ),
            {"x": alt.value(0), "text": alt.Text("heading:N")},
            [
                {"filter": "isValid(datum.head)"},
                {"calculate": "narrow ? datum.head : datum.wide_head", "as": "heading"},
            ],
        ),
        layer(
            alt.MarkDef("rule", strokeWidth=2, yOffset=drop, clip=True),
            {"x": alt.X("ci_low:Q", axis=None), "x2": alt.X2("ci_high:Q"), **place},
        ),
        layer(alt.MarkDef("text", text="◂", dx=-4, yOffset=drop), {"x": alt.X("cut_low:Q", axis=None), **place}),
        layer(alt.MarkDef("text", text="▸", dx=4, yOffset=drop), {"x": alt.X("cut_high:Q", axis=None), **place}),
        layer(
            alt.MarkDef("point", size=80, filled=True, opacity=1, yOffset=drop),
            {"x": bottom, "shape": shape, **place},
        ),
        layer(
            alt.MarkDef("point", size=70, strokeWidth=1.8, filled=False, fill="white", opacity=1, yOffset=drop),
            {"x": alt.X("hollow:Q", axis=None), "shape": shape, **place},
        ),
        layer(
            alt.MarkDef("text", align="left", fontSize=12, color=INK, yOffset=drop),
            {"x": alt.value(alt.ExprRef("width + 10")), "text": alt.Text("text:N")},
            [{"filter": "isValid(datum.text)"}],
        ),
    ]


def _placed(drawn: pl.DataFrame, low: float, high: float) -> pl.DataFrame:
    """Give each kind of mark a column of its own, within the ends of the axis."""
    supported = pl.col("tone").is_in(["shown", "equal"])
    return drawn.with_columns(
        filled=pl.when(supported).then("place"),
        hollow=pl.when(~supported).then("place"),
        cut_low=pl.when(pl.col("ci_low") < low).then(low),
        cut_high=pl.when(pl.col("ci_high") > high).then(high),
    )


def _explain(rows: Rows, margin: float) -> str:
    """Say how the marks of a forest plot are to be read, as far as it has them."""
    effects = rows.effects
    verdicts = set(effects["verdict"])
    confidences = effects["confidence"].drop_nulls().unique().to_list()
    level = f"{percent(confidences[0])} " if len(confidences) == 1 else ""
    return explained_by(
        (
            True,
            "A mark lies on the side of the better group, and the figure says how many times as good it is"
            + (": half the latency is twice as good." if "lower" in effects["better"] else "."),
        ),
        (
            rows.is_summary,
            "Each mark is one effect; the figures are the median and the range of a row.",
        ),
        (
            rows.has_steps,
            "Of very many effects, a row has marks at equal steps from the lowest to the highest.",
        ),
        (len(rows.views) > 1, f"There are {effects.height:,} effects: choose which to see."),
        (
            bool(confidences) and not rows.is_summary,
            f"Bars are {level}confidence intervals; the band is the ±{percent(margin - 1)} that count as equal.",
        ),
        (
            verdicts == {"single runs"},
            "All are ratios of single runs: how much runs vary is unknown, so there are no intervals.",
        ),
        (bool(verdicts - {"better", "worse", "equivalent", "single runs"}), "Hollow marks have no verdict."),
        (rows.without_ratio > 0, f"Effects without a ratio: {rows.without_ratio}."),
    )
