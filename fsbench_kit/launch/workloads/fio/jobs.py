"""Job files of fio, as far as a launch has to understand them.

Lines with a name in brackets begin a job; ``[global]`` begins options of all jobs that follow. What stands behind
``;`` or ``#`` is a comment, as in fio's own ``strip_blank_end``. Sizes that are no plain number ("10%",
"2*$mb_memory") are not known before the run, and so nothing is said of the space that they take.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

from fsbench_kit.model.units import size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_GLOBAL: Final = "global"
_LINE: Final = re.compile(r"[^;#\n]*")
_WRITES: Final = ("write", "randwrite")
_READS: Final = ("read", "randread", "rw", "readwrite", "randrw")
"""Patterns for which files are laid out first, those among them that write too."""

_UNKNOWN_SIZE: Final = ("create_on_open", "file_append", "filesize", "fill_device", "fill_fs", "kb_base")
"""Options with which files may be of another size than `size` says."""
_MAY_END_EARLY: Final = (
    *("runtime", "timeout", "time_based", "number_ios", "steadystate", "ss", "create_only", "verify_only"),
    *("bsrange", "bssplit", "blocksize_range"),
    *("zonemode", "zonesize", "zonerange", "filename_format"),
)
"""Options with which a job, or one of its copies, may have written less than `size` says when it ends."""
_NO_DATA: Final = re.compile("f(alloc|truncate|ile.+)|dir.+")
"""Engines that make, look at or delete files, and write nothing into them: their files are not counted."""

_NAMES: Final = "$jobname.$jobnum.$filenum"
_MOST_COPIES: Final = 4096  # fio's own limit, REAL_MAX_JOBS

_TIME: Final = re.compile(r"(\d+)(us|ms|s|m|h|d)?", re.IGNORECASE)
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its name, and its options, those of ``[global]`` included; ``""`` where one has no value."""

    name: str
    options: dict[str, str] = field(default_factory=dict)

    def is_on(self, key: str) -> bool:
        """Whether an option is there, and is not 0."""
        return self.options.get(key, "0") != "0"

    def size(self, key: str, default: str = "") -> int | None:
        """Return an option in bytes; ``None`` where that is not known, as with "10%"."""
        text = self.options.get(key, default)
        try:
            return None if "." in text else size(text)  # of 1.5g, fio reads no more than the 1
        except ValueError:
            return None

    def seconds(self, *keys: str) -> float:
        """Return the first of some options that is a time, in seconds; 0 where there is none."""
        matches = (_TIME.fullmatch(self.options.get(key, "")) for key in keys)
        return next((float(match[1]) * _SECONDS[(match[2] or "s").lower()] for match in matches if match), 0.0)

    @property
    def copies(self) -> int:
        """How many processes do it."""
        return self._number("numjobs")

    @property
    def names(self) -> list[str]:
        """The names that its files are given; none where they follow from the job's own."""
        given = self.options.get("filename", "")
        return re.split(r"(?<!\\):", given) if given else []

    @property
    def files(self) -> int:
        """The number of files of each copy."""
        return len(self.names) or self._number("nrfiles")

    def _number(self, key: str) -> int:
        said = self.options.get(key, "1")
        return max(1, int(said)) if said.isdecimal() else 1


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a job file that says something: the name of a section, or an option."""

    number: int
    text: str
    section: str | None = None
    key: str = ""
    value: str = ""


def lines(text: str) -> Iterator[Line]:
    r"""Yield the lines that say something.

    >>> [(line.section, line.key, line.value) for line in lines("[a]  # first\nbs = 4k ; small\n\nthread")]
    [('a', '', ''), (None, 'bs', '4k'), (None, 'thread', '')]
    """
    for number, whole in enumerate(text.splitlines(), 1):
        match = _LINE.match(whole)
        said = match[0].strip() if match is not None else ""
        if said.startswith("["):
            yield Line(number, said, section=said[1:].partition("]")[0])
        elif re.match(r"include\s", said):
            yield Line(number, said, key="include", value=said[7:].strip())
        elif said:
            key, _, value = said.partition("=")
            yield Line(number, said, key=key.strip(), value=value.strip())


def read(text: str) -> list[Job]:
    """Return the jobs of a job file."""
    found: list[Job] = []
    shared: dict[str, str] = {}
    own = shared
    for line in lines(text):
        if line.section == _GLOBAL:
            own = shared
        elif line.section is not None:
            own = dict(shared)
            found.append(Job(line.section, own))
        else:
            own[line.key] = line.value
    return found


def name_problem(section: str) -> str | None:
    """Say why a job cannot have this name, which becomes part of its files' names."""
    return "a path could lead away from the target" if "/" in section else None


def without_directory(text: str) -> str:
    """Comment out where a job file wants its files: it is the target that says it."""
    elsewhere = {line.number for line in lines(text) if line.key == "directory"}
    return "".join(
        f"; {line}" if number in elsewhere else line
        for number, line in enumerate(text.splitlines(keepends=True), 1)
    )


def space(jobs: Sequence[Job]) -> int | None:
    """Return the most bytes that the files of jobs hold together; ``None`` where that is not known."""
    if len(jobs) > 1 and any(job.is_on("unlink") for job in jobs):
        return None  # they need not be there at the same time
    found = [_files(job) for job in jobs]
    return None if None in found else _together(files for files in found if files is not None)


def least_written(jobs: Sequence[Job]) -> int | None:
    """Return the bytes that jobs are sure to write; ``None`` where nothing is sure."""
    writers = [job for job in jobs if job.options.get("rw", job.options.get("readwrite")) in _WRITES]
    readers = [job for job in jobs if job.options.get("rw", job.options.get("readwrite", "read")) in _READS]
    # Where one job ends all, it may be the first.
    written = 0 if any(job.is_on("exitall") for job in jobs) else sum(map(_written, writers))
    # What is read has to be laid out, unless another job has written it by then.
    others = [_files(job) for job in jobs if job not in readers]
    names = {file.name for files in others for file in files or ()}
    read = [_files(job) or () for job in readers if None not in others]
    return (written + _together([file for file in files if file.name not in names] for files in read)) or None


def least_seconds(jobs: Sequence[Job]) -> float:
    """Return the seconds that jobs are sure to last: those of loads that go on until their time is over."""
    if any(job.is_on(key) for job in jobs for key in ("exitall", "number_ios", "steadystate", "ss")):
        return 0.0
    return _one_after_another(jobs, lambda job: stated_seconds([job]) if job.is_on("time_based") else 0.0)


def stated_seconds(jobs: Sequence[Job]) -> float:
    """Return the seconds up to which jobs run together, by those that have a limit in time."""

    def limit(job: Job) -> float:
        runtime = job.seconds("runtime", "timeout")
        return runtime and runtime + job.seconds("ramp_time") + job.seconds("startdelay", "start_delay")

    return _one_after_another(jobs, limit)


def _one_after_another(jobs: Sequence[Job], seconds: Callable[[Job], float]) -> float:
    """Add up the longest times of those jobs that run at once."""
    total, together = 0.0, 0.0
    for job in jobs:
        if job.is_on("stonewall") or job.is_on("wait_for_previous"):
            total, together = total + together, 0.0
        together = max(together, seconds(job))
    return total + together


@dataclass(frozen=True, slots=True)
class _Files:
    """Files of one size, which have a name and their numbers from 0 on."""

    name: str
    number: int
    size: int


def _files(job: Job) -> list[_Files] | None:
    """Return the files of a job and its copies; ``None`` where they are not known."""
    total, offset, step = job.size("size"), job.size("offset", "0"), job.size("offset_increment", "0")
    unknown = any(job.is_on(key) for key in _UNKNOWN_SIZE) or _NO_DATA.fullmatch(job.options.get("ioengine", ""))
    if total is None or offset is None or step is None or unknown or job.copies > _MOST_COPIES:
        return None
    each = total // job.files + offset
    if job.names:
        return [_Files(name, 1, each + step * (job.copies - 1)) for name in job.names]
    pattern = job.options.get("filename_format", _NAMES).replace("$jobname", job.name)
    number = job.files if "$filenum" in pattern else 1
    return [
        _Files(pattern.replace("$jobnum", str(copy)), number, each + step * copy) for copy in range(job.copies)
    ]


def _together(files: Iterable[Sequence[_Files]]) -> int:
    """Return the bytes of the files of several jobs, of which those of equal names are one."""
    by_name = defaultdict(list)
    for some in chain.from_iterable(files):
        by_name[some.name].append(some)
    total = 0
    for equal in by_name.values():
        counted = 0
        for some in sorted(equal, key=lambda some: some.size, reverse=True):
            total += max(0, some.number - counted) * some.size
            counted = max(counted, some.number)
    return total


def _written(job: Job) -> int:
    """Return the bytes that a job is sure to write; it leaves out what is less than a block."""
    files, block = _files(job), job.size("bs", job.options.get("blocksize", "4k"))
    if not files or not block or any(job.is_on(key) for key in _MAY_END_EARLY):
        return 0
    if "io_size" in job.options:
        return (job.size("io_size") or 0) // block * block * job.copies
    each = (job.size("size") or 0) // job.files
    return each // block * block * job.files * job.copies
