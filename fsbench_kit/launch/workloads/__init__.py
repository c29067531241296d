"""Workloads: the plan keys of each tool, and the command lines that they stand for.

To add a tool, write a module like `bonnie`. Its class states everything about it and is found here.
"""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Final, Union

from pydantic import Field

from fsbench_kit.launch.workloads.base import Argv, BaseWorkload, RunContext, Work

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["WORKLOADS", "Argv", "BaseWorkload", "RunContext", "Work", "Workload"]


def _found() -> Iterator[tuple[str, type[BaseWorkload]]]:
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        for _, found in inspect.getmembers(import_module(module.name), inspect.isclass):
            if (
                issubclass(found, BaseWorkload)
                and found.__module__ == module.name
                and not inspect.isabstract(found)
            ):
                (tool,) = found.model_fields["tool"].annotation.__args__  # type: ignore[union-attr]  # a Literal
                yield tool, found


WORKLOADS: Final = dict(sorted(_found()))
"""Tool -> the class of its workloads."""

if TYPE_CHECKING:
    Workload = BaseWorkload
else:
    Workload = Annotated[Union[tuple(WORKLOADS.values())], Field(discriminator="tool")]  # noqa: UP007
    """Any workload of a plan."""
