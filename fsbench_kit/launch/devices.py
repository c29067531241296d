"""Block devices that a person names: whether their content may be destroyed.

The answer is no unless everything speaks for it. It is asked before anything starts, and again directly before
each mkfs.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Final

from fsbench_kit.launch.environment import mounts
from fsbench_kit.launch.tools import find_program, program_environment

LABEL: Final = "fsbench"
"""What the labels of all filesystems that launches make begin with: these may be overwritten by the next one."""

_SYS: Final = Path("/sys/class/block")
_SIGNATURES: Final = ("wipefs", "--no-act", "--json", "--output", "TYPE,LABEL")
_PARTITION_TABLES: Final = frozenset({"PMBR", "atari", "bsd", "dos", "gpt", "mac", "minix", "sgi", "sun"})


def resolved(name: str) -> Path:
    """Return the device node that a name in ``/dev`` leads to, by whatever links."""
    return Path(name).resolve()


def device_problem(name: str, signature: str | None = None) -> str | None:
    """Say why a block device must not be overwritten; ``None`` where it may.

    Parameters
    ----------
    name
        A path of it.
    signature
        What is on it and may be destroyed, as ``wipefs`` calls it. It has to be what is found.
    """
    node = resolved(name)
    try:
        status = node.stat()
    except OSError as error:
        return f"{name} cannot be looked at: {error.strerror}"
    if not stat.S_ISBLK(status.st_mode):
        return f"{name} is not a block device"
    number = os.major(status.st_rdev), os.minor(status.st_rdev)
    return (
        _use(node, number)
        or _partitions(node, number)
        or _refusal_of_kernel(node)
        or _content_problem(node, signature)
    )


def block_devices() -> tuple[Path, ...]:
    """Return the disks and partitions that the kernel knows, without those of no size."""
    found = sorted(_SYS.iterdir(), key=lambda folder: folder.name) if _SYS.is_dir() else []
    return tuple(Path("/dev", folder.name) for folder in found if _first_word(folder / "size") not in {"", "0"})


def _use(node: Path, number: tuple[int, int]) -> str | None:
    """Name the use that is made of a device, as far as the kernel tells it in words."""
    for mount in mounts():
        if mount.device == number:
            return f"{node} is mounted on {mount.point}"
    swaps = Path("/proc/swaps").read_text(encoding="utf-8").splitlines()[1:]
    if any(Path(line.split()[0]).resolve() == node for line in swaps):
        return f"{node} is swap space in use"
    loops = Path("/sys/block").glob("loop*/loop/backing_file")
    holders = sorted(path.parent.parent.name for path in loops if _first_word(path) == str(node))
    holders += sorted(folder.name for folder in (_folder(number) / "holders").glob("*"))
    if holders:
        return f"{node} is part of {', '.join(holders)}"
    if _first_word(_folder(number) / "ro") == "1":
        return f"{node} can only be read"
    return None


def _partitions(node: Path, number: tuple[int, int]) -> str | None:
    names = sorted(path.parent.name for path in _folder(number).glob("*/partition"))
    return f"{node} has partitions ({', '.join(names)})" if names else None


def _refusal_of_kernel(node: Path) -> str | None:
    """Ask the kernel for the device alone: it says no where anything has it, wherever that is mounted."""
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        if error.errno == errno.EBUSY:
            return f"{node} is in use"
        return f"{node} cannot be opened: {error.strerror}"
    return None


def _content_problem(node: Path, signature: str | None) -> str | None:
    if find_program("wipefs") is None:
        return f"nothing tells what is on {node}: the program wipefs is missing (Debian package util-linux)"
    asked = subprocess.run(
        [*_SIGNATURES, str(node)], env=program_environment(), capture_output=True, text=True, check=False
    )
    if asked.returncode:
        return f"nothing tells what is on {node}: {asked.stderr.strip()}"
    content = json.loads(asked.stdout or '{"signatures": []}')["signatures"]
    if content and all((entry["label"] or "").startswith(LABEL) for entry in content):
        return None
    found = sorted({entry["type"] for entry in content})
    if tables := sorted(_PARTITION_TABLES & set(found)):
        return f"{node} has a partition table ({', '.join(tables)})"
    if found == ([signature] if signature else []):
        return None
    if not found:
        return f'{node} holds nothing, and the plan says signature = "{signature}": is this the device you mean?'
    if signature:
        return f'{node} holds {", ".join(found)}, and the plan says signature = "{signature}"'
    return (
        f'{node} holds {", ".join(found)}; if that may be destroyed, say so in the plan: signature = "{found[0]}"'
    )


def _folder(number: tuple[int, int]) -> Path:
    return Path(f"/sys/dev/block/{number[0]}:{number[1]}").resolve()


def _first_word(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
