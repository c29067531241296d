"""Shows the progress of notebooks: running ones and their times on a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from fsbench_kit.tables.messages import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from fsbench_kit.notebooks.jobs import Manifest


@dataclass(frozen=True, slots=True)
class Planned:
    """The number of notebooks to run is known."""

    jobs: int


@dataclass(frozen=True, slots=True)
class Started:
    """A notebook started."""

    name: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A notebook is done; `unchanged` if its last result is still valid and it was not run again."""

    manifest: Manifest
    unchanged: bool


Event = Planned | Started | Ended


@contextmanager
def shown(console: Console) -> Iterator[Callable[[Event], None]]:
    """Yield a function to pass to `run_all` as `progress`.

    Examples
    --------
    >>> from rich.console import Console
    >>> with shown(Console(width=80)) as progress:
    ...     progress(Started("audit"))
    """
    if not console.is_interactive:  # no terminal, or one that cannot draw
        yield lambda event: _print(console, event)
        return
    columns = (TimeElapsedColumn(), BarColumn(20), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True) as bars:
        total = bars.add_task("notebooks", total=None)
        under_way = {}
        done = 0

        def show(event: Event) -> None:
            nonlocal done
            match event:
                case Planned():
                    bars.update(total, total=event.jobs)
                case Started():
                    under_way[event.name] = bars.add_task(event.name, total=None)
                case Ended():
                    done += 1
                    if event.manifest.name in under_way:
                        bars.remove_task(under_way.pop(event.manifest.name))
                    _print(bars.console, event)
            of = next(int(task.total or 0) for task in bars.tasks if task.id == total)
            bars.update(total, completed=done, description=f"{done} of {of} notebooks")

        yield show


def _print(console: Console, event: Event) -> None:
    if text := describe(event):
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def describe(event: Event) -> str | None:
    """Describe an event in one line; return ``None`` if it is not worth a line in a log."""
    match event:
        case Planned():
            return counted(event.jobs, "notebook")
        case Ended(manifest=manifest, unchanged=True):
            return f"{manifest.name}: {manifest.status}, unchanged"
        case Ended(manifest=manifest) if manifest.status == "skipped":
            return f"{manifest.name}: skipped"
        case Ended(manifest=manifest):
            return f"{manifest.name}: {manifest.status}, {manifest.duration:.0f} s"
    return None
