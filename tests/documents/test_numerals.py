"""Numbers with decimal commas, or with separators between thousands: right, or reported lost."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from benchmarks.robustness import logs
from fsbench_kit.documents import read_document
from fsbench_kit.documents.numerals import numerals
from fsbench_kit.formats.text import Text
from fsbench_kit.records import Diagnostic, Run

LOGS = logs()
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


Figure = tuple[object, ...]


@cache
def _read(log: str) -> tuple[Counter[Figure], Counter[str]]:
    records = list(read_document(log.encode(), "x"))
    figures = Counter(
        (run.tool, m.scope, m.part, m.operation, m.metric, m.statistic, m.state, m.value)
        for run in records
        if isinstance(run, Run)
        for m in run.measurements
    )
    return figures, Counter(record.code for record in records if isinstance(record, Diagnostic))


@pytest.mark.parametrize("write", [comma, thousands, thousands_and_comma])
@pytest.mark.parametrize("name", LOGS)
def test_a_figure_is_right_or_reported_lost(write: Callable[[str, str], str], name: str) -> None:
    log = LOGS[name].read_text(encoding="utf-8")
    intact, intact_codes = _read(log)
    figures, codes = _read(_numbers(log, write))
    is_said = bool(set(codes - intact_codes) - {"REPAIRED_NUMBERS", "PROGRESS", "OTHER_TEXT"})
    assert is_said or not figures - intact
    assert is_said or not intact - figures


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
    for name, share in least.items():
        logs_of_format = [path.read_text(encoding="utf-8") for path in LOGS.values() if path.parent.name == name]
        read = [(_read(log)[0], _read(_numbers(log, write))[0]) for log in logs_of_format]
        right = sum((intact & figures).total() for intact, figures in read)
        assert right >= share * sum(intact.total() for intact, _ in read), name


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
