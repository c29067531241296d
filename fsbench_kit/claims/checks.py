"""What a claim says, cell by cell, and whether the figures there say the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.settings import NOT_KNOWN
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.units import Quantity, humanise, quantity
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.data.study import ClaimFacts

Outcome = Literal["holds", "within rounding", "contradicted", "not computable"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of one side: its value, and the interval of true values that print like it.

    `value` is ``None`` where only bounds are known; `low` and `high` where there is no bound.
    """

    value: float | None
    low: float | None
    high: float | None
    name: str
    runs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Check:
    """What a claim says of one cell.

    Attributes
    ----------
    cell
        Which one, for people.
    outcome
        ``within rounding``: the printed figures contradict it, and the true ones need not.
    of, than
        The figures; ``None`` where there is none.
    computed
        What they give: a ratio, a difference, a share, a rank, a value.
    found
        What else is to be said of what was found.
    runs
        Those whose setting was looked at.
    """

    cell: str
    outcome: Outcome
    of: Figure | None = None
    than: Figure | None = None
    computed: Figure | None = None
    found: str = ""
    runs: frozenset[str] = frozenset()


def checks(claim: ClaimFacts, figures: pl.DataFrame, dataset: Dataset) -> Iterator[Check]:
    """Yield what a claim says of each of its cells.

    Parameters
    ----------
    claim
        The claim.
    figures
        `fsbench_kit.analysis.settings.cells` of its study, with the filesystem as the factor.
    dataset
        The study's data.
    """
    if claim.relation == "setting":
        yield from _of_settings(claim, figures, dataset)
        return
    figures = figures.filter(
        pl.col("metric") == claim.metric, pl.col("statistic") == claim.statistic, pl.col("state") != "missing"
    ).with_columns(filesystem=pl.col("level"))
    for where in _each(claim.where):
        for of in _each(claim.of):
            cell = _only(figures, where)
            if claim.relation in {"value", "at_most", "at_least"}:
                yield from _of_one(claim, _only(cell, of), where, _name(of))
            elif claim.relation == "rank":
                yield _rank(claim, cell, of, where)
            else:
                for than in _each(claim.than) if claim.than else _others(figures, claim.of):
                    yield from _of_two(claim, cell, where, of, than)


Chosen = dict[str, str | int]


def _each(choice: Mapping[str, str | int | Sequence[str | int]]) -> Iterator[Chosen]:
    lists = [value if isinstance(value, list) else [value] for value in choice.values()]
    return (dict(zip(choice, values, strict=True)) for values in product(*lists))


def _only(figures: pl.DataFrame, chosen: Chosen) -> pl.DataFrame:
    for column, value in chosen.items():
        if column not in figures.columns:
            raise RequestError(
                f"a claim speaks of {column!r}, which is no column of figures",
                hint=f"Columns are: {', '.join(settings.CELL)}.",
            )
        figures = figures.filter(pl.col(column) == value)
    return figures


def _others(figures: pl.DataFrame, of: Mapping[str, object]) -> list[Chosen]:
    """Return all filesystems that a claim does not name."""
    named = of.get("filesystem")
    known = sorted(set(figures["filesystem"].drop_nulls()))
    return [{"filesystem": name} for name in known if name not in (named if isinstance(named, list) else [named])]


# ---- relations


def _of_one(claim: ClaimFacts, side: pl.DataFrame, where: Chosen, of: str) -> Iterator[Check]:
    low, high = _band(claim)
    if claim.relation == "at_most":
        low, high = float("-inf"), _size(claim.size)
    elif claim.relation == "at_least":
        low, high = _size(claim.size), float("inf")
    if side.is_empty():
        yield Check(_name(where) or of, "not computable")
    for row in side.iter_rows(named=True):
        figure = _figure([row], of)
        yield Check(_name(where, row), _within(figure, low, high, closed=True), of=figure, computed=figure)


def _of_two(claim: ClaimFacts, cell: pl.DataFrame, where: Chosen, of: Chosen, than: Chosen) -> Iterator[Check]:
    """Compare figures that are equal in all but what sets the two sides apart; otherwise those of one run."""
    apart = of.keys() | than.keys()
    within = [] if "filesystem" in apart else ["run_id"]
    key = [column for column in (*settings.CELL, *within) if column not in apart]
    pairs = _side(cell, of, key).join(_side(cell, than, key), on=key, nulls_equal=True, maintain_order="left")
    named = (_name(of), _name(than))
    if pairs.is_empty():
        yield Check(_name(where) or f"{named[0]} against {named[1]}", "not computable")
    for row in pairs.iter_rows(named=True):
        a, b = _figure(row["rows"], named[0]), _figure(row["rows_right"], named[1])
        computed = _computed(claim.relation, a, b)
        if claim.relation in {"greater", "less"}:
            outcome = _order(a, b) if claim.relation == "greater" else _order(b, a)
        else:
            outcome = _within(computed, *_band(claim))
        found = ""
        if outcome == "contradicted" and claim.relation == "percent_less":
            found = _other_base(computed, *_band(claim))
        at = where if "filesystem" in apart else {**where, "filesystem": row["filesystem"]}
        yield Check(_name(at, row), outcome, of=a, than=b, computed=computed, found=found)


def _side(cell: pl.DataFrame, chosen: Chosen, key: list[str]) -> pl.DataFrame:
    return (
        _only(cell, chosen)
        .group_by(key, maintain_order=True)
        .agg(rows=pl.struct("value", "low", "high", "run_id"))
    )


def _figure(rows: Sequence[Mapping[str, object]], name: str) -> Figure:
    """Return the figure of a side: of several runs the mean, which is what an article would state."""

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


def _computed(relation: str, a: Figure, b: Figure) -> Figure:
    """Return the ratio, difference or missing share of two figures."""

    def give(x: float | None, y: float | None) -> float | None:
        if x is None or y is None or (y == 0 and relation != "difference"):
            return None
        return x - y if relation == "difference" else 1 - x / y if relation == "percent_less" else x / y

    low, high = give(a.low, b.high), give(a.high, b.low)
    if relation == "percent_less":
        low, high = high, low
    return Figure(give(a.value, b.value), low, high, "", a.runs | b.runs)


def _rank(claim: ClaimFacts, cell: pl.DataFrame, of: Chosen, where: Chosen) -> Check:
    """Count those that are better; where the print leaves the order open, count both ways."""
    own = _only(cell, of)
    others = [group for (level,), group in cell.group_by("filesystem") if level != of.get("filesystem")]
    if own.height != 1 or not others or any(group.height != 1 for group in others):
        return Check(_name({**where, **of}), "not computable")
    figure = _figure(own.to_dicts(), _name(of))
    better = METRICS[str(claim.metric)].better
    orders = []
    for group in others:
        other = _figure(group.to_dicts(), "")
        orders.append(_order(other, figure) if better == "higher" else _order(figure, other))
    least = 1 + orders.count("holds")
    most = least + orders.count("within rounding")
    rank = Figure(least, least, most, "", frozenset(cell["run_id"]))
    stated = _size(claim.size)
    outcome: Outcome = "holds" if least == most == stated else "contradicted"
    if least < most and least <= stated <= most:
        outcome = "within rounding"
    return Check(_name(where), outcome, of=figure, computed=rank)


def _order(greater: Figure, less: Figure) -> Outcome:
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


def _within(figure: Figure, low: float, high: float, *, closed: bool = False) -> Outcome:
    """Tell whether a figure lies in a band, or could by the digits that are printed."""
    value = figure.value
    if value is not None and (low <= value < high or (closed and value == high)):
        return "holds"
    if figure.low is None or figure.high is None:
        return "not computable" if value is None else "contradicted"
    if value is None and low <= figure.low and figure.high <= high:
        return "holds"
    return "within rounding" if figure.low < high and figure.high > low else "contradicted"


def _other_base(computed: Figure, low: float, high: float) -> str:
    """Tell where a share is right of another base: 85 % of, or 85 % more, for 85 % less."""
    share = computed.value
    if share is None:
        return ""
    if low <= 1 - share < high:
        return "It is that share of the other, not less by it."
    if low <= share / (1 - share) < high:
        return "The other is greater by that share of this one."
    return ""


def _of_settings(claim: ClaimFacts, figures: pl.DataFrame, dataset: Dataset) -> Iterator[Check]:
    """Look at the settings of runs. What the article states proves nothing of what it says."""
    shown = replace(dataset, settings=dataset.settings.filter(pl.col("origin") != "stated"))
    known = settings.known(shown).filter(key=claim.setting).select("run_id", setting="value")
    runs = (
        figures.select("run_id", "tool", "pattern", "block_size", "host", filesystem="level")
        .unique(maintain_order=True)
        .join(known, on="run_id", how="left", maintain_order="left")
    )
    if claim.setting in _HARDWARE:  # a device of the same name in another host is another one
        runs = runs.with_columns(
            setting=pl.concat_str("setting", pl.lit(" in "), "host").fill_null(pl.col("setting"))
        )
    for where in _each(claim.where):
        chosen = _only(runs, where)
        if claim.size is not None:
            yield _setting_of(claim, chosen, _name(where))
            continue
        for (_, pattern), group in chosen.group_by("tool", "pattern", maintain_order=True):
            if group["filesystem"].n_unique() > 1:
                yield _setting_of(claim, group, _name(where if pattern is None else {**where, "pattern": pattern}))


_HARDWARE: Final = ("device", "disks", "log_device", "cache_device")


def _setting_of(claim: ClaimFacts, cell: pl.DataFrame, name: str) -> Check:
    """Tell whether all runs have the stated setting, or the same one where none is stated."""
    by_filesystem = cell.group_by("filesystem", maintain_order=True).agg(
        pl.col("setting").unique(maintain_order=True)
    )
    on: dict[str, list[str]] = {}
    for filesystem, values in by_filesystem.rows():
        text = " and ".join(NOT_KNOWN if value is None else _readable(value) for value in values)
        on.setdefault(text, []).append(filesystem)
    told = ", ".join(f"{text} on {' and '.join(filesystems)}" for text, filesystems in on.items())
    if len(on) == 1 and by_filesystem.height > 1:
        told = f"{next(iter(on))} on all"
    values = set(cell["setting"]) - {None}
    agree = len(values) <= 1 if claim.size is None else all(_is_setting(value, claim) for value in values)
    outcome: Outcome = "contradicted"
    if agree:
        outcome = "not computable" if cell["setting"].null_count() or cell.is_empty() else "holds"
    return Check(name, outcome, runs=frozenset(cell["run_id"]), found=told)


def _is_setting(value: str, claim: ClaimFacts) -> bool:
    """Compare a setting with the stated one: as a number where both are, else as text."""
    if not value.isdecimal():
        return value == claim.size
    low, high = _band(claim)
    return low <= float(value) < high


def _readable(value: str) -> str:
    """Write a setting for people; whole numbers above a few thousands are bytes."""
    return humanise(int(value), "B") if value.isdecimal() and int(value) >= _BYTES else value


_BYTES: Final = 2**20


# ---- sizes and names


def _stated(text: str | None) -> Quantity:
    number, *unit = (text or "").split()
    try:
        return quantity(number, *unit)
    except (TypeError, ValueError) as error:
        raise RequestError(
            f"a claim states the size {text!r}, which is not understood: {error}",
            hint='Write a number, and its unit after a space: "2", "20 MB/s", "85 %".',
        ) from None


def _size(text: str | None) -> float:
    return _stated(text).value


def band_of(claim: ClaimFacts) -> tuple[float | None, float | None]:
    """Return what counts as a claim's size, from the first up to the second; ``None`` where there is no bound."""
    if claim.size is None or claim.relation in {"setting", "rank"}:
        return None, None
    if claim.relation == "at_most":
        return None, _size(claim.size)
    return (_size(claim.size), None) if claim.relation == "at_least" else _band(claim)


def _band(claim: ClaimFacts) -> tuple[float, float]:
    """Return what counts as the stated size: what rounds to its digits, unless the claim says otherwise."""
    if claim.band is not None:
        return _size(claim.band[0]), _size(claim.band[1])
    stated = _stated(claim.size)
    return float(stated.low or 0), float(stated.high or 0)


def _name(chosen: Mapping[str, object], row: Mapping[str, object] | None = None) -> str:
    """Name a cell by what was chosen, and by what else sets it apart."""
    known = {**chosen, **{column: row.get(column) for column in ("operation", "block_size") if row is not None}}
    return ", ".join(
        humanise(int(str(value)), "B") if column == "block_size" else str(value).replace("_", " ")
        for column, value in known.items()
        if value is not None
    )
