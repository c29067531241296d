"""Settings of the kernel that a plan sets for its runs, and that are set back after each.

::

    [tuning]                        # of all runs; targets and workloads may have their own
    scheduler = ["none", "bfq"]     # a list is varied, as any key
    dirty_bytes = "64M"

Those of a device are set on what the launch has made or a person has named twice, and on no other. Those of the
machine hold for everything on it while a run goes on. `kernel` knows where each stands, and sets it back; however
a launch ends.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.schema import Count, PlanTable, Size, Whole, as_bytes

_Word = Annotated[str, Field(pattern=r"^[\w-]+$", description="a word", examples=["none"])]
_KiB: Final = 1024

OF_DEVICES: Final = ("scheduler", "read_ahead", "nr_requests")
"""The keys that belong to a target; all others belong to a workload."""


class Tuning(PlanTable):
    """What is set: for the runs of a plan, of a target, or of a workload.

    Attributes
    ----------
    scheduler
        I/O scheduler of the target's devices.
    read_ahead
        How far the kernel reads ahead on them.
    nr_requests
        How many requests each of their queues holds.
    governor
        Frequency governor of all processors.
    transparent_hugepage
        Which memory the kernel puts into huge pages.
    dirty_ratio
        The percentage of memory that may wait to be written before programs that write have to wait.
    dirty_bytes
        The same as a size, instead.
    dirty_background_ratio
        The percentage of memory that may wait to be written before the kernel begins to write it.
    dirty_background_bytes
        The same as a size, instead.
    dirty_expire_centisecs
        How old such data become before they are written, in hundredths of a second.
    dirty_writeback_centisecs
        How often the kernel looks for such data, in hundredths of a second.
    memory_limit
        The memory that a run may take, page cache included: what does not fit is read from the device again.
    cpu_list
        The processors that a run may use, as ``taskset`` takes them.
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
                what = f"the kernel goes by {one} or by {other}, and these are both"
                raise PlanError(what, Place(key="tuning"), hint="Take one of them out.")
        return self

    def __or__(self, other: Tuning) -> Tuning:
        """Return this with what the other says instead."""
        return Tuning.model_validate(self.values | other.values)

    @property
    def values(self) -> dict[str, str | int]:
        """Key -> value, of those that are set."""
        return self.model_dump(exclude_none=True)

    @property
    def of_device(self) -> dict[str, str | int]:
        """Those that are set on devices."""
        return {key: value for key, value in self.values.items() if key in OF_DEVICES}

    @property
    def of_kernel(self) -> dict[str, str | int]:
        """Those that hold for the whole machine while they are set."""
        return {
            key: value
            for key, value in self.values.items()
            if key not in (*OF_DEVICES, "memory_limit", "cpu_list")
        }


TUNING: Final = Field(description="a table of settings of the kernel")
"""What stands in a plan under ``tuning``."""
