"""Reads latencies: their statistics, percentiles and bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.formats.fio import LATENCIES, bin_value
from fsbench_kit.formats.fio_columns import printed
from fsbench_kit.formats.fio_json.contents import object_
from fsbench_kit.formats.loose_json import MOST_DIGITS, Counts, Object, is_number

if TYPE_CHECKING:
    from fsbench_kit.formats.builder import Place
    from fsbench_kit.formats.fio_json.figures import Figures

_STATISTICS: Final = {
    # µs were truncated from a finer clock; ns are those of the clock
    (kind, is_old): tuple(
        printed(key, metric, statistic, unit="us" if is_old else "ns", whole="down" if is_old else "exact")
        for key, statistic in (("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "stdev"))
    )
    for kind, metric in LATENCIES.items()
    for is_old in (True, False)
}


def read_latency(figures: Figures, block: Object, place: Place, kind: str) -> None:
    """Read a block of latencies, which consists of zeros if there were no requests."""
    report = figures.report
    gate = report.gate(block, block)
    metric, number = LATENCIES[kind], block.get("N")
    requests = number if is_number(number) else None
    figures.add(place, block, _STATISTICS[kind, report.is_old], requests, gate=gate)
    percentiles = [(name, each) for name, each in object_(block.get("percentile")).items() if is_number(each)]
    bins = block.get("bins")
    if isinstance(bins, dict):
        bins = _counts(figures, bins)
    if percentiles or bins is not None:
        figures.add_latencies(place, metric, requests, percentiles, bins, gate=gate)


def _counts(figures: Figures, named: Object) -> Counts | None:
    """Return bins that were decoded as numbers as columns."""
    document = figures.report.document
    are_by_index = "FIO_IO_U_PLAT_BITS" in named  # up to fio 3.0
    known = {
        name: number
        for name, number in named.items()
        if is_number(number)
        and _are_whole(name, document.number(number))
        and not (are_by_index and int(name) >= _MOST_BINS)
    }
    if not known:
        return None
    names, numbers = list(map(int, known)), list(known.values())
    if are_by_index:
        names = list(map(bin_value, names))
    counts = [int(document.number(number)) for number in numbers]
    places = [document.starts[number] for number in numbers]
    return Counts(
        document.start,
        document.end,
        np.array(names, np.int64),
        np.array(counts, np.int64),
        np.array(places, np.intp),
        numbers=np.array(numbers, np.intp),
        is_whole=len(numbers) == sum(map(is_number, named.values())),
    )


_MOST_BINS: Final = 29 * 64
"""The number of bins in fio."""


def _are_whole(*words: str) -> bool:
    return all(word.isascii() and word.isdecimal() and len(word) <= MOST_DIGITS for word in words)
