"""Parses settings from the commands that created and mounted a filesystem: mkfs, mount, zpool, zfs, mdadm.

The text is printed in an article or recorded by a launch: commands with or without prompts and output, possibly
continued with backslashes. Options are those of the programs' manuals; those of ZFS keep their names, as
``zpool.<option>`` and ``zfs.<property>``.

From tables printed by ``zfs get`` or ``zpool get``, the properties that affect how data are written are read, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from fsbench_kit.model.records import Origin, Setting
from fsbench_kit.model.units import size

_CONTINUATION: Final = re.compile(r"\\(?:\s|$)")
_PROMPT: Final = re.compile(r"\n|\[[^\]\n]{1,80}\][#$]\s|(?<!\S)[#$]\s")

_FLAGS: Final = frozenset("fFKqvV")
"""Options of mkfs without a value."""

_GROUPS: Final = re.compile(r"mirror|raidz[123]?|draid\S*")
_CLASSES: Final = {"log": "log_device", "cache": "cache_device"}
_SIZES: Final = frozenset({"recordsize", "volblocksize"})
_PROPERTY: Final = re.compile(
    r"(?<!\S)\S+\s+(?P<name>atime|checksum|compression|copies|dedup|logbias|primarycache|recordsize|secondarycache"
    r"|sync|volblocksize|xattr)\s+(?P<value>\S+)\s+(?:default|local|inherited|received)(?!\S)"
)


def provision_settings(text: str, *, origin: Origin) -> Iterator[Setting]:
    r"""Yield the settings of the filesystem that commands created, from a text that may include their output.

    Examples
    --------
    >>> text = "# mkfs.xfs -m reflink=0 /dev/sdb1\n# mount -o noatime /dev/sdb1 /mnt"
    >>> {setting.key: setting.value for setting in provision_settings(text, origin="study")}
    {'mkfs_options': '-m reflink=0', 'disks': 'sdb1', 'mount_options': 'noatime'}
    """
    found: dict[str, list[str]] = {}
    for command in _PROMPT.split(_CONTINUATION.sub(" ", text)):
        for key, value in _of_command(command.split()):
            values = found.setdefault(key, [])
            if value not in values:
                values.append(value)
    for match in _PROPERTY.finditer(text):
        found.setdefault(f"zfs.{match['name']}", []).append(_property(match["name"], match["value"]))
    for key, values in found.items():
        # the last value of a property applies; devices accumulate
        value = " ".join(values) if key in {"disks", *_CLASSES.values()} else values[-1]
        yield Setting(key=key, value=value, origin=origin)


def _of_command(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    match words:
        case [program, *arguments] if re.fullmatch(r"(?:\S*/)?(?:mkfs\.\w+|mke2fs)", program):
            yield from _mkfs(arguments)
        case ["mount", *arguments]:
            yield from _mount(arguments)
        case ["zpool", "create", *arguments]:
            yield from _zpool(arguments)
        case ["zfs", "create" | "set", *arguments]:
            for word in arguments:
                if assignment := re.fullmatch(r"(\w+)=(\S+)", word):
                    yield f"zfs.{assignment[1]}", _property(assignment[1], assignment[2])
        case ["mdadm", *arguments]:
            for name, value in re.findall(r"--(level|chunk|metadata|bitmap)[= ](\S+)", " ".join(arguments)):
                yield f"md.{name}", value


def _mkfs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Parse the options up to the output of the program, which is on the same line if line breaks were lost."""
    options: list[str] = []
    devices: list[str] = []
    words = iter(arguments)
    for word in words:
        if word.startswith("-"):
            options.append(word)
            if len(word) == 2 and word[1] not in _FLAGS:
                options.append(next(words, ""))
        elif word.startswith("/dev/") or not devices:
            devices.append(word)
        else:
            break
    if options:
        yield "mkfs_options", " ".join(options)
    yield from _disks(devices)


def _mount(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = iter(arguments)
    for word in words:
        if word == "-o":
            yield from (("mount_options", options) for options in islice(words, 1))
        elif word == "-t":
            next(words, None)
        else:
            yield from _disks([word])


def _zpool(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = iter(arguments)
    names = []
    for word in words:
        if word in {"-o", "-O"}:
            name, _, value = next(words, "").partition("=")
            yield (f"zpool.{name}", value) if word == "-o" else (f"zfs.{name}", _property(name, value))
        elif word in {"-m", "-R", "-t"}:
            next(words, None)
        elif not word.startswith("-"):
            names.append(word)
    key = "disks"
    for word in names[1:]:  # the first is the name of the pool
        if _GROUPS.fullmatch(word):
            yield "zpool.layout", word
        elif word in _CLASSES:
            key = _CLASSES[word]
        elif "/" not in word or word.startswith("/dev/"):  # otherwise a file
            yield key, word.removeprefix("/dev/")


def _disks(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the devices among some words; the number of a loop device is meaningless."""
    for word in words:
        if word.startswith("/dev/") and not word.startswith("/dev/loop"):
            yield "disks", word.removeprefix("/dev/")


def _property(name: str, value: str) -> str:
    try:
        return str(size(value)) if name in _SIZES else value
    except ValueError:
        return value
