"""Computes how many runs a comparison needs, from the runs of a pilot or from an assumed variation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis import settings
from fsbench_kit.analysis.design import Design, Evidence
from fsbench_kit.analysis.groups import ROLES, comparable, groups_of
from fsbench_kit.data.dataset import UNMEASURED, Dataset
from fsbench_kit.model.errors import RangeError, RequestError
from fsbench_kit.stats import special

if TYPE_CHECKING:
    from collections.abc import Sequence


_SURE: Final = 0.8
"""The confidence that runs vary by no more than `cv_high`."""

COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    **{name: pl.Int64 if name in {"block_size", "file_size", "threads"} else pl.String for name in settings.CELL},
    "unit": pl.String,
    "pilot_runs": pl.Int64,
    "cv": pl.Float64,
    "cv_high": pl.Float64,
    "for_half_width": pl.Int64,
    "for_effect": pl.Int64,
    "for_equivalence": pl.Int64,
}


def sample_size(
    pilot: Dataset | None = None,
    *,
    cv: float | Sequence[float] | None = None,
    half_width: float = 0.05,
    effect: float = 0.10,
    margin: float = 1.05,
    power: float = 0.8,
    confidence: float = 0.95,
    factor: str = "filesystem",
) -> pl.DataFrame:
    """Return how many runs a group needs.

    Parameters
    ----------
    pilot
        Existing runs, at least two of some cell and level.
    cv
        Alternatively, the variation between runs: coefficients of variation, 0.05 for 5 %.
    half_width
        How far the interval of the ratio should extend in each direction, 0.05 for 5 %.
    effect
        The difference to detect, 0.10 for 10 %.
    margin
        The largest ratio that counts as equal.
    power
        How often an existing difference or equality should be shown.
    confidence
        Confidence level of the interval.
    factor
        The factor by which the pilot's runs are to be compared.

    Returns
    -------
    pl.DataFrame
        One row for each cell of the pilot, or for each `cv`; the columns are `COLUMNS`. ``unit`` is what a
        comparison of such runs is over and what ``for_*`` count: ``run``, ``round``, ``launch`` or ``host``, each
        of which has a run of each group; or ``boot`` or ``launch of one group``, counted per group. ``cv`` is the
        variation among such units of one level, pooled over the levels, or that of the ratios between units of
        both groups. The few runs of a pilot may vary less than later ones; ``cv_high`` is an upper bound with a
        confidence of 80 %, and the numbers are computed from it. Without a pilot, both are the given one.

    Raises
    ------
    RequestError
        If neither or both are given, if a pilot never has two runs of the same, or if a number is out of range.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> fsb.sample_size(cv=[0.02, 0.05]).select("cv", "for_half_width", "for_effect").rows()
    [(0.02, 3, 3), (0.05, 10, 6)]
    """
    if (pilot is None) == (cv is None):
        raise RequestError("runs are planned from a pilot or from a variation", hint="Give one of the two.")
    if pilot is not None:
        found = _variation(pilot, factor)
    else:
        given: list[Any] = [cv] if isinstance(cv, int | float | str) else list(cv or ())
        wrong = [value for value in given if isinstance(value, str) or not value >= 0]
        if wrong:
            raise RangeError(f"a CV of {wrong[0]} is not 0 or more", hint="Write 0.05 for 5 %.")
        schema = {"cv": pl.Float64, "cv_high": pl.Float64}
        found = pl.DataFrame({"cv": given, "cv_high": given}, schema=schema).with_columns(unit=pl.lit("run"))
    for what, value in (("half width", half_width), ("difference to detect", effect)):
        if not 0 < value < math.inf:
            raise RangeError(f"a {what} of {value:.3g} cannot be planned for", hint="Write 0.05 for 5 %.")
    try:
        planned = [
            (
                stats.runs_for_width(sd, 1 + half_width, confidence, pairs=pairs),
                stats.runs_for_effect(sd, 1 + effect, power, confidence, pairs=pairs),
                stats.runs_for_equivalence(sd, margin, power, pairs=pairs),
            )
            for high, unit in found.select("cv_high", "unit").rows()
            for sd, pairs in [(_log_sd(high), unit not in _OF_ONE_GROUP)]
        ]
    except ValueError as error:
        raise RequestError(f"this cannot be planned with: {error}") from None
    names = ("for_half_width", "for_effect", "for_equivalence")
    table = found.hstack(pl.DataFrame(planned, schema=dict.fromkeys(names, pl.Int64), orient="row"))
    return table.select(name for name in COLUMNS if name in table.columns)


def widths(cv: Sequence[float], *, confidence: float = 0.95, most: int = 100, pairs: bool = False) -> pl.DataFrame:
    """Return how narrow an interval becomes with more runs.

    Parameters
    ----------
    cv
        Coefficients of variation between runs.
    confidence
        Confidence level of the interval.
    most
        The largest number of runs of a group.
    pairs
        Whether runs are paired, so that ``cv`` is that of their ratios.

    Returns
    -------
    pl.DataFrame
        Columns ``cv``, ``runs`` and ``half_width``, 0.05 for 5 %: how far the interval of a ratio typically
        extends upwards.
    """
    runs = np.unique(np.geomspace(2, most, 60).round().astype(int))
    groups = 1 if pairs else 2
    quantiles = special.stdtrit(groups * (runs - 1), (1 + confidence) / 2) * np.sqrt(groups / runs)
    rows = [
        (value, int(n), float(np.expm1(_log_sd(value) * quantile)))
        for value in cv
        for n, quantile in zip(runs, quantiles, strict=True)
    ]
    schema = {"cv": pl.Float64, "runs": pl.Int64, "half_width": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _variation(pilot: Dataset, factor: str) -> pl.DataFrame:
    """Return for each cell how much the units of its comparison vary, in logarithms."""
    figures = comparable(pilot, factor).filter(~UNMEASURED, pl.col("value") > 0)
    groups = groups_of(figures, factor, None)
    design = Design(groups, Evidence(pilot, factor))
    planned = design.plan.runs.join(design.rows, on="pair")
    group = pl.concat(
        planned.filter(role=number).join(
            groups.pairs.select(group=role).with_row_index("row").cast({"row": pl.Int64}), on="row"
        )
        for number, role in enumerate(ROLES)
    )
    logs = groups.measurements.select("group", "run_id", *settings.CELL, "level", log=pl.col("value").log())
    of_units = group.filter(pl.col("method").is_in(list(_PAIRS))).join(logs, on=["group", "run_id"])
    by = pl.when(pl.col("method") == "units").then("unit").otherwise(pl.col("block").cast(pl.String))
    within = pl.when(pl.col("method") != "units").then("unit")
    of_role = [pl.col("log").filter(pl.col("role") == role).mean() for role in range(len(ROLES))]
    unit = (
        pl.when(pl.col("method") != "units").then(pl.lit("round")).otherwise(pl.col("unit").str.split(" ").list[0])
    )
    ratios = of_units.group_by(
        *settings.CELL, "row", within.alias("within"), by.alias("by"), maintain_order=True
    ).agg(log=of_role[1] - of_role[0], unit=unit.first(), runs=pl.len())
    strata = (
        group.filter(pl.col("method").is_in(["values", "strata"]))
        .select("group", "run_id", within="unit")
        .unique()
    )
    means = group.filter(method="means").select("group", "run_id", mean="unit").unique(maintain_order=True)
    alone = logs.join(strata, on=["group", "run_id"], how="left", maintain_order="left")
    alone = alone.join(ratios.select(settings.CELL), on=settings.CELL, how="anti", nulls_equal=True)
    alone = alone.join(means, on=["group", "run_id"], how="anti")
    runs = alone.select(*settings.CELL, "level", "within", "log", unit=pl.lit("run"), runs=pl.lit(1, pl.UInt32))
    of_means = (
        means.join(logs, on=["group", "run_id"], maintain_order="left")
        .group_by(*settings.CELL, "level", "mean", maintain_order=True)
        .agg(pl.col("log").mean(), runs=pl.len(), within=pl.lit(None, pl.String))
        .with_columns(
            unit=pl.when(pl.col("mean").str.starts_with("boot ")).then(pl.lit("boot")).otherwise(pl.lit(_LAUNCH))
        )
    )
    varied = (
        pl.concat(
            [
                ratios.with_columns(level=pl.col("row").cast(pl.String)).select(runs.columns),
                of_means.select(runs.columns),
                runs,
            ]
        )
        .group_by(*settings.CELL, "unit", "level", "within", maintain_order=True)
        .agg(pl.col("runs").sum(), freedom=(pl.len() - 1).cast(pl.Int64), variance=pl.col("log").var())
        .filter(pl.col("freedom") > 0)
        .group_by(*settings.CELL, "unit", maintain_order=True)
        .agg(
            pilot_runs=pl.col("runs").sum().cast(pl.Int64),
            variance=(pl.col("variance") * pl.col("freedom")).sum() / pl.col("freedom").sum(),
            freedom=pl.col("freedom").sum(),
        )
        .filter(pl.col("variance") > 0)
    )
    if varied.is_empty():
        raise RequestError(
            "no two of these runs were made alike and differ in a figure, so nothing is known of how runs vary",
            hint="Make a pilot of some runs in each group, or say how much runs vary.",
        )
    freedom, variance = varied["freedom"].to_numpy(), varied["variance"].to_numpy()
    high = variance * freedom / special.chdtri(freedom, _SURE)
    return varied.drop("freedom", "variance").with_columns(
        cv=pl.Series([_cv(value) for value in variance]), cv_high=pl.Series([_cv(value) for value in high])
    )


_LAUNCH: Final = "launch of one group"
_OF_ONE_GROUP: Final = ("run", "boot", _LAUNCH)
"""The units with runs of only one group; the others have runs of both."""

_PAIRS: Final = ("rounds", "strata of rounds", "units")
"""The ways of comparing whose units have runs of both groups."""


def _cv(log_variance: float) -> float:
    return math.sqrt(math.expm1(log_variance))


def _log_sd(cv: float) -> float:
    return math.sqrt(math.log1p(cv**2))
