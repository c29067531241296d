"""Attaches to logs what their study says about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from fsbench_kit.data.assembly import runs_of
from fsbench_kit.data.columns import Part
from fsbench_kit.data.names import NOTHING, said_by, templates_of, with_named
from fsbench_kit.data.study import LogFacts, RunKnowledge, RunOfLog, StudyDescription
from fsbench_kit.documents.attribution import own_commands
from fsbench_kit.documents.commands import commands
from fsbench_kit.formats.commands import command_settings
from fsbench_kit.formats.provision import provision_settings
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Origin, Setting
from fsbench_kit.model.vocabulary import SETTINGS

if TYPE_CHECKING:
    from fsbench_kit.data.log import Log, StudyOrigin


def facts_of_runs(
    log: Log, facts: LogFacts, tables: Sequence[tuple[RunOfLog, int | None]]
) -> tuple[dict[int, RunKnowledge], list[Diagnostic]]:
    """Return by run number what ``[[log.run]]`` tables, each with its line, state about the runs of a file."""
    known: dict[int, RunKnowledge] = {}
    if log.part is None or not tables:
        return known, []
    columns = log.part.columns
    runs = [
        [_Place(run, *columns.runs[run].select("start", "line", "last_line").row(0)) for run in printed]
        for printed in runs_of(log.part)
    ]
    problems: list[Diagnostic] = []
    for table, line in tables:
        found = runs[table.number - 1 : table.number] if table.number else _runs_on_line(runs, table.line)
        which = f"run {table.number}" if table.number else f"run on line {table.line}"
        message = None
        if len(found) > 1:
            message = f"{facts.file} has more than one {which}: give the number of the one that is meant."
        elif not found:
            message = f"{facts.file} has no {which}; {_where(runs)}."
        elif found[0][0].run in known:
            message = f"An earlier [[log.run]] table names the same run of {facts.file}."
        if message is not None:
            problems.append(Diagnostic(code="NO_SUCH_RUN", message=message, line=line))
            continue
        given = {name: getattr(table, name) for name in table.model_fields_set & RunKnowledge.model_fields.keys()}
        given["settings"] = {**facts.settings, **table.settings}
        known |= dict.fromkeys((place.run for place in found[0]), facts.model_copy(update=given))
    for printed in runs:
        if printed[0].run not in known:
            message = f"No [[log.run]] table names the run of {facts.file} on line {printed[0].line}."
            problems.append(Diagnostic(code="UNNAMED_RUN", message=message))
    return known, problems


class _Place(NamedTuple):
    """The number of a run, and where it is in its file."""

    run: int
    start: int
    line: int
    last_line: int


def _runs_on_line(runs: Sequence[list[_Place]], line: int | None) -> list[list[_Place]]:
    """Return the run that begins on a line, or else those that contain it; runs of one table overlap."""
    if line is None:
        return []
    return [printed for printed in runs if any(place.line == line for place in printed)] or [
        printed for printed in runs if any(place.line <= line <= place.last_line for place in printed)
    ]


def _where(runs: Sequence[list[_Place]]) -> str:
    """Describe where the runs of a file begin."""
    lines = ", ".join(str(printed[0].line) for printed in runs)
    match len(runs):
        case 0:
            return "no run was found in it"
        case 1:
            return f"its only run begins on line {lines}"
    return f"its runs begin on lines {lines}"


def with_study(
    log: Log,
    folder: Path,
    study: StudyDescription,
    facts: LogFacts | None = None,
    of_runs: Mapping[int, RunKnowledge] = MappingProxyType({}),
) -> Iterator[Log]:
    """Yield a log with what its study knows about it, and a part of it for each run with that run's facts.

    What the study says about the file takes precedence over what the name of the file means.
    """
    whole = replace(
        log,
        name=facts.file if facts is not None else Path(log.source).relative_to(folder).as_posix(),
        study=study.study.id,
        origin=study_origin(folder),
        averaged_over=study.study.averaged_over,
    )
    named = said_by(templates_of(study.study.names), PurePath(str(whole.name))) or NOTHING
    if log.part is None:
        yield with_named(_with_facts(whole, folder, study, facts, facts or RunKnowledge()), named)
        return
    yield replace(whole, part=log.part._replace(runs=()))
    for number in log.part.runs:
        known = of_runs.get(number) or facts or RunKnowledge()
        part = Part(log.part.columns, [number], ())
        yield with_named(_with_facts(replace(whole, part=part), folder, study, facts, known), named)


def _with_facts(
    log: Log,
    folder: Path,
    study: StudyDescription,
    facts: LogFacts | None,
    known: RunKnowledge,
) -> Log:
    made: list[Setting] = []
    if known.command is not None:
        made += command_settings(known.command, origin="command")
    stated = known.stated_command
    if known.stated_command_file is not None:
        stated = (folder / known.stated_command_file).read_text(encoding="utf-8")
    if stated is not None:
        made += _stated(stated, log.part)
    system = {**study.system, **({} if known.host is None else {"host": known.host}), **known.settings}
    return replace(
        log,
        round=known.round,
        tool_version=known.tool_version,
        filesystem=known.filesystem,
        host=system.get("host"),
        settings=(
            *_settings(system, "study"),
            *(_workload(study, facts.tool) if facts is not None else ()),
            *made,
        ),
        filesystem_settings={
            name: tuple(target_settings(_filesystem_words(table, folder), "study"))
            for name, table in study.filesystems.items()
        },
    )


def _stated(text: str, part: Part | None) -> Iterator[Setting]:
    """Yield the settings of a stated command: if there are several, that of the run, or none if it is unclear."""
    several = list(commands(Text(text)))
    if len(several) > 1 and part is not None:
        own = own_commands(several, part.columns.run(part.runs[0]))
        text = own[0].words if len({command.words for command in own}) == 1 else ""
    return command_settings(text, origin="stated") if text else iter(())


def _workload(study: StudyDescription, tool: str) -> Iterator[Setting]:
    for key, value in study.workload.items():
        text = " ".join(value) if isinstance(value, list) else str(value)
        yield Setting(key=key if key in SETTINGS else f"{tool}.{key}", value=text, origin="study")


_FILESYSTEM_WORDS: Final = {"version": "filesystem_version", "tools": "filesystem_tools"}


def _filesystem_words(table: Mapping[str, str], folder: Path) -> dict[str, str]:
    words = {_FILESYSTEM_WORDS.get(key, key): value for key, value in table.items()}
    if "provision" in words:
        words["provision"] = (folder / words["provision"]).read_text(encoding="utf-8").strip()
    return words


def _settings(table: Mapping[str, str], origin: Origin) -> Iterator[Setting]:
    return (Setting(key=key, value=value, origin=origin) for key, value in table.items())


def target_settings(table: Mapping[str, str], origin: Origin) -> Iterator[Setting]:
    """Yield the settings of a target, including those implied by the commands that made it."""
    made = provision_settings(table.get("provision", ""), origin=origin)
    yield from (setting for setting in made if setting.key not in table)
    yield from _settings(table, origin)


_ORIGIN_FOLDERS: Final[dict[str, StudyOrigin]] = {
    "published": "published",
    "recorded": "recorded",
    "replicated": "recorded",
    "runs": "launched",
}


def study_origin(folder: Path) -> StudyOrigin | None:
    """Return the origin of a study, judging by the folder in ``raw_results`` that it is in."""
    parts = folder.resolve().parts
    for root, kind in pairwise(parts):
        if root == "raw_results" and kind in _ORIGIN_FOLDERS:
            return _ORIGIN_FOLDERS[kind]
    return None
