"""What `fsbench_kit.launch.hosts` calls on another host: starting a launch that runs by itself, and polling it.

The launch is a separate process there that does not depend on any connection. It holds a lock while it lives and
leaves its exit code when it ends; finished runs are in its folder.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Final, NamedTuple

from fsbench_kit.data.files import RUN_FILE
from fsbench_kit.launch.dry_runs import dry_run
from fsbench_kit.launch.events import Event, Note
from fsbench_kit.launch.plan import Plan, read_plan
from fsbench_kit.launch.study_files import PLAN, SHARED
from fsbench_kit.launch.trial import try_plan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


_MOST: Final = 64 * 2**20
"""Once this many bytes are collected, further runs wait for the next poll."""
_OUTPUT: Final = 4000
_FSBENCH: Final = "import sys; from fsbench_kit.cli import main; sys.exit(main())"
_KEEP_EXIT: Final = '"$@"; echo $? > "$0"'


class Block(NamedTuple):
    """A launch on a host: a folder below the home directory, a folder for a study in it, and the launch's name."""

    folder: str
    study: str
    name: str

    @property
    def root(self) -> Path:
        """The directory to which relative directories in its plan refer."""
        return Path.home() / self.folder

    @property
    def place(self) -> Path:
        """The folder of its study."""
        return self.root / self.study

    def file(self, kind: str) -> Path:
        """Return the path of a file that is kept beside its folder."""
        return self.place / f".{self.name}.{kind}"


@dataclass(frozen=True, slots=True)
class LaunchState:
    """The state of a launch.

    Attributes
    ----------
    is_running
        Whether it is still running.
    exit_code
        The exit code of its command; ``None`` if it was killed.
    files
        The files in its folder besides the runs, such as its plan.
    runs
        Run's name -> the files in its folder, for some of the runs that are not yet known here.
    is_all
        Whether these are all of the unknown runs.
    output
        The end of the command's output.
    """

    is_running: bool
    exit_code: int | None
    files: dict[str, bytes]
    runs: dict[str, dict[str, bytes]]
    is_all: bool
    output: str


def begin(block: Block, plan: str, study: str) -> None:
    """Start a launch, or continue one that ended too early; leave a running one alone.

    Parameters
    ----------
    block
        The launch.
    plan
        The plan, as text.
    study
        The study that its runs belong to.
    """
    block.place.mkdir(parents=True, exist_ok=True)
    with _lock(block) as lock:
        if lock is None:
            return
        (block.place / SHARED).write_text(study, encoding="utf-8")
        block.file("exit").unlink(missing_ok=True)
        words = ["--resume", str(block.place / block.name)]
        if not (block.place / block.name / PLAN).is_file():
            block.file("toml").write_text(plan, encoding="utf-8")
            words = [str(block.file("toml")), "--study", block.name, "--to", str(block.place)]
        with block.file("log").open("wb") as log:
            process = subprocess.Popen(
                (
                    "sh",
                    "-c",
                    _KEEP_EXIT,
                    str(block.file("exit")),
                    sys.executable,
                    "-P",
                    "-c",
                    _FSBENCH,
                    "launch",
                    *words,
                ),
                cwd=block.root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[lock],
            )
        block.file("pid").write_text(str(process.pid), encoding="ascii")


def poll(block: Block, known: Collection[str]) -> LaunchState:
    """Return the state of a launch, with runs that are not yet known here."""
    with _lock(block) as lock:
        is_running = lock is None
    own = block.place / block.name
    new = [run for run in sorted(path.parent for path in own.glob(f"*/{RUN_FILE}")) if run.name not in known]
    runs: dict[str, dict[str, bytes]] = {}
    size = 0
    while new and size < _MOST:
        run = new.pop(0)
        runs[run.name] = {str(path.relative_to(run)): _content(path) for path in run.rglob("*") if path.is_file()}
        size += sum(map(len, runs[run.name].values()))
    exit_code = _content(block.file("exit")).strip()
    return LaunchState(
        is_running=is_running,
        exit_code=int(exit_code) if exit_code else None,
        files={path.name: path.read_bytes() for path in own.glob("*") if path.is_file()},
        runs=runs,
        is_all=not new,
        output=_content(block.file("log"))[-_OUTPUT:].decode(errors="replace").strip(),
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """A host's answer about a plan before its launch.

    Attributes
    ----------
    lines
        What to print.
    problems
        Why the plan does not work there.
    """

    lines: list[str]
    problems: list[str]


def try_there(folder: str, plan: str) -> Answer:
    """Try a plan, as `fsbench launch --check` does."""
    messages: list[str] = []

    def tell(event: Event) -> None:
        if isinstance(event, Note):
            messages.append(event.text)

    with _planned(folder, plan) as (root, found):
        trial = try_plan(found, root, tell, to=root)
    success = () if trial.failures else (trial.success,)
    return Answer([*messages, *trial.notes, *trial.estimates, *success], list(trial.failures))


def preview_there(folder: str, plan: str, *, commands: bool) -> Answer:
    """Return what a plan would run, without running it."""
    with _planned(folder, plan) as (root, found):
        preview = dry_run(found, root, to=root)
    return Answer([str(preview), *(preview.commands if commands else ())], [])


@contextmanager
def _planned(folder: str, plan: str) -> Iterator[tuple[Path, Plan]]:
    """Yield the folder for launches, and the plan as read on this host."""
    root = Path.home() / folder
    root.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".toml", dir=root) as file:
        file.write(plan)
        file.flush()
        yield root, read_plan(Path(file.name))


def _content(path: Path) -> bytes:
    """Return the content of a file, or nothing if it does not exist."""
    return path.read_bytes() if path.is_file() else b""


def stop(block: Block) -> None:
    """Interrupt a running launch, which then removes the traces of its current run."""
    with _lock(block) as lock:
        if lock is None:
            os.killpg(int(block.file("pid").read_text(encoding="ascii")), signal.SIGINT)


@contextmanager
def _lock(block: Block) -> Iterator[int | None]:
    """Hold a launch's lock, or yield ``None`` if the launch is running and holds it."""
    try:
        lock = os.open(block.file("lock"), os.O_RDWR | os.O_CREAT)
    except FileNotFoundError:  # it was never started
        yield -1
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield None
    else:
        yield lock
    finally:
        os.close(lock)
