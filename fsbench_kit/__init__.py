"""Read filesystem benchmark logs, compare them with honest intervals, publish re-executable reports.

Examples
--------
>>> import fsbench_kit as fsb
>>> data = fsb.read("raw_results/published/raid1-hdd-2020")
>>> sorted(data.runs["tool"].unique())
['bonnie++', 'fio', 'smallfiles']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsbench_kit.analysis.comparison import compare
    from fsbench_kit.analysis.geometric_mean import geometric_mean
    from fsbench_kit.analysis.sample_size import sample_size
    from fsbench_kit.claims import audit
    from fsbench_kit.data.archive import read
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.formats.fio_log import merged_histogram, scan_fio_histograms, scan_fio_log

__all__ = [
    "Dataset",
    "audit",
    "compare",
    "geometric_mean",
    "merged_histogram",
    "read",
    "sample_size",
    "scan_fio_histograms",
    "scan_fio_log",
]

_HOMES = {
    "Dataset": "data.dataset",
    "audit": "claims",
    "compare": "analysis.comparison",
    "geometric_mean": "analysis.geometric_mean",
    "merged_histogram": "formats.fio_log",
    "read": "data.archive",
    "sample_size": "analysis.sample_size",
    "scan_fio_histograms": "formats.fio_log",
    "scan_fio_log": "formats.fio_log",
}
"""Where each name is at home: its module is imported when the name is first used, since SciPy takes its time."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
