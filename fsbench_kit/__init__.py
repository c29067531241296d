"""Read filesystem benchmark logs, compare them with honest intervals, publish re-executable reports.

Examples
--------
>>> import fsbench_kit as fsb
>>> data = fsb.read("raw_results/published/raid1-hdd-2020")
>>> sorted(data.runs["tool"].unique())
['bonnie++', 'fio', 'smallfiles']
"""

from fsbench_kit.archive import read
from fsbench_kit.claims import audit
from fsbench_kit.compare import compare
from fsbench_kit.dataset import Dataset
from fsbench_kit.formats.fio_log import merged_histogram, scan_fio_histograms, scan_fio_log
from fsbench_kit.overall import overall
from fsbench_kit.repeats import repeats

__all__ = [
    "Dataset",
    "audit",
    "compare",
    "merged_histogram",
    "overall",
    "read",
    "repeats",
    "scan_fio_histograms",
    "scan_fio_log",
]
