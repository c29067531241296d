"""Finds what can be read in files and folders: loose logs, studies, launched runs, datasets that were written."""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.batches import File, read_files
from fsbench_kit.data.cache import Results, is_on, read_cached
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.files import Given, Inode, Stamp, flattened, inode, is_folder, name_of, not_regular
from fsbench_kit.data.fio_runs import with_fio_logs
from fsbench_kit.data.joining import joined
from fsbench_kit.data.launched import is_launched, log_names, run_facts, with_run_facts
from fsbench_kit.data.log import FioLog, Log, log_with
from fsbench_kit.data.names import not_fitting, said_by, templates_of, with_assumed, with_names
from fsbench_kit.data.study import STUDY_FILE, companions, read_study, table_lines
from fsbench_kit.data.study_facts import facts_of_runs, with_study
from fsbench_kit.data.written import is_in_parts, is_written, read_frames
from fsbench_kit.formats import known_logs
from fsbench_kit.model.errors import InputError, RequestError
from fsbench_kit.model.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    import polars as pl

    from fsbench_kit.data.names import NameTemplate
    from fsbench_kit.data.study import StudyDescription


def read(
    *given: Given,
    names: str | Iterable[str] | None = None,
    assume: Mapping[str, str] | None = None,
    executor: Executor | None = None,
    cache: bool = True,
) -> Dataset:
    """Read every log in files and folders.

    Parameters
    ----------
    *given
        Files with logs, study folders, or folders that hold such at any depth: paths, or patterns such as
        ``logs/*.json``. Also a log's bytes, and open files. Any of these can stand in lists. A folder that
        `Dataset.write` or `ingest` wrote gives its data back. A string is always a path: `read_text` reads a log's
        text.
    names
        What the names of files mean: ``{filesystem}_bs{block_size}_run{round}.json``, or with folders
        ``{host}/{filesystem}/{round}.json``. Keys are columns of runs, settings, or words of one's own, which
        become settings. What logs or their study say goes before. Of several templates the first counts that fits.
        Without one, parts such as ``fs=xfs`` are read.
    assume
        What no log tells and its reader knows: ``{"fio_version": "3.1"}`` for latency logs of fio that stand
        alone, columns of runs, or settings. It is marked as assumed, and what anything else says goes before.
    executor
        Reads many files beside each other, such as
        ``ProcessPoolExecutor(mp_context=multiprocessing.get_context("forkserver"))``.
    cache
        Whether files that were read before and have not changed since are taken from the cache; see
        ``docs/data.md``.

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
    templates = templates_of(names)
    items = list(flattened(*given))
    found = [_found_at(item, number, seen) for number, item in enumerate(items, 1)]
    dataset = _dataset(items, found, templates, executor, assume=assume or {}, cached=cache and is_on())
    if dataset.runs.is_empty():
        raise no_run(dataset.diagnostics)
    return dataset


def read_entries(entries: Iterable[tuple[Path, bool]], names: Iterable[str] = ()) -> Dataset:
    """Read paths, each with whether it was given or found in a folder; there may be no run in them."""
    seen: Seen = {}
    items = list(entries)
    found = [
        _found_at(path, 0, seen) if is_given else _Several(list(_found_as(path, seen, ())), chain.from_iterable)
        for path, is_given in items
    ]
    return _dataset([path for path, _ in items], found, templates_of(names), None, cached=False)


def _dataset(
    items: Sequence[Path | BinaryIO],
    found: Sequence[Found],
    names: Sequence[NameTemplate],
    executor: Executor | None,
    *,
    assume: Mapping[str, str] = MappingProxyType({}),
    cached: bool,
) -> Dataset:
    """Read the files among what was found at some items; those of a folder are kept together."""
    places = [
        (Path(file.path).parent if file is each or not isinstance(item, Path) else item, file)
        for item, each in zip(items, found, strict=True)
        for file in _files(each)
    ]
    files = [file for _, file in places]
    kept: Results | None = None
    if not cached:
        read = read_files(files, executor)
    else:
        folders = [place for place, _ in places]
        traces = [trace for each in found for trace in _traces(each)]
        if None not in traces and not names and not assume:
            kept = Results(dict.fromkeys(folders), traces)
            if (frames := kept.read()) is not None:
                return Dataset(*frames)
        read = read_cached(files, folders, executor)
    logs_read = (
        Log(source=file.path, part=part) if fio_log is None else FioLog(source=file.path, file=fio_log)
        for file, (part, fio_log, _) in zip(files, read, strict=True)
    )
    results = [result for each in found for result in _results(each, logs_read)]
    logs = [log for each in results if isinstance(each, Log) for log in with_names(each, names)]
    if assume:
        logs = [assumed for log in logs for assumed in with_assumed(log, assume)]
    written = [each for each in results if isinstance(each, Dataset)]
    dataset = joined([assemble(with_fio_logs(logs)), *written])
    if kept is not None and all(file.stamp == stamp for file, (_, _, stamp) in zip(files, read, strict=True)):
        kept.keep(dataset.frames.values())
    return dataset


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


# First everything is found, then all files are read together, and then what was read is put in its places.

Result: TypeAlias = Log | Dataset
Found: TypeAlias = "Log | Dataset | File | _Several"


@dataclass(frozen=True, slots=True)
class _Several:
    """What was found in a place.

    Attributes
    ----------
    together
        Makes of the results of each what becomes of all of them.
    is_its_logs
        Whether that depends on nothing else.
    """

    found: Sequence[Found]
    together: Callable[[Sequence[Sequence[Result]]], Iterator[Result]]
    is_its_logs: bool = False


def _files(found: Found) -> Iterator[File]:
    """Yield the files that are to be read, in the order in which `_results` takes them."""
    match found:
        case File():
            yield found
        case _Several():
            for each in found.found:
                yield from _files(each)


def _traces(found: Found) -> Iterator[tuple[object, ...] | None]:
    """Yield what decides what becomes of something found; ``None`` where that is more than its logs."""
    match found:
        case File(stamp=Stamp() as stamp):
            yield found.path, *stamp
        case Log():
            yield found.source, *found.records
        case _Several(is_its_logs=True):
            for each in found.found:
                yield from _traces(each)
        case _:
            yield None


def _results(found: Found, read: Iterator[Log]) -> Iterator[Result]:
    """Yield what became of something found, taking what was read of files."""
    match found:
        case File():
            log = _of_use(next(read)) if found.is_found else next(read)
            if log is not None:
                yield log
        case _Several():
            yield from found.together([list(_results(each, read)) for each in found.found])
        case _:
            yield found


Seen = dict[Inode, str]
"""The files and folders that were read so far, under one of their names."""


def _found_at(item: Path | BinaryIO, number: int, seen: Seen) -> Found:
    if not isinstance(item, Path):
        return File(name_of(item, number), open=item)
    if not is_folder(item):
        return read_before(item, seen) or File(str(item), may_be_pipe=True)
    if item.resolve() == Path(item.resolve().anchor):
        return log_with(item, "UNREADABLE", "The whole machine is not searched: name the folder with the logs.")
    return read_before(item, seen) or _Several(
        list(_found_in_folder(item, seen)), partial(_or_no_log, item), is_its_logs=True
    )


def _or_no_log(folder: Path, results: Sequence[Sequence[Result]]) -> Iterator[Result]:
    found = list(chain.from_iterable(results))
    yield from found
    if all(isinstance(each, Log) and _codes(each) == ["SKIPPED"] for each in found):
        yield log_with(folder, "NO_LOG", "There is no log in this folder or below it.")


def read_before(path: Path, seen: Seen) -> Log | None:
    """Return what is to be said where a file or folder was read under another name; else remember it."""
    try:
        return _seen_before(inode(path), str(path), seen)
    except OSError:
        return None  # which is said when it is read


def _seen_before(found: Inode, path: str, seen: Seen) -> Log | None:
    if (first := seen.setdefault(found, path)) is path:
        return None
    return log_with(path, "READ_BEFORE", f"It is the same as {first}, and was read as that.")


def _found_in_folder(folder: Path, seen: Seen, but: Collection[Path] = ()) -> Iterator[Found]:
    """Find a study, a run's folder, a dataset, or a folder of these and of loose files."""
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
        yield from _found_in_study(folder, seen)
    elif is_launched(folder):
        yield from _found_of_run(folder)
    else:
        yield from _found_loose(folder, seen, but)


def _found_loose(folder: Path, seen: Seen, but: Collection[Path]) -> Iterator[Found]:
    """Find what stands in a folder but for some files, given as paths without links."""
    try:
        with os.scandir(folder) as found:
            entries = sorted((each for each in found if not each.name.startswith(".")), key=lambda each: each.name)
    except OSError as error:
        yield log_with(folder, "UNREADABLE", f"The folder cannot be read: {error.strerror}.")
        return
    prefix = str(folder / "_")[:-1]
    for entry in entries:
        path = prefix + entry.name
        if but and Path(path).resolve() in but:
            continue
        try:
            known = entry.stat(follow_symlinks=False)
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
    """Find what stands in a folder and is no plain file."""
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
    else:
        yield File(str(entry), is_found=True)


def _of_use(log: Log) -> Log | None:
    """Return a log that stands in a folder, or what is to be said of one that cannot be read.

    Other files are to be expected there; given by name, they are an error.
    """
    if _has_runs(log):
        return log
    if log.part is None:
        return None
    unread = [number for number, code in zip(log.part.said, _codes(log), strict=True) if code in _UNREAD]
    return replace(log, part=log.part._replace(said=unread)) if unread else None


def _has_runs(log: Log) -> bool:
    return isinstance(log, FioLog) or (log.part is not None and len(log.part.runs) > 0)


def _codes(log: Log) -> list[str]:
    """Return the codes of what is said of a file."""
    if log.part is None:
        return [record.code for record in log.records if isinstance(record, Diagnostic)]
    return log.part.columns.diagnostics["code"].gather(list(log.part.said)).to_list()


_UNREAD: Final = {"UNREADABLE", "DAMAGED_ARCHIVE", "TOO_LARGE"}


def _found_in_study(folder: Path, seen: Seen) -> Iterator[Log | _Several]:
    try:
        study = read_study(folder)
    except InputError as error:
        message = f"{error.what}. {error.hint}" if error.hint else error.what
        diagnostic = Diagnostic(code="BAD_STUDY", message=message, line=error.line)
        yield Log(source=str(folder / STUDY_FILE), records=[diagnostic])
        return
    files = [File(str(folder / facts.file)) for facts in study.log]
    yield _Several(files, partial(_with_facts, folder, study))
    named = {
        (folder / name).resolve() for name in (STUDY_FILE, *(log.file for log in study.log), *companions(study))
    }
    yield _Several(list(_found_loose(folder, seen, named)), partial(_with_study_alone, folder, study))


def _with_facts(folder: Path, study: StudyDescription, results: Sequence[Sequence[Result]]) -> Iterator[Result]:
    """Give the files that a study names what it says of them."""
    lines = iter(table_lines(folder, "log.run"))
    for facts, (log,) in zip(study.log, results, strict=True):
        tables = [(table, next(lines, None)) for table in facts.run]
        if isinstance(log, Log):
            known, problems = facts_of_runs(log, facts, tables)
            yield Log(source=str(folder / STUDY_FILE), records=problems)
            yield from with_study(log, folder, study, facts, known)


def _with_study_alone(
    folder: Path, study: StudyDescription, results: Sequence[Sequence[Result]]
) -> Iterator[Result]:
    """Give the files that a study does not name what it says of all."""
    message = f"{STUDY_FILE} does not name this file: its runs have the facts of the whole study alone."
    templates = templates_of(study.study.names)
    for found in chain.from_iterable(results):
        if isinstance(found, Log) and found.study is None and _has_runs(found):
            if not templates:
                yield log_with(found.source, "UNNAMED_LOG", message)
            elif said_by(templates, Path(found.source).relative_to(folder)) is None:
                yield not_fitting(found, templates)
            yield from with_study(found, folder, study)
        else:
            yield found


def _found_of_run(folder: Path) -> Iterator[Log | _Several]:
    """Find the logs of a run that was launched."""
    try:
        facts = run_facts(folder)
    except InputError as error:
        yield log_with(error.file or folder, "BAD_STUDY", error.what)
        return
    names = log_names(folder, facts)

    def with_facts(results: Sequence[Sequence[Result]]) -> Iterator[Result]:
        logs = [each for each in chain.from_iterable(results) if isinstance(each, Log)]
        return with_run_facts(logs, folder, names, facts)

    yield _Several([File(str(folder / name)) for name in names], with_facts)
