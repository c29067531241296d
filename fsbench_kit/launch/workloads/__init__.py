"""What a plan may ask of each tool, and the command line that does it.

To add a tool: write a module like `fio`, and name its class here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fsbench_kit.launch.workloads.base import BaseWorkload
from fsbench_kit.launch.workloads.fio import Fio
from fsbench_kit.launch.workloads.smallfiles import Smallfiles

__all__ = ["BaseWorkload", "Fio", "Smallfiles", "Workload"]

Workload = Annotated[Fio | Smallfiles, Field(discriminator="tool")]
