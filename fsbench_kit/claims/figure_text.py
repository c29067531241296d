"""How figures are written in the answer to a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from fsbench_kit.claims.figures import Figure
    from fsbench_kit.data.study import ClaimFacts


def shown(found: Figure, metric: str) -> str:
    """Write a figure, or what is known of it."""
    if found.value is not None:
        return value_text(found.value, metric)
    match found.low, found.high:
        case float(low), None:
            return f"at least {value_text(low, metric)}"
        case None, float(high):
            return f"at most {value_text(high, metric)}"
        case float(low), float(high):
            return f"{value_text(low, metric)} to {value_text(high, metric)}"
    return "nothing"


def metric_of(claim: ClaimFacts) -> str:
    """Return the metric that a claim's figures are of; those that are a ratio of two are of none."""
    return "" if claim.over == "ratio" else str(claim.metric)


_SHARES: Final = ("cpu", "capacity", "capacity_change")


def value_text(value: float, metric: str) -> str:
    """Write a value of a metric, or of none."""
    if not metric:
        return f"{value:.3g}"
    if metric in _SHARES:
        return f"{100 * value:.4g} %"
    text = humanise(value, METRICS[metric].unit)
    return f"{text.removesuffix('/s')} IOPS" if metric == "iops" else text
