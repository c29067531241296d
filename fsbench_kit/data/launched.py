"""Runs that were launched: a folder with their logs, and beside these what the launch recorded, ``run.json``."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from fsbench_kit.data.files import opened
from fsbench_kit.data.log import Log, is_fio_log, log_with, read_log
from fsbench_kit.data.study import problems
from fsbench_kit.data.study_facts import study_origin, target_settings
from fsbench_kit.model.records import Diagnostic, Setting
from fsbench_kit.model.vocabulary import DIAGNOSTICS, RUN_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RUN_FILE: Final = "run.json"


class RunCondition(BaseModel):
    """What may spoil a run's figures: a key of `fsbench_kit.model.vocabulary.DIAGNOSTICS`, and a sentence."""

    code: Annotated[str, StringConstraints(min_length=1)]
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


def is_launched(folder: Path) -> bool:
    """Whether a folder is that of a launched run; ``run.json`` is also what people call fio's own output."""
    path = folder / RUN_FILE
    try:
        return path.is_file() and b'"fio version"' not in path.read_bytes()
    except OSError:
        return True  # which is said when it is read


def logs_of_run(folder: Path) -> Iterator[Log]:
    """Read a run that was launched, and hold its files against the hashes that were recorded."""
    path = folder / RUN_FILE
    try:
        facts = RunFacts.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        why = "; ".join(problems(error)) if isinstance(error, ValidationError) else error.strerror
        yield log_with(path, "BAD_STUDY", f"The run's record cannot be used: {why}.")
        return
    if facts.version is not None and facts.version > RUN_SCHEMA:
        message = (
            f"A newer version of fsbench_kit wrote the run's record (schema {facts.version}, not {RUN_SCHEMA})."
        )
        yield log_with(path, "NEWER_RECORD", message)
    names = [*facts.logs, *(entry.name for entry in sorted(folder.iterdir()) if is_fio_log(entry))]
    said = [condition.diagnostic for condition in facts.conditions]
    for name in dict.fromkeys(names):
        if (changed := _changed(folder / name, facts.sha256.get(name))) is not None:
            yield Log(source=str(folder / name), records=[changed])
        log = read_log(folder / name)
        records, said = [*log.records, *said], []
        yield replace(
            log,
            name=f"{folder.name}/{name}",
            records=records,
            study=facts.study,
            origin=study_origin(folder),
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
                *target_settings(facts.settings, "environment"),
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


def _naive_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment
