"""fio's report for programs in one line: ``--minimal``, ``--output-format=terse``, of fio 1.x to 3.x.

A job is a line of fields with semicolons between them, in the layout that its first field names::

    3;fio-3.33;load;0;0;132160;13209;3302;10005;0;0;0.000000;0.000000;105;30823;301.964763;...;93.61%

    layout; fio's version (from layout 3 on); job; group; error
    per direction: KiB; KiB/s; requests/s; ms;
        slat; clat; 20 percentiles "99.500000%=6520"; lat; bandwidth over intervals
        (in layout 5: number of its samples; requests/s over intervals)
    user CPU; system CPU; context switches; major and minor page faults
    7 depths; 10 buckets of latency in µs; 12 in ms
    per disk (from layout 3 on): name; 2 ios; 2 merges; 2 ticks; queue time; utilisation
    number of errors; the first one             where errors are passed over (continue_on_error)
    description                                 in layout 2 on a line of its own

Latencies are min;max;mean;deviation in µs, statistics of bandwidth min;max;share of the group;mean;deviation.

The directions are reads, writes, and in layouts 2, 4 and 5 trims. With ``unified_rw_reporting=mixed`` there is
one, of all requests, and with ``both`` that one follows the others. (Older versions leave the others in place
with ``mixed``, all zeros, so that mixed requests cannot be told from reads.) The oldest layout 2 has reads and
writes only, no percentiles, no requests/s, and its bandwidth is in bytes per ms.

fio escapes nothing: names and descriptions can hold anything. Therefore no field is known by its number alone.
Each has a kind (whole number, fraction, share, percentile), a line is read where the kinds of its fields are those
of its layout, and a job's name is what stands before them. A description that looks like fields is taken for
fields.

Rules of its printing, from fio's ``stat.c``: KiB, rates, and latencies without a fraction are cut; what has a
fraction is rounded. Percentiles are middles of bins (see `fsbench_kit.formats.fio`), cut to µs. They are of the
completion latency, or with ``lat_percentiles`` of the total one, which the line does not say. ``0%=0`` stands for
none, and zeros everywhere for a direction in which nothing was done, or for statistics over no samples.

Where a run ends
----------------
Lines that follow each other are jobs of one run, unless something shows that a new report begins: other text
between them, another layout or version, a smaller number of the group, other figures for the disks (they are the
run's, and the same on each of its lines), or a job's name that comes again after another's. Reports whose counts
all grow from one to the next are of one run (``--status-interval``): the last one is its result, the others are
its series. Lines without figures of disks do not show whether they are jobs of one run, and a note says so.

A line that a copy broke into several is put together again, without what the copy put before its pieces (``> ``,
``+``, ``# ``) and behind them in parentheses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.formats import totals
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.fio import (
    LATENCIES,
    TOOL,
    beside,
    depth_bounds,
    has_bin,
    holds_other_text,
    latency_bounds,
    part_names_with_idle,
    percentile_bounds,
    undescribed,
)
from fsbench_kit.records import Bin, Block, Diagnostic, Measurement, Run, Setting
from fsbench_kit.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fsbench_kit.formats.text import Text
    from fsbench_kit.formats.totals import Place
    from fsbench_kit.records import Record
    from fsbench_kit.units import Rounding

__all__ = ["TOOL", "marks", "parse"]

_MARK: Final = re.compile(
    r"(?<![\w.;%])(?:[3-5];\s*fio[-\s]\d[^;\n]{0,60};"
    r"|(?<!=)2;[^\n]{1,100}?;\s*\d+;\s*\d+(?:;\s*\d+){5,6};\s*\d+\.\d+;)"
)


def marks(chars: str) -> Iterator[int]:
    """Yield where in a text something stands that only a log of this format has."""
    return undescribed(_MARK, chars)


def parse(text: Text) -> Iterator[Record]:
    """Yield the runs of a text, and diagnostics for what is odd in it or was not understood."""
    end = 0
    for reports in _runs(text, _lines(text)):
        for line in (line for report in reports for line in report):
            yield from beside(text, end, line.start)
            end = line.end
        yield from _Reader(text, reports).records()
    yield from beside(text, end, len(text.chars))


# From the text to named strings


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a line: what it says, and where in the text it stands."""

    text: str
    position: int


_KINDS: Final = (
    ("I", re.compile(r"\d{1,20}")),
    ("N", re.compile(r"-\d{1,20}")),
    ("F", re.compile(r"\d{1,20}\.\d{1,9}|-?(?:nan|inf)")),
    ("P", re.compile(r"(?:\d{1,20}\.\d{1,9}|-?(?:nan|inf))%")),
    ("Q", re.compile(r"\d{1,3}(?:\.\d{1,9})?%=\d{1,20}")),
)
_OTHER: Final = "X"


def _kind(text: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.fullmatch(text)), _OTHER)


def _statistics(name: str, words: Iterable[str] = ("min", "max", "mean", "stdev")) -> tuple[str, ...]:
    return tuple(f"{name}_{word}" for word in words)


_INTERVAL_STATISTICS: Final = ("min", "max", "share", "mean", "stdev")


_RATES: Final = ("bytes", "bandwidth", "iops", "runtime")
_PERCENTILES: Final = tuple(f"percentile_{index}" for index in range(20))
_DIRECTION: Final = (
    *_RATES,
    *_statistics("slat"),
    *_statistics("clat"),
    *_PERCENTILES,
    *_statistics("lat"),
    *_statistics("bw", _INTERVAL_STATISTICS),
)
_NEW_DIRECTION: Final = (*_DIRECTION, "bw_samples", *_statistics("iops"), "iops_samples")
_OLD_DIRECTION: Final = tuple(name for name in _DIRECTION if name not in {"iops", *_PERCENTILES})


def _kinds(names: Iterable[str]) -> str:
    """Return the kinds that the fields of a direction have, one letter each."""
    by_word = {"mean": "F", "stdev": "F", "share": "P"}
    return "".join("Q" if name in _PERCENTILES else by_word.get(name.rpartition("_")[2], "I") for name in names)


_LAYOUTS: Final[dict[str, tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]]] = {
    "2": ((_DIRECTION, _OLD_DIRECTION), ("read", "write", "trim")),
    "3": ((_DIRECTION,), ("read", "write")),
    "4": ((_DIRECTION,), ("read", "write", "trim")),
    "5": ((_NEW_DIRECTION,), ("read", "write", "trim")),
}
"""Layout -> the fields that a direction can have in it, and its directions."""

_LINES: Final = {
    (layout, fields): re.compile(
        rf"I{'.' if layout != '2' else ''}(?P<name>.+?)(?P<group>I)(?P<error>[IN])"
        rf"(?P<directions>(?:{_kinds(fields)}){{1,4}})"
        r"(?:(?P<cpu>PPIII)(?:(?P<depths>P{7})(?:(?P<us>P{10})(?:(?P<ms>P{12})"
        r"(?P<disks>(?:.I{7}P)*)(?P<errors>II)?)?)?)?)?(?P<rest>.*)"
    )
    for layout, (choices, _) in _LAYOUTS.items()
    for fields in choices
}
"""The kinds of a line's fields, as far as the line goes. What is left is the description, if the line is whole."""

_CUT_DISK: Final = re.compile(r".I{1,7}")


@dataclass(frozen=True, slots=True)
class _Line:
    """A job's line: its fields by name, and the stretch of the text on which they stand.

    Attributes
    ----------
    directions
        The fields of each direction, by operation.
    is_whole
        Whether the line goes as far as fio prints it.
    is_mended
        Whether it was put together from pieces.
    """

    start: int
    end: int
    layout: str
    version: str | None
    name: str
    group: int
    error: int
    directions: dict[str, dict[str, _Field]]
    cpu: list[_Field]
    depths: list[_Field]
    us: list[_Field]
    ms: list[_Field]
    disks: list[list[_Field]]
    errors: list[_Field]
    description: str | None
    is_whole: bool
    is_mended: bool

    @property
    def job(self) -> tuple[int, str]:
        """What tells a job from others, as far as that is printed."""
        return self.group, self.name

    def disk_texts(self) -> list[str]:
        """Return what is said of the disks."""
        return [field.text for disk in self.disks for field in disk]

    def counts(self) -> list[int]:
        """Return what only grows while a run goes on."""
        work = [fields[name] for fields in self.directions.values() for name in ("bytes", "runtime")]
        return [int(field.text) for field in (*work, *self.cpu[2:])]

    def has_worked(self) -> bool:
        """Whether the job made a request."""
        names = ("bytes", "bandwidth", "iops", "clat_max", "lat_max")
        return any(
            _is_work(fields[name] for name in names if name in fields) for fields in self.directions.values()
        )

    def runtime(self) -> int:
        """Return for how long the job ran, in ms."""
        return max(int(fields["runtime"].text) for fields in self.directions.values())


_MOST_PIECES: Final = 100
_PREFIX: Final = re.compile(r"[>+|#*/\s]*(?:[A-Z]\s+)?")
_ANNOTATION: Final = re.compile(r"(?<=[;%\d])\s+(?:[(\[#<]|//).*")


def _lines(text: Text) -> Iterator[_Line]:
    """Yield the jobs' lines of a text, whole or as far as they go."""
    for start, limit in pairwise([*marks(text.chars), len(text.chars)]):
        line = _line(text, start, limit)
        if line is not None:
            yield line


def _line(text: Text, start: int, limit: int) -> _Line | None:
    """Read the line that begins at a position, put together from pieces if that makes more of it."""
    fields: list[_Field] = []
    best: _Line | None = None
    for count, (piece_start, piece_end) in enumerate(_pieces(text.chars, start, limit)):
        fields = _joined(fields, text.chars[piece_start:piece_end], piece_start)
        line = _match(fields, is_mended=count > 0)
        if line is None:
            continue
        if line.is_whole and line.description is None and fields[-1].text.strip():
            return _with_description(line, text, limit)
        if best is None or (line.is_whole, len(line.directions)) > (best.is_whole, len(best.directions)):
            best = line
    return best


def _pieces(chars: str, start: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the lines that a job's line may be broken into, without what a copy put before and behind them."""
    for _ in range(_MOST_PIECES):
        end = chars.find("\n", start, limit)
        end = limit if end < 0 else end
        annotation = _ANNOTATION.search(chars, start, end)
        piece_end = annotation.start() if annotation is not None else end
        if ";" not in chars[start:piece_end]:
            return
        yield start, piece_end
        prefix = _PREFIX.match(chars, end, limit)
        start = prefix.end() if prefix is not None else end


def _joined(fields: list[_Field], piece: str, position: int) -> list[_Field]:
    """Append the fields of a piece; its first one continues the last one so far."""
    added = []
    for text in piece.split(";"):
        added.append(_Field(text, position + len(text) - len(text.lstrip())))
        position += len(text) + 1
    if fields:
        last = fields[-1]
        added[0] = _Field(last.text + added[0].text, last.position if last.text.strip() else added[0].position)
    return [*fields[:-1], *added]


def _match(fields: list[_Field], *, is_mended: bool) -> _Line | None:
    """Tell the fields of a line by their kinds, as its layout has them."""
    fields, end = _without_other_text(fields)
    words = [_Field("".join(field.text.split()), field.position) for field in fields]
    kinds = "".join(_kind(word.text) for word in words)
    layout = words[0].text
    for names in _LAYOUTS[layout][0]:
        found = _LINES[layout, names].match(kinds)
        if found is None:
            continue
        found_words = {name: words[slice(*found.span(name))] if found[name] else [] for name in found.groupdict()}
        rest = found["rest"]
        is_whole = found["ms"] is not None and not _CUT_DISK.fullmatch(rest)
        directions = _split(found_words["directions"], len(names))
        is_cut = not found["cpu"] and not rest
        if is_cut:
            del directions[-1]  # its last field may have lost digits
        if not found["depths"] and not rest:
            found_words["cpu"] = []  # the same
        operations = _operations(layout, len(directions), "I" if is_cut else found["cpu"] or rest[:-1])
        if not operations:
            return None
        name, left = (fields[slice(*found.span(group))] for group in ("name", "rest"))
        return _Line(
            start=fields[0].position,
            end=end if is_whole or not left else left[0].position,
            layout=layout,
            version=words[1].text[len("fio-") :] if layout != "2" else None,
            name=" ".join(";".join(field.text for field in name).split()),
            group=int(found_words["group"][0].text),
            error=int(found_words["error"][0].text),
            directions={
                operation: dict(zip(names, direction, strict=True))
                for operation, direction in zip(operations, directions, strict=True)
            },
            **{key: found_words[key] for key in ("cpu", "depths", "us", "ms", "errors")},
            disks=_split(found_words["disks"], 9),
            description=" ".join(";".join(field.text for field in left).split()) or None if is_whole else None,
            is_whole=is_whole,
            is_mended=is_mended,
        )
    return None


def _without_other_text(fields: list[_Field]) -> tuple[list[_Field], int]:
    """Cut off what follows the last field on its line, and return where the line ends then."""
    *others, last = fields
    first, *more = last.text.split() or [""]
    if more and _kind("".join(last.text.split())) == _OTHER and _kind(first) != _OTHER:
        last = _Field(first, last.position)
    return [*others, last], last.position + len(last.text.strip())


def _split(fields: list[_Field], size: int) -> list[list[_Field]]:
    return [fields[start : start + size] for start in range(0, len(fields), size)]


def _operations(layout: str, count: int, following: str) -> tuple[str, ...]:
    """Return of which operations so many directions are, or none if that is not certain.

    `following` are the kinds of the fields behind them, as far as those are complete: shares if there are no more
    directions.
    """
    each = _LAYOUTS[layout][1]
    if count == 1 and not following.startswith("I"):
        return ("mixed",) if following.startswith("P") else ()
    if following.startswith("P") and count not in {len(each), len(each) + 1} and (layout, count) != ("2", 2):
        return ()
    return (*each, "mixed")[:count]


_DESCRIPTION: Final = re.compile(r"\s*;([^\n]*)")


def _with_description(line: _Line, text: Text, limit: int) -> _Line:
    """Add the description that follows a line of layout 2."""
    match = _DESCRIPTION.match(text.chars, line.end, limit)
    if line.layout != "2" or match is None:
        return line
    return replace(line, description=match[1].strip() or None, end=match.end())


# From lines to runs

_Report = list[_Line]


def _runs(text: Text, lines: Iterable[_Line]) -> Iterator[list[_Report]]:
    """Yield the reports of each run: its result, and before it what it reported while it was going on."""
    run: list[_Report] = []
    for stretch in _stretches(text, lines):
        for report in _by_time(run, stretch):
            if run and not _continues(run, report):
                yield run
                run = []
            run.append(report)
    if run:
        yield run


def _stretches(text: Text, lines: Iterable[_Line]) -> Iterator[list[_Line]]:
    """Yield lines between which nothing shows that a new report begins, but perhaps their counts."""
    stretch: list[_Line] = []
    for line in lines:
        if stretch and _starts_report(text, stretch, line):
            yield stretch
            stretch = []
        stretch.append(line)
    if stretch:
        yield stretch


def _by_time(run: list[_Report], lines: list[_Line]) -> list[_Report]:
    """Split lines into reports, if they are of different times."""
    if run:
        reports = _reports(lines, len(run[-1]))
        if _are_later(run, reports):
            return reports
    for size in range(1, len(lines) // 2 + 1):
        first, *others = _reports(lines, size)
        if _are_later([first], others):
            return [first, *others]
    return [lines]


def _reports(lines: list[_Line], size: int) -> list[_Report]:
    return [lines[start : start + size] for start in range(0, len(lines), size)]


def _are_later(run: list[_Report], reports: list[_Report]) -> bool:
    return all(_continues([*run, *reports[:index]], report) for index, report in enumerate(reports))


def _starts_report(text: Text, report: _Report, line: _Line) -> bool:
    last = report[-1]
    return (
        (line.layout, line.version) != (last.layout, last.version)
        or line.group < last.group
        or line.disk_texts() != last.disk_texts()
        or (line.job != last.job and line.job in [other.job for other in report])
        or holds_other_text(text, last.end, line.start)
    )


_INTERVAL: Final = 400
"""In ms. Processes of one job end within less of each other, and fio reports once a second at most."""


def _continues(run: list[_Report], report: _Report) -> bool:
    """Whether a report is the next one of a run, whose last one can come at any time."""
    last = run[-1]
    interval = _INTERVAL if len(run) == 1 else 1
    return (
        [line.job for line in last] == [line.job for line in report]
        and all(_grew(one, other) for one, other in zip(last, report, strict=True))
        and max(other.runtime() - one.runtime() for one, other in zip(last, report, strict=True)) >= interval
    )


def _grew(one: _Line, other: _Line) -> bool:
    """Whether a line can be of the same job as another one, some time later."""
    return (one.layout, one.version, *one.directions) == (other.layout, other.version, *other.directions) and all(
        before <= after for before, after in zip(one.counts(), other.counts(), strict=False)
    )


class _Reader:
    """Reads the reports of one run: the last one is its result."""

    def __init__(self, text: Text, reports: list[_Report]) -> None:
        self.text = text
        self.reports = reports
        self.lines = reports[-1]
        self.parts = list(part_names_with_idle((line.name, line.has_worked()) for line in self.lines))
        self.has_several = len({line.name for line in self.lines}) > 1
        self.settings: list[Setting] = []
        self.measurements: list[Measurement] = []
        self.bins: list[Bin] = []
        self.diagnostics: list[Diagnostic] = []
        version = self.lines[0].version
        self.version = version
        # Since 3.0 latencies are taken in ns. Layout 2 does not name the version.
        is_old = (version or "").startswith(("1.", "2.")) and not (version or "").startswith("2.99")
        self.clocks = (10**6, 10**9) if version is None else (10**6,) if is_old else (10**9,)
        self.percentiles = "lat" if _LAT_PERCENTILES.search(text.chars) else "clat"

    def records(self) -> Iterator[Record]:
        """Yield the run, its series and the diagnostics."""
        for line, part in zip(self.lines, self.parts, strict=True):
            self._read_line(line, part)
        self._read_disks(self.lines[0].disks)
        yield self._run()
        yield from self._series()
        yield from self._remarks()
        yield from self.diagnostics
        yield from cross_checks(self.measurements)
        yield from totals.checks(self.measurements, self._groups(), has_all_parts=self._is_one_run())

    def _run(self) -> Run:
        is_whole = all(line.is_whole for line in self.lines)
        has_failed = any(line.error or _count(line.errors) for line in self.lines)
        runtimes = [item.value for item in self.measurements if item.metric == "runtime" and item.value]
        return Run(
            tool=TOOL,
            tool_version=self.version,
            start=self.text.byte(self.reports[0][0].start),
            end=self.text.byte(self.lines[-1].end),
            line=self.text.line(self.reports[0][0].start),
            duration=max(runtimes, default=None),
            status="failed" if has_failed else "ok" if is_whole else "partial",
            settings=tuple(self.settings),
            measurements=tuple(self.measurements),
            bins=tuple(self.bins),
        )

    def _series(self) -> Iterator[Record]:
        """Yield what had been done by when, as earlier reports of the run have it."""
        for report in self.reports[:-1]:
            yield self._diagnostic("INTERIM_REPORT", "The run went on after this report.", report)
        if len(self.reports) == 1:
            return
        for index, part in enumerate(self.parts):
            for operation in self.lines[index].directions:
                points = [report[index].directions[operation] for report in self.reports]
                if not _is_work([points[-1]["bytes"]]):
                    continue
                yield Block(
                    operation=operation,
                    metric="bytes",
                    part=part,
                    times=[int(fields["runtime"].text) / 1000 for fields in points],
                    values=[float(int(fields["bytes"].text) * 1024) for fields in points],
                    lines=[self.text.line(fields["bytes"].position) for fields in points],
                )

    def _groups(self) -> dict[Place, list[Place]]:
        """Return the jobs of each group."""
        groups: dict[Place, list[Place]] = {}
        for line, part in zip(self.lines, self.parts, strict=True):
            groups.setdefault(("group", str(line.group)), []).append(("job", part))
        return groups

    def _is_one_run(self) -> bool:
        """Whether the lines are surely of one run: they are the only ones of their groups, or name the disks."""
        disks = (field for disk in self.lines[0].disks for field in disk[1:])
        return len(self.lines) == len({line.group for line in self.lines}) or _is_work(disks)

    def _remarks(self) -> Iterator[Diagnostic]:
        for line in self.lines:
            if not line.is_whole:
                yield self._diagnostic(
                    "INCOMPLETE_LOG", "The line breaks off; what stands before is read.", [line]
                )
            elif line.is_mended:
                yield self._diagnostic("REPAIRED", "The line was put together from several.", [line])
            if line.error:
                yield self._diagnostic("RUN_FAILED", f"The job {line.name} ended with error {line.error}.", [line])
            if _count(line.errors):
                message = f"{line.errors[0].text} requests of the job {line.name} failed."
                yield self._diagnostic("RUN_FAILED", message, [line])
        if len(self.reports) == 1 and not self._is_one_run():
            message = "The lines can be of several jobs or of several runs; they are taken for jobs of one run."
            yield self._diagnostic("AMBIGUOUS_RUNS", message, self.lines)

    def _diagnostic(self, code: str, message: str, lines: Sequence[_Line]) -> Diagnostic:
        start, end = lines[0].start, lines[-1].end
        return Diagnostic(
            code=code,
            message=message,
            line=self.text.line(start),
            start=self.text.byte(start),
            end=self.text.byte(end),
            excerpt=self.text.excerpt(start, end),
        )

    # How figures are kept

    def _figure(
        self,
        place: dict[str, Any],
        field: _Field | None,
        metric: str,
        statistic: str = "value",
        *,
        unit: str = "",
        rounding: Rounding = "nearest",
        samples: int | None = None,
    ) -> None:
        """Keep a figure, if the line holds it."""
        if field is None:
            return
        try:
            amount = quantity(field.text.removesuffix("%"), unit, rounding=rounding)
        except ValueError:
            message = f"{field.text} is no figure."
            self.diagnostics.append(
                Diagnostic(code="UNREAD_FIGURE", message=message, line=self.text.line(field.position))
            )
            return
        self.measurements.append(
            Measurement(
                metric=metric,
                statistic=statistic,
                value=amount.value,
                unit=amount.unit,
                low=amount.low,
                high=amount.high,
                samples=samples,
                text=field.text.removesuffix("%"),
                line=self.text.line(field.position),
                **place,
            )
        )

    def _set(self, key: str, value: str, line: _Line) -> None:
        """Keep a setting; one of a job belongs to the whole run where the run has no others."""
        where: dict[str, Any] = {"scope": "job", "part": line.name} if self.has_several else {}
        setting = Setting(key=key, value=value, line=self.text.line(line.start), **where)
        if setting not in (replace(item, line=setting.line) for item in self.settings):
            self.settings.append(setting)

    # A job

    def _read_line(self, line: _Line, part: str) -> None:
        self._set("job_name", line.name, line)
        if line.description is not None:
            self._set("description", line.description, line)
        place = {"scope": "job", "part": part}
        for operation, fields in line.directions.items():
            self._read_direction(place | {"operation": operation}, fields)
        if line.cpu:
            self._read_cpu(place | {"operation": "all"}, line)
        if line.errors:
            self._figure(place | {"operation": "all"}, line.errors[0], "errors", rounding="exact")
        self._read_shares(place, line)

    def _read_direction(self, place: dict[str, Any], fields: dict[str, _Field]) -> None:
        if _is_work(fields[name] for name in _RATES[:3] if name in fields):
            # The oldest layout divides bytes by ms.
            unit = "KiB/s" if "iops" in fields else "kB/s"
            self._figure(place, fields["bytes"], "bytes", unit="KiB", rounding="down")
            self._figure(place, fields["bandwidth"], "bandwidth", unit=unit, rounding="down")
            self._figure(place, fields.get("iops"), "iops", unit="1/s", rounding="down")
            self._figure(place, fields["runtime"], "runtime", unit="ms", rounding="exact")
        for kind in ("slat", "clat", "lat"):
            self._read_statistics(place, fields, kind, LATENCIES[kind], "us")
        self._read_percentiles(place, fields)
        self._read_statistics(place, fields, "bw", "bandwidth", "KiB/s")
        self._read_statistics(place, fields, "iops", "iops", "1/s")

    def _read_statistics(
        self, place: dict[str, Any], fields: dict[str, _Field], kind: str, metric: str, unit: str
    ) -> None:
        """Keep the statistics over requests or intervals, if there were any."""
        named = {word: fields[f"{kind}_{word}"] for word in _INTERVAL_STATISTICS if f"{kind}_{word}" in fields}
        if not _is_work(named.values()):
            return
        samples = _count([fields[f"{kind}_samples"]]) if f"{kind}_samples" in fields else None
        for word, field in named.items():
            rounding: Rounding = "down" if word in {"min", "max"} else "nearest"
            if word == "share":
                self._read_group_share(place, field, named["mean"])
            else:
                self._figure(place, field, metric, word, unit=unit, rounding=rounding, samples=samples)

    def _read_group_share(self, place: dict[str, Any], share: _Field, mean: _Field) -> None:
        """Keep the share of the group's bandwidth, which fio cut to whole KiB/s before it divided by it."""
        known = len(self.measurements)
        self._figure(place, share, "group_share", unit="%")
        for item in self.measurements[known:]:
            if item.value and item.low is not None:
                group = float(mean.text) / item.value
                self.measurements[known] = replace(item, low=item.low * group / (group + 1))

    def _read_percentiles(self, place: dict[str, Any], fields: dict[str, _Field]) -> None:
        if not _is_work(fields[name] for name in _statistics(self.percentiles)):
            return  # over no samples
        for name in _PERCENTILES:
            if name not in fields:
                continue
            rank, value = fields[name].text.split("%=")
            if float(rank) == 0:
                continue
            if self.clocks == (10**9,) and not has_bin(int(value) * 1000, int(value) * 1000 + 999):
                message = f"{fields[name].text} is no percentile that fio can print."
                self.diagnostics.append(
                    Diagnostic(code="UNREAD_FIGURE", message=message, line=self.text.line(fields[name].position))
                )
                continue
            low, high = _percentile_bounds(int(value), self.clocks)
            self.measurements.append(
                Measurement(
                    metric=LATENCIES[self.percentiles],
                    statistic=f"p{float(rank):g}",
                    value=int(value) / 10**6 if high is not None else None,
                    unit="s",
                    state="measured" if high is not None else "censored",
                    low=low,
                    high=high,
                    text=value,
                    line=self.text.line(fields[name].position),
                    **place,
                )
            )

    def _read_cpu(self, place: dict[str, Any], line: _Line) -> None:
        user, system, switches, major, minor = line.cpu
        self._figure(place, user, "cpu_user", unit="%")
        self._figure(place, system, "cpu_system", unit="%")
        self._figure(place, switches, "context_switches", rounding="exact")
        self._figure(place, major, "major_faults", rounding="exact")
        self._figure(place, minor, "minor_faults", rounding="exact")

    def _read_shares(self, place: dict[str, Any], line: _Line) -> None:
        for label, field in zip(_DEPTH_LABELS, line.depths, strict=False):
            self._share(place, field, "depth", depth_bounds("depth", label))
        for labels, fields, per_second, first in (
            (_US_LABELS, line.us, 10**6, 0),  # the first bucket holds all below it
            (_MS_LABELS, line.ms, 10**3, 1),
        ):
            for label, field in zip(labels, fields, strict=False):
                if _is_work([field]):
                    bounds = latency_bounds(label, per_second, first=first)
                    self._share(place, field, "completion_latency", bounds)

    def _share(
        self, place: dict[str, Any], field: _Field, metric: str, bounds: tuple[float | None, float | None]
    ) -> None:
        try:
            share = quantity(field.text.removesuffix("%"), "%").value
        except ValueError:
            return  # of no requests at all
        line = self.text.line(field.position)
        self.bins.append(
            Bin(operation="all", metric=metric, low=bounds[0], high=bounds[1], share=share, line=line, **place)
        )

    # The disks

    def _read_disks(self, disks: list[list[_Field]]) -> None:
        part = ""
        for name, *fields in disks:
            if name.text == "slaves" and part:
                # Means over the members of the disk before, and the largest utilisation.
                self._read_disk(f"{part}/members", fields, "mean", "max", "down")
            else:
                part = name.text
                self._read_disk(part, fields, "value", "value", "exact")

    def _read_disk(self, part: str, fields: list[_Field], statistic: str, most: str, rounding: Rounding) -> None:
        *counts, queue, utilisation = fields
        metrics = (("disk_ios", ""), ("disk_merges", ""), ("disk_ticks", "ms"))
        for (metric, unit), pair in zip(metrics, _split(counts, 2), strict=True):
            for operation, field in zip(("read", "write"), pair, strict=True):
                place = {"scope": "disk", "part": part, "operation": operation}
                self._figure(place, field, metric, statistic, unit=unit, rounding=rounding)
        place = {"scope": "disk", "part": part, "operation": "all"}
        self._figure(place, queue, "disk_queue_time", statistic, unit="ms", rounding=rounding)
        self._figure(place, utilisation, "disk_utilisation", most, unit="%")


_LAT_PERCENTILES: Final = re.compile(r"\blat_percentiles(?:=(?:1|true|yes|on)\b|(?![\w=]))")
"""The option as a command line or a job file has it, where one stands in the same text."""

_DEPTH_LABELS: Final = ("1", "2", "4", "8", "16", "32", ">=64")
_US_LABELS: Final = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000")
_MS_LABELS: Final = (*_US_LABELS, "2000", ">=2000")


def _is_work(fields: Iterable[_Field]) -> bool:
    """Whether any of the fields is not a zero."""
    return any(field.text.strip("-0.%") for field in fields)


def _count(fields: list[_Field]) -> int:
    return int(fields[0].text) if fields else 0


def _percentile_bounds(microseconds: int, clocks: Iterable[int]) -> tuple[float, float | None]:
    """Return between which values a percentile lies, whichever of the clocks it was taken with."""
    lows: list[float] = []
    highs: list[float | None] = []
    for per_second in clocks:
        ticks = per_second // 10**6
        low, high = percentile_bounds(microseconds * ticks, (microseconds + 1) * ticks - 1)
        lows.append(low / per_second)
        highs.append(high / per_second if high is not None else None)
    known = [high for high in highs if high is not None]
    return min(lows), max(known) if len(known) == len(highs) else None
