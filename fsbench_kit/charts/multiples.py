"""Ratios of a comparison over a second factor: a small panel for each of its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from fsbench_kit.charts.forest_rows import metric_beside, times_text, tone, turned
from fsbench_kit.charts.style import (
    BAND,
    MOST_ROWS,
    REFERENCE,
    captions,
    distinguished,
    explained_by,
    nothing,
    panels,
    ratio_domain,
    sides,
    sides_axis,
)
from fsbench_kit.model.errors import RequestError, check_given
from fsbench_kit.model.order import in_order
from fsbench_kit.model.suggestions import known_instead
from fsbench_kit.stats.values import checked_log
from fsbench_kit.tables import (
    cell_label,
    cell_text,
    counted,
    effects,
    findings,
    groups_text,
    names_of,
    one_line,
    ordered,
    percent,
    sentence,
    varying,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST: Final = 24
"""Panels; more are no small multiples."""

_NUMBERS: Final = ("iodepth", "threads", "block_size", "file_size")
"""The settings that are looked at first where nobody says which."""

_TASK: Final = ("pattern", "operation")
"""What names rows that summarise very many effects."""

_PANEL: Final = 250
_NAMES: Final = 220
_STEP: Final = 20


def small_multiples(
    comparison: pl.DataFrame,
    *,
    by: str | None = None,
    margin: float = 1.05,
    title: str | None = None,
    columns: int = 3,
) -> alt.Chart | alt.FacetChart:
    """Draw the ratios of a comparison in panels, one for each value of a second factor, on one common axis.

    Both groups have a side of the axis, which says how many times as good the better one is: half the latency is
    twice as good. More than 5,000 effects are summarised by operation and level, or else by operation: each row
    has their median and their range.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare` returned, or some rows of it.
    by
        The second factor: a column that tells cells apart, such as ``iodepth`` or ``operation``. By default a
        number that varies, such as the depth or the block size, or else the first column that does.
    margin
        The largest ratio that counts as equal, either way round; drawn as a band.
    title
        What the chart shows; by default the first of its findings.
    columns
        How many panels stand side by side.

    Raises
    ------
    RequestError
        If that column does not vary, or has too many values.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/iozone-ssd-2015")
    >>> found = fsb.compare(data, metrics=["bandwidth"], where={"operation": ["read", "write"]})
    >>> chart = fsb.charts.small_multiples(found, by="block_size")
    >>> chart.to_dict()["facet"]["sort"][:2]  # up to 16 MiB
    ['block size 32 KiB', 'block size 64 KiB']
    """
    check_given(comparison, pl.DataFrame, "fsb.compare(dataset)", "level", "metric", "ratio", "verdict")
    checked_log(margin)
    rows = ordered(effects(comparison))
    names = varying(rows) if rows.height else []
    drawn = turned(rows).drop_nulls("place")
    if drawn.is_empty():
        return nothing(["No row of this comparison has a ratio or a bound."])
    if by is None:
        by = next((name for name in (*_NUMBERS, *names) if name in names), None)
    if by is None:
        return nothing(["Nothing but the factor differs between these rows."])
    if by not in names:
        raise RequestError(f"{by!r} has no two values in this comparison", hint=known_instead(by, names))
    texts = [_panel(by, value) for value in drawn[by]]
    order = list(dict.fromkeys(_panel(by, value) for value in _sorted(drawn[by])))
    if len(order) > _MOST:
        raise RequestError(
            f"{len(order)} panels are too many to look at", hint=f"Choose up to {_MOST} values, or another factor."
        )
    marks = _marks(drawn.with_columns(pl.Series("panel", texts, pl.String)))
    data = _in_rows(marks, drawn, [name for name in names if name != by])
    heading = [title] if title else findings(comparison)[:1]
    room = {"width": _NAMES + _PANEL} if columns == 1 else {}
    explained = _explain(drawn, margin, is_summary=data.height < drawn.height)
    caption = captions("Small multiples.", heading, explained, data["summary"], **room)
    return panels(_layers(data, margin), order, caption, height=alt.Step(_STEP), width=_PANEL, columns=columns)


def _sorted(values: pl.Series) -> list[Any]:
    """Return the different values in their order, numbers as numbers."""
    known = values.unique(maintain_order=True)
    if known.dtype.is_integer():
        return known.sort(nulls_last=True).to_list()
    return [*in_order(map(str, known.drop_nulls())), *([None] if known.null_count() else [])]


def _panel(by: str, value: object) -> str:
    text = cell_text(by, value) or "none"
    return text if by in ("study", "tool", "pattern", "part", "operation") else f"{by.replace('_', ' ')} {text}"


def _marks(drawn: pl.DataFrame) -> pl.DataFrame:
    """Return the mark of each effect, with its level and its sentence."""
    texts = {
        "level": [one_line(level) for level in drawn["level"]],
        "tone": [tone(verdict) for verdict in drawn["verdict"]],
        "summary": [sentence(row) for row in drawn.iter_rows(named=True)],
    }
    schema = dict.fromkeys(texts, pl.String)
    return drawn.select("panel", "place", "low", "high").with_columns(pl.DataFrame(texts, schema).get_columns())


def _in_rows(marks: pl.DataFrame, drawn: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Name the row of each mark; if there are too many, summarise them by operation and level, or else without."""
    if marks.height <= MOST_ROWS:
        return marks.with_columns(name=_row_names(drawn, names))
    task = [name for name in _TASK if name in names]
    of_levels = _medians(marks.with_columns(name=_row_names(drawn, task)))
    if of_levels.height <= MOST_ROWS:
        return of_levels
    return _medians(marks.with_columns(name=_row_names(drawn, task, of_levels=False), level=pl.lit("all")))


def _row_names(drawn: pl.DataFrame, names: Sequence[str], *, of_levels: bool = True) -> pl.Series:
    """Name the row of each effect within its panel."""
    several = drawn.select(pl.struct("metric", "statistic").n_unique()).item() > 1
    pairs, baselines = drawn.select("level", "baseline").n_unique(), drawn["baseline"].n_unique()

    def name_of(row: dict[str, Any]) -> str:
        label = cell_label(row, names)
        metric = metric_beside(label, row, several=several) if label else ""
        group = (one_line(row["level"]) if baselines == 1 else groups_text(row)) if of_levels else ""
        return ", ".join(filter(None, (label, metric, group if pairs > 1 or not label else ""))) or "all"

    return pl.Series("name", [name_of(row) for row in drawn.iter_rows(named=True)], pl.String)


def _medians(named: pl.DataFrame) -> pl.DataFrame:
    """Summarise the effects of each row by their median and their range."""
    rows = named.group_by("panel", "name", "level", maintain_order=True).agg(
        pl.median("place"), pl.min("place").alias("low"), pl.max("place").alias("high"), pl.len()
    )
    summaries = [
        f"{panel}, {name}, {counted(number, 'effect')}: {times_text(place, low, high)} times as good."
        for panel, name, place, low, high, number in rows.select(
            "panel", "name", "place", "low", "high", "len"
        ).iter_rows()
    ]
    return rows.drop("len").with_columns(tone=pl.lit("open"), summary=pl.Series(summaries, dtype=pl.String))


def _layers(data: pl.DataFrame, margin: float) -> alt.LayerChart | alt.FacetChart:
    low, high = ratio_domain(data, "low", "high", margin)
    data = data.with_columns(
        pl.col("low", "high").clip(low, high),
        filled=pl.when(pl.col("tone").is_in(["shown", "equal"])).then("place"),
        hollow=pl.when(pl.col("tone").is_in(["shown", "equal"]).not_()).then("place"),
    )
    several = data["level"].n_unique() > 1
    looks = distinguished(data["level"], symbolType="circle", orient="top")
    if not several:  # whose name stands beside its rows
        looks["color"].legend = looks["shape"].legend = None
    colour: Any = alt.condition(
        "datum.tone === 'shown' || datum.tone === 'open'", looks["color"], alt.value(REFERENCE)
    )
    rows = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=_NAMES))
    chart = alt.Chart(data)
    base = chart.encode(y=rows)
    axis = sides_axis("filled:Q", low, high)
    shown = {"color": colour, "tooltip": alt.Tooltip("summary:N")}
    hair = (high / low) ** (0.5 / _PANEL)
    return alt.layer(
        # Over all rows, also those of which a panel has nothing.
        chart.mark_rect(color=BAND).encode(x=alt.XDatum(1 / margin), x2=alt.X2Datum(margin)),
        chart.mark_rect(color=REFERENCE).encode(x=alt.XDatum(1 / hair), x2=alt.X2Datum(hair)),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", **shown),
        base.mark_point(size=70, filled=True, opacity=1).encode(x=axis, shape=looks["shape"], **shown),
        base.mark_point(size=60, filled=False, fill="white", strokeWidth=1.8, opacity=1).encode(
            x=alt.X("hollow:Q"), shape=looks["shape"], **shown
        ),
    )


def _explain(drawn: pl.DataFrame, margin: float, *, is_summary: bool) -> str:
    groups = sides(names_of(row)[::-1] for row in drawn.iter_rows(named=True))
    intervals = drawn["low"].count() > 0
    tones = set(map(tone, drawn["verdict"]))
    scale = f"{groups}: how many times as good, on a log scale."
    if is_summary:
        return f"{scale} Each mark is the median of a row's effects; bars reach from the lowest to the highest."
    return explained_by(
        (True, scale),
        (intervals, f"Bars are confidence intervals; the band is the ±{percent(margin - 1)} that count as equal."),
        (not intervals, "How much runs vary is unknown, so there are no intervals."),
        (bool(tones & {"open", "withheld"}), "Hollow marks have no verdict."),
        ("withheld" in tones, "Grey ones are not comparable."),
    )
