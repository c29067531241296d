"""Restores the line breaks of iozone's tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final

from fsbench_kit.formats.iozone.tables import BREAK, GAP, HEADING, S
from fsbench_kit.formats.text import Edit, Text

_COLLAPSED: Final = rf"{HEADING}{GAP}+(?P<numbers>\d{{1,20}}(?:{S}+\d{{1,20}}){{2,}})"
_ROWS: Final = rf"{HEADING}(?P<rows>(?:{S}*\n\s*\d{{1,20}}(?:{S}+\d{{1,20}})*(?={S}*(?:\n|\Z)))+)"


_pattern: Final = cache(re.compile)
"""Compiles a pattern once, when the first log needs it: these take longer than all others together."""


def with_lines(text: Text) -> Text:
    """Return a text in which each row of a table is on its own line again."""
    edits = sorted((*_collapsed(text.chars), *_broken(text.chars)), key=lambda edit: edit.start)
    return text.edited(edits) if edits else text


def _collapsed(chars: str) -> Iterator[Edit]:
    """Separate the rows that follow the heading on its line, if a copy lost its line breaks.

    All rows have the same number of figures, and are recognized by their sizes: the record size is a power of two,
    at most the file size, and the pairs are ascending.
    """
    for match in _pattern(_COLLAPSED).finditer(chars):
        numbers = list(re.finditer(r"\d+", match["numbers"]))
        columns = len(re.findall(r"[a-z]+", match["names"]))
        pairs = [(int(one[0]), int(other[0])) for one, other in pairwise(numbers)]
        widths = [width for width in range(3, columns + 3) if _are_sizes(pairs[::width])]
        whole = [width for width in widths if len(numbers) % width == 0]
        # The last row may be cut off if only one width is possible.
        for width in whole[:1] or (widths if len(widths) == 1 and len(numbers) > 2 * widths[0] else []):
            ends = [match.start("numbers") + number.end() for number in numbers[width - 1 :: width]]
            yield from (Edit(end, end, "\n") for end in (match.end("names"), *ends))


def _broken(chars: str) -> Iterator[Edit]:
    """Join rows that were wrapped by a mail: a line without sizes continues the line above it.

    Rows are joined only up to the number of figures in the rows that were not wrapped.
    """
    for match in _pattern(_ROWS).finditer(chars):
        rows: list[list[re.Match[str]]] = []
        for line in re.finditer(r"\d[\d\s]*?(?=\s*(?:\n|\Z))", match["rows"]):
            sizes = _sizes(line)
            if sizes is not None and (not rows or sizes >= (_sizes(rows[-1][0]) or sizes)):
                rows.append([line])
            elif rows:
                rows[-1].append(line)
        counts = [sum(len(line[0].split()) for line in row) for row in rows]
        whole = [count for count, row in zip(counts, rows, strict=True) if len(row) == 1]
        most = max(whole, default=len(re.findall(r"[a-z]+", match["names"])) + 2)
        for count, row in zip(counts, rows, strict=True):
            if count <= most:
                for line, following in pairwise(row):
                    start = match.start("rows")
                    yield Edit(start + line.end(), start + following.start(), BREAK)


def _sizes(line: re.Match[str]) -> tuple[int, int] | None:
    """Return the sizes at the beginning of a line, if it can be the beginning of a row."""
    numbers = [int(number) for number in line[0].split()[:2]]
    return (numbers[0], numbers[1]) if len(numbers) > 1 and _are_sizes([(numbers[0], numbers[1])]) else None


def _are_sizes(pairs: list[tuple[int, int]]) -> bool:
    """Whether these can be the file and record sizes of a table."""
    return all(0 < record <= file and record.bit_count() == 1 for file, record in pairs) and all(
        before < after for before, after in pairwise(pairs)
    )
