"""Studies on disk: finds logs in files and folders, and what is known of them besides their text.

A *study* is a folder with a ``study.toml``. In a published study its ``[[log]]`` tables name the logs; in a
recorded or launched one every run has a folder with a ``run.json`` beside its logs. A file outside any study is
read for itself.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from fsbench_kit.data.dataset import (
    Dataset,
    Log,
    StudyOrigin,
    assemble,
    combined,
    is_written,
    read_written,
    runs_of,
)
from fsbench_kit.documents import read_file
from fsbench_kit.documents.attribution import own_commands
from fsbench_kit.documents.pieces import commands
from fsbench_kit.formats import TOOLS, known_logs
from fsbench_kit.formats.commands import command_settings
from fsbench_kit.formats.fio_log import LogFile, log_file, run_of_logs, with_logs, wrote
from fsbench_kit.formats.provision import provision_settings
from fsbench_kit.formats.text import Text
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.files import Given, Inode, flattened, inode, is_folder, name_of, not_regular, opened
from fsbench_kit.model.files import paths as paths_of
from fsbench_kit.model.records import Diagnostic, Origin, Run, Setting
from fsbench_kit.model.vocabulary import DIAGNOSTICS, RUN_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from fsbench_kit.model.records import Record

STUDY_FILE: Final = "study.toml"
RUN_FILE: Final = "run.json"

Name = Annotated[str, StringConstraints(min_length=1)]
Counted = Annotated[int, Field(ge=1)]
Relation = Literal[
    "ratio", "difference", "percent_less", "greater", "less", "rank", "value", "at_most", "at_least", "setting"
]


class _Table(BaseModel):
    """A table of a study's description, in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyFacts(_Table):
    """``[study]``: what the study is.

    Attributes
    ----------
    published_runs
        How many runs each published figure comes from.
    averaged_over
        How many runs each published figure is the mean of.
    transcribed
        Whether the figures were taken from prose, so that there is no log.
    """

    id: Name
    title: Name
    language: str | None = None
    year: int | None = None
    published_runs: int | None = Field(None, ge=1)
    averaged_over: int | None = Field(None, ge=2)
    transcribed: bool = False


def _known_tool(tool: str) -> str:
    if tool not in TOOLS:
        raise PydanticCustomError("unknown_tool", "Input should be one of {tools}", {"tools": ", ".join(TOOLS)})
    return tool


class _Known(_Table):
    """What a study can say of runs.

    Attributes
    ----------
    command
        The command that ran.
    stated_command, stated_command_file
        The command that an article says ran: itself, or the file that holds it.
    settings
        Settings by name.
    """

    tool_version: str | None = None
    filesystem: str | None = None
    host: str | None = None
    round: Counted | None = None
    command: str | None = None
    stated_command: str | None = None
    stated_command_file: str | None = None
    settings: dict[str, str] = {}


class RunOfLog(_Known):
    """``[[log.run]]``: one of several runs in a file, and what the study says of it rather than of the others.

    Attributes
    ----------
    number
        Which one, counted from 1 in the order in which they stand in the file.
    line
        Or else any line of it.
    """

    number: Counted | None = None
    line: Counted | None = None

    @model_validator(mode="after")
    def _is_found_in_one_way(self) -> RunOfLog:
        if (self.number is None) == (self.line is None):
            message = 'a run of a log is named by its "number" or by a "line" of it'
            raise ValueError(message)
        return self


class LogFacts(_Known):
    """``[[log]]``: a file with logs, and what the study says of it."""

    file: Name
    tool: Annotated[str, AfterValidator(_known_tool)]
    run: tuple[RunOfLog, ...] = ()


Choice = Annotated[dict[str, str | int | list[str | int]], Field(default_factory=dict)]
"""Which figures are meant: a column's value, or each of several."""


class ClaimFacts(_Table):
    """``[[claim]]``: a sentence of the article, and what it says as data.

    Attributes
    ----------
    says
        The sentence.
    relation
        What it says of figures: that those of `of` are `size` times those of `than` (``ratio``), greater by `size`
        (``difference``), less by `size` of them (``percent_less``), ``greater`` or ``less`` than them, in place
        `size` among all filesystems (``rank``, the best being 1), equal to `size` (``value``), at most or at least
        `size` (``at_most``, ``at_least``). Or of runs: that they have the setting `setting` of `size`, or all the
        same one where there is no `size` (``setting``).
    metric, statistic
        Of which figures.
    where
        In which cells: columns of the measurements, and ``pattern``. A list stands for each of its values; there
        must be a figure for each, or the claim cannot be computed as a whole.
    of, than
        Whose figures; without `than`, those of every other filesystem.
    size
        The stated size as the article gives it, with its unit: ``2``, ``20 MB/s``, ``85 %``.
    band
        What counts as that size, from the first up to the second, where that is not what rounds to its digits.
    mostly
        Whether the sentence says "usually", so that more than half of the cells are enough.
    """

    id: Name
    says: Name
    relation: Relation
    metric: Name | None = None
    statistic: Name = "value"
    where: Choice
    of: Choice
    than: Choice
    size: Name | None = None
    band: tuple[Name, Name] | None = None
    mostly: bool = False
    setting: Name | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> ClaimFacts:
        """Refuse a claim that lacks what its relation needs."""
        needed = {"setting": ("setting",), "greater": ("metric",), "less": ("metric",)}
        for key in needed.get(self.relation, ("metric", "size")):
            if getattr(self, key) is None:
                message = f'claim "{self.id}" has the relation "{self.relation}", which needs "{key}"'
                raise ValueError(message)
        return self


class Study(_Table):
    """A study's description, ``study.toml``; ``docs/study.md`` has an example.

    Attributes
    ----------
    system
        Facts that hold for all runs: settings by name.
    filesystems
        Facts that hold for the runs on one filesystem; ``provision`` names the file with the commands that made
        it, ``version`` and ``tools`` are those of the filesystem.
    workload
        What ran, where the logs do not say.
    """

    study: StudyFacts
    system: dict[str, str] = {}
    filesystems: dict[str, dict[str, str]] = {}
    workload: dict[str, str | list[str]] = {}
    log: tuple[LogFacts, ...] = ()
    claim: tuple[ClaimFacts, ...] = ()


class RunCondition(BaseModel):
    """What may spoil a run's figures: a key of `fsbench_kit.model.vocabulary.DIAGNOSTICS`, and a sentence."""

    code: Name
    message: str

    @property
    def diagnostic(self) -> Diagnostic:
        """The condition as a remark on the run."""
        if self.code in DIAGNOSTICS:
            return Diagnostic(code=self.code, message=self.message)
        return Diagnostic(code="UNKNOWN_CONDITION", message=f"The run's record says {self.code}: {self.message}")


class RunFacts(BaseModel):
    """A run's ``run.json``: what its launch recorded of it. Keys that are not read here are for people."""

    model_config = ConfigDict(frozen=True)

    version: int | None = Field(None, alias="schema")
    study: str
    stage: Literal["precondition", "warm-up", "measured"] = "measured"
    round: int | None
    order: int
    target: str | None = None
    workload: str | None = None
    tool: str
    filesystem: str | None
    host: str | None
    argv: tuple[str, ...]
    exit_code: int | None
    status: Literal["ok", "failed", "partial"]
    started_at: datetime
    ended_at: datetime
    duration: float
    logs: tuple[str, ...]
    settings: dict[str, str]
    conditions: tuple[RunCondition, ...] = ()
    sha256: dict[str, str]


def read(*given: Given) -> Dataset:
    """Read every log in files and folders.

    Parameters
    ----------
    *given
        Files with logs, study folders, or folders that hold such at any depth: paths, or patterns such as
        ``logs/*.json``. Also a log's bytes, and open files; text that is no file yet goes in as
        ``io.StringIO(text)``. Any of these can stand in lists. A folder that `Dataset.write` wrote gives its
        data back.

    Returns
    -------
    Dataset
        What the logs say. What was odd about them, or kept a file from being read, is in its ``diagnostics``.

    Raises
    ------
    InputError
        If there is no run in any of them.
    RequestError
        If something was given that can be none of these.

    Notes
    -----
    In folders only regular files are read, and each file once, whatever names it has.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> fsb.read("raw_results/published/*nvme*").runs.height
    2
    """
    seen: Seen = {}
    found = [each for number, item in enumerate(flattened(*given), 1) for each in _found_at(item, number, seen)]
    logs = [each for each in found if isinstance(each, Log)]
    written = [each for each in found if isinstance(each, Dataset)]
    dataset = combined([assemble(_with_fio_logs(logs)), *written])
    if dataset.runs.is_empty():
        problems = dataset.diagnostics.select("source", "message", "excerpt").unique(maintain_order=True)
        lines = (
            f"{source}: {message}" + (f"\n    {excerpt}" if excerpt else "")
            for source, message, excerpt in problems.rows()
        )
        raise InputError(
            "\n".join(lines) or "no path was given",
            hint=f"Give files that hold logs of {known_logs()}, or folders with such.",
        )
    return dataset


def read_study(folder: Path) -> Study:
    """Read a study's description.

    Raises
    ------
    InputError
        If the file cannot be read, or says what cannot be; the message names each place.
    """
    path = folder / STUDY_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the study's description cannot be read: {error}", file=path) from error
    try:
        study = Study.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"this is not TOML: {error}", file=path) from error
    except ValidationError as error:
        keys = "|".join(re.escape(str(problem["loc"][-1])) for problem in error.errors())
        rows = enumerate(text.splitlines(), 1)
        line = next((number for number, row in rows if re.match(rf"\s*({keys})\b", row)), None)
        raise InputError("\n".join(_problems(error)), file=path, line=line) from error
    for name in _companions(study):
        if not (folder / name).is_file():
            raise InputError(f"it names the file {name!r}, which is not in its folder", file=path)
    _check_named_once(study, folder)
    return study


def _check_named_once(study: Study, folder: Path) -> None:
    """Refuse a file that is named twice: each of its runs would count twice."""
    lines = _table_lines(folder, "log")
    first: dict[Path, int] = {}
    for index, log in enumerate(study.log):
        other = first.setdefault((folder / log.file).resolve(), index)
        if other != index:
            where = f" on lines {lines[other]} and {lines[index]}" if lines[index:] else ""
            raise InputError(
                f"two [[log]] tables name the file {log.file!r}{where}: each of its runs would count twice",
                file=folder / STUDY_FILE,
                line=lines[index] if lines[index:] else None,
                hint="Name it once, and tell its runs apart by a [[log.run]] table for each, "
                "with its number or one of its lines.",
            )


def _table_lines(folder: Path, name: str) -> list[int]:
    """Return on which lines the tables of an array begin; none where it is written inline."""
    rows = (folder / STUDY_FILE).read_text(encoding="utf-8").splitlines()
    return [number for number, row in enumerate(rows, 1) if re.match(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]", row)]


def _problems(error: ValidationError) -> Iterator[str]:
    """Yield what is wrong with a description, and with which of its keys."""
    for problem in error.errors():
        yield ": ".join(filter(None, (".".join(map(str, problem["loc"])), problem["msg"])))


def study_folders(*paths: str | PathLike[str] | Iterable[str | PathLike[str]]) -> Iterator[Path]:
    """Yield the folders of studies at or below some paths.

    Raises
    ------
    InputError
        If there is none.
    """
    searched = list(paths_of(*paths))
    found = [file.parent for path in searched for file in sorted(path.rglob(STUDY_FILE))]
    if not found:
        names = ", ".join(map(str, searched))
        raise InputError(f"there is no study in {names}", hint=f"A study is a folder with a {STUDY_FILE}.")
    yield from dict.fromkeys(found)


def _companions(study: Study) -> Iterator[str]:
    """Name the files of a study that hold commands, not logs."""
    known: Iterator[_Known] = (of for log in study.log for of in (log, *log.run))
    yield from (of.stated_command_file for of in known if of.stated_command_file is not None)
    yield from (table["provision"] for table in study.filesystems.values() if "provision" in table)


Seen = dict[Inode, Path]
"""The files and folders that were read so far, under one of their names."""


def _found_at(item: Path | BinaryIO, number: int, seen: Seen) -> Iterator[Log | Dataset]:
    if not isinstance(item, Path):
        yield _read_open(item, name_of(item, number))
    elif not is_folder(item):
        yield _read_before(item, seen) or _read_file(item, may_be_pipe=True)
    elif item.resolve() == Path(item.resolve().anchor):
        yield _said(
            item, "UNREADABLE", "All of a machine's files are not searched; name the folder with the logs."
        )
    elif (before := _read_before(item, seen)) is not None:
        yield before
    else:
        found = list(_found_in_folder(item, seen))
        yield from found
        if all(
            isinstance(each, Log) and [_code(record) for record in each.records] == ["SKIPPED"] for each in found
        ):
            yield _said(item, "NO_LOG", "There is no log in this folder or below it.")


def _said(path: Path, code: str, message: str) -> Log:
    return Log(source=str(path), records=[Diagnostic(code=code, message=message)])


def _read_before(path: Path, seen: Seen) -> Log | None:
    """Return what is to be said where a file or folder was read under another name; else remember it."""
    try:
        first = seen.setdefault(inode(path), path)
    except OSError:
        return None  # which is said when it is read
    if first is path:
        return None
    return _said(path, "READ_BEFORE", f"It is the same as {first}, and was read as that.")


def _found_in_folder(folder: Path, seen: Seen, but: Container[Path] = ()) -> Iterator[Log | Dataset]:
    """Read a study, a run's folder, a dataset, or a folder of these and of loose files."""
    try:
        is_study, has_frames = (folder / STUDY_FILE).is_file(), is_written(folder)
    except OSError as error:
        yield _said(folder, "UNREADABLE", f"The folder cannot be read: {error.strerror}.")
        return
    if has_frames:
        yield _written(folder)
    if is_study:
        yield from _logs_of_study(folder, seen)
    elif _is_launched(folder):
        yield from _logs_of_run(folder)
    else:
        yield from _found_loose(folder, seen, but)


def _found_loose(folder: Path, seen: Seen, but: Container[Path]) -> Iterator[Log | Dataset]:
    """Read what stands in a folder but for some files, given as paths without links."""
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        yield _said(folder, "UNREADABLE", f"The folder cannot be read: {error.strerror}.")
        return
    for entry in entries:
        if entry.resolve() not in but:
            yield from _found_as(entry, seen, but)


def _written(folder: Path) -> Log | Dataset:
    try:
        return read_written(folder)
    except InputError as error:
        return _said(Path(error.file or folder), "UNREADABLE", f"The dataset cannot be read: {error.what}.")


def _found_as(entry: Path, seen: Seen, but: Container[Path]) -> Iterator[Log | Dataset]:
    """Read what stands in a folder."""
    try:
        irregular = not_regular(entry)
    except OSError as error:
        yield _said(entry, "UNREADABLE", f"It cannot be read: {error.strerror}.")
        return
    if irregular is not None:
        yield _said(entry, "SKIPPED", f"It is {irregular}, and was not opened.")
    elif entry.is_symlink() and entry.is_dir() and entry.parent.resolve().is_relative_to(entry.resolve()):
        yield _said(entry, "SKIPPED", "It is a link to a folder that it stands in, and was not followed.")
    elif (before := _read_before(entry, seen)) is not None:
        yield before
    elif entry.is_dir():
        yield from _found_in_folder(entry, seen, but)
    elif (log := _of_use(_read_file(entry))) is not None:
        yield log


def _of_use(log: Log) -> Log | None:
    """Return a log that stands in a folder, or what is to be said of one that cannot be read.

    Other files are to be expected there; given by name, they are an error.
    """
    if _has_runs(log):
        return log
    unread = [record for record in log.records if _code(record) in _UNREAD]
    return replace(log, records=unread) if unread else None


def _has_runs(log: Log) -> bool:
    return isinstance(log, _FioLog) or any(isinstance(record, Run) for record in log.records)


def _code(record: Record) -> str | None:
    return record.code if isinstance(record, Diagnostic) else None


_UNREAD: Final = {"UNREADABLE", "DAMAGED_ARCHIVE", "TOO_LARGE"}


def _logs_of_study(folder: Path, seen: Seen) -> Iterator[Log | Dataset]:
    try:
        study = read_study(folder)
    except InputError as error:
        message = f"{error.what}. {error.hint}" if error.hint else error.what
        diagnostic = Diagnostic(code="BAD_STUDY", message=message, line=error.line)
        yield Log(source=str(folder / STUDY_FILE), records=[diagnostic])
        return
    lines = iter(_table_lines(folder, "log.run"))
    for facts in study.log:
        tables = [(table, next(lines, None)) for table in facts.run]
        log = _read_file(folder / facts.file)
        known, problems = _runs_of_log(log, facts, tables)
        yield Log(source=str(folder / STUDY_FILE), records=problems)
        yield from _with_study(log, folder, study, facts, known)
    named = {
        (folder / name).resolve() for name in (STUDY_FILE, *(log.file for log in study.log), *_companions(study))
    }
    for found in _found_loose(folder, seen, named):
        if isinstance(found, Log) and found.study is None and _has_runs(found):
            message = f"{STUDY_FILE} does not name this file: its runs have the facts of the whole study alone."
            unnamed = Diagnostic(code="UNNAMED_LOG", message=message)
            yield from _with_study(replace(found, records=[unnamed, *found.records]), folder, study)
        else:
            yield found


def _runs_of_log(
    log: Log, facts: LogFacts, tables: Sequence[tuple[RunOfLog, int | None]]
) -> tuple[dict[int, _Known], list[Diagnostic]]:
    """Return what ``[[log.run]]`` tables, each with its line, say of a file: start of a run -> facts."""
    runs = runs_of(log)
    known: dict[int, _Known] = {}
    problems: list[Diagnostic] = []
    for table, line in tables:
        found = runs[table.number - 1 : table.number] if table.number else _runs_on_line(log, runs, table.line)
        which = f"run {table.number}" if table.number else f"run on line {table.line}"
        message = None
        if len(found) > 1:
            message = f"{facts.file} has more than one {which}: give the number of the one that is meant."
        elif not found:
            message = f"{facts.file} has no {which}; {_where(runs)}."
        elif found[0][0].start in known:
            message = f"An earlier [[log.run]] table names the same run of {facts.file}."
        if message is not None:
            problems.append(Diagnostic(code="NO_SUCH_RUN", message=message, line=line))
            continue
        given = {name: getattr(table, name) for name in table.model_fields_set & _Known.model_fields.keys()}
        given["settings"] = {**facts.settings, **table.settings}
        known |= dict.fromkeys((run.start for run in found[0]), facts.model_copy(update=given))
    for printed in runs:
        if tables and printed[0].start not in known:
            message = f"No [[log.run]] table names the run of {facts.file} on line {printed[0].line}."
            problems.append(Diagnostic(code="UNNAMED_RUN", message=message))
    return known, problems


def _runs_on_line(log: Log, runs: Sequence[list[Run]], line: int | None) -> list[list[Run]]:
    """Return the run that begins on a line, or else those that have the line; runs of one table overlap."""
    if line is None:
        return []
    return [printed for printed in runs if any(run.line == line for run in printed)] or [
        printed
        for printed in runs
        if any(run.line <= line <= run.line + log.data[run.start : run.end].count(b"\n") for run in printed)
    ]


def _where(runs: Sequence[list[Run]]) -> str:
    """Say where the runs of a file begin."""
    lines = ", ".join(str(printed[0].line) for printed in runs)
    match len(runs):
        case 0:
            return "no run was found in it"
        case 1:
            return f"its only run begins on line {lines}"
    return f"its runs begin on lines {lines}"


def _with_study(
    log: Log,
    folder: Path,
    study: Study,
    facts: LogFacts | None = None,
    of_runs: Mapping[int, _Known] = MappingProxyType({}),
) -> Iterator[Log]:
    """Add to a log what its study knows of it, and to the part with a run what it knows of that run."""
    whole = replace(
        log,
        name=facts.file if facts is not None else Path(log.source).relative_to(folder).as_posix(),
        study=study.study.id,
        origin=_origin(folder),
        averaged_over=study.study.averaged_over,
    )
    for run, records in _by_run(log.records):
        known = of_runs.get(run.start) if run is not None else None
        yield _with_facts(
            replace(whole, records=records), folder, study, facts, known or facts or _Known(), run=run
        )


def _by_run(records: Sequence[Record]) -> Iterator[tuple[Run | None, list[Record]]]:
    """Yield each run with what follows it, after what stands before the first."""
    run: Run | None = None
    part: list[Record] = []
    for record in records:
        if isinstance(record, Run):
            yield run, part
            run, part = record, []
        part.append(record)
    yield run, part


def _with_facts(
    log: Log, folder: Path, study: Study, facts: LogFacts | None, known: _Known, *, run: Run | None
) -> Log:
    made: list[Setting] = []
    if known.command is not None:
        made += command_settings(known.command, origin="command")
    stated = known.stated_command
    if known.stated_command_file is not None:
        stated = (folder / known.stated_command_file).read_text(encoding="utf-8")
    if stated is not None:
        made += _stated(stated, run)
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
            name: tuple(_target_settings(_filesystem_words(table, folder), "study"))
            for name, table in study.filesystems.items()
        },
    )


def _stated(text: str, run: Run | None) -> Iterator[Setting]:
    """Yield the settings of a stated command; of several that of the run, or none where it is not clear."""
    several = list(commands(Text(text)))
    if len(several) > 1 and run is not None:
        own = own_commands(several, run)
        text = own[0].words if len({command.words for command in own}) == 1 else ""
    return command_settings(text, origin="stated") if text else iter(())


def _workload(study: Study, tool: str) -> Iterator[Setting]:
    for key, value in study.workload.items():
        text = value if isinstance(value, str) else " ".join(value)
        yield Setting(key=f"{tool}.{key}", value=text, origin="study")


_FILESYSTEM_WORDS: Final = {"version": "filesystem_version", "tools": "filesystem_tools"}


def _filesystem_words(table: Mapping[str, str], folder: Path) -> dict[str, str]:
    words = {_FILESYSTEM_WORDS.get(key, key): value for key, value in table.items()}
    if "provision" in words:
        words["provision"] = (folder / words["provision"]).read_text(encoding="utf-8").strip()
    return words


def _is_launched(folder: Path) -> bool:
    """Whether a folder is that of a launched run; ``run.json`` is also what people call fio's own output."""
    path = folder / RUN_FILE
    try:
        return path.is_file() and b'"fio version"' not in path.read_bytes()
    except OSError:
        return True  # which is said when it is read


def _logs_of_run(folder: Path) -> Iterator[Log]:
    """Read a run that was launched, and hold its files against the hashes that were recorded."""
    path = folder / RUN_FILE
    try:
        facts = RunFacts.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        problems = "; ".join(_problems(error)) if isinstance(error, ValidationError) else error.strerror
        yield _said(path, "BAD_STUDY", f"The run's record cannot be used: {problems}.")
        return
    if facts.version is not None and facts.version > RUN_SCHEMA:
        message = (
            f"A newer version of fsbench_kit wrote the run's record (schema {facts.version}, not {RUN_SCHEMA})."
        )
        yield _said(path, "NEWER_RECORD", message)
    names = [*facts.logs, *(entry.name for entry in sorted(folder.iterdir()) if _is_fio_log(entry))]
    said = [condition.diagnostic for condition in facts.conditions]
    for name in dict.fromkeys(names):
        if (changed := _changed(folder / name, facts.sha256.get(name))) is not None:
            yield Log(source=str(folder / name), records=[changed])
        log = _read_file(folder / name)
        records, said = [*log.records, *said], []
        yield replace(
            log,
            name=f"{folder.name}/{name}",
            records=records,
            study=facts.study,
            origin=_origin(folder),
            stage=facts.stage,
            round=facts.round,
            order=facts.order,
            target=facts.target,
            workload=facts.workload,
            filesystem=facts.filesystem,
            host=facts.host,
            started_at=_naive_utc(facts.started_at),
            ended_at=_naive_utc(facts.ended_at),
            duration=facts.duration,
            status=facts.status,
            exit_code=facts.exit_code,
            settings=(
                *_target_settings(facts.settings, "environment"),
                Setting(key="command", value=_command(facts.argv), origin="command"),
            ),
        )


def _command(argv: Sequence[str]) -> str:
    """Write a command line without the folders of programs, which tell of a person's machine and not of a run."""
    return " ".join(Path(word).name if word.startswith("/") else word for word in argv)


def _changed(path: Path, recorded: str | None) -> Diagnostic | None:
    """Hold a file, as it is on disk, against the hash that was recorded of it."""
    try:
        with opened(path) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None  # which is said when it is read
    message = "The file's SHA-256 is not the one that was recorded when it was made."
    return None if found == recorded else Diagnostic(code="CHANGED_SINCE_RECORDED", message=message)


def _settings(table: Mapping[str, str], origin: Origin) -> Iterator[Setting]:
    return (Setting(key=key, value=value, origin=origin) for key, value in table.items())


def _target_settings(table: Mapping[str, str], origin: Origin) -> Iterator[Setting]:
    """Yield settings, among them those that the commands stand for which made the target."""
    made = provision_settings(table.get("provision", ""), origin=origin)
    yield from (setting for setting in made if setting.key not in table)
    yield from _settings(table, origin)


def _naive_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment


def _read_file(path: Path, *, may_be_pipe: bool = False) -> Log:
    fio_log = log_file(path)
    if fio_log is not None:
        return _FioLog(source=str(path), file=fio_log)
    try:
        file = opened(path, may_be_pipe=may_be_pipe)
    except OSError as error:
        return _unreadable(str(path), error)
    with file:
        return _read_open(file, str(path))


def _read_open(file: BinaryIO, source: str) -> Log:
    try:
        data, records = read_file(file, source)
    except OSError as error:
        return _unreadable(source, error)
    return Log(source=source, data=data, records=records)


def _unreadable(source: str, error: OSError) -> Log:
    message = f"The file cannot be read: {error.strerror or error}."
    return Log(source=source, records=[Diagnostic(code="UNREADABLE", message=message)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _FioLog(Log):
    """A log file of fio, which is one of those of its run, and is not held in memory."""

    file: LogFile


def _is_fio_log(path: Path) -> bool:
    return path.is_file() and log_file(path) is not None


def _with_fio_logs(logs: Sequence[Log]) -> Iterator[Log]:
    """Yield logs, where log files that fio wrote in one run are one run: that of their report, if there is one.

    Their names tell which of a folder belong together, and to which report.
    """
    others = [log for log in logs if not isinstance(log, _FioLog)]
    groups: dict[tuple[Path, str, str], list[_FioLog]] = {}
    for log in logs:
        if isinstance(log, _FioLog):
            name = log.file.name
            groups.setdefault((log.file.path.parent, name.prefix, name.rest), []).append(log)
    for (folder, prefix, rest), group in groups.items():
        files = [log.file for log in group]
        found = _report(others, folder, prefix)
        if found is None:
            run, sums, figures = run_of_logs(files, group[0].tool_version)
            source = group[0].source if len(group) == 1 else str(folder / f"{prefix}_*{rest}")
            records = list(group[0].records)
            records += [run, *figures.blocks, *figures.checks] if run.measurements else []
            yield replace(group[0], source=source, data=sums, records=records)
        else:
            index, report = found
            run, figures = with_logs(report, files, others[index].tool_version)
            records = list(others[index].records)
            place = next(place for place, record in enumerate(records) if record is report)
            records[place : place + 1] = [run, *figures.blocks, *figures.checks]
            others[index] = replace(others[index], records=records)
        for path, diagnostics in figures.diagnostics.items():
            yield Log(source=str(path), records=diagnostics)
    yield from others


def _report(logs: Sequence[Log], folder: Path, prefix: str) -> tuple[int, Run] | None:
    """Return the run of a report in a folder that wrote log files of a name, and in which log it is.

    A later run writes over the files of an earlier one.
    """
    runs = [
        (index, record)
        for index, log in enumerate(logs)
        if Path(log.source).parent == folder
        for record in log.records
        if isinstance(record, Run) and wrote(record, prefix)
    ]
    return max(runs, key=lambda found: found[1].ended_at or datetime.min, default=None)


_ORIGIN_FOLDERS: Final[dict[str, StudyOrigin]] = {
    "published": "published",
    "recorded": "recorded",
    "replicated": "recorded",
    "runs": "launched",
}


def _origin(folder: Path) -> StudyOrigin | None:
    """Tell by the folder of ``raw_results`` in which a study stands."""
    parts = folder.resolve().parts
    for root, kind in pairwise(parts):
        if root == "raw_results" and kind in _ORIGIN_FOLDERS:
            return _ORIGIN_FOLDERS[kind]
    return None
