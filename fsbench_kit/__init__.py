"""Read filesystem benchmark logs, compare them with honest intervals, publish re-executable reports.

Examples
--------
>>> import fsbench_kit as fsb
>>> data = fsb.read("raw_results/published/raid1-hdd-2020")
>>> sorted(data.runs["tool"].unique())
['bonnie++', 'fio', 'smallfiles']
"""

from fsbench_kit.archive import read
from fsbench_kit.compare import compare
from fsbench_kit.dataset import Dataset

__all__ = ["Dataset", "compare", "read"]
