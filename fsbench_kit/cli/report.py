"""``fsbench report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fsbench_kit.cli.console import err, out
from fsbench_kit.cli.elsewhere import elsewhere
from fsbench_kit.cli.exits import AGAINST
from fsbench_kit.cli.inputs import read
from fsbench_kit.cli.options import Baseline, Names, Scheduler
from fsbench_kit.model.errors import ReportError, RequestError, needs_extra

if TYPE_CHECKING:
    from fsbench_kit.report import ReportSpec


def report_command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Logs, studies, or folders of them. Or a TOML file that lists the notebooks to run and their "
            "parameters; by default the project's notebooks/report.toml.",
        ),
    ] = None,
    to: Annotated[Path, typer.Option(help="The folder for the pages.")] = Path("reports"),
    *,
    names: Names = None,
    factor: Annotated[
        str | None,
        typer.Option(help="The factor to compare by: filesystem (the default), host, or the key of a setting."),
    ] = None,
    baseline: Baseline = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Also run notebooks that have not changed.")] = False,
    publish: Annotated[
        bool,
        typer.Option("--publish", help="Mask home directories, users and hosts in all pages, for publishing."),
    ] = False,
    other: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="FOLDER",
            help="An earlier report: list which findings changed, appeared or disappeared, also on a page; exit "
            "with 5 if there are any.",
        ),
    ] = None,
    ssh: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Run the notebooks on the hosts listed in a file; they must see the same folders."
        ),
    ] = None,
    scheduler: Scheduler = None,
) -> None:
    """Make the pages of a folder with logs, or those of a project; they open offline.

    fsbench report results/
    fsbench report --to site/
    fsbench report --to site/ --ssh hosts.txt
    fsbench report new/ --to site/ --against site-before/
    """
    with needs_extra("notebooks", "fsbench report"):
        from fsbench_kit.notebooks import shown
        from fsbench_kit.report import report
        from fsbench_kit.report.against import PAGE, against, effects_in

    if other is not None and other.resolve() == to.resolve():
        raise RequestError(f"{to} would be compared with itself", hint="Put the new report elsewhere: --to FOLDER")
    old = None if other is None else effects_in(other)  # fails before the notebooks run, not after
    here = Path.cwd()
    spec: ReportSpec | Path
    if paths and not _is_spec(paths):
        spec, root = _of_logs(paths, names, factor, baseline), here
    else:
        if names or factor or baseline:
            raise RequestError(
                "--names, --factor and --baseline only apply to logs", hint="fsbench report FOLDER ..."
            )
        _in_project(here)
        spec, root = Path(paths[0]) if paths else Path("notebooks/report.toml"), None
    with elsewhere(ssh, scheduler) as executor, shown(out) as progress:
        manifests = report(
            spec,
            to,
            root=root,
            executor=executor,
            fresh=fresh,
            publish=publish,
            against=other,
            progress=progress,
        )
    for name, manifest in manifests.items():
        if manifest.error is not None:
            err.print(f"{name}: {manifest.error}")
    out.print(f"The report is {to / 'index.html'}")
    if any(manifest.status != "ok" for manifest in manifests.values()):
        raise ReportError("a notebook failed; the index says why")
    if other is not None and old is not None:
        differences = against(to, other, old)
        out.print(differences)
        out.print(f"They are also listed in {to / PAGE}")
        if differences.groups:
            raise typer.Exit(AGAINST)


def _is_spec(paths: list[str]) -> bool:
    return len(paths) == 1 and paths[0].endswith(".toml")


def _of_logs(paths: list[str], names: list[str] | None, factor: str | None, baseline: str | None) -> ReportSpec:
    from fsbench_kit.cli.proposals import proposals
    from fsbench_kit.report.folder import FACTOR, spec_of

    dataset = read(paths, names)
    spec = spec_of(paths, dataset, names=names or (), factor=factor, baseline=baseline)
    if not any(page.name == "compare" for page in spec.notebook):
        err.print("No run has a known filesystem, so there is no comparison page.")
        err.print(proposals(dataset, FACTOR, "report", paths) or "Describe the runs in study.toml.")
    return spec


def _in_project(here: Path) -> None:
    """Start a project if the folder is empty; in any other folder there must be one."""
    from fsbench_kit.data.project import is_project, start

    if any(is_project(folder) for folder in (here, *here.parents)):
        return
    if any(here.iterdir()):
        raise RequestError(
            f"{here} is not in a project",
            hint="fsbench report FOLDER makes the pages of a folder with logs; fsbench init starts a project.",
        )
    start(here)
    out.print(f"{here} was empty; it now contains the notebooks, plans and studies of fsbench_kit.")
