"""``fsbench compare --gate``: why a comparison does not pass, for people and for continuous integration."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import typer

from fsbench_kit.cli.console import err
from fsbench_kit.cli.exits import GATE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from fsbench_kit.tables import Table

JUNIT: Final = ".xml"

_MOST_NAMED: Final = 10


class Gate:
    """The result of a gate, which passes if nothing is worse and everything is decided."""

    def __init__(self, comparison: pl.DataFrame, tolerance: float) -> None:
        from fsbench_kit.analysis.gate import gate

        self.found = gate(comparison, tolerance)
        self._tolerance = tolerance

    @cached_property
    def table(self) -> Table:
        """The findings that keep the comparison from passing."""
        from fsbench_kit import tables

        return tables.gate_table(self.found, self._tolerance)

    def save(self, targets: Sequence[Path]) -> None:
        """Write the findings as JUnit XML."""
        from fsbench_kit import tables
        from fsbench_kit.data.tabular import writing

        for target in targets:
            with writing(target):
                target.write_bytes(tables.junit(self.found, self._tolerance))
            err.print(f"Wrote {target}: {tables.counted(self.found.height, 'test')}.")

    def print(self) -> None:
        """Print the findings that keep the comparison from passing, gravest first."""
        for group in self.table.groups:
            if not group.rows:
                continue
            err.print(f"gate: {group.head}")
            for figure, shown in group.rows[:_MOST_NAMED]:
                err.print(f"  {figure}: {shown}")
            if len(group.rows) > _MOST_NAMED:
                err.print(f"  and {len(group.rows) - _MOST_NAMED} more")
        if not any(group.rows for group in self.table.groups):
            err.print(f"gate: {self.table.caption.partition(': ')[2]}")

    def exit(self) -> None:
        """Exit with the status of the gravest finding, if there is one."""
        for outcome, status in GATE.items():
            if (self.found["outcome"] == outcome).any():
                raise typer.Exit(status)
