"""Launches benchmarks: prepares targets, runs tools on them in random order, and records every run.

::

    from fsbench_kit.launch import launch, read_plan

    result = launch(read_plan(Path("plans/first-steps.toml")), root=Path.cwd())

`plan`, `targets` and `workloads` define what a plan may contain; `capabilities` and `resolve` find out what this
machine can do. `launcher` starts a process, `runner`, which takes `locks` and a `scratch` folder. In it, a
`session` makes the runs through `execution` and writes a `run_record` of each into the folder of the `study`. A
`campaign` consists of several launches. `dry_runs` shows what would run, and `replicate` turns published logs into
plans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsbench_kit.model.lazy import lazily

if TYPE_CHECKING:
    from fsbench_kit.launch.campaign import Campaign
    from fsbench_kit.launch.capabilities import Capability, Machine, list_capabilities, machine
    from fsbench_kit.launch.dry_runs import DryRun, dry_run
    from fsbench_kit.launch.events import Event
    from fsbench_kit.launch.launcher import LaunchResult, launch, resume
    from fsbench_kit.launch.plan import Plan, read_plan
    from fsbench_kit.launch.progress import shown
    from fsbench_kit.launch.trial import Trial, try_plan

__all__ = [
    "Campaign",
    "Capability",
    "DryRun",
    "Event",
    "LaunchResult",
    "Machine",
    "Plan",
    "Trial",
    "dry_run",
    "launch",
    "list_capabilities",
    "machine",
    "read_plan",
    "resume",
    "shown",
    "try_plan",
]

__getattr__, __dir__ = lazily(__name__)
