"""A run as one place prints it, and what its figures are of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from fsbench_kit.model.records import Block, Diagnostic, Measurement, Run, Setting

Key = tuple[object, ...]
"""What a figure is of: scope, part, operation, metric, statistic, and its sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    """A run as one place prints it.

    Attributes
    ----------
    run, blocks
        Its records.
    source
        The file in which they stand.
    sha256
        Hash of its own bytes.
    names
        Names of the run, any of which is borne by this run alone: its place in a file, for instance.
    facts
        What is known of it, by name. Two runs with different facts are not the same one.
    settings
        Settings that are known from outside the file; the same holds for them.
    """

    run: Run
    blocks: tuple[Block, ...] = ()
    source: str
    sha256: str
    names: frozenset[Hashable] = frozenset()
    facts: Mapping[str, Any] = field(default_factory=dict)
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something to say about a run that is printed several times, and in which file."""

    source: str
    diagnostic: Diagnostic


def figure_key(item: Measurement) -> Key:
    """Return what a figure is of: what is unique among the primary figures of a run."""
    return (
        item.scope,
        item.part,
        item.operation,
        item.metric,
        item.statistic,
        item.block_size,
        item.file_size,
        item.threads,
    )


NAME: Final = 5
"""How many members of a key stand before the sizes."""


def place(printing: Printing, seen_from: Printing) -> str:
    """Say where a printing stands, as short as another one's file allows."""
    line = f"line {printing.run.line}" + (f" ({printing.run.format})" if printing.run.format else "")
    return line if printing.source == seen_from.source else f"{printing.source}, {line}"
