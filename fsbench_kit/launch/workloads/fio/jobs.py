"""Parses fio job files, as far as launches need to understand them.

A name in brackets starts a job; ``[global]`` starts options for all jobs that follow. Text after ``;`` or ``#`` is
a comment, as in fio's own ``strip_blank_end``. Sizes that are not plain numbers ("10%", "2*$mb_memory") are
unknown before the run, so that nothing is said about the space that they need.
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
"""Patterns whose files are laid out first, including those that write too."""

_UNKNOWN_SIZE: Final = ("create_on_open", "file_append", "filesize", "fill_device", "fill_fs", "kb_base")
"""Options with which files may differ in size from `size`."""
_MAY_END_EARLY: Final = (
    *("runtime", "timeout", "time_based", "number_ios", "steadystate", "ss", "create_only", "verify_only"),
    *("bsrange", "bssplit", "blocksize_range"),
    *("zonemode", "zonesize", "zonerange", "filename_format"),
)
"""Options with which a job, or one of its copies, may end having written less than `size`."""
_NO_DATA: Final = re.compile("f(alloc|truncate|ile.+)|dir.+")
"""Engines that create, look up or delete files without writing data; their files are not counted."""

_NAMES: Final = "$jobname.$jobnum.$filenum"
_MOST_COPIES: Final = 4096  # fio's own limit, REAL_MAX_JOBS

_TIME: Final = re.compile(r"(\d+)(us|ms|s|m|h|d)?", re.IGNORECASE)
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its name and its options, including those of ``[global]``; options without a value are ``""``."""

    name: str
    options: dict[str, str] = field(default_factory=dict)

    def is_on(self, key: str) -> bool:
        """Return whether an option is set, and not to 0."""
        return self.options.get(key, "0") != "0"

    def size(self, key: str, default: str = "") -> int | None:
        """Return an option in bytes, or ``None`` if the size is not known, as with "10%"."""
        text = self.options.get(key, default)
        try:
            return None if "." in text else size(text)  # of 1.5g, fio only reads the 1
        except ValueError:
            return None

    def seconds(self, *keys: str) -> float:
        """Return the first of some options that is a time, in seconds; 0 if there is none."""
        matches = (_TIME.fullmatch(self.options.get(key, "")) for key in keys)
        return next((float(match[1]) * _SECONDS[(match[2] or "s").lower()] for match in matches if match), 0.0)

    @property
    def copies(self) -> int:
        """The number of processes that run it."""
        return self._number("numjobs")

    @property
    def names(self) -> list[str]:
        """The explicit names of its files; empty if they are derived from the job's name."""
        given = self.options.get("filename", "")
        return re.split(r"(?<!\\):", given) if given else []

    @property
    def files(self) -> int:
        """The number of files per copy."""
        return len(self.names) or self._number("nrfiles")

    def _number(self, key: str) -> int:
        text = self.options.get(key, "1")
        return max(1, int(text)) if text.isdecimal() else 1


@dataclass(frozen=True, slots=True)
class Line:
    """A significant line of a job file: the header of a section, or an option."""

    number: int
    text: str
    section: str | None = None
    key: str = ""
    value: str = ""


def lines(text: str) -> Iterator[Line]:
    r"""Yield the significant lines of a job file.

    >>> [(line.section, line.key, line.value) for line in lines("[a]  # first\nbs = 4k ; small\n\nthread")]
    [('a', '', ''), (None, 'bs', '4k'), (None, 'thread', '')]
    """
    for number, whole in enumerate(text.splitlines(), 1):
        match = _LINE.match(whole)
        line = match[0].strip() if match is not None else ""
        if line.startswith("["):
            yield Line(number, line, section=line[1:].partition("]")[0])
        elif re.match(r"include\s", line):
            yield Line(number, line, key="include", value=line[7:].strip())
        elif line:
            key, _, value = line.partition("=")
            yield Line(number, line, key=key.strip(), value=value.strip())


def read(text: str) -> list[Job]:
    """Return the jobs in a job file."""
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
    """Return why a job cannot have this name, which becomes part of its files' names, or ``None``."""
    return "a path could lead outside the target" if "/" in section else None


def without_directory(text: str) -> str:
    """Comment out the directories in a job file, because the target determines them."""
    elsewhere = {line.number for line in lines(text) if line.key == "directory"}
    return "".join(
        f"; {line}" if number in elsewhere else line
        for number, line in enumerate(text.splitlines(keepends=True), 1)
    )


def space(jobs: Sequence[Job]) -> int | None:
    """Return the largest total size of the jobs' files in bytes, or ``None`` if it is not known."""
    if len(jobs) > 1 and any(job.is_on("unlink") for job in jobs):
        return None  # the jobs' files need not exist at the same time
    found = [_files(job) for job in jobs]
    return None if None in found else _together(files for files in found if files is not None)


def least_written(jobs: Sequence[Job]) -> int | None:
    """Return a lower bound on the bytes that jobs write, or ``None`` if there is none."""
    writers = [job for job in jobs if job.options.get("rw", job.options.get("readwrite")) in _WRITES]
    readers = [job for job in jobs if job.options.get("rw", job.options.get("readwrite", "read")) in _READS]
    # If one job's end stops all, it may be the first to end.
    written = 0 if any(job.is_on("exitall") for job in jobs) else sum(map(_written, writers))
    # Files that are read must be laid out, unless another job has written them by then.
    others = [_files(job) for job in jobs if job not in readers]
    names = {file.name for files in others for file in files or ()}
    read = [_files(job) or () for job in readers if None not in others]
    return (written + _together([file for file in files if file.name not in names] for files in read)) or None


def least_seconds(jobs: Sequence[Job]) -> float:
    """Return a lower bound on the duration of jobs in seconds, from time-based ones."""
    if any(job.is_on(key) for job in jobs for key in ("exitall", "number_ios", "steadystate", "ss")):
        return 0.0
    return _one_after_another(jobs, lambda job: stated_seconds([job]) if job.is_on("time_based") else 0.0)


def stated_seconds(jobs: Sequence[Job]) -> float:
    """Return the longest duration that the time limits of jobs allow, in seconds."""

    def limit(job: Job) -> float:
        runtime = job.seconds("runtime", "timeout")
        return runtime and runtime + job.seconds("ramp_time") + job.seconds("startdelay", "start_delay")

    return _one_after_another(jobs, limit)


def _one_after_another(jobs: Sequence[Job], seconds: Callable[[Job], float]) -> float:
    """Add up the durations of jobs that wait for each other, taking the longest of those that run at once."""
    total, together = 0.0, 0.0
    for job in jobs:
        if job.is_on("stonewall") or job.is_on("wait_for_previous"):
            total, together = total + together, 0.0
        together = max(together, seconds(job))
    return total + together


@dataclass(frozen=True, slots=True)
class _Files:
    """Files of one size with a common name, numbered from 0."""

    name: str
    number: int
    size: int


def _files(job: Job) -> list[_Files] | None:
    """Return the files of a job and its copies, or ``None`` if they are not known."""
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
    """Return the total size of several jobs' files in bytes, counting files with equal names once."""
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
    """Return a lower bound on the bytes that a job writes; a partial block at the end is left out."""
    files, block = _files(job), job.size("bs", job.options.get("blocksize", "4k"))
    if not files or not block or any(job.is_on(key) for key in _MAY_END_EARLY):
        return 0
    if "io_size" in job.options:
        return (job.size("io_size") or 0) // block * block * job.copies
    each = (job.size("size") or 0) // job.files
    return each // block * block * job.files * job.copies
