"""Merges the prints of one bonnie++ run where they agree, and checks them against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from fsbench_kit.formats.bonnie.command import TOOL
from fsbench_kit.formats.bonnie.phases import Row
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.findings import Finding, diagnostics
from fsbench_kit.model.records import Diagnostic, Measurement, Run, Setting

FORMS: Final = ("CSV", "text", "HTML")
"""The forms of prints, the most precise first."""

ENOUGH: Final = 0.5
"""The share of figures that must agree for two prints to be of one run; the others are contradictions."""


@dataclass(slots=True)
class Prints:
    """A run and its prints."""

    start: int
    rows: list[Row]

    def agreement(self, row: Row, figures: Sequence[Measurement]) -> float:
        """Return the share of figures that agree with a print in another form; 0 if that is of another run."""
        known = self.rows[0]
        sizes = {known.number("file_size"), row.number("file_size")} - {None}
        if len(sizes) > 1:
            return 0
        shares: list[float] = [_agreement(_pairs(known.measurements(), figures)) for known in self.rows]
        return max(shares)

    def is_over(self, row: Row) -> bool:
        """Whether the table of the run is right above a CSV line, as in the tool's own output."""
        known = self.rows[-1]
        return (
            (known.form, row.form) == ("text", "CSV")
            and len(self.rows) == 1
            and not row.text.chars[known.end : row.start].strip()
        )

    def has_name_and_size_of(self, row: Row) -> bool:
        """Whether a print has the same machine name and size."""
        known = self.rows[0]
        sizes = known.number("file_size"), row.number("file_size")
        return sizes[0] == sizes[1] and known.machine != "" and row.machine.startswith(known.machine)

    @property
    def _is_whole(self) -> bool:
        """Whether the run has figures, and at least one of its prints is complete."""
        return any(row.phases for row in self.rows) and not all(
            any(diagnostic.code == "INCOMPLETE_LOG" for diagnostic in row.diagnostics) for row in self.rows
        )

    def _is_one_run(self) -> bool | None:
        """Whether the prints are of one run whatever their figures are; ``None`` if the figures decide."""
        known, *others = self.rows
        if len(others) > 1:
            return False
        is_sure = all(
            Prints(self.start, [known]).is_over(row) and self.has_name_and_size_of(row) for row in others
        )
        return is_sure or None

    def run(self) -> tuple[Run, list[Diagnostic]]:
        """Return the run, and diagnostics about its prints."""
        rows = sorted(self.rows, key=lambda row: FORMS.index(row.form))
        text = rows[0].text
        for row in rows:
            if rows[0].form == "CSV" and "file_size" in rows[0].settings:
                row.part_glued(rows[0].machine, rows[0].settings["file_size"].chars)
            if row.glued is not None:
                row.say("UNREAD_FIGURE", "It is unclear where the machine's name ends and the size begins.")
        by_key: dict[tuple[str, str, str], Measurement] = {}
        repeats: list[Measurement] = []
        for figure in (figure for row in rows for figure in row.measurements()):
            key = (figure.operation, figure.metric, figure.statistic)
            first = by_key.setdefault(key, figure)
            if first.state == "missing" != figure.state:
                by_key[key] = figure
                repeats.append(replace(first, primary=False))
            elif first is not figure:
                repeats.append(replace(figure, primary=False))
        settings, disagreements = _settings(rows)
        of_rows = [d for row in rows for d in (*row.diagnostics, *row.damaged_marks())]
        versions = [row.version for row in rows if row.version is not None]
        hosts = [row.host for row in rows if row.host is not None]
        measurements = (*by_key.values(), *repeats)
        run = Run(
            tool=TOOL.name,
            tool_version=versions[0] if versions else None,
            start=text.byte(self.start),
            end=text.byte(max(row.end for row in rows)),
            line=text.line(self.start),
            host=hosts[0] if hosts else None,
            status="ok" if self._is_whole else "partial",
            identity=tuple(("seed", row.seed) for row in rows if row.seed is not None),
            jobs=self._is_one_run(),
            settings=settings,
            measurements=measurements,
        )
        return run, [*of_rows, *disagreements, *diagnostics(checks(run))]


def _settings(rows: Sequence[Row]) -> tuple[tuple[Setting, ...], list[Diagnostic]]:
    """Return the settings in the prints of a run, and diagnostics about contradictions between them."""
    settings: dict[str, Setting] = {}
    disagreements = []
    for setting in (setting for row in rows for setting in row.stated()):
        first = settings.setdefault(setting.key, setting)
        if first.value != setting.value:
            message = f"{setting.key} is {first.value} on line {first.line}, and {setting.value} here."
            disagreements.append(
                Diagnostic(code="SETTINGS_DISAGREE", message=message, line=setting.line, excerpt=setting.value)
            )
    return tuple(settings.values()), disagreements


def _pairs(one: Sequence[Measurement], other: Sequence[Measurement]) -> list[tuple[Measurement, Measurement]]:
    """Return the figures that both prints have."""
    figures = {(m.operation, m.metric): m for m in one}
    return [(figures[key], m) for m in other if (key := (m.operation, m.metric)) in figures]


def _agreement(pairs: Sequence[tuple[Measurement, Measurement]]) -> Any:
    """Return the share of figure pairs that can be equal; a column for columns."""
    measured = [pair for pair in pairs if any(m.state == "measured" for m in pair)]
    alike = [_alike(*pair) for pair in measured or pairs]
    return sum(alike) / len(alike) if alike else ENOUGH


def _alike(one: Measurement, other: Measurement) -> Any:
    if one.state != other.state:
        return False
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return one.state != "measured"
    return (one.low <= other.high) & (other.low <= one.high)


def checks(run: Run) -> Iterator[Finding]:
    """Check the prints of a run against each other, including figures where another print has a mark."""
    yield from cross_checks(run.measurements)
    for first, repeat in _printed_twice(run):
        if first.state != repeat.state and any("+" in text for item in (first, repeat) for text in item.text):
            message = f"{first.metric} of {first.operation} is printed as {{}}, and again as {{}}."
            yield Finding(True, "SECOND_PRINTING_DIFFERS", message, (first.text, repeat.text), first, repeat)


def _printed_twice(run: Run) -> Iterator[tuple[Measurement, Measurement]]:
    """Yield each figure of a run that is printed again, with its other print."""
    first: dict[tuple[str, str, str], Measurement] = {}
    for item in run.measurements:
        known = first.setdefault((item.operation, item.metric, item.statistic), item)
        if known is not item:
            yield known, item


def is_one_run(run: Run) -> Any:
    """Whether two prints that are of one run in the example are of one run in the other logs, too."""
    return run.jobs if run.jobs is not None else _agreement(list(_printed_twice(run))) >= ENOUGH
