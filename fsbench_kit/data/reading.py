"""Reads every log in files and folders into one dataset."""

from __future__ import annotations

import io
import os
import shlex
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final

from fsbench_kit.data.again import Outcome, change
from fsbench_kit.data.assembly import assembly, found_in, legibly
from fsbench_kit.data.cache import Cache, is_on
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.dates import with_times
from fsbench_kit.data.deduplication import marks
from fsbench_kit.data.files import Given, check_executor, flattened
from fsbench_kit.data.finding import Several, files_of, found_among, found_at, results_of, traces_by_path
from fsbench_kit.data.fio_runs import with_fio_logs
from fsbench_kit.data.garbage import less_garbage_collection
from fsbench_kit.data.joining import joined
from fsbench_kit.data.log import FioLog, Log
from fsbench_kit.data.names import templates_of, with_assumed, with_names
from fsbench_kit.data.parallel import read_files
from fsbench_kit.data.sharing import ended_processes_reported
from fsbench_kit.data.written import is_written
from fsbench_kit.formats import known_logs
from fsbench_kit.model.errors import InputError, RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set
    from concurrent.futures import Executor

    import polars as pl

    from fsbench_kit.data.batches import File, Read
    from fsbench_kit.data.finding import Found, Seen
    from fsbench_kit.data.names import NameTemplate


@less_garbage_collection
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
        Files with logs, study folders, or folders that contain these at any depth: paths, patterns such as
        ``logs/*.json``, archives such as ``logs.zip``, or URLs such as ``s3://bucket/logs``; also the bytes of a
        log, open files, or lists of any of these. A folder written by `Dataset.write` or `ingest` returns its
        data. A string is always a path; `read_text` reads the text of a log.
    names
        What file names mean: ``{filesystem}_bs{block_size}_run{round}.json``, or with folders
        ``{host}/{filesystem}/{round}.json``. Keys are columns of runs, settings, or words of your own, which
        become settings. What logs or their study say takes precedence. Of several templates, the first that fits
        is used. Without a template, parts such as ``fs=xfs`` are read.
    assume
        What you know and no log states: ``{"fio_version": "3.1"}`` for latency logs of fio without a report,
        columns of runs, or settings. It is marked as assumed, and anything stated elsewhere takes precedence.
    executor
        An executor that reads many files in parallel with this process, such as
        ``ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("forkserver"))``.
    cache
        Whether to take files that were read before and are unchanged from the cache; see ``docs/data.md``.

    Returns
    -------
    Dataset
        What the logs say. Anything unusual, and why a file could not be read, is in its ``diagnostics``.

    Raises
    ------
    InputError
        If none of the inputs has a run, or a reading process is killed.
    RequestError
        If an argument is not a valid input.

    Notes
    -----
    In folders only regular files are read, and each file once, even if it has several names.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> fsb.read("raw_results/published/*nvme*").runs.height
    2
    """
    check_executor(executor)
    seen: Seen = {}
    templates = templates_of(names)
    items = list(flattened(*given))
    found = [found_at(item, number, seen) for number, item in enumerate(items, 1)]
    with ended_processes_reported("Fewer processes need less of it."):
        dataset = _dataset(items, found, templates, executor, assume=assume or {}, cached=cache and is_on())
    dataset = with_times(dataset)
    if dataset.runs.is_empty():
        raise no_run(dataset.diagnostics)
    return dataset


@less_garbage_collection
def read_entries(
    entries: Iterable[tuple[str, bool]], names: Iterable[str] = (), executor: Executor | None = None
) -> Dataset:
    """Read paths, each with whether it was given or found in a folder; the result may have no runs."""
    seen: Seen = {}
    found: list[Found] = []
    for is_given, some in groupby(entries, itemgetter(1)):
        paths = [path for path, _ in some]
        if is_given:
            found += (found_at(Path(path), 0, seen) for path in paths)
        else:
            found.append(Several(list(found_among(paths, seen)), chain.from_iterable))
    places = [Path()] * len(found)  # only the cache depends on them
    return _dataset(places, found, templates_of(names), executor, cached=False)


def _dataset(
    items: Sequence[Path | BinaryIO],
    found: Sequence[Found],
    names: Sequence[NameTemplate],
    executor: Executor | None,
    *,
    assume: Mapping[str, str] = MappingProxyType({}),
    cached: bool,
) -> Dataset:
    """Read the files found for the given items; those of a folder are cached together."""
    files: list[File] = []
    folders: list[str] = []
    for item, each in zip(items, found, strict=True):
        inside = list(files_of(each))
        is_folder = isinstance(each, Several) and isinstance(item, Path)
        files += inside
        folders += [str(item)] * len(inside) if is_folder else [os.path.dirname(file.path) for file in inside]  # noqa: PTH120

    def read_some(paths: Set[str], *, have_changed: bool) -> dict[str, Read]:
        some = [place for place in zip(files, folders, strict=True) if place[0].path in paths]
        its_files, its_folders = [file for file, _ in some], [folder for _, folder in some]
        read = read_files(its_files, executor) if have_changed else cache.read(its_files, its_folders, executor)
        return dict(zip((file.path for file in its_files), read, strict=True))

    traces = traces_by_path(found) if cached and not names and not assume else None
    cache = Cache(folders)
    if traces is not None and (before := cache.result()) is not None:
        if before.traces == traces:
            return before.assembly.dataset
        some = change(before, traces, found, read_some)
        if some is not None:
            its_change, is_certain = some
            return cache.after(its_change, is_kept=is_certain).dataset
    read = cache.read(files, folders, executor) if cached else read_files(files, executor)
    as_logs = (
        Log(source=file.path, part=part) if fio_log is None else FioLog(source=file.path, file=fio_log)
        for file, (part, fio_log, _) in zip(files, read, strict=True)
    )
    results = list(chain.from_iterable(results_of(each, as_logs) for each in found))
    logs = [log for each in results if isinstance(each, Log) for log in with_names(each, names)]
    if assume:
        logs = [assumed for log in logs for assumed in with_assumed(log, assume)]
    own = legibly(with_fio_logs(logs))
    runs, diagnostics = found_in(own)
    marked = marks(runs)
    whole = assembly(own, runs, diagnostics, marked)
    outcome = None
    if traces is not None:
        # Files that could still change undetected are read again the next time.
        unsettled = {file.path for file, each in zip(files, read, strict=True) if file.stamp != each.stamp}
        traces |= dict.fromkeys(unsettled, "")
        with_runs = {log.source for log in logs if log.has_runs}
        is_by_itself = not any(isinstance(log, FioLog) for log in logs)
        order = list(dict.fromkeys(log.source for log in own))
        its_marks = marked.of_files(runs) if is_by_itself else None
        outcome = Outcome(traces, with_runs, order, its_marks, lambda: whole)
    if cached:
        cache.keep(read, folders, outcome)
    return joined([whole.dataset, *(each for each in results if isinstance(each, Dataset))])


def no_run(diagnostics: pl.DataFrame) -> InputError:
    """Return the error that the input has no runs, and why."""
    problems = diagnostics.select("source", "message", "excerpt").unique(maintain_order=True)
    lines = [
        f"{source}: {message}" + (f"\n    {excerpt}" if excerpt else "")
        for source, message, excerpt in problems.head(_MOST_SAID).rows()
    ]
    if (more := problems.height - _MOST_SAID) > 0:
        lines.append(f"And {more:,} more.")
    return InputError("\n".join(lines) or "no path was given", hint=_instead(diagnostics))


_MOST_SAID: Final = 10


def _instead(diagnostics: pl.DataFrame) -> str | None:
    """Suggest what to do if there is no run, unless all paths are missing, which has its own hints."""
    if "BAD_STUDY" in diagnostics["code"]:
        return "Correct this in the file."
    for path in filter(os.path.isfile, diagnostics.filter(code="NO_LOG")["source"]):
        return f"To see how each of its lines was understood: {shlex.join(['fsbench', 'read', '--explain', path])}"
    absent = [path for path in diagnostics.filter(code="UNREADABLE")["source"] if not os.path.lexists(path)]
    if absent and len(absent) == diagnostics.height:
        return None
    sources = diagnostics["source"].to_list()
    if sources and all(is_written(Path(source)) for source in sources):  # the messages say what to do
        return None
    return f"Give files that hold logs of {known_logs()}, or folders with such."


def read_text(text: str) -> Dataset:
    r"""Read the logs in a text.

    Parameters
    ----------
    text
        The output of a tool, or anything that contains it: an article, a mail.

    Returns
    -------
    Dataset
        As from `read`; its ``source`` is ``<text>``.

    Raises
    ------
    InputError
        If the text has no run.

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
