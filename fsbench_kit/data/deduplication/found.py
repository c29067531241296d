"""A run as it was found in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from fsbench_kit.data.columns import Columns
    from fsbench_kit.model.records import Block, Diagnostic, Run, Setting


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something to say about a run that was found in several places, and in which file."""

    source: str
    diagnostic: Diagnostic


def place(found: FoundRun, seen_from: FoundRun) -> str:
    """Say where a run stands, as short as another one's file allows."""
    line = f"line {found.run.line}" + (f" ({found.run.format})" if found.run.format else "")
    return line if found.source == seen_from.source else f"{found.source}, {line}"
