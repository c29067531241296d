"""Runs a published study's workload again, at a scale of one's own, and sets both effects beside each other.

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

from fsbench_kit.analysis.comparison import compare
from fsbench_kit.analysis.settings import NOT_KNOWN, effective, known, values_of
from fsbench_kit.launch import Plan, rehearse
from fsbench_kit.launch.resolve import is_missing
from fsbench_kit.model.errors import LaunchError, RequestError
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import SETTINGS, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.data.dataset import Dataset

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
        What `departures` says of the plan.
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
    workloads = [_smaller(table, file_scale, time_scale) for table in _workloads(published)]
    limits = [table[key] for table in workloads for key in ("runtime", "time") if key in table]
    plan = {
        "id": f"{studies[0]}{_AGAIN}",
        "title": f"{studies[0]}, run again{' at a smaller scale' if min(file_scale, time_scale) < 1 else ''}",
        "repeats": repeats,
        "seed": seed,
        "timeout": max([_LEAST_TIMEOUT, *(2 * limit for limit in limits)]),
        "target": list(_directories(directories)) if directories else [_ANYWHERE],
        "workload": workloads,
    }
    if not directories:
        space = max(workload.space or 0 for workload in _plan(plan).workload)
        size = max(_LEAST_IMAGE, 2**20 * math.ceil(space / _FILLED / 2**20))
        plan["target"] = [{**target, "size": size} for target in _images(published)]
    made = _plan(plan)
    return Replication(studies[0], made, departures(published, made))


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


def departures(published: Dataset, plan: Plan) -> tuple[str, ...]:
    """Say what a plan does otherwise than a study did, and what is not sure about that.

    Parameters
    ----------
    published
        The study's data.
    plan
        One that `replication` derived from it, at any scale; also as a launch of it wrote it down.
    """
    study = {table["name"]: table for table in _workloads(published)}
    said: dict[str, None] = {}
    for workload in plan.workload:
        then = study.get(workload.name, {})
        now = workload.model_dump()
        size, what, _, time = _SCALED[now["tool"]]
        if size in then and now[size] != then[size]:
            said[f"{what}: {humanise(now[size], 'B')} instead of {humanise(then[size], 'B')}."] = None
        if time in then and now[time] != then[time]:
            said[f"Each run: {now[time]:g} s instead of {then[time]:g} s."] = None
    said |= dict.fromkeys(_only_stated(published))
    images = dict.fromkeys(getattr(target, "size", None) for target in plan.target)
    for image in filter(None, images):
        said[f"Each filesystem is on an image of {humanise(image, 'B')}, made anew for each run."] = None
        if any("mount_options" in values for values in _known(published).values()):
            said["It is mounted with the usual options, and not with those of the study."] = None
    return tuple(said)


def reason_not_to_run(where: str, plan: Plan, root: Path) -> str | None:
    """Say why a plan is not run on this machine; ``None`` where it can be. Nothing is run.

    Parameters
    ----------
    where
        ``recorded`` where nothing is to be run, else ``images`` or ``directories``.
    plan
        What would be run.
    root
        The project's root.

    Raises
    ------
    RequestError
        If `where` is another.
    """
    if where == "recorded":
        return 'the parameter where is "recorded".'
    if where not in ("images", "directories"):
        raise RequestError(f"where cannot be {where!r}", hint='It is "recorded", "images" or "directories".')
    missing = sorted({str(table.program) for table in plan.workload if is_missing(table.program)})
    if missing:
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed here."
    try:
        rehearse(plan, root)
    except LaunchError as error:
        return str(error)
    return None


def recorded(study: str, root: Path) -> Path:
    """Return the folder of the replication of a study that comes with the kit, from the project's root.

    Raises
    ------
    RequestError
        If there is none.
    """
    folder = Path("raw_results", "replicated", f"{study}{_AGAIN}")
    if not (root / folder).is_dir():
        raise RequestError(
            f"no replication of {study} comes with the kit",
            hint='To run it on this machine, say where = "images" (as root) or "directories".',
        )
    return folder


# ---- from settings to a plan's tables


def _workloads(published: Dataset) -> list[Made]:
    """Return what the study ran, each once and named by its pattern, with a number where several have it."""
    known = _known(published)
    tables: list[Made] = []
    for run, tool in published.runs.select("run_id", "tool").rows():
        if tool not in _TABLES:
            hint = f"Those that can are of: {', '.join(sorted(_TABLES))}."
            raise RequestError(f"runs of {tool} cannot be run again from their logs yet", hint=hint)
        table = _TABLES[tool](known[run])
        if table not in tables:
            tables.append(table)
    times = Counter(table["name"] for table in tables)
    seen: Counter[str] = Counter()
    for table in tables:
        name = table["name"]
        seen[name] += 1
        if times[name] > 1:
            table["name"] = f"{name}-{seen[name]}"
    return tables


def _smaller(table: Made, file_scale: float, time_scale: float) -> Made:
    """Return a workload of smaller files, each of one unit or more, and of fewer whole seconds."""
    size, _, of_unit, time = _SCALED[table["tool"]]
    unit = math.prod(table[key] for key in of_unit)
    smaller = {size: max(unit, math.floor(table[size] * file_scale / unit) * unit)}
    if time in table:
        smaller[time] = max(1, round(table[time] * time_scale))
    return table | smaller


_SCALED: Final = {
    "sysbench": ("file_total_size", "All files together", ("file_num", "file_block_size"), "time"),
    "fio": ("size", "The file of each job", ("bs",), "runtime"),
}
"""A tool's key for a size, what has it, the keys whose product is the least of it, and the key for a time."""


def _needed(values: Values, *keys: str) -> list[str]:
    """Return settings without which a run cannot be made again."""
    missing = [key for key in keys if key not in values]
    if missing:
        raise RequestError(
            f"neither the log nor the article tells a run's {missing[0]}",
            hint="What is not known cannot be run again.",
        )
    return [values[key] for key in keys]


def _sysbench(values: Values) -> Made:
    pattern, total, files, block, seconds = _needed(
        values, "pattern", "total_size", "files", "block_size", "time_limit"
    )
    flags = [flag for flag, key in (("direct", "direct"), ("sync", "sync")) if values.get(key) == "true"]
    table: Made = {
        "tool": "sysbench",
        "name": pattern,
        "file_test_mode": pattern,
        "file_total_size": int(total),
        "file_num": int(files),
        "file_block_size": int(block),
        "time": float(seconds),
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


def _fio(values: Values) -> Made:
    pattern, size, block = _needed(values, "pattern", "file_size", "block_size")
    table: Made = {
        "tool": "fio",
        "name": pattern,
        "rw": pattern,
        "bs": int(block),
        "size": int(size),
    }
    if values.get("grouped") == "true":
        table["options"] = {"group_reporting": True}
    return table | _where_known(
        values,
        ("ioengine", "engine", str),
        ("iodepth", "iodepth", int),
        ("runtime", "time_limit", float),
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


def _images(published: Dataset) -> Iterator[Made]:
    """Yield a target without its size for each filesystem, with the study's own options where they are known."""
    known = _known(published)
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
    published: Dataset, replicated: Dataset, baseline: str | None = None, *, metrics: Sequence[str] | None = None
) -> pl.DataFrame:
    """Set the ratios of a published study beside those of its replication.

    Parameters
    ----------
    published, replicated
        The runs of both.
    baseline, metrics
        As in `fsbench_kit.compare`.

    Returns
    -------
    pl.DataFrame
        One row for each cell that both have; the columns are `COLUMNS`. ``published_low`` and ``published_high``
        are what the rounding of single runs allows, which is no confidence interval. ``finding`` is ``inside``
        where the published ratio lies in the replication's interval, and ``inside, as 1`` where 1 does so too;
        ``same direction`` where it lies outside of it and both are on one side of 1, else ``other direction``;
        ``open`` where the interval holds 1 and not the published ratio; and ``no interval`` where there is none.
    """
    theirs, again = (compare(data, baseline=baseline, metrics=metrics) for data in (published, replicated))
    both = theirs.drop_nulls("ratio").join(
        again.drop_nulls("ratio"), on=_SAME, how="inner", nulls_equal=True, maintain_order="left", suffix="_again"
    )
    inside = (pl.col("rounding_high") >= pl.col("ci_low_again")) & (
        pl.col("rounding_low") <= pl.col("ci_high_again")
    )
    one = pl.lit(1.0).is_between("ci_low_again", "ci_high_again")
    direction = (pl.col("ratio") > 1) == (pl.col("ratio_again") > 1)
    return both.select(
        *_SAME,
        published_ratio="ratio",
        published_low="rounding_low",
        published_high="rounding_high",
        ratio="ratio_again",
        ci_low="ci_low_again",
        ci_high="ci_high_again",
        confidence="confidence_again",
        n_baseline="n_baseline_again",
        n_candidate="n_candidate_again",
        finding=pl.when(pl.col("ci_low_again").is_null())
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
        notes="footnotes_again",
    ).select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())


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
