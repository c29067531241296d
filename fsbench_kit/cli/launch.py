"""``fsbench launch``."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import err, out
from fsbench_kit.cli.hosts import check_there, launch_there, preview_there
from fsbench_kit.cli.inputs import found_plan
from fsbench_kit.cli.options import assumed
from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.model.errors import InputError, LaunchError, RequestError, needs_extra

if TYPE_CHECKING:
    from collections.abc import Collection

    from fsbench_kit.launch import Campaign, LaunchResult, Plan


def launch_command(
    plan: Annotated[
        str | None, typer.Argument(help="The plan, a TOML file; with --resume, the name or folder of a study.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="A name for the study; by default the plan's id and the time.")
    ] = None,
    *,
    campaign: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Launch the next block of a campaign. The first block needs a plan.",
        ),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="KEY=LEVEL",
            help="With --campaign, what this machine runs now, such as kernel=6.12. Can be repeated.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an earlier launch of the same name.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a study; by default the latest unfinished one.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume, repeat the runs that failed.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what would run, how often and in which order, without running anything."
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Try each workload briefly on each target, using images in place of devices, and keep nothing.",
        ),
    ] = False,
    commands: Annotated[bool, typer.Option("--commands", help="With --dry-run, print every command too.")] = False,
    device: Annotated[
        list[str] | None,
        typer.Option(help="Confirm that this block device of the plan may be overwritten."),
    ] = None,
    ssh: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Launch on each host listed in a file, like the hosts of a plan, and collect their runs.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The same on the hosts of a Dask scheduler's workers, such as tcp://node1:8786.",
        ),
    ] = None,
    patience: Annotated[
        float,
        typer.Option(
            min=0, metavar="SECONDS", help="How long another host may stay silent before it counts as lost."
        ),
    ] = 600,
    to: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Where to put the results, in a folder named after the study; --resume looks there.",
        ),
    ] = LAUNCHED,
) -> None:
    """Run a plan, keeping the logs and a record of each run.

    fsbench launch quick --dry-run
    fsbench launch plans/quick.toml --to results/
    fsbench launch --resume --to results/
    fsbench launch upgrade.toml --campaign upgrade --as kernel=6.8
    fsbench launch --campaign upgrade --dry-run
    fsbench launch --campaign upgrade --resume
    fsbench launch plan.toml --ssh hosts.txt --study fleet
    """
    with needs_extra("launch", "fsbench launch"):
        from fsbench_kit.launch import Campaign, launch, shown
        from fsbench_kit.launch import resume as resume_launch
        from fsbench_kit.launch.hosts_study import find_hosts_study
        from fsbench_kit.launch.progress import from_here
        from fsbench_kit.launch.targets import Folders

    devices = device or []
    if levels and campaign is None:
        raise RequestError("--as needs --campaign", hint="fsbench launch PLAN --campaign NAME --as KEY=LEVEL")
    if campaign is not None and (study or replace or check):
        raise RequestError(
            "--campaign cannot be combined with --study, --replace or --check",
            hint="fsbench launch PLAN --campaign NAME --as KEY=LEVEL",
        )
    if campaign is not None and resume and (plan or levels):
        raise RequestError(
            "an interrupted block keeps its plan and levels",
            hint="Leave them out: fsbench launch --campaign NAME --resume",
        )
    if ssh is not None and scheduler is not None:
        raise RequestError(
            "--ssh and --scheduler cannot be combined for a launch", hint="Leave out --ssh or --scheduler."
        )
    if ssh is not None and (plan is None or resume):
        raise RequestError("--ssh needs a plan", hint="fsbench launch PLAN --ssh hosts.txt --study NAME")
    if dry_run and plan is None and campaign is None and not resume:
        raise RequestError("--dry-run needs a plan", hint="fsbench launch --dry-run plans/quick.toml")
    if commands and not dry_run:
        raise RequestError("--commands needs --dry-run", hint="fsbench launch --dry-run --commands PLAN")
    if check and (plan is None or resume):
        raise RequestError("--check needs a plan", hint="fsbench launch --check plans/quick.toml")
    if resume and (study or replace):
        raise RequestError(
            "--resume cannot be combined with --study or --replace", hint="fsbench launch --resume STUDY"
        )
    if retry_failed and not resume:
        raise RequestError("--retry-failed needs --resume", hint="fsbench launch --resume --retry-failed STUDY")
    given = None if plan is None or resume else _plan(plan, ssh, scheduler)
    begun = None if campaign is None else Campaign(to / campaign, given)
    name, folder = _resumed(plan, to, begun) if resume else (study, to if begun is None else begun.folder)
    there = find_hosts_study(folder, name) if resume else None
    if there is not None and not there.plan.hosts and scheduler is None:
        words = ["fsbench", "launch", "--resume", str(from_here(there.folder)), "--scheduler", "ADDRESS"]
        raise RequestError(f"the hosts of {there.folder.name} came from a scheduler", hint=shlex.join(words))
    work = there.plan if there is not None else begun.plan if begun is not None else given
    if work is not None and (work.hosts or scheduler) and (there is not None or not resume):
        if retry_failed or replace or devices or (dry_run and resume):
            what = "launches on other hosts do not support --retry-failed, --replace or --device"
            raise RequestError(what, hint="Launch on the host itself.")
        if there is not None:
            name, folder = there.folder.name, there.folder.parent
        elif begun is not None:
            block = begun.next if dry_run else begun.begin(assumed(levels) or {})
            work, name = block.plan, block.name
        if dry_run:
            if begun is not None:
                typer.echo(str(begun))
            preview_there(work, scheduler, commands=commands)
        elif check:
            check_there(work, scheduler)
        else:
            _report(launch_there(work, name, folder, patience, scheduler))
        return
    if dry_run:
        _dry_run(given, name, folder, devices, begun, resume=resume, commands=commands)
        return
    if given is not None and check:
        _check(given, to)
        return
    where: dict[str, Any] = {"root": Path.cwd(), "to": folder, "devices": devices}
    try:
        with shown(out) as progress:
            if resume:
                result = resume_launch(name, **where, retry_failed=retry_failed, progress=progress)
            elif begun is not None:
                block = begun.begin(assumed(levels) or {})
                if begun.caution is not None:
                    out.print(begun.caution)
                result = launch(block.plan, **where, study=block.name, progress=progress)
            elif given is None:
                raise RequestError("a plan is missing", hint="fsbench launch plans/quick.toml")
            else:
                result = launch(given, **where, study=study, replace=replace, progress=progress)
    except KeyboardInterrupt:
        again = Folders(Path.cwd(), folder).command_to_resume()
        err.print(f"Interrupted. The finished runs are kept. To resume: {again}")
        raise typer.Exit(130) from None
    _report(result)


def _report(result: LaunchResult) -> None:
    from fsbench_kit.analysis.steady_state import sentence, steady_state
    from fsbench_kit.launch import Campaign
    from fsbench_kit.launch.progress import from_here
    from fsbench_kit.launch.study_files import CAMPAIGN, PLAN
    from fsbench_kit.tables import counted

    out.print(f"{result.done + len(result.runs)} of {result.planned} runs are in {result.folder}")
    if (result.folder / PLAN).is_file():  # with several hosts, each has its own order
        with suppress(InputError):  # no run has a figure
            steady = sentence(steady_state(fsb.read(result.folder)))
            if steady is not None:
                out.print(steady)
    if (result.folder.parent / CAMPAIGN).is_file():
        typer.echo(str(Campaign(from_here(result.folder.parent))))
    if result.stopped or result.failures:
        raise LaunchError(result.stopped or f"{counted(len(result.failures), 'failed or partial run')}; see above")


def _plan(name: str, hosts: Path | None, scheduler: str | None) -> Plan:
    """Return a plan, with the hosts in a file if one is given."""
    from fsbench_kit.data.ssh import read_hosts
    from fsbench_kit.launch import read_plan

    elsewhere = hosts is not None or scheduler is not None
    plan = read_plan(found_plan(name), elsewhere=elsewhere)
    if elsewhere and plan.hosts:
        raise RequestError(
            "the plan names its hosts", hint="Leave out --ssh and --scheduler, or the hosts of the plan."
        )
    if hosts is None:
        return plan
    return plan.model_copy(update={"hosts": {host.name: str(host) for host in read_hosts(hosts)}})


def _resumed(study: str | None, to: Path, campaign: Campaign | None) -> tuple[str | None, Path]:
    """Return the name and parent folder of a study to resume; the study's folder gives both."""
    from fsbench_kit.launch.study_files import HOSTS, PLAN

    if campaign is not None:
        return None, campaign.folder
    if study is None or not any(Path(study, kind).is_file() for kind in (PLAN, HOSTS)):
        return study, to
    folder = Path(study).resolve()
    return folder.name, folder.parent


def _check(plan: Plan, to: Path) -> None:
    from fsbench_kit.launch import shown, try_plan

    with shown(out) as progress:
        trial = try_plan(plan, Path.cwd(), progress, to=to)
    for sentence in (*trial.notes, *trial.estimates):
        typer.echo(sentence)
    if trial.failures:
        raise LaunchError("\n".join(trial.failures), hint="Fix this in the plan; nothing was kept.")
    typer.echo(trial.success)


def _dry_run(
    plan: Plan | None,
    name: str | None,
    folder: Path,
    devices: list[str],
    campaign: Campaign | None,
    *,
    resume: bool,
    commands: bool,
) -> None:
    from fsbench_kit.launch import dry_run
    from fsbench_kit.launch.study import find_study

    made: Collection[str] = ()
    if resume:
        study = find_study(folder, name)
        plan, folder, made = study.plan, study.folder.parent, study.made
    elif campaign is not None:
        typer.echo(str(campaign))
        plan = campaign.next.plan
    if plan is not None:
        preview = dry_run(plan, Path.cwd(), devices, to=folder, made=made)
        typer.echo(str(preview))
        for line in preview.commands if commands else ():
            typer.echo(line)
