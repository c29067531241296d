"""What the figures of an iozone log are of, and the figures of one run in their order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from fsbench_kit.model.records import How, Measurement, Scope, State
from fsbench_kit.model.units import Rounding, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Measure:
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


def figure(
    measure: Measure,
    text: str,
    *,
    operation: str,
    line: int,
    ran: bool,
    start: int | None = None,
    scope: Scope = "all",
    part: str | None = None,
    file_size: int | None = None,
    block_size: int | None = None,
    threads: int | None = None,
    samples: int | None = None,
) -> Measurement:
    """Return a figure; a 0 is none, but where the test ran it says that the figure is too small to show."""
    amount = quantity(text, measure.unit, rounding=measure.rounding)
    zero: State = "measured" if measure.counts else "censored" if ran else "missing"
    state = zero if amount.value == 0 else "measured"
    return Measurement(
        operation=operation,
        metric=measure.metric,
        statistic=measure.statistic,
        value=amount.value if state == "measured" else None,
        unit=amount.unit,
        state=state,
        low=amount.low if state == "measured" else None,
        high=amount.high if state != "missing" else None,
        samples=samples,
        text=text,
        line=line,
        start=start,
        how=How(measure.unit, measure.rounding, measure.metric, zero=zero),
        scope=scope,
        part=part,
        block_size=block_size,
        file_size=file_size,
        threads=threads,
    )


@dataclass
class Figures:
    """The figures of one run; of two that stand for the same thing the first counts."""

    all: list[Measurement] = field(default_factory=list)
    _first: dict[Key, Measurement] = field(default_factory=dict)

    def add(self, item: Measurement) -> Measurement | None:
        """Add a figure, and return the one that stands for the same thing already."""
        first = self._first.setdefault(key(item), item)
        self.all.append(item if first is item else replace(item, primary=False))
        return None if first is item else first

    def get(self, item: Measurement) -> Measurement | None:
        """Return the figure that stands for the same thing as another one."""
        return self._first.get(key(item))


def key(item: Measurement) -> Key:
    """Return what a figure stands for."""
    return (
        item.scope,
        item.part,
        item.operation,
        item.metric,
        item.statistic,
        item.file_size,
        item.block_size,
        item.threads,
    )
