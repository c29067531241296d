"""Finds fio's documents in a text, and groups reports of one run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.fio_json.contents import DIRECTIONS, Report, object_
from fsbench_kit.formats.json_text import decode
from fsbench_kit.formats.loose_json import Document, Object, is_number
from fsbench_kit.formats.signatures import Signatures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fsbench_kit.formats.text import Text

MARKS: Final = Signatures(
    {
        '"fio version"': r'"fio version"\s*:',
        '"client_stats"': r'"client_stats"\s*:\s*\[',
        '"jobname"': r'"jobname"\s*:',
    }
)


def reports(text: Text) -> Iterator[Report]:
    """Yield each of fio's documents in a text, even if it is nested in an unrelated object."""
    position = 0
    marks = MARKS(text.chars)
    mark = next(marks, None)
    while mark is not None:
        start = text.chars.find("{", position)
        if start < 0:
            return
        found = decode(text.chars, start)
        if _is_job(found.content):
            found = _bare_jobs(text.chars, found)
        report = Report(found)
        if report.is_of_fio:
            yield report
            position = found.end
        else:
            position = found.end if found.end <= mark else start + 1
        while mark is not None and mark < position:
            mark = next(marks, None)


def _is_job(content: Object) -> bool:
    return "jobname" in content and any(isinstance(content.get(name), dict) for name in DIRECTIONS)


_BETWEEN_JOBS: Final = re.compile(r"\s*,\s*(?=\{)")


def _bare_jobs(chars: str, first: Document) -> Document:
    """Collect adjacent jobs that have no document around them."""
    jobs, numbers = [first], len(first.starts)
    while jobs[-1].is_whole and (comma := _BETWEEN_JOBS.match(chars, jobs[-1].end)):
        job = decode(chars, comma.end(), numbers)
        if not _is_job(job.content):
            break
        jobs.append(job)
        numbers += len(job.starts)
    return Document(
        first.start,
        jobs[-1].end,
        {"jobs": [job.content for job in jobs]},
        chars,
        starts=[start for job in jobs for start in job.starts],
        ends=[end for job in jobs for end in job.ends],
        is_read=bytearray().join(job.is_read for job in jobs),
        is_whole=jobs[-1].is_whole,
        repeated=[number for job in jobs for number in job.repeated],
        strange=[span for job in jobs for span in job.strange],
        bins=[bins for job in jobs for bins in job.bins],
    )


# Reports during a run (``--status-interval``)


def runs_of(found: Iterable[Report]) -> Iterator[list[Report]]:
    """Yield the documents of each run; the last one is its result."""
    run: list[Report] = []
    for report in found:
        if run and not _continues(run, report):
            yield run
            run = []
        run.append(report)
    if run:
        yield run


_LATENESS: Final = 500
"""In ms: the tolerance between the times of a report, which are rounded or taken at slightly different times."""


def _continues(run: list[Report], later: Report) -> bool:
    """Whether a document is the next report of a run.

    Its counts must not be smaller than those of the previous report, and its longest runtime must have grown by
    the time between the two. Separate runs each start from zero.
    """
    earlier = run[-1]
    pairs = list(zip(earlier.jobs, later.jobs, strict=False))
    same_jobs = len(earlier.jobs) == len(later.jobs) or not later.document.is_whole
    versions = {report.version for report in (earlier, later) if report.version}
    if not pairs or not same_jobs or len(versions) > 1:
        return False
    growth = [_growth(earlier, one, later, other) for one, other in pairs]
    known = [item for item in growth if item is not None]
    grown = max(known, default=0)
    if len(known) < len(growth) or grown <= 0:
        return False
    passed = _passed(earlier, later)
    if passed is None:
        return len(run) > 1 or grown > _LATENESS
    elapsed = earlier.count(pairs[0][0].get("elapsed")), later.count(pairs[0][1].get("elapsed"))
    if None not in elapsed and elapsed[1] > elapsed[0]:  # type: ignore[operator]
        # A job can begin between two reports, in which case no runtime grew by the whole time.
        since_start = 1000 * (elapsed[1] - elapsed[0])  # type: ignore[operator]
        return abs(passed - since_start) <= 1000 + _LATENESS and sum(known) >= passed / 4
    return abs(passed - grown) <= _LATENESS


def _passed(earlier: Report, later: Report) -> float | None:
    """Return the time between two documents in ms, if they show it."""
    for key, scale in (("timestamp_ms", 1), ("timestamp", 1000)):
        before, after = earlier.count(earlier.content.get(key)), later.count(later.content.get(key))
        if before is not None and after is not None:
            return (after - before) * scale
    return None


def _growth(earlier: Report, one: Object, later: Report, other: Object) -> float | None:
    """Return the growth of a job's runtime in ms, or ``None`` if these are not reports of one job."""
    keys = ("jobname", "groupid", "hostname", "job options")
    if [_plain(earlier, one.get(key)) for key in keys] != [_plain(later, other.get(key)) for key in keys]:
        return None
    growth = [0]
    for name in DIRECTIONS:
        before, after = object_(one.get(name)), object_(other.get(name))
        for key in ("io_bytes", "io_kbytes", "total_ios", "runtime"):
            counts = earlier.count(before.get(key)), later.count(after.get(key))
            if None in counts:
                continue
            if counts[0] > counts[1]:  # type: ignore[operator]
                return None
            if key == "runtime":
                growth.append(counts[1] - counts[0])  # type: ignore[operator]
    return max(growth)


def _plain(report: Report, value: object) -> object:
    """Return a value with its numbers as text, for comparisons."""
    if isinstance(value, dict):
        return {key: _plain(report, item) for key, item in value.items()}
    return report.text(value) if is_number(value) else value
