"""The commands that prepare a target: run one by one, timed, and recorded with their output."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import time
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.consent import Consent
from fsbench_kit.launch.devices import LABEL, DeviceError
from fsbench_kit.launch.tools import find_program, program_environment
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Command = tuple[str, ...]

_TIMEOUT: Final = 1800.0  # seconds; mkfs on a large disk takes minutes, as does writing a large image

_WARM_UP: Final[Command] = ("true",)
"""Run before each command. The first program started after a pause takes 0.2 ms longer, because the code that
starts and awaits it has left the processor's caches; umount itself takes 2 ms."""

_IGNORED: Final = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores these signals, and its children would inherit that."""

UMOUNT: Final[Command] = ("umount", "mount")


@dataclass(frozen=True, slots=True)
class Step:
    """A command that prepared or removed a target, with its output.

    Attributes
    ----------
    elapsed, user, system
        Wall-clock and processor time in seconds.
    minor_faults, major_faults
        Page faults.
    """

    argv: tuple[str, ...]
    output: str
    elapsed: float
    user: float
    system: float
    minor_faults: int
    major_faults: int


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of a target, as they would be typed in an empty folder.

    Attributes
    ----------
    make
        Commands that prepare it. Names that are only known then have placeholders, such as ``/dev/loopN``.
    directory
        The directory for the workload, relative to the folder.
    remove
        Commands that remove it.
    """

    make: tuple[Command, ...]
    directory: str
    remove: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Restoring:
    """How each run gets a filesystem in the state in which it was created and aged.

    Attributes
    ----------
    keep
        Commands to run once, when the filesystem is in that state.
    make
        Commands before each run, on a filesystem with snapshots or in a folder for the copy.
    directory
        Where the run finds the restored state.
    remove
        Commands after each run.
    copied
        A lower bound on the bytes written to copy the image; ``None`` if the filesystem has snapshots.
    """

    keep: tuple[Command, ...]
    make: tuple[Command, ...]
    directory: str
    remove: tuple[Command, ...]
    copied: int | None = None


@dataclass(slots=True)
class Ready:
    """A target that is ready for a run.

    Attributes
    ----------
    directory
        The directory for the workload.
    steps
        The commands run for it so far; after the run, this includes those that removed it.
    filesystem
        The mounted filesystem.
    node
        The device itself, if it has no filesystem.
    members
        The images or devices that hold its data, if the kernel does not show them.
    servers
        IDs of processes that serve its filesystem, if the kernel does not.
    settings
        Further facts about it, keyed by `fsbench_kit.model.vocabulary.SETTINGS`.
    names
        Placeholder in `Commands` -> what it stands for.
    consent
        The block devices that may be written.
    devices
        The target's block devices, as its commands name them.
    written
        Those that commands have received so far.
    text
        The commands that prepared it, with placeholders, so that they are the same for each run.
    """

    directory: Path
    steps: list[Step] = field(default_factory=list)
    filesystem: str | None = None
    node: Path | None = None
    members: tuple[Path, ...] = ()
    servers: tuple[int, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    consent: Consent = field(default_factory=Consent)
    devices: tuple[str, ...] = ()
    written: set[str] = field(default_factory=set)
    text: str = ""

    def run(self, folder: Path, *commands: Command) -> None:
        """Run commands in a folder.

        Raises
        ------
        StepError
            If a command fails.
        """
        for command in commands:
            self._note(command)
            if not self.undo(folder, command):
                raise StepError(self.steps)

    def attempt(self, folder: Path, command: Command) -> None:
        """Run a command that may fail."""
        self._note(command)
        self.undo(folder, command)

    def undo(self, folder: Path, command: Command) -> bool:
        """Run a command that removes a target and may fail; return whether it succeeded."""
        named = {name for word in command for name in self._names.findall(word)} & set(self.devices)
        try:
            words = [self.meant(word) for word in command]
            nodes = [self.meant(name) for name in named]
        except DeviceError as error:
            self._refuse(command, str(error))
            return False
        succeeded = run_step(self.steps, folder, *words, may_fail=True, devices=(*nodes, *self.names.values()))
        if succeeded:
            self.written |= named
        return succeeded

    @property
    def nodes(self) -> tuple[Path, ...]:
        """The block devices that were created for it or named twice."""
        named = (self.consent.node(name) for name in self.devices)
        return tuple(path for path in map(Path, (*named, *self.names.values())) if path.is_block_device())

    @contextmanager
    def overwriting(self, signature: str | None) -> Iterator[None]:
        """Check that the target's block devices may be overwritten, and record their content on exit.

        Parameters
        ----------
        signature
            The content that may be overwritten before the launch has created anything there.

        Raises
        ------
        StepError
            On entering, if one of them must not be overwritten.
        """
        for name in self.devices:
            problem = self.consent.problem(name, signature)
            if problem is not None:
                self._refuse(("check", name), problem)
                raise StepError(self.steps)
        try:
            yield
        finally:
            self.note()

    def note(self) -> None:
        """Record what this launch has created on block devices."""
        for name in self.written:
            with suppress(DeviceError):  # it is gone; without a record it is refused next time
                self.consent.note(name)

    def _refuse(self, command: Command, why: str) -> None:
        self.steps.append(Step(command, why, 0.0, 0.0, 0.0, 0, 0))

    def _note(self, command: Command) -> None:
        self.text += ("\n" if self.text else "") + " ".join(command)

    def meant(self, word: str) -> str:
        """Replace the placeholders in a word of a command.

        Raises
        ------
        DeviceError
            If it names a block device, and the name refers to another device by now.
        """
        return self._names.sub(lambda found: self._meaning(found[0]), word)

    def _meaning(self, name: str) -> str:
        return self.consent.node(name) if name in self.devices else self.names[name]

    @property
    def _names(self) -> re.Pattern[str]:
        """Return a pattern for placeholders, longest first: /dev/mapper/ab before /dev/mapper/a."""
        longest_first = sorted((*self.devices, *self.names), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)) or "(?!)")


class StepError(Exception):
    """Preparing a target failed at the last of these steps."""

    def __init__(self, steps: list[Step]) -> None:
        super().__init__(f"{' '.join(steps[-1].argv)}: {steps[-1].output.strip()}")
        self.steps = steps


def run_step(
    steps: list[Step], folder: Path, *argv: str, may_fail: bool = False, devices: Collection[str] = ()
) -> bool:
    """Run one command in a folder, record its output, and return whether it succeeded.

    Parameters
    ----------
    devices
        The block devices that it may receive: those created here, and those that `Ready` has checked.

    Raises
    ------
    StepError
        If it fails and must not.
    LaunchError
        If it names another block device, which no target should do.
    """
    for path in (part for word in argv for part in re.split("[=,]", word)):
        if path.startswith("/") and path not in devices and Path(path).is_block_device():
            raise LaunchError(f"cannot run {argv[0]} on {path}: it was not checked that it may be overwritten")
    _run(folder, _WARM_UP)
    step, succeeded = _run(folder, argv)
    steps.append(step)
    if not (succeeded or may_fail):
        raise StepError(steps)
    return succeeded


def _run(folder: Path, argv: Command) -> tuple[Step, bool]:
    program, environment = find_program(argv[0]) or argv[0], program_environment()
    with (
        chdir(folder),
        os.fdopen(os.memfd_create("output"), "w+", encoding="utf-8", errors="replace") as output_file,
    ):
        files = (
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, output_file.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, output_file.fileno(), 2),
        )
        # Timed until the process ends, hence no subprocess.run, which adds 0.3 ms of its own.
        start = time.perf_counter()
        try:
            process = os.posix_spawn(program, argv, environment, file_actions=files, setsigdef=_IGNORED)
        except OSError as error:
            return Step(argv, f"cannot be started: {error.strerror}", 0.0, 0.0, 0.0, 0, 0), False
        ended = os.pidfd_open(process)
        in_time, _, _ = select.select([ended], [], [], _TIMEOUT)
        elapsed = time.perf_counter() - start
        os.close(ended)
        if not in_time:
            os.kill(process, signal.SIGKILL)
        _, status, used = os.wait4(process, 0)
        output_file.seek(0)
        output = output_file.read() if in_time else f"did not finish within {_TIMEOUT:g} s"
    step = Step(argv, output, elapsed, used.ru_utime, used.ru_stime, used.ru_minflt, used.ru_majflt)
    return step, bool(in_time) and status == 0


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """Create a folder and remove it on exit."""
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def launch_name(folder: Path) -> str:
    """Return the name for things that are created in a target's folder and outlive the process.

    It is derived from the scratch folder; `fsbench_kit.launch.cleanup` finds the remains of a killed launch by it.
    """
    return f"{scratch_name(folder.parent)}-{folder.name}"


def scratch_name(scratch: Path) -> str:
    """Return the prefix of such names for the launch that a scratch folder belongs to."""
    return f"{LABEL}-{scratch.name.rpartition('-')[2]}"


def clear_command(device: str) -> Command:
    """Return the command that removes all signatures from a device, so that no old one is mistaken for the new."""
    return ("wipefs", "--all", device)


def unmount(steps: list[Step], folder: Path, name: str = "mount") -> None:
    """Unmount a mount point in a folder.

    Raises
    ------
    LaunchError
        If this fails.
    """
    # A process of the tool may still be ending, and the mount be busy until then.
    if run_step(steps, folder, "umount", name, may_fail=True):
        return
    if not run_step(steps, folder, "umount", "--lazy", name, may_fail=True):
        raise LaunchError(f"cannot unmount an image: {steps[-1].output.strip()}", file=folder)
