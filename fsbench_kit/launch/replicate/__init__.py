"""Repeats a published study's workload at a scale of your choice, and compares the effects of both.

::

    published = fsb.read("raw_results/published/sysbench-rhel72")
    again = replication(published, scale="laptop")
    result = launch(again.plan, root=Path.cwd())
    side_by_side(published, fsb.read(result.folder))

It runs what the logs say was run or, where a log is silent, the command that the article states; the latter is
reported. A replication on another machine can neither prove nor refute a published figure: it shows how much of an
effect is due to the workload.

`published` reads what a study ran, `targets` on what, and `scale` shrinks it; `plan` makes a plan from these.
`here` tells whether this machine can run it and for how long. `comparison` compares the result with the published
figures, and `differences` lists what else may explain the difference.
"""

from __future__ import annotations

from fsbench_kit.launch.replicate.comparison import (
    COLUMNS,
    DIRECTIONS,
    replications,
    reproduced,
    side_by_side,
)
from fsbench_kit.launch.replicate.differences import caveats, differences, effects_of_scale
from fsbench_kit.launch.replicate.here import (
    expected_seconds,
    left_out,
    reason_not_to_run,
    recorded,
    space_by_scale,
)
from fsbench_kit.launch.replicate.plan import Replication, departures, replication
from fsbench_kit.launch.replicate.scale import SCALES, Limits

__all__ = [
    "COLUMNS",
    "DIRECTIONS",
    "SCALES",
    "Limits",
    "Replication",
    "caveats",
    "departures",
    "differences",
    "effects_of_scale",
    "expected_seconds",
    "left_out",
    "reason_not_to_run",
    "recorded",
    "replication",
    "replications",
    "reproduced",
    "side_by_side",
    "space_by_scale",
]
