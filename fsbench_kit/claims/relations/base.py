"""The base of all relations: what a claim can say, and what was found about it."""
# ruff: noqa: ARG002  # not every relation uses every argument

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from fsbench_kit.claims.figure_text import metric_of, shown, value_text
from fsbench_kit.claims.sizes import Stated, stated
from fsbench_kit.model.units import from_to
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from fsbench_kit.analysis.design import Evidence
    from fsbench_kit.claims.figures import Figure
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.data.study import ClaimFacts

Direction = Literal["as said", "the contrary", "undecided"]

Size = Literal["reproduces", "within rounding", "within the interval", "understated", "overstated"]

Basis = Literal["prints", "interval"]
"""What the bounds of a size come from: the printed digits, or the variation of runs."""

RELATIONS: Final[dict[str, Relation]] = {}
"""The relations by name."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a claim is checked against: all figures of its study, the dataset, and what is known about the runs."""

    cells: pl.DataFrame
    dataset: Dataset
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the figures of one cell say about a claim.

    Attributes
    ----------
    cell
        The name of the cell, for readers.
    direction
        Whether they agree; ``None`` if the claim is only about a size, or if nothing is printed.
    size
        How they match the stated size; ``None`` if none is stated, or if they say the contrary.
    of, than
        The figures; ``None`` if there are none.
    computed, basis
        The result: a ratio, difference, share, rank or value; and what its bounds come from.
    comparisons
        The underlying rows of `fsbench_kit.analysis.comparison.compare_groups`.
    setting
        The values of the setting in question, for readers.
    remark
        A footnote, such as a mistake that would explain the claim.
    runs
        All runs that the finding rests on.
    groups
        The measurements of each pair of groups that were compared; those of a single group appear twice.
    apart
        How the work of two groups differs, if that makes them incomparable.
    is_scattered
        Whether there are figures that cannot be combined as the claim requires.
    """

    cell: str
    direction: Direction | None = None
    size: Size | None = None
    of: Figure | None = None
    than: Figure | None = None
    computed: Figure | None = None
    basis: Basis = "prints"
    comparisons: tuple[Mapping[str, Any], ...] = ()
    setting: str = ""
    remark: str = ""
    runs: frozenset[str] = field(default=frozenset())
    groups: Sequence[tuple[pl.DataFrame, pl.DataFrame]] = field(default=(), repr=False)
    apart: str = ""
    is_scattered: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there was anything to check."""
        return self.direction is not None or self.size is not None

    @property
    def is_right(self) -> bool:
        """Whether the figures agree with the claim."""
        return self.is_known and self.direction in (None, "as said") and self.size in (None, *FITS)

    @property
    def is_wrong(self) -> bool:
        """Whether they contradict the claim, instead of only leaving it open."""
        return self.direction == "the contrary" or self.size in ("understated", "overstated")


FITS: Final = ("reproduces", "within rounding")
"""Sizes that are right as far as prints show; an interval must lie within what counts as the size."""


class Relation(ABC):
    """What a claim can say.

    Attributes
    ----------
    needs
        The keys that a claim must have, besides ``id``, ``says`` and ``relation``.
    compares
        Whether it sets two groups side by side.
    differs
        Whether it says that they differ, which chance could explain.
    of_settings
        Whether it is about how runs were made, which the logs state, and not about figures.
    limit
        What stands before the stated size, for people.

    Examples
    --------
    >>> from fsbench_kit.claims.relations import RELATIONS
    >>> RELATIONS["ratio"].needs, RELATIONS["ratio"].compares, RELATIONS["value"].compares
    (('metric', 'size'), True, False)
    """

    needs: ClassVar[tuple[str, ...]] = ("metric", "size")
    compares: ClassVar[bool] = False
    differs: ClassVar[bool] = False
    of_settings: ClassVar[bool] = False
    limit: ClassVar[str] = ""

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        if name is not None:
            RELATIONS[name] = cls()

    @abstractmethod
    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        """Check each cell of a claim."""

    @abstractmethod
    def describe(self, claim: ClaimFacts, finding: Finding) -> str:
        """Describe what was found in a cell."""

    def unit(self, claim: ClaimFacts) -> str:
        """Return the base unit of the stated size."""
        return METRICS[metric].unit if (metric := metric_of(claim)) else "1"

    def stated(self, claim: ClaimFacts) -> Stated | None:
        """Return what counts as the stated size, if one is stated."""
        return None if claim.size is None else stated(claim, self.unit(claim))

    def size_text(self, value: float, metric: str) -> str:
        """Format a computed or stated size for readers."""
        return value_text(value, metric)

    def range_text(self, low: float, high: float, metric: str) -> str:
        """Format a range of sizes."""
        return from_to(value_text(low, metric), value_text(high, metric))


class OfFigures(Relation):
    """About figures that are printed."""

    def describe(self, claim: ClaimFacts, finding: Finding) -> str:
        """Describe what was found in a cell, with its figures."""
        metric = metric_of(claim)
        if finding.of is None or not finding.is_known:
            return "nothing is printed"
        text = f"{finding.of.name} {shown(finding.of, metric)}".strip()
        if finding.than is not None:
            text += f" against {finding.than.name} {shown(finding.than, metric)}"
        computed = self.computed_text(claim, finding)
        return f"{text}, {computed}" if computed else text

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        """Describe the computed size, unless the figures show it themselves."""
        return ""


def within_limit(found: Figure, counts: Stated) -> Direction:
    """Return whether a figure is within a limit, or could be within its rounding."""
    ends = (found.low, found.high) if found.value is None else (found.value,)
    if all(size is not None and counts.has(size) for size in ends):
        return "as said"
    return "undecided" if counts.may_be(found.low, found.high) else "the contrary"


def size_found(found: Figure, counts: Stated, basis: Basis, *, neutral: float = 0) -> Size:
    """Return how a computed size compares with the stated one; it is understated if the effect is larger.

    A print matches if it rounds to the stated size, an interval if all of it does.
    """
    by_ends = basis == "interval" or found.value is None
    if all(
        size is not None and counts.has(size) for size in ((found.low, found.high) if by_ends else (found.value,))
    ):
        return "reproduces"
    if (found.low is not None or found.high is not None) and counts.may_be(found.low, found.high):
        return "within rounding" if basis == "prints" else "within the interval"
    values = [end for end in (found.value, found.low, found.high) if end is not None]
    above = bool(values) and values[0] > counts.middle
    return "understated" if above == (counts.middle >= neutral) else "overstated"
