"""``fsbench launch`` on other hosts."""

from __future__ import annotations

import shlex
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fsbench_kit.cli.console import err, out
from fsbench_kit.model.errors import InputError, LaunchError, needs_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch import LaunchResult, Plan
    from fsbench_kit.launch.hosts import Worker


def launch_there(
    plan: Plan, study: str | None, to: Path, patience: float, scheduler: str | None = None
) -> LaunchResult:
    """Make the runs of a plan on its hosts and copy them here."""
    from fsbench_kit.launch import shown
    from fsbench_kit.launch.hosts import launch_on
    from fsbench_kit.launch.launcher import study_name

    name = study_name(plan, study)
    try:
        with _workers(plan, scheduler) as workers, shown(out) as progress:
            return launch_on(
                plan, workers, root=Path.cwd(), to=to, study=name, patience=patience, progress=progress
            )
    except KeyboardInterrupt:
        words = ["fsbench", "launch", "--resume", str(to / name)]
        again = shlex.join([*words, *(["--scheduler", scheduler] if scheduler else [])])
        err.print(f"Interrupted. The finished runs are kept. To resume: {again}")
        raise typer.Exit(130) from None


def check_there(plan: Plan, scheduler: str | None = None) -> None:
    """Try a plan on its hosts without keeping anything."""
    from fsbench_kit.launch.hosts import ask_each
    from fsbench_kit.launch.remote import try_there

    failures = []
    with _workers(plan, scheduler) as workers:
        for host, answer in ask_each(plan, workers, try_there):
            for line in answer.lines:
                typer.echo(f"{host}: {line}")
            failures += [f"{host}: {problem}" for problem in answer.problems]
    if failures:
        raise LaunchError("\n".join(failures), hint="Fix this in the plan or on the host; nothing was kept.")


def preview_there(plan: Plan, scheduler: str | None = None, *, commands: bool) -> None:
    """Show what a plan would run on its hosts, each of which has a run order of its own."""
    from fsbench_kit.launch import remote
    from fsbench_kit.launch.hosts import ask_each

    failures = []
    with _workers(plan, scheduler) as workers:
        for host, answer in ask_each(plan, workers, remote.preview_there, commands=commands):
            typer.echo("\n".join([f"On {host}:", *answer.lines, ""]))
            failures += [f"{host}: {problem}" for problem in answer.problems]
    if failures:
        raise LaunchError("\n".join(failures))


@contextmanager
def _workers(plan: Plan, scheduler: str | None) -> Iterator[dict[str, Worker]]:
    """Yield the hosts of a plan, or those of a scheduler's workers."""
    from fsbench_kit.data.ssh import FOLDER, connected, host
    from fsbench_kit.launch.hosts import Worker

    if scheduler is not None:
        with needs_extra("cluster", "--scheduler"):
            from fsbench_kit.data.dask import HostOfWorkers, client_of, hosts_of
        with client_of(scheduler) as client, ExitStack() as stack:
            found = {name: stack.enter_context(HostOfWorkers(client, name)) for name in hosts_of(client)}
            if not found:
                raise InputError(
                    "the scheduler has no workers yet", file=scheduler, hint="Start some workers, then try again."
                )
            yield {name: Worker(executor, FOLDER) for name, executor in found.items()}
        return
    named = [host(text, name) for name, text in plan.hosts.items()]
    with connected(named) as executors:
        yield {one.name: Worker(executors[one.name], one.folder) for one in named}
