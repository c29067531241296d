"""Finds and opens the files that users name.

A string is a path, a URL, or a pattern such as ``logs/*.json``. In folders only regular files are opened: a FIFO
would block forever, and a device may never end.
"""

from __future__ import annotations

import errno
import glob
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, NamedTuple, TypeAlias, cast

from fsbench_kit.data.remote import fetched, is_remote
from fsbench_kit.model.errors import RequestError

Given: TypeAlias = "str | os.PathLike[str] | bytes | IO[bytes] | IO[str] | Iterable[Given]"
"""What users can pass: a path, URL or pattern, the bytes of a log, an open file, or several of these."""

Inode: TypeAlias = tuple[int, int]
"""The device and inode number of a file, shared by all its names."""


def paths(*given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """Yield the given paths, and those that match given patterns.

    Raises
    ------
    RequestError
        If something other than a path was given.
    """
    for item in flattened(*given):
        if not isinstance(item, Path):
            raise RequestError(f"{type(item).__name__} is not a path", hint="Give the path of a folder.")
        yield item


def flattened(*given: Given) -> Iterator[Path | BinaryIO]:
    """Yield the given paths and open files one by one.

    A name that contains ``*``, ``?`` or ``[`` and is not itself a file stands for everything that matches it.

    Raises
    ------
    RequestError
        If an argument is neither.
    """
    for item in given:
        match item:
            case str() | os.PathLike():
                yield from _matching(os.fspath(item))
            case bytes():
                yield io.BytesIO(item)
            case _ if hasattr(item, "read"):
                yield _binary(item)
            case Iterable() if not isinstance(item, Mapping):
                yield from flattened(*item)
            case _:
                raise RequestError(
                    f"cannot read {item!r}", hint="Give paths, open files, a log's bytes, or lists of these."
                )


def _matching(path: str) -> Iterator[Path]:
    if not path or ("\n" in path and not os.path.lexists(path)):
        raise RequestError(
            "a log's text is not a path" if path else "an empty string is not a path",
            hint="Give the path of a file or folder. Give text as bytes, or as io.StringIO(text).",
        )
    names = matches(path) if glob.has_magic(path) and not os.path.lexists(path) else ()
    yield from (fetched(name) if is_remote(name) else Path(name) for name in names or [path])


def matches(pattern: str) -> list[str]:
    """Return the paths that match a pattern, in order."""
    return sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  # pathlib has no absolute patterns


def _binary(file: Any) -> BinaryIO:
    """Return an open file in binary mode."""
    if not isinstance(file, io.TextIOBase):
        return cast("BinaryIO", file)
    try:
        text = file.read()
    except ValueError as error:
        raise RequestError(
            f"cannot read {file!r}: {error}", hint='Open it in binary mode: open(path, "rb").'
        ) from error
    named = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    named.name = getattr(file, "name", None)
    return named


def name_of(file: BinaryIO, number: int) -> str:
    """Return the name of an open file, or else its number among the inputs."""
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else f"<file {number}>"


_KINDS: Final = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISCHR, "a character device"),
)


def path_given(target: object) -> Path:
    """Return the path of something to write or open.

    Raises
    ------
    RequestError
        If the target is not a path.
    """
    if not isinstance(target, str | os.PathLike):
        raise RequestError(
            f"{type(target).__name__} is not a path", hint="Give a path, as text or a pathlib.Path."
        )
    if not os.fspath(target):
        raise RequestError("an empty string is not a path", hint="Give the path of a file or folder.")
    return Path(os.fspath(target))


def check_executor(executor: object) -> None:
    """Raise `RequestError` unless the object is an executor or ``None``."""
    if executor is not None and not hasattr(executor, "submit"):
        raise RequestError(
            f"{type(executor).__name__} is not an executor",
            hint="Give one of concurrent.futures, or leave it out.",
        )


def is_folder(path: Path) -> bool:
    """Whether a path leads to a folder, as far as that can be determined."""
    try:
        return path.is_dir()
    except OSError:
        return False  # reading it reports the error


_OF_THE_KERNEL: Final = re.compile(
    r"binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|efivarfs|fusectl|hugetlbfs|mqueue|nsfs|proc|pstore"
    r"|rpc_pipefs|securityfs|selinuxfs|smackfs|sysfs|tracefs"
)


NOT_SEARCHED: Final = "This is a filesystem of the kernel itself ({}), without logs: it was not searched."


def kernel_filesystem(folder: Path) -> str | None:
    """Return the type of the filesystem of a folder if it is an interface of the kernel, otherwise ``None``.

    Examples
    --------
    >>> from pathlib import Path
    >>> kernel_filesystem(Path("/proc")), kernel_filesystem(Path.cwd())
    ('proc', None)
    """
    try:
        device = folder.stat().st_dev
    except OSError:
        return None  # reading it reports the error
    return None if os.major(device) else _types().get(f"0:{os.minor(device)}")


@cache
def _types() -> dict[str, str]:
    """Return the types of the kernel's own filesystems by device, if the kernel lists them."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    found = {mount.split()[2]: mount.partition(" - ")[2].partition(" ")[0] for mount in mounts}
    return {device: name for device, name in found.items() if _OF_THE_KERNEL.fullmatch(name)}


def not_regular(path: Path) -> str | None:
    """Describe what a path leads to if it is neither a file nor a folder, otherwise return ``None``.

    Raises
    ------
    OSError
        If this cannot be determined.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if path.is_symlink():
            return "a link to nothing"
        raise
    return None if stat.S_ISDIR(mode) else _irregular(mode)


def _irregular(mode: int) -> str | None:
    if stat.S_ISREG(mode):
        return None
    return next((words for is_kind, words in _KINDS if is_kind(mode)), "a special file")


def inode(path: Path) -> Inode:
    """Return what all names of a file have in common.

    Raises
    ------
    OSError
        If there is no such file.
    """
    found = path.stat()
    return found.st_dev, found.st_ino


class Stamp(NamedTuple):
    """Attributes of a file that change whenever it does."""

    device: int
    inode: int
    size: int
    changed: int
    written: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp | None:
        """Return the stamp of a regular file, otherwise ``None``."""
        if not stat.S_ISREG(found.st_mode):
            return None
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns, found.st_mtime_ns)

    def is_certain(self, now: int) -> bool:
        """Whether any future change of the file would alter its stamp.

        File timestamps advance every few milliseconds, and on some filesystems only every two seconds.
        """
        latest = max(self.changed, self.written)
        return latest < now - (_TICK if self.changed % _SECOND and self.written % _SECOND else 2 * _SECOND)


_SECOND: Final = 1_000_000_000
_TICK: Final = _SECOND // 50


def opened(path: str | Path, *, may_be_pipe: bool = False) -> io.BufferedReader:
    """Open a regular file; see `descriptor_of`."""
    return os.fdopen(descriptor_of(path, may_be_pipe=may_be_pipe)[0], "rb")


def descriptor_of(
    path: str | Path, *, may_be_pipe: bool = False, was_regular: bool = False
) -> tuple[int, os.stat_result]:
    """Open a regular file, and return its descriptor and status.

    Parameters
    ----------
    path
        Its path.
    may_be_pipe
        Whether it may also be a FIFO, such as a shell's ``<(xz -dc log.xz)``.
    was_regular
        Whether it was just found to be a regular file, and not a link to one.

    Raises
    ------
    OSError
        If it cannot be opened, or is something else. Devices are never opened, as that could change their state.
    """
    how = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY
    is_pipe = False
    if was_regular:
        how |= os.O_NOFOLLOW
    else:
        is_pipe = _checked(os.stat(path).st_mode, may_be_pipe=may_be_pipe)  # noqa: PTH116  # one of thousands
    # The name can be replaced at any time, so the opened file is checked again.
    try:
        descriptor = os.open(path, how if is_pipe else how | os.O_NONBLOCK)
    except OSError as error:
        if was_regular and error.errno == errno.ELOOP:  # now it is a link
            return descriptor_of(path)
        raise
    try:
        found = os.fstat(descriptor)
        _checked(found.st_mode, may_be_pipe=is_pipe)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, found


def _checked(mode: int, *, may_be_pipe: bool) -> bool:
    """Return whether it is a FIFO; raise if it may not be opened."""
    if (irregular := _irregular(mode)) is None:
        return False
    is_pipe = may_be_pipe and stat.S_ISFIFO(mode)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not is_pipe:
        raise OSError(errno.EINVAL, f"it is {irregular}")
    return True


# What kind of folder it is, judging by a file in it

STUDY_FILE: Final = "study.toml"
RUN_FILE: Final = "run.json"
SAMPLES_FILE: Final = "samples.csv"


def is_study(folder: Path) -> bool:
    """Whether a folder contains a study.

    Raises
    ------
    OSError
        If this cannot be determined.
    """
    return (folder / STUDY_FILE).is_file()


def is_report(folder: Path) -> bool:
    """Whether ``fsbench report`` wrote a folder: it has a notebook and a record for each page."""
    try:
        records = (folder / "manifests").glob("*.json")
        return any((folder / "notebooks" / f"{path.stem}.ipynb").is_file() for path in records)
    except OSError:
        return False  # reading it reports the error


def is_launched(folder: Path) -> bool:
    """Whether a folder is that of a launched run; ``run.json`` is also a common name for fio's own output."""
    path = folder / RUN_FILE
    try:
        return path.is_file() and b'"fio version"' not in path.read_bytes()
    except OSError:
        return True  # reading it reports the error
