"""What counts as the size that an article states; all ends were worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import fsbench_kit as fsb
from fsbench_kit.claims.sizes import Stated, stated
from fsbench_kit.data.study import ClaimFacts
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from pathlib import Path


def counts(size: str | None, unit: str, **facts: Any) -> Stated:
    return stated(ClaimFacts(id="c", says="c", relation="ratio", size=size, **facts), unit)


@pytest.mark.parametrize(
    ("size", "unit", "low", "high"),
    [
        # what rounds to the digits, of which each place counts
        ("2", "1", 1.5, 2.5),
        ("2.0", "1", 1.95, 2.05),
        ("-2", "1", -2.5, -1.5),
        ("+2", "1", 1.5, 2.5),
        ("85 %", "1", 0.845, 0.855),
        ("85%", "1", 0.845, 0.855),
        ("20 MB/s", "B/s", 19.5e6, 20.5e6),
        ("20 MiB/s", "B/s", 19.5 * 2**20, 20.5 * 2**20),
        ("7.5k", "1/s", 7450, 7550),
        ("7.5k 1/s", "1/s", 7450, 7550),
        ("30 ms", "s", 0.0295, 0.0305),
        ("2 min", "s", 90, 150),
        ("0.1 min", "s", 3, 9),
        # within half a unit of the first digit
        ("about 85 %", "1", 0.80, 0.90),
        ("about 100", "1", 50, 150),
        ("about 0.3", "1", 0.25, 0.35),
        ("about 7.5k", "1/s", 7000, 8000),
        ("about 2M", "1/s", 1.5e6, 2.5e6),
        ("about 25 min", "s", 20 * 60, 30 * 60),
        # from one end to the other
        ("5 to 15", "1", 5, 15),
        ("5 to 15 %", "1", 0.05, 0.15),
        ("5 to 15%", "1", 0.05, 0.15),
        ("-5 to 15", "1", -5, 15),
        ("1 to 64 KiB", "B", 1024, 65536),
        ("1.5k to 2M", "1/s", 1500, 2e6),
        ("1 to 2 min", "s", 60, 120),
        # beyond
        ("> 2", "1", 2, None),
        (">2", "1", 2, None),
        ("> 20 %", "1", 0.2, None),
        ("< 100 MB/s", "B/s", None, 1e8),
    ],
)
def test_what_counts_as_a_size(size: str, unit: str, low: float | None, high: float | None) -> None:
    found = counts(size, unit)
    assert found[:2] == (
        None if low is None else pytest.approx(low, rel=1e-12),
        None if high is None else pytest.approx(high, rel=1e-12),
    )


def test_a_band_goes_before_the_digits() -> None:
    band = counts("2", "1", band=("175 %", "2.25"))
    assert (band.has(1.75), band.has(2.24999), band.has(2.25)) == (True, True, False)
    with pytest.raises(RequestError, match="the band runs from 2 down to 2"):
        counts("2", "1", band=("2", "2"))


@pytest.mark.parametrize(
    ("size", "inside", "outside"),
    [
        ("2", [1.5, 2.49999], [1.49999, 2.5]),  # 2.5 rounds to 3
        ("about 2", [1.5, 2.49999], [1.49999, 2.5]),
        ("5 to 15", [5, 15], [4.99999, 15.00001]),
        ("> 2", [2, 1e9], [1.99999]),
        ("< 2", [-1e9, 2], [2.00001]),
    ],
)
def test_the_ends_of_a_size(size: str, inside: list[float], outside: list[float]) -> None:
    found = counts(size, "1")
    assert [found.has(value) for value in inside] == [True] * len(inside)
    assert [found.has(value) for value in outside] == [False] * len(outside)


@pytest.mark.parametrize(("size", "middle"), [("5 to 15", 10), ("> 2", 2), ("< 3", 3), ("about 85", 85)])
def test_the_middle_of_a_size(size: str, middle: float) -> None:
    assert counts(size, "1").middle == middle


@pytest.mark.parametrize(
    ("low", "high", "can"),
    [
        (1.0, 2.0, True),
        (2.4, 3.0, True),
        (2.5, 3.0, False),
        (1.0, 1.5, False),
        (1.0, 1.6, True),
        (2.0, 2.1, True),
        (None, 1.5, False),
        (None, 1.6, True),
        (2.5, None, False),
        (2.4, None, True),
        (None, None, True),
    ],
)
def test_figures_between_bounds_can_have_a_size(low: float | None, high: float | None, can: bool) -> None:
    assert counts("2", "1").may_be(low, high) is can


@pytest.mark.parametrize(
    ("size", "unit", "message"),
    [
        ("twice", "1", "cannot read the size 'twice'"),
        ("2 to 1", "1", "the size '2 to 1' runs downwards"),
        ("2 to 2", "1", "the size '2 to 2' runs downwards"),
        ("about 5 to 15 min s", "s", "cannot read the size"),
        ("2 furlongs", "1", "cannot read the size '2 furlongs': 'furlongs' is not a unit"),
        ("2..5", "1", "cannot read the size '2..5': '2..5' is not a number"),
        ("2 s", "1", "the size '2 s' is of the wrong kind: it is a plain number or a share, and has no unit"),
        ("2", "s", "the size '2' is of the wrong kind: it needs a unit of time"),
        ("2", "B/s", "it needs a unit of bytes per second"),
        ("2 s", "1/s", "it needs a unit of a rate"),
        ("2 min", "B", "it needs a unit of bytes"),
    ],
)
def test_a_size_that_is_none(size: str, unit: str, message: str) -> None:
    with pytest.raises(RequestError) as raised:
        counts(size, unit)
    assert str(raised.value).startswith(message) or message in str(raised.value)


@pytest.mark.parametrize(
    ("size", "direction"),
    [
        ("64 KiB", "as said"),
        ("65.5 kB", "as said"),  # 65,450 to 65,550 bytes
        ("1 to 64 KiB", "as said"),
        ("> 100 KiB", "the contrary"),
        ("0.1 MiB", "as said"),  # 52,428.8 up to 157,286.4 bytes
        ("0.06 MiB", "as said"),
        ("0.06 MB", "the contrary"),  # 55,000 up to 65,000
    ],
)
def test_settings_are_held_against_sizes_in_bytes(tmp_path: Path, size: str, direction: str) -> None:
    heading, row = "task,filesystems,metric,value,low,high,unit,qualifier", "mkfs,a,elapsed,2.0,,,s,"
    (tmp_path / "tasks.csv").write_text(f"{heading}\n# block_size = 65536\n{row}\n", encoding="utf-8")
    (tmp_path / "study.toml").write_text(
        '[study]\nid = "made"\ntitle = "Made"\n\n[[log]]\nfile = "tasks.csv"\ntool = "filetree"\n\n'
        f'[[claim]]\nid = "c"\nsays = "so"\nrelation = "setting"\nsetting = "block_size"\nsize = "{size}"\n',
        encoding="utf-8",
    )
    assert fsb.audit(tmp_path)["direction"].item() == direction
