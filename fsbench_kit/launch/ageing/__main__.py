"""Fills a filesystem with files and churns them, until it is as full as requested.

``__main__.py DIRECTORY FILL CHURN SEED [COMMAND...]``: the files go to a new directory ``aged`` in DIRECTORY, and
stay there. The command, if any, makes the filesystem update its count of free space where a sync does not.

File sizes are log-uniform from 4 KiB to 4 MiB, or less if the filesystem is small. Churning picks a random file,
deletes it, truncates it or overwrites a few of its blocks, and writes the same number of bytes again, so that free
space is scattered and files are fragmented. The data is incompressible. Prints one line about the result, and
fails if the level is not reached within 1 % of the filesystem.

Needs nothing but Python: launches run this file by its path.
"""

from __future__ import annotations

import ctypes
import errno
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Final

_BLOCK: Final = 4096
_LARGEST: Final = 4 * 2**20
_SHARE: Final = 128
"""The largest file takes at most 1/128 of the filesystem."""
_NEAR: Final = 0.01
"""The tolerance of the fill level, as a share."""
_SYNC: Final = 2**24
"""Bytes written between two syncs, at which they are allocated."""
_OVERWRITTEN: Final = 4
"""How many blocks of a file are overwritten at once."""
_PER_DIRECTORY: Final = 100
_ROUNDS: Final = 20
_TRIES: Final = 5
"""How many times files are deleted to make room for one that finds no space."""


class Files:
    """The files of an aged filesystem."""

    def __init__(self, directory: Path, seed: int, count: tuple[str, ...]) -> None:
        self._directory = directory
        self._count = count
        self._chance = random.Random(seed)  # noqa: S311
        self._noise = self._chance.randbytes(2 * _LARGEST)
        self._files: list[tuple[Path, int]] = []
        self._made = 0
        self._unsynced = 0
        self.written = 0
        self._largest = max(_BLOCK, min(_LARGEST, self.capacity // _SHARE))
        self._descriptor = os.open(directory, os.O_RDONLY)

    @property
    def capacity(self) -> int:
        """The size of the filesystem in bytes."""
        space = os.statvfs(self._directory)
        return space.f_blocks * space.f_frsize

    @property
    def count(self) -> int:
        """The number of files."""
        return len(self._files)

    def over(self, fill: float) -> int:
        """Return by how many bytes the fill level is exceeded after a sync; negative if bytes are missing."""
        used, room = self._space()
        return int(used - fill * room)

    def level(self) -> float:
        """Return how full the filesystem is, as ``df`` computes it: relative to the space available to users."""
        used, room = self._space()
        return used / room

    def _space(self) -> tuple[int, int]:
        self._settle()
        space = os.statvfs(self._directory)
        used = space.f_blocks - space.f_bfree
        return used * space.f_frsize, (used + space.f_bavail) * space.f_frsize

    def grow(self, size: int) -> None:
        """Write files with this many bytes in total."""
        end, tries = self.written + size, 0
        while self.written < end:
            try:
                self._create(min(self._size(), max(_BLOCK, end - self.written)))
            except OSError as error:
                tries += 1
                if error.errno != errno.ENOSPC or tries > _TRIES:
                    raise
                # Some filesystems free deleted space only after a sync, and use part of it for metadata.
                self.shrink(_SYNC)
                self._settle()

    def shrink(self, size: int) -> None:
        """Delete files with this many bytes in total, at least one file."""
        while size > 0 and self._files:
            size -= self._remove()

    def churn(self, size: int) -> None:
        """Replace this many bytes of existing data."""
        end = self.written + size
        while self.written < end and self._files:
            if (chance := self._chance.random()) < 0.5:
                self.grow(self._remove())
            elif chance < 0.75:
                self.grow(self._cut())
            else:
                self._overwrite()

    def _size(self) -> int:
        blocks: float = (self._largest / _BLOCK) ** self._chance.random()
        return round(blocks) * _BLOCK

    def _create(self, size: int) -> None:
        folder = self._directory / str(self._made // _PER_DIRECTORY)
        folder.mkdir(exist_ok=True)
        path = folder / str(self._made)
        self._made += 1
        self._files.append((path, size))
        with path.open("wb", buffering=0) as file:
            self._write(file.fileno(), 0, size)

    def _remove(self) -> int:
        path, size = self._files.pop(self._chance.randrange(len(self._files)))
        path.unlink()
        return size

    def _cut(self) -> int:
        """Truncate a file to half its size, and return the bytes gained."""
        number = self._chance.randrange(len(self._files))
        path, size = self._files[number]
        left = size // 2 // _BLOCK * _BLOCK
        if not left:
            return 0
        os.truncate(path, left)
        self._files[number] = path, left
        return size - left

    def _overwrite(self) -> None:
        path, size = self._files[self._chance.randrange(len(self._files))]
        with path.open("r+b", buffering=0) as file:
            for _ in range(_OVERWRITTEN):
                self._write(file.fileno(), self._chance.randrange(max(1, size // _BLOCK)) * _BLOCK, _BLOCK)

    def _write(self, descriptor: int, place: int, size: int) -> None:
        start = self._chance.randrange(_LARGEST)
        os.pwrite(descriptor, self._noise[start : start + size], place)
        self.written += size
        self._unsynced += size
        if self._unsynced >= _SYNC:
            self._sync()

    def _settle(self) -> None:
        """Wait until deleted space is free and written data is allocated."""
        self._sync()
        if self._count:
            subprocess.run(self._count, stdout=subprocess.DEVNULL, check=True)

    def _sync(self) -> None:
        self._unsynced = 0
        if ctypes.CDLL(None, use_errno=True).syncfs(self._descriptor):
            raise OSError(ctypes.get_errno(), "cannot sync the filesystem")


def main(directory: str, fill: str, churn: str, seed: str, *count: str) -> int:
    """Age a filesystem, and return the exit code."""
    folder = Path(directory, "aged")
    folder.mkdir()
    files = Files(folder, int(seed), count)
    goal = float(fill)
    try:
        _settle(files, goal)
        files.churn(int(float(churn) * goal * files.capacity))
        _settle(files, goal)
    except OSError as error:
        sys.stdout.write(f"{error.strerror} at {100 * files.level():.1f} %\n")
        return 1
    level = files.level()
    sys.stdout.write(f"{100 * level:.1f} % full: {files.count} files, {files.written} bytes written\n")
    return 0 if abs(level - goal) <= _NEAR else 1


def _settle(files: Files, goal: float) -> None:
    """Write or delete files until the fill level is reached."""
    for _ in range(_ROUNDS):
        if abs(files.level() - goal) <= _NEAR / 2:
            return
        over = files.over(goal)
        files.shrink(over)
        files.grow(-over)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
