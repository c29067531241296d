"""Reads JSON so that each number can be found again where it is printed.

The decoder of the standard library, which is compiled, puts the ordinal of each number in place of the number.
Where the numbers stand is found in one pass over the characters: outside of strings nothing else has digits. Only
what is no JSON is left to the tolerant decoder, which is slow.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import count
from json import JSONDecoder
from typing import TYPE_CHECKING, Final, NoReturn

import numpy as np

from fsbench_kit.formats import loose_json
from fsbench_kit.formats.loose_json import Document, Object
from fsbench_kit.formats.text import LAST_CODE, codes

if TYPE_CHECKING:
    from numpy.typing import NDArray


def decode(chars: str, start: int, first: int = 0) -> Document:
    """Decode the object that begins at a position, as far as it goes; its numbers count from `first`."""
    return _strictly(chars, start, first) or loose_json.decode(chars, start, first)


def _strictly(chars: str, start: int, first: int) -> Document | None:
    """Decode an object, or return ``None`` where it is not whole, no JSON, or has a key twice."""
    ordinals, pairs = count(first), 0

    def counted(content: Object) -> Object:
        nonlocal pairs
        pairs += len(content)
        return content

    ordinal = partial(next, ordinals)  # the text of the number is the default of `next`, which is never used
    decoder = JSONDecoder(parse_int=ordinal, parse_float=ordinal, parse_constant=_refuse, object_hook=counted)
    try:
        content, end = decoder.raw_decode(chars, start)
    except (ValueError, RecursionError):
        return None
    starts, ends, colons = _numbers(chars[start:end])
    if first + len(starts) != next(ordinals) or colons != pairs:
        return None
    positions = (starts + start).tolist()
    return Document(
        start,
        end,
        content,
        texts=[chars[begin:until] for begin, until in zip(positions, (ends + start).tolist(), strict=True)],
        positions=positions,
        is_read=bytearray(len(positions)),
        is_whole=True,
    )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


_ESCAPE: Final = re.compile(r"\\.")
_QUOTE, _COLON = ord('"'), ord(":")
_IN_NUMBER: Final = np.zeros(LAST_CODE + 1, bool)
_IN_NUMBER[list(b"0123456789+-.eE")] = True
_BEGINS_NUMBER: Final = np.zeros(LAST_CODE + 1, bool)
_BEGINS_NUMBER[list(b"0123456789-")] = True


def _numbers(chars: str) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
    """Return where the numbers of an object begin and end, and how many keys it has."""
    if "\\" in chars:
        chars = _ESCAPE.sub("__", chars)
    found = codes(chars)
    outside = ~np.logical_xor.accumulate(found == _QUOTE)
    in_number = _IN_NUMBER[found] & outside
    edges = np.flatnonzero(in_number[1:] != in_number[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    are_numbers = _BEGINS_NUMBER[found[starts]]  # and no letters of "true"
    return starts[are_numbers], ends[are_numbers], int(np.count_nonzero((found == _COLON) & outside))
