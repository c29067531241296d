"""Finds what only the logs of one format have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from fsbench_kit.formats.word_search import LONG, places_of_words

_REACH: Final = 400
"""So far around its word a signature reaches."""
_NO_WIDTH: Final = re.compile(r"(?:\\b|\(\?<[!=][^()]*\))*")


class Signatures:
    r"""Finds the signatures of a format in a text, fast where there are none.

    Every text is searched for the signatures of all formats, and most of them are not there. A search for a fixed
    word is far cheaper than one for an expression, which is tried only where its word stands.

    Parameters
    ----------
    signatures
        Word -> regular expression: the word stands in the expression, outside of its groups, and what can stand
        before it in a text is short.
    flags
        Of the expressions. With ``re.IGNORECASE`` the words are in small letters.

    Examples
    --------
    >>> list(Signatures({"jobs": r"\d+ jobs"})("2 jobs, then 3 jobs"))
    [0, 13]
    """

    def __init__(self, signatures: dict[str, str], flags: re.RegexFlag = re.NOFLAG) -> None:
        self._signatures = [_signature(word, pattern, flags) for word, pattern in signatures.items()]
        self._ignores_case = bool(flags & re.IGNORECASE)
        _WORDS.update(map(str.lower, signatures))
        _places_of_all.cache_clear()

    def __call__(self, chars: str) -> Iterator[int]:
        """Yield where the signatures stand, in the text's order."""
        where = _lower(chars) if self._ignores_case else chars
        of_words = _places_of_all(chars) if len(chars) >= LONG else None
        found: list[int] = []
        for each in self._signatures:
            if of_words is not None:
                at_any_case = of_words[each.word.lower()]
                found += each.found(chars, (at for at in at_any_case if where.startswith(each.word, at)))
            elif each.rarest in where and each.word in where:  # a single character is found far faster
                found += each.found(chars, _places(each.word, where))
        yield from sorted(found)


_WORDS: Final[set[str]] = set()
"""The words of all signatures, in small letters."""


def _places(word: str, chars: str) -> Iterator[int]:
    at = chars.find(word)
    while at >= 0:
        yield at
        at = chars.find(word, at + 1)


@lru_cache(maxsize=1)
def _places_of_all(chars: str) -> dict[str, list[int]]:
    """Return where in a text the words of all signatures stand, whatever the case of their letters."""
    return places_of_words(chars, _WORDS, ignores_case=True)


@lru_cache(maxsize=1)
def _lower(chars: str) -> str:
    # A capital I with a dot is the one letter that two small ones stand for.
    return chars.replace("\u0130", "I").lower()


class _Signature(NamedTuple):
    """A signature: a word in it, the rarest character of that, and what matches from the word on.

    The last one is missing where nothing stands before the word.
    """

    word: str
    rarest: str
    whole: re.Pattern[str]
    rest: re.Pattern[str] | None

    def found(self, chars: str, places: Iterator[int]) -> Iterator[int]:
        """Yield where in a text it stands, of which is known where its word stands."""
        end = 0
        for at in places:
            match = self._match(chars, at, end) if at >= end else None
            if match is not None:
                yield match.start()
                end = match.end()

    def _match(self, chars: str, at: int, position: int) -> re.Match[str] | None:
        if self.rest is None:
            return self.whole.match(chars, at)
        rest = self.rest.match(chars, at)
        if rest is None:
            return None
        match = self.whole.search(chars, max(position, at - _REACH), rest.end() + _REACH)
        return match if match is not None and match.start() <= at else None


_FREQUENT: Final = "ghbmdflcuonsriat,:e. 0"
"""Characters of logs in the order of their frequency, which is less for all others."""


def _signature(word: str, pattern: str, flags: re.RegexFlag) -> _Signature:
    found = re.search(
        rf"(?<!\\)(?:{re.escape(word)}|{re.escape(re.escape(word))})", pattern, flags & re.IGNORECASE
    )
    if found is None:
        raise ValueError(f"{word!r} does not stand in {pattern!r}")
    is_first = _NO_WIDTH.fullmatch(pattern, 0, found.start()) is not None
    rest = None if is_first else re.compile(pattern[found.start() :], flags)
    rarest = min(word, key=_FREQUENT.find)
    return _Signature(word, rarest, re.compile(pattern, flags), rest)
