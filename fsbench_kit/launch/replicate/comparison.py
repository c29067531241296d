"""What came of a replication, beside what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.comparison import compare
from fsbench_kit.analysis.settings import NOT_KNOWN, effective, known, values_of
from fsbench_kit.model.vocabulary import SETTINGS, setting_kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fsbench_kit.data.dataset import Dataset

COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "tool": pl.String,
    "pattern": pl.String,
    "operation": pl.String,
    "block_size": pl.Int64,
    "threads": pl.Int64,
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
    "direction": pl.String,
    "finding": pl.String,
    "published_notes": pl.List(pl.String),
    "notes": pl.List(pl.String),
}

_SAME: Final = tuple(COLUMNS)[:10]
"""What has to be equal in both. The size of files is not among it: that is what the scale changes."""


def side_by_side(
    published: Dataset,
    replicated: Dataset,
    baseline: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Set the ratios of a published study beside those of its replication.

    Parameters
    ----------
    published, replicated
        The runs of both.
    baseline, metrics
        As in `fsbench_kit.compare`; without a baseline, the study's, or its first filesystem that was run again.
    left_out
        Filesystem or tool -> why it was not run again, as `fsbench_kit.launch.replicate.left_out` tells.

    Returns
    -------
    pl.DataFrame
        One row for each published ratio; the columns are `COLUMNS`. ``published_low`` and ``published_high`` are
        what the rounding of single runs allows, which is no confidence interval. ``ci_low`` and ``ci_high`` are of
        the replication's mean; between ``prediction_low`` and ``prediction_high`` the ratio of one more pair of
        runs is expected, like the published one.

        ``direction`` is about the mean, by the verdict of `fsbench_kit.compare`: ``same`` and ``opposite`` where
        the replication shows a difference, ``no difference`` where it shows that there is none, ``open`` where it
        shows neither, ``not comparable`` where more than the filesystem may have made it, and ``not run`` where it
        has no such figure; ``notes`` then say why.

        ``finding`` is about the published figure: ``inside`` where it lies where one more pair is expected, and
        ``inside, as 1`` where the mean's interval includes 1; ``same direction`` where it lies outside and both
        are on one side of 1, else ``other direction``; ``open`` where it lies outside and the mean's interval
        includes 1; ``no interval`` where there is none, and ``not run``.

    Notes
    -----
    A pair varies by both of its runs, so on logarithms the prediction interval is ``sqrt(1 + 2 n)`` times as wide
    as that of the mean. Its n is half the number of pairs, or else the inverse of the sum of the inverses of both
    groups' numbers of runs.
    """
    fine = replicated.runs.filter(pl.col("status") == "ok")
    again_here, ran = set(fine["filesystem"].drop_nulls()), set(fine.select("tool", "filesystem").rows())
    theirs = compare(published, baseline=baseline, metrics=metrics)
    if baseline is None and again_here and not again_here & set(theirs["baseline"]):
        shared = [name for name in published.runs["filesystem"].drop_nulls() if name in again_here]
        if shared:
            theirs = compare(published, baseline=shared[0], metrics=metrics)
    base = None if theirs.is_empty() else theirs["baseline"][0]
    again = (
        compare(replicated, baseline=base, metrics=metrics).drop_nulls("ratio")
        if base in again_here
        else theirs.clear()
    )
    with_ratio = theirs.drop_nulls("ratio").partition_by("tool", maintain_order=True)
    both = pl.concat([_joined(rows, again) for rows in with_ratio or [theirs.clear()]])
    pairs = pl.coalesce(
        pl.col("n_pairs_again") / 2, 1 / (1 / pl.col("n_baseline_again") + 1 / pl.col("n_candidate_again"))
    )
    predicted = {
        end: pl.col("ratio_again") * (pl.col(f"ci_{end}_again") / pl.col("ratio_again")) ** (1 + 2 * pairs).sqrt()
        for end in ("low", "high")
    }
    inside = (pl.col("rounding_high") >= predicted["low"]) & (pl.col("rounding_low") <= predicted["high"])
    one = pl.lit(1.0).is_between("ci_low_again", "ci_high_again")
    same_side = (pl.col("ratio") > 1) == (pl.col("ratio_again") > 1)
    not_run = pl.col("ratio_again").is_null()
    why = pl.struct("tool", "level", "baseline").map_elements(
        lambda row: [_why(row, ran, left_out or {})], return_dtype=pl.List(pl.String)
    )
    return both.select(
        *_SAME,
        published_ratio="ratio",
        published_low="rounding_low",
        published_high="rounding_high",
        ratio="ratio_again",
        ci_low="ci_low_again",
        ci_high="ci_high_again",
        prediction_low=predicted["low"],
        prediction_high=predicted["high"],
        confidence="confidence_again",
        n_baseline="n_baseline_again",
        n_candidate="n_candidate_again",
        effect="effect",
        direction=pl.when(not_run)
        .then(pl.lit("not run"))
        .when(pl.col("verdict_again") == "equivalent")
        .then(pl.lit("no difference"))
        .when(pl.col("verdict_again") == "not comparable")
        .then(pl.lit("not comparable"))
        .when(~pl.col("verdict_again").is_in(("better", "worse")))
        .then(pl.lit("open"))
        .when(same_side)
        .then(pl.lit("same"))
        .otherwise(pl.lit("opposite")),
        finding=pl.when(not_run)
        .then(pl.lit("not run"))
        .when(pl.col("ci_low_again").is_null())
        .then(pl.lit("no interval"))
        .when(inside & one)
        .then(pl.lit("inside, as 1"))
        .when(inside)
        .then(pl.lit("inside"))
        .when(one)
        .then(pl.lit("open"))
        .when(same_side)
        .then(pl.lit("same direction"))
        .otherwise(pl.lit("other direction")),
        published_notes="footnotes",
        notes=pl.when(not_run).then(why).otherwise("footnotes_again"),
    ).select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())


def _joined(theirs: pl.DataFrame, again: pl.DataFrame) -> pl.DataFrame:
    """Set rows of one tool beside those of the same cell; what the study nowhere tells is no part of the cell."""
    untold = [name for name in ("block_size", "threads") if theirs[name].null_count() == theirs.height]
    blank = again.with_columns(pl.lit(None, again.schema[name]).alias(name) for name in untold)
    return theirs.join(blank, on=_SAME, how="left", nulls_equal=True, maintain_order="left", suffix="_again")


def _why(row: Mapping[str, str], ran: set[tuple[str, str]], left_out: Mapping[str, str]) -> str:
    """Say why a published ratio has no counterpart."""
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


def reproduced(found: pl.DataFrame) -> pl.DataFrame:
    """Count what became of published effects.

    Parameters
    ----------
    found
        What `side_by_side` returned.

    Returns
    -------
    pl.DataFrame
        One row: ``effects``, of which each counts once, however many metrics tell of it; of these ``run`` again;
        of these those of each of `DIRECTIONS`; and ``size``, how many
        published ratios lie where one more pair of runs is expected and differ from 1 by the replication too.
    """
    effects = found.unique(("effect", "level"), maintain_order=True, keep="first")
    run = effects.filter(pl.col("direction") != "not run")
    counted = {name: (pl.col("direction") == name).sum() for name in DIRECTIONS}
    return run.select(
        effects=pl.lit(effects.height, pl.UInt32),
        run=pl.len(),
        **counted,
        size=((pl.col("finding") == "inside") & (pl.col("direction") == "same")).sum(),
    )


DIRECTIONS: Final = ("same", "opposite", "no difference", "open", "not comparable")
"""What a replication can say of the direction of an effect."""


def differences(published: Dataset, replicated: Dataset) -> pl.DataFrame:
    """List what was otherwise in a replication than in the study, as far as the study tells.

    Returns
    -------
    pl.DataFrame
        Columns ``filesystem``, ``setting``, ``kind``, ``published``, ``replicated``: one row for each setting of
        the workload, the system or the target that the study tells and that is not the same in the replication.
        Where it holds for all filesystems, ``filesystem`` is null.
    """
    theirs, again = (
        {str(name): values_of(known(data), runs["run_id"]) for (name,), runs in data.runs.group_by("filesystem")}
        for data in (published, replicated)
    )
    shared = sorted(theirs.keys() & again.keys())
    rows: list[tuple[str, ...]] = []
    for filesystem in shared:
        for key, values in theirs[filesystem].items():
            kind, found = setting_kind(key), again[filesystem].get(key)
            if (
                kind != "label"
                and found != values
                and (key in SETTINGS or kind == "target")
                and key != "provision"
            ):
                rows.append((filesystem, key, kind, " | ".join(values), " | ".join(found or [NOT_KNOWN])))
    names = ("filesystem", "setting", "kind", "published", "replicated")
    return (
        pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
        .group_by("setting", "kind", "published", "replicated", maintain_order=True)
        .agg(pl.col("filesystem"))
        .with_columns(
            filesystem=pl.when(pl.col("filesystem").list.len() < len(shared)).then(
                pl.col("filesystem").list.join(", ")
            )
        )
        .sort(pl.col("kind").replace_strict(_KINDS, range(len(_KINDS))), "setting", maintain_order=True)
        .select(names)
    )


_KINDS: Final = ("workload", "system", "target")


def caveats(replicated: Dataset) -> list[str]:
    """Say what bears a filesystem's name in a replication and is not what people think of by that name."""
    known = (
        effective(replicated.settings)
        .filter(pl.col("key") == "filesystem_version")
        .join(replicated.runs.select("run_id", "filesystem"), on="run_id")
    )
    return [
        f"The replication's {filesystem} is {version}: a program outside the kernel, which is slower than the "
        "filesystem of that name in the kernel."
        for filesystem, version in known.select("filesystem", "value").unique().sort("filesystem", "value").rows()
        if "fuse" in version
    ]
