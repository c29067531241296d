"""What the figures of an iozone log measure, and how they are added to a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.model.units import Rounding


class Measure(NamedTuple):
    """What a figure measures, and how it is printed.

    If it `counts` something, 0 is an ordinary value.
    """

    metric: str
    statistic: str
    unit: str
    rounding: Rounding
    counts: bool = False


BANDWIDTH: Final = Measure("bandwidth", "value", "KiB/s", "down")
IOPS: Final = Measure("iops", "value", "1/s", "down")
LATENCY: Final = Measure("latency", "mean", "us", "down")
CPU: Final = Measure("cpu", "value", "%", "nearest")


class Test(NamedTuple):
    """A test of iozone: its number for ``-i``, and its names in the parts of a log that include it.

    These are the heading of the table and its report, the lines of throughput mode, and the report of their sums.
    """

    number: int | None
    heading: str = ""
    report: str = ""
    processes: str = ""
    summary: str = ""


TESTS: Final = {
    "write": Test(0, "write", "Writer", "initial writers", "Initial write"),
    "rewrite": Test(0, "rewrite", "Re-writer", "rewriters", "Rewrite"),
    "read": Test(1, "read", "Reader", "readers", "Read"),
    "reread": Test(1, "reread", "Re-Reader", "re-readers", "Re-read"),
    "random_read": Test(2, "random read", "Random read", "random readers", "Random read"),
    "random_write": Test(2, "random write", "Random write", "random writers", "Random write"),
    "backward_read": Test(3, "bkwd read", "Backward read", "reverse readers", "Reverse Read"),
    "record_rewrite": Test(4, "record rewrite", "Record rewrite"),
    "stride_read": Test(5, "stride read", "Stride read", "stride readers", "Stride read"),
    "fwrite": Test(6, "fwrite", "Fwrite", "fwriters", "Fwrite"),
    "frewrite": Test(6, "frewrite", "Re-Fwrite"),
    "fread": Test(7, "fread", "Fread", "freaders", "Fread"),
    "freread": Test(7, "freread", "Re-Fread"),
    "pwrite": Test(9, "pwrite", "Pwrite", "pwrite writers", "Pwrite"),
    "repwrite": Test(9, "repwrite", "Re-Pwrite"),
    "pread": Test(10, "pread", "Pread", "pread readers", "Pread"),
    "repread": Test(10, "repread", "Re-Pread"),
    "mixed": Test(None, processes="mixed workload", summary="Mixed workload"),  # not in the table
}
"""The tests by operation, in the order of the table's columns."""

TESTS_BY_NUMBER: Final = [
    tuple(operation for operation, test in TESTS.items() if test.number == number) for number in range(11)
]
"""The operations that ``-i 0``, ``-i 1``, ... request."""


def by_name(of: str) -> dict[str, str]:
    """Return the operations by their names in one part of the log, a field of `Test`."""
    return {name: operation for operation, test in TESTS.items() if (name := getattr(test, of))}


def spelled(names: Iterable[str]) -> str:
    """Return the pattern of some names, regardless of their white space."""
    return "|".join(names).replace(" ", r"\s+")


def table_measure(given: Mapping[str, str]) -> Measure:
    """Return what the figures of a table measure, given the options of a run; the default is kB/s."""
    if given.get("iozone.-N") == "true":
        return LATENCY
    return IOPS if given.get("iozone.-O") == "true" else BANDWIDTH


def add(
    run: RunBuilder,
    place: Place,
    measure: Measure,
    printed: Printed | None,
    *,
    ran: bool = False,
    samples: int | None = None,
    within: Token | None = None,
) -> int | None:
    """Add a figure, and return the number of an earlier figure of the same thing, if any.

    A 0 is missing, or, if the test `ran`, a figure that is too small to be printed.
    """
    first = run.first(place, measure.metric, measure.statistic)
    run.add(
        place,
        measure.metric,
        printed,
        measure.statistic,
        unit=measure.unit,
        rounding=measure.rounding,
        name=measure.metric,
        zero="measured" if measure.counts else "censored" if ran else "missing",
        samples=samples,
        primary=first is None,
        within=within,
    )
    return first
