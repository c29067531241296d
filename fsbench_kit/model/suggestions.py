"""Suggestions for misspelt words."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def a(word: str) -> str:
    """Return the word with its indefinite article.

    Examples
    --------
    >>> a("host"), a("iodepth"), a("os")
    ('a host', 'an iodepth', 'an os')
    """
    return f"{'an' if word[:1].lower() in 'aeio' else 'a'} {word}"


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a question that suggests the closest known word, or "" if none is similar enough.

    `cutoff` is the required similarity, from 0 to 1.

    Examples
    --------
    >>> did_you_mean("filesytem", ["host", "filesystem"])
    'Did you mean filesystem?'
    >>> did_you_mean("moon", ["host", "filesystem"])
    ''
    """
    words = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), words, n=1, cutoff=cutoff)
    return f"Did you mean {words[close[0]]}?" if close else ""


def known_instead(word: str, known: Iterable[str]) -> str:
    """Suggest the closest known word and list all choices.

    Examples
    --------
    >>> known_instead("confidnce", ["data", "confidence"])
    'Did you mean confidence? The choices are: data, confidence.'
    """
    names = list(known)
    return f"{did_you_mean(word, names)} The choices are: {', '.join(names) or 'none'}.".strip()
