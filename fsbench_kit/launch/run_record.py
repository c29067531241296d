"""The record of a run: its ``run.json``."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.launch.environment import machine_settings
from fsbench_kit.launch.execution import STDERR, STDOUT, Execution
from fsbench_kit.launch.tools import not_installed
from fsbench_kit.model.conditions import Surroundings, conditions
from fsbench_kit.model.vocabulary import RUN_SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

    from fsbench_kit.launch.kernel_log import KernelErrors
    from fsbench_kit.launch.reading import Reading
    from fsbench_kit.launch.schedule import PlannedRun
    from fsbench_kit.launch.targets import Step
    from fsbench_kit.launch.tuning.applied import Applied
    from fsbench_kit.launch.workloads import Workload
    from fsbench_kit.model.records import Status

PREPARATION: Final = "preparation.txt"
CLEANUP: Final = "cleanup.txt"


@dataclass
class RunRecord:
    """The facts about one run, collected while it is made.

    Attributes
    ----------
    planned, folder
        Which run it is, and the folder of its files during the run.
    filesystem, steps, settings
        Facts about the target and the machine.
    before, after
        The state of the machine before and after the run.
    preparation, cleanup
        The outcome of the commands around the measured one. Their output is in `PREPARATION` and `CLEANUP`.
    execution
        The outcome of the tool; ``None`` until it was started.
    reading
        The result of reading its logs, if they were read.
    problem
        What failed about the target, if that is why the run failed.
    free_at_first
        The free space before the first run on this target.
    kernel_errors
        What the kernel reported during the run; ``None`` if its log cannot be read.
    tuned
        The kernel settings that were applied for the run.
    out_of_memory
        Whether the kernel killed a program of the run because it reached its memory limit.
    """

    planned: PlannedRun
    folder: Path
    filesystem: str | None = None
    steps: list[Step] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=machine_settings)
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    preparation: list[Execution] = field(default_factory=list)
    execution: Execution | None = None
    cleanup: list[Execution] = field(default_factory=list)
    reading: Reading | None = None
    problem: str | None = None
    free_at_first: int | None = None
    kernel_errors: KernelErrors | None = None
    tuned: Applied | None = None
    out_of_memory: bool = False
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        for name in (STDOUT, STDERR):
            (self.folder / name).touch()
        self.settings |= self.planned.target.asked | self.planned.workload.asked
        self.before["versions"] = versions(self.planned.workload)
        self.filesystem = self.planned.target.expected_filesystem
        for program in self.planned.target.programs[:1]:
            if program.version is not None:
                self.settings["filesystem_tools"] = program.version

    @property
    def logs(self) -> list[str]:
        """The existing files with figures."""
        return [name for name in self.planned.workload.logs if _is_not_empty(self.folder / name)]

    @property
    def failure(self) -> str | None:
        """Why the run is not ``ok``, from the outcome of its tool and from its log, which may say more."""
        read = self.reading.reason if self.reading is not None else None
        return "; ".join(filter(None, (self._failure, read))) or None

    @property
    def _failure(self) -> str | None:
        """Why the run failed, whatever its logs contain."""
        if lack := not_installed(*self.planned.workload.needs):
            return lack
        if self.preparation and self.preparation[-1].failure is not None:
            return f"the preparation failed: {self.preparation[-1].failure}"
        if self.out_of_memory:
            return "the run reached its memory limit, and the kernel killed one of its programs"
        if self.execution is not None and self.execution.failure is not None:
            return self.execution.failure
        if self.problem is not None:
            return self.problem
        if self.kernel_errors and self.kernel_errors.own:
            return f"the kernel reports errors: {'; '.join(self.kernel_errors.own)}"
        if self.logs != list(self.planned.workload.logs):
            return f"{self.planned.workload.tool} left no log"
        return None

    @property
    def status(self) -> Status:
        """The status that the logs show, unless something else failed.

        A failed run is partial if its log has measurements of steps that were finished before the failure.
        """
        read = self.reading.status if self.reading is not None else "failed"
        if self._failure is None:
            return read
        return "partial" if self.planned.workload.keeps_finished_steps and read != "failed" else "failed"

    @property
    def conditions(self) -> list[tuple[str, str]]:
        """The codes of conditions that may spoil the measurements, each with a sentence."""
        if not self.after:
            return []
        run = Surroundings(
            before=self.before,
            after=self._after,
            memory=int(self.settings.get("memory_limit", self.settings["memory"])),
            data=self.planned.workload.space,
            free_at_first=self.free_at_first,
        )
        return list(conditions(run))

    @property
    def _after(self) -> dict[str, Any]:
        """The state of the machine after the run, including what the kernel reported during it."""
        return self.after | ({"kernel_errors": asdict(self.kernel_errors)} if self.kernel_errors else {})

    @property
    def _moved(self) -> dict[str, str]:
        """The bytes that the disks moved during the run, as settings."""
        before, after = self.before.get("disks"), self.after.get("disks")
        if before is None or after is None:
            return {}
        return {
            "device_read": str(after["read_bytes"] - before["read_bytes"]),
            "device_written": str(after["written_bytes"] - before["written_bytes"]),
        }

    def to_json(self, *, study: str, order: int) -> dict[str, Any]:
        """Return the content of ``run.json``. Call this once the run's folder contains all other files."""
        execution = self.execution
        ended_at = execution.ended_at if execution else datetime.now(UTC)
        started_at = execution.started_at if execution else self.started_at
        settings = self.settings | self._moved
        return {
            "schema": RUN_SCHEMA,
            "study": study,
            "stage": self.planned.stage,
            "round": self.planned.round,
            "order": order,
            "target": self.planned.target.name,
            "workload": self.planned.workload.name,
            "tool": self.planned.workload.tool,
            "filesystem": self.filesystem,
            "host": settings.pop("host"),
            "argv": list(execution.argv) if execution else [],
            "exit_code": execution.exit_code if execution else None,
            "status": self.status,
            "started_at": started_at.isoformat(),
            "ended_at": ended_at.isoformat(),
            "duration": execution.duration if execution else (ended_at - started_at).total_seconds(),
            "logs": self.logs,
            "settings": settings,
            "conditions": [{"code": code, "message": message} for code, message in self.conditions],
            "environment": {
                "before": self.before,
                "after": self._after | ({"failure": self.failure} if self.failure else {}),
            },
            "provision": [asdict(step) for step in self.steps],
            "preparation": [_outcome(command) for command in self.preparation],
            "cleanup": [_outcome(command) for command in self.cleanup],
            "sha256": {
                str(path.relative_to(self.folder)): _sha256(path)
                for path in sorted(self.folder.rglob("*"))
                if path.is_file()
            },
        }


def _outcome(command: Execution) -> dict[str, Any]:
    return {
        "argv": list(command.argv),
        "exit_code": command.exit_code,
        "failure": command.failure,
        "started_at": command.started_at.isoformat(),
        "duration": command.duration,
    }


def versions(*workloads: Workload) -> dict[str, str]:
    """Return the versions of this package and of the programs of workloads, where known."""
    known = {program.name: program.version for workload in workloads for program in workload.programs}
    return {"fsbench_kit": version("fsbench-kit"), **{name: found for name, found in known.items() if found}}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_not_empty(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0
