"""Folders for what must not outlive a launch: images, targets, unfinished runs.

A scratch folder holds a lock while its launch lives; the kernel releases the lock when the process ends for any
reason. A scratch folder with a free lock was therefore left behind. The next launch on the machine finds it,
because a note in the directory for locks says where it is.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from filelock import FileLock, Timeout

from fsbench_kit.launch.cleanup import clean_up, remaining
from fsbench_kit.launch.environment import mounts
from fsbench_kit.launch.files import publish
from fsbench_kit.launch.locks import shared_directory
from fsbench_kit.launch.processes import end_marked
from fsbench_kit.launch.tuning.kernel import JOURNAL
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFIX: Final = ".fsbench-scratch-"
_UNLOCKED: Final = ".fsbench-unborn-"
_NOTE: Final = "fsbench-scratch-"
_LOCKING: Final = 60.0  # seconds, although it takes milliseconds
_LOCK: Final = "launch.lock"
TRIED_AGAIN: Final = "The next fsbench launch or fsbench devices tries again."
_OWNER: Final = "launch.json"  # not in the lock itself, which some versions of filelock truncate


@contextmanager
def scratch(place: Path, *, mark: str) -> Iterator[Path]:
    """Create a scratch folder in a directory, after removing those that killed launches left there.

    Parameters
    ----------
    place
        An existing directory.
    mark
        The mark that the launch's processes carry.

    Raises
    ------
    LaunchError
        If the directory cannot be written.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=_UNLOCKED, dir=place))
    except OSError as error:
        hint = "Name a directory in the plan that you can write to."
        raise LaunchError(f"cannot write here: {error.strerror}", file=place, hint=hint) from None
    try:
        with FileLock(folder / _LOCK):
            (folder / _OWNER).write_text(json.dumps({"mark": mark}), encoding="utf-8")
            # Others may only find it once it is locked.
            folder = publish(folder, folder.with_name(folder.name.replace(_UNLOCKED, _PREFIX)))
            sweep(place)
            _sweep_unlocked(place)
            with _noted(folder):
                yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a scratch folder, except what is needed to retry changes that could not be undone."""
    needed = (_LOCK, _OWNER, JOURNAL) if remaining(folder) else ()
    for path in folder.iterdir():
        if path.name in needed:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if not needed:
        folder.rmdir()


@contextmanager
def _noted(folder: Path) -> Iterator[None]:
    """Note where a scratch folder is while it exists."""
    note = shared_directory() / f"{_NOTE}{folder.name.removeprefix(_PREFIX)}"
    note.symlink_to(folder)
    try:
        yield
    finally:
        if not remaining(folder):
            note.unlink(missing_ok=True)


def sweep_machine() -> Iterator[str]:
    """Remove the remains of this user's dead launches anywhere on the machine; yield what became of settings."""
    notes: list[Path] = []
    with suppress(LaunchError):  # without a shared directory there are no notes
        notes = sorted(shared_directory().glob(f"{_NOTE}*"))
    for note in notes:
        with suppress(OSError):  # its launch has just ended
            if not note.is_symlink() or note.lstat().st_uid != os.geteuid():
                continue  # anybody may write there
            folder = note.readlink()
            back = _sweep(folder, patience=0) if _is_scratch(folder) else []
            if back is None:
                continue
            if back:
                yield f"Restored kernel settings that an earlier launch had changed: {', '.join(back)}."
            if left := remaining(folder):
                yield f"Changes of an earlier launch cannot be undone yet: {'; '.join(left)}. {TRIED_AGAIN}"
            else:
                note.unlink()


def sweep(place: Path, *, patient: bool = False) -> None:
    """Remove the remains of dead launches in a directory.

    Parameters
    ----------
    patient
        Whether to wait a moment for a launch whose process is just ending.
    """
    for folder in _scratch_folders(place):
        _sweep(folder, patience=_LOCKING if patient else 0)


def _scratch_folders(place: Path) -> Iterator[Path]:
    """Yield this user's folders that look like scratch folders."""
    yield from filter(_is_scratch, sorted(place.glob(f"{_PREFIX}*")))


def _is_scratch(folder: Path) -> bool:
    with suppress(FileNotFoundError):  # its launch has just ended
        # Other users' scratch folders are not readable.
        own = not folder.is_symlink() and folder.stat().st_uid == os.geteuid()
        return own and (folder / _LOCK).is_file() and (folder / _OWNER).is_file()
    return False


def _sweep(folder: Path, *, patience: float) -> list[str] | None:
    """Kill the processes of a dead launch and remove its scratch folder; leave a live one alone.

    Returns
    -------
    list of str, optional
        The kernel settings that were restored, as paths; ``None`` if the launch is alive.
    """
    with suppress(Timeout), FileLock(folder / _LOCK, timeout=patience):
        if (mark := _mark(folder)) is not None:
            end_marked(mark)
        restored = clean_up(folder)
        if not any(mount.point.is_relative_to(folder) for mount in mounts()):
            with suppress(OSError):
                _remove(folder)
        return restored
    return None


def _mark(folder: Path) -> str | None:
    """Return the mark of a launch's processes; ``None`` if a crash left no readable one."""
    try:
        mark = json.loads((folder / _OWNER).read_text(encoding="utf-8"))["mark"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return mark if isinstance(mark, str) else None


def _sweep_unlocked(place: Path) -> None:
    """Remove the remains of launches that were killed just before their scratch folder was locked."""
    for folder in place.glob(f"{_UNLOCKED}*"):
        with suppress(OSError):  # it is just being created
            state = folder.lstat()
            if state.st_uid == os.geteuid() and time.time() - state.st_mtime > _LOCKING:
                shutil.rmtree(folder)
