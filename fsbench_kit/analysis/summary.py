"""Summarises ratios over many hosts, studies or other units by random effects, as a sample of such units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis import shapes
from fsbench_kit.analysis.confounders import check
from fsbench_kit.analysis.design import Design, Evidence
from fsbench_kit.analysis.estimates import CompareOptions
from fsbench_kit.analysis.estimation import estimate
from fsbench_kit.analysis.groups import Groups, comparable, groups_of, in_groups
from fsbench_kit.analysis.settings import CELL, Where
from fsbench_kit.analysis.verdict import codes
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.order import in_order
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.stats.student import half_width_by_t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.data.dataset import Dataset, LazyDataset
    from fsbench_kit.data.labelled import Labelled
    from fsbench_kit.stats.result import Floats

_TYPES: Final = {"block_size": pl.Int64, "file_size": pl.Int64, "threads": pl.Int64}

COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    **{name: _TYPES.get(name, pl.String) for name in CELL},
    "better": pl.String,
    "factor": pl.String,
    "baseline": pl.String,
    "level": pl.String,
    "over": pl.String,
    "units": pl.List(pl.String),
    "left_out": pl.List(pl.String),
    "ratio": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "confidence": pl.Float64,
    "prediction_low": pl.Float64,
    "prediction_high": pl.Float64,
    "spread": pl.Float64,
}


def summarise(
    dataset: Dataset | LazyDataset | Labelled,
    over: str = "host",
    factor: str = "filesystem",
    baseline: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    where: Where | None = None,
    confidence: float = 0.95,
    include_failed: bool = False,
) -> pl.DataFrame:
    """Compare groups on each host, or in each study, and summarise the ratios for hosts or studies in general.

    Parameters
    ----------
    dataset, factor, baseline, metrics, where, confidence, include_failed
        As in `fsbench_kit.compare`.
    over
        What the units are: ``host``, ``study``, ``kernel`` or another fact of runs.

    Returns
    -------
    pl.DataFrame
        One row for each cell and level with two or more units that have an interval; the columns are `COLUMNS`.
        ``ratio`` is the mean of the units' ratios (in logarithms) with its interval. ``prediction_*`` is where the
        ratio of another unit would lie, if measured in the same way; it takes three or more units. ``spread`` is
        how much ratios vary between units, as a coefficient of variation without the noise of each. ``left_out``
        lists units whose groups were compared without an interval, or whose verdict is withheld.

    Raises
    ------
    RequestError
        As for `fsbench_kit.compare`; or if ``over`` is not a fact of these runs, or is the factor.

    Notes
    -----
    The method is random effects with the interval of Hartung and Knapp, see `fsbench_kit.stats.random_effects`. It
    treats the units as a sample of those of interest. The noise of each unit is that of all units, for the number
    of its runs: weights from the noise of a few runs alone would cover 91 % (see ``docs/coverage.md``). Runs are
    never pooled over units. Both intervals are widened by the mean rounding of the units.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> fsb.summarise(data, over="host").height  # one host tells nothing of others
    0
    """
    dataset, factor, baseline = in_groups(dataset, factor, baseline, metrics=metrics, where=where)
    measurements = comparable(dataset, factor, metrics, where=where, include_failed=include_failed)
    if over == factor or over not in measurements.columns:
        raise RequestError(
            f"ratios of {factor} cannot be summarised over {over!r}",
            hint="Summarise over host, study, kernel or tool_version, unless that is the factor.",
        )
    keys = [name for name in CELL if name != over]
    of_units = measurements.filter(pl.col(over).is_not_null())
    if baseline in measurements["level"] and baseline not in of_units["level"]:
        return pl.DataFrame(schema=COLUMNS)
    groups = groups_of(of_units, factor, baseline, [*keys, over])
    options = CompareOptions(factor=factor, confidence=confidence)
    found = _of_units(groups, Evidence(dataset, factor), over, options)
    by = [*keys, "baseline", "level"]
    rows = [
        dict(zip(by, names, strict=True)) | _over_units(units, confidence)
        for names, units in found.group_by(by, maintain_order=True)
        if units["usable"].sum() >= _FEWEST
    ]
    known = {"factor": factor, "over": over, "confidence": confidence}
    return pl.DataFrame([row | known | {"better": METRICS[row["metric"]].better} for row in rows], schema=COLUMNS)


_FEWEST: Final = 2
"""The smallest number of units for a summary; a prediction takes one more."""


_OF_UNIT: Final = ("estimate", "standard_error", "per_unit", "degrees", "down", "up")


def _of_units(groups: Groups, evidence: Evidence, over: str, options: CompareOptions) -> pl.DataFrame:
    """Compare the groups in each unit; it is usable if it has a standard error, and no verdict is withheld."""
    design = Design(groups, evidence)
    remarks = check(design, footnotes=False)
    found = estimate(design, remarks.with_code(codes("no ratio")), options)
    shapes.look(groups, found)
    unfit = codes("no ratio", "verdict withheld")
    usable = np.isfinite(found.numbers["ratio"]) & (found.numbers["standard_error"] > 0)
    usable &= np.isfinite(found.numbers["down"] + found.numbers["up"])
    for given in (remarks, found.remarks):
        usable[given.with_code(unfit).to_numpy()] = False
    numbers = {name: found.numbers[name] for name in _OF_UNIT}
    return groups.of("baseline").with_columns(
        groups.of("candidate", "level").to_series(),
        **{name: pl.Series(values) for name, values in numbers.items()},
        usable=pl.Series(usable),
        unit=pl.col(over).cast(pl.String),
        baseline="level",
    )


def _over_units(units: pl.DataFrame, confidence: float) -> dict[str, Any]:
    """Return the columns computed from the units of one cell."""
    used = units.filter("usable")
    down, up = (float(np.mean(used[name].to_numpy())) for name in ("down", "up"))
    variances = _variances(used)
    found = stats.random_effects(used["estimate"].to_numpy(), variances, confidence)
    seen = np.sqrt(found.variance + variances.mean() + np.square(found.standard_error))
    reach = half_width_by_t(seen, used.height - 1, confidence) if used.height > _FEWEST else np.nan
    ends = {
        "ci_low": found.low - down,
        "ci_high": found.high + up,
        "prediction_low": found.mean - reach - down,
        "prediction_high": found.mean + reach + up,
    }
    return {
        "units": in_order(used["unit"]),
        "left_out": in_order(units.filter(~pl.col("usable"))["unit"]),
        "ratio": float(np.exp(found.mean)),
        "spread": float(np.sqrt(np.expm1(found.variance))),
        **{name: float(np.exp(end)) if np.isfinite(end) else None for name, end in ends.items()},
    }


def _variances(units: pl.DataFrame) -> Floats:
    """Return the variance of each unit's log ratio from the noise of all, as that of few runs is uncertain."""
    error, per_unit, degrees = (units[name].to_numpy() for name in ("standard_error", "per_unit", "degrees"))
    variances: Floats = per_unit * np.average(np.square(error) / per_unit, weights=degrees)
    return variances
