"""Sets up a notebook, and displays charts and findings: live, without a network, and in print."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.charts.drawing import png
from fsbench_kit.charts.theme import themed
from fsbench_kit.data.project import project_root
from fsbench_kit.notebooks.parameters import checked, of_kernel
from fsbench_kit.tables import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from fsbench_kit.data.dataset import Dataset, LazyDataset

VEGA_MIME: Final = "application/vnd.vegalite.v5+json"
"""The type that JupyterLab's own renderer handles; it also draws specifications of Vega-Lite 6."""
FINDING_MIME: Final = "application/vnd.fsbench.finding"
EFFECTS_MIME: Final = "application/vnd.fsbench.effects+json"
FACETS_MIME: Final = "application/vnd.fsbench.facets+json"
DRAWN_LATER: Final = "ChartsDrawnLater"
"""The section of a kernel's configuration that leaves drawing its charts to `draw`."""
FACETS: Final = ("study", "tool", "filesystem", "verdict")
"""What the index of a report can be filtered by."""


def setup() -> None:
    """Set up a notebook: check its parameters, change to the project's root, and register this kit's renderer.

    In a report, the notebook keeps the working directory of the report. If a parameter is a list, a single item
    becomes a list of one. The renderer needs no network: JupyterLab draws charts live, other front ends show the
    image, and a terminal shows the chart's description.

    Raises
    ------
    RequestError
        If papermill passed a parameter that the notebook does not have, or a value of the wrong type.
    """
    import altair as alt  # noqa: PLC0415  # rendering pages does not need it
    from IPython import get_ipython  # noqa: PLC0415

    renderer, is_report = mimebundle, False
    if (kernel := get_ipython()) is not None:
        if DRAWN_LATER in kernel.config:
            renderer, is_report = _undrawn, True
        known, given = of_kernel(kernel.history_manager.input_hist_parsed)
        values = {name: kernel.user_ns[name] for name in [*known, *given] if name in kernel.user_ns}
        kernel.user_ns.update(checked(known, values))
    if not is_report:
        os.chdir(project_root())
    alt.renderers.register("fsbench", renderer)
    alt.renderers.enable("fsbench")
    themed()


def mimebundle(spec: dict[str, Any], **_options: object) -> dict[str, Any]:
    """Return a Vega-Lite specification in all forms that a notebook displays and stores."""
    return {**_undrawn(spec), "image/png": base64.b64encode(png(spec)).decode("ascii")}


def _undrawn(spec: dict[str, Any], **_options: object) -> dict[str, Any]:
    return {VEGA_MIME: spec, "text/plain": spec.get("description", "A chart without a description.")}


def draw(node: Any) -> None:
    """Add the images of all charts in a notebook that have none yet."""
    match node:
        case list():
            for item in node:
                draw(item)
        case dict():
            if VEGA_MIME in node and "image/png" not in node:
                node |= mimebundle(node[VEGA_MIME])
            for item in node.values():
                draw(item)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a notebook found: one sentence, or several of which the first is the headline.

    The index of a report quotes it.

    Attributes
    ----------
    text
        Plain text. It may contain names from logs, and is never interpreted as markup.
    facets
        What it is about, for the filters of the index; see `facets`.
    unfolded
        Sentences that stay visible however many precede them.
    effects
        The result of `fsbench_kit.notebooks.effects`, which other reports are compared with.
    """

    text: str | Sequence[str]
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unfolded: Sequence[str] = ()
    effects: Sequence[Mapping[str, Any]] = ()

    def _repr_mimebundle_(self, **_options: object) -> dict[str, Any]:
        first, *others = [self.text] if isinstance(self.text, str) else self.text
        seen = [text for place, text in enumerate(others) if place < _FIRST or text in self.unfolded]
        listed = _listed(seen)
        if more := [text for text in others if text not in seen]:
            listed += f"<details><summary>{counted(len(more), 'more finding')}</summary>{_listed(more)}</details>"
        text = "\n".join([first, *others])
        return {
            FINDING_MIME: text,
            FACETS_MIME: self.facets,
            **({EFFECTS_MIME: self.effects} if self.effects else {}),
            "text/html": f'<div class="finding"><p><strong>{escape(first)}</strong></p>{listed}</div>',
            "text/plain": text,
        }


_FIRST: Final = 2
"""How many findings stay visible below the first; others are folded, to keep the chart on the first screen."""


def _listed(sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def facets(dataset: Dataset | LazyDataset, verdicts: pl.DataFrame | None = None) -> dict[str, list[str]]:
    """Return what a finding is about: the studies, tools and filesystems of its runs, and its verdicts.

    Parameters
    ----------
    verdicts
        A comparison, or any other frame with a ``verdict`` column.
    """
    columns = dataset.runs.lazy().select("study", "tool", "filesystem").unique().collect().to_dict()
    if verdicts is not None:
        columns["verdict"] = verdicts["verdict"]
    return {name: sorted({one_line(value) for value in of.drop_nulls()}) for name, of in columns.items()}
