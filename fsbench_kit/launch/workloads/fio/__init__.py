"""fio: the options of its manual (``fio(1)``) under their own names, or a job file.

::

    [[workload]]
    tool = "fio"
    rw = "randwrite"
    bs = "4k"
    size = "64M"
    options = { norandommap = true, rate_iops = 500 }   # options without a key of their own

    [[workload]]
    tool = "fio"
    name = "mail-server"
    job_file = "mail-server.fio"   # beside the plan

Options that the plan leaves out are not passed, so that fio's own defaults apply. The report is JSON+, which has
all figures unrounded and latencies as histograms.

A job file is read together with its plan and its text becomes part of it, as `job`, so that the record of a launch
needs no other file. Lines with ``directory=`` are commented out, because the target determines where files are.
Options that could reach beyond the target are refused: see `safety`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from fsbench_kit.launch.named_hosts import Hosts
from fsbench_kit.launch.plan_errors import MissingKeyError, Place, PlanError
from fsbench_kit.launch.schema import Count, Milliseconds, Truth, as_bytes, short_size
from fsbench_kit.launch.tools import Program
from fsbench_kit.launch.workloads.base import (
    Amount,
    BaseWorkload,
    RunContext,
    Scale,
    Work,
    required,
    truth,
    where_known,
)
from fsbench_kit.launch.workloads.fio import jobs
from fsbench_kit.launch.workloads.fio.approval import complaint, option, whole_part
from fsbench_kit.launch.workloads.fio.safety import FILE_ENGINES, refusal
from fsbench_kit.launch.workloads.together import together

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

_TRIMS: Final = ("trim", "randtrim", "trimwrite", "randtrimwrite")
"""Patterns for devices only: fio does not discard in files."""
Pattern = Literal[
    "read",
    "write",
    "randread",
    "randwrite",
    "rw",
    "readwrite",
    "randrw",
    "trim",
    "randtrim",
    "trimwrite",
    "randtrimwrite",
]


def _size_or(pattern: str) -> Callable[[Any], Any]:
    """Return a validator that converts sizes to bytes and leaves text that only fio understands unchanged."""

    def read(value: Any) -> Any:
        if isinstance(value, str) and re.fullmatch(pattern, value):
            return value
        number = as_bytes(value)
        if isinstance(number, int) and number <= 0:
            raise ValueError
        return number

    return read


_SIZE: Final = 'a size: a number of bytes, or text like "4k", "512M" or "2G"'
Share = Annotated[
    int | str,
    BeforeValidator(_size_or(r"([1-9]\d?|100)%")),
    Field(description=f'{_SIZE}, or a share of the space like "50%"', examples=["64M"]),
]
Sizes = Annotated[
    int | str,
    BeforeValidator(_size_or(r"\d+[kKmM]?-\d+[kKmM]?")),
    Field(description=f'{_SIZE}, or a range like "4k-64k"', examples=["4k"]),
]
Engine = Annotated[
    str,
    Field(
        pattern=f"^({'|'.join(FILE_ENGINES)})$",
        description="one of fio's engines that work on files: " + ", ".join(f'"{name}"' for name in FILE_ENGINES),
        examples=["libaio"],
    ),
]
Percentage = Annotated[int, Field(ge=0, le=100, description="a percentage from 0 to 100", examples=[70])]
FioOptions = Annotated[
    dict[str, str | int | float | bool],
    Field(
        description="a table of fio's options, each a string, a number, true or false",
        examples=[{"norandommap": True, "rate_iops": 500}],
    ),
]

_SHORT: Final = 16 * 2**20
_JOB: Final = "job.fio"
_LOG: Final = "fio"
_OWN: Final = ("rw", "bs", "size")
"""Keys that a workload without a job file needs."""
_NOT_OPTIONS: Final = {*BaseWorkload.model_fields, "tool", "job_file", "job", "log_interval", "options", "hosts"}
"""Keys that are not options of fio."""
_ALIASES: Final = ("blocksize", "readwrite", "timeout")
"""Other names of options that have a key."""


class Fio(BaseWorkload):
    """A ``[[workload]]`` with ``tool = "fio"``.

    Attributes
    ----------
    job_file
        A job file, relative to the plan. It replaces all keys that are options of fio.
    job
        The text of a job file, as an alternative to `job_file`.
    log_interval
        Interval in seconds of fio's log files, over which bandwidth, IOPS and latency are averaged; by default no
        logs are written.
    options
        Options that have no key here.
    hosts
        Hosts that generate this load at the same time, each in a directory of its own within that of the target,
        which they share under the same path. fio runs as a server there and as a client here, which adds up the
        results.
    """

    programs: ClassVar = (Program("fio", "fio", install=True),)
    logs: ClassVar = ("fio.json",)
    scale: ClassVar = Scale(
        amounts={"size": Amount(of="The file of each job", whole=("bs",))}, time="runtime", loops="time_based"
    )

    tool: Literal["fio"]
    job_file: (
        Annotated[str, Field(description="the path of a job file, relative to the plan", examples=["job.fio"])]
        | None
    ) = None
    job: Annotated[str, Field(description="the text of a job file", examples=["[job]\nrw=read"])] | None = None
    rw: Pattern | None = Field(None, examples=["randwrite"])
    bs: Sizes | None = None
    size: Share | None = None
    io_size: Share | None = None
    ioengine: Engine | None = None
    iodepth: Count | None = None
    numjobs: Count | None = None
    direct: Truth | None = None
    fsync: Count | None = None
    end_fsync: Truth | None = None
    rwmixread: Percentage | None = None
    runtime: Milliseconds | None = None
    time_based: Truth | None = None
    log_interval: Milliseconds | None = None
    options: FioOptions | None = None
    hosts: Hosts = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _with_text(cls, table: Any, info: ValidationInfo) -> Any:
        """Replace the path of a job file by its text."""
        if not isinstance(table, dict) or not isinstance(path := table.get("job_file"), str):
            return table
        try:
            text = Path(info.context or ".", path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            what = f"cannot read the job file {path}: {getattr(error, 'strerror', None) or error}"
            at = Place(key="job_file")
            raise PlanError(what, at, hint="Its path is relative to the plan's folder.") from None
        return {key: value for key, value in table.items() if key != "job_file"} | {
            "job": _without_variables(text)
        }

    @model_validator(mode="after")
    def _is_whole_and_safe(self) -> Fio:
        if self.hosts and self.log_interval is not None:
            what = '"log_interval" cannot be combined with "hosts": each of them would write the same files'
            raise PlanError(what, Place(key="log_interval"), hint="Take one of them out.")
        if self.job is None:
            for key in _OWN:
                if getattr(self, key) is None:
                    raise MissingKeyError(key)
            self._refuse_options()
        else:
            self._refuse_beside_job()
            self._refuse_in_job(self.job)
        return self

    def _refuse_options(self) -> None:
        for key, value in (self.options or {}).items():
            problem = refusal(key, str(value))
            if key in type(self).model_fields or key in _ALIASES:
                problem = "it has a key of its own here"
            elif key == "directory":
                problem = "the target says where the files are"
            if problem is not None:
                what = f'the option "{key}" is refused: {problem}'
                raise PlanError(what, Place(key="options"), hint="Take it out of the options.")

    def _refuse_beside_job(self) -> None:
        for key in sorted(self.model_fields_set - {*BaseWorkload.model_fields, "tool", "job", "hosts"}):
            if getattr(self, key) is not None:
                what = f'"{key}" cannot be combined with a job file'
                raise PlanError(what, Place(key=key), hint="Write it into the job file.")

    @staticmethod
    def _refuse_in_job(text: str) -> None:
        """Refuse a job file that could reach beyond the target.

        The error refers to the job file if the plan names one; otherwise its text is in the plan itself.
        """
        at = Place(key="job_file")
        if not jobs.read(text):
            is_name = "\n" not in text.strip() and "=" not in text
            hint = (
                f'To name a file, write: job_file = "{text.strip()}"'
                if is_name
                else "A job begins with its name: [name]"
            )
            raise PlanError("the job file has no job", at, hint=hint)
        for line in jobs.lines(text):
            problem = refusal(line.key, line.value) if line.section is None else jobs.name_problem(line.section)
            if problem is not None:
                what = f'line {line.number} of the job file, "{line.text}", is refused: {problem}'
                raise PlanError(what, at, hint="Change that line, or take it out.")

    def is_logged(self, key: str) -> bool:
        """Return whether runs report the key. The log shows a job file's options, but not its name."""
        return super().is_logged(key) and key != "job_file"

    def shortened(self) -> Fio:
        """Return it with a duration of one second and a small file; job files are unchanged."""
        if self.job is not None:
            return self
        size = min(self.size, _SHORT) if isinstance(self.size, int) else self.size
        return self.model_copy(update={"size": size, "runtime": 1.0, "time_based": None, "io_size": None})

    def raw_problem(self, *, is_raw: bool) -> str | None:
        """Check for jobs that discard, which needs a device, and for jobs that name files, which devices lack."""
        if is_raw:
            own = [key for job in self._jobs for key in ("filename", "nrfiles", "opendir") if key in job.options]
            return f"a device has no files, but a job sets {own[0]}" if own else None
        discards = any(job.options.get("rw", job.options.get("readwrite")) in _TRIMS for job in self._jobs)
        return 'fio does not discard in files; name a target of kind = "raw"' if discards else None

    def program_error(self) -> PlanError | None:
        """Check the options by asking fio."""
        return self._misread() or self._refused()

    def _misread(self) -> PlanError | None:
        """Return an error for the first number of which fio would silently drop a part."""
        hint = "Write a whole number, in a smaller unit if necessary: 2900ms for 2.9 seconds."
        if self.job is None:
            for key, value in (self.options or {}).items():
                if (read := whole_part(key, str(value))) is not None:
                    what = f"fio would read {key}={value} as {key}={read}"
                    return PlanError(what, Place(key="options"), hint=hint)
            return None
        for line in jobs.lines(self.job):
            if (read := whole_part(line.key, line.value)) is not None:
                what = f'fio would read line {line.number} of the job file, "{line.text}", as {line.key}={read}'
                return PlanError(what, Place(key="job_file"), hint=hint)
        return None

    def _refused(self) -> PlanError | None:
        """Return an error for what fio does not accept."""
        flags = [] if self.job is not None else _flags({"name": self.name, **self._options})
        complaints = complaint(flags, None if self.job is None else jobs.without_directory(self.job))
        if not complaints:
            return None
        key = option(complaints[0])
        hint = "\n".join(complaints[1:]) or "fio --cmdhelp lists its options, and fio --cmdhelp=NAME explains one."
        if self.job is None:
            place = key if key in type(self).model_fields else "options"
            return PlanError(f"fio does not accept this: {complaints[0]}", Place(key=place), hint=hint)
        line = next((line for line in jobs.lines(self.job) if line.key == key), None)
        where = f'line {line.number} of the job file, "{line.text}"' if line is not None else "the job file"
        return PlanError(f"fio does not accept {where}: {complaints[0]}", Place(key="job_file"), hint=hint)

    @classmethod
    def table_from(cls, settings: Mapping[str, str], operations: Collection[str]) -> dict[str, Any]:
        """Return the plan table for a run's settings."""
        del operations  # implied by the pattern
        pattern, size, block = required(settings, "pattern", "file_size", "block_size")
        grouped = {"options": {"group_reporting": True}} if settings.get("grouped") == "true" else {}
        return {
            "tool": "fio",
            "name": pattern,
            "rw": pattern,
            "bs": int(block),
            "size": int(size),
            **grouped,
            **where_known(
                settings,
                ("ioengine", "engine", str),
                ("iodepth", "iodepth", int),
                ("runtime", "time_limit", float),
                ("numjobs", "threads", int),
                ("direct", "direct", truth),
                ("fsync", "fsync", int),
                ("end_fsync", "final_fsync", truth),
                ("time_based", "time_based", truth),
                ("rwmixread", "read_share", lambda share: round(100 * float(share))),
            ),
        }

    def work(self, context: RunContext) -> Work:
        """Return the command line; anything that fio prints besides its report goes to standard output."""
        if self.hosts:
            job = {_JOB: self._job_of_hosts(context.seed)}
            return together(context, self.hosts, job, "fio", _JOB, str(context.beside))
        # fio does not accept a symbolic link as a directory, but resolves one that is followed by a slash.
        place = {"directory": f"{context.directory}/"} if context.device is None else {"filename": context.device}
        always = {
            "randseed": context.seed,
            "output-format": "json+",
            "output": self.logs[0],
        }
        if self.job is not None:
            # Options before a job file are defaults for all of its jobs.
            argv = ("fio", *_flags({**place, **always}), _JOB)
            return Work(measured=argv, files={_JOB: jobs.without_directory(self.job)})
        options = {"name": self.name, **place, **self._options, **always}
        return Work(measured=("fio", *_flags(options)))

    def _job_of_hosts(self, seed: int) -> str:
        """Return the job file that each host gets, except for its directory."""
        always = f"randseed={seed}\n"
        if self.job is not None:
            return always + jobs.without_directory(self.job)
        own = "".join(f"{key}={_value(value)}\n" for key, value in self._options.items() if value is not None)
        return f"{always}[{self.name}]\n{own}"

    @property
    def _options(self) -> dict[str, object]:
        own = self.model_dump(exclude=_NOT_OPTIONS)
        for key in ("bs", "size", "io_size"):
            own[key] = short_size(own[key]) if isinstance(own[key], int) else own[key]
        if isinstance(self.bs, str):
            own["bsrange"] = own.pop("bs")
        own["runtime"] = None if self.runtime is None else f"{round(self.runtime * 1000)}ms"
        if self.log_interval is not None:
            own |= {f"write_{kind}_log": _LOG for kind in ("bw", "iops", "lat")}
            own["log_avg_msec"] = round(self.log_interval * 1000)
        return own | (self.options or {})

    @property
    def _jobs(self) -> list[jobs.Job]:
        if self.job is not None:
            return jobs.read(self.job)
        options = {key: _value(value) for key, value in self._options.items() if value is not None}
        return [jobs.Job(self.name, options)]

    @property
    def is_direct(self) -> bool:
        """Whether O_DIRECT is set, as far as the plan shows."""
        return bool(self.direct)

    @property
    def space(self) -> int | None:
        """Files of `size` for each job, except those that jobs share."""
        space = jobs.space(self._jobs)
        return space * max(1, len(self.hosts)) if space is not None else None

    @property
    def least_written(self) -> int | None:
        """Reads need their files laid out first; a load with a time limit may write next to nothing."""
        written = jobs.least_written(self._jobs)
        return written * max(1, len(self.hosts)) if written is not None else None

    @property
    def least_seconds(self) -> float:
        """Only a time-based load is sure to last for its time."""
        return jobs.least_seconds(self._jobs)

    @property
    def stated_seconds(self) -> float:
        """Assumes that time limits are reached."""
        return jobs.stated_seconds(self._jobs)


def _without_variables(text: str) -> str:
    """Substitute the environment variables in a job file, so that their values are recorded with it."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            what = f"the job file uses ${{{found[1]}}}, but no such variable is set"
            raise PlanError(what, Place(key="job_file"), hint=f"Set it: {found[1]}=... fsbench launch ...")
        return os.environ[found[1]]

    return re.sub(r"\$\{(\w+)\}", value, text)


def _flags(options: dict[str, Any]) -> list[str]:
    return [f"--{key}={_value(value)}" for key, value in options.items() if value is not None]


def _value(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
