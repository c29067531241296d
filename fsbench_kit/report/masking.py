"""Masks what says whose machine it was: homes, users and hosts.

What is masked is what this machine says of itself, what launches have recorded of theirs, and what stands in a
place where only such a name can stand: after ``/home/``, or second in what ``uname -a`` prints.
"""

from __future__ import annotations

import getpass
import json
import platform
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_HOME: Final = re.compile(r"/(?:home|Users)/(?P<user>[A-Za-z0-9_][\w.-]*)|/root(?=/)")
_UNAME: Final = re.compile(r"\bLinux (?P<host>[A-Za-z0-9][\w.-]*) \d+\.\d+[\w.+-]* #")
_NOBODY: Final = frozenset({"root", "user", "localhost", "host"})
"""Names that tell nothing."""


@dataclass
class Mask:
    """Replaces the names of homes, users and hosts in texts, each by the same word everywhere.

    Attributes
    ----------
    hosts
        Those that are known, in order.
    users
        Those that are known.
    """

    hosts: list[str] = field(default_factory=lambda: [platform.node()])
    users: list[str] = field(default_factory=lambda: [_user()])

    def learn(self, files: Iterable[Path]) -> None:
        """Learn the hosts of launched runs whose records are among some files."""
        for path in files:
            if path.name == "run.json":
                with suppress(OSError, ValueError, LookupError, TypeError):
                    self.hosts.append(str(json.loads(path.read_bytes())["host"]))

    def __call__(self, text: str) -> str:
        """Mask a text.

        >>> Mask(["lab-7"], ["ada"])("ada@lab-7: read /home/ada/logs on lab-7, and vm.dirty_ratio of vm")
        'user@host: read ~/logs on host, and vm.dirty_ratio of vm'
        """
        self.hosts += [found["host"] for found in _UNAME.finditer(text)]
        self.users += [found["user"] for found in _HOME.finditer(text) if found["user"]]
        text = _HOME.sub("~", text)
        for names, word in ((self.users, "user"), (self.hosts, "host")):
            known = [name for name in dict.fromkeys(names) if name and name.lower() not in _NOBODY]
            for number, name in enumerate(known, 1):
                masked = word if number == 1 else f"{word}{number}"
                text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", masked, text)
        return text

    def over(self, value: Any) -> Any:
        """Mask all texts in what JSON holds, names of keys included."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {self(key): self.over(inner) for key, inner in value.items()}
        return [self.over(inner) for inner in value] if isinstance(value, list) else value

    def rewrite(self, file: Path) -> None:
        """Mask a file of JSON, such as a notebook, where it is."""
        if file.is_file():
            masked = self.over(json.loads(file.read_text(encoding="utf-8")))
            file.write_text(json.dumps(masked, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def content(self, content: bytes) -> bytes:
        """Mask the content of a file; what is no text in it stays as it is."""
        return self(content.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a number without a name
        return ""
