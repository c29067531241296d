"""Formats figures for the answer to a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fsbench_kit.model.units import from_to, humanise
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from fsbench_kit.claims.figures import Figure
    from fsbench_kit.data.study import ClaimFacts


def shown(found: Figure, metric: str) -> str:
    """Format a figure, or its known bounds."""
    if found.value is not None:
        return value_text(found.value, metric)
    match found.low, found.high:
        case float(low), None:
            return f"at least {value_text(low, metric)}"
        case None, float(high):
            return f"at most {value_text(high, metric)}"
        case float(low), float(high):
            return from_to(value_text(low, metric), value_text(high, metric))
    return "nothing"


def metric_of(claim: ClaimFacts) -> str:
    """Return the metric of a claim's figures; ratios of two figures have none."""
    return "" if claim.over == "ratio" else str(claim.metric)


_SHARES: Final = ("cpu", "capacity", "capacity_change")


def value_text(value: float, metric: str) -> str:
    """Format a value of a metric, or a plain number."""
    if not metric:
        return f"{value:.3g}"
    if metric in _SHARES:
        return f"{100 * value:.4g} %"
    text = humanise(value, METRICS[metric].unit)
    return f"{text.removesuffix('/s')} IOPS" if metric == "iops" else text
