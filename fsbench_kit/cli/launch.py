"""``fsbench launch``."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import err, out
from fsbench_kit.cli.inputs import found_plan
from fsbench_kit.cli.options import assumed
from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.model.errors import InputError, LaunchError, RequestError, needs_extra

if TYPE_CHECKING:
    from fsbench_kit.launch import Campaign


def launch_command(
    plan: Annotated[
        str | None, typer.Argument(help="The plan, a TOML file; with --resume, the name or the folder of a study.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="A name for the study; by default the plan's id and the time.")
    ] = None,
    *,
    campaign: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Make the next block of a campaign, whose launches take turns; it needs a plan to begin with.",
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
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier launch of that name.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a study; by default the latest unfinished one.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume, repeat the runs that failed.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run, how often and in which order, and run nothing.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Try each workload briefly on each target, with images in place of devices, and keep nothing.",
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
            help="Launch on each host that a file names, and bring their runs here; with --study, continue.",
        ),
    ] = None,
    patience: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="With --ssh, how long a host may be silent.")
    ] = 600,
    to: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Where the results go, in a folder named after the study; --resume looks there."
        ),
    ] = LAUNCHED,
) -> None:
    """Run a plan, and keep the logs and a record of each run.

    fsbench launch quick --dry-run
    fsbench launch plans/quick.toml --to results/
    fsbench launch --resume --to results/
    fsbench launch upgrade.toml --campaign upgrade --as kernel=6.8
    fsbench launch --campaign upgrade --dry-run
    fsbench launch --campaign upgrade --resume
    fsbench launch plan.toml --ssh hosts.txt --study fleet
    """
    with needs_extra("launch", "fsbench launch"):
        from fsbench_kit.launch import Campaign, launch, read_plan, shown
        from fsbench_kit.launch import resume as resume_launch
        from fsbench_kit.launch.progress import from_here
        from fsbench_kit.launch.study import CAMPAIGN
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
            "an interrupted block keeps its plan and its levels",
            hint="Leave them out: fsbench launch --campaign NAME --resume",
        )
    if ssh is not None:
        others = (campaign, resume, retry_failed, replace, dry_run, commands, check, devices)
        if plan is None or any(others):
            raise RequestError(
                "--ssh takes a plan, --study, --patience and --to, and nothing else",
                hint="fsbench launch PLAN --ssh hosts.txt --study NAME; the same command continues it.",
            )
        _on_hosts(plan, ssh, study, to, patience)
        return
    begun = None
    if campaign is not None:
        begun = Campaign(to / campaign, None if plan is None else read_plan(found_plan(plan)))
    if dry_run:
        if plan is None and begun is None and not resume:
            raise RequestError("--dry-run needs a plan", hint="fsbench launch --dry-run plans/quick.toml")
        _dry_run(plan, to, devices, begun, resume=resume, commands=commands)
        return
    if commands:
        raise RequestError("--commands needs --dry-run", hint="fsbench launch --dry-run --commands PLAN")
    if check:
        if plan is None or resume:
            raise RequestError("--check needs a plan", hint="fsbench launch --check plans/quick.toml")
        _check(found_plan(plan), to)
        return
    if resume and (study or replace):
        raise RequestError(
            "--resume cannot be combined with --study or --replace", hint="fsbench launch --resume STUDY"
        )
    if retry_failed and not resume:
        raise RequestError("--retry-failed needs --resume", hint="fsbench launch --resume --retry-failed STUDY")
    name, folder = _resumed(plan, to, begun) if resume else (plan, to if begun is None else begun.folder)
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
            elif name is None:
                raise RequestError("a plan is missing", hint="fsbench launch plans/quick.toml")
            else:
                plan_to_run = read_plan(found_plan(name))
                result = launch(plan_to_run, **where, study=study, replace=replace, progress=progress)
    except KeyboardInterrupt:
        again = Folders(Path.cwd(), folder).command_to_resume()
        err.print(f"Interrupted. The finished runs are kept. To resume: {again}")
        raise typer.Exit(130) from None
    from fsbench_kit.analysis.steady_state import sentence, steady_state

    out.print(f"{result.done + len(result.runs)} of {result.planned} runs are in {result.folder}")
    with suppress(InputError):  # no run has a figure
        steady = sentence(steady_state(fsb.read(result.folder)))
        if steady is not None:
            out.print(steady)
    if (result.folder.parent / CAMPAIGN).is_file():
        typer.echo(str(Campaign(from_here(result.folder.parent))))
    if result.stopped or result.failures:
        raise LaunchError(result.stopped or f"{len(result.failures)} runs failed or are partial, see above")


def _on_hosts(name: str, hosts: Path, study: str | None, to: Path, patience: float) -> None:
    from fsbench_kit.data.ssh import connected, read_hosts
    from fsbench_kit.launch import read_plan, shown
    from fsbench_kit.launch.hosts import Worker, launch_on

    plan, named = read_plan(found_plan(name)), read_hosts(hosts)
    try:
        with connected(named) as executors, shown(out) as progress:
            workers = {host.name: Worker(executors[host.name], host.folder) for host in named}
            result = launch_on(
                plan, workers, root=Path.cwd(), to=to, study=study, patience=patience, progress=progress
            )
    except KeyboardInterrupt:
        err.print("Interrupted. The finished runs are kept. To continue, give the same command with --study NAME.")
        raise typer.Exit(130) from None
    out.print(f"{result.done + len(result.runs)} of {result.planned} runs are in {result.folder}")
    if result.stopped or result.failures:
        raise LaunchError(result.stopped or f"{len(result.failures)} runs failed or are partial, see above")


def _resumed(study: str | None, to: Path, campaign: Campaign | None) -> tuple[str | None, Path]:
    """Return the name of a study to resume, and where it is: a study's folder says both."""
    from fsbench_kit.launch.study import PLAN

    if campaign is not None:
        return None, campaign.folder
    if study is None or not Path(study, PLAN).is_file():
        return study, to
    folder = Path(study).resolve()
    return folder.name, folder.parent


def _check(plan: Path, to: Path) -> None:
    from fsbench_kit.launch import read_plan, shown, try_plan

    with shown(out) as progress:
        trial = try_plan(read_plan(plan), Path.cwd(), progress, to=to)
    for sentence in (*trial.notes, *trial.estimates):
        typer.echo(sentence)
    if trial.failures:
        raise LaunchError("\n".join(trial.failures), hint="Mend this in the plan; nothing was kept.")
    typer.echo(f"All {trial.tried} combinations of a target and a workload work.")


def _dry_run(
    plan: str | None, to: Path, devices: list[str], campaign: Campaign | None, *, resume: bool, commands: bool
) -> None:
    from fsbench_kit.launch import dry_run, find_study, read_plan

    if resume:
        name, folder = _resumed(plan, to, campaign)
        study = find_study(folder, name)
        preview = dry_run(study.plan, Path.cwd(), devices, to=study.folder.parent, made=study.made)
    elif campaign is not None:
        typer.echo(str(campaign))
        preview = dry_run(campaign.next.plan, Path.cwd(), devices, to=campaign.folder)
    else:
        preview = dry_run(read_plan(found_plan(str(plan))), Path.cwd(), devices, to=to)
    typer.echo(str(preview))
    for step in preview.steps if commands else ():
        typer.echo(f"\n# {step.title}")
        for command in step.commands:
            typer.echo(shlex.join(command))
