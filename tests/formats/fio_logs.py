"""fio's reports with other figures, of other processes and at other times."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random

DATA: Final = Path(__file__).parents[1] / "data" / "fio_normal"
_DIGITS: Final = re.compile(
    r"(?<=\d\.\d)\d(?=[,%\n])|(?<=samples=)\d(?=\n)|(?<=pid=\d)\d+(?=:)|(?<=:)[0-5]\d(?= \d{4}\n)"
)


def varied(text: str, rng: random.Random) -> str:
    """Return a report with other last digits of means and shares, samples, processes and seconds."""
    return _DIGITS.sub(lambda found: "".join(str(rng.randrange(1, 6)) for _ in found[0]), text)
