"""fio, one job: the options of its manual (``fio(1)``) under their own names.

An option that the plan leaves out is not given, so that fio's own default holds. The report is JSON+, which has
all figures unrounded, and latencies as counts over bins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import Field

from fsbench_kit.launch.schema import Count, Seconds, Size, Truth, short_size
from fsbench_kit.launch.workloads.base import BaseWorkload

if TYPE_CHECKING:
    from pathlib import Path

Pattern = Literal["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"]

_READS: Final = ("read", "randread")


class Fio(BaseWorkload):
    """A ``[[workload]]`` with ``tool = "fio"``."""

    program: ClassVar[str | None] = "fio"
    logs: ClassVar[tuple[str, ...]] = ("fio.json",)

    tool: Literal["fio"]
    rw: Annotated[
        Pattern,
        Field(
            description='one of "read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"',
            examples=["randwrite"],
        ),
    ]
    bs: Size
    size: Size
    io_size: Size | None = None
    ioengine: Annotated[str, Field(description="the name of one of fio's engines", examples=["libaio"])] | None = (
        None
    )
    iodepth: Count | None = None
    numjobs: Count | None = None
    direct: Truth | None = None
    fsync: Count | None = None
    end_fsync: Truth | None = None
    rwmixread: (
        Annotated[int, Field(ge=0, le=100, description="a percentage from 0 to 100", examples=[70])] | None
    ) = None
    runtime: Seconds | None = None
    time_based: Truth | None = None

    def argv(self, directory: Path, *, filesystem: str | None, seed: int) -> tuple[str, ...]:
        """Return the command line; what fio says besides its report goes to standard output."""
        del filesystem  # fio has no use for it
        options = {
            "name": self.name,
            "directory": str(directory),
            "rw": self.rw,
            "bs": short_size(self.bs),
            "size": short_size(self.size),
            "io_size": short_size(self.io_size) if self.io_size is not None else None,
            "ioengine": self.ioengine,
            "iodepth": self.iodepth,
            "numjobs": self.numjobs,
            "direct": _flag(self.direct),
            "fsync": self.fsync,
            "end_fsync": _flag(self.end_fsync),
            "rwmixread": self.rwmixread,
            "runtime": f"{self.runtime:g}" if self.runtime is not None else None,
            "time_based": _flag(self.time_based),
            "randseed": seed,
            "output-format": "json+",
            "output": self.logs[0],
        }
        return ("fio", *(f"--{key}={value}" for key, value in options.items() if value is not None))

    @property
    def space(self) -> int:
        """One file of `size` for each job."""
        return self.size * (self.numjobs or 1)

    @property
    def least_written(self) -> int:
        """Reads need their files laid out first; a load with an end in time may write next to nothing."""
        if self.rw in _READS:
            return self.space
        return (self.io_size or self.size) * (self.numjobs or 1) if self.runtime is None else 0

    @property
    def least_seconds(self) -> float:
        """Only a time-based load is sure to last its time."""
        return self.runtime or 0.0 if self.time_based else 0.0


def _flag(value: bool | None) -> int | None:
    return None if value is None else int(value)
