"""What a plan says of any workload, and what the runner needs to know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import model_validator

from fsbench_kit.launch.schema import Name, Table, Truth, named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class BaseWorkload(Table, ABC):
    """One ``[[workload]]`` of a plan.

    Attributes
    ----------
    name
        What its runs are called; without it, as its tool.
    optional
        Whether it is left out, with a note, where its program is missing. Otherwise its runs are recorded as
        failed there.
    """

    program: ClassVar[str | None] = None
    """The program that has to be installed; ``None`` where the kit brings it."""

    logs: ClassVar[tuple[str, ...]] = ("stdout.txt",)
    """The files in the run's folder that hold the tool's figures."""

    name: Name
    optional: Truth = False

    @model_validator(mode="before")
    @classmethod
    def _named(cls, table: Any) -> Any:
        return named(table, "tool")

    @abstractmethod
    def argv(self, directory: Path, *, filesystem: str | None, seed: int) -> Sequence[str]:
        """Return the command line that makes this load in a directory.

        It is run in the run's own folder, so that a log can be named by its name alone.
        """

    @property
    @abstractmethod
    def space(self) -> int:
        """The most bytes that its files hold at any time."""

    @property
    @abstractmethod
    def least_written(self) -> int:
        """The bytes that it writes at least."""

    @property
    @abstractmethod
    def least_seconds(self) -> float:
        """The seconds that it takes at least."""
