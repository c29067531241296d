"""Adds figures to a run according to fio's rules of output."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from fsbench_kit.formats.builder import Bounds, Place, RunBuilder
from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.model.units import Rounding, quantity

SHORTER: Final = 1000 / 1024
"""The factor for a rate that was printed in bytes per ms and read as KiB/s."""

ANY: Final = "any figure"
"""The name of figures for which 0 is an ordinary value."""
_COUNTS: Final = {"operations", "short_operations", "dropped_operations", "errors"}
"""Counts that are omitted if they are 0."""
_LAST_WITHOUT_CARRY: Final = (3, 25)
_FRACTION: Final = re.compile(r"(?P<whole>\d+)\.(?P<fraction>\d+)(?P<suffix>[a-zA-Z]?)")
_UNIT: Final = re.compile(r"(?P<prefix>[kKMGTPE]?)(?P<binary>i?)(?P<unit>B|bit)?(?P<per_second>/s)?")


class Printing(NamedTuple):
    """How a version of fio abbreviates figures.

    Attributes
    ----------
    is_old_layout
        Whether it is 2.x or older: fractions are not decimal, and all units are powers of one base.
    is_decimal
        Whether that base is 1000.
    may_lack_carry
        Whether 27.99 may be printed as 27.0.
    is_known
        Whether the version is known.
    """

    is_old_layout: bool
    is_decimal: bool
    may_lack_carry: bool
    is_known: bool


class Figures:
    """Adds figures to a run, according to the rules of the version that printed them.

    Attributes
    ----------
    run
        The run that figures are added to. Diagnostics always go to the first run.
    printing
        The rules.
    counts_bytes_per_ms
        Whether rates are in bytes per ms, regardless of their unit.
    """

    def __init__(self, run: RunBuilder, version: tuple[int, int] | None, *, is_old_layout: bool) -> None:
        self.run, self.diagnostics = run, run.diagnostics
        is_known = version is not None
        may_lack_carry = version is None or version <= _LAST_WITHOUT_CARRY
        self.printing = Printing(is_old_layout, False, may_lack_carry, is_known)
        self.counts_bytes_per_ms = False

    def add(
        self, token: Token, place: Place, group: str, metric: str, statistic: str = "value", **how: Any
    ) -> int | None:
        """Add a figure, if the phrase contains it; `how` is passed to `RunBuilder.add`.

        The deviation of a single value is undefined; fio may print it as below 0.
        """
        printed = token.printed(group)
        if printed is None:
            return None
        text = printed.text
        if text.lstrip("-") in {"nan", "inf"} or (statistic == "stdev" and text.startswith("-")):
            return self.run.add_unmeasured(place, metric, printed, statistic, state="missing")
        name = None if metric in _COUNTS else ANY
        return self.run.add(place, metric, printed, statistic, name=name, **how)

    def add_short(
        self,
        token: Token,
        place: Place,
        group: str,
        metric: str,
        statistic: str = "value",
        *,
        unit: str,
        rounding: Rounding,
    ) -> None:
        """Add a figure that fio abbreviated to a few digits; `rounding` applies if it has no suffix."""
        text = token[group]
        if text is not None:
            rounding, bounds = _shortened(text, unit, rounding, self.printing)
            lacks = self.printing.may_lack_carry
            self.add(
                token,
                place,
                group,
                metric,
                statistic,
                unit=unit,
                rounding=rounding,
                bounds=bounds,
                may_lack_carry=lacks,
            )

    def _amount(self, token: Token, group: str, counted_in: str = "") -> _Amount:
        """Return an amount whose unit is printed next to it.

        It is truncated if its prefix is the one in which fio counts, and rounded if the prefix is larger.
        """
        amount = _amount(token[group] or "", token[f"{group}_unit"] or "", counted_in, self.printing)
        return amount._replace(position=token.start_of(group))

    def add_amount(
        self,
        token: Token,
        place: Place,
        group: str,
        statistic: str = "value",
        *,
        counted_in: str = "",
        may_be_shorter: bool = False,
        is_shorter: bool = False,
    ) -> int | None:
        """Add an amount, and return its number.

        `may_be_shorter` and `is_shorter` say that it may be, or is, in bytes per ms regardless of its unit.
        """
        amount = self._amount(token, group, counted_in)
        if may_be_shorter and amount.low is not None:
            amount = amount._replace(low=amount.low * SHORTER, is_plain=False)
        return self._add(place, amount, statistic, is_shorter=is_shorter)

    def _add(
        self, place: Place, amount: _Amount, statistic: str, *, is_shorter: bool = False, primary: bool = True
    ) -> int | None:
        is_shorter |= amount.metric == "bandwidth" and self.counts_bytes_per_ms
        return self.run.add(
            place,
            amount.metric,
            Printed(amount.text, amount.position),
            statistic,
            unit=amount.unit,
            rounding=amount.rounding,
            bounds=None if amount.is_plain else (amount.low, amount.high),
            factor=SHORTER if is_shorter else None,
            primary=primary,
            name=None if amount.metric == "bytes" else ANY,
            may_lack_carry=self.printing.may_lack_carry,
        )

    def add_amount_twice(self, token: Token, place: Place, group: str, statistic: str = "value") -> None:
        """Add an amount and its second print, which shows whether the carry was lost in the first."""
        first, second = self._amount(token, group), self._amount(token, f"{group}_again")
        if not first.is_plain and not self.printing.is_old_layout and first.value:
            whole, _, fraction = first.text.partition(".")
            step = first.value / float(first.text) * 10.0 ** -len(fraction)
            carried = first._replace(high=first.value + step / 2)
            if _overlap(carried, second):
                first = carried
            elif _overlap(first, second):
                message = f"{first.text} stands for almost {int(whole) + 1}."
                self.diagnostics.append(token.diagnostic("CARRY_LOST", message))
        self._add(place, first, statistic)
        self._add(place, second, statistic, primary=False)

    def is_in_bytes_per_ms(self, rate: int | None, moved: int | None, runtime: int | None) -> bool:
        """Whether a rate that was read as KiB/s is 1.024 times too large; arguments are measurement numbers."""
        if rate is None or moved is None or runtime is None:
            return False
        known = self.run.measurements
        bytes_moved = known[moved].value
        seconds = (known[rate].value or 0) * (known[runtime].value or 0)
        return bool(bytes_moved) and abs(seconds / (bytes_moved or 1) - 1.024) < 0.01


class _Amount(NamedTuple):
    """A number of bytes or bytes per second with its interval; `is_plain` if its rounding alone implies that."""

    text: str
    metric: str
    unit: str
    rounding: Rounding
    value: float
    low: float | None
    high: float | None
    is_plain: bool
    position: int = 0


@lru_cache(maxsize=2**12)
def _amount(text: str, printed_unit: str, counted_in: str, printing: Printing) -> _Amount:
    prefix, is_binary, unit, is_rate = _unit_of(printed_unit)
    rounding: Rounding = "nearest"
    if prefix in {"", counted_in}:
        rounding = "down" if is_rate or counted_in else "exact"
    if printing.is_old_layout:
        prefix = {"P": "T", "E": "P"}.get(prefix, prefix)
        is_binary = not printing.is_decimal
    name = f"{prefix.upper()}i" if prefix and is_binary else prefix.replace("K", "k")
    metric, per_second = ("bandwidth", "/s") if is_rate else ("bytes", "")
    unit = f"{name}{unit}{per_second}"
    rounding, bounds = _shortened(text, unit, rounding, printing)
    value, _, low, high = quantity(text, unit, rounding=rounding)
    low, high = bounds or (low, high)
    is_plain = bounds is None and not printing.is_old_layout  # other rates may be in bytes per ms
    return _Amount(text, metric, unit, rounding, value, low, high, is_plain)


@lru_cache(maxsize=2**12)
def _shortened(text: str, unit: str, rounding: Rounding, printing: Printing) -> tuple[Rounding, Bounds | None]:
    """Return how a figure was abbreviated, and its bounds if its fraction is not reliable."""
    if text[-1:].isalpha():
        rounding = "nearest"
    number = _FRACTION.fullmatch(text)
    if number is None or not (printing.is_old_layout or (printing.may_lack_carry and not int(number["fraction"]))):
        return rounding, None
    ends = (int(number["whole"]), int(number["whole"]) + 1)
    low, high = (quantity(f"{end}{number['suffix']}", unit, rounding="exact").value for end in ends)
    # It can only have been rounded up to .0 if the carry is kept, which is uncertain for an unknown version.
    is_known = printing.is_old_layout or printing.is_known
    return rounding, (low if is_known else quantity(text, unit, rounding=rounding).low, high)


def _overlap(one: _Amount, other: _Amount) -> bool:
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return True
    return one.low <= other.high and other.low <= one.high


def unit_of(token: Token, group: str) -> tuple[str, bool, str, bool]:
    """Return the parts of a unit: prefix, whether that is binary, ``B`` or ``bit``, whether it is a rate."""
    return _unit_of(token[group if group == "unit" else f"{group}_unit"] or "")


@lru_cache(maxsize=2**8)
def _unit_of(text: str) -> tuple[str, bool, str, bool]:
    match = _UNIT.fullmatch("".join(text.split()))
    if match is None:
        raise ValueError(f"{text!r} is not a unit")
    is_rate = match["per_second"] is not None or match["unit"] is None
    return match["prefix"], match["binary"] != "", match["unit"] or "B", is_rate
