"""Confounders from how the work was done: how much of it, and how its requests waited."""

from __future__ import annotations

from typing import Final

import polars as pl

from fsbench_kit.analysis.confounders.entry import NOTHING, confounder, figures_of_runs, settings_of_work
from fsbench_kit.analysis.design import OTHER, Design
from fsbench_kit.analysis.settings import number
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import EITHER_LATENCY

_IN_TIME: Final = 0.99
"""The largest share of its time limit that a run can take and still have ended by itself."""


@confounder(
    "UNEQUAL_WORK", "verdict withheld", "One group completed its work; the other was stopped by its time limit."
)
def _unequal_work(design: Design) -> pl.DataFrame:
    """Find pairs in which one group completed its work and the other was stopped by its time limit."""
    work = _work(design)
    if work.is_empty():
        return NOTHING
    works = (
        design.members.join(work, on="run_id")
        .group_by("set", "level")
        .agg(pl.col("bytes", "duration").mean(), pl.col("by_itself").first(), alike=pl.col("by_itself").n_unique())
        .filter(pl.col("alike") == 1)
    )
    unequal = design.beside(works).filter(pl.col("by_itself") != pl.col(f"by_itself{OTHER}"))["pair"]
    named = design.groups.called()
    sentences = [
        f"{level} {'completed its work' if by_itself else 'was stopped by its time limit'}: "
        f"{humanise(done, 'B')} in {duration:.0f} s."
        for level, done, duration, by_itself in works.select(named, "bytes", "duration", "by_itself").rows()
    ]
    of_sets = works.select("set", text=pl.Series(sentences, dtype=pl.String))
    return design.of_pairs(of_sets).filter(pl.col("pair").is_in(unequal.implode()))


def _work(design: Design) -> pl.DataFrame:
    """Return for each run with a time limit how much it did, and whether it ended before the limit."""
    settings = design.of(settings_of_work)
    if not settings["time_limit"].count():
        return NOTHING
    limits = settings.filter(pl.col("time_limit").is_not_null(), pl.col("time_based").ne_missing("true"))
    done = (
        design.of(figures_of_runs)
        .filter(metric="bytes", statistic="value")
        .group_by("run_id")
        .agg(pl.col("value").sum().alias("bytes"))
    )
    return (
        design.of(lambda dataset: dataset.runs.select("run_id", "duration"))
        .join(done, on="run_id")
        .join(limits, on="run_id")
        .select("run_id", "bytes", "duration", by_itself=pl.col("duration") < _IN_TIME * number("time_limit"))
        .drop_nulls("by_itself")
    )


_ASYNCHRONOUS: Final = ("libaio", "io_uring", "posixaio", "solarisaio", "windowsaio")


@confounder(
    "BLOCKING_SUBMIT",
    "verdict withheld",
    "Requests of an asynchronous engine waited in submission, which the completion latency leaves out.",
    of_one=True,
)
def _blocking_submit(design: Design) -> pl.DataFrame:
    """Name the groups whose requests spend most of their time in submission, which the metric leaves out."""
    submission = _submission(design)
    if submission.is_empty():
        return NOTHING
    shares = (
        design.groups.measurements.filter(pl.col("metric").is_in(["completion_latency", EITHER_LATENCY]))
        .join(submission.filter(pl.col("submission") > 0.5), on=["run_id", "operation"])
        .group_by("group", "level")
        .agg(pl.col("submission").mean())
    )
    sentences = [
        f"{level}: {100 * share:.0f} % of a request's time was spent in its submission; "
        "compare the total latency instead."
        for level, share in shares.select(design.groups.called(), "submission").rows()
    ]
    return design.groups.of_rows(shares.select("group", text=pl.Series(sentences, dtype=pl.String)))


def _submission(design: Design) -> pl.DataFrame:
    """Return the share of submission in the latency, for each run and operation of an asynchronous engine."""
    settings = design.of(settings_of_work)
    if not settings["engine"].count():
        return NOTHING
    engine = settings.filter(pl.col("engine").is_in(_ASYNCHRONOUS))
    means = design.of(figures_of_runs).filter(statistic="mean").join(engine, on="run_id", how="semi")
    waited, whole = (
        means.filter(metric=metric).group_by("run_id", "operation").agg(pl.col("value").mean().alias(metric))
        for metric in ("submission_latency", "latency")
    )
    return waited.join(whole, on=["run_id", "operation"]).select(
        "run_id", "operation", submission=pl.col("submission_latency") / pl.col("latency")
    )
