"""The kit's own ``smallfiles``: many files of one size are created, rewritten, read and deleted.

The program is `fsbench_kit.launch.workloads.smallfiles.__main__`; its log is read by
`fsbench_kit.formats.smallfiles`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final, Literal

from fsbench_kit.launch.schema import Count, Size, short_size
from fsbench_kit.launch.workloads.base import BaseWorkload, Ground, Work

_BLOCK: Final = 4096
_PROGRAM: Final = Path(__file__).with_name("__main__.py")


class Smallfiles(BaseWorkload):
    """A ``[[workload]]`` with ``tool = "smallfiles"``."""

    tool: Literal["smallfiles"]
    files: Count
    size: Size

    def work(self, ground: Ground) -> Work:
        """Return the command line; the log needs a filesystem's name, as one word."""
        return Work(
            measured=(
                sys.executable,
                str(_PROGRAM),
                f"--directory={ground.directory}",
                f"--filesystem={re.sub(r'[^A-Za-z0-9_]', '_', ground.filesystem or 'unknown')}",
                f"--files={self.files}",
                f"--size={short_size(self.size)}",
                f"--seed={ground.seed}",
            )
        )

    @property
    def space(self) -> int:
        """The files, each in whole blocks, and one block for its inode and name."""
        return self.files * (-(-self.size // _BLOCK) + 1) * _BLOCK

    @property
    def least_written(self) -> int:
        """Every file is written twice."""
        return 2 * self.files * self.size

    @property
    def least_seconds(self) -> float:
        """Nothing is known beforehand."""
        return 0.0
