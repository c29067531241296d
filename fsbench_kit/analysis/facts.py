"""Facts about runs besides the factor: every setting that could affect their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.settings import known, of_each
from fsbench_kit.data.labelled import GROUP
from fsbench_kit.model.units import quantity
from fsbench_kit.model.vocabulary import ASKED, FOLLOWS, SETTINGS, setting_kind

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset

MOUNT: Final = "mount option "
"""The prefix of the keys of mount options with the same meaning on every filesystem."""

TARGET: Final = "target"

_COMMON: Final = {
    "access": ("rw", "ro"),
    "atime": ("relatime", "noatime", "strictatime", "atime"),
    "diratime": ("diratime", "nodiratime"),
    "lazytime": ("nolazytime", "lazytime"),
    "sync": ("async", "sync"),
    "dirsync": ("nodirsync", "dirsync"),
    "barrier": ("barrier", "nobarrier"),
    "discard": ("nodiscard", "discard", "discard=sync", "discard=async"),
    "data": ("data=ordered", "data=journal", "data=writeback"),
}
"""Options of the VFS and of durability, with the same meaning on any filesystem; the first one is the default."""

_OPTIONS: Final = {word: name for name, words in _COMMON.items() for word in words}
_SAME: Final = {"barrier=1": "barrier", "barrier=0": "nobarrier", "fsync_mode=nobarrier": "nobarrier"}
_OF_ZFS: Final = {
    ("zfs.sync", "standard"): ("sync", "async"),
    ("zfs.sync", "always"): ("sync", "sync"),
    ("zfs.sync", "disabled"): ("barrier", "sync=disabled"),
    ("zfs.atime", "off"): ("atime", "noatime"),
}
"""Properties of ZFS that correspond to such options."""


def facts(dataset: Dataset) -> pl.DataFrame:
    """Return facts in which runs differ: columns ``run_id``, ``key``, ``kind`` and ``value``.

    Facts that all runs share are left out, and so are words of names that are different for each run, which only
    count them. Mount options with the same meaning on any filesystem are separate settings of the kind ``mount``;
    the remaining ones belong to the target, whose name is of the kind ``name``.
    """
    of_runs = known(dataset)
    if dataset.runs["target"].count():
        of_runs = pl.concat([of_runs, of_each(dataset.runs, TARGET)])
    values = pl.col("value")
    alike = (values == values.first()).all() & (pl.len() == dataset.runs.height)
    counts = (values.n_unique() == pl.len()) & (pl.len() > _ONE_OF_EACH)
    keys = of_runs.group_by("key").agg(alike=alike, counts=counts)
    own = own_words(dataset)["key"].to_list() if keys["counts"].any() else []
    dropped = [key for key, alike, counts in keys.rows() if alike or (counts and key in own)]
    of_runs = of_runs.filter(~pl.col("key").is_in(dropped))
    if of_runs.is_empty():
        return of_runs.with_columns(kind=pl.lit(None, pl.String))
    of_runs = pl.concat([of_runs, _not_given(dataset, of_runs)])
    of_runs = pl.concat([of_runs.filter(pl.col("key") != "mount_options"), _mounts(of_runs)])
    kinds = {key: _kind(key) for key in of_runs["key"].unique()}
    memory = of_runs.filter(key="memory")["value"].unique().sort().to_list()
    return of_runs.with_columns_seq(
        kind=pl.col("key").replace_strict(kinds, return_dtype=pl.String),
        value=pl.when(pl.col("key") == "memory").then(values.replace(_near(memory))).otherwise(values),
    ).filter(pl.col("kind") != "label")


_ONE_OF_EACH: Final = 2
"""With one run in each of two groups, it means nothing that their values differ."""


def own_words(dataset: Dataset) -> pl.DataFrame:
    """Return the words in name templates that are not settings of any tool, as ``key``."""
    words = dataset.settings["key"].filter(dataset.settings["origin"] == "name").unique()
    own = [word for word in words.to_list() if word not in SETTINGS and "." not in word]
    return pl.DataFrame({"key": own}, schema={"key": pl.String})


_PRINTED: Final = frozenset(
    [
        "pattern",
        "block_size",
        "file_size",
        "engine",
        "iodepth",
        "threads",
        "directory",
        "fsync",
        "grouped",
        "fio.started",
        "fio.latency_depth",
        "fio.latency_percentile",
        "fio.latency_target",
        "fio.latency_window",
    ]
)
"""Settings of fio's work that are also in logs without a list of options, and whether figures are grouped."""

_LISTED_TOO: Final = ("engine", "fsync")
"""Those of them that a list of options omits only if they were not given."""

_NOT_GIVEN: Final = "not given"

_FIO_DEFAULTS: Final = {
    "fio.create_serialize": "1",
    "fio.file_service_type": "roundrobin",
    "fio.invalidate": "1",
    "fio.random_distribution": "random",
    "fio.random_generator": "tausworthe",
    "fio.randrepeat": "1",
}
"""Defaults, by fio's manual, of options that people write out and that are neither 0 nor false by default."""


def _not_given(dataset: Dataset, of_runs: pl.DataFrame) -> pl.DataFrame:
    """Return options of fio that were only given to some runs, with their defaults for the runs that omit them.

    fio's JSON lists all options that were given, so an option that is missing there has its default.
    """
    varying = [key for key in of_runs["key"].unique() if _is_of_a_list(key) or key in _LISTED_TOO]
    runs = dataset.runs.filter(tool="fio")["run_id"]
    if not varying or runs.is_empty():
        return of_runs.clear()
    of_fio = pl.col("run_id").is_in(runs.implode())
    lists = [key for key in dataset.settings["key"].unique() if _is_of_a_list(key)]
    listing = dataset.settings.filter(of_fio, pl.col("key").is_in(lists), origin="log").select("run_id").unique()
    given = of_runs.filter(of_fio, pl.col("key").is_in(varying))
    value = pl.col("value")
    options = given.group_by("key").agg(
        value=pl.when(value.is_in(["true", "false"]).all())
        .then(pl.lit("false"))
        .otherwise(
            pl.coalesce(
                pl.col("key").first().replace_strict(_FIO_DEFAULTS, default=None),
                value.filter(value == "0").first(),
                pl.lit(_NOT_GIVEN),
            )
        )
    )
    return listing.join(options, how="cross").join(given, on=["run_id", "key"], how="anti").select(of_runs.columns)


def _is_of_a_list(key: str) -> bool:
    return key not in _PRINTED and setting_kind(key) == "workload"


def _kind(key: str) -> str:
    if key == TARGET:
        return "name"
    if key == "provision":  # the effect of these commands is in other settings
        return "label"
    return "mount" if key.startswith(MOUNT) else setting_kind(key)


def counted(factor: str) -> pl.Expr:
    """Return an expression for facts that do not naturally differ along with a factor."""
    return ~pl.col("kind").is_in(_BROUGHT.get(factor, ("name",)))


_BROUGHT: Final = {
    "filesystem": ("target", "name"),
    "target": ("target", "name", "mount"),
    GROUP: ("target", "name", "mount", "system"),
}
"""The kinds of facts that naturally differ along with a factor."""


def is_default() -> pl.Expr:
    """Return an expression for mount options that have their default."""
    return (pl.col("kind") == "mount") & pl.col("value").is_in([words[0] for words in _COMMON.values()])


def others(factor: str) -> pl.Expr:
    """Return an expression for facts that are neither the factor nor follow from it."""
    own = pl.col("key").is_in([factor, f"{ASKED}{factor}", *FOLLOWS.get(factor, ())])
    return ~(own | (pl.col("kind") == "mount") if factor == "mount_options" else own)


def _mounts(of_runs: pl.DataFrame) -> pl.DataFrame:
    """Split mount options into those that mean the same on any filesystem, and the rest; ZFS has its own words."""
    found: dict[tuple[str, str], str] = {}
    options = of_runs.filter((pl.col("key") == "mount_options") | pl.col("key").is_in([key for key, _ in _OF_ZFS]))
    in_turn = options.sort("key").select("run_id", "key", "value")  # mount_options before zfs.*
    for run, key, text in in_turn.rows():
        if key == "mount_options":
            words = [_SAME.get(word, word) for word in text.replace(" ", "").split(",")]
            found |= {(run, f"{MOUNT}{name}"): of_name[0] for name, of_name in _COMMON.items()}
            found |= {(run, f"{MOUNT}{_OPTIONS[word]}"): word for word in words if word in _OPTIONS}
            own = sorted(word for word in words if word not in {*_OPTIONS, "", "defaults"})
            found[run, key] = ",".join(own) or "none of its own"
        elif (key, text) in _OF_ZFS:
            name, word = _OF_ZFS[key, text]
            found[run, f"{MOUNT}{name}"] = word
    rows = [(*place, value) for place, value in found.items()]
    return pl.DataFrame(rows, schema=of_runs.schema, orient="row")


def capacity(memory: str) -> int | None:
    """Parse a memory size such as "16 GB DDR4"; GB are read as powers of 1000, the least that they can mean."""
    if memory.isdecimal():
        return int(memory)
    try:
        return int(quantity(*memory.split()[:2]).value)
    except (ValueError, TypeError):
        return None


_NEAR: Final = 1.01


def _near(memory: list[str]) -> dict[str, str]:
    """Map sizes of memory that only differ in what the kernel reserves to a common text."""
    sizes = sorted((size, text) for text in memory if (size := capacity(text)))
    same: dict[str, str] = {}
    least = (0, "")
    for size, text in sizes:
        if size > _NEAR * least[0]:
            least = size, text
        same[text] = least[1]
    return same
