"""What a plan may ask of each tool, and the command line that does it.

To add a tool: write a module like `fio`, and name its class here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fsbench_kit.launch.workloads.base import Argv, BaseWorkload, Ground, Work
from fsbench_kit.launch.workloads.bonnie import Bonnie
from fsbench_kit.launch.workloads.filetree import Filetree
from fsbench_kit.launch.workloads.fio import Fio
from fsbench_kit.launch.workloads.iozone import Iozone
from fsbench_kit.launch.workloads.smallfiles import Smallfiles
from fsbench_kit.launch.workloads.sysbench import Sysbench

__all__ = [
    "Argv",
    "BaseWorkload",
    "Bonnie",
    "Filetree",
    "Fio",
    "Ground",
    "Iozone",
    "Smallfiles",
    "Sysbench",
    "Work",
    "Workload",
]

Workload = Annotated[Fio | Bonnie | Sysbench | Iozone | Smallfiles | Filetree, Field(discriminator="tool")]
"""What a plan says of any workload, and what the runner needs to know of it."""
