"""Selects the figures that a claim is about, and compares their prints."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.data.dataset import UNMEASURED
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fsbench_kit.data.study import ClaimFacts

Selection = dict[str, "str | int | list[str | int]"]
How = Literal["each", "sum", "mean", "ratio"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of one group: its value, and the interval of true values that would print the same.

    `value` is ``None`` if only bounds are known, and `low` or `high` if there is no bound.
    """

    value: float | None
    low: float | None
    high: float | None
    name: str = ""
    runs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cell:
    """What a claim is about in one cell: the figures of a group, and those of another one if there is one.

    Attributes
    ----------
    name
        The name for readers.
    of_rows, than_rows
        The measurements, as returned by `fsbench_kit.analysis.settings.cells`; empty if none are printed.
    groups
        The measurements of both groups before those of several operations, sizes and so on were combined; those of
        a single group appear twice.
    runs
        All runs of both groups.
    apart
        How the work of the groups differs, if none of it is the same.
    is_scattered
        Whether there are figures, but none that can be combined as the claim requires.
    """

    name: str
    of_rows: pl.DataFrame = field(repr=False)
    than_rows: pl.DataFrame = field(repr=False)
    of: Figure
    than: Figure
    groups: tuple[pl.DataFrame, pl.DataFrame] = field(repr=False)
    runs: frozenset[str] = field(repr=False)
    apart: str = ""
    is_scattered: bool = False

    @property
    def is_within_runs(self) -> bool:
        """Whether both groups are figures of the same runs."""
        return self.of.runs == self.than.runs

    @property
    def of_each(self) -> list[Figure]:
        """The figures of the first group, one by one."""
        return [_figure(self.of_rows[place], self.of.name) for place in range(self.of_rows.height)]


def figures_of(cells: pl.DataFrame, claim: ClaimFacts) -> pl.DataFrame:
    """Keep the figures of a claim's metric that count: no warm-ups, and no failed runs."""
    return cells.filter(
        ~UNMEASURED,
        pl.col("status") == "ok",
        pl.col("state") != "missing",
        metric=claim.metric,
        statistic=claim.statistic,
    )


def failed_figures(cells: pl.DataFrame, claim: ClaimFacts) -> pl.DataFrame:
    """Keep the figures of a claim that belong to failed or partial runs."""
    if claim.metric is None:
        return cells.clear()
    failed = cells.filter(~UNMEASURED, pl.col("status") != "ok", metric=claim.metric, statistic=claim.statistic)
    of = only(failed, claim.where, claim.of)
    return pl.concat([of, only(failed, claim.where, claim.than)]).unique() if claim.than else of


def single_cells(claim: ClaimFacts, figures: pl.DataFrame) -> Iterator[Cell]:
    """Yield the cells of a claim about the figures of one group."""
    for where in each(claim.where, claim.over):
        for of in each(claim.of, claim.groups):
            single, lists = only(figures, {**where, **of}), {**_lists(where), **_lists(of)}
            rows = _pooled(single, lists, claim)
            if rows.is_empty():
                figure = _figure(rows, _group_name(claim, of))
                lacking = _lacking(single, lists)
                name = cell_name(lacking or where) or cell_name(of)
                scattered = bool(lists) and not lacking
                yield Cell(name, rows, rows, figure, _NONE, (rows, rows), frozenset(), is_scattered=scattered)
            for _, group in rows.group_by(_key(rows, ()), maintain_order=True):
                name = cell_name(where, group.row(0, named=True))
                figure = _figure(group, _group_name(claim, of))
                runs = frozenset((single if lists else group)["run_id"])
                yield Cell(name, group, group.clear(), figure, _NONE, (single, single), runs)


def paired_cells(claim: ClaimFacts, figures: pl.DataFrame) -> Iterator[Cell]:
    """Yield the cells of a claim about two groups, which are equal except in what distinguishes the groups."""
    for where in each(claim.where, claim.over):
        for of in each(claim.of, claim.groups):
            for than in each(claim.than, claim.groups) if claim.than else others(figures, of):
                yield from _pairs(claim, figures, where, of, than)


def others(figures: pl.DataFrame, of: Mapping[str, object]) -> list[Selection]:
    """Return all filesystems that a selection does not name."""
    named = of.get("filesystem")
    known = sorted(set(figures["filesystem"].drop_nulls()))
    return [{"filesystem": name} for name in known if name not in (named if isinstance(named, list) else [named])]


def _pairs(
    claim: ClaimFacts, figures: pl.DataFrame, where: Selection, of: Selection, than: Selection
) -> Iterator[Cell]:
    single = [only(figures, where, group) for group in (of, than)]
    lists = [{**_lists(where), **_lists(group)} for group in (of, than)]
    of_rows, than_rows = (_pooled(*group, claim) for group in zip(single, lists, strict=True))
    # A claim that combines values treats them as one group, so that differences within it are no confounder.
    apart = bool(_lists(where)) and lists[0] == lists[1] == _lists(where)
    differ = {*of, *than}
    key = _key(figures, differ)
    by_key = dict(than_rows.group_by(key, maintain_order=True))
    found = False
    for values, rows in of_rows.group_by(key, maintain_order=True):
        if values not in by_key:
            continue
        found = True
        row = rows.row(0, named=True)
        at = where if differ & {"filesystem", "host"} else {**where, "filesystem": row["filesystem"]}
        rival = by_key[values]
        yield Cell(
            cell_name(at, row),
            rows,
            rival,
            _figure(rows, _group_name(claim, of)),
            _figure(rival, _group_name(claim, than)),
            (single[0], single[1]) if apart else (rows, rival),
            frozenset(run for side in (single if any(lists) else (rows, rival)) for run in side["run_id"]),
        )
    if not found:
        lacking = _lacking(single[0], lists[0]) or _lacking(single[1], lists[1])
        name = cell_name(lacking or where) or f"{cell_name(of)} against {cell_name(than)}"
        none, apart_in = figures.clear(), _apart(than_rows, of_rows, key)
        scattered = not lacking and any(
            of_list and pooled.is_empty() for of_list, pooled in zip(lists, (of_rows, than_rows), strict=True)
        )
        yield Cell(name, none, none, _NONE, _NONE, (none, none), frozenset(), apart_in, scattered)


def _apart(first: pl.DataFrame, second: pl.DataFrame, key: Sequence[str]) -> str:
    """Name the parts of a cell in which two groups with figures have no value in common."""
    if first.is_empty() or second.is_empty():
        return ""
    parts = []
    for column in key:
        values = [group[column].unique().sort().to_list() for group in (first, second)]
        if set(values[0]).isdisjoint(values[1]):
            one, other = (
                _and([settings.NOT_KNOWN if value is None else _word(column, value) for value in of_group])
                for of_group in values
            )
            parts.append(f"{column.replace('_', ' ')} ({one} against {other})")
    return _and(parts) if parts else ""


def _key(figures: pl.DataFrame, differ: set[str] | tuple[()]) -> list[str]:
    """Return the columns that must be equal within a cell; all figures are of one study."""
    return [column for column in settings.CELL if column not in differ and column in figures.columns]


_NONE: Final = Figure(None, None, None)


def each(choice: Mapping[str, Any], how: How) -> Iterator[Selection]:
    """Yield every combination of the listed values, or the lists themselves if they are combined."""
    if how != "each":
        yield dict(choice)
        return
    lists = [value if isinstance(value, list) else [value] for value in choice.values()]
    yield from (dict(zip(choice, values, strict=True)) for values in product(*lists))


def _lists(choice: Selection) -> dict[str, list[str | int]]:
    return {column: value for column, value in choice.items() if isinstance(value, list)}


def only(figures: pl.DataFrame, *chosen: Selection) -> pl.DataFrame:
    """Keep the rows that match all of the selections."""
    return figures.filter(
        *(
            pl.col(column).is_in(value) if isinstance(value, list) else pl.col(column) == value
            for selection in chosen
            for column, value in selection.items()
        )
    )


def _pooled(rows: pl.DataFrame, lists: Mapping[str, list[str | int]], claim: ClaimFacts) -> pl.DataFrame:
    """Add up the figures of all values that a claim combines, or take their mean, or the ratio of two.

    They are combined within a run, or within a round, or over single figures. If any is missing, the result is
    empty.
    """
    if not lists:
        return rows
    size = 1
    for values in lists.values():
        size *= len(values)
    how = claim.over if set(lists) & set(claim.where) else claim.groups
    key = [column for column in settings.CELL if column in rows.columns and column not in lists]
    follow = _that_follow(rows, [column for column in lists if column in claim.where], key)
    key = [column for column in key if column not in follow]
    ends = [
        pl.when(pl.col(end).null_count() == 0).then(_taken(end, how, lists)).alias(end)
        for end in ("value", "low", "high")
    ]
    named = [
        pl.lit(_together(how, values) if rows.schema[column] == pl.String else None, rows.schema[column]).alias(
            column
        )
        for column, values in lists.items()
    ]
    named += [pl.lit(None, rows.schema[column]).alias(column) for column in follow]
    rest = [c for c in rows.columns if c not in {*key, *lists, *follow, "value", "low", "high", "level"}]
    for unit in (["run_id"], ["round"], []):
        groups = rows.group_by(*key, *(c for c in unit if c not in key), maintain_order=True)
        if all(
            group.height == size and group.select(*lists).is_unique().all() and not any(v is None for v in at)
            for at, group in ((values[len(key) :], group) for values, group in groups)
        ):
            pooled = groups.agg(*ends, *(pl.col(c).first() for c in rest if c not in unit)).with_columns(*named)
            return pooled.with_columns(level=pl.col("filesystem")).select(rows.columns)
    return rows.clear()


def _lacking(rows: pl.DataFrame, lists: Mapping[str, list[str | int]]) -> Selection:
    """Return the listed values that have no figure."""
    found = {
        column: [value for value in values if value not in set(rows[column])] for column, values in lists.items()
    }
    return {column: values for column, values in found.items() if values}


def _that_follow(rows: pl.DataFrame, lists: Sequence[str], key: Sequence[str]) -> list[str]:
    """Return the columns that are determined by the listed ones, as the pattern is by an operation."""
    if not lists:
        return []
    of_each = rows.group_by(lists).agg(pl.col(column).n_unique() for column in key)
    return [column for column in key if of_each[column].max() == 1 and rows[column].n_unique() > 1]


def _taken(end: str, how: How, lists: Mapping[str, list[str | int]]) -> pl.Expr:
    """Combine the values, or the lower or upper ends, of what a claim treats as one."""
    if how != "ratio":
        return pl.sum(end) if how == "sum" else pl.mean(end)
    ((column, (first, second)),) = lists.items()
    other = {"low": "high", "high": "low"}.get(end, end)
    return (
        pl.col(end).filter(pl.col(column) == first).first()
        / pl.col(other).filter(pl.col(column) == second).first()
    )


def _together(how: How, values: Sequence[object]) -> str:
    if how == "ratio":
        return " over ".join(map(str, values))
    if len(values) > _MOST_NAMED:
        return f"{how} of {len(values)}"
    return f"{how} of {_and([str(value) for value in values])}"


_MOST_NAMED: Final = 4


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _figure(rows: pl.DataFrame, name: str) -> Figure:
    """Return the figure of a group: for several runs the mean, which is what an article would state."""

    def mean(column: str) -> float | None:
        values = rows[column]
        return None if values.is_empty() or values.null_count() else float(values.mean())  # type: ignore[arg-type]

    value, low, high = map(mean, ("value", "low", "high"))
    if low is None and high is None:
        low = high = value
    return Figure(value, low, high, name, frozenset(rows["run_id"]))


def cell_name(chosen: Mapping[str, object], row: Mapping[str, object] | None = None) -> str:
    """Name a cell by the selection, and by what else distinguishes it from others."""
    known = {**chosen, **{column: row.get(column) for column in ("operation", "block_size") if row is not None}}
    return ", ".join(
        _and([_word(column, one) for one in (value if isinstance(value, list) else [value])])
        for column, value in known.items()
        if value is not None
    )


def _group_name(claim: ClaimFacts, group: Selection) -> str:
    name = cell_name(group)
    return f"{claim.groups} of {name}" if _lists(group) else name


def _word(column: str, value: object) -> str:
    return humanise(int(str(value)), "B") if column == "block_size" else str(value).replace("_", " ")


Order = Literal["greater", "less", "undecided"]


def order(a: Figure, b: Figure) -> Order | None:
    """Return which of two prints is greater. Equal prints decide nothing, however they were rounded.

    If only bounds are known, they decide if they exclude each other. The result is ``None`` if a figure is
    missing.
    """
    if _is_above(a, b):
        return "greater"
    if _is_above(b, a):
        return "less"
    if _NONE in (replace(a, name="", runs=frozenset()), replace(b, name="", runs=frozenset())):
        return None
    return "undecided"


def _is_above(a: Figure, b: Figure) -> bool:
    if a.low is None or b.high is None:
        return False
    return a.low > b.high or (a.low == b.high and a.value != b.value)
