"""What a machine can launch, and the results of a launch."""

from __future__ import annotations

import re
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.launch.study_files import PLAN, launch_notes
from fsbench_kit.model.units import humanise
from fsbench_kit.tables.cells import cell_text, metric_text, varying
from fsbench_kit.tables.layout import Column, Group, Table, table
from fsbench_kit.tables.messages import counted, listed, one_line, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.launch import Capability, LaunchResult, Machine


def machine_table(machine: Machine, capabilities: Iterable[Capability]) -> Table:
    """Make the table of what a machine has for launches, and of what it can do with that.

    Examples
    --------
    >>> from fsbench_kit.launch import Machine
    >>> bare = Machine(
    ...     programs=(),
    ...     missing=(),
    ...     filesystems=("ext4", "xfs"),
    ...     administrator=False,
    ...     isolation_problem=None,
    ...     loop_devices=True,
    ...     free_bytes=2**30,
    ... )
    >>> machine_table(bare, []).frame().row(1)
    ('What launches can do', 'privileges', 'cannot mount: launches run in directories', '')
    """
    loop = "yes" if machine.loop_devices else "the kernel has none"
    rows = [
        *((program.name, _version_number(version), "") for program, version in machine.programs),
        *((program.name, "missing", f"apt-get install {program.package}") for program in machine.missing),
    ]
    able = [
        ("filesystems in the kernel", ", ".join(machine.filesystems), ""),
        ("privileges", "may mount" if machine.administrator else "cannot mount: launches run in directories", ""),
        ("loop devices", loop, ""),
        ("private mounts for loop images", machine.isolation_problem or "yes", ""),
        ("free space here", humanise(machine.free_bytes, "B"), ""),
    ]
    here = {
        "target": "Targets",
        "device": "Block devices",
        "workload": "Workloads",
    }
    found = tuple(capabilities)
    groups = {
        kind: [(a.name, a.problem or "yes", a.remedy or "") for a in found if a.kind == kind] for kind in here
    }
    return Table(
        "This machine",
        (Column("what"), Column("here"), Column("what to do")),
        (
            Group("Programs", tuple(rows)),
            Group("What launches can do", tuple(able)),
            *(Group(here[kind], tuple(group)) for kind, group in groups.items() if group),
        ),
    )


def _version_number(version: str | None) -> str:
    number = re.search(r"\d+(?:\.\d+)+\w*", version or "")
    return number[0] if number is not None else version or "installed, unknown version"


def remarks_table(result: LaunchResult) -> Table:
    """Make the table of what a launch said: its notes, what failed, and why it ended early if it did.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fsbench_kit.launch import LaunchResult
    >>> result = LaunchResult(
    ...     study="disks",
    ...     folder=Path("disks"),
    ...     planned=2,
    ...     done=0,
    ...     runs=(),
    ...     failures={Path("001-xfs"): "fio ended with 1"},
    ...     warnings=(),
    ...     notes=("zfs is left out",),
    ...     stopped=None,
    ... )
    >>> remarks_table(result).groups[0].rows
    (('note', 'zfs is left out'), ('001-xfs failed', 'fio ended with 1'))
    """
    rows = [
        *(("note", " ".join(note.split())) for note in result.notes),  # which are as long as they are
        *((f"{run.name} failed", one_line(why)) for run, why in result.failures.items()),
        *([("ended early", one_line(result.stopped))] if result.stopped else []),
    ]
    caption = "Notes on the launch" if rows else "There are no notes on the launch"
    return Table(caption, (Column("kind"), Column("what")), (Group(None, tuple(rows)),))


def shortfalls(result: LaunchResult) -> list[str]:
    """Say what a launch lacks: runs that failed, its end where it ended early, targets and workloads left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fsbench_kit.launch import LaunchResult
    >>> result = LaunchResult(
    ...     study="disks",
    ...     folder=Path("disks"),
    ...     planned=2,
    ...     done=0,
    ...     runs=(Path("001-xfs"),),
    ...     failures={Path("001-xfs"): "fio ended with 1"},
    ...     warnings=(),
    ...     notes=('Target "btrfs" is not available: the kernel has no btrfs. It is left out.', "Waiting: b."),
    ...     stopped="the disk is full",
    ... )
    >>> for said in shortfalls(result):
    ...     print(said)
    1 run failed (001-xfs): fio ended with 1.
    The launch ended early: the disk is full.
    Target "btrfs" is not available: the kernel has no btrfs. It is left out.
    """
    failed: dict[str, list[str]] = {}
    for run, why in result.failures.items():
        failed.setdefault(one_line(why).rstrip("."), []).append(run.name)
    stopped = one_line(result.stopped or "").rstrip(".")
    return [
        *(f"{counted(len(runs), 'run')} failed ({listed(runs)}): {why}." for why, runs in failed.items()),
        *([f"The launch ended early: {stopped}."] if stopped else []),
        *(" ".join(note.split()) for note in result.notes if _LEFT_OUT.match(note)),
    ]


_LEFT_OUT: Final = re.compile(r'(Target|Workload) "[^"]+" is (not available|left out): ')


def launches_noted(dataset: Dataset) -> list[str]:
    """Say what the launches of some runs noted before they began, such as targets that the machine lacks.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> launches_noted(fsb.read("raw_results/replicated/fileserver-debian-2006-again"))[0]
    'Target "reiserfs" is not available: the kernel has no reiserfs. It is left out.'
    """
    above = dict.fromkeys(chain.from_iterable(Path(source).parents for source in dataset.runs["source"]))
    # A text of that name is a launch's where its plan is.
    noted = {folder: notes for folder in above if (folder / PLAN).is_file() and (notes := launch_notes(folder))}
    return [
        note if len(noted) == 1 else f"{one_line(folder.name)}: {note}"
        for folder, notes in noted.items()
        for note in (" ".join(line.split()) for line in notes)
    ]


def order_table(dataset: Dataset) -> Table:
    """Make the table of the runs one by one, in the order in which they were made as far as that is known.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> table = order_table(fsb.read("raw_results/recorded/latency-loop-2026"))
    >>> table.frame().select("order", "round", "filesystem").rows()[:3]
    [('1', '1', 'xfs'), ('2', '1', 'ext4'), ('3', '2', 'ext4')]
    """
    rows = dataset.runs.sort("study", "order", "started_at", nulls_last=True).select(
        "study",
        "order",
        pl.coalesce(pl.col("round").cast(pl.String), pl.col("stage").cast(pl.String)).alias("round"),
        "target",
        "workload",
        "tool",
        "filesystem",
        pl.col("started_at").dt.strftime("%Y-%m-%d %H:%M:%S"),
        pl.col("duration"),
        pl.col("status").cast(pl.String),
        "source",
    )
    return table(rows, "The runs in order", heads={"started_at": "started (UTC)", "duration": "duration, s"})


def steady_state_table(found: pl.DataFrame) -> Table:
    """Make the table of `fsbench_kit.analysis.steady_state.steady_state`: what is not steady first.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.steady_state import steady_state
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> found = steady_state_table(steady_state(data)).frame()
    >>> found.select("target", "workload", "rounds").row(0)
    ('ext4', 'smallfiles-4k', '10')
    """
    cells = (
        [name for name in varying(found) if name not in ("study", "tool", "filesystem")] if found.height else []
    )
    rows = found.sort("steady", nulls_last=True, maintain_order=True).select(
        "target",
        "workload",
        *(
            pl.col(name).map_elements(partial(cell_text, name), return_dtype=pl.String)
            for name in dict.fromkeys(["operation", *cells])
        ),
        pl.struct("metric", "statistic")
        .map_elements(lambda row: metric_text(row["metric"], row["statistic"]), return_dtype=pl.String)
        .alias("metric"),
        "rounds",
        *(pl.col(share).map_elements(percent, return_dtype=pl.String) for share in ("range", "slope")),
        pl.col("steady").replace_strict({True: "steady", False: "not steady"}, return_dtype=pl.String),
    )
    return table(rows, "Steady state: the last five rounds, range within 20 % and slope within 10 % of their mean")
