"""The size that a claim states, as written in the article, and what counts as that size."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.units import Quantity, quantity

if TYPE_CHECKING:
    from fsbench_kit.data.study import ClaimFacts


class Stated(NamedTuple):
    """The range of sizes that count as the stated one, in a base unit.

    Attributes
    ----------
    low, high
        The bounds of the range; ``None`` if unbounded.
    closed
        Whether `high` itself counts. It does not if it would round to the next digit.
    number
        The stated number, if it is a single one.
    """

    low: float | None
    high: float | None
    closed: bool = False
    number: float | None = None

    def has(self, size: float) -> bool:
        """Whether a size counts as the stated one."""
        return (self.low is None or self.low <= size) and (
            self.high is None or size < self.high or (self.closed and size == self.high)
        )

    def may_be(self, low: float | None, high: float | None) -> bool:
        """Whether a size between two bounds can be the stated one."""
        return (self.high is None or low is None or low < self.high) and (
            self.low is None or high is None or high > self.low
        )

    @property
    def middle(self) -> float:
        """The stated number, or else the middle between the bounds, or the only bound."""
        if self.number is not None:
            return self.number
        ends = [end for end in (self.low, self.high) if end is not None]
        return sum(ends) / len(ends)


def stated(claim: ClaimFacts, unit: str) -> Stated:
    """Return what counts as the size of a claim.

    A number covers everything that rounds to its digits; after ``about``, everything within half a unit of its
    first digit. ``5 to 15`` covers what lies between, ``> 2`` and ``< 2`` what lies beyond. The ``band`` of a
    claim takes precedence.

    Parameters
    ----------
    unit
        The base unit that the size must have.

    Raises
    ------
    RequestError
        If the size cannot be parsed, or has another unit.

    Examples
    --------
    >>> from fsbench_kit.data.study import ClaimFacts
    >>> def counts(size):
    ...     return stated(ClaimFacts(id="c", says="c", relation="ratio", size=size), "1")[:2]
    >>> counts("2"), counts("about 100"), counts("5 to 15"), counts("> 2"), counts("> 20%")
    ((1.5, 2.5), (50.0, 150.0), (5.0, 15.0), (2.0, None), (0.2, None))
    """
    if claim.band is not None:
        low, high = (_read(end, unit).value for end in claim.band)
        if low >= high:
            raise RequestError(
                f"the band runs from {claim.band[0]} down to {claim.band[1]}", hint="Turn it round."
            )
        return Stated(low, high)
    size = re.sub(r"(?<=\d)%", " %", claim.size or "")
    match _FORMS.fullmatch(size):
        case None:
            raise RequestError(f"cannot read the size {size!r}", hint=_HINT)
        case found if found["high"]:
            low, high = (_read(f"{found[end]} {found['unit'] or ''}", unit).value for end in ("low", "high"))
            if low >= high:
                raise RequestError(f"the size {size!r} runs downwards", hint="Turn it round.")
            return Stated(low, high, closed=True)
        case found:
            sign, text = found["sign"], f"{found['low']} {found['unit'] or ''}"
    read = _read(text, unit)
    if sign in (">", "<"):
        return Stated(read.value, None) if sign == ">" else Stated(None, read.value, closed=True)
    if sign == "about":
        first = _read(f"{_half_of_first_digit(found['low'])} {found['unit'] or ''}", unit).value
        return Stated(read.value - first, read.value + first, number=read.value)
    return Stated(read.low, read.high, number=read.value)


_FORMS: Final = re.compile(
    r"(?:(?P<sign>about|>|<)\s*)?(?P<low>[-+]?[\d.]+[kM]?)(?:\s+to\s+(?P<high>[-+]?[\d.]+[kM]?))?(?:\s+(?P<unit>\S+))?"
)
_HINT: Final = (
    'Write it as the article does, with a space before its unit: "2", "20 MB/s", "about 85 %", "5 to 15", "> 2".'
)


def _read(text: str, unit: str) -> Quantity:
    number, *units = text.split()
    try:
        read = _minutes(number) if units == ["min"] else quantity(number, *units)
    except ValueError as error:
        raise RequestError(f"cannot read the size {text.strip()!r}: {error}", hint=_HINT) from None
    if read.unit == unit or (not units and unit == "1/s"):
        return read
    wanted = f"needs a unit of {_KINDS[unit]}" if unit != "1" else "is a plain number or a share, and has no unit"
    raise RequestError(f"the size {text.strip()!r} is of the wrong kind: it {wanted}", hint=_HINT)


def _minutes(number: str) -> Quantity:
    """Parse a time in minutes; only articles use these, as no tool prints them."""
    read = quantity(number, "s")
    ends = (None if end is None else 60 * end for end in (read.low, read.high))
    return Quantity(60 * read.value, read.unit, *ends)


_KINDS: Final = {"B/s": "bytes per second", "1/s": "a rate", "s": "time", "B": "bytes"}


def _half_of_first_digit(number: str) -> Decimal:
    digits = Decimal(number.rstrip("kM"))
    half = Decimal(5).scaleb(digits.adjusted() - 1)
    return half * {"k": 1000, "M": 10**6}.get(number[-1], 1)
