"""Read filesystem benchmark logs, compare them with honest intervals, publish re-executable reports.

Examples
--------
>>> import fsbench_kit as fsb
>>> data = fsb.read("raw_results/published/raid1-hdd-2020")
>>> sorted(data.runs["tool"].unique())
['bonnie++', 'fio', 'smallfiles']
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.analysis.comparison import compare
    from fsbench_kit.analysis.geometric_mean import overall
    from fsbench_kit.analysis.sample_size import repeats
    from fsbench_kit.claims import audit
    from fsbench_kit.data.archive import read
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.formats.fio_log import merged_histogram, scan_fio_histograms, scan_fio_log

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

_HOMES = {
    "Dataset": "data.dataset",
    "audit": "claims",
    "compare": "analysis.comparison",
    "merged_histogram": "formats.fio_log",
    "overall": "analysis.geometric_mean",
    "read": "data.archive",
    "repeats": "analysis.sample_size",
    "scan_fio_histograms": "formats.fio_log",
    "scan_fio_log": "formats.fio_log",
}
"""Where each name is at home: its module is imported when the name is first used, since SciPy takes its time."""


def _from_homes(package: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names are imported when they are first used."""

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


__getattr__ = _from_homes(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
