"""Finds the numbers of many reports at once, and holds them as columns instead of as texts."""

from __future__ import annotations

import re
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats import digits
from fsbench_kit.formats.blocks import blocks
from fsbench_kit.formats.clean import numbers as clean_numbers
from fsbench_kit.formats.fio_columns.lots import lots
from fsbench_kit.formats.loose_json import MOST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
        every = [*texts, _MISSING]  # whose layout and end are left out below
        self._chars = bytearray(b"\n").join([b"\n" * (digits.BEFORE - 1), *every, b""])
        edges = np.cumsum([digits.BEFORE, *(len(text) + 1 for text in every)])
        chars = np.frombuffer(self._chars, np.uint8)
        for edge, part in zip(edges.tolist(), hidden, strict=False):
            chars[edge + part.start : edge + part.stop] = _HIDDEN
        several = lots(range(len(every)), lambda text: len(every[text]), _AT_ONCE)
        found = [_found(self._chars, edges[some[0] : some[-1] + 2]) for some in several]
        layouts, sizes, *columns = zip(*found, strict=True)
        self.layouts = list(chain.from_iterable(layouts))[:-1]
        self.first: list[int] = [0, *accumulate(chain.from_iterable(sizes))][:-1]
        self._starts, self.digits, self._lengths, self.decimals = map(np.concatenate, columns)
        del found, columns  # which would take as much memory again
        has_point = self.decimals > 0
        self.is_any = self.digits > 0
        self.counts = np.where(has_point, -1, self.digits)
        number_of_digits = self._lengths - has_point
        self._set_aside([*np.flatnonzero(number_of_digits > MOST_DIGITS).tolist(), -1])
        are_long = np.flatnonzero(number_of_digits > _MOST_PRINTED)
        self.odd_texts = {*(np.searchsorted(self.first, are_long, "right") - 1).tolist()}

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
        lengths = np.array(list(map(len, encoded)))
        made._chars, made._lengths = bytearray(b"\n").join([*encoded, b""]), lengths
        made._starts = np.cumsum(lengths + 1) - lengths - 1
        made._set_aside(strange)
        return made

    def _set_aside(self, numbers: Iterable[int]) -> None:
        """Mark numbers as uncertain."""
        for number in numbers:
            self.is_any[number] = bool(self.text(number).strip("-0."))
            self.digits[number], self.counts[number] = UNCERTAIN, -1

    def text(self, at: int) -> str:
        """Return a number as printed."""
        start = self._starts[at]
        return self._chars[start : start + self._lengths[at]].decode()

    def texts(self, at: Ints) -> pl.Series:
        """Return numbers as printed."""
        if not len(at):
            return pl.Series(dtype=pl.String)
        # Copied from the texts first: slices would keep all of these in memory.
        lines = b"".join(self._lines(at[some]) for some in blocks(len(at))).decode()
        return pl.Series([lines[:-1]]).str.split("\n").explode()

    def _lines(self, at: Ints) -> bytes:
        """Return numbers as printed, each followed by a line end, as each is by some character in its text."""
        starts, lengths = self._starts[at], self._lengths[at] + 1
        ends = np.cumsum(lengths)
        each = np.ones(ends[-1], np.intp)
        each[0], each[ends[:-1]] = starts[0], 1 + starts[1:] - (starts + lengths)[:-1]
        chars = np.frombuffer(self._chars, np.uint8)[np.cumsum(each, out=each)]
        chars[ends - 1] = ord("\n")
        return chars.tobytes()

    def exact(self, at: Ints) -> Ints:
        """Return what distinguishes numbers from all that are printed otherwise."""
        own = self.digits[at]
        for index in zip(*np.nonzero(own == UNCERTAIN), strict=True):
            own[index] = hash(self.text(at[index]))
        return np.stack([own, self._lengths[at], self.decimals[at]], axis=-1)

    def are_same(self, at: Ints, known: Ints) -> Bools:
        """Return whether all numbers in a row are printed like those whose `exact` is known."""
        same: Bools = (self.exact(at) == known).all(axis=(1, 2))
        return same


class _Found(NamedTuple):
    """The numbers of some texts.

    Attributes
    ----------
    layouts, sizes
        The text between the numbers of each text, and how many numbers it has.
    starts, lengths
        Where each number stands.
    digits, decimals
        See `Numbers`.
    """

    layouts: list[bytes]
    sizes: list[int]
    starts: Ints
    digits: Ints
    lengths: NDArray[np.int32]
    decimals: NDArray[np.int32]


def _found(text: bytearray, edges: Ints) -> _Found:
    """Find the numbers of some texts, given where each begins in a larger one, and where the last one ends."""
    before = edges[0] - 1
    own = bytearray(memoryview(text)[before : edges[-1]])
    chars = np.frombuffer(own, np.uint8)
    starts, ends, whole = digits.runs(chars)
    lengths = ends - starts
    values = digits.integers(text, ends + before, lengths)
    numbers, decimals = digits.numbers(starts, ends, whole)
    values[whole] = values[whole] * _POWERS[np.minimum(decimals[whole], MOST_DIGITS)] + values[whole + 1]
    starts, lengths, decimals, values = (column[numbers] for column in (starts, lengths, decimals, values))
    chars[starts], chars[ends[whole]] = _MARK, _POINT
    rest = own.translate(None, _DIGITS)
    first = np.searchsorted(starts, edges - before)
    left_out = np.append(0, np.cumsum(lengths + decimals - 1))[first]
    layouts = _cut(rest, (edges - before - left_out).tolist())
    lengths += decimals + (decimals > 0)
    narrow = (column.astype(np.int32) for column in (lengths, decimals))
    return _Found(list(layouts), np.diff(first).tolist(), starts + before, values, *narrow)


def _cut(rest: bytearray, edges: list[int]) -> Iterator[bytes]:
    """Yield the texts between edges, with one object for those that equal the last one of their length.

    So each is copied and hashed only once. The last character before an edge belongs to no text.
    """
    last: dict[int, bytes] = {}
    for start, end in pairwise(edges):
        if (known := last.get(end - start)) is None or not rest.startswith(known, start):
            known = last[end - start] = bytes(rest[start : end - 1])
        yield known


_POWERS: Final = 10 ** np.arange(MOST_DIGITS + 1)
_AT_ONCE: Final = 2**18
"""How much text is looked at in one go, so that what is made of each character on the way stays in the caches."""
UNCERTAIN: Final = 2**53
_MOST_PRINTED: Final = 30
_MISSING: Final = b"1"
"""The text of the missing number, which must not be 0 so that items without a gate exist."""
_MARK, _POINT, _HIDDEN = 0xFE, 0xFD, 0xFC
"""Codes that no text contains."""
_DIGITS: Final = b"0123456789"
