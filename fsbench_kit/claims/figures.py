"""The figures that a claim is about: which ones it means, how they compare, and what size it states."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.units import Quantity, humanise, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fsbench_kit.data.study import ClaimFacts

Outcome = Literal["holds", "within rounding", "contradicted", "not computable"]
Band = tuple[float | None, float | None]
"""From the first up to the second; ``None`` where there is no bound."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of one group: its value, and the interval of true values that print like it.

    `value` is ``None`` where only bounds are known; `low` and `high` where there is no bound.
    """

    value: float | None
    low: float | None
    high: float | None
    name: str
    runs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Check:
    """One cell of a claim, checked.

    Attributes
    ----------
    cell
        Its name, for people.
    outcome
        ``within rounding``: the printed figures contradict the claim, but the true ones need not.
    of, than
        The figures; ``None`` where there is none.
    computed
        What they give: a ratio, a difference, a share, a rank, a value.
    setting
        The values of the setting that was looked up, for people.
    remark
        A footnote, such as a mistake that would explain the claim.
    runs
        The runs whose setting was looked up.
    """

    cell: str
    outcome: Outcome
    of: Figure | None = None
    than: Figure | None = None
    computed: Figure | None = None
    setting: str = ""
    remark: str = ""
    runs: frozenset[str] = frozenset()


# ---- which figures


Chosen = dict[str, str | int]


def each(choice: Mapping[str, str | int | Sequence[str | int]]) -> Iterator[Chosen]:
    """Yield every combination of the values that a claim lists."""
    lists = [value if isinstance(value, list) else [value] for value in choice.values()]
    return (dict(zip(choice, values, strict=True)) for values in product(*lists))


def only(figures: pl.DataFrame, chosen: Chosen) -> pl.DataFrame:
    """Keep the chosen figures.

    Raises
    ------
    RequestError
        If figures have no such column.
    """
    for column, value in chosen.items():
        if column not in figures.columns:
            raise RequestError(
                f"figures have no column {column!r}", hint=f"Their columns are: {', '.join(settings.CELL)}."
            )
        figures = figures.filter(pl.col(column) == value)
    return figures


def others(figures: pl.DataFrame, of: Mapping[str, object]) -> list[Chosen]:
    """Return all filesystems that a claim does not name."""
    named = of.get("filesystem")
    known = sorted(set(figures["filesystem"].drop_nulls()))
    return [{"filesystem": name} for name in known if name not in (named if isinstance(named, list) else [named])]


def figure(rows: Sequence[Mapping[str, object]], name: str) -> Figure:
    """Return the figure of a group: of several runs the mean, which is what an article would state."""

    def mean(values: list[object]) -> float | None:
        known = [float(value) for value in values if isinstance(value, (int, float))]
        return sum(known) / len(known) if len(known) == len(values) else None

    value, low, high = (mean([row[end] for row in rows]) for end in ("value", "low", "high"))
    return Figure(
        value,
        value if low is None and high is None else low,
        value if low is None and high is None else high,
        name,
        frozenset(str(row["run_id"]) for row in rows),
    )


def pairs(cell: pl.DataFrame, of: Chosen, than: Chosen) -> Iterator[tuple[Figure, Figure, dict[str, Any]]]:
    """Yield figures that differ only in what tells the two groups apart, and a row of what they share.

    Unless the filesystem tells them apart, they are of one run.
    """
    differ = of.keys() | than.keys()
    within = [] if "filesystem" in differ else ["run_id"]
    key = [column for column in (*settings.CELL, *within) if column not in differ]
    first, second = (
        only(cell, chosen).group_by(key, maintain_order=True).agg(rows=pl.struct("value", "low", "high", "run_id"))
        for chosen in (of, than)
    )
    joined = first.join(second, on=key, nulls_equal=True, maintain_order="left")
    for row in joined.iter_rows(named=True):
        yield figure(row["rows"], cell_name(of)), figure(row["rows_right"], cell_name(than)), row


def cell_name(chosen: Mapping[str, object], row: Mapping[str, object] | None = None) -> str:
    """Name a cell by what was chosen, and by what else tells it from others."""
    known = {**chosen, **{column: row.get(column) for column in ("operation", "block_size") if row is not None}}
    return ", ".join(
        humanise(int(str(value)), "B") if column == "block_size" else str(value).replace("_", " ")
        for column, value in known.items()
        if value is not None
    )


# ---- how they compare


def order(greater: Figure, less: Figure) -> Outcome:
    """Tell whether one figure is greater than another. Equal prints decide nothing, however they were rounded."""
    if greater.value is not None and greater.value == less.value:
        return "within rounding"
    if greater.low is not None and less.high is not None and greater.low >= less.high:
        return "holds"
    if greater.high is not None and less.low is not None and greater.high <= less.low:
        return "contradicted"
    if greater.value is not None and less.value is not None and greater.value > less.value:
        return "holds"
    known = greater.value is not None and less.value is not None
    return "within rounding" if known else "not computable"


def within(found: Figure, band: Band, *, closed: bool = False) -> Outcome:
    """Tell whether a figure lies in a band, or could by the digits that are printed."""
    low = float("-inf") if band[0] is None else band[0]
    high = float("inf") if band[1] is None else band[1]
    value = found.value
    if value is not None and (low <= value < high or (closed and value == high)):
        return "holds"
    if found.low is None or found.high is None:
        return "not computable" if value is None else "contradicted"
    if value is None and low <= found.low and found.high <= high:
        return "holds"
    return "within rounding" if found.low < high and found.high > low else "contradicted"


# ---- the size that a claim states


def stated_size(text: str | None) -> Quantity:
    """Read a size as an article states it.

    Raises
    ------
    RequestError
        If it is not a number, or has a unit that nobody knows.
    """
    number, *unit = (text or "").split()
    try:
        return quantity(number, *unit)
    except (TypeError, ValueError) as error:
        raise RequestError(
            f"cannot read the size {text!r}: {error}",
            hint='Write a number, and its unit after a space: "2", "20 MB/s", "85 %".',
        ) from None


def stated_band(claim: ClaimFacts) -> tuple[float, float]:
    """Return what counts as the stated size: what rounds to its digits, unless the claim has a band."""
    if claim.band is not None:
        return stated_size(claim.band[0]).value, stated_size(claim.band[1]).value
    stated = stated_size(claim.size)
    return float(stated.low or 0), float(stated.high or 0)
