"""sysbench fileio: its options (``sysbench fileio help``) under their own names, with ``_`` for ``-``.

::

    [[workload]]
    tool = "sysbench"
    file_test_mode = "rndrw"
    file_total_size = "1G"
    file_num = 16
    time = 30

Options that the plan leaves out are not passed, so that sysbench's own defaults apply: 128 files, requests of 16
KiB, one thread, 10 seconds, an fsync after every 100 requests. One workload is one mode.

Each run prepares and removes its files, which is recorded but not measured. Caches are dropped before the measured
part, where permitted. ``seqwr`` creates its files itself, so that nothing is prepared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.schema import Count, Size, Truth
from fsbench_kit.launch.tools import Program
from fsbench_kit.launch.workloads.base import (
    Amount,
    RunContext,
    Scale,
    Work,
    required,
    truth,
    where_known,
)
from fsbench_kit.launch.workloads.options import OptionsWorkload
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Mode = Literal["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"]

_OWN: Final = frozenset({*OptionsWorkload.model_fields, "tool"})
_DEFAULT_SECONDS: Final = 10.0


class Sysbench(OptionsWorkload):
    """A ``[[workload]]`` with ``tool = "sysbench"``.

    Attributes
    ----------
    time
        Time limit in seconds; `events` may end the run earlier.
    events
        Limit on the number of requests; `time` may end the run earlier.
    """

    programs: ClassVar = (Program("sysbench", "sysbench", install=True),)
    scale: ClassVar = Scale(
        amounts={"file_total_size": Amount(of="All files together", whole=("file_num", "file_block_size"))},
        time="time",
    )

    helps: ClassVar = (("sysbench", "fileio", "help"), ("sysbench", "--help"))
    keyed: ClassVar = frozenset({"--rand-seed"})
    refused: ClassVar = {
        "--config-file": "it reads another file",
        "--help": "it makes no run",
        "--version": "it makes no run",
    }

    tool: Literal["sysbench"]
    file_test_mode: Mode
    file_total_size: Size
    file_num: Count | None = None
    file_block_size: Size | None = None
    file_io_mode: Literal["sync", "async", "mmap"] | None = None
    file_async_backlog: Count | None = None
    file_extra_flags: (
        Annotated[
            str,
            Field(
                pattern="^(sync|dsync|direct)(,(sync|dsync|direct))*$",
                description='a comma-separated list of "sync", "dsync" and "direct"',
                examples=["direct"],
            ),
        ]
        | None
    ) = None
    file_fsync_freq: (
        Annotated[int, Field(ge=0, description="a number of requests, or 0 for no fsync", examples=[100])] | None
    ) = None
    file_fsync_all: Truth | None = None
    file_fsync_end: Truth | None = None
    file_fsync_mode: Literal["fsync", "fdatasync"] | None = None
    file_merged_requests: Count | None = None
    file_rw_ratio: (
        Annotated[float, Field(gt=0, description="a number of reads for each write", examples=[1.5])] | None
    ) = None
    threads: Count | None = None
    time: Annotated[int, Field(ge=1, description="a whole number of seconds", examples=[30])] | None = None
    events: Count | None = None
    report_interval: Count | None = None
    percentile: (
        Annotated[int, Field(ge=1, le=100, description="a percentage from 1 to 100", examples=[99])] | None
    ) = None
    histogram: Truth | None = None

    @model_validator(mode="after")
    def _has_no_key_among_options(self) -> Sysbench:
        keys = {f"--{key.replace('_', '-')}" for key in type(self).model_fields if key not in _OWN}
        for word in self.words:
            if (flag := word.partition("=")[0]) in keys:
                what = f'the option "{flag}" is refused: it has a key of its own here'
                raise PlanError(what, Place(key="options"), hint="Take it out of the options.")
        return self

    @model_validator(mode="after")
    def _has_a_block_for_each_file(self) -> Sysbench:
        # sysbench sizes each file as total / number, and fails if that is less than a block.
        files, block = self.file_num or 128, self.file_block_size or 16384
        if self.file_total_size // files < block:
            total = humanise(self.file_total_size, "B")
            what = f"{files} files of at least {humanise(block, 'B')} do not fit in {total}"
            hint = "Raise it, or plan fewer files (file_num) or smaller requests (file_block_size)."
            raise PlanError(what, Place(key="file_total_size"), hint=hint)
        return self

    @classmethod
    def table_from(cls, settings: Mapping[str, str], operations: Collection[str]) -> dict[str, Any]:
        """Return the plan table for a run's settings."""
        del operations  # implied by the pattern
        pattern, total, files, block, seconds = required(
            settings, "pattern", "total_size", "files", "block_size", "time_limit"
        )
        flags = [key for key in ("direct", "sync") if settings.get(key) == "true"]
        table = {
            "tool": "sysbench",
            "name": pattern,
            "file_test_mode": pattern,
            "file_total_size": int(total),
            "file_num": int(files),
            "file_block_size": int(block),
            "time": float(seconds),
        }
        if flags:
            table["file_extra_flags"] = ",".join(flags)
        limit = (("events", "request_limit", int),) if settings.get("request_limit") != _NO_LIMIT else ()
        return table | where_known(
            settings,
            ("file_io_mode", "engine", str),
            ("file_fsync_freq", "fsync", int),
            ("file_fsync_end", "final_fsync", truth),
            ("threads", "threads", int),
            *limit,
        )

    def shortened(self) -> Sysbench:
        """Return it with a duration of one second."""
        return self.model_copy(update={"time": 1})

    def work(self, context: RunContext) -> Work:
        """Prepare, run and clean up in the directory for the files: sysbench writes to its working directory."""
        options = {key: getattr(self, key) for key in type(self).model_fields if key not in _OWN}
        flags = [
            f"--{key.replace('_', '-')}={_value(value)}" for key, value in options.items() if value is not None
        ]
        command = ("sysbench", "fileio", *flags, *self.words, f"--rand-seed={context.seed}")
        return Work(
            before=() if self.file_test_mode == "seqwr" else ((*command, "prepare"),),
            measured=(*command, "run"),
            after=((*command, "cleanup"),),
            on_target=True,
        )

    @property
    def is_direct(self) -> bool:
        """Whether O_DIRECT is among its flags."""
        return "direct" in (self.file_extra_flags or "")

    @property
    def space(self) -> int:
        """The total size of its files."""
        return self.file_total_size

    @property
    def least_written(self) -> int | None:
        """The bytes that are prepared."""
        return None if self.file_test_mode == "seqwr" else self.file_total_size

    @property
    def least_seconds(self) -> float:
        """Its time limit, unless it also limits requests."""
        return self.stated_seconds if self.events is None else 0.0

    @property
    def stated_seconds(self) -> float:
        """Its time limit, which also bounds a run with a request limit."""
        return self.time or _DEFAULT_SECONDS


_NO_LIMIT: Final = "0"
"""The number of requests that means no limit."""


def _value(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
