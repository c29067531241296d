"""``fsbench read``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import err, out
from fsbench_kit.cli.elsewhere import elsewhere
from fsbench_kit.cli.inputs import found_path, inputs, read
from fsbench_kit.cli.options import Assume, Jobs, Masked, Names, Paths, Scheduler, assumed
from fsbench_kit.cli.remarks import exit_if_some_input_was_unusable, print_diagnostics
from fsbench_kit.model.errors import InputError, RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Executor


def read_command(
    paths: Paths,
    to: Annotated[
        Path | None,
        typer.Option(
            help="Write one flat table to a .parquet, .csv or .json file, or six frames to a folder. A folder "
            "takes any number of logs, and an interrupted call can be continued."
        ),
    ] = None,
    *,
    append: Annotated[
        bool,
        typer.Option(
            "--append",
            help="Add the runs to the dataset in the folder; runs that it already has are not repeated.",
        ),
    ] = False,
    names: Names = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how each line of the files was understood.")
    ] = False,
    wide: Annotated[
        bool,
        typer.Option("--wide", help="Write one row per run and operation, with settings and metrics as columns."),
    ] = False,
    assume: Assume = None,
    jobs: Jobs = None,
    ssh: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --to FOLDER, read on the hosts listed in a file; they need the same files as this one.",
        ),
    ] = None,
    scheduler: Scheduler = None,
    mask: Masked = False,
) -> None:
    """Read logs, show what is in them and, on request, write them as a table.

    fsbench read results/
    fsbench read results/ --to figures.csv --wide --mask
    fsbench read results/tonight --to history --append
    fsbench read --explain odd-log.txt
    """
    if wide and to is None:
        raise RequestError("--wide needs a file to write", hint="Add --to figures.csv")
    if explain:
        if to is not None:
            raise RequestError("--explain writes no table", hint="Give either --explain or --to.")
        _explain(paths)
        return
    if to is not None and (to.is_dir() or not to.suffix) and not (wide or mask or assume or "-" in paths):
        if jobs and (ssh or scheduler):
            raise RequestError("--jobs cannot be combined with --ssh or --scheduler", hint="Leave out --jobs.")
        with elsewhere(ssh, scheduler) as executor:
            _ingest(paths, to, names, jobs, executor, append=append)
        return
    if ssh or scheduler:
        raise RequestError(
            "reading on other hosts needs a folder to write to",
            hint="fsbench read LOGS --to FOLDER --ssh hosts.txt",
        )
    if append:
        raise RequestError(
            "--append writes to a folder, without --wide, --mask, --assume or standard input",
            hint="fsbench read LOGS --to FOLDER --append",
        )
    from fsbench_kit import tables
    from fsbench_kit.cli.proposals import more_by_names

    dataset = read(paths, names, jobs, assumed(assume))
    if mask:
        dataset = dataset.masked()
    if to is not None:
        dataset.write(to, wide=wide)
    print_diagnostics(dataset, to if to is not None and to.is_dir() else None)
    out.print(tables.runs_table(dataset))
    if not names and (more := more_by_names(dataset)) is not None:
        err.print(more)
    if to is not None:
        what = "six frames" if to.is_dir() else "a row for each " + ("run and operation" if wide else "figure")
        err.print(f"Wrote {to}: {what}.")
    exit_if_some_input_was_unusable(dataset.diagnostics)


def _ingest(
    paths: list[str],
    folder: Path,
    names: list[str] | None,
    jobs: int | None,
    executor: Executor | None,
    *,
    append: bool,
) -> None:
    """Read any number of logs into a folder."""
    from fsbench_kit import tables
    from fsbench_kit.data.bulk.progress import shown
    from fsbench_kit.data.written import is_whole

    known = fsb.scan(folder).diagnostics.collect() if append and is_whole(folder) else None
    try:
        with shown(err) as progress:
            dataset = fsb.ingest(
                map(_everywhere if executor else found_path, paths),
                to=folder.absolute() if executor else folder,
                names=names,
                append=append,
                jobs=jobs,
                executor=executor,
                progress=progress,
            )
    except KeyboardInterrupt:
        err.print(f"Interrupted. {folder} is unfinished; run the same command to continue.")
        raise typer.Exit(130) from None
    if known is not None:  # diagnostics of runs read earlier are not repeated
        new = dataset.diagnostics.join(known.lazy(), on=known.columns, how="anti", nulls_equal=True)
        dataset = replace(dataset, diagnostics=new)
    print_diagnostics(dataset, folder)
    out.print(tables.runs_table(dataset))
    err.print(f"Wrote {folder}: six frames.")
    exit_if_some_input_was_unusable(dataset.diagnostics.select("severity").collect())


def _everywhere(path: str) -> Path | str:
    """Return a path that works from any working directory."""
    found = found_path(path)
    return found if "://" in str(found) else Path(found).absolute()


def _explain(paths: list[str]) -> None:
    from fsbench_kit import tables
    from fsbench_kit.data.explain import LARGEST, explain
    from fsbench_kit.data.files import flattened, name_of, opened
    from fsbench_kit.documents import Content

    for number, item in enumerate(_files(flattened(inputs(paths))), 1):
        name = str(item) if isinstance(item, Path) else name_of(item, number)
        try:
            with opened(item, may_be_pipe=True) if isinstance(item, Path) else item as file:
                content = Content(file)
                data = content.read(LARGEST + 1)
        except OSError as error:
            raise InputError(f"cannot read the file: {error.strerror or error}", file=name) from error
        if len(data) > LARGEST:
            raise InputError(
                f"--explain takes files of up to {LARGEST:,} bytes; this one is larger",
                file=name,
                hint=f"Explain a part of it: head -c {LARGEST} FILE | fsbench read --explain -",
            )
        for line in tables.explanation(name, explain(data, name)):
            typer.echo(line)


def _files(items: Iterable[Path | BinaryIO]) -> Iterator[Path | BinaryIO]:
    """Yield the files, with those in folders at any depth that are not hidden."""
    from fsbench_kit.data.absent import said_of_absent
    from fsbench_kit.data.files import NOT_SEARCHED, kernel_filesystem

    for item in items:
        if isinstance(item, Path) and item.is_dir():
            os.scandir(item).close()  # raises if the folder is not readable, which rglob does not
            if (of_kernel := kernel_filesystem(item)) is not None:
                raise InputError(NOT_SEARCHED.format(of_kernel), file=item)
            found = [path for path in sorted(item.rglob("*")) if path.is_file() and not _is_hidden(path, item)]
            if not found:
                raise InputError("there are no files in this folder", file=item)
            yield from found
        elif isinstance(item, Path) and (nothing := said_of_absent(item)) is not None:
            raise InputError(nothing, file=item)
        else:
            yield item


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)
