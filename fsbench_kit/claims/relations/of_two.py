"""Relations about the figures of two groups."""
# ruff: noqa: ARG002, D102  # methods of the base are documented there, and not every relation uses every argument

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from fsbench_kit.claims.figure_text import metric_of, value_text
from fsbench_kit.claims.figures import Cell, Figure, Order, figures_of, paired_cells
from fsbench_kit.claims.groups import MARGIN, comparisons, is_left_open, order_of
from fsbench_kit.claims.relations.base import (
    FITS,
    Basis,
    Direction,
    Finding,
    Known,
    OfFigures,
    Relation,
    size_found,
    within_limit,
)
from fsbench_kit.claims.sizes import Stated, stated
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.units import from_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsbench_kit.data.study import ClaimFacts


class _OfTwo(OfFigures):
    """About the figures of two groups, equal in all but what tells the groups apart."""

    compares = True
    differs = True
    neutral: ClassVar[float] = 0
    """The result for two equal figures."""
    falls: ClassVar[bool] = False
    """Whether the result falls as the first figure rises."""

    def unit(self, claim: ClaimFacts) -> str:
        return "1"

    def margin(self, claim: ClaimFacts) -> float:
        """Return the largest ratio that counts as equal."""
        return MARGIN

    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        cells = list(paired_cells(claim, figures_of(known.cells, claim)))
        for cell, row in zip(cells, comparisons(cells, known, self.margin(claim)), strict=True):
            if not (cell.of.runs and cell.than.runs):
                yield Finding(cell=cell.name, apart=cell.apart, is_scattered=cell.is_scattered)
                continue
            found = self.finding(claim, cell, row)
            compared = () if row is None else (row,)
            yield replace(found, comparisons=compared, runs=cell.runs, groups=(cell.groups,))

    def finding(self, claim: ClaimFacts, cell: Cell, row: Mapping[str, Any] | None) -> Finding:
        """Check one pair of groups, given the result of their comparison, if any."""
        counts = self.stated(claim)
        computed, basis = self.computed(cell, row)
        direction = self.direction(claim, counts, order_of(cell, row))
        size = None
        if counts is not None and direction == "as said":
            size = size_found(computed, counts, basis, neutral=self.neutral)
        off = size not in (*FITS, "within the interval")
        remark = self.remark(claim, computed) if counts is not None and off else ""
        return Finding(
            cell=cell.name,
            direction=direction,
            size=size,
            of=cell.of,
            than=cell.than,
            computed=computed,
            basis=basis,
            remark=remark,
        )

    def direction(self, claim: ClaimFacts, counts: Stated | None, found: Order | None) -> Direction | None:
        """Return whether the greater group is the one that the claim's stated size implies."""
        if counts is None or found is None:
            return None
        above = (counts.middle > self.neutral) != self.falls
        return _agreement(found, "greater" if above else "less")

    def computed(self, cell: Cell, row: Mapping[str, Any] | None) -> tuple[Figure, Basis]:
        """Return the result for two groups, with the bounds that the prints or the variation of runs allow."""
        a, b = cell.of, cell.than
        if row is not None and row["ci_low"] is not None:
            base = row["value_baseline"]
            ends = [self.give(row[end] * base, base) for end in ("ci_low", "ci_high")]
            value, basis = self.give(row["ratio"] * base, base), "interval"
        else:
            ends = [self._of_known(a.low, b.high), self._of_known(a.high, b.low)]
            value, basis = self._of_known(a.value, b.value), "prints"
        low, high = reversed(ends) if self.falls else ends
        return Figure(value, low, high, "", a.runs | b.runs), basis  # type: ignore[return-value]

    def _of_known(self, x: float | None, y: float | None) -> float | None:
        return None if x is None or y is None else self.give(x, y)

    def give(self, x: float, y: float) -> float | None:
        """Compute the result from two figures; by default their ratio."""
        return x / y if y else None

    def remark(self, claim: ClaimFacts, computed: Figure) -> str:
        """Name a mistake that would explain a claim that the figures contradict."""
        return ""

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        found = finding.computed
        if found is None or found.value is None:
            return ""
        metric = metric_of(claim)
        text = self.size_text(found.value, metric)
        if found.low is None or found.high is None or (finding.basis == "prints" and finding.size == "reproduces"):
            return text
        ends = self.range_text(found.low, found.high, metric)
        if finding.basis == "interval":
            return f"{text} (95 % interval: {ends})"
        return f"{text}, or {ends} by rounding" if finding.size == "within rounding" else text

    def size_text(self, value: float, metric: str) -> str:
        return f"{value:.3g} times"

    def range_text(self, low: float, high: float, metric: str) -> str:
        return from_to(f"{low:.3g}", f"{high:.3g}")


class Ratio(_OfTwo, name="ratio"):
    """The figures of `of` are `size` times those of `than`."""

    neutral = 1


class Difference(_OfTwo, name="difference"):
    """The figures of `of` are greater than those of `than` by `size`."""

    unit = Relation.unit

    def give(self, x: float, y: float) -> float | None:
        return x - y

    def size_text(self, value: float, metric: str) -> str:
        return f"a difference of {value_text(value, metric)}"

    def range_text(self, low: float, high: float, metric: str) -> str:
        return OfFigures.range_text(self, low, high, metric)


class PercentLess(_OfTwo, name="percent_less"):
    """The figures of `of` are less than those of `than` by `size` of the latter."""

    falls = True

    def give(self, x: float, y: float) -> float | None:
        return 1 - x / y if y else None

    def remark(self, claim: ClaimFacts, computed: Figure) -> str:
        counts, share = self.stated(claim), computed.value
        if share is None or counts is None or share >= 1:
            return ""
        if counts.has(1 - share):
            return f"The one figure is {claim.size} of the other, not {claim.size} less."
        if counts.has(share / (1 - share)):
            return f"The other figure is {claim.size} more than the one, so the one is not {claim.size} less."
        return ""

    def size_text(self, value: float, metric: str) -> str:
        return _share_text(-value)

    def range_text(self, low: float, high: float, metric: str) -> str:
        return _shares_text(-low, -high)


class PercentMore(_OfTwo, name="percent_more"):
    """The figures of `of` are more than those of `than` by `size` of the latter."""

    def give(self, x: float, y: float) -> float | None:
        return x / y - 1 if y else None

    def size_text(self, value: float, metric: str) -> str:
        return _share_text(value)

    def range_text(self, low: float, high: float, metric: str) -> str:
        return _shares_text(low, high)


def _share_text(more: float) -> str:
    """Format how much more or less a figure is than another.

    >>> _share_text(0.25), _share_text(-0.201)
    ('25.0 % more', '20.1 % less')
    """
    return f"{100 * abs(more):.1f} % {'less' if more < 0 else 'more'}"


def _shares_text(one: float, other: float) -> str:
    """Format a range of how much more or less a figure is than another.

    >>> _shares_text(0.25, 0.3), _shares_text(-0.2, 0.1), _shares_text(0.25, 0.2501)
    ('25.0 to 30.0 % more', '20.0 % less to 10.0 % more', 'almost exactly 25.0 % more')
    """
    low, high = _share_text(one), _share_text(other)
    if low != high and (one < 0) == (other < 0):
        low = low.partition(" ")[0]
    return from_to(low, high)


class Greater(_OfTwo, name="greater"):
    """The figures of `of` are greater than those of `than`."""

    needs: ClassVar[tuple[str, ...]] = ("metric",)
    neutral = 1
    order: ClassVar[Order] = "greater"

    def direction(self, claim: ClaimFacts, counts: Stated | None, found: Order | None) -> Direction | None:
        return _agreement(found, self.order)

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        return super().computed_text(claim, finding) if finding.basis == "interval" else ""


class Less(Greater, name="less"):
    """The figures of `of` are less than those of `than`."""

    order = "less"


class Equal(_OfTwo, name="equal"):
    """The figures of `of` are those of `than`, or within `size` of them; those of repeated runs, within 5 %."""

    needs: ClassVar[tuple[str, ...]] = ("metric",)
    differs = False
    neutral = 1

    def stated(self, claim: ClaimFacts) -> Stated | None:
        if claim.size is None:
            return None
        limit = self.margin(claim)
        return Stated(1 / limit, limit, closed=True)

    def margin(self, claim: ClaimFacts) -> float:
        if claim.size is None:
            return super().margin(claim)
        if (share := stated(claim, "1").middle) <= 0:
            raise RequestError(f"nothing is within {claim.size}", hint="Leave out the size of what is equal.")
        return 1 + share

    def finding(self, claim: ClaimFacts, cell: Cell, row: Mapping[str, Any] | None) -> Finding:
        computed, basis = self.computed(cell, row)
        counts = self.stated(claim)
        found = order_of(cell, row)
        direction: Direction | None
        if found is None or is_left_open(row):
            direction = None if found is None else "undecided"
        elif row is not None and basis == "interval":
            direction = _equality(row, computed)
        elif counts is not None:
            direction = within_limit(computed, counts)
        elif cell.of.value is not None and cell.of.value == cell.than.value:
            direction = "as said"
        else:
            direction = "undecided" if found == "undecided" else "the contrary"
        return Finding(
            cell=cell.name, direction=direction, of=cell.of, than=cell.than, computed=computed, basis=basis
        )

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        return "" if claim.size is None and finding.basis == "prints" else super().computed_text(claim, finding)


def _equality(row: Mapping[str, Any], found: Figure) -> Direction:
    """Return whether two groups of runs are equal: by the verdict, or else by the whole interval."""
    if row["verdict"] in ("equivalent", "inconclusive"):
        return "as said" if row["verdict"] == "equivalent" else "undecided"
    return within_limit(replace(found, value=None), Stated(1 / row["margin"], row["margin"], closed=True))


def _agreement(found: Order | None, order: Order) -> Direction | None:
    if found is None or found == "undecided":
        return found
    return "as said" if found == order else "the contrary"
