"""Groups the runs of each level in each cell, and pairs the groups that are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import polars as pl

from fsbench_kit.analysis.metrics import no_figure, wanted
from fsbench_kit.analysis.needed import needed
from fsbench_kit.analysis.parts import differing, numbered, ranges, stretches
from fsbench_kit.analysis.settings import CELL, Where, cells
from fsbench_kit.data.dataset import UNMEASURED, Dataset, LazyDataset
from fsbench_kit.data.labelled import GROUP, labelled
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.order import are_commits, in_order, level_name
from fsbench_kit.model.suggestions import a, did_you_mean, known_instead
from fsbench_kit.model.vocabulary import ASKED, OPTIONS, setting_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fsbench_kit.data.labelled import Labelled
    from fsbench_kit.stats.result import Bools, Ints

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
    run
        A hash of each measurement's run.
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
    varied
        The columns of a cell in which measurements differ, and host and launch if they do.
    factor
        What the levels are levels of; ``None`` if the caller named the groups.
    """

    measurements: pl.DataFrame
    run: NDArray[np.uint64]
    order: Ints
    table: pl.DataFrame
    pairs: pl.DataFrame
    before: pl.DataFrame
    varied: frozenset[str]
    factor: str | None

    def of(self, role: Role, *columns: str) -> pl.DataFrame:
        """Return the row of one group of each comparison, or some of its columns."""
        table = self.table[list(columns)] if columns else self.table
        return table[self.pairs[role]]

    @cached_property
    def first(self) -> Ints:
        """The index in `order` at which each group begins."""
        return _first(self.table["n"].to_numpy())

    def called(self) -> pl.Expr:
        """Return what names a ``level`` within a sentence: see `fsbench_kit.model.order.level_name`."""
        level, factor = pl.col("level"), self.factor
        if factor is None:
            return level
        return level.replace({name: level_name(name, factor) for name in self.table["level"].unique()})

    @cached_property
    def compared(self) -> Ints:
        """The numbers of the two groups of each comparison, shape ``(comparisons, 2)``."""
        compared: Ints = np.stack([self.pairs[role].to_numpy() for role in ROLES], axis=-1)
        return compared

    def having(self, *which: pl.Expr) -> Bools:
        """Return which groups have a measurement that satisfies the given expressions."""
        found = np.zeros(self.table.height, dtype=np.bool_)
        satisfy = self.measurements.select_seq(pl.all_horizontal(*which)).to_series()
        found[self.measurements["group"].filter(satisfy).to_numpy()] = True
        return found

    def alike(self, column: str) -> Bools:
        """Return in which groups all measurements have the same text, or none, in a column."""
        if column not in self.varied:
            return np.ones(self.table.height, dtype=np.bool_)
        numbers = self.measurements[column].cast(pl.Categorical).to_physical().cast(pl.Int64)
        code = numbers.fill_null(-1).to_numpy()[self.order]
        same: Bools = np.minimum.reduceat(code, self.first) == np.maximum.reduceat(code, self.first)
        return same

    def lacking(self, column: str) -> Bools:
        """Return which groups have a measurement without a value in a column."""
        some = self.measurements[column].null_count()
        none: Bools = np.zeros(self.table.height, dtype=np.bool_)
        return self.having(pl.col(column).is_null()) if some else none

    def either(self, groups: Bools) -> Bools:
        """Return for which comparisons a flag is set for either group."""
        baseline, candidate = self.compared.T
        found: Bools = groups[baseline] | groups[candidate]
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

    def by_group(self, column: str) -> tuple[NDArray[Any], Bools]:
        """Return a column of the measurements with a row for each group, and where these rows have one.

        Other places have any value. The arrays are column-major: see `fsbench_kit.stats.values`.
        """
        places, present = self._layout
        return self.measurements[column].to_numpy().take(places).T, present.T

    @cached_property
    def _layout(self) -> tuple[Ints, Bools]:
        """The indices of the first measurement of each group, of the second, and so on; and which exist."""
        n = self.table["n"].to_numpy()
        present = np.arange(n.max(initial=0)) < n[:, None]
        places = np.zeros(present.shape, dtype=np.int64)
        places[present] = self.order
        return np.ascontiguousarray(places.T), np.ascontiguousarray(present.T)

    def places(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the indices of the measurements of some groups in turn, and the place of each one's group."""
        place, of = ranges(self.first, self.table["n"].to_numpy(), groups)
        return self.order[place], of

    def runs_of(self, role: Role, rows: Ints, *columns: str) -> pl.DataFrame:
        """Return columns of the measurements of one group of some comparisons, with their ``row``."""
        place, of = self.places(self.pairs[role].to_numpy()[rows])
        return self.measurements.select(columns)[place].with_columns(row=pl.Series(rows[of]))


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
    every = cells(dataset, factor, where, without=_NOT_COMPARED)
    figures = every if include_failed or all_ok(dataset) else every.filter(pl.col("status") == "ok")
    measurements = figures.filter(wanted(metrics, _metrics(figures)))
    if _any_measured(measurements):
        return _across_studies(measurements)
    if _any_measured(figures):
        raise no_figure(metrics, _metrics(figures))
    if not include_failed and _any_measured(every):
        raise RequestError(f"all runs that have {a(factor)} here failed or are partial", hint=_IF_FAILED)
    if where:
        raise RequestError(
            f"no run that counts has {a(factor)} and all of what was chosen",
            hint="Choose less: each value occurs, but not with all the others.",
        )
    raise no_factor(dataset, factor)


def all_ok(dataset: Dataset) -> bool:
    """Return whether no run of a dataset failed or is partial."""
    return bool(dataset.runs["status"].eq_missing("ok").all())


_NOT_COMPARED: Final = ("source", "start", "end", "sha256", "exit_code")
"""Columns of runs that no comparison looks at, which would cost time to repeat for each measurement."""


def no_factor(dataset: Dataset, factor: str) -> RequestError:
    """Return the error that no run has a value of a factor, with a similar name."""
    return RequestError(
        f"no {factor} is known for these runs",
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
    return bool(figures.select_seq((~UNMEASURED).any()).item())


def _meant(dataset: Dataset, factor: str) -> str:
    known = {*dataset.runs.columns, *dataset.settings["key"]}
    return "" if factor in known else did_you_mean(factor, known)


def _metrics(figures: pl.DataFrame) -> Iterator[str]:
    yield from figures["metric"].unique()


def _across_studies(measurements: pl.DataFrame) -> pl.DataFrame:
    """Set the study to null for studies with a single level, which are compared with each other."""
    if not differing(measurements, ["study"]):
        return measurements
    levels = measurements.filter(~UNMEASURED).select("study", "level").unique()
    single = levels.filter(pl.len().over("study") == 1)
    apart = single["level"].n_unique() > 1
    return measurements.with_columns(
        study=pl.when(~pl.col("study").is_in(single["study"].implode() if apart else [])).then("study")
    )


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
    run = measured["run_id"].hash().to_numpy()
    starts, lengths = stretches(run)
    names = levels_of(measured[["level", "started_at", "ended_at"]][starts])
    if baseline is not None and with_what != "baseline":
        raise RequestError(
            f"a comparison against {_AGAINST[with_what]} has no baseline",
            hint=f"Leave out the baseline {baseline!r}, or compare with it alone.",
        )
    if baseline is not None and baseline not in names:
        alone = _no_group(baseline, include_failed=include_failed)
        raise alone if factor == GROUP else _no_level(baseline, factor, names)

    # As a rule, the measurements of a run stand together, and all runs have the same cells in the same order.
    places = {name: place for place, name in enumerate(names)}
    level = np.array([places[name] for name in measured["level"][starts].to_list()], dtype=np.int64)
    varied = _varied(measured, keys)
    cell = _cells(measured[[key for key in keys if key in varied] or [keys[0]]], lengths)
    cells = int(cell.max(initial=-1)) + 1
    number = np.repeat(level, lengths) * cells + cell  # equal for equal levels and cells
    order = np.argsort(number, kind="stable")
    first, n = stretches(number[order])
    present = number[order[first]]
    table = _described(measured, run, order, n, keys)
    study = numbered(table["study"]) if "study" in varied else np.zeros_like(present)
    level, cell = np.divmod(present, cells or 1)
    if with_what == "baseline":
        own = _own_baseline(study, level, names) if baseline is None else names.index(baseline)
        pairs = _with_baseline(cell, level, level == own)
    else:
        pairs = _with_others(cell, level, len(names) if with_what == "all" else 2)
    group = np.empty(number.size, dtype=np.uint32)
    group[order] = np.repeat(np.arange(n.size), n)
    in_groups = measured.hstack([pl.Series("group", group)])
    before = in_groups.clear()
    if measured.height < measurements.height:
        of_cell = [*keys, "level"]
        before = measurements.filter(UNMEASURED).join(
            table.select("group", *of_cell), on=of_cell, nulls_equal=True, maintain_order="left"
        )
    return Groups(in_groups, run, order, table, pairs, before, varied, factor)


def _varied(measurements: pl.DataFrame, keys: Sequence[str] = ()) -> frozenset[str]:
    return frozenset(differing(measurements, list(dict.fromkeys([*keys, *CELL, "host", "launch"]))))


def _cells(keys: pl.DataFrame, lengths: Ints) -> Ints:
    """Return a number for the cell of each measurement, in order of appearance, given how many each run has."""
    key = keys.hash_rows()
    length = lengths[0] if lengths.size else 0
    if lengths.size > 1 and (lengths == length).all():
        of_runs = key.to_numpy().reshape(-1, length)
        if (of_runs == of_runs[0]).all():
            return np.tile(_in_order(key[:length]), lengths.size)
    return _in_order(key)


def _in_order(keys: pl.Series) -> Ints:
    """Return a number for each key, in order of appearance."""
    if keys.n_unique() == keys.len():  # as a rule, a run has one figure of each cell
        return np.arange(keys.len())
    places = (
        keys.to_frame("key").with_row_index("place").group_by("key", maintain_order=True).agg("place")["place"]
    )
    numbers = np.empty(keys.len(), dtype=np.int64)
    numbers[places.explode().to_numpy()] = np.repeat(np.arange(places.len()), places.list.len().to_numpy())
    return numbers


def _described(
    measurements: pl.DataFrame, run: NDArray[np.uint64], order: Ints, n: Ints, keys: Sequence[str]
) -> pl.DataFrame:
    """Return the table of `Groups`, given a hash of each measurement's run, their indices by group, and sizes."""
    first = _first(n)
    averaged = measurements["averaged_over"]
    several = pl.Series([None], dtype=averaged.dtype).new_from_index(0, n.size)
    if (averaged.max() or 1) != 1:
        of_each = averaged.fill_null(1).to_numpy()[order]  # a log is of one run unless its study says otherwise
        least, most = (np.minimum.reduceat(of_each, first), np.maximum.reduceat(of_each, first))
        several = pl.select(pl.when(pl.Series((least == most) & (most > 1))).then(pl.Series(most))).to_series()
    columns = {
        "group": pl.Series(np.arange(n.size), dtype=pl.UInt32),
        **measurements[[*keys, "level", "unit"]][order[first]].to_dict(),
        "n": pl.Series(n),
        "runs": pl.Series(np.add.reduceat(run[order], first)),  # equal for equal sets
        "averaged_over": several,
    }
    return pl.DataFrame(columns)


def _first(n: Ints) -> Ints:
    """Return where each group begins, given the sizes of groups."""
    return n.cumsum() - n


def levels_of(measurements: pl.DataFrame) -> list[str]:
    """Return the levels of a factor in natural order."""
    names = measurements["level"].unique().to_list()
    if not are_commits(names):
        return in_order(names)
    begun = measurements.group_by("level").agg(pl.coalesce("started_at", "ended_at").min())
    return in_order(names, dict(begun.iter_rows()))


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


def _with_baseline(cell: Ints, level: Ints, is_baseline: Bools) -> pl.DataFrame:
    """Pair each group with the baseline of its cell: cell by cell, with levels in order."""
    baseline = np.full(cell.max(initial=-1) + 1, -1)
    baseline[cell[is_baseline]] = np.flatnonzero(is_baseline)
    order = np.lexsort((level, cell))
    candidate = order[~is_baseline[order] & (baseline[cell[order]] >= 0)]
    return pl.DataFrame({"baseline": baseline[cell[candidate]], "candidate": candidate})


def _with_others(cell: Ints, level: Ints, reach: int) -> pl.DataFrame:
    """Pair each group with those that come up to ``reach`` - 1 levels after it in its cell."""
    order = np.lexsort((level, cell))
    first, other = (np.zeros(0, dtype=np.int64) for _ in ROLES)
    for apart in range(1, reach):
        same = np.flatnonzero(cell[order[apart:]] == cell[order[:-apart]])
        first, other = np.append(first, same), np.append(other, same + apart)
    by_cell = np.lexsort((other, first))
    return pl.DataFrame({"baseline": order[first[by_cell]], "candidate": order[other[by_cell]]})


def _own_baseline(study: Ints, level: Ints, names: Sequence[str]) -> Ints:
    """Return the level with which the others of each group's study are compared: ext4, or else the first."""
    least = np.full(study.max(initial=-1) + 2, len(names))
    np.minimum.at(least, study, level)
    if "ext4" in names:
        least[study[level == names.index("ext4")]] = names.index("ext4")
    return least[study]


def paired(pairs: Sequence[Sequence[pl.DataFrame]]) -> Groups:
    """Return groups from pairs that the caller selected, each group given by its measurements."""
    groups = [measurements for pair in pairs for measurements in pair]
    n = np.array([measurements.height for measurements in groups], dtype=np.int64)
    group = pl.Series("group", np.repeat(np.arange(n.size, dtype=np.uint32), n))
    measurements = pl.concat(groups).with_columns(group)
    order = np.arange(measurements.height)
    run = measurements["run_id"].hash().to_numpy()
    table = _described(measurements, run, order, n, CELL)
    both = {role: np.arange(place, table.height, 2) for place, role in enumerate(ROLES)}
    varied = _varied(measurements)
    return Groups(measurements, run, order, table, pl.DataFrame(both), measurements.clear(), varied, factor=None)


def apart(
    dataset: Dataset,
    factor: str,
    metrics: Sequence[str] | None = None,
    *,
    where: Where | None = None,
    include_failed: bool = False,
) -> dict[str, list[str]]:
    """Return the parts of a cell in which levels have no value in common, so that none of their cells match.

    Parameters
    ----------
    dataset, factor, metrics, where, include_failed
        As in `fsbench_kit.compare`, which has found nothing to compare.

    Returns
    -------
    dict[str, list[str]]
        For each such column of `CELL`, the values of each level in order; "unknown" if there is none.
    """
    every = comparable(dataset, factor, metrics, where=where, include_failed=include_failed)
    figures = every.filter(~UNMEASURED)
    levels = in_order(figures["level"].unique())
    found = {}
    for name in CELL if len(levels) > 1 else ():
        texts = pl.col(name).cast(pl.String).fill_null("unknown").unique()
        of_level = dict(figures.group_by("level").agg(texts).iter_rows())
        sets = [set(of_level[level]) for level in levels]
        if all(a.isdisjoint(b) for a, b in combinations(sets, 2)):
            found[name] = [" | ".join(setting_texts(name, of_level[level])) for level in levels]
    return found
