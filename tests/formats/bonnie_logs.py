"""Logs of bonnie++ with other figures, the same in the table and in the line of CSV."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random

DATA: Final = Path(__file__).parents[1] / "data" / "bonnie"
_FIGURE: Final = re.compile(r"(?<![\w.:+-])\d{5,6}(?=[\s,u])(?!,\d{10})")
_SEED: Final = re.compile(r"(?<=,)\d{10}(?=,)")


def varied(text: str, rng: random.Random) -> str:
    """Return a log with other figures of as many digits, and another seed."""
    known: dict[str, str] = {}

    def other(match: re.Match[str]) -> str:
        if match[0] not in known:
            known[match[0]] = match[0][0] + "".join(str(rng.randrange(10)) for _ in match[0][1:])
        return known[match[0]]

    return _SEED.sub(str(rng.randrange(10**9, 10**10)), _FIGURE.sub(other, text))
