"""Finds text that only the logs of one format contain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Final

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
        self._signatures = [_Signature(word, pattern, flags) for word, pattern in signatures.items()]
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


class _Signature:
    """A signature: a word in it, the rarest character of the word, its pattern, and the pattern from the word on.

    The last one is ``None`` if nothing precedes the word. Both are compiled when they are first needed: most texts
    have words of one format.
    """

    def __init__(self, word: str, pattern: str, flags: re.RegexFlag) -> None:
        self.word, self.rarest = word, min(word, key=_FREQUENT.find)
        self._pattern, self._flags = pattern, flags
        self._at = _place_of(word, pattern.lower() if flags & re.IGNORECASE else pattern)

    @cached_property
    def whole(self) -> re.Pattern[str]:
        return re.compile(self._pattern, self._flags)

    @cached_property
    def rest(self) -> re.Pattern[str] | None:
        is_first = _NO_WIDTH.fullmatch(self._pattern, 0, self._at) is not None
        return None if is_first else re.compile(self._pattern[self._at :], self._flags)

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


def _place_of(word: str, pattern: str) -> int:
    """Return where a word first stands in a pattern."""
    ways = {word, re.escape(word)}
    found = [at for way in ways for at in _places(way, pattern) if pattern[at - 1 : at] != "\\"]
    if not found:
        raise ValueError(f"{word!r} does not stand in {pattern!r}")
    return min(found)
