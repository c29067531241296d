"""Ageing: filling and churning a filesystem before its runs, because aged ones rank differently from empty ones.

::

    [[target]]
    kind = "loop"
    filesystem = ["ext4", "xfs"]
    size = "1G"
    aged = { fill = [0, 0.8], churn = 2 }

The program is `fsbench_kit.launch.ageing.__main__`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from fsbench_kit.launch.schema import PlanTable, Whole

_PROGRAM: Final = str(Path(__file__).parent)  # Python runs the __main__.py in this folder


class Ageing(PlanTable):
    """How to age a filesystem before its first run.

    Attributes
    ----------
    fill
        How full the filesystem gets, as a share; 0 leaves it as mkfs made it.
    churn
        How many times that amount of data is deleted and rewritten, in files of other sizes.
    seed
        Determines the files.
    """

    fill: Annotated[float, Field(ge=0, le=0.95, description="a share from 0 to 0.95", examples=[0.8])]
    churn: Annotated[float, Field(ge=0, le=100, description="a number from 0 to 100", examples=[2])] = 1
    seed: Whole = 1

    @property
    def settings(self) -> dict[str, str]:
        """The ageing as settings, keyed by `fsbench_kit.model.vocabulary.SETTINGS`."""
        return {"fill": f"{self.fill:g}", "churn": f"{self.churn if self.fill else 0:g}"}

    def command(self, directory: str, *count: str) -> tuple[str, ...]:
        """Return the command that ages the filesystem of an empty directory.

        Parameters
        ----------
        *count
            A command that makes the filesystem update its count of free space, if a sync does not.
        """
        return (sys.executable, _PROGRAM, directory, f"{self.fill:g}", f"{self.churn:g}", str(self.seed), *count)

    def written(self, capacity: int) -> int:
        """Return the bytes that ageing writes to a filesystem of the given capacity."""
        return int(self.fill * (1 + self.churn) * capacity)


AGED: Final = Field(description='a table with "fill", and optionally "churn" and "seed"')
"""The field ``aged`` of a plan."""
