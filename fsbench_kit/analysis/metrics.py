"""Defines which metrics are compared, and which of their statistics represent a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.suggestions import known_instead
from fsbench_kit.model.vocabulary import EITHER_LATENCY, METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

STATISTICS: Final[dict[str, tuple[str, ...]]] = {
    "bandwidth": ("value",),
    "iops": ("value",),
    "file_rate": ("value",),
    "latency": ("mean", "p50", "p95", "p99"),
    "completion_latency": ("mean", "p50", "p95", "p99"),
    EITHER_LATENCY: ("p50", "p95", "p99"),
    "phase_latency": ("max",),
    "elapsed": ("value",),
    "elapsed_with_sync": ("value",),
    "rate": ("value",),
    "score": ("value",),
    "cost": ("value",),
    "cpu": ("value",),
    "capacity": ("value",),
}
"""The metrics that are compared by default, with the statistics that represent a run."""

PRIMARY: Final = ("bandwidth", "iops", "file_rate", "elapsed", "latency")
"""The metrics that can represent a cell; the first one that it has is used."""

_PACE: Final = (*PRIMARY, "completion_latency")
"""Metrics that are functions of one another in a cell: given the block size, the amount of work and the depth,
each follows from any other."""

_LATENCY: Final = ("latency", "completion_latency", EITHER_LATENCY)

_OF_PACE: Final = pl.col("metric").is_in(_PACE) & pl.col("statistic").is_in(["value", "mean"])
QUESTION: Final = (
    pl.when(_OF_PACE)
    .then(pl.lit("pace"))
    .when(pl.col("metric").is_in(_LATENCY))
    .then(pl.format("latency {}", "statistic"))
    .otherwise(pl.format("{} {}", "metric", "statistic"))
)
"""What a row asks about its cell; rows with the same question are one effect in several metrics."""

OF_EFFECT: Final = ("effect", "study", "level", "baseline")
"""The columns that rows of a comparison share if they are one effect in several metrics."""

_ORDER: Final = dict.fromkeys((*_PACE, *_LATENCY))
PLACE: Final = pl.col("metric").replace_strict(list(_ORDER), range(len(_ORDER)), default=len(_ORDER))
"""The rank of a metric; the first of several metrics represents an effect."""


def wanted(metrics: object = None, there: Iterable[str] = METRICS) -> pl.Expr:
    """Return a filter for the measurements of the given metrics, by default those of `STATISTICS`.

    Parameters
    ----------
    metrics
        The names of the metrics.
    there
        The metrics that exist, to suggest instead.

    Raises
    ------
    RequestError
        If a metric is unknown, or neither more nor less of it is better.
    """
    chosen = STATISTICS
    if metrics is not None:
        several = metrics if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
        chosen = {metric: STATISTICS.get(metric, ("value", "mean")) for metric in map(str, several)}
    unknown = sorted(set(chosen) - set(METRICS))
    if unknown:
        raise RequestError(f"{unknown[0]!r} is not a metric", hint=instead(unknown[0], there))
    if not chosen:
        raise RequestError("no metric was chosen", hint=instead("", there))
    neutral = sorted(metric for metric in chosen if METRICS[metric].better is None)
    if neutral:
        raise RequestError(f"neither more nor less of {neutral[0]!r} is better", hint=instead(neutral[0], there))
    alike = {statistics: [name for name in chosen if chosen[name] == statistics] for statistics in chosen.values()}
    return pl.any_horizontal(
        _is_one_of("metric", metrics) & _is_one_of("statistic", statistics)
        for statistics, metrics in alike.items()
    )


def no_figure(metrics: Sequence[str] | str | None, there: Iterable[str]) -> RequestError:
    """Return the error that no run has a figure of the given metrics, with those that exist."""
    several = [metrics] if isinstance(metrics, str) else metrics
    asked = " or ".join(several) if several else "what is compared by default"
    return RequestError(f"no run has a figure of {asked}", hint=instead(asked, there))


def instead(word: str, there: Iterable[str]) -> str:
    """Suggest the most similar metric, and list those that can be compared.

    >>> instead("bandwith", ["iops", "bytes", "bandwidth"])
    'Did you mean bandwidth? The choices are: bandwidth, iops.'
    """
    return known_instead(word, sorted(metric for metric in set(there) if METRICS[metric].better))


def _is_one_of(name: str, values: Sequence[str]) -> pl.Expr:
    return pl.any_horizontal(pl.col(name) == value for value in values)
