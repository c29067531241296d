"""What a notebook shows: charts for every reader, findings as plain text, all paths from one root."""

import base64
from collections.abc import Iterator
from pathlib import Path

import altair as alt
import polars as pl
import pytest

from fsbench_kit import display
from fsbench_kit.errors import RequestError


@pytest.fixture
def _set_up(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(root)
    renderer, theme = alt.renderers.active, alt.theme.active
    display.setup()
    yield
    alt.renderers.enable(renderer)
    alt.theme.enable(theme)


@pytest.fixture
def chart(_set_up: None) -> alt.Chart:
    data = pl.DataFrame({"x": [1, 2], "y": ["ext4", "xfs"]})
    return alt.Chart(data, description="Two dots.").mark_point().encode(x="x", y="y")


def test_a_chart_is_live_an_image_and_words(chart: alt.Chart) -> None:
    bundle = chart._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.vegalite.v5+json", "image/png", "text/plain"}
    assert bundle["application/vnd.vegalite.v5+json"]["mark"]["type"] == "point"
    assert bundle["text/plain"] == "Two dots."
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG\r\n\x1a\n")


def test_the_theme_is_on_and_its_text_can_be_read(chart: alt.Chart) -> None:
    config = chart.to_dict()["config"]
    assert min(config["axis"]["labelFontSize"], config["legend"]["labelFontSize"]) >= 12


def test_a_finding_is_text_and_never_markup() -> None:
    shown = display.Finding('<script>alert("1")</script> & more')._repr_mimebundle_()
    assert shown["application/vnd.fsbench.finding"] == '<script>alert("1")</script> & more'
    assert "<script" not in shown["text/html"]
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; more" in shown["text/html"]


def _project(folder: Path) -> Path:
    (folder / "notebooks" / "deep").mkdir(parents=True)
    (folder / "raw_results").mkdir()
    return folder


def test_the_root_is_found_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = _project(tmp_path / "project")
    monkeypatch.chdir(project / "notebooks" / "deep")
    assert display.project_root() == project


def test_outside_a_project_the_root_is_that_of_the_package(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert display.project_root() == root


def test_without_any_project_the_error_says_what_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(display, "__file__", str(tmp_path / "site-packages" / "fsbench_kit" / "display.py"))
    with pytest.raises(RequestError, match="raw_results"):
        display.project_root()
