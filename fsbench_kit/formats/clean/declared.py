"""What a format declares about its logs so that they can be read together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from fsbench_kit.formats.clean.lines import Lines
from fsbench_kit.formats.findings import Finding
from fsbench_kit.model.records import Run
from fsbench_kit.model.units import Rounding


class Free(NamedTuple):
    """How a setting may differ between logs that are read together; only `Clean.checks` may depend on it.

    Attributes
    ----------
    written
        A function that returns its value, given the number as printed; ``None`` for an integer, possibly scaled.
    columns
        The columns of measurements that repeat it, if it is an integer.
    """

    written: Callable[[str], str] | None = str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Clean:
    """What a format declares about its logs.

    Attributes
    ----------
    checks
        The cross-checks that `parse` makes last, for a run whose measurements may be columns over many runs; see
        `fsbench_kit.formats.findings`.
    remarks
        The codes of other diagnostics, which precede those of the checks and depend only on the figures that they
        show.
    same_runs
        A function that returns whether `parse` finds the same run in a log as in the example, if figures decide
        that.
    free
        Settings that may differ between logs that are read together.
    zeros
        Figures, by `fsbench_kit.model.records.How.name`, for which it makes no difference whether they are 0.
    units
        Suffix of a figure -> its unit and rounding.
    duration
        The metric that is the duration of a run.
    unplaced
        Text that marks lines in which the position of a number does not determine its meaning; ``None`` if none
        do.
    date
        A function that parses the date at which a run began, as printed by C's ``ctime``.
    is_date_of_end
        Whether the date is that of the end; the last one, if there are several.
    settle
        A function that sets the bounds of figures that depend on other figures, in columns.
    are_settings_apart
        Whether the cross-checks do not depend on settings, so that logs with different settings can be checked
        together.
    lines
        The lines in which logs of one kind may differ.
    """

    checks: Callable[[Run], Iterable[Finding]]
    remarks: frozenset[str] = frozenset()
    same_runs: Callable[[Run], Any] | None = None
    free: Mapping[str, Free] = field(default_factory=dict)
    zeros: frozenset[str] = frozenset()
    units: Mapping[str, tuple[str, Rounding]] = field(default_factory=dict)
    duration: str | None = None
    unplaced: str | None = None
    date: Callable[[str], datetime | None] | None = None
    is_date_of_end: bool = False
    settle: Callable[[Run], None] | None = None
    are_settings_apart: bool = False
    lines: Lines | None = None

    def clock(self, dates: Sequence[str]) -> dict[str, datetime | None]:
        """Return when a run began and ended, given the dates in its log."""
        which, name = (-1, "ended_at") if self.is_date_of_end else (0, "started_at")
        found = self.date(dates[which]) if self.date is not None and dates else None
        return {"started_at": None, "ended_at": None} | {name: found}
