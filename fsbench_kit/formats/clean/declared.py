"""What a format says of its logs, so that they can be read together."""

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
        Returns its value, by the number that is printed; ``None`` for a whole number of something.
    columns
        Those of measurements that repeat it, where it is such a number.
    """

    written: Callable[[str], str] | None = str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Clean:
    """What a format says of its logs.

    Attributes
    ----------
    checks
        The cross-checks that `parse` makes last, of a run whose measurements may be columns over many; see
        `fsbench_kit.formats.findings`.
    remarks
        Codes of other diagnostics, which come before those and depend on no figure but those that they show.
    same_runs
        Returns whether `parse` finds the same run in a log as in the example, where that depends on figures.
    free
        Settings that may differ between logs that are read together.
    zeros
        Figures, by `fsbench_kit.model.records.How.name`, of which nothing depends on whether they are 0.
    units
        What may stand behind a figure -> its unit, and how it was shortened.
    duration
        The metric that is the duration of a run.
    unplaced
        What is on each line in which the place of a number does not tell what it is; ``None`` if it never does.
    date
        Reads the date at which a run began, where C's ``ctime`` has printed it.
    is_date_of_end
        Whether that is when it ended; the last one, if there are several.
    settle
        Sets the ends of figures, in their columns, that depend on other figures.
    are_settings_apart
        Whether the cross-checks depend on no setting, so that they can be made over logs with different ones.
    lines
        In which of their lines logs may differ and yet be of one kind.
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
        """Return when a run began and when it ended, by the dates that are printed."""
        which, name = (-1, "ended_at") if self.is_date_of_end else (0, "started_at")
        found = self.date(dates[which]) if self.date is not None and dates else None
        return {"started_at": None, "ended_at": None} | {name: found}
