"""The sink of all formats: what a print says becomes a measurement by the arguments alone."""

import pytest

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.lexer import Lexer, Printed
from fsbench_kit.formats.text import Text

READS = Place("read", scope="job", part="load", block_size=4096)


def _builder(chars: str = "iops=12\nmax= 0.0\n") -> RunBuilder:
    return RunBuilder(Text(chars))


def test_a_print_becomes_a_measurement_with_its_interval_and_line() -> None:
    run = _builder()
    tokens = list(Lexer(figures=r"iops= (?P<iops>\d+) max= (?P<max>[\d.]+)(?P<other>x)?").tokens(run.text))
    run.add(READS, "iops", tokens[0].printed("iops"), unit="1/s", rounding="down")
    run.add(READS, "latency", tokens[0].printed("max"), "max", unit="ms")
    assert run.add(READS, "latency", tokens[0].printed("other"), "mean") is None
    iops, latency = run.measurements
    assert (iops.value, iops.low, iops.high, iops.text, iops.line) == (12, 12, 13, "12", 1)
    assert (iops.scope, iops.part, iops.operation, iops.block_size) == ("job", "load", "read", 4096)
    assert (latency.statistic, latency.unit, latency.high, latency.line) == ("max", "s", 0.05 / 1000, 2)


@pytest.mark.parametrize(
    ("zero", "expected"),
    [("measured", (0, 0, 0.05)), ("censored", (None, None, 0.05)), ("missing", (None, None, None))],
)
def test_a_zero_says_what_the_format_says_it_says(zero: str, expected: tuple[float | None, ...]) -> None:
    run = _builder()
    run.add(READS, "latency", Printed("0.0", 13), unit="s", zero=zero)  # type: ignore[arg-type]
    (item,) = run.measurements
    assert (item.state, (item.value, item.low, item.high)) == (zero, expected)


def test_special_prints_are_told_by_arguments() -> None:
    run = _builder()
    run.add(READS, "elapsed", Printed("1:23.50", 0), number="83.50", unit="s", rounding="down")
    run.add(READS, "bandwidth", Printed("1024", 0), unit="KiB/s", rounding="exact", factor=1000 / 1024)
    run.add(READS, "latency", Printed("127", 0), "p50", unit="ns", bounds=(126e-9, 128e-9))
    run.add(READS, "latency", Printed("999", 0), "p99", unit="ns", bounds=(990e-9, None))
    run.add_unmeasured(READS, "file_rate", Printed("+++++", 0), state="censored", low=32.0)
    assert [(item.state, item.value, item.low, item.high, item.text) for item in run.measurements] == [
        ("measured", 83.5, 83.5, 83.51, "1:23.50"),
        ("measured", 1024e3, 1024e3, 1024e3, "1024"),
        ("measured", 127e-9, 126e-9, 128e-9, "127"),
        ("censored", None, 990e-9, None, "999"),
        ("censored", None, 32.0, None, "+++++"),
    ]
    with pytest.raises(ValueError, match="not a number"):
        run.add(READS, "iops", Printed("nan", 0))


def test_what_stands_for_the_same_thing_is_found() -> None:
    run = _builder()
    first = run.add(READS, "iops", Printed("12", 5))
    assert run.first(READS, "iops") == first
    assert run.first(READS._replace(operation="write"), "iops") is None
    run.add(READS, "iops", Printed("13", 5), primary=False)
    assert run.first(READS, "iops") == first
    run.rewind(0, 0)
    assert run.first(READS, "iops") is None


def test_a_setting_is_kept_once() -> None:
    run = _builder()
    for position in (0, 9):
        run.set("engine", "libaio", position)
    run.set("engine", None, 0)
    assert [(item.key, item.value, item.line) for item in run.settings] == [("engine", "libaio", 1)]
