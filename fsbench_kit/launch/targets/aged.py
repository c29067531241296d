"""Targets whose filesystem can be aged before the runs."""

from __future__ import annotations

from abc import ABC
from typing import Annotated, ClassVar

from fsbench_kit.launch.ageing import AGED, Ageing
from fsbench_kit.launch.targets.base import BaseTarget
from fsbench_kit.launch.targets.steps import Command


class AgedTarget(BaseTarget, ABC):
    """The plan keys of targets with a filesystem of their own.

    Attributes
    ----------
    aged
        How to fill and churn the filesystem before a run; by default a run finds it as mkfs made it.
    """

    count_command: ClassVar[Command] = ()
    """A command that makes the filesystem update its count of free space, if a sync does not."""

    aged: Annotated[Ageing, AGED] | None = None

    @property
    def ageing(self) -> Ageing | None:
        """How the filesystem is aged, if it is."""
        return self.aged if self.aged is not None and self.aged.fill else None

    @property
    def ageing_commands(self) -> tuple[Command, ...]:
        """The command that fills and churns the filesystem."""
        return (self.ageing.command(self.commands.directory, *self.count_command),) if self.ageing else ()
