"""``fsbench replicate``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import err, out
from fsbench_kit.cli.inputs import found_path
from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.model.errors import InputError, LaunchError, needs_extra
from fsbench_kit.model.suggestions import known_instead
from fsbench_kit.model.units import duration, humanise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.replicate import Replication


def replicate_command(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY", help="The folder of a study, or the name of one that comes with the package."
        ),
    ],
    *,
    scale: Annotated[
        str, typer.Option(help="How large the files and how long the runs are: minutes, laptop or article.")
    ] = "laptop",
    repeats: Annotated[
        int | None, typer.Option(min=1, help="How many times to repeat each run; by default as the scale says.")
    ] = None,
    directory: Annotated[
        list[str] | None,
        typer.Option(help="Run in this directory, without root. Repeat for each filesystem to compare."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--study", help="A name for the results; by default the study's name and the time."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace earlier results of that name.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what would run and how it departs from the study, without running anything."
        ),
    ] = False,
    to: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to put the results, in a folder named after the study.")
    ] = LAUNCHED,
) -> None:
    """Run a published study again on this machine and compare its figures with yours.

    fsbench replicate iozone-ssd-2015 --dry-run

    fsbench replicate fio-nvme-2021 --scale minutes --to results/
    """
    with needs_extra("launch", "fsbench replicate"):
        from fsbench_kit.launch import dry_run as preview_of
        from fsbench_kit.launch import launch, shown
        from fsbench_kit.launch.replicate import caveats, left_out, replication, reproduced, side_by_side
    from fsbench_kit import tables

    folder = _folder(study)
    published = fsb.read(folder)
    again = replication(
        published, scale=scale, repeats=repeats, directories=directory or (), name=_name(folder, published)
    )
    out.print(f"{again.study}, run again. What differs from the study:", style="bold")
    for change in again.changes:
        out.print(f"  {change}")
    for sentence in _needs(published, again):
        out.print(sentence)
    if dry_run:
        preview = preview_of(again.plan, Path.cwd(), to=to)
        for sentence in (*preview.notes, *preview.estimates):
            out.print(sentence)
        return
    with shown(out) as progress:
        result = launch(again.plan, root=Path.cwd(), to=to, study=name, replace=replace, progress=progress)
    replicated = fsb.read(result.folder)
    found = side_by_side(published, replicated, left_out=left_out(published, result.folder))
    out.print(tables.replication_table(found))
    counted = tables.reproduced_findings(reproduced(found))
    for sentence in (*tables.replication_findings(found), *counted, *caveats(replicated)):
        out.print(sentence)
    out.print(f"The runs are in {result.folder}")
    for run, failure in result.failures.items():
        err.print(f"{run}: {failure}")
    if result.stopped:
        raise LaunchError(result.stopped)


def _needs(published: fsb.Dataset, again: Replication) -> Iterator[str]:
    """Yield what a replication needs: space at each scale, and time."""
    from fsbench_kit.data.project import project_root
    from fsbench_kit.launch.replicate import expected_seconds, space_by_scale

    if any(target.kind != "directory" for target in again.plan.target):
        if os.geteuid() != 0:
            yield "Without root, name a directory on each filesystem to compare: --directory A --directory B"
        sizes = ", ".join(f"{name} {humanise(size, 'B')}" for name, size in space_by_scale(published).items())
        yield f"Space, by the scale: {sizes}."
    elif len(again.plan.target) < _TO_COMPARE:
        yield "A single directory gives no ratio. Name one on each filesystem: --directory A --directory B"
    seconds = expected_seconds(again.study, again.plan, project_root())
    if seconds is not None:
        yield f"Time: about {duration(seconds)}, if runs take as long as those that come with the package."


_TO_COMPARE: Final = 2


def _name(folder: Path | str, published: fsb.Dataset) -> str | None:
    """Return the name of a study, its folder's if it has none of its own."""
    if published.runs["study"].null_count() < published.runs.height:
        return None
    return re.sub(r"[^\w-]+", "-", Path(folder).resolve().stem).strip("-_") or None


def _folder(study: str) -> Path | str:
    """Return a study's folder; a study that comes with the package is found by its name."""
    for path in (f"{_PUBLISHED}/{study}", study):
        if Path(folder := found_path(path)).exists():
            return folder
    known = sorted(entry.name for entry in Path(found_path(_PUBLISHED)).iterdir() if entry.is_dir())
    raise InputError("there is no such study", file=study, hint=known_instead(Path(study).name, known))


_PUBLISHED: Final = "raw_results/published"
