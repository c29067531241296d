"""Datasets as labelled groups that are compared with each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Final, TypeAlias

import polars as pl

from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.joining import beside
from fsbench_kit.data.reading import read
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from os import PathLike

    Labelled: TypeAlias = Mapping[str, Dataset | str | PathLike[str]]

GROUP: Final = "group"
"""The setting with the label of a run's group."""


def labelled(groups: Labelled) -> Dataset:
    """Join datasets; the runs of each get its label as the setting ``group``.

    Parameters
    ----------
    groups
        The labels, each with an input of `fsbench_kit.read` or a dataset.

    Raises
    ------
    RequestError
        If there are fewer than two groups, or a run is in two of them.

    Examples
    --------
    >>> study = "raw_results/published/sysbench-rhel72"
    >>> both = labelled({"old": f"{study}/rndrd-ext4.txt", "new": f"{study}/rndrd-xfs.txt"})
    >>> both.settings.filter(key="group")["value"].to_list()
    ['old', 'new']
    """
    if len(groups) < 2:
        raise RequestError(
            "there is only one group" if groups else "there are no groups",
            hint="Give two or more, such as {'before': ..., 'after': ...}.",
        )
    datasets = {label: each if isinstance(each, Dataset) else read(each) for label, each in groups.items()}
    _refuse_shared_runs(datasets)
    return reduce(beside, (_with_label(data, label) for label, data in datasets.items()))


def _with_label(data: Dataset, label: str) -> Dataset:
    own = {"scope": "all", "key": GROUP, "value": label, "origin": "stated"}
    labels = data.runs.select("run_id", **{name: pl.lit(text) for name, text in own.items()})
    settings = pl.concat([data.settings.filter(pl.col("key") != GROUP), labels], how="diagonal_relaxed")
    return replace(data, settings=settings)


def _refuse_shared_runs(datasets: Mapping[str, Dataset]) -> None:
    """Raise if a run is in two groups: equal bytes with a date, or in one file, are one run."""
    runs = pl.concat(
        data.runs.select("sha256", "started_at", "ended_at", "source", group=pl.lit(label))
        for label, data in datasets.items()
    )
    dated = pl.any_horizontal(pl.col("started_at", "ended_at").is_not_null())
    shared = runs.filter(
        ((pl.col("group").n_unique().over("sha256") > 1) & dated) | (pl.col("group").n_unique().over("source") > 1)
    )
    if shared.is_empty():
        return
    of_one = shared.filter(pl.col("sha256") == shared["sha256"][0]).unique("group", maintain_order=True)
    places = " and ".join(f"{source} ({group})" for source, group in of_one.select("source", "group").iter_rows())
    more = shared["sha256"].n_unique() - 1
    raise RequestError(
        f"a run is in two groups: {places}" + (f"; so do {more} more" if more else ""),
        hint="A run counts in one group. Give each group logs of its own.",
    )
