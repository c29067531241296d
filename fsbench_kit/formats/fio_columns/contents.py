"""What is read of a lot of reports, before it becomes frames together with what is read of others."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.fio_columns.columns import ints
from fsbench_kit.formats.fio_columns.numbers import Numbers
from fsbench_kit.formats.fio_columns.sheet import Sheet
from fsbench_kit.model.schema import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from fsbench_kit.formats.fio_columns.alike import Alike
    from fsbench_kit.formats.fio_columns.columns import Known, Log, Rows
    from fsbench_kit.formats.fio_columns.kind import Kind, P
    from fsbench_kit.formats.fio_columns.numbers import Bools, Data, Ints
    from fsbench_kit.formats.fio_columns.sheet import Distribution
    from fsbench_kit.model.records import Place, Setting


class Run(NamedTuple):
    """The run of a report."""

    log: int
    end: int
    ended_at: datetime | None
    duration: float | None
    identity: str | None
    tool_version: str | None
    status: str


class Remark(NamedTuple):
    """A diagnostic of a report."""

    log: int
    start: int | None
    end: int | None
    code: str
    message: str
    line: int | None
    excerpt: str | None


class Report(NamedTuple):
    """What is read of one report, apart from its measurements and bins.

    Attributes
    ----------
    kind, run
        Its kind and run.
    line_ends
        How many line ends it has.
    settings
        Its settings, which are one list for reports that have the same.
    remarks, leftovers
        Its diagnostics before and after those of cross-checks.
    """

    kind: Kind[Any]
    run: Run
    line_ends: int
    settings: list[Setting]
    remarks: list[Remark]
    leftovers: list[Remark]


def contents_of(lot: Sequence[tuple[P, Data]], kinds: Alike[P], known: Known) -> Contents | None:
    """Return what is read of a lot of reports, each given with its text, or ``None`` if none is of a kind."""
    reports = [report for report, _ in lot]
    numbers = Numbers([data for _, data in lot], [report.hidden for report in reports])
    found = [
        (report, kind, kind.log(report, first))
        for report, kind, first in zip(reports, kinds.kinds_of(reports, numbers), numbers.first, strict=False)
        if kind is not None
    ]
    return Contents(found, numbers, known) if found else None


class Contents:
    """What is read of a lot of reports.

    Attributes
    ----------
    reports
        What is read of each, except for those that have to be read separately.
    measurements, bins
        Columns of their `Rows` and `Distribution`, in which ``log`` is the index of the text, and ``text`` the
        figure as printed.
    height
        The number of measurements.
    rows_of_figures
        Kinds with the indices of their reports, and the rows of the figures of each, without percentiles; see
        `Sheet.rows_of_figures`.
    """

    def __init__(self, found: Sequence[tuple[P, Kind[P], Log]], numbers: Numbers, known: Known) -> None:
        sheet = Sheet([log for *_, log in found], numbers, known)
        firsts = ints(log.first for *_, log in found)
        is_odd = sheet.is_odd()
        for kind, which in _by_kind(found, range(len(found))):
            is_odd[which] |= kind.are_odd(numbers, firsts[which])
        if (are_too_large := too_large(known.places.items)).any():  # these are reported when read separately
            for figures in (sheet.rows, sheet.distributions):
                is_odd[figures.log[are_too_large[figures.place]]] = True
        at = ints(report.at for report, *_ in found)
        kinds = list(_by_kind(found, np.flatnonzero(~is_odd).tolist()))
        self.reports = _reports(found, kinds, sheet, numbers)
        rows, distributions = sheet.rows, sheet.distributions
        of_figures = [(kind, which, sheet.rows_of_figures(np.array(which))) for kind, which in kinds]
        if is_odd.any():
            are_kept = ~is_odd[rows.log]
            moved = np.append(np.where(are_kept, np.cumsum(are_kept) - 1, -1), -1)  # -1 stays the same
            of_figures = [(kind, which, moved[own]) for kind, which, own in of_figures]
            rows, distributions = rows.of(are_kept), distributions.of(~is_odd[distributions.log])
        places = np.cumsum(~is_odd) - 1
        self.rows_of_figures = [(kind, places[which].tolist(), own) for kind, which, own in of_figures]
        self.height = len(rows.log)
        self.measurements = _narrow(rows, ("place", "what", "value", "low", "high", "samples", "line"), at)
        self.bins = _narrow(distributions, ("place", "metric", "low", "high", "number", "share", "line"), at)
        values, of_rows = sheet.values, rows.at
        del sheet, rows, distributions  # they take more memory than all that is kept of them
        self.measurements["text"] = values.texts(of_rows)


def _reports(
    found: Sequence[tuple[P, Kind[P], Log]],
    kinds: Sequence[tuple[Kind[Any], list[int]]],
    sheet: Sheet,
    numbers: Numbers,
) -> list[Report]:
    """Return what is read of reports, given each kind and which of them are of it."""
    firsts = ints(log.first for *_, log in found)
    identities: dict[int, str | None] = {}
    settings: dict[int, list[Setting]] = {}
    wrong, lost = (defaultdict[int, list[tuple[Any, ...]]](list) for _ in range(2))
    for kind, which in kinds:
        identities |= zip(which, kind.identities(numbers, firsts[which]), strict=True)
        settings |= zip(which, kind.settings(numbers, firsts[which]), strict=True)
        for index, unread in kind.leftovers(numbers, [found[number][2] for number in which]):
            lost[which[index]].append(("UNREAD_FIGURE", *unread))
    for number, *problem in sheet.wrong:
        wrong[number].append(tuple(problem))
    durations = sheet.longest("runtime").tolist()
    reports = []
    for number in sorted(chain.from_iterable(which for _, which in kinds)):
        report, kind, _ = found[number]
        span = report.at, 0, report.end
        duration = durations[number] if durations[number] >= 0 else None
        remarks = [
            Remark(report.at, each.start, each.end, each.code, each.message, each.line, each.excerpt)
            for each in kind.remarks(report)
        ]
        remarks += (Remark(*span, *problem) for problem in wrong.get(number, ()))
        leftovers = [Remark(*span, *unread) for unread in lost.get(number, ())]
        run = Run(report.at, report.end, report.ended_at, duration, identities[number], *kind.facts)
        reports.append(Report(kind, run, kind.line_ends(report), settings[number], remarks, leftovers))
    return reports


def _narrow(rows: Rows | Distribution, names: Iterable[str], at: Ints) -> dict[str, Any]:
    """Return some columns, and the text of each row; what refers to few things needs few bytes."""
    columns = {"log": at[rows.log]} | {name: getattr(rows, name) for name in names}
    return {name: column.astype(np.int32) if name in _FEW else column for name, column in columns.items()}


_FEW: Final = {"log", "place", "what", "metric", "line"}


def too_large(places: Iterable[Place]) -> Bools:
    """Return which places have a size that is too large for a frame."""
    sizes = [max((size for size in place if isinstance(size, int)), default=0) for place in places]
    return np.array([size > LARGEST for size in sizes], bool)


def _by_kind(
    found: Sequence[tuple[Any, Kind[Any], Log]], numbers: Iterable[int]
) -> Iterable[tuple[Kind[Any], list[int]]]:
    """Return each kind, and the numbers of its reports among the given ones."""
    of_kinds: dict[int, tuple[Kind[Any], list[int]]] = {}
    for number in numbers:
        kind = found[number][1]
        of_kinds.setdefault(id(kind), (kind, []))[1].append(number)
    return of_kinds.values()
