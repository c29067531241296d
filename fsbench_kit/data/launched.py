"""Launched runs: a folder with their logs and the record of the launch, ``run.json``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from fsbench_kit.data.files import RUN_FILE, SAMPLES_FILE, opened
from fsbench_kit.data.log import Log, is_fio_log, log_with
from fsbench_kit.data.problems import problems
from fsbench_kit.data.study_facts import study_origin, target_settings
from fsbench_kit.formats.machine_samples import series
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.records import Block, Diagnostic, Setting
from fsbench_kit.model.vocabulary import DIAGNOSTICS, RUN_SCHEMA


class RunCondition(BaseModel):
    """What may spoil the figures of a run: a key of `fsbench_kit.model.vocabulary.DIAGNOSTICS` and a text."""

    code: Annotated[str, StringConstraints(min_length=1)]
    message: str

    @property
    def diagnostic(self) -> Diagnostic:
        """The condition as a diagnostic of the run."""
        if self.code in DIAGNOSTICS:
            return Diagnostic(code=self.code, message=self.message)
        return Diagnostic(code="UNKNOWN_CONDITION", message=f"The run's record says {self.code}: {self.message}")


class RunFacts(BaseModel):
    """The ``run.json`` of a run: what its launch recorded. Keys that are not listed here are for people only."""

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


def run_facts(folder: Path) -> RunFacts:
    """Return what the launch recorded about a run.

    Raises
    ------
    InputError
        If the record cannot be used.
    """
    path = folder / RUN_FILE
    try:
        return RunFacts.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        why = "; ".join(problems(error, RunFacts)) if isinstance(error, ValidationError) else error.strerror
        raise InputError(f"The run's record cannot be used: {why}.", file=path) from error


def log_names(folder: Path, facts: RunFacts) -> list[str]:
    """Return the names of a run's logs: those recorded, and the log files that fio wrote next to them."""
    names = [*facts.logs, *(entry.name for entry in sorted(folder.iterdir()) if is_fio_log(entry))]
    return list(dict.fromkeys(names))


def with_run_facts(logs: Sequence[Log], folder: Path, names: Sequence[str], facts: RunFacts) -> Iterator[Log]:
    """Add what the launch recorded to the logs of a run, given their names, and check their hashes."""
    if facts.version is not None and facts.version > RUN_SCHEMA:
        message = (
            f"A newer version of fsbench_kit wrote the run's record (schema {facts.version}, not {RUN_SCHEMA})."
        )
        yield log_with(folder / RUN_FILE, "NEWER_RECORD", message)
    diagnostics = [condition.diagnostic for condition in facts.conditions]
    beside, problems = _samples(folder, facts)
    if problems:
        yield Log(source=str(folder / SAMPLES_FILE), records=problems)
    for name, log in zip(names, logs, strict=True):
        if (changed := _changed(folder / name, facts.sha256.get(name))) is not None:
            yield Log(source=str(folder / name), records=[changed])
        yield replace(
            log,
            name=f"{folder.name}/{name}",
            **facts.model_dump(include=_OF_RUNS),
            origin=study_origin(folder),
            started_at=_naive_utc(facts.started_at),
            ended_at=_naive_utc(facts.ended_at),
            settings=(
                *target_settings(facts.settings, "environment"),
                Setting(key="command", value=_command(facts.argv), origin="command"),
            ),
            beside=beside if log.has_runs else (),
        )
        if log.has_runs:
            beside = ()
        if diagnostics:
            yield Log(source=log.source, records=diagnostics)
            diagnostics = []


_OF_RUNS: Final = {
    *("study", "stage", "round", "order", "target", "workload", "filesystem", "host"),
    *("duration", "status", "exit_code"),
}


def _command(argv: Sequence[str]) -> str:
    """Return a command line without the folders of programs, which describe the machine rather than the run."""
    return " ".join(Path(word).name if word.startswith("/") else word for word in argv)


def _samples(folder: Path, facts: RunFacts) -> tuple[tuple[Block, ...], list[Diagnostic]]:
    """Return the series that the launch sampled from the machine, and their diagnostics."""
    if SAMPLES_FILE not in facts.sha256:
        return (), []  # the launch took none
    path = folder / SAMPLES_FILE
    try:
        with opened(path) as file:
            found = list(series(file.read()))
    except OSError as error:
        return (), [Diagnostic(code="UNREADABLE", message=f"The file cannot be read: {error.strerror or error}.")]
    problems = [
        each for each in (_changed(path, facts.sha256[SAMPLES_FILE]), *found) if isinstance(each, Diagnostic)
    ]
    return tuple(each for each in found if isinstance(each, Block)), problems


def _changed(path: Path, recorded: str | None) -> Diagnostic | None:
    """Return a diagnostic if a file on disk does not have the hash that was recorded for it."""
    try:
        with opened(path) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None  # reading it reports the error
    message = "The file's SHA-256 is not the one that was recorded when it was made."
    return None if found == recorded else Diagnostic(code="CHANGED_SINCE_RECORDED", message=message)


def _naive_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment
