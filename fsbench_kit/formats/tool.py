"""A tool whose logs are read: all that others need to know of it, and no format says by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from fsbench_kit.formats.command_line import CommandLine
from fsbench_kit.model.records import Run, Setting


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool, whose logs one format or several read.

    Attributes
    ----------
    name
        What runs call it.
    title
        What readers know its logs as, where that is not its name: ``sysbench fileio``.
    command
        How its command line is written, where it has one.
    concurrent
        Whether its operations are done at the same time, so that one rate determines the other.
    buffered
        Operations that go through the page cache although direct I/O is on.
    told
        The settings that a log tells in the same way as its command.
    misfits
        Yields what else of a command cannot be of a run.
    """

    name: str
    title: str = ""
    command: CommandLine | None = None
    concurrent: bool = False
    buffered: frozenset[str] = frozenset()
    told: tuple[str, ...] = ()
    misfits: Callable[[Sequence[Setting], Run], Iterator[str]] = field(default=lambda _command, _run: iter(()))

    def __str__(self) -> str:
        return self.title or self.name
