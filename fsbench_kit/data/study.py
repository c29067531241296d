"""The description of a study: what is known about it besides its logs, in ``study.toml`` in its folder.

A *study* is a folder with such a file, whose ``[[log]]`` tables name its logs; see ``docs/study.md``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from fsbench_kit.data.absent import said_of_absent
from fsbench_kit.data.files import STUDY_FILE
from fsbench_kit.data.files import paths as paths_of
from fsbench_kit.data.names import NameTemplate
from fsbench_kit.data.problems import problems
from fsbench_kit.formats import TOOLS
from fsbench_kit.model.errors import InputError, RequestError
from fsbench_kit.model.toml_lines import lines_of_keys

Name = Annotated[str, StringConstraints(min_length=1)]
Counted = Annotated[int, Field(ge=1)]


class _TomlTable(BaseModel):
    """A table of a study's description; unknown keys are errors."""

    # Most of what is read has no study, and building the models takes a tenth of what loading the reader takes.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def _template(text: str) -> str:
    try:
        NameTemplate(text)
    except RequestError as error:
        raise PydanticCustomError("no_template", "{error}", {"error": ". ".join(str(error).split("\n"))}) from None
    return text


def _several(names: object) -> object:
    return (names,) if isinstance(names, str) else names


class StudyFacts(_TomlTable):
    """``[study]``: what the study is.

    Attributes
    ----------
    id
        A short name for the study, in tables and files.
    title
        What the study is called on pages.
    language
        The language of the article that published it. For readers only.
    year
        The year in which it was published. For readers only.
    published_runs
        How many runs each published figure comes from. For readers only.
    averaged_over
        How many runs each published figure is the mean of.
    transcribed
        Whether the figures were taken from prose, so that there is no log. For readers only.
    names
        What the names of its files mean, from its folder on: a template, or several; the first that fits counts.
    """

    id: Name
    title: Name
    language: str | None = None
    year: int | None = None
    published_runs: int | None = Field(None, ge=1)
    averaged_over: int | None = Field(None, ge=2)
    transcribed: bool = False
    names: Annotated[tuple[Annotated[str, AfterValidator(_template)], ...], BeforeValidator(_several)] = ()


def _known_tool(tool: str) -> str:
    if tool not in TOOLS:
        raise PydanticCustomError("unknown_tool", "Input should be one of {tools}", {"tools": ", ".join(TOOLS)})
    return tool


class RunKnowledge(_TomlTable):
    """What a study can say of runs.

    Attributes
    ----------
    tool_version
        The version of the tool.
    filesystem
        The filesystem it ran on.
    host
        The machine it ran on.
    round
        In which pass over all filesystems the run was made, counted from 1; runs of one round are pairs.
    command
        The command that ran.
    stated_command
        The command that an article says ran.
    stated_command_file
        Or the file that holds that command.
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


class RunOfLog(RunKnowledge):
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


class LogFacts(RunKnowledge):
    """``[[log]]``: a file with logs, and what the study says of it.

    Attributes
    ----------
    file
        Relative to the study's folder.
    tool
        Which tool printed it.
    run
        What holds for one of its runs only.
    """

    file: Name
    tool: Annotated[str, AfterValidator(_known_tool)]
    run: tuple[RunOfLog, ...] = ()


Choice = Annotated[dict[str, str | int | list[str | int]], Field(default_factory=dict)]
"""A selection of figures: for each column a value, or a list of several."""


class ClaimFacts(_TomlTable):
    """``[[claim]]``: a sentence of the article, and what it says as data.

    Attributes
    ----------
    id
        A name for the claim.
    says
        The sentence, in your own words.
    place
        Where it stands in the article.
    relation
        What it says of figures or of runs: a name that ``fsbench_kit.claims`` knows.
    unjudged
        Or else why nothing here can tell whether it is so.
    metric
        The metric it speaks of.
    statistic
        The statistic of that metric, such as ``mean`` or ``p99``.
    where
        In which cells: columns of the measurements, and ``pattern``. A list stands for each of its values.
    of
        The runs it speaks of.
    than
        The runs they are compared with; without it, those of every other filesystem.
    over
        What a list in `where` means: each of its values, their sum or mean, or the ratio of the first to the
        second.
    groups
        What a list in `of` or `than` means: each of its values, or their sum or mean.
    size
        The stated size as the article gives it, with its unit: ``2``, ``20 MB/s``, ``about 85 %``, ``5 to 15``.
    band
        What counts as that size, from the first up to the second, where that is not what rounds to its digits.
    share
        In how many cells it has to be so: ``most`` is more than half of them.
    setting
        Which setting, where it is about how runs were made.
    """

    id: Name
    says: Name
    place: Name | None = None
    relation: Name | None = None
    unjudged: Name | None = None
    metric: Name | None = None
    statistic: Name = "value"
    where: Choice
    of: Choice
    than: Choice
    over: Literal["each", "sum", "mean", "ratio"] = "each"
    groups: Literal["each", "sum", "mean"] = "each"
    size: Name | None = None
    band: tuple[Name, Name] | None = None
    share: Literal["all", "most"] = "all"
    setting: Name | None = None


class StudyDescription(_TomlTable):
    """A study's description, ``study.toml``; ``docs/study.md`` has an example.

    Attributes
    ----------
    study
        What the study is; needed.
    system
        Facts that hold for all runs: settings by name.
    filesystems
        Facts that hold for the runs on one filesystem; ``provision`` names the file with the commands that made
        it, ``version`` and ``tools`` are those of the filesystem.
    workload
        What ran, where the logs do not say.
    log
        The files with logs, and what is known of each.
    claim
        What an article says of the figures.
    """

    study: StudyFacts
    system: dict[str, str] = {}
    filesystems: dict[str, dict[str, str]] = {}
    workload: dict[str, str | int | list[str]] = {}
    log: tuple[LogFacts, ...] = ()
    claim: tuple[ClaimFacts, ...] = ()


def read_study(folder: Path) -> StudyDescription:
    """Read the description of a study.

    Raises
    ------
    InputError
        If the file cannot be read or is invalid; the message names each place.
    """
    path = folder / STUDY_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"the study's description cannot be read: {error.strerror}", file=path) from error
    except UnicodeDecodeError as error:
        raise InputError("the study's description is not UTF-8", file=path) from error
    try:
        study = StudyDescription.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"this is not TOML: {error}", file=path) from error
    except ValidationError as error:
        lines, keys = lines_of_keys(text), [problem["loc"] for problem in error.errors()]
        outwards = (key[: len(key) - cut] for cut in range(max(map(len, keys))) for key in keys)
        line = next((lines[key] for key in outwards if key in lines), None)
        raise InputError("\n".join(problems(error, StudyDescription)), file=path, line=line) from error
    for name in companions(study):
        if not (folder / name).is_file():
            raise InputError(f"it names the file {name!r}, which is not in its folder", file=path)
    _check_named_once(study, folder)
    return study


def _check_named_once(study: StudyDescription, folder: Path) -> None:
    """Raise if a file is named twice, since each of its runs would count twice."""
    lines = table_lines(folder, "log")
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


def table_lines(folder: Path, name: str) -> list[int]:
    """Return the first lines of the tables of an array, such as those of ``log.run``."""
    lines = lines_of_keys((folder / STUDY_FILE).read_text(encoding="utf-8"))
    return [
        line
        for place, line in lines.items()
        if isinstance(place[-1], int) and [key for key in place if isinstance(key, str)] == name.split(".")
    ]


def study_folders(*paths: str | PathLike[str] | Iterable[str | PathLike[str]]) -> Iterator[Path]:
    """Yield the folders of studies at or below the given paths.

    Raises
    ------
    InputError
        If there is no study.
    """
    searched = list(paths_of(*paths))
    for path in searched:
        if (nothing := said_of_absent(path)) is not None:
            raise InputError(nothing, file=path)
    found = [file.parent for path in searched for file in sorted(path.rglob(STUDY_FILE))]
    if not found:
        names = ", ".join(map(str, searched))
        raise InputError(f"there is no study in {names}", hint=f"A study is a folder with a {STUDY_FILE}.")
    yield from dict.fromkeys(found)


def companions(study: StudyDescription) -> Iterator[str]:
    """Yield the names of the files of a study that contain commands instead of logs."""
    known: Iterator[RunKnowledge] = (of for log in study.log for of in (log, *log.run))
    yield from (of.stated_command_file for of in known if of.stated_command_file is not None)
    yield from (table["provision"] for table in study.filesystems.values() if "provision" in table)
