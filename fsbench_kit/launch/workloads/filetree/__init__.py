"""The package's own ``filetree``: the eleven tasks of a file server.

::

    [[workload]]
    tool = "filetree"
    large_file = "700M"
    files = 7500
    directories = 900
    smallest = "10k"
    largest = "1M"

The program, `fsbench_kit.launch.workloads.filetree.__main__`, performs eight of the tasks. The other three, mkfs,
mount and umount, belong to targets that are created for the run: they are timed when the target is prepared and
removed, and added to the log after the run. The log of a directory has eight tasks.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pydantic import model_validator

from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.schema import Compressibility, Count, Size
from fsbench_kit.launch.tools import Program
from fsbench_kit.launch.workloads.base import (
    Amount,
    BaseWorkload,
    RunContext,
    Scale,
    Work,
    one_word,
    required,
    where_known,
)
from fsbench_kit.launch.workloads.filetree.__main__ import HEADER, PROGRAMS, Usage, sizes
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from fsbench_kit.launch.targets import Step

_BLOCK: Final = 4096
_PROGRAM: Final = Path(__file__).parent  # Python runs the __main__.py in this folder


class Filetree(BaseWorkload):
    """A ``[[workload]]`` with ``tool = "filetree"``.

    Attributes
    ----------
    large_file
        The size of the large file.
    files
        The number of files in the tree.
    directories
        The number of directories in the tree.
    smallest
        The size of the smallest files. Sizes are log-uniform between this and `largest`.
    largest
        The size of the largest files.
    total
        The total size of the files, which makes small or large files more frequent.
    compressibility
        The share of the data that can be compressed away, in percent.
    """

    programs: ClassVar = tuple(Program(name, "findutils" if name == "find" else "coreutils") for name in PROGRAMS)
    keeps_finished_steps: ClassVar = True
    logs: ClassVar = ("filetree.csv",)
    scale: ClassVar = Scale(
        amounts={
            "large_file": Amount(of="The large file"),
            "files": Amount(of="Files in the tree", in_bytes=False),
            "directories": Amount(of="Directories in the tree", in_bytes=False),
            "total": Amount(of="All files of the tree"),
        }
    )

    tool: Literal["filetree"]
    large_file: Size
    files: Count
    directories: Count
    smallest: Size
    largest: Size
    total: Size | None = None
    compressibility: Compressibility = 0

    @model_validator(mode="after")
    def _has_a_range(self) -> Filetree:
        if self.smallest > self.largest:
            what = '"smallest" is larger than "largest"'
            raise PlanError(what, Place(key="smallest"), hint="Write the smaller size for smallest.")
        least, most = self.files * self.smallest, self.files * self.largest
        if self.total is not None and not least <= self.total <= most:
            what = (
                f"{self.files} files of these sizes have {humanise(least, 'B')} to {humanise(most, 'B')} together"
            )
            raise PlanError(what, Place(key="total"), hint="Write a total between these, or none.")
        return self

    @classmethod
    def table_from(cls, settings: Mapping[str, str], operations: Collection[str]) -> dict[str, Any]:
        """Return the plan table for a run's settings."""
        del operations  # always the same
        keys = {"files": "files"} | {
            key: f"filetree.{key}" for key in ("large_file", "directories", "smallest", "largest")
        }
        values = zip(keys, map(int, required(settings, *keys.values())), strict=True)
        table = {"tool": "filetree", "name": "filetree", **dict(values)}
        return table | where_known(settings, ("total", "filetree.total", int))

    def work(self, context: RunContext) -> Work:
        """Create the files to copy beside the target, then perform the tasks."""
        keys = ("large_file", "files", "directories", "smallest", "largest", "compressibility")
        shape = [f"--{key.replace('_', '-')}={getattr(self, key)}" for key in keys]
        shape += [f"--total={self.total}"] if self.total is not None else []
        program = (sys.executable, str(_PROGRAM))
        source = f"--source={context.beside}"
        target = [f"--directory={context.directory}", f"--filesystem={one_word(context.filesystem)}"]
        if context.device_size is not None:
            target.append(f"--device-size={context.device_size}")
        return Work(
            before=((*program, "source", source, *shape, f"--seed={context.seed}"),),
            measured=(*program, "tasks", source, *shape, *target),
        )

    def complete_log(self, folder: Path, steps: Sequence[Step]) -> None:
        """Write the log: the program's output, with the target's tasks in their places.

        After a failure the log has the tasks that were finished; if there are none, it is not written.
        """
        printed = (folder / "stdout.txt").read_text(encoding="utf-8").splitlines()
        rows = (
            number
            for number, line in enumerate(printed)
            if line != HEADER and not line.startswith("#") and line.count(",") == HEADER.count(",")
        )
        if (first := next(rows, None)) is None:
            return
        filesystem = printed[first].split(",")[1]
        made = [*_rows("mkfs", steps, filesystem), *_rows("mount", steps, filesystem)]
        lines = [*printed[:first], *made, *printed[first:], *_rows("umount", steps, filesystem)]
        (folder / self.logs[0]).write_text("\n".join(lines) + "\n", encoding="utf-8")

    @property
    def space(self) -> int:
        """Both the large file and the tree exist twice, but not at the same time."""
        return 2 * max(self.large_file, self._tree)

    @property
    def most_files(self) -> int:
        """The tree exists twice."""
        return 2 * (self.files + self.directories)

    @property
    def space_beside(self) -> int:
        """The files to copy."""
        return self.large_file + self._tree

    @property
    def least_written(self) -> int:
        """Everything is copied twice."""
        return 2 * (self.large_file + sum(self._lengths))

    @property
    def _tree(self) -> int:
        """The size of a tree in whole blocks, with one block per file for its name and inode."""
        return sum((-(-length // _BLOCK) + 1) * _BLOCK for length in self._lengths) + self.directories * _BLOCK

    @property
    def _lengths(self) -> tuple[int, ...]:
        return sizes(self.files, self.smallest, self.largest, self.total)


def _rows(task: str, steps: Sequence[Step], filesystem: str) -> Iterator[str]:
    """Yield the log rows of a task that is a step of the target; a task that was retried has no figure."""
    done = [step for step in steps if Path(step.argv[0]).name.partition(".")[0] == task]
    if len(done) == 1:
        (step,) = done
        usage = Usage(step.elapsed, step.user + step.system, step.minor_faults, step.major_faults)
        yield from usage.rows(task, filesystem)
