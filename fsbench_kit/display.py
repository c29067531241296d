"""How a notebook begins, and how its charts and findings are shown: live, without a network, in print."""

from __future__ import annotations

import base64
import os
import struct
import zlib
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

import altair as alt
import vl_convert

from fsbench_kit.errors import RequestError

VEGA_MIME: Final = "application/vnd.vegalite.v5+json"
"""What JupyterLab's own renderer listens to; it draws specifications of Vega-Lite 6 as well."""
FINDING_MIME: Final = "application/vnd.fsbench.finding"

FONT: Final = '"Segoe UI", Roboto, "Helvetica Neue", Arial, "Liberation Sans", sans-serif'
_INK: Final = "#1f2933"
_MUTED: Final = "#52606d"
_LINE: Final = "#cbd2d9"
_PRINT_SCALE: Final = 2.0


def setup() -> None:
    """Begin a notebook: work in the project's root, and have Altair draw with this kit's renderer and theme.

    The renderer needs no network: JupyterLab draws the chart live, whatever cannot do that shows the image, and a
    terminal shows the chart's description.
    """
    os.chdir(project_root())
    alt.renderers.register("fsbench", mimebundle)
    alt.renderers.enable("fsbench")
    alt.theme.register("fsbench", enable=True)(_theme)


def project_root() -> Path:
    """Return the folder from which every path in a notebook or a report is resolved.

    It is the nearest one, from the working directory upwards, that holds notebooks and raw results. Where there is
    none it is the folder that holds this package, so that a notebook works from any directory.

    Raises
    ------
    RequestError
        If that is no project either.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).parents[1]):
        if (folder / "notebooks").is_dir() and (folder / "raw_results").is_dir():
            return folder
    raise RequestError(
        f"{here} is not in a project",
        hint="Work in a folder that has notebooks/ and raw_results/, or below it.",
    )


def png(spec: dict[str, Any]) -> bytes:
    """Draw a Vega-Lite specification as an image."""
    return _packed(vl_convert.vegalite_to_png(spec, vl_version=vegalite_version(), scale=_PRINT_SCALE))


def _packed(image: bytes) -> bytes:
    """Compress a PNG again: vl-convert is in a hurry, and every chart's image is in its notebook and its page."""
    packed, pixels, position = [image[:8]], b"", 8
    while position < len(image):
        length, kind = struct.unpack_from(">I4s", image, position)
        body = image[position + 8 : position + 8 + length]
        if kind == b"IDAT":
            pixels += body
        elif kind == b"IEND":
            packed += [_chunk(b"IDAT", zlib.compress(zlib.decompress(pixels))), _chunk(kind, body)]
        else:
            packed.append(_chunk(kind, body))
        position += 12 + length
    return b"".join(packed)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def vegalite_version() -> str:
    """Return the version of Vega-Lite for which Altair writes, as vl-convert names it: ``6.1``."""
    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])


def mimebundle(spec: dict[str, Any], **_options: object) -> dict[str, Any]:
    """Return a Vega-Lite specification in the forms in which a notebook shows and keeps it."""
    return {
        VEGA_MIME: spec,
        "image/png": base64.b64encode(png(spec)).decode("ascii"),
        "text/plain": spec.get("description", "A chart without a description."),
    }


@dataclass(frozen=True, slots=True)
class Finding:
    """What a notebook found, in a sentence or two; the index of a report quotes it.

    Attributes
    ----------
    text
        Plain text. It may hold names from logs, and is shown as it is, never as markup.
    """

    text: str

    def _repr_mimebundle_(self, **_options: object) -> dict[str, str]:
        return {
            FINDING_MIME: self.text,
            "text/html": f'<p class="finding"><strong>{escape(self.text)}</strong></p>',
            "text/plain": self.text,
        }


def _theme() -> alt.theme.ThemeConfig:
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
