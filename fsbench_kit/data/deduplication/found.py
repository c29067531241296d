"""A run as it was found in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from fsbench_kit.model.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from fsbench_kit.data.columns import Columns
    from fsbench_kit.model.records import Block, Run, Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A run as it was found in one place.

    Attributes
    ----------
    run, blocks
        Its records.
    source
        The file in which they stand.
    sha256
        Hash of its own bytes.
    facts
        What is known of it, by name. Two runs with different facts are not the same one.
    settings
        Settings that are known from outside the file; the same holds for them.
    """

    run: Run
    blocks: tuple[Block, ...] = ()
    source: str
    sha256: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    settings: tuple[Setting, ...] = ()

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.source, self.run.line, self.run.format, self.run.start, self.run.end)


@dataclass(frozen=True)
class Found:
    """Runs as they were found, as columns; each of them is made a `FoundRun` when somebody asks for it.

    Attributes
    ----------
    columns
        What their logs say.
    facts
        A row for each of them: ``source``; ``name``, the file's within its study; and what is known of it.
    settings
        Those that are known of each from outside the file.
    """

    columns: Columns
    facts: pl.DataFrame
    settings: Sequence[tuple[Setting, ...]]

    def __len__(self) -> int:
        return self.columns.runs.height

    def __getitem__(self, number: int) -> FoundRun:
        facts = self.facts.row(number, named=True)
        source, _ = facts.pop("source"), facts.pop("name")
        return FoundRun(
            run=self.columns.run(number),
            blocks=self.columns.blocks(number),
            source=source,
            sha256=self.columns.runs["sha256"][number],
            facts=facts,
            settings=self.settings[number],
        )

    def place(self, number: int) -> Place:
        """Return where a run stands."""
        run = self.columns.runs.row(number, named=True)
        return Place(self.facts["source"][number], run["line"], run["format"], run["start"], run["end"])


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
