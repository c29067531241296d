"""Charts and tables of a page: each has an address, and can be saved under a name that tells what it shows."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from html import escape
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.charts.drawing import reduced
from fsbench_kit.notebooks.display import FINDING_MIME, VEGA_MIME
from fsbench_kit.tables.layout import TABLE_MIME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nbformat import NotebookNode

_HEADING: Final = re.compile(r"^##\s+(.+?)\s*$", re.MULTILINE)
_THUMBNAIL_WIDTH: Final = 320
"""In pixels."""


def charts(notebook: NotebookNode) -> Iterator[dict[str, Any]]:
    """Yield what is known of each chart of an executed notebook: MIME type -> what is shown."""
    return (data for data in outputs(notebook) if VEGA_MIME in data)


def outputs(notebook: NotebookNode) -> Iterator[dict[str, Any]]:
    """Yield the data of all outputs: MIME type -> what is shown."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "data" in output:
                yield output["data"]


def headings(notebook: NotebookNode) -> dict[str, str]:
    """Return the sections of a notebook: address -> heading."""
    found = (text for cell in notebook.cells for text in _headings(cell))
    return {_anchor(text): text for text in found}


def _headings(cell: NotebookNode) -> list[str]:
    return _HEADING.findall(cell.source) if cell.cell_type == "markdown" else []


def _anchor(heading: str) -> str:
    """Return the address that nbconvert gives a heading."""
    return re.sub(r"[`*_]", "", heading).replace(" ", "-")


def take_console(notebook: NotebookNode) -> str:
    """Take away what was printed before the finding, such as a launch's progress, and return it."""
    shown = [
        any(FINDING_MIME in output.get("data", {}) for output in cell.get("outputs", []))
        for cell in notebook.cells
    ]
    before = notebook.cells[: shown.index(True)] if True in shown else []
    printed = []
    for cell in before:
        streams = [output for output in cell.get("outputs", []) if output.output_type == "stream"]
        printed += ["".join(output.text) for output in streams]
        if streams:
            cell.outputs = [output for output in cell.outputs if output.output_type != "stream"]
    return "".join(printed)


def drop_empty_sections(notebook: NotebookNode) -> None:
    """Take away text that announces what is not there: that of a section whose code shows nothing.

    A chart that only says why there is nothing to draw is nothing either: the finding and the notes say it.
    """
    kept: list[NotebookNode] = []
    for place, cell in enumerate(notebook.cells):
        following = list(takewhile(lambda one: one.cell_type != "markdown", notebook.cells[place + 1 :]))
        shows = [output for code in following for output in code.get("outputs", []) if not _says(output)]
        if place == 0 or cell.cell_type != "markdown" or not following or shows:
            kept.append(cell)
            continue
        for code in following:
            code.outputs = []
    notebook.cells = kept


def _says(output: Mapping[str, Any]) -> list[str]:
    """Return what a chart says that has nothing to draw."""
    spec = output.get("data", {}).get(VEGA_MIME, {})
    return list(spec.get("usermeta", {}).get("says", []))


def address(notebook: NotebookNode, page: str, headline: str) -> None:
    """Turn charts and tables into figures of a page, named after the section in which they stand.

    What the page's headline says is not said again above a chart.
    """
    section, seen = "", Counter[str]()
    for cell in notebook.cells:
        section = (_headings(cell) or [section])[-1]
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            kind = "chart" if VEGA_MIME in data else "table" if TABLE_MIME in data else None
            if kind is None:
                continue
            name = f"{_slug(section)}-{kind}".lstrip("-")
            seen[name] += 1
            name = name if seen[name] == 1 else f"{name}-{seen[name]}"
            if kind == "chart":
                data["text/html"] = _chart(data, name, page, headline)
            else:
                data["text/html"] = _table(data, name, page)
            for mime in (VEGA_MIME, TABLE_MIME, "image/png"):
                data.pop(mime, None)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _chart(data: Mapping[str, Any], name: str, page: str, headline: str) -> str:
    """Write a chart: its words, its image, and beside it the specification from which the script draws.

    A very large image is left out, so that a page stays light. Where the chart cannot be drawn, the words that
    describe it stand in its place.
    """
    whole = data[VEGA_MIME]
    if says := whole.get("usermeta", {}).get("says"):
        return "".join(f"<p>{escape(text)}</p>" for text in says)
    spec = compressed(json.dumps(whole))
    title = whole.get("title", {})
    title = title if isinstance(title, dict) else {"text": title}
    heading, explained = (_joined(title.get(part)) for part in ("text", "subtitle"))
    if headline.startswith(heading.removesuffix(" …")):
        heading = ""
    heading, explained = escape(heading), escape(explained)
    label = f'aria-labelledby="{name}-title"' if heading else 'aria-label="Chart"'
    strong = f'<strong id="{name}-title">{heading}</strong> ' if heading else ""
    caption = f"<figcaption>{strong}<span>{explained}</span></figcaption>" if heading or explained else ""
    return (
        f'<figure class="chart" id="{name}" data-name="{escape(page)}-{name}" role="group" {label}>{caption}'
        f"{_undrawn(data['image/png'], escape(data['text/plain']))}"
        f'<script type="application/gzip">{spec}</script></figure>'
    )


def _undrawn(image: str, words: str) -> str:
    """Write what stands in the place of a chart until it is drawn."""
    if len(image) > _LARGE_IMAGE:
        return f'<p class="undrawn">{words}</p>'
    return f'<img src="data:image/png;base64,{escape(image)}" alt="{words}">'


_LARGE_IMAGE: Final = 200_000


def _joined(text: Any) -> str:
    return " ".join(text) if isinstance(text, list) else str(text or "")


def _table(data: Mapping[str, Any], name: str, page: str) -> str:
    """Write a table, and below it links to its files."""
    links = " ".join(
        _link(f"{page}-{name}.{ending}", text, *_KINDS[ending])
        for ending, text in json.loads(data[TABLE_MIME]).items()
    )
    save = f'<p class="save">{links} <a href="#{name}" aria-label="Link to this table">#</a></p>'
    return f'<div class="shown" id="{name}">{data["text/html"]}{save}</div>'


_KINDS: Final = {"csv": ("text/csv", "CSV"), "tex": ("application/x-tex", "LaTeX")}


def _link(name: str, text: str, kind: str, label: str) -> str:
    """Write a link to a file that the page contains, compressed where it would make the page slow to load."""
    packed = base64.b64encode(text.encode()).decode("ascii")
    if len(text) > _LARGE_FILE:
        name, kind, packed = f"{name}.gz", "application/gzip", compressed(text)
    return f'<a download="{escape(name)}" href="data:{kind};base64,{packed}">{label}</a>'


_LARGE_FILE: Final = 2**17


def compressed(text: str) -> str:
    """Return a text as a page carries it: a third as long, and of letters that can end no element."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def thumbnail(notebook: NotebookNode) -> str | None:
    """Return the first chart of a notebook as a small image, in base64."""
    for data in charts(notebook):
        if not _says({"data": data}):
            return base64.b64encode(reduced(data["image/png"], _THUMBNAIL_WIDTH)).decode("ascii")
    return None
