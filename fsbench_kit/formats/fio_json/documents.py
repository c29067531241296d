"""Finds fio's documents in a text, and which of them are reports of one run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.fio_json.contents import (
    DIRECTIONS,
    count_of,
    jobs_of,
    object_,
    objects,
    text_of,
    version_of,
)
from fsbench_kit.formats.loose_json import Decoded, Number, Object, decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fsbench_kit.formats.text import Text

MARKS: Final = re.compile(r'"fio version"\s*:|"client_stats"\s*:\s*\[|"jobname"\s*:')


def documents(text: Text) -> Iterator[Decoded]:
    """Yield each of fio's documents in a text, also where it stands inside of somebody else's."""
    position = 0
    mark = MARKS.search(text.chars)
    while mark is not None:
        start = text.chars.find("{", position)
        if start < 0:
            return
        found = decode(text.chars, start)
        if _is_job(found.content):
            found = _bare_jobs(text.chars, found)
        if _is_report(found.content):
            yield found
            position = found.end
        else:
            position = found.end if found.end <= mark.start() else start + 1
        if mark.start() < position:
            mark = MARKS.search(text.chars, position)


def _is_job(content: Object) -> bool:
    return "jobname" in content and any(isinstance(content.get(name), dict) for name in DIRECTIONS)


_BETWEEN_JOBS: Final = re.compile(r"\s*,\s*(?=\{)")


def _bare_jobs(chars: str, first: Decoded) -> Decoded:
    """Collect jobs that follow each other without the document around them."""
    jobs = [first]
    while jobs[-1].is_whole and (comma := _BETWEEN_JOBS.match(chars, jobs[-1].end)):
        job = decode(chars, comma.end())
        if not _is_job(job.content):
            break
        jobs.append(job)
    return Decoded(
        first.start,
        jobs[-1].end,
        {"jobs": [job.content for job in jobs]},
        numbers=[number for job in jobs for number in job.numbers],
        is_whole=jobs[-1].is_whole,
        repeated=[number for job in jobs for number in job.repeated],
        strange=[span for job in jobs for span in job.strange],
    )


def _is_report(document: Object) -> bool:
    jobs = document.get("jobs", document.get("client_stats"))
    return isinstance(jobs, list) and ("fio version" in document or any("jobname" in job for job in objects(jobs)))


# Reports of a run that is still going on (``--status-interval``)


def runs(found: Iterable[Decoded]) -> Iterator[list[Decoded]]:
    """Yield the documents of each run: its result, and before it what it reported while it was going on."""
    run: list[Decoded] = []
    for document in found:
        if run and not _continues(run, document):
            yield run
            run = []
        run.append(document)
    if run:
        yield run


_LATENESS: Final = 500
"""In ms: how far the times of a report can be from each other, which are rounded or taken a little later."""


def _continues(run: list[Decoded], later: Decoded) -> bool:
    """Whether a document is the next report of a run.

    Its counts are those of the one before or larger, and the longest of its runtimes grew by the time that passed
    between the two. Of separate runs each starts from nothing.
    """
    earlier = run[-1]
    pairs = list(zip(jobs_of(earlier.content), jobs_of(later.content), strict=False))
    same_jobs = len(jobs_of(earlier.content)) == len(jobs_of(later.content)) or not later.is_whole
    versions = {version for document in (earlier, later) if (version := version_of(document.content))}
    if not pairs or not same_jobs or len(versions) > 1:
        return False
    growth = [_growth(one, other) for one, other in pairs]
    known = [item for item in growth if item is not None]
    grown = max(known, default=0)
    if len(known) < len(growth) or grown <= 0:
        return False
    passed = _passed(earlier.content, later.content)
    if passed is None:
        return len(run) > 1 or grown > _LATENESS
    elapsed = [count_of(job.get("elapsed")) for job in pairs[0]]
    if None not in elapsed and elapsed[1] > elapsed[0]:  # type: ignore[operator]
        # A job can begin between two reports, so that no runtime grew for all of the time.
        since_start = 1000 * (elapsed[1] - elapsed[0])  # type: ignore[operator]
        return abs(passed - since_start) <= 1000 + _LATENESS and sum(known) >= passed / 4
    return abs(passed - grown) <= _LATENESS


def _passed(earlier: Object, later: Object) -> float | None:
    """Return how many ms passed between two documents, as far as they say."""
    for key, scale in (("timestamp_ms", 1), ("timestamp", 1000)):
        before, after = count_of(earlier.get(key)), count_of(later.get(key))
        if before is not None and after is not None:
            return (after - before) * scale
    return None


def _growth(one: Object, other: Object) -> float | None:
    """Return by how many ms a job's runtime grew, or ``None`` where the two are no reports of one job."""
    keys = ("jobname", "groupid", "hostname", "job options")
    if [_plain(one.get(key)) for key in keys] != [_plain(other.get(key)) for key in keys]:
        return None
    growth = [0]
    for name in DIRECTIONS:
        before, after = object_(one.get(name)), object_(other.get(name))
        for key in ("io_bytes", "io_kbytes", "total_ios", "runtime"):
            counts = count_of(before.get(key)), count_of(after.get(key))
            if None in counts:
                continue
            if counts[0] > counts[1]:  # type: ignore[operator]
                return None
            if key == "runtime":
                growth.append(counts[1] - counts[0])  # type: ignore[operator]
    return max(growth)


def _plain(value: object) -> object:
    """Return a value with its numbers as text, so that it can be compared."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return text_of(value) if isinstance(value, Number) else value
