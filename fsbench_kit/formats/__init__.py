"""All knowledge of log formats: each tool and format has one module or package, and nothing is known elsewhere.

A module with a function `parse` is a format; the others are helpers. A format has a docstring that says which
versions it reads and what each field means; `TOOL`, which describes its tool; `SIGN`, which quickly rules out text
without its logs; `signatures`, which finds what only its logs contain; and `parse`, which turns a text that
contains logs into a stream of records. It may have `CLEAN`, which enables logs with the same layout to be read
together (see `fsbench_kit.formats.clean`). If undamaged logs can be recognized cheaply, it may have `together`,
which reads such logs among many texts, and tells of each text that it has read, and `undamaged`, which returns the
records of one, and ``None`` for any other text.

To add a format, copy `_template` to a new module; the rest of the package finds it through `FORMATS` or `TOOLS`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Final, Protocol, cast

from fsbench_kit.formats.text import Text
from fsbench_kit.formats.tool import Tool
from fsbench_kit.model.records import Record


class Format(Protocol):
    """The interface of a format's module."""

    @property
    def TOOL(self) -> Tool:  # noqa: N802
        """The tool that prints these logs."""

    @property
    def SIGN(self) -> str:  # noqa: N802
        """A regular expression, in lower case and without look-around, that matches every log, even a damaged one.

        It may match other text as well. Large texts are searched for signatures only where it matches.
        """

    def signatures(self, chars: str) -> Iterator[int]:
        """Yield the positions in a text of strings that only logs of this format contain, in ascending order.

        The first signature of a log is on its first line, or as close to it as possible.
        """

    def parse(self, text: Text) -> Iterator[Record]:
        """Yield the records of a text in order; problems are reported as diagnostics.

        There may be other text before, between and after the logs.
        """


def _formats() -> Iterator[Format]:
    for found in pkgutil.iter_modules(__path__, f"{__name__}."):
        module = import_module(found.name)
        if hasattr(module, "parse") and not found.name.rpartition(".")[2].startswith("_"):
            yield cast("Format", module)


FORMATS: Final[tuple[Format, ...]] = tuple(_formats())
"""The formats, sorted by name."""

TOOLS: Final = {log_format.TOOL.name: log_format.TOOL for log_format in FORMATS}
"""The tools whose logs are read, by name."""


def name(log_format: Format) -> str:
    """Return the name of a format, which is that of its module."""
    return str(getattr(log_format, "__name__", "")).rpartition(".")[2]


def sniff(chars: str) -> list[tuple[int, Format]]:
    """Return the positions of log signatures in a text and the format of each, in ascending order."""
    found = [(position, log_format) for log_format in FORMATS for position in log_format.signatures(chars)]
    return sorted(found, key=lambda signature: signature[0])


def known_logs(tools: Iterable[Tool] = TOOLS.values()) -> str:
    """Return the names of the tools as words of a sentence.

    >>> known_logs([TOOLS["fio"], TOOLS["sysbench"], TOOLS["iozone"]])
    'fio, sysbench fileio or iozone'
    """
    *most, last = map(str, tools)
    return f"{', '.join(most)} or {last}" if most else last
