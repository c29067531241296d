"""Reads reports of fio for programs as columns over many of them, also those of which there is only one.

A format says of a report which of its numbers each figure is and how it is printed (`Figures`); reports that are
printed alike share that. All their numbers become values at once (`columns`; `percentiles` with their bins), and
these the rows of frames or records (`Sheet`). `read` does so with many reports: `Alike` tells which of them are
of one `Kind`, and what is out of the ordinary in any is left to the format's `parse`.
"""

from fsbench_kit.formats.fio_columns.alike import NUMBER, Alike, Learned, numbers_of
from fsbench_kit.formats.fio_columns.columns import Amounts, Log, picker
from fsbench_kit.formats.fio_columns.figures import Bucket, Figures, Gate, Latencies, Print, Row, printed
from fsbench_kit.formats.fio_columns.frames import Kind, Numbers, Printed, read
from fsbench_kit.formats.fio_columns.sheet import Sheet

__all__ = [
    "NUMBER",
    "Alike",
    "Amounts",
    "Bucket",
    "Figures",
    "Gate",
    "Kind",
    "Latencies",
    "Learned",
    "Log",
    "Numbers",
    "Print",
    "Printed",
    "Row",
    "Sheet",
    "numbers_of",
    "picker",
    "printed",
    "read",
]
