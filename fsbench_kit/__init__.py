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

from fsbench_kit.model.lazy import lazily

if TYPE_CHECKING:
    from fsbench_kit import charts, tables
    from fsbench_kit.analysis.comparison import compare
    from fsbench_kit.analysis.geometric_mean import geometric_mean
    from fsbench_kit.analysis.sample_size import sample_size
    from fsbench_kit.analysis.summary import summarise
    from fsbench_kit.claims import audit
    from fsbench_kit.data.bulk import ingest
    from fsbench_kit.data.dataset import Dataset, LazyDataset, scan
    from fsbench_kit.data.fio_logs import scan_fio_histograms, scan_fio_log
    from fsbench_kit.data.reading import read, read_text
    from fsbench_kit.formats.fio_log import merged_histogram

    __version__: str

__all__ = [
    "Dataset",
    "LazyDataset",
    "__version__",
    "audit",
    "charts",
    "compare",
    "geometric_mean",
    "ingest",
    "merged_histogram",
    "read",
    "read_text",
    "sample_size",
    "scan",
    "scan_fio_histograms",
    "scan_fio_log",
    "summarise",
    "tables",
]

_imported, __dir__ = lazily(__name__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("fsbench-kit")
    return _imported(name)
