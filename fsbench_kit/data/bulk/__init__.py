"""Reads more logs than fit in memory: in chunks, on all processors, into a dataset in parts on disk.

`plan` decides which files are read together, and `workers` where; `parts` reads a chunk and writes its part of the
dataset; `meeting` finds runs that appear in several chunks, and `appending` those that the dataset already has;
`compaction` merges small files; `storage` is how files hold rows; `progress` reports the progress. Parts stay in
the folder ``unfinished`` until all are done; then the manifest lists all of them at once. A reader therefore sees
the old dataset, the new one, or a message that it is unfinished, and nothing that was read before an interruption
is read again.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.bulk.appending import new_parts
from fsbench_kit.data.bulk.compaction import compacted
from fsbench_kit.data.bulk.meeting import settle
from fsbench_kit.data.bulk.parts import finished, frame_of, read_part, write_part
from fsbench_kit.data.bulk.plan import Plan
from fsbench_kit.data.bulk.progress import Reading
from fsbench_kit.data.bulk.workers import workers_of
from fsbench_kit.data.dataset import scan
from fsbench_kit.data.files import check_executor, is_folder, path_given
from fsbench_kit.data.log import log_with
from fsbench_kit.data.names import templates_of
from fsbench_kit.data.reading import no_run
from fsbench_kit.data.tabular import writing
from fsbench_kit.data.written import (
    DONE,
    UNFINISHED,
    Request,
    is_whole,
    parts_of,
    publish,
    stamped,
    write_request,
)
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from fsbench_kit.data.bulk.parts import Part
    from fsbench_kit.data.bulk.plan import Chunk
    from fsbench_kit.data.bulk.workers import Workers
    from fsbench_kit.data.dataset import LazyDataset
    from fsbench_kit.data.log import Log

__all__ = ["Reading", "ingest"]

_SHOWN: Final = 20
"""The maximum number of diagnostics that explain why there is no run."""


def ingest(
    *given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    to: str | os.PathLike[str],
    names: str | Iterable[str] | None = None,
    append: bool = False,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Reading], None] | None = None,
) -> LazyDataset:
    """Read every log in files and folders into a dataset on disk, however many there are.

    Unlike `read`, this writes the data in parts instead of holding them in memory. If it is interrupted, the same
    call continues where it stopped; until it is done, the folder holds its previous dataset, or none.

    Parameters
    ----------
    *given
        Paths and patterns, as for `read`.
    to
        The folder of the dataset, which `read` loads and `scan` opens as LazyFrames.
    names
        What file names mean, as for `read`.
    append
        Whether to add the runs to the existing dataset. Runs that it already has count once. Several processes may
        append at the same time: each waits for the previous one.
    jobs
        Maximum number of processes on this machine; by default one per processor. Fewer files need fewer.
    executor
        Where to read instead.
    progress
        A function that is called with the progress.

    Raises
    ------
    InputError
        If none of the inputs has a run, or a reading process is killed.
    RequestError
        If an argument is invalid, or if another process is writing this dataset and `append` is false.

    Notes
    -----
    Files are read in chunks of up to two thousand, or more if they belong together. Runs in several chunks count
    once if their bytes are the same; the other rules for runs in several places apply within a chunk, that is,
    within a study, a folder that is not too large, and files of one name.

    Examples
    --------
    >>> import tempfile, fsbench_kit as fsb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = fsb.ingest("raw_results/published", to=folder)
    ...     data.runs.filter(tool="sysbench").collect().height
    8
    """
    folder = path_given(to)
    check_executor(executor)
    if jobs is not None and executor is not None:
        raise RequestError("jobs and executor cannot be combined", hint="Leave out one of them.")
    if jobs is not None and jobs not in range(1, 2**16):
        raise RequestError(f"{jobs!r} is not a number of processes", hint="Give jobs=2, or leave it out.")
    templates = [str(template) for template in templates_of(names)]
    with workers_of(executor, jobs) as each:
        plan = Plan.of(given, folder, each.prepare)
        if not plan.paths:
            raise no_run(pl.DataFrame(schema=SCHEMAS["diagnostics"]))
        with _alone_in(folder, wait=append) as work:
            write_request(Request(plan.paths, plan.files, templates, append), folder)
            read = _read(plan, templates, work, each, progress or (lambda _: None))
            parts = settle(read, plan.chunks, templates, work, each)
            each.end()
            _finish(plan, parts, work, folder, append=append)
    return scan(folder)


def _finish(plan: Plan, parts: list[Part], work: Path, folder: Path, *, append: bool) -> None:
    """Make the parts that were read the dataset, or a part of it."""
    unread = assemble([*plan.unread, *_silent(plan, parts, work)])
    parts.append(write_part(unread, f"{len(plan.chunks):06}-unread", work))
    if not any(part.runs for part in parts):
        remarks = pl.concat(frame_of("diagnostics", part, work).head(_SHOWN) for part in parts)
        shutil.rmtree(work)
        with suppress(OSError):  # it has other content, or another process waits to write it
            if not append:
                folder.rmdir()
        raise no_run(remarks.head(_SHOWN))
    before: dict[str, list[str]] = {}
    if append and is_whole(folder):
        there = scan(folder)
        before = parts_of(folder)
        parts = new_parts(parts, there, work)
        if not before:
            parts = [write_part(there.collect(), "before", work), *parts]
    files = _moved(parts, before, folder)
    publish(files, folder, plan.paths)
    shutil.rmtree(work)
    publish(compacted(files, folder), folder, plan.paths)


def _moved(parts: Sequence[Part], before: Mapping[str, Sequence[str]], folder: Path) -> dict[str, list[str]]:
    """Move the files of parts into a dataset, and return them after its existing ones."""
    stamp = stamped()
    files = {name: list(before.get(name, ())) for name in SCHEMAS}
    for part in parts:
        for name, of_part in part.files.items():
            for path in of_part:
                place = Path(path).with_name(f"{stamp}{Path(path).name}")
                (folder / place).parent.mkdir(parents=True, exist_ok=True)
                (folder / UNFINISHED / path).replace(folder / place)
                files[name].append(str(place))
    return files


@contextmanager
def _alone_in(folder: Path, *, wait: bool) -> Iterator[Path]:
    """Lock the dataset's folder for this process, and yield the folder for unfinished work."""
    work = folder / UNFINISHED
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        work.mkdir(exist_ok=True)
    except BlockingIOError as error:
        raise RequestError("another process writes this dataset", file=folder) from error
    else:
        yield work
    finally:
        os.close(lock)


def _read(
    plan: Plan, names: Sequence[str], work: Path, each: Workers, progress: Callable[[Reading], None]
) -> list[Part]:
    """Read the chunks that have no part yet."""
    started = monotonic()
    parts: list[Part | None] = []
    missing: list[int] = []
    read = before = 0

    def say() -> None:
        progress(Reading(plan.files, read, before, monotonic() - started))

    def missing_chunks() -> Iterator[tuple[str, str, Chunk, Sequence[str], Path]]:
        nonlocal read, before
        for number, chunk in enumerate(plan.next_chunks()):
            key = chunk.key(names)
            parts.append(part := finished(key, work))
            if part is None:
                missing.append(number)
                yield key, f"{number:06}-{key[:8]}", chunk, names, work
            else:
                read, before = read + chunk.files, before + chunk.files

    def read_part_here(key: str, name: str, chunk: Chunk, names: Sequence[str], folder: Path) -> Part:
        return read_part(key, name, chunk, names, folder, executor=each.idle)

    given: Iterable[tuple[str, str, Chunk, Sequence[str], Path]] = missing_chunks()
    if any(work.glob(f"*{DONE}")):
        given = list(given)  # looks for all that was read before, so that it can be told at once
    say()
    for number, part in each(read_part, given, here=read_part_here):
        parts[missing[number]] = part
        read += part.read
        say()
    return [part for part in parts if part is not None]


def _silent(plan: Plan, parts: Sequence[Part], work: Path) -> Iterator[Log]:
    """Yield diagnostics for given folders that have no runs and no other diagnostics."""
    silent = {path for path in plan.paths if is_folder(Path(path))} - {log.source for log in plan.unread}
    for part in parts:
        for name in ("runs", "diagnostics"):
            if silent:
                sources = frame_of(name, part, work, ["source"])["source"].unique()
                silent -= {path for path in silent if sources.str.starts_with(path).any()}
    yield from (log_with(Path(path), "NO_LOG", "There is no log in this folder or below it.") for path in silent)
