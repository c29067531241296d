"""What all charts share: colours, sizes, and the words around a chart."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

import altair as alt
import polars as pl

from fsbench_kit.errors import RequestError
from fsbench_kit.tables import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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

PLOT_WIDTH: Final = 520
PANEL_WIDTH: Final = 330
PANEL_HEIGHT: Final = 130

BAND: Final = "#e4e7eb"
REFERENCE: Final = "#52606d"

_TITLE_CHARACTERS: Final = 92
_SUBTITLE_CHARACTERS: Final = 112
_MOST_LINES: Final = 4
_MOST_DESCRIBED: Final = 12


def colour_scale(levels: Iterable[str]) -> alt.Scale:
    """Give each level its colour: a filesystem's own, or one of the others in the order of their names."""
    names = sorted(set(levels))
    others = [name for name in names if name.lower() not in COLOURS]
    spare = {name: _OTHER_COLOURS[i % len(_OTHER_COLOURS)] for i, name in enumerate(others)}
    return alt.Scale(domain=names, range=[spare.get(name) or COLOURS[name.lower()] for name in names])


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


def panel_header(width: int) -> alt.Header:
    """Head each panel of a chart with its name, from the left, no longer than the panel is wide."""
    return alt.Header(title=None, labelOrient="top", labelAnchor="start", labelLimit=width)


def joined(names: pl.Series) -> str:
    """List the different names of a column."""
    return ", ".join(map(one_line, names.unique().sort()))


def chart_title(heading: Sequence[str], explained: str) -> alt.TitleParams:
    """Write what was found above a chart, and below it how its marks are to be read."""
    lines = [line for text in heading for line in _lines(text, _TITLE_CHARACTERS)]
    return alt.TitleParams(text=lines, subtitle=_lines(explained, _SUBTITLE_CHARACTERS))


def _lines(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, max_lines=_MOST_LINES, placeholder=" …")


def description(kind: str, heading: Sequence[str], explained: str, rows: pl.Series) -> str:
    """Say in words what a chart shows, for those who do not see it."""
    more = f" And {len(rows) - _MOST_DESCRIBED} more." if len(rows) > _MOST_DESCRIBED else ""
    return " ".join([kind, *heading, explained, *rows.head(_MOST_DESCRIBED)]) + more


def nothing(why: list[str]) -> alt.Chart:
    """Draw a chart that says why there is nothing to draw."""
    chart: alt.Chart = (
        alt.Chart(pl.DataFrame({"why": why}), description=" ".join(why))
        .mark_text(align="left", fontSize=13)
        .encode(text="why:N")
    )
    return chart
