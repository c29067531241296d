"""Copies what a URL leads to, or an archive holds, to where it can be read as files.

Such a copy has the names of the original, and is kept: of what did not change nothing is fetched again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_ARCHIVES: Final[dict[str, tuple[str, dict[str, str]]]] = {
    ".zip": ("zip", {}),
    ".tar": ("tar", {}),
    ".tar.gz": ("tar", {"compression": "gzip"}),
    ".tgz": ("tar", {"compression": "gzip"}),
    ".tar.bz2": ("tar", {"compression": "bz2"}),
    ".tar.xz": ("tar", {"compression": "xz"}),
}
"""How an archive's name ends -> what fsspec calls its kind, and how it is packed."""
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]+://")
_KEPT: Final = "kept.json"


def is_remote(path: str) -> bool:
    """Whether a path is a URL, or that of an archive."""
    return bool(_URL.match(path)) or _archive(path) is not None


def fetched(url: str) -> Path:
    """Return the local copy of what a URL or an archive's path leads to, made now as far as it is not there yet.

    Parameters
    ----------
    url
        ``s3://bucket/logs``, ``https://host/article.html``, ``https://host/logs/`` for the folder of that page,
        ``logs.zip``, or whatever else fsspec knows.

    Raises
    ------
    InputError
        If nothing can be fetched from there.
    """
    try:
        return _copied(url)
    except ImportError as error:
        hint = 'Install what it needs: pip install "fsbench-kit[remote]"'
        raise InputError(f"it cannot be fetched: {error}", file=url, hint=hint) from error
    except FileNotFoundError as error:
        raise InputError("there is no such file, or it cannot be reached", file=url) from error
    except Exception as error:  # each kind of server has a library with errors of its own
        raise InputError(f"it cannot be fetched: {str(error) or type(error).__name__}", file=url) from error


def _copied(url: str) -> Path:
    """Bring the local copy up to date."""
    address, options = url, {}
    if (archive := _archive(url)) is not None:
        kind, packed = _ARCHIVES[archive]
        address, options = f"{kind}://::{url}", {kind: packed}
    system, start = import_module("fsspec.core").url_to_fs(address, **options)
    is_file = archive is None and not url.endswith("/") and system.info(start)["type"] == "file"
    found = {start: system.info(start)} if is_file else _files(system, start)
    if not found:
        raise FileNotFoundError
    place = _home() / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{_name(url)}"
    top = PurePosixPath(start).parent if is_file else PurePosixPath(start)
    copies = {name: place / "files" / _below(PurePosixPath(name), top) for name in found}
    stamps = {name: _stamp(info) for name, info in found.items()}
    kept = _kept(place)
    for name in kept.keys() - found.keys():
        (place / "files" / PurePosixPath(name).relative_to(top)).unlink(missing_ok=True)
    new = [name for name in found if kept.get(name) != stamps[name] or not copies[name].is_file()]
    if new:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        (place / _KEPT).unlink(missing_ok=True)  # until all of it is there
        for parent in {copies[name].parent for name in new}:
            parent.mkdir(parents=True, exist_ok=True)
        system.get(new, [str(copies[name]) for name in new])
        (place / _KEPT).write_text(
            json.dumps({n: s for n, s in stamps.items() if s is not None}), encoding="utf-8"
        )
    return copies[start] if is_file else place / "files"


def _archive(url: str) -> str | None:
    """Return how the name of an archive ends; ``None`` where it is none."""
    return next((end for end in _ARCHIVES if url.endswith(end) and not Path(url).is_dir()), None)


def _home() -> Path:
    """Return where copies are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or (f"{os.environ['HOME']}/.cache" if "HOME" in os.environ else None)
    return Path(home or tempfile.gettempdir(), "fsbench_kit-fetched")


def _files(system: AbstractFileSystem, start: str) -> dict[str, dict[str, Any]]:
    """Return what is known of each file below a folder."""
    found: dict[str, dict[str, Any]] = system.find(start, detail=True)
    if not {"http", "https"} & {*system.protocol}:
        return found
    # A page that lists a folder links to its other orders, too; and it does not say which of the files are new.
    return {name: system.info(name) for name in found if "?" not in name}


def _below(name: PurePosixPath, top: PurePosixPath) -> PurePosixPath:
    below = name.relative_to(top)
    if ".." in below.parts or below.is_absolute():
        raise ValueError(f"it holds a file whose name leads out of it: {name}")
    return below


def _name(url: str) -> str:
    """Return a short name for a folder, by which a person knows it."""
    return re.sub(r"[^\w.-]+", "_", url.rstrip("/").rpartition("/")[2])[:60]


def _stamp(info: dict[str, Any]) -> str | None:
    """Return what is another one if a file is; ``None`` where nothing tells that."""
    if not info.keys() & _TELLING:
        return None
    return hashlib.sha256(repr(sorted(info.items())).encode()).hexdigest()


_TELLING: Final = {"ETag", "Last-Modified", "LastModified", "mtime", "CRC"}


def _kept(place: Path) -> dict[str, str]:
    """Return the stamps that the files of a copy had."""
    try:
        kept: dict[str, str] = json.loads((place / _KEPT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept
