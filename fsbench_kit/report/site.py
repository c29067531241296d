"""Makes a site: runs the notebooks of a report, writes a page for each that succeeded, and the index."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import nbformat

from fsbench_kit.data.masking import Mask
from fsbench_kit.data.project import project_root
from fsbench_kit.notebooks import Job, Manifest, load, run_all
from fsbench_kit.notebooks.display import VEGA_MIME, draw
from fsbench_kit.notebooks.progress import Ended, Event
from fsbench_kit.report import against as sides
from fsbench_kit.report.figures import charts, thumbnail
from fsbench_kit.report.index import Entry, render_index
from fsbench_kit.report.logs import Log, copy_logs, sweep
from fsbench_kit.report.page import facets, findings, render_page, title_and_question
from fsbench_kit.report.spec import NotebookSpec, ReportSpec, read_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor


DEFAULT_SPEC: Final = Path("notebooks/report.toml")
DEFAULT_OUT: Final = Path("reports")


def report(
    spec: ReportSpec | Path | str = DEFAULT_SPEC,
    out: Path | str = DEFAULT_OUT,
    *,
    root: Path | None = None,
    executor: Executor | None = None,
    fresh: bool = False,
    publish: bool = False,
    against: Path | None = None,
    progress: Callable[[Event], None] = lambda _: None,
) -> dict[str, Manifest]:
    """Run the notebooks of a report, and write their pages and ``index.html``.

    A notebook that failed gets no page; the index says what went wrong.

    Parameters
    ----------
    spec
        A TOML file: see `ReportSpec`. Or what it says.
    out
        The folder to write to.
    root
        The folder from which all paths are; by default the project's root.
    publish
        Whether homes, users and hosts are masked in all that is written. The hashes of logs are those of the logs
        as they were.
    against
        An earlier report. A page says what changed since then, unless a notebook failed.
    executor, fresh, progress
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
        If a notebook is given parameters that it does not have, `against` has no report, or `out` cannot be
        written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nbformat import v4, write
    >>> given = v4.new_code_cell("x = 1", metadata={"tags": ["parameters"]})
    >>> cells = [v4.new_markdown_cell("# A sum"), given]
    >>> kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    >>> notebook = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    >>> sums = {"name": "sum", "file": "sum.ipynb", "parameters": {"x": 2}}
    >>> spec = ReportSpec(title="Sums", notebook=[sums])
    >>> with TemporaryDirectory() as folder:
    ...     write(notebook, f"{folder}/sum.ipynb")
    ...     manifests = report(spec, f"{folder}/pages", root=Path(folder))
    ...     pages = sorted(path.name for path in Path(folder, "pages").glob("*.html"))
    >>> manifests["sum"].status, pages
    ('ok', ['index.html', 'sum.html'])
    """
    root = root or project_root()
    wanted = spec if isinstance(spec, ReportSpec) else read_spec(root / spec)
    site = root / out
    jobs = [Job(notebook=n.file, out=site, **n.model_dump(exclude={"file", "title"})) for n in wanted.notebook]
    mask = Mask() if publish else None
    old = None if against is None else sides.effects_in(against)
    with suppress(NotADirectoryError):  # as is said where its folder is made
        (site / sides.PAGE).unlink(missing_ok=True)  # of an earlier call
    ended: dict[str, Manifest] = {}
    left = deque(zip(wanted.notebook, jobs, strict=True))
    entries: list[Entry] = []
    logs: list[Log] = []

    def follow(event: Event) -> None:
        """Write pages in their order, as soon as may be: while this process writes one, others run notebooks."""
        progress(event)
        if isinstance(event, Ended):
            ended[event.manifest.name] = event.manifest
        while left and left[0][1].name in ended:
            notebook, job = left.popleft()
            entry, copied = _publish(notebook, job, ended[job.name], root, mask)
            entries.append(entry)
            logs.extend(copied)

    manifests = run_all(jobs, root=root, executor=executor, fresh=fresh, progress=follow)
    sweep(site, logs)
    index = site / "index.html"
    index.write_text(render_index(wanted, entries), encoding="utf-8")
    if against is not None and old is not None and all(of.status == "ok" for of in manifests.values()):
        changes = sides.against(site, against, old)
        (site / sides.PAGE).write_text(sides.render_against(changes, site.resolve().name), encoding="utf-8")
        index.write_text(render_index(wanted, entries, against=True), encoding="utf-8")
    return manifests


def _publish(
    spec: NotebookSpec, job: Job, manifest: Manifest, root: Path, mask: Mask | None
) -> tuple[Entry, tuple[Log, ...]]:
    """Write the page of a notebook, or remove an older one if the run failed."""
    page = job.out / f"{job.name}.html"
    good = manifest.status == "ok"
    files = manifest.basis.files | manifest.basis.made
    if mask is not None:
        mask.learn(root / path for path in files)
        _mask(job.executed, mask, is_good=True)
        _mask(job.failed, mask, is_good=False)
        mask.rewrite(job.manifest)
        manifest = type(manifest).model_validate(mask.over(manifest.model_dump(mode="json")))
    notebook = load(job.executed if good else job.source(root))
    own_title, _ = title_and_question(notebook)
    title = spec.title or own_title or spec.name
    entry = Entry(
        title=title,
        findings=tuple(findings(notebook)),
        facets=facets(notebook),
        manifest=manifest,
        page=page.name if good else None,
        thumbnail=thumbnail(notebook) if good else None,
    )
    logs: tuple[Log, ...] = ()
    if good:
        logs = copy_logs(files, root, job.out, mask)
        page.write_text(render_page(notebook, title, manifest, logs), encoding="utf-8")
    else:
        page.unlink(missing_ok=True)
    return entry, logs


def _mask(notebook: Path, mask: Mask, *, is_good: bool) -> None:
    """Mask an executed notebook, if there is one.

    An image of a chart that named what is masked goes; where the run succeeded, the chart is drawn again.
    """
    if not notebook.is_file():
        return
    executed = load(notebook)
    masked = nbformat.from_dict(mask.throughout(executed))  # type: ignore[no-untyped-call]
    for chart, own in zip(charts(executed), charts(masked), strict=True):
        if chart[VEGA_MIME] != own[VEGA_MIME]:
            own.pop("image/png", None)
    if is_good:
        draw(masked)
    nbformat.write(masked, notebook)  # type: ignore[no-untyped-call]
