"""Printed numbers, and the true values that print like them."""

from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbench_kit.model.units import Quantity, Rounding, humanise, quantity, size

TRUE_VALUES = st.decimals(min_value="-1e12", max_value="1e12", places=6)
NOT_NEGATIVE = st.decimals(min_value="0", max_value="1e12", places=6)
PLACES = st.integers(0, 5)


def _shorten(number: Decimal, places: int, mode: str) -> str:
    return f"{number.quantize(Decimal(1).scaleb(-places), rounding=mode):f}"


def _holds(amount: Quantity, true: Decimal, factor: str = "1") -> bool:
    assert amount.low is not None
    assert amount.high is not None
    return amount.low <= float(true * Decimal(factor)) <= amount.high


@pytest.mark.parametrize(
    ("rounding", "mode"),
    [
        ("nearest", ROUND_HALF_EVEN),
        ("nearest", ROUND_HALF_UP),
        ("down", ROUND_DOWN),
        ("up", ROUND_CEILING),
    ],
)
@given(true=TRUE_VALUES, places=PLACES)
def test_the_true_value_lies_in_the_interval(rounding: Rounding, mode: str, true: Decimal, places: int) -> None:
    amount = quantity(_shorten(true, places, mode), rounding=rounding)
    assert _holds(amount, true)
    assert amount.low is not None
    assert amount.high is not None
    assert amount.low <= amount.value <= amount.high
    width = 10.0**-places
    assert amount.high - amount.low <= width * (1 + 1e-9) + abs(float(true)) * 1e-15


@given(true=NOT_NEGATIVE, digits=st.integers(1, 8))
def test_figures_of_so_many_digits_that_drop_their_zeros(true: Decimal, digits: int) -> None:
    """C's ``%.5g``, which prints 864.70 as 864.7."""
    printed = f"{float(true):.{digits}g}"
    rounded = Context(prec=digits).plus(Decimal(float(true)))
    amount = quantity(printed, digits=digits)
    assert amount.value == float(rounded)
    assert _holds(amount, Decimal(float(true)))


@pytest.mark.parametrize(
    ("text", "rounding", "low", "high"),
    [
        ("738", "nearest", 737.5, 738.5),
        ("738", "down", 738.0, 739.0),
        ("738", "up", 737.0, 738.0),
        ("738", "exact", 738.0, 738.0),
        ("0.00", "nearest", 0.0, 0.005),
        ("0", "down", 0.0, 1.0),
        ("0", "up", 0.0, 0.0),
        ("-0.02", "nearest", -0.025, -0.015),
        ("-0.02", "down", -0.03, -0.02),
        ("-0.02", "up", -0.03, -0.02),
        ("-0.00", "nearest", -0.005, 0.005),
        ("12.5k", "nearest", 12450.0, 12550.0),
        ("1.2e+06", "nearest", 1.15e6, 1.25e6),
        ("5.", "nearest", 4.5, 5.5),
        (".5", "nearest", 0.45, 0.55),
        (" 7 ", "exact", 7.0, 7.0),
        ("+7", "exact", 7.0, 7.0),
    ],
)
def test_intervals_by_hand(text: str, rounding: Rounding, low: float, high: float) -> None:
    amount = quantity(text, rounding=rounding)
    assert (amount.low, amount.high) == (low, high)


def test_where_the_rounding_is_unknown_so_is_the_interval() -> None:
    assert quantity("10", "%", rounding="unknown") == Quantity(0.1, "1", None, None)


@pytest.mark.parametrize(
    ("text", "digits", "low", "high"),
    [
        ("864.7", 5, 864.695, 864.705),
        ("152", 5, 151.995, 152.005),
        ("1.5259", 5, 1.52585, 1.52595),
        ("0.05", 5, 0.0499995, 0.0500005),
        ("123456", 5, 123455.5, 123456.5),
        ("0", 5, 0.0, 0.5),
    ],
)
def test_kept_digits_by_hand(text: str, digits: int, low: float, high: float) -> None:
    amount = quantity(text, digits=digits)
    assert (amount.low, amount.high) == (low, high)


@pytest.mark.parametrize(
    ("unit", "base", "factor"),
    [
        ("", "1", "1"),
        ("1", "1", "1"),
        ("%", "1", "0.01"),
        ("1/s", "1/s", "1"),
        ("s", "s", "1"),
        ("ms", "s", "0.001"),
        ("us", "s", "0.000001"),
        ("ns", "s", "0.000000001"),
        ("B", "B", "1"),
        ("kB", "B", "1000"),
        ("MB", "B", "1000000"),
        ("GB", "B", "1000000000"),
        ("TB", "B", "1000000000000"),
        ("PB", "B", "1000000000000000"),
        ("KiB", "B", "1024"),
        ("MiB", "B", "1048576"),
        ("GiB", "B", "1073741824"),
        ("TiB", "B", "1099511627776"),
        ("PiB", "B", "1125899906842624"),
        ("B/s", "B/s", "1"),
        ("kB/s", "B/s", "1000"),
        ("MB/s", "B/s", "1000000"),
        ("GB/s", "B/s", "1000000000"),
        ("TB/s", "B/s", "1000000000000"),
        ("PB/s", "B/s", "1000000000000000"),
        ("KiB/s", "B/s", "1024"),
        ("MiB/s", "B/s", "1048576"),
        ("GiB/s", "B/s", "1073741824"),
        ("TiB/s", "B/s", "1099511627776"),
        ("PiB/s", "B/s", "1125899906842624"),
    ],
)
@given(true=NOT_NEGATIVE, places=PLACES)
def test_every_unit(unit: str, base: str, factor: str, true: Decimal, places: int) -> None:
    printed = _shorten(true, places, ROUND_HALF_EVEN)
    amount = quantity(printed, unit)
    assert amount.unit == base
    assert amount.value == float(Decimal(printed) * Decimal(factor))
    assert _holds(amount, true, factor)


@pytest.mark.parametrize(
    ("suffix", "factor"), [("k", 10**3), ("K", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12), ("P", 10**15)]
)
def test_suffixes_of_counts_are_powers_of_1000(suffix: str, factor: int) -> None:
    amount = quantity(f"2.5{suffix}", "1/s")
    assert (amount.value, amount.low, amount.high) == (2.5 * factor, 2.45 * factor, 2.55 * factor)


@pytest.mark.parametrize(
    "text",
    ["", "+", "-", ".", "1.2.3", "1,5", "12 5", "0x10", "nan", "inf", "+++++", "5x", "k", "1e", "--5", "1/2"],
)
def test_what_is_no_number_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        quantity(text)


@pytest.mark.parametrize("unit", ["Mb/sec", "usec", "mb", "KB", "kiB", "MiB /s", "percent", "min"])
def test_a_unit_that_means_different_things_is_an_error(unit: str) -> None:
    with pytest.raises(ValueError, match="is not a unit"):
        quantity("1", unit)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("512", 512),
        ("4k", 4096),
        ("4K", 4096),
        ("128KiB", 131072),
        ("128kb", 131072),
        ("1M", 1048576),
        ("1.5m", 1572864),
        ("16G", 17179869184),
        ("2 GiB", 2147483648),
        ("1t", 1099511627776),
        (" 8k ", 8192),
        ("100B", 100),
    ],
)
def test_sizes(text: str, number: int) -> None:
    assert size(text) == number


@pytest.mark.parametrize("text", ["", "k", "4k,8k", "-1", "4x", "50%", "1e3", "4 k b"])
def test_what_is_no_size_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        size(text)


@pytest.mark.parametrize("text", ["1.5", "0.0001k"])
def test_a_size_is_a_whole_number_of_bytes(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        size(text)


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (773849088.0, "B/s", "738 MiB/s"),
        (512.0, "B", "512 B"),
        (0.0, "B/s", "0 B/s"),
        (1024.0, "B", "1 KiB"),
        (1536.0 * 2**30, "B", "1.5 TiB"),
        (1023.0 * 1024, "B", "1,023 KiB"),
        (2.0**60, "B", "1 EiB"),
        (-2048.0, "B/s", "-2 KiB/s"),
        (189000.0, "1/s", "189 k/s"),
        (12.0, "1/s", "12/s"),
        (1.5, "s", "1.5 s"),
        (7200.0, "s", "7,200 s"),
        (0.000336, "s", "336 µs"),
        (0.0042, "s", "4.2 ms"),
        (2.5e-9, "s", "2.5 ns"),
        (1e-12, "s", "0.001 ns"),
        (0.0, "s", "0 s"),
        (0.12, "1", "0.12"),
        (1991.0, "1", "1,991"),
    ],
)
def test_quantities_for_people(value: float, unit: str, words: str) -> None:
    assert humanise(value, unit) == words
