"""What somebody may have meant who wrote a word that is not known."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Ask for the known word that is most like another; nothing where none is.

    Examples
    --------
    >>> did_you_mean("filesytem", ["host", "filesystem"])
    'Did you mean filesystem?'
    >>> did_you_mean("moon", ["host", "filesystem"])
    ''
    """
    names = list(known)
    words = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.lower(), words, n=1)
    return f"Did you mean {words[close[0]]}?" if close else ""
