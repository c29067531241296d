"""Updates the result of reading loose logs from those that changed since.

Prints in several files can only be one run if they share a mark; see `deduplication.marks`. A changed file
therefore only affects files that share marks with it, directly or through others; the rest keep their results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import polars as pl

from fsbench_kit.data.assembly import Assembly, assembly, by_source, found_in
from fsbench_kit.data.batches import Read
from fsbench_kit.data.columns import RUN, Columns, Part
from fsbench_kit.data.deduplication import marks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsbench_kit.data.batches import File
    from fsbench_kit.data.log import Log

_NONE: Final = Columns.of(())
_UNREAD: Final = {has_runs: Read(Part(_NONE, range(has_runs), ()), None, None) for has_runs in (False, True)}
"""Placeholders for files that need not be read, by whether they have runs."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of reading loose logs.

    Attributes
    ----------
    traces
        What changes when a file does, by its path.
    with_runs
        The paths of the files that have runs.
    marks
        The marks of their runs, see `deduplication.Marks.of_files`; ``None`` if runs are linked by more than
        marks.
    assembly
        Their frames.
    """

    traces: Mapping[str, str]
    with_runs: Set[str]
    marks: pl.DataFrame | None
    assembly: Assembly

    def changed(self, traces: Mapping[str, str]) -> set[str] | None:
        """Return the paths that are new, changed or gone; ``None`` if they are the majority, or the order changed.

        Files without runs but with diagnostics count as changed.
        """
        changed = {path for path in {**self.traces, **traces} if self.traces.get(path) != traces.get(path)}
        changed |= self.traces.keys() & set(self.assembly.diagnostics["source"]) - self.with_runs
        before, now = ([path for path in paths if path not in changed] for paths in (self.traces, traces))
        return changed if before == now and len(changed) <= len(before) else None


class ReadSome(Protocol):
    """A function that reads files by path; results of unchanged files may come from the cache."""

    def __call__(self, paths: Set[str], *, have_changed: bool) -> dict[str, Read]:
        """Return what was read of each file."""


def renewed(
    before: Outcome,
    traces: Mapping[str, str],
    files: Sequence[File],
    read_some: ReadSome,
    logs_of: Callable[[Sequence[Read]], list[Log]],
) -> tuple[Outcome, bool] | None:
    """Return the result for logs of which only a few have changed.

    Parameters
    ----------
    before
        The previous result.
    traces, files
        The current state of the files.
    read_some
        A function that reads some of the files.
    logs_of
        A function that returns the logs of the files, given what was read of each.

    Returns
    -------
    tuple
        The new result, and whether the files that were read still match their traces. ``None`` if so many files
        changed, or are linked to changed ones, that everything should be read.
    """
    changed = before.changed(traces)
    if changed is None or before.marks is None:
        return None
    read = read_some(changed, have_changed=True)
    if any(each.fio_log is not None for each in read.values()):  # they affect what file names mean
        return None
    with_runs = (before.with_runs - changed & traces.keys()) | {
        path for path, each in read.items() if each.part.runs
    }
    logs = logs_of([read.get(file.path) or _UNREAD[file.path in with_runs] for file in files])
    own = [log for log in logs if log.source in changed]
    found, diagnostics = found_in(own)
    marked = marks(found)
    affected = _linked(pl.concat([before.marks, marked.of_files(found)]), changed)
    if 2 * len(affected) > len(traces):
        return None
    if affected != changed:
        read |= read_some(affected - changed, have_changed=False)
    affected |= {log.source for log in logs} - traces.keys()  # diagnostics of folders
    if affected != changed:
        own = [
            replace(log, part=read[log.source].part) if log.part is _UNREAD[True].part else log
            for log in logs
            if log.source in affected
        ]
        found, diagnostics = found_in(own)
        marked = marks(found)
    place = {source: number for number, source in enumerate(dict.fromkeys(log.source for log in logs))}
    whole = _spliced(before.assembly, assembly(own, found, diagnostics, marked), affected, place)
    stay = before.marks.filter(~pl.col("source").is_in(affected))
    is_certain = all(read[file.path].stamp == file.stamp for file in files if file.path in read)
    return Outcome(traces, with_runs, pl.concat([stay, marked.of_files(found)]), whole), is_certain


def _linked(marked: pl.DataFrame, changed: Set[str]) -> set[str]:
    """Return the changed files and those linked to them by marks, directly or through others."""
    known = marked.filter(marked["mark"].is_duplicated())
    can_meet = pl.col("format").null_count().over("mark") > 0, pl.col("format").n_unique().over("mark") > 1
    known = known.filter(pl.any_horizontal(can_meet))
    of_mark: dict[int, set[str]] = defaultdict(set)
    of_file: dict[str, set[int]] = defaultdict(set)
    for source, mark in known.select("source", "mark").iter_rows():
        of_mark[mark].add(source)
        of_file[source].add(mark)
    linked, new = set(changed), set(changed)
    while new:
        new = {source for file in new for mark in of_file[file] for source in of_mark[mark]} - linked
        linked |= new
    return linked


def _spliced(old: Assembly, new: Assembly, affected: Set[str], place: Mapping[str, int]) -> Assembly:
    """Replace the results of the affected files by new ones, and order all by the places of their files."""
    stays = ~old.of.is_in(affected)
    of = pl.concat([old.of.filter(stays), new.of])
    order = np.argsort([place[source] for source in of], kind="stable")
    numbers = np.empty_like(order)
    numbers[order] = np.arange(len(order))
    of_old = np.full(len(stays), -1)
    of_old[stays.to_numpy()] = numbers[: len(order) - len(new.of)]
    of_new = numbers[len(order) - len(new.of) :]

    def belonging(name: str) -> pl.DataFrame:
        frames = old.belonging[name], new.belonging[name]
        runs = np.concatenate(
            [of[frame[RUN].to_numpy()] for of, frame in zip((of_old, of_new), frames, strict=True)]
        )
        rows = np.argsort(runs, kind="stable")
        rows = rows[np.searchsorted(runs[rows], 0) :]
        return _rows(pl.concat(frames), rows).with_columns(pl.Series(RUN, runs[rows]))

    diagnostics = old.diagnostics.filter(~pl.col("source").is_in(affected))
    return Assembly(
        pl.concat([old.runs.filter(stays), new.runs])[order],
        of[order],
        {name: belonging(name) for name in old.belonging},
        by_source(pl.concat([diagnostics, new.diagnostics]), place),
    )


def _rows(frame: pl.DataFrame, rows: NDArray[np.intp]) -> pl.DataFrame:
    """Return rows of a frame that are mostly consecutive, as slices, which is cheaper than single rows."""
    if not len(rows):
        return frame.clear()
    starts = np.flatnonzero(np.diff(rows, prepend=rows[0] - 2) != 1)
    lengths = np.diff(starts, append=len(rows))
    stretches = zip(rows[starts].tolist(), lengths.tolist(), strict=True)
    return pl.concat([frame.slice(start, length) for start, length in stretches], rechunk=True)
