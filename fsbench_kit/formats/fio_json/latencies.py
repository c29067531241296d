"""Reads latencies: their statistics, percentiles and bins."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.fio import LAST_BIN, LATENCIES, bin_value, bin_width, bin_widths, percentile_bounds
from fsbench_kit.formats.fio_json.contents import object_
from fsbench_kit.formats.fio_json.figures import printed
from fsbench_kit.formats.loose_json import MOST_DIGITS, Counts, is_number
from fsbench_kit.model.records import what

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from fsbench_kit.formats.builder import Place
    from fsbench_kit.formats.fio_json.figures import Figures, Span
    from fsbench_kit.formats.loose_json import Object
    from fsbench_kit.model.records import What

_RANKS: Final = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""The percentiles that fio prints if none are asked for."""

_STATISTICS: Final = {
    # µs were cut from a finer clock, ns are the clock's own
    (kind, is_old): tuple(
        printed(key, metric, statistic, unit="us" if is_old else "ns", whole="down" if is_old else "exact")
        for key, statistic in (("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "stdev"))
    )
    for kind, metric in LATENCIES.items()
    for is_old in (True, False)
}


def read_latency(figures: Figures, block: Object, place: Place, kind: str) -> None:
    """Read a block of latencies; one without requests holds nothing but zeros."""
    report = figures.report
    if not report.is_work(block):
        return
    metric, requests = LATENCIES[kind], report.count(block.get("N"))
    figures.add(place, block, _STATISTICS[kind, report.is_old], requests)
    if "percentile" not in block and "bins" not in block:
        return
    first, wrong, is_old = figures.number, [], report.is_old
    printed: dict[float, int | None] = {}
    for name, number in object_(block.get("percentile")).items():
        rank = _rank(name)
        if rank is None or type(number) is not int:
            continue
        value = report.count(number)
        span = _bin_of(value, is_old) if value is not None else None
        if span is not None:
            printed[rank] = value
            figures.add_bounded(place, _percentile(metric, rank, span[0] is None), number, span)
            continue
        printed[rank] = None
        if value is not None:
            wrong.append(number)
            text = report.text(number)
            message = f"{text} is no value of p{rank:g} that fio can print."
            figures.contradict("UNREAD_FIGURE", message, report.document.starts[number], f"{name}: {text}")
    again = _read_bins(figures, block, place, metric, printed or dict.fromkeys(_RANKS))
    if _agree(figures.number - first, printed, again):
        figures.take_for_agreeing(first)
    for number in wrong:
        report.mark(number)  # it was named


def _agree(number: int, printed: Mapping[float, int | None], again: Mapping[float, int]) -> bool:
    """Whether percentiles, of which there are so many, rise with their ranks, and are what bins make."""
    known = {rank: value for rank, value in printed.items() if value is not None}
    if number != len(known) + len(again) or (again and not known.items() <= again.items()):
        return False
    whole = again or known
    ranks, values = list(whole), list(whole.values())
    return ranks == sorted(ranks) and values == sorted(values)


@lru_cache(maxsize=2**10)
def _rank(text: str) -> float | None:
    """Return the rank that a percentile's key names; old versions fill their list of percentiles up with 0.00."""
    rank = float(text) if re.fullmatch(r"\d{1,3}(\.\d{1,9})?", text) else 0.0
    return rank if 0 < rank <= 100 else None


def _bin_of(value: int, is_old: bool) -> Span | None:
    """Return the bin that has a value in its middle, if there is one; fio 2.x has printed others."""
    width = bin_width(value)
    return _span(value, is_old) if is_old or value % width == width // 2 else None


@lru_cache(maxsize=2**12)
def _span(value: int, is_old: bool) -> Span:
    """Return the middle of a bin and its bounds in s; the last one has no upper bound, and stands for no value."""
    per_second = _PER_SECOND[is_old]
    low, high = percentile_bounds(value, value)
    if high is None:
        return None, low / per_second, None
    return value / per_second, low / per_second, high / per_second


_PER_SECOND: Final = {True: 10**6, False: 10**9}


@lru_cache(maxsize=2**10)
def _percentile(metric: str, rank: float, is_open: bool, is_primary: bool = True) -> What:
    return what(metric, f"p{rank:g}", "s", "censored" if is_open else "measured", is_primary)


class _Bins(NamedTuple):
    """The bins of a block as columns: their middles and widths, their counts, and where these are printed."""

    values: NDArray[np.int64]
    widths: NDArray[np.int64]
    counts: NDArray[np.int64]
    places: NDArray[np.intp]


def _read_bins(
    figures: Figures, block: Object, place: Place, metric: str, printed: Mapping[float, int | None]
) -> dict[float, int]:
    """Read the bins, and return the percentiles that they make: figures of their own where fio printed none.

    `printed` has the value of each percentile that is wanted, as far as it was read.
    """
    report, named = figures.report, block.get("bins")
    requests = report.count(block.get("N"))
    numbers: Sequence[int] = ()
    if isinstance(named, Counts):
        counts = named
    elif isinstance(named, dict) and named:
        counts, numbers = _counts(figures, named)
    else:
        return {}
    widths = bin_widths(counts.names)
    are_bins = (counts.names % widths == widths // 2) | report.is_old
    if requests is not None:
        are_bins &= counts.counts <= requests  # others are named with the numbers that were not read
    counts.is_read = are_bins
    for index in np.flatnonzero(are_bins).tolist() if numbers else ():
        report.mark(numbers[index])
    known = np.flatnonzero(are_bins & (counts.counts > 0))
    if not len(known):
        return {}
    bins = _Bins(*(column[known] for column in (counts.names, widths, counts.counts, counts.starts)))
    _add_bins(figures, place, metric, bins)
    total = int(bins.counts.sum())
    if total == requests:
        return _add_percentiles_of_bins(figures, place, metric, bins, printed)
    if requests is not None and are_bins.all() and (not numbers or _are_read(figures, named)):
        message = f"The bins count {total} requests of {place.operation}, and N is {requests}."
        figures.contradict("FIGURES_DISAGREE", message, int(bins.places[0]))
    return {}


def _are_read(figures: Figures, named: object) -> bool:
    is_read = figures.report.document.is_read
    return all(is_read[number] for number in object_(named).values() if is_number(number))


def _add_bins(figures: Figures, place: Place, metric: str, bins: _Bins) -> None:
    per_second = _PER_SECOND[figures.report.is_old]
    starts = bins.values - bins.values % bins.widths
    highs = (starts + np.where(bins.widths > 1, bins.widths, 0)) / per_second
    highs[bins.values >= LAST_BIN] = np.nan
    figures.add_bins(place, metric, (starts / per_second, highs, bins.places, bins.counts))


def _add_percentiles_of_bins(
    figures: Figures, place: Place, metric: str, bins: _Bins, printed: Mapping[float, int | None]
) -> dict[float, int]:
    is_old = figures.report.is_old
    order = np.argsort(bins.values, kind="stable")
    found = order[_at_ranks(bins.counts[order], printed)]
    made = {}
    for (rank, value_printed), value, position in zip(
        printed.items(), bins.values[found].tolist(), bins.places[found].tolist(), strict=True
    ):
        span = _bin_of(value, is_old)
        if span is not None:
            made[rank] = value
            known = _percentile(metric, rank, span[0] is None, value_printed is None)
            figures.add_found(place, known, str(value), position, span)
    return made


def _at_ranks(counts: NDArray[np.int64], ranks: Iterable[float]) -> NDArray[np.intp]:
    """Return which bins hold the requests of some ranks, as fio finds them: those that reach the share."""
    total = int(counts.sum())
    wanted = [-(-share * total // of) for share, of in map(_ratio, ranks)]  # rounded up, in whole numbers
    return np.searchsorted(np.cumsum(counts), wanted)


@lru_cache(maxsize=2**10)
def _ratio(rank: float) -> tuple[int, int]:
    share, of = float(rank).as_integer_ratio()
    return share, 100 * of


def _counts(figures: Figures, named: Object) -> tuple[Counts, list[int]]:
    """Return bins as columns, and which numbers of the document the counts are."""
    document = figures.report.document
    known = {
        name: number
        for name, number in named.items()
        if is_number(number) and _are_whole(name, document.number(number))
    }
    names, numbers = list(map(int, known)), list(known.values())
    if "FIO_IO_U_PLAT_BITS" in named:  # up to fio 3.0 bins go by their index
        names = [bin_value(min(index, _MOST_BINS)) for index in names]
    counts = [int(document.number(number)) for number in numbers]
    places = [document.starts[number] for number in numbers]
    columns = [np.array(column, np.int64) for column in (names, counts, places)]
    return Counts(document.start, document.end, *columns), numbers


_MOST_BINS: Final = 2**12


def _are_whole(*words: str) -> bool:
    return all(word.isascii() and word.isdecimal() and len(word) <= MOST_DIGITS for word in words)
