"""Measures how precise the comparisons of a running launch are, for the rule that decides whether to continue.

::

    python -m fsbench_kit.launch.precision STUDY ROUNDS

It runs as a separate process between two rounds, so that the process that makes the runs holds no frames in
memory, which would leave less memory for the runs.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.comparison import COLUMNS, compare
from fsbench_kit.analysis.metrics import PRIMARY
from fsbench_kit.analysis.settings import CELL
from fsbench_kit.data import reading
from fsbench_kit.launch.plan import read_plan
from fsbench_kit.launch.stopping import Precision
from fsbench_kit.model.errors import InputError, RequestError

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset

_FIGURE: Final = tuple(key for key in CELL if key not in ("metric", "statistic"))


def precision(study: Path, rounds: int) -> Precision:
    """Compute the intervals of the ratios of all targets to the first, one for each figure of each workload.

    Parameters
    ----------
    study
        The folder of a launch.
    rounds
        How many rounds to include.
    """
    plan = read_plan(study / "plan.toml", elsewhere=True)
    try:
        dataset = reading.read(study)
    except InputError:  # no run has a figure
        return Precision(None, None, 0, 0)
    made = dataset.filter(pl.col("round") <= rounds)
    comparisons = pl.concat(
        _primary(made.filter(pl.col("workload") == workload.name), plan.target[0].name).with_columns(
            workload=pl.lit(workload.name)
        )
        for workload in plan.workload
    )
    known = comparisons.drop_nulls("half_width").sort("half_width", descending=True)
    if known.is_empty():
        return Precision(None, None, 0, comparisons.height)
    widest = known.row(0, named=True)
    name = "{workload}: {metric} of {operation}, {level} against {baseline}".format(**widest)
    return Precision(widest["half_width"], name, known.height, comparisons.height - known.height)


def _primary(runs: Dataset, baseline: str) -> pl.DataFrame:
    """Return the comparisons of a workload, with one metric for each figure, and the reach of their intervals."""
    try:
        comparison = compare(runs, "target", baseline, metrics=PRIMARY)
    except RequestError:  # the first target has no valid run
        comparison = pl.DataFrame(schema=COLUMNS)
    rank = pl.col("metric").replace_strict(list(PRIMARY), range(len(PRIMARY)))
    return (
        comparison.filter(pl.col("statistic").is_in(["value", "mean"]))
        .filter(rank == rank.min().over(*_FIGURE, "level"))
        .with_columns(half_width=(pl.col("ci_high") / pl.col("ci_low")).log() / 2)
    )


def main() -> None:
    """Print the precision as JSON on standard output."""
    study, rounds = sys.argv[1:]
    sys.stdout.write(json.dumps(asdict(precision(Path(study), int(rounds)))))


if __name__ == "__main__":
    main()
