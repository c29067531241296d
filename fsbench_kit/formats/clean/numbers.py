r"""The numbers in many texts, found at once and held as columns; and what figures of a tool they are.

What is left of a text without its numbers, and without the blanks that fill up a number's column, is its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.model.records import How
from fsbench_kit.model.units import COUNT_SUFFIXES, exact_factor, quantity

Floats = NDArray[np.float64]
Indexes = NDArray[np.int64]

NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"


class Numbers:
    r"""The numbers of some texts, one behind the other; the last one, which is of no text, is empty.

    Attributes
    ----------
    kinds
        Of the texts; a ``\0`` stands in the place of each number.
    first
        Where the numbers of each text begin.
    words
        As printed.
    widths
        How many characters each is long, with the blanks before it.
    """

    def __init__(self, texts: pl.Series) -> None:
        padded = texts.str.extract_all(f" *{NUMBER}")
        self.kinds: list[str] = texts.str.replace_all(f" *{NUMBER}", "\0").str.strip_chars_end(" ").to_list()
        self.first: list[int] = [0, *padded.list.len().cum_sum().to_list()]
        flat = padded.explode().drop_nulls()
        self._text = flat.str.strip_chars_start(" ").extend(pl.Series([""]))
        self.words: NDArray[Any] = self._text.to_numpy()
        self.widths: Indexes = flat.str.len_bytes().to_numpy().astype(np.int64)

    def add(self, texts: Sequence[str]) -> list[int]:
        """Take in more texts before anything is asked of their numbers; return where those of each begin."""
        if not texts:
            return []
        other = Numbers(pl.Series(texts))
        before = len(self.words) - 1
        self._text = self._text[:before].append(other._text)
        self.words = self._text.to_numpy()
        self.widths = np.concatenate([self.widths, other.widths])
        return [before + first for first in other.first[:-1]]

    @cached_property
    def lengths(self) -> Indexes:
        """How many characters each is long."""
        return self._text.str.len_bytes().to_numpy().astype(np.int64)

    @cached_property
    def places(self) -> Indexes:
        """How many decimal places each has."""
        found = self._text.str.len_bytes().cast(pl.Int64) - 1 - self._text.str.find(".", literal=True)
        return found.fill_null(0).to_numpy().astype(np.int64)

    @cached_property
    def whole(self) -> Floats:
        """What each is without its point; 2^63 if it is larger than that."""
        digits = self._text.str.replace(".", "", literal=True).cast(pl.UInt64, strict=False)
        return digits.fill_null(2**63).to_numpy().astype(np.float64)

    @cached_property
    def has_leading_zero(self) -> NDArray[np.bool_]:
        """Whether the first digit of each is a 0."""
        return self._text.str.starts_with("0").to_numpy()

    @cached_property
    def is_round(self) -> NDArray[np.bool_]:
        """Whether each has decimal places, and all of them are 0."""
        return self._text.str.contains(r"\.0+$").to_numpy()

    def quantities(self, at: Indexes, hows: Sequence[How], which: Indexes) -> tuple[Floats, Floats, Floats]:
        """Return the values and bounds of some numbers that are figures.

        Parameters
        ----------
        at
            Which numbers.
        hows
            The ways in which figures are printed.
        which
            Those of these numbers.

        Notes
        -----
        This is `fsbench_kit.model.units.quantity` for columns. As there, a figure is the float that is nearest to
        the true product: whole numbers below 2^53 are multiplied, and divided once.
        """

        def of_each(values: Iterable[float]) -> Floats:
            return np.array(list(values), dtype=np.float64)[which]

        factors = [(exact_factor(how.unit), COUNT_SUFFIXES[how.suffix]) for how in hows]
        above = of_each(top * suffix for (top, _), suffix in factors)
        below = of_each(bottom for (_, bottom), _ in factors)
        odd = of_each(top * suffix // (top * suffix & -(top * suffix)) for (top, _), suffix in factors)
        whole, places = self.whole[at], self.places[at]
        last = _last_places(whole, places, of_each(how.digits or 0 for how in hows).astype(np.int64))
        is_exact = (places <= _MOST_PLACES) & (last <= _MOST_PLACES)
        power, scale = _POWERS[np.minimum(places, _MOST_PLACES)], _POWERS[np.minimum(last, _MOST_PLACES)]
        doubled = 2 * whole * (scale / power)
        is_exact &= (doubled + 2) * odd < 2**53
        value = whole * above / (power * below)
        low = np.maximum(doubled - of_each(_BELOW[how.rounding] for how in hows), 0) * above / (2 * scale * below)
        high = (doubled + of_each(_ABOVE[how.rounding] for how in hows)) * above / (2 * scale * below)
        words = self.words[at]
        for row in np.flatnonzero(~is_exact & (words != "")).tolist():
            how = hows[which[row]]
            amount = quantity(f"{words[row]}{how.suffix}", how.unit, rounding=how.rounding, digits=how.digits)
            value[row], low[row], high[row] = amount.value, amount.low or 0, amount.high or 0
        if any(how.factor is not None for how in hows):
            by = of_each(1 if how.factor is None else how.factor for how in hows)
            value, low, high = value * by, low * by, high * by
        if any(how.spread is not None for how in hows):
            spread = of_each(1 if how.spread is None else how.spread for how in hows)
            low, high = low / spread, high * spread
        for rule in dict.fromkeys(how.rule for how in hows if how.rule is not None):
            ruled = np.array([how.rule == rule for how in hows])[which]
            is_whole = (places[ruled] == 0) & (whole[ruled] < _MOST_BY_RULE)
            ends = rule(np.where(is_whole, whole[ruled], 0).astype(np.int64))
            low[ruled], high[ruled] = (np.where(is_whole, end, np.nan) for end in ends)
        return value, low, high


def _last_places(whole: Floats, places: Indexes, kept: Indexes) -> Indexes:
    """Return to how many decimal places numbers are known that were shortened to so many digits, unless to 0."""
    if not kept.any():
        return places
    lengths = np.searchsorted(_POWERS_OF_TEN, whole, "right")
    return np.where((kept > 0) & (whole > 0), np.maximum(places, places + kept - lengths), places)


_POWERS_OF_TEN: Final = np.array([10**power for power in range(20)], dtype=np.float64)
_BELOW: Final = {"nearest": 1, "down": 0, "up": 2, "exact": 0, "unknown": 0}
_ABOVE: Final = {"nearest": 1, "down": 2, "up": 0, "exact": 0, "unknown": 0}
"""How far the true values reach below and above a print, in halves of its last place."""
_MOST_PLACES: Final = 15
_MOST_BY_RULE: Final = 2**43
_POWERS: Final = np.array([10.0**place for place in range(_MOST_PLACES + 1)])
