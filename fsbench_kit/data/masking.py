"""Masks names that identify the owner of a machine: homes, users and hosts.

The names come from this machine, from the records of launches, and from places where only such a name can appear:
after ``/home/``, or second in the output of ``uname -a``.
"""

from __future__ import annotations

import getpass
import json
import platform
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.data.files import RUN_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_HOME: Final = re.compile(r"/(?:home|Users)/(?P<user>[A-Za-z0-9_][\w.-]*)|(?<![\w.-])/root(?=/)")
_UNAME: Final = re.compile(r"\bLinux (?P<host>[A-Za-z0-9][\w.-]*) \d+\.\d+[\w.+-]* #")
_NOBODY: Final = frozenset({"root", "user", "localhost", "host"})
"""Names that identify nobody."""
_WORDS: Final = frozenset(
    {"run_id", "sha256", "tool", "filesystem", "operation", "metric", "statistic", "unit", "key"}
)
"""Columns of a dataset that contain words of the kit, which may also be names of hosts."""
_LIST: Final = pl.List(pl.String)


@dataclass
class Mask:
    """Replaces the names of homes, users and hosts in texts, each by the same word everywhere.

    Attributes
    ----------
    hosts
        The known hosts, in order.
    users
        The known users.
    """

    hosts: list[str] = field(default_factory=lambda: [platform.node()])
    users: list[str] = field(default_factory=lambda: [_user()])

    def learn(self, files: Iterable[Path]) -> None:
        """Learn the hosts of launched runs whose records are among the files."""
        for path in files:
            if path.name == RUN_FILE:
                with suppress(OSError, ValueError, LookupError, TypeError):
                    self.hosts.append(str(json.loads(path.read_bytes())["host"]))

    def learn_runs(self, runs: pl.DataFrame, settings: pl.DataFrame) -> None:
        """Learn the hosts of the runs of a dataset."""
        self.hosts += runs["host"].drop_nulls().unique(maintain_order=True).to_list()
        self.hosts += settings.filter(key="host")["value"].unique(maintain_order=True).to_list()

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
        """Mask all texts in a JSON value, including keys."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {self(key): self.over(inner) for key, inner in value.items()}
        return [self.over(inner) for inner in value] if isinstance(value, list) else value

    def frames(self, frames: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
        """Mask the texts in frames; a name found in one frame is masked in all."""
        texts = {text for frame in frames.values() for column in _free(frame) for text in _texts(frame[column])}
        for text in texts:
            self(text)  # learns the names in it
        changed = {text: masked for text in texts if (masked := self(text)) != text}
        return {
            name: frame.with_columns(
                column.list.eval(pl.element().replace(changed))
                if frame.schema[column.meta.output_name()] == _LIST
                else column.replace(changed)
                for column in map(pl.col, _free(frame))
            )
            for name, frame in frames.items()
        }

    def throughout(self, value: Any) -> Any:
        """Mask all texts in a JSON value; a name found in one text is masked in all."""
        self.over(value)  # learns the names in it
        return self.over(value)

    def rewrite(self, file: Path) -> None:
        """Mask a JSON file in place."""
        content = json.loads(file.read_text(encoding="utf-8"))
        masked = self.throughout(content)
        file.write_text(json.dumps(masked, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def content(self, content: bytes) -> bytes:
        """Mask the content of a file; bytes that are not text remain unchanged."""
        return self(content.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def _free(frame: pl.DataFrame) -> list[str]:
    """Return the columns that may contain any text."""
    return [name for name, kind in frame.schema.items() if kind in (pl.String, _LIST) and name not in _WORDS]


def _texts(column: pl.Series) -> Iterator[str]:
    yield from (column.explode() if column.dtype == _LIST else column).drop_nulls().unique()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user id without a name
        return ""
