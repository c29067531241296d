"""Finds many fixed words in a text at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Final

import numpy as np
import polars as pl

LONG: Final = 2**14
"""The length of a text from which one search for all words is faster than one for each."""


def places_of_words(chars: str, words: Collection[str], *, ignores_case: bool = False) -> dict[str, list[int]]:
    """Return the positions of words in a text; to ignore the case of ASCII letters, give them in lower case.

    Examples
    --------
    >>> places_of_words("é IOPS=7, iops=8", ["iops=", "ps"], ignores_case=True)
    {'iops=': [2, 10], 'ps': [4, 12]}
    """
    if not words:
        return {}
    data = chars.encode("utf-8", "replace")
    if ignores_case:
        data = data.lower()  # of bytes, these are ASCII letters only
    text = data.decode()
    found = pl.Series([text]).str.find_many(list(words), overlapping=True)
    offsets = found.explode().drop_nulls().unique().sort().to_numpy()
    inside = np.flatnonzero(np.frombuffer(data, np.uint8) & 0b1100_0000 == 0b1000_0000)  # continuation bytes
    by_first: dict[str, list[str]] = defaultdict(list)
    for word in words:
        by_first[word[0]].append(word)
    places: dict[str, list[int]] = {word: [] for word in words}
    for at in (offsets - np.searchsorted(inside, offsets)).tolist():
        for word in by_first[text[at]]:
            if text.startswith(word, at):
                places[word].append(at)
    return places
