"""Reports the progress of reading in bulk: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

_BETWEEN_LINES: Final = 10.0
"""Seconds between two plain lines."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The progress of reading.

    Attributes
    ----------
    files, read, before
        The number of all files, of those read, and of those read before this call.
    elapsed
        Seconds since this call started.
    """

    files: int
    read: int
    before: int
    elapsed: float


@contextmanager
def shown(console: Console) -> Iterator[Callable[[Reading], None]]:
    """Yield a function to pass to `ingest` as `progress`."""
    if not console.is_interactive:  # no terminal, or one that cannot draw
        printed = -_BETWEEN_LINES

        def say(now: Reading) -> None:
            nonlocal printed
            if now.files and (now.elapsed - printed >= _BETWEEN_LINES or now.read == now.files):
                printed = now.elapsed
                console.print(describe(now), markup=False, highlight=False, soft_wrap=True)

        yield say
        return
    from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415  # processes that read draw no bar

    columns = (BarColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")
        yield lambda now: bar.update(task, total=now.files, completed=now.read, description=describe(now))


def describe(now: Reading) -> str:
    """Describe the progress in one line.

    >>> describe(Reading(files=100_000, read=25_000, before=5_000, elapsed=50.0))
    '25,000 of 100,000 files, 400 a second, about 0:03:08 left'
    """
    text = f"{now.read:,} of {now.files:,} files"
    if now.read == now.before:
        return f"{text}, which were read before" if now.before else text
    rate = (now.read - now.before) / now.elapsed
    left = timedelta(seconds=round((now.files - now.read) / rate))
    return f"{text}, {rate:,.0f} a second" + (
        f", about {left} left" if left else f", in {timedelta(seconds=round(now.elapsed))}"
    )
