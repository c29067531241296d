"""Groups lines into reports, and reports into runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from fsbench_kit.formats.fio import holds_other_text, split_where
from fsbench_kit.formats.fio_terse.lines import Line, split
from fsbench_kit.formats.text import Text

Report = list[Line]


def runs_of(text: Text, lines: Iterable[Line]) -> Iterator[list[Report]]:
    """Yield the reports of each run; the last one is its result."""
    run: list[Report] = []
    for stretch in _stretches(text, lines):
        for report in by_time(run, stretch):
            if run and not _continues(run, report):
                yield run
                run = []
            run.append(report)
    if run:
        yield run


def _stretches(text: Text, lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield lists of lines without any sign of a new report between them, except possibly their counts."""
    return split_where(lines, partial(_starts_report, text))


def by_time(run: list[Report], lines: list[Line]) -> list[Report]:
    """Split lines into reports, if they were printed at different times."""
    if run:
        reports = split(lines, len(run[-1]))
        if _are_later(run, reports):
            return reports
    for size in range(1, len(lines) // 2 + 1):
        first, *others = split(lines, size)
        if _are_later([first], others):
            return [first, *others]
    return [lines]


def _are_later(run: list[Report], reports: list[Report]) -> bool:
    return all(_continues([*run, *reports[:index]], report) for index, report in enumerate(reports))


def _starts_report(text: Text, report: Report, line: Line) -> bool:
    last = report[-1]
    return (
        (line.layout, line.version) != (last.layout, last.version)
        or line.group < last.group
        or line.disk_texts() != last.disk_texts()
        or (line.job != last.job and line.job in [other.job for other in report])
        or holds_other_text(text, last.end, line.start)
    )


_INTERVAL: Final = 400
"""In ms. Processes of one job end within less than this, and fio reports at most once a second."""


def _continues(run: list[Report], report: Report) -> bool:
    """Whether a report is the next one of a run. The final report can come at any time."""
    last = run[-1]
    interval = _INTERVAL if len(run) == 1 else 1
    return (
        [line.job for line in last] == [line.job for line in report]
        and all(_grew(one, other) for one, other in zip(last, report, strict=True))
        and max(other.runtime() - one.runtime() for one, other in zip(last, report, strict=True)) >= interval
    )


def _grew(one: Line, other: Line) -> bool:
    """Whether a line can be of the same job as an earlier one."""
    return (one.layout, one.version, *one.directions) == (other.layout, other.version, *other.directions) and all(
        before <= after for before, after in zip(one.counts(), other.counts(), strict=False)
    )
