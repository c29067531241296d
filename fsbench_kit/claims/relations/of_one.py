"""Relations about the figures of one group."""
# ruff: noqa: D102  # methods of the base are documented there, and not every relation uses every argument

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from fsbench_kit.claims.figures import Cell, figures_of, single_cells
from fsbench_kit.claims.relations.base import Finding, Known, OfFigures, size_found, within_limit
from fsbench_kit.claims.sizes import Stated, stated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.data.study import ClaimFacts


class _OfOne(OfFigures):
    """About figures by themselves."""

    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        counts = self.stated(claim)
        for cell in single_cells(claim, figures_of(known.cells, claim)):
            if cell.of.runs and counts is not None:
                yield replace(self.finding(cell, counts), runs=cell.runs, groups=(cell.groups,))
            else:
                yield Finding(cell=cell.name, is_scattered=cell.is_scattered)

    @abstractmethod
    def finding(self, cell: Cell, counts: Stated) -> Finding:
        """Check one figure."""


class Value(_OfOne, name="value"):
    """The figures of `of` are `size`."""

    def finding(self, cell: Cell, counts: Stated) -> Finding:
        size = size_found(cell.of, counts, "prints")
        return Finding(cell=cell.name, size=size, of=cell.of, computed=cell.of)


class AtMost(_OfOne, name="at_most"):
    """The figures of `of`, that of each run, are at most `size`."""

    limit = "at most "

    def stated(self, claim: ClaimFacts) -> Stated:
        return Stated(None, stated(claim, self.unit(claim)).middle, closed=True)

    def finding(self, cell: Cell, counts: Stated) -> Finding:
        found = {within_limit(run, counts) for run in cell.of_each}
        direction = found.pop() if len(found) == 1 else "undecided"
        return Finding(cell=cell.name, direction=direction, of=cell.of, computed=cell.of)


class AtLeast(AtMost, name="at_least"):
    """The figures of `of`, that of each run, are at least `size`."""

    limit = "at least "

    def stated(self, claim: ClaimFacts) -> Stated:
        return Stated(stated(claim, self.unit(claim)).middle, None)
