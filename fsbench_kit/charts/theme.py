"""How every chart of the kit looks: fonts, sizes and greys that can be read on a page and in print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import altair as alt
    from altair.utils.plugin_registry import PluginEnabler

FONT: Final = '"Segoe UI", Roboto, "Helvetica Neue", Arial, "Liberation Sans", sans-serif'
INK: Final = "#1f2933"
MUTED: Final = "#52606d"
_LINE: Final = "#cbd2d9"
_GRID: Final = "#e4e7eb"

DARK: Final = {
    INK: "#e4e7eb",
    MUTED: "#a3b0bd",
    _LINE: "#52606d",
    _GRID: "#2c3640",
    "#0072b2": "#4aa8e0",
    "#d55e00": "#f0803c",
    "#7b3294": "#c07ad8",
    "#009e73": "#2fbf95",
    "#8c510a": "#c98a3a",
    "#661100": "#d9785f",
    "#333333": "#cbd2d9",
    "#117733": "#4fb573",
    "#882255": "#d977a8",
    "#252525": "#c4cdd6",
    "#969696": "#7b8794",
    "#d9d9d9": "#3e4c59",
}
"""The colours of charts -> what they are on a dark page."""


def dark_charts(where: str, paper: str) -> str:
    """Return the style by which drawn charts are dark where a selector finds them, on a page of some colour.

    >>> dark_charts("figure", "black").partition(" figure svg [")[0]  # Vega writes it into the element
    'figure svg { background: none !important; }'
    """
    rules = (
        f'{where} svg [{part}="{light}"] {{ {part}: {dark}; }}'
        for light, dark in {"white": paper, **DARK}.items()
        for part in ("fill", "stroke")
    )
    return " ".join((f"{where} svg {{ background: none !important; }}", *rules))


def themed() -> PluginEnabler[Any, alt.theme.ThemeConfig]:
    """Have Altair draw all charts in this theme from now on; as a context, only those inside of it."""
    import altair as alt  # noqa: PLC0415  # pages need the colours alone

    alt.theme.register("fsbench", enable=False)(_theme)
    return alt.theme.enable("fsbench")


def _theme() -> alt.theme.ThemeConfig:
    """Return the part of a specification that is the same for all charts."""
    return {
        "config": {
            "font": FONT,
            "background": "white",
            "padding": 8,
            "view": {"stroke": None, "continuousWidth": 560, "continuousHeight": 240},
            "title": {
                "anchor": "start",
                "frame": "bounds",
                "color": INK,
                "fontSize": 16,
                "fontWeight": 600,
                "offset": 14,
                "lineHeight": 20,
                "subtitleColor": MUTED,
                "subtitleFontSize": 12.5,
                "subtitleLineHeight": 17,
                "subtitlePadding": 6,
            },
            "axis": {
                "labelColor": INK,
                "labelFontSize": 12,
                "titleColor": MUTED,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "titlePadding": 8,
                "gridColor": _GRID,
                "domainColor": _LINE,
                "tickColor": _LINE,
            },
            "header": {"labelColor": INK, "labelFontSize": 13, "labelFontWeight": 600, "title": None},
            "legend": {
                "orient": "top",
                "labelColor": INK,
                "labelFontSize": 12.5,
                "titleColor": MUTED,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "labelLimit": 220,
                "symbolSize": 90,
                "symbolOpacity": 1,  # else that of the marks, which are clear where they overlap
            },
        }
    }


PAPER: Final = {
    "font": '"Times New Roman", "Liberation Serif", serif',
    "background": "white",
    "padding": 2,
    "view": {"stroke": None},
    "axis": {"labelColor": "black", "titleColor": "black", "titleFontWeight": "normal", "labelFontSize": 11},
    "text": {"color": "black"},
}
"""How a chart looks in a journal."""
