"""``fsbench launch``."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import out
from fsbench_kit.cli.inputs import found_plan
from fsbench_kit.model.errors import InputError, LaunchError, RequestError, needs_extra


def launch_command(
    plan: Annotated[
        str | None, typer.Argument(help="The plan, a TOML file; with --resume, the name of a study.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="A name for the study; by default the plan's id and the time.")
    ] = None,
    *,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier launch of that name.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a study; by default the latest unfinished one.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume, repeat the runs that failed.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run, how often and in which order, and run nothing.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Try each workload for a moment on each target, in images, and keep nothing."
        ),
    ] = False,
    commands: Annotated[bool, typer.Option("--commands", help="With --dry-run, print every command too.")] = False,
    device: Annotated[
        list[str] | None,
        typer.Option(help="Confirm that this block device of the plan may be overwritten."),
    ] = None,
) -> None:
    """Run a plan; its results go to raw_results/runs/.

    fsbench launch quick --dry-run
    fsbench launch plans/quick.toml
    fsbench launch --resume
    """
    with needs_extra("launch", "fsbench launch"):
        from fsbench_kit.launch import launch, read_plan, shown
        from fsbench_kit.launch import resume as resume_launch

    devices = device or []
    if dry_run:
        if plan is None and not resume:
            raise RequestError("--dry-run needs a plan", hint="fsbench launch --dry-run plans/quick.toml")
        _dry_run(plan, devices, resume=resume, commands=commands)
        return
    if commands:
        raise RequestError("--commands needs --dry-run", hint="fsbench launch --dry-run --commands PLAN")
    if check:
        if plan is None or resume:
            raise RequestError("--check needs a plan", hint="fsbench launch --check plans/quick.toml")
        _check(found_plan(plan))
        return
    if resume and (study or replace):
        raise RequestError(
            "--resume cannot be combined with --study or --replace", hint="fsbench launch --resume STUDY"
        )
    if retry_failed and not resume:
        raise RequestError("--retry-failed needs --resume", hint="fsbench launch --resume --retry-failed STUDY")
    with shown(out) as progress:
        if resume:
            result = resume_launch(
                plan, root=Path.cwd(), retry_failed=retry_failed, devices=devices, progress=progress
            )
        elif plan is None:
            raise RequestError("a plan is missing", hint="fsbench launch plans/quick.toml")
        else:
            result = launch(
                read_plan(found_plan(plan)),
                root=Path.cwd(),
                study=study,
                replace=replace,
                devices=devices,
                progress=progress,
            )
    from fsbench_kit.analysis.steady_state import sentence, steady_state

    out.print(f"{result.done + len(result.runs)} of {result.planned} runs are in {result.folder}")
    with suppress(InputError):  # no run has a figure
        steady = sentence(steady_state(fsb.read(result.folder)))
        if steady is not None:
            out.print(steady)
    if result.stopped or result.failures:
        raise LaunchError(result.stopped or f"{len(result.failures)} runs failed or are partial, see above")


def _check(plan: Path) -> None:
    from fsbench_kit.launch import read_plan, shown, try_plan

    with shown(out) as progress:
        trial = try_plan(read_plan(plan), Path.cwd(), progress)
    for sentence in (*trial.notes, *trial.estimates):
        typer.echo(sentence)
    if trial.failures:
        raise LaunchError("\n".join(trial.failures), hint="Mend this in the plan; nothing was kept.")
    typer.echo(f"All {trial.tried} combinations of a target and a workload work.")


def _dry_run(plan: str | None, devices: list[str], *, resume: bool, commands: bool) -> None:
    from fsbench_kit.launch import dry_run, find_study, read_plan
    from fsbench_kit.launch.targets import RUNS

    if resume:
        study = find_study(Path.cwd() / RUNS, plan)
        preview = dry_run(study.plan, Path.cwd(), devices, made=study.made)
    else:
        preview = dry_run(read_plan(found_plan(str(plan))), Path.cwd(), devices)
    typer.echo(str(preview))
    for step in preview.steps if commands else ():
        typer.echo(f"\n# {step.title}")
        for command in step.commands:
            typer.echo(shlex.join(command))
