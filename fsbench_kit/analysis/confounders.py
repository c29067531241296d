"""What besides the factor sets two groups apart, or makes their comparison untrustworthy.

Each confounder is one entry: a function that finds it, with its code, its kind and its meaning above it. It is
given the `Design`, and returns a frame with the rows in which it was found, or the pairs of sets of runs, and with
a sentence as ``text`` where there is more to say than the meaning. They are told in the order of the entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.design import OTHER, Design
from fsbench_kit.analysis.facts import capacity, counted, is_default
from fsbench_kit.analysis.groups import SIDES, paired
from fsbench_kit.analysis.reasons import Reason, Remarks
from fsbench_kit.analysis.settings import NOT_KNOWN, integer, number, wide
from fsbench_kit.data.labelled import GROUP
from fsbench_kit.formats import TOOLS
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import EITHER_LATENCY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fsbench_kit.analysis.design import Evidence
    from fsbench_kit.analysis.reasons import Kind
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.stats.result import Bools


@dataclass(frozen=True, slots=True, kw_only=True)
class Confounder(Reason):
    """A reason that lies in the design of a comparison, or a footnote to it.

    Attributes
    ----------
    find
        Finds it: returns ``row`` or ``pair``, and ``text`` where a sentence says more than the meaning.
    """

    find: Callable[[Design], pl.DataFrame]


CONFOUNDERS: Final[list[Confounder]] = []
"""All of them, in the order in which they are told."""


def confounder(
    code: str, kind: Kind, meaning: str
) -> Callable[[Callable[[Design], pl.DataFrame]], Callable[[Design], pl.DataFrame]]:
    """Enter a function into `CONFOUNDERS`."""

    def enter(find: Callable[[Design], pl.DataFrame]) -> Callable[[Design], pl.DataFrame]:
        CONFOUNDERS.append(Confounder(code=code, kind=kind, meaning=meaning, find=find))
        return find

    return enter


def check(design: Design, *, footnotes: bool = True) -> Remarks:
    """Ask all confounders about a design."""
    remarks = Remarks()
    for entry in CONFOUNDERS:
        if entry.kind == "footnote" and not footnotes:
            continue
        found = entry.find(design)
        if found.is_empty():
            continue
        if "pair" in found.columns:
            found = design.rows.join(found, on="pair", maintain_order="left_right")
        remarks.because(found["row"], entry, found["text"] if "text" in found.columns else None)
    return remarks


def between(pairs: Sequence[Sequence[pl.DataFrame]], evidence: Evidence) -> tuple[list[str], list[str]]:
    """Say what sets two groups apart, and what else to know of them, for pairs of groups chosen elsewhere.

    Parameters
    ----------
    pairs
        The measurements of the baseline and of the candidate, as rows of `fsbench_kit.analysis.settings.cells`.
    evidence
        What is known of their runs.

    Returns
    -------
    reasons, footnotes
        The sentences about all pairs, each once.
    """
    return check(Design(paired(pairs), evidence)).sentences() if pairs else ([], [])


# ---- settings

_EXTRA_DISKS: Final = ("log_device", "cache_device")
"""What one group has and the other lacks without a word about it."""


@confounder("CONFIG_MISMATCH", "verdict withheld", "The groups differ in a setting that is not the factor.")
def _mismatch(design: Design) -> pl.DataFrame:
    """Name the settings that are known of both groups and differ; those that come with a target may."""
    told = pl.col("key").is_in(_EXTRA_DISKS) | pl.all_horizontal(pl.col("value", f"value{OTHER}").is_not_null())
    first, second = (pl.col(name).fill_null(NOT_KNOWN) for name in ("value", f"value{OTHER}"))
    return (
        _side_by_side(design)
        .filter(told, first != second, counted(design.factor))
        .join(design.mixes, on=["pair", "key"], how="anti")
        .sort("kind", "key")
        .select("pair", text=pl.format("{} differs: {} against {}.", "key", first, second))
    )


def _side_by_side(design: Design) -> pl.DataFrame:
    """Return the values of each setting in both groups, null where nothing is known of it."""
    values = design.settings.select("set", "key", "kind", value=pl.col("values").list.join(" | "))
    return design.beside(values, "key", "kind", how="full")


@confounder("GROUPS_DIFFER", "footnote", "The groups differ in more than their labels.")
def _of_groups(design: Design) -> pl.DataFrame:
    """Name what sets groups apart that were put side by side: filesystem, machine, and all but the work."""
    if design.factor != GROUP:
        return pl.DataFrame(schema={"pair": pl.Int64, "text": pl.String})
    filesystems = (
        design.members.select("set", "run_id")
        .join(design.of(lambda dataset: dataset.runs.select("run_id", "filesystem")), on="run_id")
        .group_by("set")
        .agg(value=pl.col("filesystem").drop_nulls().unique().sort().str.join(" | "))
        .select("set", key=pl.lit("filesystem"), kind=pl.lit("name"), value="value")
    )
    known = design.settings.select("set", "key", "kind", value=pl.col("values").list.join(" | "))
    told = pl.col("value") != pl.col(f"value{OTHER}")
    return (
        design.beside(pl.concat([filesystems, known]), "key", "kind")
        .filter(told, ~counted(GROUP))
        .sort("pair", "kind", "key")
        .group_by("pair", maintain_order=True)
        .agg(pl.format("{} ({} against {})", "key", "value", f"value{OTHER}").str.join(", ").alias("text"))
        .select("pair", text=pl.format("The groups differ in {}.", "text"))
    )


@confounder(
    "UNBALANCED",
    "verdict withheld",
    "The runs of a group differ in a setting, of which the other group does not have each value.",
)
def _unbalanced(design: Design) -> pl.DataFrame:
    """Say how often each group has a value that the other does not have, or has another target."""
    unbalanced = design.mixes.filter(found="unbalanced")
    targets = unbalanced.filter(kind="name")
    settings = unbalanced.filter(pl.col("kind") != "name")
    split = pl.format("The runs are of several targets ({}): split by target.", "shares")
    return pl.concat(
        [
            _shares(settings).select("pair", text=pl.format("{} is not balanced: {}.", "key", "shares")),
            _shares(targets).select("pair", text=split),
        ]
    )


def _shares(mixes: pl.DataFrame) -> pl.DataFrame:
    """Say of each setting how many runs of either group have which value."""
    share = pl.format("{} in {} of {} runs against {} of {}", "value", "a", "n_a", "b", "n_b")
    return (
        mixes.sort("pair", "key", "value")
        .group_by("pair", "key", maintain_order=True)
        .agg(
            shares=share.head(_MOST).str.join(", ")
            + pl.when(pl.len() > _MOST).then(pl.lit(", ...")).otherwise(pl.lit(""))
        )
    )


_MOST: Final = 4
"""How many values of a setting a sentence names."""


# ---- times


def _times(dataset: Dataset) -> pl.DataFrame:
    """Return when each run started and ended, as far as its duration tells what its log does not."""
    length = pl.duration(microseconds=(1e6 * pl.col("duration")).round().cast(pl.Int64), time_unit="us")
    return dataset.runs.select(
        "run_id",
        "host",
        start=pl.coalesce("started_at", pl.col("ended_at") - length),
        end=pl.coalesce("ended_at", pl.col("started_at") + length),
    )


@confounder(
    "BLOCKED_ORDER",
    "verdict withheld",
    "In a launch, the runs of one group came before those of the other, or nearly so: drift cannot be told from "
    "effect.",
)
def _in_blocks(design: Design) -> pl.DataFrame:
    """Judge the order inside each launch: a group that is done first, and runs that hardly alternate."""
    a, changes = pl.col("side") == 0, pl.col("side") != pl.col("side").shift()
    launches = (
        _timed(design)
        .filter(pl.col("at").is_not_null().all().over("pair"))
        .sort("pair", "launch", "at", maintain_order=True)
        .group_by("pair", "launch", maintain_order=True)
        .agg(
            a=a.sum().cast(pl.Int64),
            b=(~a).sum().cast(pl.Int64),
            runs=1 + changes.sum().cast(pl.Int64),
            first=pl.col("side").first(),
        )
        .filter(pl.col("a") > 0, pl.col("b") > 0)
    )
    orders = launches.select("a", "b", "runs").unique()
    chances = orders.with_columns(
        chance=pl.Series([stats.few_alternations_p(*order) for order in orders.rows()], dtype=pl.Float64)
    )
    by_pair = launches.join(chances, on=["a", "b", "runs"], maintain_order="left").group_by(
        "pair", maintain_order=True
    )
    chance, apart, one_way = pl.col("chance"), (pl.col("runs") == 2).all(), pl.col("first").n_unique() == 1
    several = (pl.col("a").sum() > 1) & (pl.col("b").sum() > 1)
    return (
        by_pair.agg(
            one_way=apart & one_way & several & (2 * (chance / 2).product() <= _SEPARATE),
            any_way=apart & (chance.product() < _RARE),
            in_one=pl.len() * chance.min() < _RARE,
        )
        .filter(pl.any_horizontal("one_way", "any_way", "in_one"))
        .select("pair")
    )


_SEPARATE: Final = 0.34
"""How likely it may be in a random order that one group came first in all launches: as with two runs of each."""

_RARE: Final = 0.01
"""How likely it may be in a random order that runs alternate as little as they do."""


def _timed(design: Design) -> pl.DataFrame:
    """Return the runs of pairs of which both groups have several, with their times, unless groups share one."""
    shared = pl.col("side").n_unique().over("pair", "launch", "at") > 1
    times = design.of(_times).select("run_id", at=pl.coalesce("start", "end"))
    units = design.units.with_columns(size=pl.len().over("pair", "side"))
    return (
        units.filter(pl.col("size").min().over("pair") > 1)
        .join(times, on="run_id", maintain_order="left")
        .with_columns(at=pl.when(~shared).then("at"))
    )


@confounder("CONCURRENT_RUNS", "verdict withheld", "Runs of the two groups overlapped in time.")
def _concurrent(design: Design) -> pl.DataFrame:
    """Find a run that began before all earlier ones of the other group on its host had ended."""
    a = pl.col("side") == 0
    ended = (pl.when(side).then("end").cum_max().forward_fill().over("pair", "host") for side in (a, ~a))
    return (
        design.units.select("pair", "side", "run_id")
        .join(design.of(_times).drop_nulls(["host", "start", "end"]), on="run_id")
        .sort("pair", "host", "start", "end")
        .with_columns(pl.when(~a).then(next(ended)).otherwise(next(ended)).alias("other"))
        .filter(pl.col("start") < pl.col("other"))
        .select("pair")
        .unique()
    )


# ---- caches

_NO_DATA: Final = "_sync$|delete$|create$|stat$|^mkfs$|mount$|^list_tree$|^find_in_tree$|^remove_|^capacity"
"""Operations that read or write no data of files."""

_PAST_DIRECT: Final = pl.concat_str("tool", "operation", separator=" ").is_in(
    [f"{name} {operation}" for name, tool in TOOLS.items() for operation in sorted(tool.buffered)]
)
"""Operations that do not use direct I/O also where it is on: they go through the C library's buffers."""

_DATA_SIZE: Final = pl.coalesce(
    integer("total_size"),
    pl.when(pl.col("tool") == "smallfiles").then(integer("files") * pl.col("block_size")),
    pl.when(pl.col("tool") == "fio").then(pl.col("file_size") * pl.col("threads")),
    "file_size",
)
"""How much data a run works on, in bytes."""

_WITH_SYNC: Final = pl.col("metric") == "elapsed_with_sync"


@confounder(
    "CACHED",
    "verdict withheld",
    "The data are less than twice the memory, and nothing shows that the page cache was bypassed, or that the "
    "work reached the disks.",
)
def _cached(design: Design) -> pl.DataFrame:
    """Find data under twice the memory, without direct I/O, without a sync in their time, and not on the disks."""
    measurements = design.groups.measurements.filter(pl.col("memory").is_not_null())
    if measurements.is_empty():
        return _NOTHING
    memory = {text: capacity(text) for text in measurements["memory"].unique()}
    size = pl.col("memory").replace_strict(memory, default=None, return_dtype=pl.Int64)
    exposed = measurements.filter(
        2 * size > _DATA_SIZE,
        pl.col("direct").ne_missing(pl.lit("true")) | _PAST_DIRECT,
        ~_WITH_SYNC,
        ~pl.col("operation").str.contains(_NO_DATA),
    )
    cached = exposed.join(design.of(_reached), on=["run_id", "operation"], how="anti")
    return design.groups.of_rows(cached.select("group").unique()).unique()


_DIRECTION: Final = (
    pl.when(pl.col("operation").str.contains("read"))
    .then(pl.lit("device_read"))
    .when(pl.col("operation").str.contains("write"))
    .then(pl.lit("device_written"))
    .alias("direction")
)
"""The setting that tells what the disks did for an operation; null where both directions have a part in it."""

_REACHED: Final = 0.9
"""The share of its bytes that a run has to have moved on the disks, if caches had no part in it."""


def _reached(dataset: Dataset) -> pl.DataFrame:
    """Return the runs and operations for whose work the disks' own counters account.

    A phase whose sync is timed apart is not among them: its bytes reached the disk after its own time.
    """
    moved = (
        wide(dataset.settings, ["device_read", "device_written"])
        .unpivot(index="run_id", variable_name="direction", value_name="moved")
        .drop_nulls("moved")
    )
    counted = dataset.measurements if moved.height else dataset.measurements.clear()
    figures = _of_runs(counted).select("run_id", "operation", "metric", "statistic", "value", _DIRECTION)
    accounted = (
        figures.filter(metric="bytes", statistic="value")
        .group_by("run_id", "direction")
        .agg(pl.col("value").sum())
        .join(moved, on=["run_id", "direction"])
        .filter(integer("moved") >= _REACHED * pl.col("value"))
    )
    synced = figures.filter(pl.col("operation").str.ends_with("_sync")).select(
        "run_id", pl.col("operation").str.strip_suffix("_sync")
    )
    return (
        figures.select("run_id", "operation", "direction")
        .unique()
        .join(accounted, on=["run_id", "direction"], how="semi")
        .join(synced, on=["run_id", "operation"], how="anti")
    )


def _of_runs(measurements: pl.DataFrame) -> pl.DataFrame:
    """Return the primary measurements of runs and of their jobs."""
    return measurements.filter("primary", pl.col("scope").is_in(["all", "job"]))


@confounder(
    "UNSYNCED",
    "verdict withheld",
    "In one group the sync never reaches the filesystem, so its time says nothing about the disk.",
)
def _unsynced(design: Design) -> pl.DataFrame:
    runs = design.of(_not_told_of_sync)["run_id"]
    if runs.is_empty():
        return _NOTHING
    of_sync = _WITH_SYNC | pl.col("operation").str.ends_with("_sync")
    return _rows(design.groups.either(design.groups.having(pl.col("run_id").is_in(runs.implode()), of_sync)))


def _not_told_of_sync(dataset: Dataset) -> pl.DataFrame:
    return _diagnosed(dataset, "SYNC_NOT_PASSED_ON")


def _diagnosed(dataset: Dataset, code: str) -> pl.DataFrame:
    """Return the runs in whose log a diagnostic of some code stands, each with its message."""
    said = dataset.diagnostics.filter(code=code).select("source", "message", at="start")
    found = dataset.runs.join(said, on="source").filter(pl.col("at").is_between("start", "end", closed="left"))
    return found.sort("run_id").select("run_id", "message")


# ---- how the work was done

_IN_TIME: Final = 0.99
"""The share of its time limit that a run lasts at most if it ended by itself."""


@confounder(
    "UNEQUAL_WORK", "verdict withheld", "One group completed its work; the other was stopped by its time limit."
)
def _unequal_work(design: Design) -> pl.DataFrame:
    """Tell where one group did all of its work, and the other was stopped by the clock before that."""
    works = (
        design.members.join(design.of(_work), on="run_id")
        .group_by("set", "level")
        .agg(pl.col("bytes", "duration").mean(), pl.col("by_itself").first(), alike=pl.col("by_itself").n_unique())
        .filter(pl.col("alike") == 1)
    )
    unequal = design.beside(works).filter(pl.col("by_itself") != pl.col(f"by_itself{OTHER}"))["pair"]
    told = [
        f"{level} {'completed its work' if by_itself else 'was stopped by its time limit'}: "
        f"{humanise(done, 'B')} in {duration:.0f} s."
        for level, done, duration, by_itself in works.select("level", "bytes", "duration", "by_itself").rows()
    ]
    sentences = works.select("set", text=pl.Series(told, dtype=pl.String))
    return design.of_pairs(sentences).filter(pl.col("pair").is_in(unequal.implode()))


def _work(dataset: Dataset) -> pl.DataFrame:
    """Return of each run with a time limit how much it did, and whether it ended before the limit."""
    limits = wide(dataset.settings, ["time_limit", "time_based"]).filter(
        pl.col("time_limit").is_not_null(), pl.col("time_based").ne_missing("true")
    )
    limited = dataset.measurements if limits.height else dataset.measurements.clear()
    done = (
        _of_runs(limited)
        .filter(metric="bytes", statistic="value")
        .group_by("run_id")
        .agg(pl.col("value").sum().alias("bytes"))
    )
    return (
        dataset.runs.select("run_id", "duration")
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
)
def _blocking_submit(design: Design) -> pl.DataFrame:
    """Name the groups in which most of a request's time is its submission, which the metric leaves out."""
    shares = (
        design.groups.measurements.filter(pl.col("metric").is_in(["completion_latency", EITHER_LATENCY]))
        .join(design.of(_submission).filter(pl.col("submission") > 0.5), on=["run_id", "operation"])
        .group_by("group", "level")
        .agg(pl.col("submission").mean())
    )
    told = [
        f"{level}: {share:.0%} of a request's time was spent in its submission; compare the total latency instead."
        for level, share in shares.select("level", "submission").rows()
    ]
    return design.groups.of_rows(shares.select("group", text=pl.Series(told, dtype=pl.String)))


def _submission(dataset: Dataset) -> pl.DataFrame:
    """Return for each run and operation of an asynchronous engine the share of submission in the latency."""
    engine = wide(dataset.settings, ["engine"]).filter(pl.col("engine").is_in(_ASYNCHRONOUS))
    submitting = dataset.measurements if engine.height else dataset.measurements.clear()
    means = _of_runs(submitting).filter(statistic="mean").join(engine, on="run_id", how="semi")
    waited, whole = (
        means.filter(metric=metric).group_by("run_id", "operation").agg(pl.col("value").mean().alias(metric))
        for metric in ("submission_latency", "latency")
    )
    return waited.join(whole, on=["run_id", "operation"]).select(
        "run_id", "operation", submission=pl.col("submission_latency") / pl.col("latency")
    )


# ---- units


@confounder(
    "UNIT_AMBIGUOUS",
    "no ratio",
    "One group's logs do not state the unit, and the unit assumed for them may not be that of the other group.",
)
def _unit_ambiguous(design: Design) -> pl.DataFrame:
    some, not_all = _unit_assumed(design)
    return _rows(some & not_all)


@confounder(
    "UNIT_ASSUMED",
    "footnote",
    "Neither group's logs state the unit; the same unit is assumed for both.",
)
def _unit_assumed_for_both(design: Design) -> pl.DataFrame:
    some, not_all = _unit_assumed(design)
    return _rows(some & ~not_all)


def _unit_assumed(design: Design) -> tuple[Bools, Bools]:
    """Tell for which rows some measurements have a unit that was assumed, and some do not."""
    runs, groups = design.of(_without_unit)["run_id"], design.groups
    if runs.is_empty():
        return np.zeros(groups.pairs.height, dtype=np.bool_), np.ones(groups.pairs.height, dtype=np.bool_)
    assumed = pl.col("run_id").is_in(runs.implode()) & (pl.col("metric") == "bandwidth")
    return groups.either(groups.having(assumed)), groups.either(groups.having(~assumed))


def _without_unit(dataset: Dataset) -> pl.DataFrame:
    return _diagnosed(dataset, "UNIT_ASSUMED")


def _rows(found: Bools) -> pl.DataFrame:
    return pl.DataFrame({"row": np.flatnonzero(found)})


_NOTHING: Final = pl.DataFrame(schema={"row": pl.Int64})


# ---- what else a reader should know


@confounder(
    "PAST_DIRECT",
    "footnote",
    "iozone sends these requests through the page cache, although direct I/O was requested.",
)
def _past_direct(design: Design) -> pl.DataFrame:
    if design.of_groups("tool", "operation").filter(_PAST_DIRECT).is_empty():
        return _NOTHING
    return _rows(design.groups.either(design.groups.having(pl.col("direct") == "true", _PAST_DIRECT)))


@confounder(
    "CACHE_UNKNOWN",
    "footnote",
    "Nothing says that a group used direct I/O, nor how large the memory was: the page cache cannot be excluded.",
)
def _cache_unknown(design: Design) -> pl.DataFrame:
    """Find operations on data of which neither direct I/O, nor the memory, nor what the disks moved is known."""
    operations = design.of_groups("tool", "operation", "metric").filter(
        ~_WITH_SYNC, ~pl.col("operation").str.contains(_NO_DATA)
    )
    runs = design.members.join(design.of(_cache_facts), on="run_id")
    exposed = (
        operations.select("set", "operation")
        .unique(maintain_order=True)
        .join(runs.select("set", "run_id"), on="set", maintain_order="left")
        .join(design.of(_reached), on=["run_id", "operation"], how="anti", maintain_order="left")
        .select("set", "operation")
        .unique(maintain_order=True)
    )
    groups = np.zeros(design.groups.table.height, dtype=np.bool_)
    groups[operations.join(exposed, on=["set", "operation"])["group"].to_numpy()] = True
    return _rows(design.groups.either(groups))


def _cache_facts(dataset: Dataset) -> pl.DataFrame:
    """Return the runs of which neither the memory is known nor that they used direct I/O."""
    known = dataset.settings.filter(
        (pl.col("key") == "memory") | ((pl.col("key") == "direct") & (pl.col("value") == "true"))
    )
    return dataset.runs.select("run_id").join(known, on="run_id", how="anti")


@confounder("IDLE_THREAD", "footnote", "A thread did nothing.")
def _idle(design: Design) -> pl.DataFrame:
    said = design.members.join(design.of(_idle_threads), on="run_id").sort("set", "run_id")
    return design.of_pairs(said.select("set", text=pl.format("{}: {}", "level", "message")))


def _idle_threads(dataset: Dataset) -> pl.DataFrame:
    return _diagnosed(dataset, "IDLE_THREAD").unique("run_id", keep="last", maintain_order=True)


@confounder("MIXED_GROUP", "footnote", "The runs of a group differ in a setting.")
def _mixed(design: Design) -> pl.DataFrame:
    """Say which settings differ inside both groups, and why that does not set the groups apart."""
    harmless = {
        "balanced": "The runs differ in {}, in equal shares of both groups: {}.",
        "within units": "{} is not balanced ({}), but it is within each host or launch.",
        "strata": "{} is not balanced ({}): the groups were compared within each value.",
    }
    return pl.concat(
        _shares(design.mixes.filter(found=found)).select("pair", text=pl.format(sentence, "key", "shares"))
        for found, sentence in harmless.items()
    )


@confounder(
    "NOT_IN_TURN", "footnote", "It is not known when the runs were made, so drift cannot be told from effect."
)
def _untimed(design: Design) -> pl.DataFrame:
    """Find pairs of groups of several runs whose order nothing tells: neither times nor rounds."""
    unknown = pl.col("at").is_null() & pl.col("round").is_null()
    return _timed(design).filter(unknown).select("pair").unique(maintain_order=True)


@confounder("KNOWN_OF_ONE", "footnote", "A setting is known of one group only.")
def _known_of_one(design: Design) -> pl.DataFrame:
    """Name the settings that are known of one group only, each group's in a sentence."""
    beside = _side_by_side(design).filter(counted(design.factor), ~pl.col("key").is_in(_EXTRA_DISKS)).sort("key")
    levels = design.pairs.select(
        "pair", *(pl.col(side).replace_strict(*_levels(design)).alias(side) for side in SIDES)
    )
    told = []
    for side, own, other in zip(SIDES, ("value", f"value{OTHER}"), (f"value{OTHER}", "value"), strict=True):
        alone = beside.filter(pl.col(own).is_not_null(), pl.col(other).is_null()).with_columns(value=own)
        alone = alone.filter(~is_default())
        named = alone.group_by("pair", maintain_order=True).agg(
            known=pl.format("{} ({})", "key", own).str.join(", ")
        )
        told.append(
            named.join(levels, on="pair", maintain_order="left").select(
                "pair", text=pl.format("Known of {} only: {}.", side, "known")
            )
        )
    return pl.concat(told)


def _levels(design: Design) -> tuple[pl.Series, pl.Series]:
    of_sets = design.members.select("set", "level").unique("set")
    return of_sets["set"], of_sets["level"]


@confounder("OWN_OPTIONS", "footnote", "The targets have mount options of their own.")
def _own_options(design: Design) -> pl.DataFrame:
    """Name the mount options that belong to one filesystem, where the factor brings them with it."""
    own = _side_by_side(design).filter(
        ~counted(design.factor), pl.col("kind") != "name", pl.col("key").str.starts_with("mount")
    )
    return (
        own.drop_nulls()
        .filter(pl.col("value") != pl.col(f"value{OTHER}"))
        .sort("pair", "key")
        .select(
            "pair",
            text=pl.format(
                "{}: {} against {}, which come with the {}.",
                "key",
                "value",
                f"value{OTHER}",
                pl.lit(design.factor),
            ),
        )
    )


@confounder("UNITS", "footnote", "What the interval is over, and which runs take no part in it.")
def _units(design: Design) -> pl.DataFrame:
    """Say how runs are compared, where both groups have several."""
    return design.plan.notes.join(
        _timed(design).select("pair").unique(), on="pair", how="semi", maintain_order="left"
    )


@confounder("LEFT_OUT", "footnote", "Runs before the first round were left out.")
def _left_out(design: Design) -> pl.DataFrame:
    runs = pl.col("runs")
    one, several = (
        pl.format("1 {} run was left out.", "stage"),
        pl.format("{} {} runs were left out.", runs, "stage"),
    )
    counted = design.groups.before.group_by("group", "stage", maintain_order=True).agg(runs=pl.len())
    return (
        design.groups.of_rows(counted)
        .group_by("row", "stage", maintain_order=True)
        .agg(pl.col("runs").sum())
        .select("row", text=pl.when(runs == 1).then(one).otherwise(several))
    )


@confounder("STOPPING_RULE", "footnote", "Rounds were added until a rule was met.")
def _stopped(design: Design) -> pl.DataFrame:
    """Say what a rule that ended a launch does to its intervals.

    Such rules look at the spread that the interval is made of, and so end rather where that happens to be small:
    ``docs/coverage.md`` has what was measured.
    """
    rules = design.groups.measurements.filter(pl.col("stopping_rule").is_not_null()).select(
        "group", "stopping_rule"
    )
    sentence = (
        'Rounds were added until the rule "{}" was met; '
        "intervals then cover slightly less than they state: 91 to 95 % instead of 95 %."
    )
    return (
        design.groups.of_rows(rules.unique())
        .unique()
        .sort("row", "stopping_rule")
        .select("row", text=pl.format(sentence, "stopping_rule"))
    )
