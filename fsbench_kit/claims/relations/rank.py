"""The relation about the rank of a group among all."""
# ruff: noqa: ARG002, D102  # methods of the base are documented there, and not every relation uses every argument

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fsbench_kit.claims.figures import Cell, Figure, Order, figures_of, paired_cells
from fsbench_kit.claims.groups import comparisons, order_of
from fsbench_kit.claims.relations.base import Direction, Finding, Known, OfFigures
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsbench_kit.data.study import ClaimFacts


class Rank(OfFigures, name="rank"):
    """The figures of `of` take place `size` among all filesystems; the best takes 1."""

    compares = True
    differs = True

    def unit(self, claim: ClaimFacts) -> str:
        return "1"

    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        """Count the groups that are better; undecided ones make a range of ranks."""
        cells = list(paired_cells(claim, figures_of(known.cells, claim)))
        counts = self.stated(claim)
        better: Order = "less" if METRICS[str(claim.metric)].better == "higher" else "greater"
        by_name: dict[tuple[str, str], list[tuple[Cell, Mapping[str, Any] | None]]] = {}
        for cell, row in zip(cells, comparisons(cells, known), strict=True):
            by_name.setdefault((cell.name, cell.of.name), []).append((cell, row))
        for (name, _), rivals in by_name.items():
            orders = [order_of(cell, row) for cell, row in rivals]
            if None in orders or counts is None:
                yield Finding(cell=name)
                continue
            least = 1 + orders.count(better)
            most = least + orders.count("undecided")
            places = [place for place in range(least, most + 1) if counts.has(place)]
            direction: Direction = (
                "undecided" if places and least < most else "as said" if places else "the contrary"
            )
            runs = frozenset[str]().union(*(cell.runs for cell, _ in rivals))
            yield Finding(
                cell=name,
                direction=direction,
                of=rivals[0][0].of,
                computed=Figure(least, least, most, "", runs),
                comparisons=tuple(row for _, row in rivals if row is not None),
                runs=runs,
                groups=[cell.groups for cell, _ in rivals],
            )

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        rank = finding.computed
        if rank is None or rank.low is None or rank.high is None:
            return ""
        return f"place {rank.low:.0f}" if rank.low == rank.high else f"place {rank.low:.0f} to {rank.high:.0f}"

    def size_text(self, value: float, metric: str) -> str:
        return f"{value:g}"
