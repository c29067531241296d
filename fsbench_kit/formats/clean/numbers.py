r"""Finds the numbers in many texts at once, holds them as columns, and converts them to figures.

The kind of a text is what remains without its numbers, and without the blanks that pad a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats import digits
from fsbench_kit.formats.blocks import blocks
from fsbench_kit.model.records import How
from fsbench_kit.model.units import COUNT_SUFFIXES, exact_factor, quantity

Floats = NDArray[np.float64]
Indexes = NDArray[np.int64]

NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"


DATE: Final = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4}"
"""A date as printed by C's ``ctime``."""
_TIME: Final = len("Sun Jan  1 00")
"""The offset of the first colon in a date; the second one follows three characters later."""
_DATE: Final = len("Sun Jan  1 00:00:00 2023")


class Numbers:
    r"""The numbers of ASCII texts, concatenated; the last one, which belongs to no text, is empty.

    Attributes
    ----------
    kinds
        The kinds of the texts, with a ``\0`` for each number, and ``~`` for each character of a date.
    dates
        The dates in each text, whose digits are not numbers.
    first
        The index of the first number of each text.
    lengths, widths
        The number of characters of each, without and with the blanks before it.
    places
        The number of decimal places of each.
    has_leading_zero
        Whether the first digit of each is a 0.
    text
        The numbers as printed.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "\1".join(["", *texts, ""])
        edges = np.cumsum([1, *(len(text) + 1 for text in texts)], dtype=np.int64)
        chars = np.frombuffer(bytearray(joined, "ascii"), np.uint8)
        self.dates: list[list[str]] = [[] for _ in texts]
        for start in _dates(joined, chars):
            self.dates[np.searchsorted(edges, start, "right") - 1].append(joined[start : start + _DATE])
            chars[start : start + _DATE] = ord("~")
        starts, ends, self.places = number_spans(chars)
        begins = _begins(chars, starts)
        first = np.searchsorted(starts, edges)
        self.first: list[int] = first.tolist()
        self.lengths: Indexes = np.append(ends - starts, 0)
        self.widths: Indexes = ends - begins
        self.has_leading_zero: NDArray[np.bool_] = chars[starts] == ord("0")
        has_point = self.places[:-1] > 0
        chars[(ends - self.places[:-1] - 1)[has_point]] = _LEFT_OUT
        chars[ends - 1] = 0
        self.kinds = _kinds(chars, edges, np.append(0, np.cumsum(self.widths - 1))[first])
        of = np.repeat(np.arange(len(texts)), np.diff(first))
        of_texts = pl.Series(texts, dtype=pl.String).cast(pl.Binary)[of]
        where = (pl.lit(pl.Series(each)) for each in (starts - edges[of], ends - starts))
        words = pl.select(pl.lit(of_texts).bin.slice(*where).cast(pl.String))
        self.text = words.to_series().extend(pl.Series([""]))

    def add(self, other: Numbers) -> list[int]:
        """Add the numbers of other texts, before any properties are used; return where those of each begin."""
        before = len(self.text) - 1
        self.text = self.text[:before].append(other.text)
        self.lengths, self.places = (
            np.concatenate([own[:before], more])
            for own, more in ((self.lengths, other.lengths), (self.places, other.places))
        )
        self.widths = np.concatenate([self.widths, other.widths])
        self.has_leading_zero = np.concatenate([self.has_leading_zero, other.has_leading_zero])
        return [before + first for first in other.first[:-1]]

    def words(self, at: Indexes) -> list[str]:
        """Return numbers as printed."""
        return self.text[at].to_list()

    @cached_property
    def codes(self) -> NDArray[np.uint64]:
        """Codes that are equal for equal texts."""
        return self.text.hash().to_numpy()

    @cached_property
    def whole(self) -> Floats:
        """Each number without its point, as an integer; 2^63 if it is larger than 2^64."""
        values = self.text.cast(pl.Float64, strict=False).fill_null(np.inf).to_numpy()
        whole: Floats = np.rint(values * 10.0**self.places)
        for number in np.flatnonzero(whole >= _MOST_EXACT).tolist():
            digits = self.text[number].replace(".", "")
            whole[number] = float(digits) if digits and int(digits) < 2**64 else 2**63
        return whole

    @cached_property
    def is_round(self) -> NDArray[np.bool_]:
        """Whether each has decimal places that are all 0."""
        return self.text.str.contains(r"\.0+$").to_numpy()

    def quantities(self, at: Indexes, hows: Sequence[How], which: Indexes) -> tuple[Floats, Floats, Floats]:
        """Return the values and bounds of numbers that are figures.

        Parameters
        ----------
        at
            The indices of the numbers; below 0 for none.
        hows
            The ways in which figures are printed.
        which
            The index of each number's way.

        Notes
        -----
        This is `fsbench_kit.model.units.quantity` for columns. As there, a figure is the float nearest to the true
        product: integers below 2^53 are multiplied, and divided once.
        """
        scales = np.array([_scale(how) for how in hows], np.float64).T
        columns = np.empty((3, len(at)))
        for some in blocks(len(at)):
            for column, found in zip(columns, self._quantities(at[some], hows, scales, which[some]), strict=True):
                column[some] = found
        value, low, high = columns
        return value, low, high

    def _quantities(
        self, at: Indexes, hows: Sequence[How], scales: Floats, which: Indexes
    ) -> tuple[Floats, Floats, Floats]:
        above, below, odd, digits, to_low, to_high, factor, spread = (column[which] for column in scales)
        whole, places = self.whole[at], self.places[at]
        last = _last_places(whole, places, digits.astype(np.int64))
        is_exact = (places <= _MOST_PLACES) & (last <= _MOST_PLACES)
        power, scale = _POWERS[np.minimum(places, _MOST_PLACES)], _POWERS[np.minimum(last, _MOST_PLACES)]
        doubled = 2 * whole * (scale / power)
        is_exact &= (doubled + 2) * odd < 2**53
        value = whole * above / (power * below)
        low = np.maximum(doubled - to_low, 0) * above / (2 * scale * below)
        high = (doubled + to_high) * above / (2 * scale * below)
        for row in np.flatnonzero(~is_exact & (at >= 0)).tolist():
            how = hows[which[row]]
            printed = f"{self.text[at[row].item()]}{how.suffix}"
            amount = quantity(printed, how.unit, rounding=how.rounding, digits=how.digits)
            value[row], low[row], high[row] = amount.value, amount.low or 0, amount.high or 0
        value, low, high = value * factor, low * factor / spread, high * factor * spread
        for rule in dict.fromkeys(how.rule for how in hows if how.rule is not None):
            ruled = np.array([how.rule == rule for how in hows])[which]
            is_whole = (places[ruled] == 0) & (whole[ruled] < _MOST_BY_RULE)
            ends = rule(np.where(is_whole, whole[ruled], 0).astype(np.int64))
            low[ruled], high[ruled] = (np.where(is_whole, end, np.nan) for end in ends)
        return value, low, high


def _scale(how: How) -> tuple[float, ...]:
    """Return what a way of printing means for a number.

    These are what it is multiplied and divided by, and the odd part of the former; how many digits it is rounded
    to, or 0; how far true values are below and above it; and its factor and spread.
    """
    top, bottom = exact_factor(how.unit)
    top *= COUNT_SUFFIXES[how.suffix]
    ends = _BELOW[how.rounding], _ABOVE[how.rounding]
    return top, bottom, top // (top & -top), how.digits or 0, *ends, how.factor or 1, how.spread or 1


def _dates(joined: str, chars: NDArray[np.uint8]) -> Iterator[int]:
    """Yield the starts of dates."""
    colons = np.flatnonzero(chars == ord(":"))
    for colon in colons[chars[np.minimum(colons + 3, len(chars) - 1)] == ord(":")].tolist():
        if colon > _TIME and re.compile(DATE).match(joined, colon - _TIME):
            yield colon - _TIME


def number_spans(chars: NDArray[np.uint8]) -> tuple[Indexes, Indexes, Indexes]:
    """Return the starts and ends of numbers, and their decimal places, followed by a 0 for no number."""
    starts, ends, whole = digits.runs(chars)
    numbers, places = digits.numbers(starts, ends, whole)
    ends[whole] = ends[whole + 1]
    return starts[numbers], ends[numbers], np.append(places[numbers], 0)


def _begins(chars: NDArray[np.uint8], starts: Indexes) -> Indexes:
    """Return the starts of the blanks before numbers, and mark these blanks to be left out."""
    begins = starts.copy()
    blank = np.arange(len(begins))
    while len(blank):
        blank = blank[chars[begins[blank] - 1] == ord(" ")]
        begins[blank] -= 1
        chars[begins[blank]] = _LEFT_OUT
    return begins


_LEFT_OUT: Final = 0xFF
"""Marks characters that are left out of the kind of a text; it does not occur in texts."""
_DIGITS_AND_LEFT_OUT: Final = bytes([*b"0123456789", _LEFT_OUT])


def _kinds(chars: NDArray[np.uint8], edges: Indexes, left_out: Indexes) -> list[str]:
    """Return the text between the numbers of each text, which extends from one edge to the next.

    `left_out` is the number of characters left out before each edge.
    """
    rest = chars.tobytes().translate(None, _DIGITS_AND_LEFT_OUT).decode("ascii")
    return [rest[start : end - 1].rstrip(" ") for start, end in pairwise((edges - left_out).tolist())]


def _last_places(whole: Floats, places: Indexes, kept: Indexes) -> Indexes:
    """Return the last known decimal place of numbers that are rounded to a number of digits, except for 0."""
    if not kept.any():
        return places
    lengths = np.searchsorted(_POWERS_OF_TEN, whole, "right")
    return np.where((kept > 0) & (whole > 0), np.maximum(places, places + kept - lengths), places)


_POWERS_OF_TEN: Final = np.array([10**power for power in range(20)], dtype=np.float64)
_BELOW: Final = {"nearest": 1, "down": 0, "up": 2, "exact": 0, "unknown": 0}
_ABOVE: Final = {"nearest": 1, "down": 2, "up": 0, "exact": 0, "unknown": 0}
"""The distance of the true values below and above a print, in halves of its last digit."""
_MOST_PLACES: Final = 15
_MOST_EXACT: Final = 2.0**51
_MOST_BY_RULE: Final = 2**43
_POWERS: Final = np.array([10.0**place for place in range(_MOST_PLACES + 1)])
