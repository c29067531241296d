"""What a notebook shows: charts for every reader, findings as plain text, all paths from one root."""

import base64
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import altair as alt
import IPython
import polars as pl
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from traitlets.config import Config

from fsbench_kit.model.errors import RequestError
from fsbench_kit.notebooks import display

SetUp = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
def chart(_as_in_a_notebook: None) -> alt.Chart:
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


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, _as_in_a_notebook: None) -> InteractiveShell:
    """Return what runs the cells of a notebook in a kernel."""
    options = Config(HistoryManager={"enabled": False})
    shell = InteractiveShell(config=options, user_module=ModuleType("the_notebook"))
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    return shell


def test_charts_are_drawn_later_where_the_kernel_is_told_so(chart: alt.Chart, kernel: InteractiveShell) -> None:
    at_once = chart._repr_mimebundle_()
    kernel.config.merge(Config({display.DRAWN_LATER: {"on": True}}))
    display.setup()
    bundle = chart._repr_mimebundle_()
    assert "image/png" not in bundle
    notebook = {
        "cells": [{"outputs": [{"data": bundle}, {"text": "no chart"}]}],
        "metadata": {"state": [dict(bundle)]},
    }
    display.draw(notebook)
    assert notebook["cells"][0]["outputs"][0]["data"] == at_once
    assert notebook["metadata"]["state"] == [at_once]


@pytest.fixture
def set_up_with(root: Path, kernel: InteractiveShell) -> SetUp:
    """Return a function that begins a notebook with parameters from papermill, and returns its names."""

    def set_up(given: dict[str, Any]) -> dict[str, Any]:
        notebook = load_notebook_node(str(root / "notebooks" / "03_compare.ipynb"))
        for cell in parameterize_notebook(notebook, given).cells:
            if any("parameters" in tag for tag in cell.metadata.tags):
                kernel.run_cell(cell.source, store_history=True).raise_error()
        display.setup()
        names: dict[str, Any] = kernel.user_ns
        return names

    return set_up


def test_a_notebook_gets_a_list_where_papermill_gave_a_string(set_up_with: SetUp) -> None:
    names = set_up_with({"data": "raw_results/published", "metrics": "bandwidth", "margin": 2})
    assert names["data"] == ["raw_results/published"]
    assert names["metrics"] == ["bandwidth"]
    assert (names["margin"], names["factor"]) == (2, "filesystem")


def test_a_notebook_refuses_a_parameter_that_it_does_not_have(set_up_with: SetUp) -> None:
    with pytest.raises(RequestError, match="this notebook has no parameter 'basline'") as caught:
        set_up_with({"data": ["raw_results/recorded"], "basline": "xfs"})
    assert "Did you mean baseline? The choices are: data, names, factor, baseline, all_pairs," in str(caught.value)


@pytest.mark.parametrize("given", [{"confidence": "abc"}, {"confidence": None}, {"title": 12}, {"where": "read"}])
def test_a_notebook_refuses_a_value_of_another_type(set_up_with: SetUp, given: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match=f"the parameter '{next(iter(given))}' cannot be"):
        set_up_with(given)


def test_any_number_is_judged_by_the_notebook_and_not_by_papermill(set_up_with: SetUp) -> None:
    assert set_up_with({"confidence": float("inf")})["confidence"] == float("inf")
    with pytest.raises(RequestError, match="no parameter 'limit'"):
        set_up_with({"limit": float("inf")})


def test_a_parameter_that_is_changed_by_hand_is_checked_too(kernel: InteractiveShell) -> None:
    """JupyterLab runs cells in any order, and papermill's is not among them."""
    for cell in ("x = 2", "data: list[str] = 'logs'\nruns: int = 3", "y = 1", "import os", "x, y = 1.5, 'text'"):
        kernel.run_cell(cell, store_history=True).raise_error()
    display.setup()
    assert [kernel.user_ns[name] for name in ("data", "runs", "x", "y")] == [["logs"], 3, 1.5, "text"]
    kernel.run_cell("runs = 'three'", store_history=True).raise_error()
    with pytest.raises(RequestError, match="the parameter 'runs' cannot be 'three'"):
        display.setup()


def test_a_type_that_is_named_further_down_hides_no_parameter(kernel: InteractiveShell) -> None:
    for cell in ("data: list[str] = []", "# Parameters\nbogus = 1\n", "threshold: float = 0.3"):
        kernel.run_cell(cell, store_history=True).raise_error()
    with pytest.raises(RequestError, match="no parameter 'bogus'"):
        display.setup()


def test_in_a_notebook_an_error_is_its_message_alone(kernel: InteractiveShell) -> None:
    kernel.user_ns["error"] = RequestError("no such level", hint="There are: ext4, xfs.")
    with capture_output() as captured:
        kernel.run_cell("def f():\n    raise error\nf()")
    assert captured.stdout.splitlines() == ["no such level", "There are: ext4, xfs."]


def test_a_finding_is_text_and_never_markup() -> None:
    shown = display.Finding('<script>alert("1")</script> & more')._repr_mimebundle_()
    assert shown["application/vnd.fsbench.finding"] == '<script>alert("1")</script> & more'
    assert "<script" not in shown["text/html"]
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; more" in shown["text/html"]


def test_findings_are_folded_except_those_that_stay_in_sight() -> None:
    said = ["one", "two", "three", "four", "not comparable: cached", "six"]
    shown = display.Finding(said, unfolded=["not comparable: cached"])._repr_mimebundle_()
    seen, _, folded = shown["text/html"].partition("<details>")
    assert re.findall("<(?:strong|li)>([^<]*)", seen) == ["one", "two", "three", "not comparable: cached"]
    assert re.findall("<(?:summary|li)>([^<]*)", folded) == ["2 more findings", "four", "six"]
    assert shown["application/vnd.fsbench.finding"].splitlines() == said
