"""Log files that fio wrote in one run are one run: that of their report, if there is one."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fsbench_kit.data.log import FioLog, Log
from fsbench_kit.formats.fio_log import run_of_logs, with_logs, wrote
from fsbench_kit.model.records import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def with_fio_logs(logs: Sequence[Log]) -> Iterator[Log]:
    """Yield logs, where log files that fio wrote in one run are one run: that of their report, if there is one.

    Their names tell which of a folder belong together, and to which report.
    """
    others = [log for log in logs if not isinstance(log, FioLog)]
    groups: dict[tuple[Path, str, str], list[FioLog]] = {}
    for log in logs:
        if isinstance(log, FioLog):
            name = log.file.name
            groups.setdefault((log.file.path.parent, name.prefix, name.rest), []).append(log)
    for (folder, prefix, rest), group in groups.items():
        files = [log.file for log in group]
        found = _report(others, folder, prefix)
        if found is None:
            run, sums, figures = run_of_logs(files, group[0].tool_version)
            source = group[0].source if len(group) == 1 else str(folder / f"{prefix}_*{rest}")
            records = list(group[0].records)
            records += [run, *figures.blocks, *figures.checks] if run.measurements else []
            yield replace(group[0], source=source, data=sums, records=records)
        else:
            index, report = found
            run, figures = with_logs(report, files, others[index].tool_version)
            records = list(others[index].records)
            place = next(place for place, record in enumerate(records) if record is report)
            records[place : place + 1] = [run, *figures.blocks, *figures.checks]
            others[index] = replace(others[index], records=records)
        for path, diagnostics in figures.diagnostics.items():
            yield Log(source=str(path), records=diagnostics)
    yield from others


def _report(logs: Sequence[Log], folder: Path, prefix: str) -> tuple[int, Run] | None:
    """Return the run of a report in a folder that wrote log files of a name, and in which log it is.

    A later run writes over the files of an earlier one.
    """
    runs = [
        (index, record)
        for index, log in enumerate(logs)
        if Path(log.source).parent == folder
        for record in log.records
        if isinstance(record, Run) and wrote(record, prefix)
    ]
    return max(runs, key=lambda found: found[1].ended_at or datetime.min, default=None)
