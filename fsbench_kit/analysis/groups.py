"""Which figures stand side by side: of each cell, the runs of a level and those of its baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.confounders import OF_A_SIDE, Side
from fsbench_kit.analysis.settings import CELL, cells
from fsbench_kit.data.dataset import UNMEASURED
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from fsbench_kit.analysis.confounders import Confounders
    from fsbench_kit.analysis.settings import Where
    from fsbench_kit.data.dataset import Dataset

OTHER: Final = "_candidate"
"""What ends the names of the candidate's columns in the frame of `side_by_side`."""


def figures_of(
    dataset: Dataset,
    factor: str,
    baseline: str | None,
    wanted: pl.DataFrame,
    *,
    where: Where | None = None,
    include_failed: bool,
) -> pl.DataFrame:
    """Return the figures that can be compared, each with its cell, its level and its ``base``: that of its study.

    Parameters
    ----------
    dataset, factor, baseline, where, include_failed
        As in `fsbench_kit.compare`.
    wanted
        Metrics and statistics.

    Raises
    ------
    RequestError
        If the factor, the baseline or a value of ``where`` is not in the data.
    """
    figures = cells(dataset, factor, where).join(
        wanted, on=["metric", "statistic"], how="semi", maintain_order="left"
    )
    if not include_failed:
        figures = figures.filter(pl.col("status") == "ok")
    levels = figures.filter(~UNMEASURED).select("study", "level").unique()
    names = sorted(levels["level"].unique())
    if baseline is not None and baseline not in names:
        raise RequestError(
            f"{baseline!r} is not a {factor} of these runs",
            hint=f"Choose one of: {', '.join(names) or 'none is known'}.",
        )
    if not names and where:
        raise RequestError(
            f"no run that counts has a {factor} and all of what was chosen",
            hint="Choose less: each value occurs, but not with all the others.",
        )
    if not names:
        raise RequestError(
            f"no {factor} is known of these runs",
            hint="Name a column of their table, or a setting, as the factor. Failed runs count only if asked for.",
        )
    is_ext4 = pl.col("level") == "ext4"
    default = pl.when(is_ext4.any()).then(pl.lit("ext4")).otherwise(pl.col("level").min())
    bases = levels.group_by("study").agg(base=default if baseline is None else pl.lit(baseline))
    return figures.join(bases, on="study", how="left", nulls_equal=True, maintain_order="left")


def left_out(figures: pl.DataFrame) -> dict[tuple[object, ...], dict[str, int]]:
    """Return how many runs of a cell and level came before those that count: key -> stage -> runs."""
    found: dict[tuple[object, ...], dict[str, int]] = {}
    counted = figures.filter(UNMEASURED).group_by(*CELL, "level", "stage", maintain_order=True).len()
    for *key, stage, runs in counted.rows():
        found.setdefault(tuple(key), {})[stage] = runs
    return found


def side_by_side(figures: pl.DataFrame, confounders: Confounders) -> pl.DataFrame:
    """Return one row for each cell and level that can be set beside the cell's baseline.

    Returns
    -------
    pl.DataFrame
        The columns of `CELL`, in the order in which cells come, and of each side ``level``, ``n``, the lists
        ``run_id``, ``value``, ``round``, ``host`` of its runs and what `_SIDE` tells of them. The candidate's end
        in `OTHER`.
    """
    measured = confounders.marked(figures.filter(~UNMEASURED))
    sides = (
        measured.group_by(*CELL, "base", "level", maintain_order=True)
        .agg("run_id", "value", "round", "host", *_SIDE, *OF_A_SIDE, n=pl.len().cast(pl.Int64))
        .with_row_index("cell")
        .with_columns(pl.col("cell").min().over(CELL))
    )
    of_base = pl.col("level") == pl.col("base")
    return (
        sides.filter(of_base)
        .join(sides.filter(~of_base).drop(CELL), on="cell", suffix=OTHER)
        .sort("cell", f"level{OTHER}")
    )


_SIDE: Final = (
    pl.col("unit").first(),
    (pl.col("state") == "missing").any().alias("missing"),
    (pl.col("value") <= 0).any().alias("zero"),
    (pl.col("state") == "censored").any().alias("censored"),
    pl.col("low", "high").first(),  # of the only run, where it is the only one
    pl.col("stopping_rule").drop_nulls().unique(),
    pl.col("averaged_over").fill_null(1).unique().sort(),  # a log is of one run, unless its study says otherwise
    pl.col("value").sort_by("started_at").alias("in_time"),
    # A line over time means something where the times are known, and all runs were made on one machine.
    (pl.col("started_at").is_not_null().all() & (pl.col("host").n_unique() == 1)).alias("timed"),
    (pl.col("round").is_not_null().all() & pl.col("round").is_unique().all()).alias("by_round"),
)


def sides_of(pairs: pl.DataFrame) -> list[tuple[Side, Side]]:
    """Return both sides of each row of `side_by_side`, as `Confounders.between` takes them."""
    names = ("level", "run_id", "cached", "past_direct", "unsynced", "submission", "unit_assumed")
    baseline, candidate = (
        [
            Side(level, frozenset(runs), *given)
            for level, runs, *given in pairs.select(f"{name}{suffix}" for name in names).rows()
        ]
        for suffix in ("", OTHER)
    )
    return list(zip(baseline, candidate, strict=True))
