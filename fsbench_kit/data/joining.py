"""Joins datasets: those read from disk with each other and with that of newly read logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import count

import polars as pl

from fsbench_kit.data.columns import diagnostics_of
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.model.records import Diagnostic


def joined(datasets: Sequence[Dataset]) -> Dataset:
    """Join one or more datasets; a run that several of them have counts once.

    Runs are the same if everything known about them is equal, except for the folder of the log.
    """
    some = [data for data in datasets if not (data.runs.is_empty() and data.diagnostics.is_empty())]
    return reduce(_with, some or datasets[:1])


def _with(whole: Dataset, other: Dataset) -> Dataset:
    new = added(whole.runs, whole.diagnostics, other, set(whole.runs["run_id"]))
    return Dataset(**{name: pl.concat([frame, new.frames[name]]) for name, frame in whole.frames.items()})


def added(runs: pl.DataFrame, diagnostics: pl.DataFrame, other: Dataset, ids: set[str]) -> Dataset:
    """Return what a dataset adds to another one.

    Parameters
    ----------
    runs, diagnostics
        The runs and diagnostics of the existing dataset, or as many of them as could be the same.
    other
        The dataset to add.
    ids
        The ids in use; the ids of the added runs are added to them.
    """
    known = _facts(runs)
    new = other.runs.filter(~_facts(other.runs).is_in(known.implode()))
    counted = other.runs.join(new, on="run_id", how="anti", maintain_order="left")["source"].unique(
        maintain_order=True
    )
    # The diagnostics of a log whose runs are all known are known as well.
    remaining = other.diagnostics.filter(~pl.col("source").is_in(set(counted) - set(new["source"])))
    same = Diagnostic(code="SAME_RUN", message="A dataset on disk contains this run too; it counts once.")
    remaining = pl.concat([diagnostics_of((source, same) for source in counted), remaining])
    remaining = remaining.join(
        diagnostics, on=remaining.columns, how="anti", nulls_equal=True, maintain_order="left"
    )
    return _with_free_ids(ids, replace(other, runs=new, diagnostics=remaining))


def beside(whole: Dataset, other: Dataset) -> Dataset:
    """Concatenate two datasets, with everything that belongs to their runs; none of these is the same."""
    other = _with_free_ids(set(whole.runs["run_id"]), other)
    return Dataset(**{name: pl.concat([frame, other.frames[name]]) for name, frame in whole.frames.items()})


def _with_free_ids(ids: set[str], data: Dataset) -> Dataset:
    """Return a dataset whose runs have ids that are not in use yet, and mark these as used."""
    names = {}
    for run_id in data.runs["run_id"]:
        stem, _, ordinal = run_id.rpartition("-")
        names[run_id] = next(name for k in count(int(ordinal)) if (name := f"{stem}-{k}") not in ids)
        ids.add(names[run_id])

    def renamed(frame: pl.DataFrame) -> pl.DataFrame:
        if "run_id" not in frame.columns:
            return frame
        own = frame.join(data.runs.select("run_id"), on="run_id", how="semi", maintain_order="left")
        return own.with_columns(pl.col("run_id").replace(names))

    return Dataset(**{name: renamed(frame) for name, frame in data.frames.items()})


def _facts(runs: pl.DataFrame) -> pl.Series:
    """Return what is known about each run, except for the folder of its log."""
    name = pl.col("source").str.split("/").list.last()
    return runs.select(pl.struct(pl.exclude("run_id", "source"), name.alias("file"))).to_series()
