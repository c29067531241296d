"""How every chart of the kit looks: fonts, sizes and greys that can be read on a page and in print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import altair as alt

FONT: Final = '"Segoe UI", Roboto, "Helvetica Neue", Arial, "Liberation Sans", sans-serif'
_INK: Final = "#1f2933"
_MUTED: Final = "#52606d"
_LINE: Final = "#cbd2d9"


def theme() -> alt.theme.ThemeConfig:
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
                "color": _INK,
                "fontSize": 16,
                "fontWeight": 600,
                "offset": 14,
                "lineHeight": 20,
                "subtitleColor": _MUTED,
                "subtitleFontSize": 12.5,
                "subtitleLineHeight": 17,
                "subtitlePadding": 6,
            },
            "axis": {
                "labelColor": _INK,
                "labelFontSize": 12,
                "titleColor": _MUTED,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "titlePadding": 8,
                "gridColor": "#e4e7eb",
                "domainColor": _LINE,
                "tickColor": _LINE,
            },
            "header": {"labelColor": _INK, "labelFontSize": 13, "labelFontWeight": 600, "title": None},
            "legend": {
                "orient": "top",
                "labelColor": _INK,
                "labelFontSize": 12.5,
                "titleColor": _MUTED,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "labelLimit": 220,
                "symbolSize": 90,
            },
        }
    }
