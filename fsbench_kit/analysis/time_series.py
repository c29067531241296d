"""Analyses the course of a run: where its level changes, when it becomes steady, where it stalls.

All results are about single runs. They show whether one figure can represent a run, and say nothing about the
next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.data.dataset import UNMEASURED, Dataset
from fsbench_kit.model.vocabulary import METRICS, OF_MACHINE
from fsbench_kit.stats import levels, steady_state, within_run
from fsbench_kit.stats.changes import SHORTEST
from fsbench_kit.stats.series import BATCHES, MIN_FIGURES
from fsbench_kit.stats.steady import WINDOW

if TYPE_CHECKING:
    from fsbench_kit.stats.result import Floats, Ints

PREFERRED: Final = ("completion_latency", "latency", "bandwidth", "iops")
"""The metrics that are analysed by default: the first one that a run has."""

STALL: Final = 10.0
"""How many times worse than the median of its run a figure must be to count as a stall."""

GAP: Final = 2.5
"""How many times longer than usual the time between two figures must be to count as a stall."""

_POINTS: Final = 250
_CUT: Final = 2000
"""The maximum number of figures to search for changes, which takes quadratic time; more are averaged first."""

OF_SERIES: Final = [name for name in settings.CELL if name not in {"scope", "part", "statistic", "metric"}]
"""The columns that distinguish the work of series."""


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """Figures of runs over time, and what was found in them, as frames with a common column ``series``.

    Attributes
    ----------
    runs
        One row for each series: its cell, ``level``, ``round`` and ``order``, the number of ``figures``, their
        ``median``; the ``mean`` that the run tends to, with ``low`` and ``high``; the number of ``changes`` of
        level; whether it is ``steady`` at its end, and since when without a break (``steady_since``); the number
        of ``stalls``, and the ``longest``. Values that would take more figures are null. A final figure that spans
        less than half the usual interval, such as fio adds, is left out.
    points
        ``start``, ``end``, ``value``: the figures; in long series, means of several, with ``lowest`` and
        ``highest``.
    batches
        ``start``, ``end``, ``value``: the means of ten equal parts of the run.
    stretches
        ``start``, ``end``, ``value``: stretches with a constant level, and their mean.
    stalls
        ``start``, ``end``, ``value``: figures far worse than the median; the value is null if there was no figure.
    """

    runs: pl.DataFrame
    points: pl.DataFrame
    batches: pl.DataFrame
    stretches: pl.DataFrame
    stalls: pl.DataFrame


_SPAN: Final = {"series": pl.Int64, "start": pl.Float64, "end": pl.Float64, "value": pl.Float64}
_POINT: Final = {**_SPAN, "lowest": pl.Float64, "highest": pl.Float64}
_FOUND: Final[dict[str, type[pl.DataType]]] = {
    "figures": pl.Int64,
    "median": pl.Float64,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "changes": pl.Int64,
    "steady": pl.Boolean,
    "steady_since": pl.Float64,
    "stalls": pl.Int64,
    "longest": pl.Float64,
}


def time_series(dataset: Dataset, factor: str = "filesystem", *, metric: str | None = None) -> TimeSeries:
    """Analyse the series of runs.

    Parameters
    ----------
    dataset
        The runs. Failed runs, and those before the first round, are left out.
    factor
        A column of the runs or the key of a setting, whose values are in ``level``.
    metric
        By default the first of `PREFERRED` that a run has. Cumulative figures, as from fio's
        ``--status-interval``, are left out, because they always become steady. One of
        `fsbench_kit.model.vocabulary.OF_MACHINE` selects what a launch sampled during the run.

    Returns
    -------
    TimeSeries
        The result, without rows if no run has such a series.
    """
    wanted = [metric] if metric is not None else list(PREFERRED)
    rank = pl.col("metric").replace_strict(wanted, range(len(wanted)), return_dtype=pl.Int64)
    of_machine = metric in OF_MACHINE
    cells = settings.operations(dataset, factor, whole=of_machine).filter(~UNMEASURED, status="ok")
    known = (
        dataset.series.filter(pl.col("metric").is_in(wanted), ~pl.col("statistic").str.starts_with("cumulative_"))
        .filter(rank == rank.min().over("run_id", "operation"))
        .join(cells, on=["run_id"] if of_machine else ["run_id", "operation"])
        .sort("study", "order", "started_at", "source", nulls_last=True, maintain_order=True)
    )
    parts: dict[str, list[dict[str, Any]]] = {name: [] for name in TimeSeries.__slots__}
    key = ["run_id", "part", "operation", "metric", "statistic"]
    for number, (_, rows) in enumerate(known.group_by(key, maintain_order=True)):
        _look(number, rows, parts)
    first = {
        name: known.schema[name]
        for name in ("run_id", "part", "statistic", "metric", *OF_SERIES, "level", "round")
    }
    schemas: dict[str, dict[str, Any]] = {
        "runs": {"series": pl.Int64, **first, "order": pl.Int64, **_FOUND},
        "points": _POINT,
        "batches": _SPAN,
        "stretches": _SPAN,
        "stalls": _SPAN,
    }
    return TimeSeries(
        **{name: pl.DataFrame(rows, schema=schemas[name], orient="row") for name, rows in parts.items()}
    )


@dataclass(frozen=True, slots=True)
class _Series:
    """Figures over time: when each began and ended, and its value."""

    number: int
    starts: Floats
    ends: Floats
    values: Floats
    step: float

    def span(self, first: int, last: int, value: float | None) -> dict[str, Any]:
        """Return a row for the time from the start of one figure to the end of another."""
        start, end = float(self.starts[first]), float(self.ends[last])
        return {
            "series": self.number,
            "start": start,
            "end": end,
            "value": None if value is None else float(value),
        }


def _series(number: int, rows: pl.DataFrame) -> _Series:
    """Return figures in order of time, without a last one that spans less than half the usual interval."""
    ordered = rows.sort("time", maintain_order=True)
    ends, values = ordered["time"].to_numpy(), ordered["value"].to_numpy()
    step = float(np.median(np.diff(ends, prepend=0.0)))
    starts = np.concatenate([[0.0 if ends[0] < (1 + GAP) * step else ends[0] - step], ends[:-1]])
    whole = values.size - int(values.size > 1 and ends[-1] - starts[-1] < step / 2)
    return _Series(number, starts[:whole], ends[:whole], values[:whole], step)


def _look(number: int, rows: pl.DataFrame, parts: dict[str, list[dict[str, Any]]]) -> None:
    """Add the findings about one series."""
    series = _series(number, rows)
    values = series.values
    found: dict[str, Any] = {"figures": values.size, "median": float(np.median(values))}
    if values.size >= 2 * SHORTEST:
        together = -(-values.size // _CUT)
        coarse = values[: values.size // together * together].reshape(-1, together).mean(axis=1)
        cut = levels(coarse)
        parts["stretches"] += _spans(series, cut.starts * together, cut.means)
        found["changes"] = cut.starts.size - 1
    if values.size >= MIN_FIGURES:
        size, left = divmod(values.size, BATCHES)
        means = values[left:].reshape(BATCHES, size).mean(axis=1)
        batches = _spans(series, left + size * np.arange(BATCHES), means)
        parts["batches"] += batches
        estimate = within_run(values)
        if estimate.low == estimate.low:  # without spread there is no interval
            found |= {"low": max(0.0, float(estimate.low)), "high": float(estimate.high)}  # no figure is below 0
        found["mean"] = float(estimate.estimate)
        if (means > 0).all():
            since = _steady_since(means)
            found["steady"] = since is not None
            found["steady_since"] = None if since is None else batches[since]["start"]
    stalls = _stalls(series, METRICS[rows["metric"][0]].better)
    longest = max((stall["end"] - stall["start"] for stall in stalls), default=None)
    parts["stalls"] += stalls
    parts["points"] += _points(series)
    parts["runs"].append(
        {**rows.row(0, named=True), **found, "series": number, "stalls": len(stalls), "longest": longest}
    )


def _steady_since(means: Floats) -> int | None:
    """Return the batch from which on all windows are steady to the end; ``None`` if the last one is not."""
    ends = range(WINDOW, means.size + 1)
    unsteady = [first for first, end in enumerate(ends) if not steady_state(means[:end]).steady]
    since = unsteady[-1] + 1 if unsteady else 0
    return since if since < len(ends) else None


def _spans(series: _Series, cuts: Ints, means: Floats) -> list[dict[str, Any]]:
    """Return stretches that begin at the given figures and end where the next one begins."""
    lasts = [*(cuts[1:] - 1), series.values.size - 1]
    return [series.span(first, last, mean) for first, last, mean in zip(cuts, lasts, means, strict=True)]


def _stalls(series: _Series, better: str | None) -> list[dict[str, Any]]:
    """Return figures far worse than the median, with adjacent ones merged, and times without any figure."""
    values, median = series.values, float(np.median(series.values))
    if better == "lower":
        far, worst = values >= STALL * median, np.max
    else:
        far, worst = values <= median / STALL, np.min
    far &= better is not None and median > 0
    silent = (series.ends - series.starts) > GAP * series.step
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (far | silent).astype(int), [0]])))
    return [
        series.span(first, after - 1, worst(values[first:after]) if far[first:after].any() else None)
        for first, after in edges.reshape(-1, 2)
    ]


def _points(series: _Series) -> list[dict[str, Any]]:
    """Return the figures; in a long series, the mean, lowest and highest of equally many of them."""
    groups = np.array_split(np.arange(series.values.size), min(series.values.size, _POINTS))
    return [
        series.span(group[0], group[-1], values.mean())
        | {"lowest": float(values.min()), "highest": float(values.max())}
        for group in groups
        for values in [series.values[group]]
    ]
