"""Summarises a dataset in a few lines, for the prompt and for notebooks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.model.vocabulary import SEVERITIES

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset

_MOST: Final = 6
"""The maximum number of studies, tools and so on to list."""


def summary(dataset: Dataset) -> tuple[str, dict[str, str]]:
    """Return a title, and further lines by label."""
    runs = dataset.runs
    tools = runs["tool"].unique(maintain_order=True).to_list()
    title = _counted(runs.height, "run") + (f" of {', '.join(tools[:_MOST])}" if tools else "")
    rows = {
        label: _levels(runs[column])
        for label, column in (
            ("studies", "study"),
            ("hosts", "host"),
            ("filesystems", "filesystem"),
            ("status", "status"),
        )
        if runs[column].null_count() < runs.height
    }
    days = runs["started_at"].drop_nulls().dt.date().sort().cast(pl.String).to_list()
    if days:
        rows["started"] = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    for name in ("settings", "measurements", "distributions", "series"):
        rows[name] = f"{dataset.frames[name].height:,}"
    severities = Counter(dataset.diagnostics["severity"])
    counted = [_counted(severities[name], name) for name in reversed(SEVERITIES) if severities[name]]
    rows["diagnostics"] = ", ".join(counted) or "none"
    return title, rows


def _levels(column: pl.Series) -> str:
    """List the values of a column with the number of runs of each, the most frequent first."""
    name = column.name
    counts = column.drop_nulls().cast(pl.String).value_counts().sort("count", name, descending=[True, False])
    named = [f"{value} ({_counted(number, 'run')})" for value, number in counts.head(_MOST).rows()]
    return ", ".join(named) + (f", and {counts.height - _MOST} more" if counts.height > _MOST else "")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
