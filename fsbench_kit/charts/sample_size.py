"""How many runs a comparison needs."""

from __future__ import annotations

import altair as alt
import polars as pl

from fsbench_kit.charts.style import PLOT_WIDTH, REFERENCE, captions, check_size
from fsbench_kit.model.errors import check_given
from fsbench_kit.tables import percent


def runs_needed(widths: pl.DataFrame, *, half_width: float = 0.05) -> alt.LayerChart | alt.FacetChart:
    """Draw how narrow an interval becomes with more runs, one curve for each variation between runs.

    Parameters
    ----------
    widths
        What `fsbench_kit.analysis.sample_size.widths` returned.
    half_width
        What is aimed at, drawn as a line.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.sample_size import widths
    >>> chart = fsb.charts.runs_needed(widths(cv=[0.02, 0.05]))
    >>> for line in chart.title.text:
    ...     print(line)
    An interval of ±5 % takes 3 runs per group if runs vary by 2 %, 10 runs per group if runs
    vary by 5 %
    """
    check_given(widths, pl.DataFrame, "fsbench_kit.analysis.sample_size.widths", "cv", "half_width")
    check_size(widths)
    curves = widths.with_columns(summary=pl.col("cv").map_elements(percent, return_dtype=pl.String))
    enough = (
        curves.filter(pl.col("half_width") <= half_width)
        .group_by("cv", "summary", maintain_order=True)
        .agg(pl.col("runs").min())
        .sort("cv")
    )
    parts = [f"{runs} runs per group if runs vary by {summaries}" for _, summaries, runs in enough.rows()]
    heading = [f"An interval of ±{percent(half_width)} takes {', '.join(parts) or 'more runs than are shown'}"]
    explained = "How far the 95 % interval of a ratio typically reaches, by the number of runs in each group."
    base = alt.Chart(curves).encode(
        x=alt.X("runs:Q", title="runs in each group (log scale)", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y(
            "half_width:Q",
            title="half-width of the interval (log scale)",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(format="~%"),
        ),
        color=alt.Color(
            "summary:N", title="CV between runs", sort=curves["summary"].unique(maintain_order=True).to_list()
        ),
        tooltip=["summary:N", "runs:Q", alt.Tooltip("half_width:Q", format=".1%")],
    )
    aim = alt.Chart().mark_rule(color=REFERENCE, strokeDash=[4, 3]).encode(y=alt.YDatum(half_width))
    return alt.layer(base.mark_line(), aim, data=curves).properties(
        width=PLOT_WIDTH, **captions("Line chart.", heading, explained)
    )
