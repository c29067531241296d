"""Runs a published study's workload again here, at a scale of one's own, and sets its effect beside ours.

::

    published = fsb.read("raw_results/published/sysbench-rhel72")
    again = replication(published, file_scale=1 / 16, time_scale=1 / 60)
    result = launch(again.plan, root=Path.cwd())
    beside(published, fsb.read(result.folder))

What is run is what the logs say ran; where a log is silent it is the command that the article states, and that is
said. A replication on another machine can neither prove a published figure nor refute it: it shows how much of an
effect is the workload's, and how much is not.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.compare import compare
from fsbench_kit.errors import LaunchError, RequestError
from fsbench_kit.launch import Plan, rehearse
from fsbench_kit.launch.choice import is_missing
from fsbench_kit.settings import NOT_KNOWN, Facts, effective
from fsbench_kit.units import humanise
from fsbench_kit.vocabulary import SETTINGS, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fsbench_kit.dataset import Dataset

Values = dict[str, str]
"""A run's settings, the strongest origin of each."""
Made = dict[str, Any]
"""A table of a plan."""


@dataclass(frozen=True, slots=True)
class Replication:
    """A plan that runs a study's workload again.

    Attributes
    ----------
    study
        The published study.
    plan
        What is to be run.
    changes
        Sentences on what the plan does otherwise than the study did, and on what is not sure about that.
    """

    study: str
    plan: Plan
    changes: tuple[str, ...]


def replication(
    published: Dataset,
    *,
    file_scale: float = 1.0,
    time_scale: float = 1.0,
    repeats: int = 6,
    directories: Sequence[str] = (),
    seed: int = 1,
) -> Replication:
    """Derive a plan from the runs of a published study. Nothing is looked at but these.

    Parameters
    ----------
    published
        The study's data.
    file_scale, time_scale
        The shares of its file sizes and of its run times, above 0 and up to 1.
    repeats
        How often each run is made; the study's own number hardly ever allows an interval.
    directories
        Where to run. Without any, each of the study's filesystems gets an image of its own, which needs root.
    seed
        Of the plan.

    Raises
    ------
    RequestError
        If the data are not of one study, a scale is none, or a run is of a tool or misses a setting that it takes.
    """
    studies = published.runs["study"].drop_nulls().unique().to_list()
    if len(studies) != 1:
        raise RequestError(
            f"{len(studies)} studies cannot be run again as one", hint="Read the folder of one study."
        )
    for name, scale in (("file_scale", file_scale), ("time_scale", time_scale)):
        if not 0 < scale <= 1:
            raise RequestError(f"{name} is {scale:g}", hint="A scale is above 0, and 1 at most: 0.1 is a tenth.")
    changes: dict[str, None] = {}
    known = _known(published)
    workloads: list[Made] = []
    for run, tool in published.runs.select("run_id", "tool").rows():
        if tool not in _TABLES:
            hint = f"Those that can are of: {', '.join(sorted(_TABLES))}."
            raise RequestError(f"runs of {tool} cannot be run again from their logs yet", hint=hint)
        table = _TABLES[tool](known[run], _Scale(file_scale, time_scale, changes))
        if table not in workloads:
            workloads.append(table)
    changes |= dict.fromkeys(_only_stated(published))
    targets = list(_directories(directories)) if directories else list(_images(published, known))
    limits = [table[key] for table in workloads for key in ("runtime", "time") if key in table]
    plan = {
        "id": f"{studies[0]}{_AGAIN}",
        "title": f"{studies[0]}, run again at a smaller scale" if changes else f"{studies[0]}, run again",
        "repeats": repeats,
        "seed": seed,
        "timeout": max([_LEAST_TIMEOUT, *(2 * limit for limit in limits)]),
        "target": targets,
        "workload": list(_named(workloads)),
    }
    if not directories:
        space = max(workload.space or 0 for workload in _plan({**plan, "target": [_ANYWHERE]}).workload)
        size = max(_LEAST_IMAGE, 2**20 * math.ceil(space / _FILLED / 2**20))
        plan["target"] = [{**target, "size": size} for target in targets]
        changes[f"Each filesystem is on an image of {humanise(size, 'B')}, made anew for each run."] = None
        if any("mount_options" in values for values in known.values()):
            changes["It is mounted with the options that are usual here, and not with those of the study."] = None
    return Replication(studies[0], _plan(plan), tuple(changes))


_AGAIN: Final = "-again"
_ANYWHERE: Final[Made] = {"kind": "directory", "name": "anywhere", "directory": "."}
_LEAST_IMAGE: Final = 512 * 2**20
"""Below this mkfs takes an image for a small disk, and mkfs.xfs refuses some."""
_LEAST_TIMEOUT: Final = 300
"""Seconds that a run is given, even where it should be done much earlier."""
_FILLED: Final = 0.6
"""The share of an image that the files fill at most."""


def _plan(tables: Made) -> Plan:
    return Plan.model_validate(tables)


def _known(dataset: Dataset) -> dict[str, Values]:
    known: dict[str, Values] = {run: {} for run in dataset.runs["run_id"]}
    for run, key, value in effective(dataset.settings).select("run_id", "key", "value").rows():
        known[run][key] = value
    return known


def _named(workloads: Sequence[Made]) -> Iterator[Made]:
    """Name each workload by its pattern, with a number where several have it."""
    times = Counter(table["name"] for table in workloads)
    seen: Counter[str] = Counter()
    for table in workloads:
        seen[table["name"]] += 1
        name = table["name"] if times[table["name"]] == 1 else f"{table['name']}-{seen[table['name']]}"
        yield {**table, "name": name}


def lacking(plan: Plan, root: Path) -> str | None:
    """Say what this machine lacks to run a plan; ``None`` where it lacks nothing. Nothing is run.

    Parameters
    ----------
    root
        The project's root.
    """
    missing = sorted({str(table.program) for table in plan.workload if is_missing(table.program)})
    if missing:
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed here."
    try:
        rehearse(plan, root)
    except LaunchError as error:
        return str(error)
    return None


def recorded(study: str) -> Path:
    """Return the folder of the replication of a study that comes with the kit, from the project's root."""
    return Path("raw_results", "replicated", f"{study}{_AGAIN}")


# ---- from settings to a plan's tables


@dataclass(frozen=True, slots=True)
class _Scale:
    """Makes sizes and times smaller, and says so."""

    files: float
    time: float
    changes: dict[str, None]

    def bytes(self, value: int, unit: int, what: str) -> int:
        """Return a size as a whole number of units, of which it holds one at least."""
        scaled = max(unit, math.floor(value * self.files / unit) * unit)
        if scaled != value:
            self.changes[f"{what}: {humanise(scaled, 'B')} instead of {humanise(value, 'B')}."] = None
        return scaled

    def seconds(self, value: str) -> int:
        """Return a time in whole seconds, of which it lasts one at least."""
        scaled = max(1, round(float(value) * self.time))
        if scaled != float(value):
            self.changes[f"Each run: {scaled} s instead of {value} s."] = None
        return scaled


def _needed(values: Values, *keys: str) -> list[str]:
    """Return settings without which a run cannot be made again."""
    missing = [key for key in keys if key not in values]
    if missing:
        raise RequestError(
            f"neither the log nor the article tells a run's {missing[0]}",
            hint="What is not known cannot be run again.",
        )
    return [values[key] for key in keys]


def _sysbench(values: Values, scale: _Scale) -> Made:
    pattern, total, files, block, seconds = _needed(
        values, "pattern", "total_size", "files", "block_size", "time_limit"
    )
    flags = [flag for flag, key in (("direct", "direct"), ("sync", "sync")) if values.get(key) == "true"]
    table: Made = {
        "tool": "sysbench",
        "name": pattern,
        "file_test_mode": pattern,
        "file_total_size": scale.bytes(int(total), int(files) * int(block), "All files together"),
        "file_num": int(files),
        "file_block_size": int(block),
        "time": scale.seconds(seconds),
    }
    if flags:
        table["file_extra_flags"] = ",".join(flags)
    return table | _where_known(
        values,
        ("file_io_mode", "engine", str),
        ("file_fsync_freq", "fsync", int),
        ("file_fsync_end", "final_fsync", _truth),
        ("threads", "threads", int),
        ("events", "request_limit", int),
    )


def _fio(values: Values, scale: _Scale) -> Made:
    pattern, size, block = _needed(values, "pattern", "file_size", "block_size")
    table: Made = {
        "tool": "fio",
        "name": pattern,
        "rw": pattern,
        "bs": int(block),
        "size": scale.bytes(int(size), int(block), "The file of each job"),
    }
    if "time_limit" in values:
        table["runtime"] = scale.seconds(values["time_limit"])
    if values.get("grouped") == "true":
        table["options"] = {"group_reporting": True}
    return table | _where_known(
        values,
        ("ioengine", "engine", str),
        ("iodepth", "iodepth", int),
        ("numjobs", "threads", int),
        ("direct", "direct", _truth),
        ("fsync", "fsync", int),
        ("end_fsync", "final_fsync", _truth),
        ("time_based", "time_based", _truth),
        ("rwmixread", "read_share", lambda share: round(100 * float(share))),
    )


def _truth(value: str) -> bool:
    return value == "true"


def _where_known(values: Values, *keys: tuple[str, str, Any]) -> Made:
    """Return the options of a tool whose setting is known; the others are left to the tool, as they were then."""
    return {option: read(values[key]) for option, key, read in keys if key in values}


_TABLES: Final = {"sysbench": _sysbench, "fio": _fio}


def _only_stated(published: Dataset) -> Iterator[str]:
    """Say which settings of a workload nobody but the article tells."""
    known = effective(published.settings).filter(origin="stated")
    keys = [key for key in known["key"].unique().sort() if setting_kind(key) == "workload" and key in SETTINGS]
    if keys:
        names = ", ".join(key.replace("_", " ") for key in keys)
        yield f"These are known from the command that the article states, and not from its logs: {names}."


# ---- targets


def _directories(directories: Sequence[str]) -> Iterator[Made]:
    for number, directory in enumerate(directories, 1):
        yield {"kind": "directory", "name": f"directory-{number}", "directory": directory}


def _images(published: Dataset, known: Mapping[str, Values]) -> Iterator[Made]:
    """Yield a target without its size for each filesystem, with the study's own options where they are known."""
    for (filesystem,), runs in published.runs.drop_nulls("filesystem").group_by("filesystem", maintain_order=True):
        values = known[runs["run_id"][0]]
        if filesystem != "zfs":
            yield {"kind": "loop", "name": filesystem, "filesystem": filesystem}
            continue
        options = {
            kind: [
                f"{key.removeprefix(f'{prefix}.')}={value}" for key, value in values.items() if _given(key, prefix)
            ]
            for kind, prefix in (("pool_options", "zpool"), ("dataset_options", "zfs"))
        }
        yield {"kind": "zfs", "name": filesystem, **options}


def _given(key: str, prefix: str) -> bool:
    """Whether a setting is an option of a pool or a dataset that says nothing of where it lies."""
    return key.startswith(f"{prefix}.") and key.partition(".")[2] not in {"mountpoint", "canmount", "altroot"}


# ---- the two beside each other

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
    "confidence": pl.Float64,
    "n_baseline": pl.Int64,
    "n_candidate": pl.Int64,
    "finding": pl.String,
    "published_notes": pl.List(pl.String),
    "notes": pl.List(pl.String),
}

_SAME: Final = tuple(COLUMNS)[:10]
"""What has to be equal in both. The size of files is not among it: that is what the scale changes."""


def beside(
    published: Dataset, ours: Dataset, baseline: str | None = None, *, metrics: Sequence[str] | None = None
) -> pl.DataFrame:
    """Set the ratios of a published study beside those of its replication.

    Parameters
    ----------
    published, ours
        The runs of both.
    baseline, metrics
        As in `fsbench_kit.compare.compare`.

    Returns
    -------
    pl.DataFrame
        One row for each cell that both have; the columns are `COLUMNS`. ``published_low`` and ``published_high``
        are what the rounding of single runs allows, which is no confidence interval. ``finding`` is ``inside``
        where the published ratio lies in our interval, and ``inside, as 1`` where 1 does so too; ``same
        direction`` where it lies outside of it and both are on one side of 1, else ``other direction``; ``open``
        where our interval holds 1 and not the published ratio; and ``no interval`` where we have none.
    """
    theirs, here = (compare(data, baseline=baseline, metrics=metrics) for data in (published, ours))
    both = theirs.drop_nulls("ratio").join(
        here.drop_nulls("ratio"), on=_SAME, how="inner", nulls_equal=True, maintain_order="left", suffix="_here"
    )
    inside = (pl.col("rounding_high") >= pl.col("ci_low_here")) & (
        pl.col("rounding_low") <= pl.col("ci_high_here")
    )
    one = pl.lit(1.0).is_between("ci_low_here", "ci_high_here")
    direction = (pl.col("ratio") > 1) == (pl.col("ratio_here") > 1)
    return both.select(
        *_SAME,
        published_ratio="ratio",
        published_low="rounding_low",
        published_high="rounding_high",
        ratio="ratio_here",
        ci_low="ci_low_here",
        ci_high="ci_high_here",
        confidence="confidence_here",
        n_baseline="n_baseline_here",
        n_candidate="n_candidate_here",
        finding=pl.when(pl.col("ci_low_here").is_null())
        .then(pl.lit("no interval"))
        .when(inside & one)
        .then(pl.lit("inside, as 1"))
        .when(inside)
        .then(pl.lit("inside"))
        .when(one)
        .then(pl.lit("open"))
        .when(direction)
        .then(pl.lit("same direction"))
        .otherwise(pl.lit("other direction")),
        published_notes="footnotes",
        notes="footnotes_here",
    ).select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())


def differences(published: Dataset, ours: Dataset) -> pl.DataFrame:
    """List what was otherwise here than in the study, as far as the study tells.

    Returns
    -------
    pl.DataFrame
        Columns ``filesystem``, ``setting``, ``kind``, ``published``, ``here``: one row for each setting of the
        workload, the system or the target that the study tells and that is not the same here. Where it holds for
        all filesystems, ``filesystem`` is null.
    """
    theirs, here = (
        {
            str(name): Facts(data).values(frozenset(runs["run_id"]))
            for (name,), runs in data.runs.group_by("filesystem")
        }
        for data in (published, ours)
    )
    shared = sorted(theirs.keys() & here.keys())
    rows: list[tuple[str, ...]] = []
    for filesystem in shared:
        for key, values in theirs[filesystem].items():
            kind, found = setting_kind(key), here[filesystem].get(key)
            if (
                kind != "label"
                and found != values
                and (key in SETTINGS or kind == "target")
                and key != "provision"
            ):
                rows.append((filesystem, key, kind, " | ".join(values), " | ".join(found or [NOT_KNOWN])))
    names = ("filesystem", "setting", "kind", "published", "here")
    return (
        pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
        .group_by("setting", "kind", "published", "here", maintain_order=True)
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


def caveats(ours: Dataset) -> list[str]:
    """Say what bears a filesystem's name here and is not what people think of by that name."""
    known = (
        effective(ours.settings)
        .filter(pl.col("key") == "filesystem_version")
        .join(ours.runs.select("run_id", "filesystem"), on="run_id")
    )
    return [
        f"What is called {filesystem} here is {version}: a program outside the kernel, which is slower than the "
        "filesystem of that name in the kernel."
        for filesystem, version in known.select("filesystem", "value").unique().sort("filesystem", "value").rows()
        if "fuse" in version
    ]
