"""Splits a log into phrases, and accounts for all text that no phrase matches.

A format declares its phrases, each with a name and a regular expression. The lexer yields them in the order of the
text, along with the stretches between them. Reports can therefore be read whether or not their line breaks and
indentation survived copying, and nothing is lost silently: text that no phrase matches is yielded as `UNREAD`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import Final, NamedTuple

from fsbench_kit.formats.literals import literals
from fsbench_kit.formats.text import Text
from fsbench_kit.formats.word_search import LONG, places_of_words
from fsbench_kit.model.records import Diagnostic

UNREAD: Final = "UNREAD"
_REACH: Final = 800
"""The maximum distance from the beginning of a phrase to its first literal word."""
_LENGTH: Final = 1600
"""The maximum length of a phrase, or at least of what distinguishes it from others."""

_FIGURE: Final = re.compile(r"\d|\+\+|\b(?:nan|inf)\b", re.IGNORECASE)

_WORD: Final = re.compile(r"""(?<![^\s("'])[^\W\d_]+(?:['’-][^\W\d_]+)*[,.;:!?)"']*(?!\S)|[\u3040-\u9fff]{2}""")
_PROSE_WORDS: Final = 6
_PROSE_WORDS_PER_DIGIT: Final = 1.5
"""Lines that are printed by tools have more digits than that, or none at all."""
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_PUNCTUATION: Final = ",.;:!?)\"'"
_NO_WORD: Final = re.compile(r"\(\?P<\w+>|\\[a-zA-Z]|\[[^\]]*\]")


class Printed(NamedTuple):
    """A number, or a mark in its place, as printed in a log, and its position in the text."""

    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Token:
    """A phrase in a text, or a stretch that no phrase matches (its `name` is `UNREAD`).

    ``token["max"]`` is the text of a named group, or ``None`` if the group did not match. `tool_words` are the
    words of all phrases of the lexer.
    """

    name: str
    text: Text
    start: int
    end: int
    match: re.Match[str] | None = None
    tool_words: frozenset[str] = frozenset()

    def __getitem__(self, group: str) -> str | None:
        return self.match[group] if self.match is not None else None

    @property
    def line(self) -> int:
        """The line on which the phrase starts."""
        return self.text.line(self.start)

    @property
    def groups(self) -> dict[str, str]:
        """The groups that matched, and their texts."""
        found = self.match.groupdict() if self.match is not None else {}
        return {group: text for group, text in found.items() if text is not None}

    def start_of(self, group: str) -> int:
        """Return where a group begins."""
        return self.match.start(group) if self.match is not None else self.start

    def printed(self, group: str) -> Printed | None:
        """Return the text and position of a group; ``None`` if the group did not match."""
        if self.match is None or self.match[group] is None:
            return None
        return Printed(self.match[group], self.match.start(group))

    def diagnostic(self, code: str, message: str) -> Diagnostic:
        """Return a diagnostic about this stretch of the log."""
        return Diagnostic(
            code=code,
            message=message,
            line=self.line,
            start=self.text.byte(self.start),
            end=self.text.byte(self.end),
            excerpt=self.text.excerpt(self.start, self.end),
        )


class _Phrase:
    """The regular expression of a phrase, and literals of its matches: one of some words, and another one."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self.words, *others = literals(expression) or [()]
        self._other = next((each[0] for each in others if len(each) == 1), "")

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self._expression, re.MULTILINE)  # takes a millisecond, and few logs need all of them

    def search(
        self, chars: str, position: int, limit: int, places: Mapping[str, list[int]] | None = None
    ) -> re.Match[str] | None:
        """Return the first match between two positions.

        Only the surroundings of the words are searched: finding words is far cheaper than matching.
        """
        if not self.words:
            return self._pattern.search(chars, position, limit)
        at, reach = self._next_word(chars, position, limit, places), 2 * _LENGTH
        while at is not None:
            first, last = max(position, at - _REACH), min(at + reach, limit)
            has_other = chars.find(self._other, first, last) >= 0
            match = self._pattern.search(chars, first, last) if has_other else None
            if last == limit or (match is not None and match.end() <= last - _LENGTH):
                return match
            position = max(first, last - _LENGTH)
            if match is not None:  # it may be cut off, or not be the first one
                return self._pattern.search(chars, min(position, match.start()), limit)
            at = self._next_word(chars, position, limit, places)
            reach = 2 * reach if at is not None and at < last else 2 * _LENGTH
        return None

    def _next_word(
        self, chars: str, position: int, limit: int, places: Mapping[str, list[int]] | None
    ) -> int | None:
        found = []
        for word in self.words:
            if places is None or word not in places:
                found.append(chars.find(word, position, limit))
            elif (index := bisect_left(places[word], position)) < len(places[word]):
                found.append(places[word][index])
        return min((at for at in found if 0 <= at < limit), default=None)


class Lexer:
    r"""Finds phrases in a text.

    Parameters
    ----------
    phrases
        Name -> regular expression. A space in an expression matches any white space, including none (``\s*+``,
        possessively), because copies lose and gain it; use ``\s+`` where white space is required, and ``\s`` in a
        class. If two phrases match at the same position, the one declared first wins.
    """

    def __init__(self, **phrases: str) -> None:
        self._given = phrases

    # Analysed when first used: most processes read logs of one format.

    @cached_property
    def _phrases(self) -> dict[str, _Phrase]:
        return {name: _Phrase(pattern.replace(" ", r"\s*+")) for name, pattern in self._given.items()}

    @cached_property
    def _literals(self) -> set[str]:
        """The words of the phrases, except for single characters, which occur too often."""
        return {word for phrase in self._phrases.values() for word in phrase.words if len(word) > 1}

    @cached_property
    def _words(self) -> frozenset[str]:
        texts = (_NO_WORD.sub(" ", pattern) for pattern in self._given.values())
        return frozenset(word.lower() for text in texts for word in re.findall("[A-Za-z]+", text))

    def tokens(self, text: Text, start: int = 0, end: int | None = None) -> Iterator[Token]:
        """Yield the phrases between two positions, and the stretches of text between them.

        For each phrase, the time is linear in the length of the text.
        """
        position = start
        limit = len(text.chars) if end is None else end
        names, phrases = list(self._phrases), list(self._phrases.values())
        places = places_of_words(text.chars, self._literals) if limit - start >= LONG else None
        upcoming: list[tuple[int, int, re.Match[str]]] = []

        def look_for(index: int) -> None:
            match = phrases[index].search(text.chars, position, limit, places)
            if match is not None:
                heappush(upcoming, (match.start(), index, match))

        for index in range(len(phrases)):
            look_for(index)
        while upcoming:
            at, index, match = heappop(upcoming)
            if at >= position:
                yield from self._unread(text, position, at)
                yield Token(names[index], text, at, match.end(), match)
                if match.end() == position == at:
                    raise ValueError(f"the phrase {names[index]} matches nothing at all")
                position = match.end()
            look_for(index)
        yield from self._unread(text, position, limit)

    def _unread(self, text: Text, start: int, end: int) -> Iterator[Token]:
        stretch = text.chars[start:end]
        if stretch.strip():
            start, end = end - len(stretch.lstrip()), start + len(stretch.rstrip())
            yield Token(UNREAD, text, start, end, tool_words=self._words)


def unread_figure(token: Token) -> Diagnostic | None:
    """Return a diagnostic for a stretch that no phrase matches, or ``None`` if it contains no figure.

    Sentences that somebody wrote next to a log are reported differently from figures of the log.
    """
    if not _FIGURE.search(token.text.chars, token.start, token.end):
        return None
    if reads_as_prose(token.text.chars[token.start : token.end], token.tool_words):
        return token.diagnostic("OTHER_TEXT", "This text contains a figure but is not part of a log.")
    return token.diagnostic("UNREAD_FIGURE", "This text contains a figure but was not understood.")


def reads_as_prose(chars: str, tool_words: frozenset[str] = frozenset()) -> bool:
    """Whether a text is prose, possibly with some figures.

    Parameters
    ----------
    chars
        The text.
    tool_words
        Words that the tool prints, if known. Damaged parts of a log consist of them; prose has other words, and
        more of these than numbers.

    Examples
    --------
    >>> reads_as_prose("With 4 KiB records, XFS was about twice as fast as the others.")
    True
    >>> reads_as_prose("lat (msec): min=4, max=105, avg=16.74, stdev= 8.12")
    False
    >>> reads_as_prose("Each process writes a 65536 kByte file.", frozenset({"each", "process", "writes", "file"}))
    False
    """
    words: Counter[str] = Counter()
    numbers = digits = 0
    for piece, times in Counter(chars.split()).items():  # in long texts most pieces recur
        for word in _WORD.findall(piece):
            words[word.strip(_PUNCTUATION).lower()] += times
        if not piece.isalpha():
            numbers += times * len(_NUMBER.findall(piece))
            digits += times * sum(map(str.isdigit, piece))
    number = words.total()
    if not tool_words:
        return number >= max(_PROSE_WORDS, _PROSE_WORDS_PER_DIGIT * digits)
    others = sum(times for word, times in words.items() if word not in tool_words)
    return number >= _PROSE_WORDS and others > max(number - others, numbers)
