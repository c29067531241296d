"""Charts as files: drawn by vl-convert, without a browser and without a network."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from typing import TYPE_CHECKING, Any, Final

import vl_convert

from fsbench_kit.charts.theme import themed
from fsbench_kit.data.files import path_given
from fsbench_kit.data.tabular import writing
from fsbench_kit.model.errors import RequestError, check_given

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import altair as alt

_PRINT_SCALE: Final = 2.0
_LARGEST: Final = 1.2e6
"""In pixels. A larger image has half the scale on a page: it stands only where a chart cannot be drawn."""

_SIZE: Final = re.compile(r' (?:width|height)="([\d.]+)"')
_SCHEMA: Final = re.compile(r"/vega-lite/v(\d+\.\d+)")
_UNDRAWABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def save(chart: alt.TopLevelMixin, to: str | PathLike[str]) -> None:
    """Write a chart to a file, as it looks in a report.

    Parameters
    ----------
    to
        ``*.svg``, ``*.png``, or ``*.html``: a page that needs no network.

    Raises
    ------
    RequestError
        If the ending is another one, or the file cannot be written.

    Examples
    --------
    >>> import altair as alt, pathlib, tempfile
    >>> points = alt.InlineData([{"runs": 3, "width": 0.1}, {"runs": 10, "width": 0.02}])
    >>> chart = alt.Chart(points).mark_point().encode(x="runs:Q", y="width:Q")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "widths.svg")
    ...     save(chart, path)
    ...     print(path.read_text()[:4])
    <svg
    """
    from altair import TopLevelMixin  # noqa: PLC0415  # what draws the specifications of others does without

    check_given(chart, TopLevelMixin, "a function of fsb.charts")
    path = path_given(to)
    if path.suffix not in {".svg", ".png", ".html"}:
        raise RequestError(f"cannot draw a chart as {path.suffix!r}", file=path, hint="Give .svg, .png or .html.")
    with themed():
        spec = chart.to_dict()
    with writing(path):
        if path.suffix == ".png":
            path.write_bytes(png(spec, _PRINT_SCALE))
        elif path.suffix == ".svg":
            path.write_text(_svg(spec), encoding="utf-8")
        else:
            page = vl_convert.vegalite_to_html(_drawable(spec), vl_version=vegalite_version(spec), bundle=True)
            path.write_text(page, encoding="utf-8")


def png(spec: dict[str, Any], scale: float | None = None) -> bytes:
    """Draw a Vega-Lite specification as an image, at the scale that suits a page if none is given."""
    svg = _svg(spec)
    if scale is None:
        width, height = map(float, _SIZE.findall(svg, 0, svg.index(">")))
        scale = _PRINT_SCALE if width * height * _PRINT_SCALE**2 <= _LARGEST else _PRINT_SCALE / 2
    return _packed(vl_convert.svg_to_png(svg, scale=scale))


def reduced(image: str, width: int) -> bytes:
    """Return a PNG, given in base64, with a width in pixels; drawing its chart again takes ten times as long."""
    own_width, own_height = struct.unpack_from(">II", base64.b64decode(image[:32]), 16)
    size = f"width='{own_width}' height='{own_height}'"
    svg = f"<svg xmlns='{_SVG}' {size}><image {size} href='data:image/png;base64,{image}'/></svg>"
    return _packed(vl_convert.svg_to_png(svg, scale=width / own_width))


_SVG: Final = "http://www.w3.org/2000/svg"


def _svg(spec: dict[str, Any]) -> str:
    return vl_convert.vegalite_to_svg(_drawable(spec), vl_version=vegalite_version(spec))


def _drawable(spec: Any) -> Any:
    """Blank out the characters that XML cannot hold: where vl-convert meets one, it ends the whole process."""
    match spec:
        case str():
            return _UNDRAWABLE.sub(" ", spec)
        case list():
            return [_drawable(item) for item in spec]
        case dict():
            return {name: _drawable(value) for name, value in spec.items()}
    return spec


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


def vegalite_version(spec: Mapping[str, Any]) -> str | None:
    """Return the version of Vega-Lite for which a specification is written, as vl-convert names it: ``6.1``.

    vl-convert takes its newest for one that does not say.
    """
    found = _SCHEMA.search(spec.get("$schema", ""))
    return None if found is None else found[1]
