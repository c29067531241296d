"""Where the kernel's settings are, how they are applied, and how they are restored.

The original value of a setting is written to a journal in the launch's scratch folder before it is changed. The
launch restores everything in the journal after each run. If it was killed, whoever sweeps that folder does so:
`fsbench_kit.launch.guard` at once, or the next launch there. What cannot be restored stays in the journal.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

JOURNAL: Final = "tuning.json"
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


class TuningError(Exception):
    """A setting cannot be applied for a run; says which, and why."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A kernel setting and its files.

    Attributes
    ----------
    files
        A pattern of paths, relative to the device's ``/sys`` folder unless it begins with a slash.
    lack
        What a machine without such a file lacks.
    written
        What is written to the file for a value in a plan.
    moves
        Files in the same folder that the kernel changes along with it.
    lowest
        Whether devices composed of others do not have it.
    """

    files: str
    lack: str
    written: Callable[[Any], str] = str
    moves: tuple[str, ...] = ()
    lowest: bool = False

    def paths(self, devices: Sequence[Path]) -> list[Path]:
        """Return its files, given the ``/sys`` folders of devices."""
        if self.files.startswith("/"):
            return sorted(Path("/").glob(self.files[1:]))
        having = (one for one in devices if not (self.lowest and any((one / "slaves").glob("*"))))
        return [device / self.files for device in having]


def _vm(name: str, *moves: str) -> Knob:
    return Knob(f"/proc/sys/vm/{name}", f"no vm.{name}", moves=moves)


# Another scheduler has its own queue length and throttling.
KNOBS: Final = {
    "scheduler": Knob("queue/scheduler", "no I/O scheduler", moves=("nr_requests", "wbt_lat_usec"), lowest=True),
    "read_ahead": Knob("queue/read_ahead_kb", "no read-ahead", written=lambda size: str(size // 1024)),
    "nr_requests": Knob("queue/nr_requests", "no queue of requests", lowest=True),
    "governor": Knob(
        "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "no frequency governors (cpufreq) here"
    ),
    "transparent_hugepage": Knob("/sys/kernel/mm/transparent_hugepage/enabled", "no transparent huge pages"),
    # Of each pair, the one written last is in effect, and the other reads 0.
    "dirty_ratio": _vm("dirty_ratio", "dirty_bytes"),
    "dirty_bytes": _vm("dirty_bytes", "dirty_ratio"),
    "dirty_background_ratio": _vm("dirty_background_ratio", "dirty_background_bytes"),
    "dirty_background_bytes": _vm("dirty_background_bytes", "dirty_background_ratio"),
    "dirty_expire_centisecs": _vm("dirty_expire_centisecs"),
    "dirty_writeback_centisecs": _vm("dirty_writeback_centisecs"),
}
"""Key of a plan -> kernel setting. To add one, add its entry here and its key to `Tuning`."""


def settings() -> dict[str, str]:
    """Return the machine's current settings, without those of its devices."""
    found = {key: {text for path in knob.paths(()) if (text := _chosen(path))} for key, knob in KNOBS.items()}
    known = {key: ", ".join(sorted(texts)) for key, texts in found.items() if texts}
    unused = {key for key, knob in KNOBS.items() if known.get(key) == "0" and set(knob.moves) & known.keys()}
    return {key: text for key, text in known.items() if key not in unused}


def problem(key: str, value: str | int, devices: Sequence[Path] = ()) -> str | None:
    """Return why a setting cannot be applied on this machine, or ``None`` if no reason is known."""
    knob = KNOBS[key]
    paths = [path for path in knob.paths(devices) if path.exists()]
    if not paths:
        return f"the kernel has {knob.lack}"
    for path in paths:
        if not os.access(path, os.W_OK):
            return "setting it needs root"
        listed = path.with_name("scaling_available_governors") if key == "governor" else path
        choices = _text(listed).replace("[", "").replace("]", "").split()
        if isinstance(value, str) and value not in choices:
            return f"the kernel does not offer {value} there, only {', '.join(choices)}"
    return None


def commands(values: Mapping[str, str | int], device: str = "") -> Iterator[tuple[str, ...]]:
    """Yield the commands that a person would type to apply settings, with a placeholder for devices."""
    for key, value in values.items():
        file = KNOBS[key].files
        path = file if file.startswith("/") else f"/sys/block/{device}/{file}"
        yield ("sh", "-c", f"echo {KNOBS[key].written(value)} | tee {path}")


@contextmanager
def changed(values: Mapping[str, str | int], devices: Sequence[Path], scratch: Path) -> Iterator[None]:
    """Apply settings within this context.

    Parameters
    ----------
    values
        Key -> value.
    devices
        The ``/sys`` folders of the devices.
    scratch
        The launch's scratch folder.

    Raises
    ------
    TuningError
        On entering, if a setting cannot be applied. Nothing is changed then.
    """
    try:
        for key in (key for key in KNOBS if key in values):  # the scheduler comes first, because it changes others
            _set(key, values[key], devices, scratch)
        yield
    finally:
        restore(scratch)


def _set(key: str, value: str | int, devices: Sequence[Path], scratch: Path) -> None:
    knob = KNOBS[key]
    paths = knob.paths(devices)
    if not paths or not all(path.exists() for path in paths):
        raise TuningError(f"cannot set {key}: the kernel has {knob.lack}")
    _note(scratch, paths, knob.written(value), knob.moves)
    for path in paths:
        try:
            path.write_text(knob.written(value), encoding="ascii")
        except OSError as error:
            why = f"cannot set {key} to {value}: {path} does not accept it ({error.strerror})"
            raise TuningError(why) from None
        found = _chosen(path)
        if found != knob.written(value):
            raise TuningError(f"cannot set {key} to {value}: {path} says {found}")


def _note(scratch: Path, paths: Sequence[Path], written: str, moves: Sequence[str]) -> None:
    """Add the original and new values of settings to the journal, unless the originals are in it already."""
    journal = _journal(scratch)
    known = {entry["path"] for entry in journal}
    for path in paths:
        for near, becomes in ((path, written), *((path.with_name(name), None) for name in moves)):
            text = _chosen(near)
            if text is None or str(near) in known:
                continue
            entry = {"path": str(near), "text": text, "becomes": becomes, "sequence": _sequence(near)}
            journal.append(entry | {"boot": _text(_BOOT)})
    _keep(scratch, journal)


def _keep(scratch: Path, journal: list[dict[str, Any]]) -> None:
    new = scratch / f"{JOURNAL}.new"
    new.write_text(json.dumps(journal), encoding="utf-8")
    new.replace(scratch / JOURNAL)


def _journal(scratch: Path) -> list[dict[str, Any]]:
    """Return the journal's entries, without those that a reboot has undone."""
    try:
        journal = json.loads((scratch / JOURNAL).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # there is no journal
        return []
    boot = _text(_BOOT)
    return [entry for entry in journal if entry.get("boot", boot) == boot] if isinstance(journal, list) else []


def remaining(scratch: Path) -> list[str]:
    """Return a line for each setting that is still in the journal of a scratch folder."""
    return [f"{entry['path']} was {entry['text']}: {entry.get('why')}" for entry in _journal(scratch)]


def restore(scratch: Path) -> list[str]:
    """Restore the settings in a scratch folder's journal and return their files; failures stay in the journal."""
    back, left = [], []
    for entry in _journal(scratch):
        path, text = Path(entry["path"]), entry["text"]
        # A limit that is given in the other unit reads 0.
        if _has_other_medium(path, entry) or (path.name.endswith("_bytes") and text == "0"):
            continue
        try:
            if _chosen(path) not in (text, None):
                path.write_text(text, encoding="ascii")
                back.append(str(path))
        except OSError as error:
            left.append(entry | {"why": error.strerror})
    if left:
        _keep(scratch, left)
    else:
        (scratch / JOURNAL).unlink(missing_ok=True)
    return back


def _sequence(path: Path) -> str | None:
    """Return the number that the kernel assigns to a device whenever its medium changes."""
    return _text(path.parent.parent / "diskseq").strip() or None if path.parent.name == "queue" else None


def _has_other_medium(path: Path, entry: Mapping[str, Any]) -> bool:
    """Return whether a device has a new medium since its entry was written, and has been changed since then."""
    if entry["sequence"] in (None, _sequence(path)):
        return False
    device = path.parent.parent
    if not device.name.startswith("loop"):
        return True
    # Loop devices keep their settings: whoever got it since then got it as the launch had set it.
    return (device / "loop").is_dir() and _chosen(path) != entry.get("becomes")


def _chosen(path: Path) -> str | None:
    """Return the content of a file; of several words, the one in brackets."""
    text = _text(path).strip()
    chosen = re.search(r"\[(\S+)\]", text)
    return chosen[1] if chosen else text or None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
