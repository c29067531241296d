"""Reads latencies: their statistics, percentiles and bins."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.fio import LAST_BIN, LATENCIES, bin_value, bin_widths, has_bin, percentile_bounds
from fsbench_kit.formats.fio_json.contents import MOST_DIGITS, object_
from fsbench_kit.formats.lexer import Printed
from fsbench_kit.formats.loose_json import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsbench_kit.formats.builder import Bounds, Place
    from fsbench_kit.formats.fio_json.figures import Figures
    from fsbench_kit.formats.loose_json import Object
    from fsbench_kit.model.units import Rounding

_RANKS: Final = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""The percentiles that fio prints if none are asked for."""


def read_latency(figures: Figures, block: Object, place: Place, kind: str) -> None:
    """Read a block of latencies; one without requests holds nothing but zeros."""
    report = figures.report
    if not report.is_work(block):
        return
    metric, unit = LATENCIES[kind], "us" if report.is_old else "ns"
    samples = report.count(block.get("N"))
    for key, statistic in (("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "stdev")):
        # µs were cut from a finer clock, ns are the clock's own
        whole: Rounding = "down" if report.is_old else "exact"
        figures.add(place, block, key, metric, statistic, unit=unit, whole=whole, samples=samples)
    wrong: list[int] = []
    for name, number in object_(block.get("percentile")).items():
        value, rank = report.count(number), _rank(name)
        if value is None or rank is None:
            continue
        bounds = _bin_bounds(value, is_old=report.is_old)
        if bounds is not None:
            report.mark(number)
            _add_percentile(figures, place, figures.printed(number), metric, rank, bounds=bounds)
        else:
            wrong.append(number)
            text = report.text(number)
            message = f"{text} is no value of p{rank:g} that fio can print."
            figures.contradict("UNREAD_FIGURE", message, number, f"{name}: {text}")
    _read_bins(figures, block, place, metric)
    for number in wrong:
        report.mark(number)  # it was named, and its bins had to tell it first


@lru_cache(maxsize=2**10)
def _rank(text: str) -> float | None:
    """Return the rank that a percentile's key names; old versions fill their list of percentiles up with 0.00."""
    rank = float(text) if re.fullmatch(r"\d{1,3}(\.\d{1,9})?", text) else 0.0
    return rank if 0 < rank <= 100 else None


@lru_cache(maxsize=2**14)
def _bin_bounds(value: int, *, is_old: bool) -> Bounds | None:
    """Return the bounds of the bin that has a value in its middle, if there is one; fio 2.x has printed others."""
    if not is_old and not has_bin(value, value):
        return None
    per_second = 10**6 if is_old else 10**9
    low, high = percentile_bounds(value, value)
    return low / per_second, high / per_second if high is not None else None


def _add_percentile(
    figures: Figures,
    place: Place,
    printed: Printed,
    metric: str,
    rank: float,
    *,
    bounds: Bounds,
    primary: bool = True,
) -> None:
    statistic, unit = f"p{rank:g}", "us" if figures.report.is_old else "ns"
    figures.run.add(place, metric, printed, statistic, unit=unit, rounding="exact", bounds=bounds, primary=primary)


class _Bins(NamedTuple):
    """The bins of a block as columns: their middles, their counts, and which numbers of the document these are."""

    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    numbers: NDArray[np.intp]

    def where(self, which: NDArray[Any]) -> _Bins:
        """Return some of the bins, in an order."""
        return _Bins(*(column[which] for column in self))


def _read_bins(figures: Figures, block: Object, place: Place, metric: str) -> None:
    """Read the bins, and the percentiles that they make: figures of their own where fio printed none."""
    report = figures.report
    named, requests = object_(block.get("bins")), report.count(block.get("N"))
    if not named:
        return
    bins = _bins(figures, named)
    widths = bin_widths(bins.values)
    are_bins = (bins.values % widths == widths // 2) | report.is_old
    if requests is not None:
        are_bins &= bins.counts <= requests  # others are named with the numbers that were not read
    figures.mark(bins.numbers[are_bins])
    bins = bins.where(are_bins & (bins.counts > 0))
    if not len(bins.values):
        return
    _add_bins(figures, place, metric, bins)
    total = int(bins.counts.sum())
    if total == requests:
        _add_percentiles_of_bins(figures, place, metric, bins, object_(block.get("percentile")))
    elif requests is not None and all(
        report.document.is_read[number] for number in named.values() if is_number(number)
    ):
        message = f"The bins count {total} requests of {place.operation}, and N is {requests}."
        figures.contradict("FIGURES_DISAGREE", message, int(bins.numbers[0]))


def _add_bins(figures: Figures, place: Place, metric: str, bins: _Bins) -> None:
    per_second = 10**6 if figures.report.is_old else 10**9
    widths = bin_widths(bins.values)
    starts = bins.values - bins.values % widths
    highs = (starts + np.where(widths > 1, widths, 0)) / per_second
    highs[bins.values >= LAST_BIN] = np.nan
    lows, positions = starts / per_second, figures.places(bins.numbers)
    figures.run.add_bins(place, metric, lows, highs, counts=bins.counts, positions=positions)


def _add_percentiles_of_bins(
    figures: Figures, place: Place, metric: str, bins: _Bins, percentiles: Object
) -> None:
    document = figures.report.document
    printed = {
        rank: bool(document.is_read[number])
        for key, number in percentiles.items()
        if is_number(number) and (rank := _rank(key)) is not None
    } or dict.fromkeys(_RANKS, False)
    found = bins.where(np.argsort(bins.values, kind="stable"))
    found = found.where(_at_ranks(found.counts, list(printed)))
    for (rank, is_read), value, number in zip(
        printed.items(), found.values.tolist(), found.numbers.tolist(), strict=True
    ):
        bounds = _bin_bounds(value, is_old=figures.report.is_old)
        if bounds is not None:
            text = Printed(str(value), document.positions[number])
            _add_percentile(figures, place, text, metric, rank, bounds=bounds, primary=not is_read)


def _at_ranks(counts: NDArray[np.int64], ranks: Sequence[float]) -> NDArray[np.intp]:
    """Return which bins hold the requests of some ranks, as fio finds them: those that reach the share."""
    total = int(counts.sum())
    shares = (float(rank).as_integer_ratio() for rank in ranks)
    wanted = [-(-share * total // (100 * of)) for share, of in shares]  # rounded up, in whole numbers
    return np.searchsorted(np.cumsum(counts), wanted)


def _bins(figures: Figures, named: Object) -> _Bins:
    texts = figures.report.document.texts
    names, numbers = list(named), list(named.values())
    values = counts = None
    if set(map(type, numbers)) == {int} and numbers[-1] - numbers[0] == len(numbers) - 1:
        # Nothing but numbers, one after the other.
        values, counts = _whole(names), _whole(texts[numbers[0] : numbers[-1] + 1])
    if values is None or counts is None:
        names = [name for name, number in named.items() if is_number(number) and _are_whole(name, texts[number])]
        numbers = [named[name] for name in names]
        values = np.array(list(map(int, names)), np.int64)
        counts = np.array([int(texts[number]) for number in numbers], np.int64)
    if "FIO_IO_U_PLAT_BITS" in named:  # up to fio 3.0 bins go by their index
        values = np.array([bin_value(min(index, _MOST_BINS)) for index in values.tolist()], np.int64)
    return _Bins(values, counts, np.array(numbers, np.intp))


_MOST_BINS: Final = 2**12


def _whole(words: Sequence[str]) -> NDArray[np.int64] | None:
    """Return whole numbers that fio's counters can hold, or ``None`` where one of the words is none."""
    together = "".join(words)
    if not (together.isascii() and together.isdecimal() and all(words)):
        return None
    numbers = np.fromstring(" ".join(words), np.int64, sep=" ")
    return numbers if numbers.max() < 10**MOST_DIGITS else None


def _are_whole(*words: str) -> bool:
    return all(word.isascii() and word.isdecimal() and len(word) <= MOST_DIGITS for word in words)
