"""Finds the numbers of many reports at once, and holds them as columns instead of as texts."""

from __future__ import annotations

import re
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats.clean import numbers as clean_numbers
from fsbench_kit.formats.fio_columns.lots import lots
from fsbench_kit.formats.loose_json import MOST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NUMBER: Final = re.compile(clean_numbers.NUMBER)


class Numbers:
    """The numbers in ASCII texts, concatenated; the last one represents a missing number.

    Of the texts, nothing is kept but their numbers and layouts.

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
    is_any
        Whether each is not 0; true for the missing number.
    odd_texts
        The indices of texts with a number of more digits than fio prints.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        found = [*map(_found, lots(texts, len)), _found([_MISSING])]
        self.digits, self.decimals, self._lengths = (
            np.concatenate(parts)
            for parts in zip(*((of.digits, of.decimals, of.lengths) for of in found), strict=True)
        )
        self._chars = np.frombuffer(b"".join(of.chars for of in found), np.uint8)
        self._starts = np.cumsum(self._lengths + 1) - self._lengths - 1
        known: dict[bytes, bytes] = {}  # most are the same
        *of_texts, _ = chain.from_iterable(of.layouts for of in found)
        self.layouts = [known.setdefault(layout, layout) for layout in of_texts]
        self.first = [*accumulate(chain.from_iterable(of.numbers for of in found), initial=0)][:-1]
        self.is_any = self.digits > 0
        number_of_digits = self._lengths - (self.decimals > 0)
        self._aside: list[int] = []
        self._set_aside([*np.flatnonzero(number_of_digits > MOST_DIGITS).tolist(), len(self.digits) - 1])
        are_long = np.flatnonzero(number_of_digits > _MOST_PRINTED)
        self.odd_texts = {*(np.searchsorted(self.first, are_long, "right") - 1).tolist()}

    @classmethod
    def of(cls, words: Sequence[str]) -> Numbers:
        """Return the numbers of a document, which can have a sign or an exponent."""
        strange = [number for number, word in enumerate(words) if not NUMBER.fullmatch(word)]
        if not strange:
            return cls([" ".join(words)])
        plain = list(words)
        for number in strange:
            plain[number] = "0"
        made = cls([" ".join(plain)])
        encoded = [word.encode() for word in (*words, _MISSING)]
        made._chars = np.frombuffer(b" ".join(encoded), np.uint8)
        made._lengths = np.array(list(map(len, encoded)))
        made._starts = np.cumsum(made._lengths + 1) - made._lengths - 1
        made._set_aside(strange)
        return made

    def _set_aside(self, numbers: Iterable[int]) -> None:
        """Mark numbers as uncertain."""
        for number in numbers:
            self.is_any[number] = bool(self.text(number).strip("-0."))
            self.digits[number] = UNCERTAIN
            self._aside.append(number)

    def counts(self, at: Ints) -> Ints:
        """Return numbers as integers; -1 for those that are not integers or exceed fio's own counters."""
        is_count = (self.decimals[at] == 0) & ~np.isin(at, self._aside)
        return np.where(is_count, self.digits[at], -1)

    def text(self, at: int) -> str:
        """Return a number as printed."""
        start = self._starts[at]
        return self._chars[start : start + self._lengths[at]].tobytes().decode()

    def texts(self, at: Ints) -> pl.Series:
        """Return numbers as printed."""
        if not len(at):
            return pl.Series("text", [], pl.String)
        sizes = self._lengths[at] + 1
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1])
        places += np.repeat(self._starts[at] - (ends - sizes), sizes)
        chars = self._chars[places]
        chars[ends - 1] = ord(" ")
        return pl.Series("text", [chars[:-1].tobytes().decode()]).str.split(" ").explode()

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


class _Found(NamedTuple):
    """The numbers of some texts.

    Attributes
    ----------
    chars
        The numbers as printed, each followed by a blank.
    digits, decimals, layouts
        As in `Numbers`.
    lengths
        The number of characters of each.
    numbers
        How many each text has.
    """

    chars: bytes
    digits: Ints
    decimals: NDArray[np.int32]
    lengths: NDArray[np.int32]
    numbers: list[int]
    layouts: list[bytes]


def _found(texts: Sequence[str]) -> _Found:
    joined = "\n".join(["", *texts, ""]).encode("ascii")
    chars = np.frombuffer(bytearray(joined), np.uint8)
    starts, ends, decimals = clean_numbers.number_spans(chars)
    decimals = decimals[:-1]
    lengths, has_point = ends - starts, decimals > 0
    chars[(ends - 1 - decimals)[has_point]] = _POINT
    after = chars[ends]
    chars[ends] = _MARK
    printed = chars.tobytes().translate(_PRINTED, _ALL_BUT_NUMBERS)
    digits = _digits(printed, lengths, has_point)
    chars[ends] = after
    chars[starts] = _MARK
    edges = np.cumsum([1, *(len(text) + 1 for text in texts)])
    first = np.searchsorted(starts, edges)
    rest = chars.tobytes().translate(None, _DIGITS)
    left_out = np.append(0, np.cumsum(lengths - 1 - has_point))[first]
    layouts = [rest[start : end - 1] for start, end in pairwise((edges - left_out).tolist())]
    numbers = np.diff(first).tolist()
    return _Found(printed, digits, decimals.astype(np.int32), lengths.astype(np.int32), numbers, layouts)


def _digits(printed: bytes, lengths: Ints, has_point: Bools) -> Ints:
    """Return numbers without their points, or only the first digit of those that are too long for an integer."""
    are_too_long = np.flatnonzero(lengths - has_point > MOST_DIGITS).tolist()
    if are_too_long:
        chars, ends = bytearray(printed), np.cumsum(lengths + 1) - 1
        for number in are_too_long:
            chars[ends[number] - lengths[number] + 1 : ends[number]] = b"." * (lengths[number] - 1)
        printed = bytes(chars)
    return np.fromstring(printed.translate(None, b"."), np.int64, sep=" ")


UNCERTAIN: Final = 2**53
_MOST_PRINTED: Final = 30
_MISSING: Final = "1"
"""The text of the missing number, which must not be 0 so that items without a gate exist."""
_MARK, _POINT = 0xFE, 0xFD
"""Codes that no text contains."""
_DIGITS: Final = b"0123456789"
_ALL_BUT_NUMBERS: Final = bytes(code for code in range(2**8) if code not in [*_DIGITS, _MARK, _POINT])
_PRINTED: Final = bytes({_MARK: ord(" "), _POINT: ord(".")}.get(code, code) for code in range(2**8))
