"""Job files of fio, as far as a launch has to understand them.

Lines with a name in brackets begin a job; ``[global]`` begins options of all jobs that follow. What stands behind
``;`` or ``#`` is a comment, as in fio's own ``strip_blank_end``. Sizes that are no plain number ("10%",
"2*$mb_memory") are not known before the run, and so nothing is said of the space that they take.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fsbench_kit.units import size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Job = dict[str, str]
"""A job's options, those of ``[global]`` included; ``""`` where one has no value."""

_GLOBAL: Final = "global"
_LINE: Final = re.compile(r"[^;#\n]*")
_READS: Final = ("read", "randread")
_UNBOUNDED: Final = ("file_append", "filesize", "fill_device", "fill_fs")
"""Options that make files larger than `size` says."""

_TIME: Final = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h|d)?", re.IGNORECASE)
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


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
    shared: Job = {}
    own = shared
    for line in lines(text):
        if line.section == _GLOBAL:
            own = shared
        elif line.section is not None:
            own = dict(shared)
            found.append(own)
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
    sizes = [_space(job) for job in jobs]
    known = [number for number in sizes if number is not None]
    return sum(known) if len(known) == len(sizes) else None


def least_written(job: Job) -> int:
    """Return the bytes that a job is sure to write."""
    if job.get("rw", job.get("readwrite", "read")) in _READS:
        return _space(job) or 0
    if "runtime" in job:
        return 0
    amount = _size(job.get("io_size", job.get("size", "")))
    return amount * _copies(job) if amount is not None else 0


def least_seconds(job: Job) -> float:
    """Return the seconds that a job is sure to last."""
    return (_seconds(job.get("runtime", "")) or 0.0) if _is_on(job, "time_based") else 0.0


def expected_seconds(jobs: Sequence[Job]) -> float | None:
    """Return how long jobs take together, if each of them has a limit in time, and reaches it."""
    total, together = 0.0, 0.0
    for job in jobs:
        limit = _seconds(job.get("runtime", ""))
        if limit is None:
            return None
        if _is_on(job, "stonewall") or _is_on(job, "wait_for_previous"):
            total, together = total + together, 0.0
        together = max(together, limit + (_seconds(job.get("ramp_time", "")) or 0.0))
    return total + together


def _space(job: Job) -> int | None:
    amount = _size(job.get("size", ""))
    if amount is None or any(_is_on(job, key) for key in _UNBOUNDED):
        return None
    return amount * _copies(job)


def _copies(job: Job) -> int:
    copies = job.get("numjobs", "1")
    return int(copies) if copies.isdecimal() else 1


def _is_on(job: Job, key: str) -> bool:
    return job.get(key, "0") != "0"


def _size(text: str) -> int | None:
    try:
        return size(text)
    except ValueError:
        return None


def _seconds(text: str) -> float | None:
    match = _TIME.fullmatch(text)
    return float(match[1]) * _SECONDS[(match[2] or "s").lower()] if match is not None else None
