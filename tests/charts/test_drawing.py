"""Charts as files, drawn without a browser."""

import base64
import struct
import zlib
from pathlib import Path

import altair as alt
import polars as pl
import pytest
import vl_convert

from fsbench_kit import charts
from fsbench_kit.charts import drawing
from fsbench_kit.model.errors import RequestError


@pytest.fixture
def chart() -> alt.Chart:
    data = pl.DataFrame({"x": [1, 2], "y": ["ext4", "xfs"]})
    return alt.Chart(data, description="Two dots.").mark_point().encode(x="x", y="y")


def _pixels(image: bytes) -> tuple[bytes, bytes]:
    """Return a PNG's header and its filtered pixels, read chunk by chunk with the checksums held."""
    position, header, data = 8, b"", b""
    while position < len(image):
        length, kind = struct.unpack_from(">I4s", image, position)
        body = image[position + 8 : position + 8 + length]
        assert struct.unpack_from(">I", image, position + 8 + length)[0] == zlib.crc32(kind + body)
        header += body if kind == b"IHDR" else b""
        data += body if kind == b"IDAT" else b""
        position += 12 + length
    assert kind == b"IEND"
    return header, zlib.decompress(data)


def test_packing_an_image_changes_its_size_and_nothing_else(chart: alt.Chart) -> None:
    spec = chart.to_dict()
    drawn = vl_convert.vegalite_to_png(spec, vl_version=drawing.vegalite_version(spec), scale=2.0)
    packed = drawing.png(spec)
    assert len(packed) < len(drawn)
    assert _pixels(packed) == _pixels(drawn)


def test_an_image_is_reduced_to_a_width_with_what_it_shows() -> None:
    pixels = 4 * (b"\0" + 4 * bytes((255, 0, 0)) + 4 * bytes((0, 0, 255)))  # red, and blue beside it
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", 8, 4, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(pixels)),
        (b"IEND", b""),
    )
    image = b"\x89PNG\r\n\x1a\n"
    for kind, body in parts:
        image += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header, shown = _pixels(drawing.reduced(base64.b64encode(image).decode("ascii"), 2))
    assert struct.unpack_from(">II", header) == (2, 1)
    assert tuple(shown[1:5]) == (255, 0, 0, 255)  # the first pixel, which no filter changes


@pytest.mark.parametrize(("height", "drawn"), [(300, 2), (3000, 1)])
def test_a_tall_image_has_half_the_scale(chart: alt.Chart, height: int, drawn: int) -> None:
    header, _ = _pixels(drawing.png(chart.properties(width=400, height=height).to_dict()))
    assert struct.unpack_from(">I", header, 4)[0] == pytest.approx(drawn * height, rel=0.2)


@pytest.mark.parametrize(
    ("ending", "begins"), [(".png", b"\x89PNG"), (".svg", b"<svg"), (".html", b"<!DOCTYPE html>")]
)
def test_a_chart_is_saved_as_its_ending_says(chart: alt.Chart, tmp_path: Path, ending: str, begins: bytes) -> None:
    path = tmp_path / f"chart{ending}"
    charts.save(chart, path)
    assert path.read_bytes().startswith(begins)


def test_a_saved_image_has_the_scale_of_print_whatever_its_height(chart: alt.Chart, tmp_path: Path) -> None:
    charts.save(chart.properties(width=400, height=3000), tmp_path / "chart.png")
    header, _ = _pixels((tmp_path / "chart.png").read_bytes())
    assert struct.unpack_from(">I", header, 4)[0] > 6000


def test_a_saved_chart_has_the_theme_and_a_page_needs_no_network(chart: alt.Chart, tmp_path: Path) -> None:
    active = alt.theme.active
    charts.save(chart, tmp_path / "chart.svg")
    charts.save(chart, tmp_path / "chart.html")
    assert "Liberation Sans" in (tmp_path / "chart.svg").read_text()
    assert "<script src=" not in (tmp_path / "chart.html").read_text()
    assert alt.theme.active == active


def test_a_chart_is_saved_where_a_text_says_in_a_folder_that_is_made(chart: alt.Chart, tmp_path: Path) -> None:
    charts.save(chart, f"{tmp_path}/new/chart.svg")
    assert (tmp_path / "new" / "chart.svg").read_text().startswith("<svg")
    (tmp_path / "taken.svg").mkdir()
    with pytest.raises(RequestError, match="cannot write it"):
        charts.save(chart, tmp_path / "taken.svg")


def test_another_ending_is_refused(chart: alt.Chart, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"cannot draw a chart as '\.bmp'"):
        charts.save(chart, tmp_path / "chart.bmp")
