"""How words and figures are printed: on one line, and with the digits and the prefix that are read best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, islice, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final

from fsbench_kit.model.units import from_to, scale
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

NOTHING: Final = "–"

_LONGEST_TEXT, _LONGEST_MESSAGE = 160, 400


def one_line(text: str, most: int = _LONGEST_TEXT) -> str:
    """Put a text from a log on one line of bearable length, without characters that cannot be printed.

    A log can name a job with ten thousand characters, and with such as no drawing program can read.

    Examples
    --------
    >>> one_line("rand  write" + chr(10) + "4k"), len(one_line("x" * 10_000))
    ('rand write 4k', 160)
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 41]}…{line[-40:]}"


def message(text: str) -> str:
    """Put what is said of a log on one line; it quotes the log, and is longer than a name."""
    return one_line(text, _LONGEST_MESSAGE)


def text_of(value: object) -> str:
    """Print a value of any frame; null is a dash."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return digits(value)
    return f"{value:,}" if isinstance(value, int) else message(str(value))


def counted(number: int, noun: str) -> str:
    """Print a number with its noun, in the plural where it needs one.

    Examples
    --------
    >>> counted(1, "run"), counted(2400, "run")
    ('1 run', '2,400 runs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(texts: Sequence[str]) -> str:
    """Name the first of some texts, and count the others.

    Examples
    --------
    >>> listed(["read", "write"]), listed(["1", "2", "3", "4", "5"])
    ('read; write', '1; 2; 3 and 2 more')
    """
    more = f" and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
    return f"{'; '.join(texts[:_MOST_NAMED])}{more}"


_MOST_NAMED: Final = 3


def marks(of: Sequence[object]) -> list[str]:
    """Return as many marks as there are footnotes: a, b, ..., z, aa, ab, ..."""
    letters = (*ascii_lowercase, *(a + b for a, b in product(ascii_lowercase, repeat=2)))
    return list(islice(letters, len(of)))


class Footnotes:
    """The different notes of some rows in their order, and the marks that stand for them there."""

    def __init__(self, of_rows: Iterable[Iterable[str]]) -> None:
        notes = dict.fromkeys(chain.from_iterable(of_rows))
        self.texts = tuple(map(message, notes))
        self._marks = dict(zip(notes, marks(self.texts), strict=True))

    def marks(self, notes: Iterable[str]) -> str:
        """Return the marks of some notes."""
        return " ".join(self._marks[note] for note in notes)


def digits(value: float, significant: int = 3) -> str:
    """Print a number with three significant digits, and as many more as its whole part has.

    >>> [digits(x) for x in (1.8412, 0.0421, 123.4, 45678.0, 0.0)]
    ['1.84', '0.0421', '123', '45,678', '0']
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, significant - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def ratio_text(value: float, decimals: int = 2) -> str:
    """Print a ratio: with two decimals, or three significant digits where it is below 0.1.

    >>> [ratio_text(x) for x in (1.8412, 0.956, 0.0421, 23.46)]
    ['1.84', '0.96', '0.0421', '23.5']
    """
    return f"{value:.{decimals}f}" if 0.1 <= value < 10 else digits(value, decimals + 1)


def ratio_texts(low: float, high: float, *between: float) -> list[str]:
    """Print the ends of an interval of ratios, and ratios in it: with one more digit where the ends look alike.

    >>> ratio_texts(1.71, 1.98, 1.84), ratio_texts(0.9982, 1.0004)
    (['1.71', '1.98', '1.84'], ['0.998', '1.000'])
    """
    decimals = 2 if ratio_text(low) != ratio_text(high) else 3
    return [ratio_text(value, decimals) for value in (low, high, *between)]


def with_interval(ratio: float | None, low: float | None, high: float | None) -> str:
    """Print a ratio with the ends of its interval, as far as they are known.

    >>> with_interval(1.84, 1.71, 1.98), with_interval(1.84, None, None), with_interval(None, None, None)
    ('1.84 [1.71, 1.98]', '1.84', '–')
    """
    if ratio is None:
        return NOTHING
    if low is None or high is None:
        return ratio_text(ratio)
    least, most, shown = ratio_texts(low, high, ratio)
    return f"{shown} [{least}, {most}]"


def interval(low: float, high: float) -> str:
    """Print the ends of an interval of ratios."""
    return f"[{', '.join(ratio_texts(low, high))}]"


def interval_words(ratio: float, low: float, high: float) -> str:
    """Print a ratio and its interval; where no digit tells them apart, that the ratio is known so well.

    >>> interval_words(0.591, 0.502, 0.704), interval_words(1.84, 1.84001, 1.84002)
    ('0.59 (0.50 to 0.70)', 'almost exactly 1.840')
    """
    least, most, shown = ratio_texts(low, high, ratio)
    reach = from_to(least, most)
    return reach if least == most == shown else f"{shown} ({reach})"


def percent(share: float) -> str:
    """Print a share as a percentage with two significant digits, or as whole per cent from ten on.

    >>> print(percent(0.25), percent(0.034), percent(0.952), percent(1.5), percent(8e-12))
    25 % 3.4 % 95 % 150 % 0 %
    """
    by_rounding = abs(share) < 1e-8  # as of floats
    number = f"{100 * share:.0f}" if abs(share) >= 0.0995 or by_rounding else f"{100 * share:.2g}"
    return f"{number}\N{NO-BREAK SPACE}%"


@dataclass(frozen=True, slots=True)
class Prefix:
    """A unit as people write it, and how many base units it is."""

    unit: str
    factor: float


_RATES: Final = (Prefix("million/s", 1e6), Prefix("thousand/s", 1e3))

_SHARES: Final = {
    "cpu",
    "cpu_user",
    "cpu_system",
    "capacity",
    "capacity_change",
    "disk_utilisation",
    "group_share",
}


def prefix(values: pl.Series, metric: str) -> Prefix:
    """Choose the unit in which figures of one metric are best read side by side: that of their median.

    Examples
    --------
    >>> import polars as pl
    >>> prefix(pl.Series([3.6e8, 8.8e8]), "bandwidth").unit
    'MiB/s'
    >>> prefix(pl.Series([0.0004]), "completion_latency").unit
    'µs'
    """
    unit = METRICS[metric].unit
    if metric in _SHARES:
        return Prefix("%", 0.01)
    median = values.abs().quantile(0.5) or 0.0
    if unit == "1/s":
        return next((p for p in _RATES if median >= 10 * p.factor), Prefix("1/s", 1.0))
    return Prefix(*scale(median, unit))
