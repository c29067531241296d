"""Finds what only the logs of one format have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_REACH: Final = 400
"""So far around its word a signature reaches."""
_NO_WIDTH: Final = re.compile(r"(?:\\b|\(\?<[!=][^()]*\))*")


class _Signature(NamedTuple):
    """A signature, the word in it, and what follows before the word: nothing, where the word begins it."""

    word: str
    whole: re.Pattern[str]
    rest: re.Pattern[str] | None

    def found(self, chars: str, where: str) -> Iterator[int]:
        """Yield where in a text it stands, in which its word is looked for as it stands in another one."""
        at, end = where.find(self.word), 0
        while at >= 0:
            match = self._match(chars, at, end)
            if match is not None:
                yield match.start()
                end = match.end()
            at = where.find(self.word, max(at + 1, end))

    def _match(self, chars: str, at: int, position: int) -> re.Match[str] | None:
        if self.rest is None:
            return self.whole.match(chars, at)
        rest = self.rest.match(chars, at)
        if rest is None:
            return None
        match = self.whole.search(chars, max(position, at - _REACH), rest.end() + _REACH)
        return match if match is not None and match.start() <= at else None


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

    def __call__(self, chars: str) -> Iterator[int]:
        """Yield where the signatures stand, in the text's order."""
        # A capital I with a dot is the one letter that two small ones stand for.
        where = chars.replace("\u0130", "I").lower() if self._ignores_case else chars
        yield from sorted(at for each in self._signatures for at in each.found(chars, where))


def _signature(word: str, pattern: str, flags: re.RegexFlag) -> _Signature:
    found = re.search(
        rf"(?<!\\)(?:{re.escape(word)}|{re.escape(re.escape(word))})", pattern, flags & re.IGNORECASE
    )
    if found is None:
        raise ValueError(f"{word!r} does not stand in {pattern!r}")
    is_first = _NO_WIDTH.fullmatch(pattern, 0, found.start()) is not None
    rest = None if is_first else re.compile(pattern[found.start() :], flags)
    return _Signature(word, re.compile(pattern, flags), rest)
