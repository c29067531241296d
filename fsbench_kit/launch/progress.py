"""Shows the progress of a launch: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from fsbench_kit.launch.events import Event, Note, Planned, RunEnded, RunStarted
from fsbench_kit.model.units import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def shown(console: Console | None = None) -> Iterator[Callable[[Event], None]]:
    """Yield a callback to pass to `fsbench_kit.launch.launch` as `progress`.

    In notebooks it prints plain lines into a single output. These appear as they come in JupyterLab and in
    papermill's log, and stay readable in a published notebook, where a bar would be an empty box.

    Examples
    --------
    >>> from rich.console import Console
    >>> from fsbench_kit.launch.events import Note
    >>> with shown(Console(width=80)) as progress:
    ...     progress(Note("The target btrfs is left out."))
    The target btrfs is left out.
    """
    console = console or Console(emoji=False, force_jupyter=False, force_terminal=sys.stdout.isatty())
    if not console.is_interactive:  # not a terminal, or one that cannot draw
        yield lambda event: _print(console, event)
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=None)

        def show(event: Event) -> None:
            if isinstance(event, Planned):
                bar.update(task, total=event.runs, completed=event.done)
            elif isinstance(event, RunStarted):
                bar.update(task, total=event.runs, description=describe(event))
            elif text := describe(event):
                bar.console.print(text, markup=False, highlight=False)
            if isinstance(event, RunEnded):
                bar.advance(task)

        yield show


def _print(console: Console, event: Event) -> None:
    if text := describe(event):
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def describe(event: Event) -> str | None:
    """Return an event as a line of text, or ``None`` for one that people need not see."""
    match event:
        case Planned(runs=runs, done=done):
            planned = f"{runs} run{'' if runs == 1 else 's'} in {from_here(Path(event.folder))}"
            return f"{planned}; {done} of them exist already" if done else planned
        case Note():
            return event.text
        case RunStarted():
            stage = event.stage if event.round is None else f"round {event.round}"
            text = f"run {event.order}/{event.runs}, {stage}: {event.workload} on {event.target}"
            if event.remaining is None:
                return text
            elapsed, left = duration(round(event.elapsed)), duration(round(event.remaining))
            return f"{text} ({elapsed} elapsed, about {left} left)"
        case RunEnded():
            how = "is partial" if event.status == "partial" else "failed"
            failed = [f"run {event.order}/{event.runs} {how}: {event.failure}"] if event.failure else []
            return "\n".join([*failed, *filter(None, [event.warning])]) or None
    return None


def from_here(path: Path) -> Path:
    """Return a folder relative to the working directory, so that a published notebook does not show the latter."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
