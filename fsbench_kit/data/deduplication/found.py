"""Runs as they were found, each in a single place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from fsbench_kit.data.deduplication.agreement import Hashes, hashed
from fsbench_kit.model.records import Diagnostic, Setting
from fsbench_kit.model.schema import MEASUREMENT_KEY

if TYPE_CHECKING:
    import polars as pl

    from fsbench_kit.data.columns import Columns


@dataclass(frozen=True)
class Found:
    """Runs as they were found, as columns.

    Attributes
    ----------
    columns
        What their logs say.
    facts
        A row for each run: ``source``; ``name``, that of the file within its study; and what else is known about
        the run. Runs with different facts are never the same run.
    settings
        The settings of each run that are known from outside its file; the same applies to them.
    """

    columns: Columns
    facts: pl.DataFrame
    settings: Sequence[tuple[Setting, ...]]

    @cached_property
    def keys(self) -> Hashes:
        """A hash for each measurement, in order, of what it is of; comparable within these."""
        measurements = self.columns.measurements
        known = [name for name in MEASUREMENT_KEY if measurements[name].null_count() < measurements.height]
        return hashed(measurements, known)

    def __len__(self) -> int:
        return self.columns.runs.height

    def places(self, numbers: Sequence[int]) -> list[Place]:
        """Return where runs are printed."""
        runs = self.columns.runs.select("line", "format", "start", "end")[numbers]
        sources = self.facts["source"].gather(list(numbers))
        return [Place(source, *where) for source, where in zip(sources, runs.iter_rows(), strict=True)]


class Remark(NamedTuple):
    """A diagnostic about a run that was found in several places, and its file."""

    source: str
    diagnostic: Diagnostic


class Place(NamedTuple):
    """Where a run is printed."""

    source: str
    line: int
    format: str | None
    start: int
    end: int

    def seen_from(self, other: Place) -> str:
        """Describe the place, without the file if it is the same as that of the other."""
        line = f"line {self.line}" + (f" ({self.format})" if self.format else "")
        return line if self.source == other.source else f"{self.source}, {line}"

    def remark(self, code: str, message: str, excerpt: str | None = None) -> Remark:
        """Return a remark about the run at this place."""
        diagnosed = Diagnostic(
            code=code, message=message, line=self.line, start=self.start, end=self.end, excerpt=excerpt
        )
        return Remark(self.source, diagnosed)
