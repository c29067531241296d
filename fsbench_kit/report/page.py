"""Turns an executed notebook into a page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import vl_convert
from jinja2 import Environment, FileSystemLoader
from nbconvert import HTMLExporter
from traitlets.config import Config

from fsbench_kit.charts.drawing import vegalite_version
from fsbench_kit.charts.theme import dark_charts
from fsbench_kit.model.units import duration
from fsbench_kit.notebooks.display import FACETS, FACETS_MIME, FINDING_MIME, VEGA_MIME
from fsbench_kit.report import figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbformat import NotebookNode

    from fsbench_kit.notebooks import Manifest
    from fsbench_kit.report.logs import Log

TEMPLATES: Final = Path(__file__).parent / "templates"


def render_page(notebook: NotebookNode, title: str, manifest: Manifest, logs: Sequence[Log] = ()) -> str:
    """Turn an executed notebook into a page that needs nothing but itself.

    Parameters
    ----------
    notebook
        The executed notebook; it is changed on the way: its first heading gives way to `title`.
    manifest
        The record of its run.
    logs
        The files that it rests on.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from nbformat import v4
    >>> from fsbench_kit.notebooks import Basis, Manifest
    >>> basis = Basis(notebook="a1", package="b2", versions={}, parameters={}, files={}, made={})
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> facts = {"source": "disks.ipynb", "status": "ok", "started_at": at, "duration": 3}
    >>> manifest = Manifest(name="disks", basis=basis, **facts)
    >>> page = render_page(v4.new_notebook(cells=[v4.new_markdown_cell("# Disks")]), "Disks", manifest)
    >>> "<title>Disks</title>" in page, "Disks</h1>" in page
    (True, True)
    """
    versions = [vegalite_version(data[VEGA_MIME]) for data in figures.charts(notebook)]
    has_charts = bool(versions)
    sorting, unpacking = script("page/tables.js"), script("page/unpack.js") if has_charts else ""
    headline = next(findings(notebook), "")
    _drop_title(notebook)
    console = figures.take_console(notebook)
    figures.drop_empty_sections(notebook)
    figures.address(notebook, manifest.name, headline)
    page = {
        "title": title,
        "headline": headline,
        "console": console,
        "contents": figures.headings(notebook),
        "policy": policy(sorting, unpacking, evaluates=has_charts),
        "dark": dark_charts("figure.chart", "var(--paper)"),
        "sorting": sorting,
        "unpacking": unpacking,
        "drawing": chart_script(versions[0]) if has_charts else "",
        "parameters": {name: plain(value) for name, value in manifest.basis.parameters.items()},
        "record": templates().get_template("page/record.html.j2").render(manifest=manifest, logs=logs),
    }
    html, _ = _exporter().from_notebook_node(notebook, resources={"page": page})
    return str(html)


@cache
def _exporter() -> HTMLExporter:
    """Return what turns notebooks into HTML; its templates are compiled once."""
    return HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="page",
        extra_template_basedirs=[str(TEMPLATES)],
        anchor_link_text="#",
        # What a cell printed line by line is one text.
        config=Config(CoalesceStreamsPreprocessor={"enabled": True}),
    )


@cache
def templates() -> Environment:
    """Return the kit's own templates, which escape whatever they are given."""
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=FileSystemLoader(TEMPLATES)
    )
    environment.filters |= {"plain": plain, "duration": duration, "moment": moment}
    return environment


# --- scripts -----------------------------------------------------------------------------------------------------


def script(name: str) -> str:
    """Return a program of the templates."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


@cache
def chart_script(vegalite: str | None) -> str:
    """Return the program that draws a page's charts: Vega-Embed with all it needs, and the lines that use it."""
    bundle = vl_convert.javascript_bundle(script("page/charts.js"), vl_version=vegalite)
    return figures.compressed(bundle)


def policy(*scripts: str, evaluates: bool = False) -> str:
    """Return a content security policy that allows these scripts, and no request at all.

    Vega compiles the expressions of a chart, and is itself unpacked first: such a page `evaluates`.
    """
    digests = [hashlib.sha256(text.encode()).digest() for text in scripts if text]
    allowed = [f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in digests]
    if evaluates:
        allowed.append("'unsafe-eval'")
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
        f"script-src {' '.join(allowed)}"
    )


# --- what a notebook says of itself ------------------------------------------------------------------------------


def title_and_question(notebook: NotebookNode) -> tuple[str, str]:
    r"""Return the heading of a notebook's first cell, and the paragraph after it: the question that it answers.

    Examples
    --------
    >>> from nbformat.v4 import new_markdown_cell, new_notebook
    >>> title_and_question(new_notebook(cells=[new_markdown_cell("# Compare\n\nWhich one is faster?")]))
    ('Compare', 'Which one is faster?')
    """
    first = notebook.cells[0].source if notebook.cells and notebook.cells[0].cell_type == "markdown" else ""
    blocks = [block.strip() for block in first.split("\n\n")]
    title = blocks[0].lstrip("# ") if blocks[0].startswith("# ") else ""
    question = " ".join(blocks[1].split()) if title and len(blocks) > 1 else ""
    return title, question


def _drop_title(notebook: NotebookNode) -> None:
    title, _ = title_and_question(notebook)
    if title:
        notebook.cells[0].source = notebook.cells[0].source.partition("\n")[2]


def findings(notebook: NotebookNode) -> Iterator[str]:
    """Yield the sentences that say what an executed notebook found."""
    for data in figures.outputs(notebook):
        yield from str(data.get(FINDING_MIME, "")).splitlines()


def facets(notebook: NotebookNode) -> dict[str, list[str]]:
    """Return what an executed notebook is about: its studies, tools, filesystems and verdicts."""
    shown = [data[FACETS_MIME] for data in figures.outputs(notebook) if FACETS_MIME in data]
    return {name: sorted({value for one in shown for value in one.get(name, [])}) for name in FACETS}


# --- figures in words --------------------------------------------------------------------------------------------


def plain(value: object) -> str:
    """Print a parameter without the marks of Python."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return str(value) or "–"


def moment(manifest: Manifest) -> str:
    """Say when a notebook was run."""
    return f"{manifest.started_at:%Y-%m-%d %H:%M} UTC"
