"""Quantities as tools print them, converted to SI base units.

A quantity keeps the interval of true values that print like it: ``738MiB/s``, rounded, stands for anything from
737.5 to 738.5 MiB/s. How a tool rounds is specific to the tool, so the modules of `fsbench_kit.formats` name the
rule.

Base units are ``B``, ``B/s``, ``s``, ``1/s`` and ``1`` (for counts and shares).
"""

from __future__ import annotations

import re
from decimal import ROUND_DOWN, Decimal
from functools import lru_cache
from typing import Final, Literal, NamedTuple

Rounding = Literal["nearest", "down", "up", "exact", "unknown"]
"""How a tool shortened a figure for printing.

``nearest``: rounded to the last printed digit; ``down``: truncated; ``up``: rounded up to the last printed digit;
``exact``: a count, printed in full; ``unknown``: the rule is not known ("about 10 %"), so there is no interval.
"""

_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}
_DECIMAL = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}

_UNITS: Final[dict[str, tuple[str, Decimal]]] = {
    "": ("1", Decimal(1)),
    "1": ("1", Decimal(1)),
    "%": ("1", Decimal("0.01")),
    "1/s": ("1/s", Decimal(1)),
    "s": ("s", Decimal(1)),
    "ms": ("s", Decimal("1e-3")),
    "us": ("s", Decimal("1e-6")),
    "ns": ("s", Decimal("1e-9")),
    "B": ("B", Decimal(1)),
    "B/s": ("B/s", Decimal(1)),
    **{f"{p}iB{s}": (f"B{s}", Decimal(f)) for p, f in _BINARY.items() for s in ("", "/s")},
    **{f"{p}B{s}": (f"B{s}", Decimal(f)) for p, f in _DECIMAL.items() for s in ("", "/s")},
    "bit/s": ("B/s", Decimal("0.125")),
    **{f"{p}ibit/s": ("B/s", Decimal(f) / 8) for p, f in _BINARY.items()},
    **{f"{p}bit/s": ("B/s", Decimal(f) / 8) for p, f in _DECIMAL.items()},
}
"""Unit -> (base unit, factor). A tool's own spelling (``Mb/sec``, ``usec``, ``msec``) is translated by the module
for that tool, because the same letters mean different things to different tools."""

_RATIOS: Final = {name: (base, *factor.as_integer_ratio()) for name, (base, factor) in _UNITS.items()}
COUNT_SUFFIXES: Final = {"": 1, "K": 10**3, **_DECIMAL}
"""The factor that each suffix letter of a number stands for."""
_PLAIN: Final = re.compile(r"(\d{1,15})(?:\.(\d{1,9}))?")
_NUMBER: Final = re.compile(r"([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|[+-]?\.\d+)([kKMGTPE]?)")
MOST_DIGITS: Final = 150
"""A number with this many digits before or after its point is no measurement, and nears the limits of a float."""


class Quantity(NamedTuple):
    """A figure in a base unit, with the true values that print like it.

    Attributes
    ----------
    value
        The figure as printed, in `unit`.
    unit
        One of ``B``, ``B/s``, ``s``, ``1/s``, ``1``.
    low, high
        The smallest and largest true value that print like this; both are ``None`` where the rule is unknown.
    """

    value: float
    unit: str
    low: float | None
    high: float | None


@lru_cache(maxsize=2**14)  # a log prints the same few figures again and again
def quantity(text: str, unit: str = "", *, rounding: Rounding = "nearest", digits: int | None = None) -> Quantity:
    """Read a printed number as a quantity.

    Parameters
    ----------
    text
        The number as printed, optionally with a decimal suffix: ``12.5k``, ``738``, ``2430.4k``. The suffix
        multiplies by a power of 1000.
    unit
        The printed unit: ``%``, ``ms``, ``MiB/s``, ... The result is in its base unit.
    rounding
        How the tool shortened the figure.
    digits
        The number of significant digits for tools that drop trailing zeros: C's ``%.5g`` prints 864.70 as
        ``864.7``, which is known to 0.01 and not to 0.1.

    Raises
    ------
    ValueError
        If `text` is not a number, is out of range like ``1e999``, or `unit` is unknown.

    Examples
    --------
    >>> quantity("738", "MiB/s")
    Quantity(value=773849088.0, unit='B/s', low=773324800.0, high=774373376.0)
    >>> quantity("189k", "1/s")
    Quantity(value=189000.0, unit='1/s', low=188500.0, high=189500.0)
    >>> quantity("864.7", "MiB/s", digits=5).high / 2**20
    864.705
    """
    if unit not in _UNITS:
        raise ValueError(f"{unit!r} is not a unit that this package knows")
    plain = _PLAIN.fullmatch(text)
    if plain is not None and digits is None:
        return _plain_quantity(plain[1], plain[2] or "", unit, rounding)
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a number")
    number = Decimal(match[1])
    if abs(number.adjusted()) >= MOST_DIGITS:
        raise ValueError(f"{text!r} is far too large or too small to be a figure")
    base, factor = _UNITS[unit]
    factor *= COUNT_SUFFIXES[match[2]]
    step = _last_place(number, digits)
    below, above = {
        "nearest": (step / 2, step / 2),
        "down": (Decimal(0), step),
        "up": (step, Decimal(0)),
        "exact": (Decimal(0), Decimal(0)),
        "unknown": (Decimal(0), Decimal(0)),
    }[rounding]
    if number.is_signed() and rounding == "down":
        below, above = above, below  # cutting off its digits makes a negative figure larger
    known = rounding != "unknown"
    low = number - below
    if not number.is_signed():
        low = max(low, Decimal(0))  # a negative figure that is rounded to 0 is printed as -0
    return Quantity(
        value=float(number * factor),
        unit=base,
        low=float(low * factor) if known else None,
        high=float((number + above) * factor) if known else None,
    )


def _plain_quantity(whole: str, fraction: str, unit: str, rounding: Rounding) -> Quantity:
    """Return the quantity of a number without sign, exponent and suffix, which most are.

    Dividing whole numbers rounds once, just as decimal arithmetic does, and takes a tenth of the time.
    """
    base, factor, divisor = _RATIOS[unit]
    value, low, high = amount(int(whole + fraction), factor, divisor * 10 ** len(fraction), rounding)
    return Quantity(value, base, low, high)


def amount(number: int, factor: int, divisor: int, rounding: Rounding) -> tuple[float, float | None, float | None]:
    """Return the value and bounds of `number` units, where one unit is ``factor / divisor`` base units."""
    value = number * factor / divisor
    match rounding:
        case "exact":
            return value, value, value
        case "down":
            return value, value, (number + 1) * factor / divisor
        case "up":
            return value, max(number - 1, 0) * factor / divisor, value
        case "nearest":
            low, high = max(2 * number - 1, 0), 2 * number + 1
            return value, low * factor / (2 * divisor), high * factor / (2 * divisor)
        case "unknown":
            return value, None, None


def exact_factor(unit: str) -> tuple[int, int]:
    """Return how many base units one unit is, as a fraction.

    >>> exact_factor("ms"), exact_factor("KiB/s")
    ((1, 1000), (1024, 1))
    """
    return _UNITS[unit][1].as_integer_ratio()


def _last_place(number: Decimal, digits: int | None) -> Decimal:
    """Return the value of one unit in the last printed (or kept) place."""
    exponent = int(number.as_tuple().exponent)  # the pattern above lets no NaN pass
    if digits is not None and number != 0:
        exponent = min(exponent, number.adjusted() - digits + 1)
    return Decimal(1).scaleb(exponent)


_PREFIXES: Final = {"B": _BINARY, "B/s": _BINARY, "1/s": _DECIMAL}
_SECONDS: Final = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def humanise(value: float, unit: str) -> str:
    """Format a value for people, with a suitable prefix and three significant digits.

    >>> humanise(773849088, "B/s"), humanise(189000, "1/s"), humanise(0.000336, "s"), humanise(0.12, "1")
    ('738 MiB/s', '189 k/s', '336 µs', '0.12')
    """
    name, factor = scale(value, unit)
    scaled = value / factor
    digits = f"{scaled:.3g}" if abs(scaled) < 999.5 else f"{scaled:,.0f}"
    return f"{digits}{name}" if name == "/s" else f"{digits} {name}".rstrip()


def duration(seconds: float) -> str:
    """Format a duration for people: in minutes from two minutes on, in hours from two hours on.

    >>> duration(0.25), duration(119), duration(1121), duration(20000)
    ('250 ms', '119 s', '18.7 min', '5.56 h')
    """
    unit, factor = next((found for found in (("h", 3600), ("min", 60)) if seconds >= 2 * found[1]), ("s", 1))
    return humanise(seconds, "s") if factor == 1 else f"{seconds / factor:.3g} {unit}"


def from_to(low: str, high: str) -> str:
    """Say from where to where something reaches; ends that print alike are one figure.

    >>> from_to("1.71", "1.98"), from_to("1.84", "1.84")
    ('1.71 to 1.98', 'almost exactly 1.84')
    """
    return f"almost exactly {low}" if low == high else f"{low} to {high}"


def scale(value: float, unit: str) -> tuple[str, float]:
    """Return the unit in which people read a value, and its size in base units.

    >>> scale(773849088, "B/s"), scale(0.000336, "s"), scale(0.12, "1")
    (('MiB/s', 1048576), ('µs', 1e-06), ('', 1.0))
    """
    known = scales(unit)
    plain = ("s", 1.0) if not value and unit == "s" else known[-1]
    return next((found for found in known if abs(value) >= found[1]), plain)


def scales(unit: str) -> list[tuple[str, float]]:
    """Return the units in which people read values of a base unit, largest first.

    >>> scales("1/s")[-2:]
    [('k/s', 1000), ('/s', 1.0)]
    """
    if unit == "s":
        return list(_SECONDS)
    infix = "i" if _PREFIXES.get(unit) is _BINARY else ""
    name = {"1": "", "1/s": "/s"}.get(unit, unit)
    prefixed = [(f"{prefix}{infix}{name}", factor) for prefix, factor in _PREFIXES.get(unit, {}).items()]
    return [*reversed(prefixed), (name, 1.0)]


def units_of(base: str) -> list[tuple[str, float]]:
    """Return the units that tools print for a base unit, with their size in base units.

    >>> units_of("s")
    [('s', 1.0), ('ms', 0.001), ('us', 1e-06), ('ns', 1e-09)]
    """
    return [(name, float(factor)) for name, (of, factor) in _UNITS.items() if of == base]


_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)(i?)[bB]?")


def size(text: str) -> int:
    """Read a size as the tools' command lines take it: ``4k``, ``128K``, ``16G``, ``2GiB``.

    All four tools use powers of 1024 here.

    Raises
    ------
    ValueError
        If `text` is not a size, or is not a whole number of bytes.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size")
    number = Decimal(match[1]) * (_BINARY[match[2].upper()] if match[2] else 1)
    if number != number.to_integral_value(ROUND_DOWN):
        raise ValueError(f"{text!r} is not a whole number of bytes")
    return int(number)
