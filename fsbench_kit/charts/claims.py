"""Sizes that articles claim, beside those that their own figures give."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from fsbench_kit.charts.style import BAND, REFERENCE, by_rows, captions, check_size, nothing, ratio_axis, rows_axis
from fsbench_kit.model.errors import check_given
from fsbench_kit.tables import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH: Final = 400
_LABEL_WIDTH: Final = 380
_LABEL_CHARACTERS: Final = 62
_ROW_HEIGHT: Final = 32

_OUTCOMES: Final = {
    "agrees": ("#0072b2", "circle"),
    "undecided": ("#e69f00", "diamond"),
    "differs": ("#d55e00", "square"),
}
"""How the legend names an outcome -> its colour, its shape."""


def claimed_sizes(audit: pl.DataFrame) -> alt.Chart | alt.LayerChart | alt.FacetChart:
    """Draw what the figures give for each claim that states a size, as a multiple of that size.

    Parameters
    ----------
    audit
        What `fsbench_kit.claims.audit` returned, or some rows of it.

    Raises
    ------
    RequestError
        If there are too many rows.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> claims = fsb.audit("raw_results/published/fio-nvme-2021")
    >>> chart = fsb.charts.claimed_sizes(claims)
    >>> for line in chart.title.text:
    ...     print(line)
    No figure contradicts the claims that state a size (5)
    """
    check_given(audit, pl.DataFrame, "fsb.audit(folder)", "claim", "stated_low")
    data = pl.DataFrame(list(_rows(audit)), schema=_SCHEMA, orient="row")
    check_size(data)
    if data.is_empty():
        return nothing(["None of these claims states a size."])
    claims = data["claim"].unique(maintain_order=True)
    low, high = data.select(
        pl.min_horizontal(pl.col("place", "low").min(), 0.8).alias("low"),
        pl.max_horizontal(pl.col("place", "high").max(), 1.25).alias("high"),
    ).row(0)
    first = pl.col("claim").is_first_distinct()  # one band for all marks of a claim
    data = data.with_columns(
        from_here=pl.when(first).then(pl.col("band_low").fill_null(low / 1.1).clip(low / 1.1)),
        to_here=pl.when(first).then(pl.col("band_high").fill_null(high * 1.1)),
    )
    y = rows_axis("claim:N", _LABEL_WIDTH, claims.to_list(), lines=2, labelExpr="split(datum.label, '\\n')")
    x = ratio_axis("place:Q", "computed size ÷ claimed size", low / 1.1, high * 1.1)
    names, (colours, shapes) = list(_OUTCOMES), (list(column) for column in zip(*_OUTCOMES.values(), strict=True))
    shown = {
        "color": alt.Color("outcome:N", title=None, scale=alt.Scale(domain=names, range=colours)),
        "tooltip": [alt.Tooltip("summary:N", title="found"), alt.Tooltip("says:N", title="claim")],
    }
    shape = alt.Shape("outcome:N", title=None, scale=alt.Scale(domain=names, range=shapes))
    base = alt.Chart(data)
    wrong = data.filter(outcome="differs")["claim"].n_unique()
    heading = [f"A figure contradicts {wrong} of {counted(claims.len(), 'claim')} that state a size"]
    if not wrong:
        heading = [f"No figure contradicts the claims that state a size ({claims.len()})"]
    explained = (
        "Each mark is one comparison or figure that a claim is about; its bar is what the rounding of the "
        "printed digits allows, or a confidence interval. The grey band is what counts as the claimed size."
    )
    return alt.layer(
        base.mark_bar(color=BAND, height={"band": 0.8}).encode(y=y, x="from_here:Q", x2="to_here:Q"),
        alt.Chart().mark_rule(color=REFERENCE, strokeDash=[4, 3]).encode(x=alt.XDatum(1.0)),
        base.mark_rule(strokeWidth=2).encode(y=y, x="low:Q", x2="high:Q", **shown),
        base.mark_point(size=80, filled=True, opacity=1).encode(y=y, x=x, shape=shape, **shown),
        data=data,
    ).properties(
        width=_WIDTH,
        height=alt.Step(_ROW_HEIGHT),
        **by_rows(_LABEL_WIDTH, lines=2),
        **captions("Dot plot.", heading, explained, data["summary"]),
    )


_SCHEMA: Final = dict.fromkeys(("claim", "says", "outcome", "summary"), pl.String) | dict.fromkeys(
    ("place", "low", "high", "band_low", "band_high"), pl.Float64
)


def _rows(audit: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a row for each comparison with a size, in multiples of the size that is claimed."""
    for row in audit.iter_rows(named=True):
        ends = row["stated_low"], row["stated_high"]
        claimed = _middle(*ends)
        if not claimed:
            continue
        says = one_line(row["says"])
        label = "\n".join(textwrap.wrap(says, _LABEL_CHARACTERS, max_lines=2, placeholder=" …"))
        for found in row["comparisons"]:
            sizes = [
                None if found[name] is None else found[name] / claimed for name in ("computed", "low", "high")
            ]
            if sizes[0] is None or sizes[0] <= 0:
                continue
            yield {
                "claim": label,
                "says": says,
                "outcome": _outcome(found),
                "summary": one_line(found["words"]),
                "place": sizes[0],
                "low": sizes[1],
                "high": sizes[2],
                "band_low": None if ends[0] is None else min(end / claimed for end in ends if end is not None),
                "band_high": None if ends[1] is None else max(end / claimed for end in ends if end is not None),
            }


def _outcome(found: dict[str, Any]) -> str:
    if found["direction"] == "the contrary" or found["size"] in ("understated", "overstated"):
        return "differs"
    return "undecided" if found["direction"] == "undecided" or "within" in (found["size"] or "") else "agrees"


def _middle(low: float | None, high: float | None) -> float | None:
    """Return the size that a band stands for: its only end, or the geometric mean of both."""
    if low is None or high is None:
        return low if high is None else high
    return (low * high) ** 0.5 * (1 if low > 0 else -1) if low * high > 0 else None
