"""Follows figures over the versions, commits or dates of a factor, and finds when they changed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.analysis.comparison import COLUMNS, compare
from fsbench_kit.analysis.confounders import check
from fsbench_kit.analysis.design import Design, Evidence
from fsbench_kit.analysis.groups import ROLES, Groups, comparable, groups_of, in_groups, levels_of, paired
from fsbench_kit.analysis.metrics import OF_EFFECT, PLACE
from fsbench_kit.analysis.settings import CELL, Where
from fsbench_kit.analysis.verdict import REASONS, codes
from fsbench_kit.data.dataset import UNMEASURED, Dataset
from fsbench_kit.stats import levels, reach, welch_log
from fsbench_kit.stats.changes import SHORTEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_IN_TIME: Final = re.compile(r"(.+[_.-])?(kernel|version|commit|revision|release|build|date)")
_FEWEST: Final = 3
MANY: Final = 2 * SHORTEST
"""The number of levels from which on changes are searched in their course; below, neighbours are compared."""


class Trend(NamedTuple):
    """The course of figures over the levels of a factor that is ordered in time.

    Attributes
    ----------
    levels
        The levels in order.
    course
        A row for each effect and level, with the columns of `fsbench_kit.compare` against the first level that has
        the effect; for that level itself the ratio is 1.
    changes
        A row for each change of an effect, with the columns of a comparison of the levels up to ``before`` with
        those from ``since`` on. The change lies between ``earliest`` and ``latest`` with the given confidence. It
        is not comparable if more than the level differs; see ``reasons`` and ``footnotes``.
    """

    levels: list[str]
    course: pl.DataFrame
    changes: pl.DataFrame


def in_time(factor: str) -> bool:
    """Return whether the levels of a factor are ordered in time, as those of a kernel or a commit are.

    Examples
    --------
    >>> [in_time(factor) for factor in ("kernel", "tool_version", "date", "zfs.commit", "iodepth", "filesystem")]
    [True, True, True, True, False, False]
    """
    return _IN_TIME.fullmatch(factor) is not None


def trend(
    dataset: Dataset,
    factor: str,
    *,
    metrics: Sequence[str] | None = None,
    where: Where | None = None,
    confidence: float = 0.95,
    margin: float = 1.05,
) -> Trend:
    """Find the version, commit or date at which figures changed.

    Parameters
    ----------
    dataset, factor, metrics, where, confidence, margin
        As in `fsbench_kit.compare`. The result is empty if the factor is not ordered in time, if it has fewer than
        three levels, or if no cell has two of them.

    Notes
    -----
    With fewer than ten levels, a change is a level that is decidedly better or worse than the previous one, by the
    rules of every comparison, or that would be but for other differences that withhold the verdict. With ten
    levels or more, each level is one figure, and changes are where `fsbench_kit.stats.levels` cuts their course;
    the ratio and its interval are Welch's, of the levels after the change against those before, and p is corrected
    for all places and effects. Random differences between levels, such as those between boots, are thereby part of
    the noise.

    Raises
    ------
    RequestError
        As for `fsbench_kit.compare`.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> trend(fsb.read("raw_results/published/fio-nvme-2021"), "filesystem").changes.height  # has no order in time
    0
    """
    nothing = Trend([], pl.DataFrame(schema=COLUMNS), pl.DataFrame(schema=_CHANGES))
    if not in_time(factor):
        return nothing
    dataset, factor, _ = in_groups(dataset, factor, None)
    measured = comparable(dataset, factor, metrics, where=where).filter(~UNMEASURED)
    names = levels_of(measured)
    if len(names) < _FEWEST:
        return nothing
    options: dict[str, Any] = {"metrics": metrics, "where": where, "confidence": confidence, "margin": margin}
    course = pl.concat(_courses(dataset, factor, names, measured, options))
    if course.is_empty():
        return nothing
    if len(names) < MANY:
        changes = _decided(_one_per_effect(compare(dataset, factor, consecutive=True, **options)), confidence)
    else:
        steps = _steps(course, measured, Evidence(dataset, factor), names, confidence)
        changes = pl.DataFrame(list(steps), schema=_CHANGES, orient="row")
    size = pl.col("ratio").log().abs()
    return Trend(names, course, changes.sort(size, descending=True, maintain_order=True))


_CHANGES: Final = COLUMNS | dict.fromkeys(("before", "since", "earliest", "latest"), pl.String)


def _one_per_effect(comparison: pl.DataFrame) -> pl.DataFrame:
    return comparison.sort(PLACE, maintain_order=True).unique(OF_EFFECT, keep="first", maintain_order=True)


def _courses(
    dataset: Dataset, factor: str, names: Sequence[str], measured: pl.DataFrame, options: dict[str, Any]
) -> Iterator[pl.DataFrame]:
    """Yield the courses of the cells whose first figures are at the same level."""
    place = pl.col("level").replace_strict(names, range(len(names)), return_dtype=pl.Int64)
    begins = measured.group_by(CELL).agg(baseline=pl.col("level").sort_by(place).first())
    for name in filter(set(begins["baseline"]).__contains__, names):
        rows = _one_per_effect(compare(dataset, factor, name, **options))
        own = rows.join(begins, on=[*CELL, "baseline"], how="semi", nulls_equal=True, maintain_order="left")
        yield _with_first(own)


def _with_first(course: pl.DataFrame) -> pl.DataFrame:
    """Add the first level itself to the levels that are compared with it."""
    known = [*CELL, "unit", "better", "factor", "baseline", "margin"]
    of_cells = course.unique(CELL, keep="first", maintain_order=True)
    first = of_cells.select(
        *known, level="baseline", value_candidate="value_baseline", n_candidate="n_baseline", ratio=pl.lit(1.0)
    )
    return pl.concat([first, course], how="diagonal").select(*COLUMNS)


def _decided(steps: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Return levels that decidedly differ from the previous one, or would if no reason withheld the verdict."""
    shown = (pl.col("p") * pl.len() < 1 - confidence) & (
        pl.max_horizontal("ci_high", 1 / pl.col("ci_low")) > pl.col("margin")
    )
    withheld = (pl.col("verdict") == "not comparable") & shown
    return steps.filter(pl.col("verdict").is_in(["better", "worse"]) | withheld).with_columns(
        before="baseline", since="level", earliest="level", latest="level"
    )


def _steps(
    course: pl.DataFrame, measured: pl.DataFrame, evidence: Evidence, names: Sequence[str], confidence: float
) -> Iterator[dict[str, Any]]:
    """Yield the changes in the course of each effect that has sound figures at enough levels."""
    groups = groups_of(measured.filter(pl.col("state") != "missing"), evidence.factor, None)
    sound = course.join(
        _sound(groups, evidence), on=[*CELL, "level"], nulls_equal=True, maintain_order="left"
    ).with_columns(place=pl.col("level").replace_strict(names, range(len(names)), return_dtype=pl.Int64))
    effects = [of.sort("place") for _, of in sound.group_by(CELL, maintain_order=True) if of.height >= MANY]
    found = [
        (of, change) for of in effects for change in _cuts(of, confidence, tests=(of.height - 1) * len(effects))
    ]
    if not found:
        return
    ends = [(of["group"][change["earliest"] - 1], of["group"][change["latest"]]) for of, change in found]
    beside = _besides(groups, ends, evidence)
    for (of, change), (reasons, footnotes) in zip(found, beside.iter_rows(), strict=True):
        own, (start, since, end) = of["level"].to_list(), change["stretches"]
        first = of.select(*COLUMNS).row(0, named=True)
        gain = change["ratio"] > 1
        decided = "better" if gain == (first["better"] == "higher") else "worse"
        yield first | {
            "baseline": _span(own[start:since]),
            "level": _span(own[since:end]),
            "value_baseline": None,
            "value_candidate": None,
            "n_baseline": since - start,
            "n_candidate": end - since,
            "confidence": confidence,
            "method": "Welch's t over levels",
            "over": "levels",
            **{name: change[name] for name in ("ratio", "ci_low", "ci_high", "p", "p_adjusted")},
            "verdict": "not comparable" if reasons else decided,
            "reasons": reasons,
            "footnotes": footnotes,
            "before": own[since - 1],
            "since": own[since],
            "earliest": own[change["earliest"]],
            "latest": own[change["latest"]],
        }


_WITHHELD: Final = codes("no ratio", "verdict withheld")


def _sound(groups: Groups, evidence: Evidence) -> pl.DataFrame:
    """Return the figures of levels without doubts about themselves; differences from other levels do not matter.

    Returns
    -------
    pl.DataFrame
        The columns of `CELL`, ``level``, ``group`` and ``figure``, the geometric mean of the level's runs.
    """
    alone = replace(groups, pairs=pl.DataFrame({role: groups.table["group"].cast(pl.Int64) for role in ROLES}))
    doubts = check(Design(alone, evidence), footnotes=False, of_one=True).with_code(_WITHHELD)
    figures = (
        groups.measurements.group_by("group")
        .agg(
            figure=pl.col("value").log().mean().exp(),
            known=(pl.col("value").is_not_null() & (pl.col("value") > 0) & (pl.col("state") == "measured")).all(),
        )
        .filter("known", ~pl.col("group").is_in(doubts.implode()))
    )
    of_cells = groups.table.select(pl.col(name).cast(COLUMNS[name]) for name in (*CELL, "level"))
    return of_cells.with_columns(groups.table["group"]).join(figures.drop("known"), on="group")


def _cuts(of: pl.DataFrame, confidence: float, *, tests: int) -> Iterator[dict[str, Any]]:
    """Yield where the figures of an effect's levels change, by how much, and the levels between which that is."""
    figures = of["figure"].to_numpy()
    cut = levels(np.log(figures), independent=True)
    ends = [*cut.starts.tolist(), figures.size]
    places = reach(np.log(figures), cut, confidence, independent=True).tolist()
    for (earliest, latest), start, since, end in zip(places, ends, ends[1:], ends[2:], strict=False):
        found = welch_log(figures[start:since], figures[since:end], confidence)
        p = 1.0 if found.p is None else float(found.p)
        p_adjusted = min(1.0, p * tests)
        if p_adjusted < 1 - confidence and max(found.high, 1 / found.low) > of["margin"][0]:
            yield {
                "stretches": (start, since, end),
                "earliest": earliest,
                "latest": latest,
                "ratio": float(found.estimate),
                "ci_low": float(found.low),
                "ci_high": float(found.high),
                "p": p,
                "p_adjusted": p_adjusted,
            }


def _besides(groups: Groups, ends: Sequence[tuple[int, int]], evidence: Evidence) -> pl.DataFrame:
    """Describe what besides the factor and the order differs between the levels before and after a change."""
    of_group = groups.measurements.partition_by("group", as_dict=True, include_key=False)
    pairs = [[of_group[group,] for group in pair] for pair in ends]
    found = check(Design(paired(pairs), evidence), footnotes=False).columns(len(pairs))
    order = REASONS["BLOCKED_ORDER"]
    kept = {"reasons": order.code, "footnotes": order.meaning}
    return found.select(
        pl.col(name).list.filter(pl.element() != dropped).alias(name) for name, dropped in kept.items()
    )


def _span(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
