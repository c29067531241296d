"""Publishes notebooks: a set of them, run and turned into pages that open without a network, with an index.

A page loads nothing. Its content security policy forbids every request, and every script but its own, so that
nothing in a log can act.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import vl_convert
from jinja2 import Environment, FileSystemLoader
from nbconvert import HTMLExporter
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fsbench_kit.charts.drawing import vegalite_version
from fsbench_kit.display import FINDING_MIME, VEGA_MIME, project_root
from fsbench_kit.errors import ReportError
from fsbench_kit.notebooks import Job, Manifest, load, run_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from nbformat import NotebookNode

TEMPLATES: Final = Path(__file__).with_name("templates")
DEFAULT_SPEC: Final = Path("notebooks/report.toml")
DEFAULT_OUT: Final = Path("reports")


class NotebookSpec(BaseModel):
    """``[[notebook]]``: a notebook of a report.

    Attributes
    ----------
    name
        The name of its page, without ending: letters, digits, ``_`` and ``-``.
    file
        The notebook, from the project's root.
    title
        Stands in the index, where the notebook's own title does not do.
    after
        The names of notebooks that have to succeed first.
    makes
        Files and folders that it writes; where they are missing or changed, it is run again.
    alone
        Whether no other may run at the same time: it measures this machine.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w-]*$")]
    file: str
    title: str | None = None
    parameters: dict[str, Any] = {}
    after: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    alone: bool = False


class ReportSpec(BaseModel):
    """A report: its title, an introduction of a sentence or two, and its notebooks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    intro: str = ""
    notebook: tuple[NotebookSpec, ...]


def report(
    spec: Path | str = DEFAULT_SPEC,
    out: Path | str = DEFAULT_OUT,
    *,
    executor: Executor | None = None,
    fresh: bool = False,
) -> dict[str, Manifest]:
    """Run the notebooks of a report, and write their pages and ``index.html``.

    A notebook that failed gets no page; the index says what went wrong.

    Parameters
    ----------
    spec
        A TOML file: see `ReportSpec`. From the project's root, as is `out`.
    out
        The folder to write to.
    executor, fresh
        As in `fsbench_kit.notebooks.run_all`.

    Returns
    -------
    dict[str, Manifest]
        The record of each notebook's run, by name.

    Raises
    ------
    ReportError
        If `spec` or a notebook cannot be read.
    RequestError
        If a notebook is given parameters that it does not have.
    """
    root = project_root()
    wanted = read_spec(root / spec)
    folder = root / out
    jobs = [Job(notebook=n.file, out=folder, **n.model_dump(exclude={"file", "title"})) for n in wanted.notebook]
    manifests = run_all(jobs, executor=executor, fresh=fresh)
    entries = [_publish(n, job, manifests[job.name]) for n, job in zip(wanted.notebook, jobs, strict=True)]
    (folder / "index.html").write_text(_index(wanted, entries), encoding="utf-8")
    return manifests


def read_spec(path: Path) -> ReportSpec:
    """Read what a report consists of.

    Raises
    ------
    ReportError
        If the file cannot be read, or says what cannot be.
    """
    try:
        return ReportSpec.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ReportError(f"the report's description cannot be read: {error}", file=path) from error
    except ValidationError as error:
        problems = [f"{'.'.join(str(step) for step in p['loc'])}: {p['msg']}" for p in error.errors()]
        raise ReportError("\n".join(problems), file=path) from error


# --- pages -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index says of a notebook; `page` and `notebook` are links, where it succeeded."""

    title: str
    question: str
    findings: tuple[str, ...]
    status: str
    error: str | None
    about: str
    source: str
    parameters: dict[str, str]
    page: str | None
    notebook: str | None


def _publish(spec: NotebookSpec, job: Job, manifest: Manifest) -> Entry:
    """Write the page of a notebook, or take away an older one where there is nothing to show."""
    page = job.out / f"{job.name}.html"
    good = manifest.status == "ok"
    notebook = load(job.executed if good else project_root() / job.notebook)
    own_title, question = title_and_question(notebook)
    title = spec.title or own_title or spec.name
    findings = tuple(_findings(notebook))
    if good:
        link = f"notebooks/{job.executed.name}"
        page.write_text(render_page(notebook, title, manifest, link), encoding="utf-8")
    else:
        page.unlink(missing_ok=True)
    return Entry(
        title=title,
        question=question,
        findings=findings,
        status=manifest.status,
        error=manifest.error,
        about=f"run on {manifest.started_at:%Y-%m-%d %H:%M} UTC in {_duration(manifest.duration)}",
        source=job.notebook,
        parameters={name: _plain(value) for name, value in manifest.basis.parameters.items()},
        page=page.name if good else None,
        notebook=link if good else None,
    )


def render_page(notebook: NotebookNode, title: str, manifest: Manifest, link: str) -> str:
    """Turn an executed notebook into a page that needs nothing but itself.

    Parameters
    ----------
    notebook
        The executed notebook; it is changed on the way: its first heading gives way to `title`.
    manifest
        The record of its run.
    link
        Where the notebook is, as seen from the page.
    """
    script = chart_script() if any(_charts(notebook)) else ""
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="page", extra_template_basedirs=[str(TEMPLATES)], exclude_anchor_links=True
    )
    page = {
        "title": title,
        "policy": _policy(script),
        "script": script,
        "started": f"{manifest.started_at:%Y-%m-%d %H:%M} UTC",
        "duration": _duration(manifest.duration),
        "version": manifest.versions["fsbench-kit"],
        "notebook": link,
    }
    _drop_title(notebook)
    _draw_figures(notebook)
    html, _ = exporter.from_notebook_node(notebook, resources={"page": page})
    return str(html)


def _draw_figures(notebook: NotebookNode) -> None:
    """Turn charts into figures: the image, and beside it the specification from which the script draws."""
    for data in list(_charts(notebook)):
        data["text/html"] = _figure(data)
        del data[VEGA_MIME], data["image/png"]


def _charts(notebook: NotebookNode) -> Iterator[dict[str, Any]]:
    return (data for data in _outputs(notebook) if VEGA_MIME in data)


def _outputs(notebook: NotebookNode) -> Iterator[dict[str, Any]]:
    """Yield the data of all outputs: MIME type -> what is shown."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "data" in output:
                yield output["data"]


def _figure(data: Mapping[str, Any]) -> str:
    described = escape(data["text/plain"])
    # With no "<" in it, nothing in the specification can end the script element.
    spec = json.dumps(data[VEGA_MIME]).replace("<", "\\u003c")
    return (
        f'<figure class="chart" tabindex="0" role="group" aria-label="Chart">'
        f'<img src="data:image/png;base64,{escape(data["image/png"])}" alt="{described}">'
        f'<script type="application/json">{spec}</script></figure>'
    )


@cache
def chart_script() -> str:
    """Return the program that draws a page's charts: Vega-Embed with all it needs, and the lines that use it."""
    snippet = (TEMPLATES / "page" / "charts.js").read_text(encoding="utf-8")
    bundle = vl_convert.javascript_bundle(snippet, vl_version=vegalite_version())
    return re.sub("</(script)", r"<\\/\1", bundle, flags=re.IGNORECASE)


def _policy(script: str) -> str:
    """Return a content security policy that allows this script, and no request at all.

    Vega compiles the expressions of a chart, hence ``unsafe-eval``.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    scripts = f"'sha256-{digest}' 'unsafe-eval'" if script else "'none'"
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"img-src data: blob:; style-src 'unsafe-inline'; script-src {scripts}"
    )


# --- what a notebook says of itself ------------------------------------------------------------------------------


def title_and_question(notebook: NotebookNode) -> tuple[str, str]:
    """Return the heading of a notebook's first cell, and the paragraph after it: the question that it answers."""
    first = notebook.cells[0].source if notebook.cells and notebook.cells[0].cell_type == "markdown" else ""
    blocks = [block.strip() for block in first.split("\n\n")]
    title = blocks[0].lstrip("# ") if blocks[0].startswith("# ") else ""
    question = " ".join(blocks[1].split()) if title and len(blocks) > 1 else ""
    return title, question


def _drop_title(notebook: NotebookNode) -> None:
    title, _ = title_and_question(notebook)
    if title:
        notebook.cells[0].source = notebook.cells[0].source.partition("\n")[2]


def _findings(notebook: NotebookNode) -> Iterator[str]:
    return (str(data[FINDING_MIME]) for data in _outputs(notebook) if FINDING_MIME in data)


def _index(spec: ReportSpec, entries: Sequence[Entry]) -> str:
    environment = Environment(autoescape=True, loader=FileSystemLoader(TEMPLATES))
    return environment.get_template("site.html.j2").render(
        title=spec.title, intro=spec.intro, entries=entries, policy=_policy("")
    )


def _plain(value: object) -> str:
    """Print a parameter without the marks of Python."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return str(value) or "–"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
