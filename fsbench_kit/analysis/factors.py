"""Suggests factors for runs whose filesystems are unknown: settings that vary between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.comparison import compare
from fsbench_kit.analysis.settings import effective, known
from fsbench_kit.data.name_proposals import FILESYSTEM
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.order import in_order
from fsbench_kit.model.vocabulary import SETTINGS

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset

_MOST_LEVELS: Final = 12
_MOST: Final = 4
_LABELS: Final = ("job_name", "directory", "description", "date")
"""Labels that people choose; the others are what a tool says about itself."""


def possible_factors(dataset: Dataset) -> dict[str, list[str]]:
    """Return the factors that runs can be compared by: they vary, and their groups did the same work.

    Returns
    -------
    dict[str, list[str]]
        Factors with their levels, at most four; those whose levels name filesystems come first.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> possible_factors(fsb.read("raw_results/published/raid1-hdd-2020"))
    {'block_size': ['4096', '16384', '131072']}
    """
    files = effective(dataset.settings.filter(key="fio.filename")).select("run_id", "key", "value")
    values = pl.concat([known(dataset), files]).group_by("key").agg(pl.col("value").unique())
    varying = {
        key: in_order(levels)
        for key, levels in sorted(values.rows())
        if 2 <= len(levels) <= _MOST_LEVELS
        and (key not in SETTINGS or SETTINGS[key].kind != "label" or key in _LABELS)
    }
    found: dict[str, list[str]] = {}
    for key in sorted(varying, key=lambda key: not all(map(_NAMES_ONE.search, varying[key]))):
        if len(found) < _MOST and _can_be_compared(dataset, key):
            found[key] = varying[key]
    return found


_NAMES_ONE: Final = re.compile(rf"(?<![a-z0-9]){FILESYSTEM}(?![a-z0-9])", re.IGNORECASE)


def _can_be_compared(dataset: Dataset, factor: str) -> bool:
    try:
        return not compare(dataset, factor).is_empty()
    except RequestError:
        return False
