"""What the figures of an iozone log are of, and how they are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.model.units import Rounding


class Measure(NamedTuple):
    """What a figure measures, and how it is printed.

    A 0 of what `counts` is a figure like any other.
    """

    metric: str
    statistic: str
    unit: str
    rounding: Rounding
    counts: bool = False


BANDWIDTH: Final = Measure("bandwidth", "value", "KiB/s", "down")
IOPS: Final = Measure("iops", "value", "1/s", "down")
LATENCY: Final = Measure("latency", "mean", "us", "down")
CPU: Final = Measure("cpu", "value", "%", "nearest")


def table_measure(given: Mapping[str, str]) -> Measure:
    """Return what the figures of a table are of under the options of a run: kB/s, unless one says otherwise."""
    if given.get("iozone.-N") == "true":
        return LATENCY
    return IOPS if given.get("iozone.-O") == "true" else BANDWIDTH


def add(
    run: RunBuilder,
    place: Place,
    measure: Measure,
    printed: Printed | None,
    *,
    ran: bool = False,
    samples: int | None = None,
    within: Token | None = None,
) -> int | None:
    """Add a figure, and return the number of the one that stands for the same thing already.

    A 0 is no figure, but where the test `ran` it says that the figure is too small to show.
    """
    first = run.first(place, measure.metric, measure.statistic)
    run.add(
        place,
        measure.metric,
        printed,
        measure.statistic,
        unit=measure.unit,
        rounding=measure.rounding,
        name=measure.metric,
        zero="measured" if measure.counts else "censored" if ran else "missing",
        samples=samples,
        primary=first is None,
        within=within,
    )
    return first
