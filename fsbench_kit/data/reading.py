"""Finds what can be read in files and folders: loose logs, studies, launched runs, datasets that were written."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.files import Given, Inode, flattened, inode, is_folder, name_of, not_regular
from fsbench_kit.data.fio_runs import with_fio_logs
from fsbench_kit.data.joining import joined
from fsbench_kit.data.launched import is_launched, logs_of_run
from fsbench_kit.data.log import FioLog, Log, log_with, read_log, read_open
from fsbench_kit.data.study import STUDY_FILE, companions, read_study, table_lines
from fsbench_kit.data.study_facts import facts_of_runs, with_study
from fsbench_kit.data.written import is_in_parts, is_written, read_frames
from fsbench_kit.formats import known_logs
from fsbench_kit.model.errors import InputError, RequestError
from fsbench_kit.model.records import Diagnostic, Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import polars as pl

    from fsbench_kit.model.records import Record


def read(*given: Given) -> Dataset:
    """Read every log in files and folders.

    Parameters
    ----------
    *given
        Files with logs, study folders, or folders that hold such at any depth: paths, or patterns such as
        ``logs/*.json``. Also a log's bytes, and open files. Any of these can stand in lists. A folder that
        `Dataset.write` or `ingest` wrote gives its data back. A string is always a path: `read_text` reads a log's
        text.

    Returns
    -------
    Dataset
        What the logs say. What was odd about them, or kept a file from being read, is in its ``diagnostics``.

    Raises
    ------
    InputError
        If there is no run in any of them.
    RequestError
        If something was given that can be none of these.

    Notes
    -----
    In folders only regular files are read, and each file once, whatever names it has.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> fsb.read("raw_results/published/*nvme*").runs.height
    2
    """
    seen: Seen = {}
    dataset = _dataset(
        each for number, item in enumerate(flattened(*given), 1) for each in _found_at(item, number, seen)
    )
    if dataset.runs.is_empty():
        raise no_run(dataset.diagnostics)
    return dataset


def read_entries(entries: Iterable[tuple[Path, bool]]) -> Dataset:
    """Read paths, and tell of each whether it was given or found in a folder; there may be no run in them."""
    seen: Seen = {}
    return _dataset(
        each
        for path, named in entries
        for each in (_found_at(path, 0, seen) if named else _found_as(path, seen, ()))
    )


def _dataset(found: Iterable[Log | Dataset]) -> Dataset:
    each = list(found)
    logs = [item for item in each if isinstance(item, Log)]
    return joined([assemble(with_fio_logs(logs)), *(item for item in each if isinstance(item, Dataset))])


def no_run(diagnostics: pl.DataFrame) -> InputError:
    """Say that there is no run in what was given, and why."""
    problems = diagnostics.select("source", "message", "excerpt").unique(maintain_order=True)
    lines = (
        f"{source}: {message}" + (f"\n    {excerpt}" if excerpt else "")
        for source, message, excerpt in problems.rows()
    )
    return InputError(
        "\n".join(lines) or "no path was given",
        hint=f"Give files that hold logs of {known_logs()}, or folders with such.",
    )


def read_text(text: str) -> Dataset:
    r"""Read the logs in a text.

    Parameters
    ----------
    text
        What a tool printed, or anything that holds such: an article, a mail.

    Returns
    -------
    Dataset
        As from `read`; its ``source`` is ``<text>``.

    Raises
    ------
    InputError
        If there is no run in it.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> fsb.read_text("real\t0m1.500s\nuser\t0m0.250s\nsys\t0m0.100s\n").measurements["metric"].to_list()
    ['elapsed', 'cpu_time_user', 'cpu_time_system']
    """
    if not isinstance(text, str):
        raise RequestError(f"{type(text).__name__} is not text", hint="Read paths, files and bytes with fsb.read.")
    file = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    file.name = "<text>"
    return read(file)


Seen = dict[Inode, Path]
"""The files and folders that were read so far, under one of their names."""


def _found_at(item: Path | BinaryIO, number: int, seen: Seen) -> Iterator[Log | Dataset]:
    if not isinstance(item, Path):
        yield read_open(item, name_of(item, number))
    elif not is_folder(item):
        yield read_before(item, seen) or read_log(item, may_be_pipe=True)
    elif item.resolve() == Path(item.resolve().anchor):
        yield log_with(item, "UNREADABLE", "The whole machine is not searched: name the folder with the logs.")
    elif (before := read_before(item, seen)) is not None:
        yield before
    else:
        found = list(_found_in_folder(item, seen))
        yield from found
        if all(
            isinstance(each, Log) and [_code(record) for record in each.records] == ["SKIPPED"] for each in found
        ):
            yield log_with(item, "NO_LOG", "There is no log in this folder or below it.")


def read_before(path: Path, seen: Seen) -> Log | None:
    """Return what is to be said where a file or folder was read under another name; else remember it."""
    try:
        first = seen.setdefault(inode(path), path)
    except OSError:
        return None  # which is said when it is read
    if first is path:
        return None
    return log_with(path, "READ_BEFORE", f"It is the same as {first}, and was read as that.")


def _found_in_folder(folder: Path, seen: Seen, but: Collection[Path] = ()) -> Iterator[Log | Dataset]:
    """Read a study, a run's folder, a dataset, or a folder of these and of loose files."""
    try:
        is_study, has_frames = (folder / STUDY_FILE).is_file(), is_written(folder)
    except OSError as error:
        yield log_with(folder, "UNREADABLE", f"The folder cannot be read: {error.strerror}.")
        return
    if has_frames:
        yield _written(folder)
    if is_in_parts(folder):
        return
    if is_study:
        yield from _logs_of_study(folder, seen)
    elif is_launched(folder):
        yield from logs_of_run(folder)
    else:
        yield from _found_loose(folder, seen, but)


def _found_loose(folder: Path, seen: Seen, but: Collection[Path]) -> Iterator[Log | Dataset]:
    """Read what stands in a folder but for some files, given as paths without links."""
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        yield log_with(folder, "UNREADABLE", f"The folder cannot be read: {error.strerror}.")
        return
    for entry in entries:
        if not but or entry.resolve() not in but:
            yield from _found_as(entry, seen, but)


def _written(folder: Path) -> Log | Dataset:
    try:
        return Dataset(**read_frames(folder))
    except InputError as error:
        return log_with(Path(error.file or folder), "UNREADABLE", f"The dataset cannot be read: {error.what}.")


def _found_as(entry: Path, seen: Seen, but: Collection[Path]) -> Iterator[Log | Dataset]:
    """Read what stands in a folder."""
    try:
        irregular = not_regular(entry)
    except OSError as error:
        yield log_with(entry, "UNREADABLE", f"It cannot be read: {error.strerror}.")
        return
    if irregular is not None:
        yield log_with(entry, "SKIPPED", f"It is {irregular}, and was not opened.")
    elif entry.is_symlink() and entry.is_dir() and entry.parent.resolve().is_relative_to(entry.resolve()):
        yield log_with(entry, "SKIPPED", "It is a link to a folder that it stands in, and was not followed.")
    elif (before := read_before(entry, seen)) is not None:
        yield before
    elif entry.is_dir():
        yield from _found_in_folder(entry, seen, but)
    elif (log := _of_use(read_log(entry))) is not None:
        yield log


def _of_use(log: Log) -> Log | None:
    """Return a log that stands in a folder, or what is to be said of one that cannot be read.

    Other files are to be expected there; given by name, they are an error.
    """
    if _has_runs(log):
        return log
    unread = [record for record in log.records if _code(record) in _UNREAD]
    return replace(log, records=unread) if unread else None


def _has_runs(log: Log) -> bool:
    return isinstance(log, FioLog) or any(isinstance(record, Run) for record in log.records)


def _code(record: Record) -> str | None:
    return record.code if isinstance(record, Diagnostic) else None


_UNREAD: Final = {"UNREADABLE", "DAMAGED_ARCHIVE", "TOO_LARGE"}


def _logs_of_study(folder: Path, seen: Seen) -> Iterator[Log | Dataset]:
    try:
        study = read_study(folder)
    except InputError as error:
        message = f"{error.what}. {error.hint}" if error.hint else error.what
        diagnostic = Diagnostic(code="BAD_STUDY", message=message, line=error.line)
        yield Log(source=str(folder / STUDY_FILE), records=[diagnostic])
        return
    lines = iter(table_lines(folder, "log.run"))
    for facts in study.log:
        tables = [(table, next(lines, None)) for table in facts.run]
        log = read_log(folder / facts.file)
        known, problems = facts_of_runs(log, facts, tables)
        yield Log(source=str(folder / STUDY_FILE), records=problems)
        yield from with_study(log, folder, study, facts, known)
    named = {
        (folder / name).resolve() for name in (STUDY_FILE, *(log.file for log in study.log), *companions(study))
    }
    for found in _found_loose(folder, seen, named):
        if isinstance(found, Log) and found.study is None and _has_runs(found):
            message = f"{STUDY_FILE} does not name this file: its runs have the facts of the whole study alone."
            unnamed = Diagnostic(code="UNNAMED_LOG", message=message)
            yield from with_study(replace(found, records=[unnamed, *found.records]), folder, study)
        else:
            yield found
