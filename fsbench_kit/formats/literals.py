"""Determines literals that every match of a regular expression contains."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?: (?P<open>\((?:\?(?:P<\w+>|[:>])|(?!\?)))
        | (?P<around>\(\?(?:<?[=!]|[a-z-]+:))
        | (?P<or>\|)
        | (?P<close>\))
        | (?P<other>\[\^?\]?(?:\\.|[^\]\\])*\] | \\x.. | \\u.{4} | \\[a-zA-Z\d] | [.^$] | \(\?P=\w+\))
        | \\?(?P<char>.)
    )(?P<times>[*+?]|\{\d*,?\d*\})?[+?]?""",
    re.VERBOSE | re.DOTALL,
)
_MAY_BE_NONE: Final = re.compile(r"[*?]|\{0?[,}]")

Words = tuple[str, ...]


@dataclass
class _Group:
    """A group of an expression, as far as it has been read.

    Each finished alternative has the words that it requires. `run` has the literal characters that end the current
    alternative so far.
    """

    alternatives: list[list[Words]]
    needed: list[Words] = field(default_factory=list)
    run: str = ""

    def end_run(self, needed: Iterable[Words] = ()) -> None:
        self.needed += [(self.run,), *needed] if self.run else needed
        self.run = ""

    def end_alternative(self) -> None:
        self.end_run()
        self.alternatives.append(self.needed)
        self.needed = []

    def words(self) -> list[Words]:
        self.end_alternative()
        if len(self.alternatives) == 1:
            return self.alternatives[0]
        best = [max(needed, key=_worth, default=()) for needed in self.alternatives]
        return [tuple(dict.fromkeys(chain.from_iterable(best)))] if all(best) else []


def _worth(words: Words) -> float:
    """Return the rank of words: long and few are rarer, and faster to find. Every text has points and commas."""
    return min(map(len, words)) / len(words) if words and not {*words} & {*" .,:"} else 0


def literals(pattern: str) -> list[Words]:
    r"""Return sets of words, such that every match contains one word of each set; the best set is first.

    The flags of the expression must not change the meaning of letters.

    Examples
    --------
    >>> literals(r"\d+ jobs?, (?:(?P<x>reads)|writes)"), literals("reads?|writes"), literals(r"(?!word)\w*")
    ([(' job',), ('reads', 'writes'), (', ',)], [('read', 'writes')], [])
    """
    groups = [_Group([])]
    for token in _TOKEN.finditer(pattern):
        may_be_none = token["times"] is not None and _MAY_BE_NONE.match(token["times"]) is not None
        if token["open"] or token["around"]:
            # Text that a lookaround matches need not be part of the match.
            groups.append(_Group([[]] if token["around"] else []))
        elif token["close"]:
            words = groups.pop().words()
            groups[-1].end_run(() if may_be_none else words)
        elif token["or"]:
            groups[-1].end_alternative()
        else:
            if token["char"] and not may_be_none:
                groups[-1].run += token["char"]
            if not token["char"] or token["times"]:
                groups[-1].end_run()
    return sorted((words for words in groups[0].words() if _worth(words)), key=_worth, reverse=True)
