"""Finds the numbers of many reports at once, and holds them as columns instead of as texts."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats.clean import numbers as clean_numbers
from fsbench_kit.formats.loose_json import MOST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Data: TypeAlias = bytes | memoryview

NUMBER: Final = re.compile(clean_numbers.NUMBER)


class Numbers:
    """The numbers in ASCII texts, concatenated; the last one represents a missing number.

    Parameters
    ----------
    texts
        The texts.
    hidden
        The part of each whose characters are not looked at.

    Attributes
    ----------
    first
        The index of the first number of each text, and of the missing number.
    layouts
        The text between the numbers of each, with a mark for each number, and one for the point in it.
    digits
        Each without its point, as an integer; `UNCERTAIN` if it has to be examined by itself.
    decimals
        The number of digits after its point.
    counts
        As integers; -1 if they are not integers or exceed fio's own counters.
    is_any
        Whether each is not 0; true for the missing number.
    odd_texts
        The indices of texts with a number of more digits than fio prints.
    """

    def __init__(self, texts: Sequence[Data], hidden: Iterable[slice] = ()) -> None:
        chars = np.frombuffer(bytearray(b"\n").join([b"", *texts, _MISSING, b""]), np.uint8)
        edges = np.cumsum([1, *(len(text) + 1 for text in texts)])
        for edge, part in zip(edges.tolist(), hidden, strict=False):
            chars[edge + part.start : edge + part.stop] = _HIDDEN
        starts, ends, decimals = clean_numbers.number_spans(chars)
        self.decimals = decimals = decimals[:-1]
        lengths = ends - starts
        has_point = decimals > 0
        chars[(ends - 1 - decimals)[has_point]] = _POINT
        after = chars[ends]
        chars[ends] = _MARK
        self._set_printed(chars.tobytes().translate(_BLANKS_AND_POINTS, _ALL_BUT_NUMBERS), lengths)
        chars[ends] = after
        self.digits = np.fromstring(self._printed.replace(b".", b""), np.int64, sep=" ")
        self.is_any = self.digits > 0
        self.counts = np.where(has_point, -1, self.digits)
        number_of_digits = lengths - has_point
        self._set_aside([*np.flatnonzero(number_of_digits > MOST_DIGITS).tolist(), -1])
        first = np.searchsorted(starts, edges)
        self.first: list[int] = first.tolist()
        are_long = np.flatnonzero(number_of_digits > _MOST_PRINTED)
        self.odd_texts = {*(np.searchsorted(first, are_long, "right") - 1).tolist()}
        chars[starts] = _MARK
        rest = chars.tobytes().translate(None, _DIGITS)
        left_out = np.append(0, np.cumsum(number_of_digits - 1))[first]
        self.layouts = [rest[start : end - 1] for start, end in pairwise((edges - left_out).tolist())]

    @classmethod
    def of(cls, words: Sequence[str]) -> Numbers:
        """Return the numbers of a document, which can have a sign or an exponent."""
        strange = [number for number, word in enumerate(words) if not NUMBER.fullmatch(word)]
        if not strange:
            return cls([" ".join(words).encode("ascii")])
        plain = list(words)
        for number in strange:
            plain[number] = "0"
        made = cls([" ".join(plain).encode("ascii")])
        encoded = [*map(str.encode, words), _MISSING]
        made._set_printed(b" ".join([*encoded, b""]), np.array(list(map(len, encoded))))
        made._set_aside(strange)
        return made

    def _set_printed(self, printed: bytes, lengths: Ints) -> None:
        """Set the text of all numbers, each followed by a blank."""
        self._printed, self._lengths, self._ends = printed, lengths, np.cumsum(lengths + 1) - 1

    def _set_aside(self, numbers: Iterable[int]) -> None:
        """Mark numbers as uncertain."""
        for number in numbers:
            self.is_any[number] = bool(self.text(number).strip("-0."))
            self.digits[number], self.counts[number] = UNCERTAIN, -1

    def text(self, at: int) -> str:
        """Return a number as printed."""
        end = self._ends[at]
        return self._printed[end - self._lengths[at] : end].decode()

    def texts(self, at: Ints) -> pl.Series:
        """Return numbers as printed."""
        where = pl.DataFrame({"start": self._ends[at] - self._lengths[at], "length": self._lengths[at]})
        words = pl.lit(self._printed).bin.slice("start", "length").cast(pl.String)
        return where.select_seq(text=words).to_series()

    def exact(self, at: Ints) -> Ints:
        """Return what distinguishes numbers from all that are printed otherwise."""
        digits = self.digits[at]
        for index in zip(*np.nonzero(digits == UNCERTAIN), strict=True):
            digits[index] = hash(self.text(at[index]))
        return np.stack([digits, self._lengths[at], self.decimals[at]], axis=-1)

    def are_same(self, at: Ints, known: Ints) -> Bools:
        """Return whether all numbers in a row are printed like those whose `exact` is known."""
        same: Bools = (self.exact(at) == known).all(axis=(1, 2))
        return same


UNCERTAIN: Final = 2**53
_MOST_PRINTED: Final = 30
_MISSING: Final = b"1"
"""The text of the missing number, which must not be 0 so that items without a gate exist."""
_MARK, _POINT, _HIDDEN = 0xFE, 0xFD, 0xFC
"""Codes that no text contains."""
_DIGITS: Final = b"0123456789"
_ALL_BUT_NUMBERS: Final = bytes(code for code in range(2**8) if code not in [*_DIGITS, _MARK, _POINT])
_BLANKS_AND_POINTS: Final = bytes.maketrans(bytes([_MARK, _POINT]), b" .")
