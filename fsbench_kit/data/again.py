"""Updates the result of reading loose logs from those that changed since.

Prints in several files can only be one run if they share a mark; see `deduplication.marks`. A changed file
therefore only affects files that share marks with it, directly or through others; the rest keep their results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
import polars as pl

from fsbench_kit.data.assembly import Assembly, assembly, found_in
from fsbench_kit.data.columns import RUN, with_column
from fsbench_kit.data.deduplication import marks
from fsbench_kit.data.finding import Several, files_of, loose_logs
from fsbench_kit.data.log import Log
from fsbench_kit.data.names import with_names
from fsbench_kit.model.rows import rows_of

if TYPE_CHECKING:
    from fsbench_kit.data.batches import Read
    from fsbench_kit.data.deduplication import Found as FoundRuns
    from fsbench_kit.data.deduplication import Marks
    from fsbench_kit.data.finding import Found


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of reading loose logs, or what changes in it when some of them do.

    Attributes
    ----------
    traces
        What changes when a file does, by its path.
    with_runs
        The paths of the files that have runs.
    order
        The files and folders with runs or diagnostics, in order.
    marks
        The marks of the runs, see `deduplication.Marks.of_files`; ``None`` if runs are linked by more than marks.
    put_together
        Returns the frames.
    replaced
        For a change, the places whose previous results the marks and frames replace.
    """

    traces: Mapping[str, str]
    with_runs: Set[str]
    order: Sequence[str]
    marks: pl.DataFrame | None
    put_together: Callable[[], Assembly]
    replaced: Set[str] = frozenset()

    @cached_property
    def assembly(self) -> Assembly:
        """The frames; those of an earlier state are never put together if only a later one is wanted."""
        return self.put_together()

    def changed(self, traces: Mapping[str, str]) -> set[str] | None:
        """Return the paths that are new, changed or gone; ``None`` if they are the majority, or the order changed.

        Files without runs but with diagnostics count as changed.
        """
        changed = {path for path, _ in self.traces.items() ^ traces.items()}
        changed |= self.traces.keys() & set(self.order) - self.with_runs
        before, now = ([path for path in paths if path not in changed] for paths in (self.traces, traces))
        return changed if before == now and len(changed) <= len(before) else None

    def then(self, change: Outcome) -> Outcome:
        """Return the result after a change; of two changes, the change that they are together."""
        if self.marks is None or change.marks is None:
            marks = None
        else:
            marks = _but(self.marks, change.replaced).vstack(change.marks)
        return replace(
            change,
            marks=marks,
            put_together=lambda: self.changed_by(change),
            replaced=self.replaced | change.replaced,
        )

    def changed_by(self, change: Outcome) -> Assembly:
        """Return the frames after a change."""
        return _spliced(self.assembly, change.assembly, change.replaced, change.order)


class ReadSome(Protocol):
    """A function that reads files by path; results of unchanged files may come from the cache."""

    def __call__(self, paths: Set[str], *, have_changed: bool) -> dict[str, Read]:
        """Return what was read of each file."""


def change(
    before: Outcome,
    traces: Mapping[str, str],
    found: Sequence[Found],
    read_some: ReadSome,
) -> tuple[Outcome, bool] | None:
    """Return what changes in a result without templates of names if only a few of the logs have changed.

    Parameters
    ----------
    before
        The previous result.
    traces, found
        The current state of the files, and what was found in each place.
    read_some
        A function that reads some of the files.

    Returns
    -------
    tuple
        The change, and whether the files that were read still match their traces. ``None`` if so many files
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
    folders = (each for each in found if isinstance(each, Several))
    if not all(any(file.path in with_runs for file in files_of(folder)) for folder in folders):
        return None  # a folder without a log gets a diagnostic

    def results_at(paths: Set[str]) -> tuple[list[Log], FoundRuns, pl.DataFrame, Marks]:
        logs = {path: Log(source=path, part=each.part) for path, each in read.items()}
        own = [log for each in loose_logs(found, logs, paths) for log in with_names(each, ())]
        runs, diagnostics = found_in(own)
        return own, runs, diagnostics, marks(runs)

    own, runs, diagnostics, marked = results_at(changed)
    affected = _linked(before.marks.vstack(marked.of_files(runs)), changed)
    if 2 * len(affected) > len(traces):
        return None
    if affected != changed:
        read |= read_some(affected - changed, have_changed=False)
        own, runs, diagnostics, marked = results_at(affected)
    with_results = {*before.order} - affected | {log.source for log in own}
    order = [path for path in traces if path in with_results]
    whole = assembly(own, runs, diagnostics, marked)
    those_read = (file for each in found for file in files_of(each) if file.path in read)
    is_certain = all(read[file.path].stamp == file.stamp for file in those_read)
    replaced = affected | {*before.order} - traces.keys()  # also folders that had no log
    return Outcome(traces, with_runs, order, marked.of_files(runs), lambda: whole, replaced), is_certain


def _linked(marked: pl.DataFrame, changed: Set[str]) -> set[str]:
    """Return the changed files and those linked to them by marks, directly or through others."""
    linked, new = set(changed), set(changed)
    while new:
        own = marked["mark"].filter(marked["source"].is_in([*new])).to_numpy()
        of_marks: dict[int, tuple[set[str], list[str | None]]] = defaultdict(lambda: (set(), []))
        met = np.flatnonzero(np.isin(marked["mark"].to_numpy(), own))
        for source, mark, kind in rows_of(marked["source", "mark", "format"], met).rows():
            files, kinds = of_marks[mark]
            files.add(source)
            kinds.append(kind)
        # A mark with a format only links different ones.
        new = {file for files, kinds in of_marks.values() if None in kinds or len({*kinds}) > 1 for file in files}
        new -= linked
        linked |= new
    return linked


def _but(marks: pl.DataFrame, sources: Set[str]) -> pl.DataFrame:
    """Return the marks of all other files."""
    return marks.filter(~marks["source"].is_in(list(sources)))


def _spliced(old: Assembly, new: Assembly, replaced: Set[str], order: Sequence[str]) -> Assembly:
    """Replace the results of some files by new ones, and order all by the places of their files.

    Most files stay, so the frames are joined from slices, which is cheaper than from single rows.
    """
    place = {source: number for number, source in enumerate(order)}
    runs = _slices(old.of, new.of, replaced, place)
    frames = {name: (old.belonging[name], new.belonging[name]) for name in old.belonging}
    diagnostics = _slices(old.diagnostics["source"], new.diagnostics["source"], replaced, place)
    return Assembly(
        _joined((old.runs, new.runs), runs),
        _joined((old.of.to_frame(), new.of.to_frame()), runs).to_series(),
        {name: _belonging(two, runs) for name, two in frames.items()},
        _joined((old.diagnostics, new.diagnostics), diagnostics),
    )


class _Slice(NamedTuple):
    """Rows of the old frame, or else of the new one."""

    is_new: bool
    start: int
    end: int


def _slices(old: pl.Series, new: pl.Series, replaced: Set[str], place: Mapping[str, int]) -> list[_Slice]:
    """Return the slices that make up the whole, given the files of the old and of the new rows, both in order."""
    places = np.array(
        [-1 if source in replaced else place[source] for source in old.to_list()]
        + [place[source] for source in new.to_list()],
        dtype=np.int64,
    )
    come = len(old) + 1 + np.arange(len(new))  # never consecutive to old ones
    order = np.argsort(places, kind="stable")
    rows = np.concatenate([np.arange(len(old)), come])[order[np.count_nonzero(places < 0) :]]
    starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
    firsts, lengths = rows[starts], np.diff(starts, append=len(rows))
    return [
        _Slice(is_new, first, first + length)
        for is_new, first, length in zip(
            (firsts > len(old)).tolist(),
            np.where(firsts > len(old), firsts - len(old) - 1, firsts).tolist(),
            lengths.tolist(),
            strict=True,
        )
    ]


def _joined(frames: tuple[pl.DataFrame, pl.DataFrame], slices: Sequence[_Slice]) -> pl.DataFrame:
    """Join slices of the old and the new frame."""
    pieces = [frames[each.is_new].slice(each.start, each.end - each.start) for each in slices]
    whole = reduce(pl.DataFrame.vstack, pieces, frames[0].clear())  # faster than `pl.concat`, which wakes threads
    return whole.rechunk() if len(pieces) > _PIECES else whole


_PIECES: Final = 16
"""A frame may be in so many pieces; to copy it into one takes longer than the few pieces cost."""


def _belonging(frames: tuple[pl.DataFrame, pl.DataFrame], runs: Sequence[_Slice]) -> pl.DataFrame:
    """Join what belongs to the runs in slices of the old and the new runs, and number these anew."""
    numbers = [frame[RUN].to_numpy() for frame in frames]
    slices = [
        _Slice(each.is_new, *np.searchsorted(numbers[each.is_new], (each.start, each.end)).tolist())
        for each in runs
    ]
    whole = _joined(frames, slices)
    if not slices:
        return whole
    starts = np.cumsum([0, *(each.end - each.start for each in runs)])
    of_slices = [
        numbers[rows.is_new][rows.start : rows.end] + (start - each.start)
        for rows, each, start in zip(slices, runs, starts, strict=False)
    ]
    return with_column(whole, pl.Series(RUN, np.concatenate(of_slices)))
