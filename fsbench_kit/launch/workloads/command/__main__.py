"""Runs a command in a directory, and records what it used and which figures are in its output.

``__main__.py figures.json command.log DIRECTORY COMMAND...``: the command's output goes to the same files as this
program's own. Needs nothing but Python: launches run this file by its path.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def main(figures: str, log: str, directory: str, *command: str) -> int:
    """Run a command, and return its exit code."""
    before = _counted()
    start = time.perf_counter()
    try:
        code = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, check=False).returncode
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]}: {error.strerror}\n")
        return 127
    elapsed = time.perf_counter() - start
    used, after = resource.getrusage(resource.RUSAGE_CHILDREN), _counted()
    os.sync()
    synced = time.perf_counter() - start - elapsed
    read, written = (later - earlier for earlier, later in zip(before, after, strict=True))
    wanted = json.loads(Path(figures).read_text(encoding="utf-8"))
    lines = [
        f"fsbench command 1: {shlex.join(command)}".replace("\n", " "),
        *(f"figure {name}: {text}" for name, text in found(wanted, Path("stdout.txt"), Path("stderr.txt"))),
        f"elapsed: {elapsed:.6f} s, sync: {synced:.6f} s",
        f"user: {used.ru_utime:.6f} s, system: {used.ru_stime:.6f} s",
        f"memory: {used.ru_maxrss} KiB",
        f"read: {read} B, written: {written} B",
        f"exit code: {code}",
    ]
    Path(log).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return code if code >= 0 else 128 - code


def _counted() -> tuple[int, int]:
    """Return the bytes read and written by system calls of this process and its finished children."""
    try:
        lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0, 0
    counts = dict(line.split(": ") for line in lines)
    return int(counts["rchar"]), int(counts["wchar"])


def found(wanted: Mapping[str, Mapping[str, str]], *outputs: Path) -> Iterator[tuple[str, str]]:
    """Yield each figure and its value. The last match counts, because progress may be printed before."""
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in outputs]
    for name, figure in wanted.items():
        number = None
        for text in texts:
            number = number or (_by_pattern if figure["pattern"] else _by_path)(figure, text)
        yield name, "not found" if number is None else f"{figure['metric']} {number} {figure['unit'] or '1'}"


def _by_pattern(figure: Mapping[str, str], text: str) -> str | None:
    found = [match[1] for match in re.finditer(figure["pattern"], text, re.MULTILINE) if match[1] is not None]
    return _number(found[-1]) if found else None


def _by_path(figure: Mapping[str, str], text: str) -> str | None:
    try:
        value: Any = json.loads(text)
        for step in figure["json_path"].split("."):
            value = value[int(step) if isinstance(value, list) else step]
    except (ValueError, LookupError, TypeError):
        return None
    return None if isinstance(value, bool) else _number(str(value))


def _number(text: str) -> str | None:
    """Return a number as printed, without thousands separators."""
    plain = text.strip().replace(",", "")
    return plain if re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", plain) else None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
