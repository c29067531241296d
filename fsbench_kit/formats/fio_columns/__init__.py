"""Reads the machine-readable reports of fio as columns over many of them, or over a single one.

For a report, a format states which of its numbers each figure is and how it is printed (`Figures`); reports with
the same layout share this. All their numbers are converted to values at once (`columns`; `percentiles` with their
bins), and these to the rows of frames or records (`Sheet`). `read` does so for many reports: `Alike` groups them
by `Kind`, and irregular ones are left to the format's `parse`.
"""

from fsbench_kit.formats.fio_columns.alike import Alike, Learned
from fsbench_kit.formats.fio_columns.columns import Amounts, Known, Log, Shape, ints
from fsbench_kit.formats.fio_columns.figures import Bucket, Figures, Gate, Latencies, Print, Row, printed
from fsbench_kit.formats.fio_columns.frames import IsRead, read
from fsbench_kit.formats.fio_columns.kind import Kind, Printed
from fsbench_kit.formats.fio_columns.lots import lots
from fsbench_kit.formats.fio_columns.numbers import NUMBER, Bools, Data, Ints, Numbers
from fsbench_kit.formats.fio_columns.sheet import Sheet

__all__ = [
    "NUMBER",
    "Alike",
    "Amounts",
    "Bools",
    "Bucket",
    "Data",
    "Figures",
    "Gate",
    "Ints",
    "IsRead",
    "Kind",
    "Known",
    "Latencies",
    "Learned",
    "Log",
    "Numbers",
    "Print",
    "Printed",
    "Row",
    "Shape",
    "Sheet",
    "ints",
    "lots",
    "printed",
    "read",
]
