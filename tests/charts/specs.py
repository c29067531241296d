"""Reads a chart as the specification that a browser gets."""

import json
from typing import Any

import altair as alt

HOSTILE = ('<b>"1"</b>\'\\a\nb\u2028c\x00\x1b[31md', "x" * 10_000)
"""Names that a log may have: markup, quotation marks, line ends and controls; and no end."""


def spec_of(chart: alt.TopLevelMixin) -> dict[str, Any]:
    return json.loads(json.dumps(chart.to_dict()))  # what a browser gets


def data_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    (rows,) = spec["datasets"].values()
    return rows


def layer_of(spec: dict[str, Any], mark: str, **encoding: str) -> dict[str, Any]:
    """Return the layer with a mark whose channels show the given fields."""
    (found,) = (
        layer
        for layer in spec.get("spec", spec)["layer"]
        if layer["mark"]["type"] == mark
        and all(layer["encoding"][channel].get("field") == field for channel, field in encoding.items())
    )
    return found


def heading_of(spec: dict[str, Any]) -> str:
    return " ".join(spec["title"]["text"])


def explained_of(spec: dict[str, Any]) -> str:
    return " ".join(spec["title"]["subtitle"]).replace("\N{NO-BREAK SPACE}", " ")
