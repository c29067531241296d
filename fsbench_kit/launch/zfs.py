"""The ZFS implementation of this machine and its properties."""

from __future__ import annotations

import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Final, Literal

from fsbench_kit.launch.tools import ISOLATION, ZFS_FUSE, asked, not_installed
from fsbench_kit.model.units import size

Implementation = Literal["kernel module", "zfs-fuse"]
Properties = dict[str, str]
"""The settable properties, each with its values as in the usage text."""

DAEMON: Final = ("zfs-fuse", "--no-daemon", "--no-kstat-mount")
"""Runs the daemon of zfs-fuse in the foreground."""

_CONTROL: Final = Path("/dev/zfs")
_FUSE: Final = Path("/dev/fuse")

_BORDER: Final = "--------"
_ASK: Final = f"exec 2>&1; zfs get; echo {_BORDER}; zpool get"
_ASK_FUSE: Final = f"""
mkdir -p run/zfs run/lock lib && mount --bind run /run && mount --bind lib /var/lib/zfs || exit
{" ".join(DAEMON)} > /dev/null 2>&1 &
for attempt in $(seq 200); do zpool list > /dev/null 2>&1 && break; sleep 0.05; done
{_ASK}
"""


def implementation() -> Implementation | None:
    """Return the available ZFS: the kernel's if it is loaded, otherwise zfs-fuse."""
    if _CONTROL.exists():
        return "kernel module"
    return "zfs-fuse" if ZFS_FUSE.path is not None and _FUSE.exists() else None


def lack() -> str | None:
    """Return why there is no ZFS, or ``None`` if there is one."""
    if implementation() is not None:
        return None
    without = "the kernel has no ZFS loaded (/dev/zfs is missing)"
    return f"{without}, and {not_installed(ZFS_FUSE) or 'zfs-fuse does not work without /dev/fuse'}"


@cache
def properties() -> tuple[Properties, Properties]:
    """Return the properties of datasets and of pools. Needs root; leaves nothing behind."""
    fuse = implementation() == "zfs-fuse"
    command = [*ISOLATION, "sh", "-c", _ASK_FUSE] if fuse else ["sh", "-c", _ASK]
    with tempfile.TemporaryDirectory() as folder:
        answer = asked(*command, timeout=60, folder=Path(folder))
    of_datasets, _, of_pools = answer.stdout.partition(_BORDER)
    return properties_in(of_datasets), properties_in(of_pools)


def properties_in(usage: str) -> Properties:
    """Return the settable properties in the usage text of ``zfs get`` or ``zpool get``."""
    rows = re.findall(r"^\t(\w+) +(YES|NO) +(?:(?:YES|NO) +)?(\S.*)$", usage, re.MULTILINE)
    return {name: values for name, editable, values in rows if editable == "YES" or name in _AT_CREATION}


_AT_CREATION: Final = frozenset({"casesensitivity", "normalization", "utf8only"})


def is_value(value: str, values: str) -> bool:
    """Return whether a property can have a value, as far as the usage text shows."""
    try:
        if limits := re.fullmatch(r"(\w+) to (\w+), power of 2", values):
            return size(limits[1]) <= size(value) <= size(limits[2])
        if limits := re.fullmatch(r"<ashift, (\d+-\d+), or 0=default>", values):
            return _is_among(value, f"0,{limits[1]}")
    except ValueError:
        return False
    return "<" in values or any(_is_alternative(value, part) for part in values.split(" | "))


def _is_alternative(value: str, part: str) -> bool:
    """Return whether a value matches one alternative: a word, ``sha256[,verify]`` or ``gzip-[1-9]``."""
    if option := re.fullmatch(r"(.*)\[(,\w+)\]", part):
        return value in {option[1], option[1] + option[2]}
    if numbers := re.fullmatch(r"(.*)\[([\d,-]+)\]", part):
        return value.startswith(numbers[1]) and _is_among(value.removeprefix(numbers[1]), numbers[2])
    return value == part


def _is_among(number: str, ranges: str) -> bool:
    """Return whether a number is in ranges such as ``1-10,20,30``."""
    ends = (part.partition("-") for part in ranges.split(","))
    return number.isdecimal() and any(int(first) <= int(number) <= int(last or first) for first, _, last in ends)
