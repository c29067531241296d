"""The controls of an exploration in a notebook: a thin layer over `Exploration.render`."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any, Final

import ipywidgets
from IPython.display import Javascript, display

from fsbench_kit.charts.theme import dark_charts
from fsbench_kit.explore.options import COORDINATES, Choice, label, text_of
from fsbench_kit.explore.state import (
    CHARTS,
    State,
    Value,
    addressed,
    as_address,
    as_parameters,
    as_python,
    is_page,
)
from fsbench_kit.notebooks.display import VEGA_MIME
from fsbench_kit.tables import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fsbench_kit.explore.exploration import Exploration, View

_ALL: Final = object()
"""Stands first in a list, for leaving it open."""

_EVERY: Final = object()
"""Stands among the baselines, for comparing every level with every other."""

_DEBOUNCE: Final = 0.05
"""Seconds that a change waits for the next, so that a held key is followed once."""

_PAGE_STYLE: Final = "jp-RenderedHTMLCommon"
"""The class by which JupyterLab gives HTML the looks of a notebook's output."""

_IN_THE_BROWSER: Final = """\
const attached = setInterval(() => {
    const area = element.closest(".jp-OutputArea"), narrow = area?.querySelector(".fsbench-narrow input");
    if (!narrow) return;
    area.addEventListener("focusin", (event) => {
        event.target.setAttribute("data-lm-suppress-shortcuts", "true");
    });
    new ResizeObserver(() => {
        if (narrow.checked !== (area.clientWidth <= 800)) narrow.click();
    }).observe(area);
    clearInterval(attached);
}, 50);
"""
"""Keys are the panel's: JupyterLab would take the arrow keys of a list to go to the next cell, and its letters to
cut and to delete. And only the browser knows whether there is room for a wide chart."""

_STYLE: Final = """\
<style>
body.jp-Notebook .lm-BoxPanel-child :has(.fsbench-explore), .jp-Cell :has(.fsbench-explore), .fsbench-explore
  { overflow: visible !important; }
body.jp-Notebook .lm-BoxPanel-child:has(.fsbench-explore) { padding-top: 0 !important; }
.fsbench-explore svg.marks { max-width: 100%; height: auto; }
.fsbench-explore > :first-child { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; }
.fsbench-explore .widget-html-content { min-width: 0; }
.fsbench-explore :is(p, li) { line-height: 1.5; }
.fsbench-explore table { font-size: 12px; margin: 0; }
.fsbench-explore :is(th, td) { padding: 3px 6px; white-space: nowrap; }
.fsbench-narrow { display: none; }
.fsbench-explore .fsbench-heard { position: absolute; clip-path: inset(50%); width: 1px; overflow: hidden; }
.fsbench-bar { flex-wrap: wrap; align-items: flex-end; gap: 0 16px; }
@media (max-width: 800px) {
  .fsbench-explore { flex-wrap: wrap; }
  .fsbench-explore > :first-child {
    z-index: 1; max-height: 40vh; border-bottom: 1px solid; background: var(--jp-layout-color1, white);
  }
  .fsbench-explore > * { flex-basis: 100% !important; padding: 0 !important; }
  .fsbench-beside { flex-wrap: wrap; }
  .fsbench-beside > * { flex-basis: 100% !important; }
}
</style>
"""
"""Controls stay in sight, as nothing around them clips: beside the chart, and in a narrow window above it, at the
very top, with less than half of the height. A chart is never wider than its place, a row of the table is one
line, and what is only heard takes no place."""

_DARK: Final = dark_charts('[data-jp-theme-light="false"] .fsbench-explore', "var(--jp-layout-color1)")

_KEEP, _DROP = "Keep this beside", "Drop what is beside"

_LEVELS: Final = "levels"
_LISTS: Final = ("study", "tool", "metrics", _LEVELS, *COORDINATES)
_TALLEST: Final = 6
_WIDE: Final = {"layout": {"width": "auto"}, "style": {"description_width": "84px"}}
_NAMES: Final = {"factor": "Compare", "metrics": "Metric", "part": "Job", "by": "Panels by"}


class Panel:
    """Controls, and what they show: a sentence, a chart, a table, and the ways to take that away.

    Everything is plain text or data to the browser, whatever a log calls its jobs.

    Parameters
    ----------
    exploration
        Of the dataset.
    data
        The files and folders that it was read from, for whoever takes the state away.
    state
        What is chosen at first.

    Attributes
    ----------
    view
        What is shown now.
    controls
        By name.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.explore import Exploration
    >>> folder = "raw_results/recorded/ext4-xfs-loop-2026"
    >>> panel = Panel(Exploration(fsb.read(folder)), [folder])
    >>> panel.controls["factor"].value, panel.view.table is None
    ('filesystem', False)
    """

    view: View

    def __init__(
        self,
        exploration: Exploration,
        data: Sequence[str],
        state: State | None = None,
        *,
        names: Sequence[str] = (),
    ) -> None:
        self._exploration = exploration
        self._data = data, names
        self._wanted = addressed() or state or State()
        self._beside = addressed("beside")
        self._following = False
        self._timer: asyncio.TimerHandle | None = None
        self.controls: dict[str, Any] = {
            name: ipywidgets.SelectMultiple(description=_name(name), **_WIDE) for name in _LISTS
        } | {
            "factor": ipywidgets.Dropdown(description=_name("factor"), **_WIDE),
            "baseline": ipywidgets.Dropdown(description=_name("baseline"), **_WIDE),
            "confidence": ipywidgets.Dropdown(
                description=_name("confidence"), options=_confidences(self._wanted), **_WIDE
            ),
            "margin": ipywidgets.BoundedFloatText(
                description=_name("margin"), min=1.001, max=10.0, step=0.01, value=1.05, **_WIDE
            ),
            "chart": ipywidgets.ToggleButtons(
                options=[(drawn.label, key) for key, drawn in CHARTS.items()], description=_name("chart")
            ),
            "by": ipywidgets.Dropdown(description=_name("by"), **_WIDE),
        }
        self._keep = ipywidgets.Button(description=_KEEP, layout={"width": "auto"})
        self._keep.on_click(self._kept)
        self._narrow = ipywidgets.Checkbox(description="Narrow").add_class("fsbench-narrow")
        self._narrow.observe(lambda _: self._follow(), names="value")
        self._chart, self._chart_beside = ipywidgets.Output(), ipywidgets.Output()
        self._finding, self._finding_beside, self._table, self._save = (
            ipywidgets.HTML().add_class(_PAGE_STYLE) for _ in range(4)
        )
        half = {"flex": "1 1 0", "min_width": "0"}
        self._place = ipywidgets.VBox([self._finding, self._chart], layout=half)
        self._place_beside = ipywidgets.VBox([self._finding_beside, self._chart_beside], layout=half)
        self._table.layout = {"max_height": "640px", "overflow": "auto"}
        self._python, self._parameters = (
            ipywidgets.Textarea(description=name, rows=rows, **_WIDE)
            for name, rows in (("As Python", 14), ("As YAML", 6))
        )
        self._follow()
        for name, control in self.controls.items():
            control.observe(self._observer(name), names="value")

    @property
    def python(self) -> str:
        """The Python that makes what is shown."""
        return as_python(self.view.state, *self._data)

    def _ipython_display_(self) -> None:
        shown = ipywidgets.VBox(
            [
                ipywidgets.HTML(f"{_STYLE}<style>@media screen {{ {_DARK} }}</style>"),
                self._narrow,
                ipywidgets.HBox([self.controls["chart"], self.controls["by"], self._keep]).add_class(
                    "fsbench-bar"
                ),
                ipywidgets.HBox([self._place, self._place_beside]).add_class("fsbench-beside"),
                self._table,
                self._away(),
            ],
            layout=ipywidgets.Layout(flex="1 1 0", min_width="0", padding="0 0 0 16px"),
        )
        order = ("study", "tool", "factor", _LEVELS, "baseline", "metrics", *COORDINATES, "confidence", "margin")
        column = ipywidgets.VBox(
            [self.controls[name] for name in order], layout=ipywidgets.Layout(flex="0 0 300px", width="300px")
        )
        script = Javascript(_IN_THE_BROWSER)  # type: ignore[no-untyped-call]
        display(script, ipywidgets.HBox([column, shown]).add_class("fsbench-explore"))  # type: ignore[no-untyped-call]

    def _away(self) -> Any:
        return ipywidgets.VBox([self._python, self._parameters, self._save])

    def _observer(self, name: str) -> Callable[[Any], None]:
        def changed(change: Any) -> None:
            if not self._following:
                self._wanted = self._changed(name, change.old, change.new)
                self._soon()

        return changed

    def _changed(self, name: str, old: Any, new: Any) -> State:
        """Return the state that a control asks for."""
        state = self._wanted
        if name == "by":
            return replace(state, by=None if new is _ALL else new)
        if name == "baseline":
            return replace(state, baseline=None if new in (_ALL, _EVERY) else new, all_pairs=new is _EVERY)
        if name not in _LISTS:
            changed: dict[str, Any] = {name: new}
            return replace(state, **changed)
        # Who takes "all" wants only that, and who adds another to it does not want it any more.
        values = () if _ALL in new and _ALL not in old else tuple(value for value in new if value is not _ALL)
        if name == "metrics":
            return replace(state, metrics=values)
        return state.choosing(state.factor if name == _LEVELS else name, values)

    def _kept(self, _button: Any) -> None:
        """Keep what is shown beside what is chosen next, or drop what was kept."""
        self._beside = self._wanted if self._beside is None else None
        self._follow()

    def _soon(self) -> None:
        """Follow, once no further change comes."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._follow()
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(_DEBOUNCE, self._follow)

    def _follow(self) -> None:
        """Show what is wanted, or what is nearest to it."""
        two = self._beside is not None
        self.view = self._exploration.render(self._wanted, narrow=two or self._narrow.value)
        self._wanted = self.view.state
        self._following = True
        try:
            self._offer()
        finally:
            self._following = False
        messages = "".join(f"<p>{escape(one_line(sentence))}</p>" for sentence in self.view.options.messages)
        self._finding.value = f'<div role="status">{messages}{_found(self.view)}</div>'
        self._chart.outputs = _outputs(self.view)
        self._keep.description = _DROP if two else _KEEP
        self._place_beside.layout.display = None if two else "none"
        if self._beside is not None:
            kept = self._exploration.render(self._beside, narrow=True)
            self._finding_beside.value = _found(kept)
            self._chart_beside.outputs = _outputs(kept)
        table = self.view.table
        self._table.value = "" if table is None else table._repr_html_()
        self._python.value = self.python
        self._parameters.value = as_parameters(self._wanted, *self._data)
        file = base64.b64encode(self._parameters.value.encode()).decode()
        self._save.value = (
            f"{_link(self._wanted, self._beside)}"
            f'<p><a download="params.yaml" href="data:application/yaml;base64,{file}">Save params.yaml</a>, and '
            "run <code>papermill notebooks/03_compare.ipynb out.ipynb -f params.yaml</code></p>"
        )

    def _offer(self) -> None:
        """Set every control to what can be chosen, and to what is."""
        state, choices = self._wanted, self.view.options.choices
        # The factor's values are its levels, and have a list of their own, whatever the factor is.
        columns = {name: choices.get(name, ()) for name in _LISTS if name != state.factor}
        columns[_LEVELS] = choices[state.factor]
        for name in _LISTS:
            column, there = state.factor if name == _LEVELS else name, columns.get(name, ())
            chosen = state.metrics if name == "metrics" else state.chosen(column) if there else ()
            control = self.controls[name]
            _options(control, [("all", _ALL), *_labelled(column, there, "run")])
            control.value = chosen or (_ALL,)
            control.rows = min(len(there) + 1, _TALLEST)
            named = name == "study" and any(choice.value is not None for choice in there)
            control.layout.display = None if len(there) > 1 or named else "none"
        _options(self.controls["factor"], _labelled("factor", choices["factor"], "level"))
        _options(self.controls["by"], [("automatic", _ALL), *_labelled("by", choices["by"], "value")])
        self.controls["by"].value = _ALL if state.by is None else state.by
        self.controls["by"].layout.display = None if state.chart == "panels" else "none"
        levels = choices["baseline"]
        every = [("none: all pairs", _EVERY)] if len(levels) > 2 or state.all_pairs else []
        _options(self.controls["baseline"], [("automatic", _ALL), *every, *_labelled(state.factor, levels, "run")])
        self.controls["factor"].value = state.factor if choices["factor"] else None
        automatic = _EVERY if state.all_pairs else _ALL
        self.controls["baseline"].value = automatic if state.baseline is None else state.baseline
        for name in ("confidence", "margin", "chart"):
            self.controls[name].value = getattr(state, name)


def _link(state: State, beside: State | None) -> str:
    """Link to what is chosen, where the exploration is a page of its own."""
    return f'<p><a href="{escape(as_address(state, beside))}">Link to what is shown</a></p>' if is_page() else ""


def _name(name: str) -> str:
    return _NAMES.get(name, label(name))


def _confidences(state: State) -> list[tuple[str, float]]:
    return [(f"{level:.4g} %", level / 100) for level in sorted({90.0, 95.0, 99.0, 100 * state.confidence})]


def _labelled(name: str, choices: Sequence[Choice], noun: str) -> list[tuple[str, Value]]:
    return [(f"{text_of(name, choice.value)} · {counted(choice.count, noun)}", choice.value) for choice in choices]


def _found(view: View) -> str:
    """Write the finding; where the chart's own title is all of it, for those alone who hear the page."""
    title = (view.spec or {}).get("title", {"text": []})
    looks = 'class="fsbench-heard"' if " ".join(title["text"]) == view.finding else 'style="font-weight:600"'
    return f"<p {looks}>{escape(view.finding)}</p>"


def _options(control: Any, options: list[tuple[str, Any]]) -> None:
    """Offer other options; a list that stays the same keeps its place in the browser."""
    if list(control.options) != options:
        control.options = options


def _outputs(view: View) -> tuple[dict[str, Any], ...]:
    if view.spec is None:
        return ()
    # As SVG the marks of a chart have names for those who do not see it.
    metadata = {VEGA_MIME: {"embed_options": {"renderer": "svg"}}}
    return ({"output_type": "display_data", "data": {VEGA_MIME: view.spec}, "metadata": metadata},)
