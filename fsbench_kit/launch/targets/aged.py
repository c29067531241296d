"""Targets whose filesystem can be aged before the runs."""

from __future__ import annotations

from abc import ABC
from typing import Annotated, ClassVar

from fsbench_kit.launch.ageing import AGED, Ageing
from fsbench_kit.launch.targets.base import BaseTarget
from fsbench_kit.launch.targets.steps import Command


class AgedTarget(BaseTarget, ABC):
    """What a plan says of any target with a filesystem of its own.

    Attributes
    ----------
    aged
        How it is filled and churned before a run; without it, a run finds it as mkfs made it.
    """

    count_command: ClassVar[Command] = ()
    """What makes the filesystem count its free space, where a sync does not."""

    aged: Annotated[Ageing, AGED] | None = None

    @property
    def ageing(self) -> Ageing | None:
        """How it is aged, if it is."""
        return self.aged if self.aged is not None and self.aged.fill else None

    @property
    def ageing_commands(self) -> tuple[Command, ...]:
        """The command that fills and churns it."""
        return (self.ageing.command(self.commands.directory, *self.count_command),) if self.ageing else ()
