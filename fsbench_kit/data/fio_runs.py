"""Combines the log files of a fio run into one run, that of its report if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from fsbench_kit.data.columns import Columns
from fsbench_kit.data.log import FioLog, Log
from fsbench_kit.formats.fio_log import run_of_logs, with_logs, wrote
from fsbench_kit.model.records import Diagnostic, Run

RunOf: TypeAlias = Callable[[Columns, int], Run]
"""Returns the record of a run, given columns and its number in them."""


def with_fio_logs(logs: Sequence[Log]) -> Iterator[Log]:
    """Yield logs in which the log files of each fio run are combined, with its report if there is one.

    File names tell which files of a folder belong together, and to which report. What is known of the run is known
    of them too, so that their own names need not fit a template.
    """
    named_elsewhere: set[str] = set()
    others = [log for log in logs if not isinstance(log, FioLog)]
    groups: dict[tuple[Path, str, str], list[FioLog]] = {}
    for log in logs:
        if isinstance(log, FioLog):
            name = log.file.name
            groups.setdefault((log.file.path.parent, name.prefix, name.rest), []).append(log)
    run_of: RunOf = cache(Columns.run)
    for (folder, prefix, rest), group in groups.items():
        files = [log.file for log in group]
        named_elsewhere |= {log.source for log in group}
        found = _report(others, folder, prefix, run_of)
        if found is None:
            named_elsewhere.discard(group[0].source)  # it speaks for all
            run, sums, figures = run_of_logs(files, group[0].tool_version)
            source = group[0].source if len(group) == 1 else str(folder / f"{prefix}_*{rest}")
            records = list(group[0].records)
            records += [run, *figures.blocks, *figures.checks] if run.measurements else []
            yield replace(group[0], source=source, data=sums, records=records)
        else:
            index, place, report = found
            before, log, after = _cut(others[index], place, report)
            run, figures = with_logs(report, files, log.tool_version)
            alone = replace(log, records=[run, *figures.blocks, *log.records[1:], *figures.checks])
            others[index : index + 1] = [*before, alone, *after]
        for path, diagnostics in figures.diagnostics.items():
            yield Log(source=str(path), records=diagnostics)
    yield from (log for log in others if log.source not in named_elsewhere or not _is_not_fitting(log))


def _is_not_fitting(log: Log) -> bool:
    """Whether a log is nothing but the diagnostic that its name does not fit."""
    codes = [record.code if isinstance(record, Diagnostic) else None for record in log.records]
    return codes == ["NAME_DOES_NOT_FIT"]


class _Report(NamedTuple):
    """The run of a report: the index of its log, its place among the runs of the log, and the run."""

    log: int
    place: int
    run: Run


def _report(logs: Sequence[Log], folder: Path, prefix: str, run_of: RunOf) -> _Report | None:
    """Return the reported run in a folder that wrote log files with a prefix, or ``None``.

    If there are several, it is the last one, which overwrote the files of earlier runs.
    """
    runs = [
        _Report(index, place, run)
        for index, log in enumerate(logs)
        if Path(log.source).parent == folder
        for place, run in enumerate(_runs(log, run_of))
        if wrote(run, prefix)
    ]
    return max(runs, key=lambda found: found.run.ended_at or datetime.min, default=None)


def _runs(log: Log, run_of: RunOf) -> Iterator[Run]:
    if log.part is None:
        return (record for record in log.records if isinstance(record, Run))
    return (run_of(log.part.columns, number) for number in log.part.runs)


def _cut(log: Log, place: int, run: Run) -> tuple[list[Log], Log, list[Log]]:
    """Split a log at one of its runs: return what precedes it, the log of the run itself, and what follows."""
    if log.part is None:
        return [], log, []  # it was split before
    columns, runs, _ = log.part
    number = runs[place]
    alone = replace(log, part=None, records=[run, *columns.blocks(number)], sha256=columns.runs["sha256"][number])
    before = replace(log, part=log.part._replace(runs=runs[:place]))
    after = replace(log, part=log.part._replace(runs=runs[place + 1 :], diagnostics=()))
    return [before], alone, [after]
