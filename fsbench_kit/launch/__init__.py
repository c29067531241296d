"""Makes runs: a plan, targets made ready for each run, tools run on them in random order, and all of it recorded.

::

    from fsbench_kit.launch import launch, read_plan

    result = launch(read_plan(Path("plans/first-steps.toml")), root=Path.cwd())

What a plan may say is in `plan`, `targets` and `workloads`; what this machine can do is in `tools`. The doing is
in `runner`, a process that `launcher` starts: `locks`, `scratch`, then `session`, with `execution`, `observation`
and `study`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsbench_kit.model.lazy import lazily

if TYPE_CHECKING:
    from fsbench_kit.launch.capabilities import Ability, abilities
    from fsbench_kit.launch.dry_run import Rehearsal, rehearse
    from fsbench_kit.launch.events import Event
    from fsbench_kit.launch.launcher import LaunchResult, launch, resume
    from fsbench_kit.launch.plan import Plan, read_plan
    from fsbench_kit.launch.progress import shown
    from fsbench_kit.launch.tools import Machine, machine

__all__ = [
    "Ability",
    "Event",
    "LaunchResult",
    "Machine",
    "Plan",
    "Rehearsal",
    "abilities",
    "launch",
    "machine",
    "read_plan",
    "rehearse",
    "resume",
    "shown",
]

__getattr__, __dir__ = lazily(__name__)
