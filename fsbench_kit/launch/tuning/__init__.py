"""Kernel settings that a plan applies to its runs and that are restored after each.

::

    [tuning]                        # for all runs; targets and workloads may have their own
    scheduler = ["none", "bfq"]     # a list is varied, like any key
    dirty_bytes = "64M"

Device settings are only applied to devices that the launch created or a person named twice. Machine settings
affect everything on the machine during a run. `kernel` knows where each setting is, and restores it however a
launch ends.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.schema import Count, PlanTable, Size, Whole, as_bytes

_Word = Annotated[str, Field(pattern=r"^[\w-]+$", description="a word", examples=["none"])]
_KiB: Final = 1024

OF_DEVICES: Final = ("scheduler", "read_ahead", "nr_requests")
"""Keys that belong to a target; all others belong to a workload."""


class Tuning(PlanTable):
    """Kernel settings for the runs of a plan, a target or a workload.

    Attributes
    ----------
    scheduler
        I/O scheduler of the target's devices.
    read_ahead
        How far the kernel reads ahead on these devices.
    nr_requests
        Size of the request queue of each of these devices.
    governor
        Frequency governor of all processors.
    transparent_hugepage
        Which memory the kernel backs with huge pages.
    dirty_ratio
        Percentage of memory that dirty data may take before writers have to wait.
    dirty_bytes
        The same limit as a size; excludes the percentage.
    dirty_background_ratio
        Percentage of memory that dirty data may take before the kernel starts writing it.
    dirty_background_bytes
        The same limit as a size; excludes the percentage.
    dirty_expire_centisecs
        Age at which dirty data is written, in hundredths of a second.
    dirty_writeback_centisecs
        Interval at which the kernel looks for dirty data to write, in hundredths of a second.
    memory_limit
        Limit on a run's memory, including page cache; data that does not fit is read from the device again.
    cpu_list
        The processors that a run may use, in the syntax of ``taskset``.
    """

    scheduler: _Word | None = None
    read_ahead: (
        Annotated[
            int,
            BeforeValidator(as_bytes),
            Field(ge=0, multiple_of=_KiB, description="0, or a size of whole KiB", examples=["128k"]),
        ]
        | None
    ) = None
    nr_requests: Count | None = None
    governor: Annotated[_Word, Field(examples=["performance"])] | None = None
    transparent_hugepage: Literal["always", "madvise", "never"] | None = None
    dirty_ratio: Whole | None = None
    dirty_bytes: Size | None = None
    dirty_background_ratio: Whole | None = None
    dirty_background_bytes: Size | None = None
    dirty_expire_centisecs: Whole | None = None
    dirty_writeback_centisecs: Whole | None = None
    memory_limit: Size | None = None
    cpu_list: (
        Annotated[
            str,
            Field(
                pattern=r"^\d+(-\d+)?(,\d+(-\d+)?)*$",
                description='numbers and ranges of processors, like "0-3,8"',
                examples=["0-1"],
            ),
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        for one, other in (
            ("dirty_ratio", "dirty_bytes"),
            ("dirty_background_ratio", "dirty_background_bytes"),
        ):
            if None not in (getattr(self, one), getattr(self, other)):
                what = f"{one} and {other} exclude each other"
                raise PlanError(what, Place(key="tuning"), hint="Take one of them out.")
        return self

    def __or__(self, other: Tuning) -> Tuning:
        """Return these settings, overridden by those of the other."""
        return Tuning.model_validate(self.values | other.values)

    @property
    def values(self) -> dict[str, str | int]:
        """Key -> value, for the settings that are given."""
        return self.model_dump(exclude_none=True)

    @property
    def of_device(self) -> dict[str, str | int]:
        """The settings of devices."""
        return {key: value for key, value in self.values.items() if key in OF_DEVICES}

    @property
    def of_kernel(self) -> dict[str, str | int]:
        """The settings that affect the whole machine."""
        return {
            key: value
            for key, value in self.values.items()
            if key not in (*OF_DEVICES, "memory_limit", "cpu_list")
        }


TUNING: Final = Field(description="a table of kernel settings")
"""The field ``tuning`` of a plan."""
