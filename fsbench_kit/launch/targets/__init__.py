"""What runs are made on: each kind of target can be had or not, is made ready for a run, and taken away again.

Nothing is ever written outside a scratch folder, and no block device is named to any command but one that was made
here.

To add a kind: write a module like `loop`, and name its class here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fsbench_kit.launch.targets.base import RUNS, BaseTarget
from fsbench_kit.launch.targets.directory import DirectoryTarget
from fsbench_kit.launch.targets.loop import LoopTarget
from fsbench_kit.launch.targets.steps import Ready, Step, StepError

__all__ = ["RUNS", "BaseTarget", "DirectoryTarget", "LoopTarget", "Ready", "Step", "StepError", "Target"]

Target = Annotated[DirectoryTarget | LoopTarget, Field(discriminator="kind")]
