"""Finds the runs of digits in a text, and converts them to integers, eight digits at a time."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from fsbench_kit.formats.blocks import blocks

Ints = NDArray[np.int64]

BEFORE: Final = 7
"""The number of characters that must precede the first run of digits to be converted."""

BLOCK: Final = 2**16
"""The number of characters that are looked at together."""


def runs(chars: NDArray[np.uint8]) -> tuple[Ints, Ints, Ints]:
    """Return the starts and ends of all runs of digits, and the indices of those that decimals follow.

    The first and the last character must not be digits.
    """
    edges = np.concatenate([_edges(chars, some) for some in blocks(len(chars), BLOCK)])
    starts, ends = edges[::2].copy(), edges[1::2].copy()
    has_point = starts[1:] - ends[:-1] == 1
    has_point &= chars[ends[:-1]] == ord(".")
    whole = np.flatnonzero(has_point)
    if (follows := whole[1:] - whole[:-1] == 1).any():  # in 1.2.3, the first two digits are one number
        ordinals = np.arange(len(whole))
        begins = np.where(np.append(False, follows), 0, ordinals)
        whole = whole[(ordinals - np.maximum.accumulate(begins)) % 2 == 0]
    return starts, ends, whole


def numbers(starts: Ints, ends: Ints, whole: Ints) -> tuple[Ints, Ints]:
    """Return which runs begin a number, and for each run how many decimals follow it."""
    decimals = np.zeros(len(starts), np.int64)
    decimals[whole] = ends[whole + 1] - starts[whole + 1]
    begins = np.ones(len(starts), np.bool_)
    begins[whole + 1] = False
    return np.flatnonzero(begins), decimals


def _edges(chars: NDArray[np.uint8], some: slice) -> Ints:
    """Return where runs of digits start or end after the first character of a block, up to that of the next."""
    above = chars[some.start : some.stop + 1] - np.uint8(ord("0"))
    are_digits = above.view(np.bool_)  # the same memory
    np.less(above, 10, out=are_digits)
    edges = np.flatnonzero(are_digits[1:] != are_digits[:-1])
    edges += some.start + 1
    return edges


def integers(text: bytearray, ends: Ints, lengths: Ints) -> Ints:
    """Return runs of digits as integers, given their ends and lengths; for more than 18 digits, any integer."""
    windows = np.ndarray(len(text) - BEFORE, "<u8", text, strides=(1,))
    values = _of_eight(windows, ends - 8, lengths)
    for done in (8, 16):
        longer = np.flatnonzero(lengths > done)
        values[longer] += _of_eight(windows, ends[longer] - 8 - done, lengths[longer] - done) * 10**done
    return values


def _of_eight(windows: NDArray[np.uint64], starts: Ints, lengths: Ints) -> Ints:
    """Return the integers of the last digits of windows of eight characters, which are summed within the words.

    Neighbouring digits make numbers of two in every other byte, and these the integer: see
    https://kholdstare.github.io/technical/2020/05/26/faster-integer-parsing.html.
    """
    words = windows[starts]
    words &= _LAST[np.minimum(lengths, 8)]
    pairs = words * _TEN
    pairs += words >> _BYTE
    other = (pairs >> _TWO_BYTES) & _EVERY_OTHER_PAIR
    pairs &= _EVERY_OTHER_PAIR
    pairs *= _OF_FIRST_AND_THIRD
    pairs += other * _OF_SECOND_AND_FOURTH
    return (pairs >> _FOUR_BYTES).view(np.int64)


_LAST: Final = np.array(
    [sum(0x0F << 8 * place for place in range(8 - number, 8)) for number in range(9)], np.uint64
)
"""What leaves the values of the last digits of a window, by their number."""
_TEN, _BYTE, _TWO_BYTES, _FOUR_BYTES = map(np.uint64, (10, 8, 16, 32))
_EVERY_OTHER_PAIR: Final = np.uint64(0x000000FF000000FF)
_OF_FIRST_AND_THIRD: Final = np.uint64(10**6 << 32 | 100)
_OF_SECOND_AND_FOURTH: Final = np.uint64(10**4 << 32 | 1)
"""By what pairs are multiplied so that the upper half of the sum is the integer."""
