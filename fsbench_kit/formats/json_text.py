"""Reads JSON so that each number can be found again where it is printed.

The decoder of the standard library, which is compiled, puts the ordinal of each number in place of the number.
Where the numbers stand is found in one pass over the characters: outside of strings nothing else has digits. The
bins of latencies, which are most of a document that has them, are not decoded but read as columns. Only what is no
JSON is left to the tolerant decoder, which is slow.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import accumulate, count, pairwise
from json import JSONDecoder
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import numpy as np

from fsbench_kit.formats import loose_json
from fsbench_kit.formats.loose_json import MOST_DIGITS, Counts, Document, Object
from fsbench_kit.formats.text import codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def decode(chars: str, start: int, first: int = 0) -> Document:
    """Decode the object that begins at a position, as far as it goes; its numbers count from `first`."""
    return strictly(chars, start, first) or loose_json.decode(chars, start, first)


def strictly(chars: str, start: int, first: int = 0) -> Document | None:
    """Decode an object, or return ``None`` where it is not whole, no JSON, or has a key twice."""
    # One that is printed on lines of its own ends where a line begins with its bracket.
    is_on_lines = chars.startswith("{\n", start) and (start == 0 or chars[start - 1] == "\n")
    end = chars.find("\n}", start) + 2 if is_on_lines else 1
    if end > 1:
        cut = without_bins(chars, start, end)
        if cut is not None:
            return _decoded(chars, 0, first, cut)
    return _decoded(chars, start, first)


def decode_cut(cut: Cut) -> Document | None:
    """Decode an object without its bins, as a text of its own."""
    stays = np.zeros(1, np.intp)
    return _decoded(cut.chars, 0, 0, cut._replace(places=stays[:0], moved=stays))


class Cut(NamedTuple):
    """An object without its bins.

    Attributes
    ----------
    chars
        What is left of it.
    bins
        The bins.
    places
        Where they stood in what is left.
    moved
        By how much what stands before the first of them, and behind each, stands further back in the text.
    """

    chars: str
    bins: list[Counts]
    places: NDArray[np.intp]
    moved: NDArray[np.intp]

    def origins(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where characters stand in the text."""
        return places + self.moved[np.searchsorted(self.places, places)]


def _decoded(text: str, start: int, first: int, cut: Cut | None = None) -> Document | None:
    chars = text if cut is None else cut.chars
    ordinals, pairs = count(first), 0

    def counted(content: Object) -> Object:
        nonlocal pairs
        pairs += len(content)
        return content

    ordinal = partial(next, ordinals)  # the text of the number is the default of `next`, which is never used
    bins = iter(cut.bins if cut is not None else ())
    constant: Callable[[str], Counts] = _refuse if cut is None else lambda _: next(bins)
    decoder = JSONDecoder(parse_int=ordinal, parse_float=ordinal, parse_constant=constant, object_hook=counted)
    try:
        content, end = decoder.raw_decode(chars, start)
    except (ValueError, RecursionError):
        return None
    starts, ends, colons = _numbers(chars[start:end])
    if first + len(starts) != next(ordinals) or colons != pairs:
        return None
    starts, ends = starts + start, ends + start
    if cut is not None:
        starts, ends = cut.origins(starts), cut.origins(ends)
        start, end = int(cut.moved[0]), int(cut.origins(np.array(end)))
    return Document(
        start,
        end,
        content,
        text,
        starts=starts.tolist(),
        ends=ends.tolist(),
        is_read=bytearray(len(starts)),
        is_whole=True,
        bins=[each for each in cut.bins if each.end <= end] if cut is not None else [],
    )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


_IN_NUMBER: Final = bytes(chr(code) in "0123456789+-.eE" for code in range(2**8))
_QUOTE, _COLON, _MINUS, _NINE = b'":-9'
_ESCAPE: Final = re.compile(r"\\.")


def _numbers(chars: str) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
    """Return where the numbers of an object begin and end, and how many keys it has."""
    if "\\" in chars:
        chars = _ESCAPE.sub("__", chars)
    found = codes(chars)
    # Counted modulo 2^8, quotes are as even or odd as they are.
    outside = (np.cumsum(found == _QUOTE, dtype=np.uint8) & 1) == 0
    in_number = np.frombuffer(found.tobytes().translate(_IN_NUMBER), bool) & outside
    edges = np.flatnonzero(in_number[1:] != in_number[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    begins = found[starts]
    are_numbers = (begins <= _NINE) & (begins >= _MINUS)  # and no letters of "true"
    return starts[are_numbers], ends[are_numbers], int(np.count_nonzero((found == _COLON) & outside))


# Bins, of which each has its line: "1234" : 5,

_BINS: Final = re.compile(r'"bins"\s*:\s*(?=\{)')
_ENTRY: Final = re.compile(rb'\s*""(\s*:\s*),')
_DIGITS: Final = b"0123456789"
_ALL_BUT_DIGITS: Final = bytes(code if code in _DIGITS else ord(" ") for code in range(2**8))
_POWERS: Final = 10 ** np.arange(1, MOST_DIGITS + 1)
_CONSTANT: Final = "NaN"
"""What stands for bins in what is left of an object."""


def without_bins(chars: str, start: int, end: int) -> Cut | None:
    """Take the bins out of an object; ``None`` where there are none, or any is not printed as fio prints it."""
    if chars.find('"bins"', start, end) < 0:
        return None
    whole = chars[start:end]
    if not whole.isascii() or _CONSTANT in whole or "Infinity" in whole:
        return None
    spans = [(at, whole.find("}", at) + 1) for match in _BINS.finditer(whole) if (at := match.end())]
    spans = [(begin, until) for begin, until in spans if whole.find('"', begin, until) > 0]
    if not any(whole.find(",", begin, until) > 0 for begin, until in spans):
        return None
    bins = _columns([whole[begin:until].encode() for begin, until in spans], [start + begin for begin, _ in spans])
    if bins is None:
        return None
    begins, untils = np.array(spans).T
    moved = np.cumsum([start, *(untils - begins - len(_CONSTANT))])
    pieces = [whole[until:begin] for until, begin in zip([0, *untils], [*begins, len(whole)], strict=True)]
    return Cut(_CONSTANT.join(pieces), bins, begins + start - moved[:-1], moved)


def _columns(objects: list[bytes], places: list[int]) -> list[Counts] | None:
    """Return some objects that begin in some places, if they hold nothing but whole numbers, printed alike."""
    together = b"".join(objects)
    numbers = [each.count(b",") + 1 for each in objects]
    skeleton = together.translate(None, _DIGITS)
    first = next(each for each in objects if b"," in each).translate(None, _DIGITS)
    entry = first[1 : first.find(b",") + 1]
    match = _ENTRY.fullmatch(entry)
    tail = first[len(entry) * (first.count(b",") + 1) : first.find(b"}")]
    as_printed = b"".join([b"{" + entry * (number - 1) + entry[:-1] + tail + b"}" for number in numbers])
    if match is None or tail.strip() or skeleton != as_printed:
        return None
    found = np.fromstring(together.translate(_ALL_BUT_DIGITS), np.int64, sep=" ")
    digits = np.searchsorted(_POWERS, found, "right") + 1
    # Where each number has its place and no 0 before it, there are as many numbers and digits as there should be.
    lacks = b'""' in together or match[1] + b"," in together or match[1] + tail + b"}" in together
    if lacks or len(found) != 2 * sum(numbers) or digits.sum() != len(together) - len(skeleton):
        return None
    reach = np.cumsum(digits)
    ends = [2 * end for end in accumulate(numbers, initial=0)]
    counts = [
        Counts(
            place,
            place + len(each),
            found[begin:end:2],
            found[begin + 1 : end : 2],
            place
            + len(entry) * np.arange(1, number + 1)
            + reach[begin:end:2]
            - (reach[begin - 1] if begin else 0),
            step=entry.count(b"\n"),
        )
        for place, each, number, (begin, end) in zip(places, objects, numbers, pairwise(ends), strict=True)
    ]
    rises = np.diff(found[0::2]) > 0
    rises[[end // 2 - 1 for end in ends[1:-1]]] = True
    return counts if rises.all() and digits.max() <= MOST_DIGITS else None
