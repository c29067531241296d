"""Turns log files into runs if there is no report, or adds them to the run of their report."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from fsbench_kit.formats.checks import second_printings
from fsbench_kit.formats.findings import diagnostics
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_log.figures import Figures, Place, PlaceOf, read_figures
from fsbench_kit.formats.fio_log.files import LogFile
from fsbench_kit.model.records import Bin, Diagnostic, Measurement, Run

_PREFIX_OPTIONS: Final = ("fio.write_bw_log", "fio.write_iops_log", "fio.write_lat_log", "fio.write_hist_log")
_PRECISION: Final = 1e-6
_AGREEMENT: Final = 0.1
"""Relative tolerance for means: windows differ in length from fio's own intervals."""


def run_of_logs(files: Sequence[LogFile], version: str | None) -> tuple[Run, bytes, Figures]:
    """Create a run from log files without a report.

    Returns
    -------
    tuple
        The run; the list of the files' SHA-256 sums, which replaces the bytes of the run; its figures.
    """
    figures = read_figures(files, version, lambda job: ("all", None) if job is None else ("job", str(job)))
    sums = "".join(f"{_sha256(file)}\n" for file in files).encode()
    run = Run(
        tool=TOOL.name,
        tool_version=version,
        start=0,
        end=len(sums),
        line=1,
        measurements=tuple(figures.measurements),
        bins=tuple(figures.bins),
    )
    figures.checks += diagnostics(second_printings(figures.measurements))
    return run, sums, figures


def _sha256(log: LogFile) -> str:
    if log.sha256 is not None:
        return log.sha256
    with log.open() as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def wrote(run: Run, prefix: str) -> bool:
    """Whether a run wrote log files with a prefix, judging by its options or the names of its jobs."""
    if run.tool != TOOL.name:
        return False
    given = {
        re.split(r"[/\\]", setting.value)[-1]
        for setting in run.settings
        if setting.key in _PREFIX_OPTIONS and setting.value != "true"
    }
    if given:
        return prefix in given
    jobs = {setting.value for setting in run.settings if setting.key == "job_name"}
    return prefix in jobs | {re.sub(r"\.\d+$", "", part) for part in _parts(run)}


def with_logs(run: Run, files: Sequence[LogFile], version: str | None) -> tuple[Run, Figures]:
    """Add the figures of log files to the run that wrote them, as second prints of those of its report.

    Figures that both the report and the logs have are checked against each other.
    """
    figures = read_figures(files, run.tool_version or version, _places(run, files))
    report = [item for item in run.measurements if item.primary]
    logs = [*figures.measurements, *_pooled(run, figures.measurements)]
    others = list(_of_others(report, logs))
    left_out = [item for item, _ in others]
    added = [replace(item, primary=False) for item in logs if item not in left_out]
    known = {_place(item) for item in run.bins if item.count is not None}
    known |= {_place(item) for item, number in others if (item.samples or 0) > number}
    bins = [item for item in figures.bins if _place(item) not in known]
    figures.checks += [
        *_against_totals(others),
        *diagnostics(second_printings([*report, *added])),
        *_series_against_report(report, added),
    ]
    return replace(run, measurements=(*run.measurements, *added), bins=(*run.bins, *bins)), figures


Part = tuple[str, str | None, str, str]
"""Scope, part, operation and metric, which must be equal for figures to be comparable."""


def _place(item: Measurement | Bin) -> Part:
    return item.scope, item.part, item.operation, item.metric


def _parts(run: Run) -> list[str]:
    """Return the names of a run's jobs, in the order of its report."""
    return list(dict.fromkeys(item.part for item in run.measurements if item.scope == "job" and item.part))


def _places(run: Run, files: Sequence[LogFile]) -> PlaceOf:
    """Return a function that maps the job number of a log to the part of the report.

    fio numbers jobs from 1 in the order of its report. If the report combines jobs of one name, each log gets a
    part of its own, named as in a report without ``group_reporting``.
    """
    parts = _parts(run)
    grouped = any(setting.key == "grouped" and setting.value == "true" for setting in run.settings)
    threads = max((item.threads or 1 for item in run.measurements if item.scope == "job"), default=1)
    numbers = {file.name.job for file in files}

    def place_of(number: int | None) -> Place:
        if len(parts) == 1 and (number is None or (len(numbers) == 1 and threads == 1)):
            return "job", parts[0]
        if number is None:
            return "all", None
        if len(parts) == 1:
            return "job", f"{parts[0]}.{number - 1}"
        if not grouped and number <= len(parts):
            return "job", parts[number - 1]
        return "job", str(number)

    return place_of


def _pooled(run: Run, measurements: Sequence[Measurement]) -> Iterator[Measurement]:
    """Yield the combined figures of all jobs' logs, if the report has a single part for them."""
    parts = _parts(run)
    if len(parts) != 1 or any(item.part == parts[0] for item in measurements):
        return
    figures: dict[tuple[str, str, str], list[Measurement]] = {}
    for item in measurements:
        if item.primary:
            figures.setdefault((item.operation, item.metric, item.statistic), []).append(item)
    for (operation, metric, statistic), items in figures.items():
        values = [(item.value, item.samples or 0) for item in items if item.value is not None]
        match statistic:
            case "value":
                value = sum(value for value, _ in values)
            case "min":
                value = min(value for value, _ in values)
            case "max":
                value = max(value for value, _ in values)
            case "mean":
                value = sum(value * samples for value, samples in values) / sum(samples for _, samples in values)
            case _:
                continue
        is_exact = all(item.low == item.value for item in items)
        bound = value if is_exact else None
        text = f"{value:.9g} {items[0].unit}"
        pooled = replace(items[0], part=parts[0], value=value, low=bound, high=bound, text=text)
        yield replace(pooled, operation=operation, metric=metric, samples=sum(samples for _, samples in values))


def _of_others(report: Sequence[Measurement], logs: Sequence[Measurement]) -> Iterator[tuple[Measurement, float]]:
    """Yield the percentiles that cover another number of requests than the report, with the report's number.

    The numbers differ because fio does not log the last window.
    """
    done = {(item.scope, item.part, item.operation): item.value for item in report if item.metric == "operations"}
    for item in logs:
        number = done.get((item.scope, item.part, item.operation))
        if item.statistic.startswith("p") and number is not None and item.samples != number:
            yield item, number


def _against_totals(others: Iterable[tuple[Measurement, float]]) -> Iterator[Diagnostic]:
    """Report the percentiles of logs that cover fewer or more requests than the report."""
    for operation, metric, samples, number in dict.fromkeys(
        (item.operation, item.metric, item.samples or 0, number) for item, number in others
    ):
        besides = "others besides" if samples < number else f"only {number:.0f}"
        message = (
            f"The log counts {samples} requests of {operation}, but the report {besides}, "
            f"so the percentiles of its {metric} are left out."
        )
        yield Diagnostic(code="INCOMPLETE_LOG" if samples < number else "FIGURES_DISAGREE", message=message)


def _series_against_report(report: Sequence[Measurement], logs: Sequence[Measurement]) -> Iterator[Diagnostic]:
    """Check statistics over the rows of a log against related ones in the report."""
    known = {(*_place(item), item.statistic): item for item in report}
    for item in logs:
        scope, part, operation, metric, *_ = _place(item)
        if item.value is None:
            continue
        mean = known.get((*_place(item), "mean"))
        if item.statistic == "window_mean" and item.unit != "s" and mean is not None and mean.value:
            if abs(item.value / mean.value - 1) > _AGREEMENT:
                yield _disagreement(f"The windows of the log have a mean {metric} of {operation} of", item, mean)
        elif item.statistic in {"window_min", "window_max"} and item.unit == "s":
            least, most = known.get((*_place(item), "min")), known.get((*_place(item), "max"))
            if least is not None and least.low is not None and item.value < least.low * (1 - _PRECISION):
                yield _disagreement(f"A window of the log has a {metric} of {operation} of", item, least)
            if most is not None and most.high is not None and item.value > most.high * (1 + _PRECISION):
                yield _disagreement(f"A window of the log has a {metric} of {operation} of", item, most)
        elif (metric, item.statistic) == ("request_bandwidth", "mean"):
            mean = known.get((scope, part, operation, "bandwidth", "mean"))
            # The report has the log's figure, in kB/s, but labels it KiB/s.
            if mean is not None and mean.value and abs(item.value * 1.024 / mean.value - 1) < _PRECISION:
                message = (
                    f"The report's mean bandwidth of {operation}, {mean.text}, is the mean rate of single "
                    "requests in kB/s, because they were logged one by one."
                )
                yield Diagnostic(code="NOT_OVER_INTERVALS", message=message, line=mean.line)


def _disagreement(words: str, item: Measurement, other: Measurement) -> Diagnostic:
    message = f"{words} {item.text}, and the report a {other.statistic} of {other.text}."
    return Diagnostic(code="FIGURES_DISAGREE", message=message, line=item.line, excerpt=other.text)
