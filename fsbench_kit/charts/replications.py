"""Published ratios beside those of a replication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from fsbench_kit.charts.style import (
    REFERENCE,
    captions,
    check_size,
    nothing,
    panel_header,
    ratio_axis,
    rows_axis,
)
from fsbench_kit.tables import NO_RATIO, cell_text, metric_text, one_line, replication_finding, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH: Final = 460
_LABEL_WIDTH: Final = 260
_ROW_HEIGHT: Final = 18

PUBLISHED: Final = "published"
REPLICATED: Final = "replicated, with interval"
_LOOK: Final = {PUBLISHED: ("#52606d", "diamond"), REPLICATED: ("#0072b2", "circle")}


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
    """
    found = found.filter(pl.col("finding") != "not run")
    data = pl.DataFrame(list(_rows(found)), schema=_SCHEMA, orient="row")
    check_size(data)
    if data.is_empty():
        return nothing([NO_RATIO])
    inside, open_too = (
        found.filter(pl.col("finding").str.starts_with("inside")),
        found.filter(finding="inside, as 1"),
    )
    heading = [f"{inside.height} of {found.height} published ratios lie where one more pair of runs would"]
    if open_too.height:
        heading[0] += f"; for {open_too.height} of them the replication shows no difference"
    explained = (
        "Ratios of candidate to baseline. A published ratio of single figures has no confidence interval: its bar "
        "is what the rounding of its digits allows, mostly too short to see. The thick bar of a replicated ratio "
        "is the confidence interval of its mean; the thin one is where the ratio of one more pair of runs is "
        "expected."
    )
    ends = data.select(
        low=pl.min_horizontal("place", "low", "pair_low").min(),
        high=pl.max_horizontal("place", "high", "pair_high").max(),
    ).row(0)
    colours, shapes = (list(column) for column in zip(*_LOOK.values(), strict=True))
    base = alt.Chart().encode(
        y=rows_axis("cell:N", _LABEL_WIDTH, labelPadding=10),
        yOffset=alt.YOffset("whose:N", sort=list(_LOOK)),
        color=alt.Color("whose:N", title=None, scale=alt.Scale(domain=list(_LOOK), range=colours)),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("cell", "whose", "ratio", "finding")],
    )
    shape = alt.Shape("whose:N", title=None, scale=alt.Scale(domain=list(_LOOK), range=shapes))
    places = ratio_axis("place:Q", "ratio", min(ends[0], 0.8) / 1.1, max(ends[1], 1.25) * 1.1)
    layers = alt.layer(
        alt.Chart()
        .transform_aggregate(rows="count()")
        .mark_rule(color=REFERENCE, strokeDash=[4, 3])
        .encode(x=alt.XDatum(1.0)),
        base.mark_rule(strokeWidth=1).encode(x="pair_low:Q", x2="pair_high:Q"),
        base.mark_rule(strokeWidth=3).encode(x="low:Q", x2="high:Q"),
        base.transform_filter(alt.datum.whose == PUBLISHED)
        .mark_point(size=80, filled=False, fill="white", strokeWidth=1.8, opacity=1)
        .encode(x=places, shape=shape),
        base.transform_filter(alt.datum.whose == REPLICATED)
        .mark_point(size=80, filled=True, opacity=1)
        .encode(x=places, shape=shape),
        data=data,
    )
    groups = data["group"].unique(maintain_order=True).to_list()
    chart: alt.FacetChart = (
        layers.properties(width=_WIDTH, height=alt.Step(_ROW_HEIGHT))
        .facet(row=alt.Row("group:N", sort=groups, header=panel_header(_WIDTH)))
        .resolve_scale(y="independent")
        .properties(**captions("Forest plot.", heading, explained, data["summary"]))
    )
    return chart


_SCHEMA: Final = dict.fromkeys(
    ("group", "cell", "whose", "ratio", "finding", "summary"), pl.String
) | dict.fromkeys(("place", "low", "high", "pair_low", "pair_high"), pl.Float64)


def _rows(found: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield two rows for each cell: the published ratio, and the replicated one."""
    for row in found.iter_rows(named=True):
        what = (cell_text(name, row[name]) for name in ("pattern", "operation", "block_size"))
        cell = ", ".join(part for part in what if part)
        better = {"higher": "right of 1 is better", "lower": "left of 1 is better"}[row["better"]]
        metric = metric_text(row["metric"], row["statistic"])
        group = one_line(f"{metric}, {row['level']} to {row['baseline']}: {better}")
        for whose, ends in (
            (PUBLISHED, ("published_ratio", "published_low", "published_high")),
            (REPLICATED, _AGAIN),
        ):
            place, low, high = (row[end] for end in ends)
            ratio = with_interval(place, low, high)
            yield {
                "group": group,
                "cell": cell,
                "whose": whose,
                "ratio": ratio,
                "finding": f"the published ratio {replication_finding(row['finding'])}",
                "summary": f"{group}, {cell}, {whose}: {ratio}.",
                "place": place,
                "low": low,
                "high": high,
                "pair_low": row["prediction_low"] if whose == REPLICATED else None,
                "pair_high": row["prediction_high"] if whose == REPLICATED else None,
            }


_AGAIN: Final = ("ratio", "ci_low", "ci_high")
