"""Distinguishes statistics over single requests from those over intervals, which fio prints under the same names.

With ``write_bw_log`` or ``write_iops_log``, but without ``log_avg_msec``, fio takes a sample for each request
instead of for each interval (``per_unit_log`` and ``add_bw_sample`` in its ``stat.c``). The ``bw`` figures of its
reports are then statistics of the rates of single requests, in kB/s of 1000 whatever their heading says, and the
``iops`` figures are statistics of a 1 for each request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

from fsbench_kit.formats.checks import Figures, Part, figures_by_part, part_of
from fsbench_kit.model.records import Diagnostic, Measurement

_METRICS: Final = ("bandwidth", "iops")
_OVER_INTERVALS: Final = {"mean", "min", "max", "stdev"}
_SHORTEST: Final = 0.1
"""In s. Intervals are longer on average; the default of fio is 0.5 s."""


class Amendable(Protocol):
    """Measurements that can be amended, such as those of a `RunBuilder`."""

    @property
    def measurements(self) -> Sequence[Measurement]:
        """The measurements, indexed by number."""

    def amend(self, numbers: Iterable[int], *, metric: str, factor: float) -> None:
        """Change the metric of measurements, and multiply their values by a factor."""

    def drop(self, numbers: Iterable[int]) -> None:
        """Remove measurements."""


def over_requests(run: Amendable) -> list[Diagnostic]:
    """Correct the figures of a report that are over single requests, and report them.

    Bandwidths become ``request_bandwidth``; IOPS figures are meaningless then, and are removed.
    """
    sampled = {place: mean for place, mean, is_sampled in _sampled(run.measurements) if is_sampled}
    if not sampled:
        return []
    of_requests: dict[str, list[int]] = {metric: [] for metric in _METRICS}
    for number, item in enumerate(run.measurements):
        if (part_of(item), item.metric) in sampled and item.statistic in _OVER_INTERVALS:
            of_requests[item.metric].append(number)
    run.amend(of_requests["bandwidth"], metric="request_bandwidth", factor=1000 / 1024)
    run.drop(of_requests["iops"])
    return [
        Diagnostic(
            code="NOT_OVER_INTERVALS",
            message=f"The mean {metric} of {mean.operation}, {mean.text}, "
            f"is taken over {mean.samples} single requests.",
            line=mean.line,
            excerpt=mean.text,
        )
        for (_, metric), mean in sampled.items()
    ]


def are_over_intervals(measurements: Iterable[Measurement]) -> Any:
    """Whether no figure of a report is over single requests; a column for columns."""
    answer: Any = True
    for *_, is_sampled in _sampled(measurements):
        answer &= is_sampled ^ True
    return answer


def _sampled(measurements: Iterable[Measurement]) -> Iterator[tuple[tuple[Part, str], Measurement, Any]]:
    """Yield each mean over samples, with its part and metric, and whether each request is a sample."""
    for part, figures in figures_by_part(measurements).items():
        done, runtime = _done(figures), figures.get(("runtime", "value"))
        for metric in _METRICS:
            mean = figures.get((metric, "mean"))
            if done is None or runtime is None or mean is None or mean.samples is None or runtime.value is None:
                continue
            is_sampled = (mean.samples == done) & (mean.samples * _SHORTEST > runtime.value)
            yield (part, metric), mean, is_sampled & (metric == "bandwidth" or mean.value == 1)


def _done(figures: Figures) -> Any:
    """Return the number of requests or, in a log that was cut off before it, an estimate from the bytes."""
    if (operations := figures.get(("operations", "value"))) is not None:
        return operations.value
    moved = figures.get(("bytes", "value"))
    if moved is None or moved.value is None or not moved.block_size:
        return None
    return moved.value / moved.block_size
