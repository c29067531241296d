"""Runs a published study's workload again, at a scale of one's own, and compares both effects.

::

    published = fsb.read("raw_results/published/sysbench-rhel72")
    again = replication(published, scale="laptop")
    result = launch(again.plan, root=Path.cwd())
    side_by_side(published, fsb.read(result.folder))

What is run is what the logs say ran; where a log is silent it is the command that the article states, and that is
said. A replication on another machine can neither prove a published figure nor refute it: it shows how much of an
effect is the workload's, and how much is not.

`published` says what a study ran, `targets` on what, `scale` how much smaller it gets; `plan` makes a plan of
these, `here` says whether this machine can run it and for how long, `comparison` sets what came of it beside what
was published, and `differences` says what else may have made the difference.
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
