"""Tools whose logs are read: all that the rest of the package needs to know about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from fsbench_kit.formats.command_line import CommandLine
from fsbench_kit.model.records import Run, Setting


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool whose logs are read by one or more formats.

    Attributes
    ----------
    name
        Its name in runs.
    title
        The name of its logs for readers, if that differs: ``sysbench fileio``.
    command
        The syntax of its command line, if it has one.
    concurrent
        Whether its operations are concurrent, so that one rate determines the other.
    buffered
        Operations that use the page cache even with direct I/O.
    logged
        The settings that its logs show in the same form as its commands.
    misfits
        A function that yields other reasons why a command cannot be that of a run.
    """

    name: str
    title: str = ""
    command: CommandLine | None = None
    concurrent: bool = False
    buffered: frozenset[str] = frozenset()
    logged: tuple[str, ...] = ()
    misfits: Callable[[Sequence[Setting], Run], Iterator[str]] = field(default=lambda _command, _run: iter(()))

    def __str__(self) -> str:
        return self.title or self.name
