"""All knowledge of log formats: one module or package for each tool and format, and nothing about them elsewhere.

A module here that has a function `parse` is a format; the others help formats. A format has a docstring that says
which versions it reads and what each field means; `TOOL`, which says all that others need to know of its tool;
`SIGN`, which tells fast where no log of it can be; `signatures`, which finds what only its logs have; and `parse`,
which turns a text with such a log into a stream of records. It may have `CLEAN`, with which logs that are printed
alike are read together (see `fsbench_kit.formats.clean`); or, where a glance tells undamaged logs, `together`,
which reads these among many texts, and `undamaged`, which returns the records of one, and ``None`` for any other.

To add a format, copy `_template` to a module of a new name: whoever needs to know of it asks `FORMATS` or `TOOLS`.
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
    """What every module of a format offers."""

    @property
    def TOOL(self) -> Tool:  # noqa: N802
        """The tool whose logs these are."""

    @property
    def SIGN(self) -> str:  # noqa: N802
        """A regular expression, in small letters and without look-around, for what a log has even if mangled.

        Other text may have it as well. Only where it stands is a large text searched for signatures.
        """

    def signatures(self, chars: str) -> Iterator[int]:
        """Yield where in a text something stands that only a log of this format has, in the text's order.

        The first signature of a log stands on its first line, or as near to it as can be.
        """

    def parse(self, text: Text) -> Iterator[Record]:
        """Yield what the text says, in its order; what is wrong with it comes as diagnostics.

        Other text may stand before, between and after the logs.
        """


def _formats() -> Iterator[Format]:
    for found in pkgutil.iter_modules(__path__, f"{__name__}."):
        module = import_module(found.name)
        if hasattr(module, "parse") and not found.name.rpartition(".")[2].startswith("_"):
            yield cast("Format", module)


FORMATS: Final[tuple[Format, ...]] = tuple(_formats())
"""The formats, in the order of their names."""

TOOLS: Final = {log_format.TOOL.name: log_format.TOOL for log_format in FORMATS}
"""The tools whose logs are read, by their names."""


def name(log_format: Format) -> str:
    """Return a format's name, which is that of its module."""
    return str(getattr(log_format, "__name__", "")).rpartition(".")[2]


def sniff(chars: str) -> list[tuple[int, Format]]:
    """Return where in a text signatures of logs stand, and of which format each is, in the text's order."""
    found = [(position, log_format) for log_format in FORMATS for position in log_format.signatures(chars)]
    return sorted(found, key=lambda signature: signature[0])


def known_logs(tools: Iterable[Tool] = TOOLS.values()) -> str:
    """Say in words of which tools logs are read.

    >>> known_logs([TOOLS["fio"], TOOLS["sysbench"], TOOLS["iozone"]])
    'fio, sysbench fileio or iozone'
    """
    *most, last = map(str, tools)
    return f"{', '.join(most)} or {last}" if most else last
