"""Copies the files that a report rests on to where its page can link to them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from fsbench_kit.data.masking import Mask

FOLDER: Final = "logs"
LARGEST: Final = 64 * 2**20
"""Bytes up to which a file is copied; logs of single I/Os can have any size."""
_PACKED: Final = frozenset({".gz", ".bz2", ".xz", ".zst"})
_INERT: Final = frozenset({".txt", ".json", *_PACKED})
"""Files that end like this are shown as text or saved. Others get .txt: what looks like HTML would act."""


@dataclass(frozen=True, slots=True)
class Log:
    """A file that a report rests on.

    Attributes
    ----------
    path
        Where it was, from the project's root.
    sha256
        Of the file that the notebook read or made.
    link
        Its copy, as seen from the page; ``None`` where there is none.
    remark
        Why there is none.
    """

    path: str
    sha256: str
    link: str | None = None
    remark: str | None = None


def copy_logs(
    files: Mapping[str, str | None], root: Path, site: Path, mask: Mask | None = None
) -> tuple[Log, ...]:
    """Copy files, given as path -> SHA-256, to a site; those that are there already stay as they are.

    A copy is called after its hash, so that it is the right one, and any name will do. A masked one has another.
    """
    return tuple(_copy(path, sha256, root, site, mask) for path, sha256 in files.items() if sha256 is not None)


def _copy(path: str, sha256: str, root: Path, site: Path, mask: Mask | None) -> Log:
    source = root / path
    link = f"{FOLDER}/{_name(source, sha256)}"
    if mask is not None:
        path = mask(path)
        if source.suffix.lower() in _PACKED:
            return Log(path, sha256, remark="not copied: what is packed cannot be masked")
        link = f"{FOLDER}/masked-{mask(_name(source, sha256))}"
    copy = site / link
    if mask is not None or not copy.is_file():
        try:
            if source.stat().st_size > LARGEST:
                return Log(path, sha256, remark=f"not copied: larger than {LARGEST // 2**20} MiB")
            content = source.read_bytes()
        except OSError as error:
            return Log(path, sha256, remark=f"not copied: {error.strerror}")
        if hashlib.sha256(content).hexdigest() != sha256:
            return Log(path, sha256, remark="not copied: it has changed since")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content if mask is None else mask.content(content))
    return Log(path, sha256, link)


def _name(source: Path, sha256: str) -> str:
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", source.name)[-80:].lstrip("._-")
    ending = "" if source.suffix.lower() in _INERT else ".txt"
    return f"{sha256[:16]}-{readable}{ending}"


def sweep(site: Path, kept: Iterable[Log]) -> None:
    """Remove copies to which no page links any more."""
    links = {log.link for log in kept}
    for copy in (site / FOLDER).glob("*"):
        if f"{FOLDER}/{copy.name}" not in links:
            copy.unlink()
