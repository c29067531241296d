"""Groups the runs of each level in each cell, and pairs the groups that are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
import polars as pl

from fsbench_kit.analysis.metrics import no_figure, wanted
from fsbench_kit.analysis.needed import needed
from fsbench_kit.analysis.settings import CELL, Where, cells
from fsbench_kit.data.dataset import UNMEASURED, Dataset, LazyDataset
from fsbench_kit.data.labelled import GROUP, labelled
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.order import in_order
from fsbench_kit.model.suggestions import a, did_you_mean, known_instead
from fsbench_kit.model.vocabulary import ASKED, OPTIONS
from fsbench_kit.stats.values import padded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fsbench_kit.data.labelled import Labelled
    from fsbench_kit.stats.result import Bools, Ints

    Runs: TypeAlias = np.ma.MaskedArray[Any, np.dtype[np.float64]]

Against = Literal["baseline", "previous", "all"]
"""What each level is compared with: a baseline, the previous level, or all others."""

Role = Literal["baseline", "candidate"]
ROLES: Final[tuple[Role, Role]] = ("baseline", "candidate")


@dataclass(frozen=True)
class Groups:
    """The runs of each level in each cell, and which of these groups are compared.

    Attributes
    ----------
    measurements
        The measurements of all groups, with the number of their ``group``.
    order
        The indices of the measurements, group by group.
    table
        One row for each group: its cell, ``level``, ``unit``, the number ``n`` of measurements, a number for its
        set of ``runs``, and in ``averaged_over`` how many runs each measurement averages; null if only one, or if
        this varies.
    pairs
        One row for each comparison: the numbers of its two groups, ``baseline`` and ``candidate``.
    before
        Measurements of warm-ups and the like, with the number of the ``group`` from which they are left out.
    """

    measurements: pl.DataFrame
    order: Ints
    table: pl.DataFrame
    pairs: pl.DataFrame
    before: pl.DataFrame

    def of(self, role: Role, *columns: str) -> pl.DataFrame:
        """Return the row of one group of each comparison, or some of its columns."""
        rows = self._roles[role]
        return rows[list(columns)] if columns else rows

    @cached_property
    def _roles(self) -> dict[Role, pl.DataFrame]:
        return {role: self.table[self.pairs[role]] for role in ROLES}

    @cached_property
    def first(self) -> Ints:
        """The index in `order` at which each group begins."""
        return _first(self.table["n"].to_numpy())

    def having(self, *which: pl.Expr) -> Bools:
        """Return which groups have a measurement that satisfies the given expressions."""
        found = np.zeros(self.table.height, dtype=np.bool_)
        found[self.measurements.select(pl.col("group").filter(*which)).to_series().to_numpy()] = True
        return found

    def alike(self, column: str) -> Bools:
        """Return in which groups all measurements have the same text, or none, in a column."""
        if not differing(self.measurements, [column]):
            return np.ones(self.table.height, dtype=np.bool_)
        numbers = self.measurements[column].cast(pl.Categorical).to_physical().cast(pl.Int64)
        code = numbers.fill_null(-1).to_numpy()[self.order]
        same: Bools = np.minimum.reduceat(code, self.first) == np.maximum.reduceat(code, self.first)
        return same

    def either(self, groups: Bools) -> Bools:
        """Return for which comparisons a flag is set for either group."""
        found: Bools = groups[self.pairs.to_numpy()].any(axis=-1)
        return found

    def of_rows(self, of_groups: pl.DataFrame) -> pl.DataFrame:
        """Return facts about either group of each comparison, with its ``row``; the baseline's come first."""
        if of_groups.is_empty():
            return of_groups.rename({"group": "row"})
        rows = self.pairs.with_row_index("row")
        both = (
            rows.select("row", group=role).join(of_groups, on="group", maintain_order="left_right")
            for role in ROLES
        )
        return pl.concat(both).drop("group")

    def ragged(self, values: pl.Series) -> Runs:
        """Return a column of the measurements as a masked array with a row for each group."""
        return padded(values.to_numpy()[self.order], self.table["n"].to_numpy())

    def places(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the indices of the measurements of some groups in turn, and how many each has."""
        sizes = self.table["n"].to_numpy()[groups]
        ends = sizes.cumsum()
        place = np.arange(ends[-1] if ends.size else 0) + np.repeat(self.first[groups] - ends + sizes, sizes)
        return self.order[place], sizes

    def runs_of(self, role: Role, rows: Ints, *columns: str) -> pl.DataFrame:
        """Return columns of the measurements of one group of some comparisons, with their ``row``."""
        place, sizes = self.places(self.pairs[role].to_numpy()[rows])
        return self.measurements.select(columns)[place].with_columns(row=pl.Series(np.repeat(rows, sizes)))


def in_groups(
    given: Dataset | LazyDataset | Labelled,
    factor: str,
    baseline: str | None,
    with_what: Against = "baseline",
    *,
    metrics: Sequence[str] | None = None,
    where: Where | None = None,
) -> tuple[Dataset, str, str | None]:
    """Return a dataset with its factor and baseline; if groups were given, their label is the factor.

    Of a dataset on disk, only what the metrics and ``where`` need is read.
    """
    baseline = None if baseline is None else str(baseline)  # a number of threads, a version
    if isinstance(given, LazyDataset):
        given = needed(given, str(factor), metrics, where)
    if isinstance(given, Mapping):
        groups = {str(label): of for label, of in given.items()}
        first = next(iter(groups), None) if with_what == "baseline" else None
        given, factor, baseline = labelled(groups), GROUP, baseline or first
    elif not isinstance(given, Dataset):
        raise RequestError(
            f"{type(given).__name__} is not a dataset",
            hint="Give what fsb.read or fsb.scan returns; or groups: {'before': 'logs/old', 'after': 'logs/new'}.",
        )
    factor = _named(str(factor), given)
    labels = sorted(given.settings.filter(key=GROUP)["value"].unique()) if factor == GROUP else []
    if labels and baseline is not None and baseline not in labels:
        raise _no_level(baseline, factor, labels)
    return given, factor, baseline


def _named(factor: str, dataset: Dataset) -> str:
    """Return the setting that an option of a tool corresponds to, unless a setting has that name."""
    known = {factor, f"{ASKED}{factor}"} & {*dataset.runs.columns, *dataset.settings["key"].unique()}
    return factor if known else OPTIONS.get(factor, factor)


def comparable(
    dataset: Dataset,
    factor: str,
    metrics: Sequence[str] | None = None,
    *,
    where: Where | None = None,
    include_failed: bool = False,
) -> pl.DataFrame:
    """Return the measurements that can be compared, each with its cell and its level.

    Parameters
    ----------
    dataset, factor, metrics, where, include_failed
        As in `fsbench_kit.compare`.

    Raises
    ------
    RequestError
        If the factor, a value of ``where`` or all of the metrics are not in the data, or if a metric is unknown.
    """
    every = cells(dataset, factor, where)
    figures = every if include_failed else every.filter(pl.col("status") == "ok")
    there = figures["metric"]
    measurements = figures.filter(wanted(metrics, there))
    if _any_measured(measurements):
        return measurements.with_columns(_study(measurements))
    if _any_measured(figures):
        raise no_figure(metrics, there)
    if not include_failed and _any_measured(every):
        raise RequestError(f"all runs that have {a(factor)} here failed or are partial", hint=_IF_FAILED)
    if where:
        raise RequestError(
            f"no run that counts has {a(factor)} and all of what was chosen",
            hint="Choose less: each value occurs, but not with all the others.",
        )
    raise no_factor(dataset, factor)


def no_factor(dataset: Dataset, factor: str) -> RequestError:
    """Return the error that no run has a value of a factor, with a similar name."""
    return RequestError(
        f"no {factor} is known of these runs",
        hint=_meant(dataset, factor) or "Name a column of their table, or a setting, as the factor.",
    )


_IF_FAILED: Final = "Failed runs count only if asked for: --include-failed, or include_failed=True."


def _no_level(level: str, factor: str, known: Iterable[str]) -> RequestError:
    return RequestError(f"{level!r} is not {a(factor)} of these runs", hint=known_instead(level, known))


def _no_group(label: str, *, include_failed: bool) -> RequestError:
    return RequestError(
        f"no run of {label} has a figure that can be compared",
        hint="`fsbench read` shows what was found of it." if include_failed else _IF_FAILED,
    )


def failed_beside(
    measurements: pl.DataFrame,
    dataset: Dataset,
    factor: str,
    metrics: Sequence[str] | None = None,
    *,
    where: Where | None = None,
) -> pl.DataFrame:
    """Return the figures of failed and partial runs in the cells of the other measurements."""
    figures = cells(dataset, factor, where).filter(~UNMEASURED, wanted(metrics), pl.col("status") != "ok")
    its_own = pl.col("study").is_in(measurements["study"].unique().implode())
    return figures.with_columns(study=pl.when(its_own).then("study"))


def _any_measured(figures: pl.DataFrame) -> bool:
    return bool(figures.select((~UNMEASURED).any()).item())


def _meant(dataset: Dataset, factor: str) -> str:
    known = {*dataset.runs.columns, *dataset.settings["key"]}
    return "" if factor in known else did_you_mean(factor, known)


def _study(measurements: pl.DataFrame) -> pl.Series:
    """Return the study as part of the cell; null for studies with a single level, compared across studies."""
    if not differing(measurements, ["study"]):
        return measurements["study"]
    levels = measurements.filter(~UNMEASURED).select("study", "level").unique()
    single = levels.filter(pl.len().over("study") == 1)
    apart = single["level"].n_unique() > 1
    return measurements.select(
        study=pl.when(~pl.col("study").is_in(single["study"].implode() if apart else [])).then("study")
    ).to_series()


def groups_of(
    measurements: pl.DataFrame,
    factor: str,
    baseline: str | None,
    keys: Sequence[str] = CELL,
    with_what: Against = "baseline",
    *,
    include_failed: bool = False,
) -> Groups:
    """Group measurements, and pair each group with those that it is compared with.

    Parameters
    ----------
    measurements
        The result of `comparable`.
    factor, baseline
        As in `fsbench_kit.compare`.
    keys
        The columns that define a cell.
    with_what
        What to compare each level with.
    include_failed
        Whether the measurements include failed and partial runs.

    Raises
    ------
    RequestError
        If the baseline is not in the data, or is given for a comparison without one.
    """
    measured = measurements.filter(~UNMEASURED)
    table, order = _table(measured, keys)
    names = levels_of(measured)
    if baseline is not None and with_what != "baseline":
        raise RequestError(
            f"a comparison against {_AGAINST[with_what]} has no baseline",
            hint=f"Leave out the baseline {baseline!r}, or compare with it alone.",
        )
    if baseline is not None and baseline not in names:
        alone = _no_group(baseline, include_failed=include_failed)
        raise alone if factor == GROUP else _no_level(baseline, factor, names)
    pairs = _pairs(table, names, baseline, with_what)
    group = np.empty(measured.height, dtype=np.uint32)
    group[order] = np.repeat(table["group"].to_numpy(), table["n"].to_numpy())
    of_cell = [*keys, "level"]
    before = measurements.filter(UNMEASURED).join(
        table.select("group", *of_cell), on=of_cell, nulls_equal=True, maintain_order="left"
    )
    in_groups = measured.with_columns(group=group)
    return Groups(in_groups, order, table, pairs, before)


def _table(measured: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.DataFrame, Ints]:
    """Return the table of groups, and the indices of their measurements, group by group."""
    apart = telling(measured, keys)
    key = measured.select(*apart, "level").hash_rows().alias("key")
    places = key.to_frame().with_row_index("place").group_by("key", maintain_order=True).agg("place")["place"]
    order = places.explode().to_numpy().astype(np.intp)
    table = _described(measured, order, places.list.len().to_numpy().astype(np.int64), keys)
    cell = table.select(apart).hash_rows().alias("cell")
    return table.with_columns(cell=pl.col("group").min().over(cell)), order


def _described(measurements: pl.DataFrame, order: Ints, n: Ints, keys: Sequence[str]) -> pl.DataFrame:
    """Return the table of `Groups`, given the indices of the measurements, group by group."""
    first = _first(n)
    runs = np.add.reduceat(measurements["run_id"].hash().to_numpy()[order], first)  # equal for equal sets
    table = measurements.select(*keys, "level", "unit")[order[first]].with_columns(n=n, runs=runs)
    averaged = measurements["averaged_over"].fill_null(1)  # a log is of one run unless its study says otherwise
    if averaged.max() == 1:
        return table.with_columns(averaged_over=pl.lit(None, averaged.dtype)).with_row_index("group")
    of_each = averaged.to_numpy()[order]
    least, most = (np.minimum.reduceat(of_each, first), np.maximum.reduceat(of_each, first))
    several = pl.Series((least == most) & (most > 1))
    return table.with_columns(averaged_over=pl.when(several).then(pl.Series(most))).with_row_index("group")


def _first(n: Ints) -> Ints:
    """Return where each group begins, given the sizes of groups."""
    return n.cumsum() - n


def levels_of(measurements: pl.DataFrame) -> list[str]:
    """Return the levels of a factor in natural order."""
    another = pl.col("run_id").ne_missing(pl.col("run_id").shift())  # one row per run is enough; a few do no harm
    of_runs = measurements.filter(another).select("level", pl.coalesce("started_at", "ended_at"))
    begun = of_runs.group_by("level").agg(pl.col("started_at").min())
    return in_order(begun["level"], dict(begun.iter_rows()))


_AGAINST: Final[dict[Against, str]] = {"previous": "the previous level", "all": "all others"}


def against(*, all_pairs: bool, consecutive: bool) -> Against:
    """Return what to compare levels with, given the options of `fsbench_kit.compare`.

    Raises
    ------
    RequestError
        If both options are set.
    """
    if all_pairs and consecutive:
        raise RequestError(
            "levels are compared in all pairs, or each with the previous one, but not both",
            hint="All pairs hold the consecutive ones.",
        )
    return "all" if all_pairs else "previous" if consecutive else "baseline"


def _pairs(table: pl.DataFrame, names: Sequence[str], baseline: str | None, with_what: Against) -> pl.DataFrame:
    """Return the groups that are compared, cell by cell, with levels in order."""
    level = pl.col("level")
    groups = table.select(
        "group",
        "cell",
        "study",
        "level",
        place=level.replace_strict(names, range(len(names)), return_dtype=pl.Int64),
    )
    groups = groups[np.lexsort((groups["place"].to_numpy(), groups["cell"].to_numpy()))]
    if with_what == "previous":
        former = groups.select("cell", "place", baseline=pl.col("group").shift().over("cell"), candidate="group")
        return former.drop_nulls("baseline").select(ROLES)
    of_study = (
        pl.when((level == "ext4").any()).then(level == "ext4").otherwise(pl.col("place") == pl.col("place").min())
    )
    if differing(groups, ["study"]):
        of_study = of_study.over("study")
    is_base = of_study if baseline is None else level == baseline
    first, others = (groups, groups) if with_what == "all" else (groups.filter(is_base), groups.filter(~is_base))
    both = first.join(others, on="cell", suffix="_other", maintain_order="left_right")
    once = pl.col("place") < pl.col("place_other") if with_what == "all" else pl.lit(value=True)
    return both.filter(once).select(baseline="group", candidate="group_other")


def paired(pairs: Sequence[Sequence[pl.DataFrame]]) -> Groups:
    """Return groups from pairs that the caller selected, each group given by its measurements."""
    groups = [measurements for pair in pairs for measurements in pair]
    n = np.array([measurements.height for measurements in groups], dtype=np.int64)
    group = pl.Series("group", np.repeat(np.arange(n.size, dtype=np.uint32), n))
    measurements = pl.concat(groups).with_columns(group)
    order = np.arange(measurements.height)
    table = _described(measurements, order, n, CELL)
    both = {role: np.arange(place, table.height, 2) for place, role in enumerate(ROLES)}
    return Groups(measurements, order, table, pl.DataFrame(both), measurements.clear())


def apart(dataset: Dataset, factor: str) -> dict[str, list[str]]:
    """Return the parts of a cell in which levels have no value in common, so that none of their cells match.

    Returns
    -------
    dict[str, list[str]]
        For each such column of `CELL`, the values of each level in order; "unknown" if there is none.
    """
    figures = cells(dataset, factor).filter(~UNMEASURED)
    levels = in_order(figures["level"].unique())
    found = {}
    for name in CELL if len(levels) > 1 else ():
        texts = pl.col(name).cast(pl.String).fill_null("unknown").unique()
        of_level = dict(figures.group_by("level").agg(texts).iter_rows())
        sets = [set(of_level[level]) for level in levels]
        if all(a.isdisjoint(b) for a, b in combinations(sets, 2)):
            found[name] = [" | ".join(in_order(of_level[level])) for level in levels]
    return found


def telling(measurements: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """Return the keys in which measurements differ, since grouping by the others would only cost time."""
    return differing(measurements, keys) or [keys[0]]


def differing(measurements: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """Return the columns in which measurements differ."""
    alike = measurements.select(pl.col(key).eq_missing(pl.col(key).first()).all() for key in keys).row(0)
    return [key for key, same in zip(keys, alike, strict=True) if not same]
