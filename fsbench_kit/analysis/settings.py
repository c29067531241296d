"""The settings of runs: which cells they belong to, and what besides the factor distinguishes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import polars as pl

from fsbench_kit.analysis.parts import differing, stretches
from fsbench_kit.analysis.work import work_of
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.dates import of_one_run
from fsbench_kit.data.labelled import GROUP
from fsbench_kit.model.errors import RequestError, check_given
from fsbench_kit.model.order import in_order
from fsbench_kit.model.suggestions import did_you_mean, known_instead
from fsbench_kit.model.vocabulary import AT, factor_key

Where: TypeAlias = Mapping[str, Sequence[str | int | None] | str | int | None]

NOT_KNOWN: Final = "not known"

DATE: Final = "date"
"""The factor for the day of a run, taken from its name, or else from its log in UTC."""


def effective(settings: pl.DataFrame) -> pl.DataFrame:
    """Return one value for each run and key, that of the strongest origin.

    If the parts of a run differ (two fio jobs with different block sizes), their values are joined by ``|``.

    Parameters
    ----------
    settings
        The ``settings`` frame of a dataset.

    Returns
    -------
    pl.DataFrame
        Columns ``run_id``, ``key``, ``value``, ``origin``.
    """
    known = settings[["run_id", "key", "value", "origin"]]
    if known[["run_id", "key"]].hash_rows().n_unique() == known.height:
        return known
    # Origins are an Enum in descending order of strength, so the smallest one is the strongest.
    strongest = known.filter(pl.col("origin") == pl.col("origin").min().over("run_id", "key"))
    several = strongest.select(pl.struct("run_id", "key").is_duplicated()).to_series()
    if not several.any():
        return strongest
    joined = (
        strongest.filter(several)
        .group_by("run_id", "key", maintain_order=True)
        .agg(pl.col("value").unique(maintain_order=True).str.join(" | "), pl.col("origin").first())
    )
    return pl.concat([strongest.filter(~several), joined])


def wide(settings: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """Return one row for each run with a column for each of the keys; unknown values are null."""
    wanted = list(keys)
    some = effective(settings.filter(pl.col("key").is_in(wanted)))
    runs = dict.fromkeys(some["run_id"].to_list())
    return pl.DataFrame([pl.Series("run_id", list(runs), dtype=pl.String), *_columns(some, wanted, runs)])


def _columns(effective: pl.DataFrame, keys: Sequence[str], runs: Iterable[str]) -> list[pl.Series]:
    """Return for each of the keys its values in the given runs; unknown values are null."""
    found: dict[str, dict[str, str]] = {key: {} for key in keys}
    if effective.height:
        for run, key, value in effective.filter(pl.col("key").is_in(keys))[["run_id", "key", "value"]].rows():
            found[key][run] = value
    return [pl.Series(key, [of.get(run) for run in runs], dtype=pl.String) for key, of in found.items()]


def values_of(known: pl.DataFrame, runs: Iterable[str]) -> dict[str, list[str]]:
    """Return the values of each key among some runs, given the result of `known`; both are sorted."""
    found = known.filter(pl.col("run_id").is_in(list(runs))).group_by("key").agg(pl.col("value").unique().sort())
    return dict(found.sort("key").rows())


def known(dataset: Dataset) -> pl.DataFrame:
    """Return everything known about runs: columns ``run_id``, ``key``, ``value``.

    Besides the settings, these are facts of the run itself, and the disks and jobs for which its log has figures.
    """
    of_runs = [of_each(dataset.runs, key) for key in _RUN_FACTS if dataset.runs[key].count()]
    without_memory = pl.col("value").str.replace_all(_MEMORY, "", literal=True)
    a_file = (pl.col("key") == "fio.filename") & ~without_memory.str.contains("/dev/", literal=True)
    of_settings = effective(dataset.settings.filter(~pl.col("key").is_in(_RUN_FACTS), ~a_file))
    of_settings = of_settings[["run_id", "key", "value"]]
    in_logs = (_parts(dataset, of_settings, key, scope) for key, scope in (("disks", "disk"), ("job_name", "job")))
    return pl.concat([*of_runs, of_settings, *in_logs])


def of_each(runs: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return what a column of runs says about each, as ``run_id``, ``key`` and ``value``."""
    of_runs = runs.select_seq("run_id", key=pl.lit(key), value=key)
    return of_runs.drop_nulls("value") if of_runs["value"].null_count() else of_runs


def _parts(dataset: Dataset, known: pl.DataFrame, key: str, scope: str) -> pl.DataFrame:
    """Return the parts for which a log has figures as a setting, for runs without that setting."""
    parts = dataset.measurements["part"]
    if parts.null_count() == parts.len():
        return known.clear()
    named = pl.col("run_id").is_in(known.filter(pl.col("key") == key)["run_id"].implode())
    # the kernel numbers loop devices and RAM disks arbitrarily
    chance = (pl.col("scope") == "disk") & pl.col("part").str.contains("^(loop|ram)")
    return (
        dataset.measurements.filter(pl.col("scope") == scope, pl.col("part").is_not_null(), ~chance, ~named)
        .group_by("run_id", maintain_order=True)
        .agg(pl.lit(key).alias("key"), pl.col("part").unique().sort().str.join(" ").alias("value"))
    )


_MEMORY: Final = "/dev/shm/"  # noqa: S108 - only looked for
"""Begins the names of files in memory, which are no devices."""

_RUN_FACTS: Final = ("host", "tool_version")
"""Columns of runs that count as settings when runs are compared."""

CELL: Final = (
    "study",
    "tool",
    "filesystem",
    "pattern",
    "scope",
    "part",
    "operation",
    "block_size",
    "file_size",
    "threads",
    "iodepth",
    "work",
    "metric",
    "statistic",
)
"""The columns that must be equal for two figures to be compared, unless they are the factor; other differences are
reported as confounders. ``work`` lists all other settings of the work in which workloads differ."""

_SIZES: Final = ("block_size", "file_size", "threads")
_KEYS: Final = (
    "pattern",
    "iodepth",
    *_SIZES,
    "direct",
    "kernel",
    "memory",
    "memory_limit",
    "total_size",
    "files",
    "stopping_rule",
    "boot",
    "date",
)

LAUNCH: Final = pl.concat_str(
    pl.col("study", "host", "kernel", "date").fill_null(""),
    pl.when(pl.col("order").is_null())
    .then(pl.lit(""))
    .otherwise(pl.col("source").str.replace("/[^/]*/[^/]*$", "")),
    separator="\n",
).alias("launch")
"""The scope in which rounds are counted: one study on one host with one kernel, and one date if names state it;
for runs launched with the kit, one folder."""


def cells(
    dataset: Dataset, factor: str, where: Where | None = None, *, without: Sequence[str] = ()
) -> pl.DataFrame:
    """Return the primary figures of runs and of their jobs, each with its cell and its level of a factor.

    Parameters
    ----------
    dataset
        The runs.
    factor
        A column of ``runs``, or the key of a setting unless a column of that name has values; or ``date``, the day
        on which a run began.
    where
        The values to keep, by column of `CELL` or for the factor; ``None`` keeps figures without a value.
    without
        Columns of ``runs`` to leave out.

    Returns
    -------
    pl.DataFrame
        The columns of `CELL` and of ``runs``, those of the measurement, ``launch``, ``boot``, and ``level``, which
        is never null. If the sync after a writing task is timed separately, the sum of both is the metric
        ``elapsed_with_sync``. A size that a figure does not state is taken from the settings of its run; it is
        null if otherwise equal figures have either no size or this one. The name of a part is null if its run has
        no other part, because it is then a mere label. So is the factor itself if it is one of `CELL`, and the
        filesystem if the factor is the target that has it, or groups with one filesystem each.

    Raises
    ------
    RequestError
        If ``where`` names an unknown column, or a value that no figure has.
    """
    check_given(dataset, Dataset, "fsb.read(path)")
    if not isinstance(factor, str):
        raise RequestError(f"{factor!r} is not a factor", hint='Write for example factor="filesystem".')
    if where is not None and not isinstance(where, Mapping):
        raise RequestError(f"{where!r} chooses no cells", hint='Write for example where={"operation": "read"}.')
    settings = effective(dataset.settings)
    each = dataset.runs["run_id"].to_list()
    runs = dataset.runs.hstack(_columns(settings, _KEYS, each)).with_columns_seq(
        memory=pl.coalesce("memory_limit", "memory"), date=pl.when(~of_one_run("date")).then("date")
    )
    keys = settings["key"].unique()
    if factor in dataset.runs.columns and (dataset.runs[factor].count() or factor not in keys):
        runs = runs.with_columns_seq(level=pl.col(factor).cast(pl.String))
    elif factor == DATE:
        day = pl.coalesce("started_at", "ended_at").dt.date().cast(pl.String)
        runs = runs.with_columns_seq(level=pl.coalesce(_day("date"), day))
    else:
        asked = factor_key(factor, keys)
        runs = runs.hstack([level.rename("level") for level in _columns(settings, [asked], each)])
    if runs["level"].null_count():
        runs = runs.drop_nulls("level")
    label = "filesystem" if factor == "target" or (factor == GROUP and _of_one_filesystem_each(runs)) else factor
    labels = [key for key in CELL if key == label]
    alike = [key for key in CELL if key in runs.columns and key not in labels]
    runs = runs.with_columns_seq(
        LAUNCH,
        pl.col("date") if factor != DATE else pl.lit(None, pl.String).alias("date"),
        work_of(runs, settings, alike, factor),
        *(integer(size).alias(f"{size}_setting") for size in _SIZES),
        *(pl.lit(None, runs.schema[key]).alias(key) for key in labels if key in runs.columns),
    )
    printed = _computable(dataset.measurements.filter("primary", pl.col("scope").is_in(["all", "job"])))
    synced = _with_sync(printed)
    every = pl.concat([printed, synced]) if synced.height else printed
    facts = [name for name in runs.columns if name not in {"run_id", "line", *_SIZES, *without}]
    figures = _beside_runs(every, runs["run_id"], runs[facts]).with_columns_seq(
        pl.col("scope").cast(pl.String),
        _telling_part(printed),
        *(pl.coalesce(size, f"{size}_setting").alias(size) for size in _SIZES),
    )
    if varied := [key for key in labels if figures[key].count()]:  # a size, or the operation
        figures = figures.with_columns(pl.lit(None, figures.schema[key]).alias(key) for key in varied)
    for size in _SIZES:
        if 0 < figures[size].null_count() < figures.height:
            figures = figures.with_columns(_known_of_all(size))
    chosen = [_is_one_of(figures, name, factor, kept) for name, kept in (where or {}).items()]
    return figures.filter(chosen) if chosen else figures


def _day(date: str) -> pl.Expr:
    """Return the day of a date that may include a time."""
    return pl.when(pl.col(date).str.contains(AT)).then(pl.col(date).str.head(10)).otherwise(date)


def _of_one_filesystem_each(runs: pl.DataFrame) -> bool:
    """Return whether each level has a single filesystem, and not all have the same."""
    pairs = runs.select("filesystem", "level").unique()
    return pairs.height == pairs["level"].n_unique() and pairs["filesystem"].n_unique() > 1


def _known_of_all(size: str) -> pl.Expr:
    """Return a size if it distinguishes otherwise equal figures, or if all of them have it.

    fio prints the size of files only when it lays them out, which happens in the first of several runs. Its
    absence in the others is therefore not a difference.
    """
    rest = [key for key in CELL if key != size]
    values = pl.col(size).drop_nulls().n_unique().over(rest)
    return pl.when((values > 1) | pl.col(size).is_not_null().all().over(rest)).then(size).alias(size)


def _telling_part(figures: pl.DataFrame) -> pl.Expr:
    """Return the name of a figure's part, or null if its run has no other part."""
    if figures["part"].null_count() == figures.height:
        return pl.col("part")
    return pl.when(pl.col("part").n_unique().over("run_id", "scope") > 1).then("part").alias("part")


def _beside_runs(measurements: pl.DataFrame, runs: pl.Series, facts: pl.DataFrame) -> pl.DataFrame:
    """Join measurements with the facts of their runs, in a tenth of the time of a Polars join for so few runs."""
    several = differing(facts, facts.columns) if facts.height else facts.columns
    alike = [name for name in facts.columns if name not in several]
    starts, lengths = stretches(measurements["run_id"].hash().to_numpy())  # the figures of a run are consecutive
    places = {run: place for place, run in enumerate(runs.to_list())}
    blocks = [places.get(run, -1) for run in measurements["run_id"][starts].to_list()]
    place = np.repeat(np.array(blocks, dtype=np.int64), lengths)
    known = place >= 0
    if not known.all():
        measurements, place = measurements.filter(known), place[known]
    beside = measurements.hstack(facts[several][place]) if several else measurements
    first, kinds = facts.row(0, named=True) if alike else {}, facts.schema
    return beside.with_columns_seq(pl.lit(first[name], kinds[name]).alias(name) for name in alike)


_LARGEST: Final = 1e100
"""Ratios of figures up to this, and down to its inverse, can be represented as floats."""


def _computable(figures: pl.DataFrame) -> pl.DataFrame:
    """Mark figures as missing that are nan or (nearly) infinite, and drop bounds that make no sense."""
    low, printed, high = (figures[name].to_numpy() for name in ("low", "value", "high"))
    if ((low >= 1 / _LARGEST) & (low <= printed) & (printed <= high) & (high <= _LARGEST)).all():
        return figures  # the usual case

    def usable(name: str) -> pl.Expr:
        return (pl.col(name) == 0) | pl.col(name).abs().is_between(1 / _LARGEST, _LARGEST)

    value = pl.when(usable("value")).then("value")
    bounds = {name: pl.when(usable(name)).then(name) for name in ("low", "high")}
    in_order = pl.all_horizontal(bounds["low"] >= 0, bounds["low"] <= bounds["high"]).fill_null(value=True)
    state = pl.when((pl.col("state") == "measured") & value.is_null()).then(
        pl.lit("missing", figures.schema["state"])
    )
    return figures.with_columns(
        value.alias("value"),
        *(pl.when(in_order).then(bound).alias(name) for name, bound in bounds.items()),
        state.otherwise("state").alias("state"),
    )


_WRITES: Final = "write|copy|remove|delete|command"
"""Operations that leave something for a sync to write."""


def _with_sync(figures: pl.DataFrame) -> pl.DataFrame:
    """Return the sum of the times of each writing task and of the sync after it.

    Neither shows alone how long a filesystem takes: one does more at once, and another more in the sync.
    """
    if not (figures["metric"] == "elapsed").any():
        return figures.clear()
    elapsed = figures.filter(
        pl.col("operation").str.contains(_WRITES), metric="elapsed", statistic="value", state="measured"
    )
    syncs = elapsed.filter(pl.col("operation").str.ends_with("_sync")).with_columns(
        pl.col("operation").str.strip_suffix("_sync")
    )
    both = elapsed.join(
        syncs, on=["run_id", "scope", "part", "operation", *_SIZES], nulls_equal=True, suffix="_of_sync"
    )
    return both.with_columns(
        pl.lit("elapsed_with_sync").alias("metric"),
        *(pl.col(name) + pl.col(f"{name}_of_sync") for name in ("value", "low", "high")),
        pl.format("{} + {}", "text", "text_of_sync").alias("text"),
    ).select(figures.columns)


def _is_one_of(
    figures: pl.DataFrame, name: str, factor: str, kept: Sequence[str | int | None] | str | int | None
) -> pl.Expr:
    """Return whether a figure has one of the values in a column, or as its level of the factor."""
    if name not in (*CELL, factor):
        raise RequestError(
            f"{name!r} does not name cells, so that none can be chosen by it",
            hint=did_you_mean(str(name), [*CELL, factor])
            or f"Choose by {', '.join(key for key in CELL if key != factor)}, or by the factor, {factor}.",
        )
    texts = figures["level" if name == factor else name].cast(pl.String)
    return pl.lit(texts.is_in(chosen_of(name, kept, texts.unique()), nulls_equal=True))


def chosen_of(
    name: str, kept: Sequence[str | int | None] | str | int | None, known: Iterable[str | None]
) -> list[str | None]:
    """Return the values that are chosen from a column, as text.

    Raises
    ------
    RequestError
        If the column does not have one of them.
    """
    several = [kept] if kept is None or isinstance(kept, str | int) else kept
    wanted = [None if value is None else str(value) for value in several]
    there = set(known)
    for value in wanted:
        if value not in there:
            names = in_order("None" if text is None else text for text in there)
            raise RequestError(f"no figure has {name} {value!r}", hint=known_instead(str(value), names))
    return wanted


def operations(dataset: Dataset, factor: str, *, whole: bool = False) -> pl.DataFrame:
    """Return the cell of each operation of each run, for data other than single figures.

    Parameters
    ----------
    dataset, factor
        As in `cells`.
    whole
        Whether to treat each run as a whole, with all of its operations.

    Returns
    -------
    pl.DataFrame
        One row for each run, operation and level: the columns of ``runs``, those of `CELL` that are not specific
        to a part or figure, and ``differ``: whether the run's jobs have different sizes, which are then null.
    """
    own = [name for name in CELL if name not in {"scope", "part", "operation", "metric", "statistic"}]
    key = ("run_id", "level") if whole else ("run_id", "operation", "level")
    facts = [name for name in dataset.runs.columns if name not in {"run_id", "line", *own}]
    differ = pl.any_horizontal(pl.col(name).drop_nulls().n_unique() > 1 for name in ("block_size", "file_size"))
    alike = (
        pl.when(pl.col(name).drop_nulls().n_unique() == 1).then(pl.col(name).drop_nulls().first()) for name in own
    )
    return (
        cells(dataset, factor)
        .group_by(*key, maintain_order=True)
        .agg(*alike, *(pl.col(name).first() for name in facts if name not in key), differ=differ)
    )


def number(column: str) -> pl.Expr:
    """Parse the text of a setting as a number; null if it is none."""
    return pl.col(column).cast(pl.Float64, strict=False)


def integer(column: str) -> pl.Expr:
    """Parse the text of a setting as an integer; null if it is none."""
    return pl.col(column).cast(pl.Int64, strict=False)
