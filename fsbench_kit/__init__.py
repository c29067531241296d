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
    from fsbench_kit import charts, tables
    from fsbench_kit.analysis.comparison import compare
    from fsbench_kit.analysis.geometric_mean import overall
    from fsbench_kit.analysis.sample_size import repeats
    from fsbench_kit.claims import audit
    from fsbench_kit.data.dataset import Dataset, LazyDataset, scan
    from fsbench_kit.data.reading import read, read_text
    from fsbench_kit.formats.fio_log import merged_histogram, scan_fio_histograms, scan_fio_log

    __version__: str

__all__ = [
    "Dataset",
    "LazyDataset",
    "__version__",
    "audit",
    "charts",
    "compare",
    "merged_histogram",
    "overall",
    "read",
    "read_text",
    "repeats",
    "scan",
    "scan_fio_histograms",
    "scan_fio_log",
    "tables",
]

_HOMES = {
    "Dataset": "data.dataset",
    "LazyDataset": "data.dataset",
    "audit": "claims",
    "compare": "analysis.comparison",
    "merged_histogram": "formats.fio_log",
    "overall": "analysis.geometric_mean",
    "read": "data.reading",
    "read_text": "data.reading",
    "repeats": "analysis.sample_size",
    "scan": "data.dataset",
    "scan_fio_histograms": "formats.fio_log",
    "scan_fio_log": "formats.fio_log",
}
"""Where each name is at home: its module is imported when the name is first used, since SciPy takes its time."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name in {"charts", "tables"}:
        value = import_module(f"{__name__}.{name}")
    elif name == "__version__":
        value = import_module("importlib.metadata").version("fsbench-kit")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
