"""``fsbench report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fsbench_kit.cli.console import err, out
from fsbench_kit.model.errors import ReportError, RequestError, needs_extra


def report_command(
    spec: Annotated[
        Path, typer.Argument(help="A TOML file: which notebooks to run, with which parameters.")
    ] = Path("notebooks/report.toml"),
    to: Annotated[Path, typer.Option(help="The folder for the pages.")] = Path("reports"),
    *,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run unchanged notebooks too.")] = False,
) -> None:
    """Run notebooks and publish them as pages that open offline."""
    with needs_extra("notebooks", "fsbench report"):
        from fsbench_kit.notebooks import shown
        from fsbench_kit.report import report
    from fsbench_kit.data.project import is_project, start

    here = Path.cwd()
    if not any(is_project(folder) for folder in (here, *here.parents)):
        if any(here.iterdir()):
            raise RequestError(
                f"{here} is not in a project", hint="fsbench init FOLDER starts one; run fsbench report in there."
            )
        start(here)
        out.print(f"{here} was empty: it has the notebooks, plans and studies of fsbench_kit now.")
    with shown(out) as progress:
        manifests = report(spec, to, fresh=fresh, progress=progress)
    for name, manifest in manifests.items():
        if manifest.error is not None:
            err.print(f"{name}: {manifest.error}")
    out.print(f"The report is {to / 'index.html'}")
    if any(manifest.status != "ok" for manifest in manifests.values()):
        raise ReportError("a notebook failed; the index says why")
