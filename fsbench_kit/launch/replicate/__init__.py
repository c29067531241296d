"""Runs a published study's workload again, at a scale of one's own, and compares both effects.

::

    published = fsb.read("raw_results/published/sysbench-rhel72")
    again = replication(published, file_scale=1 / 16, time_scale=1 / 60)
    result = launch(again.plan, root=Path.cwd())
    side_by_side(published, fsb.read(result.folder))

What is run is what the logs say ran; where a log is silent it is the command that the article states, and that is
said. A replication on another machine can neither prove a published figure nor refute it: it shows how much of an
effect is the workload's, and how much is not.

`published` says what a study ran, `plan` makes a plan of it, `here` says whether this machine can run that, and
`comparison` sets what came of it beside what was published.
"""

from __future__ import annotations

from fsbench_kit.launch.replicate.comparison import COLUMNS, caveats, differences, side_by_side
from fsbench_kit.launch.replicate.here import reason_not_to_run, recorded
from fsbench_kit.launch.replicate.plan import Replication, departures, replication

__all__ = [
    "COLUMNS",
    "Replication",
    "caveats",
    "departures",
    "differences",
    "reason_not_to_run",
    "recorded",
    "replication",
    "side_by_side",
]
