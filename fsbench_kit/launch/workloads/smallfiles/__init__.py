"""The package's own ``smallfiles``: many files of one size are created, rewritten, read and deleted.

The program is `fsbench_kit.launch.workloads.smallfiles.__main__`; its log is read by
`fsbench_kit.formats.smallfiles`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pydantic import model_validator

from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.schema import Compressibility, Count, Size, short_size
from fsbench_kit.launch.tools import Program, not_installed
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

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_COMPILER: Final = Program("cc", "gcc, libc6-dev")
_BLOCK: Final = 4096
_PROGRAM: Final = Path(__file__).parent  # Python runs the __main__.py in this folder


class Smallfiles(BaseWorkload):
    """A ``[[workload]]`` with ``tool = "smallfiles"``.

    Attributes
    ----------
    threads
        How many processes share the files, which are all in one directory.
    compressibility
        The share of the data that can be compressed away, in percent.
    """

    keeps_finished_steps: ClassVar = True
    scale: ClassVar = Scale(amounts={"files": Amount(of="Small files", in_bytes=False)})

    tool: Literal["smallfiles"]
    files: Count
    size: Size
    threads: Count = 1
    compressibility: Compressibility = 0

    @model_validator(mode="after")
    def _has_a_file_for_each_thread(self) -> Smallfiles:
        if self.threads > self.files:
            what = f"{self.threads} threads cannot share {self.files} files"
            raise PlanError(what, Place(key="threads"), hint="Plan fewer threads, or more files.")
        return self

    @classmethod
    def table_from(cls, settings: Mapping[str, str], operations: Collection[str]) -> dict[str, Any]:
        """Return the plan table for a run's settings."""
        del operations  # always the same
        files, size = required(settings, "files", "block_size")
        table = {"tool": "smallfiles", "name": "smallfiles", "files": int(files), "size": int(size)}
        return table | where_known(settings, ("threads", "threads", int))

    @classmethod
    def remark(cls) -> str | None:
        """Return what a missing C compiler costs, or ``None`` if there is one."""
        lack = not_installed(_COMPILER)
        return f"{lack}, so its loops run in Python, which adds about 3 µs per file" if lack else None

    def shortened(self) -> Smallfiles:
        """Return it with a few files."""
        return self.model_copy(update={"files": min(self.files, 10 * self.threads)})

    def work(self, context: RunContext) -> Work:
        """Return the command line; the log needs the filesystem's name as one word."""
        program, beside = (sys.executable, str(_PROGRAM)), f"--beside={context.beside}"
        return Work(
            before=((*program, "loops", beside),),
            measured=(
                *program,
                "steps",
                beside,
                f"--directory={context.directory}",
                f"--filesystem={one_word(context.filesystem)}",
                f"--files={self.files}",
                f"--size={short_size(self.size)}",
                f"--threads={self.threads}",
                f"--compressibility={self.compressibility}",
                f"--seed={context.seed}",
            ),
        )

    @property
    def space(self) -> int:
        """The files in whole blocks, with one block per file for its inode and name."""
        return self.files * (-(-self.size // _BLOCK) + 1) * _BLOCK

    @property
    def most_files(self) -> int:
        """The files."""
        return self.files

    @property
    def least_written(self) -> int:
        """Every file is written twice."""
        return 2 * self.files * self.size
