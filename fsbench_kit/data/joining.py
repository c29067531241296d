"""Joins datasets: those that were written, and that of the logs read beside them."""

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
    """Put datasets together, of which there is at least one; a run that several of them have counts once.

    It is the same run where everything is equal that is known of it, but for the folder in which its log stood.
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
        Those of the one to which it is added, or as many of them as could be the same.
    other
        The dataset that is added.
    ids
        Those that are taken; the ids that its runs get are added to them.
    """
    known = _facts(runs)
    new = other.runs.filter(~_facts(other.runs).is_in(known.implode()))
    counted = other.runs.join(new, on="run_id", how="anti", maintain_order="left")["source"].unique(
        maintain_order=True
    )
    # What is said of a log whose runs are known is known as well.
    said = other.diagnostics.filter(~pl.col("source").is_in(set(counted) - set(new["source"])))
    same = Diagnostic(code="SAME_RUN", message="A dataset on disk holds the run as well; it counts once.")
    said = pl.concat([diagnostics_of((source, same) for source in counted), said])
    said = said.join(diagnostics, on=said.columns, how="anti", nulls_equal=True, maintain_order="left")
    return _with_free_ids(ids, replace(other, runs=new, diagnostics=said))


def beside(whole: Dataset, other: Dataset) -> Dataset:
    """Put the runs of a dataset, and what belongs to them, beside those of another; none of them is the same."""
    other = _with_free_ids(set(whole.runs["run_id"]), other)
    return Dataset(**{name: pl.concat([frame, other.frames[name]]) for name, frame in whole.frames.items()})


def _with_free_ids(ids: set[str], data: Dataset) -> Dataset:
    """Return runs, and what belongs to them, with ids that are not taken, and take these."""
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
    """Return what is known of each run, apart from where its log stands on the disk."""
    name = pl.col("source").str.split("/").list.last()
    return runs.select(pl.struct(pl.exclude("run_id", "source"), name.alias("file"))).to_series()
