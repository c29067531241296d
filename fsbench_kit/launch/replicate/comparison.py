"""Compares the results of a replication with the published ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.comparison import compare
from fsbench_kit.data.reading import read
from fsbench_kit.data.study import study_folders
from fsbench_kit.launch.replicate.here import left_out as reasons_left_out
from fsbench_kit.launch.replicate.plan import AGAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from fsbench_kit.data.dataset import Dataset

COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "study": pl.String,
    "tool": pl.String,
    "pattern": pl.String,
    "operation": pl.String,
    "block_size": pl.Int64,
    "file_size": pl.Int64,
    "threads": pl.Int64,
    "iodepth": pl.String,
    "metric": pl.String,
    "statistic": pl.String,
    "better": pl.String,
    "baseline": pl.String,
    "level": pl.String,
    "published_ratio": pl.Float64,
    "published_low": pl.Float64,
    "published_high": pl.Float64,
    "ratio": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "prediction_low": pl.Float64,
    "prediction_high": pl.Float64,
    "confidence": pl.Float64,
    "n_baseline": pl.Int64,
    "n_candidate": pl.Int64,
    "effect": pl.Int64,
    "stands_for_effect": pl.Boolean,
    "direction": pl.String,
    "size": pl.String,
    "reasons": pl.List(pl.String),
    "published_notes": pl.List(pl.String),
    "notes": pl.List(pl.String),
}

_SAME: Final = (
    "tool",
    "pattern",
    "operation",
    "block_size",
    "threads",
    "iodepth",
    "metric",
    "statistic",
    "better",
    "baseline",
    "level",
)
"""Columns that must be equal in both. File size is not among them, because the scale changes it."""
_UNTOLD: Final = ("block_size", "threads", "iodepth")
"""Those of these columns that a study may leave unstated."""


def side_by_side(
    published: Dataset,
    replicated: Dataset,
    baseline: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Compare the ratios of a published study with those of its replication.

    Parameters
    ----------
    published, replicated
        The runs of both.
    baseline, metrics
        As in `fsbench_kit.compare`. By default, the baseline is the study's, or its first replicated filesystem.
    left_out
        Filesystem or tool -> why it was not replicated, as returned by `fsbench_kit.launch.replicate.left_out`.

    Returns
    -------
    pl.DataFrame
        One row per published ratio; the columns are `COLUMNS`. ``published_low`` and ``published_high`` are the
        confidence interval if the study repeated its runs; for single runs they only bound the rounding error.
        ``ci_low`` and ``ci_high`` are the interval of the replication's mean. ``prediction_low`` and
        ``prediction_high`` are the range expected for a further ratio from as many runs as the published one.

        ``direction`` compares the published direction with the verdict of `fsbench_kit.compare` on the
        replication: ``same`` or ``opposite`` if both have a direction, ``no difference`` if the replication shows
        that there is none, ``open`` if one of them has no direction, ``not comparable`` if more than the
        filesystem may explain the replication's ratio, and ``not run`` if it has no such figure; ``notes`` says
        why.

        ``size`` is ``inside`` or ``outside``: whether the published ratio lies in the range expected for a further
        one. It is null if there is no interval.

        ``reasons`` are the codes that limit the comparison of the replication. Metrics of one ``effect`` share its
        verdict; the row that ``stands_for_effect`` counts for all of them.

    Notes
    -----
    The published ratio varies with its runs and the replication's mean with its own. On log scale, the prediction
    interval is therefore ``sqrt(1 + n/k)`` times as wide as that of the mean, where n is the number of pairs
    behind the mean and k that behind the published ratio: 1 for single runs, 3 for means of three. Without pairs,
    both are harmonic means of the groups' numbers of runs.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> published = fsb.read("raw_results/published/sysbench-rhel72")
    >>> both = side_by_side(published, fsb.read("raw_results/replicated/sysbench-rhel72-again"))
    >>> both.filter(pattern="rndrd", operation="read", metric="iops").select("direction", "size").row(0)
    ('open', 'inside')
    """
    if published.runs["filesystem"].drop_nulls().is_empty():
        return pl.DataFrame(schema=COLUMNS)
    fine = replicated.runs.filter(pl.col("status") == "ok")
    again_here, ran = set(fine["filesystem"].drop_nulls()), set(fine.select("tool", "filesystem").rows())
    theirs = compare(published, baseline=baseline, metrics=metrics)
    if baseline is None and again_here and not again_here & set(theirs["baseline"]):
        shared = [name for name in published.runs["filesystem"].drop_nulls() if name in again_here]
        if shared:
            theirs = compare(published, baseline=shared[0], metrics=metrics)
    base = None if theirs.is_empty() else theirs["baseline"][0]
    again = compare(replicated, baseline=base, metrics=metrics) if base in again_here else theirs.clear()
    with_ratio = theirs.drop_nulls("ratio").partition_by("tool", maintain_order=True)
    both = pl.concat([_joined(rows, again) for rows in with_ratio or [theirs.clear()]])
    was_run = pl.col("verdict_again").is_not_null()
    why = pl.struct("tool", "level", "baseline").map_elements(
        lambda row: [_why(row, ran, left_out or {})], return_dtype=pl.List(pl.String)
    )
    found = both.with_columns(
        published_ratio="ratio",
        published_low=pl.coalesce("ci_low", "rounding_low"),
        published_high=pl.coalesce("ci_high", "rounding_high"),
        **{name: f"{name}_again" for name in _OF_OURS},
        **_predicted(),
        published_notes="footnotes",
        reasons="reasons_again",
        notes=pl.when(was_run).then("footnotes_again").otherwise(why),
        stands_for_effect=pl.col("effect").is_first_distinct(),
    )
    inside = (pl.col("published_high") >= pl.col("prediction_low")) & (
        pl.col("published_low") <= pl.col("prediction_high")
    )
    return found.with_columns(
        direction=pl.when(was_run).then(_direction()).otherwise(pl.lit("not run")),
        size=pl.when(inside).then(pl.lit("inside")).when(~inside).then(pl.lit("outside")),
    ).select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())


_OF_OURS: Final = ("ratio", "ci_low", "ci_high", "confidence", "n_baseline", "n_candidate")


def _joined(theirs: pl.DataFrame, again: pl.DataFrame) -> pl.DataFrame:
    """Join the rows of one tool on their cells, ignoring columns that the study never states.

    Rows that differ only in file size are matched in order. Among the rows of an effect, replicated ones come
    first.
    """
    untold = [name for name in _UNTOLD if theirs[name].null_count() == theirs.height]
    blank = again.with_columns(pl.lit(None, again.schema[name]).alias(name) for name in untold)
    nth = pl.int_range(pl.len()).over(_SAME, order_by=["file_size", "part", "work"]).alias("nth")
    return (
        theirs.with_columns(nth)
        .join(
            blank.with_columns(nth),
            on=[*_SAME, "nth"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
            suffix="_again",
        )
        .sort(pl.col("verdict_again").is_null(), maintain_order=True)
    )


def _predicted() -> dict[str, pl.Expr]:
    """Return the range expected for a further ratio from as many runs as the published one."""
    theirs = [pl.col(f"n_{group}") * pl.col(f"averaged_over_{group}").fill_null(1) for group in _GROUPS]
    ours = [pl.col(f"n_{group}_again") for group in _GROUPS]
    published_pairs, pairs = (2 / (1 / baseline + 1 / candidate) for baseline, candidate in (theirs, ours))
    wider = (1 + pl.coalesce("n_pairs_again", pairs) / published_pairs).sqrt()
    mean = pl.col("ratio_again")
    return {f"prediction_{end}": mean * (pl.col(f"ci_{end}_again") / mean) ** wider for end in ("low", "high")}


_GROUPS: Final = ("baseline", "candidate")


def _direction() -> pl.Expr:
    """Return how the replication's verdict relates to the published direction."""
    low, high = (pl.coalesce(f"published_{end}", "published_ratio") for end in ("low", "high"))
    above, below = low > 1, high < 1
    equal = (low >= 1 / pl.col("margin")) & (high <= pl.col("margin"))
    ours_above = pl.coalesce("ratio_again", "rounding_low_again").fill_null(0.0) > 1
    verdict = pl.col("verdict_again")
    return (
        pl.when(verdict == "not comparable")
        .then(pl.lit("not comparable"))
        .when(~verdict.is_in(("better", "worse", "equivalent")) | ~(above | below | equal))
        .then(pl.lit("open"))
        .when(verdict == "equivalent")
        .then(pl.when(equal).then(pl.lit("same")).otherwise(pl.lit("no difference")))
        .when(pl.when(ours_above).then(above).otherwise(below))
        .then(pl.lit("same"))
        .otherwise(pl.lit("opposite"))
    )


def _why(row: Mapping[str, str], ran: set[tuple[str, str]], left_out: Mapping[str, str]) -> str:
    """Return why a published ratio has no counterpart."""
    for key in (row["baseline"], row["level"], row["tool"]):
        if key in left_out:
            return left_out[key]
    anywhere = {filesystem for _, filesystem in ran}
    for name in (row["baseline"], row["level"]):
        if name not in anywhere:
            return f"{name} was not run again."
    if {(row["tool"], row["level"]), (row["tool"], row["baseline"])} <= ran:
        return "The replication has no such figure."
    return f"Runs of {row['tool']} failed on {row['level']} or {row['baseline']}."


def replications(
    *studies: str | PathLike[str] | Iterable[str | PathLike[str]],
    replicated: str | PathLike[str] = "raw_results/replicated",
) -> pl.DataFrame:
    """Compare the ratios of several studies with those of their replications.

    Parameters
    ----------
    *studies
        Folders of studies, or folders that contain them.
    replicated
        The folder of the replications; the one of study ``x`` is called ``x-again``.

    Returns
    -------
    pl.DataFrame
        The rows of `side_by_side`, study by study, including studies without a replication.

    Examples
    --------
    >>> found = replications("raw_results/published")
    >>> reproduced(found).select("study", "effects").height
    5
    """
    found = []
    for folder in study_folders(*studies):
        published = read(folder)
        name = published.runs["study"][0]
        again = Path(replicated, f"{name}{AGAIN}")
        there = again.is_dir()
        runs = read(again) if there else published.filter(pl.lit(value=False))
        reasons = reasons_left_out(published, again) if there else {}
        found.append(side_by_side(published, runs, left_out=reasons))
    return pl.concat(found)


def reproduced(found: pl.DataFrame) -> pl.DataFrame:
    """Count how the published effects of each study were reproduced.

    Parameters
    ----------
    found
        What `side_by_side` or `replications` returned.

    Returns
    -------
    pl.DataFrame
        One row per study. ``effects`` counts each published effect once, however many metrics describe it; ``run``
        counts those that were replicated, followed by a count for each of `DIRECTIONS`. ``judged`` counts those in
        which both have a direction or the replication shows no difference. ``size`` counts those with the same
        direction whose published ratio lies in the range expected for a further one.

    Examples
    --------
    >>> reproduced(replications("raw_results/published/fio-nvme-2021")).select("study", "effects", "run").row(0)
    ('fio-nvme-2021', 4, 4)
    """
    run = pl.col("direction") != "not run"
    same = pl.col("direction") == "same"
    return (
        found.filter("stands_for_effect")
        .group_by("study", maintain_order=True)
        .agg(
            effects=pl.len(),
            run=run.sum(),
            judged=pl.col("direction").is_in(JUDGED).sum(),
            **{name: (pl.col("direction") == name).sum() for name in DIRECTIONS},
            size=(same & (pl.col("size") == "inside").fill_null(value=False)).sum(),
        )
    )


JUDGED: Final = ("same", "opposite", "no difference")
"""Directions that decide about an effect."""
DIRECTIONS: Final = (*JUDGED, "open", "not comparable")
"""How a replicated effect can relate to the published direction."""
