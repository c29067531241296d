"""Finds what can be read in files and folders: loose logs, studies, launched runs, written datasets.

First everything is found, then all files are read together, and then the results are assigned to where they
belong.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias

from fsbench_kit.data.absent import said_of_absent
from fsbench_kit.data.batches import File
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.files import (
    NOT_SEARCHED,
    Inode,
    Stamp,
    inode,
    is_folder,
    is_launched,
    is_report,
    is_study,
    kernel_filesystem,
    name_of,
    not_regular,
)
from fsbench_kit.data.log import Log, log_with
from fsbench_kit.data.remote import is_remote
from fsbench_kit.data.written import is_in_parts, is_written, read_frames
from fsbench_kit.model.errors import InputError, legible
from fsbench_kit.model.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
    from types import ModuleType

Result: TypeAlias = Log | Dataset
Found: TypeAlias = "Log | Dataset | File | Several"


@dataclass(frozen=True, slots=True)
class Several:
    """What was found in one place.

    Attributes
    ----------
    together
        A function that combines the results of each item.
    is_its_logs
        Whether the combined result depends on nothing else.
    """

    found: Sequence[Found]
    together: Callable[[Sequence[Sequence[Result]]], Iterator[Result]]
    is_its_logs: bool = False


def files_of(found: Found) -> Iterator[File]:
    """Yield the files to read, in the order in which `results_of` consumes their results."""
    match found:
        case File():
            yield found
        case Several():
            for each in found.found:
                if isinstance(each, File):  # which most are; a generator for each would take longer
                    yield each
                else:
                    yield from files_of(each)


def traces_by_path(several: Iterable[Found]) -> dict[str, str] | None:
    """Return by path what determines the result of what was found; ``None`` if it depends on more than logs."""
    known: dict[str, str] = {}
    for trace in chain.from_iterable(map(_traces, several)):
        if trace is None:
            return None
        path, *others = trace
        if legible(path) != path:  # the path cannot be encoded
            return None
        known[path] = known.get(path, "") + repr(others)
    return known


def _traces(found: Found) -> Iterator[tuple[Any, ...] | None]:
    match found:
        case File():
            yield _trace(found)
        case Log():
            yield found.source, *found.records
        case Several(is_its_logs=True):
            for each in found.found:
                if isinstance(each, File):  # as in `files_of`
                    yield _trace(each)
                else:
                    yield from _traces(each)
        case _:
            yield None


def _trace(file: File) -> tuple[Any, ...] | None:
    return None if file.stamp is None else (file.path, *file.stamp)


def results_of(found: Found, read: Iterator[Log]) -> list[Result]:
    """Return the results of what was found, consuming what was read of files."""
    match found:
        case File():
            log = _of_use(next(read)) if found.is_found else next(read)
            return [] if log is None else [log]
        case Several():
            return list(found.together([results_of(each, read) for each in found.found]))
        case _:
            return [found]


def loose_logs(several: Iterable[Found], read: Mapping[str, Log], paths: Set[str]) -> Iterator[Log]:
    """Yield the logs at some paths, given those that were read, and what is said of places that were not read.

    This is for what depends on nothing but its logs. Folders without a log get no diagnostic.
    """
    for found in several:
        match found:
            case File(path=path) if path in paths:
                log = _of_use(read[path]) if found.is_found else read[path]
                if log is not None:
                    yield log
            case Log():
                yield found
            case Several():
                yield from loose_logs(found.found, read, paths)


Seen = dict[Inode, str]
"""The files and folders found so far, by inode, with the first of their names."""


def found_at(item: Path | BinaryIO, number: int, seen: Seen) -> Found:
    """Find what a given path, or open file with a number, refers to."""
    if not isinstance(item, Path):
        return File(name_of(item, number), open=item)
    if (nothing := said_of_absent(item)) is not None:
        return log_with(item, "UNREADABLE", nothing)
    if not is_folder(item):
        return read_before(item, seen) or File(str(item), may_be_pipe=True)
    if item.resolve() == Path(item.resolve().anchor):
        return log_with(item, "UNREADABLE", "The whole machine is not searched: name the folder with the logs.")
    if (of_kernel := kernel_filesystem(item)) is not None:
        return log_with(item, "UNREADABLE", NOT_SEARCHED.format(of_kernel))
    return read_before(item, seen) or Several(
        list(_found_in_folder(item, seen)), partial(_or_no_log, item), is_its_logs=True
    )


def _or_no_log(folder: Path, results: Sequence[Sequence[Result]]) -> Iterator[Result]:
    found = list(chain.from_iterable(results))
    yield from found
    if all(isinstance(each, Log) and _is_only_skipped(each) for each in found):
        yield log_with(folder, "NO_LOG", "There is no log in this folder or below it.")


def _is_only_skipped(log: Log) -> bool:
    return not log.has_runs and _codes(log) in (["SKIPPED"], ["REPORT_SKIPPED"])


def read_before(path: Path, seen: Seen) -> Log | None:
    """Return a diagnostic if a file or folder was already read under another name; otherwise remember it."""
    try:
        return _seen_before(inode(path), str(path), seen)
    except OSError:
        return None  # reading it reports the error


def _seen_before(found: Inode, path: str, seen: Seen) -> Log | None:
    if (first := seen.setdefault(found, path)) is path:
        return None
    return log_with(path, "READ_BEFORE", f"It is the same as {first}, and was read under that name.")


def _found_in_folder(folder: Path, seen: Seen, but: Collection[Path] = ()) -> Iterator[Found]:
    """Find a study, the folder of a run, a dataset, or a folder with these and loose files."""
    try:
        is_described, has_frames = is_study(folder), is_written(folder)
    except OSError as error:
        yield log_with(folder, "UNREADABLE", f"The folder cannot be read: {error.strerror}.")
        return
    if has_frames:
        yield _written(folder)
    if is_in_parts(folder):
        return
    if is_described:
        yield from _described().found_in_study(folder, seen)
    elif is_launched(folder):
        yield from _described().found_of_run(folder)
    else:
        yield from found_loose(folder, seen, but)


def found_loose(folder: Path, seen: Seen, but: Collection[Path]) -> Iterator[Found]:
    """Find what a folder contains, except for some files given as resolved paths."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208  # of thousands
    except OSError as error:
        yield log_with(folder, "UNREADABLE", f"The folder cannot be read: {error.strerror}.")
        return
    prefix = str(folder / "_")[:-1]
    yield from found_among((prefix + name for name in names), seen, but)


def found_among(paths: Iterable[str], seen: Seen, but: Collection[Path] = ()) -> Iterator[Found]:
    """Find what entries of folders are, except for some files given as resolved paths."""
    for path in paths:
        if but and Path(path).resolve() in but:
            continue
        try:
            known = os.lstat(path)
        except OSError as error:
            yield log_with(path, "UNREADABLE", f"It cannot be read: {error.strerror}.")
            continue
        if stat.S_ISREG(known.st_mode):
            yield _seen_before((known.st_dev, known.st_ino), path, seen) or File(
                path, is_found=True, stamp=Stamp.of(known)
            )
        else:
            yield from _found_as(Path(path), seen, but)


def _written(folder: Path) -> Log | Dataset:
    try:
        return Dataset(**read_frames(folder))
    except InputError as error:
        return log_with(error.file or folder, "UNREADABLE", f"The dataset cannot be read: {error.what}.")


def _found_as(entry: Path, seen: Seen, but: Collection[Path]) -> Iterator[Found]:
    """Find what an entry of a folder is that is not a regular file."""
    try:
        irregular = not_regular(entry)
    except OSError as error:
        yield log_with(entry, "UNREADABLE", f"It cannot be read: {error.strerror}.")
        return
    if irregular is not None:
        yield log_with(entry, "SKIPPED", f"It is {irregular}, and was not opened.")
    elif entry.is_symlink() and entry.is_dir() and entry.parent.resolve().is_relative_to(entry.resolve()):
        yield log_with(entry, "SKIPPED", "It is a link to a folder that contains it, and was not followed.")
    elif entry.is_dir() and (of_kernel := kernel_filesystem(entry)) is not None:
        yield log_with(entry, "SKIPPED", NOT_SEARCHED.format(of_kernel))
    elif (before := read_before(entry, seen)) is not None:
        yield before
    elif entry.is_dir() and is_report(entry):
        yield of_report(entry)
    elif entry.is_dir():
        yield from _found_in_folder(entry, seen, but)
    else:
        yield File(str(entry), is_found=True)


def of_report(folder: Path) -> Log:
    """Return the diagnostic for a report's folder that was found among others."""
    message = "It is a report, with copies of logs, and was not read: give its own path to read it."
    return log_with(folder, "REPORT_SKIPPED", message)


def _of_use(log: Log) -> Log | None:
    """Return a log found in a folder, or only its diagnostics if it cannot be read; ``None`` for other files.

    Other files are to be expected in folders; they are only an error if given by name.
    """
    if log.has_runs:
        return log
    if log.part is None:
        return None
    unread = [number for number, code in zip(log.part.diagnostics, _codes(log), strict=True) if code in _UNREAD]
    if unread:
        return replace(log, part=log.part._replace(diagnostics=unread))
    if is_remote(log.source):
        return log_with(
            log.source, "SKIPPED", "It is an archive, and was not opened: give its own path to read it."
        )
    return None


def _codes(log: Log) -> list[str]:
    """Return the codes of the diagnostics of a file."""
    if log.part is None:
        return [record.code for record in log.records if isinstance(record, Diagnostic)]
    return log.part.columns.diagnostics["code"].gather(list(log.part.diagnostics)).to_list()


_UNREAD: Final = {"UNREADABLE", "DAMAGED_ARCHIVE", "TOO_LARGE"}


def _described() -> ModuleType:
    """Return the module for logs described by a file; it is rarely needed and slow to import."""
    return import_module("fsbench_kit.data.described")
