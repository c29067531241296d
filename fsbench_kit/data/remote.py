"""Makes local copies of what URLs and archives contain, so that it can be read as files.

A copy keeps the names of the original and is cached: unchanged files are not fetched again.
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
from urllib.parse import unquote

from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsspec import AbstractFileSystem

_ARCHIVES: Final[dict[str, tuple[str, dict[str, str]]]] = {
    ".zip": ("zip", {}),
    ".tar": ("tar", {}),
    ".tar.gz": ("tar", {"compression": "gzip"}),
    ".tgz": ("tar", {"compression": "gzip"}),
    ".tar.bz2": ("tar", {"compression": "bz2"}),
    ".tar.xz": ("tar", {"compression": "xz"}),
}
"""The ending of an archive's name, with fsspec's name for its kind and its options."""
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]+://")
_KEPT: Final = "kept.json"


def is_remote(path: str) -> bool:
    """Whether a path is a URL or an existing archive."""
    return bool(_URL.match(path)) or (_archive(path) is not None and os.path.lexists(path))


def fetched(url: str) -> Path:
    """Return the local copy of what a URL or an archive contains, fetching what is missing or has changed.

    Parameters
    ----------
    url
        ``s3://bucket/logs``, ``https://host/article.html``, ``https://host/logs/`` for the folder listed there,
        ``logs.zip``, or anything else that fsspec supports.

    Raises
    ------
    InputError
        If nothing can be fetched.
    """
    try:
        return _copied(url)
    except ImportError as error:
        hint = 'Install what it needs: pip install "fsbench-kit[remote]"'
        raise InputError(f"it cannot be fetched: {error}", file=url, hint=hint) from error
    except FileNotFoundError as error:
        raise InputError("there is no such file, or it cannot be reached", file=url) from error
    except Exception as error:  # each kind of server has a library with errors of its own
        what = "it cannot be fetched" if _URL.match(url) else "the archive cannot be opened"
        raise InputError(f"{what}: {str(error) or type(error).__name__}", file=url) from error


def _copied(url: str, *, whole: bool = False) -> Path:
    """Update the local copy of an archive's content, or of the archive itself if `whole`."""
    archive = None if whole else _archive(url)
    if archive is not None and _URL.match(url):
        # Many web servers do not support range requests, so an archive cannot be opened in place.
        return _copied(str(_copied(url, whole=True)))
    address = url if _URL.match(url) else str(Path(url).absolute())
    system, start = _filesystem(address, archive)
    is_file = archive is None and not url.endswith("/") and system.info(start)["type"] == "file"
    found = {start: system.info(start)} if is_file else _files(system, start)
    if not found:
        raise FileNotFoundError
    place = _home() / f"{hashlib.sha256(address.encode()).hexdigest()[:12]}-{_name(url)}"
    files, top = place / "files", _plain(system, start)
    copies = {name: files / _below(_plain(system, name), top.parent if is_file else top) for name in found}
    if archive is None:
        stamps = {name: _stamp(info) for name, info in found.items()}
    else:  # a changed file in an archive can have the same size and date
        outer, path = _filesystem(address, None)
        stamps = dict.fromkeys(found, _stamp(outer.info(path)))
    for gone in {path for path in files.rglob("*") if path.is_symlink() or not path.is_dir()} - {*copies.values()}:
        gone.unlink(missing_ok=True)
    kept = _kept(place)
    new = [
        name
        for name, stamp in stamps.items()
        if stamp is None or kept.get(name) != stamp or not os.path.lexists(copies[name])
    ]
    if new:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _fetch(system, {name: copies[name] for name in new}, files)
        _replace(place / _KEPT, json.dumps(stamps))
    return copies[start] if is_file else files


def _filesystem(address: str, archive: str | None) -> tuple[AbstractFileSystem, str]:
    """Return the fsspec filesystem and path of an address, or of the content of the archive there."""
    options = {}
    if archive is not None:
        kind, packed = _ARCHIVES[archive]
        address, options = f"{kind}://::{address}", {kind: packed}
    found: tuple[AbstractFileSystem, str] = import_module("fsspec.core").url_to_fs(address, **options)
    return found


def _fetch(system: AbstractFileSystem, copies: Mapping[str, Path], files: Path) -> None:
    """Fetch files; each is moved into place once it is complete, since another process may be reading it."""
    for parent in {copy.parent for copy in copies.values()}:
        parent.mkdir(parents=True, exist_ok=True)
    links = {name: target for name, target in _links(system).items() if name in copies}
    with tempfile.TemporaryDirectory(dir=files.parent) as fresh:
        whole = {name: Path(fresh, str(number)) for number, name in enumerate(copies)}
        for name, target in links.items():
            whole[name].symlink_to(target)
        contents = [name for name in copies if name not in links]
        if contents:
            system.get(contents, [str(whole[name]) for name in contents])
        for name, made in whole.items():
            made.replace(copies[name])
        for name in links:
            if not Path(os.path.realpath(copies[name])).is_relative_to(files.resolve()):
                Path(fresh, _NOTHING).symlink_to(_NOTHING)
                Path(fresh, _NOTHING).replace(copies[name])


_NOTHING: Final = "leads-out-of-the-archive"
"""The target of links that lead out of an archive; reading them reports that they lead to nothing."""


def _links(system: AbstractFileSystem) -> dict[str, str]:
    """Return the symbolic links in a tar archive, which fsspec treats as files, and their targets."""
    members = getattr(system, "tar", ())
    return {re.sub("/+", "/", member.name): member.linkname for member in members if member.issym()}


def _replace(path: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as new:
        new.write(text)
    Path(new.name).replace(path)


def _archive(url: str) -> str | None:
    """Return the ending of an archive's name, or ``None`` if it is not an archive."""
    return next((end for end in _ARCHIVES if url.lower().endswith(end) and not Path(url).is_dir()), None)


def _home() -> Path:
    """Return the folder for copies."""
    home = os.environ.get("XDG_CACHE_HOME") or (f"{os.environ['HOME']}/.cache" if "HOME" in os.environ else None)
    return Path(home or tempfile.gettempdir(), "fsbench_kit-fetched")


def _files(system: AbstractFileSystem, start: str) -> dict[str, dict[str, Any]]:
    """Return the details of each file below a folder."""
    found: dict[str, dict[str, Any]] = system.find(start, detail=True)
    if not _is_web(system):
        return found
    # A directory listing also links to its other sort orders, and does not show which files are new.
    return {name: system.info(name) for name in found if "?" not in name}


def _is_web(system: AbstractFileSystem) -> bool:
    return bool({"http", "https"} & {*system.protocol})


def _plain(system: AbstractFileSystem, name: str) -> PurePosixPath:
    """Return a readable path; web addresses write a blank as ``%20``."""
    return PurePosixPath(unquote(name) if _is_web(system) else name)


def _below(name: PurePosixPath, top: PurePosixPath) -> PurePosixPath:
    below = name.relative_to(top)
    if ".." in below.parts or below.is_absolute():
        raise ValueError(f"it contains a file whose path leads out of it: {name}")
    return below


def _name(url: str) -> str:
    """Return a short, recognisable name for a folder."""
    return re.sub(r"[^\w.-]+", "_", url.rstrip("/").rpartition("/")[2])[:60]


def _stamp(info: dict[str, Any]) -> str | None:
    """Return a stamp that changes with the file; ``None`` if nothing indicates a change."""
    if not info.keys() & _TELLING:
        return None
    return hashlib.sha256(repr(sorted(info.items())).encode()).hexdigest()


_TELLING: Final = {"ETag", "Last-Modified", "LastModified", "mtime", "CRC"}


def _kept(place: Path) -> dict[str, str | None]:
    """Return the stamps that the files of a copy had."""
    try:
        kept: dict[str, str | None] = json.loads((place / _KEPT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept
