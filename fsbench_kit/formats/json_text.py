"""Decodes JSON while keeping track of where each number is printed.

The compiled decoder of the standard library replaces each number by its ordinal. The positions of the numbers are
found in one pass over the characters, because outside of strings only numbers have digits. Bins of latencies,
which make up most of a document that has them, are not decoded but read as columns. Only invalid JSON is passed to
the tolerant decoder, which is slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, count
from json import JSONDecoder
from typing import Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from fsbench_kit.formats import loose_json
from fsbench_kit.formats.loose_json import MOST_DIGITS, Counts, Document, Object
from fsbench_kit.formats.text import codes


def decode(chars: str, start: int, first: int = 0) -> Document:
    """Decode as much as possible of the object at a position; its numbers are counted from `first`."""
    return strictly(chars, start, first) or loose_json.decode(chars, start, first)


def strictly(chars: str, start: int, first: int = 0) -> Document | None:
    """Decode an object; return ``None`` if it is incomplete or invalid JSON, or has duplicate keys."""
    # An object on lines of its own ends where its bracket begins a line.
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
    return _decoded(str(cut.data, "ascii"), 0, 0, cut._replace(places=stays[:0], moved=stays))


class Cut(NamedTuple):
    """An object without its bins.

    Attributes
    ----------
    data
        The rest of its text.
    bins
        The bins.
    places
        The positions in the rest where they were removed.
    moved
        The offset from the rest to the original text, before the first of the bins and after each.
    heights
        The same in lines.
    """

    data: bytes | memoryview
    bins: list[Counts]
    places: NDArray[np.intp]
    moved: NDArray[np.intp]
    heights: NDArray[np.intp]

    def origins(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the positions of characters in the original text."""
        return places + self.moved[np.searchsorted(self.places, places)]


def _decoded(text: str, start: int, first: int, cut: Cut | None = None) -> Document | None:
    chars = text if cut is None else str(cut.data, "ascii")
    ordinals, pairs = count(first), 0

    def counted(content: Object) -> Object:
        nonlocal pairs
        pairs += len(content)
        return content

    ordinal = partial(next, ordinals)  # the text of the number becomes the default of `next`, which is never used
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
    raise ValueError(f"{constant} is not a number")


_IN_NUMBER: Final = bytes(chr(code) in "0123456789+-.eE" for code in range(2**8))
_QUOTE, _COLON, _MINUS, _ZERO, _NINE = b'":-09'
_ESCAPE: Final = re.compile(r"\\.")


def _numbers(chars: str) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
    """Return the starts and ends of the numbers in an object, and the number of its keys."""
    if "\\" in chars:
        chars = _ESCAPE.sub("__", chars)
    found = codes(chars)
    # Counting quotes modulo 2^8 preserves their parity.
    outside = (np.cumsum(found == _QUOTE, dtype=np.uint8) & 1) == 0
    in_number = np.frombuffer(found.tobytes().translate(_IN_NUMBER), bool) & outside
    edges = np.flatnonzero(in_number[1:] != in_number[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    begins = found[starts]
    are_numbers = (begins <= _NINE) & (begins >= _MINUS)  # excludes letters, as in "true"
    return starts[are_numbers], ends[are_numbers], int(np.count_nonzero((found == _COLON) & outside))


# Bins, each on its own line: "1234" : 5,

BINS_KEY: Final = b'"bins"'
_BINS: Final = re.compile(BINS_KEY + rb"\s*:\s*(?=\{)")
_ENTRY: Final = re.compile(rb'[ \t\n]*""[ \t\n]*:[ \t\n]*,')
_DIGITS: Final = b"0123456789"
_ALL_BUT_NUMBERS: Final = bytes(code for code in range(2**8) if code not in b'0123456789"')
_POWERS: Final = 10 ** np.arange(1, MOST_DIGITS + 1)
_CONSTANT: Final = b"NaN"
"""Replaces bins in the rest of an object."""


def without_bins(chars: str, start: int, end: int) -> Cut | None:
    """Remove the bins from an object; return ``None`` if there are none, or if some are not as fio prints them."""
    if not chars.isascii() or chars.find('"bins"', start, end) < 0:
        return None
    taken = taken_out(chars[start:end].encode("ascii"), end - start, start)
    return next(cuts([taken])) if taken is not None else None


class Taken(NamedTuple):
    """The parts of an object whose bins were removed.

    Attributes
    ----------
    data, places, moved, heights
        As in `Cut`.
    bins
        The text of all bins, concatenated.
    spans, numbers
        The start and end of each in the text, and its number of counts.
    entry, rest
        The text of a count without its digits, and the number of other characters in each of the bins.
    """

    data: bytes
    places: NDArray[np.intp]
    moved: NDArray[np.intp]
    heights: NDArray[np.intp]
    bins: bytes
    spans: list[tuple[int, int]]
    numbers: list[int]
    entry: bytes
    rest: int


def taken_out(data: bytes, end: int, start: int = 0) -> Taken | None:
    """Remove the bins from an object without reading their numbers.

    Parameters
    ----------
    data, end
        A text that begins with the object, and where it ends.
    start
        Where this text begins in the original one.
    """
    spans = list(_spans(data, end))
    objects = [data[begin:until] for begin, until in spans]
    first = next((each for each in objects if b"," in each), None)
    if first is None or not data.isascii():
        return None
    numbers = [each.count(b",") + 1 for each in objects]
    bins = b"".join(objects)
    printed = first.translate(None, _DIGITS)
    entry = printed[1 : printed.find(b",") + 1]
    tail = printed[len(entry) * (printed.count(b",") + 1) : -1]
    as_printed = b"".join([b"{" + entry * (number - 1) + entry[:-1] + tail + b"}" for number in numbers])
    if not _ENTRY.fullmatch(entry) or tail.strip(b" \t\n") or bins.translate(None, _DIGITS) != as_printed:
        return None
    begins, untils = [*(begin for begin, _ in spans), end], [0, *(until for _, until in spans)]
    left = _CONSTANT.join(data[until:begin] for until, begin in zip(untils, begins, strict=True))
    if left.count(_CONSTANT) > len(spans) or b"Infinity" in left:
        return None
    lengths = [until - begin - len(_CONSTANT) for begin, until in spans]
    moved = np.array([*accumulate(lengths, initial=0)])
    heights = [number * entry.count(b"\n") + tail.count(b"\n") for number in numbers]
    return Taken(
        left,
        np.array(begins[:-1]) - moved[:-1],
        moved + start,
        np.array([*accumulate(heights, initial=0)]),
        bins,
        [(start + begin, start + until) for begin, until in spans],
        numbers,
        entry,
        len(tail) + 1,
    )


def _spans(data: bytes, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of bins that are not empty."""
    position = 0
    while (position := data.find(BINS_KEY, position, end)) >= 0:
        match = _BINS.match(data, position)
        position += 1
        if match is not None:
            begin, position = match.end(), data.find(b"}", match.end(), end) + 1
            if data.find(b'"', begin, position) > 0:
                yield begin, position


def cuts(taken: Sequence[Taken]) -> Iterator[Cut | None]:
    """Read the bins that were removed from some objects, all at once; ``None`` if they are irregular."""
    counts = _counts(taken)
    if counts is not None:
        for each, bins in zip(taken, counts, strict=True):
            yield Cut(each.data, bins, each.places, each.moved, each.heights)
    elif len(taken) == 1:
        yield None
    else:
        yield from chain.from_iterable(cuts([each]) for each in taken)


def _counts(taken: Sequence[Taken]) -> Iterator[list[Counts]] | None:
    text = b"".join([each.bins for each in taken])
    found = np.fromstring(text.translate(None, _ALL_BUT_NUMBERS).replace(b'"', b" "), np.int64, sep=" ")
    numbers = np.array([number for each in taken for number in each.numbers])
    names, counts = found[0::2], found[1::2]
    if len(found) != 2 * numbers.sum():
        return None
    digits = np.searchsorted(_POWERS, found, "right") + 1
    before = np.cumsum(digits) - digits
    ends = np.cumsum(numbers)
    rises = np.diff(names, append=0) > 0
    rises[ends - 1] = True

    def of_each(values: Iterable[int]) -> NDArray[np.int64]:
        return np.repeat(list(values), numbers)

    lengths = [end - start for each in taken for start, end in each.spans]
    begins = of_each(np.cumsum(lengths) - lengths - before[2 * (ends - numbers)])
    steps = of_each(len(each.entry) for each in taken for _ in each.spans)
    ordinal = np.arange(1, len(names) + 1) - of_each(ends - numbers)
    starts = begins + steps * ordinal + before[1::2]
    quotes = of_each(each.entry.index(b'""') + 2 for each in taken for _ in each.spans)
    of_names = begins + steps * (ordinal - 1) + quotes + before[0::2]
    is_digit = np.frombuffer(text, np.uint8) - _ZERO <= _NINE - _ZERO
    # Each number begins where expected, without leading zeros.
    are_placed = all((is_digit[each] & ~is_digit[each - 1]).all() for each in (starts, of_names))
    rest = sum(len(each.numbers) * each.rest + sum(each.numbers) * len(each.entry) for each in taken)
    if not (are_placed and digits.sum() == len(text) - rest and digits.max() <= MOST_DIGITS and rises.all()):
        return None
    starts += of_each([start for each in taken for start, _ in each.spans] - (np.cumsum(lengths) - lengths))
    return _counts_of(taken, names, counts, starts)


def _counts_of(
    taken: Sequence[Taken], names: NDArray[np.int64], counts: NDArray[np.int64], starts: NDArray[np.intp]
) -> Iterator[list[Counts]]:
    edge = 0
    for each in taken:
        step, bins = each.entry.count(b"\n"), []
        for (start, end), number in zip(each.spans, each.numbers, strict=True):
            part = slice(edge, edge := edge + number)
            bins.append(Counts(start, end, names[part], counts[part], starts[part], step=step))
        yield bins
