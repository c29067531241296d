"""Published ratios beside those of a replication: each by itself, and those of several studies on one plane."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from fsbench_kit.charts.forest_rows import times_text
from fsbench_kit.charts.style import (
    REFERENCE,
    by_rows,
    captions,
    check_size,
    head_lines,
    nothing,
    ratio_domain,
    rows_axis,
    sides,
    sides_axis,
)
from fsbench_kit.charts.theme import INK
from fsbench_kit.model.errors import check_given
from fsbench_kit.tables import (
    NO_RATIO,
    NOTHING,
    came_out,
    cell_label,
    cell_text,
    counted,
    metric_text,
    one_line,
    varying_in_replication,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH: Final = 300
_LABEL_WIDTH: Final = 260
_ROW_HEIGHT: Final = 40
_CAPTION_WIDTH: Final = 364
PUBLISHED: Final = "published"
REPLICATED: Final = "replicated, with interval"
_STYLE: Final = {PUBLISHED: ("#52606d", "diamond"), REPLICATED: ("#0072b2", "circle")}


def replication(found: pl.DataFrame) -> alt.Chart | alt.LayerChart | alt.FacetChart:
    """Draw each published ratio, hollow, and the replicated one below it, on a log axis.

    Parameters
    ----------
    found
        What `fsbench_kit.launch.replicate.side_by_side` returned.

    Raises
    ------
    RequestError
        If there are too many rows.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import side_by_side
    >>> published = fsb.read("raw_results/published/fio-nvme-2021")
    >>> again = fsb.read("raw_results/replicated/fio-nvme-2021-again")
    >>> chart = fsb.charts.replication(side_by_side(published, again))
    >>> "All 4 published effects" in " ".join(chart.title.text)
    True
    """
    check_given(found, pl.DataFrame, "fsbench_kit.launch.replicate.side_by_side", "stands_for_effect")
    heading = [_counted(found)]
    found = _turned(found.filter("stands_for_effect").drop_nulls("ratio"))
    data = pl.DataFrame(list(_rows(found)), schema=_SCHEMA, orient="row")
    check_size(data)
    if data.is_empty():
        return nothing([NO_RATIO])
    explained = (
        f"{_BETTER} A published ratio of single figures has no confidence interval: its bar "
        "is what the rounding of its digits allows, mostly too short to see. The thick bar of a replicated ratio "
        "is the confidence interval of its mean; the thin one is where one more ratio like the published one is "
        "expected."
    )
    least = data.select(pl.min_horizontal("place", "low", "pair_low").min()).item()
    most = data.select(pl.max_horizontal("place", "high", "pair_high").max()).item()
    ends = min(least, 0.8) / 1.1, max(most, 1.25) * 1.1
    colours, shapes = (list(column) for column in zip(*_STYLE.values(), strict=True))
    base = alt.Chart().encode(
        y=alt.Y("row:N"),
        # In a narrow chart there is a line above the two, for the name.
        yOffset=alt.YOffset(
            "whose:N", scale=alt.Scale(domain=alt.ExprRef(f"narrow ? {['', *_STYLE]} : {[*_STYLE]}"))
        ),
        color=alt.Color("whose:N", title=None, scale=alt.Scale(domain=list(_STYLE), range=colours)),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("cell", "whose", "times as good", "direction", "size")],
    )
    shape = alt.Shape("whose:N", title=None, scale=alt.Scale(domain=list(_STYLE), range=shapes))
    fill = alt.Fill("whose:N", title=None, scale=alt.Scale(domain=list(_STYLE), range=["white", colours[1]]))
    groups = sides(found.select("baseline", "level").rows())
    hair = (ends[1] / ends[0]) ** (0.5 / _WIDTH)
    places = sides_axis("place:Q", *ends)
    above = {"orient": "top", "offset": 4, "title": ["times as good, log scale", groups]}
    top = alt.XDatum(1 / hair, scale=places["scale"], axis=alt.Axis(**places["axis"].to_dict() | above))
    chart: alt.LayerChart = alt.layer(  # type: ignore[assignment]  # none of the layers is a facet
        alt.Chart()  # which has all rows, and so their order
        .mark_text(text="")
        .encode(x=alt.value(0), y=rows_axis("row:N", _LABEL_WIDTH, labelExpr="slice(datum.label, 6)")),
        alt.Chart()
        .transform_filter("isValid(datum.head)")
        .mark_text(align="left", lineBreak="\n", lineHeight=17, dy=-9, fontWeight=600, fontSize=13, color=INK)
        .encode(x=alt.value(0), y="row:N", text="head:N"),
        alt.Chart()
        .transform_filter(alt.datum.whose == PUBLISHED)
        .mark_rect(color=REFERENCE)
        .encode(x=top, x2=alt.X2Datum(hair), y="row:N"),
        base.mark_rule(strokeWidth=1).encode(x=alt.X("pair_low:Q", axis=None), x2="pair_high:Q"),
        base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", axis=None), x2="high:Q"),
        base.transform_filter("isValid(datum.whose)")
        .mark_point(size=80, strokeWidth=1.8, opacity=1)
        .encode(x=places, shape=shape, fill=fill),
        data=data,
        width=_WIDTH,
        height=alt.Step(_ROW_HEIGHT, **{"for": "position"}),
        resolve=alt.Resolve(axis=alt.AxisResolveMap(x="independent")),
        **by_rows(_LABEL_WIDTH, lines=2),
        **captions("Forest plot.", heading, explained, data["summary"].drop_nulls(), width=_CAPTION_WIDTH),
    )
    return chart


_SCHEMA: Final = dict.fromkeys(
    ("row", "head", "group", "cell", "whose", "times as good", "direction", "size", "summary"), pl.String
) | dict.fromkeys(("place", "low", "high", "pair_low", "pair_high"), pl.Float64)


def _rows(found: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a head for each group, and two rows for each of its cells: that of the article, and that of ours."""
    names = [*varying_in_replication(found)] or ["operation"]
    grouped = found.with_columns(pl.struct("metric", "statistic", "level", "baseline", "better").alias("of"))
    number = itertools.count()
    for _, of in grouped.group_by("of", maintain_order=True):
        group = _group(of.row(0, named=True))
        yield {"row": f"{next(number):05}|", "head": "\n".join(head_lines(group))}
        for row in of.iter_rows(named=True):
            cell = ", ".join(filter(None, (cell_text(name, row[name]) for name in names)))
            place = f"{next(number):05}|{cell}"
            for whose, ends in (
                (PUBLISHED, ("published_ratio", "published_low", "published_high")),
                (REPLICATED, _AGAIN),
            ):
                ratio = _times(row, *ends)
                yield {
                    "row": place,
                    "group": group,
                    "cell": cell,
                    "whose": whose,
                    "times as good": ratio,
                    "direction": row["direction"],
                    "size": row["size"] or NOTHING,
                    "summary": f"{group}, {cell}, {whose}: {ratio}.",
                    **dict(zip(("place", "low", "high"), (row[end] for end in ends), strict=True)),
                    "pair_low": row["prediction_low"] if whose == REPLICATED else None,
                    "pair_high": row["prediction_high"] if whose == REPLICATED else None,
                }


def _group(row: dict[str, Any]) -> str:
    return one_line(f"{metric_text(row['metric'], row['statistic'])}, {row['level']} against {row['baseline']}")


def _times(row: dict[str, Any], *ends: str) -> str:
    """Say which group is better, and how many times as good it is, with its interval."""
    place, *reach = (row[end] for end in ends)
    return f"{one_line(row['level' if place >= 1 else 'baseline'])} {times_text(place, *reach)}"


def _turned(found: pl.DataFrame) -> pl.DataFrame:
    """Turn ratios round where lower is better, so that a higher one is better everywhere."""
    pairs = ("published_low", "published_high"), ("ci_low", "ci_high"), ("prediction_low", "prediction_high")
    other = {"ratio": "ratio", "published_ratio": "published_ratio"}
    other |= {name: of for low, high in pairs for name, of in ((low, high), (high, low))}
    lower = pl.col("better") == "lower"
    return found.with_columns(
        pl.when(lower).then(1 / pl.col(of)).otherwise(name).alias(name) for name, of in other.items()
    )


_BETTER: Final = (
    "A mark lies on the side of the better group, and its place says how many times as good that group is: half "
    "the latency is twice as good."
)


_AGAIN: Final = ("ratio", "ci_low", "ci_high")


def _counted(found: pl.DataFrame) -> str:
    """Say how many effects can be judged, and how many of these came out as published."""
    effects = found.filter("stands_for_effect")
    judged = effects.filter(pl.col("direction").is_in(_JUDGED))
    same = judged.filter(direction="same")
    if judged.is_empty():
        return f"None of {counted(effects.height, 'published effect')} can be judged by these runs"
    return came_out(judged.height, same.height, same.filter(size="inside").height)


_JUDGED: Final = ("same", "opposite", "no difference")


def replication_plane(found: pl.DataFrame) -> alt.Chart | alt.LayerChart:
    """Draw the effects of several studies on a plane: the published ratio across, the replicated one upwards.

    Parameters
    ----------
    found
        What `fsbench_kit.launch.replicate.replications` returned.

    Raises
    ------
    RequestError
        If there are too many rows.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import replications
    >>> chart = fsb.charts.replication_plane(replications("raw_results/published/fio-nvme-2021"))
    >>> "All 4 published effects" in " ".join(chart.title.text)
    True
    """
    check_given(found, pl.DataFrame, "fsbench_kit.launch.replicate.replications", "stands_for_effect")
    effects = _turned(found.filter("stands_for_effect").drop_nulls("ratio"))
    effects = effects.sort(pl.col("direction").is_in(_JUDGED), maintain_order=True)  # these are drawn last
    check_size(effects)
    if effects.is_empty():
        return nothing([NO_RATIO])
    names = ["study", *varying_in_replication(effects), "metric", "level", "baseline"]
    data = effects.select(
        pl.struct(names).map_elements(lambda row: _effect(row, names), return_dtype=pl.String).alias("effect"),
        "study",
        "published_ratio",
        "ratio",
        "ci_low",
        "ci_high",
        judged=pl.col("direction").replace_strict(_JUDGEMENTS),
        **{
            name: pl.Series([_times(row, *ends) for row in effects.iter_rows(named=True)], dtype=pl.String)
            for name, ends in (("published", ("published_ratio",)), ("replicated", _AGAIN))
        },
    )
    heading = [_counted(found)]
    explained = (
        "Each point is a published effect with a ratio in both: that of the study across, and that of the "
        "replication upwards, with the confidence interval of the mean. In the upper right and the lower left, "
        "the direction is the same; on the diagonal, the size is too. Hollow points cannot be judged."
    )
    of_both = pl.concat([effects.select(*_AGAIN, place=name) for name in ("ratio", "published_ratio")])
    low, high = ratio_domain(of_both, "ci_low", "ci_high", _MARGIN)
    groups = sides(effects.select("baseline", "level").rows())
    x = sides_axis("published_ratio:Q", low, high)
    x["title"] = ["published, times as good, log scale", groups]
    y = alt.Y("ratio:Q", title=["replicated, times as good", groups], scale=x["scale"], axis=x["axis"])
    domain, legend = list(_JUDGEMENT_COLOURS), alt.Legend(columns=2)
    strokes = alt.Scale(domain=domain, range=list(_JUDGEMENT_COLOURS.values()))
    fills = alt.Scale(domain=domain, range=list((_JUDGEMENT_COLOURS | {_NOT_JUDGED: "white"}).values()))
    colour = alt.Color("judged:N", title=None, legend=legend, scale=strokes)
    fill = alt.Fill("judged:N", title=None, legend=legend, scale=fills)
    base = alt.Chart(data).encode(
        x=x,
        color=colour,
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("effect", "judged", "published", "replicated")],
    )
    of_studies = None
    if effects["study"].n_unique() > 1:
        of_studies = alt.Legend(columns=2, orient="bottom", symbolStrokeColor=REFERENCE, symbolFillColor="white")
    line = alt.Chart(pl.DataFrame({"published_ratio": [low, high], "ratio": [low, high]}))
    dashed: dict[str, Any] = {"color": REFERENCE, "strokeDash": [4, 3]}
    chart: alt.LayerChart = alt.layer(  # type: ignore[assignment]  # none of the layers is a facet
        alt.Chart(pl.DataFrame({"published_ratio": [1.0]})).mark_rule(**dashed).encode(x=x),
        alt.Chart(pl.DataFrame({"ratio": [1.0]})).mark_rule(**dashed).encode(y=y),
        line.mark_line(color=REFERENCE, strokeWidth=0.8).encode(x=x, y=y),
        base.mark_rule(clip=True, opacity=0.6).encode(y=alt.Y("ci_low:Q"), y2="ci_high:Q"),
        base.mark_point(size=45, opacity=0.9).encode(
            y=y,
            fill=fill,
            shape=alt.Shape("study:N", title=None, legend=of_studies),
        ),
    ).properties(
        width=_PLANE,
        height=_PLANE,
        **captions("Scatter plot.", heading, explained, data["effect"], width=_CAPTION_WIDTH),
    )
    return chart


_PLANE: Final = 520
_MARGIN: Final = 1.12
_NOT_JUDGED: Final = "cannot be judged"
_JUDGEMENTS: Final = {
    "same": "same direction",
    "opposite": "other direction",
    "no difference": "no difference",
    "open": _NOT_JUDGED,
    "not comparable": _NOT_JUDGED,
}
_JUDGEMENT_COLOURS: Final = {
    "same direction": "#0072b2",
    "other direction": "#d55e00",
    "no difference": "#333333",
    _NOT_JUDGED: "#9aa5b1",
}


def _effect(row: dict[str, Any], names: list[str]) -> str:
    cell = cell_label(row, [name for name in names if name not in ("metric", "level", "baseline")])
    return (
        f"{cell}: {metric_text(row['metric'], 'value')}, {one_line(row['level'])} to {one_line(row['baseline'])}"
    )
