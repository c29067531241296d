"""Finds text that only the logs of one format contain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from fsbench_kit.formats.word_search import LONG, places_of_words

_REACH: Final = 400
"""The maximum distance of a signature's ends from its word."""
_NO_WIDTH: Final = re.compile(r"(?:\\b|\(\?<[!=][^()]*\))*")


class Signatures:
    r"""Finds the signatures of a format in a text, quickly if there are none.

    Every text is searched for the signatures of all formats, most of which are absent. Searching for a fixed word
    is far cheaper than for a regular expression, which is therefore tried only around its word.

    Parameters
    ----------
    signatures
        Word -> regular expression. The word must be part of the expression, outside of groups, and the match may
        have only a short text before it.
    flags
        Flags for the expressions. With ``re.IGNORECASE``, the words must be in lower case.

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
        """Yield the positions of the signatures in ascending order."""
        where = _lower(chars) if self._ignores_case else chars
        of_words = _places_of_all(chars) if len(chars) >= LONG else None
        found: list[int] = []
        for each in self._signatures:
            if of_words is not None:
                at_any_case = of_words[each.word.lower()]
                found += each.found(chars, (at for at in at_any_case if where.startswith(each.word, at)))
            elif each.rarest in where and each.word in where:  # searching for a single character is far faster
                found += each.found(chars, _places(each.word, where))
        yield from sorted(found)


_WORDS: Final[set[str]] = set()
"""The words of all signatures, in lower case."""


def _places(word: str, chars: str) -> Iterator[int]:
    at = chars.find(word)
    while at >= 0:
        yield at
        at = chars.find(word, at + 1)


@lru_cache(maxsize=1)
def _places_of_all(chars: str) -> dict[str, list[int]]:
    """Return the positions of the words of all signatures in a text, ignoring case."""
    return places_of_words(chars, _WORDS, ignores_case=True)


@lru_cache(maxsize=1)
def _lower(chars: str) -> str:
    # The dotted capital I is the only letter whose lower case has two characters.
    return chars.replace("\u0130", "I").lower()


class _Signature(NamedTuple):
    """A signature: a word in it, the rarest character of the word, its pattern, and the pattern from the word on.

    The last one is ``None`` if nothing precedes the word.
    """

    word: str
    rarest: str
    whole: re.Pattern[str]
    rest: re.Pattern[str] | None

    def found(self, chars: str, places: Iterator[int]) -> Iterator[int]:
        """Yield the positions of the signature, given those of its word."""
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
"""Characters of logs, the most frequent first; all others are rarer."""


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
