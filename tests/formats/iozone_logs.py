"""Logs of iozone with other figures, the same in the table and in the reports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random

DATA: Final = Path(__file__).parents[1] / "data" / "iozone"
_FIGURE: Final = re.compile(r'(?<![\w.:"/$])\d{5,}(?![\w."])|(?<=[\s"])\d+\.\d\d(?=\s)')
_TIME: Final = re.compile(r"\d\d:\d\d:\d\d")


def varied(text: str, rng: random.Random) -> str:
    """Return a log with other figures of as many digits, which began at another time."""
    known: dict[str, str] = {}

    def other(match: re.Match[str]) -> str:
        if match[0] not in known:
            digits = "".join(str(rng.randrange(10)) if char.isdigit() else char for char in match[0][1:])
            known[match[0]] = match[0][0] + digits
        return known[match[0]]

    hours, minutes, seconds = rng.randrange(24), rng.randrange(60), rng.randrange(60)
    return _TIME.sub(f"{hours:02}:{minutes:02}:{seconds:02}", _FIGURE.sub(other, text))
