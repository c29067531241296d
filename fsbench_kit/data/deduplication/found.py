"""Runs as they were found, each in one place."""

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
        A row for each of them: ``source``; ``name``, the file's within its study; and what is known of it. Two
        runs with different facts are not the same one.
    settings
        Those that are known of each from outside the file; the same holds for them.
    """

    columns: Columns
    facts: pl.DataFrame
    settings: Sequence[tuple[Setting, ...]]

    @cached_property
    def keys(self) -> Hashes:
        """For each measurement, in their order, a hash of what it is of."""
        return hashed(self.columns.measurements, MEASUREMENT_KEY)

    def __len__(self) -> int:
        return self.columns.runs.height

    def places(self, numbers: Sequence[int]) -> list[Place]:
        """Return where runs stand."""
        runs = self.columns.runs.select("line", "format", "start", "end")[numbers]
        sources = self.facts["source"].gather(list(numbers))
        return [Place(source, *where) for source, where in zip(sources, runs.iter_rows(), strict=True)]


class Remark(NamedTuple):
    """Something to say about a run that was found in several places, and in which file."""

    source: str
    diagnostic: Diagnostic


class Place(NamedTuple):
    """Where a run stands."""

    source: str
    line: int
    format: str | None
    start: int
    end: int

    def seen_from(self, other: Place) -> str:
        """Say it as short as another one's file allows."""
        line = f"line {self.line}" + (f" ({self.format})" if self.format else "")
        return line if self.source == other.source else f"{self.source}, {line}"

    def remark(self, code: str, message: str, excerpt: str | None = None) -> Remark:
        """Say something of the run."""
        said = Diagnostic(
            code=code, message=message, line=self.line, start=self.start, end=self.end, excerpt=excerpt
        )
        return Remark(self.source, said)
