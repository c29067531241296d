"""What a plan says of any target, and what the runner needs to know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from pydantic import Field, model_validator

from fsbench_kit.launch.schema import Name, Table, named

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from fsbench_kit.launch.targets.steps import Ready
    from fsbench_kit.launch.tools import Program

RUNS: Final = Path("raw_results", "runs")
"""Where studies that are launched here go, below the project's root."""

Directory = Annotated[
    str,
    Field(
        min_length=1, description="a directory, relative to the project's root or absolute", examples=["scratch"]
    ),
]
# No slash in these: a path could name a device, and mkfs or mount would write to it.
MkfsWords = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[^/]+$")], ...],
    Field(strict=False, description='a list of words without "/"', examples=[["-m", "reflink=0"]]),
]
MountWords = Annotated[
    str,
    Field(
        pattern=r"^[\w=.:-]+(,[\w=.:-]+)*$",
        description='mount options with commas between them, without "/"',
        examples=["noatime"],
    ),
]


class BaseTarget(Table, ABC):
    """One ``[[target]]`` of a plan.

    Attributes
    ----------
    name
        What its runs are called; without it, as its filesystem or else its kind.
    """

    isolated: ClassVar[bool] = True
    """Whether it needs mounts of its own, and so root."""

    name: Name

    @model_validator(mode="before")
    @classmethod
    def _named(cls, table: Any) -> Any:
        return named(table, "filesystem", "kind")

    @abstractmethod
    def place(self, root: Path) -> Path:
        """Return the directory in which its scratch folder is made."""

    @abstractmethod
    def problem(self, root: Path) -> str | None:
        """Say why it cannot be had on this machine, apart from isolation; ``None`` where it can."""

    @property
    @abstractmethod
    def expected_filesystem(self) -> str | None:
        """The type of filesystem that it will have; ``None`` where that is seen only when it is there."""

    @property
    @abstractmethod
    def capacity(self) -> int | None:
        """The bytes that it holds, its filesystem's own included; ``None`` where the plan does not decide it."""

    @property
    @abstractmethod
    def programs(self) -> tuple[Program, ...]:
        """The programs that make it ready; the first of them tells the version of the filesystem's tools."""

    @abstractmethod
    def ready(self, folder: Path) -> AbstractContextManager[Ready]:
        """Make it ready in a folder, and take it away again afterwards.

        Parameters
        ----------
        folder
            An empty folder in its place, of its own.

        Raises
        ------
        StepError
            On entering, if a command fails.
        """
