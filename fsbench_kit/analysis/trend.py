"""Figures over the versions, commits or dates of a factor: their course, and when they changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.analysis.comparison import COLUMNS, compare
from fsbench_kit.analysis.groups import comparable, in_groups, levels_of
from fsbench_kit.analysis.metrics import OF_EFFECT, PLACE
from fsbench_kit.analysis.settings import CELL
from fsbench_kit.analysis.verdict import codes
from fsbench_kit.data.dataset import UNMEASURED
from fsbench_kit.stats import levels, reach, welch_log
from fsbench_kit.stats.changes import SHORTEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.analysis.settings import Where
    from fsbench_kit.data.dataset import Dataset

_IN_TIME: Final = re.compile(r"(.+[_.-])?(kernel|version|commit|revision|release|build|date)")
_FEWEST: Final = 3
_MANY: Final = 2 * SHORTEST
"""From so many levels on, changes are looked for in their course; before, each is compared with the last."""


class Trend(NamedTuple):
    """How figures go over the levels of a factor that come one after the other.

    Attributes
    ----------
    levels
        In their order.
    course
        A row for each effect and level, with the columns of `fsbench_kit.compare` against the first level that has
        the effect; that one has a ratio of 1.
    changes
        A row for each change of an effect, as of a comparison of what was ``before`` with what came ``since``:
        these are levels, and the change lies between ``earliest`` and ``latest`` with the confidence.
    """

    levels: list[str]
    course: pl.DataFrame
    changes: pl.DataFrame


def in_time(factor: str) -> bool:
    """Tell whether the levels of a factor come one after the other, as those of a kernel or a commit do.

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
        As in `fsbench_kit.compare`. Where the factor has no order in time, or fewer than three levels, or no cell
        has two of them, nothing is found.

    Notes
    -----
    Of fewer than ten levels, a change is where a level is decidedly better or worse than the one before, by the
    rules of every comparison. From ten levels on each level is one figure, and changes are where
    `fsbench_kit.stats.levels` cuts their course; the ratio and its interval are Welch's, of the levels after
    against those before, and p is corrected for all places and effects. So what differs from level to level by
    chance, as boots do, is in the noise.

    Raises
    ------
    RequestError
        As `fsbench_kit.compare` does.

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
    if len(names) < _MANY:
        changes = _decided(_one_per_effect(compare(dataset, factor, consecutive=True, **options)))
    else:
        changes = pl.DataFrame(list(_steps(course, names, confidence)), schema=_CHANGES, orient="row")
    size = pl.col("ratio").log().abs()
    return Trend(names, course, changes.sort(size, descending=True, maintain_order=True))


_CHANGES: Final = COLUMNS | dict.fromkeys(("before", "since", "earliest", "latest"), pl.String)


def _one_per_effect(comparison: pl.DataFrame) -> pl.DataFrame:
    return comparison.sort(PLACE, maintain_order=True).unique(OF_EFFECT, keep="first", maintain_order=True)


def _courses(
    dataset: Dataset, factor: str, names: Sequence[str], measured: pl.DataFrame, options: dict[str, Any]
) -> Iterator[pl.DataFrame]:
    """Yield the courses of the cells that have their first figures at the same level."""
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


def _decided(steps: pl.DataFrame) -> pl.DataFrame:
    """Return the levels that are decidedly other than the one before."""
    return steps.filter(pl.col("verdict").is_in(["better", "worse"])).with_columns(
        before="baseline", since="level", earliest="level", latest="level"
    )


def _steps(course: pl.DataFrame, names: Sequence[str], confidence: float) -> Iterator[dict[str, Any]]:
    """Yield the changes in the course of each effect that has a figure on enough levels."""
    withheld = {*codes("no ratio", "verdict withheld")} - {"BLOCKED_ORDER"}  # their order is the question
    doubted = pl.col("reasons").list.eval(pl.element().is_in(list(withheld))).list.any().fill_null(value=False)
    figures = course.filter(pl.col("value_candidate") > 0, ~doubted)
    effects = [of for _, of in figures.group_by(CELL, maintain_order=True) if of.height >= _MANY]
    for rows in effects:
        of = rows.sort(pl.col("level").replace_strict(names, range(len(names)), return_dtype=pl.Int64))
        own, values = of["level"].to_list(), of["value_candidate"].to_numpy()
        cut = levels(np.log(values), independent=True)
        ends = [*cut.starts.tolist(), len(own)]
        places = reach(np.log(values), cut, confidence, independent=True).tolist()
        for (earliest, latest), start, since, end in zip(places, ends, ends[1:], ends[2:], strict=False):
            found = welch_log(values[start:since], values[since:end], confidence)
            p = 1.0 if found.p is None else float(found.p)
            p_adjusted = min(1.0, p * (len(own) - 1) * len(effects))
            first = of.row(0, named=True)
            if p_adjusted >= 1 - confidence or max(found.high, 1 / found.low) <= first["margin"]:
                continue
            gain = found.estimate > 1
            yield first | {
                "baseline": _span(own[start:since]),
                "level": _span(own[since:end]),
                "value_baseline": None,
                "value_candidate": None,
                "n_baseline": since - start,
                "n_candidate": end - since,
                "ratio": float(found.estimate),
                "ci_low": float(found.low),
                "ci_high": float(found.high),
                "confidence": confidence,
                "p": p,
                "p_adjusted": p_adjusted,
                "method": "Welch's t over levels",
                "over": "levels",
                "verdict": "better" if gain == (first["better"] == "higher") else "worse",
                "before": own[since - 1],
                "since": own[since],
                "earliest": own[earliest],
                "latest": own[latest],
            }


def _span(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
