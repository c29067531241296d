"""Finds what only the logs of one format have."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Signatures:
    r"""Finds the signatures of a format in a text, fast where there are none.

    Every text is searched for the signatures of all formats, and most of them are not there. A search for a fixed
    word is far cheaper than one for an expression, which is left out where its word is missing.

    Parameters
    ----------
    signatures
        Word -> regular expression: the word stands in whatever the expression matches.
    flags
        Of the expressions. With ``re.IGNORECASE`` the words are in small letters.

    Examples
    --------
    >>> list(Signatures({"jobs": r"\d+ jobs"})("2 jobs, then 3 jobs"))
    [0, 13]
    """

    def __init__(self, signatures: dict[str, str], flags: re.RegexFlag = re.NOFLAG) -> None:
        self.patterns = {word: re.compile(pattern, flags) for word, pattern in signatures.items()}
        self.ignores_case = bool(flags & re.IGNORECASE)

    def __call__(self, chars: str) -> Iterator[int]:
        """Yield where the signatures stand, in the text's order."""
        where = chars.lower() if self.ignores_case else chars
        found = (pattern.finditer(chars) for word, pattern in self.patterns.items() if word in where)
        yield from sorted(match.start() for match in chain.from_iterable(found))
