"""Proposes what names of files could mean: the template that would read them, for people to accept or change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Final, NamedTuple

import parse  # type: ignore[import-untyped]


class Proposal(NamedTuple):
    """A template that would fit names, and what it would say of some of them."""

    template: str
    examples: list[tuple[str, dict[str, str]]]


def proposed(paths: Iterable[PurePath]) -> Proposal | None:
    """Propose a template for names that are built alike; ``None`` where they are not, or do not differ.

    Names are taken apart at ``_``, ``-``, blanks, commas and slashes. What is the same in all of them stays. What
    differs is a key: a known filesystem, a size, a number behind ``qd``, ``t`` or ``run``, an access pattern; and
    the rest is ``name1``, ``name2``, ... for people to rename.

    Examples
    --------
    >>> from pathlib import PurePath
    >>> names = ["xfs-4k-randread-1.log", "ext4-4k-randread-1.log", "ext4-4k-randwrite-2.log"]
    >>> proposed(map(PurePath, names)).template
    '{filesystem}-4k-{pattern}-{round}.log'
    """
    files = list(paths)
    depth = min((len(path.parts) for path in files), default=0)
    for folders in range(depth):
        names = ["/".join(path.parts[-1 - folders :]) for path in files]
        if len(set(names)) == len(names):
            return _proposal(names)
    return None


_SEPARATOR: Final = re.compile(r"([_\-,/ ]|\.(?=[A-Za-z]+$))")


def _proposal(names: list[str]) -> Proposal | None:
    rows = [_SEPARATOR.split(name) for name in names]
    if len(names) < 2 or len({(len(row), *row[1::2]) for row in rows}) != 1:
        return None
    parts: list[str] = []
    used: list[str] = []
    for place, column in enumerate(zip(*rows, strict=True)):
        if place % 2 or len(set(column)) == 1:
            parts.append(column[0])
            continue
        start = _common_word(column)
        values = [text[len(start) :] for text in column]
        key = _key_of(start, values, used)
        used.append(key)
        parts.append(f"{start}{{{key}}}")
    template = "".join(parts)
    if not used:
        return None
    read = parse.compile(template, case_sensitive=True)
    examples = [(name, found.named) for name in names[:5] if (found := read.parse(name)) is not None]
    return Proposal(template, examples)


def _common_word(column: tuple[str, ...]) -> str:
    """Return the letters with which all of some texts begin, if a number follows in each."""
    words = {re.match(r"[A-Za-z]*", text)[0] for text in column}  # type: ignore[index]
    (word, *others) = words
    return word if not others and all(text[len(word) :][:1].isdigit() for text in column) else ""


def _key_of(start: str, values: list[str], used: list[str]) -> str:
    """Return the key that a part of names has by what stands before it and by all of its values."""
    for key, words, form in _FORMS:
        if (
            key not in used
            and (start.lower() in words if start else "" in words)
            and all(map(form.fullmatch, values))
        ):
            return key
    return f"name{sum(key.startswith('name') for key in used) + 1}"


FILESYSTEM: Final = (
    r"(?:ext[234]|xfs|btrfs|zfs|f2fs|jfs|reiserfs|reiser4|nilfs2?|bcachefs|ntfs3?|exfat|vfat|fat32|tmpfs|nfs[34]?"
    r"|overlay(?:fs)?|ceph(?:fs)?|lustre|gfs2|ocfs2|apfs|ufs2?|hammer2?)"
)
_NUMBER: Final = re.compile(r"\d+")
_FORMS: Final[tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]] = (
    ("filesystem", ("",), re.compile(FILESYSTEM, re.IGNORECASE)),
    (
        "pattern",
        ("",),
        re.compile(
            r"(?:rand|seq)?(?:read|write|rw|trim)|(?:rnd|seq)(?:rd|wr|rw|rewr)|(?:rr|rw|sr|sw)|random|sequential",
            re.IGNORECASE,
        ),
    ),
    ("block_size", ("", "bs"), re.compile(r"\d+[kKmM](?:i?[bB])?")),
    ("block_size", ("bs",), re.compile(r"\d+(?:[kKmM](?:i?[bB])?)?")),
    ("iodepth", ("qd", "iodepth", "depth", "d"), _NUMBER),
    ("threads", ("t", "j", "jobs", "threads", "numjobs", "nj"), _NUMBER),
    ("round", ("run", "rep", "r", "iter", "iteration", "round", "trial", "n", ""), _NUMBER),
    ("date", ("",), re.compile(r"\d{8}|\d{4}\.\d\d\.\d\d")),
)
"""Key, the words that may stand before its values, and how its values look; the first that fits is taken."""
