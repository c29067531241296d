"""Numbers with decimal commas, or with separators between thousands: right, or reported lost."""

import re
import sys
from collections.abc import Callable

import pytest

from fsbench_kit.documents.numerals import numerals
from fsbench_kit.formats.text import Text
from tests.damage import LOGS, figures, intact, invented, lost_in_silence, read

NUMBER = re.compile(r"(?<![\w.,])(?<!fio-)(?<!Version )(?<!Version  )\d+(?:\.\d+)?(?![\w]*\.\d)(?!,\d)")


def _numbers(log: str, write: Callable[[str, str], str]) -> str:
    """Write the numbers of a log in another way, but for versions, and lists with commas."""
    return NUMBER.sub(lambda match: write(*match[0].partition(".")[::2]), log)


def _grouped(digits: str, separator: str) -> str:
    return f"{int(digits):,}".replace(",", separator) if not digits.startswith("0") else digits


def comma(whole: str, decimals: str) -> str:
    return f"{whole},{decimals}" if decimals else whole


def thousands(whole: str, decimals: str) -> str:
    return _grouped(whole, ",") + (f".{decimals}" if decimals else "")


def thousands_and_comma(whole: str, decimals: str) -> str:
    return _grouped(whole, ".") + (f",{decimals}" if decimals else "")


@pytest.mark.parametrize("name", LOGS)
def test_no_figure_is_invented_nor_lost_in_silence(name: str) -> None:
    log = LOGS[name].read_text(encoding="utf-8")
    for written in {_numbers(log, write) for write in (comma, thousands, thousands_and_comma)} - {log}:
        damaged = read(written.encode())
        assert invented(name, damaged) == [], written
        assert lost_in_silence(name, damaged) == [], written


@pytest.mark.parametrize(
    ("write", "least"),
    [
        # bonnie++'s CSV has commas of its own; iozone's columns shift where numbers grow
        (
            comma,
            {"bonnie": 0.5, "fio_json": 0.6, "fio_normal": 0.9, "fio_terse": 0.9, "iozone": 1, "sysbench": 1},
        ),
        (
            thousands,
            {"bonnie": 0.8, "fio_json": 0.8, "fio_normal": 0.9, "fio_terse": 1, "iozone": 0.8, "sysbench": 1},
        ),
    ],
)
def test_most_figures_are_recovered(write: Callable[[str, str], str], least: dict[str, float]) -> None:
    for format_name, share in least.items():
        names = [name for name in LOGS if name.startswith(f"{format_name}/")]
        whole = [figures(intact(name)) for name in names]
        read_again = [
            figures(read(_numbers(LOGS[name].read_text(encoding="utf-8"), write).encode())) for name in names
        ]
        right = sum((one & other).total() for one, other in zip(whole, read_again, strict=True))
        assert right >= share * sum(one.total() for one in whole), format_name


@pytest.mark.parametrize(
    ("mangled", "meant"),
    [
        ("avg=12,34, stdev=5,60, max=14,500", "avg=12.34, stdev=5.60, max=14.500"),
        ("max=1,234,567 avg=1,234.50", "max=1234567 avg=1234.50"),
        ("max=1.234.567 avg=1.234,50", "max=1234567 avg=1234.50"),
        ("max=1,234 or 1,235", "max=1,234 or 1,235"),  # thousands or decimals
        ("max=1,234 avg=0.5", "max=1234 avg=0.5"),
        ("avg=12,34 max=0.5", "avg=12,34 max=0.5"),  # two ways
        ("fio-3.33 sysbench 1.0.20 at 10.0.0.1: avg=12,34", "fio-3.33 sysbench 1.0.20 at 10.0.0.1: avg=12.34"),
        ("--cpus=0,2 --rate=1.5 avg=0,5", "--cpus=0,2 --rate=1.5 avg=0.5"),
        ("avg=28.09 total=100,200,300,400 short=0,0,0,0", "avg=28.09 total=100,200,300,400 short=0,0,0,0"),
        ("avg=28.09 total=2480,2640,0,250 short=0,0,0,0", "avg=28.09 total=2480,2640,0,250 short=0,0,0,0"),
        (
            "total=2480,2640,0,250\nlat of all (usec): avg=5,60",
            "total=2480,2640,0,250\nlat of all (usec): avg=5.60",
        ),
        ("max=1,234,567, issued rwts: total=1,200,0,0", "max=1234567, issued rwts: total=\ufffd"),
        (
            "avg=5,60, issued rwts: total=1200,0,0,0",
            "avg=5.60, issued rwts: total=1200,0,0,0",
        ),
        ("1.97,1.97,host,1,16G,,786,99,1234,5,600,70", "1.97,1.97,host,1,16G,,786,99,1234,5,600,70"),
    ],
)
def test_small_texts(mangled: str, meant: str) -> None:
    assert Text(mangled).edited(numerals(mangled)).chars == meant


def test_lists_of_fio_alone_make_nobody_look_at_all_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """In an article of a megabyte, that takes as long as all else."""
    monkeypatch.setattr(sys.modules[numerals.__module__], "_NUMBER", None)
    assert not list(numerals("issued rwts: total=2480,2640,0,250 short=0,0,0,0 dropped=0,0,0,0\n" * 3))
    with pytest.raises(AttributeError):
        list(numerals("total=2480,2640,0,250\navg=5,60"))
