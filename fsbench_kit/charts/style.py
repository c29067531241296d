"""What all charts share: colours, sizes, and the text around a chart."""

from __future__ import annotations

import json
import math
import textwrap
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import altair as alt
import polars as pl

from fsbench_kit.charts.theme import MUTED
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.order import in_order
from fsbench_kit.model.units import scales
from fsbench_kit.tables import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MOST_ROWS: Final = 5000
"""More rows than this are not a chart but a table of points: they have to be summarised first."""


class Style(NamedTuple):
    """How a level looks in every chart: some do not see colours, and some paper is grey."""

    colour: str
    shape: str
    dash: Sequence[float]


_HOURGLASS: Final = "M-.7,-.7L.7,-.7L-.7,.7L.7,.7Z"

STYLES: Final = {
    "ext4": Style("#0072b2", "circle", [1, 0]),
    "xfs": Style("#d55e00", "square", [5, 2]),
    "zfs": Style("#7b3294", "triangle-up", [1.5, 1.5]),
    "btrfs": Style("#009e73", "diamond", [8, 2, 2, 2]),
    "ext3": Style("#56b4e9", "triangle-down", [3, 3]),
    "ext2": Style("#8c9eae", "triangle-left", [10, 4]),
    "f2fs": Style("#e69f00", "cross", [5, 2]),
    "jfs": Style("#cc79a7", "triangle-right", [1.5, 1.5]),
    "nilfs2": Style("#8c510a", _HOURGLASS, [3, 3]),
    "reiserfs": Style("#661100", "cross", [8, 2, 2, 2]),
}
"""The styles of filesystems, the same in every chart. The colours are of Okabe and Ito, who chose them so that
people tell them apart whatever they see of red and green, and more of different lightness."""
_OTHER_STYLES: Final = tuple(
    Style(colour, style.shape, style.dash)
    for colour, style in zip(
        ("#333333", "#117733", "#882255", "#44aa99", "#999933", "#aa4499", "#6699cc", "#b8860b"),
        STYLES.values(),
        strict=False,
    )
)

# The span of a log axis up to which its ticks are these multiples of powers of ten.
_STEPS: Final = {
    5.0: (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
    1e3: (1.0, 2.0, 5.0),
    math.inf: (1.0,),
}
_RATIO_STEPS: Final = {
    4.0: (1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
    20.0: (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0),
    1e3: (1.0, 2.0, 5.0),
    1e5: (1.0, 3.0),
    math.inf: (1.0,),
}
_AROUND: Final = 1.1

PLOT_WIDTH: Final = 520
PANEL_WIDTH: Final = 330
PANEL_HEIGHT: Final = 130
_HEAD_CHARACTERS: Final = 44
"""As many letters of a panel's head fit above it, on a phone too."""

BAND: Final = "#e4e7eb"
REFERENCE: Final = MUTED

_CAPTION_WIDTH: Final = 644
_TITLE_LETTER, _SUBTITLE_LETTER = 7.0, 5.75
"""The widths of letters, in pixels."""
_SYMBOL: Final = 26
"""What a legend has beside each of its names, in pixels."""
_MOST_LINES: Final = 4
"""As many lines a caption has at most, and as many more as it is narrower than others."""
_MOST_DESCRIBED: Final = 12


def styles_of(names: Sequence[str]) -> list[Style]:
    """Return the style of each level: a filesystem's own, or one of the others in their order."""
    others = [name for name in names if name.lower() not in STYLES]
    spare = {name: _OTHER_STYLES[i % len(_OTHER_STYLES)] for i, name in enumerate(others)}
    return [spare.get(name) or STYLES[name.lower()] for name in names]


def distinguished(levels: Iterable[str], **legend: Any) -> dict[str, Any]:
    """Return the encodings that give each level its colour, its shape and its dash."""
    names = in_order(levels)
    shown = alt.Legend(title=None, **in_columns(names), **legend)
    styles = styles_of(names)

    def scale(of: Sequence[Any]) -> dict[str, Any]:
        return {"scale": alt.Scale(domain=names, range=of), "legend": shown}

    return {
        "color": alt.Color("level:N", **scale([style.colour for style in styles])),
        "shape": alt.Shape("level:N", **scale([style.shape for style in styles])),
        "strokeDash": alt.StrokeDash("level:N", **scale([style.dash for style in styles])),
    }


def in_columns(names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of a legend that would be wider than a chart, so that its rows fit on a phone too."""
    widest = _SYMBOL + round(_TITLE_LETTER * max(map(len, names), default=0))
    if len(names) * widest <= PLOT_WIDTH:
        return {}
    return {"columns": max(1, PANEL_WIDTH // widest), "symbolLimit": 0}


FEW_LEVELS: Final = 6
"""Where a chart names the level in each row, so many at most have a legend too."""


def log_scale(low: float, high: float) -> alt.Scale:
    """Return a log scale from a little below the lowest to a little above the highest value."""
    return alt.Scale(type="log", domain=[low / _AROUND, high * _AROUND], nice=False)


def ratio_axis(field: str, title: str, low: float, high: float) -> alt.X:
    """Return a log axis of ratios from one end to the other."""
    return alt.X(
        field,
        title=f"{title} (log scale)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(
            values=_ticks(low, high, _steps(_RATIO_STEPS, high / low)), format="~g", labelOverlap="greedy"
        ),
    )


def sides_axis(field: str, low: float, high: float) -> alt.X:
    """Return a log axis with a side for each of two groups: on both, how many times as good that group is."""
    multiples = _ticks(1.0, max(high, 1 / low), _steps(_RATIO_STEPS, high / low))
    ticks = sorted({*multiples, *(1 / tick for tick in multiples)})
    return alt.X(
        field,
        title=None,
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(
            values=[tick for tick in ticks if low <= tick <= high], labelExpr=TIMES, labelOverlap="greedy"
        ),
    )


TIMES: Final = "format(max(datum.value, 1 / datum.value), ',.3~r') + '\u00d7'"
"""The expression by which a browser writes a tick of such an axis."""


def sides(pairs: Iterable[tuple[str, str]]) -> str:
    """Say which side of an axis is whose, given the baseline and the level of each ratio.

    >>> sides([("ext4", "xfs")]), sides([("ext4", "xfs"), ("ext4", "zfs")])
    ('← ext4 better · xfs better →', '← ext4 better · the other better →')
    >>> sides([("ext4", "xfs"), ("xfs", "zfs")])
    '← the second better · the first better →'
    """
    baselines, levels = (list(dict.fromkeys(names)) for names in zip(*pairs, strict=True))
    left = baselines[0] if len(baselines) == 1 else "the second"
    right = levels[0] if len(levels) == 1 else "the other" if len(baselines) == 1 else "the first"
    if len(left) + len(right) > _LONGEST_NAMES:
        left, right = "baseline", "the other"
    return f"← {left} better · {right} better →"


_LONGEST_NAMES: Final = 24
"""Longer names of two groups do not stand at an axis."""


def legible(ticks: Sequence[float], low: float, high: float, width: int) -> list[float]:
    """Return the ticks of a `sides_axis` whose labels fit beside each other; that at 1 is the first to stay.

    >>> legible([1 / 3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5], 0.25, 1.7, 190)
    [0.4, 0.6, 1.0, 1.5]
    """
    kept: list[tuple[float, float, float]] = []
    for tick in sorted(ticks, key=lambda tick: abs(math.log(tick))):
        place = width * math.log(tick / low) / math.log(high / low)
        half = _DIGIT * len(f"{max(tick, 1 / tick):.3g}×") / 2
        if all(abs(place - other) >= half + of_other + _DIGIT for _, other, of_other in kept):
            kept.append((tick, place, half))
    return sorted(tick for tick, _, _ in kept)


_DIGIT: Final = 6.5
"""How wide a digit of an axis is, in pixels."""

_LONGEST_RULE: Final = 4.0
"""How far, as a factor, an interval's end may lie from its point before the axis cuts it off."""
_EDGE: Final = 1.06


def ratio_domain(data: pl.DataFrame, low: str, high: str, margin: float) -> tuple[float, float]:
    """Return the ends of a ratio axis: all points, the band, and intervals as far as they are bearable.

    Parameters
    ----------
    data
        With a column ``place``.
    low, high
        The columns of the intervals' ends.
    margin
        That of the band.
    """
    place = pl.col("place")
    least = pl.max_horizontal(pl.col(low).fill_null(place), place / _LONGEST_RULE)
    most = pl.min_horizontal(pl.col(high).fill_null(place), place * _LONGEST_RULE)
    ends = data.select(
        low=pl.min_horizontal(place, least).min(),
        high=pl.max_horizontal(place, most).max(),
    ).row(0)
    return min(ends[0], 1 / margin**2) / _EDGE, max(ends[1], margin**2) * _EDGE


def _steps(steps: Mapping[float, Sequence[float]], span: float) -> Sequence[float]:
    """Return the multiples of powers of ten at which an axis has ticks: fewer on a longer axis."""
    return next(some for longest, some in steps.items() if span <= longest)


def _ticks(low: float, high: float, multiples: Sequence[float]) -> list[float]:
    """Return the ticks of a log axis."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [tick for decade in decades for step in multiples if low <= (tick := step * 10.0**decade) <= high]


def unit_axis(low: float, high: float, unit: str) -> alt.Axis:
    """Return the axis of a log scale of some base unit, each tick with the prefix that suits it: 200 µs, 1 ms."""
    ends = low / _AROUND, high * _AROUND
    if unit.startswith("B"):
        powers = (2.0**power for power in range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1))
        ticks = [tick for tick in powers if ends[0] <= tick <= ends[1]]
    else:
        ticks = _ticks(*ends, _steps(_STEPS, ends[1] / ends[0]))
    return alt.Axis(values=ticks, labelExpr=prefixed(unit), labelOverlap="greedy")


def prefixed(unit: str) -> str:
    """Return the expression by which a browser writes an axis' value of a base unit as people do."""
    texts = (
        f"abs(datum.value) > {0.999 * factor:g} ? format(datum.value / {factor:g}, '.3~g') + ' {name}'"
        for name, factor in scales(unit)
    )
    return " : ".join([*texts, "datum.value === 0 ? '0' : format(datum.value, '.3~g')"])


def check_size(frame: pl.DataFrame) -> None:
    """Refuse a frame that has to be summarised before it is drawn.

    Raises
    ------
    RequestError
        If it has more than `MOST_ROWS`.
    """
    if frame.height > MOST_ROWS:
        raise RequestError(
            f"{frame.height:,} rows are too many for a chart, which takes {MOST_ROWS:,}",
            hint="Summarise them in Polars first, or keep the cells that your question is about.",
        )


def panel_header(names: Iterable[str]) -> alt.Header:
    """Head each panel of a chart with its name, from the left; a long one is broken into lines."""
    lines = json.dumps({name: list(head_lines(name)) for name in names})
    return alt.Header(
        title=None, labelOrient="top", labelAnchor="start", labelLimit=0, labelExpr=f"({lines})[datum.label]"
    )


def head_lines(name: str) -> Iterator[str]:
    """Break a list into lines at its commas."""
    space = "\N{NO-BREAK SPACE}"
    whole = name.replace(" ", space).replace(f",{space}", ", ")
    for line in textwrap.wrap(whole, _HEAD_CHARACTERS):
        yield line.replace(space, " ")


def joined(names: pl.Series) -> str:
    """List the different names of a column."""
    return ", ".join(map(one_line, in_order(names)))


def one_lines(names: pl.Series) -> pl.Series:
    """Put each name of a column on one line."""
    return pl.Series(names.name, map(one_line, names), pl.String)


def rows_axis(
    field: str, width: int, sort: Sequence[str] | None = None, *, lines: int = 1, **options: Any
) -> alt.Y:
    """Return an axis with a row for each name, in the order of the data unless another is given.

    In a `by_rows` chart that is narrow, names stand above what they name; the longest has so many lines.
    """

    def either(narrow: str, wide: str) -> alt.ExprRef:
        return alt.ExprRef(f"narrow ? {narrow} : {wide}")

    style = {
        "labelAlign": either("'left'", "'right'"),
        "labelBaseline": either("'bottom'", "'middle'"),
        "labelOffset": either(str(ABOVE - LABEL_LINE * (lines - 1)), "0"),
        "labelPadding": either("0", "10"),
        "labelLimit": either("2000", str(width)),
    }
    axis = alt.Axis(ticks=False, domain=False, zindex=1, **style | options)
    return alt.Y(field, sort=sort, title=None, axis=axis)


ABOVE: Final = -8
"""Where the last line of a name stands above its row in a narrow chart, from the row's middle."""
LABEL_LINE: Final = 14
"""The height of a line of a name."""


GROWS: Final = 18
"""By how much a row is higher where its name stands above it."""


def by_rows(
    labels: int, *, right: int = 20, grows: int = GROWS, lines: int = 1, narrow: bool = False
) -> dict[str, Any]:
    """Return the properties of a chart of rows, from which a page fits it to its width.

    Parameters
    ----------
    labels, right
        The room for names to the left of the plot, and for text to its right, in pixels.
    grows
        By how much a row is higher where the chart is narrow.
    lines
        How many lines the longest name has: a row is never lower than these on paper.
    narrow
        Whether names stand above their rows.
    """
    room = {"labels": labels, "right": right, "grows": grows, "least": 1 + LABEL_LINE * lines}
    return {"params": [alt.VariableParameter("narrow", value=narrow)], "usermeta": {"rows": room}}


def panels(
    chart: alt.Chart | alt.LayerChart | alt.FacetChart,
    names: Sequence[str],
    caption: dict[str, Any],
    *,
    height: int | alt.Step,
    width: int | None = None,
    columns: int = 2,
) -> alt.FacetChart:
    """Lay out a panel for each name, each with its own horizontal axis, under the `captions` of all."""
    width = width or (PLOT_WIDTH if len(names) == 1 else PANEL_WIDTH)
    facet = alt.Facet("panel:N", sort=list(names), header=panel_header(names))
    faceted = chart.properties(width=width, height=height).facet(facet, columns=columns)
    laid_out: alt.FacetChart = faceted.resolve_axis(x="independent").properties(**caption)
    return laid_out


def captions(
    kind: str, heading: Sequence[str], explained: str, rows: Iterable[str] = (), *, width: int = _CAPTION_WIDTH
) -> dict[str, Any]:
    """Write what was found above a chart and below it how its marks are to be read, and both for a screen reader.

    Parameters
    ----------
    rows
        What its marks say one by one, for those who do not see them.
    width
        How wide the text may be, in pixels.
    """
    lines = [line for text in heading for line in _lines(text, width, _TITLE_LETTER)]
    described = list(rows)
    more = [f"And {len(described) - _MOST_DESCRIBED} more."] if len(described) > _MOST_DESCRIBED else []
    return {
        "title": alt.TitleParams(text=lines, subtitle=_lines(explained, width, _SUBTITLE_LETTER)),
        "description": " ".join([kind, *heading, explained, *described[:_MOST_DESCRIBED], *more]),
    }


def _lines(text: str, width: int, letter: float) -> list[str]:
    most = math.ceil(_MOST_LINES * _CAPTION_WIDTH / width)
    return textwrap.wrap(text, int(width / letter), max_lines=most, placeholder=" …")


def one_word(figure: str) -> str:
    """Keep a figure and its unit on one line."""
    return figure.replace(" ", "\N{NO-BREAK SPACE}")


def explained_by(*sentences: tuple[bool, str]) -> str:
    """Join the sentences that hold for a chart."""
    return " ".join(text for holds, text in sentences if holds)


def nothing(why: list[str]) -> alt.Chart:
    """Draw a chart that says why there is nothing to draw."""
    chart: alt.Chart = (
        alt.Chart(pl.DataFrame({"why": why}), description=" ".join(why), usermeta={"says": why})
        .mark_text(align="left", fontSize=13)
        .encode(text="why:N")
    )
    return chart
