"""fio's reports with other figures, of other processes and at other times."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

DATA: Final = Path(__file__).parents[1] / "data" / "fio_normal"
_DIGITS: Final = re.compile(
    r"(?<!=100\.0)(?<!-3\.3)(?<=\d\.\d)\d(?=[,%\n])|(?<=samples=)\d(?=\n)"
    r"|(?<=pid=\d)\d+(?=:)|(?<=:)[0-5]\d(?= \d{4}\n)"
)


def varied(text: str, rng: random.Random) -> str:
    """Return a report with other last digits of means and shares, samples, processes and seconds."""
    return _DIGITS.sub(lambda found: "".join(str(rng.randrange(1, 6)) for _ in found[0]), text)


def in_other_units(text: str, rng: random.Random) -> str:
    """Return a report with some figures in other units, and without some buckets of latencies."""

    def other(pattern: str, choices: Sequence[str]) -> None:
        nonlocal text
        text = re.sub(pattern, lambda found: rng.choice([found[0], *choices]), text)

    other(r"(?<=lat \()[nu]sec(?=\): min)", ["nsec", "usec", "msec"])
    other(r"(?<=[\d ])[KM]iB/s", ["KiB/s", "MiB/s", "GiB/s"])
    other(r"(?<=IOPS=)\d+", ["12.5k", "982k", "1.2M"])
    other(r"(?<=max=)\d{4,5}(?=, avg)", ["2430.4k", "16086k"])
    other(
        r"(?<=\n)  lat \([nu]sec\)[^\n]*\n",
        ["", "  lat (usec)   : 2=0.78%\n", "  lat (msec)   : 2000=0.10%, >=2000=0.05%\n"],
    )
    return text
