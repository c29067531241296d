"""``fsbench init``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import err, out
from fsbench_kit.model.errors import InputError, RequestError


def init_command(
    folder: Annotated[Path, typer.Argument(help="A folder with logs, or a new or empty folder.")] = Path(),
    *,
    names: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEMPLATE",
            help="What file names mean; by default, this is guessed. Can be repeated; the first template that "
            "matches a name is used.",
        ),
    ] = None,
) -> None:
    """Write what logs and their names say into a study.toml to complete; or start a project in an empty folder.

    fsbench init results/
    fsbench init my-project
    """
    from fsbench_kit.data.files import STUDY_FILE
    from fsbench_kit.data.project import PARTS, is_project, start

    if (folder / STUDY_FILE).exists():
        err.print(f"{folder / STUDY_FILE} exists already and was not changed.")
        return
    dataset = None if is_project(folder) else _read(folder)
    if dataset is None:
        if names is not None:
            raise RequestError("there are no logs here whose names carry information", file=folder)
        start(folder)
        there = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))}; "
        out.print(f"{folder.resolve()} has {', '.join(PARTS)}. Next: {there}fsbench report")
        out.print("It measures this machine for a few minutes, runs the notebooks and makes a page from each.")
        return
    if dataset.runs["study"].null_count() == 0:
        raise RequestError("all logs here have a study.toml already", file=folder)
    from fsbench_kit import tables
    from fsbench_kit.cli.drafts import write_draft

    err.print(tables.contents(dataset))
    write_draft(folder, dataset, names=names or ())
    out.print(f"Next: fsbench report {shlex.quote(str(folder))}")


def _read(folder: Path) -> fsb.Dataset | None:
    """Read the logs in a folder; return ``None`` if there are none."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    try:
        return fsb.read(folder)
    except InputError:
        return None
